//! Zones: the rules of the zoned command set, which the interface checks before anything else
//! happens to a command.
//!
//! A zone is written in order. Its *write pointer* tells where the next write has to begin; an
//! append names only the zone, and learns the place from its completion. A zone is empty, open,
//! closed or full. The first write opens it *implicitly*, and the drive may close such a zone again
//! to open another one. A command opens it *explicitly*: then only a command closes it. Open and
//! closed zones are *active*: they hold resources of the drive, and their number is bounded. A
//! reset empties the zone; a finish makes it full. A command that breaks a rule changes nothing,
//! and is completed with the reason.
//!
//! Commands are checked in the order in which they arrive, so that the answer does not depend on
//! how long others take. Behind this stage a zone is a run of logical pages: an append is a write
//! at its place. Each active zone has a placement handle, so that its pages fill a superblock of
//! their own.
//!
//! Source: NVMe Zoned Namespace Command Set 1.1 (TP4053), and TP4076 for the random write area.

mod config;
mod lives;
mod refusal;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;

use flashlane_engine::Array;
use flashlane_units::{FlowId, Handle, Lpa, RequestOp};

use crate::layout::{FlowSpace, Layout, SECTOR_BYTES};
use crate::request::{Directive, Planned};
pub use config::{FinishKind, ZonesConfig};
use lives::Lives;
pub use refusal::ZoneRefusal;

/// Placement handles of a drive with zones: more than zones can be active, so that the last pages
/// of a full zone can leave the cache before its handle is another zone's.
pub const ZONE_HANDLES: u32 = 72;
/// Zones that may be active.
pub const ACTIVE_ZONES: std::ops::RangeInclusive<u32> = 1..=64;

/// What a zone is. Source: NVMe Zoned Namespace Command Set, zone state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneState {
    /// Nothing is written.
    #[default]
    Empty,
    /// Open by a write.
    ImplicitlyOpen,
    /// Open by a command.
    ExplicitlyOpen,
    /// Written in part, and not open.
    Closed,
    /// Nothing can be written.
    Full,
}

impl ZoneState {
    /// True if the zone is open.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::ImplicitlyOpen | Self::ExplicitlyOpen)
    }

    /// True if the zone is neither empty nor full.
    #[must_use]
    pub fn is_active(self) -> bool {
        self.is_open() || self == Self::Closed
    }
}

impl fmt::Display for ZoneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "empty",
            Self::ImplicitlyOpen => "implicitly open",
            Self::ExplicitlyOpen => "explicitly open",
            Self::Closed => "closed",
            Self::Full => "full",
        })
    }
}

/// A zone as a host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    /// First sector in the space of the flow.
    pub start: u64,
    /// Sectors that can be written.
    pub capacity: u64,
    /// The state.
    pub state: ZoneState,
    /// The sector at which the next write begins; of a full zone, the end of its capacity.
    pub pointer: u64,
}

/// Commands that changed zones, since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneCounts {
    /// Appends.
    pub appends: u64,
    /// Resets of zones that were not empty.
    pub resets: u64,
    /// Finishes of zones that were neither empty nor full.
    pub finishes: u64,
    /// Sectors that those zones had left.
    pub left_sectors: u64,
    /// Commands that were refused.
    pub refused: u64,
    /// Most zones that were active.
    pub active_max: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Zone {
    state: ZoneState,
    /// Sectors before the write pointer.
    written: u64,
    /// The end of what was written: behind the write pointer only with a random write area.
    end: u64,
    /// The handle of an active zone; `NONE` for others.
    handle: Handle,
    /// The life in which the data of the zone was written: the time from when it became active to
    /// its reset. 0 for an empty zone, and for one that was full at the start.
    life: u32,
    /// The zone has a random write area.
    random: bool,
}

/// The zones of a flow.
#[derive(Clone, Copy, Debug)]
struct OfFlow {
    /// The first one, among those of all flows.
    first: u32,
    count: u32,
}

/// The zones of a drive.
#[derive(Clone, Debug)]
pub struct Zones {
    config: ZonesConfig,
    /// Sectors of a zone that can be written.
    capacity: u64,
    /// Sectors from the start of a zone to that of the next.
    size: u64,
    /// Sectors of a logical block: those of a page.
    block: u32,
    zones: Vec<Zone>,
    flows: Array<FlowId, OfFlow>,
    /// Open zones, the longest open one first.
    open: VecDeque<u32>,
    active: u32,
    /// Handles that no active zone has; the one that has been free for longest is first.
    free: VecDeque<Handle>,
    lives: Lives,
    counts: ZoneCounts,
}

impl Zones {
    /// The zones of a drive; `None` where flows have none. Those are full whose first page holds
    /// data, and the others empty.
    pub fn new(config: &ZonesConfig, layout: &Layout, holds: impl Fn(Lpa) -> bool) -> Option<Self> {
        let geometry = layout.zones?;
        let mut zones = Vec::new();
        let of_flow = |space: &FlowSpace| {
            let count = (space.sectors / geometry.size) as u32;
            let first = zones.len() as u32;
            zones.extend((0..count).map(|nth| {
                let lpa = Lpa::new(space.first_lpa as u32 + nth * geometry.pages);
                let (state, written) = match holds(lpa) {
                    true => (ZoneState::Full, geometry.capacity),
                    false => (ZoneState::Empty, 0),
                };
                Zone { state, written, end: written, handle: Handle::NONE, life: 0, random: false }
            }));
            OfFlow { first, count }
        };
        let flows = layout.flows.iter().map(of_flow).collect();
        Some(Self {
            config: *config,
            capacity: geometry.capacity,
            size: geometry.size,
            block: layout.geometry.sectors_per_page,
            zones,
            flows,
            open: VecDeque::new(),
            active: 0,
            free: (0..ZONE_HANDLES as u8).map(Handle::new).collect(),
            lives: Lives::default(),
            counts: ZoneCounts::default(),
        })
    }

    /// Commands that changed zones.
    #[must_use]
    pub fn counts(&self) -> ZoneCounts {
        self.counts
    }

    /// The life of the zone of a command that was checked just now: the one that a finish ends. 0
    /// where there is none.
    pub(crate) fn life_of(&self, flow: FlowId, planned: &Planned) -> u32 {
        if planned.sectors == 0 {
            return 0;
        }
        let (at, _, _) = self.place(flow, planned.sector);
        self.zones[at].life
    }

    /// The data of a write in a life has entered the drive.
    pub(crate) fn entered(&mut self, life: u32) {
        self.lives.entered(life);
    }

    /// True if data of a life has not entered the drive.
    pub(crate) fn awaits(&self, life: u32) -> bool {
        self.lives.awaits(life)
    }

    /// True if a zone is still in a life. Otherwise it was reset since the command was checked.
    pub(crate) fn is_current(&self, flow: FlowId, sector: u64, life: u32) -> bool {
        let (at, _, _) = self.place(flow, sector);
        self.zones[at].life == life
    }

    /// The write pointer of a zone with a random write area, and the start of the zone. Unit:
    /// sectors.
    pub(crate) fn area(&self, flow: FlowId, sector: u64) -> Option<(u64, u64)> {
        let (at, nth, _) = self.place(flow, sector);
        let (zone, start) = (&self.zones[at], u64::from(nth) * self.size);
        zone.random.then_some((start, start + zone.written))
    }

    /// The zones of a flow as its host sees them.
    pub(crate) fn report(&self, flow: FlowId) -> Vec<ZoneReport> {
        let OfFlow { first, count } = self.flows[flow];
        let report = |nth: u32| {
            let zone = &self.zones[(first + nth) as usize];
            let start = u64::from(nth) * self.size;
            ZoneReport {
                start,
                capacity: self.capacity,
                state: zone.state,
                pointer: start + zone.written,
            }
        };
        (0..count).map(report).collect()
    }

    /// Checks a command that arrives, and changes its zone. Returns the command as the rest of the
    /// drive sees it: an append has become a write at its place; a reset names all sectors of its
    /// zone, and a finish those that are left.
    ///
    /// # Errors
    ///
    /// The rule that the command breaks; nothing has changed then.
    pub fn admit(&mut self, flow: FlowId, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let block = self.block;
        let cuts = |planned: &Planned| {
            !planned.sector.is_multiple_of(u64::from(block))
                || !planned.sectors.is_multiple_of(block)
        };
        let admitted = match planned.op {
            RequestOp::Write | RequestOp::ZoneAppend if cuts(planned) => {
                Err(ZoneRefusal::Block { sectors: block })
            }
            RequestOp::Flush | RequestOp::Refused => Ok(*planned),
            RequestOp::Trim => Err(ZoneRefusal::Trim),
            RequestOp::Read => self.read(planned),
            RequestOp::Write => self.write(flow, planned),
            RequestOp::ZoneAppend => self.append(flow, planned),
            _ => self.manage(flow, planned),
        };
        self.counts.refused += u64::from(admitted.is_err());
        admitted
    }

    /// Checks a command as [`Zones::admit`] does, where data enters the drive at once.
    ///
    /// # Errors
    ///
    /// Those of [`Zones::admit`].
    pub fn admit_at_once(
        &mut self,
        flow: FlowId,
        planned: &Planned,
    ) -> Result<Planned, ZoneRefusal> {
        let admitted = self.admit(flow, planned)?;
        if admitted.op == RequestOp::Write {
            self.entered(self.life_of(flow, &admitted));
        }
        Ok(admitted)
    }

    /// The zone of a sector, among those of all flows and among those of the flow, and the place of
    /// the sector in it.
    fn place(&self, flow: FlowId, sector: u64) -> (usize, u32, u64) {
        let OfFlow { first, count } = self.flows[flow];
        let nth = (sector / self.size) as u32;
        assert!(nth < count, "sector {sector} is one of the flow's {count} zones");
        ((first + nth) as usize, nth, sector % self.size)
    }

    /// A read may reach over zones, but not to sectors that no zone can hold.
    fn read(&self, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let (inside, sectors) = (planned.sector % self.size, u64::from(planned.sectors));
        if self.size > self.capacity && inside + sectors > self.capacity {
            let zone = planned.sector / self.size;
            let end = zone * self.size + self.capacity;
            return Err(ZoneRefusal::Boundary { zone: zone as u32, end });
        }
        Ok(*planned)
    }

    fn write(&mut self, flow: FlowId, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let (at, nth, inside) = self.place(flow, planned.sector);
        let end = self.checked_end(at, nth, inside, planned.sectors)?;
        let zone = self.zones[at];
        let pointer = match zone.random {
            false if inside != zone.written => None,
            false => Some(end),
            true => self.pointer_after(&zone, inside, end),
        };
        let start = u64::from(nth) * self.size;
        let refused = ZoneRefusal::Pointer { zone: nth, pointer: start + zone.written };
        let pointer = pointer.ok_or(refused)?;
        let handle = self.open_for(at, false)?;
        self.lives.enters(self.zones[at].life);
        self.move_pointer(at, pointer, end);
        Ok(Planned { directive: Directive::place(handle), ..*planned })
    }

    /// The write pointer of a zone with a random write area after a write up to `end`; `None` if
    /// the write lies outside of what may be written. A write behind the area moves the area, and
    /// the pointer with it.
    fn pointer_after(&self, zone: &Zone, begin: u64, end: u64) -> Option<u64> {
        let sectors = |bytes: u64| bytes / SECTOR_BYTES;
        let area = sectors(self.config.random_write_area.0);
        let step = sectors(self.config.random_write_granularity.0);
        if begin < zone.written || end > zone.written + 2 * area {
            return None;
        }
        let beyond = end.saturating_sub(zone.written + area);
        Some((zone.written + beyond.div_ceil(step) * step).min(self.capacity))
    }

    fn append(&mut self, flow: FlowId, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let (at, nth, inside) = self.place(flow, planned.sector);
        let start = u64::from(nth) * self.size;
        if inside != 0 {
            return Err(ZoneRefusal::Start { zone: nth, start });
        }
        let zone = self.zones[at];
        if zone.random {
            return Err(ZoneRefusal::State { zone: nth, state: zone.state });
        }
        let end = self.checked_end(at, nth, zone.written, planned.sectors)?;
        let handle = self.open_for(at, false)?;
        self.lives.enters(self.zones[at].life);
        self.move_pointer(at, end, end);
        self.counts.appends += 1;
        Ok(Planned {
            op: RequestOp::Write,
            sector: start + zone.written,
            directive: Directive::place(handle),
            ..*planned
        })
    }

    /// The end of a write in a zone that is not full.
    fn checked_end(
        &self,
        at: usize,
        nth: u32,
        inside: u64,
        sectors: u32,
    ) -> Result<u64, ZoneRefusal> {
        if self.zones[at].state == ZoneState::Full {
            return Err(ZoneRefusal::Full { zone: nth });
        }
        let end = inside + u64::from(sectors);
        match end <= self.capacity {
            true => Ok(end),
            false => {
                let end = u64::from(nth) * self.size + self.capacity;
                Err(ZoneRefusal::Boundary { zone: nth, end })
            }
        }
    }

    /// Opens a zone that is not full, by a write or by a command. Returns its handle.
    fn open_for(&mut self, at: usize, by_command: bool) -> Result<Handle, ZoneRefusal> {
        let state = self.zones[at].state;
        assert_ne!(state, ZoneState::Full, "a full zone is not opened");
        if !state.is_active() && self.active == self.config.max_active {
            return Err(ZoneRefusal::TooManyActive { max: self.active });
        }
        if !state.is_open() {
            self.make_room()?;
            self.open.push_back(at as u32);
        }
        let zone = &mut self.zones[at];
        if !state.is_active() {
            self.active += 1;
            self.counts.active_max = self.counts.active_max.max(self.active);
            zone.handle = self.free.pop_front().expect("there are more handles than active zones");
            zone.life = self.lives.begin();
        }
        zone.state = match by_command || state == ZoneState::ExplicitlyOpen {
            true => ZoneState::ExplicitlyOpen,
            false => ZoneState::ImplicitlyOpen,
        };
        Ok(zone.handle)
    }

    /// Closes the zone that a write has opened longest ago, if as many are open as may be.
    fn make_room(&mut self) -> Result<(), ZoneRefusal> {
        let max = self.config.max_open;
        if (self.open.len() as u32) < max {
            return Ok(());
        }
        let implicit = |&at: &u32| self.zones[at as usize].state == ZoneState::ImplicitlyOpen;
        let oldest = self.open.iter().position(implicit);
        let oldest = oldest.ok_or(ZoneRefusal::TooManyOpen { max })?;
        let closed = self.open.remove(oldest).expect("the position is in the list");
        self.zones[closed as usize].state = ZoneState::Closed;
        Ok(())
    }

    /// Moves the write pointer; at the end of the capacity the zone is full.
    fn move_pointer(&mut self, at: usize, written: u64, end: u64) {
        let zone = &mut self.zones[at];
        assert!(written.max(end) <= self.capacity, "a zone holds its capacity");
        assert!(written >= zone.written, "a write pointer does not go back");
        (zone.written, zone.end) = (written, zone.end.max(end));
        if written == self.capacity {
            self.leave(at, ZoneState::Full);
        }
    }

    /// A zone is no longer active.
    fn leave(&mut self, at: usize, state: ZoneState) {
        let zone = &mut self.zones[at];
        if zone.state.is_open() {
            self.open.retain(|&open| open as usize != at);
        }
        if zone.state.is_active() {
            self.active -= 1;
            self.free.push_back(zone.handle);
            self.lives.ended(zone.life);
        }
        let (written, life) = match state {
            ZoneState::Full => (self.capacity, zone.life),
            _ => (0, 0),
        };
        *zone = Zone { state, written, end: written, handle: Handle::NONE, life, random: false };
    }

    /// A command that manages a zone. The rest of the drive sees the sectors of which it has to
    /// make something, none if there is nothing to do.
    fn manage(&mut self, flow: FlowId, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let (at, nth, inside) = self.place(flow, planned.sector);
        let start = u64::from(nth) * self.size;
        if inside != 0 {
            return Err(ZoneRefusal::Start { zone: nth, start });
        }
        let zone = self.zones[at];
        let (mut sector, mut sectors) = (start, 0);
        match planned.op {
            RequestOp::ZoneReset if zone.state != ZoneState::Empty => {
                sectors = self.capacity;
                self.counts.resets += 1;
                self.leave(at, ZoneState::Empty);
            }
            RequestOp::ZoneReset => {}
            RequestOp::ZoneFinish => {
                if zone.state.is_active() {
                    sectors = self.capacity - zone.end;
                    sector = start + zone.end;
                    self.counts.finishes += 1;
                    self.counts.left_sectors += sectors;
                }
                self.leave(at, ZoneState::Full);
            }
            RequestOp::ZoneOpen if zone.state != ZoneState::Full => {
                self.open_for(at, true)?;
                let area = self.config.random_write_area.0 > 0;
                self.zones[at].random |= area && self.zones[at].written == 0;
            }
            RequestOp::ZoneClose if zone.state.is_open() => {
                self.open.retain(|&open| open as usize != at);
                self.zones[at].state = ZoneState::Closed;
            }
            RequestOp::ZoneClose if zone.state == ZoneState::Closed => {}
            _ => return Err(ZoneRefusal::State { zone: nth, state: zone.state }),
        }
        let sectors = u32::try_from(sectors).expect("validation bounds zones");
        let directive = match zone.handle {
            Handle::NONE => Directive::NONE,
            handle => Directive::place(handle),
        };
        Ok(Planned { sector, sectors, directive, ..*planned })
    }

    /// Checks the counts and lists against the states of the zones.
    pub(crate) fn audit(&self) {
        let with = |is: fn(ZoneState) -> bool| self.zones.iter().filter(|z| is(z.state)).count();
        assert_eq!(self.active as usize, with(ZoneState::is_active), "active zones are counted");
        assert_eq!(self.open.len(), with(ZoneState::is_open), "open zones are in the list");
        assert!(self.open.len() as u32 <= self.config.max_open, "no more are open than may be");
        assert!(self.active <= self.config.max_active, "no more are active than may be");
        let listed = self.open.iter().all(|&at| self.zones[at as usize].state.is_open());
        assert!(listed, "only open zones are in the list");
        let mut handles: Vec<u8> = self.free.iter().map(|handle| handle.get()).collect();
        for zone in &self.zones {
            assert_eq!(zone.handle != Handle::NONE, zone.state.is_active(), "an active zone's");
            assert_eq!(zone.state == ZoneState::Full, zone.written == self.capacity, "full");
            assert!(zone.state != ZoneState::Empty || zone.written == 0, "empty");
            handles.extend((zone.handle != Handle::NONE).then_some(zone.handle.get()));
        }
        handles.sort_unstable();
        assert!(handles.into_iter().eq(0..ZONE_HANDLES as u8), "a handle is free or a zone's");
    }
}
