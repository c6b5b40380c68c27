//! Fig. 8: contention at the flash.
//!
//! Section 6.1.4: two flows of random 8 KiB reads; Flow-1 keeps 2 requests outstanding, Flow-2 from
//! 2 to 256; no data cache, every translation hits. The drive starts empty and reads cost a flash
//! access each, as in the released configuration of this study: where the data lies does not matter
//! to uniform reads.

use flashlane::Error;

use super::contention::{Sweep, fairness, queue_growth, slowdown, weighted_speedup};
use crate::{Bound, Findings, Job, Lab, Row};

const NAME: &str = "backend";
const DEPTHS: [u32; 8] = [2, 4, 8, 16, 32, 64, 128, 256];

/// The drive of the paper's text, and two drives closer to the released simulator.
#[derive(Clone, Copy, PartialEq)]
enum Variant {
    /// The drive of Table 3 and the text.
    Text,
    /// The flows have two chips of each channel, as in the released configuration of this study.
    TwoChips,
    /// As `TwoChips`, and the dies of a chip work one at a time, as in the released simulator.
    OneDie,
}

fn job(lab: &Lab<'_>, depth: u32, variant: Variant) -> Result<Job, Error> {
    let duration = match (lab.smoke, lab.full) {
        (true, _) => "5ms",
        (_, true) => "5s",
        _ => "500ms",
    };
    let chips = if variant == Variant::Text { "[0, 1, 2, 3]" } else { "[0, 1]" };
    let flow = |name: &str, depth: u32| {
        format!(
            r#"
            [[flow]]
            name = "{name}"
            cache = "off"
            chips = {chips}
            [flow.synthetic]
            queue_depth = {depth}
            read_ratio = 1.0
            size = "8KiB"
            align = "8KiB"
            duration = "{duration}"
            "#
        )
    };
    let sets = [
        "ftl.mapping.ideal=true",
        "ftl.precondition.enabled=false",
        "ftl.unwritten_read=flash",
        match variant {
            Variant::OneDie => "compat.one_die_per_dispatch=true",
            _ => "compat.one_die_per_dispatch=false",
        },
    ];
    Job::new("fast18", &sets, &(flow("flow-1", 2) + &flow("flow-2", depth)))
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let sweep = Sweep::run(lab, &DEPTHS, |depth| job(lab, depth, Variant::Text))?;
    let variant = |variant| -> Result<_, Error> {
        let sweep = Sweep::run(lab, &[256], |depth| job(lab, depth, variant))?;
        Ok(sweep.at(256, |s| slowdown(s, 0)))
    };
    let (two_chips, one_die) = (variant(Variant::TwoChips)?, variant(Variant::OneDie)?);
    let (low, high) = sweep.ends();
    let number = |metric: &str, values: &[f64], note: &str| {
        Row::number_over_seeds(NAME, metric, 14.4, values, 1.0, "x", note)
    };
    let rows = vec![
        number(
            "flow-1.slowdown at depth 256",
            &sweep.at(high, |s| slowdown(s, 0)),
            "the drive of Table 3 as it stands: 32 chips of 2 dies that work in parallel",
        ),
        number(
            "flow-1.slowdown at depth 256, two chips a channel",
            &two_chips,
            "the released configuration of this study gives both flows chips 0 and 1 only",
        ),
        number(
            "flow-1.slowdown at depth 256, two chips, one die at a time",
            &one_die,
            "and the released simulator runs the dies of a chip one at a time",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-1.slowdown at depth 32",
            &sweep.at(32, |s| slowdown(s, 0)),
            Bound::AtLeast(1.5),
            "x",
            "\"slows down significantly\" beyond depth 16",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-2.slowdown beyond depth 4, largest",
            &sweep.most(|depth| depth > 4, |s| slowdown(s, 1)),
            Bound::AtMost(1.3),
            "x",
            "\"almost equal to 1\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-1.chip-queue growth, depth 256 over 2",
            &sweep.ratio(high, low, |s| queue_growth(s, 0)),
            Bound::AtLeast(2.0),
            "x",
            "\"increases significantly\"; the queue beside Flow-2 over that alone",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness, depth 2 to 256",
            &sweep.change(low, high, fairness),
            Bound::AtMost(-0.02),
            "relative change",
            "\"decreases\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "weighted speedup, depth 2 to 256",
            &sweep.change(low, high, weighted_speedup),
            Bound::AtMost(-0.02),
            "relative change",
            "\"decreases\"",
        ),
    ];
    let table = sweep.table(
        "backend",
        "Fig. 8: random 8 KiB reads, Flow-1 at depth 2",
        "flow-2 depth",
        &[
            ("flow-1 mean chip queue", &|s| s.flows[0].mean_chip_queue_length),
            ("flow-2 mean chip queue", &|s| s.flows[1].mean_chip_queue_length),
            ("flow-1 queue growth", &|s| queue_growth(s, 0)),
            ("flow-2 queue growth", &|s| queue_growth(s, 1)),
        ],
    );
    Ok(Findings { rows, tables: vec![table] })
}
