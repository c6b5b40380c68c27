//! Passes over a trace before the run.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use flashlane_trace::{Record, TraceReader};

use super::place::{Placed, Placer};
use super::{open_reader, trace_error};
use crate::config::{OutOfRange, TraceConfig};
use crate::footprint::{Footprint, PageSet};
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES};
use flashlane_reading::Error;

/// The placement rule of a trace. Reads the file only if the rule needs it: to number the devices,
/// and to refuse addresses before the run starts.
pub(super) fn placer(config: &TraceConfig, space: &FlowSpace) -> Result<Placer, Error> {
    let mut devices = BTreeSet::new();
    if config.device_stride.is_some() {
        each(config, |record, _| {
            devices.insert(record.device);
            Ok(())
        })?;
    }
    let placer = Placer::new(config, space, &devices);
    if config.out_of_range == OutOfRange::Refuse {
        each(config, |record, reader| match placer.place(record) {
            Placed::Refused { first, last } => Err(refusal(reader, space, first..=last)),
            _ => Ok(()),
        })?;
    }
    Ok(placer)
}

/// The pages that a trace touches: one pass over the file.
///
/// # Errors
/// Those of reading the trace.
pub fn footprint(
    config: &TraceConfig,
    space: &FlowSpace,
    sectors_per_page: u64,
) -> Result<Footprint, Error> {
    assert!(sectors_per_page > 0, "pages have sectors");
    let placer = placer(config, space)?;
    let pages = space.sectors.div_ceil(sectors_per_page);
    let mut set = PageSet::new(pages);
    each(config, |record, _| {
        match placer.place(record) {
            Placed::At { sector, sectors, .. } if sectors > 0 => {
                let last = sector + sectors - 1;
                set.insert_range(sector / sectors_per_page, last / sectors_per_page);
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(if set.count() == pages { Footprint::Whole } else { Footprint::Pages(set) })
}

fn each(
    config: &TraceConfig,
    mut visit: impl FnMut(&Record, &TraceReader) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = open_reader(config)?;
    while let Some(record) = reader.next().map_err(trace_error)? {
        visit(&record, &reader)?;
    }
    Ok(())
}

fn refusal(reader: &TraceReader, space: &FlowSpace, bytes: RangeInclusive<u128>) -> Error {
    let (first, last) = (bytes.start(), bytes.end());
    Error::Trace(format!(
        "{}: line {}: the request for bytes {first}..={last} exceeds the flow's logical space of {} \
         bytes; allowed: requests inside it, or out_of_range = \"wrap\" or \"clip\"",
        reader.path().display(),
        reader.line(),
        space.sectors * SECTOR_BYTES,
    ))
}
