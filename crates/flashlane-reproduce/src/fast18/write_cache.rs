//! Fig. 6: contention at the write cache.
//!
//! Section 6.1.2: two flows of random 8 KiB writes; Flow-1 keeps 8 requests outstanding and has
//! channels 1 to 4, Flow-2 from 8 to 256 and channels 5 to 8; every translation hits. Both share
//! the cache.

use flashlane::Error;

use super::contention::{Sweep, fairness, slowdown, weighted_speedup};
use crate::{Bound, Findings, Job, Lab, Row};

const NAME: &str = "write-cache";
const DEPTHS: [u32; 6] = [8, 16, 32, 64, 128, 256];

fn job(lab: &Lab<'_>, depth: u32) -> Result<Job, Error> {
    let (blocks, duration, warmup) = match (lab.smoke, lab.full) {
        (true, _) => (64, "10ms", "2ms"),
        (_, true) => (2048, "8s", "2s"),
        _ => (256, "2s", "1s"),
    };
    let flow = |name: &str, depth: u32, channels: &str| {
        format!(
            r#"
            [[flow]]
            name = "{name}"
            channels = {channels}
            [flow.synthetic]
            queue_depth = {depth}
            read_ratio = 0.0
            size = "8KiB"
            align = "8KiB"
            duration = "{duration}"
            "#
        )
    };
    let blocks = format!("flash.blocks_per_plane={blocks}");
    let sets = ["ftl.mapping.ideal=true", &blocks];
    let workload = flow("flow-1", 8, "[0, 1, 2, 3]") + &flow("flow-2", depth, "[4, 5, 6, 7]");
    Job::new("fast18", &sets, &workload)?.warmup(warmup)
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let sweep = Sweep::run(lab, &DEPTHS, |depth| job(lab, depth))?;
    let (low, high) = sweep.ends();
    let rows = vec![
        Row::statement_over_seeds(
            NAME,
            "flow-1.slowdown at depth 256",
            &sweep.at(high, |s| slowdown(s, 0)),
            Bound::AtLeast(1.5),
            "x",
            "\"slowed down significantly\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-1.slowdown at depth 32",
            &sweep.at(32, |s| slowdown(s, 0)),
            Bound::AtLeast(1.2),
            "x",
            "\"significantly\" beyond depth 16",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-2.slowdown at depth 256",
            &sweep.at(high, |s| slowdown(s, 1)),
            Bound::AtMost(1.2),
            "x",
            "\"negligible\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness, depth 8 to 256",
            &sweep.change(low, high, fairness),
            Bound::AtMost(-0.5),
            "relative change",
            "\"degrades greatly\"",
        ),
        Row::number_over_seeds(
            NAME,
            "weighted speedup, depth 8 to 256",
            -0.5,
            &sweep.change(low, high, weighted_speedup),
            0.0,
            "relative change",
            "\"reduced by over 50 %\"; of two flows' 2 it can fall to 1 at most while Flow-2 keeps its pace, \
             so that ours starts lower, at the interference of depth 8",
        )
        .at_least(0.0),
    ];
    let hits = |flow: usize| {
        move |s: &flashlane::metrics::Summary| {
            let cache = s.flows[flow].cache;
            cache.hits as f64 / (cache.hits + cache.misses).max(1) as f64
        }
    };
    let table = sweep.table(
        "write-cache",
        "Fig. 6: random 8 KiB writes through a shared cache, Flow-1 at depth 8",
        "flow-2 depth",
        &[
            ("flow-1 mean us", &|s| s.flows[0].response_time_us.mean),
            ("flow-2 mean us", &|s| s.flows[1].response_time_us.mean),
            ("flow-1 cache hits", &hits(0)),
            ("flow-2 cache hits", &hits(1)),
            ("write amplification", &|s| s.flash.write_amplification),
        ],
    );
    Ok(Findings { rows, tables: vec![table] })
}
