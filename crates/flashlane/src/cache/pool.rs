//! A part of the cache with slots and a bound of its own: all of it, or the share of one flow.

use std::collections::VecDeque;

use super::slots::Slots;

/// Slots, the bound on data under way to flash, and the writes that wait for room.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) slots: Slots,
    /// Sectors of write-backs under way. Unit: sectors.
    pub(super) in_flight: u64,
    bound: u64,
    /// Writes that wait for room, oldest first.
    pub(super) waiting: VecDeque<u32>,
}

impl Pool {
    /// Nothing cached, nothing under way. Capacity in pages, bound in sectors.
    pub(super) fn new(capacity: u32, bound: u64) -> Self {
        Self { slots: Slots::new(capacity), in_flight: 0, bound, waiting: VecDeque::new() }
    }

    /// Another page may be accepted.
    pub(super) fn is_open(&self) -> bool {
        self.in_flight < self.bound
    }
}
