//! Fig. 12, and Fig. 2 measured on real drives: how many commands of a queue the device holds at a
//! time decides whether an intense flow crowds out a light one.
//!
//! Appendix A.3: sequential 4 KiB reads, Flow-1 at depth 8, Flow-2 from 8 to 256, QueueFetchSize 16
//! and 1024.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::contention::{Sweep, fairness, quotients, slowdown};
use crate::{Bound, Findings, Job, Lab, Row};

const NAME: &str = "fetch-size";
const DEPTHS: [u32; 6] = [8, 16, 32, 64, 128, 256];

fn job(lab: &Lab<'_>, fetch: u32, depth: u32) -> Result<Job, Error> {
    let duration = match (lab.smoke, lab.full) {
        (true, _) => "5ms",
        (_, true) => "3s",
        _ => "300ms",
    };
    let flow = |name: &str, depth: u32| {
        format!(
            r#"
            [[flow]]
            name = "{name}"
            cache = "off"
            [flow.synthetic]
            queue_depth = {depth}
            read_ratio = 1.0
            address = "streaming"
            size = "4KiB"
            duration = "{duration}"
            "#
        )
    };
    let fetch = format!("interface.queue_fetch_size={fetch}");
    let sets = [
        "ftl.mapping.ideal=true",
        "ftl.precondition.enabled=false",
        "ftl.unwritten_read=flash",
        &fetch,
    ];
    Job::new("fast18", &sets, &(flow("flow-1", 8) + &flow("flow-2", depth)))
}

/// Throughput of a flow beside the other one, divided by that alone.
fn throughput(summary: &Summary, flow: usize) -> f64 {
    let flow = &summary.flows[flow];
    flow.iops / flow.alone.expect("every flow ran alone").iops
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let wide = Sweep::run(lab, &DEPTHS, |depth| job(lab, 1024, depth))?;
    let narrow = Sweep::run(lab, &DEPTHS, |depth| job(lab, 16, depth))?;
    let flow_1 = |sweep: &Sweep| sweep.at(256, |s| slowdown(s, 0));
    let growth = |sweep: &Sweep| sweep.ratio(256, 8, |s| s.flows[1].iops);
    let limited = quotients(&growth(&narrow), &growth(&wide));
    let fairer = quotients(&narrow.at(256, fairness), &wide.at(256, fairness));
    let rows = vec![
        Row::statement_over_seeds(
            NAME,
            "1024: flow-1.slowdown at depth 256",
            &flow_1(&wide),
            Bound::AtLeast(2.0),
            "x",
            "\"slow down greatly\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "1024: flow-1 throughput at depth 256, of that alone",
            &wide.at(256, |s| throughput(s, 0)),
            Bound::AtMost(0.5),
            "share",
            "\"decreases significantly\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "1024: flow-2.slowdown at depth 256",
            &wide.at(256, |s| slowdown(s, 1)),
            Bound::AtMost(1.3),
            "x",
            "\"little slowdown\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "1024: flow-2 throughput, depth 8 to 256",
            &growth(&wide),
            Bound::AtLeast(2.0),
            "x",
            "\"increases significantly\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "16: flow-1.slowdown at depth 256",
            &flow_1(&narrow),
            Bound::AtMost(1.5),
            "x",
            "\"does not experience significant slowdown\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "flow-2 throughput, depth 8 to 256, 16 over 1024",
            &limited,
            Bound::AtMost(0.9),
            "x",
            "limited, as on SSD-D, which gives one flow a quarter of its bandwidth at most",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness at depth 256, 16 over 1024",
            &fairer,
            Bound::AtLeast(1.1),
            "x",
            "fairer with the limit, as SSD-D against the others in Fig. 2",
        ),
    ];
    let table = |sweep: &Sweep, fetch: u32| {
        sweep.table(
            &format!("fetch-size-{fetch}"),
            &format!("Fig. 12: sequential 4 KiB reads, QueueFetchSize {fetch}"),
            "flow-2 depth",
            &[
                ("flow-1 throughput of alone", &|s| throughput(s, 0)),
                ("flow-2 throughput of alone", &|s| throughput(s, 1)),
                ("flow-1 IOPS", &|s| s.flows[0].iops),
                ("flow-2 IOPS", &|s| s.flows[1].iops),
            ],
        )
    };
    let tables = vec![table(&wide, 1024), table(&narrow, 16)];
    Ok(Findings { rows, tables })
}
