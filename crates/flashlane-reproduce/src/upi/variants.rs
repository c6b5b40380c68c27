//! The main result with other readings of what the paper leaves open, one at a time.

use flashlane::Error;

use super::isolation::DAY_S;
use super::setup::{HEADLINES, POLICIES, Piece};
use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "variants";

/// A reading: its name, keys for all policies, and the isolation of each where it is another.
struct Variant {
    name: &'static str,
    set: Option<&'static str>,
    policies: [&'static str; 3],
}

const PLAIN: [&str; 3] = [POLICIES[0].1, POLICIES[1].1, POLICIES[2].1];

const VARIANTS: [Variant; 4] = [
    Variant { name: "reads before writes", set: Some("scheduler=out-of-order"), policies: PLAIN },
    Variant {
        name: "partitions of chips",
        set: None,
        policies: [PLAIN[0], "isolation={ partitioned = { by = \"chip\" } }", PLAIN[2]],
    },
    Variant {
        name: "writes go to the plane with the least work",
        set: Some("ftl.allocation=dynamic"),
        policies: PLAIN,
    },
    Variant {
        name: "sets may swap chips for ever",
        set: None,
        policies: [PLAIN[0], PLAIN[1], "isolation={ upi = { settle = false } }"],
    },
];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let variants = if lab.smoke { &VARIANTS[..1] } else { &VARIANTS[..] };
    let piece = Piece::whole_day(lab, DAY_S);
    let mut jobs: Vec<Job> = Vec::new();
    for variant in variants {
        for policy in variant.policies {
            let sets: Vec<&str> = [policy].into_iter().chain(variant.set).collect();
            jobs.push(piece.job(lab, &sets)?);
        }
    }
    let runs = lab.run_seeds(&jobs, 1)?;
    let columns = [
        "reading",
        HEADLINES[0].metric,
        HEADLINES[1].metric,
        HEADLINES[2].metric,
        HEADLINES[3].metric,
    ];
    let mut table = Table::new(NAME, "changes by reading, one seed", &columns);
    let mut rows = Vec::new();
    for (variant, runs) in variants.iter().zip(runs.chunks(POLICIES.len())) {
        let changes = HEADLINES.map(|line| line.change(runs));
        let mut cells = vec![variant.name.into()];
        cells.extend(changes.map(Into::into));
        table.row(cells);
        for (line, ours) in HEADLINES.iter().zip(changes) {
            let metric = format!("{}: {}", variant.name, line.metric);
            rows.push(Row::number(NAME, metric, line.paper, ours, 0.0, "change", ""));
        }
    }
    Ok(Findings { rows, tables: vec![table] })
}
