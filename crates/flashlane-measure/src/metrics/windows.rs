//! Slowdown over time: end-to-end times of a flow by windows, shared and alone.

use std::collections::BTreeMap;

use flashlane_engine::Time;

use super::report::comparison;
use super::summary::{FlowWindow, SlowdownWindow, WindowedSlowdown};

/// Requests and their end-to-end times by window, for windows with requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Length of a window. Unit: picoseconds.
    length: u64,
    /// True if requests belong to the window of their arrival. In a closed loop arrivals depend on
    /// the rest of the load, so requests belong to the window of their completion.
    by_arrival: bool,
    /// Count and sum (unit: picoseconds) by index of the window from the start of the run.
    sums: BTreeMap<u64, (u64, u128)>,
}

impl Windows {
    /// `length` in picoseconds, at least 1.
    pub fn new(length: u64, by_arrival: bool) -> Self {
        assert!(length > 0, "windows have a length");
        Self { length, by_arrival, sums: BTreeMap::new() }
    }

    /// Adds a counted request that completes at `now`.
    pub(crate) fn record(&mut self, arrival: Time, now: Time) {
        let at = if self.by_arrival { arrival } else { now };
        let sum = self.sums.entry(at.0 / self.length).or_default();
        sum.0 += 1;
        sum.1 += u128::from((now - arrival).0);
    }

    /// The requests of a window.
    pub(crate) fn of(&self, index: u64) -> WindowMean {
        let (count, sum) = self.sums.get(&index).copied().unwrap_or_default();
        let mean = (count > 0).then(|| sum as f64 / count as f64 / 1e6);
        WindowMean { requests: count, end_to_end_us: mean }
    }
}

/// Slowdowns in every window in which some flow has a request. Flows are in the order of the
/// workload.
pub fn slowdowns(shared: &[Windows], alone: &[Windows]) -> WindowedSlowdown {
    assert_eq!(shared.len(), alone.len(), "every flow ran alone");
    let length = shared.first().map_or(0, |windows| windows.length);
    let mut indices: Vec<u64> = shared.iter().flat_map(|flow| flow.sums.keys().copied()).collect();
    indices.sort_unstable();
    indices.dedup();
    let window = |index: u64| {
        let flows: Vec<FlowWindow> =
            shared.iter().zip(alone).map(|(s, a)| flow_window(s.of(index), a.of(index))).collect();
        let slowdowns: Vec<f64> = flows.iter().filter_map(|flow| flow.slowdown).collect();
        let all = slowdowns.len() == flows.len();
        let found = comparison(if all { &slowdowns } else { &[] });
        SlowdownWindow {
            start_s: Time(index * length).as_s(),
            flows,
            fairness: found.fairness,
            max_slowdown: found.max_slowdown,
        }
    };
    WindowedSlowdown {
        window_s: Time(length).as_s(),
        windows: indices.into_iter().map(window).collect(),
    }
}

/// The requests of a flow in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowMean {
    /// Number of requests.
    pub(crate) requests: u64,
    /// Mean time from arrival to completion; `None` without requests. Unit: microseconds.
    pub(crate) end_to_end_us: Option<f64>,
}

fn flow_window(shared: WindowMean, alone: WindowMean) -> FlowWindow {
    let slowdown = shared.end_to_end_us.zip(alone.end_to_end_us);
    FlowWindow {
        requests: shared.requests,
        end_to_end_us: shared.end_to_end_us,
        alone_requests: alone.requests,
        alone_end_to_end_us: alone.end_to_end_us,
        slowdown: slowdown.map(|(shared, alone)| shared / alone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of 10 us with requests at these arrivals and completions. Unit: microseconds.
    fn windows(by_arrival: bool, requests: &[(u64, u64)]) -> Windows {
        let mut windows = Windows::new(Time::from_us(10).0, by_arrival);
        for &(arrival, now) in requests {
            windows.record(Time::from_us(arrival), Time::from_us(now));
        }
        windows
    }

    #[test]
    fn requests_fall_into_the_window_of_arrival_or_completion() {
        let requests = [(1, 3), (9, 13), (12, 20)];
        let open = windows(true, &requests);
        let mean = |requests, end_to_end_us| WindowMean { requests, end_to_end_us };
        assert_eq!(
            [0, 1, 2].map(|index| open.of(index)),
            [mean(2, Some(3.0)), mean(1, Some(8.0)), mean(0, None)]
        );
        let closed = windows(false, &requests);
        assert_eq!(
            [0, 1, 2].map(|index| closed.of(index)),
            [mean(1, Some(2.0)), mean(1, Some(4.0)), mean(1, Some(8.0))]
        );
    }

    #[test]
    fn slowdown_and_comparison_each_window() {
        let shared = [windows(true, &[(1, 5), (31, 35)]), windows(true, &[(2, 10), (45, 47)])];
        let alone = [windows(true, &[(1, 3), (31, 33)]), windows(true, &[(2, 3), (45, 46)])];
        let found = slowdowns(&shared, &alone);
        assert!((found.window_s - 10e-6).abs() < 1e-15);
        let starts: Vec<f64> = found.windows.iter().map(|w| (w.start_s * 1e6).round()).collect();
        assert_eq!(starts, [0.0, 30.0, 40.0]);
        let [first, second, third] = &found.windows[..] else { panic!("three windows") };
        // Slowdowns 2 and 8.
        assert_eq!(first.flows[0].slowdown.zip(first.flows[1].slowdown), Some((2.0, 8.0)));
        assert_eq!((first.fairness, first.max_slowdown), (Some(0.25), Some(8.0)));
        assert_eq!((second.flows[0].slowdown, second.flows[1].slowdown), (Some(2.0), None));
        assert_eq!((second.fairness, second.max_slowdown), (None, None));
        assert_eq!((third.flows[0].requests, third.flows[1].alone_end_to_end_us), (0, Some(1.0)));
    }
}
