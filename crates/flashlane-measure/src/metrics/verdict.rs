//! Whether the figures of a run can be trusted: the sentences that every report prints first.

use super::measured::{self, Compared};
use super::seeds::SeedStatistics;
use super::summary::{FlowSummary, OverloadSummary, Summary};

/// Most flows that the verdict names; it counts the others.
const NAMED: usize = 4;

impl Summary {
    /// Sentences that come before any other number of the run: flows that starve, flows that the
    /// drive does not keep up with, and flows without a request in the window. Empty where there
    /// are none. Text, reports, Python and comparisons print the same words; `summary.json` has
    /// them under `verdict`.
    #[must_use]
    pub fn verdict(&self) -> Vec<String> {
        let flows = self.flows.iter().map(|flow| FlowFacts {
            name: flow.name.clone(),
            offered_iops: flow.offered_iops,
            iops: flow.iops,
            backlog_at_end: flow.backlog_at_end as f64,
            saturated: Seeds::one(flow.saturated),
            starved: Seeds::one(flow.starved),
            silent: Seeds::one(flow.requests.all() == 0),
        });
        let ended = self.overload.iter().map(ended);
        let far_off = measured::far_off(self.flows.iter().map(Compared::of));
        ended.chain(sentences(&flows.collect::<Vec<_>>())).chain(far_off).collect()
    }
}

impl SeedStatistics {
    /// The verdict over all seeds: it says in how many seeds the drive does not keep up with a
    /// flow. Its figures are means over the seeds. `first` is the summary of the first seed.
    #[must_use]
    pub fn verdict(&self, first: &Summary) -> Vec<String> {
        let flow = |(index, flow): (usize, &FlowSummary)| {
            let metric = |key: &str| self.get(&format!("flows[{index}].{key}"));
            let mean =
                |key: &str, of_first: f64| metric(key).map_or(of_first, |metric| metric.mean);
            let requests = ["read", "write", "trim", "flush"].map(|kind| {
                metric(&format!("requests.{kind}")).map_or(&[][..], |metric| &metric.values)
            });
            let silent =
                |seed: &usize| requests.iter().all(|values| values.get(*seed) == Some(&Some(0.0)));
            let all = self.seeds.len();
            let seeds_with = |key: &str| {
                let values = metric(key).map_or(&[][..], |metric| &metric.values);
                Seeds { count: values.iter().filter(|value| **value == Some(1.0)).count(), all }
            };
            FlowFacts {
                name: flow.name.clone(),
                offered_iops: mean("offered_iops", flow.offered_iops),
                iops: mean("iops", flow.iops),
                backlog_at_end: mean("backlog_at_end", flow.backlog_at_end as f64),
                saturated: seeds_with("saturated"),
                starved: seeds_with("starved"),
                silent: Seeds { count: (0..all).filter(silent).count(), all },
            }
        };
        let of_flows = sentences(&first.flows.iter().enumerate().map(flow).collect::<Vec<_>>());
        let far_off = measured::far_off(first.flows.iter().enumerate().map(|(index, flow)| {
            let mean = self.get(&format!("flows[{index}].end_to_end_us.mean"));
            let simulated_us = mean.map_or(flow.end_to_end_us.mean, |mean| mean.mean);
            Compared { simulated_us, ..Compared::of(flow) }
        }));
        self.ended().into_iter().chain(of_flows).chain(far_off).collect()
    }

    /// The loads that ended before their time, in any of the seeds.
    fn ended(&self) -> Option<String> {
        let outstanding = &self.get("overload[0].outstanding")?;
        let (count, all) = (outstanding.n, self.seeds.len());
        let seeds = Seeds { count, all }.text().map_or_else(String::new, |text| format!(" {text}"));
        Some(format!(
            "Overloaded{seeds}: {} requests were outstanding on average (outstanding_max), and the load \
             ended before its time.",
            grouped(outstanding.mean)
        ))
    }
}

/// The sentence about a load that ended before its time.
fn ended(one: &OverloadSummary) -> String {
    let (outstanding, flow) = (grouped(one.outstanding as f64), &one.flow);
    if one.alone {
        return format!(
            "Overloaded alone: flow {flow} by itself had {outstanding} requests outstanding \
             (outstanding_max) at {} s, and its load ended there; its slowdown says nothing about the \
             drive.",
            one.at_s
        );
    }
    format!(
        "Overloaded: at {} s, {outstanding} requests were outstanding (outstanding_max), most of them of \
         flow {flow}. The load ended there, and everything that had arrived was completed.",
        one.at_s
    )
}

/// Number of seeds in which something holds.
#[derive(Clone, Copy, Debug)]
struct Seeds {
    count: usize,
    all: usize,
}

impl Seeds {
    fn one(yes: bool) -> Self {
        Self { count: usize::from(yes), all: 1 }
    }

    /// `in 2 of 3 seeds`; none for a single seed.
    fn text(self) -> Option<String> {
        (self.all > 1).then(|| format!("in {} of {} seeds", self.count, self.all))
    }
}

/// The facts about a flow that the verdict needs.
#[derive(Debug)]
struct FlowFacts {
    name: String,
    offered_iops: f64,
    iops: f64,
    backlog_at_end: f64,
    saturated: Seeds,
    starved: Seeds,
    silent: Seeds,
}

fn sentences(flows: &[FlowFacts]) -> Vec<String> {
    let starved: Vec<&FlowFacts> = flows.iter().filter(|flow| flow.starved.count > 0).collect();
    let mut verdict = if starved.is_empty() { Vec::new() } else { starvation(&starved) };
    // A flow that starves has been named already.
    let saturated = |flow: &&FlowFacts| flow.saturated.count > flow.starved.count;
    let saturated: Vec<&FlowFacts> = flows.iter().filter(saturated).collect();
    if !saturated.is_empty() {
        verdict.extend(saturation(&saturated));
    }
    let silent = flows.iter().filter(|flow| flow.silent.count > 0);
    let silent: Vec<String> = silent
        .map(|flow| match flow.silent.text() {
            Some(seeds) => format!("{} ({seeds})", flow.name),
            None => flow.name.clone(),
        })
        .collect();
    if !silent.is_empty() {
        verdict.push(format!(
            "No request of {} arrived inside the window: the figures of {} are empty.",
            list(&silent),
            if silent.len() == 1 { "this flow" } else { "these flows" },
        ));
    }
    verdict
}

/// A flow by its name, with its figures and the number of seeds in which something holds.
fn described(flow: &FlowFacts, which: Seeds) -> String {
    let (seeds, means) = match which.text() {
        Some(seeds) => (format!("{seeds}; "), "on average "),
        None => (String::new(), ""),
    };
    format!(
        "{} ({seeds}{means}offered {} IOPS, completed {} IOPS, {} requests not complete at the end of the \
         window)",
        flow.name,
        grouped(flow.offered_iops),
        grouped(flow.iops),
        grouped(flow.backlog_at_end),
    )
}

/// The sentences about flows that starve.
fn starvation(flows: &[&FlowFacts]) -> Vec<String> {
    let named: Vec<String> = flows.iter().map(|flow| described(flow, flow.starved)).collect();
    let (flow, these, them) = match flows {
        [_] => ("flow", "this flow", "it"),
        _ => ("flows", "these flows", "them"),
    };
    vec![
        format!(
            "Starved: the drive serves others and gets nothing done for {flow} {}.",
            list(&named)
        ),
        format!(
            "Requests of {these} complete only because the load ends: latencies and slowdowns of {them} \
             grow with the length of the run and say nothing about the drive."
        ),
    ]
}

/// The sentences about flows that the drive does not keep up with.
fn saturation(flows: &[&FlowFacts]) -> Vec<String> {
    let each = |flow: &&FlowFacts| {
        // Then the window is the whole run.
        if flow.backlog_at_end == 0.0 {
            let seeds = flow.saturated.text().map_or_else(String::new, |seeds| seeds + "; ");
            let piles = "its requests pile up until its load ends";
            return format!(
                "{} ({seeds}{piles}; the window contains the time after that)",
                flow.name
            );
        }
        described(flow, flow.saturated)
    };
    let named: Vec<String> = flows.iter().map(each).collect();
    let (flow, these) =
        if flows.len() == 1 { ("flow", "this flow") } else { ("flows", "these flows") };
    vec![
        format!("Saturated: the drive does not keep up with {flow} {}.", list(&named)),
        format!(
            "Latencies and slowdowns of {these} grow with the length of the run and say nothing about \
             the drive."
        ),
    ]
}

/// `a, b and c`; of many items, the first ones and the number of the others.
pub(super) fn list(items: &[String]) -> String {
    let named = &items[..items.len().min(NAMED)];
    let more = match items.len().saturating_sub(NAMED) {
        0 => None,
        1 => Some("1 more flow".to_owned()),
        more => Some(format!("{more} more flows")),
    };
    let (last, first) = match (&more, named) {
        (Some(more), _) => (more, named),
        (None, [first @ .., last]) => (last, first),
        (None, []) => return String::new(),
    };
    if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) }
}

/// A number with groups of thousands, without decimals from 100 on.
fn grouped(value: f64) -> String {
    if value < 100.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::summary::RequestCounts;

    fn flow(name: &str, saturated: bool) -> FlowSummary {
        FlowSummary {
            name: name.to_owned(),
            offered_iops: 200_000.0,
            iops: 36_123.4,
            backlog_at_end: 16_400,
            saturated,
            requests: RequestCounts { read: 1, ..RequestCounts::default() },
            ..FlowSummary::default()
        }
    }

    #[test]
    fn the_flows_that_the_drive_does_not_keep_up_with_are_named() {
        let verdict = |flows| Summary { flows, ..Summary::default() }.verdict();
        assert!(verdict(vec![flow("a", false)]).is_empty());
        let one = verdict(vec![flow("a", true), flow("b", false)]);
        assert_eq!(
            one[0],
            "Saturated: the drive does not keep up with flow a (offered 200,000 IOPS, completed 36,123 \
             IOPS, 16,400 requests not complete at the end of the window)."
        );
        let many = verdict((0..6).map(|index| flow(&format!("f{index}"), true)).collect());
        assert!(
            many[0].contains("flows f0 (") && many[0].ends_with(" and 2 more flows."),
            "{many:?}"
        );
        assert!(!many[0].contains("f4"));
        let silent = FlowSummary { name: "late".to_owned(), ..FlowSummary::default() };
        let found = verdict(vec![flow("b", false), silent]);
        assert_eq!(
            found,
            ["No request of late arrived inside the window: the figures of this flow are empty."]
        );
    }

    #[test]
    fn a_flow_that_starves_comes_first_and_once() {
        let starving = FlowSummary { starved: true, iops: 0.0, ..flow("low", true) };
        let flows = vec![flow("busy", true), starving.clone(), flow("c", false)];
        let verdict = Summary { flows, ..Summary::default() }.verdict();
        assert_eq!(
            verdict[0],
            "Starved: the drive serves others and gets nothing done for flow low (offered 200,000 IOPS, \
             completed 0 IOPS, 16,400 requests not complete at the end of the window)."
        );
        assert!(verdict[1].starts_with("Requests of this flow complete only"), "{verdict:?}");
        assert!(verdict[2].starts_with("Saturated: the drive does not keep up with flow busy ("));
        assert_eq!(verdict.len(), 4, "{verdict:?}");
        let run = |seed, starved| {
            let one = FlowSummary { starved, ..starving.clone() };
            Summary { seed, flows: vec![one], ..Summary::default() }
        };
        let runs = [run(1, true), run(2, false)];
        let verdict = SeedStatistics::of(&runs).verdict;
        assert!(verdict[0].contains("flow low (in 1 of 2 seeds; on average"), "{verdict:?}");
        assert!(verdict[2].starts_with("Saturated"), "in the other seed: {verdict:?}");
    }

    #[test]
    fn over_seeds_it_says_in_how_many() {
        let run = |seed, saturated, iops| {
            let busy = FlowSummary { iops, ..flow("busy", saturated) };
            let late = RequestCounts { write: seed - 1, ..RequestCounts::default() };
            let late = FlowSummary { requests: late, ..flow("late", false) };
            Summary { seed, flows: vec![busy, late], ..Summary::default() }
        };
        let runs = [run(1, false, 10_000.0), run(2, true, 20_000.0), run(3, true, 30_000.0)];
        let seeds = SeedStatistics::of(&runs);
        let expected = [
            "Saturated: the drive does not keep up with flow busy (in 2 of 3 seeds; on average offered \
             200,000 IOPS, completed 20,000 IOPS, 16,400 requests not complete at the end of the window).",
            "Latencies and slowdowns of this flow grow with the length of the run and say nothing about the \
             drive.",
            "No request of late (in 1 of 3 seeds) arrived inside the window: the figures of this flow are \
             empty.",
        ];
        assert_eq!(seeds.verdict(&runs[0]), expected);
        assert_eq!(seeds.verdict, expected);
        let mean = seeds.mean_summary(&runs[0]).unwrap();
        assert_eq!(mean.verdict, expected);
        assert!(mean.saturated || mean.flows[0].saturated, "in one seed is enough");
        let text = serde_json::to_string(&seeds).unwrap();
        assert!(text.find("\"verdict\"") < text.find("\"flows[0]"), "among the first keys");
        assert_eq!(SeedStatistics::from_json(&text, &runs[0]).unwrap(), seeds);
    }

    #[test]
    fn numbers_are_grouped() {
        let found = [0.0, 7.0, 2.5, 99.99, 999.0, 1_000.0, 1_234_567.8].map(grouped);
        assert_eq!(found, ["0", "7", "2.50", "99.99", "999", "1,000", "1,234,568"]);
    }
}
