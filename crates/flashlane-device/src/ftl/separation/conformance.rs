//! What every separation policy must keep to.

use flashlane_engine::Rng;
use flashlane_units::Lpa;

use super::{Frontiers, Separation};
use crate::rule::{Rule, ensure};

/// The rules.
pub const RULES: [Rule<Separation>; 2] = [
    Rule {
        text: "it has a policy if and only if it has three frontiers, and the same writes lead to \
               the same choices",
        check: choices_repeat,
    },
    Rule {
        text: "with three frontiers, a page in twenty that gets nine writes in ten is hot more often \
               than the others",
        check: hot_pages_are_found,
    },
];

/// Logical pages of the two spaces of a trial, and writes.
const PAGES: [std::ops::Range<u32>; 2] = [0..400, 400..1000];
const WRITES: usize = 40_000;

/// Writes of a trial, each with its page and the choice: true if it is hot. One page of twenty
/// gets nine writes in ten.
fn trial(config: &Separation, seed: u64) -> Result<Vec<(u32, bool)>, String> {
    let built = config.build(&PAGES);
    let three = config.frontiers() == Frontiers::Three;
    ensure!(built.is_some() == three, "found {:?} for {three}", built.is_some());
    let Some(mut policy) = built else { return Ok(Vec::new()) };
    let mut rng = Rng::stream(seed, "separation.conformance", 0);
    let mut choices = Vec::with_capacity(WRITES);
    for _ in 0..WRITES {
        let page = match rng.below(10) {
            0 => rng.below(1000) as u32,
            _ => 20 * rng.below(50) as u32,
        };
        choices.push((page, policy.is_hot(Lpa::new(page))));
        policy.written(Lpa::new(page));
        policy.audit();
    }
    Ok(choices)
}

fn choices_repeat(config: &Separation) -> Result<(), String> {
    ensure!(trial(config, 1)? == trial(config, 1)?, "the same writes led to other choices");
    Ok(())
}

fn hot_pages_are_found(config: &Separation) -> Result<(), String> {
    let choices = trial(config, 2)?;
    if choices.is_empty() {
        return Ok(());
    }
    // After the first half, the policy knows the pages.
    let share = |often: bool| {
        let of = choices[WRITES / 2..].iter().filter(|(page, _)| (page % 20 == 0) == often);
        let (all, hot) = of.fold((0, 0), |(all, hot), choice| (all + 1, hot + u32::from(choice.1)));
        f64::from(hot) / f64::from(all)
    };
    let (often, seldom) = (share(true), share(false));
    ensure!(
        often > seldom,
        "found a share of {often:.3} hot writes of pages that are written \
        often, and {seldom:.3} of the others"
    );
    Ok(())
}
