//! A part of the cache with slots and a bound of its own: the whole cache, or the share of one
//! flow.

use flashlane_units::{FlowId, RequestId};
use std::collections::VecDeque;

use super::Cache;
use super::slots::Slots;
use crate::layout::Geometry;

/// Counts of the pages of a flow that the cache was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// Slots, the bound on data under way to flash, and the writes that wait for room.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    slots: Slots,
    /// Sectors of the write-backs under way. Unit: sectors.
    in_flight: u64,
    bound: u64,
    /// Writes that wait for room, oldest first.
    waiting: VecDeque<RequestId>,
}

impl Pool {
    /// An empty pool. Capacity in pages, bound in sectors.
    pub(super) fn new(capacity: u32, bound: u64) -> Self {
        Self { slots: Slots::new(capacity), in_flight: 0, bound, waiting: VecDeque::new() }
    }

    /// Lets more data be on its way to flash. Unit: sectors.
    pub(super) fn raise_bound(&mut self, more: u64) {
        self.bound += more;
    }

    #[inline]
    pub(super) fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    /// The slots, for reading.
    #[inline]
    pub(super) fn cached(&self) -> &Slots {
        &self.slots
    }

    /// Writes that wait for room, oldest first.
    #[inline]
    pub(super) fn waiting(&self) -> &VecDeque<RequestId> {
        &self.waiting
    }

    /// The waiting writes, to add and remove some.
    #[inline]
    pub(super) fn waiting_mut(&mut self) -> &mut VecDeque<RequestId> {
        &mut self.waiting
    }

    /// Data on its way to flash. Unit: sectors.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The most data that can be on its way to flash before a write waits for room: the bound, or
    /// all slots. `page`: sectors of a page.
    pub(super) fn fill_max(&self, page: u64) -> u64 {
        self.bound.min(u64::from(self.slots.capacity()) * page)
    }

    /// True if another page may be accepted.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.in_flight < self.bound
    }

    /// Counts sectors that are on their way to flash.
    #[inline]
    pub(super) fn start_write_back(&mut self, sectors: u32) {
        self.in_flight += u64::from(sectors);
    }

    /// Counts sectors that have reached flash.
    #[inline]
    pub(super) fn end_write_back(&mut self, sectors: u32) {
        self.in_flight -= u64::from(sectors);
    }

    /// Checks the sectors that count as under way.
    pub(super) fn audit(&self, under_way: u64) {
        assert_eq!(under_way, self.in_flight, "write-backs under way are counted");
    }

    /// Checks what must hold at the end of a run. `rests`: pages may wait for others of their zone.
    pub(super) fn audit_end(&self, rests: bool) {
        assert!(self.waiting.is_empty(), "no write waits for room");
        assert!(rests || self.in_flight == 0, "nothing is on its way to flash");
    }
}

impl Cache {
    /// Lets a word line more be on its way to flash for each plane and flow, with two-pass
    /// programming: it waits for the next one of its block, which the bound must not keep away.
    pub(crate) fn let_word_lines_wait(&mut self, geometry: Geometry) {
        let units = u64::from(geometry.planes()) * u64::from(geometry.units_per_program());
        let flows = self.modes.len() / self.pools.len();
        let more = units * u64::from(geometry.sectors_per_page) * flows as u64;
        self.pools.iter_mut().for_each(|pool| pool.raise_bound(more));
    }

    /// Queues a write that waits until there is room for all of its pages.
    pub(crate) fn wait(&mut self, flow: FlowId, request: RequestId) {
        self.pool(flow).waiting_mut().push_back(request);
    }

    /// The write that has waited longest for room in the pool of a flow.
    #[inline]
    pub(crate) fn longest_waiting(&mut self, flow: FlowId) -> Option<RequestId> {
        self.pool(flow).waiting().front().copied()
    }

    /// Removes the write that waited longest: all its pages are accepted.
    pub(crate) fn wait_over(&mut self, flow: FlowId) {
        self.pool(flow).waiting_mut().pop_front();
    }
}
