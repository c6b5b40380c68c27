//! What completed in the last minute, in slots of five seconds.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use flashlane::Time;
use hdrhistogram::Histogram;

use super::OPERATIONS;

/// Length of a slot, in real time.
const SLOT: Duration = Duration::from_secs(5);

/// Slots that are kept: a minute, with the slot that is being filled.
const SLOTS: usize = 12;

/// Unit of the histograms: 100 ns. Unit: picoseconds.
const TICK_PS: u64 = 100_000;

/// The longest response time that the histograms tell apart: a minute. Unit: ticks.
const TICKS_MAX: u64 = 600_000_000;

/// Completed commands.
#[derive(Clone)]
pub(super) struct Counted {
    pub(super) requests: u64,
    pub(super) bytes: u64,
    response_ps: u128,
    response: Histogram<u32>,
}

impl Default for Counted {
    fn default() -> Self {
        // Two digits are 1 %; a histogram then takes 12 KiB.
        let response = Histogram::new_with_bounds(1, TICKS_MAX, 2).expect("valid bounds");
        Self { requests: 0, bytes: 0, response_ps: 0, response }
    }
}

impl Counted {
    fn note(&mut self, bytes: u64, response_ps: u64) {
        self.requests += 1;
        self.bytes += bytes;
        self.response_ps += u128::from(response_ps);
        self.response.saturating_record((response_ps / TICK_PS).max(1));
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.response_ps += other.response_ps;
        self.response.add(&other.response).expect("histograms of equal bounds");
    }

    /// Mean response time; 0 without a command. Unit: microseconds.
    pub(super) fn mean_us(&self) -> f64 {
        self.response_ps as f64 / 1e6 / self.requests.max(1) as f64
    }

    /// The response time that a share of the commands does not exceed. Unit: microseconds.
    pub(super) fn quantile_us(&self, share: f64) -> f64 {
        self.response.value_at_quantile(share) as f64 * TICK_PS as f64 / 1e6
    }
}

/// The counts of a tenant by operation; nothing for operations without a command.
pub(super) type ByOperation = [Option<Box<Counted>>; OPERATIONS.len()];

/// Some seconds.
struct Slot {
    began: Instant,
    /// Simulated time at the beginning.
    at: Time,
    tenants: Vec<ByOperation>,
}

/// The last minute.
pub(super) struct Window {
    /// Oldest first; never empty.
    slots: VecDeque<Slot>,
    tenants: usize,
}

/// Some slots together.
pub(super) struct Span {
    /// Length in real time.
    pub(super) real: Duration,
    /// Length in simulated time. Unit: seconds.
    pub(super) simulated_s: f64,
    pub(super) tenants: Vec<ByOperation>,
}

impl Window {
    pub(super) fn new(tenants: usize, now: Instant, at: Time) -> Self {
        let mut window = Self { slots: VecDeque::new(), tenants };
        window.begin(now, at);
        window
    }

    fn begin(&mut self, began: Instant, at: Time) {
        let tenants = vec![ByOperation::default(); self.tenants];
        self.slots.push_back(Slot { began, at, tenants });
        if self.slots.len() > SLOTS {
            self.slots.pop_front();
        }
    }

    /// Begins a slot if the last one is long enough.
    pub(super) fn passes(&mut self, now: Instant, at: Time) {
        let last = self.slots.back().map(|slot| slot.began);
        if last.is_none_or(|began| now.saturating_duration_since(began) >= SLOT) {
            self.begin(now, at);
        }
    }

    /// A command of a tenant and an operation is complete.
    pub(super) fn note(
        &mut self,
        (tenant, operation): (usize, usize),
        bytes: u64,
        response_ps: u64,
    ) {
        let slot = self.slots.back_mut().expect("a window has a slot");
        slot.tenants[tenant][operation].get_or_insert_default().note(bytes, response_ps);
    }

    /// The last minute.
    pub(super) fn minute(&self, now: Instant, at: Time) -> Span {
        self.read(self.slots.len(), now, at)
    }

    /// The slot that is being filled, and the one before: the last five to ten seconds.
    pub(super) fn recent(&self, now: Instant, at: Time) -> Span {
        self.read(2, now, at)
    }

    /// The last slots together.
    fn read(&self, slots: usize, now: Instant, at: Time) -> Span {
        let first = self.slots.len().saturating_sub(slots);
        let oldest = &self.slots[first];
        let mut tenants = vec![ByOperation::default(); self.tenants];
        for slot in self.slots.range(first..) {
            for (sum, counted) in tenants.iter_mut().flatten().zip(slot.tenants.iter().flatten()) {
                if let Some(counted) = counted {
                    sum.get_or_insert_default().add(counted);
                }
            }
        }
        Span {
            real: now.saturating_duration_since(oldest.began),
            simulated_s: at.0.saturating_sub(oldest.at.0) as f64 / 1e12,
            tenants,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_a_minute_is_forgotten() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let time = |seconds: u64| Time(seconds * 1_000_000_000_000);
        let mut window = Window::new(2, start, Time::ZERO);
        for second in 0..100 {
            window.passes(at(second), time(second * 2));
            // 1 us in the first fifty seconds, then 1 ms.
            let response_ps = if second < 50 { 1_000_000 } else { 1_000_000_000 };
            window.note((1, 0), 4096, response_ps);
        }
        let recent = window.recent(at(100), time(200));
        assert!((5..=10).contains(&recent.real.as_secs()));
        let counted = recent.tenants[1][0].as_ref().expect("commands");
        assert_eq!(counted.requests, recent.real.as_secs());
        let minute = window.minute(at(100), time(200));
        let seconds = minute.real.as_secs();
        assert!((55..=60).contains(&seconds), "{seconds}");
        assert!((minute.simulated_s - 2.0 * seconds as f64).abs() < 1e-9);
        assert!(minute.tenants[0].iter().all(Option::is_none));
        let counted = minute.tenants[1][0].as_ref().expect("commands");
        assert_eq!((counted.requests, counted.bytes), (seconds, seconds * 4096));
        assert!((counted.quantile_us(0.5) / 1000.0 - 1.0).abs() < 0.01);
        assert!((counted.quantile_us(0.01) - 1.0).abs() < 0.01);
        let fast = seconds - 50;
        let mean = (fast as f64 + 50_000.0) / seconds as f64;
        assert!((counted.mean_us() - mean).abs() < 1e-6, "the mean is exact");
    }
}
