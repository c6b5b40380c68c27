//! Controllers come up, identify themselves and go down.

use flashlane_nvme::{
    Entry, Identity, Media, Status, Subsystem, Tenancy, admin_opcode as admin, io_opcode as io,
};

use crate::host::{
    Host, NQN, config, connect_data, connect_entry, memory, property, read, subsystem,
};

fn u16_at(page: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([page[at], page[at + 1]])
}

fn u64_at(page: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(page[at..at + 8].try_into().expect("8 bytes"))
}

#[test]
fn a_controller_identifies_itself() {
    let mut host = Host::with_queues(subsystem(2, Tenancy::Queue, memory()), 2);
    let page = host.identify(1, 0).expect("a controller");
    assert_eq!(page.len(), 4096);
    assert_eq!(&page[24..40], b"Flashlane tiny  ");
    assert_eq!((u16_at(&page, 78), page[111]), (host.controller, 1));
    assert_eq!((page[512], page[513]), (0x66, 0x44));
    assert_eq!((page[77], u16_at(&page, 1792)), (5, 516), "what Linux was measured with");
    assert!(u16_at(&page, 320) > 0 && u16_at(&page, 514) > 0, "Linux insists on both");
    assert_eq!((page[536] & 3, u16_at(&page, 1800)), (1, 0));
    assert_eq!(&page[768..768 + NQN.len()], NQN.as_bytes());
    assert_eq!(page[525] & 1, 1, "the cache is volatile");
    let cap = host.now_done(0, property(0, None, true), Vec::new()).completion.result;
    assert_eq!((cap & 0xffff, cap >> 16 & 1, cap >> 37 & 1), (1023, 1, 1));
}

#[test]
fn protected_memory_is_no_volatile_cache() {
    let mut config = config(1, Tenancy::Queue, 4096);
    config.device.power_loss_protection = true;
    let media = Media::new(config, memory()).expect("a valid drive");
    let mut host = Host::with_queues(Subsystem::new(media, Identity::of("tiny")), 1);
    assert_eq!(host.identify(1, 0).expect("a controller")[525], 0b100);
}

#[test]
fn namespaces_are_listed() {
    let mut host = Host::with_queues(subsystem(3, Tenancy::Namespace, memory()), 1);
    let list = host.identify(2, 0).expect("a list");
    assert_eq!(list[..16], [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    let list = host.identify(2, 2).expect("the rest of the list");
    assert_eq!(list[..8], [3, 0, 0, 0, 0, 0, 0, 0]);
    let mut guids = Vec::new();
    for namespace in 1..=3 {
        let page = host.identify(0, namespace).expect("a namespace");
        assert_eq!(page[130], 12);
        let sectors = host.subsystem.media().sectors(namespace).expect("a namespace");
        assert_eq!(u64_at(&page, 0), sectors / 8);
        let descriptors = host.identify(3, namespace).expect("descriptors");
        assert_eq!(descriptors[..2], [2, 16]);
        guids.push(descriptors[4..20].to_vec());
    }
    guids.dedup();
    assert_eq!(guids.len(), 3);
    assert_eq!(host.identify(0, 4), Err(Status::INVALID_NAMESPACE));
    assert_eq!(host.identify(3, 0), Err(Status::INVALID_NAMESPACE));
    assert_eq!(host.identify(0x42, 1), Err(Status::INVALID_FIELD));
}

#[test]
fn wrong_connects_are_refused() {
    let mut host = Host::with_queues(subsystem(2, Tenancy::Queue, memory()), 2);
    let id = host.controller;
    let mut connect = |entry, data: Vec<u8>| host.subsystem.connect(&entry, &data);
    let taken = connect(connect_entry(1, 128), connect_data(id, 1).encode());
    assert_eq!(taken, Err(Status::CONNECT_CONTROLLER_BUSY));
    let beyond = connect(connect_entry(3, 128), connect_data(id, 1).encode());
    assert_eq!(beyond, Err(Status::INVALID_QUEUE_ID), "two queues were granted");
    let stranger = connect(connect_entry(2, 128), connect_data(id, 2).encode());
    assert_eq!(stranger, Err(Status::CONNECT_INVALID_HOST));
    let nobody = connect(connect_entry(1, 128), connect_data(77, 1).encode());
    assert_eq!(nobody, Err(Status::CONNECT_INVALID_PARAMETERS));
    let long = connect(connect_entry(0, 2000), connect_data(0xffff, 3).encode());
    assert_eq!(long, Err(Status::CONNECT_INVALID_PARAMETERS));
    let mut data = connect_data(0xffff, 3);
    data.subsystem = "nqn.2026-11.dev.flashlane:other".to_owned();
    let other = connect(connect_entry(0, 32), data.encode());
    assert_eq!(other, Err(Status::CONNECT_INVALID_PARAMETERS));
    assert_eq!(
        connect(connect_entry(0, 32), vec![0; 1000]),
        Err(Status::CONNECT_INVALID_PARAMETERS)
    );
}

#[test]
fn a_queue_needs_a_controller_that_is_ready() {
    let subsystem = subsystem(1, Tenancy::Queue, memory());
    let mut host = Host::admin_only(subsystem, 1);
    host.now_done(0, property(0x14, Some(0x0046_4001), false), Vec::new());
    let csts = host.now_done(0, property(0x1c, None, false), Vec::new()).completion.result;
    assert_eq!(csts >> 2 & 3, 2, "shutdown is complete");
    host.now_done(0, property(0x14, Some(0), false), Vec::new());
    let data = connect_data(host.controller, 1).encode();
    let early = host.subsystem.connect(&connect_entry(1, 128), &data);
    assert_eq!(early, Err(Status::COMMAND_SEQUENCE_ERROR));
}

#[test]
fn controllers_end_with_their_admin_queue() {
    let mut host = Host::with_queues(subsystem(2, Tenancy::Queue, memory()), 2);
    host.submit(1, read(0, 1), Vec::new());
    let closed = host.subsystem.disconnect(host.key(0));
    assert_eq!(closed.len(), 3);
    assert_eq!(host.subsystem.controllers(), 0);
    // The read goes on, and nobody hears of it.
    let mut foreign = Vec::new();
    while let Some(at) = host.subsystem.next_event() {
        host.subsystem.advance(at, &mut host.done, &mut foreign).expect("nothing fails");
    }
    assert_eq!((host.done.len(), host.subsystem.media().outstanding()), (0, 0));
    // Under a new controller, the queues have all tenants again.
    let host = Host::with_queues(host.subsystem, 2);
    assert_eq!((host.controller, host.subsystem.controllers()), (2, 1));
}

#[test]
fn what_is_not_supported_has_its_status() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    let compare = crate::host::blocks(io::COMPARE, 1, 0, 1);
    assert_eq!(host.status(1, compare, Vec::new()), Status::INVALID_OPCODE);
    let vendor = Entry::new(0xc1, 0, 1);
    assert_eq!(host.status(1, vendor, Vec::new()), Status::INVALID_OPCODE);
    assert_eq!(host.status(0, vendor, Vec::new()), Status::INVALID_OPCODE);
    for opcode in [0x00, 0x01, 0x04, 0x05, 0x84] {
        let entry = Entry::new(opcode, 0, 0);
        assert_eq!(host.status(0, entry, Vec::new()), Status::INVALID_OPCODE, "{opcode:x}");
    }
    let abort = Entry::new(admin::ABORT, 0, 0);
    assert_eq!(host.now_done(0, abort, Vec::new()).completion.result, 1, "nothing was aborted");
    let alive = Entry::new(admin::KEEP_ALIVE, 0, 0);
    assert_eq!(host.status(0, alive, Vec::new()), Status::SUCCESS);
}

#[test]
fn event_requests_are_held_up_to_a_limit() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    for _ in 0..4 {
        host.submit(0, Entry::new(admin::ASYNC_EVENT, 0, 0), Vec::new());
    }
    assert!(host.done.is_empty());
    let more = host.status(0, Entry::new(admin::ASYNC_EVENT, 0, 0), Vec::new());
    assert_eq!(more, Status::ASYNC_EVENT_LIMIT);
}
