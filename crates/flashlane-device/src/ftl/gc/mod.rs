//! Garbage collection: which block is emptied, and how its valid pages move.
//!
//! One collection is a job: the victim's valid pages are read and written to the collection
//! frontier of the same plane and owner, then the block is erased. A page that is queued for
//! migration blocks no request: reads use the old page, and a host write cancels the move. From the
//! moment the copy has its new page, the mapping points there, and reads wait for its program as
//! for any other.

mod collector;
mod conformance;
mod cost_benefit;
mod fifo;
mod greedy;
mod job;
pub mod mean_field;
mod none;
mod pacing;
mod random;
mod random_plus;
mod random_plus_plus;
mod rga;
mod simulated;

use flashlane_engine::Rng;

use crate::ftl::blocks::{Block, BlockState, first_fewest};

pub(super) use collector::Collector;
pub use conformance::RULES;
pub use cost_benefit::CostBenefitConfig;
pub use fifo::FifoConfig;
pub use greedy::GreedyConfig;
pub(super) use job::{Job, JobKind};
pub use mean_field::SteadyState;
pub use none::NoneConfig;
pub(super) use pacing::{Pace, PacedJobs};
pub use random::RandomConfig;
pub use random_plus::RandomPlusConfig;
pub use random_plus_plus::RandomPlusPlusConfig;
pub use rga::RgaConfig;

flashlane_units::policies! {
    /// Which block garbage collection empties next.
    pub enum Victim at "ftl.gc.victim" open to VictimConfig {
        "greedy" => Greedy(GreedyConfig),
        "rga" => Rga(RgaConfig),
        "random" => Random(RandomConfig),
        "random-plus" => RandomPlus(RandomPlusConfig),
        "random-plus-plus" => RandomPlusPlus(RandomPlusPlusConfig),
        "fifo" => Fifo(FifoConfig),
        "cost-benefit" => CostBenefit(CostBenefitConfig),
        "none" => None(NoneConfig),
    }
}

impl Victim {
    /// The steady state that the policy leads to under uniform writes; see
    /// [`VictimPolicy::steady_state`].
    #[must_use]
    pub fn steady_state(&self, rho: f64, pages_per_block: u32, blocks: u32) -> SteadyState {
        steady_state(&*build(self), rho, pages_per_block, blocks)
    }
}

/// The view of a victim policy: the blocks of one plane.
pub struct PlaneView<'a> {
    blocks: &'a [Block],
    /// Valid pages of full blocks, for policies that compare them all.
    full: &'a [u16],
    pages_per_block: u32,
    /// Blocks of the plane filled so far.
    filled: u32,
    /// Invalid pages with which a block is worth its collection.
    least_gain: u32,
}

impl<'a> PlaneView<'a> {
    pub(crate) fn new(
        blocks: &'a [Block],
        full: &'a [u16],
        pages_per_block: u32,
        filled: u32,
    ) -> Self {
        Self { blocks, full, pages_per_block, filled, least_gain: 1 }
    }

    /// A view in which a block must gain at least `least_gain` pages: those of a page of the flash,
    /// where these are mapped in units.
    pub(crate) fn gaining(self, least_gain: u32) -> Self {
        Self { least_gain, ..self }
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

    /// Pages of a block.
    #[must_use]
    pub fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }

    /// Valid pages of a block that may be collected: full, every program done, not in collection.
    /// `None` for all others.
    #[inline]
    #[must_use]
    pub fn valid(&self, block: u32) -> Option<u32> {
        let b = &self.blocks[block as usize];
        (b.state == BlockState::Full && b.quiet()).then_some(b.valid)
    }

    /// Invalid pages of a block that may be collected and has some; with mapping units smaller than
    /// a page, as many as a page has units. `None` for all others.
    #[inline]
    #[must_use]
    pub fn gain(&self, block: u32) -> Option<u32> {
        self.valid(block)
            .map(|valid| self.pages_per_block - valid)
            .filter(|&gain| gain >= self.least_gain)
    }

    /// The first of the blocks with the most gain; `None` where none has any.
    #[must_use]
    pub fn emptiest(&self) -> Option<u32> {
        if let Some((block, valid)) = first_fewest(self.full) {
            if u32::from(valid) > self.pages_per_block - self.least_gain {
                return None;
            }
            if self.gain(block).is_some() {
                return Some(block);
            }
            // A program of the block is still under way.
        }
        let (mut best, mut least) = (None, self.pages_per_block);
        for (block, state) in (0..).zip(self.blocks) {
            // Seldom true, so the rest is checked only here.
            if state.valid < least && self.gain(block).is_some() {
                (best, least) = (Some(block), state.valid);
            }
        }
        best
    }

    /// Blocks of the plane that were filled after a full one.
    #[inline]
    #[must_use]
    pub fn age(&self, block: u32) -> u32 {
        self.filled.wrapping_sub(self.blocks[block as usize].filled)
    }

    /// True if reads of the block are under way or queued.
    #[must_use]
    pub fn is_read(&self, block: u32) -> bool {
        self.blocks[block as usize].reads > 0
    }
}

/// Configuration of a victim policy from outside.
pub trait VictimConfig: Send + Sync {
    /// A new policy. One policy chooses for all planes of the drive.
    fn build(&self) -> Box<dyn VictimPolicy>;
}

/// A policy that chooses victims.
pub trait VictimPolicy: Send + dyn_clone::DynClone {
    /// The block to empty next, or `None` where no block of the plane may be collected with a gain.
    fn select(&mut self, plane: &PlaneView<'_>, rng: &mut Rng) -> Option<u32>;

    /// The full blocks in steady state under uniform writes, where there is a closed form. `rho`:
    /// valid share of the pages of those blocks. Preconditioning uses it. Without it, a plane is
    /// overwritten without time until its blocks are in steady state.
    fn steady_state(
        &self,
        rho: f64,
        pages_per_block: u32,
        blocks_per_plane: u32,
    ) -> Option<SteadyState> {
        let _ = (rho, pages_per_block, blocks_per_plane);
        None
    }

    /// Number of random blocks of which the victim is the best, as the released MQSim says of the
    /// policy; `None` for random victims.
    fn released_choices(&self, blocks: u32) -> Option<u32> {
        let _ = blocks;
        Some(mean_field::released::CHOICES)
    }

    /// True if every block has its turn, one after the other.
    fn takes_turns(&self) -> bool {
        false
    }

    /// True if the policy asks for [`PlaneView::emptiest`] every time.
    fn compares_all(&self) -> bool {
        false
    }

    /// True if victims are emptied and erased in no time, without any work for the flash.
    fn costs_nothing(&self) -> bool {
        false
    }
}

dyn_clone::clone_trait_object!(VictimPolicy);

/// The steady state of a policy, from its closed form or by simulation.
pub fn steady_state(
    policy: &dyn VictimPolicy,
    rho: f64,
    pages_per_block: u32,
    blocks_per_plane: u32,
) -> SteadyState {
    policy.steady_state(rho, pages_per_block, blocks_per_plane).unwrap_or_else(|| {
        let mut policy = dyn_clone::clone_box(policy);
        simulated::steady_state(&mut *policy, rho, pages_per_block, blocks_per_plane)
    })
}

/// Builds the configured policy.
pub fn build(config: &Victim) -> Box<dyn VictimPolicy> {
    match config {
        Victim::Greedy(_) => Box::new(greedy::Greedy),
        Victim::Rga(config) => Box::new(rga::Rga::new(config)),
        Victim::Random(_) => Box::new(random::Random),
        Victim::RandomPlus(_) => Box::new(random_plus::RandomPlus),
        Victim::RandomPlusPlus(config) => Box::new(random_plus_plus::RandomPlusPlus::new(config)),
        Victim::Fifo(_) => Box::new(fifo::Fifo),
        Victim::CostBenefit(_) => Box::new(cost_benefit::CostBenefit),
        Victim::None(_) => Box::new(none::NoCollection),
        Victim::Outside(policy) => policy.config().build(),
    }
}
