//! Stage 2: weighted round robin over priority levels (section 4.2).

/// Priority levels: NVMe's urgent, high, medium and low are levels 3 to 0.
pub(super) const LEVELS: usize = 4;

/// Decisions of a round: the sum of the weights.
const ROUND: u32 = (1 << LEVELS) - 1;

/// The order of a round, in which level i has 2^i turns spread evenly: turn t, counted from 1,
/// belongs to level `LEVELS - 1 - trailing zeros of t`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ruler {
    /// Turns of the round that were taken.
    turn: u32,
}

impl Ruler {
    /// The level whose turn it is, among those with a transaction that can go, and that
    /// transaction's place. Choice: a level with nothing ready gives its turn away and keeps no
    /// credit.
    pub(super) fn next(
        &mut self,
        ready: impl Fn(usize) -> Option<usize>,
    ) -> Option<(usize, usize)> {
        let found: [Option<usize>; LEVELS] = std::array::from_fn(ready);
        if found == [None; LEVELS] {
            return None;
        }
        loop {
            self.turn = self.turn % ROUND + 1;
            let level = LEVELS - 1 - self.turn.trailing_zeros() as usize;
            debug_assert!(self.turn <= ROUND, "a round has {ROUND} turns");
            if let Some(at) = found[level] {
                return Some((level, at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(waiting: &[usize], decisions: usize) -> [usize; LEVELS] {
        let mut ruler = Ruler::default();
        let mut served = [0; LEVELS];
        for _ in 0..decisions {
            let ready = |level: usize| waiting.contains(&level).then_some(0);
            served[ruler.next(ready).expect("something waits").0] += 1;
        }
        served
    }

    #[test]
    fn level_i_gets_two_to_the_i_of_fifteen_decisions() {
        assert_eq!(served(&[0, 1, 2, 3], 1500), [100, 200, 400, 800]);
    }

    #[test]
    fn absent_levels_give_their_turns_away() {
        assert_eq!(served(&[2], 10), [0, 0, 10, 0]);
        let shares = served(&[0, 3], 900);
        assert_eq!(shares[3], 8 * shares[0]);
        assert_eq!(Ruler::default().next(|_| None), None);
    }

    #[test]
    fn turns_of_a_level_are_spread() {
        let mut ruler = Ruler::default();
        let order: Vec<usize> = (0..15).map(|_| ruler.next(Some).expect("all wait").0).collect();
        assert_eq!(order, [3, 2, 3, 1, 3, 2, 3, 0, 3, 2, 3, 1, 3, 2, 3]);
    }
}
