//! Response times that traces report, beside those of the model.

use flashlane_engine::Time;
use flashlane_trace::{Completions, Event};

use flashlane_config::{FlowConfig, WorkloadConfig};
use flashlane_measure::metrics::Summary;
use flashlane_measure::metrics::latency::LatencyRecorder;
use flashlane_measure::metrics::window::TimeRange;
use flashlane_measure::observe::TimeSeries;
use flashlane_reading::Error;
use flashlane_workload::trace::{open_completions, scaled, trace_error};

/// Fills in the measured response times of the flows whose traces have completions, also by window
/// of the time series. `counted`: first and last arrival that counts.
pub(crate) fn fill(
    summary: &mut Summary,
    mut series: Option<&mut TimeSeries>,
    workload: &WorkloadConfig,
    counted: TimeRange,
) -> Result<(), Error> {
    for (index, flow) in workload.flows.iter().enumerate() {
        // In a closed loop the times of the trace do not matter.
        let Some(trace) = flow.trace.as_ref().filter(|trace| trace.queue_depth.is_none()) else {
            continue;
        };
        let Some(events) = open_completions(trace)? else { continue };
        let mut windows = Windows::of(series.as_deref());
        let measured = measure(flow, events, counted, &mut windows)?;
        if measured.count() == 0 {
            continue;
        }
        if let Some(series) = series.as_deref_mut() {
            windows.fill(series, index);
        }
        let one = &mut summary.flows[index];
        let measured = measured.summary();
        one.measured_error = (measured.mean > 0.0 && one.end_to_end_us.count > 0)
            .then(|| one.end_to_end_us.mean / measured.mean - 1.0);
        one.measured_response_time_us = Some(measured);
    }
    Ok(())
}

/// The measured response times of those requests of a flow that count.
fn measure(
    flow: &FlowConfig,
    mut events: Completions,
    counted: TimeRange,
    windows: &mut Windows,
) -> Result<LatencyRecorder, Error> {
    let time_scale = flow.trace.as_ref().map_or(1.0, |trace| trace.time_scale);
    let mut measured = LatencyRecorder::default();
    while let Some(event) = events.next().map_err(trace_error)? {
        let Event::Completion { record, response_ps, .. } = event else { continue };
        let arrival = flow.starts_at().0.saturating_add(scaled(record.time_ps, time_scale));
        if (counted.from.0..=counted.to.0).contains(&arrival) {
            measured.record(Time(response_ps));
            windows.add(arrival.saturating_add(response_ps), response_ps);
        }
    }
    Ok(measured)
}

/// Sums of measured response times by window of the time series.
struct Windows {
    /// Length of a window. Unit: picoseconds; 0 without a time series.
    length_ps: u64,
    /// Requests, and the sum of their response times in picoseconds.
    sums: Vec<(u64, u128)>,
}

impl Windows {
    fn of(series: Option<&TimeSeries>) -> Self {
        let length_ps = series.map_or(0, |series| libm::round(series.window_s * 1e12) as u64);
        Self { length_ps, sums: vec![(0, 0); series.map_or(0, |series| series.windows.len())] }
    }

    fn add(&mut self, at_ps: u64, response_ps: u64) {
        let index = at_ps.checked_div(self.length_ps).unwrap_or(u64::MAX);
        if let Some(sum) = usize::try_from(index).ok().and_then(|index| self.sums.get_mut(index)) {
            sum.0 += 1;
            sum.1 += u128::from(response_ps);
        }
    }

    fn fill(&self, series: &mut TimeSeries, flow: usize) {
        for (window, (count, sum)) in series.windows.iter_mut().zip(&self.sums) {
            window.flows[flow].measured_mean_us =
                (*count > 0).then(|| *sum as f64 / *count as f64 / 1e6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_measure::observe::{FlowPoint, SeriesWindow};

    #[test]
    fn windows_sum_by_completion() {
        let mut series = TimeSeries { window_s: 1e-6, ..TimeSeries::default() };
        series.windows.resize_with(2, || SeriesWindow {
            flows: vec![FlowPoint::default()],
            ..SeriesWindow::default()
        });
        let mut windows = Windows::of(Some(&series));
        for (at, response) in [(0, 100_000), (999_999, 300_000), (5_000_000, 1)] {
            windows.add(at, response);
        }
        windows.fill(&mut series, 0);
        let means: Vec<_> = series.windows.iter().map(|w| w.flows[0].measured_mean_us).collect();
        assert_eq!(means, [Some(0.2), None]);
        Windows::of(None).add(7, 7);
    }
}
