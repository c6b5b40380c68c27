//! Discrete-event machinery that knows nothing about SSDs: clock, event queue, slabs, tables, random streams.

pub mod dense_map;
pub mod event_queue;
pub mod list;
pub mod memory;
pub mod rng;
pub mod slab;
pub mod table;
pub mod time;

pub use dense_map::DenseMap;
pub use event_queue::EventQueue;
pub use list::{Linked, List};
pub use memory::prefetch;
pub use rng::Rng;
pub use slab::{NONE, Slab};
pub use table::{Frozen, Table, Use};
pub use time::Time;
