//! Equal inputs give equal results in every run, and different inputs do not.

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate::validate;
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane::metrics::Summary;
use flashlane::observe::{Observe, RequestBatch};
use flashlane::workload::{self, Planned};
use flashlane::{RunOptions, Simulation, simulate, simulate_all};
use flashlane_engine::Time;

fn device(sets: &[&str]) -> DeviceConfig {
    let sets = sets.iter().map(ToString::to_string).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    load::device("tiny", &overrides).expect("a valid device").config
}

fn workload(text: &str) -> WorkloadConfig {
    load::workload_from_toml(text, "test", &Overrides::default()).expect("a valid workload").config
}

const TWO: &str = "
[[flow]]
name = \"reader\"
synthetic = { queue_depth = 4, read_ratio = 0.9, requests = 2000, address = { zipf = { theta = 0.9 } } }
[[flow]]
name = \"writer\"
cache = \"off\"
synthetic = { iops = 9000, read_ratio = 0.1, requests = 2000, trim_ratio = 0.02 }
";

/// The summary without what a clock or the memory of the process decides.
fn lasting(mut summary: Summary) -> Summary {
    summary.wall_s = 0.0;
    summary.precondition_wall_s = 0.0;
    summary.requests_per_wall_s = 0.0;
    summary.peak_rss_bytes = 0;
    summary
}

fn run(device: &DeviceConfig, workload: &WorkloadConfig, options: &RunOptions) -> Summary {
    lasting(simulate(device, workload, options, &|_| {}).expect("the run finishes"))
}

fn options(seed: u64, alone: bool, threads: usize) -> RunOptions {
    RunOptions { seed, alone, threads, ..RunOptions::default() }
}

#[test]
fn a_run_repeats_itself() {
    let mut compared = 0;
    for seed in 0..40 {
        let case = crate::generate::case(seed);
        // Whether anything counts may show only in the run. The records are those of the case.
        let other = crate::generate::case(seed);
        let runs = || simulate(&other.device, &other.workload, &other.options, &|_| {}).is_ok();
        if validate(&case.device, &case.workload).is_empty() && runs() {
            let once = run(&case.device, &case.workload, &case.options);
            let twice = run(&case.device, &case.workload, &case.options);
            // Whatever is watched changes nothing.
            let observe = Observe { energy: case.options.observe.energy, ..Observe::default() };
            let unwatched = RunOptions { observe, ..case.options.clone() };
            let plain = run(&case.device, &case.workload, &unwatched);
            assert!(once == plain, "seed {seed} differs where nothing is watched");
            if let Some(records) = &case.records {
                let batches = &records.lock().expect("the runs are over").0;
                let rows: usize = batches.iter().map(RequestBatch::len).sum();
                assert_eq!(rows as u64, 2 * once.requests_completed, "both runs were watched");
            }
            assert_eq!(once, twice, "seed {seed}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} configurations are valid");
}

#[test]
fn checks_change_nothing() {
    let (device, workload) = (device(&[]), workload(TWO));
    let checked = RunOptions { check: true, ..options(3, false, 1) };
    assert_eq!(run(&device, &workload, &checked), run(&device, &workload, &options(3, false, 1)));
}

#[test]
fn threads_change_nothing() {
    let (device, workload) = (device(&["ftl.mapping.ideal=false"]), workload(TWO));
    let one = run(&device, &workload, &options(5, true, 1));
    let two = run(&device, &workload, &options(5, true, 2));
    assert!(one.fairness.fairness.is_some(), "the flows ran alone");
    assert_eq!(one, two);
}

/// Several drives and seeds at once, preconditioned and empty, of which some run their flows alone.
#[test]
fn simulations_at_once_change_nothing() {
    // Large enough for tables that runs share.
    let size = "flash.blocks_per_plane=512";
    let devices = [
        device(&[size]),
        device(&[size, "ftl.precondition.enabled=false"]),
        device(&[size, "ftl.mapping.ideal=false", "ftl.mapping.cmt_capacity=2KiB"]),
    ];
    let workload = workload(TWO);
    let all: Vec<RunOptions> =
        (1..3).flat_map(|seed| [options(seed, true, 1), options(seed, false, 1)]).collect();
    let simulations: Vec<Simulation<'_>> = devices
        .iter()
        .flat_map(|device| {
            all.iter().map(|options| Simulation { device, workload: &workload, options })
        })
        .collect();
    let one_by_one: Vec<Summary> =
        simulations.iter().map(|one| run(one.device, one.workload, one.options)).collect();
    for threads in [1, 2, 5] {
        let results = simulate_all(&simulations, threads, &|_, _| {});
        let at_once: Vec<Summary> =
            results.into_iter().map(|result| lasting(result.expect("the runs finish").0)).collect();
        assert!(at_once == one_by_one, "{threads} threads");
    }
}

/// Runs alone start where the run of all flows started, and leave it as it is.
#[test]
fn runs_alone_change_nothing_of_the_run_together() {
    let mapping = ["ftl.mapping.ideal=false", "ftl.mapping.cmt_capacity=2KiB"];
    let empty = "ftl.precondition.enabled=false";
    let from_start = "compat.translation_pages_from_start=true";
    for sets in [&["flash.blocks_per_plane=512"][..], &[empty], &[empty, from_start]] {
        let device = device(&[&mapping, sets].concat());
        let workload = workload(TWO);
        let without = run(&device, &workload, &options(4, false, 1));
        let mut with = run(&device, &workload, &options(4, true, 1));
        assert!(with.fairness.fairness.is_some(), "the flows ran alone");
        with.fairness = without.fairness;
        for (with, without) in with.flows.iter_mut().zip(&without.flows) {
            with.alone = without.alone;
            with.alone_basis = without.alone_basis;
            with.alone_end_to_end_us = without.alone_end_to_end_us;
            with.slowdown = without.slowdown;
            with.slowdown_device = without.slowdown_device;
            with.slowdown_transaction = without.slowdown_transaction;
        }
        assert!(with == without, "{sets:?}");
    }
}

#[test]
fn seeds_matter() {
    let (device, workload) = (device(&[]), workload(TWO));
    let mean = |seed| {
        let summary = run(&device, &workload, &options(seed, false, 1));
        summary.flows.iter().map(|flow| flow.end_to_end_us.mean).collect::<Vec<f64>>()
    };
    assert_ne!(mean(1), mean(2));
}

/// The first requests of a flow, as its source makes them when all is asked for at `Time(0)`.
fn stream(device: &DeviceConfig, workload: &WorkloadConfig, flow: usize) -> Vec<Planned> {
    let layout = workload.layout(device);
    let space = &layout.flows[flow];
    let mut source = workload::build(
        &workload.flows[flow],
        flow as u64,
        space,
        device.flash.page_size,
        device.interface.max_transfer,
        &device.compat,
        9,
    )
    .expect("a synthetic flow");
    (0..1000).map_while(|_| source.next(Time::ZERO).expect("never fails")).collect()
}

#[test]
fn a_new_flow_leaves_the_requests_of_others_alone() {
    let device = device(&[]);
    let mut many = workload(TWO);
    many.flows[0].channels = Some(vec![0]);
    many.flows[1].channels = Some(vec![1]);
    let mut one = many.clone();
    one.flows.truncate(1);
    let requests = stream(&device, &one, 0);
    assert_eq!(requests.len(), 1000);
    assert_eq!(requests, stream(&device, &many, 0));
    assert_ne!(requests, stream(&device, &many, 1), "flows draw from streams of their own");
}
