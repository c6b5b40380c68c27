//! How many valid pages the blocks of a plane have that the released MQSim fills.
//!
//! It rounds the number of blocks with so many valid pages down, number by number. The blocks that
//! are missing get as many valid pages as the fullest ones, so that the pages run out early: the
//! blocks that would have had the fewest valid pages are not filled, and stay free.

/// What the blocks of one flow on one plane are to hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Valid pages.
    pub(super) pages: u64,
    /// Blocks, if none stayed free.
    pub(super) blocks: u64,
    pub(super) per_block: u32,
}

/// Valid pages of each block, the fullest in front, for blocks that follow `shares` (of blocks, by
/// valid pages). `None` where the blocks cannot hold the pages.
pub(super) fn valid_pages(shares: &[f64], wanted: Wanted) -> Option<Vec<u32>> {
    let Wanted { pages, blocks, per_block } = wanted;
    let counts = |shift: i64| -> Vec<u64> {
        let share = |valid: i64| usize::try_from(valid).ok().and_then(|at| shares.get(at).copied());
        (0..=i64::from(per_block))
            .map(|valid| (share(valid + shift).unwrap_or(0.0) * blocks as f64) as u64)
            .collect()
    };
    // Shares that are off by whole pages are moved by so many.
    let mean: f64 = (0_u32..).zip(shares).map(|(valid, share)| f64::from(valid) * share).sum();
    let off = mean - pages as f64 / blocks as f64;
    let counts = counts(if off.abs() > 0.9999 { off as i64 } else { 0 });
    let mut missing = blocks.checked_sub(counts.iter().sum())?;
    let (mut left, mut valid) = (pages, Vec::new());
    for (of_block, &count) in counts.iter().enumerate().rev() {
        let of_block = of_block as u64;
        let more = if count > 0 { std::mem::take(&mut missing) } else { 0 };
        for _ in 0..count + more {
            if left == 0 {
                return Some(valid);
            }
            let now = of_block.min(left);
            left -= now;
            valid.push(now as u32);
        }
    }
    (left == 0).then_some(valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_rounded_away_stay_free() {
        // Of ten blocks, 4.5 are to have 4 valid pages, 3.5 have 2, 2 have none: 25 pages.
        let shares = [0.2, 0.0, 0.35, 0.0, 0.45];
        let wanted = Wanted { pages: 25, blocks: 10, per_block: 4 };
        let valid = valid_pages(&shares, wanted).expect("they fit");
        assert_eq!(valid, [4, 4, 4, 4, 4, 2, 2, 1], "one of the missing takes four pages");
        let valid = valid_pages(&shares, Wanted { pages: 15, ..wanted }).expect("they fit");
        assert_eq!(valid.iter().sum::<u32>(), 15, "shares are moved by a page");
        assert_eq!(valid_pages(&shares, Wanted { pages: 40, ..wanted }), None);
    }
}
