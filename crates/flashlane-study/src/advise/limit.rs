//! Searches the level of a limit at which a score is smallest.
//!
//! A limit that is too loose does not reach the goal, and one that is too tight costs more than it
//! brings. So the score falls towards one level and rises behind it, and a golden section finds
//! that level. Where a goal has a threshold, the score is what the limit costs once the goal is met
//! ([`super::goal::Goal::score`]), and the level found is the loosest that meets it.

use std::collections::BTreeMap;

/// The parts of the present rate that are tried, the loosest first.
pub(super) const PARTS: [f64; 18] = [
    0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15,
    0.1,
];

/// The parts that leave a tenant what it has to keep.
pub(super) fn parts(least: f64) -> &'static [f64] {
    // A limit holds a tenant slightly below its rate.
    let last = PARTS.iter().take_while(|&&part| part + 1e-9 >= least + 0.02).count();
    &PARTS[..last]
}

/// A search over the levels `0..levels`.
#[derive(Clone, Debug)]
pub(super) struct Search {
    low: usize,
    high: usize,
    known: BTreeMap<usize, f64>,
}

impl Search {
    pub(super) fn new(levels: usize) -> Self {
        Self { low: 0, high: levels.saturating_sub(1), known: BTreeMap::new() }
    }

    /// The level with the smallest known score, and that score. The loosest of several.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        let known = self.known.iter().map(|(&level, &score)| (level, score));
        known.reduce(|best, one| if one.1 < best.1 { one } else { best })
    }

    /// The levels whose scores are wanted next. Empty if the search is over.
    pub(super) fn wanted(&mut self) -> Vec<usize> {
        while self.high - self.low > 2 {
            let (first, second) = self.inner();
            match (self.known.get(&first), self.known.get(&second)) {
                (Some(one), Some(other)) if one < other => self.high = second,
                (Some(_), Some(_)) => self.low = first,
                _ => return self.unknown(&[first, second]),
            }
        }
        let rest: Vec<usize> = (self.low..=self.high).collect();
        self.unknown(&rest)
    }

    pub(super) fn tell(&mut self, level: usize, score: f64) {
        self.known.insert(level, score);
    }

    /// Two levels that divide the range by the golden section, at least one apart.
    fn inner(&self) -> (usize, usize) {
        let width = self.high - self.low;
        let short = ((width as f64 * 0.382).round() as usize).clamp(1, (width - 1) / 2);
        (self.low + short, self.high - short)
    }

    fn unknown(&self, levels: &[usize]) -> Vec<usize> {
        levels.iter().copied().filter(|level| !self.known.contains_key(level)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches, and returns the level and the number of questions.
    fn search(levels: usize, score: impl Fn(usize) -> f64) -> (usize, usize) {
        let mut search = Search::new(levels);
        let mut asked = 0;
        loop {
            let wanted = search.wanted();
            if wanted.is_empty() {
                return (search.best().expect("a level").0, asked);
            }
            for level in wanted {
                asked += 1;
                search.tell(level, score(level));
            }
        }
    }

    #[test]
    fn the_best_level_is_found_wherever_it_is() {
        for levels in 1..=18 {
            for best in 0..levels {
                let (found, asked) = search(levels, |level| (level as f64 - best as f64).abs());
                assert_eq!(found, best, "of {levels}");
                assert!(asked <= 8, "{asked} questions for {levels} levels");
            }
        }
    }

    #[test]
    fn the_loosest_level_that_meets_a_goal_is_found() {
        // Levels from `first` on meet it, and each costs a little more than the one before.
        for levels in 1..=18_usize {
            for first in 0..levels {
                let score = |level: usize| match level >= first {
                    true => 0.05 * (level + 1) as f64,
                    false => 2.0 + 0.1 * (first - level) as f64,
                };
                assert_eq!(search(levels, score).0, first, "of {levels}");
            }
        }
    }

    #[test]
    fn tenants_keep_what_they_have_to() {
        assert_eq!(parts(0.5).last(), Some(&0.55));
        assert_eq!(parts(0.0).last(), Some(&0.1));
        assert_eq!(parts(0.93), [0.95]);
        assert!(parts(1.0).is_empty());
    }
}
