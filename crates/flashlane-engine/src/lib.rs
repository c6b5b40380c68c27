//! Discrete-event machinery that knows nothing about SSDs: clock, event queue, slabs, tables,
//! random streams.

pub mod array;
pub mod dense_map;
pub mod divisor;
pub mod event_queue;
pub mod handle;
pub mod kept;
pub mod list;
pub mod lists;
pub mod memory;
mod places;
pub mod ring;
pub mod rng;
pub mod slab;
pub mod table;
pub mod time;

/// How long tests with random steps go on. Miri, which is thousands of times slower, gets fewer
/// steps.
#[cfg(test)]
const fn steps(count: usize) -> usize {
    if cfg!(miri) { count / 100 } else { count }
}

pub use array::Array;
pub use dense_map::DenseMap;
pub use divisor::Divisor;
pub use event_queue::{EventQueue, Laned, Sequence};
pub use handle::{Handle, Number};
pub use kept::KeptFile;
pub use list::{Linked, List};
pub use lists::Lists;
pub use memory::prefetch;
pub use ring::Ring;
pub use rng::Rng;
pub use slab::{NONE, Slab, place_of};
pub use table::{Frozen, Table, Use};
pub use time::Time;
