//! Fig. 6: contention at the write cache.
//!
//! Section 6.1.2: two flows of random 8 KiB writes; Flow-1 keeps 8 requests outstanding and has
//! channels 1 to 4, Flow-2 from 8 to 256 and channels 5 to 8; every translation hits. Both share
//! the cache.

use flashlane::Error;

use super::contention::{Sweep, fairness, slowdown, weighted_speedup};
use crate::{Findings, Job, Lab, Row};

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
    let (flow_1, interval) = sweep.at(high, |s| slowdown(s, 0));
    let beyond_16 = sweep.mean(32, |s| slowdown(s, 0));
    let flow_2 = sweep.mean(high, |s| slowdown(s, 1));
    let change = |number: fn(&flashlane::metrics::Summary) -> f64| {
        sweep.mean(high, number) / sweep.mean(low, number) - 1.0
    };
    let rows = vec![
        Row::statement(
            NAME,
            "flow-1.slowdown at depth 256",
            flow_1,
            flow_1 > 1.5,
            "x",
            "\"slowed down significantly\"; taken as over 1.5",
        )
        .with_interval(interval),
        Row::statement(
            NAME,
            "flow-1.slowdown at depth 32",
            beyond_16,
            beyond_16 > 1.2,
            "x",
            "\"significantly\" beyond depth 16; taken as over 1.2",
        ),
        Row::statement(
            NAME,
            "flow-2.slowdown at depth 256",
            flow_2,
            flow_2 < 1.2,
            "x",
            "\"negligible\"; taken as below 1.2",
        ),
        Row::statement(
            NAME,
            "fairness, depth 8 to 256",
            change(fairness),
            change(fairness) < -0.5,
            "relative change",
            "\"degrades greatly\"; taken as by more than a half",
        ),
        Row::number(
            NAME,
            "weighted speedup, depth 8 to 256",
            -0.5,
            change(weighted_speedup),
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
