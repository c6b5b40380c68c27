//! What a flow costs another one: by blame, and by a run without it.

use flashlane::metrics::Summary;
use flashlane::observe::Blame;

/// A flow beside another one, and without it.
#[derive(Clone, Debug, PartialEq)]
pub struct Removal {
    /// Name of the flow whose times these are.
    pub victim: String,
    /// Name of the flow that is left out.
    pub other: String,
    /// Mean end-to-end time of a request of the victim beside all other flows. Unit: microseconds.
    pub beside: f64,
    /// Mean end-to-end time without the other flow. Unit: microseconds.
    pub without: f64,
    /// What blame says that a request of the victim waits for the other flow, if it was asked for.
    pub blamed: Option<f64>,
}

impl Removal {
    /// What the other flow really costs a request of the victim. Unit: microseconds.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.beside - self.without
    }
}

/// The flows in the order of the workload, each beside its others, the costliest first. Empty in
/// runs without `--leave-one-out`.
#[must_use]
pub fn removals(summary: &Summary, blame: Option<&Blame>) -> Vec<Removal> {
    let mut all = Vec::new();
    for flow in &summary.flows {
        let blamed = |other: &str| {
            let row = blame?.victims.iter().find(|row| row.flow == flow.name)?;
            Some(row.by_culprit(other) as f64 / 1e6 / row.requests.max(1) as f64)
        };
        let mut of_flow: Vec<Removal> = flow
            .without
            .iter()
            .flatten()
            .map(|(other, &without)| Removal {
                victim: flow.name.clone(),
                other: other.clone(),
                beside: flow.end_to_end_us.mean,
                without,
                blamed: blamed(other),
            })
            .collect();
        of_flow.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
        all.append(&mut of_flow);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::FlowSummary;
    use flashlane::observe::{BlameCell, BlameVictim};

    #[test]
    fn the_costliest_comes_first_with_what_blame_says() {
        let mut flow = FlowSummary { name: "quiet".into(), ..FlowSummary::default() };
        flow.end_to_end_us.mean = 100.0;
        flow.without = Some([("loud".into(), 40.0), ("idle".into(), 99.0)].into());
        let summary = Summary { flows: vec![flow], ..Summary::default() };
        let cell = |ps| BlameCell { culprit: "loud".into(), cause: "bus".into(), ps };
        let victim = BlameVictim {
            flow: "quiet".into(),
            requests: 2,
            cells: vec![cell(90_000_000), cell(20_000_000)],
            ..BlameVictim::default()
        };
        let blame = Blame { victims: vec![victim], ..Blame::default() };
        let found = removals(&summary, Some(&blame));
        let shown = found.iter().map(|one| (&*one.other, one.difference(), one.blamed));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [("loud", 60.0, Some(55.0)), ("idle", 1.0, Some(0.0))]
        );
        assert_eq!(removals(&summary, None)[0].blamed, None);
    }
}
