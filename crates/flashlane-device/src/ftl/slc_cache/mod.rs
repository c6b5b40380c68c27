//! The SLC cache: blocks whose cells hold one bit each, which take the host's writes first
//! (`[slc_cache]`).
//!
//! A block in SLC mode has one page for each word line, a third of the pages with three bits a
//! cell, and pages with times of their own. The host's writes to a plane go to the open block of
//! the cache there. The next one is an empty block of the static part, which has the last blocks of
//! each plane. If there is none, the dynamic part takes a free block while the plane has free
//! blocks above the threshold of collection, and the part has not reached its size or its share.
//! Otherwise the write goes to an ordinary block. Folding is the collection of a block of the
//! cache: its valid pages move to ordinary blocks. Where a plane is short of free blocks, the
//! oldest full block of the dynamic part is the next victim, before the policy is asked; a drive
//! that the host leaves idle folds both parts.
//!
//! Invariants: a block is in SLC mode exactly while its stream is [`Stream::SLC`]. The blocks of
//! the dynamic part are counted by plane, and never more than it may have there. Blocks of the
//! static part are in SLC mode or empty, and in no pool of free blocks.
//!
//! Source: the write caches that makers of consumer drives describe in their data sheets
//! (TurboWrite, nCache). Their rules are not published; the ones above are ours.

pub(crate) mod config;

use flashlane_units::{BlockId, ByteSize, FlowId, PlaneId, Ppa};

use super::Ftl;
use super::blocks::{BlockState, Blocks, Stream};
use super::gc::JobKind;
use crate::context::Context;
use crate::layout::Geometry;
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

/// The cache, as the translation layer is built with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlcSettings {
    /// Pages of a block in SLC mode.
    pub(crate) pages: u32,
    /// Blocks of each plane in the static part.
    pub(crate) static_blocks: u32,
    /// Blocks of each plane that the dynamic part may have.
    dynamic_blocks: u32,
    /// Part of a plane's free blocks that the dynamic part may have, of [`WHOLE`].
    share: u64,
}

impl SlcSettings {
    pub(crate) fn new(config: &SlcCacheConfig, geometry: Geometry, pages: u32) -> Self {
        let blocks = |size| {
            let blocks = blocks_of_plane(size, geometry, pages);
            blocks.min(u64::from(geometry.blocks_per_plane)) as u32
        };
        Self {
            pages,
            static_blocks: blocks(config.static_size),
            dynamic_blocks: blocks(config.size),
            share: (config.free_share.0 * WHOLE as f64).round() as u64,
        }
    }
}

/// Blocks of each plane that hold this much data in SLC mode. `pages`: those of such a block.
#[must_use]
pub fn blocks_of_plane(size: ByteSize, geometry: Geometry, pages: u32) -> u64 {
    size.0 / (geometry.page_bytes() * u64::from(pages * geometry.planes())).max(1)
}

/// The cache in a run.
#[derive(Clone, Debug)]
pub(super) struct SlcCache {
    settings: SlcSettings,
    /// True while the drive folds in idle time.
    idle: bool,
    counts: SlcCounts,
}

impl SlcCache {
    pub(super) fn new(settings: SlcSettings) -> Self {
        Self { settings, idle: false, counts: SlcCounts::default() }
    }

    /// True if the dynamic part may take one more block of a plane. `threshold`: the plane collects
    /// with fewer free blocks than this.
    fn may_grow(&self, blocks: &Blocks, plane: PlaneId, threshold: u32) -> bool {
        let (taken, free) = (blocks.planes[plane].slc, blocks.planes[plane].free);
        if free <= threshold || taken >= self.settings.dynamic_blocks {
            return false;
        }
        let room = u64::from(taken) + u64::from(free - threshold);
        u64::from(taken + 1) * WHOLE <= room * self.settings.share
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
        if stream != Stream::HOST {
            return self.blocks.allocate(plane, flow, stream, false);
        }
        let inside = self.blocks.is_open(plane, flow, Stream::SLC)
            || self.blocks.has_empty_static(plane)
            || cache.may_grow(&self.blocks, plane, threshold);
        let stream = if inside { Stream::SLC } else { Stream::HOST };
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

    /// The oldest full block of the cache on a plane, or of its dynamic part alone; `None` where
    /// there is none.
    pub(super) fn block_to_fold(&self, plane: PlaneId, dynamic_only: bool) -> Option<BlockId> {
        self.slc_cache.as_ref()?;
        if dynamic_only && self.blocks.planes[plane].slc == 0 {
            return None;
        }
        let filled = self.blocks.planes[plane].filled;
        let full = |block: &BlockId| {
            let state = self.blocks.block(*block);
            state.stream == Stream::SLC
                && state.state == BlockState::Full
                && state.quiet()
                && !(dynamic_only && self.blocks.is_static(*block))
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
        if let Some(block) = self.block_to_fold(plane, false) {
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
            blocks: self.blocks.in_slc_mode(),
            pages_per_block: self.blocks.slc_pages(),
            ..counts
        })
    }

    /// Checks the cache, for audits.
    pub(super) fn audit_slc_cache(&self) {
        let (most, fixed) = self
            .slc_cache
            .as_ref()
            .map_or((0, 0), |cache| (cache.settings.dynamic_blocks, cache.settings.static_blocks));
        for (plane, state) in self.blocks.planes.numbered() {
            assert!(state.slc <= most, "the SLC cache of plane {plane} has at most its blocks");
            let slc = |block: &BlockId| self.blocks.block(*block).stream == Stream::SLC;
            let found = self.blocks.numbers_of(plane).filter(slc).count();
            let inside = state.slc + fixed - state.static_free.len() as u32;
            assert_eq!(found, inside as usize, "blocks of plane {plane} in SLC mode");
            for &block in &state.static_free {
                let empty = self.blocks.block(block).state == BlockState::Free;
                assert!(empty && self.blocks.is_static(block), "block {block} is empty and static");
            }
        }
    }
}
