//! The probes, one file each: what they send, in which order, and by which published method.

use std::path::Path;

use flashlane_engine::Time;

use crate::data::{self, Collected, Measured};
use crate::target::{Failure, Target};

/// What a probe may use.
pub struct Bench<'a> {
    /// What is measured.
    pub target: &'a mut dyn Target,
    /// Seed of its random addresses.
    pub seed: u64,
    /// What the probes before it measured.
    pub before: &'a Collected,
}

/// A probe.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// What it measures, in one sentence.
    pub about: &'static str,
    /// Where the method was published.
    pub source: &'static str,
    /// It writes.
    pub destroys: bool,
    /// Measures.
    pub run: fn(&mut Bench<'_>) -> Result<Vec<Measured>, Failure>,
}

/// Every probe, in the order in which they run: the cheap and the harmless first.
pub const PROBES: &[Probe] = &[];

/// Their names.
pub const NAMES: &[&str] = &[];

/// How a battery runs.
pub struct Battery<'a> {
    /// Writes are allowed.
    pub destroy_data: bool,
    /// Probes to run; all that there are where it is empty.
    pub only: &'a [String],
    /// Time by the clock of the target after which no further probe starts.
    pub budget: Option<Time>,
    /// Seed of random addresses.
    pub seed: u64,
}

/// What happens, for people.
pub trait Progress {
    /// A probe starts, number `index` of `count`.
    fn starts(&mut self, probe: &Probe, index: usize, count: usize);
    /// It was measured before, and its files are used.
    fn kept(&mut self, probe: &Probe);
    /// It is left out.
    fn skipped(&mut self, probe: &Probe, reason: &str);
}

impl Battery<'_> {
    /// Runs every probe that may run and is not in the folder yet.
    ///
    /// # Errors
    /// A request fails, or a file cannot be written.
    pub fn run(
        &self,
        target: &mut dyn Target,
        folder: Option<&Path>,
        progress: &mut dyn Progress,
    ) -> Result<Collected, Failure> {
        let facts = target.facts().clone();
        let (probes, skipped) = Default::default();
        let mut all = Collected { facts, destroys: self.destroy_data, probes, skipped };
        let wanted = |probe: &&Probe| {
            self.only.is_empty() || self.only.iter().any(|name| name == probe.name)
        };
        let count = PROBES.iter().filter(wanted).count();
        let mut spent = Time::ZERO;
        for (index, probe) in PROBES.iter().filter(wanted).enumerate() {
            let kept = folder.map(|folder| data::load_probe(folder, probe.name)).transpose()?;
            if let Some(measured) = kept.flatten() {
                progress.kept(probe);
                all.probes.insert(probe.name.to_owned(), measured);
                continue;
            }
            if let Some(reason) = self.obstacle(probe, spent) {
                progress.skipped(probe, &reason);
                all.skipped.insert(probe.name.to_owned(), reason);
                continue;
            }
            progress.starts(probe, index, count);
            target.reset()?;
            let start = target.now();
            let bench = &mut Bench { target, seed: self.seed, before: &all };
            let measured = (probe.run)(bench)?;
            spent = spent + target.now().saturating_sub(start);
            if let Some(folder) = folder {
                data::write_probe(folder, probe.name, &measured)?;
            }
            all.probes.insert(probe.name.to_owned(), measured);
        }
        if let Some(folder) = folder {
            all.write_about(folder)?;
        }
        Ok(all)
    }

    /// Why a probe cannot run.
    fn obstacle(&self, probe: &Probe, spent: Time) -> Option<String> {
        if probe.destroys && !self.destroy_data {
            return Some("it writes, which needs --destroy-data".to_owned());
        }
        let budget = self.budget?;
        (spent >= budget).then(|| format!("the time of {} s is spent", budget.as_s()))
    }
}
