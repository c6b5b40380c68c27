//! Random configurations that validation should accept: every knob of the device and of synthetic
//! flows, small sizes first, because that is where room runs out.

mod admission;
mod device;
mod dies;
mod large_units;
mod placement;
mod read_path;
mod schedulers;
mod separation;
mod shares;
mod slc_cache;
mod warps;
mod word_lines;
mod workload;
mod zones;

use std::sync::{Arc, Mutex};

use flashlane::config::load::{self, Overrides};
use flashlane::config::units::Ratio;
use flashlane::config::validate::{plane_budget, validate};
use flashlane::config::{
    DeviceConfig, InterfaceKind, OUTSTANDING_MAX, OnEnd, Priority, WindowRule, WorkloadConfig,
};
use flashlane::metrics::AloneBasis;
use flashlane::observe::{
    Observe, RequestBatch, RequestRecord, RequestSink, SeriesOptions, TimelineOptions,
};
use flashlane::policy::Arbitration;
use flashlane::policy::Isolation;
use flashlane::{Error, RunOptions, Warmup};
use flashlane_engine::Rng;

#[allow(unused_imports, reason = "only the quick tests force errors")]
pub(crate) use device::{force_errors, force_superblocks};

#[allow(unused_imports, reason = "only the tests of recordings need it")]
pub(crate) use warps::recordable;

const KIB: u64 = 1 << 10;
const NS: u64 = 1_000;
const US: u64 = 1_000_000;
const MS: u64 = 1_000_000_000;
const SECOND: u64 = 1_000_000_000_000;

/// One configuration of the swarm.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) device: DeviceConfig,
    pub(crate) workload: WorkloadConfig,
    pub(crate) options: RunOptions,
    /// Where records of requests go, if they are kept.
    pub(crate) records: Option<Arc<Mutex<Records>>>,
}

/// Random choices.
struct Draw(Rng);

impl Draw {
    fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    /// Uniform. Range: `low..=high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// A number whose logarithm is uniform, so that small numbers are as likely as large ones.
    fn scale(&mut self, low: u64, high: u64) -> u64 {
        let ratio = (high as f64 + 1.0) / low as f64;
        ((low as f64 * libm::pow(ratio, self.0.unit())) as u64).clamp(low, high)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len() as u64) as usize].clone()
    }

    fn share(&mut self) -> Ratio {
        Ratio(match self.between(0, 5) {
            0 => 0.0,
            1 => 1.0,
            _ => self.0.unit(),
        })
    }
}

/// The configuration of a seed.
pub(crate) fn case(seed: u64) -> Case {
    let mut draw = Draw(Rng::stream(seed, "swarm", 0));
    let mut device = load::device("tiny", &Overrides::default()).expect("a preset loads").config;
    device::geometry(&mut draw, &mut device);
    device::timing(&mut draw, &mut device);
    device::interface(&mut draw, &mut device);
    device::cache(&mut draw, &mut device);
    device::translation(&mut draw, &mut device);
    if draw.chance(0.12) {
        device::in_place(&mut draw, &mut device);
    }
    if draw.chance(0.2) {
        device.compat = device::compat(&mut draw);
        if device.compat.zero_firmware_time {
            device.interface.processors = None;
        }
    }
    let flows = draw.pick(&[1, 1, 1, 2, 2, 3, 4]);
    let mut workload = WorkloadConfig {
        name: format!("swarm {seed}"),
        flows: (0..flows).map(|index| workload::flow(&mut draw, &device, index, flows)).collect(),
        groups: Vec::new(),
        window: if draw.chance(0.85) { WindowRule::Steady } else { WindowRule::WholeRun },
        warmup: None,
        outstanding_max: OUTSTANDING_MAX,
    };
    if let Arbitration::Weighted(_) = device.interface.arbitration {
        // By the standard an urgent queue goes first always; one that starts over until the others
        // are done may keep them waiting for ever.
        for flow in workload.flows.iter_mut().filter(|flow| flow.priority == Priority::Urgent) {
            flow.on_end = Some(OnEnd::Stop);
        }
    }
    if device.interface.kind == InterfaceKind::Sata {
        // An open loop that starts over may flood the queue that it shares with the others.
        for flow in &mut workload.flows {
            flow.on_end = Some(OnEnd::Stop);
        }
    }
    device::isolation(&mut draw, &mut device, flows);
    if let Isolation::Upi(_) = device.isolation {
        for flow in &mut workload.flows {
            (flow.channels, flow.chips, flow.dies, flow.planes) = (None, None, None, None);
        }
    }
    device::collection(&mut draw, &mut device);
    device::suspension(seed, &mut device);
    device::superblocks(seed, &mut device, &workload);
    make_room(&mut draw, &mut device, &workload);
    for _ in 0..40 {
        let ratio = device.ftl.over_provisioning.0;
        let crowded =
            validate(&device, &workload).iter().any(|p| p.place == "ftl.over_provisioning");
        if !crowded || !matches!(device.isolation, Isolation::Upi(_)) {
            break;
        }
        device.ftl.over_provisioning = Ratio((ratio * 1.2 + 0.01).min(10.0));
    }
    device::pacing(seed, &mut device);
    device::errors(seed, &mut device);
    device::units(seed, &mut device, &workload);
    word_lines::word_lines(seed, &mut device, &workload);
    word_lines::two_pass(seed, &mut device);
    dies::cache_program(seed, &mut device);
    dies::plane_reads(seed, &mut device);
    dies::command_bus(seed, &mut device);
    slc_cache::slc_cache(seed, &mut device, &workload);
    separation::separation(seed, &mut device, &workload);
    word_lines::units_of_superblocks(seed, &mut device, &workload);
    device::errors_of_units(seed, &mut device);
    large_units::large_units(seed, &mut device, &workload);
    admission::admission(seed, &mut device);
    read_path::read_path(seed, &mut device);
    schedulers::schedulers(seed, &mut device);
    workload::requests(&mut draw, &device, &mut workload);
    workload::regions(seed, &device, &mut workload);
    placement::placement(seed, &mut device, &mut workload);
    warps::warps(seed, &mut device, &mut workload);
    shares::shares(seed, &mut device, &mut workload);
    zones::zones(seed, &mut device, &mut workload);
    let warmup = match draw.between(0, 7) {
        0 => Warmup::Time(draw.scale(US, MS)),
        1 => Warmup::Requests(draw.scale(1, 100)),
        _ => Warmup::None,
    };
    let seed = draw.between(0, 1000);
    let alone = draw.chance(0.1);
    let windows = alone.then(|| draw.scale(US, 10 * MS));
    let (observe, records) = observe(&mut draw);
    // Drawn apart, so that the rest is what it was before.
    let alone_basis = match Rng::stream(seed, "swarm.alone_basis", 0).below(2) {
        0 => AloneBasis::WholeDrive,
        _ => AloneBasis::SameIsolation,
    };
    let options = RunOptions {
        seed,
        alone,
        alone_basis,
        windows,
        check: true,
        threads: 1,
        warmup,
        observe,
        ..RunOptions::default()
    };
    Case { device, workload, options, records }
}

/// The observers of the run, in most cases all of them, and the store for the records of requests
/// if they are kept.
fn observe(draw: &mut Draw) -> (Observe, Option<Arc<Mutex<Records>>>) {
    let all = draw.chance(0.5);
    let mut chance = || all || draw.chance(0.3);
    let (requests, blame, series, timeline) = (chance(), chance(), chance(), chance());
    // Runs are short: small windows, of which there are soon too many.
    let window = draw.chance(0.3).then(|| draw.scale(10 * MS, 1000 * MS));
    let from = if draw.chance(0.5) { 0 } else { draw.scale(US, 10 * MS) };
    let to = if draw.chance(0.5) { u64::MAX } else { from + draw.scale(US, 10 * MS) };
    let span = TimelineOptions { from, to, slices_max: draw.scale(10, 100_000) as usize };
    let records = requests.then(|| Arc::new(Mutex::new(Records::default())));
    let sink = records.clone().map(|records| records as Arc<Mutex<dyn RequestSink>>);
    let series = series.then_some(SeriesOptions { window });
    let timeline = timeline.then_some(span);
    let energy = blame;
    let watched = Observe {
        requests: sink,
        blame,
        series,
        timeline,
        queues: blame,
        energy,
        submissions: None,
    };
    (watched, records)
}

/// Records of requests, kept.
#[derive(Debug, Default)]
pub(crate) struct Records(pub(crate) Vec<RequestBatch>);

impl RequestSink for Records {
    fn take(&mut self, records: &mut Vec<RequestRecord>) -> Result<(), Error> {
        let mut batch = RequestBatch::default();
        batch.extend(records);
        self.0.push(batch);
        Ok(())
    }
}

/// Over-provisioning: often exactly what validation asks for.
fn make_room(draw: &mut Draw, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    device.ftl.over_provisioning = Ratio(0.005);
    for _ in 0..4 {
        let layout = workload.layout(device);
        let ratio = device.ftl.over_provisioning.0;
        let worst = plane_budget(device, &layout)
            .into_iter()
            .filter(|budget| !budget.fits())
            .max_by_key(|budget| budget.logical_pages as i64 - budget.room_pages() as i64);
        let Some(worst) = worst else { break };
        let needed = worst.over_provisioning_needed(ratio).unwrap_or(10.0);
        device.ftl.over_provisioning = Ratio(needed.max(ratio + 0.0001).min(10.0));
    }
    if draw.chance(0.5) {
        let ratio = device.ftl.over_provisioning.0;
        device.ftl.over_provisioning = Ratio((ratio * 1.1 + 0.5 * draw.0.unit()).min(10.0));
    }
}
