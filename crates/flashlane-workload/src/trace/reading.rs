//! How the file of a trace is read: as its configuration says, or in the usual units.

use flashlane_trace::{
    Action, BareColumns, Format, OnDecreasing, SpaceUnit, TimeUnit, TraceOptions, detect,
};

use super::trace_error;
use crate::config::{DecreasingTimes, TraceConfig};
use flashlane_reading::Error;

/// Decides how five bare columns are read, if the user named a unit and no format: the other unit
/// is then the usual one. Other files are left unchanged.
///
/// # Errors
///
/// A file that cannot be read.
pub fn with_usual_units(mut config: TraceConfig) -> Result<TraceConfig, Error> {
    let names_a_unit = config.time_unit.is_some() || config.size_unit.is_some();
    let told = config.format.is_some() || config.columns.is_some();
    if !names_a_unit || told || detect(&config.path).map_err(trace_error)?.is_some() {
        return Ok(config);
    }
    let Some(bare) = BareColumns::of(&config.path).map_err(trace_error)? else {
        return Ok(config);
    };
    let time_unit = config.time_unit.as_deref().and_then(TimeUnit::by_name);
    let size_unit = config.size_unit.as_deref().and_then(SpaceUnit::by_name);
    let time_unit = time_unit.unwrap_or(bare.usual_time_unit());
    match bare.format(time_unit, size_unit.unwrap_or(SpaceUnit::Sectors)) {
        // The column map has the units.
        Format::Columns(map) => {
            config.columns = Some(map.to_string());
            (config.time_unit, config.size_unit) = (None, None);
        }
        other => config.format = Some(other.name().to_owned()),
    }
    Ok(config)
}

/// Options of the reader.
///
/// # Errors
///
/// A format, a unit or an event that does not exist; a column map that cannot be understood.
pub fn reader_options(config: &TraceConfig) -> Result<TraceOptions, Error> {
    let format = match (config.format.as_deref(), config.columns.as_deref()) {
        (None | Some("columns"), Some(map)) => {
            Some(Format::Columns(map.parse().map_err(trace_error)?))
        }
        (Some("columns"), None) => {
            let message = "format \"columns\" needs a column map in `columns`";
            return Err(Error::config("trace.columns", message));
        }
        (Some(name), Some(_)) => {
            let message = format!("a column map needs format \"columns\", not {name:?}");
            return Err(Error::config("trace.columns", message));
        }
        (Some(name), None) => Some(Format::by_name(name).map_err(trace_error)?),
        (None, None) => None,
    };
    let action = named("action", config.action.as_deref(), Action::by_letter, "Q, D, C")?;
    Ok(TraceOptions {
        format,
        time_unit: named(
            "time_unit",
            config.time_unit.as_deref(),
            TimeUnit::by_name,
            "s, ms, us, ns, ps",
        )?,
        size_unit: named(
            "size_unit",
            config.size_unit.as_deref(),
            SpaceUnit::by_name,
            "B, KiB, sector, 4KiB",
        )?,
        action: action.unwrap_or_default(),
        limit: config.limit,
        devices: config.devices.clone(),
        spelling: config.spelling,
        on_decreasing: match config.decreasing_times {
            DecreasingTimes::Refuse => OnDecreasing::Error,
            DecreasingTimes::Delay => OnDecreasing::Clamp,
        },
        ..TraceOptions::default()
    })
}

/// The value that a key names, if the key is there.
fn named<T>(
    key: &str,
    name: Option<&str>,
    by_name: fn(&str) -> Option<T>,
    allowed: &str,
) -> Result<Option<T>, Error> {
    let Some(name) = name else { return Ok(None) };
    let found = by_name(name).ok_or_else(|| {
        let message = format!("{name:?} is unknown; allowed: {allowed}");
        Error::config(format!("trace.{key}"), message)
    })?;
    Ok(Some(found))
}
