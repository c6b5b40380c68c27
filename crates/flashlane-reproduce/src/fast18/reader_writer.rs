//! A reader beside a writer at the queues of the device. No figure of the paper has this: its flows
//! of Fig. 2 and 12 only read.
//!
//! Random 8 KiB, the reader at depth 8, the writer from 8 to 1024, QueueFetchSize 16 and 1024, on a
//! preconditioned drive without a data cache.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::contention::{Sweep, quotients, slowdown};
use crate::{Bound, Findings, Job, Lab, Row};

const NAME: &str = "reader-writer";
const DEPTHS: [u32; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];

/// The deepest queue of the writer.
const DEEPEST: u32 = 1024;

fn job(lab: &Lab<'_>, fetch: u32, depth: u32) -> Result<Job, Error> {
    let (blocks, duration, warmup) = match (lab.smoke, lab.full) {
        (true, _) => (64, "10ms", "2ms"),
        (_, true) => (2048, "4s", "1s"),
        _ => (256, "1s", "300ms"),
    };
    let flow = |name: &str, depth: u32, reads: f64| {
        format!(
            r#"
            [[flow]]
            name = "{name}"
            cache = "off"
            [flow.synthetic]
            queue_depth = {depth}
            read_ratio = {reads:.1}
            size = "8KiB"
            align = "8KiB"
            duration = "{duration}"
            "#
        )
    };
    let fetch = format!("interface.queue_fetch_size={fetch}");
    let blocks = format!("flash.blocks_per_plane={blocks}");
    let sets = ["ftl.mapping.ideal=true", &fetch, &blocks];
    let flows = flow("reader", 8, 1.0) + &flow("writer", depth, 0.0);
    Job::new("fast18", &sets, &flows)?.warmup(warmup)
}

/// Mean response of the reader. Unit: microseconds.
fn response(summary: &Summary) -> f64 {
    summary.flows[0].response_time_us.mean
}

/// Checks of our own. `wide`: with QueueFetchSize 1024; `narrow`: with 16.
fn checks(wide: &Sweep, narrow: &Sweep) -> Vec<Row> {
    let reader = |sweep: &Sweep| sweep.at(DEEPEST, |s| slowdown(s, 0));
    let check = |metric: &str, values: &[f64], bound, note: &str| {
        Row::check_over_seeds(NAME, metric, values, bound, "x", note)
    };
    vec![
        check(
            "1024: slowdown of the reader beside writes of depth 1024",
            &reader(wide),
            Bound::AtLeast(2.0),
            "the device holds all writes, and reads wait behind them at the chips",
        ),
        check(
            "slowdown of the reader beside writes of depth 1024, 16 over 1024",
            &quotients(&reader(narrow), &reader(wide)),
            Bound::AtMost(0.5),
            "the writes wait in their own submission queue",
        ),
        check(
            "16: response of the reader, writes of depth 1024 over depth 16",
            &narrow.ratio(DEEPEST, 16, response),
            Bound::Between(0.8, 1.25),
            "beyond the limit, the depth of the writer does not reach the reader",
        ),
    ]
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let wide = Sweep::run(lab, &DEPTHS, |depth| job(lab, 1024, depth))?;
    let narrow = Sweep::run(lab, &DEPTHS, |depth| job(lab, 16, depth))?;
    let table = |sweep: &Sweep, fetch: u32| {
        sweep.table(
            &format!("{NAME}-{fetch}"),
            &format!("random 8 KiB reads (flow-1) beside writes (flow-2), QueueFetchSize {fetch}"),
            "writer depth",
            &[
                ("reader us", &response),
                ("reader in the submission queue us", &|s| s.flows[0].breakdown_us.submission),
                ("reader waits for flash us", &|s| s.flows[0].breakdown_us.flash_queue),
                ("writer in the submission queue us", &|s| s.flows[1].breakdown_us.submission),
                ("writer waits for flash us", &|s| s.flows[1].breakdown_us.flash_queue),
            ],
        )
    };
    let tables = vec![table(&wide, 1024), table(&narrow, 16)];
    Ok(Findings { rows: checks(&wide, &narrow), tables })
}
