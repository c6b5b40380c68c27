//! Addresses of a clone: continued runs, and popular extents.

use flashlane_engine::Rng;

use super::params::{CloneParams, Side};
use crate::footprint::{Footprint, PageSet};
use crate::scatter::Scatter;
use crate::zipf::Zipf;
use flashlane_device::layout::FlowSpace;

/// Requests whose ends may be continued.
const RECENT: usize = 32;
/// Sectors of 4 KiB.
pub(super) const ALIGN_SECTORS: u64 = 8;
/// Attempts to draw a start that continues no request.
const TRIES: u32 = 8;

/// End of a recent request. Unit: sectors.
#[derive(Clone, Copy, Debug)]
struct End {
    sector: u64,
    is_read: bool,
    /// True if a request has already continued here.
    taken: bool,
}

/// Popularity of the extents that one type of request goes to.
#[derive(Clone, Debug)]
struct Popular {
    ranks: Zipf,
    /// First number of the set before the extents are scattered.
    first: u64,
    count: u64,
    seq1: f64,
    seq32: f64,
    aligned: f64,
}

/// The address generator of a clone.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    rng: Rng,
    scatter: Scatter,
    extent: u64,
    space_sectors: u64,
    /// Index by `is_read`.
    sides: [Popular; 2],
    ends: [End; RECENT],
    /// Requests so far.
    count: usize,
}

impl Addresses {
    /// Addresses of `params` in `space`. Sets that are too large for the space are shrunk by one
    /// factor.
    pub(super) fn new(params: &CloneParams<'_>, space: &FlowSpace, mut rng: Rng) -> Self {
        assert!(space.sectors > 0, "a flow needs space");
        let extent = u64::from(params.extent_kib) * 2;
        let extents = space.sectors.div_ceil(extent);
        let wanted = |side: &Side<'_>| (f64::from(side.footprint_mib) * 2048.0) / extent as f64;
        let (reads, writes) = (wanted(&params.read), wanted(&params.write));
        let shrink = (extents as f64 / (reads + writes)).min(1.0);
        let count = |wanted: f64| ((wanted * shrink) as u64).clamp(1, extents);
        let (reads, writes) = (count(reads), count(writes));
        let shared = (reads.min(writes) as f64 * params.overlap) as u64;
        let first_write = (reads - shared).min(extents - writes);
        let popular = |side: &Side<'_>, first, count| Popular {
            ranks: Zipf::new(count, side.theta),
            first,
            count,
            seq1: side.seq1,
            seq32: side.seq32,
            aligned: side.aligned,
        };
        Self {
            scatter: Scatter::new(extents, rng.next_u64()),
            rng,
            extent,
            space_sectors: space.sectors,
            sides: [popular(&params.write, first_write, writes), popular(&params.read, 0, reads)],
            ends: [End { sector: u64::MAX, is_read: false, taken: true }; RECENT],
            count: 0,
        }
    }

    /// Switches to different draws.
    pub(super) fn diverge(&mut self) {
        self.rng = super::diverged(&mut self.rng);
    }

    /// Start and length of the next request. Unit: sectors.
    pub(super) fn draw(&mut self, is_read: bool, sectors: u32) -> (u64, u32) {
        let sectors = u64::from(sectors).min(self.space_sectors);
        let start = match self.continued(is_read, sectors) {
            Some(start) => start,
            None => self.popular(is_read, sectors),
        };
        debug_assert!(start + sectors <= self.space_sectors, "{start} + {sectors}");
        self.ends[self.count % RECENT] = End { sector: start + sectors, is_read, taken: false };
        self.count += 1;
        (start, sectors as u32)
    }

    /// With the probability of a continuation, the end that the request continues.
    fn continued(&mut self, is_read: bool, sectors: u64) -> Option<u64> {
        let side = &self.sides[usize::from(is_read)];
        let unit = self.rng.unit();
        if unit >= side.seq32 || self.count == 0 {
            return None;
        }
        let last = (self.count - 1) % RECENT;
        let slot = if unit < side.seq1 { last } else { self.pick(is_read) };
        let sector = self.ends[slot].sector;
        if sector.saturating_add(sectors) > self.space_sectors {
            return None;
        }
        self.ends[slot].taken = true;
        Some(sector)
    }

    /// An end that no request has continued yet, preferably of the same type, from a random place
    /// of the ring on.
    fn pick(&mut self, is_read: bool) -> usize {
        let from = self.rng.below(RECENT as u64) as usize;
        let slots = (0..RECENT).map(|step| (from + step) % RECENT);
        let mut free = slots.filter(|&slot| !self.ends[slot].taken);
        let first = free.clone().next();
        let same = free.find(|&slot| self.ends[slot].is_read == is_read);
        same.or(first).unwrap_or((self.count - 1) % RECENT)
    }

    /// A start in a popular extent that continues no recent request.
    fn popular(&mut self, is_read: bool, sectors: u64) -> u64 {
        let mut start = 0;
        for _ in 0..TRIES {
            start = self.popular_once(is_read, sectors);
            if self.ends.iter().all(|end| end.sector != start) {
                break;
            }
        }
        start
    }

    fn popular_once(&mut self, is_read: bool, sectors: u64) -> u64 {
        let side = &self.sides[usize::from(is_read)];
        let extent = self.scatter.at(side.first + side.ranks.draw(&mut self.rng));
        // Any start within the extent is equally likely, and so are its pages. The request may end
        // beyond the extent.
        let align = if self.rng.unit() < side.aligned { ALIGN_SECTORS } else { 1 };
        let start = extent * self.extent + self.rng.below(self.extent / align) * align;
        let last = self.space_sectors - sectors;
        if start <= last { start } else { last - last % align }
    }

    /// The pages of both sets. Runs may leave them by a few requests.
    pub(super) fn footprint(&self, sectors_per_page: u64) -> Footprint {
        let pages = self.space_sectors.div_ceil(sectors_per_page);
        let mut set = PageSet::new(pages);
        for side in &self.sides {
            for index in side.first..side.first + side.count {
                let first = self.scatter.at(index) * self.extent;
                let last = (first + self.extent).min(self.space_sectors) - 1;
                set.insert_range(first / sectors_per_page, last / sectors_per_page);
            }
        }
        if set.count() == pages { Footprint::Whole } else { Footprint::Pages(set) }
    }
}
