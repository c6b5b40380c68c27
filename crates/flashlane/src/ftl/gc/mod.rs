//! Garbage collection: which block is emptied, and how its valid pages move.
//!
//! One collection is a job: the victim's valid pages are read and written to the collection frontier
//! of the same plane and owner, then the block is erased. A page queued for migration blocks
//! nobody: reads use the old page, a host write cancels the move. From the moment the copy has its
//! new page, the mapping points there, and reads wait for its program as for any other.

mod collector;
mod greedy;
pub mod mean_field;
mod rga;

use flashlane_engine::Rng;

use crate::ftl::blocks::{Block, BlockState};

pub(crate) use collector::Job;
pub use greedy::GreedyConfig;
pub use rga::RgaConfig;

crate::policies! {
    /// Which block garbage collection empties next.
    pub enum Victim at "ftl.gc.victim" {
        "greedy" => Greedy(GreedyConfig),
        "rga" => Rga(RgaConfig),
    }
}

/// What a victim policy sees: the blocks of one plane.
pub struct PlaneView<'a> {
    blocks: &'a [Block],
    pages_per_block: u32,
}

impl<'a> PlaneView<'a> {
    pub(crate) fn new(blocks: &'a [Block], pages_per_block: u32) -> Self {
        Self { blocks, pages_per_block }
    }

    /// Number of blocks.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// True for a plane without blocks, which does not occur.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Invalid pages of a block that may be collected: full, every program done, not in
    /// collection, something to gain. `None` for all others.
    #[inline]
    #[must_use]
    pub fn gain(&self, block: u32) -> Option<u32> {
        let b = &self.blocks[block as usize];
        let gain = self.pages_per_block - u32::from(b.valid);
        (b.state == BlockState::Full && gain > 0 && b.quiet()).then_some(gain)
    }
}

/// Chooses victims.
pub trait VictimPolicy: Send {
    /// The block to empty next, or `None` where no block of the plane may be collected.
    fn select(&mut self, plane: &PlaneView<'_>, rng: &mut Rng) -> Option<u32>;

    /// Distribution of valid pages over the full blocks in steady state under uniform writes:
    /// `result[v]` is the share of blocks with `v` valid pages. `rho`: valid over all pages of those
    /// blocks. Used for preconditioning.
    fn steady_state(&self, rho: f64, pages_per_block: u32, blocks_per_plane: u32) -> Vec<f64>;
}

/// Builds the configured policy.
pub(crate) fn build(config: &Victim) -> Box<dyn VictimPolicy> {
    match config {
        Victim::Greedy(_) => Box::new(greedy::Greedy),
        Victim::Rga(config) => Box::new(rga::Rga::new(config)),
    }
}

#[cfg(test)]
mod conformance {
    use super::*;

    /// Every registered policy: never picks a block that may not be collected, always finds one if
    /// there is one, and repeats itself for the same seed.
    #[test]
    fn every_policy_picks_only_what_may_be_collected() {
        for name in Victim::NAMES {
            let config = Victim::by_name(name).expect("listed names exist");
            let mut rng = Rng::stream(11, name, 0);
            for round in 0..500_u64 {
                let blocks = random_plane(&mut rng, round);
                let view = PlaneView::new(&blocks, 16);
                let pick = |seed| build(&config).select(&view, &mut Rng::stream(seed, "pick", 0));
                let possible = (0..view.len()).any(|b| view.gain(b).is_some());
                let picked = pick(round);
                assert_eq!(picked.is_some(), possible, "{name} finds a victim if there is one");
                assert!(picked.is_none_or(|b| view.gain(b).is_some()), "{name} picks a safe block");
                assert_eq!(picked, pick(round), "{name} repeats itself");
            }
        }
    }

    fn random_plane(rng: &mut Rng, round: u64) -> Vec<Block> {
        let states = [BlockState::Free, BlockState::Open, BlockState::Full, BlockState::Collected];
        (0..24)
            .map(|_| {
                let state = states[rng.below(if round.is_multiple_of(3) { 2 } else { 4 }) as usize];
                let programmed = if rng.below(4) == 0 { 15 } else { 16 };
                Block {
                    state,
                    valid: rng.below(17) as u16,
                    allocated: 16,
                    issued: 16,
                    programmed,
                    ..Block::default()
                }
            })
            .collect()
    }

    #[test]
    fn steady_states_are_distributions_with_the_right_mean() {
        for name in Victim::NAMES {
            let policy = build(&Victim::by_name(name).expect("listed names exist"));
            for (rho, pages) in [(0.5, 16), (0.78, 64), (0.93, 256), (0.93, 1024)] {
                let p = policy.steady_state(rho, pages, 1024);
                let mass: f64 = p.iter().sum();
                let mean: f64 = p.iter().enumerate().map(|(v, p)| v as f64 * p).sum();
                assert_eq!(p.len(), pages as usize + 1);
                assert!((mass - 1.0).abs() < 1e-9, "{name} {rho} {pages}: {mass}");
                let relative = mean / (rho * f64::from(pages));
                assert!((relative - 1.0).abs() < 1e-6, "{name} {rho} {pages}: {relative}");
            }
        }
    }
}
