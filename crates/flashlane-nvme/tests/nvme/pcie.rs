//! The PCIe function: what it refuses, its queues, its interrupts, its arbitration, its times.

use flashlane::Time;
use flashlane::drive::Tenant;
use flashlane_nvme::pcie::PcieOptions;
use flashlane_nvme::{Status, Tenancy, admin_opcode as admin, io_opcode as io};

use crate::host::{Host, memory, read, subsystem as other, write};
use crate::pcie_driver::{Driver, PAGE, blocks, entry, pages, subsystem, tenants};

fn up() -> Driver {
    Driver::up(subsystem(tenants()), PcieOptions::default(), 2, 0)
}

#[test]
fn a_command_takes_as_long_as_over_a_network() {
    let mut driver = up();
    let mut host = Host::with_queues(other(2, Tenancy::Queue, memory()), 2);
    let buffer = driver.pages(8);
    for round in 0..200_u64 {
        let (first, queue) = (round * 37 % 300, (round % 2) as u16 + 1);
        let opcode = if round % 3 == 0 { io::WRITE } else { io::READ };
        let made = pages(blocks(opcode, first, 2), buffer, buffer + PAGE);
        assert!(driver.run(queue, made).status.is_success());
        let done = match opcode {
            io::WRITE => host.run(queue, write(first, 2), vec![0; 8192]),
            _ => host.run(queue, read(first, 2), Vec::new()),
        };
        assert_eq!(driver.now, done.at, "round {round}");
        let told = driver.machine.interrupts.last().expect("an interrupt");
        assert_eq!(*told, (done.at, queue));
    }
}

#[test]
fn pointers_to_nowhere_are_errors_of_their_commands() {
    let mut driver = up();
    let (buffer, nowhere) = (driver.pages(4), 1_u64 << 40);
    let cases = [
        (pages(blocks(io::READ, 0, 1), nowhere, 0), Status::DATA_TRANSFER_ERROR),
        (pages(blocks(io::WRITE, 0, 1), nowhere, 0), Status::DATA_TRANSFER_ERROR),
        (pages(blocks(io::WRITE, 0, 2), buffer, u64::MAX - 4095), Status::DATA_TRANSFER_ERROR),
        (pages(blocks(io::WRITE, 0, 9), buffer, nowhere), Status::DATA_TRANSFER_ERROR),
        (pages(blocks(io::WRITE, 0, 9), buffer, buffer), Status::DATA_TRANSFER_ERROR),
        (pages(blocks(io::READ, 0, 2), buffer, buffer + 512), Status::PRP_OFFSET_INVALID),
        (pages(blocks(io::READ, 0, 1), buffer + 3, 0), Status::PRP_OFFSET_INVALID),
        (pages(blocks(io::READ, 0, 9), buffer, buffer + 4), Status::PRP_OFFSET_INVALID),
        (pages(blocks(io::READ, 1 << 30, 1), buffer, 0), Status::LBA_OUT_OF_RANGE),
        (pages(entry(io::COMPARE, 1), buffer, 0), Status::INVALID_OPCODE),
    ];
    // The list of pages at `buffer` leads nowhere.
    driver.machine.ram[buffer as usize..][..8].copy_from_slice(&nowhere.to_le_bytes());
    for (made, status) in cases {
        assert_eq!(driver.run(1, made).status, status, "{made:?}");
    }
    for (address, length, kind, status) in [
        (buffer, 4096, 0x5a, Status::DESCRIPTOR_TYPE_INVALID),
        (buffer, 4000, 0x00, Status::DATA_LENGTH_INVALID),
        (buffer, 8192, 0x00, Status::DATA_LENGTH_INVALID),
        (buffer, 17, 0x30, Status::INVALID_SGL_SEGMENT),
        (nowhere, 32, 0x30, Status::DATA_TRANSFER_ERROR),
        (buffer, !15, 0x20, Status::INVALID_SGL_COUNT),
    ] {
        let pointer = flashlane_nvme::DataPointer { address, length, kind };
        let mut made = blocks(io::READ, 0, 1).with_data(pointer);
        made.0[1] = 0x40;
        assert_eq!(driver.run(1, made).status, status, "{kind:x} {length}");
    }
    // A list that leads to itself.
    let mut own = [0; 16];
    own[..8].copy_from_slice(&buffer.to_le_bytes());
    (own[8], own[15]) = (16, 0x20);
    driver.machine.ram[buffer as usize..][..16].copy_from_slice(&own);
    let mut made = blocks(io::READ, 0, 1);
    made.0[24..40].copy_from_slice(&own);
    made.0[1] = 0x40;
    assert_eq!(driver.run(1, made).status, Status::INVALID_SGL_COUNT);
    let good = pages(blocks(io::READ, 0, 1), buffer, 0);
    assert!(driver.run(2, good).status.is_success(), "the controller goes on");
}

#[test]
fn doorbells_with_nonsense_are_reported_and_change_nothing() {
    let mut driver = up();
    let buffer = driver.pages(1);
    for (number, value, kind) in [(0x40, 1, 0), (2, 64, 1), (2, 1 << 20, 1), (3, 9, 1)] {
        let id = driver.submit(0, entry(admin::ASYNC_EVENT, 0));
        driver.set(0x1000 + number * 4, 4, value);
        let told = driver.reap(0);
        assert_eq!((told.len(), told[0].command_id), (1, id));
        assert_eq!(told[0].result, kind << 8 | 1 << 16, "doorbell {number} with {value}");
        // Reading the error log unmasks the event.
        let log = pages(entry(admin::GET_LOG_PAGE, u32::MAX), buffer, 0);
        let log = log.with_dword(10, 1 | 15 << 16);
        assert!(driver.admin(log).status.is_success());
    }
    let good = pages(blocks(io::READ, 0, 1), buffer, 0);
    assert!(driver.run(1, good).status.is_success());
}

#[test]
fn no_write_to_the_registers_is_a_panic() {
    let mut seed = 5_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (seed >> 33) % below
    };
    let mut driver = up();
    for round in 0..50_000 {
        let offset = match draw(4) {
            0 => draw(0x40),
            1 => draw(1 << 40) * 4,
            2 => u64::MAX - draw(16),
            _ => 0x1000 + draw(12) * 4,
        };
        let value = match draw(3) {
            0 => draw(80),
            1 => draw(1 << 32) << draw(33),
            _ => 0x0046_0001 | draw(1 << 16) << draw(16),
        };
        // Entries with nonsense in them.
        let at = draw(64 * 4096) as usize;
        driver.machine.ram[at] = value as u8;
        let bytes = [1, 2, 4, 8, 16][draw(5) as usize];
        driver.set(offset, bytes, value);
        driver.controller.mmio_read(offset, bytes);
        if draw(4) == 0 {
            driver.step();
        }
        if round % 1000 == 999 {
            driver.now += Time::from_ms(1);
            let now = driver.now;
            driver.controller.advance(now, &mut driver.machine).expect("nothing fails");
            driver = again(driver);
        }
    }
}

/// Brings the controller up again, whatever has happened to it, and uses it.
fn again(driver: Driver) -> Driver {
    let Driver { controller, machine, now, .. } = driver;
    let mut driver = Driver::new(subsystem(tenants()), PcieOptions::default());
    (driver.controller, driver.now) = (controller, now);
    drop(machine);
    driver.enable(0);
    driver.grant(2);
    driver.make_queue(1, 64, 64, 1);
    let buffer = driver.pages(1);
    let good = pages(blocks(io::READ, 0, 1), buffer, 0);
    assert!(driver.run(1, good).status.is_success());
    driver
}

#[test]
fn queues_in_nowhere_are_fatal_until_a_reset() {
    let mut driver = up();
    driver.set(0x14, 4, 0);
    driver.set(0x28, 8, 1 << 40);
    driver.set(0x14, 4, 0x0046_0001);
    driver.set(0x1000, 4, 1);
    assert_eq!(driver.get(0x1c) >> 1 & 1, 1, "CSTS says that the controller failed");
    driver.set(0x14, 4, 0);
    driver.set(0x28, 8, 0x1001);
    driver.set(0x14, 4, 0x0046_0001);
    assert_eq!(driver.get(0x1c) >> 1 & 1, 1, "queues begin at pages");
    drop(again(driver));
}

#[test]
fn queues_are_made_and_deleted_by_the_rules() {
    let mut driver = up();
    let place = driver.pages(1);
    let made = |opcode, what: u32, more| {
        pages(entry(opcode, 0), place, 0).with_dword(10, what).with_dword(11, more)
    };
    use admin::{CREATE_COMPLETION_QUEUE as CQ, CREATE_SUBMISSION_QUEUE as SQ};
    for (entry, status) in [
        (made(CQ, 1 | 7 << 16, 1), Status::INVALID_QUEUE_ID),
        (made(CQ, 3 | 7 << 16, 1), Status::INVALID_QUEUE_ID),
        (made(CQ, 7 << 16, 1), Status::INVALID_QUEUE_ID),
        (made(SQ, 1 | 7 << 16, 1 | 1 << 16), Status::INVALID_QUEUE_ID),
        (made(admin::DELETE_COMPLETION_QUEUE, 1, 0), Status::INVALID_QUEUE_DELETION),
        (made(admin::DELETE_COMPLETION_QUEUE, 9, 0), Status::INVALID_QUEUE_ID),
        (made(admin::DELETE_SUBMISSION_QUEUE, 0, 0), Status::INVALID_QUEUE_ID),
    ] {
        assert_eq!(driver.admin(entry).status, status, "{entry:?}");
    }
    // Commands that are under way end with their queue.
    let running: Vec<u16> =
        (0..3).map(|n| driver.submit(1, pages(blocks(io::READ, n, 1), place, 0))).collect();
    assert!(driver.admin(made(admin::DELETE_SUBMISSION_QUEUE, 1, 0)).status.is_success());
    let ended = driver.reap(1);
    assert_eq!(ended.iter().map(|it| it.command_id).collect::<Vec<_>>(), running);
    assert!(ended.iter().all(|it| it.status == Status::ABORTED_WITH_QUEUE));
    for (entry, status) in [
        (made(SQ, 1 | 7 << 16, 1 | 9 << 16), Status::COMPLETION_QUEUE_INVALID),
        (made(SQ, 1 | 7 << 16, 1 << 16), Status::INVALID_FIELD),
        (made(SQ, 1, 1 | 1 << 16), Status::INVALID_QUEUE_SIZE),
        (made(admin::DELETE_COMPLETION_QUEUE, 1, 0), Status::SUCCESS),
        (made(CQ, 1 | 7 << 16, 3 | 99 << 16), Status::INVALID_INTERRUPT_VECTOR),
    ] {
        assert_eq!(driver.admin(entry).status, status, "{entry:?}");
    }
    while driver.step() {}
    assert_eq!(driver.controller.subsystem().media().outstanding(), 0);
}

#[test]
fn a_full_completion_queue_holds_completions_back() {
    let mut driver = Driver::new(subsystem(tenants()), PcieOptions::default());
    driver.enable(0);
    driver.grant(1);
    driver.make_queue(1, 32, 3, 1);
    let buffer = driver.pages(1);
    for n in 0..8 {
        driver.submit(1, pages(blocks(io::READ, n, 1), buffer, 0));
    }
    while driver.step() {}
    let mut all = 0;
    for _ in 0..4 {
        assert_eq!(driver.posted(1).len(), 2, "two of three places can be used");
        all += 2;
        driver.room(1);
    }
    assert_eq!((all, driver.posted(1).len()), (8, 0));
}

#[test]
fn interrupts_are_coalesced_and_masked() {
    let mut driver = up();
    let buffer = driver.pages(1);
    let feature =
        |what: u32, value| entry(admin::SET_FEATURES, 0).with_dword(10, what).with_dword(11, value);
    // Four completions, or 200 us.
    assert!(driver.admin(feature(8, 3 | 2 << 8)).status.is_success());
    let get = entry(admin::GET_FEATURES, 0).with_dword(10, 8);
    assert_eq!(driver.admin(get).result, 3 | 2 << 8);
    driver.machine.interrupts.clear();
    for n in 0..6 {
        driver.submit(1, pages(blocks(io::READ, n * 7, 1), buffer, 0));
    }
    while driver.step() {}
    let told = driver.machine.interrupts.clone();
    assert_eq!(told.len(), 2, "four at once, and two when time is over: {told:?}");
    assert!(told.iter().all(|it| it.1 == 1), "{told:?}");
    // The first of the two comes up to some reads after the four.
    let later = told[1].0.saturating_sub(told[0].0);
    assert!((Time::from_us(200)..Time::from_us(400)).contains(&later), "{told:?}");
    assert_eq!(driver.reap(1).len(), 6);
    // Vector 1 alone, and at once.
    assert!(driver.admin(feature(9, 1 | 1 << 16)).status.is_success());
    assert_eq!(driver.admin(feature(9, 999)).status, Status::INVALID_FIELD);
    driver.machine.interrupts.clear();
    driver.run(1, pages(blocks(io::READ, 0, 1), buffer, 0));
    assert_eq!(driver.machine.interrupts.len(), 1);
    driver.set(0x0c, 4, 2);
    driver.run(1, pages(blocks(io::READ, 0, 1), buffer, 0));
    assert_eq!((driver.machine.interrupts.len(), driver.get(0x0c)), (1, 2), "it is masked");
    driver.set(0x10, 4, 2);
    assert_eq!(driver.machine.interrupts.len(), 2, "the host hears of it when it unmasks");
}

#[test]
fn entries_are_fetched_by_weight() {
    let tenants = (0..4).map(|n| Tenant::named(format!("q{n}"))).collect();
    let options = PcieOptions { commands_max: 1, ..PcieOptions::default() };
    let mut driver = Driver::new(subsystem(tenants), options);
    driver.enable(1);
    driver.grant(4);
    // Low, medium, high, urgent.
    for queue in 1..=4_u16 {
        driver.make_queue(queue, 64, 64, u32::from(4 - queue));
    }
    let weights = entry(admin::SET_FEATURES, 0).with_dword(10, 1);
    let weights = weights.with_dword(11, 3 << 24 | 1 << 16);
    assert!(driver.admin(weights).status.is_success());
    let buffer = driver.pages(1);
    // The first command is in the drive, and all others wait.
    for queue in [1, 1, 2, 3, 4] {
        for n in 0..14 {
            driver.write_entry(queue, pages(blocks(io::READ, n, 1), buffer, 0));
        }
        driver.ring(queue);
    }
    let mut order = Vec::new();
    while driver.step() {
        for queue in 1..=4 {
            order.extend(driver.reap(queue).iter().map(|_| queue));
        }
    }
    assert_eq!(order.len(), 70);
    assert_eq!(order[..15], [[1].as_slice(), &[4; 14]].concat(), "urgent goes first");
    // The first command was the only one of a low queue in the first round.
    assert_eq!(order[15..21], [3, 3, 3, 3, 2, 2]);
    assert_eq!(order[21..35], [3, 3, 3, 3, 2, 2, 1, 3, 3, 3, 3, 2, 2, 1]);
}
