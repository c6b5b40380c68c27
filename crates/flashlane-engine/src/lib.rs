//! Discrete-event machinery that knows nothing about SSDs: clock, event queue, slabs, random streams.

pub mod rng;
pub mod time;

pub use rng::Rng;
pub use time::Time;
