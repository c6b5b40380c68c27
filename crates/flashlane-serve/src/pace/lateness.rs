//! How much later than their time completions leave.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Lateness of completions, in real time. Unit: nanoseconds.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        // Three digits, up to a minute.
        Self(Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("valid bounds"))
    }
}

impl Lateness {
    /// Notes how late a completion left.
    pub(crate) fn note(&mut self, late: Duration) {
        self.0.saturating_record(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX).max(1));
    }

    /// Number of completions.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The lateness that a share of the completions does not exceed. Range of `share`: 0..=1.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(share))
    }
}
