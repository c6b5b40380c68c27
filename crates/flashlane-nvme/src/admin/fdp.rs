//! Flexible data placement: its features and its log pages. The drive is one endurance group with
//! one configuration, which is always enabled. Placement handle and reclaim unit handle have the
//! same number in every namespace.
//!
//! Source: NVMe 2.1 (TP4146).

use std::collections::BTreeMap;

use flashlane::Time;
use flashlane::config::DeviceConfig;
use flashlane::drive::{PlacementEvent, PlacementEventKind};
use flashlane::metrics::PlacementSummary;

use crate::bytes::Page;
use crate::controller::placing::Placing;
use crate::entry::Entry;
use crate::media::SECTOR_BYTES;
use crate::opcode::admin;
use crate::status::Status;
use crate::subsystem::Subsystem;

/// The endurance group.
pub(crate) const GROUP: u16 = 1;

/// The feature Flexible Data Placement.
pub(super) const FDP: u8 = 0x1d;
/// The feature Flexible Data Placement Events.
pub(super) const FDP_EVENTS: u8 = 0x1e;

/// Log page: configurations.
pub(super) const CONFIGURATIONS: u8 = 0x20;
/// Log page: use of reclaim unit handles.
pub(super) const HANDLES: u8 = 0x21;
/// Log page: statistics.
pub(super) const STATISTICS: u8 = 0x22;
/// Log page: events.
pub(super) const EVENTS: u8 = 0x23;

/// Picoseconds in a millisecond.
const MILLISECOND_PS: u64 = 1_000_000_000;

/// The longest list of event types, which some hosts always send. Unit: bytes.
const TYPES_MAX: usize = 256;

/// The types of events that the drive has.
fn types() -> [u8; 3] {
    PlacementEventKind::ALL.map(PlacementEventKind::number)
}

/// True for events of the controller; the others are due to the host.
fn is_of_controller(number: u8) -> bool {
    number >= 0x80
}

/// Handle and number of types of a command for the feature of events.
fn asked(entry: &Entry) -> (u16, usize) {
    (entry.dword(11) as u16, (entry.dword(11) >> 16 & 0xff) as usize)
}

/// Data of a command for the feature of events. Unit: bytes.
pub(super) fn event_bytes(entry: &Entry) -> usize {
    let (_, count) = asked(entry);
    if entry.opcode() == admin::GET_FEATURES {
        return count * 2;
    }
    // A host may send a longer buffer than its list of types.
    match (entry.0[1] >> 6, entry.data().length as usize) {
        (1 | 2, sent) if (count..=TYPES_MAX).contains(&sent) => sent,
        _ => count,
    }
}

/// Which events the log page has, for all controllers.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventSwitches {
    /// By handle and type: since when events are kept.
    since: BTreeMap<(u16, u8), Time>,
}

impl EventSwitches {
    fn set(&mut self, handle: u16, types: &[u8], on: bool, now: Time) {
        for &number in types {
            match on {
                true => _ = self.since.entry((handle, number)).or_insert(now),
                false => _ = self.since.remove(&(handle, number)),
            }
        }
    }

    fn is_on(&self, handle: u16, number: u8) -> bool {
        self.since.contains_key(&(handle, number))
    }

    /// True for an event of a handle that the log page has. Copies in a reclaim unit that all
    /// handles share have no handle: one that is on is enough.
    fn has(&self, event: &PlacementEvent, placing: Placing) -> bool {
        let number = event.kind.number();
        let begun =
            |handle: u16| self.since.get(&(handle, number)).is_some_and(|&since| event.at >= since);
        match event.identifier {
            Some(identifier) => begun(u16::from(identifier) % placing.handles()),
            None => (0..placing.handles()).any(begun),
        }
    }
}

impl Subsystem {
    /// What writes may name.
    pub(crate) fn placing(&self) -> Placing {
        Placing::of(&self.media.config().device)
    }

    /// What became of placed data since the start.
    pub(crate) fn placed(&mut self) -> Result<PlacementSummary, Status> {
        let summary = self.media.summary().map_err(|_| Status::INTERNAL_ERROR)?;
        summary.placement.ok_or(Status::INTERNAL_ERROR)
    }

    /// The feature Flexible Data Placement: enabled, with configuration 0.
    pub(super) fn get_placement(entry: &Entry) -> Result<u64, Status> {
        if entry.dword(11) as u16 == GROUP { Ok(1) } else { Err(Status::INVALID_FIELD) }
    }

    /// Checks a command for the feature of events, and returns its handle and number of types.
    fn asked(&self, entry: &Entry) -> Result<(u16, usize), Status> {
        let (handle, count) = asked(entry);
        let is_known = entry.namespace() == u32::MAX || self.space(entry.namespace()).is_some();
        match (is_known, handle < self.placing().handles()) {
            (false, _) => Err(Status::INVALID_NAMESPACE),
            (_, false) => Err(Status::INVALID_FIELD),
            _ => Ok((handle, count)),
        }
    }

    /// The types of events of a handle, each with whether the log page has it.
    pub(super) fn get_events(&self, entry: &Entry) -> Result<(u64, Vec<u8>), Status> {
        let (handle, count) = self.asked(entry)?;
        let told = types().into_iter().take(count);
        let told = told.map(|number| [number, self.switches.is_on(handle, number).into()]);
        let mut data: Vec<u8> = told.flatten().collect();
        let descriptors = data.len() / 2;
        data.resize(count * 2, 0);
        Ok((descriptors as u64, data))
    }

    /// Turns types of events of a handle on or off.
    pub(super) fn set_events(&mut self, entry: &Entry, data: &[u8]) -> Result<(), Status> {
        let (handle, count) = self.asked(entry)?;
        let (list, on) = (&data[..count], entry.dword(12) & 1 == 1);
        if list.iter().any(|number| !types().contains(number)) {
            return Err(Status::INVALID_FIELD);
        }
        let now = self.media.now();
        self.switches.set(handle, list, on, now);
        Ok(())
    }

    /// A log page of placement.
    pub(super) fn placement_log(&mut self, log: u8, entry: &Entry) -> Result<Vec<u8>, Status> {
        let placing = self.placing();
        match log {
            CONFIGURATIONS => {
                let unit = self.placed()?.reclaim_unit_bytes;
                let config = self.media.config();
                Ok(configurations(placing, &config.device, unit, self.media.namespaces()))
            }
            HANDLES => Ok(handles(placing)),
            STATISTICS => Ok(statistics(&self.placed()?)),
            _ => {
                let of_host = entry.dword(10) >> 8 & 1 == 1;
                let wanted = |event: &PlacementEvent| {
                    is_of_controller(event.kind.number()) != of_host
                        && self.switches.has(event, placing)
                };
                let config = self.media.config();
                let each = config.device.unit().0 / u64::from(config.block_bytes);
                let mut told = self.media.placement_events();
                told.retain(wanted);
                Ok(events(&told, placing, each.max(1)))
            }
        }
    }
}

/// Log page 20h: the only configuration.
fn configurations(placing: Placing, device: &DeviceConfig, unit: u64, namespaces: u32) -> Vec<u8> {
    const HEADER: usize = 16;
    let handles = usize::from(placing.handles());
    let length = (64 + 4 * handles).next_multiple_of(8);
    let mut page = Page::new(HEADER + length);
    page.u32(4, (HEADER + length) as u32);
    page.u16(HEADER, length as u16);
    let volatile = u8::from(!device.power_loss_protection);
    page.u8(HEADER + 2, 1 << 7 | volatile << 4 | placing.group_bits()); // Bit 7: valid.
    page.u32(HEADER + 4, placing.groups().into());
    page.u16(HEADER + 8, placing.handles());
    page.u16(HEADER + 10, placing.identifiers() - 1);
    page.u32(HEADER + 12, namespaces);
    page.u64(HEADER + 16, unit);
    // Unit: seconds; 0 for no limit.
    let limit = device.placement.unit_time.map_or(0, |limit| limit.0.div_ceil(1_000_000_000_000));
    page.u32(HEADER + 24, u32::try_from(limit).unwrap_or(u32::MAX));
    let isolation = if device.placement.is_persistent() { 2 } else { 1 };
    for handle in 0..handles {
        page.u8(HEADER + 64 + handle * 4, isolation);
    }
    page.into_bytes()
}

/// Log page 21h: hosts may use all handles.
fn handles(placing: Placing) -> Vec<u8> {
    let handles = usize::from(placing.handles());
    let mut page = Page::new(8 + 8 * handles);
    page.u16(0, placing.handles());
    for handle in 0..handles {
        page.u8(8 + 8 * handle, 1);
    }
    page.into_bytes()
}

/// Log page 22h. Unit: bytes.
fn statistics(placed: &PlacementSummary) -> Vec<u8> {
    let mut page = Page::new(64);
    page.u128(0, placed.host_bytes.into());
    page.u128(16, placed.media_bytes.into());
    page.u128(32, placed.erased_bytes.into());
    page.into_bytes()
}

/// Log page 23h, oldest event first. `blocks`: logical blocks of a page of the drive.
fn events(told: &[PlacementEvent], placing: Placing, blocks: u64) -> Vec<u8> {
    const BYTES: usize = 64;
    let mut page = Page::new(BYTES * (1 + told.len()));
    page.u32(0, told.len() as u32);
    for (event, at) in told.iter().zip((BYTES..).step_by(BYTES)) {
        page.u8(at, event.kind.number());
        if let Some(identifier) = event.identifier.map(u16::from) {
            page.u8(at + 1, 0b101); // The identifier and the place are valid.
            page.u16(at + 2, placing.for_host(identifier));
            page.u16(at + 32, identifier / placing.handles());
            page.u8(at + 34, (identifier % placing.handles()) as u8);
        }
        // Unit: milliseconds of simulated time, in 48 bits.
        page.u64(at + 4, (event.at.0 / MILLISECOND_PS) & 0xffff_ffff_ffff);
        if event.kind == PlacementEventKind::Reallocated {
            let moved = u64::from(event.pages) * blocks;
            page.u16(at + 18, u16::try_from(moved).unwrap_or(u16::MAX));
        }
    }
    page.into_bytes()
}

/// What I/O Management Receive tells of reclaim unit handles. `block`: unit: bytes.
pub(crate) fn unit_status(placed: &PlacementSummary, placing: Placing, block: u32) -> Vec<u8> {
    debug_assert!(u64::from(block) >= SECTOR_BYTES, "a block has a sector");
    let mut page = Page::new(16 + 32 * placed.handles.len());
    page.u16(14, placed.handles.len() as u16);
    for (identifier, (handle, at)) in (0..).zip(placed.handles.iter().zip((16..).step_by(32))) {
        page.u16(at, placing.for_host(identifier));
        page.u16(at + 2, identifier % placing.handles());
        page.u64(at + 8, handle.remaining_bytes / u64::from(block));
    }
    page.into_bytes()
}
