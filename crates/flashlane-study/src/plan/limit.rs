//! Names the goal that is missed first and the wait that grew most, which together explain why no
//! more tenants fit.

use std::collections::BTreeMap;

use flashlane::observe::{Blame, Observe};
use flashlane::{Error, RunOptions, simulate_in_detail};
use serde::Serialize;

use super::trial::GoalOver;
use crate::base::Scenario;

/// The reason why no more tenants fit on the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    /// Why the drive cannot be set up for the next level, or cannot finish its work. Null if it
    /// can.
    pub refused: Option<String>,
    /// The goal that is missed. Null if the drive cannot be set up.
    pub missed: Option<GoalOver>,
    /// The wait that grew most among the tenants with this goal. Null if no wait grew.
    pub grown: Option<Grown>,
    /// The number of runs that were needed to find the reason.
    #[serde(skip)]
    pub(super) runs: usize,
}

/// A wait that grew. Its length is the mean over the requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grown {
    /// The tenant whose work caused the wait. It is `device` if the work belongs to no tenant.
    pub culprit: String,
    /// The cause of the wait, by its name in `blame.json`.
    pub cause: String,
    /// The mean wait at the smallest level that fits. Null if no level fits. Unit: microseconds.
    pub before_us: Option<f64>,
    /// The mean wait at the smallest level that does not fit. Unit: microseconds.
    pub after_us: f64,
}

impl Limit {
    pub(super) fn refused(why: &str) -> Self {
        Self { refused: Some(why.to_owned()), ..Self::default() }
    }

    /// Compares the blame at a level that fits, if there is one, with the blame at a level that
    /// does not fit.
    pub(super) fn of(
        missed: GoalOver,
        before: Option<&Blame>,
        after: &Blame,
        kind: &dyn Fn(&str) -> String,
    ) -> Self {
        let of_victim = |blame: &Blame| waits(blame, &missed.flow, kind);
        let (earlier, now) = (before.map(of_victim), of_victim(after));
        let then = |key: &(String, String)| {
            earlier.as_ref().map(|waits| waits.get(key).copied().unwrap_or(0.0))
        };
        let growth = |key: &(String, String), us: f64| us - then(key).unwrap_or(0.0);
        let most = now.iter().max_by(|a, b| growth(a.0, *a.1).total_cmp(&growth(b.0, *b.1)));
        let grown = most.filter(|(key, us)| growth(key, **us) > 0.0).map(|(key, &after_us)| {
            Grown { culprit: key.0.clone(), cause: key.1.clone(), before_us: then(key), after_us }
        });
        Self { refused: None, missed: Some(missed), grown, runs: 1 + usize::from(before.is_some()) }
    }
}

/// Runs a scenario and returns its blame.
pub(super) fn blame(scenario: &Scenario, options: &RunOptions) -> Result<Blame, Error> {
    let observe = Observe { blame: true, ..Observe::default() };
    let options = RunOptions { observe, ..options.clone() };
    let (device, workload) = (&scenario.device.config, &scenario.workload.config);
    let (_, details) = simulate_in_detail(device, workload, &options, &|_| {})?;
    Ok(details.blame.unwrap_or_default())
}

/// The mean wait of a request of one kind of tenant, for each culprit and cause. Unit:
/// microseconds.
fn waits(
    blame: &Blame,
    victim: &str,
    kind: &dyn Fn(&str) -> String,
) -> BTreeMap<(String, String), f64> {
    let victims: Vec<_> = blame.victims.iter().filter(|one| kind(&one.flow) == victim).collect();
    let requests: u64 = victims.iter().map(|one| one.requests).sum();
    let mut waits: BTreeMap<(String, String), u128> = BTreeMap::new();
    for cell in victims.iter().flat_map(|one| &one.cells) {
        *waits.entry((kind(&cell.culprit), cell.cause.clone())).or_default() += cell.ps;
    }
    let mean = |ps: u128| ps as f64 / 1e6 / requests.max(1) as f64;
    waits.into_iter().map(|(key, ps)| (key, mean(ps))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::observe::{BlameCell, BlameVictim};

    fn blame(requests: u64, cells: &[(&str, &str, u128)]) -> Blame {
        let cell = |&(culprit, cause, us): &(&str, &str, u128)| BlameCell {
            culprit: culprit.to_owned(),
            cause: cause.to_owned(),
            ps: us * 1_000_000,
        };
        let victim = |flow: &str, cells: Vec<BlameCell>| BlameVictim {
            flow: flow.to_owned(),
            requests,
            cells,
            ..BlameVictim::default()
        };
        let cells = cells.iter().map(cell).collect();
        let other = vec![cell(&("a-1", "erase", 10_000))];
        Blame { victims: vec![victim("b", cells), victim("c", other)], ..Blame::default() }
    }

    #[test]
    fn the_wait_that_grew_most_is_named_with_its_kind() {
        let missed = GoalOver {
            flow: "b".to_owned(),
            goal: "p99".to_owned(),
            limit: 1.0,
            value: None,
            strain: None,
            strain_interval: None,
            saturated_seeds: 0,
            starved_seeds: 0,
        };
        let kind = |name: &str| name.split('-').next().unwrap_or(name).to_owned();
        let before = blame(10, &[("a-1", "program", 100), ("b", "bus", 900)]);
        let cells = [("b", "bus", 1000), ("a-1", "program", 200), ("a-2", "program", 300)];
        let after = blame(10, &cells);
        let limit = Limit::of(missed.clone(), Some(&before), &after, &kind);
        let grown = limit.grown.expect("the programs of the copies");
        assert_eq!((grown.culprit.as_str(), grown.cause.as_str()), ("a", "program"));
        assert_eq!((grown.before_us, grown.after_us), (Some(10.0), 50.0));
        assert_eq!(Limit::of(missed.clone(), Some(&after), &before, &kind).grown, None);
        let alone = Limit::of(missed, None, &before, &kind).grown.expect("the largest");
        assert_eq!((alone.cause.as_str(), alone.before_us), ("bus", None));
    }
}
