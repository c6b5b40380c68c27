//! Paced collection: moves in proportion to the writes, reads that wait for a bounded time, idle
//! time, and no deadlock at the reserve.

use crate::common::{Scenario, run_all};
use flashlane::Time;
use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::config::validate::validate;
use flashlane::drive::{Command, Drive, DriveOptions, Tenant};
use flashlane::metrics::{FlashSummary, Summary};

/// The smallest drive: each block that is collected delays every read.
const ONE_PLANE: &str = r#"
name = "one plane"
[ftl]
over_provisioning = "28%"
gc.victim = "greedy"
gc.threshold = "6 blocks"
gc.hard_threshold = "3 blocks"
[cache]
capacity = "0B"
[flash]
technology = "slc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 64
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["300us"]
erase_time = "3ms"
"#;

/// A reader beside a writer, who both write past the cache.
const READER_AND_WRITER: &str = r#"
[[flow]]
name = "reader"
cache = "off"
[flow.synthetic]
iops = 400.0
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
duration = "20s"
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
iops = 350.0
read_ratio = 0.0
size = "4KiB"
align = "4KiB"
duration = "20s"
"#;

/// One closed loop.
const WRITES: &str = r#"
[[flow]]
name = "writes"
cache = "off"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.0
size = "4KiB"
align = "4KiB"
requests = 60000
"#;

const PACING: &str = "ftl.gc.pacing";
const MS: u64 = 1_000_000_000;

fn drive(sets: &[&str]) -> Drive {
    let sets = sets.iter().map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = device_from_toml(ONE_PLANE, "device", &overrides).expect("a device").config;
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    Drive::with_options(&device, &[Tenant::named("writer")], 1, &options).expect("a drive")
}

/// A page number of the drive, spread over its logical pages.
fn page(write: u64) -> u64 {
    // 2000 pages, fewer than the drive has; 1367 has no factor in common with that number.
    write.wrapping_mul(write + 1) / 2 * 1367 % 2000
}

/// Writes pages one by one, far apart. Returns the flash work after each write.
fn far_apart(drive: &mut Drive, writes: std::ops::Range<u64>) -> Vec<FlashSummary> {
    let mut done = Vec::new();
    let after = |write| {
        let at = Time(50 * MS * write);
        drive.submit(at, 0, Command::write(8 * page(write), 8), write).expect("it is accepted");
        drive.advance(at + Time(49 * MS), &mut done).expect("no error");
        drive.summary().expect("a summary").flash
    };
    writes.map(after).collect()
}

/// The most pages that collection moved from one write to the next.
fn most_at_once(flash: &[FlashSummary]) -> u64 {
    flash.windows(2).map(|pair| pair[1].gc_programs - pair[0].gc_programs).max().expect("writes")
}

#[test]
fn pages_move_in_proportion_to_the_writes() {
    let burst = far_apart(&mut drive(&[]), 1..1500);
    let paced = far_apart(&mut drive(&["ftl.gc.pacing=proportional"]), 1..1500);
    assert!(most_at_once(&burst) > 20, "a whole block, {}", most_at_once(&burst));
    // A victim of at most four fifths valid pages asks for four moves a write.
    assert!(most_at_once(&paced) <= 4, "{}", most_at_once(&paced));
    let moved = |flash: &[FlashSummary]| flash.last().expect("writes").gc_programs as f64;
    assert!(moved(&paced) > 1000.0);
    let ratio = moved(&paced) / moved(&burst);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    // In a row, the moves follow the law: none while a block has nothing valid, otherwise a share
    // of each write.
    let steps: Vec<u64> = paced.windows(2).map(|w| w[1].gc_programs - w[0].gc_programs).collect();
    let idle = steps[400..].split(|&moves| moves > 0).map(<[u64]>::len).max().unwrap_or(0);
    assert!(idle < 64, "collection goes on all the time, {idle} writes without");
}

fn of(summary: &Summary, name: &str) -> (u64, f64, f64) {
    let flow = summary.flows.iter().find(|flow| flow.name == name).expect("a flow");
    (
        flow.requests.read + flow.requests.write,
        flow.response_time_us.p99_9,
        flow.response_time_us.max,
    )
}

#[test]
fn a_reader_waits_for_a_bounded_time() {
    // The low watermark is met all the time.
    let base = Scenario::new(ONE_PLANE, READER_AND_WRITER).set("ftl.gc.threshold", "4 blocks");
    let paced = base.set(PACING, "proportional").set("ftl.gc.read_wait_max", "1ms");
    let runs = run_all(&[base, paced]);
    let [(_, burst, _), (reads, steady, worst)] = [0, 1].map(|at| of(&runs[at], "reader"));
    assert!(reads > 7_000);
    assert!(burst > 8_000.0, "collection of a block goes before reads, {burst}");
    // A turn of collection, the operations at its two ends, an erase that settles, other reads.
    assert!(steady < 2_500.0, "{steady}");
    assert!(worst < 5_000.0, "{worst}");
    let [writes, same] = [0, 1].map(|at| of(&runs[at], "writer").0);
    assert!(writes.abs_diff(same) * 200 < writes, "the same writes are served: {writes} {same}");
}

#[test]
fn a_drive_at_its_limit_finds_free_blocks() {
    let base = Scenario::new(ONE_PLANE, WRITES).set(PACING, "proportional");
    let tight = base.set("ftl.gc.threshold", "4 blocks");
    let several = base.set("ftl.gc.max_concurrent_per_plane", 4);
    let copyback = base.set("ftl.gc.copyback", true);
    let mapped = base.set("ftl.mapping", "{ ideal = false, cmt_capacity = \"4KiB\" }");
    let sprinkler = base.set("scheduler", "sprinkler").set("flash.planes_per_die", 2);
    let host_first = base.set("scheduler", "host-first").set("ftl.allocation", "dynamic");
    for summary in run_all(&[base, tight, several, copyback, mapped, sprinkler, host_first]) {
        assert_eq!(summary.flows[0].requests.write, 60_000);
        assert!(summary.flash.erases > 500, "{}", summary.flash.erases);
    }
}

#[test]
fn reads_that_never_end_leave_collection_its_turns() {
    let reads =
        WRITES.replace("\"writes\"", "\"reads\"").replace("read_ratio = 0.0", "read_ratio = 1.0");
    let both = format!("{WRITES}\n{reads}").replace("requests = 60000", "requests = 20000");
    let base = Scenario::new(ONE_PLANE, &both).set(PACING, "proportional");
    let summary = base.set("ftl.gc.read_wait_max", "1us").run();
    let ends = |name| of(&summary, name).0;
    assert!(ends("writes") >= 20_000 && ends("reads") >= 20_000);
}

#[test]
fn idle_time_is_used_and_ends_with_the_next_request() {
    // Bursts of writes that collection cannot follow, then a second without.
    let run = |sets: &[&str]| {
        let mut drive = drive(sets);
        let mut done = Vec::new();
        for write in 0..1200 {
            let at = Time(write / 400 * 1000 * MS);
            drive.submit(at, 0, Command::write(8 * page(write), 8), write).expect("accepted");
        }
        drive.advance(Time(2900 * MS), &mut done).expect("no error");
        let before = drive.summary().expect("a summary").flash;
        // A request that comes in idle time.
        let at = Time(3000 * MS);
        drive.submit(at, 0, Command::read(0, 8), 5000).expect("accepted");
        drive.advance(Time(3900 * MS), &mut done).expect("no error");
        (before, drive.summary().expect("a summary"), done.pop().expect("the read"))
    };
    let (without, ..) = run(&["ftl.gc.pacing=proportional"]);
    let (with, after, read) = run(&["ftl.gc.pacing=proportional", "ftl.gc.idle_after=10ms"]);
    assert!(without.blocks_owed_at_end > 0, "writes alone leave the plane below its threshold");
    assert_eq!(with.blocks_owed_at_end, 0, "idle time brings it back");
    assert!(with.gc_programs > without.gc_programs + 32);
    assert_eq!(after.flash.gc_programs, with.gc_programs, "then there is nothing left to do");
    assert_eq!(read.cookie, 5000);
}

#[test]
fn what_cannot_be_paced_is_refused_by_name() {
    let problems = |sets: &[&str]| {
        let sets = sets.iter().map(|&set| set.to_owned()).collect();
        let overrides = Overrides { sets, ..Overrides::default() };
        let device = device_from_toml(ONE_PLANE, "device", &overrides).expect("a device").config;
        let workload = workload_from_toml(WRITES, "workload", &Overrides::default());
        let problems = validate(&device, &workload.expect("a workload").config);
        problems.into_iter().map(|p| format!("{}: {}", p.place, p.message)).collect::<Vec<_>>()
    };
    let paced = "ftl.gc.pacing=proportional";
    assert!(problems(&[paced, "ftl.gc.idle_after=1ms"]).is_empty());
    for (sets, place, part) in [
        (["ftl.gc.idle_after=1ms", ""], "ftl.gc.idle_after", "only with ftl.gc.pacing"),
        (["ftl.gc.read_wait_max=1ms", ""], "ftl.gc.read_wait_max", "only with ftl.gc.pacing"),
        ([paced, "ftl.gc.read_wait_max=1ns"], "ftl.gc.read_wait_max", "allowed: 1"),
        ([paced, "scheduler=fcfs"], "ftl.gc.pacing", "scheduler fcfs"),
        ([paced, "scheduler=flin"], "ftl.gc.pacing", "scheduler flin"),
        ([paced, "scheduler=read-priority"], "ftl.gc.pacing", "scheduler read-priority"),
        ([paced, "ftl.mapping.kind=hybrid"], "ftl.gc.pacing", "hybrid"),
        ([paced, "ftl.gc.victim=none"], "ftl.gc.pacing", "victim none"),
        ([paced, "compat.collection_per_block=true"], "ftl.gc.pacing", "collection_per_block"),
    ] {
        let sets: Vec<&str> = sets.into_iter().filter(|set| !set.is_empty()).collect();
        let found = problems(&sets);
        let fits = |text: &String| text.starts_with(place) && text.contains(part);
        assert!(found.iter().any(fits), "{sets:?}: {found:?}");
    }
}
