//! One baseline for all columns of a page or a table.

use flashlane::metrics::Baseline;

use crate::data::RunData;

/// Takes the slowdowns and the fairness of all runs against the runs alone of one of them: of
/// `named`, or of the first. Without runs alone there, and where a tenant of a run is missing
/// there, slowdowns stay those against a run's own runs alone. [`RunData::baseline`] says which.
pub fn share_baseline(runs: &mut [RunData], named: Option<&RunData>) {
    let Some(source) = named.or(runs.first()) else { return };
    let Some(baseline) = Baseline::of(&source.summary, source.seeds.as_ref()) else { return };
    let label = source.label.clone();
    for (index, run) in runs.iter_mut().enumerate() {
        if !baseline.apply(&mut run.summary, run.seeds.as_mut()) {
            continue;
        }
        let its_own = named.is_none() && index == 0;
        run.baseline = (!its_own).then(|| label.clone());
    }
}

/// A sentence that says which tenants alone slowdowns are against. `None` where each run has its
/// own.
#[must_use]
pub fn baseline_sentence(runs: &[RunData]) -> Option<String> {
    let label = runs.iter().find_map(|run| run.baseline.as_ref())?;
    let has_own = |run: &&RunData| {
        run.baseline.is_none() && run.label != *label && run.summary.fairness.fairness.is_some()
    };
    let others: Vec<&str> = runs.iter().filter(has_own).map(|run| run.label.as_str()).collect();
    let mut said = against(label);
    if !others.is_empty() {
        let others = others.join(", ");
        said += &format!(" Other tenants, of {others}, are compared with themselves alone.");
    }
    Some(said)
}

/// Says that slowdowns are against the tenants alone in the run with this label.
#[must_use]
pub fn against(label: &str) -> String {
    format!("Slowdowns and fairness are against the tenants alone in {label}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::{AloneSummary, FlowSummary, Latency, Summary};

    fn run(label: &str, flows: &[(&str, f64, f64)]) -> RunData {
        let flow = |&(name, shared, alone): &(&str, f64, f64)| FlowSummary {
            name: name.to_owned(),
            end_to_end_us: Latency { count: 1, mean: shared, ..Latency::default() },
            alone_end_to_end_us: Some(alone),
            slowdown: Some(shared / alone),
            alone: Some(AloneSummary::default()),
            ..FlowSummary::default()
        };
        let flows = flows.iter().map(flow).collect();
        RunData::from_summary(label, Summary { flows, ..Summary::default() })
    }

    #[test]
    fn all_columns_have_the_times_alone_of_the_first_or_of_the_named_run() {
        let mut runs =
            [run("whole", &[("a", 200.0, 100.0)]), run("parted", &[("a", 300.0, 300.0)])];
        let named = runs[1].clone();
        share_baseline(&mut runs, None);
        let slowdowns = |runs: &[RunData]| -> Vec<_> {
            runs.iter().map(|run| run.summary.flows[0].slowdown).collect()
        };
        assert_eq!(slowdowns(&runs), [Some(2.0), Some(3.0)]);
        assert_eq!(runs[1].summary.flows[0].own_slowdown, Some(1.0));
        let said = baseline_sentence(&runs).unwrap();
        assert_eq!(said, "Slowdowns and fairness are against the tenants alone in whole.");
        share_baseline(&mut runs, Some(&named));
        assert_eq!(slowdowns(&runs), [Some(200.0 / 300.0), Some(1.0)]);
        assert_eq!(runs[1].baseline.as_deref(), Some("parted"));
    }

    #[test]
    fn a_run_with_other_tenants_keeps_its_own() {
        let mut runs = [run("one", &[("a", 200.0, 100.0)]), run("other", &[("b", 300.0, 100.0)])];
        runs[1].summary.fairness.fairness = Some(1.0);
        share_baseline(&mut runs, None);
        assert_eq!(runs[1].summary.flows[0].slowdown, Some(3.0));
        assert_eq!(baseline_sentence(&runs), None);
        let mut runs = [&runs[..1], &runs[..1], &runs[1..]].concat();
        share_baseline(&mut runs, None);
        let said = baseline_sentence(&runs).unwrap();
        assert!(said.ends_with("Other tenants, of other, are compared with themselves alone."));
    }
}
