use super::*;
use crate::load::{self, Overrides};
use crate::{MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig, SyntheticConfig};
use flashlane_device::config::PlacementMode;
use flashlane_device::isolation::Isolation;
use flashlane_units::{BlockShare, ByteSize, Ratio};

fn tiny() -> DeviceConfig {
    load::device("tiny", &Overrides::default()).unwrap().config
}

/// A workload of `count` closed-loop flows.
fn flows(count: usize) -> WorkloadConfig {
    let mut workload = WorkloadConfig::whole_device();
    let mut flow = workload.flows.remove(0);
    flow.synthetic = Some(SyntheticConfig {
        queue_depth: Some(1),
        requests: Some(1),
        ..SyntheticConfig::default()
    });
    for index in 0..count {
        flow.name = format!("flow {index}");
        workload.flows.push(flow.clone());
    }
    workload
}

#[test]
fn the_budget_counts_blocks_as_documented() {
    // Tiny: 64 blocks of 32 pages, 28 % over-provisioning, so 1600 logical pages a plane.
    let (device, workload) = (tiny(), flows(2));
    let layout = workload.layout(&device);
    let budget = plane_budget(&device, &layout)[0];
    let expected = PlaneBudget {
        padding: 0,
        flows: 2,
        logical_pages: 1600,
        frontier_blocks: 4,
        reserve_blocks: 2,
        blocks: 64,
        pages_per_block: 32,
    };
    assert_eq!(budget, expected);
    assert_eq!(budget.room_pages(), (64 - 2 - 4) * 32);
    assert!(budget.fits());
    // Translation pages: 6400 pages a flow, 1024 or more to a page, 8 planes: 1 page + 1 for each
    // flow and plane; and two more open blocks for each flow.
    let mut device = device;
    device.ftl.mapping.ideal = false;
    let budget = plane_budget(&device, &layout)[0];
    assert_eq!((budget.frontier_blocks, budget.logical_pages), (8, 1600 + 2 * 2));
}

#[test]
fn the_last_flow_that_fits_is_accepted_and_the_next_refused() {
    // (64 - 2 - 2 S) * 32 > 1600 holds up to S = 5.
    assert_eq!(validate(&tiny(), &flows(5)), []);
    let problems = validate(&tiny(), &flows(6));
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].place, "ftl.over_provisioning");
    assert!(problems[0].message.contains("fewer flows"), "{}", problems[0].message);
}

#[test]
fn the_advice_of_a_full_plane_works() {
    for count in [6, 12, 20] {
        let mut device = tiny();
        let message = validate(&device, &flows(count))[0].message.clone();
        let after = |start: &str| {
            let rest = &message[message.find(start).expect("is said") + start.len()..];
            let digits: String =
                rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            digits.parse::<f64>().unwrap()
        };
        let (share, blocks) = (after("over-provisioning of at least "), after("or at least "));
        device.ftl.over_provisioning = Ratio(share / 100.0);
        assert_eq!(validate(&device, &flows(count)), [], "{message}");
        let mut device = tiny();
        device.flash.blocks_per_plane = blocks as u32;
        device.ftl.gc.threshold = BlockShare::Blocks(3);
        assert_eq!(validate(&device, &flows(count)), [], "{message}");
        device.flash.blocks_per_plane -= device.flash.blocks_per_plane / 8;
        assert_ne!(validate(&device, &flows(count)), [], "{message}");
    }
}

#[test]
fn unevenly_shared_planes_are_seen() {
    // Flow 0 is striped over both channels but shares only one of them, so that channel overflows.
    let mut workload = flows(2);
    workload.flows[1].channels = Some(vec![1]);
    let problems = validate(&tiny(), &workload);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("plane 4 "), "{}", problems[0].message);
    workload.flows[0].channels = Some(vec![0]);
    assert_eq!(validate(&tiny(), &workload), []);
}

#[test]
fn collection_must_start_above_the_reserve() {
    let mut device = tiny();
    device.ftl.gc.hard_threshold = BlockShare::Blocks(4);
    device.ftl.gc.threshold = BlockShare::Blocks(4);
    let problems = validate_device(&device);
    assert_eq!(problems[0].place, "ftl.gc.hard_threshold");
    assert!(problems[0].message.contains("fewer than the 4 blocks"), "{}", problems[0].message);
    device.ftl.gc.threshold = BlockShare::Blocks(1);
    let problems = validate_device(&device);
    assert_eq!(problems[0].place, "ftl.gc.threshold");
    assert!(problems[0].message.contains("at least 5 blocks"), "{}", problems[0].message);
    device.ftl.gc.threshold = BlockShare::Blocks(5);
    assert_eq!(validate_device(&device), []);
}

#[test]
fn identifiers_of_fio_jobs_are_those_of_the_drive() {
    let text = "queue_depth = 1\nfio = { rw = \"write\", placement = { ids = [1, 8, 9] } }";
    let problems = |device: &DeviceConfig, text: &str| {
        let mut workload = flows(1);
        workload.flows[0].synthetic = Some(toml::from_str(text).expect("a job"));
        let place = |one: Problem| (one.place, one.message);
        validate(device, &workload).into_iter().map(place).collect::<Vec<_>>()
    };
    let mut device = tiny();
    assert_eq!(problems(&device, text), [], "no effect on a drive that places nothing");
    let key = "flow[0].synthetic.fio.placement.ids";
    let large = text.replace('9', "65");
    assert_eq!(problems(&device, &large), [(key.to_owned(), found(65, 64))]);
    device.placement.mode = PlacementMode::Fdp;
    let own = |all: Vec<(String, String)>| all.into_iter().find(|one| one.0 == key);
    assert_eq!(own(problems(&device, text)), Some((key.to_owned(), found(9, 7))));
    device.placement.mode = PlacementMode::Streams;
    assert_eq!(own(problems(&device, text)), Some((key.to_owned(), found(9, 8))));
    assert_eq!(own(problems(&device, &text.replace(", 9", ""))), None);
    let empty = own(problems(&device, &text.replace("1, 8, 9", ""))).expect("a problem");
    assert_eq!(empty.1, "found 0 identifiers, allowed: 1 to 128");
}

/// The message about an identifier.
fn found(id: u32, most: u32) -> String {
    format!("found {id}, allowed: 0 to {most}")
}

#[test]
fn every_problem_is_collected() {
    let mut device = tiny();
    device.flash.channels = 0;
    device.flash.page_size = ByteSize(100);
    device.link.lanes = 0;
    let mut workload = flows(1);
    workload.flows[0].name = String::new();
    workload.flows[0].occupancy = Some(Ratio(2.0));
    let places: Vec<String> =
        validate(&device, &workload).into_iter().map(|problem| problem.place).collect();
    for place in
        ["link.lanes", "flash.channels", "flash.page_size", "flow[0].name", "flow[0].occupancy"]
    {
        assert!(places.iter().any(|one| one == place), "{place} in {places:?}");
    }
}

#[test]
fn extreme_numbers_do_not_overflow() {
    let mut device = tiny();
    device.flash.channels = u32::MAX;
    device.flash.blocks_per_plane = u32::MAX;
    device.flash.page_size = ByteSize(u64::MAX);
    device.ftl.over_provisioning = Ratio(f64::MAX);
    assert!(validate(&device, &flows(1)).len() >= 4);
    let mut device = tiny();
    device.flash.blocks_per_plane = *BLOCKS_PER_PLANE.end();
    device.flash.pages_per_block = *PAGES_PER_BLOCK.end();
    let problems = validate(&device, &flows(1));
    assert_eq!(problems[0].place, "flash");
}

#[test]
fn a_request_must_fit_into_the_working_set() {
    let mut workload = flows(1);
    let synthetic = workload.flows[0].synthetic.as_mut().unwrap();
    // 50 MiB of logical space; 0.01 % of it is 5 KiB.
    synthetic.working_set = Some(Ratio(0.0001));
    assert_eq!(validate(&tiny(), &workload), []);
    workload.flows[0].synthetic.as_mut().unwrap().size = crate::SizeConfig::Fixed(ByteSize(8192));
    let problems = validate(&tiny(), &workload);
    assert_eq!(problems[0].place, "flow[0].synthetic.size");
}

#[test]
fn mqsim_flows_have_rules_too() {
    let mut workload = flows(1);
    workload.flows[0].synthetic = None;
    workload.flows[0].mqsim = Some(MqsimFlowConfig::Synthetic(MqsimSyntheticConfig {
        working_set_percent: 0,
        closed_loop: true,
        read_percent: 101,
        address: MqsimAddress::Uniform,
        hot_region_percent: 0,
        aligned: false,
        alignment_sectors: 0,
        normal_size: false,
        size_mean_sectors: 0,
        size_stddev_sectors: 0,
        seed: 1,
        queue_depth: 0,
        bandwidth: 0,
        stop_time_ns: 0,
        requests: 0,
    }));
    assert_eq!(validate_workload(&workload).len(), 5);
}

#[test]
fn partitions_without_a_chip_or_without_room_are_refused() {
    let mut device = tiny();
    device.isolation = Isolation::by_name("partitioned").expect("registered");
    assert_eq!(validate(&device, &flows(2)), []);
    // Two of the four chips for one flow, and one chip for each other flow: a third of the data on
    // a quarter of the drive.
    let problems = validate(&device, &flows(3));
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].place, "ftl.over_provisioning");
    assert!(problems[0].message.contains("than isolation partitioned gives"), "{problems:?}");
    let problems = validate(&device, &flows(5));
    assert_eq!(problems[0].place, "isolation");
    assert!(problems[0].message.contains("of 5 flows"), "{problems:?}");
}

/// Seconds that a validation takes.
fn seconds(workload: &WorkloadConfig) -> f64 {
    let device = tiny();
    let begun = std::time::Instant::now();
    assert!(!validate(&device, workload).is_empty(), "it has to be refused");
    begun.elapsed().as_secs_f64()
}

#[test]
fn ten_times_as_many_flows_and_resources_take_about_ten_times_as_long() {
    let listed = |count: u32| {
        let mut workload = flows(1);
        workload.flows[0].channels = Some((0..count).collect());
        workload
    };
    for (few, many) in [(flows(20_000), flows(200_000)), (listed(20_000), listed(200_000))] {
        // If the time grew with the square of the count, it would be 100. A busy machine may spoil
        // some of the tries.
        let found: Vec<_> = (0..10).map(|_| seconds(&many) / seconds(&few)).collect();
        assert!(found.iter().any(|ratio| *ratio < 40.0), "{found:?}");
    }
}

#[test]
fn names_have_no_control_characters() {
    let mut workload = flows(1);
    workload.flows[0].name = "red \u{1b}[31m".to_owned();
    let problems = validate(&tiny(), &workload);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("red \\u{1b}[31m"), "{}", problems[0].message);
}

#[test]
fn a_cache_of_few_pages_is_warned_of_where_flows_write_through_it() {
    let (mut device, mut workload) = (tiny(), flows(1));
    device.cache.capacity = ByteSize(64 << 10);
    assert_eq!(warnings(&device, &workload), Vec::<String>::new(), "the cache is off");
    workload.flows[0].cache = crate::CacheMode::Write;
    let found = warnings(&device, &workload);
    assert!(
        found.len() == 1 && found[0].contains("16 pages") && found[0].contains("8 pages"),
        "{found:?}"
    );
    device.cache.capacity = ByteSize(1 << 20);
    assert_eq!(warnings(&device, &workload), Vec::<String>::new());
}
