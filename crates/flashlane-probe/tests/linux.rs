//! A file on the disk of this machine as a target.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use flashlane_engine::Time;
use flashlane_probe::battery::Probe;
use flashlane_probe::target::Linux;
use flashlane_probe::{Battery, Failure, Operation, Progress, Request, Series, Target};

const BYTES: usize = 64 << 20;

struct Quiet;

impl Progress for Quiet {
    fn starts(&mut self, _: &Probe, _: usize, _: usize) {}
    fn kept(&mut self, _: &Probe) {}
    fn skipped(&mut self, _: &Probe, _: &str) {}
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A file full of a pattern, where builds are kept: that is seldom in memory alone.
fn file(name: &str) -> PathBuf {
    let bytes: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    fs::write(path(name), bytes).expect("room");
    path(name)
}

/// Opens it; `None`, which is noted, where its file system has no direct I/O.
fn open(path: &Path, writes: bool) -> Option<Linux> {
    match Linux::open(path, writes) {
        Ok(target) => Some(target),
        Err(error) if error.to_string().contains("direct") => {
            flashlane_testing::skip("a file system with direct I/O");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_file_is_read_and_stays_as_it_was() {
    let path = file("read.img");
    let before = fs::read(&path).expect("it is there");
    let Some(mut target) = open(&path, false) else { return };
    assert_eq!(target.facts().bytes, BYTES as u64);
    let only = ["idle-latency", "depth", "write-latency"].map(str::to_owned);
    let battery =
        Battery { overwrite: false, destroy_data: false, only: &only, budget: None, seed: 1 };
    let data = battery.run(&mut target, None, &mut Quiet).expect("it runs");
    assert!(data.skipped["write-latency"].contains("--destroy-data"));
    for one in data.probe("idle-latency").iter().chain(data.probe("depth")) {
        let took = |timing: &flashlane_probe::Timing| timing.latency > Time::ZERO;
        assert!(one.timings.iter().all(took), "{}", one.series.name);
    }
    assert!(target.submit(Operation::Write, 0, 4096, 0).is_err(), "the target is read-only");
    assert_eq!(before, fs::read(&path).expect("it is there"));
}

#[test]
fn a_file_is_written_where_that_is_allowed() {
    let path = file("written.img");
    let Some(mut target) = open(&path, true) else { return };
    let writes = (0..64).map(|at| Request::write(at * 65_536, 65_536)).collect();
    let at = (0..64).map(|at| Time::from_us(200 * at)).collect();
    let measured = Series::open("writes", writes, at).run(&mut target).expect("it runs");
    let spread = measured.timings[63].sent.saturating_sub(measured.timings[0].sent);
    assert!(spread >= Time::from_us(12_000), "{spread:?}");
    drop(target);
    let after = fs::read(&path).expect("it is there");
    let pattern = |at: usize| after[at] == (at % 251) as u8;
    assert!(!(0..64 * 65_536).all(pattern), "random bytes were written");
    assert!((64 * 65_536..BYTES).all(pattern), "nothing else was touched");
    assert_eq!(after.len(), BYTES);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let refused = |path: &Path, says: &str| {
        let error = Linux::open(path, false).err().expect(says).to_string();
        if error.contains("direct I/O") {
            flashlane_testing::skip("a file system with direct I/O");
        } else {
            assert!(error.contains(says), "{error}");
        }
    };
    let holes = path("holes.img");
    fs::File::create(&holes).and_then(|file| file.set_len(BYTES as u64)).expect("room");
    refused(&holes, "has a hole at byte 0");
    fs::write(&holes, [1; 4096]).expect("room");
    refused(&holes, "found 4096 bytes, allowed: at least 67108864");
    refused(Path::new("/dev/null"), "neither a block device nor a file");
    refused(&path("is not there"), "No such file");
}

#[test]
fn a_limit_of_time_cuts_a_probe_and_leaves_nothing_outstanding() {
    let path = file("late.img");
    let Some(mut target) = open(&path, false) else { return };
    let only = ["depth".to_owned()];
    let budget = Some(Time::from_us(100));
    let battery = Battery { overwrite: false, destroy_data: false, only: &only, budget, seed: 1 };
    let data = battery.run(&mut target, None, &mut Quiet).expect("it runs");
    assert!(data.skipped["depth"].contains("it was cut"), "{:?}", data.skipped);
    let after = Series::single("after", vec![Request::read(0, 4096)]).run(&mut target);
    assert!(!matches!(after, Err(Failure::Late)), "the limit was that of the battery");
}
