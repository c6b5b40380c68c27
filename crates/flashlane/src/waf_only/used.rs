//! A drive that was used: the state at the start of runs in which hosts place their data.
//!
//! Where data lies depends on the handle that wrote it, so no closed form gives the steady state.
//! The drive is used without time instead: every flow writes its pages in order, and then the
//! flows' own requests go on until they have written the held pages [`ROUNDS`] times more.

use flashlane_device::cache::Cache;
use flashlane_device::ftl::FtlState;
use flashlane_device::ftl::untimed::{HostPage, Untimed};
use flashlane_device::layout::FlowSpace;
use flashlane_device::request::Directive;
use flashlane_reading::Error;
use flashlane_units::{FlowId, Lpa, Ratio};
use flashlane_workload::RequestOp;

use super::{Scenario, WafRun, ZonedRun, new_drive};
use flashlane_config::{DeviceConfig, FlowConfig, OnEnd, Pacing, SyntheticConfig, WorkloadConfig};
use flashlane_device::config::default_scheduler;

/// Times that the flows overwrite what they hold, all together.
const ROUNDS: f64 = 2.0;
/// Most requests for each page to be written: the flows may write seldom or never.
const REQUESTS_PER_PAGE: u64 = 4;
/// Distance from the seed of the run to that of its past.
const PAST: u64 = 1 << 40;

/// The state of a drive after such use. `empty`: a new drive. `progress` gets the share that is
/// done.
///
/// # Errors
///
/// A drive that cannot take what its flows hold; a flow whose source cannot be read.
pub(crate) fn used(
    scenario: Scenario<'_>,
    empty: FtlState,
    progress: &dyn Fn(f64),
) -> Result<FtlState, Error> {
    let plain = without_timing(scenario.device);
    let scenario = Scenario { device: &plain, ..scenario };
    let Scenario { device, workload, layout, .. } = scenario;
    let held = |(flow, space): (&FlowConfig, &FlowSpace)| {
        // Zones are empty unless their flow says otherwise.
        let usual = match layout.zones {
            None => device.ftl.precondition.occupancy,
            Some(_) => Ratio(0.0),
        };
        let share = flow.occupancy.unwrap_or(usual).0;
        ((space.pages as f64 * share) as u64).min(space.pages)
    };
    let mut held: Vec<u64> = workload.flows.iter().zip(&layout.flows).map(held).collect();
    if let Some(zone) = layout.zones {
        // A zone is full or empty.
        held.iter_mut().for_each(|pages| *pages -= *pages % u64::from(zone.pages));
    }
    let mut drive = drive_over(scenario, empty);
    for (flow, &pages) in held.iter().enumerate() {
        fill(&mut drive, scenario, flow, pages)?;
        progress((flow + 1) as f64 / held.len() as f64 / (1.0 + ROUNDS));
    }
    let state = drive.into_state()?;
    if layout.zones.is_some() || !workload.flows.iter().all(FlowConfig::has_source) {
        // Zones are written in order, however often; and the requests of some tenants come from
        // outside.
        return Ok(state);
    }
    let left = (held.iter().sum::<u64>() as f64 * ROUNDS) as u64;
    overwrite(scenario, state, left, &|done| progress((1.0 + ROUNDS * done) / (1.0 + ROUNDS)))
}

/// The drive without what is a matter of time. It decides when data moves and hardly where it lies.
fn without_timing(device: &DeviceConfig) -> DeviceConfig {
    let mut plain = device.clone();
    plain.scheduler = default_scheduler();
    let gc = &mut plain.ftl.gc;
    (gc.max_concurrent_per_plane, gc.idle_after, gc.pacing) = (1, None, Pacing::default());
    plain.ftl.read_scrubbing.limit = 0;
    plain.errors = None;
    plain.placement.unit_time = None;
    plain
}

/// The drive over a state, with an empty cache of the flows.
fn drive_over(scenario: Scenario<'_>, state: FtlState) -> Untimed {
    let Scenario { device, workload, layout, .. } = scenario;
    let cache = Cache::new(&device.cache, &device.compat, &workload.cache_modes(), layout.geometry);
    new_drive(scenario, state, cache)
}

/// Writes the first pages of a flow in order, each by the handle of its part.
fn fill(
    drive: &mut Untimed,
    Scenario { workload, layout, .. }: Scenario<'_>,
    flow: usize,
    pages: u64,
) -> Result<(), Error> {
    let space = &layout.flows[flow];
    let given = workload.flows[flow].synthetic.as_ref().map(SyntheticConfig::request_parts);
    let parts: Vec<(f64, f64, u16)> = given
        .iter()
        .flat_map(|parts| parts.iter())
        .filter_map(|part| part.placement.map(|id| (part.start.0, part.end.0, id)))
        .collect();
    let whole = layout.geometry.grain().covering(0, layout.geometry.sectors_per_page);
    for page in 0..pages {
        let at = page as f64 / space.pages.max(1) as f64;
        let part = parts.iter().find(|(start, end, _)| (*start..*end).contains(&at));
        let directive = match layout.zones {
            None => Directive::named(part.map(|&(_, _, id)| id)),
            Some(zone) => ZonedRun::handle_at_start(zone, page),
        };
        let (flow, lpa) = (FlowId::at(flow), Lpa::new((space.first_lpa + page) as u32));
        drive.write_seldom(&HostPage { flow, lpa, mask: whole, at: 0, directive })?;
    }
    drive.flush(FlowId::at(flow), 0)?;
    Ok(())
}

/// Lets the flows make their own requests until they have written `left` pages.
fn overwrite(
    scenario: Scenario<'_>,
    state: FtlState,
    left: u64,
    progress: &dyn Fn(f64),
) -> Result<FtlState, Error> {
    let past = endless(scenario.workload);
    let most = left.saturating_mul(REQUESTS_PER_PAGE);
    let drive = drive_over(scenario, state);
    let seed = scenario.seed.wrapping_add(PAST);
    let mut run = WafRun::new(Scenario { workload: &past, seed, ..scenario }, drive)?;
    run.drive.start();
    let mut written = 0;
    while written < left && run.generated < most {
        let Some((flow, planned)) = run.flows.next()? else { break };
        if planned.op == RequestOp::Write {
            let sectors = u64::from(planned.sectors);
            written += sectors.div_ceil(run.sectors_per_page);
        }
        run.generated += 1;
        run.serve(flow, &planned)?;
        if run.generated.is_multiple_of(super::PROGRESS_INTERVAL) {
            progress(written as f64 / left as f64);
        }
    }
    for flow in (0..past.flows.len()).map(FlowId::at) {
        run.drive.flush(flow, run.flows.now)?;
    }
    run.drive.into_state()
}

/// The workload without ends of passes: flows start over for as long as the drive is used.
fn endless(workload: &WorkloadConfig) -> WorkloadConfig {
    let mut past = workload.clone();
    for flow in &mut past.flows {
        flow.on_end = Some(OnEnd::Repeat);
        flow.starts_after = None;
        if let Some(synthetic) = &mut flow.synthetic
            && synthetic.fio.is_none()
        {
            (synthetic.requests, synthetic.duration) = (None, None);
            synthetic.fill_first = false;
            synthetic.parts.iter_mut().for_each(|part| part.fill_first = false);
            synthetic.cache_engine.iter_mut().for_each(|engine| engine.fill_first = false);
        }
    }
    past
}
