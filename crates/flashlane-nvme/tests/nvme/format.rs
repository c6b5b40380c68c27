//! Format NVM empties a namespace, in the store and in the drive.

use std::sync::{Arc, Mutex};

use flashlane::drive::{Completion, Operation};
use flashlane_nvme::{Arrival, Entry, Journal, Status, Tenancy, admin_opcode as admin, io_opcode};

use crate::host::{Host, blocks, data, memory, read, subsystem, write};

/// The trims of the drive: tenant, and sectors.
#[derive(Clone, Default)]
struct Trims(Arc<Mutex<Vec<(usize, u32)>>>);

impl Journal for Trims {
    fn arrived(&mut self, arrival: &Arrival) {
        if arrival.command.operation == Operation::Trim {
            let trim = (arrival.tenant, arrival.command.sectors);
            self.0.lock().expect("no panic").push(trim);
        }
    }

    fn completed(&mut self, _: u64, _: &Completion) {}
}

fn format(namespace: u32, settings: u32) -> Entry {
    Entry::new(admin::FORMAT_NVM, 0, namespace).with_dword(10, settings)
}

#[test]
fn a_formatted_namespace_is_empty_for_all_tenants() {
    for erase in [0, 1] {
        let mut host = Host::with_queues(subsystem(2, Tenancy::Queue, memory()), 2);
        let trims = Trims::default();
        host.subsystem.media().keep(Box::new(trims.clone()));
        let sectors = host.subsystem.media().sectors(1).expect("a namespace");
        let last = sectors / 8 - 1;
        host.run(1, write(0, 4), data(0, 4, 1));
        host.run(2, write(last, 1), data(last, 1, 1));
        let before = host.now;
        let done = host.run(0, format(1, erase << 9), Vec::new());
        assert_eq!((done.completion.status, done.completion.result), (Status::SUCCESS, 0));
        assert!(done.at > before, "it takes simulated time");
        let expected = [(0, sectors as u32), (1, sectors as u32)];
        assert_eq!(*trims.0.lock().expect("no panic"), expected);
        assert!(host.run(2, read(0, 4), Vec::new()).data == [0; 4 * 4096]);
        assert!(host.run(1, read(last, 1), Vec::new()).data == [0; 4096]);
        host.run(1, write(2, 1), data(2, 1, 5));
        assert!(host.run(1, read(2, 1), Vec::new()).data == data(2, 1, 5), "it can be used again");
    }
}

#[test]
fn other_namespaces_stay_as_they_are() {
    let mut host = Host::with_queues(subsystem(2, Tenancy::Namespace, memory()), 1);
    let trims = Trims::default();
    host.subsystem.media().keep(Box::new(trims.clone()));
    for namespace in [1, 2] {
        let entry = blocks(io_opcode::WRITE, namespace, 7, 1);
        assert!(host.status(1, entry, data(7, 1, namespace as u8)).is_success());
    }
    assert!(host.status(0, format(2, 0), Vec::new()).is_success());
    assert_eq!(trims.0.lock().expect("no panic").first().map(|trim| trim.0), Some(1));
    assert!(host.run(1, read(7, 1), Vec::new()).data == data(7, 1, 1));
    let other = blocks(io_opcode::READ, 2, 7, 1);
    assert!(host.run(1, other, Vec::new()).data == [0; 4096]);
}

#[test]
fn other_formats_are_refused() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    host.run(1, write(0, 1), data(0, 1, 1));
    let (format_of, field) = (Status::INVALID_FORMAT, Status::INVALID_FIELD);
    for (settings, expected) in [
        (1, format_of),
        (15, format_of),
        (1 << 12, format_of),
        (1 << 4, format_of),
        (1 << 5, format_of),
        (2 << 9, field),
        (7 << 9, field),
    ] {
        assert_eq!(host.status(0, format(1, settings), Vec::new()), expected, "{settings:x}");
    }
    assert_eq!(host.status(0, format(2, 0), Vec::new()), Status::INVALID_NAMESPACE);
    assert_eq!(host.status(0, format(u32::MAX, 0), Vec::new()), Status::INVALID_FIELD);
    assert!(host.run(1, read(0, 1), Vec::new()).data == data(0, 1, 1));
    let page = host.identify(1, 0).expect("a controller");
    assert_eq!((page[256], page[524]), (0b10, 0b1000));
    let effects = host.log(5, 4096, 0).expect("commands and effects");
    assert_eq!(effects[4 * 0x80..4 * 0x80 + 4], [3, 0, 1, 0]);
}
