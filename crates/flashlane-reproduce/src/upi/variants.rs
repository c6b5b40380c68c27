//! The main result with other readings of what the paper leaves open, one at a time.

use flashlane::Error;

use super::setup::{HEADLINES, POLICIES, Piece};
use crate::{Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "variants";

/// Time from hour 17 on. Unit: seconds.
const COUNTED_S: f64 = 600.0;

/// A reading: its name, keys for all policies, and the isolation of each.
struct Variant {
    name: &'static str,
    set: Option<&'static str>,
    policies: [&'static str; 3],
}

const PLAIN: [&str; 3] = [POLICIES[0].1, POLICIES[1].1, POLICIES[2].1];

const fn upi(name: &'static str, upi: &'static str) -> Variant {
    Variant { name, set: None, policies: [PLAIN[0], PLAIN[1], upi] }
}

const VARIANTS: [Variant; 7] = [
    Variant { name: "as chosen", set: None, policies: PLAIN },
    Variant { name: "reads before writes", set: Some("scheduler=out-of-order"), policies: PLAIN },
    Variant {
        name: "partitions of chips",
        set: None,
        policies: [PLAIN[0], "isolation={ partitioned = { by = \"chip\" } }", PLAIN[2]],
    },
    Variant {
        name: "data in 60 % of the space",
        set: Some("ftl.precondition.occupancy=0.6"),
        policies: PLAIN,
    },
    upi("upi with windows of 5 s", "isolation={ upi = { window = \"5s\" } }"),
    upi("upi with a hysteresis of 5 %", "isolation={ upi = { hysteresis = 0.05 } }"),
    upi("upi without settling", "isolation={ upi = { settle = false } }"),
];

/// Those that change the paper's baselines too: compared with its numbers. The first one is the
/// main result, others are variants of UPI and stand in the table.
const COMPARED: [&str; 2] = [VARIANTS[1].name, VARIANTS[2].name];

impl Variant {
    /// The keys of each policy.
    fn sets(&self) -> [Vec<&'static str>; 3] {
        self.policies.map(|policy| [policy].into_iter().chain(self.set).collect())
    }
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let variants = if lab.smoke { &VARIANTS[..2] } else { &VARIANTS[..] };
    let piece = Piece::hour_17(lab, COUNTED_S, 1.0);
    // What several variants have in common is run once.
    let mut keys: Vec<Vec<&str>> = variants.iter().flat_map(Variant::sets).collect();
    keys.sort_unstable();
    keys.dedup();
    let jobs: Vec<Job> = keys.iter().map(|sets| piece.job(lab, sets)).collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, 1)?;
    let of = |variant: &Variant| -> Vec<Vec<Run>> {
        let place = |sets: Vec<&str>| keys.binary_search(&sets).expect("all keys are there");
        variant.sets().map(|sets| runs[place(sets)].clone()).to_vec()
    };
    let columns = [
        "reading",
        HEADLINES[0].metric,
        HEADLINES[1].metric,
        HEADLINES[2].metric,
        HEADLINES[3].metric,
    ];
    let mut table = Table::new(NAME, "changes by reading, one seed", &columns);
    let mut rows = Vec::new();
    for variant in variants {
        let runs = of(variant);
        let changes = HEADLINES.map(|line| line.change(&runs));
        let mut cells = vec![variant.name.into()];
        cells.extend(changes.map(Into::into));
        table.row(cells);
        if !COMPARED.contains(&variant.name) {
            continue;
        }
        for (line, ours) in HEADLINES.iter().zip(changes) {
            let metric = format!("{}: {}", variant.name, line.metric);
            rows.push(Row::number(NAME, metric, line.paper, ours, 0.0, "change", ""));
        }
    }
    Ok(Findings { rows, tables: vec![table] })
}
