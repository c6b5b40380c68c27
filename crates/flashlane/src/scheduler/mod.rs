//! Stage 6 of 8: the transaction scheduling unit.
pub mod policy;
pub use policy::Scheduling;
