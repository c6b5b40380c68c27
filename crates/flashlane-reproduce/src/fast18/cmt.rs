//! Fig. 7: contention at the cached mapping table.
//!
//! Section 6.1.3: two flows of 8 KiB reads, Flow-1 sequential on channels 1 to 4, Flow-2 random for
//! a part of the time and sequential for the rest, on channels 5 to 8. The paper gives neither
//! depths nor regions. Ours: both streams run round in regions whose mappings fit the table
//! together (0.75 and 0.2 of it), so that without randomness every look-up hits; random reads go to
//! the whole of Flow-2's space. By default the table and the regions are a sixteenth of the paper's
//! 4 MiB.

use flashlane::Error;

use super::contention::{Sweep, cmt_hit_rates, fairness, slowdown, weighted_speedup};
use crate::{Bound, Findings, Job, Lab, Row};

const NAME: &str = "cmt";
/// Share of the time in which Flow-2 is random, in percent.
const RANDOMNESS: [u32; 6] = [0, 20, 40, 60, 80, 100];
/// Requests that each flow keeps outstanding.
const DEPTH: u32 = 8;
/// Bytes of a mapping entry, and bytes of a page.
const ENTRY: f64 = 9.0;
const PAGE: f64 = 8192.0;

fn job(lab: &Lab<'_>, randomness: u32) -> Result<Job, Error> {
    let (kib, blocks, duration, phase, warmup) = match (lab.smoke, lab.full) {
        (true, _) => (16, 64, "20ms", "10ms", "2ms"),
        (_, true) => (4096, 2048, "64s", "32s", "16s"),
        _ => (256, 256, "4s", "2s", "1s"),
    };
    let entries = f64::from(kib) * 1024.0 / ENTRY;
    // Half of the channels hold half of the drive; a flow's region as a share of that.
    let space = 480e9 / 2.0 * f64::from(blocks) / 2048.0;
    let region = |part: f64| part * entries * PAGE / space;
    let flow = |name: &str, channels: &str, streaming: f64, part: f64| {
        let region = region(part);
        format!(
            r#"
            [[flow]]
            name = "{name}"
            cache = "off"
            channels = {channels}
            [flow.synthetic]
            queue_depth = {DEPTH}
            read_ratio = 1.0
            address = {{ mixed = {{ streaming = {streaming}, stream_space = {region:.9}, phase = "{phase}" }} }}
            size = "8KiB"
            align = "8KiB"
            duration = "{duration}"
            "#
        )
    };
    let capacity = format!("ftl.mapping.cmt_capacity={kib}KiB");
    let blocks = format!("flash.blocks_per_plane={blocks}");
    let sets = [capacity.as_str(), &blocks];
    let random = f64::from(randomness) / 100.0;
    let workload = flow("flow-1", "[0, 1, 2, 3]", 1.0, 0.75)
        + &flow("flow-2", "[4, 5, 6, 7]", 1.0 - random, 0.2);
    Job::new("fast18", &sets, &workload)?.warmup(warmup)
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let sweep = Sweep::run(lab, &RANDOMNESS, |randomness| job(lab, randomness))?;
    let hit = |flow: usize| move |s: &flashlane::metrics::Summary| cmt_hit_rates(&s.flows[flow]).0;
    let rows = vec![
        Row::number_over_seeds(
            NAME,
            "flow-1.slowdown at 100 % randomness",
            2.1,
            &sweep.at(100, |s| slowdown(s, 0)),
            1.0,
            "x",
            "the paper gives neither depths nor regions: both flows keep 8 requests, regions of 0.75 and 0.2 of \
             the table",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-1 CMT hit rate at 100 %, of that at 0 %",
            &sweep.ratio(100, 0, hit(0)),
            Bound::AtMost(0.9),
            "share",
            "\"decreases\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-2 CMT hit rate at 100 %, of that at 0 %",
            &sweep.ratio(100, 0, hit(1)),
            Bound::Between(0.9, 1.1),
            "share",
            "\"remains constant\"; a random flow over a space larger than the table cannot hit as often \
             as a stream that fits it",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness, 0 to 100 %",
            &sweep.change(0, 100, fairness),
            Bound::AtMost(-0.02),
            "relative change",
            "\"decreases\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "weighted speedup, 0 to 100 %",
            &sweep.change(0, 100, weighted_speedup),
            Bound::AtMost(-0.02),
            "relative change",
            "\"decreases\"",
        ),
    ];
    let table = sweep.table(
        "cmt",
        "Fig. 7: sequential 8 KiB reads beside ever more random ones",
        "flow-2 randomness, %",
        &[
            ("flow-1 CMT hit rate", &hit(0)),
            ("flow-1 alone", &|s| cmt_hit_rates(&s.flows[0]).1),
            ("flow-2 CMT hit rate", &hit(1)),
            ("flow-2 alone", &|s| cmt_hit_rates(&s.flows[1]).1),
        ],
    );
    Ok(Findings { rows, tables: vec![table] })
}
