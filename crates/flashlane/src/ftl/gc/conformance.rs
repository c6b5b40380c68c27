//! What every victim policy must keep to, and what tells them apart.

use super::*;
use crate::ftl::blocks::FullBlocks;

/// Blocks of a random plane, filled in the order of their indices.
fn random_plane(rng: &mut Rng, round: u64) -> Vec<Block> {
    let states = [BlockState::Free, BlockState::Open, BlockState::Full, BlockState::Collected];
    (0..24)
        .map(|index| {
            let state = states[rng.below(if round.is_multiple_of(3) { 2 } else { 4 }) as usize];
            let programmed = if rng.below(4) == 0 { 15 } else { 16 };
            Block {
                state,
                valid: rng.below(17) as u16,
                allocated: 16,
                issued: 16,
                programmed,
                filled: index,
                reads: u16::from(rng.below(3) == 0),
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
            valid,
            allocated: 16,
            issued: 16,
            programmed: 16,
            filled,
            ..Block::default()
        })
        .collect()
}

fn pick(name: &str, blocks: &[Block], seed: u64) -> Option<u32> {
    let config = Victim::by_name(name).expect("listed names exist");
    let policy = || build(&config);
    let picked = |full: &[u16]| {
        let view = PlaneView::new(blocks, full, 16, blocks.len() as u32);
        policy().select(&view, &mut Rng::stream(seed, "pick", 0))
    };
    let full =
        FullBlocks::of(blocks.iter().map(|b| (b.state == BlockState::Full).then_some(b.valid)));
    let found = picked(&[]);
    assert_eq!(picked(full.some(0..blocks.len())), found, "however the valid pages are found");
    found
}

/// Every registered policy picks only blocks that may be collected, finds one if there is one with
/// a gain and none if there is none, and repeats itself for the same seed.
#[test]
fn every_policy_picks_only_what_may_be_collected() {
    for name in Victim::NAMES {
        let mut rng = Rng::stream(11, name, 0);
        let mut without_gain = 0;
        for round in 0..500_u64 {
            let blocks = random_plane(&mut rng, round);
            let view = PlaneView::new(&blocks, &[], 16, 24);
            let costs = !build(&Victim::by_name(name).expect("listed")).costs_nothing();
            let may = |b: u32| view.gain(b).is_some() && (costs || !view.is_read(b));
            let possible = (0..view.len()).any(may);
            let picked = pick(name, &blocks, round);
            assert_eq!(picked.is_some(), possible, "{name} finds a victim if there is one");
            assert!(picked.is_none_or(|b| view.valid(b).is_some()), "{name} picks a safe block");
            without_gain += u32::from(picked.is_some_and(|b| !may(b)));
            assert_eq!(picked, pick(name, &blocks, round), "{name} repeats itself");
        }
        assert_eq!(without_gain > 0, *name == "random", "{name} picks blocks with a gain");
    }
}

#[test]
fn wholly_valid_planes_are_left_alone() {
    for name in Victim::NAMES {
        assert_eq!(pick(name, &full_plane(&[16; 40]), 3), None, "{name}");
    }
}

/// One block in a hundred has something to gain: random gives up emptying the others.
#[test]
fn hardly_anything_to_gain_is_found_all_the_same() {
    let mut valid = vec![16; 400];
    valid[117] = 15;
    for name in Victim::NAMES {
        for seed in 0..20 {
            let picked = pick(name, &full_plane(&valid), seed);
            assert!(picked == Some(117) || *name == "random" && picked.is_some(), "{name}");
        }
    }
    let useless = (0..400).filter(|&seed| pick("random", &full_plane(&valid), seed) != Some(117));
    assert!(useless.count() < 40, "random empties a wholly valid block only next to others");
}

#[test]
fn victims_follow_the_rules() {
    let plane = full_plane(&[10, 9, 2, 8, 2, 16]);
    assert_eq!(pick("greedy", &plane, 0), Some(2), "the fewest valid pages");
    assert_eq!(pick("none", &plane, 0), Some(2));
    assert_eq!(pick("fifo", &plane, 0), Some(0), "the one that was filled first");
    // Scores: 6 * 6/20, 5 * 7/18, 4 * 14/4, 3 * 8/16, 2 * 14/4.
    assert_eq!(pick("cost-benefit", &plane, 0), Some(2));
    let old_and_full = full_plane(&[12, 16, 16, 16, 16, 16, 16, 16, 16, 10]);
    assert_eq!(pick("cost-benefit", &old_and_full, 0), Some(0), "age outweighs two pages");
    assert_eq!(pick("greedy", &old_and_full, 0), Some(9));
    // The mean is 7.8 valid pages: only the third and fifth block are below it.
    for seed in 0..50 {
        let picked = pick("random-plus-plus", &plane, seed).expect("there are candidates");
        assert!([2, 4].contains(&picked), "{picked}");
        assert_ne!(pick("random-plus", &plane, seed), Some(5), "wholly valid");
    }
    let seen = |name, block| (0..200).any(|seed| pick(name, &plane, seed) == Some(block));
    assert!((0..6).all(|block| seen("random", block)), "every block has its chance");
    assert!((0..5).all(|block| seen("random-plus", block)));
}

#[test]
fn a_read_block_is_not_packed_in_no_time() {
    let mut plane = full_plane(&[3, 9]);
    plane[0].reads = 1;
    assert_eq!(pick("none", &plane, 0), Some(1));
    assert_eq!(pick("greedy", &plane, 0), Some(0));
}

#[test]
fn steady_states_are_distributions_with_the_right_mean() {
    for name in Victim::NAMES {
        let policy = build(&Victim::by_name(name).expect("listed names exist"));
        for (rho, pages) in [(0.5, 16), (0.78, 64), (0.93, 256), (0.93, 1024)] {
            let state = policy.steady_state(rho, pages, 1024);
            let p = state.valid_pages();
            let mass: f64 = p.iter().sum();
            let mean: f64 = p.iter().enumerate().map(|(v, p)| v as f64 * p).sum();
            assert_eq!(p.len(), pages as usize + 1);
            assert!(p.iter().all(|share| (0.0..=1.0).contains(share)), "{name} {rho} {pages}");
            assert!((mass - 1.0).abs() < 1e-9, "{name} {rho} {pages}: {mass}");
            let relative = mean / (rho * f64::from(pages));
            // States by age are cut into parts.
            let tolerance = if state.by_age.len() == 1 { 1e-6 } else { 2e-3 };
            assert!((relative - 1.0).abs() < tolerance, "{name} {rho} {pages}: {relative}");
            for part in &state.by_age {
                assert!((part.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{name} {rho} {pages}");
            }
        }
    }
}
