//! Stage 5 of 8: flash translation.
pub mod allocation;
pub mod gc;
