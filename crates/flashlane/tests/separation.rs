//! Separation of hot and cold data: write amplification of one, two and three frontiers against
//! closed forms and against each other, timed runs with every scheduler, and what is refused.
//!
//! Run with `--nocapture` for the tables.

use crate::common::{Scenario, flash_only, mixed, problems, random_writes, run_all, whole_run};
use flashlane::config::bounds::Capacity;
use flashlane::config::validate::validate;
use flashlane::metrics::Summary;
use flashlane::policy::{Separation, Victim};

const KEY: &str = "ftl.separation";
const ADDRESS: &str = "flow[0].synthetic.address";
const UNIFORM: &str = "uniform";
const ZIPF: &str = "{ zipf = { theta = 1.0 } }";

/// Writes that go to a share of the pages: the rest goes to the others.
fn hot_cold(region: f64, traffic: f64) -> String {
    format!("{{ hot-cold = {{ hot_region = {region}, hot_traffic = {traffic} }} }}")
}

/// One plane of 512 blocks of 64 pages without time, written 16 times over. The first half is
/// warm-up.
fn long_run(victim: &str, separation: &str, address: &str) -> Scenario {
    let mut scenario = Scenario::new(&flash_only("", [1; 4], [512, 64], "4KiB"), &random_writes(1))
        .set("ftl.over_provisioning", 0.28)
        .set("ftl.gc.victim", victim)
        .set(KEY, separation)
        .set(ADDRESS, address);
    let requests = 16 * logical_pages(&scenario);
    scenario.options.check = false;
    scenario.options.waf_only = true;
    scenario.options.warmup = flashlane::Warmup::Requests(requests / 2);
    scenario.set("flow[0].synthetic.requests", requests)
}

fn logical_pages(scenario: &Scenario) -> u64 {
    let (device, workload) = scenario.load();
    workload.layout(&device).logical_pages
}

/// Logical pages, and pages of the full blocks: those that are neither free nor open.
fn full_pages(scenario: &Scenario) -> (u64, u64) {
    let (device, workload) = scenario.load();
    let layout = workload.layout(&device);
    let geometry = layout.geometry;
    let capacity = Capacity::new(&layout);
    let free = device.ftl.gc.threshold.blocks(geometry.blocks_per_plane);
    let open = device.ftl.separation.frontiers().count();
    let outside = u64::from(capacity.planes * (free + open) * geometry.pages_per_block);
    (layout.logical_pages, capacity.pages - outside)
}

fn amplification(summary: &Summary) -> f64 {
    summary.flash.write_amplification
}

/// Under uniform writes all ways are the same: pages that share a block are equal. They differ in
/// the blocks that are open.
#[test]
fn uniform_writes_are_amplified_as_the_closed_form_says() {
    let victims = ["greedy", "cost-benefit", "fifo"];
    let scenarios: Vec<Scenario> = victims
        .iter()
        .flat_map(|victim| Separation::NAMES.iter().map(|name| long_run(victim, name, UNIFORM)))
        .collect();
    let summaries = run_all(&scenarios);
    let mut failures = Vec::new();
    for (at, (scenario, summary)) in scenarios.iter().zip(&summaries).enumerate() {
        let (victim, name) = (victims[at / 3], Separation::NAMES[at % 3]);
        let (logical, full) = full_pages(scenario);
        let policy = Victim::by_name(victim).expect("registered");
        let expected = policy.steady_state(logical as f64 / full as f64, 64, 512);
        let ratio = amplification(summary) / expected.write_amplification;
        let row = format!("{victim:<13} {name:<13} {:.3} {ratio:.4}", amplification(summary));
        println!("{row}");
        if (ratio - 1.0).abs() > 0.02 {
            failures.push(row);
        }
    }
    assert!(failures.is_empty(), "outside:\n{}", failures.join("\n"));
}

/// Under skew, two frontiers separate better than one, and counts better than two. Without
/// separation, skew makes amplification worse.
#[test]
fn separation_pays_under_skewed_writes() {
    let (four, nine) = (hot_cold(0.2, 0.8), hot_cold(0.1, 0.9));
    let addresses = [UNIFORM, &four, &nine, ZIPF];
    for victim in ["greedy", "cost-benefit"] {
        let scenarios: Vec<Scenario> = addresses
            .iter()
            .flat_map(|at| Separation::NAMES.iter().map(|name| long_run(victim, name, at)))
            .collect();
        let found: Vec<f64> = run_all(&scenarios).iter().map(amplification).collect();
        println!("{victim}: {:?}", Separation::NAMES);
        for (address, row) in addresses.iter().zip(found.chunks(3)) {
            println!("  {row:.3?} {address}");
        }
        let uniform = found[0];
        for (address, row) in addresses.iter().zip(found.chunks(3)).skip(1) {
            let better = 1.01 * row[2] < row[1] && 1.03 * row[1] < row[0];
            assert!(better, "{victim}, {address}: {row:?} for {:?}", Separation::NAMES);
            assert!(row[0] > 1.1 * uniform, "{victim}, {address}: {} mixed", row[0] / uniform);
        }
    }
}

/// Write amplification of one frontier with first in, first out: every page is programmed at the
/// rate `r / (1 - exp(-r c))` for `r` writes of it for each write of the host, and collected `c`
/// writes later. `classes`: pages, and share of the writes, of pages that are written at one rate.
fn first_in_first_out(full: f64, classes: &[(f64, f64)]) -> f64 {
    let amplification = |age: f64| {
        let of = |&(pages, share): &(f64, f64)| share / -libm::expm1(-share / pages * age);
        classes.iter().filter(|class| class.1 > 0.0).map(of).sum::<f64>()
            + classes.iter().filter(|class| class.1 == 0.0).map(|class| class.0 / age).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, full);
    for _ in 0..100 {
        let age = (low + high) / 2.0;
        *(if age * amplification(age) < full { &mut low } else { &mut high }) = age;
    }
    amplification(low)
}

/// Without separation, first in, first out has a closed form for any skew (Desnoyers 2012, who
/// calls it LRU cleaning). Written pages of which nobody changes most make the limit: they are
/// copied again and again.
#[test]
fn mixed_writes_are_amplified_as_theory_says_for_first_in_first_out() {
    let skews = [(0.5, 0.5), (0.2, 0.8), (0.1, 0.9), (0.3, 0.95), (0.05, 1.0)];
    let scenarios: Vec<Scenario> =
        skews.iter().map(|&(region, to)| long_run("fifo", "none", &hot_cold(region, to))).collect();
    for ((region, traffic), (scenario, summary)) in
        skews.into_iter().zip(scenarios.iter().zip(run_all(&scenarios)))
    {
        let (logical, full) = full_pages(scenario);
        let pages = logical as f64;
        let classes = [(region * pages, traffic), ((1.0 - region) * pages, 1.0 - traffic)];
        let expected = first_in_first_out(full as f64, &classes);
        let ratio = amplification(&summary) / expected;
        println!("{region} {traffic}: {:.3} {ratio:.4}", amplification(&summary));
        assert!((ratio - 1.0).abs() < 0.02, "{region}, {traffic}: {ratio}");
    }
}

/// Four writes in five go to a fifth of the pages: these are four times as hot as the average, and
/// counts find them.
#[test]
fn counts_find_the_hot_pages() {
    let summary = long_run("greedy", "counts", &hot_cold(0.2, 0.8)).run();
    let pages = summary.separation.expect("the policy tells pages apart");
    assert_eq!(pages.hot + pages.cold, summary.flash.user_programs, "each page went somewhere");
    let hot = pages.hot as f64 / (pages.hot + pages.cold) as f64;
    assert!((0.75..0.82).contains(&hot), "{hot}");
    let uniform = long_run("greedy", "counts", UNIFORM).run().separation.expect("counted");
    assert!(uniform.hot < uniform.cold, "equal pages are seldom hot: {uniform:?}");
    assert_eq!(long_run("greedy", "none", UNIFORM).run().separation, None);
}

/// A small drive with two dies of two planes, with all audits.
fn timed(separation: &str) -> Scenario {
    let array = [2, 1, 1, 2];
    Scenario::new(&flash_only("", array, [128, 32], "4KiB"), &random_writes(16))
        .set("ftl.over_provisioning", 0.4)
        .set("ftl.gc.victim", "greedy")
        .set("flow[0].synthetic.requests", 30_000)
        .set("flow[0].synthetic.read_ratio", 0.3)
        .set(ADDRESS, hot_cold(0.2, 0.8))
        .set(KEY, separation)
}

/// The host's programs and those of collection wait in different queues, and those of a block stay
/// in order all the same (the device asserts it).
#[test]
fn programs_of_a_block_are_in_order_with_every_scheduler() {
    for separation in ["none", "counts"] {
        let mut scenarios: Vec<Scenario> = flashlane::policy::Scheduling::NAMES
            .iter()
            .map(|name| timed(separation).set("scheduler", name))
            .collect();
        for (key, value) in [
            ("ftl.gc.copyback", "true"),
            ("ftl.gc.pacing", "proportional"),
            ("ftl.allocation", "dynamic"),
            ("ftl.superblock", "drive"),
            ("ftl.wear_leveling.static_threshold", "4"),
            ("ftl.precondition.open_blocks", "true"),
            ("ftl.precondition.enabled", "false"),
            ("ftl.gc.preemptible", "false"),
            ("ftl.read_scrubbing.limit", "500"),
            ("ftl.gc.victim", "random"),
            ("flash.cache_program", "true"),
        ] {
            scenarios.push(timed(separation).set(key, value));
        }
        scenarios.push(timed(separation).set("ftl.superblock", "drive").set("ftl.parity", "true"));
        let several = timed(separation).set("ftl.gc.threshold", "6 blocks");
        scenarios.push(several.set("ftl.gc.max_concurrent_per_plane", 4));
        let cached = timed(separation).set("ftl.mapping.ideal", "false");
        scenarios.push(cached.set("ftl.mapping.cmt_capacity", "64KiB"));
        let tenants = Scenario::new(&flash_only("", [2, 1, 1, 2], [256, 32], "4KiB"), &mixed(6000));
        scenarios.push(tenants.set("ftl.over_provisioning", 0.6).set(KEY, separation));
        for summary in run_all(&scenarios) {
            assert!(summary.flash.user_programs > 3000, "{separation}: pages were written");
        }
    }
}

#[test]
fn amplification_is_that_of_the_timed_run() {
    let mut scenarios = Vec::new();
    for separation in Separation::NAMES {
        for (depth, superblock) in [(1, "block"), (4, "block"), (1, "drive")] {
            let mut scenario = timed(separation)
                .set("flow[0].synthetic.queue_depth", depth)
                .set("flow[0].synthetic.requests", 120_000)
                .set("ftl.superblock", superblock);
            scenario.options.check = false;
            scenarios.push(scenario.clone());
            scenario.options.waf_only = true;
            scenarios.push(scenario);
        }
    }
    for pair in scenarios.iter().zip(run_all(&scenarios)).collect::<Vec<_>>().chunks(2) {
        let [timed, untimed] = [0, 1].map(|at| whole_run(&pair[at].1).write_amplification);
        let name = pair[0].0.load().0.ftl.separation;
        println!("{timed:.3} {untimed:.3} {}", name.name());
        assert!((untimed / timed - 1.0).abs() < 0.02, "{timed} {untimed} {}", name.name());
    }
}

#[test]
fn what_knows_no_other_frontiers_is_refused_by_name() {
    let device = "base = \"tiny\"";
    for (set, with) in [
        ("flash.technology=in-place", "memory that is written in place"),
        ("ftl.mapping.kind=hybrid", "hybrid mapping"),
        ("ftl.mapping.unit=2KiB", "ftl.mapping.unit smaller than the page"),
        ("flash.programming=one-shot", "one-shot"),
        ("isolation=upi", "isolation policies that move sets of chips"),
        ("ftl.gc.victim=none", "victim none"),
        ("compat.unordered_programs=true", "switches of compat"),
        (
            "slc_cache={ size = \"2MiB\", read_time = \"20us\", program_time = \"100us\" }",
            "[slc_cache]",
        ),
    ] {
        for separation in ["none", "counts"] {
            let found = problems(device, &[set, &format!("{KEY}={separation}")]);
            let words = format!("ftl.separation: found {separation}, allowed: two-frontiers with");
            let refused = found.iter().any(|p| p.starts_with(&words) && p.contains(with));
            let free = separation == "counts" && set.ends_with("victim=none");
            assert!(refused != free, "{set} {separation}: {found:?}");
        }
        let usual = problems(device, &[set]);
        assert!(!usual.iter().any(|p| p.contains("ftl.separation")), "{set}: {usual:?}");
    }
    let found = problems(device, &["ftl.separation={ counts = { hot = 16, halve_after = 0 } }"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("ftl.separation.counts.hot: found 16"), "{found:?}");
}

/// Each frontier keeps a block open, so that three frontiers need more blocks than two.
#[test]
fn a_plane_needs_a_block_for_every_frontier() {
    let text = flash_only("", [1; 4], [32, 16], "4KiB");
    for (name, open) in [("none", 1), ("two-frontiers", 2), ("counts", 3)] {
        let with = |blocks: f64| {
            // Two blocks are reserve; the logical pages fill the rest but for one page.
            let ratio = 32.0 / blocks - 1.0;
            let scenario = Scenario::new(&text, &random_writes(1)).set(KEY, name);
            scenario.set("ftl.over_provisioning", ratio)
        };
        let room = f64::from(32 - 2 - open);
        with(room - 0.2).load();
        let (device, workload) = with(16.0).set("flow[0].synthetic.requests", 1).load();
        let mut device = device;
        device.ftl.over_provisioning.0 = 32.0 / (room + 0.2) - 1.0;
        let found = validate(&device, &workload);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        let words = format!("2 in reserve and {open} open");
        assert!(found[0].message.contains(&words), "{name}: {}", found[0]);
    }
}
