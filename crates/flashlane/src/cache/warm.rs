//! The state that past requests left in the cache, found by replaying them without time.

use super::{Cache, SlotState};
use crate::config::CacheMode;

impl Cache {
    /// Pages cached.
    pub(crate) fn len(&self) -> u64 {
        self.pools.iter().map(|pool| pool.slots.len()).sum()
    }

    /// Pages that fit.
    pub(crate) fn capacity(&self) -> u64 {
        self.pools.iter().map(|pool| u64::from(pool.slots.capacity())).sum()
    }

    /// A past read of some sectors of a page, of which flash holds `on_flash`. True if it went to
    /// flash. `written` is told of pages that were written back to make room.
    pub(crate) fn recall_read(
        &mut self,
        flow: u16,
        lpa: u32,
        mask: u64,
        on_flash: u64,
        written: impl FnMut(u16, u32),
    ) -> bool {
        if self.modes[flow as usize] == CacheMode::Off {
            return true;
        }
        if mask & !self.slots(flow).lookup(lpa).1 == 0 {
            return false;
        }
        if self.fills_on_read(flow) && mask & on_flash != 0 && self.recall_room(flow, lpa, written)
        {
            self.slots(flow).fill(lpa, flow, mask & on_flash);
        }
        true
    }

    /// A past write of some sectors of a page. `written` is told of every page that went to flash.
    pub(crate) fn recall_write(
        &mut self,
        flow: u16,
        lpa: u32,
        mask: u64,
        now: flashlane_engine::Time,
        mut written: impl FnMut(u16, u32),
    ) {
        match self.modes[flow as usize] {
            CacheMode::Off => written(flow, lpa),
            CacheMode::Read => {
                self.slots(flow).refresh(lpa, mask);
                written(flow, lpa);
            }
            CacheMode::Write | CacheMode::WriteRead => {
                if !self.recall_room(flow, lpa, &mut written) {
                    return;
                }
                self.slots(flow).write(lpa, flow, mask);
                if self.hot.goes_at_once(flow, lpa, now) {
                    let drop = self.drops_written;
                    let slots = self.slots(flow);
                    let version = slots.start_write_back(lpa).version;
                    slots.end_write_back(lpa, version, drop);
                    written(flow, lpa);
                }
            }
        }
    }

    /// Makes room for a page unless it is cached; false if there is none.
    fn recall_room(&mut self, flow: u16, lpa: u32, mut written: impl FnMut(u16, u32)) -> bool {
        let slots = self.slots(flow);
        if slots.contains(lpa) || slots.has_room() {
            return true;
        }
        let Some(victim) = slots.victim() else { return false };
        slots.remove(victim.lpa());
        if victim.state() == SlotState::Dirty {
            written(victim.flow, victim.lpa());
        }
        true
    }

    /// The past is over: its epochs do not count.
    pub(crate) fn recall_over(&mut self) {
        self.hot.forget();
    }
}
