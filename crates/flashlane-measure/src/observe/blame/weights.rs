//! Sums by cell, and division of a time in proportion to them.

/// Sums by cell. A cell is a culprit and a cause, as one number. Unit: picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// Position in the list by cell, plus one; 0 for none.
    place: Vec<u32>,
    list: Vec<(u32, u128)>,
}

impl Weights {
    /// All sums are zero.
    pub(crate) fn new(cells: usize) -> Self {
        Self { place: vec![0; cells], list: Vec::new() }
    }

    /// Adds to a cell.
    pub(crate) fn add(&mut self, cell: u32, ps: impl Into<u128>) {
        let ps = ps.into();
        if ps == 0 {
            return;
        }
        let place = &mut self.place[cell as usize];
        if *place == 0 {
            self.list.push((cell, ps));
            *place = self.list.len() as u32;
        } else {
            self.list[*place as usize - 1].1 += ps;
        }
    }

    /// Cells and sums, in the order in which they came.
    pub(crate) fn list(&self) -> &[(u32, u128)] {
        &self.list
    }

    /// Sum of all cells.
    pub(crate) fn total(&self) -> u128 {
        self.list.iter().map(|&(_, ps)| ps).sum()
    }

    /// Sets all sums to zero.
    pub(crate) fn clear(&mut self) {
        for &(cell, _) in &self.list {
            self.place[cell as usize] = 0;
        }
        self.list.clear();
    }

    /// Divides a time among the cells in proportion to their sums; the parts sum to it exactly.
    /// False if all sums are zero.
    pub(crate) fn share_out(&self, time: u128, mut give: impl FnMut(u32, u128)) -> bool {
        let total = self.total();
        let (mut before, mut given) = (0_u128, 0);
        for &(cell, ps) in &self.list {
            before += ps;
            let until = share(time, before, total);
            give(cell, until - given);
            given = until;
        }
        total > 0
    }
}

/// `time * part / whole`, where `part` is at most `whole`. All of `time` where both are equal.
/// Where the product has more than 128 bits, the lowest bits of its longer factor are dropped.
pub(super) fn share(time: u128, part: u128, whole: u128) -> u128 {
    let bits = |value: u128| u128::BITS - value.leading_zeros();
    let excess = (bits(time) + bits(whole)).saturating_sub(u128::BITS);
    if excess == 0 {
        return time * part / whole;
    }
    if part == whole {
        return time;
    }
    if bits(whole) >= bits(time) {
        time * (part >> excess) / (whole >> excess)
    } else {
        ((time >> excess) * part / whole) << excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_64_bits_are_shared_out_whole() {
        let year = 31_557_600_000_000_000_000_u128;
        assert!(year > u128::from(u64::MAX));
        for (time, sums) in [
            (year, [1, 1, 2]),
            (year, [year, year, 2 * year]),
            (year << 12, [year, year, 2 * year]),
            (year, [year << 12, year << 12, year << 13]),
            (year << 12, [year << 12, year << 12, year << 13]),
        ] {
            let mut weights = Weights::new(3);
            for (cell, &sum) in (0..).zip(&sums) {
                weights.add(cell, sum);
            }
            let mut parts = Vec::new();
            assert!(weights.share_out(time, |_, part| parts.push(part)));
            assert_eq!(parts.iter().sum::<u128>(), time);
            for (part, quarters) in parts.into_iter().zip([1, 1, 2]) {
                let off = part.abs_diff(time / 4 * quarters);
                assert!(off <= time >> 40, "{part} of {time} by {sums:?}");
            }
        }
    }

    #[test]
    fn parts_are_in_proportion_and_sum_exactly() {
        let mut weights = Weights::new(8);
        assert!(!weights.share_out(5, |_, _| panic!("no cells")));
        for (cell, ps) in [(3, 10_u64), (7, 0), (1, 20), (3, 5)] {
            weights.add(cell, ps);
        }
        assert_eq!((weights.list(), weights.total()), (&[(3, 15), (1, 20)][..], 35));
        let mut parts = Vec::new();
        assert!(weights.share_out(100, |cell, part| parts.push((cell, part))));
        assert_eq!(parts, [(3, 42), (1, 58)]);
        weights.clear();
        weights.add(3, 1_u64);
        assert_eq!(weights.list(), [(3, 1)]);
    }
}
