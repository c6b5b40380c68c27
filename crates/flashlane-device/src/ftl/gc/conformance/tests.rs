//! The rules on every built-in victim policy, and what tells them apart.

use super::*;

fn pick(name: &str, blocks: &[Block], seed: u64) -> Option<u32> {
    let config = Victim::by_name(name).expect("listed names exist");
    super::pick(&config, blocks, seed).expect("it repeats itself")
}

#[test]
fn every_policy_keeps_to_the_rules() {
    for name in Victim::NAMES {
        for rule in RULES {
            let config = Victim::by_name(name).expect("listed names exist");
            assert_eq!((rule.check)(&config), Ok(()), "{name}: {}", rule.text);
        }
    }
}

/// Only random chooses blocks without a gain, next to others, and seldom.
#[test]
fn only_random_chooses_blocks_without_a_gain() {
    for name in Victim::NAMES {
        let mut rng = Rng::stream(11, name, 0);
        let useless = (0..500_u64).filter(|&round| {
            let blocks = random_plane(&mut rng, round);
            let view = PlaneView::new(&blocks, &[], 16, 24);
            pick(name, &blocks, round).is_some_and(|block| view.gain(block).is_none())
        });
        assert_eq!(useless.count() > 0, *name == "random", "{name} picks blocks with a gain");
    }
    let mut valid = vec![16; 400];
    valid[117] = 15;
    for name in Victim::NAMES.iter().filter(|name| **name != "random") {
        for seed in 0..20 {
            assert_eq!(pick(name, &full_plane(&valid), seed), Some(117), "{name}");
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
