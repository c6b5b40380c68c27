//! The steady state of a policy that has no closed form: one plane is written at random, without
//! time, until its full blocks stop changing.

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, VictimPolicy};
use crate::ftl::blocks::{Block, BlockState};

/// Most pages of the simulated plane, so that the simulation takes only a moment.
const PAGES_MAX: u32 = 1 << 17;
/// Range of the number of full blocks of the plane.
const BLOCKS: std::ops::RangeInclusive<u32> = 64..=512;
/// Collection stops when this many blocks are free.
const SPARE: u32 = 3;
/// Victims without a gain that are allowed in a row, for each block of the plane.
const TRIES: usize = 64;
/// Times that the plane is overwritten before the first look, and during the looks.
const OVERWRITES: [u64; 2] = [12, 6];
/// Looks at the plane during the second phase.
const LOOKS: u64 = 96;
/// Parts of the blocks by age.
const PARTS: usize = 8;

/// The simulated plane.
pub(super) struct Plane<'a> {
    policy: &'a mut dyn VictimPolicy,
    rng: Rng,
    per_block: u32,
    blocks: Vec<Block>,
    /// Logical pages that were written to each block; some lie elsewhere by now.
    written: Vec<Vec<u32>>,
    /// The block of each logical page.
    places: Vec<u32>,
    pub free: Vec<u32>,
    /// The open blocks: for writes of the host, and for moved pages.
    frontiers: [u32; 2],
    pub filled: u32,
    programs: u64,
}

/// The steady state of full blocks whose valid share is `rho`. Equal policies give equal states.
///
/// # Panics
///
/// If the policy chooses a block that may not be collected, chooses none although a block has a
/// gain, or chooses blocks without a gain again and again.
pub(crate) fn steady_state(
    policy: &mut dyn VictimPolicy,
    rho: f64,
    pages_per_block: u32,
    blocks_per_plane: u32,
) -> SteadyState {
    let most = (PAGES_MAX / pages_per_block).clamp(*BLOCKS.start(), *BLOCKS.end());
    let full = blocks_per_plane.clamp(*BLOCKS.start(), most);
    let logical = (rho * f64::from(full) * f64::from(pages_per_block)).round() as u32;
    let mut plane = Plane::new(policy, full, logical, pages_per_block);
    let [before, during] = OVERWRITES.map(|times| times * u64::from(logical));
    plane.overwrite(before);
    let mut by_age = vec![vec![0.0; pages_per_block as usize + 1]; PARTS];
    let programs = plane.programs;
    for _ in 0..LOOKS {
        plane.overwrite(during / LOOKS);
        plane.look(&mut by_age);
    }
    for part in &mut by_age {
        let sum: f64 = part.iter().sum();
        part.iter_mut().for_each(|share| *share /= sum);
    }
    let written = during / LOOKS * LOOKS;
    SteadyState { by_age, write_amplification: (plane.programs - programs) as f64 / written as f64 }
}

impl<'a> Plane<'a> {
    /// Fills every block but the spare ones; the logical pages are dealt out in turns.
    fn new(policy: &'a mut dyn VictimPolicy, full: u32, logical: u32, per_block: u32) -> Self {
        let blocks = full + SPARE + 2;
        let mut plane = Self {
            policy,
            rng: Rng::stream(1, "ftl.gc.simulated", 0),
            per_block,
            blocks: vec![Block::default(); blocks as usize],
            written: vec![Vec::with_capacity(per_block as usize); blocks as usize],
            places: (0..logical).map(|page| page % full).collect(),
            free: (full..blocks).rev().collect(),
            frontiers: [0; 2],
            filled: 0,
            programs: 0,
        };
        for page in 0..logical {
            let block = page % full;
            plane.written[block as usize].push(page);
            plane.blocks[block as usize].valid += 1;
        }
        (0..full).for_each(|block| plane.fill(block));
        plane.frontiers = [0, 1].map(|_| plane.open());
        plane
    }

    fn fill(&mut self, block: u32) {
        self.filled += 1;
        let pages = self.per_block;
        let block = &mut self.blocks[block as usize];
        (block.state, block.filled) = (BlockState::Full, self.filled);
        (block.allocated, block.issued, block.programmed) = (pages, pages, pages);
    }

    fn open(&mut self) -> u32 {
        let block = self.free.pop().expect("collection keeps blocks free");
        self.blocks[block as usize] = Block { state: BlockState::Open, ..Block::default() };
        self.written[block as usize].clear();
        block
    }

    /// Writes a page to a frontier, and replaces the frontier when it is full.
    fn write(&mut self, page: u32, stream: usize) {
        let block = self.frontiers[stream];
        self.places[page as usize] = block;
        self.blocks[block as usize].valid += 1;
        self.written[block as usize].push(page);
        self.programs += 1;
        if self.written[block as usize].len() as u32 == self.per_block {
            self.fill(block);
            self.frontiers[stream] = self.open();
        }
    }

    fn overwrite(&mut self, pages: u64) {
        for _ in 0..pages {
            let page = self.rng.below(self.places.len() as u64) as u32;
            let old = self.places[page as usize];
            self.blocks[old as usize].valid -= 1;
            self.write(page, 0);
            let mut tries = 0;
            while (self.free.len() as u32) < SPARE {
                tries += 1;
                let most = TRIES * self.blocks.len();
                assert!(tries < most, "{most} victims in a row give no free block");
                self.collect();
            }
        }
    }

    fn collect(&mut self) {
        let view = PlaneView::new(&self.blocks, &[], self.per_block, self.filled);
        let victim = self.policy.select(&view, &mut self.rng);
        let Some(victim) = victim else {
            let gain = (0..view.len()).any(|block| view.gain(block).is_some());
            panic!("a victim policy chooses a block where there is one to gain (gain: {gain})");
        };
        assert!(view.valid(victim).is_some(), "block {victim} may not be collected");
        self.blocks[victim as usize].state = BlockState::Collected;
        for page in std::mem::take(&mut self.written[victim as usize]) {
            if self.places[page as usize] == victim {
                self.write(page, 1);
            }
        }
        self.blocks[victim as usize] = Block::default();
        self.free.insert(0, victim);
    }

    /// Counts the full blocks by age and valid pages into `by_age`.
    fn look(&self, by_age: &mut [Vec<f64>]) {
        let mut full: Vec<&Block> =
            self.blocks.iter().filter(|block| block.state == BlockState::Full).collect();
        full.sort_unstable_by_key(|block| block.filled);
        for (at, block) in full.iter().enumerate() {
            by_age[at * by_age.len() / full.len()][block.valid as usize] += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Victim, build};
    use super::*;

    /// The simulation agrees with the closed forms of the built-in policies.
    #[test]
    fn closed_forms_are_found() {
        for name in ["greedy", "rga", "fifo", "random-plus", "cost-benefit"] {
            let victim = Victim::by_name(name).expect("registered");
            for (rho, pages) in [(0.78, 32), (0.9, 64)] {
                let closed = victim.steady_state(rho, pages, 512);
                let found = steady_state(&mut *build(&victim), rho, pages, 512);
                let ratio = found.write_amplification / closed.write_amplification;
                assert!((ratio - 1.0).abs() < 0.05, "{name} {rho} {pages}: {ratio}");
                let distance: f64 = (found.valid_pages().iter())
                    .zip(closed.valid_pages())
                    .map(|(found, closed)| (found - closed).abs())
                    .sum();
                assert!(distance < 0.15, "{name} {rho} {pages}: {distance}");
                let again = steady_state(&mut *build(&victim), rho, pages, 512);
                assert_eq!(again, found, "{name} repeats itself");
            }
        }
    }
}
