//! Placement by the host: handles keep their data apart, through the cache, in timed runs and in
//! runs without time; counts add up; wrong input is refused.

use crate::common::{Scenario, problems, run_all};
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::config::validate::validate;
use flashlane::drive::{Command, Drive, DriveOptions, Refused, Tenant};
use flashlane::metrics::{HandleSummary, PlacementSummary, Summary};
use flashlane::{Time, Warmup};

/// Pages of 16 KiB, superblocks of 192 of them, four handles.
const DRIVE: &str = r#"
name = "placement"
[placement]
mode = "fdp"
handles = 4
[ftl]
superblock = "drive"
over_provisioning = 0.3
precondition.enabled = false
[ftl.gc]
threshold = "6 blocks"
hard_threshold = "4 blocks"
max_concurrent_per_plane = 1
[flash]
technology = "tlc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 96
pages_per_block = 24
page_size = "16KiB"
channel_rate = "1200MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// A log that is written in sequence, and a table that is written at random.
const TENANTS: &str = r#"
[[flow]]
name = "log"
placement = 1
[flow.synthetic]
queue_depth = 8
read_ratio = 0.1
size = "64KiB"
address = "streaming"
requests = 8000
[[flow]]
name = "table"
placement = 2
[flow.synthetic]
queue_depth = 8
read_ratio = 0.2
trim_ratio = 0.02
flush_ratio = 0.001
size = "16KiB"
requests = 20000
"#;

/// Bytes of a page.
const PAGE: u64 = 16 << 10;

fn drive() -> Scenario {
    Scenario::new(DRIVE, TENANTS)
}

fn without_time(scenario: &Scenario) -> Scenario {
    let mut run = scenario.clone();
    run.options.waf_only = true;
    run
}

fn placed(summary: &Summary) -> &PlacementSummary {
    summary.placement.as_ref().expect("the drive has handles")
}

fn copied(handle: &HandleSummary) -> u64 {
    handle.copied_for_bytes.iter().sum()
}

/// What the counts of handles say together, against those of the flash.
fn counts_add_up(summary: &Summary) {
    let placement = placed(summary);
    let handles = &placement.handles;
    let sum = |of: fn(&HandleSummary) -> u64| handles.iter().map(of).sum::<u64>();
    assert_eq!(sum(|h| h.host_bytes), placement.host_bytes);
    assert_eq!(sum(|h| h.media_bytes), placement.media_bytes);
    assert_eq!(sum(copied), placement.media_bytes - placement.host_bytes);
    assert_eq!(sum(|h| h.caused_bytes), sum(copied), "every copy is charged to one handle");
    let own = sum(|h| h.erased_bytes);
    assert_eq!(own + placement.shared_erased_bytes, placement.erased_bytes);
    for handle in handles {
        assert_eq!(handle.remaining_bytes % PAGE.min(4096), 0, "{handle:?}");
        assert_eq!(handle.media_bytes, handle.host_bytes + copied(handle), "{handle:?}");
    }
}

#[test]
fn data_goes_where_its_tenant_says() {
    let timed = drive();
    let runs = run_all(&[timed.clone(), without_time(&timed)]);
    for summary in &runs {
        counts_add_up(summary);
        let handles = &placed(summary).handles;
        let used: Vec<u32> =
            handles.iter().filter(|h| h.host_bytes > 0).map(|h| h.handle).collect();
        assert_eq!(used, [1, 2], "the tenants have handles 1 and 2, also through the cache");
        let unit = placed(summary).reclaim_unit_bytes;
        assert_eq!(unit, 192 * PAGE);
        let left = |h: &HandleSummary| (1..=unit).contains(&h.remaining_bytes);
        assert!(handles.iter().all(left), "each handle points to a unit with room");
    }
    // Without time the whole run counts.
    let pages = runs[1].flash.user_programs;
    assert_eq!(placed(&runs[1]).host_bytes, pages * PAGE);
    let erased = runs[1].flash.erases / 8 * 192 * PAGE;
    assert_eq!(placed(&runs[1]).erased_bytes, erased, "eight blocks are a reclaim unit");
}

#[test]
fn handles_help_tenants_whose_data_dies_together() {
    let with = |mode: &str| drive().set("placement.mode", mode);
    let none = Scenario::new(DRIVE, TENANTS).set("placement.mode", "none");
    let mut runs = vec![with("fdp"), none];
    runs.extend(runs.clone().iter().map(without_time));
    let found = run_all(&runs);
    for pair in found.chunks(2) {
        let [fdp, none] = [0, 1].map(|at: usize| pair[at].flash.write_amplification);
        assert!(fdp < 0.98 * none, "with handles {fdp:.3}, without {none:.3}");
        assert!(pair[1].placement.is_none(), "a drive without handles says nothing of them");
    }
}

#[test]
fn a_handle_that_nobody_uses_may_hold_a_unit() {
    let of = |always: bool, handles: u32| {
        let run = drive().set("placement.always_open", always);
        without_time(&run.set("placement.handles", handles))
    };
    let found = run_all(&[of(false, 4), of(false, 9), of(true, 9)]);
    let [few, many, always] = [0, 1, 2].map(|at: usize| found[at].flash.write_amplification);
    assert_eq!(few, many, "handles that nobody uses take nothing");
    assert!(always > 1.05 * many, "{always:.3} where they hold units, {many:.3} where not");
}

#[test]
fn a_used_drive_begins_where_its_tenants_have_brought_it() {
    let used = drive().set("ftl.precondition.enabled", true);
    let long = |run: &Scenario| {
        let mut run = without_time(run);
        run.options.warmup = Warmup::Requests(60_000);
        run.set("flow[0].synthetic.requests", 60_000).set("flow[1].synthetic.requests", 60_000)
    };
    for isolation in ["initially", "persistently"] {
        let used = used.set("placement.isolation", isolation);
        let new = drive().set("placement.isolation", isolation);
        let found = run_all(&[used.clone(), without_time(&used), long(&new)]);
        let [timed, untimed, later] =
            [0, 1, 2].map(|at: usize| found[at].flash.write_amplification);
        println!(
            "{isolation}: {timed:.3} in time, {untimed:.3} without, {later:.3} after long use"
        );
        assert!((timed / untimed - 1.0).abs() < 0.05, "{timed:.3} against {untimed:.3}");
        assert!((untimed / later - 1.0).abs() < 0.1, "{untimed:.3} against {later:.3}");
        found.iter().for_each(counts_add_up);
    }
}

#[test]
fn sets_of_dies_parity_and_packed_units_keep_handles() {
    let units: [(&str, &str); 4] = [
        ("flash.programming", "one-shot"),
        ("flash.page_order", "turns"),
        ("flash.program_time", "[\"1500us\"]"),
        ("ftl.mapping.unit", "4KiB"),
    ];
    let mut all = Vec::new();
    for isolation in ["initially", "persistently"] {
        let base =
            drive().set("placement.isolation", isolation).set("flow[0].synthetic.requests", 4000);
        all.push(base.set("ftl.superblock", "2 dies"));
        all.push(base.set("ftl.parity", true).set("ftl.over_provisioning", 0.4));
        all.push(units.iter().fold(base, |run, (key, value)| run.set(key, value)));
    }
    let untimed: Vec<Scenario> = all.iter().map(without_time).collect();
    all.extend(untimed);
    for summary in &run_all(&all) {
        counts_add_up(summary);
        let shared = placed(summary).shared_erased_bytes;
        let persistent =
            placed(summary).isolation == flashlane::config::HandleIsolation::Persistently;
        assert!(!persistent || shared == 0, "persistent isolation shares no unit: {shared}");
    }
}

#[test]
fn a_write_without_a_stream_belongs_to_none() {
    let run = without_time(&drive().set("placement.mode", "streams").set("flow[1].placement", 0));
    let summary = run.run();
    counts_add_up(&summary);
    let handles = &placed(&summary).handles;
    assert_eq!(handles.len(), 5, "four streams, and what belongs to none");
    let used: Vec<u32> = handles.iter().filter(|h| h.host_bytes > 0).map(|h| h.handle).collect();
    assert_eq!(used, [0, 1]);
}

/// Writes of one tenant by a command, then by its own handle.
fn stepped(device: &str, placement: Option<u16>) -> Result<Vec<u64>, Refused> {
    let device = device_from_toml(device, "device", &Overrides::default()).expect("a device");
    let options = DriveOptions { check: true, blame: false };
    let tenant = [Tenant::named("a")];
    let mut drive = Drive::with_options(&device.config, &tenant, 1, &options).expect("a drive");
    for page in 0..100 {
        let command = Command { placement, ..Command::write(page * 32, 32) };
        drive.submit(Time(page * 1_000_000), 0, command, page)?;
    }
    drive.advance(Time(10_000_000_000_000), &mut Vec::new()).expect("it goes on");
    let summary = drive.summary().expect("it has one");
    Ok(placed(&summary).handles.iter().map(|handle| handle.host_bytes / PAGE).collect())
}

#[test]
fn commands_name_handles() {
    assert_eq!(stepped(DRIVE, None), Ok(vec![100, 0, 0, 0]));
    assert_eq!(stepped(DRIVE, Some(3)), Ok(vec![0, 0, 0, 100]));
    let refused = Refused::Placement { found: 4, identifiers: 4, writes: true };
    assert_eq!(stepped(DRIVE, Some(4)), Err(refused));
    assert_eq!(refused.to_string(), "placement: found 4, allowed: 0 to 3");
    let none = DRIVE.replace("\"fdp\"", "\"none\"");
    let refused = Refused::Placement { found: 0, identifiers: 0, writes: true };
    assert_eq!(stepped(&none, Some(0)), Err(refused));
}

#[test]
fn wrong_placement_is_refused_with_its_key() {
    let refused = |set: &str| problems(DRIVE, &[set]).join("\n");
    for (set, key, allowed) in [
        ("placement.handles=0", "placement.handles", "1 to 64"),
        ("placement.handles=65", "placement.handles", "1 to 64"),
        ("ftl.superblock=block", "placement.mode", "none with ftl.superblock"),
        ("ftl.separation=counts", "placement.mode", "none with an ftl.separation"),
    ] {
        let text = refused(set);
        assert!(text.contains(key) && text.contains(allowed), "{set}: {text}");
    }
    let pair = |scenario: &Scenario| {
        let (device, workload) = scenario.parsed();
        let found = validate(&device, &workload);
        found.iter().map(|problem| format!("{}: {}", problem.place, problem.message)).collect()
    };
    let found: Vec<String> = pair(&drive().set("flow[1].placement", 4));
    assert_eq!(found, ["flow[1].placement: found 4, allowed: 0 to 3"]);
    // A drive that places nothing takes what another one might have, and nothing else.
    let none = drive().set("placement.mode", "none");
    assert_eq!(pair(&none.set("flow[1].placement", 64)), Vec::<String>::new());
    assert_eq!(pair(&none.set("flow[1].placement", 65)).len(), 1);
}
