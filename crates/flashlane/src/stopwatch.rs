//! Wall time, for the figures that differ from run to run.

/// Measures wall time from its start. It stays at 0 on machines without a clock (WebAssembly).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    begun: std::time::Instant,
}

impl Stopwatch {
    /// Starts a stopwatch.
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(not(target_family = "wasm"))]
            begun: std::time::Instant::now(),
        }
    }

    /// Time since the start. Unit: seconds.
    pub(crate) fn seconds(self) -> f64 {
        #[cfg(not(target_family = "wasm"))]
        return self.begun.elapsed().as_secs_f64();
        #[cfg(target_family = "wasm")]
        return 0.0;
    }
}
