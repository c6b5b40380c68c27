//! The probes, one file each: their requests, the order of these, and the published method.

mod behind_writes;
pub mod conflicts;
mod depth;
mod idle_latency;
mod idle_recovery;
mod mapping_cache;
pub mod page_boundary;
pub mod permutation;
mod planes;
pub mod read_back;
mod shared_die;
mod write_burst;
mod write_latency;

use std::path::Path;

use flashlane_engine::{Rng, Time};

use crate::data::{self, Collected, Measured};
use crate::series::{Request, Series};
use crate::target::{Failure, Limited, Target};

/// Resources of a probe.
pub struct Bench<'a> {
    /// The target of the measurement.
    pub target: &'a mut dyn Target,
    /// Seed of the probe's random addresses.
    pub seed: u64,
    /// Measurements of earlier probes.
    pub before: &'a Collected,
}

impl Bench<'_> {
    /// A stream of random numbers of a probe.
    fn random(&self, probe: &str, index: u64) -> Rng {
        Rng::stream(self.seed, probe, index)
    }

    /// True if the target takes requests of this size.
    fn takes(&self, bytes: u32) -> bool {
        let facts = self.target.facts();
        bytes >= facts.block && bytes <= facts.longest && u64::from(bytes) <= facts.bytes / 2
    }

    /// Trims the target from a byte on, up to the end.
    fn trim_from(&mut self, start: u64) -> Result<Measured, Failure> {
        let facts = self.target.facts();
        let (end, longest) = (facts.bytes, u64::from(facts.longest));
        let piece = |from: u64| Request::trim(from, longest.min(end - from) as u32);
        let pieces = (start..end).step_by(longest as usize).map(piece).collect();
        Series::single("trim", pieces).run(self.target)
    }

    /// Lets time pass. Unit: microseconds.
    fn pause_us(&mut self, us: u64) -> Result<(), Failure> {
        let at = self.target.now() + Time::from_us(us);
        self.target.pause_until(at)
    }

    /// A random address for a request of `bytes` bytes: a multiple of its length or of 4 KiB,
    /// whichever is more.
    fn address(&self, random: &mut Rng, bytes: u32) -> u64 {
        let unit = u64::from(bytes).next_multiple_of(4096);
        random.below((self.target.facts().bytes / unit).max(1)) * unit
    }
}

/// A probe.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Name of the probe and of its files.
    pub name: &'static str,
    /// Purpose, in one sentence.
    pub about: &'static str,
    /// Publication of the method.
    pub source: &'static str,
    /// True if the probe writes.
    pub destroys: bool,
    /// Runs the probe.
    pub run: fn(&mut Bench<'_>) -> Result<Vec<Measured>, Failure>,
}

/// Every probe, in the order in which they run: cheap and harmless probes first.
pub const PROBES: &[Probe] = &[
    Probe {
        name: "idle-latency",
        about: "reads one at a time, by size",
        source: "uFLIP (CIDR 2009)",
        destroys: false,
        run: idle_latency::run,
    },
    Probe {
        name: "page-boundary",
        about: "small reads at every block, within pages and over their ends",
        source: "uFLIP (CIDR 2009); Chen, Koufaty and Zhang (SIGMETRICS 2009)",
        destroys: false,
        run: page_boundary::run,
    },
    Probe {
        name: "conflicts",
        about: "two reads at once, a distance apart: who shares a die, who a channel",
        source: "Chen, Lee and Zhang (HPCA 2011), section 4",
        destroys: false,
        run: conflicts::run,
    },
    Probe {
        name: "planes",
        about: "many reads of one die, which serves those of several planes together",
        source: "Hu et al. (ICS 2011)",
        destroys: false,
        run: planes::run,
    },
    Probe {
        name: "shared-die",
        about: "reads that share a die or a channel, which is never idle",
        source: "Chen, Lee and Zhang (HPCA 2011), section 4",
        destroys: false,
        run: shared_die::run,
    },
    Probe {
        name: "depth",
        about: "random reads by size and by how many are outstanding",
        source: "Chen, Lee and Zhang (HPCA 2011), section 4",
        destroys: false,
        run: depth::run,
    },
    Probe {
        name: "mapping-cache",
        about: "small reads within a growing part of the drive",
        source: "DFTL (ASPLOS 2009); uFLIP (CIDR 2009)",
        destroys: false,
        run: mapping_cache::run,
    },
    Probe {
        name: "write-latency",
        about: "writes one at a time after a pause, by size",
        source: "uFLIP (CIDR 2009)",
        destroys: true,
        run: write_latency::run,
    },
    Probe {
        name: "read-back",
        about: "reads of what was just written, the last first: the buffer",
        source: "Chen, Koufaty and Zhang (SIGMETRICS 2009); SSDCheck (MICRO 2018)",
        destroys: true,
        run: read_back::run,
    },
    Probe {
        name: "write-burst",
        about: "writes without a pause: how much is taken fast, and how fast the rest drains",
        source: "SSDCheck (MICRO 2018)",
        destroys: true,
        run: write_burst::run,
    },
    Probe {
        name: "behind-writes",
        about: "reads of a plane that programs or erases",
        source: "Wu and He (FAST 2012), section 2; Chen, Koufaty and Zhang (SIGMETRICS 2009)",
        destroys: true,
        run: behind_writes::run,
    },
    Probe {
        name: "permutation",
        about: "every block written once a pass in random order: spare room and collection",
        source: "Desnoyers (SYSTOR 2012); uFLIP (CIDR 2009)",
        destroys: true,
        run: permutation::run,
    },
    Probe {
        name: "idle-recovery",
        about: "bursts of random writes after pauses: collection in the background",
        source: "uFLIP (CIDR 2009), its pause pattern",
        destroys: true,
        run: idle_recovery::run,
    },
];

/// Names of the probes, in the same order.
pub static NAMES: std::sync::LazyLock<Vec<&'static str>> =
    std::sync::LazyLock::new(|| PROBES.iter().map(|probe| probe.name).collect());

/// Options of a battery.
pub struct Battery<'a> {
    /// True if files of somebody else in the folder may be replaced.
    pub overwrite: bool,
    /// True if writes are allowed.
    pub destroy_data: bool,
    /// Probes to run; all probes if it is empty.
    pub only: &'a [String],
    /// Time limit by the clock of the target. A probe that is not over by then is cut, and none
    /// starts after it.
    pub budget: Option<Time>,
    /// Seed of random addresses.
    pub seed: u64,
}

/// Receives progress, for people.
pub trait Progress {
    /// A probe starts, number `index` of `count`.
    fn starts(&mut self, probe: &Probe, index: usize, count: usize);
    /// The probe was measured before, and its files are used.
    fn kept(&mut self, probe: &Probe);
    /// The probe is left out.
    fn skipped(&mut self, probe: &Probe, reason: &str);
}

impl Battery<'_> {
    /// Runs every probe that may run and is not in the folder yet.
    ///
    /// # Errors
    /// Fails if a request fails or a file cannot be written.
    pub fn run(
        &self,
        target: &mut dyn Target,
        folder: Option<&Path>,
        progress: &mut dyn Progress,
    ) -> Result<Collected, Failure> {
        let facts = target.facts().clone();
        let (probes, skipped) = Default::default();
        let (destroys, seed) = (self.destroy_data, self.seed);
        let mut all = Collected { facts, destroys, seed, probes, skipped };
        if let Some(folder) = folder {
            all.claim(folder)?;
            all.write_about(folder)?;
        }
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
            let left = self.budget.map(|budget| budget.saturating_sub(spent));
            if let Some(reason) = self.obstacle(probe, left) {
                progress.skipped(probe, &reason);
                all.skipped.insert(probe.name.to_owned(), reason);
                continue;
            }
            folder.map_or(Ok(()), |to| data::refuse_foreign(to, probe.name, self.overwrite))?;
            progress.starts(probe, index, count);
            target.reset()?;
            let start = target.now();
            let mut limited = Limited::new(target, left.map(|left| start + left));
            let bench = &mut Bench { target: &mut limited, seed: self.seed, before: &all };
            let outcome = (probe.run)(bench);
            spent += target.now().saturating_sub(start);
            let measured = match outcome {
                Err(Failure::Late) => {
                    let reason = format!("it was cut: {}", self.late());
                    progress.skipped(probe, &reason);
                    all.skipped.insert(probe.name.to_owned(), reason);
                    continue;
                }
                other => other?,
            };
            if let Some(folder) = folder {
                data::write_probe(folder, probe.name, &measured, self.overwrite)?;
            }
            all.probes.insert(probe.name.to_owned(), measured);
        }
        if let Some(folder) = folder {
            all.write_about(folder)?;
        }
        Ok(all)
    }

    /// The reason why a probe cannot run, if there is one.
    fn obstacle(&self, probe: &Probe, left: Option<Time>) -> Option<String> {
        if probe.destroys && !self.destroy_data {
            return Some("it writes, which needs --destroy-data".to_owned());
        }
        (left == Some(Time::ZERO)).then(|| self.late())
    }

    fn late(&self) -> String {
        format!("the time of {} s is spent", self.budget.unwrap_or_default().as_s())
    }
}
