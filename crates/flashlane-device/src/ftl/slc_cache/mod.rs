//! The SLC cache: blocks whose cells hold one bit each, which take the host's writes first
//! (`[slc_cache]`).
//!
//! A block in SLC mode has one page for each word line, a third of the pages with three bits a
//! cell, and pages with times of their own. The host's writes to a plane go to the open block of the
//! cache there. A new block is opened while the plane has free blocks above the threshold of
//! collection, and the cache has not reached its size or its share. Otherwise the write goes to an
//! ordinary block. Folding is the collection of a block of the cache: its valid pages move to
//! ordinary blocks. Where a plane is short of free blocks, the oldest full block of the cache is the
//! next victim, before the policy is asked; a drive that the host leaves idle folds as well.
//!
//! Invariants: a block is in SLC mode exactly while its stream is [`Stream::Slc`]; the blocks of a
//! plane in SLC mode are counted, and never more than the cache may have there.
//!
//! Source: the write caches that makers of consumer drives describe in their data sheets
//! (TurboWrite, nCache). Their rules are not published; the ones above are ours.

pub(crate) mod config;

use flashlane_units::{BlockId, FlowId, PlaneId, Ppa};

use super::Ftl;
use super::blocks::{BlockState, Blocks, Stream};
use super::gc::JobKind;
use crate::context::Context;
use crate::layout::Layout;
use config::SlcCacheConfig;

/// One, as a share of free blocks.
const WHOLE: u64 = 1_000_000;

/// Counters of the cache. Unit: pages, unless named otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlcCounts {
    /// Host pages placed in the cache.
    pub written: u64,
    /// Host pages placed in ordinary blocks.
    pub direct: u64,
    /// Host reads of pages in the cache.
    pub reads: u64,
    /// Blocks of the cache whose data began to move into ordinary ones.
    pub folds: u64,
    /// The folds that idle time began.
    pub idle_folds: u64,
    /// Valid pages of those blocks when it began.
    pub folded: u64,
    /// Erases of blocks in SLC mode.
    pub erases: u64,
    /// Blocks in SLC mode now.
    pub blocks: u32,
    /// Pages of a block in SLC mode.
    pub pages_per_block: u32,
}

/// What the cache decides with.
#[derive(Clone, Debug)]
pub(super) struct SlcCache {
    /// Blocks of a plane that the cache may have.
    blocks_max: u32,
    /// Part of a plane's free blocks that the cache may have, of [`WHOLE`].
    share: u64,
    /// True while the drive folds in idle time.
    idle: bool,
    counts: SlcCounts,
}

/// Blocks of each plane that a cache of this size may have.
#[must_use]
pub fn blocks_of_plane(config: &SlcCacheConfig, page_bytes: u64, pages: u32, planes: u32) -> u64 {
    config.size.0 / (page_bytes * u64::from(pages) * u64::from(planes)).max(1)
}

impl SlcCache {
    /// The cache of a drive whose blocks have `pages` pages in SLC mode; `None` without a cache.
    pub(super) fn new(
        config: Option<&SlcCacheConfig>,
        layout: &Layout,
        pages: u32,
    ) -> Option<Self> {
        let config = config?;
        let geometry = layout.geometry;
        let blocks = blocks_of_plane(config, geometry.page_bytes(), pages, geometry.planes());
        assert!(blocks > 0, "the cache has a block on every plane");
        Some(Self {
            blocks_max: blocks.min(u64::from(geometry.blocks_per_plane)) as u32,
            share: (config.free_share.0 * WHOLE as f64).round() as u64,
            idle: false,
            counts: SlcCounts::default(),
        })
    }

    /// True if the cache may take one more block of a plane. `threshold`: the plane collects with
    /// fewer free blocks than this.
    fn may_grow(&self, blocks: &Blocks, plane: PlaneId, threshold: u32) -> bool {
        let (taken, free) = (blocks.planes[plane].slc, blocks.planes[plane].free);
        if free <= threshold || taken >= self.blocks_max {
            return false;
        }
        let room = u64::from(taken) + u64::from(free - threshold);
        u64::from(taken + 1) * WHOLE <= room * self.share
    }
}

impl Ftl {
    /// Allocates a page for a write on a drive with a cache. Pages of the host go to the cache, or
    /// around it to ordinary blocks.
    #[cold]
    #[inline(never)]
    pub(super) fn allocate_cached(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        stream: Stream,
    ) -> Option<Ppa> {
        let threshold = self.layer.collector().map_or(0, |collector| collector.threshold);
        let cache = self.slc_cache.as_mut().expect("the drive has an SLC cache");
        if stream != Stream::Host {
            return self.blocks.allocate(plane, flow, stream, false);
        }
        let inside = self.blocks.is_open(plane, flow, Stream::Slc)
            || cache.may_grow(&self.blocks, plane, threshold);
        let stream = if inside { Stream::Slc } else { Stream::Host };
        let ppa = self.blocks.allocate(plane, flow, stream, false);
        assert!(ppa.is_some() || !inside, "the cache has room where it takes a page");
        cache.counts.written += u64::from(inside);
        cache.counts.direct += u64::from(ppa.is_some() && !inside);
        ppa
    }

    /// A host read has found its page.
    #[cold]
    #[inline(never)]
    pub(super) fn count_slc_read(&mut self, ppa: Ppa) {
        let inside = self.blocks.is_slc(ppa);
        if let Some(cache) = &mut self.slc_cache {
            cache.counts.reads += u64::from(inside);
        }
    }

    /// The oldest full block of the cache on a plane; `None` where there is none.
    pub(super) fn block_to_fold(&self, plane: PlaneId) -> Option<BlockId> {
        if self.slc_cache.is_none() || self.blocks.planes[plane].slc == 0 {
            return None;
        }
        let filled = self.blocks.planes[plane].filled;
        let full = |block: &BlockId| {
            let state = self.blocks.block(*block);
            state.stream == Stream::Slc && state.state == BlockState::Full && state.quiet()
        };
        let age = |block: &BlockId| filled.wrapping_sub(self.blocks.block(*block).filled);
        self.blocks.numbers_of(plane).filter(full).max_by_key(age)
    }

    /// A block in SLC mode begins to be emptied.
    pub(super) fn count_fold(&mut self, valid: u32, kind: JobKind) {
        let cache = self.slc_cache.as_mut().expect("the drive has an SLC cache");
        cache.counts.folds += 1;
        cache.counts.idle_folds += u64::from(kind == JobKind::Folding);
        cache.counts.folded += u64::from(valid);
    }

    /// Folds the next block of a plane, if the drive folds in idle time and nothing else is
    /// collected there.
    pub(super) fn fold_on(&mut self, ctx: &mut Context, plane: PlaneId) {
        if !self.slc_cache.as_ref().is_some_and(|cache| cache.idle)
            || self.blocks.planes[plane].jobs > 0
        {
            return;
        }
        if let Some(block) = self.block_to_fold(plane) {
            self.gc_invocations += 1;
            self.start_job(ctx, plane, block, JobKind::Folding);
        }
    }

    /// The host has left the drive idle: every plane folds.
    pub(super) fn folding_begins(&mut self, ctx: &mut Context) {
        let Some(cache) = &mut self.slc_cache else { return };
        cache.idle = true;
        for plane in self.blocks.planes.numbers() {
            self.fold_on(ctx, plane);
        }
    }

    /// The host uses the drive again. Blocks that are being folded are emptied all the same.
    #[inline]
    pub(super) fn folding_ends(&mut self) {
        if let Some(cache) = &mut self.slc_cache {
            cache.idle = false;
        }
    }

    /// The counters; `None` without a cache.
    pub(super) fn slc_counts(&self) -> Option<SlcCounts> {
        let counts = self.slc_cache.as_ref()?.counts;
        Some(SlcCounts {
            erases: self.blocks.slc_erases(),
            blocks: self.blocks.planes.iter().map(|plane| plane.slc).sum(),
            pages_per_block: self.blocks.slc_pages(),
            ..counts
        })
    }

    /// Checks the cache, for audits.
    pub(super) fn audit_slc_cache(&self) {
        for (plane, state) in self.blocks.planes.numbered() {
            let most = self.slc_cache.as_ref().map_or(0, |cache| cache.blocks_max);
            assert!(state.slc <= most, "the SLC cache of plane {plane} has at most its blocks");
            let found = self.blocks.of_plane(plane).iter().filter(|b| b.stream == Stream::Slc);
            assert_eq!(found.count(), state.slc as usize, "blocks of plane {plane} in SLC mode");
        }
    }
}
