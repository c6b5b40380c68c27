//! A naive translation layer, a map from logical pages to their sectors with data. Tests compare it
//! with the state at the end of a run.

use std::collections::BTreeMap;

use flashlane_engine::Time;
use flashlane_units::{FlowId, Lpa, Ppa, RequestOp};

use super::*;
use flashlane_config::load::{self, Overrides};
use flashlane_device::device::Device;

fn inputs(sets: &[&str], flow: &str) -> (DeviceConfig, WorkloadConfig) {
    let overrides =
        Overrides { sets: sets.iter().map(ToString::to_string).collect(), ..Overrides::default() };
    let device = load::device("tiny", &overrides).expect("a valid device").config;
    let text = format!("[[flow]]\nname = \"a\"\n{flow}");
    let workload = load::workload_from_toml(&text, "test", &Overrides::default());
    (device, workload.expect("a valid workload").config)
}

/// Sectors with data by logical page, if requests take effect one after the other.
fn expected(prepared: &Prepared<'_>) -> BTreeMap<u32, u64> {
    let pages = &prepared.state.pages;
    let mut held: BTreeMap<u32, u64> = (0..pages.logical_pages())
        .filter(|&lpa| pages.ppa(Lpa::new(lpa)) != Ppa::NONE)
        .map(|lpa| (lpa, pages.mask(Lpa::new(lpa))))
        .collect();
    let space = &prepared.layout.flows[0];
    let (flow, seed) = (&prepared.workload.flows[0], prepared.options.seed);
    let mut source = flashlane_workload::build(
        flow,
        0,
        space,
        prepared.device.unit(),
        prepared.device.interface.max_transfer,
        &prepared.device.compat,
        seed,
    )
    .expect("valid");
    let per_page = u64::from(prepared.layout.geometry.sectors_per_page);
    while let Some(request) = source.next(Time::ZERO).expect("synthetic flows never fail") {
        // Two sectors may be one bit: a part of them is written, but not trimmed.
        let bits = u64::from(prepared.layout.geometry.grain().sectors(1));
        let end = request.sector + u64::from(request.sectors);
        for sector in (request.sector / bits * bits..end).step_by(bits as usize) {
            let (lpa, bit) = ((sector / per_page) as u32, 1_u64 << (sector % per_page / bits));
            match request.op {
                RequestOp::Write => *held.entry(lpa).or_default() |= bit,
                RequestOp::Trim if sector >= request.sector && sector + bits <= end => {
                    held.entry(lpa).and_modify(|mask| *mask &= !bit);
                }
                _ => {}
            }
        }
    }
    held.retain(|_, mask| *mask != 0);
    held
}

/// Sectors with data by logical page, from the tables and the data cache of a finished run.
fn found(ssd: &mut Device) -> BTreeMap<u32, u64> {
    let mut held = BTreeMap::new();
    for lpa in 0..ssd.layout().logical_pages as u32 {
        let mask = ssd.held(FlowId::new(0), Lpa::new(lpa));
        if mask != 0 {
            held.insert(lpa, mask);
        }
    }
    held
}

fn agree(sets: &[&str], flow: &str) {
    let (device, workload) = inputs(sets, flow);
    for seed in 1..6 {
        let options = RunOptions { seed, check: true, threads: 1, ..RunOptions::default() };
        let prepared = Prepared::new(&device, &workload, &options).expect("valid");
        let expected = expected(&prepared);
        let window = Window::new(workload.window, options.warmup);
        let mut run = prepared.build(prepared.state.clone(), window, |_| true).expect("valid");
        run.run_to_end(&|_| {}).expect("the run finishes");
        let found = found(&mut run.drive.device);
        assert_eq!(found.len(), expected.len(), "pages that hold data, {sets:?}, seed {seed}");
        assert_eq!(found, expected, "sectors that hold data, {sets:?}, seed {seed}");
    }
}

const MIXED: &str = "synthetic = { queue_depth = 1, requests = 5000, read_ratio = 0.3, \
    trim_ratio = 0.2, flush_ratio = 0.02, align = \"512B\", working_set = 0.1, \
    size = { normal = { mean = \"6KiB\", stddev = \"8KiB\" } } }";

#[test]
fn uncached_requests_leave_what_a_map_would_hold() {
    let flow = format!("cache = \"off\"\n{MIXED}");
    agree(&[], &flow);
    agree(&["ftl.precondition.enabled=false", "ftl.allocation=dynamic"], &flow);
    agree(&["ftl.mapping.unit=16KiB"], &flow);
    agree(&["ftl.mapping.unit=64KiB", "ftl.over_provisioning=60%"], &flow);
    agree(&["ftl.mapping.ideal=false", "ftl.mapping.cmt_capacity=1KiB"], &flow);
    let hybrid = ["ftl.mapping.kind=hybrid", "ftl.mapping.log_blocks=2"];
    agree(&hybrid, &flow);
    agree(&[hybrid[0], hybrid[1], "ftl.precondition.enabled=false"], &flow);
}

#[test]
fn cached_requests_leave_what_a_map_would_hold() {
    let flow = format!("cache = \"write-read\"\n{MIXED}");
    for eager in ["cache.eager_write_back=true", "cache.eager_write_back=false"] {
        agree(&[eager], &flow);
        agree(&[eager, "cache.capacity=20KiB", "ftl.precondition.enabled=false"], &flow);
        let large = ["ftl.mapping.unit=64KiB", "ftl.over_provisioning=60%"];
        agree(&[eager, large[0], large[1], "cache.capacity=320KiB"], &flow);
        agree(
            &[
                eager,
                "cache.capacity=64KiB",
                "ftl.mapping.ideal=false",
                "ftl.mapping.cmt_capacity=1KiB",
            ],
            &flow,
        );
    }
}
