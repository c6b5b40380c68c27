//! Finds the largest level at which the goals are met, with few trials.
//!
//! From the first level the search goes up or down in steps that double, until it has one level
//! that meets the goals and a larger one that misses them. Between these two it tries the level
//! where the strain would be 1 if the strain grew as a power of the level. When two guesses in a
//! row move the same end, the next trial is a bisection. A strain that grows in another way
//! therefore costs at most twice the trials of a bisection.

use std::ops::RangeInclusive;

/// What a trial says about a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reply {
    /// True if the goals are met.
    pub(super) met: bool,
    /// How close the worst goal is to being missed: 1 at the limit, above 1 if it is missed.
    /// Infinite if there is no figure.
    pub(super) strain: f64,
}

/// A level and its strain.
type Known = (i64, f64);

/// The largest level that meets the goals and the smallest level that misses them. An end is
/// missing where the range of levels ends first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bracket {
    pub(super) met: Option<i64>,
    pub(super) missed: Option<i64>,
}

/// Searches within `levels`, from the level `start`, with a first step of `step`. `scale` gives the
/// logarithm of the load at a level.
///
/// # Errors
/// The errors of a trial.
pub(super) fn largest<E>(
    levels: RangeInclusive<i64>,
    start: i64,
    step: i64,
    scale: fn(i64) -> f64,
    ask: &mut dyn FnMut(i64) -> Result<Reply, E>,
) -> Result<Bracket, E> {
    let (mut low, mut high): (Option<Known>, Option<Known>) = (None, None);
    let (mut level, mut step) = (start.clamp(*levels.start(), *levels.end()), step.max(1));
    while low.is_none() || high.is_none() {
        let reply = ask(level)?;
        let next = match reply.met {
            true => {
                low = Some((level, reply.strain));
                level.saturating_add(step).min(*levels.end())
            }
            false => {
                high = Some((level, reply.strain));
                level.saturating_sub(step).max(*levels.start())
            }
        };
        if next == level {
            break;
        }
        (level, step) = (next, step.saturating_mul(2));
    }
    let (Some(mut low), Some(mut high)) = (low, high) else {
        return Ok(Bracket { met: low.map(|one| one.0), missed: high.map(|one| one.0) });
    };
    // Counts how often in a row the same end moved: upwards for the lower end, downwards for the
    // upper end.
    let mut same = 0_i32;
    while high.0 - low.0 > 1 {
        let middle = low.0 + (high.0 - low.0) / 2;
        let level = match same.abs() >= 2 {
            true => middle,
            false => between(low, high, scale).unwrap_or(middle),
        };
        let reply = ask(level)?;
        if reply.met {
            low = (level, reply.strain);
            same = same.max(0) + 1;
        } else {
            high = (level, reply.strain);
            same = same.min(0) - 1;
        }
        if level == middle {
            same = 0;
        }
    }
    Ok(Bracket { met: Some(low.0), missed: Some(high.0) })
}

/// The level strictly between two levels at which a power law through both has a strain of 1.
fn between(low: Known, high: Known, scale: fn(i64) -> f64) -> Option<i64> {
    let (below, above) = (libm::log(low.1), libm::log(high.1));
    let share = -below / (above - below);
    let known = low.1 > 0.0 && high.1.is_finite() && (0.0..=1.0).contains(&share);
    let wanted = scale(low.0) + (scale(high.0) - scale(low.0)) * share;
    // Finds the last level that does not lie above the guess.
    let (mut first, mut last) = (low.0, high.0);
    while known && last - first > 1 {
        let middle = first + (last - first) / 2;
        if scale(middle) <= wanted { first = middle } else { last = middle }
    }
    known.then(|| first.clamp(low.0 + 1, high.0 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(level: i64) -> f64 {
        libm::log(level as f64)
    }

    /// Searches where every level up to `limit` meets the goals. Returns the bracket and the levels
    /// that were tried.
    fn search(
        levels: RangeInclusive<i64>,
        limit: i64,
        strain: impl Fn(i64) -> f64,
    ) -> (Bracket, Vec<i64>) {
        let mut asked = Vec::new();
        let mut ask = |level: i64| {
            assert!(levels.contains(&level) && !asked.contains(&level), "{level} of {asked:?}");
            asked.push(level);
            Ok::<_, ()>(Reply { met: level <= limit, strain: strain(level) })
        };
        let found = largest(levels.clone(), 1, 1, log, &mut ask).expect("no question fails");
        (found, asked)
    }

    #[test]
    fn every_limit_is_found_with_few_questions() {
        for limit in 0..=64 {
            let shapes: [fn(i64, i64) -> f64; 4] = [
                |level, limit| level as f64 / (limit as f64 + 0.5),
                |level, limit| libm::exp((level - limit) as f64 - 0.5),
                |_, _| f64::INFINITY,
                |level, limit| if level <= limit { 0.999 } else { 1e9 },
            ];
            for (number, shape) in shapes.iter().enumerate() {
                let (found, asked) = search(1..=64, limit, |level| shape(level, limit));
                let met = (limit >= 1).then_some(limit);
                let missed = (limit < 64).then_some(limit + 1);
                assert_eq!(found, Bracket { met, missed }, "shape {number}");
                assert!(asked.len() <= 18, "shape {number}, limit {limit}: {asked:?}");
            }
        }
    }

    #[test]
    fn a_strain_in_proportion_needs_hardly_any_bisection() {
        let asked: usize = (1..1000)
            .map(|limit| search(1..=1024, limit, |l| l as f64 / (limit as f64 + 0.5)).1.len())
            .sum();
        assert!(
            asked < 13 * 1000,
            "{asked} questions for a thousand limits; bisection needs some 17,000"
        );
    }

    #[test]
    fn levels_below_the_start_are_found_too() {
        for limit in -100..100 {
            let mut ask = |level: i64| Ok::<_, ()>(Reply { met: level <= limit, strain: 1.0 });
            let found = largest(-120..=120, 0, 14, |level| level as f64, &mut ask)
                .expect("no question fails");
            assert_eq!(found, Bracket { met: Some(limit), missed: Some(limit + 1) });
        }
        let fails = largest(1..=8, 1, 1, log, &mut |level| {
            if level > 3 { Err("no") } else { Ok(Reply { met: true, strain: 0.5 }) }
        });
        assert_eq!(fails, Err("no"));
    }
}
