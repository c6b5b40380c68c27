//! How a trace named on the command line is to be read.

use flashlane::Error;
use flashlane::config::units::ByteSize;
use flashlane::config::{DecreasingTimes, OutOfRange, TraceConfig};
use flashlane::workload::trace::open_reader;
use flashlane_trace::{BareColumns, SpaceUnit, TimeUnit, TraceReader, detect};

use super::trace_error;
use crate::args::ReadingArgs;

/// Opens a trace. Five bare columns are read where one of their units is named: the other is then the usual one.
pub(super) fn open(path: &str, reading: &ReadingArgs) -> Result<TraceReader, Error> {
    open_reader(&config(path, reading)?)
}

/// The arguments as the keys of `[flow.trace]`.
fn config(path: &str, reading: &ReadingArgs) -> Result<TraceConfig, Error> {
    let mut config = TraceConfig {
        path: path.into(),
        format: reading.from.clone(),
        columns: reading.columns.clone(),
        time_unit: reading.time_unit.clone(),
        size_unit: reading.size_unit.clone(),
        action: reading.action.clone(),
        time_scale: 1.0,
        queue_depth: None,
        out_of_range: OutOfRange::default(),
        offset: ByteSize(0),
        devices: reading.devices.clone(),
        device_stride: None,
        decreasing_times: match reading.delay {
            true => DecreasingTimes::Delay,
            false => DecreasingTimes::Refuse,
        },
        repeat: 1,
        limit: reading.limit,
    };
    let names_a_unit = reading.time_unit.is_some() || reading.size_unit.is_some();
    if names_a_unit
        && config.format.is_none()
        && config.columns.is_none()
        && detect(path).map_err(trace_error)?.is_none()
        && let Some(bare) = BareColumns::of(path).map_err(trace_error)?
    {
        let unit = |name: &Option<String>| name.as_deref().and_then(TimeUnit::by_name);
        let time_unit = unit(&reading.time_unit).unwrap_or(bare.usual_time_unit());
        let size_unit = reading.size_unit.as_deref().and_then(SpaceUnit::by_name);
        let format = bare.format(time_unit, size_unit.unwrap_or(SpaceUnit::Sectors));
        match format {
            // The map has the units.
            flashlane_trace::Format::Columns(map) => {
                config.columns = Some(map.to_string());
                (config.time_unit, config.size_unit) = (None, None);
            }
            other => config.format = Some(other.name().to_owned()),
        }
    }
    Ok(config)
}
