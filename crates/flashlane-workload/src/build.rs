//! Builds the source of requests of a flow from its configuration.

use flashlane_engine::Time;
use flashlane_trace::{Format, Spelling, TraceOptions, TraceReader, detect};

use super::RequestSource;
use super::clone::CloneSource;
use super::fio::FioSource;
use super::footprint::{Footprint, PageSet};
use super::mqsim::{GeneratorMode, LineSource, MqsimSource, MqsimTraceSource, TraceLine};
use super::parts::PartsSource;
use super::split::Split;
use super::synthetic::SyntheticSource;
use super::trace::{self, TraceSource};
use super::warps::WarpSource;
use crate::config::{FlowConfig, MAX_REQUEST_BYTES, MqsimAddress, MqsimFlowConfig};
use flashlane_device::compat::CompatConfig;
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES};
use flashlane_reading::Error;
use flashlane_units::ByteSize;

/// The source of a flow's requests. The configuration must be valid: exactly one of its sources.
/// Reads and writes longer than `transfer_max` are split.
///
/// # Errors
///
/// An unknown clone; a trace that cannot be opened or is refused.
pub fn build(
    flow: &FlowConfig,
    flow_index: u64,
    space: &FlowSpace,
    page_size: ByteSize,
    transfer_max: ByteSize,
    compat: &CompatConfig,
    seed: u64,
) -> Result<Box<dyn RequestSource>, Error> {
    let source = source(flow, flow_index, space, page_size, compat, seed)?;
    let is_split = flow.trace.is_some() || transfer_max.0 < MAX_REQUEST_BYTES;
    Ok(if is_split { Box::new(Split::new(source, transfer_max)) } else { source })
}

/// The source, without splitting requests at the drive's largest transfer.
fn source(
    flow: &FlowConfig,
    flow_index: u64,
    space: &FlowSpace,
    page_size: ByteSize,
    compat: &CompatConfig,
    seed: u64,
) -> Result<Box<dyn RequestSource>, Error> {
    let page_bytes = page_size.0;
    if let Some(config) = &flow.synthetic {
        if let Some(job) = &config.fio {
            return Ok(Box::new(FioSource::new(config, job, space, seed, flow_index)));
        }
        if let Some(warps) = &config.warps {
            let source = WarpSource::new(config, warps, space, page_bytes, seed, flow_index);
            return Ok(Box::new(source));
        }
        if config.has_parts() {
            return Ok(Box::new(PartsSource::new(config, space, page_bytes, seed, flow_index)));
        }
        Ok(Box::new(SyntheticSource::new(config, space, page_bytes, seed, flow_index)))
    } else if let Some(config) = &flow.clone {
        Ok(Box::new(CloneSource::new(config, space, seed, flow_index)?))
    } else if let Some(config) = &flow.trace {
        Ok(Box::new(TraceSource::open(config, space)?))
    } else {
        match &flow.mqsim {
            Some(MqsimFlowConfig::Synthetic(config)) => {
                let mode = if compat.random_generators {
                    GeneratorMode::Mqsim { device_aligned: compat.device_page_cuts }
                } else {
                    GeneratorMode::Ours { seed, flow_index }
                };
                Ok(Box::new(MqsimSource::new(config, space, mode)))
            }
            Some(MqsimFlowConfig::Trace(config)) => {
                let lines = MqsimLines::open(&config.path)?;
                Ok(Box::new(MqsimTraceSource::new(Box::new(lines), config, space)?))
            }
            None => Err(no_source(flow)),
        }
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
    page_size: ByteSize,
    seed: u64,
) -> Result<Footprint, Error> {
    let page_bytes = page_size.0;
    let sectors_per_page = page_bytes / SECTOR_BYTES;
    if let Some(config) = &flow.synthetic {
        if let Some(job) = &config.fio {
            let source = FioSource::new(config, job, space, seed, flow_index);
            return Ok(source.footprint(sectors_per_page));
        }
        if config.has_parts() {
            let source = PartsSource::new(config, space, page_bytes, seed, flow_index);
            return Ok(source.footprint());
        }
        Ok(SyntheticSource::new(config, space, page_bytes, seed, flow_index).footprint())
    } else if let Some(config) = &flow.clone {
        Ok(CloneSource::new(config, space, seed, flow_index)?.footprint(sectors_per_page))
    } else if let Some(config) = &flow.trace {
        trace::footprint(config, space, sectors_per_page)
    } else {
        mqsim_footprint(flow, space, sectors_per_page)
    }
}

/// The part of its logical space that a flow of an MQSim file touches.
fn mqsim_footprint(
    flow: &FlowConfig,
    space: &FlowSpace,
    sectors_per_page: u64,
) -> Result<Footprint, Error> {
    match &flow.mqsim {
        Some(MqsimFlowConfig::Synthetic(config)) => {
            let share = u64::from(config.working_set_percent.min(100));
            let sectors = (space.sectors * share / 100).max(1);
            let hot = u64::from(config.hot_region_percent);
            Ok(match config.address {
                MqsimAddress::Streaming => Footprint::Streaming { sectors },
                MqsimAddress::Uniform => Footprint::Prefix { sectors },
                MqsimAddress::HotCold => Footprint::HotCold {
                    hot_sectors: sectors * hot / 100,
                    total_sectors: sectors,
                    hot_traffic: 1.0 - hot as f64 / 100.0,
                },
            })
        }
        Some(MqsimFlowConfig::Trace(config)) => {
            let lines = MqsimLines::open(&config.path)?;
            let mut source = MqsimTraceSource::new(Box::new(lines), config, space)?;
            let mut pages = PageSet::new(space.pages);
            while let Some(planned) = source.next(Time::ZERO)? {
                let last = planned.sector + u64::from(planned.sectors.max(1)) - 1;
                pages.insert_range(planned.sector / sectors_per_page, last / sectors_per_page);
            }
            Ok(Footprint::Pages(pages))
        }
        // A tenant whose requests come from outside may touch any page.
        None => Ok(Footprint::Whole),
    }
}

/// The lines of a trace file as MQSim reads them: the first time is not moved to zero. An MSR
/// Cambridge file is also read; its times start at zero.
struct MqsimLines {
    reader: TraceReader,
}

impl MqsimLines {
    fn open(path: &std::path::Path) -> Result<Self, Error> {
        // An MSR Cambridge file describes itself; its clock counts from 1601.
        let is_msr = detect(path).map_err(trace_error)? == Some(Format::Msr);
        let format = if is_msr { Format::Msr } else { Format::Mqsim };
        let options = TraceOptions {
            format: Some(format),
            rebase: is_msr,
            spelling: Spelling::Elsewhere,
            ..TraceOptions::default()
        };
        let reader = TraceReader::open(path, &options).map_err(trace_error)?;
        Ok(Self { reader })
    }
}

fn trace_error(error: flashlane_trace::TraceError) -> Error {
    Error::Trace(error.to_string())
}

impl LineSource for MqsimLines {
    fn next(&mut self) -> Result<Option<TraceLine>, Error> {
        let record = self.reader.next().map_err(trace_error)?;
        Ok(record.map(|record| TraceLine {
            time_ns: record.time_ps / 1_000,
            lba: record.offset_bytes / SECTOR_BYTES,
            sectors: (record.length_bytes / SECTOR_BYTES).min(u64::from(u32::MAX)) as u32,
            write: record.op == flashlane_trace::Op::Write,
        }))
    }

    fn rewind(&mut self) -> Result<(), Error> {
        self.reader.rewind().map_err(trace_error)
    }
}

fn no_source(flow: &FlowConfig) -> Error {
    let message = "a flow needs one of synthetic, trace, clone and mqsim";
    Error::config(format!("flow {:?}", flow.name), message)
}

#[cfg(test)]
mod tests {
    use flashlane_engine::Time;

    use super::*;
    use flashlane_device::config::{DeviceConfig, TenantShape};
    use flashlane_device::layout::Layout;

    fn device() -> DeviceConfig {
        let text = "name = 'small'\n[flash]\ntechnology = 'slc'\nchannels = 1\n\
            chips_per_channel = 1\ndies_per_chip = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
            pages_per_block = 64\npage_size = '8KiB'\nchannel_rate = '333MT/s'\n\
            read_time = ['75us']\nprogram_time = ['1ms']\nerase_time = '4ms'";
        toml::from_str(text).expect("a valid device")
    }

    fn first(source: &str) -> Result<bool, Error> {
        let text = format!("name = 'a'\n{source}");
        let flow: &FlowConfig = &toml::from_str(&text).expect("a valid flow");
        let device = device();
        let space = &Layout::divide(
            &device,
            &[TenantShape { lists: [None; 4], handle: flashlane_units::Handle::default() }],
        )
        .flows[0];
        let page_size = device.flash.page_size;
        let most = device.interface.max_transfer;
        let mut built = build(flow, 0, space, page_size, most, &device.compat, 1)?;
        footprint_of(flow, 0, space, page_size, 1)?;
        Ok(built.next(Time::ZERO)?.is_some())
    }

    #[test]
    fn each_kind_of_flow_gets_its_source() {
        assert!(first("synthetic = { iops = 5.0 }").expect("a synthetic flow"));
        assert!(first("synthetic = { warps = { count = 5 } }").expect("warps"));
        assert!(first("synthetic = { iops = 5.0, cache_engine = {} }").expect("a cache engine"));
        assert!(first("clone = { of = 'tpcc' }").expect("a clone"));
        let missing = first("trace = { path = 'none.trace', format = 'msr' }");
        assert!(matches!(missing, Err(Error::Trace(_))));
        let unknown = first("clone = { of = 'tpcx' }").expect_err("an unknown clone");
        assert!(unknown.to_string().contains("did you mean"), "{unknown}");
        assert!(first("").is_err());
    }
}
