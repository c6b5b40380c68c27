//! Reclaim groups, time limits of reclaim units, and what a drive tells of placement.

use crate::common::{Scenario, problems, run_all};
use flashlane::Time;
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::drive::{Command, Drive, DriveOptions, PlacementEvent, PlacementEventKind, Tenant};
use flashlane::metrics::{PlacementSummary, Summary};

/// Four dies, which are sets of their own: reclaim units of 48 pages of 16 KiB.
const DRIVE: &str = r#"
name = "groups"
[cache]
capacity = "4MiB"
[placement]
mode = "fdp"
handles = 4
groups = 2
[ftl]
superblock = "1 dies"
over_provisioning = 0.5
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

/// Handle 1 of the first group, and handle 2 of the second one.
const TENANTS: &str = r#"
[[flow]]
name = "a"
placement = 1
[flow.synthetic]
queue_depth = 8
read_ratio = 0.0
size = "16KiB"
requests = 40000
[[flow]]
name = "b"
placement = 6
[flow.synthetic]
queue_depth = 8
read_ratio = 0.0
size = "16KiB"
requests = 40000
"#;

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

/// The chips that worked. Each chip is a die here.
fn chips_at_work(summary: &Summary) -> Vec<usize> {
    let works = |chip: &usize| summary.chips[*chip].busy_fraction > 0.0;
    (0..summary.chips.len()).filter(works).collect()
}

#[test]
fn tenants_in_different_groups_share_no_die() {
    for isolation in ["initially", "persistently"] {
        let both = drive().set("placement.isolation", isolation);
        let alone = both.set("flow[1].placement", 2);
        let alone = alone.set("flow[0].synthetic.working_set", 0.4);
        let alone = alone.set("flow[1].synthetic.working_set", 0.4);
        let found = run_all(&[both.clone(), without_time(&both), alone]);
        for summary in &found[..2] {
            let placement = placed(summary);
            assert_eq!(placement.handles.len(), 8, "four handles in each of two groups");
            let used = placement.handles.iter().filter(|h| h.host_bytes > 0);
            let used: Vec<_> = used.map(|h| (h.group, h.handle)).collect();
            assert_eq!(used, [(Some(0), 1), (Some(1), 6)]);
            for handle in &placement.handles {
                // A handle points to an open unit, or a new one, in both dies of its group.
                let most = 2 * placement.reclaim_unit_bytes;
                assert!((2..=most).contains(&handle.remaining_bytes), "{handle:?}");
            }
            assert!(placement.media_bytes > placement.host_bytes, "collection has work");
        }
        assert_eq!(chips_at_work(&found[0]).len(), 4);
        assert_eq!(chips_at_work(&found[2]).len(), 2, "both tenants name the first group");
        let amplification = |s: &Summary| s.flash.write_amplification;
        let [timed, untimed] = [0, 1].map(|at: usize| amplification(&found[at]));
        assert!((timed / untimed - 1.0).abs() < 0.05, "{timed:.3} against {untimed:.3}");
    }
}

#[test]
fn a_full_group_gives_its_data_to_another_one() {
    // Both tenants name the first group: more than it has room for.
    let crowded = drive().set("flow[1].placement", 2);
    for summary in run_all(&[crowded.clone(), without_time(&crowded)]) {
        let placement = placed(&summary);
        let of = |identifier: usize| placement.handles[identifier].host_bytes;
        assert!(of(1) > 0 && of(2) > 0, "the group takes what it has room for");
        assert!(of(5) > 0 && of(6) > 0, "the rest goes to the same handles of the other group");
        assert!(placement.events.reallocated > 0);
    }
}

#[test]
fn a_unit_is_left_when_its_time_is_over() {
    let seldom = [("think_time", "20ms"), ("queue_depth", "1"), ("requests", "2000")];
    let slow = |scenario: Scenario| {
        let set = |run: Scenario, (key, value): &(&str, &str)| {
            run.set(&format!("flow[1].synthetic.{key}"), value)
        };
        seldom.iter().fold(scenario, set)
    };
    let limited = slow(drive()).set("placement.unit_time", "500ms");
    let units = [
        ("flash.programming", "one-shot"),
        ("flash.page_order", "turns"),
        ("flash.program_time", "[\"1500us\"]"),
        ("ftl.mapping.unit", "4KiB"),
        ("placement.groups", "1"),
        ("ftl.over_provisioning", "0.7"),
    ];
    let packed = units.iter().fold(limited.clone(), |run, (key, value)| run.set(key, value));
    let packed = packed.set("flow[1].placement", 2);
    let without = slow(drive());
    let found = run_all(&[without, limited, packed]);
    assert_eq!(placed(&found[0]).events.time_limit, 0);
    for summary in &found[1..] {
        let placement = placed(summary);
        assert!(placement.events.time_limit > 20, "{:?}", placement.events);
        let filled = placement.handles.iter().map(|handle| handle.filled_units).sum::<u64>();
        assert!(filled > 100, "{:?}", placement.events);
        assert_eq!(filled, placement.events.moved, "the whole run is the window");
    }
}

#[test]
fn the_latest_events_are_kept_with_their_times() {
    let device = device_from_toml(DRIVE, "device", &Overrides::default()).expect("a device");
    let options = DriveOptions { check: true, blame: false };
    let tenant = [Tenant::named("a")];
    let mut drive = Drive::with_options(&device.config, &tenant, 1, &options).expect("a drive");
    assert_eq!(drive.placement_events(), []);
    for page in 0..200 {
        let command = Command { placement: Some(5), ..Command::write(page * 32, 32) };
        drive.submit(Time(page * 1_000_000_000), 0, command, page).expect("it is accepted");
    }
    drive.advance(Time(10_000_000_000_000), &mut Vec::new()).expect("it goes on");
    let events = drive.placement_events();
    // Two dies take turns, and each is full after 48 pages.
    let [first, second, ..] = events[..] else { panic!("found {events:?}") };
    for (event, page) in [(first, 94), (second, 95)] {
        let PlacementEvent { at, kind, identifier, pages } = event;
        assert_eq!((kind, identifier, pages), (PlacementEventKind::Moved, Some(5), 0));
        assert_eq!(at.0 / 1_000_000_000, page, "{events:?}");
    }
    assert_eq!(events.len(), 4);
}

#[test]
fn wrong_groups_and_times_are_refused_with_their_keys() {
    for (sets, allowed) in [
        (&["placement.groups=0"][..], "placement.groups: found 0, allowed: 1 to 64"),
        (
            &["placement.groups=17"],
            "placement.groups: found 17, allowed: at most 16 with 4 handles",
        ),
        (&["placement.groups=3"], "placement.groups: found 3, allowed: a divisor of the 4 sets"),
        (&["placement.mode=streams"], "placement.groups: found 2, allowed: 1 with placement.mode"),
        (&["placement.unit_time=0us"], "placement.unit_time: found 0"),
        (
            &["placement.groups=1", "placement.mode=streams", "placement.unit_time=1s"],
            "placement.unit_time: found 1s, allowed: none with placement.mode = \"streams\"",
        ),
    ] {
        let text = problems(DRIVE, sets).join("\n");
        assert!(text.contains(allowed), "{sets:?}: {text}");
    }
    let (device, workload) = drive().set("flow[1].channels", "[0]").parsed();
    let found = flashlane::config::validate::validate(&device, &workload);
    println!("{found:?}");
    assert!(!found.is_empty());
}
