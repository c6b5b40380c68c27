//! Bit errors of the flash (`[errors]`): how often a page has to be read until its data is correct,
//! and which blocks are moved before their data is lost.
//!
//! The error rate of a page follows from its type and from the age of its block ([`rate`]): program
//! and erase cycles, time since the program, reads since then. The errors of a codeword are
//! independent, so decoding fails with the tail of the binomial distribution ([`tail`]). A read
//! retry senses the same cells with shifted reference voltages and has fewer errors. The draw of a
//! codeword is one number for all its retries: a hash of the seed, the page, its cycles, the reads
//! of its block, and the codeword. Retry `k` fails if that number is below the tail at its error
//! rate. So the mean number of retries of a codeword is the sum of these tails.
//!
//! Sources: Kim, Choi and Min (FAST 2019) for the error rate; Park et al. (ASPLOS 2021) for read
//! retries. How much a retry gains, and soft decoding, are assumptions.

pub(crate) mod config;
mod rate;
mod tail;

use flashlane_engine::{Array, Rng, Time};
use flashlane_units::{BlockId, Ppa, TransactionId};

use super::Ftl;
use super::blocks::{BlockState, Blocks};
use super::gc::JobKind;
use crate::context::Context;
use crate::flash::config::FlashConfig;
use crate::flash::page_types::page_type;
use crate::layout::SECTOR_BYTES;
use crate::transaction::units_from;
use config::ErrorsConfig;
use rate::{Age, DAY_MS, Rate};
use tail::Tail;

/// Picoseconds of a millisecond.
const MS: u64 = 1_000_000_000;

/// The part of a configuration that decides about errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorSettings<'a> {
    pub(crate) errors: &'a ErrorsConfig,
    pub(crate) flash: &'a FlashConfig,
}

/// Counts since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Pages whose data was decoded.
    pub pages: u64,
    /// Pages that were read again.
    pub retried_pages: u64,
    /// Read retries.
    pub retries: u64,
    /// Pages that needed soft decoding.
    pub soft_pages: u64,
    /// Reads for soft decoding.
    pub soft_reads: u64,
    /// Pages whose data no decoder could correct.
    pub lost_pages: u64,
    /// Blocks whose data was moved because of its errors.
    pub refreshes: u64,
}

/// The reads that a page needs after its first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MoreReads {
    pub(crate) count: u8,
    /// True if all retries fail, so that the last of these reads are for soft decoding.
    pub(crate) soft: bool,
}

/// What becomes of a codeword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Fate {
    /// Reads that fail in hard decoding. One more than the retries: soft decoding is next.
    failures: u32,
    lost: bool,
}

/// When the data of a page is moved before it is lost.
#[derive(Clone, Copy, Debug)]
struct Refresh {
    /// Error rate of the worst page of the block.
    at: f64,
    /// The block that is looked at next.
    next: BlockId,
}

/// Ages of the blocks, and the draws of errors.
#[derive(Clone, Debug)]
pub(super) struct Errors {
    seed: u64,
    rate: Rate,
    hard: Tail,
    soft: Option<Tail>,
    /// Error rate by page of a block, as a multiple of that of the block.
    factors: Array<usize, f64>,
    worst_factor: f64,
    retries: u32,
    retry_factor: f64,
    soft_senses: u32,
    codeword_sectors: u32,
    /// Cycles of each block, and age of its data in milliseconds, at the start of the run.
    cycles: u64,
    retention_ms: u64,
    /// Page reads of each block since it was programmed.
    reads: Array<BlockId, u32>,
    /// Time at which the first page of the block was programmed; the end of time if that was
    /// before the run.
    since: Array<BlockId, Time>,
    refresh: Option<Refresh>,
    counts: ErrorCounts,
}

/// Mixes 64 bits: the last step of SplitMix64.
#[inline]
fn mix(bits: u64) -> u64 {
    let z = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The number between 0 and 1 that stands for a hash.
#[inline]
fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// First sectors of the codewords of `sectors` sectors that the sectors of a mask lie in. `before`:
/// sectors of the page before those of the mask.
fn codewords_of(mask: u64, before: u64, sectors: u32) -> impl Iterator<Item = u64> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let sector = before + u64::from(left.trailing_zeros());
        let first = sector - sector % u64::from(sectors);
        let end = first + u64::from(sectors) - before;
        left &= if end < 64 { u64::MAX << end } else { 0 };
        Some(first)
    })
}

impl Errors {
    /// The ages at the start. `blocks`: the state of the drive; those with data have been read.
    pub(super) fn new(settings: ErrorSettings<'_>, blocks: &Blocks, seed: u64) -> Box<Self> {
        let ErrorSettings { errors, flash } = settings;
        let used = |block| blocks.block(blocks.block_with(block)).allocated > 0;
        let count = blocks.count() * blocks.planes_per_block() as usize;
        let reads = |block| if used(block) { errors.age.reads } else { 0 };
        let by_type = errors.factors(flash.technology);
        let types = by_type.len();
        let of_page = |page| by_type[page_type(flash, page, types)];
        let factors: Array<usize, f64> = (0..flash.pages_per_block).map(of_page).collect();
        let (n, hard, soft) = (errors.codeword_bits(), errors.hard_bits(), errors.soft_bits());
        Box::new(Self {
            seed: Rng::stream(seed, "errors", 0).next_u64(),
            rate: Rate::new(&errors.coefficients()),
            hard: Tail::new(n, hard),
            soft: (errors.soft_senses > 0).then(|| Tail::new(n, soft)),
            worst_factor: factors.iter().copied().fold(0.0, f64::max),
            factors,
            retries: errors.retries,
            retry_factor: errors.retry_factor,
            soft_senses: errors.soft_senses,
            codeword_sectors: (errors.codeword.0 / SECTOR_BYTES) as u32,
            cycles: u64::from(errors.age.cycles),
            retention_ms: (errors.age.retention_days * DAY_MS) as u64,
            reads: (0..count).map(BlockId::at).map(reads).collect(),
            since: Array::of(Time::MAX, count),
            refresh: errors.refresh_at.map(|at| Refresh { at, next: BlockId::new(0) }),
            counts: ErrorCounts::default(),
        })
    }

    /// Counts since the start of the run.
    pub(super) fn counts(&self) -> ErrorCounts {
        self.counts
    }

    /// A block was erased.
    pub(super) fn erased(&mut self, block: BlockId) {
        self.reads[block] = 0;
    }

    /// The age of a block that was erased `erases` times in the run.
    fn age(&self, block: BlockId, erases: u32, now: Time) -> Age {
        let retention_ms = match self.since[block] {
            Time::MAX => self.retention_ms + now.0 / MS,
            since => (now - since).0 / MS,
        };
        let cycles = self.cycles + u64::from(erases);
        Age { cycles, retention_ms, reads: u64::from(self.reads[block]) }
    }

    /// What becomes of the codewords of a page that are read with the given error rate. Each is
    /// named by its first sector; a codeword may be named more than once.
    fn fate(&self, hash: u64, codewords: impl Iterator<Item = u64>, rate: f64) -> Fate {
        if self.hard.of(rate) == 0.0 {
            return Fate::default();
        }
        let fates = codewords.map(|at| {
            let drawn = unit(mix(hash.wrapping_add((at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))));
            self.fate_of_codeword(drawn, rate)
        });
        fates.max().unwrap_or_default()
    }

    fn fate_of_codeword(&self, drawn: f64, rate: f64) -> Fate {
        let (mut failures, mut rate_of_retry) = (0, rate);
        while failures <= self.retries && drawn < self.hard.of(rate_of_retry) {
            failures += 1;
            rate_of_retry *= self.retry_factor;
        }
        let lost =
            failures > self.retries && self.soft.as_ref().is_none_or(|soft| drawn < soft.of(rate));
        Fate { failures, lost }
    }

    /// Draws the reads that a page of a block needs. `page`: its index in the block, and in the
    /// drive; `codewords`: what was read of it.
    fn draw(
        &mut self,
        (block, page, of_drive): (BlockId, u32, u32),
        codewords: impl Iterator<Item = u64>,
        age: Age,
    ) -> MoreReads {
        let rate = self.rate.of(age) * self.factors[page as usize];
        let place = u64::from(of_drive) << 32 | age.reads;
        let hash = mix(mix(self.seed ^ place) ^ age.cycles);
        let fate = self.fate(hash, codewords, rate);
        let counts = &mut self.counts;
        counts.pages += 1;
        counts.lost_pages += u64::from(fate.lost);
        let retries = fate.failures.min(self.retries);
        counts.retries += u64::from(retries);
        let soft = fate.failures > self.retries && self.soft_senses > 0;
        let senses = if soft { self.soft_senses } else { 0 };
        counts.soft_pages += u64::from(soft);
        counts.soft_reads += u64::from(senses);
        let more = retries + senses;
        counts.retried_pages += u64::from(more > 0);
        let reads = &mut self.reads[block];
        *reads = reads.saturating_add(1 + more);
        MoreReads { count: more as u8, soft }
    }

    /// True if the data of a block of that age has to be moved, and if a move would help: new data
    /// of a block with as many cycles has fewer errors.
    fn is_due(&self, refresh: Refresh, age: Age) -> bool {
        let rate = |age| self.rate.of(age) * self.worst_factor;
        rate(age) >= refresh.at && rate(Age { cycles: age.cycles, ..Age::default() }) < refresh.at
    }
}

impl Ftl {
    /// The first page of a block of the flash is programmed.
    #[inline]
    pub(super) fn data_begins(&mut self, ppa: Ppa, now: Time) {
        if let Some(errors) = &mut self.errors {
            errors.since[self.blocks.flash_block_of(ppa)] = now;
        }
    }

    /// Draws how many more reads a page needs whose data has arrived for the first time: that of a
    /// transaction, and of the units of the same page that ride on it. Blocks whose data has too
    /// many errors begin to move.
    pub(crate) fn more_reads(&mut self, ctx: &mut Context, id: TransactionId) -> MoreReads {
        let ppa = ctx.transactions[id].ppa;
        let block = self.blocks.flash_block_of(ppa);
        let page = self.blocks.flash_page_of(ppa);
        let erases = self.blocks.block(self.blocks.block_of(ppa)).erases;
        let (units, sectors) = (self.blocks.units_per_page(), self.pages.sectors_per_page());
        let errors = self.errors.as_mut().expect("errors are modelled");
        let age = errors.age(block, erases, ctx.now);
        let codeword = errors.codeword_sectors;
        let all = &ctx.transactions;
        let riders = if units > 1 { all[id].rider() } else { TransactionId::NONE };
        let codewords = std::iter::once(id).chain(units_from(all, riders)).flat_map(|unit| {
            let tr = &all[unit];
            let before = u64::from(tr.ppa.get() % units * sectors);
            codewords_of(tr.mask(), before, codeword)
        });
        let more = errors.draw((block, page, ppa.get() / units), codewords, age);
        if let Some(refresh) = &mut errors.refresh {
            // Besides the block that is read, one other block is looked at, in turn.
            let other = refresh.next;
            let next = other.get() + 1;
            refresh.next =
                BlockId::new(if (next as usize) < errors.since.len() { next } else { 0 });
            self.refresh_if_due(ctx, block);
            self.refresh_if_due(ctx, other);
        }
        more
    }

    /// Moves the data of a block of the flash that has too many errors, or of the superblock that
    /// it is a part of. Where that is not possible now, the block is tried again when it is looked
    /// at next.
    fn refresh_if_due(&mut self, ctx: &mut Context, flash_block: BlockId) {
        let block = self.blocks.block_with(flash_block);
        let state = self.blocks.block(block);
        if state.state != BlockState::Full || !state.quiet() {
            return;
        }
        let errors = self.errors.as_mut().expect("errors are modelled");
        let refresh = errors.refresh.expect("the caller looked");
        let age = errors.age(flash_block, state.erases, ctx.now);
        if !errors.is_due(refresh, age) {
            return;
        }
        let max_jobs = self.layer.collector().map_or(0, |collector| collector.max_jobs);
        let plane = self.blocks.plane_of(block);
        let plane_state = &self.blocks.planes[plane];
        if plane_state.jobs < max_jobs && !plane_state.urgent {
            self.errors.as_mut().expect("errors are modelled").counts.refreshes += 1;
            self.start_job(ctx, plane, block, JobKind::Scrubbing);
        } else if self.pacing.is_some() {
            // The jobs of the plane may wait for writes that never come.
            self.release_all(ctx, plane);
        }
    }

    /// Checks the ages of the blocks.
    pub(in crate::ftl) fn audit_errors(&self, now: Time) {
        let Some(errors) = &self.errors else { return };
        for block in errors.since.numbers() {
            let state = self.blocks.block(self.blocks.block_with(block));
            let since = errors.since[block];
            assert!(since == Time::MAX || since <= now, "block {block} was programmed before now");
            let used = state.programmed > 0 || state.reads > 0;
            let erased = state.erases > 0 && state.state == BlockState::Free;
            assert!(
                used || !erased || errors.reads[block] == 0,
                "the reads of block {block} count from its program on"
            );
        }
        let ErrorCounts {
            pages, retried_pages, retries, soft_pages, soft_reads, lost_pages, ..
        } = errors.counts;
        let most = retried_pages * u64::from(errors.retries);
        assert!(retries <= most, "a page is read again as often as the configuration says");
        assert!(
            retried_pages <= pages && soft_pages <= retried_pages && lost_pages <= pages,
            "a page has one fate"
        );
        assert_eq!(
            soft_reads,
            soft_pages * u64::from(errors.soft_senses),
            "soft reads are counted"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codewords_are_found_by_their_sectors() {
        let of = |mask, sectors| codewords_of(mask, 0, sectors).collect::<Vec<u64>>();
        assert_eq!(of(0b1, 2), [0]);
        assert_eq!(of(0b1000_0010, 2), [0, 6]);
        assert_eq!(of(0xff, 2), [0, 2, 4, 6]);
        assert_eq!(of(0x8001, 4), [0, 12]);
        assert_eq!(of(0x8000, 8), [8]);
        assert_eq!(of(u64::MAX, 8), [0, 8, 16, 24, 32, 40, 48, 56]);
        assert_eq!(of(0, 8), [0; 0]);
    }

    #[test]
    fn units_of_a_page_share_codewords_where_these_are_larger() {
        let of = |before| codewords_of(0b111, before, 4).collect::<Vec<u64>>();
        assert_eq!([of(0), of(3), of(6), of(125)], [vec![0], vec![0, 4], vec![4, 8], vec![124]]);
    }
}
