//! Zones that fail: what a host may still do, and that the rest of the drive goes on.

use flashlane::drive::{
    CannotFail, Command, Completion, Drive, DriveOptions, Operation, Tenant, ZoneFailure,
    ZoneRefusal, ZoneState,
};

use crate::zones::{PAGES, WORD_LINES, device};

fn drive(toml: &str) -> Drive {
    let tenants = [Tenant::named("a"), Tenant::named("b")];
    let options = DriveOptions { check: true, blame: true };
    Drive::with_options(&device(toml), &tenants, 1, &options).expect("a valid drive")
}

/// Submits a command of the first tenant, and steps until nothing is outstanding.
fn ask(drive: &mut Drive, command: Command) -> Completion {
    let mut done = Vec::new();
    drive.submit(drive.now(), 0, command, 0).expect("a command");
    while drive.outstanding() > 0 {
        drive.step(&mut done).expect("the drive goes on");
    }
    done.pop().expect("it is complete")
}

/// What the drive says to a command.
fn answer(drive: &mut Drive, command: Command) -> Option<ZoneRefusal> {
    ask(drive, command).refusal
}

/// All kinds of commands to a zone.
fn commands(start: u64, pointer: u64) -> [Command; 7] {
    let of = |operation| Command::new(operation, start, 0);
    [
        Command::read(start, 8),
        Command::write(pointer, 8),
        Command::new(Operation::ZoneAppend, start, 8),
        of(Operation::ZoneReset),
        of(Operation::ZoneFinish),
        of(Operation::ZoneOpen),
        of(Operation::ZoneClose),
    ]
}

#[test]
fn a_zone_that_failed_is_read_or_not_even_that() {
    for toml in [PAGES, WORD_LINES] {
        for (failure, state) in [
            (ZoneFailure::ReadOnly, ZoneState::ReadOnly),
            (ZoneFailure::Offline, ZoneState::Offline),
        ] {
            let mut drive = drive(toml);
            let (size, capacity) = {
                let zones = drive.zones(0);
                (zones[1].start, zones[0].capacity)
            };
            // Zone 0 is written in part, zone 1 is full, zone 2 is empty.
            assert_eq!(answer(&mut drive, Command::write(0, 40)), None);
            for sector in (0..capacity).step_by(128) {
                let sectors = (capacity - sector).min(128) as u32;
                assert_eq!(answer(&mut drive, Command::write(size + sector, sectors)), None);
            }
            let pointers = [40, size + capacity, 2 * size];
            for (zone, pointer) in (0..3).zip(pointers) {
                drive.fail_zone(0, zone, failure).expect("nothing is under way");
                let report = drive.zones(0)[zone as usize];
                assert_eq!((report.state, report.pointer), (state, pointer));
                let start = u64::from(zone) * size;
                let inside = start + (pointer - start) % capacity;
                let answers = commands(start, inside).map(|c| answer(&mut drive, c));
                let refused = match failure {
                    ZoneFailure::ReadOnly => ZoneRefusal::ReadOnly { zone },
                    ZoneFailure::Offline => ZoneRefusal::Offline { zone },
                };
                let read = (failure == ZoneFailure::Offline).then_some(refused);
                let managed = Some(ZoneRefusal::State { zone, state });
                let written = Some(refused);
                assert_eq!(answers, [read, written, written, managed, managed, managed, managed]);
            }
            assert_eq!(answer(&mut drive, Command::flush()), None);
            // A read that reaches into an offline zone is refused; it names that zone.
            if failure == ZoneFailure::Offline && size == capacity {
                let over = Command::read(3 * size - 8, 16);
                assert_eq!(answer(&mut drive, over), Some(ZoneRefusal::Offline { zone: 2 }));
            }
            assert_eq!(answer(&mut drive, Command::write(3 * size, 40)), None, "others go on");
        }
    }
}

#[test]
fn zones_that_fail_give_their_place_among_the_active_ones_to_others() {
    for toml in [PAGES, WORD_LINES] {
        let mut drive = drive(toml);
        let zones = drive.zones(0);
        let most = zones.len().min(60) as u32;
        for zone in 0..most {
            let start = zones[zone as usize].start;
            assert_eq!(answer(&mut drive, Command::write(start, 24)), None, "zone {zone}");
            drive.fail_zone(0, zone, ZoneFailure::ReadOnly).expect("nothing is under way");
            assert_eq!(answer(&mut drive, Command::read(start, 24)), None);
        }
        assert_eq!(answer(&mut drive, Command::flush()), None);
        let failed = drive.zones(0).iter().filter(|zone| zone.state.has_failed()).count();
        assert_eq!(failed as u32, most);
        let summary = drive.summary().expect("a summary");
        assert_eq!(summary.flash.gc_reads, 0, "nothing is copied");
    }
}

#[test]
fn a_zone_fails_only_where_nothing_is_under_way() {
    let mut drive = drive(PAGES);
    let count = drive.zones(0).len() as u32;
    let found = drive.fail_zone(0, count, ZoneFailure::Offline);
    assert_eq!(found, Err(CannotFail::NoZone { found: count, count }));
    for page in 0..16 {
        drive.submit(drive.now(), 0, Command::write(page * 8, 8), page).expect("a command");
    }
    let mut done = Vec::new();
    let mut refused = 0;
    while drive.outstanding() > 0 {
        drive.step(&mut done).expect("the drive goes on");
        if drive.zones(0)[0].state.is_active() && done.is_empty() {
            assert_eq!(
                drive.fail_zone(0, 0, ZoneFailure::Offline),
                Err(CannotFail::Busy { zone: 0 })
            );
            refused += 1;
        }
    }
    assert!(refused > 0, "the writes take time");
    drive.fail_zone(0, 0, ZoneFailure::Offline).expect("nothing is under way");
    drive.fail_zone(0, 0, ZoneFailure::Offline).expect("it stays so");
    let back = drive.fail_zone(0, 0, ZoneFailure::ReadOnly).expect_err("for ever");
    assert_eq!(back.to_string(), "zone: zone 0 is offline for ever");
    // A drive without zones has none that could fail.
    let plain = device("base = \"tiny\"");
    let tenants = [Tenant::named("a")];
    let mut plain = Drive::with_options(&plain, &tenants, 1, &DriveOptions::default()).expect("it");
    let none = plain.fail_zone(0, 3, ZoneFailure::Offline).expect_err("no zones");
    assert_eq!(none.to_string(), "zone: found 3, allowed: none; the tenant has no zones");
}
