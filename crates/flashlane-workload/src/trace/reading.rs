//! Reading of a trace that a user only wants to look at.

use flashlane_trace::{BareColumns, Format, SpaceUnit, TimeUnit, detect};

use super::trace_error;
use crate::config::TraceConfig;
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
