//! Combinations that nobody chose (`g13_mixed`, `random`): how many of their flows have the mean of
//! the released MQSim, and which do not.

use std::collections::BTreeMap;

use flashlane::metrics::Summary;

use crate::oracle::judge::{Case, Closeness};

/// A group that is judged flow by flow, and only by means.
pub(crate) struct Set {
    pub(crate) group: (&'static str, Closeness),
    /// All flows that are outside. A flow that comes inside, or leaves, has to be noted here.
    outside: &'static [Outside],
    /// Share of the flows that is inside. Unit: percent.
    reached: usize,
}

/// The mixed cases of the full reference runs.
pub(crate) const MIXED: Set =
    Set { group: ("g13_mixed", Closeness::Strict), outside: OUTSIDE, reached: 99 };

/// Inputs drawn at random for this test, by class: plain ones, priorities, a mapping cache, a data
/// cache, SATA, collection, preconditioning, flows that share some of their planes.
pub(crate) const RANDOM: Set =
    Set { group: ("random", Closeness::Strict), outside: OUTSIDE_OF_RANDOM, reached: 96 };

/// True if a case belongs to a set that is judged flow by flow.
pub(crate) fn is_of_a_set(name: &str) -> bool {
    MIXED.has(name) || RANDOM.has(name)
}

/// Flows outside their tolerance, by what is known of the cause.
pub(crate) struct Outside {
    pub(crate) why: &'static str,
    /// A case all of whose flows are inside, which has the same inputs but for the cause, as far as
    /// there is one.
    pub(crate) beside: Option<&'static str>,
    /// Cases without the name of the group, and flows.
    pub(crate) flows: &'static [(&'static str, &'static [usize])],
}

const OUTSIDE: &[Outside] = &[Outside {
    why: "not traced: a drive of few blocks with flows of the classes urgent, high and low, after its first ninety \
          milliseconds",
    beside: None,
    flows: &[("m16_uns", &[1, 2])],
}];

/// The flows of [`RANDOM`] that are outside.
const OUTSIDE_OF_RANDOM: &[Outside] = &[
    Outside {
        why: "not traced: a stream of parts of pages through the data cache",
        beside: Some("cache013"),
        flows: &[("cache011", &[0]), ("sata004", &[0])],
    },
    Outside {
        why: "not traced: collection by RGA, less than 0.8 % off",
        beside: Some("gc003"),
        flows: &[("gc007", &[0]), ("gc015", &[0])],
    },
    Outside {
        why: "a preconditioned drive whose flows hold hot pages of a range that was too small: a few of the cold pages \
              that they hold are others in the release, and some planes begin to collect sooner or later",
        beside: Some("pre051"),
        flows: &[("pre006", &[0, 1, 2]), ("pre007", &[0]), ("pre036", &[0]), ("pre054", &[1])],
    },
    Outside {
        why: "not traced: several flows that read pages which nobody wrote, and flows that write parts of pages",
        beside: Some("pre003"),
        flows: &[("pre012", &[0, 1]), ("pre049", &[1])],
    },
];

/// A flow of a case beside the released MQSim.
struct Compared {
    case: String,
    flow: usize,
    theirs: f64,
    /// The mean here, or why there is none.
    ours: Result<f64, String>,
    inside: bool,
}

fn compare(case: &Case, summary: &Result<Summary, String>) -> Vec<Compared> {
    let allowed = if case.strict { 0.005 } else { 0.05 };
    let (_, name) = case.name.split_once('/').expect("group and case");
    let flow = |(flow, theirs): (usize, &crate::oracle::judge::Reference)| {
        let ours = match summary {
            Ok(summary) => Ok(&summary.flows[flow]),
            Err(error) => Err(error.clone()),
        };
        let inside = ours.as_ref().is_ok_and(|ours| {
            let served = ours.requests.read + ours.requests.write;
            (ours.response_time_us.mean / theirs.mean - 1.0).abs() <= allowed
                && served.abs_diff(theirs.requests) as f64 <= allowed * theirs.requests as f64
        });
        let ours = ours.map(|ours| ours.response_time_us.mean);
        Compared { case: name.to_owned(), flow, theirs: theirs.mean, ours, inside }
    };
    case.figures.flows.iter().enumerate().map(flow).collect()
}

/// The name of a case up to its first figure: cases of the same purpose share it.
fn prefix(case: &str) -> &str {
    let end = case.find(|c: char| c.is_ascii_digit()).unwrap_or(case.len());
    case[..end].trim_end_matches('_')
}

fn print(compared: &[Compared]) {
    let mut groups: BTreeMap<&str, (usize, usize, f64)> = BTreeMap::new();
    for flow in compared {
        let (inside, all, worst) = groups.entry(prefix(&flow.case)).or_default();
        *inside += usize::from(flow.inside);
        *all += 1;
        let verdict = if flow.inside { "" } else { "outside" };
        match &flow.ours {
            Ok(ours) => {
                let difference = 100.0 * (ours / flow.theirs - 1.0);
                if difference.abs() > worst.abs() {
                    *worst = difference;
                }
                println!(
                    "{:<24} {} {:>14.3} {ours:>14.3} {difference:>8.3} {verdict}",
                    flow.case, flow.flow, flow.theirs
                );
            }
            Err(error) => println!("{:<24} {} refused: {error}", flow.case, flow.flow),
        }
    }
    println!("{:<24} {:>6} {:>6} {:>10}", "cases", "inside", "flows", "worst, %");
    for (name, (inside, all, worst)) in groups {
        println!("{name:<24} {inside:>6} {all:>6} {worst:>10.3}");
    }
}

impl Set {
    /// True if a case belongs to the set.
    pub(crate) fn has(&self, name: &str) -> bool {
        name.split_once('/').is_some_and(|(group, _)| group == self.group.0)
    }

    /// Prints every flow and a table by purpose, and checks that exactly the known flows are
    /// outside.
    pub(crate) fn check(&self, results: &[(&Case, &Result<Summary, String>)]) {
        let compared: Vec<Compared> =
            results.iter().flat_map(|(case, summary)| compare(case, summary)).collect();
        print(&compared);
        let known = |case: &str, flow: usize| {
            self.outside.iter().any(|outside| {
                outside.flows.iter().any(|(name, flows)| *name == case && flows.contains(&flow))
            })
        };
        let wrong: Vec<String> = compared
            .iter()
            .filter(|flow| flow.inside == known(&flow.case, flow.flow))
            .map(|flow| format!("{} {}: inside is {}", flow.case, flow.flow, flow.inside))
            .collect();
        let inside = compared.iter().filter(|flow| flow.inside).count();
        println!("{inside} of {} flows are inside", compared.len());
        assert!(wrong.is_empty(), "the list of flows outside is wrong:\n{}", wrong.join("\n"));
        assert!(100 * inside >= self.reached * compared.len(), "{inside} of {}", compared.len());
        let all_inside = |name: &str| {
            let mut flows = compared.iter().filter(|flow| flow.case == name).peekable();
            flows.peek().is_none() || flows.all(|flow| flow.inside)
        };
        for Outside { why, beside, .. } in self.outside {
            assert!(beside.is_none_or(all_inside), "{why}: {beside:?} is not inside");
        }
    }
}
