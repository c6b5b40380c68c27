//! Log pages agree with the model.

use flashlane_nvme::{DISCOVERY_NQN, Entry, Status, Tenancy, admin_opcode as admin};

use crate::host::{Host, connect_data, data, memory, read, subsystem, write};

fn u128_at(page: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(page[at..at + 16].try_into().expect("16 bytes"))
}

#[test]
fn health_logs_count_what_the_model_counts() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    let blocks = host.subsystem.media().sectors(1).expect("a namespace") / 8;
    // Twice the space, so that collection runs.
    for round in 0..blocks / 8 {
        let first = (round * 7919) % (blocks / 16) * 16;
        assert!(host.status(1, write(first, 16), data(first, 16, 0)).is_success());
    }
    host.run(1, read(3, 2), Vec::new());
    let smart = host.log(2, 512, 0).expect("the health log");
    let written = blocks / 8 * 16 * 8;
    assert_eq!(u128_at(&smart, 48), u128::from(written.div_ceil(1000)));
    assert_eq!((u128_at(&smart, 32), u128_at(&smart, 64)), (1, 1));
    assert_eq!(u128_at(&smart, 80), u128::from(blocks / 8));
    let page = host.log(0xc0, 512, 0).expect("the log of the Open Compute Project");
    let summary = host.subsystem.media().summary().expect("a summary");
    let flash = summary.flash;
    assert!(flash.gc_programs > 0, "{flash:?}");
    let bytes = host.subsystem.media().config().device.flash.page_size.0;
    let programs = flash.user_programs + flash.gc_programs + flash.mapping_programs;
    assert_eq!(u128_at(&page, 0), u128::from(programs * bytes));
    let amplification = u128_at(&page, 0) as f64 / (flash.user_programs * bytes) as f64;
    assert!((amplification / flash.write_amplification - 1.0).abs() < 1e-3, "{flash:?}");
    assert_eq!(page[496..500], [0xc5, 0xaf, 0x10, 0x28]);
    assert_eq!(page[152..160], blocks.to_le_bytes(), "blocks in use, as the namespace says");
}

#[test]
fn log_pages_are_read_in_parts() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    let whole = host.log(5, 4096, 0).expect("commands and effects");
    assert_eq!((whole[4 * 6], whole[1024 + 4], whole[1024 + 4 * 5]), (1, 3, 0));
    let part = host.log(5, 8, 1024).expect("a part");
    assert_eq!(part, whole[1024..1032]);
    let beyond = host.log(5, 16, 4092).expect("the end");
    assert_eq!(beyond, [&whole[4092..], &[0; 12]].concat());
    assert_eq!(host.log(5, 4, 4100), Err(Status::INVALID_FIELD));
    assert_eq!(host.log(5, 4, 2), Err(Status::INVALID_FIELD));
    assert_eq!(host.log(0x70, 4096, 0), Err(Status::INVALID_LOG_PAGE), "of discovery only");
    let supported = host.log(0, 1024, 0).expect("the supported pages");
    let listed: Vec<usize> = (0..256).filter(|&log| supported[log * 4] & 1 == 1).collect();
    assert_eq!(listed, [0, 1, 2, 3, 4, 5, 0xc0]);
    for log in listed {
        assert!(host.log(log as u32, 512, 0).is_ok(), "{log:x}");
    }
}

/// Linux asks for every log page that a controller says it has.
#[test]
fn a_discovery_controller_says_that_it_has_no_log_of_effects() {
    let mut data = connect_data(0xffff, 1);
    DISCOVERY_NQN.clone_into(&mut data.subsystem);
    let mut host = Host::of(subsystem(1, Tenancy::Queue, memory()), &data);
    let page = host.identify(1, 0).expect("a controller");
    assert_eq!((page[111], page[261] >> 1 & 1), (2, 0));
    assert_eq!(host.log(5, 4096, 0), Err(Status::INVALID_LOG_PAGE));
    assert!(host.log(0x70, 2048, 0).is_ok());
    let mut host = Host::with_queues(host.subsystem, 1);
    assert_eq!(host.identify(1, 0).expect("a controller")[261] >> 1 & 1, 1);
    assert!(host.log(5, 4096, 0).is_ok());
}

#[test]
fn features_are_got_as_they_were_set() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    let set = |feature| Entry::new(admin::SET_FEATURES, 0, 0).with_dword(10, feature);
    let get = |feature| Entry::new(admin::GET_FEATURES, 0, 0).with_dword(10, feature);
    assert!(host.status(0, set(1).with_dword(11, 0x0101_0103), Vec::new()).is_success());
    assert_eq!(host.now_done(0, get(1), Vec::new()).completion.result, 0x0101_0103);
    assert_eq!(host.now_done(0, get(15), Vec::new()).completion.result, 5000);
    let time = 1_700_000_000_000_u64.to_le_bytes().to_vec();
    assert!(host.status(0, set(14), time.clone()).is_success());
    assert_eq!(host.now_done(0, get(14), Vec::new()).data, time);
    assert_eq!(host.now_done(0, get(0x81), Vec::new()).data, [1; 16]);
    let saved = host.status(0, set(1 | 1 << 31), Vec::new());
    assert_eq!(saved, Status::FEATURE_NOT_SAVEABLE);
    assert_eq!(host.status(0, set(6), Vec::new()), Status::FEATURE_NOT_CHANGEABLE);
    assert_eq!(host.status(0, get(0x50), Vec::new()), Status::INVALID_FIELD);
}
