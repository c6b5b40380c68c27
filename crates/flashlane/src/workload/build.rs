//! From the configuration of a flow to its source of requests.

use super::RequestSource;
use super::clone::CloneSource;
use super::footprint::Footprint;
use super::synthetic::SyntheticSource;
use super::trace::{self, TraceSource};
use crate::config::{DeviceConfig, FlowConfig};
use crate::error::Error;
use crate::layout::{FlowSpace, SECTOR_BYTES};

/// The source of a flow's requests. The configuration must be valid: exactly one of its sources.
///
/// # Errors
/// An unknown clone; a trace that cannot be opened or is refused.
pub fn build(
    flow: &FlowConfig,
    flow_index: u64,
    space: &FlowSpace,
    device: &DeviceConfig,
    seed: u64,
) -> Result<Box<dyn RequestSource>, Error> {
    let page_bytes = device.flash.page_size.0;
    if let Some(config) = &flow.synthetic {
        Ok(Box::new(SyntheticSource::new(config, space, page_bytes, seed, flow_index)))
    } else if let Some(config) = &flow.clone {
        Ok(Box::new(CloneSource::new(config, space, seed, flow_index)?))
    } else if let Some(config) = &flow.trace {
        Ok(Box::new(TraceSource::open(config, space)?))
    } else {
        Err(no_source(flow))
    }
}

/// The part of its logical space that a flow touches.
///
/// # Errors
/// An unknown clone; a trace that cannot be read.
pub fn footprint_of(
    flow: &FlowConfig,
    flow_index: u64,
    space: &FlowSpace,
    device: &DeviceConfig,
    seed: u64,
) -> Result<Footprint, Error> {
    let page_bytes = device.flash.page_size.0;
    let sectors_per_page = page_bytes / SECTOR_BYTES;
    if let Some(config) = &flow.synthetic {
        Ok(SyntheticSource::new(config, space, page_bytes, seed, flow_index).footprint())
    } else if let Some(config) = &flow.clone {
        Ok(CloneSource::new(config, space, seed, flow_index)?.footprint(sectors_per_page))
    } else if let Some(config) = &flow.trace {
        trace::footprint(config, space, sectors_per_page)
    } else {
        Err(no_source(flow))
    }
}

fn no_source(flow: &FlowConfig) -> Error {
    let message = if flow.mqsim.is_some() {
        "flows of MQSim files are not available in this build"
    } else {
        "a flow needs one of synthetic, trace, clone and mqsim"
    };
    Error::config(format!("flow {:?}", flow.name), message)
}
