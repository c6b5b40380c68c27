//! Fig. 8: contention at the flash.
//!
//! Section 6.1.4: two flows of random 8 KiB reads; Flow-1 keeps 2 requests outstanding, Flow-2 from
//! 2 to 256; no data cache, every translation hits. The drive starts empty and reads cost a flash
//! access each, as in the released configuration of this study: where the data lies does not matter
//! to uniform reads.

use flashlane::Error;

use super::contention::{Sweep, fairness, queue_growth, slowdown, weighted_speedup};
use crate::{Findings, Job, Lab, Row};

const NAME: &str = "backend";
const DEPTHS: [u32; 8] = [2, 4, 8, 16, 32, 64, 128, 256];

/// The drive of the text, and what the released simulator makes of it.
#[derive(Clone, Copy, PartialEq)]
enum Variant {
    /// Table 3 and the text.
    Text,
    /// The flows have two chips of each channel, as in the released configuration of this study.
    TwoChips,
    /// And the dies of a chip work one at a time, as in the released simulator.
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
    let (two_chips, two_chips_interval) = variant(Variant::TwoChips)?;
    let (one_die, one_die_interval) = variant(Variant::OneDie)?;
    let (low, high) = sweep.ends();
    let (flow_1, interval) = sweep.at(high, |s| slowdown(s, 0));
    let beyond_16 = sweep.mean(32, |s| slowdown(s, 0));
    let flow_2 = sweep.most(|depth| depth > 4, |s| slowdown(s, 1));
    let queue = |s: &flashlane::metrics::Summary| queue_growth(s, 0);
    let fairness_fall = sweep.mean(high, fairness) / sweep.mean(low, fairness) - 1.0;
    let speedup_fall = sweep.mean(high, weighted_speedup) / sweep.mean(low, weighted_speedup) - 1.0;
    let rows = vec![
        Row::number(
            NAME,
            "flow-1.slowdown at depth 256",
            14.4,
            flow_1,
            1.0,
            "x",
            "the drive of Table 3 as it stands: 32 chips of 2 dies that work in parallel",
        )
        .with_interval(interval),
        Row::number(
            NAME,
            "flow-1.slowdown at depth 256, two chips a channel",
            14.4,
            two_chips,
            1.0,
            "x",
            "the released configuration of this study gives both flows chips 0 and 1 only",
        )
        .with_interval(two_chips_interval),
        Row::number(
            NAME,
            "flow-1.slowdown at depth 256, two chips, one die at a time",
            14.4,
            one_die,
            1.0,
            "x",
            "and the released simulator runs the dies of a chip one at a time",
        )
        .with_interval(one_die_interval),
        Row::statement(
            NAME,
            "flow-1.slowdown at depth 32",
            beyond_16,
            beyond_16 > 1.5,
            "x",
            "\"slows down significantly\" beyond depth 16; taken as over 1.5",
        ),
        Row::statement(
            NAME,
            "flow-2.slowdown beyond depth 4, largest",
            flow_2,
            flow_2 < 1.3,
            "x",
            "\"almost equal to 1\"; taken as below 1.3",
        ),
        Row::statement(
            NAME,
            "flow-1.chip-queue growth at depth 256",
            sweep.mean(high, queue),
            sweep.mean(high, queue) > 2.0 * sweep.mean(low, queue),
            "x",
            "\"increases significantly\"; shared over alone, taken as over twice that at depth 2",
        ),
        Row::statement(
            NAME,
            "fairness, depth 2 to 256",
            fairness_fall,
            fairness_fall < 0.0,
            "relative change",
            "\"decreases\"",
        ),
        Row::statement(
            NAME,
            "weighted speedup, depth 2 to 256",
            speedup_fall,
            speedup_fall < 0.0,
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
