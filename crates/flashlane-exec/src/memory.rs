//! The memory of a program that is in use: the heap, which `brk` moves, and mappings.

use crate::host::PAGE;

/// A mapping whose changes go to a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedMapping {
    pub(crate) address: u64,
    pub(crate) length: u64,
    pub(crate) file: u32,
    pub(crate) offset: u64,
}

/// The address space of a program above its segments: heap, stack, mappings.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    heap: u64,
    brk: u64,
    heap_end: u64,
    /// Start of the mappings.
    base: u64,
    /// For each page of mappings: true if it is taken.
    taken: Vec<bool>,
    /// Pages from here on were never taken, so they are zero.
    fresh: usize,
    pub(crate) shared: Vec<SharedMapping>,
}

impl AddressSpace {
    /// The heap begins behind the program and ends before the stack; mappings are behind the stack.
    /// `stack`: the first stack pointer. `None` if there is no room.
    pub(crate) fn new(heap: u64, stack: u64, stack_size: u64, memory: u64) -> Option<Self> {
        let heap_end = stack.checked_sub(stack_size)? / PAGE * PAGE;
        let base = stack.next_multiple_of(PAGE) + 16 * PAGE;
        let pages = memory.checked_sub(base + 16 * PAGE)? / PAGE;
        (heap < heap_end).then(|| Self {
            heap,
            brk: heap,
            heap_end,
            base,
            taken: vec![false; pages as usize],
            fresh: 0,
            shared: Vec::new(),
        })
    }

    /// Start of the heap, the end that it may reach, and the start of the mappings.
    pub(crate) fn bounds(&self) -> (u64, u64, u64) {
        (self.heap, self.heap_end, self.base)
    }

    /// The end of the heap.
    pub(crate) fn brk(&self) -> u64 {
        self.brk
    }

    /// Moves the end of the heap if possible. Returns the end, and the range that has to be zeroed.
    pub(crate) fn set_brk(&mut self, to: u64) -> (u64, Option<(u64, u64)>) {
        let before = self.brk;
        if (self.heap..=self.heap_end).contains(&to) {
            self.brk = to;
        }
        (self.brk, (self.brk > before).then(|| (before, self.brk - before)))
    }

    /// Takes a range. Returns its address, and the length of its part that may hold old data.
    pub(crate) fn map(&mut self, length: u64) -> Option<(u64, u64)> {
        let pages = usize::try_from(length.div_ceil(PAGE)).ok()?;
        let mut run = 0;
        let end = (0..self.taken.len()).find(|&page| {
            run = if self.taken[page] { 0 } else { run + 1 };
            run >= pages
        })? + 1;
        let first = end - pages;
        self.taken[first..end].fill(true);
        let old = self.fresh.clamp(first, end) - first;
        self.fresh = self.fresh.max(end);
        Some((self.base + first as u64 * PAGE, old as u64 * PAGE))
    }

    /// Takes a given range. False if it is outside of the mappings.
    pub(crate) fn map_at(&mut self, address: u64, length: u64) -> bool {
        let Some((first, end)) = self.pages(address, length) else { return false };
        self.taken[first..end].fill(true);
        self.fresh = self.fresh.max(end);
        true
    }

    /// Frees a range. False if it is outside of the mappings.
    pub(crate) fn unmap(&mut self, address: u64, length: u64) -> bool {
        let Some((first, end)) = self.pages(address, length) else { return false };
        self.taken[first..end].fill(false);
        true
    }

    fn pages(&self, address: u64, length: u64) -> Option<(usize, usize)> {
        let first = address.checked_sub(self.base)? / PAGE;
        let end = first.checked_add(length.div_ceil(PAGE))?;
        let fits = address.is_multiple_of(PAGE) && end <= self.taken.len() as u64;
        fits.then_some((first as usize, end as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_reused_and_known_to_hold_old_data() {
        let mut space = AddressSpace::new(PAGE, 100 * PAGE, 10 * PAGE, 200 * PAGE).expect("room");
        let (a, old) = space.map(3 * PAGE).expect("room");
        assert_eq!((a, old), (116 * PAGE, 0));
        let (b, _) = space.map(1).expect("room");
        assert_eq!(b, a + 3 * PAGE);
        assert!(space.unmap(a, PAGE));
        assert_eq!(space.map(PAGE), Some((a, PAGE)));
        assert_eq!(space.map(PAGE), Some((b + PAGE, 0)));
        assert_eq!(space.map(100 * PAGE), None);
        assert!(!space.unmap(0, PAGE));
        assert_eq!(space.set_brk(0), (PAGE, None));
        assert_eq!(space.set_brk(3 * PAGE), (3 * PAGE, Some((PAGE, 2 * PAGE))));
        assert_eq!(space.set_brk(95 * PAGE), (3 * PAGE, None));
    }
}
