//! Fig. 12, and Fig. 2 measured on real drives: how many commands of a queue the device holds at a
//! time decides whether an intense flow crowds out a light one.
//!
//! Appendix A.3: sequential 4 KiB reads, Flow-1 at depth 8, Flow-2 from 8 to 256, QueueFetchSize 16
//! and 1024. Section 3.1 measures four drives under the same load up to depth 1024. By appendix A.3
//! three of them behave as the size of 1024, and SSD-D as that of 16.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::contention::{Sweep, fairness, quotients, slowdown};
use crate::{Bound, Findings, Job, Lab, Row};

const NAME: &str = "fetch-size";
const DEPTHS: [u32; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];

/// The deepest queues of the two figures.
const FIG_12: u32 = 256;
const FIG_2: u32 = 1024;

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

/// A statement of the paper beside our values by seed.
fn row(metric: &str, values: &[f64], bound: Bound, unit: &'static str, note: &str) -> Row {
    Row::statement_over_seeds(NAME, metric, values, bound, unit, note)
}

/// What the paper says of its simulated drive (Fig. 12). `wide`: with QueueFetchSize 1024;
/// `narrow`: with 16.
fn simulated(wide: &Sweep, narrow: &Sweep) -> Vec<Row> {
    let growth = |sweep: &Sweep| sweep.ratio(FIG_12, 8, |s| s.flows[1].iops);
    let limited = quotients(&growth(narrow), &growth(wide));
    let fairer = quotients(&narrow.at(FIG_12, fairness), &wide.at(FIG_12, fairness));
    vec![
        row(
            "1024: flow-1.slowdown at depth 256",
            &wide.at(FIG_12, |s| slowdown(s, 0)),
            Bound::AtLeast(2.0),
            "x",
            "\"slow down greatly\"",
        ),
        row(
            "1024: flow-1 throughput at depth 256, of that alone",
            &wide.at(FIG_12, |s| throughput(s, 0)),
            Bound::AtMost(0.5),
            "share",
            "\"decreases significantly\"",
        ),
        row(
            "1024: flow-2.slowdown at depth 256",
            &wide.at(FIG_12, |s| slowdown(s, 1)),
            Bound::AtMost(1.3),
            "x",
            "\"little slowdown\"",
        ),
        row(
            "1024: flow-2 throughput, depth 8 to 256",
            &growth(wide),
            Bound::AtLeast(2.0),
            "x",
            "\"increases significantly\"",
        ),
        row(
            "16: flow-1.slowdown at depth 256",
            &narrow.at(FIG_12, |s| slowdown(s, 0)),
            Bound::AtMost(1.5),
            "x",
            "\"does not experience significant slowdown\"",
        ),
        row(
            "flow-2 throughput, depth 8 to 256, 16 over 1024",
            &limited,
            Bound::AtMost(0.9),
            "x",
            "limited, as on SSD-D, which gives one flow a quarter of its bandwidth at most",
        ),
        row(
            "fairness at depth 256, 16 over 1024",
            &fairer,
            Bound::AtLeast(1.1),
            "x",
            "fairer with the limit, as SSD-D against the others in Fig. 2",
        ),
    ]
}

/// What the paper says of its measured drives (Fig. 2): of SSD-A to SSD-C beside `wide`, of SSD-D
/// beside `narrow`.
fn measured(wide: &Sweep, narrow: &Sweep) -> Vec<Row> {
    let fairer = quotients(&narrow.at(FIG_2, fairness), &wide.at(FIG_2, fairness));
    let alone = |s: &Summary| s.flows[1].alone.expect("every flow ran alone").iops;
    let share = quotients(&narrow.at(FIG_2, alone), &wide.at(FIG_2, alone));
    vec![
        row(
            "1024: flow-2 throughput, depth 8 to 1024",
            &wide.ratio(FIG_2, 8, |s| s.flows[1].iops),
            Bound::AtLeast(2.0),
            "x",
            "SSD-A to SSD-C: \"substantially increases proportionately with the queue depth\"",
        ),
        row(
            "1024: flow-1.slowdown at depth 1024",
            &wide.at(FIG_2, |s| slowdown(s, 0)),
            Bound::AtLeast(2.0),
            "x",
            "SSD-A to SSD-C: \"slowed down significantly\"",
        ),
        row(
            "1024: flow-2.slowdown at depth 1024",
            &wide.at(FIG_2, |s| slowdown(s, 1)),
            Bound::AtMost(1.1),
            "x",
            "SSD-A to SSD-C: \"almost negligible (i.e., its value approaches 1)\"",
        ),
        row(
            "16: flow-1.slowdown at depth 1024",
            &narrow.at(FIG_2, |s| slowdown(s, 0)),
            Bound::AtMost(1.5),
            "x",
            "SSD-D: \"the negative impact of Flow-2 on the performance of Flow-1 is well controlled\"",
        ),
        row(
            "flow-2 throughput alone at depth 1024, 16 over 1024",
            &share,
            Bound::AtMost(0.25),
            "share",
            "SSD-D: \"one flow cannot exploit more than a quarter of the full I/O bandwidth\"",
        ),
        row(
            "fairness at depth 1024, 16 over 1024",
            &fairer,
            Bound::AtLeast(1.1),
            "x",
            "SSD-D \"has some level of internal fairness control\"",
        ),
    ]
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let wide = Sweep::run(lab, &DEPTHS, |depth| job(lab, 1024, depth))?;
    let narrow = Sweep::run(lab, &DEPTHS, |depth| job(lab, 16, depth))?;
    let rows = [simulated(&wide, &narrow), measured(&wide, &narrow)].concat();
    let table = |sweep: &Sweep, fetch: u32| {
        sweep.table(
            &format!("fetch-size-{fetch}"),
            &format!("Fig. 12 and 2: sequential 4 KiB reads, QueueFetchSize {fetch}"),
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
