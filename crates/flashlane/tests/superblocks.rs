//! Superblocks: write amplification against theory, stripes over all dies, erases, parity, tenants,
//! and what is refused.

use crate::common::{SMALL_DRIVE, Scenario, flash_only, random_writes, run_all, whole_run};
use crate::generate::{case, force_superblocks};
use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::config::validate::validate;
use flashlane::drive::{Command, Drive, DriveOptions, Tenant};
use flashlane::layout::Geometry;
use flashlane::metrics::Summary;
use flashlane::policy::Victim;
use flashlane::{Time, simulate_in_detail};

const SUPERBLOCK: &str = "ftl.superblock";
const DRIVE: &str = "\"drive\"";

/// Eight planes on four dies. `superblock`: the value of the key, with its quotes.
fn eight_planes(superblock: &str) -> String {
    flash_only(&format!("superblock = {superblock}"), [2, 2, 1, 2], [512, 8], "4KiB")
}

/// A drive under uniform writes of `capacities` times its logical pages.
fn uniform(victim: &str, spare: f64, (dies, parity): (u32, bool), capacities: u64) -> Scenario {
    let superblock = if dies == 0 { "drive".to_owned() } else { format!("{dies} dies") };
    let mut scenario = Scenario::new(&eight_planes(DRIVE), &random_writes(32))
        .set(SUPERBLOCK, superblock)
        .set("ftl.parity", parity)
        .set("ftl.over_provisioning", spare)
        .set("ftl.gc.victim", victim)
        // The less spare, the more two open superblocks matter.
        .set("flash.blocks_per_plane", if spare < 0.2 { 1024 } else { 512 });
    scenario.options.check = false;
    let (device, workload) = scenario.load();
    let pages = workload.layout(&device).logical_pages;
    scenario.set("flow[0].synthetic.requests", capacities * pages)
}

/// The closed form, in superblocks: `dies` dies of two planes each form one, of which one page of
/// each stripe may be parity.
fn predicted(victim: &str, scenario: &Scenario, (dies, parity): (u32, bool)) -> f64 {
    let (device, workload) = scenario.load();
    let logical = workload.layout(&device).logical_pages;
    let width = if dies == 0 { 8 } else { 2 * dies };
    let sets = 8 / width;
    let stripe = width - u32::from(parity);
    let pages = stripe * device.flash.pages_per_block;
    let blocks = device.flash.blocks_per_plane;
    let threshold = device.ftl.gc.threshold.blocks(blocks);
    // The free pool and two open superblocks of each set hold no data that counts.
    let full = u64::from(sets * (blocks - threshold - 2) * pages);
    let rho = logical as f64 / full as f64;
    let victim = Victim::by_name(victim).expect("a registered policy");
    let of_data = victim.steady_state(rho, pages, blocks).write_amplification;
    of_data * f64::from(width) / f64::from(stripe)
}

/// Programs of hosts and all programs between the ends of two runs.
fn amplification(short: &Summary, long: &Summary) -> f64 {
    let programs = |summary: &Summary| {
        let flash = whole_run(summary);
        let moved = flash.gc_programs + flash.mapping_programs;
        (flash.user_programs as f64, (flash.user_programs + moved) as f64)
    };
    let ((host, all), (host_long, all_long)) = (programs(short), programs(long));
    (all_long - all) / (host_long - host)
}

/// Timed and without time, within 3 % of the closed form.
#[test]
fn uniform_writes_meet_the_closed_form() {
    let policies: Vec<&str> =
        Victim::NAMES.iter().copied().filter(|&name| name != "none").collect();
    let of = |victim| (victim, 0.28, (0, false));
    let mut cases: Vec<(&str, f64, (u32, bool))> = policies.into_iter().map(of).collect();
    cases.push(("greedy", 0.125, (0, false)));
    cases.push(("greedy", 0.28, (1, false)));
    cases.push(("rga", 0.28, (2, false)));
    cases.push(("greedy", 0.50, (0, true)));
    let timed = cases.iter().flat_map(|&(victim, spare, set)| {
        [2, 4].map(|capacities| uniform(victim, spare, set, capacities))
    });
    let timed: Vec<Scenario> = timed.collect();
    let mut untimed = timed.clone();
    untimed.iter_mut().for_each(|scenario| scenario.options.waf_only = true);
    let (timed_runs, untimed_runs) = (run_all(&timed), run_all(&untimed));
    let mut outside = Vec::new();
    for (at, &(victim, spare, set)) in cases.iter().enumerate() {
        let expected = predicted(victim, &timed[2 * at], set);
        for (kind, runs) in [("timed", &timed_runs), ("without time", &untimed_runs)] {
            let measured = amplification(&runs[2 * at], &runs[2 * at + 1]);
            let off = measured / expected - 1.0;
            let row = format!(
                "{victim} {spare} {set:?} {kind}: {measured:.3}, expected {expected:.3}, {:+.2} %",
                100.0 * off
            );
            println!("{row}");
            if off.abs() > 0.03 {
                outside.push(row);
            }
        }
    }
    assert!(outside.is_empty(), "outside:\n{}", outside.join("\n"));
}

/// A drive of eight planes under steps from outside.
fn drive(sets: &[&str], tenants: &[Tenant]) -> Drive {
    let sets = ["cache.capacity=0B"].iter().chain(sets).map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device =
        device_from_toml(&eight_planes(DRIVE), "device", &overrides).expect("a device").config;
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    Drive::with_options(&device, tenants, 1, &options).expect("a drive")
}

/// Writes `count` pages at once, at the places that `page` gives, and waits for all of them.
/// Returns the time that this took.
fn write_at_once(drive: &mut Drive, count: u64, page: impl Fn(u64) -> u64) -> Time {
    let mut done = Vec::new();
    let start = drive.now();
    for write in 0..count {
        drive.submit(start, 0, Command::write(8 * page(write), 8), write).expect("accepted");
    }
    drive.advance(start + Time(1_000_000_000_000), &mut done).expect("no error");
    assert_eq!(done.len() as u64, count);
    let ends = done.iter().map(|completion| completion.record.complete_ps);
    Time(ends.max().expect("writes")) - start
}

/// Pages that static striping would send to one plane go to all of them.
#[test]
fn any_writes_go_round_all_dies() {
    let tenant = [Tenant::named("writer")];
    let same_plane = |write: u64| 8 * write;
    let new = |superblock: &str| drive(&["ftl.precondition.enabled=false", superblock], &tenant);
    let block = write_at_once(&mut new("ftl.superblock=block"), 64, same_plane);
    let striped = write_at_once(&mut new("ftl.superblock=drive"), 64, same_plane);
    let in_order = write_at_once(&mut new("ftl.superblock=drive"), 64, |write| write);
    // 64 programs of 500 us on one plane; eight on each of eight planes.
    assert!(block > Time(32_000_000_000), "{block:?}");
    assert!(striped < Time(5_000_000_000), "{striped:?}");
    let ratio = striped.0 as f64 / in_order.0 as f64;
    assert!((0.9..1.1).contains(&ratio), "the order of addresses does not matter: {ratio}");
}

/// Every superblock is erased as a whole, and every stripe of it has one page of parity.
#[test]
fn erases_and_parity_are_counted_by_blocks_of_the_flash() {
    for parity in [false, true] {
        let flash = whole_run(&uniform("greedy", 0.5, (0, parity), 2).run());
        assert!(flash.gc_invocations > 100);
        // The last collection may be under way at the end.
        let erased = flash.erases / 8;
        assert!((flash.gc_invocations - 1..=flash.gc_invocations).contains(&erased), "{flash:?}");
        let (data, stripes) = (flash.user_programs + flash.gc_reads, flash.gc_programs);
        let of_parity = stripes as f64 - flash.gc_reads as f64;
        let share = of_parity / data as f64;
        let expected = if parity { 1.0 / 7.0 } else { 0.0 };
        assert!((share - expected).abs() < 1e-3, "one page of eight: {share}");
    }
}

const TWO_TENANTS: &str = r#"
[[flow]]
name = "one"
cache = "off"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.3
trim_ratio = 0.05
size = "6KiB"
requests = 30000
[[flow]]
name = "two"
cache = "off"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.3
size = "8KiB"
address = { streaming = {} }
requests = 20000
"#;

/// Tenants that share their planes share superblocks; partitions have superblocks of their own. The
/// audits check that no page leaves the planes of its tenant.
#[test]
fn tenants_share_superblocks_or_have_their_own() {
    let base = Scenario::new(SMALL_DRIVE, TWO_TENANTS).set(SUPERBLOCK, "drive");
    let scenarios = [
        base.clone(),
        base.set("ftl.parity", true).set("ftl.over_provisioning", "60%"),
        base.set("ftl.mapping.ideal", false).set("ftl.mapping.cmt_capacity", "8KiB"),
        base.set("isolation", "partitioned"),
        base.set("isolation", "partitioned").set(SUPERBLOCK, "1 die"),
        base.set("ftl.gc.pacing", "proportional").set("ftl.gc.idle_after", "1ms"),
        base.set("ftl.read_scrubbing.limit", 20).set("ftl.wear_leveling.static_threshold", 2),
        base.set("flash.technology", "tlc").set("errors.model", "tlc-3d"),
        base.set("ftl.precondition.open_blocks", true),
    ];
    for (scenario, summary) in scenarios.iter().zip(run_all(&scenarios)) {
        let flash = whole_run(&summary);
        assert!(flash.gc_invocations > 50, "{:?}", scenario.load().0.ftl);
        assert_eq!(flash.erases % 2, 0, "planes of a die are erased together");
    }
}

/// The pages of a superblock move while the host writes, in proportion to the writes.
#[test]
fn paced_collection_follows_the_writes() {
    let most_at_once = |pacing: &str| {
        // The pace is smooth with two blocks and more between the watermarks.
        let steady = ["ftl.gc.threshold=6 blocks", "ftl.gc.victim=greedy", pacing];
        let mut drive = drive(&steady, &[Tenant::named("writer")]);
        let mut moved = vec![0];
        for write in 0..1500 {
            write_at_once(&mut drive, 1, |_| write * (write + 1) / 2 * 1367 % 20_000);
            moved.push(drive.summary().expect("a summary").flash.gc_programs);
        }
        let steps = moved.windows(2).map(|pair| pair[1] - pair[0]);
        (steps.max().expect("writes"), moved[1500])
    };
    let (burst, moved) = most_at_once("ftl.gc.pacing=burst");
    let (paced, moved_too) = most_at_once("ftl.gc.pacing=proportional");
    assert!(burst > 20, "a whole superblock, {burst}");
    assert!(paced <= 4, "a victim that is at most four fifths valid: {paced}");
    let ratio = moved_too as f64 / moved as f64;
    assert!(moved > 1000 && (0.9..1.1).contains(&ratio), "the same collection: {ratio}");
}

#[test]
fn what_superblocks_cannot_do_is_refused_by_name() {
    let cases: [(&[&str], &str, &str); 12] = [
        (&["ftl.superblock=block", "ftl.parity=true"], "ftl.parity", "only with"),
        (&["ftl.superblock=3 dies"], SUPERBLOCK, "a divisor of that number"),
        (&["ftl.superblock=1 die", "flash.planes_per_die=1", "ftl.parity=true"], SUPERBLOCK, "two"),
        (&["ftl.mapping.kind=hybrid"], SUPERBLOCK, "hybrid"),
        (&["ftl.gc.copyback=true"], SUPERBLOCK, "copyback"),
        (&["ftl.allocation=dynamic"], SUPERBLOCK, "static orders"),
        (&["isolation=upi"], SUPERBLOCK, "unified and partitioned"),
        (&["scheduler=flin"], SUPERBLOCK, "flin"),
        (&["compat.unordered_programs=true"], SUPERBLOCK, "compat"),
        (&["flash.technology=in-place", "flash.erase_time=0ns"], SUPERBLOCK, "in place"),
        (&["ftl.parity=true", "ftl.over_provisioning=7%"], "ftl.over_provisioning", "set 0"),
        (&["isolation=partitioned", "flash.channels=3"], SUPERBLOCK, "sets of one size"),
    ];
    let tenants =
        format!("{TWO_TENANTS}{}", TWO_TENANTS.replace("one", "three").replace("two", "4"));
    for (sets, place, text) in cases {
        let sets = sets.iter().map(|&set| set.to_owned()).collect();
        let overrides = Overrides { sets, ..Overrides::default() };
        let device =
            device_from_toml(&eight_planes(DRIVE), "device", &overrides).expect("readable").config;
        let workload = workload_from_toml(&tenants, "w", &Overrides::default()).expect("tenants");
        let problems = validate(&device, &workload.config);
        let is_it = |p: &flashlane::Problem| p.place == place && p.message.contains(text);
        assert!(problems.iter().any(is_it), "{place}, {text}: {problems:?}");
    }
    for wrong in ["\"0 dies\"", "\"all\"", "4"] {
        let text = eight_planes(wrong);
        let error = device_from_toml(&text, "device", &Overrides::default()).expect_err("refused");
        assert!(error.to_string().contains(SUPERBLOCK), "{error}");
    }
}

#[test]
fn a_run_without_time_empties_one_superblock_at_a_time() {
    let mut scenario = uniform("greedy", 0.28, (0, false), 1);
    scenario.options.waf_only = true;
    let error = scenario.set("ftl.gc.max_concurrent_per_plane", 2).try_run().expect_err("refused");
    let text = error.to_string();
    assert!(text.contains("ftl.gc.max_concurrent_per_plane: found 2 with superblocks"), "{text}");
    assert!(scenario.try_run().is_ok());
}

/// Random drives of the swarm with superblocks: every audit holds, every request ends, and each
/// victim's waiting time is the sum of its parts.
#[test]
fn random_drives_with_superblocks_pass_their_audits() {
    let (mut runs, mut collections) = (0, 0);
    for seed in 0..400 {
        let mut case = case(seed);
        let size = Geometry::new(&case.device.flash).pages();
        if size > 20_000 || !force_superblocks(seed, &mut case.device, &case.workload) {
            continue;
        }
        case.device.ftl.over_provisioning.0 *= if case.device.ftl.parity { 4.0 } else { 1.5 };
        if !validate(&case.device, &case.workload).is_empty() {
            continue;
        }
        case.options.alone = false;
        case.options.windows = None;
        let outcome = simulate_in_detail(&case.device, &case.workload, &case.options, &|_| {});
        let Ok((summary, details)) = outcome else { continue };
        assert_eq!(summary.requests_completed, summary.requests_generated, "seed {seed}");
        for victim in details.blame.iter().flat_map(|blame| &blame.victims) {
            let cells: u128 = victim.cells.iter().map(|cell| cell.ps).sum();
            assert_eq!(cells, victim.waiting_ps, "seed {seed}, {}", victim.flow);
        }
        runs += 1;
        collections += whole_run(&summary).gc_invocations;
    }
    println!("{runs} runs, {collections} collections");
    assert!(runs > 40 && collections > 1000, "{runs} runs, {collections} collections");
}
