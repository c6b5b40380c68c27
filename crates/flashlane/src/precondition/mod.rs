//! Instant steady state.
