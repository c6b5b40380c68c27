//! One baseline for all variants of a drive: the tenants alone on the first one.

use std::cell::RefCell;
use std::collections::BTreeMap;

use flashlane::Error;
use flashlane::metrics::{Baseline, Summary};

use super::{Question, Variant};

/// The tenants alone on the first variant of the drive. Goals of slowdown of all variants are held
/// against them, since they could not be compared otherwise.
#[derive(Clone, Debug, Default)]
pub struct TenantsAlone {
    /// The settings of the first variant, each written `KEY=VALUE`.
    sets: Vec<String>,
    found: RefCell<BTreeMap<AloneKey, Option<Baseline>>>,
}

/// The settings of the drive, the level and the seed.
type AloneKey = (Vec<String>, i64, u64);

impl TenantsAlone {
    /// The tenants alone on the drive of this variant.
    #[must_use]
    pub fn on(first: &Variant) -> Self {
        Self { sets: first.sets.clone(), found: RefCell::default() }
    }

    /// The settings of the drive on which the tenants of a variant are alone: those of the first
    /// variant, with the workload of this one.
    fn sets_for(&self, variant: &Variant) -> Vec<String> {
        let is_workload = |set: &&String| set.starts_with("workload=");
        let own = variant.sets.iter().find(is_workload);
        let of_first = |set: &String| own.filter(|_| is_workload(&set)).unwrap_or(set).clone();
        self.sets.iter().map(of_first).collect()
    }
}

impl Question {
    /// Takes slowdowns, and goals of slowdown, against the tenants alone on the first variant with
    /// the same seed. Where that variant refuses the level, the tenants of the runs themselves
    /// count.
    pub(super) fn compare(
        &self,
        variant: &Variant,
        with_others: bool,
        level: i64,
        runs: &mut [Summary],
    ) -> Result<(), Error> {
        let sets = self.alone.sets_for(variant);
        let mut found = self.alone.found.borrow_mut();
        for run in runs {
            let Some(own) = Baseline::of(run, None) else { continue };
            let key = (sets.clone(), level, run.seed);
            if !found.contains_key(&key) {
                let is_first = variant.sets == sets && with_others;
                let alone =
                    if is_first { Some(own) } else { self.alone_at(&sets, level, run.seed)? };
                found.insert(key.clone(), alone);
            }
            if let Some(alone) = &found[&key] {
                alone.apply(run, None);
            }
        }
        Ok(())
    }

    /// The tenants alone on a drive with these settings. `None` if it refuses the level.
    fn alone_at(&self, sets: &[String], level: i64, seed: u64) -> Result<Option<Baseline>, Error> {
        let variant = Variant { sets: sets.to_vec(), drives: 1 };
        let scenario = match self.scenario(&variant, true, level) {
            Err(Error::Config(_)) => return Ok(None),
            other => other?,
        };
        let offset = seed.wrapping_sub(self.options.seed);
        match self.run(&scenario, offset..offset + 1) {
            Ok(runs) => Ok(runs.first().and_then(|run| Baseline::of(run, None))),
            Err(Error::Stuck(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
