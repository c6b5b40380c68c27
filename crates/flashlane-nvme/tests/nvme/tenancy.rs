//! Commands belong to the tenant of their host, or of the class of their queue.

use std::sync::{Arc, Mutex};

use flashlane::config::Priority;
use flashlane::drive::Completion;
use flashlane_nvme::{Arrival, Client, Entry, Identity, Journal, Media, Subsystem, Tenancy};

use crate::host::{Host, config, connect_data, connect_entry, data, memory, property, read, write};

/// The tenants of all commands, in order.
#[derive(Clone, Default)]
pub(crate) struct Tenants(Arc<Mutex<Vec<usize>>>);

impl Journal for Tenants {
    fn arrived(&mut self, arrival: &Arrival) {
        self.0.lock().expect("no panic").push(arrival.tenant);
    }

    fn completed(&mut self, _: u64, _: &Completion) {}
}

impl Tenants {
    pub(crate) fn taken(&self) -> Vec<usize> {
        std::mem::take(&mut self.0.lock().expect("no panic"))
    }
}

fn started(tenancy: Tenancy, priorities: &[Priority]) -> (Host, Tenants) {
    let mut config = config(priorities.len(), tenancy, 4096);
    for (tenant, &priority) in config.tenants.iter_mut().zip(priorities) {
        tenant.priority = priority;
    }
    let mut media = Media::new(config, memory()).expect("a valid drive");
    let kept = Tenants::default();
    media.keep(Box::new(kept.clone()));
    (Host::admin_only(Subsystem::new(media, Identity::of("tiny")), 1), kept)
}

/// Connects the only I/O queue of the present controller. `host`: its number.
fn connect(host: &mut Host, number: u8, class: u8) {
    let mut entry: Entry = connect_entry(1, 128);
    entry.0[46] = class;
    let data = connect_data(host.controller, number).encode();
    host.subsystem.connect(&entry, &data).expect("a free queue");
}

/// Another controller becomes the present one. Returns the earlier one.
fn another(host: &mut Host, number: u8) -> u16 {
    let data = connect_data(0xffff, number).encode();
    let connected = host.subsystem.connect(&connect_entry(0, 32), &data).expect("a free place");
    let earlier = std::mem::replace(&mut host.controller, connected.key.controller);
    host.now_done(0, property(0x14, Some(0x0046_0000), false), Vec::new());
    host.now_done(0, property(0x14, Some(0x0046_0001), false), Vec::new());
    earlier
}

#[test]
fn a_host_is_a_tenant() {
    let (mut host, kept) = started(Tenancy::Host, &[Priority::Medium; 2]);
    let first = host.controller;
    // The second host comes before the first one has an I/O queue, and the third one shares.
    for number in [2, 3, 2] {
        another(&mut host, number);
        connect(&mut host, number, 0);
        assert!(host.status(1, write(0, 1), data(0, 1, number)).is_success());
    }
    assert_eq!(kept.taken(), [1, 0, 1]);
    host.controller = first;
    connect(&mut host, 1, 0);
    assert!(host.run(1, read(0, 1), Vec::new()).data == data(0, 1, 2), "one namespace");
    assert_eq!(kept.taken(), [0]);
    // A host comes back as the tenant that it was. Without a name, every client is a host.
    host.subsystem.disconnect(host.key(0));
    another(&mut host, 1);
    connect(&mut host, 1, 0);
    host.run(1, read(0, 1), Vec::new());
    assert_eq!(kept.taken(), [0]);
    let mut open = || host.subsystem.media().open_queue();
    assert_eq!([open(), open(), open()], [[1], [0], [1]]);
}

#[test]
fn a_flush_is_for_all_hosts() {
    let (mut host, kept) = started(Tenancy::Host, &[Priority::Medium; 3]);
    connect(&mut host, 1, 0);
    host.run(1, write(0, 1), data(0, 1, 1));
    another(&mut host, 2);
    connect(&mut host, 2, 0);
    host.run(1, Entry::new(flashlane_nvme::io_opcode::FLUSH, 0, 1), Vec::new());
    assert_eq!(kept.taken(), [0, 1, 0], "the flush of the host, and that of who has written");
}

#[test]
fn a_class_is_a_tenant() {
    let equal = [Priority::Medium; 3];
    let some = [Priority::Low, Priority::Urgent];
    for (priorities, expected) in [(&equal[..], [0, 1, 2, 2]), (&some[..], [1, 1, 0, 0])] {
        let (mut host, kept) = started(Tenancy::Class, priorities);
        for class in 0..4 {
            another(&mut host, 1);
            connect(&mut host, 1, class);
            assert!(host.status(1, write(0, 1), data(0, 1, class)).is_success());
        }
        assert_eq!(kept.taken(), expected, "{priorities:?}");
        let low = *expected.last().expect("four classes");
        let media = host.subsystem.media();
        assert_eq!(media.open_queue(), [low], "no class is low");
        assert_eq!(media.open_queue_of(Client { host: None, class: Some(0) }), [expected[0]]);
    }
}

#[test]
fn where_queues_are_tenants_the_class_of_a_connect_says_nothing() {
    let (mut host, kept) = started(Tenancy::Queue, &[Priority::Medium, Priority::Urgent]);
    connect(&mut host, 1, 0);
    host.run(1, read(0, 1), Vec::new());
    assert_eq!(kept.taken(), [0]);
}
