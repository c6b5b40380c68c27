//! The pages of requests.

use super::Device;
use crate::grain::Grain;
use crate::request::Request;
use flashlane_units::{FlowId, Lpa, RequestId, RequestOp};

/// A page of a request: the logical page, and its sectors in the request.
pub(crate) struct PagePart {
    pub(crate) lpa: Lpa,
    pub(crate) mask: u64,
    /// Number of sectors in `mask`.
    pub(crate) sectors: u32,
}

impl PagePart {
    /// The sectors of `mask`. Where requests are cut at the boundaries of the device, a part may
    /// reach over the end of its page; sectors from the 64th on are left out.
    #[inline]
    fn new(lpa: Lpa, mask: u64) -> Self {
        Self { lpa, mask, sectors: mask.count_ones() }
    }

    /// The sectors of `mask`, of which a bit stands for several.
    fn coarse(lpa: Lpa, mask: u64, grain: Grain) -> Self {
        Self { lpa, mask, sectors: grain.sectors(mask) }
    }

    /// Leaves only the sectors of `mask`.
    #[inline]
    pub(crate) fn keep(&mut self, mask: u64, grain: Grain) {
        debug_assert!(mask & !self.mask == 0, "a part only shrinks");
        (self.mask, self.sectors) = (mask, grain.sectors(mask));
    }
}

/// A range of consecutive sectors of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectorRange {
    pub(crate) sector: u64,
    pub(crate) sectors: u32,
}

/// Iterates over the pages of a range of sectors.
pub(crate) struct PageParts {
    lpa: Lpa,
    /// First sector of the range in the next page.
    start: u32,
    /// Number of sectors left.
    left: u32,
    /// Sectors from the last page boundary of the device before the flow to the flow's first page;
    /// 0 unless requests are cut at the boundaries of the device.
    phase: u32,
    grain: Grain,
    /// True if requests are cut at the boundaries of the device, or a bit is several sectors.
    special: bool,
}

impl PageParts {
    /// The next page; `None` after the last one.
    #[inline(always)]
    pub(crate) fn next(&mut self, page_sectors: u32) -> Option<PagePart> {
        if self.left == 0 {
            return None;
        }
        if self.special {
            return Some(self.next_special(page_sectors));
        }
        debug_assert!(self.start < page_sectors, "a part starts inside of its page");
        let count = self.left.min(page_sectors - self.start);
        let mask = (u64::MAX >> (u64::BITS - count)) << self.start;
        let part = PagePart { lpa: self.lpa, mask, sectors: count };
        self.lpa = self.lpa.plus(1);
        self.start = 0;
        self.left -= count;
        Some(part)
    }

    /// The next part, where a bit of its mask is several sectors. It is not trimmed.
    #[cold]
    fn next_special(&mut self, page_sectors: u32) -> PagePart {
        if !self.grain.is_coarse() {
            return self.next_of_device(page_sectors);
        }
        let end = (self.start + self.left).min(page_sectors);
        let mask = self.grain.covering(self.start, end);
        let part = PagePart::coarse(self.lpa, mask, self.grain);
        self.left -= end - self.start;
        self.lpa = self.lpa.plus(1);
        self.start = 0;
        part
    }

    /// The next part, which ends at a page boundary of the device.
    fn next_of_device(&mut self, page_sectors: u32) -> PagePart {
        let count = self.left.min(page_sectors - (self.start + self.phase) % page_sectors);
        let part = PagePart::new(self.lpa, ones(count) << self.start);
        let end = self.start + count;
        self.lpa = self.lpa.plus(end / page_sectors);
        self.start = end % page_sectors;
        self.left -= count;
        part
    }
}

/// The lowest `count` bits.
#[inline]
fn ones(count: u32) -> u64 {
    u64::MAX >> (u64::BITS - count)
}

impl Device {
    /// The pages of `sectors` sectors of a flow, from `sector` on.
    #[inline(always)]
    pub(crate) fn page_parts(&self, flow: FlowId, sector: u64, sectors: u32) -> PageParts {
        let page = self.page_sectors.divide_long(sector);
        let start = (sector - page * u64::from(self.page_sectors.get())) as u32;
        let space = &self.layout.flows[flow.index()];
        let (phase, grain) = (space.page_phase, self.grain);
        let special = phase != 0 || grain.is_coarse();
        PageParts { lpa: space.lpa(page), start, left: sectors, phase, grain, special }
    }

    /// The sectors of a request up to the point where it continues elsewhere in its flow, and the
    /// sectors from there on.
    #[inline]
    pub(crate) fn ranges(
        &self,
        flow: FlowId,
        sector: u64,
        sectors: u32,
    ) -> (SectorRange, Option<SectorRange>) {
        debug_assert!(sectors > 0, "only a flush has no sectors, and it has no pages");
        let whole = SectorRange { sector, sectors };
        match self.layout.flows[flow.index()].wraps_after {
            Some(last) if sector + u64::from(sectors) > last + 1 => self.wrap(flow, whole, last),
            _ => (whole, None),
        }
    }

    /// A page that starts past the end continues at its device address modulo the flow's length, as
    /// in the released MQSim, which looks at the first sector of each page on the device.
    #[cold]
    fn wrap(
        &self,
        flow: FlowId,
        whole: SectorRange,
        last: u64,
    ) -> (SectorRange, Option<SectorRange>) {
        assert!(last > 0, "a flow that wraps has more than one sector");
        let space = &self.layout.flows[flow.index()];
        let before = space.in_stream.map_or(0, |start| start.sectors);
        let start = space.start_sector - u64::from(before);
        let size = u64::from(self.page_sectors.get());
        let cut = ((start + last) / size + 1) * size;
        let Some(sectors) = (whole.sector + u64::from(whole.sectors)).checked_sub(cut - start)
        else {
            return (whole, None);
        };
        let (sectors, before) = (sectors as u32, whole.sectors - sectors as u32);
        // Reaching beyond the end a second time is not followed.
        let sector = (cut % last).min(last + 1 - u64::from(sectors));
        let rest = (sectors > 0).then_some(SectorRange { sector, sectors });
        (SectorRange { sectors: before, ..whole }, rest)
    }

    /// Number of parts into which a request is cut, one for each page.
    #[inline]
    pub(crate) fn page_count(&self, id: RequestId) -> u32 {
        let request = &self.context.requests[id];
        if request.sectors == 0 {
            return 0;
        }
        let (first, rest) = self.ranges(request.flow, request.sector, request.sectors);
        let count = |range| self.pages_of(request.flow, range);
        count(first) + rest.map_or(0, count)
    }

    /// Number of parts of a range of sectors.
    #[inline]
    fn pages_of(&self, flow: FlowId, range: SectorRange) -> u32 {
        let phase = u64::from(self.layout.flows[flow.index()].page_phase);
        let (first, size) = (range.sector + phase, u64::from(self.page_sectors.get()));
        let begins = first - self.page_sectors.divide_long(first) * size;
        let end = begins + u64::from(range.sectors);
        // Most requests touch one page.
        if end <= size { 1 } else { self.page_sectors.divide_long(end - 1) as u32 + 1 }
    }

    /// The part of a request with this index.
    #[inline]
    pub(crate) fn page_part(&self, id: RequestId, index: u32) -> PagePart {
        let request = &self.context.requests[id];
        if self.grain.is_coarse() {
            return self.coarse_part(request, index);
        }
        let (first, rest) = self.ranges(request.flow, request.sector, request.sectors);
        if index == 0 {
            let mut parts = self.page_parts(request.flow, first.sector, first.sectors);
            return parts.next(self.page_sectors.get()).expect("a request has a page");
        }
        match rest {
            None => self.part_of(request.flow, first, index),
            Some(rest) => match index.checked_sub(self.pages_of(request.flow, first)) {
                None => self.part_of(request.flow, first, index),
                Some(index) => self.part_of(request.flow, rest, index),
            },
        }
    }

    /// The part of a request with this index, where a bit is several sectors. A trim gives up only
    /// bits all of whose sectors it names, so that its mask may be empty.
    #[cold]
    #[inline(never)]
    fn coarse_part(&self, request: &Request, index: u32) -> PagePart {
        let size = u64::from(self.page_sectors.get());
        let page = self.page_sectors.divide_long(request.sector) + u64::from(index);
        let start = request.sector.max(page * size) - page * size;
        let end = (request.sector + u64::from(request.sectors)).min((page + 1) * size);
        let (start, end) = (start as u32, (end - page * size) as u32);
        let trims = request.op == RequestOp::Trim;
        let mask =
            if trims { self.grain.inside(start, end) } else { self.grain.covering(start, end) };
        let part =
            PagePart::coarse(self.layout.flows[request.flow.index()].lpa(page), mask, self.grain);
        let all = end - start;
        let fits = if trims { part.sectors <= all } else { part.sectors >= all };
        assert!(fits, "bits cover what is written, and trims give up no more than they name");
        part
    }

    /// The part of a range of sectors with this index.
    #[inline]
    fn part_of(&self, flow: FlowId, range: SectorRange, index: u32) -> PagePart {
        let space = &self.layout.flows[flow.index()];
        let (phase, size) = (u64::from(space.page_phase), u64::from(self.page_sectors.get()));
        // Counted from the last page boundary of the device before the flow.
        let first = range.sector + phase;
        let cut = (self.page_sectors.divide_long(first) + u64::from(index)) * size;
        let start = first.max(cut) - phase;
        let end = (first + u64::from(range.sectors)).min(cut + size) - phase;
        let page = self.page_sectors.divide_long(start);
        debug_assert!(end > start, "a part has a sector");
        let mask = ones((end - start) as u32) << (start - page * size);
        PagePart::new(space.lpa(page), mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(phase: u32) -> Vec<(u32, u64)> {
        let (grain, special) = (Grain::of(8), phase != 0);
        let mut parts = PageParts { lpa: Lpa::new(0), start: 0, left: 16, phase, grain, special };
        std::iter::from_fn(|| parts.next(8)).map(|part| (part.lpa.get(), part.mask)).collect()
    }

    #[test]
    fn parts_end_at_the_pages_of_the_flow_or_of_the_device() {
        assert_eq!(parts(0), [(0, 0xFF), (1, 0xFF)]);
        // The flow begins three sectors after a page boundary of the device. The second part
        // belongs to the first page, too, and reaches over its end.
        assert_eq!(parts(3), [(0, 0x1F), (0, 0xFF << 5), (1, 0b111 << 5)]);
    }

    #[test]
    fn the_sectors_of_a_part_are_those_of_its_mask() {
        for (page_sectors, phase) in [(8, 0), (8, 3), (64, 0), (64, 3), (64, 63)] {
            let (grain, special) = (Grain::of(page_sectors), phase != 0);
            let lpa = Lpa::new(0);
            let mut parts = PageParts { lpa, start: 1, left: 200, phase, grain, special };
            while let Some(part) = parts.next(page_sectors) {
                assert_eq!(part.sectors, part.mask.count_ones(), "pages of {page_sectors} sectors");
            }
        }
    }
}
