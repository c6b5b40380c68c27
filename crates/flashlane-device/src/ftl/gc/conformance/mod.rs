//! Rules that every victim policy must keep.

#[cfg(test)]
mod tests;

use flashlane_engine::Rng;

use super::{PlaneView, SteadyState, Victim, build, steady_state};
use crate::ftl::blocks::{Block, BlockState, FullBlocks};
use crate::rule::{Rule, ensure};

/// The rules.
pub const RULES: [Rule<Victim>; 3] = [
    Rule {
        text: "it chooses only blocks that may be collected, one where there is a gain and none where \
               there is none, and the same one for the same seed",
        check: only_what_may_be_collected,
    },
    Rule {
        text: "it finds the one block with something to gain among four hundred, or one beside it",
        check: hardly_anything_to_gain_is_found,
    },
    Rule {
        text: "its steady state is a distribution with the right mean",
        check: steady_states_are_distributions,
    },
];

/// Blocks of a random plane, filled in the order of their indices.
fn random_plane(rng: &mut Rng, round: u64) -> Vec<Block> {
    let states = [BlockState::Free, BlockState::Open, BlockState::Full, BlockState::Collected];
    (0..24)
        .map(|index| {
            let state = states[rng.below(if round.is_multiple_of(3) { 2 } else { 4 }) as usize];
            let programmed = if rng.below(4) == 0 { 15 } else { 16 };
            Block {
                state,
                valid: rng.below(17) as u32,
                allocated: 16,
                issued: 16,
                programmed,
                filled: index,
                reads: u32::from(rng.below(3) == 0),
                ..Block::default()
            }
        })
        .collect()
}

/// Full blocks with the given numbers of valid pages of 16, filled in this order.
fn full_plane(valid: &[u16]) -> Vec<Block> {
    (0..)
        .zip(valid)
        .map(|(filled, &valid)| Block {
            state: BlockState::Full,
            valid: u32::from(valid),
            allocated: 16,
            issued: 16,
            programmed: 16,
            filled,
            ..Block::default()
        })
        .collect()
}

/// The choice of a new policy. It must not depend on how the valid pages are found.
fn pick(config: &Victim, blocks: &[Block], seed: u64) -> Result<Option<u32>, String> {
    let picked = |full: &[u16]| {
        let view = PlaneView::new(blocks, full, 16, blocks.len() as u32);
        build(config).select(&view, &mut Rng::stream(seed, "pick", 0))
    };
    let full =
        FullBlocks::of(blocks.iter().map(|b| (b.state == BlockState::Full).then_some(b.valid)));
    let found = picked(&[]);
    let again = picked(full.some(0..blocks.len()));
    ensure!(found == again, "it chose {found:?}, and {again:?} for the same blocks");
    Ok(found)
}

fn only_what_may_be_collected(config: &Victim) -> Result<(), String> {
    let mut rng = Rng::stream(11, config.name(), 0);
    for round in 0..500_u64 {
        let blocks = random_plane(&mut rng, round);
        let view = PlaneView::new(&blocks, &[], 16, 24);
        let costs = !build(config).costs_nothing();
        let may = |b: u32| view.gain(b).is_some() && (costs || !view.is_read(b));
        let possible = (0..view.len()).any(may);
        let picked = pick(config, &blocks, round)?;
        ensure!(picked.is_some() == possible, "it chose {picked:?}; something to gain: {possible}");
        let safe = picked.is_none_or(|b| b < view.len() && view.valid(b).is_some());
        ensure!(safe, "it chose {picked:?}, which may not be collected");
    }
    let full = pick(config, &full_plane(&[16; 40]), 3)?;
    ensure!(full.is_none(), "it chose {full:?} of wholly valid blocks");
    Ok(())
}

/// One block in a hundred has something to gain: a policy may give up emptying the others first.
fn hardly_anything_to_gain_is_found(config: &Victim) -> Result<(), String> {
    let mut valid = vec![16; 400];
    valid[117] = 15;
    for seed in 0..20 {
        let picked = pick(config, &full_plane(&valid), seed)?;
        ensure!(picked.is_some(), "it chose none, and block 117 has an invalid page");
    }
    Ok(())
}

fn steady_states_are_distributions(config: &Victim) -> Result<(), String> {
    for (rho, pages) in [(0.5, 16), (0.78, 64), (0.93, 256), (0.93, 1024)] {
        let closed = build(config).steady_state(rho, pages, 1024);
        // States by age are cut into parts. A simulated plane has open blocks as well.
        let tolerance = match &closed {
            Some(state) if state.by_age.len() == 1 => 1e-6,
            Some(_) => 2e-3,
            None => 0.03,
        };
        let state = closed.unwrap_or_else(|| steady_state(&*build(config), rho, pages, 1024));
        is_distribution(&state, rho, pages, tolerance)
            .map_err(|error| format!("{error} (valid share {rho}, {pages} pages)"))?;
    }
    Ok(())
}

fn is_distribution(
    state: &SteadyState,
    rho: f64,
    pages: u32,
    tolerance: f64,
) -> Result<(), String> {
    let p = state.valid_pages();
    let mass: f64 = p.iter().sum();
    let mean: f64 = p.iter().enumerate().map(|(v, p)| v as f64 * p).sum();
    ensure!(p.len() == pages as usize + 1, "found {} shares, allowed: {}", p.len(), pages + 1);
    ensure!(p.iter().all(|share| (0.0..=1.0).contains(share)), "shares are between 0 and 1");
    ensure!((mass - 1.0).abs() < 1e-9, "the shares sum to {mass}, allowed: 1");
    let relative = mean / (rho * f64::from(pages));
    let close = (relative - 1.0).abs() < tolerance;
    ensure!(close, "the mean is {relative} times the share, allowed: 1 (within {tolerance})");
    for part in &state.by_age {
        let mass = part.iter().sum::<f64>();
        ensure!((mass - 1.0).abs() < 1e-6, "the shares of an age sum to {mass}, allowed: 1");
    }
    Ok(())
}
