//! Stage 3 of 8: the host interface.
pub mod arbitration;
