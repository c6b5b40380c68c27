//! Times are those of the drive, to the picosecond.

use std::sync::{Arc, Mutex};

use flashlane::drive::{Command, Completion};
use flashlane::{Drive, Time};
use flashlane_nvme::{Arrival, Entry, Journal, Tenancy, io_opcode};

use crate::host::{Host, config, data, memory, read, subsystem, write};

/// Arrivals, and the cookies that completed with their times.
type Record = (Vec<Arrival>, Vec<(u64, Time)>);

/// Keeps arrivals and completions.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Record>>);

impl Journal for Kept {
    fn arrived(&mut self, arrival: &Arrival) {
        self.0.lock().expect("no panic").0.push(*arrival);
    }

    fn completed(&mut self, number: u64, completion: &Completion) {
        self.0.lock().expect("no panic").1.push((number, completion.at()));
    }
}

fn drive(tenants: usize) -> Drive {
    let config = config(tenants, Tenancy::Queue, 4096);
    Drive::with_options(&config.device, &config.tenants, 1, &config.options).expect("a drive")
}

#[test]
fn a_command_takes_as_long_as_in_the_drive() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    let mut plain = drive(1);
    let mut now = Time::ZERO;
    let entries = [
        (write(0, 4), Command::write(0, 32)),
        (read(0, 4), Command::read(0, 32)),
        (read(100, 1), Command::read(800, 8)),
        (Entry::new(io_opcode::FLUSH, 0, 1), Command::flush()),
    ];
    for (entry, command) in entries {
        let sent = if entry.opcode() == io_opcode::WRITE { data(0, 4, 1) } else { Vec::new() };
        let done = host.run(1, entry, sent);
        let mut completions = Vec::new();
        plain.schedule(now, 0, command, 0).expect("a valid command");
        while completions.is_empty() {
            let at = plain.next_event().expect("something is under way");
            plain.advance(at, &mut completions).expect("nothing fails");
        }
        now = completions[0].at();
        assert_eq!(done.at, now, "{command:?}");
    }
    assert!(now > Time::ZERO);
}

#[test]
fn the_journal_replays_to_the_picosecond() {
    let mut subsystem = subsystem(2, Tenancy::Queue, memory());
    let kept = Kept::default();
    subsystem.media().keep(Box::new(kept.clone()));
    let mut host = Host::with_queues(subsystem, 2);
    let mut seed = 3_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (seed >> 33) % below
    };
    for round in 0..2000 {
        let (queue, first, count) = (draw(2) as u16 + 1, draw(300), draw(4) as u32 + 1);
        match draw(6) {
            0..3 => host.submit(queue, read(first, count), Vec::new()),
            3 => {
                let durable = 1 << 30 | (count - 1);
                let sent = data(first, count, 1);
                host.submit(queue, write(first, count).with_dword(12, durable), sent)
            }
            4 => host.submit(queue, Entry::new(io_opcode::FLUSH, 0, 1), Vec::new()),
            _ => host.submit(queue, write(first, count), data(first, count, 1)),
        };
        if round >= 16 {
            host.next_done();
        }
    }
    while host.subsystem.media().outstanding() > 0 {
        host.next_done();
    }
    let (arrivals, mut completed) = kept.0.lock().expect("no panic").clone();
    assert!(arrivals.len() > 2000 && arrivals.len() == completed.len());
    let (mut plain, mut completions) = (drive(2), Vec::new());
    for arrival in &arrivals {
        plain.advance(arrival.at, &mut completions).expect("nothing fails");
        let Arrival { at, tenant, command, number } = *arrival;
        plain.schedule(at, tenant, command, number).expect("a valid command");
    }
    plain.advance(Time(1 << 50), &mut completions).expect("nothing fails");
    let mut replayed: Vec<(u64, Time)> =
        completions.iter().map(|done| (done.cookie, done.at())).collect();
    replayed.sort_unstable();
    completed.sort_unstable();
    assert!(replayed == completed, "other completions than the first time");
}

#[test]
fn a_flood_on_one_queue_is_blamed_by_the_other() {
    let mut host = Host::with_queues(subsystem(2, Tenancy::Queue, memory()), 2);
    for round in 0..400 {
        host.submit(1, read(round % 100, 1), Vec::new());
        for more in 0..8 {
            let first = (round * 8 + more) % 200;
            host.submit(2, write(first, 8), data(first, 8, 1));
        }
        for _ in 0..9 {
            host.next_done();
        }
    }
    let blame = host.subsystem.media().blame().expect("nothing fails").expect("it was asked for");
    let victim = blame.victims.iter().find(|victim| victim.flow == "q1").expect("queue 1");
    let cells = victim.cells.iter();
    let by_flood: u128 = cells.filter(|it| it.culprit == "q2").map(|it| it.ps).sum();
    assert!(by_flood * 2 > victim.end_to_end_ps - victim.service_ps, "{victim:?}");
}
