//! Flexible data placement and streams: writes reach the handle that they name, and the log pages
//! say what the summary says.

use std::collections::BTreeMap;

use flashlane::config::load::{Overrides, device};
use flashlane_nvme::{
    Entry, Identity, Media, MediaConfig, Status, Subsystem, Tenancy, admin_opcode as admin,
    io_opcode as io,
};

use crate::host::{Host, blocks, config, data, memory, read, write};

/// Keys of a drive that can hold the open reclaim units of several handles.
const DRIVE: [&str; 6] = [
    "ftl.superblock=drive",
    "ftl.over_provisioning=0.4",
    "ftl.precondition.enabled=false",
    "ftl.gc.threshold=6 blocks",
    "ftl.gc.hard_threshold=4 blocks",
    "ftl.gc.max_concurrent_per_plane=1",
];

pub(crate) fn with_keys(keys: &[&str]) -> MediaConfig {
    let sets = DRIVE.iter().chain(keys).map(|&key| key.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = device("tiny", &overrides).expect("a valid device").config;
    MediaConfig { device, ..config(1, Tenancy::Queue, 4096) }
}

fn host(keys: &[&str]) -> Host {
    let media = Media::new(with_keys(keys), memory()).expect("a valid drive");
    Host::with_queues(Subsystem::new(media, Identity::of("tiny")), 1)
}

fn fdp() -> Host {
    host(&["placement.mode=fdp", "placement.handles=4"])
}

/// A write with a directive.
fn placed(first: u64, count: u32, directive: u32, identifier: u32) -> Entry {
    let entry = write(first, count).with_dword(13, identifier << 16);
    entry.with_dword(12, entry.dword(12) | directive << 20)
}

/// A part of a log page of the endurance group.
fn log(host: &mut Host, page: u32, bytes: u32, group: u32) -> Result<Vec<u8>, Status> {
    let entry = Entry::new(admin::GET_LOG_PAGE, 0, u32::MAX)
        .with_dword(10, page | (bytes / 4 - 1) << 16)
        .with_dword(11, group << 16);
    let done = host.now_done(0, entry, Vec::new());
    let status = done.completion.status;
    if status.is_success() { Ok(done.data) } else { Err(status) }
}

fn number(page: &[u8], at: usize, bytes: usize) -> u64 {
    page[at..at + bytes].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn placement(host: &mut Host) -> flashlane::metrics::PlacementSummary {
    let summary = host.subsystem.media().summary().expect("a summary");
    summary.placement.expect("the drive places data")
}

/// Overwrites the space at random by handles 1 and 2 until collection copies.
fn wear(host: &mut Host) {
    let blocks = host.subsystem.media().sectors(1).expect("a namespace") / 8;
    let mut seed = 3_u64;
    for round in 0..blocks / 2 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let first = (seed >> 33) % (blocks / 8) * 8;
        let handle = 1 + u32::from(first > blocks / 2);
        let entry = placed(first, 8, 2, handle);
        assert_eq!(host.status(1, entry, data(first, 8, round as u8)), Status::SUCCESS);
    }
    host.run(1, Entry::new(io::FLUSH, 0, 1), Vec::new());
}

#[test]
fn writes_reach_the_handle_that_they_name() {
    let mut host = fdp();
    for (first, identifier) in [(0, 1), (64, 3), (128, 3)] {
        let entry = placed(first, 16, 2, identifier);
        assert_eq!(host.status(1, entry, data(first, 16, 1)), Status::SUCCESS);
    }
    // Without a directive, the field of the identifier says nothing.
    assert_eq!(host.status(1, placed(300, 8, 0, 3), data(300, 8, 1)), Status::SUCCESS);
    host.run(1, Entry::new(io::FLUSH, 0, 1), Vec::new());
    let written: Vec<u64> = placement(&mut host).handles.iter().map(|it| it.host_bytes).collect();
    assert_eq!(written, [8 * 4096, 16 * 4096, 0, 32 * 4096]);
    assert!(host.run(1, read(64, 16), Vec::new()).data == data(64, 16, 1));
}

#[test]
fn wrong_directives_are_refused_and_change_nothing() {
    for (keys, wrong) in [
        (&["placement.mode=fdp", "placement.handles=4"][..], &[(2, 4), (2, 0xffff), (1, 1)][..]),
        (&["placement.mode=streams", "placement.handles=3"], &[(1, 4), (2, 1), (3, 0)]),
        (&[], &[(1, 1), (2, 0), (2, 1)]),
    ] {
        let mut host = host(keys);
        for &(directive, identifier) in wrong {
            let entry = placed(0, 1, directive, identifier);
            let status = host.status(1, entry, data(0, 1, 7));
            assert_eq!(status, Status::INVALID_FIELD, "{keys:?}: {directive} {identifier}");
        }
        assert_eq!(host.subsystem.media().outstanding(), 0);
        assert!(host.run(1, read(0, 1), Vec::new()).data == [0; 4096]);
    }
}

#[test]
fn streams_are_named_by_their_directive() {
    let mut host = host(&["placement.mode=streams", "placement.handles=3"]);
    for stream in [1, 3] {
        let first = u64::from(stream) * 100;
        assert!(host.status(1, placed(first, 8, 1, stream), data(first, 8, 0)).is_success());
    }
    host.run(1, Entry::new(io::FLUSH, 0, 1), Vec::new());
    let written: Vec<u64> = placement(&mut host).handles.iter().map(|it| it.host_bytes).collect();
    assert_eq!(written, [0, 8 * 4096, 0, 8 * 4096]);
    assert_eq!(host.identify(1, 0).expect("a controller")[98], 0, "no data placement");
    assert_eq!(log(&mut host, 0x22, 64, 1), Err(Status::INVALID_LOG_PAGE));
}

#[test]
fn a_drive_with_handles_says_so() {
    let mut host = fdp();
    let page = host.identify(1, 0).expect("a controller");
    assert_eq!((number(&page, 96, 4) >> 4 & 1, number(&page, 96, 4) >> 19 & 1), (1, 1));
    assert_eq!(number(&page, 340, 2), 1);
    assert_eq!(number(&host.identify(0, 1).expect("a namespace"), 102, 2), 1);
    assert_eq!(host.identify(0x19, 0).expect("endurance groups")[..4], [1, 0, 1, 0]);
    let feature = |number| Entry::new(admin::GET_FEATURES, 0, 0).with_dword(10, number);
    let done = host.now_done(0, feature(0x1d).with_dword(11, 1), Vec::new());
    assert_eq!((done.completion.status, done.completion.result), (Status::SUCCESS, 1));
    let other = host.status(0, feature(0x1d).with_dword(11, 2), Vec::new());
    assert_eq!(other, Status::INVALID_FIELD);
    let off = Entry::new(admin::SET_FEATURES, 0, 0).with_dword(10, 0x1d).with_dword(11, 1);
    assert_eq!(host.status(0, off, Vec::new()), Status::COMMAND_SEQUENCE_ERROR);

    let supported = host.log(0, 1024, 0).expect("the supported pages");
    let listed: Vec<usize> = (0..256).filter(|&log| supported[log * 4] & 1 == 1).collect();
    assert_eq!(listed, [0, 1, 2, 3, 4, 5, 9, 0x20, 0x21, 0x22, 0x23, 0xc0]);
    for page in listed {
        assert!(log(&mut host, page as u32, 64, 1).is_ok(), "{page:x}");
        let elsewhere = log(&mut host, page as u32, 64, 2);
        assert_eq!(elsewhere.is_ok(), ![9, 0x20, 0x21, 0x22, 0x23].contains(&page), "{page:x}");
    }
    let effects = host.log(5, 4096, 0).expect("commands and effects");
    assert_eq!((effects[1024 + 4 * 0x12], effects[1024 + 4 * 0x1d]), (1, 0));
}

#[test]
fn a_drive_without_handles_has_none_of_it() {
    let mut host = host(&[]);
    let page = host.identify(1, 0).expect("a controller");
    assert_eq!((number(&page, 96, 4), number(&page, 340, 2)), (1 | 1 << 6, 0));
    assert_eq!(number(&host.identify(0, 1).expect("a namespace"), 102, 2), 0);
    assert_eq!(host.identify(0x19, 0), Err(Status::INVALID_FIELD));
    for page in [9, 0x20, 0x21, 0x22, 0x23] {
        assert_eq!(log(&mut host, page, 64, 1), Err(Status::INVALID_LOG_PAGE), "{page:x}");
    }
    for number in [0x1d, 0x1e] {
        let entry = Entry::new(admin::GET_FEATURES, 0, 1).with_dword(10, number);
        assert_eq!(host.status(0, entry.with_dword(11, 1), Vec::new()), Status::INVALID_FIELD);
    }
    let receive = Entry::new(io::IO_MANAGEMENT_RECEIVE, 0, 1).with_dword(10, 1);
    assert_eq!(host.status(1, receive, Vec::new()), Status::INVALID_OPCODE);
    assert_eq!(host.log(5, 4096, 0).expect("effects")[1024 + 4 * 0x12], 0);
}

#[test]
fn configurations_and_handles_are_told() {
    let keys = ["placement.mode=fdp", "placement.handles=4", "placement.isolation=persistently"];
    let mut host = host(&keys);
    let unit = placement(&mut host).reclaim_unit_bytes;
    let page = log(&mut host, 0x20, 96, 1).expect("configurations");
    assert_eq!((number(&page, 0, 2), number(&page, 4, 4)), (0, 96));
    assert_eq!((number(&page, 16, 2), page[18]), (80, 1 << 7 | 1 << 4));
    assert_eq!((number(&page, 20, 4), number(&page, 24, 2), number(&page, 26, 2)), (1, 4, 3));
    assert_eq!((number(&page, 28, 4), number(&page, 32, 8)), (1, unit));
    assert_eq!(page[80..96].chunks(4).map(|it| it[0]).collect::<Vec<u8>>(), [2; 4]);
    let page = log(&mut host, 0x21, 40, 1).expect("handles");
    assert_eq!(number(&page, 0, 2), 4);
    assert_eq!(page[8..].chunks(8).map(|it| it[0]).collect::<Vec<u8>>(), [1; 4]);
}

#[test]
fn statistics_are_those_of_the_summary() {
    let mut host = fdp();
    wear(&mut host);
    let page = log(&mut host, 0x22, 64, 1).expect("statistics");
    let summary = host.subsystem.media().summary().expect("a summary");
    let placed = summary.placement.expect("the drive places data");
    let counters = [placed.host_bytes, placed.media_bytes, placed.erased_bytes];
    assert_eq!([0, 16, 32].map(|at| number(&page, at, 8)), counters);
    let amplification = counters[1] as f64 / counters[0] as f64;
    assert!(amplification > 1.05, "{amplification}");
    assert!((amplification / summary.flash.write_amplification - 1.0).abs() < 1e-3);
    let page = log(&mut host, 9, 512, 1).expect("the endurance group");
    assert_eq!((page[3], number(&page, 80, 8)), (100, counters[1].div_ceil(1_000_000_000)));
}

#[test]
fn the_rest_of_open_units_is_told() {
    let mut host = fdp();
    assert!(host.status(1, placed(0, 16, 2, 2), data(0, 16, 0)).is_success());
    host.run(1, Entry::new(io::FLUSH, 0, 1), Vec::new());
    let receive = Entry::new(io::IO_MANAGEMENT_RECEIVE, 0, 1).with_dword(10, 1);
    let page = host.now_done(1, receive.with_dword(11, 35), Vec::new()).data;
    assert_eq!((page.len(), number(&page, 14, 2)), (144, 4));
    let placed = placement(&mut host);
    let rest = (placed.reclaim_unit_bytes / 4096, placed.reclaim_unit_bytes / 4096 - 16);
    for (handle, at) in (0..4).zip((16..).step_by(32)) {
        assert_eq!((number(&page, at, 2), number(&page, at + 2, 2)), (handle, handle));
        let expected = if handle == 2 { rest.1 } else { rest.0 };
        assert_eq!(number(&page, at + 8, 8), expected, "handle {handle}");
    }
    let short = host.now_done(1, receive.with_dword(11, 4), Vec::new()).data;
    assert!(short == page[..20]);
    let nothing = host.now_done(1, receive.with_dword(10, 0), Vec::new());
    assert_eq!((nothing.completion.status, nothing.data.len()), (Status::SUCCESS, 0));
    assert_eq!(host.status(1, receive.with_dword(10, 2), Vec::new()), Status::INVALID_FIELD);
    let send = Entry::new(0x1d, 0, 1).with_dword(10, 1);
    assert_eq!(host.status(1, send, Vec::new()), Status::INVALID_OPCODE);
}

/// A command for the feature of events of a handle.
fn events_feature(opcode: u8, handle: u32, count: u32, on: u32) -> Entry {
    let entry = Entry::new(opcode, 0, 1).with_dword(10, 0x1e);
    entry.with_dword(11, count << 16 | handle).with_dword(12, on)
}

#[test]
fn events_are_told_where_they_are_on() {
    let mut host = fdp();
    let get = events_feature(admin::GET_FEATURES, 1, 4, 0);
    let done = host.now_done(0, get, Vec::new());
    assert_eq!((done.completion.result, done.data), (3, vec![0x81, 0, 1, 0, 0x80, 0, 0, 0]));
    let set = |types: u32, handle, on| events_feature(admin::SET_FEATURES, handle, types, on);
    assert!(host.status(0, set(2, 1, 1), vec![0x81, 0x80]).is_success());
    let done = host.now_done(0, get, Vec::new());
    assert_eq!(done.data, [0x81, 1, 1, 0, 0x80, 1, 0, 0]);
    assert_eq!(host.status(0, set(1, 1, 1), vec![0x82]), Status::INVALID_FIELD);
    assert_eq!(host.status(0, set(1, 4, 1), vec![0x81]), Status::INVALID_FIELD);
    wear(&mut host);
    let latest = host.subsystem.media().placement_events();
    assert_eq!(latest.len(), 63);
    let page = log(&mut host, 0x23, 4096, 1).expect("events");
    let told = latest.iter().filter(|event| event.identifier != Some(2));
    let mut kinds = BTreeMap::new();
    for (event, at) in told.clone().zip((64..).step_by(64)) {
        assert_eq!(page[at], event.kind.number());
        let known = (page[at + 1] == 0b101).then(|| page[at + 2]);
        assert_eq!(known, event.identifier, "{event:?}");
        assert_eq!(number(&page, at + 4, 8), event.at.0 / 1_000_000_000);
        assert_eq!(number(&page, at + 18, 2), u64::from(event.pages));
        assert_eq!(known.unwrap_or_default(), page[at + 34]);
        *kinds.entry(page[at]).or_insert(0) += 1;
    }
    assert_eq!(number(&page, 0, 4), told.count() as u64);
    assert!(kinds.contains_key(&0x81), "{kinds:?}");
    assert_eq!(number(&log(&mut host, 0x23 | 1 << 8, 64, 1).expect("of the host"), 0, 4), 0);
    assert!(host.status(0, set(2, 1, 0), vec![0x81, 0x80]).is_success());
    assert_eq!(number(&log(&mut host, 0x23, 64, 1).expect("none"), 0, 4), 0);
}

#[test]
fn groups_are_the_upper_bits_of_an_identifier() {
    let keys = [
        "placement.mode=fdp",
        "placement.handles=2",
        "placement.groups=2",
        "ftl.superblock=2 dies",
    ];
    let mut host = host(&keys);
    for identifier in [1, 1 << 15 | 1] {
        let first = u64::from(identifier >> 15) * 100;
        assert!(host.status(1, placed(first, 8, 2, identifier), data(first, 8, 0)).is_success());
    }
    assert_eq!(host.status(1, placed(0, 8, 2, 2), data(0, 8, 0)), Status::INVALID_FIELD);
    host.run(1, Entry::new(io::FLUSH, 0, 1), Vec::new());
    let written: Vec<u64> = placement(&mut host).handles.iter().map(|it| it.host_bytes).collect();
    assert_eq!(written, [0, 8 * 4096, 0, 8 * 4096]);
    let page = log(&mut host, 0x20, 88, 1).expect("configurations");
    assert_eq!((page[18] & 0xf, number(&page, 20, 4), number(&page, 26, 2)), (1, 2, 3));
    let receive = Entry::new(io::IO_MANAGEMENT_RECEIVE, 0, 1).with_dword(10, 1);
    let page = host.now_done(1, receive.with_dword(11, 35), Vec::new()).data;
    let named: Vec<u64> = (16..144).step_by(32).map(|at| number(&page, at, 2)).collect();
    assert_eq!(named, [0, 1, 0x8000, 0x8001]);
}

#[test]
fn random_placed_commands_agree_with_a_plain_model() {
    let mut host = fdp();
    let mut plain: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut seed = 11_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (seed >> 33) % below
    };
    for round in 0..2000_u64 {
        let (first, count) = (draw(200), draw(8) as u32 + 1);
        let touched = first..first + u64::from(count);
        match draw(4) {
            0 | 1 => {
                let fresh = data(first, count, round as u8);
                let entry = placed(first, count, draw(2) as u32 * 2, draw(4) as u32);
                assert_eq!(host.status(1, entry, fresh.clone()), Status::SUCCESS);
                plain.extend(touched.zip(fresh.chunks(4096).map(<[u8]>::to_vec)));
            }
            2 => {
                let entry = blocks(io::WRITE_ZEROES, 1, first, count);
                assert_eq!(host.status(1, entry, Vec::new()), Status::SUCCESS);
                plain.retain(|block, _| !touched.contains(block));
            }
            _ => {
                let done = host.run(1, read(first, count), Vec::new());
                for (block, found) in touched.zip(done.data.chunks(4096)) {
                    let zero = vec![0; 4096];
                    assert!(found == plain.get(&block).unwrap_or(&zero), "round {round}: {block}");
                }
            }
        }
    }
}
