//! Comparison of the model with the response times that traces report.

use super::summary::FlowSummary;
use super::verdict::list;

/// A model is far off if its mean is this many times the measured mean, or this many times less.
const FAR_OFF: f64 = 1.5;
/// Least number of measured requests for a verdict.
const REQUESTS_MIN: u64 = 30;

/// Measured and simulated mean of a flow.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) measured_us: f64,
    pub(super) simulated_us: f64,
}

impl Compared {
    pub(super) fn of(flow: &FlowSummary) -> Self {
        let measured = flow.measured_response_time_us.unwrap_or_default();
        Self {
            name: flow.name.clone(),
            count: measured.count,
            measured_us: measured.mean,
            simulated_us: flow.end_to_end_us.mean,
        }
    }

    /// Factor between the two means. Range: 1 and up.
    fn factor(&self) -> f64 {
        let ratio = self.simulated_us / self.measured_us;
        ratio.max(1.0 / ratio)
    }
}

/// The sentence about flows for which the model is far from the measurement.
pub(super) fn far_off(flows: impl Iterator<Item = Compared>) -> Option<String> {
    let is_far = |flow: &Compared| {
        flow.count >= REQUESTS_MIN
            && flow.measured_us > 0.0
            && flow.simulated_us > 0.0
            && flow.factor() > FAR_OFF
    };
    let each = |flow: Compared| {
        let Compared { name, measured_us, simulated_us, .. } = &flow;
        format!("{name} ({simulated_us:.1} us simulated, {measured_us:.1} us measured)")
    };
    let named: Vec<String> = flows.filter(is_far).map(each).collect();
    (!named.is_empty()).then(|| {
        format!(
            "Far off: the mean response time differs from the one in the trace by more than a factor of \
             {FAR_OFF} for {}. Fit the device to the drive before you trust times of this run.",
            list(&named)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::summary::Latency;

    fn flow(measured: f64, simulated: f64, count: u64) -> FlowSummary {
        let latency = |mean| Latency { count, mean, ..Latency::default() };
        FlowSummary {
            name: "db".to_owned(),
            measured_response_time_us: Some(latency(measured)),
            end_to_end_us: latency(simulated),
            ..FlowSummary::default()
        }
    }

    fn sentence(flow: FlowSummary) -> Option<String> {
        far_off([Compared::of(&flow)].into_iter())
    }

    #[test]
    fn a_model_that_is_far_off_says_so() {
        for (measured, simulated) in [(100.0, 151.0), (151.0, 100.0)] {
            let found = sentence(flow(measured, simulated, 30)).expect("a sentence");
            let expected = format!("db ({simulated:.1} us simulated, {measured:.1} us measured)");
            assert!(found.contains(&expected), "{found}");
        }
    }

    #[test]
    fn a_model_that_is_near_or_that_was_not_measured_says_nothing() {
        assert_eq!(sentence(flow(100.0, 149.0, 30)), None);
        assert_eq!(sentence(flow(100.0, 1000.0, 29)), None, "too few requests");
        assert_eq!(sentence(FlowSummary::default()), None);
        assert_eq!(sentence(flow(100.0, 0.0, 30)), None);
    }
}
