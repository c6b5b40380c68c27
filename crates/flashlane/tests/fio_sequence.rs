//! The requests of fio jobs beside those that the installed fio issues, one by one: operation,
//! offset, length and order. fio runs each job of `tests/fio` with its null engine and says what
//! it does (`--debug=io`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane::Time;
use flashlane::config::{CompatConfig, FioConfig, FlowConfig, fio_job};
use flashlane::layout::FlowSpace;
use flashlane::workload::{self, JobStep, RequestOp, RequestSource};
use flashlane_units::ByteSize;

/// Requests of a job that are looked at.
const REQUESTS_MAX: usize = 12_000;
/// Number of requests that are compared for a job that ends by time.
const OF_TIMED: usize = 3000;
const MICROSECOND: u64 = 1_000_000;

/// A request: operation, start, length. Unit: bytes in the space of the flow.
type Request = (char, u64, u64);

fn jobs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fio");
    let entries = std::fs::read_dir(folder).expect("the jobs are part of the repository");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

fn flow(text: &str) -> FlowConfig {
    let mut all = fio_job::parse(Path::new("job.fio"), text).expect("a valid job");
    all.remove(0).0.flows.remove(0)
}

fn job_of(flow: &FlowConfig) -> &FioConfig {
    flow.synthetic.as_ref().and_then(|synthetic| synthetic.fio.as_deref()).expect("a job")
}

fn source(flow: &FlowConfig) -> Box<dyn RequestSource> {
    let sectors = 1 << 21;
    let space = FlowSpace {
        sectors,
        pages: sectors / 8,
        ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]])
    };
    let (page, most) = (ByteSize(4096), ByteSize(16 << 20));
    workload::build(flow, 0, &space, page, most, &CompatConfig::default(), 1).expect("a job")
}

/// What a job issues where every request is complete at once: time, copy of the job, request.
fn ours(flow: &FlowConfig) -> Vec<(Time, u64, Request)> {
    let mut source = source(flow);
    let job = source.job().expect("a job");
    let (mut now, mut issued) = (Time::ZERO, Vec::new());
    while issued.len() < REQUESTS_MAX {
        match job.step(now) {
            JobStep::Submit(planned, cookie) => {
                let op = match planned.op {
                    RequestOp::Read => 'R',
                    RequestOp::Write => 'W',
                    RequestOp::Trim => 'T',
                    RequestOp::Flush => 'S',
                    other => unreachable!("{other:?} is no request of this job"),
                };
                let bytes = u64::from(planned.sectors) * 512;
                issued.push((now, cookie >> 4, (op, planned.sector * 512, bytes)));
                job.completed(cookie);
            }
            JobStep::Wait(until) => now = until,
            JobStep::Hold => panic!("every request is complete"),
            JobStep::End => break,
        }
    }
    issued
}

/// What fio says that it issues for a job, by copy of the job.
fn fios(text: &str, job: &FioConfig) -> BTreeMap<u64, Vec<Request>> {
    let folder = tempfile::tempdir().expect("a folder");
    let with_engine = format!("[global]\nioengine=null\n{text}");
    std::fs::write(folder.path().join("job.fio"), with_engine).expect("room");
    let run = Command::new("fio")
        .current_dir(folder.path())
        .args(["--debug=io", "job.fio"])
        .output()
        .expect("fio runs");
    let mut all: BTreeMap<u64, Vec<Request>> = BTreeMap::new();
    let mut last = 0;
    for line in String::from_utf8_lossy(&run.stdout).lines() {
        if line.contains(" requeue ") {
            all.get_mut(&last).and_then(Vec::pop);
        }
        let Some((_, said)) = line.split_once("queue: io_u ") else { continue };
        let field = |name: &str| {
            let (_, rest) = said.split_once(name)?;
            Some(rest.split(',').next().unwrap_or(rest).trim())
        };
        let hexadecimal = |name: &str| {
            let digits = field(name)?.strip_prefix("0x")?;
            u64::from_str_radix(digits, 16).ok()
        };
        let (Some(start), Some(bytes)) = (hexadecimal("off="), hexadecimal("len=")) else {
            continue;
        };
        let op = field("ddir=").and_then(|op| "RWTSS".chars().nth(op.parse().ok()?));
        // NAME.COPY.FILE
        let mut parts = field("file=").unwrap_or_default().rsplit('.');
        let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok()).unwrap_or(0);
        let (file, copy) = (number(), number());
        last = copy;
        all.entry(copy).or_default().push(placed(
            job,
            copy,
            file,
            (op.expect("an operation"), start, bytes),
        ));
    }
    all
}

/// The request in the space of the flow, where files lie one behind the other and a file system
/// makes whole blocks of bytes.
fn placed(job: &FioConfig, copy: u64, file: u64, (op, start, bytes): Request) -> Request {
    if op == 'S' {
        return (op, 0, 0);
    }
    let stride = job.file_size.map_or(0, |size| size.0.next_multiple_of(4096));
    let start = start + (copy * u64::from(job.files) + file) * stride;
    if start.is_multiple_of(512) && bytes.is_multiple_of(512) {
        return (op, start, bytes);
    }
    let from = start / 4096 * 4096;
    (op, from, (start + bytes).next_multiple_of(4096) - from)
}

/// True where fio can be run; otherwise the running test says that it is skipped.
fn has_fio() -> bool {
    let found = Command::new("fio").arg("--version").output().is_ok();
    if !found {
        flashlane_testing::skip("fio");
    }
    found
}

#[test]
fn every_request_is_the_one_that_fio_issues() {
    if !has_fio() {
        return;
    }
    let (mut exact, mut by_distribution) = (0, Vec::new());
    for path in jobs() {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("text");
        let flow = flow(&text);
        let job = job_of(&flow);
        let (mut ours, mut fios) = (ours(&flow), fios(&text, job));
        if job.time_based {
            ours.truncate(OF_TIMED);
            fios.values_mut().for_each(|requests| requests.truncate(OF_TIMED));
        }
        if text.contains("zipf") {
            by_distribution.push(name);
            check_popularity(&ours, &fios[&0]);
            continue;
        }
        let mut by_copy: BTreeMap<u64, Vec<Request>> = BTreeMap::new();
        for (_, copy, request) in ours {
            by_copy.entry(copy).or_default().push(request);
        }
        assert_eq!(by_copy.keys().collect::<Vec<_>>(), fios.keys().collect::<Vec<_>>(), "{name}");
        for (copy, requests) in &by_copy {
            let theirs = &fios[copy];
            let first = requests.iter().zip(theirs).position(|(one, other)| one != other);
            if let Some(place) = first {
                panic!("{name}: request {place}: {:?}, fio {:?}", requests[place], theirs[place]);
            }
            assert_eq!(requests.len(), theirs.len(), "{name}: number of requests");
        }
        exact += 1;
    }
    assert!(exact >= 40, "{exact} jobs");
    assert_eq!(by_distribution, ["zipf"]);
}

/// Checks that both have equal popular blocks, with equal numbers of accesses.
fn check_popularity(ours: &[(Time, u64, Request)], fios: &[Request]) {
    assert_eq!(ours.len(), fios.len());
    let most = |starts: &mut dyn Iterator<Item = u64>| {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        starts.for_each(|start| *counts.entry(start).or_default() += 1);
        let mut counts: Vec<(usize, u64)> =
            counts.into_iter().map(|(start, count)| (count, start)).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        counts.truncate(5);
        counts
    };
    let mine = most(&mut ours.iter().map(|one| one.2.1));
    let theirs = most(&mut fios.iter().map(|one| one.1));
    for (index, (one, other)) in mine.iter().zip(&theirs).enumerate() {
        assert_eq!(one.1, other.1, "block {index} by popularity");
        let (one, other) = (one.0 as f64, other.0 as f64);
        let tolerance = 5.0 * (one + other).sqrt();
        assert!((one - other).abs() < tolerance, "{index}: {one} {other}");
    }
}

#[test]
fn zones_have_their_shares() {
    let Some(path) = flashlane_testing::shared("cases/inputs/zones3.fio", "a job with zones")
    else {
        return;
    };
    let issued = ours(&flow(&std::fs::read_to_string(path).expect("text")));
    let mut zones = [0.0; 3];
    for (.., (_, start, _)) in &issued {
        let share = *start as f64 / f64::from(1 << 30);
        zones[usize::from(share >= 0.05) + usize::from(share >= 0.2)] += 1.0;
    }
    for (found, expected) in zones.iter().zip([0.5, 0.3, 0.2]) {
        let found = found / issued.len() as f64;
        assert!((found - expected).abs() < 0.015, "{found}, expected {expected}");
    }
}

#[test]
fn paced_requests_keep_the_ideal_times() {
    // 4 KiB at 1000 a second: one each millisecond. Larger ones take as much longer.
    let times = |keys: &str| -> Vec<(char, u64)> {
        let flow =
            flow(&format!("[a]\nioengine=null\nbs=4k\nsize=1m\n{}", keys.replace(' ', "\n")));
        ours(&flow).iter().map(|(time, _, request)| (request.0, time.0)).collect()
    };
    for (index, (_, time)) in times("rw=randread number_ios=50 rate_iops=1000").iter().enumerate() {
        assert!(time.abs_diff(index as u64 * 1000 * MICROSECOND) <= MICROSECOND, "{index} {time}");
    }
    for (index, (_, time)) in times("rw=write number_ios=50 rate=3m").iter().enumerate() {
        let ideal = index as u64 * 4096 * 1_000_000_000_000 / (3 << 20);
        assert!(time.abs_diff(ideal) <= MICROSECOND, "{index} {time} {ideal}");
    }
    let both = times("rw=rw number_ios=300 rate_iops=1000,500");
    for (op, gap) in [('R', 1000), ('W', 2000)] {
        let own: Vec<u64> = both.iter().filter(|one| one.0 == op).map(|one| one.1).collect();
        assert!(own.len() > 80, "{op} {}", own.len());
        for (index, time) in own.iter().enumerate() {
            let ideal = index as u64 * gap * MICROSECOND;
            assert!(*time >= ideal && *time <= ideal + gap * MICROSECOND, "{op} {index} {time}");
        }
    }
    // Only writes are limited: reads take the place of those that would be too early.
    let writes = times("rw=rw number_ios=200 rate=,1m");
    assert!(writes.iter().filter(|one| one.0 == 'W').all(|one| one.1 == 0));
    assert!(writes.iter().filter(|one| one.0 == 'R').count() > 190);
}

#[test]
fn a_job_pauses_as_a_whole() {
    let times = |keys: &str| -> Vec<u64> {
        let text = format!("[a]\nrw=randwrite\nbs=4k\nsize=1m\n{}", keys.replace(' ', "\n"));
        ours(&flow(&text)).iter().map(|one| one.0.0 / MICROSECOND).collect()
    };
    let each = times("ioengine=psync number_ios=12 thinktime=1000 thinktime_blocks=4");
    assert_eq!(each, [0, 0, 0, 0, 1000, 1000, 1000, 1000, 2000, 2000, 2000, 2000]);
    let issued = times(
        "ioengine=libaio iodepth=8 number_ios=6 thinktime=7 thinktime_blocks=2 thinktime_blocks_type=issue",
    );
    assert_eq!(issued, [0, 0, 7, 7, 14, 14]);
    let paced = "ioengine=psync number_ios=6 rate_iops=1000 thinktime=5ms thinktime_blocks=3";
    assert_eq!(times(paced), [0, 1000, 2000, 7000, 7000, 7000], "it catches up");
    let shifted = times(&format!("{paced} rate_ignore_thinktime=1"));
    assert_eq!(shifted, [0, 1000, 2000, 8000, 9000, 10_000]);
}

#[test]
fn pauses_come_after_a_time_as_fio_measures_it() {
    // fio 3.33 with these keys and its null engine: pauses at 90, 183 and 273 ms.
    let text = "[a]\nrw=read\nbs=4k\nsize=1m\nioengine=null\nnumber_ios=24\nrate_iops=100\n\
                thinktime=30ms\nthinktime_iotime=55ms\nrate_ignore_thinktime=1\n";
    let issued = ours(&flow(text));
    let times: Vec<u64> = issued.iter().map(|one| one.0.0 / (1000 * MICROSECOND)).collect();
    let pauses: Vec<u64> =
        times.windows(2).filter(|pair| pair[1] - pair[0] >= 30).map(|pair| pair[0]).collect();
    assert_eq!(pauses[0], 90, "{times:?}");
    assert!(pauses[1..].iter().all(|at| (times[0]..300).contains(at)), "{pauses:?}");
    assert!((2..=3).contains(&pauses.len()), "{pauses:?}");
}

#[test]
fn a_paused_job_waits_for_what_is_outstanding() {
    let text = "[a]\nrw=randread\nbs=4k\nsize=1m\nioengine=libaio\niodepth=4\nthinktime=100\n\
                thinktime_blocks=4\nthinktime_blocks_type=issue\nnumber_ios=8\n";
    let flow = flow(text);
    let mut source = source(&flow);
    assert_eq!(source.closed_loop(), Some(4));
    let job = source.job().expect("a job");
    let mut cookies = Vec::new();
    while let JobStep::Submit(_, cookie) = job.step(Time(5)) {
        cookies.push(cookie);
    }
    assert_eq!(cookies.len(), 4, "no more than the depth");
    for cookie in cookies {
        assert_eq!(job.step(Time(50)), JobStep::Hold, "others are outstanding");
        job.completed(cookie);
    }
    let until = Time(60 + 100 * MICROSECOND);
    assert_eq!(job.step(Time(60)), JobStep::Wait(until), "the pause begins with the last of them");
    assert_eq!(job.step(Time(61)), JobStep::Wait(until));
    assert!(matches!(job.step(until), JobStep::Submit(..)));
}

#[test]
fn a_writer_waits_for_its_flush() {
    for (engine, waits) in [("libaio", true), ("io_uring", false)] {
        let text = format!(
            "[a]\nrw=write\nbs=4k\nsize=1m\nioengine={engine}\niodepth=8\nfsync=2\nnumber_ios=8\n"
        );
        let flow = flow(&text);
        let mut source = source(&flow);
        let job = source.job().expect("a job");
        let mut ops = Vec::new();
        while let JobStep::Submit(planned, _) = job.step(Time::ZERO) {
            ops.push(planned.op);
        }
        let (write, flush) = (RequestOp::Write, RequestOp::Flush);
        let expected = match waits {
            true => vec![write, write, flush],
            false => vec![write, write, flush, write, write, flush, write, write],
        };
        assert_eq!(ops, expected, "{engine}");
    }
}
