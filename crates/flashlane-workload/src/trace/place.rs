//! Places of the records of a trace in the flow's logical space.

use std::collections::BTreeSet;

use flashlane_trace::{Op, Record};

use crate::config::MAX_TRACED_BYTES;
use crate::config::{OutOfRange, TraceConfig};
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES};

/// The rule that maps addresses of the trace to sectors of the flow.
#[derive(Clone, Debug)]
pub(super) struct Placer {
    space_sectors: u64,
    out_of_range: OutOfRange,
    offset_bytes: u64,
    /// Distance between the address spaces of successive devices. Unit: bytes.
    stride_bytes: u64,
    /// The devices in rising order; empty where they share one address space.
    devices: Vec<u32>,
    /// Placement identifiers of the drive; 0 where they have no effect.
    identifiers: u32,
}

/// Result of placing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// A range of the flow. Unit: sectors.
    At { sector: u64, sectors: u64, wrapped: bool },
    /// Beyond the space; such records are to be dropped.
    Dropped,
    /// Longer than any request may be.
    TooLong,
    /// A write with a placement identifier that the drive does not have.
    NoHandle { id: u8 },
    /// Beyond the space; such traces are to be refused. First and last byte.
    Refused { first: u128, last: u128 },
}

impl Placer {
    /// The rule of a configuration. `devices`: in rising order, only used with a stride.
    pub(super) fn new(config: &TraceConfig, space: &FlowSpace, devices: &BTreeSet<u32>) -> Self {
        let space_sectors = space.sectors;
        assert!(space_sectors > 0, "a flow needs space");
        let stride_bytes = config.device_stride.map_or(0, |stride| stride.0);
        Self {
            space_sectors,
            out_of_range: config.out_of_range,
            offset_bytes: config.offset.0,
            stride_bytes,
            devices: if stride_bytes == 0 { Vec::new() } else { devices.iter().copied().collect() },
            identifiers: space.identifiers,
        }
    }

    /// Places a record. Flushes have no address. All others are widened to whole sectors and cut to
    /// the size of the space. Requests of more than 4 GiB have no place, nor have writes whose
    /// placement identifier the drive does not have.
    pub(super) fn place(&self, record: &Record) -> Placed {
        if record.op == Op::Flush {
            return Placed::At { sector: 0, sectors: 0, wrapped: false };
        }
        if let Some(id) = record.placement
            && record.op == Op::Write
            && self.identifiers > 0
            && u32::from(id) >= self.identifiers
        {
            return Placed::NoHandle { id };
        }
        let device = self.devices.binary_search(&record.device).unwrap_or(0);
        let base = device as u128 * u128::from(self.stride_bytes) + u128::from(self.offset_bytes);
        let first_byte = base + u128::from(record.offset_bytes);
        let end_byte = first_byte + u128::from(record.length_bytes.max(1));
        let sector_bytes = u128::from(SECTOR_BYTES);
        let first = first_byte / sector_bytes;
        let wanted = end_byte.div_ceil(sector_bytes) - first;
        if wanted > u128::from(MAX_TRACED_BYTES / SECTOR_BYTES) {
            return Placed::TooLong;
        }
        let space = u128::from(self.space_sectors);
        let is_beyond = first + wanted > space;
        match self.out_of_range {
            OutOfRange::Clip if is_beyond => return Placed::Dropped,
            OutOfRange::Refuse if is_beyond => {
                return Placed::Refused { first: first_byte, last: end_byte - 1 };
            }
            _ => {}
        }
        let sectors = wanted.min(space);
        let sector = (first % space).min(space - sectors);
        let wrapped = is_beyond || sectors < wanted;
        Placed::At { sector: sector as u64, sectors: sectors as u64, wrapped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::plain_config;
    use flashlane_units::ByteSize;

    fn record(offset_bytes: u64, length_bytes: u64, device: u32) -> Record {
        Record { time_ps: 0, op: Op::Write, offset_bytes, length_bytes, device, placement: None }
    }

    fn space(sectors: u64) -> FlowSpace {
        FlowSpace {
            sectors,
            pages: sectors.div_ceil(8),
            ..FlowSpace::empty(<[Vec<u32>; 4]>::default())
        }
    }

    fn at(sector: u64, sectors: u64, wrapped: bool) -> Placed {
        Placed::At { sector, sectors, wrapped }
    }

    #[test]
    fn ends_are_widened_to_sectors() {
        let placer = Placer::new(&plain_config("t"), &space(1000), &BTreeSet::new());
        assert_eq!(placer.place(&record(512, 512, 0)), at(1, 1, false));
        assert_eq!(placer.place(&record(511, 2, 0)), at(0, 2, false));
        assert_eq!(placer.place(&record(1023, 1, 0)), at(1, 1, false));
    }

    #[test]
    fn what_lies_beyond_is_wrapped_dropped_or_refused() {
        let rule = |out_of_range| {
            let config = TraceConfig { out_of_range, ..plain_config("t") };
            Placer::new(&config, &space(100), &BTreeSet::new())
        };
        let inside = record(92 * 512, 8 * 512, 0);
        let crossing = record(96 * 512, 8 * 512, 0);
        let far = record(210 * 512, 8 * 512, 0);
        let wrap = rule(OutOfRange::Wrap);
        assert_eq!(wrap.place(&inside), at(92, 8, false));
        assert_eq!(wrap.place(&crossing), at(92, 8, true));
        assert_eq!(wrap.place(&far), at(10, 8, true));
        assert_eq!(wrap.place(&record(0, 512_000, 0)), at(0, 100, true));
        assert_eq!(wrap.place(&record(u64::MAX - 1, 1, 0)), at((u64::MAX / 512) % 100, 1, true));
        for (record, expected) in [(&inside, at(92, 8, false)), (&crossing, Placed::Dropped)] {
            assert_eq!(rule(OutOfRange::Clip).place(record), expected);
        }
        let refused = Placed::Refused { first: 96 * 512, last: 104 * 512 - 1 };
        assert_eq!(rule(OutOfRange::Refuse).place(&crossing), refused);
    }

    #[test]
    fn huge_requests_have_no_place() {
        let placer = Placer::new(&plain_config("t"), &space(1 << 30), &BTreeSet::new());
        assert_eq!(placer.place(&record(0, 4 << 30, 0)), at(0, 8 << 20, false));
        for length in [(4 << 30) + 1, 1 << 44, u64::MAX] {
            assert_eq!(placer.place(&record(0, length, 0)), Placed::TooLong);
        }
    }

    #[test]
    fn devices_are_laid_out_by_their_stride() {
        let config = TraceConfig {
            device_stride: Some(ByteSize(100 * 512)),
            offset: ByteSize(10 * 512),
            ..plain_config("t")
        };
        let placer = Placer::new(&config, &space(1000), &BTreeSet::from([9, 3, 5]));
        assert_eq!(placer.place(&record(512, 512, 3)), at(11, 1, false));
        assert_eq!(placer.place(&record(512, 512, 5)), at(111, 1, false));
        assert_eq!(placer.place(&record(512, 512, 9)), at(211, 1, false));
    }

    #[test]
    fn writes_need_a_placement_identifier_of_the_drive() {
        let config = plain_config("t");
        let rule = |identifiers| {
            let space = FlowSpace { identifiers, ..space(1000) };
            Placer::new(&config, &space, &BTreeSet::new())
        };
        let placed = Record { placement: Some(8), ..record(0, 512, 0) };
        let missing = Placed::NoHandle { id: 8 };
        for (identifiers, expected) in [(0, at(0, 1, false)), (8, missing), (9, at(0, 1, false))] {
            assert_eq!(rule(identifiers).place(&placed), expected, "{identifiers}");
        }
        let read = Record { op: Op::Read, ..placed };
        assert_eq!(rule(8).place(&read), at(0, 1, false), "only writes name one");
        let none = Record { placement: None, ..placed };
        assert_eq!(rule(1).place(&none), at(0, 1, false));
    }
}
