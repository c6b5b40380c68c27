//! The simulated device, its policies and its measurements.
