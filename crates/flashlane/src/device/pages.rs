//! The pages of a request.

use super::Device;
use flashlane_units::{FlowId, Lpa, RequestId};

/// One page of a request: logical page and the sectors of it.
pub(crate) struct PagePart {
    pub(crate) lpa: Lpa,
    pub(crate) mask: u64,
}

/// The pages of a request, one after the other.
pub(crate) struct PageParts {
    lpa: Lpa,
    /// First sector in the next page.
    start: u32,
    /// Sectors from there on.
    left: u32,
}

impl PageParts {
    /// The next page of so many sectors; `None` after the last one.
    #[inline(always)]
    pub(crate) fn next(&mut self, page_sectors: u32) -> Option<PagePart> {
        if self.left == 0 {
            return None;
        }
        let count = self.left.min(page_sectors - self.start);
        let mask = (u64::MAX >> (u64::BITS - count)) << self.start;
        let part = PagePart { lpa: self.lpa, mask };
        self.lpa = self.lpa.plus(1);
        self.start = 0;
        self.left -= count;
        Some(part)
    }
}

impl Device {
    /// The pages that so many sectors of a flow touch.
    #[inline(always)]
    pub(crate) fn page_parts(&self, flow: FlowId, sector: u64, sectors: u32) -> PageParts {
        let page = self.page_sectors.divide_long(sector);
        let start = (sector - page * u64::from(self.page_sectors.get())) as u32;
        PageParts { lpa: self.layout.flows[flow.index()].lpa(page), start, left: sectors }
    }

    /// Number of pages that a request touches.
    #[inline]
    pub(crate) fn page_count(&self, id: RequestId) -> u32 {
        let request = &self.requests[id];
        if request.sectors == 0 {
            return 0;
        }
        let page_of = |sector: u64| self.page_sectors.divide_long(sector);
        let last = request.sector + u64::from(request.sectors) - 1;
        (page_of(last) - page_of(request.sector) + 1) as u32
    }

    /// The `index`th page of a request.
    #[inline]
    pub(crate) fn page_part(&self, id: RequestId, index: u32) -> PagePart {
        let request = &self.requests[id];
        let page = self.page_sectors.divide_long(request.sector) + u64::from(index);
        let first_of_page = page * u64::from(self.page_sectors.get());
        let next_page = first_of_page + u64::from(self.page_sectors.get());
        let start = request.sector.max(first_of_page) - first_of_page;
        let end = (request.sector + u64::from(request.sectors)).min(next_page) - first_of_page;
        let count = end - start;
        let ones = if count == 64 { u64::MAX } else { (1 << count) - 1 };
        PagePart { lpa: self.layout.flows[request.flow.index()].lpa(page), mask: ones << start }
    }
}
