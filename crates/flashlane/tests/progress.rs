//! Nobody starves: beside readers that saturate the channels, a writer gets on under every
//! scheduler there is.
//!
//! Whatever goes first on a channel, at a die or in a queue must let the others have a turn. Each
//! case runs with every registered scheduler, so that a new one is held to it, too.

use crate::common::{Scenario, run_all};
use flashlane::metrics::Summary;
use flashlane::policy::Scheduling;

/// One channel that sixteen dies share, and its bus is what limits reads.
const ONE_CHANNEL: &str = r#"
base = "tiny"
[flash]
channels = 1
chips_per_channel = 4
dies_per_chip = 4
channel_rate = "400MT/s"
"#;

/// A drive with four dies of one plane, which read in step.
const FOUR_DIES: &str = r#"
base = "tiny"
[flash]
channels = 1
chips_per_channel = 4
dies_per_chip = 1
planes_per_die = 1
channel_rate = "100MT/s"
blocks_per_plane = 256
"#;

/// One channel of FAST'18's drive with fewer blocks, so that it soon has to collect.
const FAST18: &str = r#"
base = "fast18"
[ftl]
mapping.ideal = true
[interface]
queue_fetch_size = 2048
[flash]
channels = 1
blocks_per_plane = 64
pages_per_block = 16
"#;

/// A closed loop of page-sized requests past the cache.
fn flow(name: &str, read_ratio: f64, queue_depth: u32, requests: u32, keys: &str) -> String {
    format!(
        r#"
[[flow]]
name = "{name}"
cache = "off"
{keys}
[flow.synthetic]
queue_depth = {queue_depth}
read_ratio = {read_ratio:?}
requests = {requests}
size = "4KiB"
align = "4KiB"
"#
    )
}

/// The scenario with the reader and that of the writer alone, under every scheduler: results in
/// pairs.
fn under_every_scheduler(device: &str, reader: &str, writer: &str) -> Vec<[Summary; 2]> {
    let of = |name: &&str, flows: &str| Scenario::new(device, flows).set("scheduler", name);
    let both = |name| [of(name, &format!("{reader}{writer}")), of(name, writer)];
    let scenarios: Vec<Scenario> = Scheduling::NAMES.iter().flat_map(both).collect();
    let mut runs = run_all(&scenarios).into_iter();
    std::iter::from_fn(|| Some([runs.next()?, runs.next()?])).collect()
}

/// A writer beside a reader that saturates the channels, under every scheduler.
struct Case<'a> {
    device: &'a str,
    reader: &'a str,
    writer: &'a str,
    /// The writer has to collect.
    collects: bool,
    /// The throughput of the flow, as a share of its throughput alone, is above this.
    least: f64,
}

impl Case<'_> {
    fn run(&self) {
        let &Self { device, reader, writer, collects, least } = self;
        let runs = under_every_scheduler(device, reader, writer);
        assert_eq!(runs.len(), Scheduling::NAMES.len());
        for (name, [shared, alone]) in Scheduling::NAMES.iter().zip(&runs) {
            let writes = &shared.flows[1];
            let share = writes.iops / alone.flows[0].iops;
            let (slowest, busy) = (writes.response_time_us.max, shared.channels[0].busy_fraction);
            println!(
                "{name}: {:.0} IOPS, {share:.4} of alone, slowest {slowest:.0} us, bus {busy:.2}",
                writes.iops
            );
            // `sprinkler-fairness` holds the reader back on purpose; under `fcfs` it waits behind
            // collection.
            let held_back = *name == "sprinkler-fairness";
            assert!(held_back || busy > 0.7, "{name}: readers keep the channel busy: {busy}");
            assert!(!collects || shared.flash.gc_programs > 0, "{name}: collection");
            assert!(share > least, "{name}: the writer gets {share} of what it does alone");
        }
    }
}

#[test]
fn collection_is_not_shut_out_by_reads_of_other_dies() {
    let reader = &flow("reader", 1.0, 64, 2000, "chips = [0]");
    let writer = &flow("writer", 0.0, 8, 2000, "chips = [1, 2, 3]");
    let copyback = &format!("{ONE_CHANNEL}[ftl.gc]\ncopyback = true\n");
    for device in [ONE_CHANNEL, copyback] {
        Case { device, reader, writer, collects: true, least: 0.2 }.run();
    }
}

/// Reads that go first have a bound in time: 100 ms for a write that waits at a die.
#[test]
fn writes_are_not_shut_out_by_reads_in_step() {
    let reader = &flow("reader", 1.0, 256, 2000, "");
    let writer = &flow("writer", 0.0, 4, 100, "");
    Case { device: FOUR_DIES, reader, writer, collects: false, least: 0.002 }.run();
}

#[test]
fn collection_is_not_shut_out_by_mapping() {
    let reader = &flow("reader", 1.0, 64, 2000, "chips = [0]");
    let writer = &flow("writer", 0.0, 8, 2000, "chips = [1, 2, 3]");
    let device =
        &format!("{ONE_CHANNEL}[ftl]\nmapping = {{ ideal = false, cmt_capacity = \"4KiB\" }}\n");
    Case { device, reader, writer, collects: true, least: 0.1 }.run();
}

#[test]
fn a_deep_reader_leaves_the_drive_of_fast18_to_a_writer() {
    let reader = &flow("reader", 1.0, 1024, 20_000, "");
    let writer = &flow("writer", 0.0, 8, 2000, "");
    Case { device: FAST18, reader, writer, collects: true, least: 0.005 }.run();
}

/// The other way round: writes that waited for `write_age_limit` must not shut out reads.
#[test]
fn a_reader_gets_on_beside_writes_that_never_end() {
    let reader = flow("reader", 1.0, 1, 200, "");
    let writer = flow("writer", 0.0, 512, 2000, "");
    let flows = format!("{reader}{writer}");
    let of = |name: &&str| Scenario::new(FOUR_DIES, &flows).set("scheduler", name);
    let scenarios: Vec<Scenario> = Scheduling::NAMES.iter().map(of).collect();
    for (name, summary) in Scheduling::NAMES.iter().zip(run_all(&scenarios)) {
        let slowest = summary.flows[0].response_time_us.max;
        println!("{name}: slowest read {slowest:.0} us");
        assert!(slowest < 500_000.0, "{name}: a read waited for {slowest} us");
    }
}

/// FLIN without wait balancing has reads go first; they are bounded, too.
#[test]
fn flin_without_wait_balancing_has_a_bound() {
    let reader = flow("reader", 1.0, 256, 2000, "");
    let writer = flow("writer", 0.0, 4, 100, "");
    let run = Scenario::new(FOUR_DIES, &format!("{reader}{writer}"))
        .set("scheduler", "{ flin = { stages = [\"insertion\", \"arbitration\"] } }")
        .run();
    let slowest = run.flows[1].response_time_us.max;
    assert!(slowest < 500_000.0, "a write waited for {slowest} us");
}
