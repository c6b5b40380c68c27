//! Requests that take no time: past requests whose state the cache starts with, and the requests of
//! a run without time. A page that goes to flash is there at once.

use flashlane_units::{FlowId, Lpa};

use super::{Cache, SlotState};
use crate::cache::config::CacheMode;

impl Cache {
    /// Pages cached.
    pub fn pages(&self) -> u64 {
        self.pools.iter().map(|pool| pool.cached().len()).sum()
    }

    /// Pages that fit.
    pub fn capacity(&self) -> u64 {
        self.pools.iter().map(|pool| u64::from(pool.cached().capacity())).sum()
    }

    /// Reads some sectors of a page, of which flash holds `on_flash`. True if flash was read. Calls
    /// `written` for pages that were written back to make room.
    pub fn recall_read(
        &mut self,
        flow: FlowId,
        lpa: Lpa,
        mask: u64,
        on_flash: u64,
        written: impl FnMut(FlowId, Lpa, u64),
    ) -> bool {
        if self.modes[flow] == CacheMode::Off {
            return true;
        }
        if mask & !self.slots(flow).lookup(lpa).1 == 0 {
            return false;
        }
        if self.fills_on_read(flow)
            && self.page_to_fill(flow, lpa) == lpa
            && mask & on_flash != 0
            && self.recall_room(flow, lpa, written)
        {
            self.slots(flow).fill(lpa, flow, mask & on_flash);
        }
        true
    }

    /// Writes some sectors of a page. Calls `written` for every page that went to flash, with its
    /// flow, page and sectors.
    pub fn recall_write(
        &mut self,
        flow: FlowId,
        lpa: Lpa,
        mask: u64,
        now: flashlane_engine::Time,
        mut written: impl FnMut(FlowId, Lpa, u64),
    ) {
        match self.modes[flow] {
            CacheMode::Off => written(flow, lpa, mask),
            CacheMode::Read => {
                self.slots(flow).refresh(lpa, mask);
                written(flow, lpa, mask);
            }
            CacheMode::Write | CacheMode::WriteRead => {
                if !self.recall_room(flow, lpa, &mut written) {
                    return;
                }
                let (_, before) = self.slots(flow).write(lpa, flow, mask);
                if self.hot.goes_at_once(flow, lpa, now) {
                    let alone = self.writes_alone && before != Some(SlotState::Dirty);
                    let sectors = self.recall_write_back(flow, lpa);
                    written(flow, lpa, if alone { mask } else { sectors });
                }
            }
        }
    }

    /// Makes room for a page unless it is cached; false if there is none.
    fn recall_room(
        &mut self,
        flow: FlowId,
        lpa: Lpa,
        mut written: impl FnMut(FlowId, Lpa, u64),
    ) -> bool {
        let slots = self.slots(flow);
        if slots.contains(lpa) || slots.has_room() {
            return true;
        }
        let Some(victim) = slots.victim(false) else { return false };
        slots.remove(victim.lpa());
        self.evictions += 1;
        if victim.state() == SlotState::Dirty {
            written(victim.flow(), victim.lpa(), victim.mask());
        }
        true
    }

    /// Writes a cached page to flash. Returns its sectors.
    fn recall_write_back(&mut self, flow: FlowId, lpa: Lpa) -> u64 {
        let drop = self.drops_written;
        let slots = self.slots(flow);
        let slot = slots.start_write_back(lpa);
        slots.end_write_back(lpa, slot.version(), drop);
        slot.mask()
    }

    /// Writes every changed page of a flow to flash.
    pub(crate) fn recall_flush(&mut self, flow: FlowId, mut written: impl FnMut(FlowId, Lpa, u64)) {
        for lpa in self.pages_to_flush(flow) {
            let sectors = self.recall_write_back(flow, lpa);
            written(flow, lpa, sectors);
        }
    }

    /// Removes trimmed sectors from the cache.
    pub(crate) fn recall_trim(&mut self, flow: FlowId, lpa: Lpa, mask: u64) {
        self.slots(flow).trim(lpa, mask);
    }

    /// Ends the past: its epochs and evictions do not count.
    pub fn recall_over(&mut self) {
        self.hot.forget();
        self.evictions = 0;
    }

    /// True if writes of the flow go through the cache.
    pub(crate) fn takes_writes(&self, flow: FlowId) -> bool {
        self.modes[flow].takes_writes()
    }

    /// True if the cache does nothing for the flow.
    pub(crate) fn is_off(&self, flow: FlowId) -> bool {
        self.modes[flow] == CacheMode::Off
    }

    /// Pools of the cache.
    pub(crate) fn pools(&self) -> usize {
        self.pools.len()
    }

    /// Number of the flow's pool.
    pub(crate) fn pool_of(&self, flow: FlowId) -> usize {
        self.pool_at(flow)
    }

    /// True if the page is cached.
    pub(crate) fn has(&mut self, flow: FlowId, lpa: Lpa) -> bool {
        self.slots(flow).contains(lpa)
    }

    /// Checks the slots of every pool.
    pub(crate) fn audit_slots(&self) {
        let partitioned = self.pools.len() > 1;
        for (flow, pool) in (0..).map(FlowId::new).zip(&self.pools) {
            pool.cached().audit(partitioned.then_some(flow));
        }
    }
}
