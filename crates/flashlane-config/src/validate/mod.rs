//! The second step of reading a configuration: every rule, and all problems at once.
//!
//! A problem's place is the key path; [`Loaded`] knows the file and line.

mod budget;
mod cache;
mod cache_engine;
mod device;
mod errors;
mod fio;
mod flow;
mod horizon;
mod isolation;
mod limits;
mod media;
mod mqsim;
mod one_stream;
mod pacing;
mod parts;
mod placement;
mod separation;
mod slc_cache;
mod superblocks;
mod units;
mod warps;
mod word_lines;
mod workload;
mod zbd;
mod zones;

use std::ops::RangeInclusive;

use flashlane_engine::Time;

pub use budget::{plane_budget, shortage};
pub(crate) use fio::PLACEMENT_IDS_MAX;
pub use flashlane_device::flash::config::{
    BLOCKS_PER_PLANE, CHANNELS, DIES_PER_CHIP, MAX_PAGES, PAGE_BYTES, PAGES_PER_BLOCK,
    PLANES_PER_DIE,
};
pub use flashlane_device::ftl::budget::{PlaneBudget, gc_reserve};
pub use flashlane_device::ftl::config::OVER_PROVISIONING;
pub use flashlane_device::ftl::placement::HANDLES;
pub use flashlane_workload::clone::validate_clone;
pub use flashlane_workload::config::MAX_REQUEST_BYTES;

use super::load::Loaded;
use super::{DeviceConfig, Technology, WorkloadConfig};
use flashlane_reading::Rules;
use flashlane_reading::{Error, Problem};

/// Number of flows of a workload.
pub const FLOWS: RangeInclusive<usize> = 1..=1024;
/// Number of entries of a queue pair.
pub const QUEUE_DEPTH: RangeInclusive<u32> = 2..=65_536;
/// Outstanding requests of a closed loop.
pub const OUTSTANDING: RangeInclusive<u32> = 1..=65_535;
/// Outstanding requests of all open loops together.
pub const OUTSTANDING_ALL: RangeInclusive<u64> = 1..=1 << 24;
/// Load of an open loop. Unit: bytes per second.
pub const LOAD_BANDWIDTH: RangeInclusive<u64> = 1..=1_000_000_000_000;
/// Rate of a link lane. Unit: bytes per second.
pub const BANDWIDTH: RangeInclusive<u64> = 1_000..=1_000_000_000_000;
/// Time of a flash operation: 1 ns to 10 s. Unit: picoseconds.
pub const OPERATION_PS: RangeInclusive<u64> = 1_000..=10_000_000_000_000;
/// Longest of all other times: 100 days. Unit: picoseconds.
pub const MAX_SPAN_PS: u64 = 8_640_000_000_000_000_000;
/// An hour. Unit: picoseconds.
const HOUR_PS: u64 = 3600 * 1_000_000_000_000;

/// Every problem of a device by itself.
#[must_use]
pub fn validate_device(device: &DeviceConfig) -> Vec<Problem> {
    let mut rules = Rules::default();
    device::check(&mut rules, device);
    if rules.problems.is_empty() && device.flash.technology != Technology::InPlace {
        // The device must have room for a single flow that owns all of it.
        let alone = WorkloadConfig::whole_device();
        superblocks::check_sets(&mut rules, device, &alone);
        if rules.problems.is_empty() {
            placement::check_groups(&mut rules, device, &alone);
            zones::check_sizes(&mut rules, device, &alone);
        }
        if rules.problems.is_empty() {
            budget::check(&mut rules, device, &alone);
        }
    }
    rules.problems
}

/// Every problem of a workload that does not depend on a device.
#[must_use]
pub fn validate_workload(workload: &WorkloadConfig) -> Vec<Problem> {
    let mut rules = Rules::default();
    workload::check(&mut rules, workload);
    rules.problems
}

/// Every problem of a device and a workload, and of the two together.
#[must_use]
pub fn validate(device: &DeviceConfig, workload: &WorkloadConfig) -> Vec<Problem> {
    let mut rules = Rules::default();
    device::check(&mut rules, device);
    workload::check(&mut rules, workload);
    check_together(rules, device, workload)
}

/// Every problem of a device and of tenants whose requests come from outside. Such flows need no
/// source.
#[must_use]
pub fn validate_tenants(device: &DeviceConfig, workload: &WorkloadConfig) -> Vec<Problem> {
    let mut rules = Rules::default();
    device::check(&mut rules, device);
    workload::check_tenants(&mut rules, workload);
    check_together(rules, device, workload)
}

/// Every problem of the combination, in addition to those of device and workload.
fn check_together(
    mut rules: Rules,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Vec<Problem> {
    workload::check_lists(&mut rules, &device.flash, workload);
    flow::check_cache(&mut rules, &device.cache, workload);
    warps::check_queues(&mut rules, device, workload);
    placement::check_flows(&mut rules, device, workload);
    zones::check_flows(&mut rules, device, workload);
    limits::check_pair(&mut rules, device, workload);
    if rules.problems.is_empty() {
        isolation::check_sets(&mut rules, device, workload);
    }
    if rules.problems.is_empty() {
        superblocks::check_sets(&mut rules, device, workload);
    }
    if rules.problems.is_empty() {
        placement::check_groups(&mut rules, device, workload);
        zones::check_sizes(&mut rules, device, workload);
    }
    if rules.problems.is_empty() && device.flash.technology != Technology::InPlace {
        budget::check(&mut rules, device, workload);
    }
    if rules.problems.is_empty() {
        flow::check_spaces(&mut rules, device, workload);
    }
    rules.problems
}

/// Warnings about a valid pair that is slower than one might expect, or may not end. For people,
/// one line each.
#[must_use]
pub fn warnings(device: &DeviceConfig, workload: &WorkloadConfig) -> Vec<String> {
    let small = flow::small_cache(device, workload);
    let without_zones = zbd::without_zones(device, workload);
    let full = budget::may_fill_warning(device, workload);
    small.into_iter().chain(full).chain(without_zones).collect()
}

/// [`validate`] with file and line in every place.
///
/// # Errors
/// [`Error::Config`] with all problems.
pub fn check_pair(
    device: &Loaded<DeviceConfig>,
    workload: &Loaded<WorkloadConfig>,
) -> Result<(), Error> {
    let problems = validate(&device.config, &workload.config);
    let of_workload = |key: &str| key.starts_with("flow") || key.starts_with("window");
    located(problems, |key| {
        if of_workload(key) { workload.places.locate(key) } else { device.places.locate(key) }
    })
}

/// [`validate_device`] with file and line in every place.
///
/// # Errors
/// [`Error::Config`] with all problems.
pub fn check_device(device: &Loaded<DeviceConfig>) -> Result<(), Error> {
    located(validate_device(&device.config), |key| device.places.locate(key))
}

/// [`validate_workload`] with file and line in every place.
///
/// # Errors
/// [`Error::Config`] with all problems.
pub fn check_workload(workload: &Loaded<WorkloadConfig>) -> Result<(), Error> {
    located(validate_workload(&workload.config), |key| workload.places.locate(key))
}

/// Opens the traces of a valid pair. This reads them to the end if addresses beyond the space are
/// refused.
///
/// # Errors
///
/// [`Error::Trace`] for a trace that cannot be replayed.
pub fn check_traces(device: &DeviceConfig, workload: &WorkloadConfig) -> Result<(), Error> {
    let layout = workload.layout(device);
    for (index, (flow, space)) in (0..).zip(workload.flows.iter().zip(&layout.flows)) {
        if flow.trace.is_some() {
            flashlane_workload::build(
                flow,
                index,
                space,
                device.unit(),
                device.interface.max_transfer,
                &device.compat,
                0,
            )?
            .next(Time::ZERO)?;
        }
    }
    Ok(())
}

fn located(mut problems: Vec<Problem>, locate: impl Fn(&str) -> String) -> Result<(), Error> {
    for problem in &mut problems {
        problem.place = locate(&problem.place);
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Config(problems)) }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
