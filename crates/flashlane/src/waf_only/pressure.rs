//! How far collection falls behind the host, estimated from the load before the run.
//!
//! With most schedulers collection is background work: it runs where no request waits for the die, until a
//! plane has fewer free blocks than the hard threshold. A plane whose collection keeps up holds the threshold
//! of free blocks, others the hard threshold, and fewer free blocks mean more room for data and a smaller
//! amplification. So the estimate is of the time that the host leaves to collection: each request waits for
//! what the die does, for half of an operation of collection and for the requests before it (as in a closed
//! queueing network of equal dies), and what is left of the die's time moves pages.

use crate::config::{CacheMode, DeviceConfig, Sharing, WorkloadConfig};
use crate::error::Error;
use crate::layout::Layout;
use crate::workload::{self, RequestOp};

/// Requests of each flow that the estimate is made from.
const SAMPLE: u64 = 4096;
/// Steps of the fixed point.
const STEPS: u32 = 64;

/// Moves for each host page of a plane whose collection keeps up.
pub(crate) const KEEPS_UP: u32 = u32::MAX;

/// What the requests of a die ask for.
#[derive(Clone, Copy, Debug, Default)]
struct DieLoad {
    /// Open loops: reads and programs. Unit: pages per picosecond.
    open: [f64; 2],
    /// Closed loops: reads and programs outstanding. Unit: pages.
    closed: [f64; 2],
}

/// Times of a die. Unit: picoseconds.
struct Times {
    read: f64,
    program: f64,
    /// Collection: of a moved page, with its part of the erase.
    moved: f64,
    /// What a request waits for collection, where that always has work to do.
    residual: f64,
}

impl Times {
    fn new(device: &DeviceConfig) -> Self {
        let flash = &device.flash;
        let mean = |times: &[crate::config::units::Span]| {
            times.iter().map(|time| time.0 as f64).sum::<f64>() / times.len() as f64
        };
        let bytes_per_s = (flash.channel_rate.0 * flash.channel_width.0) as f64;
        let transfer = flash.page_size.0 as f64 / bytes_per_s * 1e12;
        let (read, program) = (mean(&flash.read_time), mean(&flash.program_time));
        let erases = 1.0 / f64::from(flash.pages_per_block);
        let erase = flash.erase_time.0 as f64;
        let over_channel = if device.ftl.gc.copyback { 0.0 } else { transfer };
        let (from, to) = (read + over_channel, program + over_channel);
        let moved = from + to + erases * erase;
        let squares = from * from + to * to + erases * erase * erase;
        Self {
            read: read + transfer,
            program: program + transfer,
            moved,
            residual: squares / (2.0 * moved),
        }
    }
}

/// Pages that collection moves in the background for each host page, by plane; [`KEEPS_UP`] for as many as
/// it takes. Unit: pages / 65536.
pub(crate) fn paces(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    layout: &Layout,
    seed: u64,
) -> Result<Vec<u32>, Error> {
    let geometry = layout.geometry;
    let planes = geometry.planes() as usize;
    let in_order = matches!(device.scheduler.name(), "fcfs" | "read-priority" | "flin");
    if in_order || !device.ftl.gc.preemptible {
        return Ok(vec![KEEPS_UP; planes]);
    }
    let mut dies = vec![DieLoad::default(); geometry.dies() as usize];
    for flow in 0..workload.flows.len() {
        add_flow(device, workload, layout, flow, seed, &mut dies)?;
    }
    let times = Times::new(device);
    let paces: Vec<u32> = dies.iter().map(|load| pace(load, &times)).collect();
    let of_plane = |plane: usize| paces[plane / geometry.planes_per_die as usize];
    Ok((0..planes).map(of_plane).collect())
}

/// Adds the load of a flow to its dies.
fn add_flow(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    layout: &Layout,
    flow: usize,
    seed: u64,
    dies: &mut [DieLoad],
) -> Result<(), Error> {
    let (config, space) = (&workload.flows[flow], &layout.flows[flow]);
    let mut source = workload::build(config, flow as u64, space, device, seed)?;
    let sectors = u64::from(layout.geometry.sectors_per_page);
    let (mut pages, mut requests, mut span) = ([0_u64; 2], 0_u64, 0);
    let mut now = flashlane_engine::Time::ZERO;
    while requests < SAMPLE
        && let Some(planned) = source.next(now)?
    {
        requests += 1;
        now = planned.arrival.max(now);
        span = now.0;
        let kind = match planned.op {
            RequestOp::Read => 0,
            RequestOp::Write => 1,
            RequestOp::Trim | RequestOp::Flush => continue,
        };
        let end = planned.sector + u64::from(planned.sectors);
        pages[kind] += end.div_ceil(sectors) - planned.sector / sectors;
    }
    if requests == 0 {
        return Ok(());
    }
    let planes: Vec<u32> = space.planes(layout.geometry).collect();
    let share = 1.0 / planes.len() as f64;
    let mut load = DieLoad::default();
    match source.closed_loop() {
        None => load.open = pages.map(|pages| pages as f64 / span.max(1) as f64 * share),
        Some(depth) => {
            let outstanding = f64::from(depth) / requests as f64;
            load.closed = pages.map(|pages| pages as f64 * outstanding * share);
            let cached = matches!(config.cache, CacheMode::Write | CacheMode::WriteRead);
            if cached && device.cache.capacity.0 > 0 && pages[1] > 0 {
                // As many write-backs as may be under way, whatever the depth.
                let flows = match device.cache.sharing {
                    Sharing::Shared => workload.flows.len() as f64,
                    Sharing::EqualPartitioning => 1.0,
                };
                load.closed[1] = f64::from(device.cache.write_back_pages_per_plane) / flows;
            }
        }
    }
    for plane in planes {
        let die = &mut dies[(plane / layout.geometry.planes_per_die) as usize];
        for kind in 0..2 {
            die.open[kind] += load.open[kind];
            die.closed[kind] += load.closed[kind];
        }
    }
    Ok(())
}

/// The moves of a die for each host page.
fn pace(load: &DieLoad, times: &Times) -> u32 {
    let busy_open = load.open[0] * times.read + load.open[1] * times.program;
    let outstanding = load.closed[0] + load.closed[1];
    let mean = if outstanding > 0.0 {
        (load.closed[0] * times.read + load.closed[1] * times.program) / outstanding
    } else {
        0.0
    };
    let mut rate = 0.0;
    if outstanding > 0.0 {
        for _ in 0..STEPS {
            let left = (1.0 - busy_open - rate * mean).max(0.0);
            let response = mean * (1.0 + outstanding) + times.residual * left;
            rate = 0.5 * (rate + outstanding / response);
        }
    }
    let left = 1.0 - busy_open - rate * mean;
    let writes =
        load.open[1] + if outstanding > 0.0 { rate * load.closed[1] / outstanding } else { 0.0 };
    if left <= 0.0 {
        return 0;
    }
    // A float too large saturates.
    (left / (writes * times.moved) * 65_536.0) as u32
}
