//! Data placement, classes and Format NVM over PCIe.

use flashlane_nvme::pcie::PcieOptions;
use flashlane_nvme::{
    Identity, Media, MediaConfig, Status, Subsystem, Tenancy, admin_opcode as admin,
    io_opcode as io,
};

use crate::fdp::with_keys;
use crate::host::{config, memory};
use crate::pcie_driver::{Driver, blocks, entry, pages};
use crate::tenancy::Tenants;

fn subsystem(config: MediaConfig) -> Subsystem {
    let media = Media::new(config, memory()).expect("a valid drive");
    Subsystem::new(media, Identity::of("tiny"))
}

#[test]
fn placement_is_the_one_that_networks_have() {
    let config = with_keys(&["placement.mode=fdp", "placement.handles=4"]);
    let mut driver = Driver::up(subsystem(config), PcieOptions::default(), 1, 0);
    let buffer = driver.pages(2);
    let placed = |identifier: u32| {
        let made = pages(blocks(io::WRITE, 0, 1), buffer, 0);
        made.with_dword(12, 2 << 20).with_dword(13, identifier << 16)
    };
    assert_eq!(driver.run(1, placed(3)).status, Status::SUCCESS);
    assert_eq!(driver.run(1, placed(4)).status, Status::INVALID_FIELD);
    driver.run(1, entry(io::FLUSH, 1));
    driver.machine.ram[buffer as usize] = 0x81;
    let feature = |opcode| pages(entry(opcode, 1).with_dword(10, 0x1e), buffer, 0);
    let set = feature(admin::SET_FEATURES).with_dword(11, 1 << 16 | 3).with_dword(12, 1);
    assert!(driver.admin(set).status.is_success());
    let done = driver.admin(feature(admin::GET_FEATURES).with_dword(11, 3 << 16 | 3));
    assert_eq!((done.status, done.result), (Status::SUCCESS, 3));
    let ram = |driver: &Driver, at: usize| driver.machine.ram[buffer as usize + at];
    assert_eq!([0, 1, 2, 3].map(|at| ram(&driver, at)), [0x81, 1, 1, 0]);
    let log = entry(admin::GET_LOG_PAGE, 0).with_dword(10, 0x22 | 15 << 16);
    assert!(driver.admin(pages(log.with_dword(11, 1 << 16), buffer, 0)).status.is_success());
    assert_eq!([0, 1, 16, 17].map(|at| ram(&driver, at)), [0, 16, 0, 16], "4096 bytes");
    let receive = entry(io::IO_MANAGEMENT_RECEIVE, 1).with_dword(10, 1).with_dword(11, 35);
    assert!(driver.run(1, pages(receive, buffer, 0)).status.is_success());
    assert_eq!((ram(&driver, 14), ram(&driver, 16 + 32)), (4, 1));
}

#[test]
fn the_priority_of_a_queue_is_its_class() {
    for (arbitration, expected) in [(1, [0, 2, 3]), (0, [3, 3, 3])] {
        let mut driver =
            Driver::new(subsystem(config(4, Tenancy::Class, 4096)), PcieOptions::default());
        driver.enable(arbitration);
        driver.grant(3);
        let kept = Tenants::default();
        driver.controller.subsystem().media().keep(Box::new(kept.clone()));
        let buffer = driver.pages(1);
        for (queue, class) in [(1, 0), (2, 2), (3, 3)] {
            driver.make_queue(queue, 64, 64, class);
            let made = pages(blocks(io::READ, 0, 1), buffer, 0);
            assert!(driver.run(queue, made).status.is_success());
        }
        assert_eq!(kept.taken(), expected, "arbitration {arbitration}");
    }
}

#[test]
fn a_format_completes_on_the_admin_queue() {
    let config = config(2, Tenancy::Queue, 4096);
    let mut driver = Driver::up(subsystem(config), PcieOptions::default(), 2, 0);
    let buffer = driver.pages(1);
    driver.machine.ram[buffer as usize..][..4096].fill(7);
    let write = pages(blocks(io::WRITE, 5, 1), buffer, 0);
    assert!(driver.run(1, write).status.is_success());
    let before = driver.now;
    let format = entry(admin::FORMAT_NVM, 1).with_dword(10, 1 << 9);
    assert!(driver.run(0, format).status.is_success());
    assert!(driver.now > before, "it takes simulated time");
    let read = pages(blocks(io::READ, 5, 1), buffer, 0);
    assert!(driver.run(2, read).status.is_success());
    assert!(driver.machine.ram[buffer as usize..][..4096] == [0; 4096]);
}
