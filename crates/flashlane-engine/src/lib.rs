//! Discrete-event machinery that knows nothing about SSDs.
