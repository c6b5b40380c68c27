//! The rules of zones: what each command may do, and what it does to its zone.

use flashlane_units::{FlowId, Handle, RequestOp};

use super::{OfFlow, Zone, ZoneRefusal, ZoneState, Zones};
use crate::layout::SECTOR_BYTES;
use crate::request::{Directive, Planned};

impl Zones {
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
            RequestOp::Read => self.read(flow, planned),
            RequestOp::Write => self.write(flow, planned),
            RequestOp::ZoneAppend => self.append(flow, planned),
            RequestOp::ZoneCommit => self.commit(flow, planned),
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
    pub(super) fn place(&self, flow: FlowId, sector: u64) -> (usize, u32, u64) {
        let OfFlow { first, count } = self.flows[flow];
        let nth = (sector / self.size) as u32;
        assert!(nth < count, "sector {sector} is one of the flow's {count} zones");
        ((first + nth) as usize, nth, sector % self.size)
    }

    /// A read may reach over zones, but not to sectors that no zone can hold.
    fn read(&self, flow: FlowId, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let (inside, sectors) = (planned.sector % self.size, u64::from(planned.sectors));
        if self.size > self.capacity && inside + sectors > self.capacity {
            let zone = planned.sector / self.size;
            let end = zone * self.size + self.capacity;
            return Err(ZoneRefusal::Boundary { zone: zone as u32, end });
        }
        let last = planned.sector + sectors.saturating_sub(1);
        let zones = (planned.sector / self.size) as u32..=(last / self.size) as u32;
        let OfFlow { first, .. } = self.flows[flow];
        let is_offline = |nth: &u32| self.zones[(first + nth) as usize].state == ZoneState::Offline;
        match zones.into_iter().find(is_offline) {
            Some(zone) => Err(ZoneRefusal::Offline { zone }),
            None => Ok(*planned),
        }
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
        Ok(Planned { directive: self.take(at, pointer, end)?, ..*planned })
    }

    /// Takes a write up to `end` that moves the write pointer of its zone. Returns where the data
    /// goes.
    fn take(&mut self, at: usize, pointer: u64, end: u64) -> Result<Directive, ZoneRefusal> {
        let handle = self.open_for(at, false)?;
        self.lives.enters(self.zones[at].life);
        self.move_pointer(at, pointer, end);
        Ok(Directive::place(handle))
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

    /// Moves the write pointer behind a block of the random write area.
    fn commit(&mut self, flow: FlowId, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let (at, nth, inside) = self.place(flow, planned.sector);
        let (zone, start) = (self.zones[at], u64::from(nth) * self.size);
        if !zone.random || !zone.state.is_active() {
            return Err(ZoneRefusal::State { zone: nth, state: zone.state });
        }
        let [area, step] = [self.config.random_write_area, self.config.random_write_granularity]
            .map(|size| size.0 / SECTOR_BYTES);
        let block = u64::from(self.block);
        let end = inside - inside % block + block;
        let last = (zone.written + area).min(self.capacity);
        let whole = end.is_multiple_of(step) || end == self.capacity;
        if end <= zone.written || end > last || !whole {
            let (pointer, last) = (start + zone.written, start + last);
            return Err(ZoneRefusal::Commit { zone: nth, pointer, last, step });
        }
        self.move_pointer(at, end, end);
        Ok(Planned { sector: start, sectors: self.block, ..*planned })
    }

    fn append(&mut self, flow: FlowId, planned: &Planned) -> Result<Planned, ZoneRefusal> {
        let (at, nth, inside) = self.place(flow, planned.sector);
        let start = u64::from(nth) * self.size;
        if inside != 0 {
            return Err(ZoneRefusal::Start { zone: nth, start });
        }
        let zone = self.zones[at];
        let end = self.checked_end(at, nth, zone.written, planned.sectors)?;
        if zone.random {
            return Err(ZoneRefusal::State { zone: nth, state: zone.state });
        }
        let directive = self.take(at, end, end)?;
        self.counts.appends += 1;
        let sector = start + zone.written;
        Ok(Planned { op: RequestOp::Write, sector, directive, ..*planned })
    }

    /// The end of a write in a zone that is not full.
    fn checked_end(
        &self,
        at: usize,
        nth: u32,
        inside: u64,
        sectors: u32,
    ) -> Result<u64, ZoneRefusal> {
        match self.zones[at].state {
            ZoneState::Full => return Err(ZoneRefusal::Full { zone: nth }),
            ZoneState::ReadOnly => return Err(ZoneRefusal::ReadOnly { zone: nth }),
            ZoneState::Offline => return Err(ZoneRefusal::Offline { zone: nth }),
            _ => {}
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
    pub(super) fn leave(&mut self, at: usize, state: ZoneState) {
        let zone = &mut self.zones[at];
        if zone.state.is_open() {
            self.open.retain(|&open| open as usize != at);
        }
        if zone.state.is_active() {
            self.active -= 1;
            self.free.push_back(zone.handle);
            self.lives.ended(zone.life);
        }
        // The last writes to a random write area are committed after the zone has become full.
        let (written, life, random) = match state {
            ZoneState::Full => (self.capacity, zone.life, zone.random),
            ZoneState::ReadOnly | ZoneState::Offline => (zone.written, zone.life, false),
            _ => (0, 0, false),
        };
        *zone = Zone { state, written, end: written, handle: Handle::NONE, life, random };
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
            _ if zone.state.has_failed() => {
                return Err(ZoneRefusal::State { zone: nth, state: zone.state });
            }
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
}
