//! The random write area of zones, and its explicit commit.

use flashlane::drive::{
    Command, Drive, DriveOptions, Operation, Tenant, ZoneFailure, ZoneRefusal, ZoneReport,
    ZoneState,
};

use crate::zones::{PAGES, device};

/// Sectors of the area, and of a step of its write pointer.
const AREA: u64 = 128;
const STEP: u64 = 32;

struct Host {
    drive: Drive,
}

impl Host {
    fn new() -> Self {
        let toml = PAGES.replace(
            "max_active = 5",
            "max_active = 5, random_write_area = \"64KiB\", random_write_granularity = \"16KiB\"",
        );
        let options = DriveOptions { check: true, blame: true };
        let tenants = [Tenant::named("a")];
        let drive = Drive::with_options(&device(&toml), &tenants, 1, &options);
        Self { drive: drive.expect("a valid drive") }
    }

    fn ask(&mut self, command: Command) -> Option<ZoneRefusal> {
        let mut done = Vec::new();
        self.drive.submit(self.drive.now(), 0, command, 0).expect("a command");
        while self.drive.outstanding() > 0 {
            self.drive.step(&mut done).expect("the drive goes on");
        }
        done.pop().expect("it is complete").refusal
    }

    fn commit(&mut self, sector: u64) -> Option<ZoneRefusal> {
        self.ask(Command::new(Operation::ZoneCommit, sector, 0))
    }

    fn zone(&self, nth: usize) -> ZoneReport {
        self.drive.zones(0)[nth]
    }

    fn programs(&mut self) -> u64 {
        self.drive.summary().expect("a summary").flash.user_programs
    }
}

#[test]
fn a_commit_moves_the_pointer_and_writes_what_is_behind_it() {
    let mut host = Host::new();
    assert_eq!(host.ask(Command::new(Operation::ZoneOpen, 0, 0)), None);
    let capacity = host.zone(0).capacity;
    for area in (0..capacity).step_by(AREA as usize) {
        for _ in 0..3 {
            for page in (0..AREA / 8).rev() {
                assert_eq!(host.ask(Command::write(area + page * 8, 8)), None);
            }
        }
        assert_eq!(host.zone(0).pointer, area, "writes into the area do not move the pointer");
        let before = host.programs();
        for step in 1..=AREA / STEP {
            // Any sector of the last block that is to be committed.
            assert_eq!(host.commit(area + step * STEP - 5), None);
            assert_eq!(host.zone(0).pointer, area + step * STEP);
        }
        while host.drive.step(&mut Vec::new()).expect("the drive goes on").is_some() {}
        assert_eq!(host.programs() - before, AREA / 8, "each page is written once");
    }
    assert_eq!(host.zone(0).state, ZoneState::Full);
}

#[test]
fn a_commit_beside_the_rules_is_refused() {
    let mut host = Host::new();
    let closed = ZoneRefusal::State { zone: 0, state: ZoneState::Empty };
    assert_eq!(host.commit(0), Some(closed), "a zone without an area has nothing to commit");
    assert_eq!(host.ask(Command::write(0, 8)), None);
    let without = ZoneRefusal::State { zone: 0, state: ZoneState::ImplicitlyOpen };
    assert_eq!(host.commit(0), Some(without));
    let start = host.zone(1).start;
    assert_eq!(host.ask(Command::new(Operation::ZoneOpen, start, 0)), None);
    assert_eq!(host.ask(Command::write(start + 8, 24)), None);
    let refused = |pointer: u64, last: u64| {
        let (pointer, last) = (start + pointer, start + last);
        Some(ZoneRefusal::Commit { zone: 1, pointer, last, step: STEP })
    };
    assert_eq!(host.commit(start + 8), refused(0, AREA), "no multiple of the step");
    assert_eq!(host.commit(start + AREA + STEP - 1), refused(0, AREA), "behind the area");
    assert_eq!(host.commit(start + STEP - 1), None);
    let again = host.commit(start + STEP - 1);
    assert_eq!(again, refused(STEP, STEP + AREA), "the pointer is there already");
    let why = again.expect("it is refused");
    assert_eq!(why.status(), (1, 0xb6));
    let expected = format!(
        "the write pointer of zone 1 moves from sector {} up to {}, by multiples of 32 sectors",
        start + STEP,
        start + STEP + AREA
    );
    assert_eq!(why.to_string(), expected);
}

#[test]
fn a_commit_on_its_way_may_find_its_zone_reset_or_failed() {
    for failure in [None, Some(ZoneFailure::ReadOnly)] {
        let mut host = Host::new();
        assert_eq!(host.ask(Command::new(Operation::ZoneOpen, 0, 0)), None);
        assert_eq!(host.ask(Command::write(0, STEP as u32)), None);
        let commit = Command::new(Operation::ZoneCommit, STEP - 1, 0);
        host.drive.submit(host.drive.now(), 0, commit, 0).expect("a command");
        match failure {
            Some(failure) => host.drive.fail_zone(0, 0, failure).expect("a zone"),
            None => {
                let reset = Command::new(Operation::ZoneReset, 0, 0);
                host.drive.submit(host.drive.now(), 0, reset, 1).expect("a command");
            }
        }
        while host.drive.step(&mut Vec::new()).expect("the drive goes on").is_some() {}
        assert_eq!(host.drive.outstanding(), 0);
        let expected = failure.map_or(ZoneState::Empty, |_| ZoneState::ReadOnly);
        assert_eq!(host.zone(0).state, expected);
    }
}
