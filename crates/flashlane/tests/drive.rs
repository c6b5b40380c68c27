//! The drive as a part: stepped from outside, it does what a whole run does.

#[allow(dead_code, reason = "the swarm uses all of it")]
use std::sync::{Arc, Mutex};

use crate::generate::{Records, case, recordable};
use flashlane::config::DeviceConfig;
use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::config::validate::validate;
use flashlane::drive::{
    Command, Completion, Drive, DriveOptions, Operation, Refused, Report, Submissions, Tenant,
};
use flashlane::observe::{Observe, RequestBatch, RequestRecord};
use flashlane::{Error, RunOptions, Time, simulate};
use flashlane_engine::Rng;

/// A small drive with two tenants that bring no requests of their own.
fn small() -> (DeviceConfig, Vec<Tenant>) {
    let overrides = Overrides::default();
    let device = device_from_toml("base = \"tiny\"", "device", &overrides).expect("a device");
    (device.config, vec![Tenant::named("a"), Tenant::named("b")])
}

fn small_drive() -> Drive {
    let (device, tenants) = small();
    let options = DriveOptions { check: true, blame: true };
    Drive::with_options(&device, &tenants, 1, &options).expect("a valid drive")
}

/// A small drive that gets a read every microsecond, of its tenants in turn.
fn drive_with_reads() -> Drive {
    let mut drive = small_drive();
    for cookie in 0..64 {
        let read = Command::read(cookie * 8, 8);
        drive.submit(us(cookie), (cookie % 2) as usize, read, cookie).unwrap();
    }
    drive
}

fn us(us: u64) -> Time {
    Time(us * 1_000_000)
}

/// Records of a run, without what is said of its window.
fn records(batches: &[RequestBatch]) -> Vec<[u64; 16]> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.len() {
            rows.push([
                batch.flow[row].into(),
                batch.op[row] as u64,
                batch.offset_bytes[row],
                batch.bytes[row],
                batch.arrival_ps[row],
                batch.submit_ps[row],
                batch.complete_ps[row],
                batch.submission_ps[row],
                batch.transfer_in_ps[row],
                batch.firmware_ps[row],
                batch.cache_ps[row],
                batch.mapping_ps[row],
                batch.flash_queue_ps[row],
                batch.flash_bus_ps[row],
                batch.flash_array_ps[row],
                batch.transfer_out_ps[row],
            ]);
        }
    }
    rows
}

fn in_columns(completions: &[Completion]) -> Vec<RequestBatch> {
    let mut batch = RequestBatch::default();
    let rows: Vec<RequestRecord> = completions.iter().map(|it| it.record).collect();
    batch.extend(&rows);
    vec![batch]
}

/// What the flows of random runs submitted, submitted again to a drive that is stepped, completes
/// at the same picosecond with the same stages.
#[test]
fn recorded_submissions_complete_at_the_same_picosecond() {
    let (mut replayed, mut requests, mut seed) = (0, 0, 7_000_000);
    while replayed < 50 {
        seed += 1;
        let case = recordable(case(seed));
        // A drive has flows, and no groups of them.
        let grouped = !case.workload.groups.is_empty();
        if grouped || !validate(&case.device, &case.workload).is_empty() {
            continue;
        }
        let records_of_run = Arc::new(Mutex::new(Records::default()));
        let submissions = Submissions::default();
        let observe = Observe {
            requests: Some(records_of_run.clone()),
            submissions: Some(submissions.clone()),
            ..Observe::default()
        };
        let options = RunOptions { alone: false, windows: None, observe, ..case.options.clone() };
        let summary = match simulate(&case.device, &case.workload, &options, &|_| {}) {
            Ok(summary) => summary,
            // The load was over before the window opened.
            Err(Error::Config(_)) => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        if summary.requests_completed > 100_000 {
            continue;
        }
        let options = DriveOptions { check: true, blame: false };
        let seed_of_drive = case.options.seed;
        let mut drive =
            Drive::with_options(&case.device, &case.workload.flows, seed_of_drive, &options)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let recording = submissions.lock().unwrap();
        assert_eq!(recording.len() as u64, summary.requests_completed, "seed {seed}");
        let mut completions = Vec::new();
        drive
            .replay(&recording, &mut completions)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let (found, expected) =
            (records(&in_columns(&completions)), records(&records_of_run.lock().unwrap().0));
        if let Some(row) = (0..expected.len()).find(|&row| found.get(row) != expected.get(row)) {
            let (found, expected) = (found.get(row), expected[row]);
            panic!("seed {seed}, completion {row}: found {found:?}, in the run {expected:?}");
        }
        assert_eq!(found.len(), expected.len(), "seed {seed}");
        (replayed, requests) = (replayed + 1, requests + expected.len());
    }
    assert!(requests > 50_000, "{requests} requests");
}

#[test]
fn a_closed_loop_by_hand_is_the_closed_loop_of_a_run() {
    let (device, _) = small();
    let flow = "[[flow]]\nname = \"a\"\n[flow.synthetic]\nqueue_depth = 4\nrequests = 400\n\
                read_ratio = 0.5\nsize = \"4KiB\"\nalign = \"4KiB\"";
    let workload =
        workload_from_toml(flow, "workload", &Overrides::default()).expect("a workload").config;
    let kept = Arc::new(Mutex::new(Records::default()));
    let submissions = Submissions::default();
    let observe = Observe {
        requests: Some(kept.clone()),
        submissions: Some(submissions.clone()),
        ..Observe::default()
    };
    let options = RunOptions { observe, ..RunOptions::default() };
    simulate(&device, &workload, &options, &|_| {}).expect("it runs");
    let commands: Vec<Command> =
        submissions.lock().unwrap().iter().map(|submitted| submitted.command).collect();
    let mut drive = Drive::new(&device, &workload.flows, 1).expect("a drive");
    let (mut next, mut completions) = (commands.iter(), Vec::new());
    for command in next.by_ref().take(4) {
        drive.submit(Time::ZERO, 0, *command, 0).expect("there is room");
    }
    // The host reacts to a completion before it is over.
    while let Some(report) = drive.step(&mut completions).expect("the drive goes on") {
        if report == Report::Completed
            && let Some(command) = next.next()
        {
            drive.submit(drive.now(), 0, *command, 0).expect("there is room");
        }
    }
    assert_eq!(records(&in_columns(&completions)), records(&kept.lock().unwrap().0));
}

#[test]
fn advance_is_inclusive_and_completions_come_in_order() {
    let mut drive = drive_with_reads();
    let mut all = Vec::new();
    let mut steps = 0;
    while let Some(at) = drive.next_event() {
        let mut some = Vec::new();
        drive.advance(at, &mut some).unwrap();
        assert!(some.iter().all(|completion| completion.at() == at), "what is due by {at:?}");
        assert_ne!(drive.next_event(), Some(at), "everything up to {at:?} has happened");
        assert_eq!(drive.now(), at);
        all.extend(some);
        steps += 1;
    }
    assert!(steps > 64);
    assert_eq!((all.len(), drive.outstanding()), (64, 0));
    // All at once gives the same.
    let mut again = drive_with_reads();
    let mut at_once = Vec::new();
    again.advance(us(1_000_000), &mut at_once).unwrap();
    assert_eq!(at_once, all);
    assert!(all.iter().all(|it| it.record.arrival_ps == it.cookie * 1_000_000));
}

#[test]
fn a_snapshot_goes_on_as_the_drive_did() {
    let mut drive = small_drive();
    let mut rng = flashlane_engine::Rng::stream(1, "snapshot", 0);
    let mut submit = |drive: &mut Drive, from: u64| {
        for cookie in from..from + 500 {
            let sector = rng.below(5_000) * 8;
            let command = match rng.below(10) {
                0..5 => Command::read(sector, 8),
                5..8 => Command::write(sector, 8),
                8 => Command::trim(sector, 16),
                _ => Command::flush(),
            };
            let at = us(cookie * 20).max(drive.now());
            drive.submit(at, (cookie % 2) as usize, command, cookie).unwrap();
        }
    };
    submit(&mut drive, 0);
    let mut before = Vec::new();
    drive.advance(us(5_000), &mut before).unwrap();
    let snapshot = drive.snapshot().unwrap();
    let now = drive.now();
    let mut first = Vec::new();
    drive.advance(us(1_000_000), &mut first).unwrap();
    drive.restore(&snapshot);
    assert_eq!(drive.now(), now);
    let mut second = Vec::new();
    drive.advance(us(1_000_000), &mut second).unwrap();
    assert!(!before.is_empty() && !first.is_empty());
    assert_eq!(first, second);
    // A drive can be used more than once, and after other commands.
    submit(&mut drive, 1_000);
    drive.restore(&snapshot);
    let mut third = Vec::new();
    drive.advance(us(1_000_000), &mut third).unwrap();
    assert_eq!(first, third);
}

/// Commands that are submitted after any event, also one inside the drive that the host does not
/// see, enter at once. For the drive it is the same whether it was stepped there or advanced.
#[test]
fn commands_enter_after_whatever_event_there_was() {
    for seed in 0..100 {
        let mut rng = Rng::stream(seed, "interleaving", 0);
        let (mut stepped, mut advanced) = (small_drive(), small_drive());
        let (mut by_steps, mut by_time) = (Vec::new(), Vec::new());
        stepped.advance(Time::ZERO, &mut by_steps).expect("it begins");
        advanced.advance(Time::ZERO, &mut by_time).expect("it begins");
        let mut cookie = 0;
        while cookie < 200 {
            if rng.below(3) == 0 && stepped.outstanding() < 40 {
                let (tenant, sector) = (rng.below(2) as usize, 8 * rng.below(500));
                let command = match rng.below(2) {
                    0 => Command::read(sector, 8),
                    _ => Command::write(sector, 8),
                };
                for drive in [&mut stepped, &mut advanced] {
                    drive.submit(drive.now(), tenant, command, cookie).expect("it is taken");
                }
                cookie += 1;
                continue;
            }
            let report = stepped.step(&mut by_steps);
            let report = report.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let now = stepped.now();
            advanced.advance(now, &mut by_time).expect("it goes on");
            // The host does not react to the completion: it is over.
            if report == Some(Report::Completed) {
                stepped.advance(now, &mut by_steps).expect("it goes on");
            }
            assert_eq!(stepped.now(), advanced.now(), "seed {seed}");
        }
        stepped.advance(us(1_000_000), &mut by_steps).expect("it ends");
        advanced.advance(us(1_000_000), &mut by_time).expect("it ends");
        assert_eq!(by_steps.len(), 200, "seed {seed}: every command completes");
        assert_eq!(by_steps, by_time, "seed {seed}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_changes_nothing() {
    let mut drive = small_drive();
    let space = drive.sectors(0);
    let refused = |drive: &mut Drive, at: Time, tenant: usize, command: Command| {
        drive.submit(at, tenant, command, 7).expect_err("it is refused")
    };
    let read = Command::read(0, 8);
    assert_eq!(refused(&mut drive, Time::ZERO, 2, read), Refused::Tenant { found: 2, tenants: 2 });
    for bad in [
        Command::read(space, 1),
        Command::read(space - 7, 8),
        Command::read(u64::MAX, 8),
        Command::read(0, 0),
        Command::write(0, 32_769),
        Command { sectors: 1, ..Command::flush() },
    ] {
        let Command { sector, sectors, .. } = bad;
        assert_eq!(
            refused(&mut drive, Time::ZERO, 0, bad),
            Refused::Range { sector, sectors, space }
        );
    }
    let namespace = Command { namespace: 2, ..read };
    assert_eq!(refused(&mut drive, Time::ZERO, 0, namespace), Refused::Namespace { found: 2 });
    let placed = Command { placement: Some(0), ..read };
    let no_write = Refused::Placement { found: 0, identifiers: 0, writes: false };
    assert_eq!(refused(&mut drive, Time::ZERO, 0, placed), no_write);
    for zone in [Operation::ZoneAppend, Operation::ZoneReset, Operation::ZoneFinish] {
        let command = Command { operation: zone, ..read };
        assert_eq!(refused(&mut drive, Time::ZERO, 0, command), Refused::NoZones);
    }
    assert!(matches!(refused(&mut drive, Time::MAX, 0, read), Refused::Time { .. }));
    assert_eq!(drive.outstanding(), 0);
    drive.submit(us(10), 0, read, 1).unwrap();
    drive.submit(Time::ZERO, 1, Command::read(space - 8, 8), 2).expect("the last sectors");
    let mut completions = Vec::new();
    drive.advance(us(1_000), &mut completions).unwrap();
    assert_eq!(completions.len(), 2);
    let now = drive.now();
    assert_eq!(refused(&mut drive, us(1), 0, read), Refused::Time { at: us(1), now });
    let text = refused(&mut drive, us(1), 0, read).to_string();
    assert!(text.contains("found") && text.contains("allowed"), "{text}");
}

#[test]
fn summary_and_blame_tell_what_has_happened_so_far() {
    let mut drive = small_drive();
    assert_eq!(drive.summary().unwrap().requests_completed, 0);
    // A writer and a reader share the dies.
    for cookie in 0..400 {
        let command = match cookie % 2 {
            0 => Command::write(cookie * 8 % 4096, 8),
            _ => Command::read(cookie * 8 % 4096, 8),
        };
        drive.submit(us(cookie), (cookie % 2) as usize, command, cookie).unwrap();
    }
    let mut completions = Vec::new();
    drive.advance(us(100), &mut completions).unwrap();
    let (some, early) = (completions.len() as u64, drive.summary().unwrap());
    assert_eq!(early.requests_completed, some);
    drive.advance(us(10_000_000), &mut completions).unwrap();
    let summary = drive.summary().unwrap();
    assert_eq!((summary.requests_generated, summary.requests_completed), (400, 400));
    for (tenant, flow) in summary.flows.iter().enumerate() {
        let of = completions.iter().filter(|it| usize::from(it.record.flow) == tenant);
        let spans: Vec<u64> = of.map(|it| it.record.complete_ps - it.record.submit_ps).collect();
        assert_eq!(flow.response_time_us.count, spans.len() as u64);
        let mean = spans.iter().sum::<u64>() as f64 / spans.len() as f64 / 1e6;
        assert!((flow.response_time_us.mean - mean).abs() < 1e-6 * mean, "{mean} us");
    }
    let blame = drive.blame().unwrap().expect("it was asked for");
    assert!(blame.victims.iter().any(|victim| victim.waiting_ps > 0));
}

#[test]
fn a_configuration_that_is_refused_is_refused_here_too() {
    let (mut device, tenants) = small();
    device.flash.channels = 0;
    assert!(matches!(Drive::new(&device, &tenants, 1), Err(Error::Config(_))));
    let (device, _) = small();
    assert!(matches!(Drive::new(&device, &[], 1), Err(Error::Config(_))));
}

/// What a drive says when it is stepped until nothing is left.
fn last_word(drive: &mut Drive) -> Result<(), Error> {
    let mut completions = Vec::new();
    while drive.step(&mut completions)?.is_some() {}
    Ok(())
}

/// The message of a drive that is stuck.
fn stuck(result: Result<(), Error>) -> String {
    match result.expect_err("the drive cannot finish") {
        Error::Stuck(message) => message,
        other => panic!("{other}"),
    }
}

/// A read that the end of simulated time comes before.
fn drive_at_the_end_of_time() -> Drive {
    let mut drive = small_drive();
    let last = Time(Time::END.0 - 1_000);
    drive.submit(last, 0, Command::read(0, 8), 1).expect("before the end");
    drive
}

#[test]
fn a_drive_that_cannot_finish_says_so() {
    let mut drive = drive_at_the_end_of_time();
    let start = drive.snapshot().expect("nothing has happened yet");
    let message = stuck(last_word(&mut drive));
    assert!(message.contains("simulated time ends after 213 days"), "{message}");
    assert!(message.contains("1 of 1 requests are outstanding"), "{message}");
    // The drive is dead, until it goes back.
    assert_eq!((drive.outstanding(), drive.next_event()), (1, None));
    assert_eq!(drive.submit(drive.now(), 0, Command::read(0, 8), 0), Err(Refused::Dead));
    assert!(stuck(drive.advance(Time::MAX, &mut Vec::new())).contains("an earlier step failed"));
    drive.restore(&start);
    // With `advance` it is the same, in one leap or from event to event.
    assert_eq!(stuck(drive.advance(Time::MAX, &mut Vec::new())), message);
    let mut drive = drive_at_the_end_of_time();
    let said = loop {
        let at = drive.next_event().expect("a command is outstanding");
        if let Err(error) = drive.advance(at, &mut Vec::new()) {
            break stuck(Err(error));
        }
    };
    assert_eq!(said, message);
    // Before the last event is handled, nobody is stuck.
    let mut drive = drive_at_the_end_of_time();
    drive.advance(us(1), &mut Vec::new()).expect("the read arrives later");
    assert_eq!(drive.next_event(), Some(Time(Time::END.0 - 1_000)));
}

#[test]
fn a_drive_without_work_is_not_stuck() {
    let mut drive = small_drive();
    last_word(&mut drive).expect("nothing to do");
    drive.advance(us(10), &mut Vec::new()).expect("nothing to do");
    drive.submit(us(20), 0, Command::read(0, 8), 1).expect("a valid command");
    last_word(&mut drive).expect("the read is done");
    assert_eq!((drive.outstanding(), drive.next_event()), (0, None));
}
