//! Arrival times of the records of a trace.

/// Maps times of the trace to times of the flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timing {
    /// This time of the trace ... Unit: picoseconds, unscaled. `None`: the time of the next record.
    pub(super) origin_trace: Option<u64>,
    /// ... is this time of the flow. Unit: picoseconds.
    pub(super) origin_flow: u64,
    /// First, last and number of the records of the running pass over the file. Unscaled.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) records: u64,
    /// Latest arrival. Unit: picoseconds.
    pub(super) arrival: u64,
}

/// A span of the trace as a span of the flow; exact for a scale of 1. Saturates.
pub fn scaled(ps: u64, scale: f64) -> u64 {
    if scale == 1.0 { ps } else { libm::round(ps as f64 * scale) as u64 }
}

impl Timing {
    /// The arrival of a record; `None` beyond the end of simulated time.
    pub(super) fn admit(&mut self, time_ps: u64, scale: f64) -> Option<u64> {
        if self.records == 0 {
            self.first = time_ps;
        }
        self.last = time_ps;
        self.records += 1;
        let origin = *self.origin_trace.get_or_insert(time_ps);
        let span = scaled(time_ps - origin, scale);
        let arrival = if span == u64::MAX { None } else { self.origin_flow.checked_add(span) }?;
        self.arrival = self.arrival.max(arrival);
        Some(self.arrival)
    }

    /// Mean gap of the records of the pass so far; 0 for a single record. Unscaled.
    pub(super) fn mean_gap(&self) -> u64 {
        (self.last - self.first).checked_div(self.records.saturating_sub(1)).unwrap_or(0)
    }
}
