//! The number of valid pages of each block, and their positions in it.

use flashlane_device::ftl::gc::mean_field::released;
use flashlane_device::ftl::gc::{Victim, VictimPolicy, build, steady_state};
use flashlane_device::layout::Geometry;

/// Most pages of a block whose steady state is computed as it is, where units are programmed
/// together. A superblock may have millions of units. Its state is that of a block of this size,
/// with the counts in proportion. Amplification then differs by less than 1 %.
const UNITS_MAX: u32 = 512;

/// What blocks look like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Steady state under random writes.
    Random,
    /// All valid or all invalid.
    Streaming,
    /// As the released MQSim rounds its steady state of the flow with this number.
    Rounded(usize),
}

/// A plan: its number of pages, its number of blocks, and what these look like.
type Key = (u64, u64, Look);

/// Plans blocks. Planes with equal needs share a plan.
pub(super) struct Planner {
    /// With `compat.rounded_block_counts`: the steady state of every flow that has one.
    released: Vec<Option<Vec<f64>>>,
    policy: Box<dyn VictimPolicy>,
    geometry: Geometry,
    /// The plans made so far.
    plans: Vec<(Key, Vec<u32>)>,
}

impl Planner {
    pub(super) fn new(
        victim: &Victim,
        geometry: Geometry,
        released: Vec<Option<Vec<f64>>>,
    ) -> Self {
        Self { released, policy: build(victim), geometry, plans: Vec::new() }
    }

    /// Valid pages of each of `blocks` blocks that together hold `pages` pages. The block that was
    /// filled first comes first.
    pub(super) fn valid_pages(&mut self, pages: u64, blocks: u64, streaming: bool) -> &[u32] {
        self.planned((pages, blocks, if streaming { Look::Streaming } else { Look::Random }))
    }

    /// With `compat.rounded_block_counts`: valid pages of the blocks that hold `pages` pages, of
    /// the `blocks` blocks that are there for them. `None` where more than `most` blocks would be
    /// needed, or some pages would have none, or the switch is off. Pages of a stream, and units
    /// that are programmed together, are left to [`Planner::valid_pages`].
    pub(super) fn rounded(
        &mut self,
        flow: usize,
        (pages, blocks): (u64, u64),
        most: u64,
        streaming: bool,
    ) -> Option<&[u32]> {
        let Geometry { pages_per_block, .. } = self.geometry;
        let in_rows = self.geometry.units_per_program() > 1;
        let full = pages >= blocks * u64::from(pages_per_block);
        if streaming || in_rows || full {
            return None;
        }
        self.released.get(flow)?.as_ref()?;
        let valid = self.planned((pages, blocks, Look::Rounded(flow)));
        let held: u64 = valid.iter().map(|&count| u64::from(count)).sum();
        (held == pages && valid.len() as u64 <= most).then_some(valid)
    }

    /// A plan, which is made if there is none yet.
    fn planned(&mut self, key: Key) -> &[u32] {
        let known = self.plans.iter().position(|(k, _)| *k == key);
        let at = known.unwrap_or_else(|| {
            let plan = self.plan(key);
            self.plans.push((key, plan));
            self.plans.len() - 1
        });
        &self.plans[at].1
    }

    fn plan(&self, (pages, blocks, look): Key) -> Vec<u32> {
        let (policy, geometry) = (&*self.policy, self.geometry);
        match look {
            Look::Random => blocks_by_valid_pages(policy, geometry, pages, blocks, false),
            Look::Streaming => blocks_by_valid_pages(policy, geometry, pages, blocks, true),
            Look::Rounded(flow) => {
                let state = self.released[flow].as_ref().expect("only then plans are rounded");
                let shares = released::moved_to(state, pages as f64 / blocks as f64);
                released::rounded_down(&shares, blocks, pages)
            }
        }
    }
}

/// Valid pages of each of `blocks` blocks, which sum to `pages` exactly. The block that was filled
/// first comes first.
///
/// They follow the steady state of the policy; the error of rounding is corrected one page at a
/// time.
fn blocks_by_valid_pages(
    policy: &dyn VictimPolicy,
    geometry: Geometry,
    pages: u64,
    blocks: u64,
    streaming: bool,
) -> Vec<u32> {
    let per_block = geometry.pages_per_block;
    let capacity = blocks * u64::from(per_block);
    assert!(pages <= capacity, "{pages} pages fit {blocks} blocks of {per_block}");
    let rho = pages as f64 / capacity as f64;
    let mut valid: Vec<u32> = if pages == capacity || streaming {
        let empty = ((1.0 - rho) * blocks as f64).round() as u64;
        (0..blocks).map(|block| if block < empty { 0 } else { per_block }).collect()
    } else {
        let in_rows = geometry.units_per_program() > 1;
        let modelled = if in_rows { per_block.min(UNITS_MAX) } else { per_block };
        let state = steady_state(policy, rho, modelled, geometry.blocks_per_plane);
        scaled(state.counts(blocks), modelled, per_block)
    };
    correct_sum(&mut valid, pages, per_block);
    valid
}

/// Counts of valid pages of blocks of `from` pages, in proportion for blocks of `to` pages.
fn scaled(mut valid: Vec<u32>, from: u32, to: u32) -> Vec<u32> {
    if from != to {
        let scale = |count: u32| u64::from(count) * u64::from(to) / u64::from(from);
        valid.iter_mut().for_each(|count| *count = scale(*count) as u32);
    }
    valid
}

/// Adds or takes single pages, block after block, until the sum is `pages`.
fn correct_sum(valid: &mut [u32], pages: u64, per_block: u32) {
    let mut sum: u64 = valid.iter().map(|&v| u64::from(v)).sum();
    while sum != pages {
        for count in valid.iter_mut() {
            if sum < pages && *count < per_block {
                *count += 1;
                sum += 1;
            } else if sum > pages && *count > 0 {
                *count -= 1;
                sum -= 1;
            }
            if sum == pages {
                return;
            }
        }
    }
}

/// Offsets of `count` valid pages spread evenly over a block.
pub(super) fn spread(count: u32, pages_per_block: u32) -> impl Iterator<Item = u32> {
    // The places where floor(page * count / pages_per_block) grows, found by additions alone.
    let mut share = 0;
    (0..pages_per_block).filter(move |_| {
        share += count;
        let grows = share >= pages_per_block;
        if grows {
            share -= pages_per_block;
        }
        grows
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 128,
        pages_per_block: 64,
        sectors_per_page: 16,
        units_per_page: 1,
        pages_per_program: 1,
        pages_per_unit: 1,
    };

    #[test]
    fn sums_are_exact_and_counts_in_range() {
        for name in Victim::NAMES {
            let policy = build(&Victim::by_name(name).expect("listed names exist"));
            for pages in [1, 63, 64, 1000, 5000, 6399, 6400] {
                for streaming in [false, true] {
                    let valid = blocks_by_valid_pages(&*policy, GEOMETRY, pages, 100, streaming);
                    assert_eq!(valid.iter().map(|&v| u64::from(v)).sum::<u64>(), pages);
                    assert!(valid.iter().all(|&v| v <= 64));
                    assert_eq!(valid.len(), 100);
                }
            }
        }
    }

    #[test]
    fn rounded_numbers_of_blocks_leave_some_free() {
        let victim = Victim::by_name("greedy").expect("a listed name");
        let planner = |released| Planner::new(&victim, GEOMETRY, vec![released]);
        assert_eq!(planner(None).rounded(0, (3000, 100), 100, false), None);
        let mut rounding = planner(Some(released::best_of(released::CHOICES, 0.47, 64)));
        let valid = rounding.rounded(0, (3000, 100), 100, false).expect("all pages have a block");
        assert_eq!(valid.iter().sum::<u32>(), 3000);
        assert!(valid.len() < 100 && valid.is_sorted_by(|a, b| a >= b), "{valid:?}");
        let fewer = valid.len() as u64 - 1;
        assert_eq!(rounding.rounded(0, (3000, 100), fewer, false), None);
        assert_eq!(rounding.plans.len(), 1, "a plan is made once");
    }

    #[test]
    fn superblocks_of_many_units_have_the_state_of_smaller_ones() {
        let superblocks = Geometry {
            pages_per_block: 1 << 20,
            units_per_page: 4,
            sectors_per_page: 8,
            ..GEOMETRY
        };
        let small = Geometry { pages_per_block: UNITS_MAX, ..superblocks };
        for name in Victim::NAMES {
            let policy = build(&Victim::by_name(name).expect("listed names exist"));
            let of = |geometry: Geometry| {
                let pages = 80 * u64::from(geometry.pages_per_block);
                let valid = blocks_by_valid_pages(&*policy, geometry, pages, 100, false);
                assert_eq!(valid.iter().map(|&v| u64::from(v)).sum::<u64>(), pages, "{name}");
                valid
            };
            for (large, small) in of(superblocks).into_iter().zip(of(small)) {
                assert!((large / 2048).abs_diff(small) <= 1, "{name}: {large}, {small}");
            }
        }
    }

    #[test]
    fn spread_pages_are_distinct_and_complete() {
        for count in 0..=64 {
            assert_eq!(spread(count, 64).count() as u32, count);
        }
        assert_eq!(spread(2, 4).collect::<Vec<_>>(), [1, 3]);
    }
}
