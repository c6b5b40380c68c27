//! Discrete-event machinery that knows nothing about SSDs: clock, event queue, slabs, random streams.

pub mod dense_map;
pub mod divisor;
pub mod event_queue;
pub mod list;
pub mod rng;
pub mod slab;
pub mod time;

pub use dense_map::DenseMap;
pub use divisor::Divisor;
pub use event_queue::{EventQueue, Laned, Sequence};
pub use list::{Linked, List};
pub use rng::Rng;
pub use slab::{NONE, Slab};
pub use time::Time;
