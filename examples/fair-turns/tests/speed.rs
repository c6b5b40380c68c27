//! A scheduler from outside runs at the speed of a built-in one: `host-first` is written here once
//! more, with nothing but what is public, and both run the same load under callgrind.

use std::process::{Command, ExitCode};

use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::policy::{
    DieId, Geometry, Kind, Op, PolicyDoc, Queues, Scheduling, SchedulingConfig, SchedulingPolicy,
    Source, Time, TransactionId, View,
};
use flashlane::{RunOptions, simulate};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
struct Copied {}

impl PolicyDoc for Copied {
    const SUMMARY: &'static str = "host-first, from outside";
    const SOURCE: &'static str = "a test";
}

impl SchedulingConfig for Copied {
    fn build(&self, geometry: Geometry, _: usize) -> Box<dyn SchedulingPolicy> {
        Box::new(HostFirst { queues: Queues::new(geometry) })
    }
}

const HOST: Kind = Kind::user_read(0);
const COLLECTION: Kind = Kind::GC_READ;

#[derive(Clone)]
struct HostFirst {
    queues: Queues,
}

fn order(view: &View<'_>) -> [Kind; 2] {
    if view.is_urgent() { [COLLECTION, HOST] } else { [HOST, COLLECTION] }
}

impl SchedulingPolicy for HostFirst {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let tr = view.transaction(id);
        let kind = if tr.source() == Source::Gc { COLLECTION } else { HOST };
        self.queues.push(die, kind, id, tr);
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.queues.form_starving(die, view)
            || order(view).into_iter().any(|kind| self.queues.form(die, kind, None, view))
    }

    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let [kind, _] = order(view);
        self.queues.cancel_stale(die, kind, view);
        let oldest = self.queues.front(die, kind);
        oldest != TransactionId::NONE
            && view.transaction(oldest).op() == Op::Read
            && self.queues.form(die, kind, None, view)
    }

    fn interrupt(&mut self, _: DieId, _: &mut View<'_>) -> bool {
        false
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        (0..).zip(order(view)).find_map(|(rank, kind)| {
            let id = self.queues.front(die, kind);
            (id != TransactionId::NONE).then(|| (rank, view.transaction(id).queued_since()))
        })
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
[flow.synthetic]
queue_depth = 16
read_ratio = 1.0
size = "4KiB"
requests = 20000
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
queue_depth = 32
read_ratio = 0.3
size = "8KiB"
requests = 20000
"#;

/// Names the scheduler of a child.
const CHILD: &str = "FLASHLANE_SPEED_OF";

/// Runs the load and prints what it came to, without what differs from run to run.
fn run(scheduler: &str) {
    let overrides = Overrides { scheduler: Some(scheduler.to_owned()), ..Overrides::default() };
    let device = device_from_toml("base = \"tiny\"", "the device", &overrides).expect("a device");
    let workload = workload_from_toml(WORKLOAD, "the load", &Overrides::default()).expect("a load");
    let summary = simulate(&device.config, &workload.config, &RunOptions::default(), &|_| {})
        .expect("it ends");
    println!("{:?} {:?}", summary.flows, summary.flash);
}

/// The instructions and the output of a run.
fn instructions(scheduler: &str) -> Option<(u64, String)> {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .env(CHILD, scheduler)
        .output()
        .ok()?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}");
    let count = words.rsplit_once("Collected : ")?.1.split_whitespace().next()?.parse().ok()?;
    Some((count, String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn main() -> ExitCode {
    Scheduling::register::<Copied>("host-first-from-outside").expect("the name is free");
    if let Ok(scheduler) = std::env::var(CHILD) {
        run(&scheduler);
        return ExitCode::SUCCESS;
    }
    let both = instructions("host-first").zip(instructions("host-first-from-outside"));
    let Some(((built_in, expected), (outside, found))) = both else {
        println!("skipped: needs valgrind");
        return ExitCode::SUCCESS;
    };
    assert!(expected == found, "both give the same results");
    let ratio = outside as f64 / built_in as f64;
    println!("instructions: built in {built_in}, from outside {outside}, ratio {ratio:.4}");
    assert!((0.98..1.02).contains(&ratio), "found {ratio:.4}, allowed: within 2 %");
    ExitCode::SUCCESS
}
