//! Measurements, in memory and in a folder.
//!
//! A folder has `probe.json`, with the facts about the target. For each complete probe it has two
//! files: `NAME.parquet`, with a row for each request, and `NAME.json`, which describes the series
//! of requests. The second file is written last: a probe counts as complete once it is there.

mod parquet;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use flashlane_engine::Time;
use flashlane_files::{Refusal, Rules, refuse_others, write_file};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::series::{Rule, Series, Timing};
use crate::target::{Counters, Facts, Failure};

/// The format of the folder.
pub const SCHEMA: &str = "flashlane.probe/1";

/// Name for work that no fit uses.
pub const HELD_BACK: &str = "held-back";

/// A series, with the times at which its requests were sent and over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The series that was sent.
    pub series: Series,
    /// Timings, one for each request.
    pub timings: Vec<Timing>,
    /// The drive's own counters before and after, if it has some.
    pub counters: Option<(Counters, Counters)>,
}

impl Measured {
    /// The mean latency. Unit: microseconds; 0 without requests.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        let sum: f64 = self.timings.iter().map(|timing| timing.latency.as_us()).sum();
        sum / self.timings.len().max(1) as f64
    }

    /// The latency below which a share of the requests lies. Unit: microseconds. Range of the
    /// share: 0 to 1.
    #[must_use]
    pub fn quantile_us(&self, share: f64) -> f64 {
        let mut all: Vec<Time> = self.timings.iter().map(|timing| timing.latency).collect();
        all.sort_unstable();
        let place = (share * all.len().saturating_sub(1) as f64).round() as usize;
        all.get(place).map_or(0.0, |latency| latency.as_us())
    }

    /// Requests a second, from the first that was sent to the last that ended.
    #[must_use]
    pub fn iops(&self) -> f64 {
        let ends = self.timings.iter().map(|timing| timing.sent + timing.latency);
        let from = self.timings.iter().map(|timing| timing.sent).min().unwrap_or_default();
        let span = ends.max().unwrap_or_default().saturating_sub(from).as_s();
        if span > 0.0 { self.timings.len() as f64 / span } else { 0.0 }
    }

    /// Bytes a second, over the same span.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        let bytes: f64 = self.series.requests.iter().map(|one| f64::from(one.bytes)).sum();
        self.iops() * bytes / self.timings.len().max(1) as f64
    }

    /// Write amplification by the drive's own counters; `None` without counters or writes.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        let (before, after) = self.counters?;
        let host = after.host_written.checked_sub(before.host_written)?;
        let media = after.media_written.checked_sub(before.media_written)?;
        (host > 0).then(|| media as f64 / host as f64)
    }
}

/// The results of a whole measurement.
#[derive(Clone, Debug)]
pub struct Collected {
    /// The target.
    pub facts: Facts,
    /// True if writes were allowed.
    pub destroys: bool,
    /// Seed of random addresses.
    pub seed: u64,
    /// Series of each complete probe, by the name of the probe.
    pub probes: BTreeMap<String, Vec<Measured>>,
    /// Probes that were left out, with the reason.
    pub skipped: BTreeMap<String, String>,
}

impl Collected {
    /// A series, by the name of its probe and its own name.
    #[must_use]
    pub fn series(&self, probe: &str, name: &str) -> Option<&Measured> {
        self.probes.get(probe)?.iter().find(|one| one.series.name == name)
    }

    /// The series of a probe; empty if it was not measured.
    #[must_use]
    pub fn probe(&self, name: &str) -> &[Measured] {
        self.probes.get(name).map_or(&[], Vec::as_slice)
    }

    /// Number of requests that were sent.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.probes.values().flatten().map(|one| one.timings.len() as u64).sum()
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// If a file is missing or damaged.
    pub fn load(folder: &Path) -> Result<Self, Failure> {
        let about: About = read_json(&folder.join("probe.json"))?;
        if about.schema != SCHEMA {
            let problem = format!("found schema {}, allowed: {SCHEMA}", about.schema);
            return Err(Failure::Refused(folder.join("probe.json").display().to_string(), problem));
        }
        let mut probes = BTreeMap::new();
        for name in crate::battery::NAMES.iter().copied().chain([HELD_BACK]) {
            if let Some(measured) = load_probe(folder, name)? {
                probes.insert(name.to_owned(), measured);
            }
        }
        let About { facts, destroys, seed, skipped, .. } = about;
        Ok(Self { facts, destroys, seed, probes, skipped })
    }

    /// Refuses a folder that belongs to something else.
    ///
    /// # Errors
    /// If there are measurements of another target, with another seed, or in another mode; or if
    /// `probe.json` is damaged.
    pub fn claim(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join("probe.json");
        if !path.exists() {
            return Ok(());
        }
        let about: About = read_json(&path)?;
        let says = |facts: &Facts, seed: u64, destroys: bool| {
            let mode = if destroys { "with writes" } else { "read-only" };
            format!("{}, {} bytes, seed {seed}, {mode}", facts.name, facts.bytes)
        };
        let found = says(&about.facts, about.seed, about.destroys);
        let wanted = says(&self.facts, self.seed, self.destroys);
        match found == wanted && about.facts == self.facts {
            true => Ok(()),
            false => Err(refused(&path, format!("found {found}; this is {wanted}"))),
        }
    }

    /// Writes the facts about the target, and the probes that were left out.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_about(&self, folder: &Path) -> Result<(), Failure> {
        let about = About {
            schema: SCHEMA.to_owned(),
            facts: self.facts.clone(),
            destroys: self.destroys,
            seed: self.seed,
            skipped: self.skipped.clone(),
        };
        write_json(&folder.join("probe.json"), &about)
    }
}

/// `probe.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    schema: String,
    facts: Facts,
    destroys: bool,
    seed: u64,
    skipped: BTreeMap<String, String>,
}

/// A series in `NAME.json`: everything but its requests.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesAbout {
    name: String,
    rule: Rule,
    requests: usize,
    counters: Option<(Counters, Counters)>,
}

/// Writes the two files of a probe; the file that makes it complete comes last. `overwrite`: files
/// of somebody else with these names may be replaced.
///
/// # Errors
/// They cannot be written.
pub fn write_probe(
    folder: &Path,
    name: &str,
    measured: &[Measured],
    overwrite: bool,
) -> Result<(), Failure> {
    let write = |path: &Path, bytes: &[u8]| {
        write_file(path, bytes, &rules(overwrite)).map_err(|refusal| of_refusal(folder, refusal))
    };
    let path = folder.join(format!("{name}.parquet"));
    let bytes = parquet::encode(measured).map_err(|error| refused(&path, error))?;
    write(&path, &bytes)?;
    let about = |one: &Measured| SeriesAbout {
        name: one.series.name.clone(),
        rule: one.series.rule,
        requests: one.timings.len(),
        counters: one.counters,
    };
    let about: Vec<SeriesAbout> = measured.iter().map(about).collect();
    let path = folder.join(format!("{name}.json"));
    write(&path, json(&path, &about)?.as_bytes())
}

fn rules(overwrite: bool) -> Rules<'static> {
    Rules { overwrite, set: None, hint: Some("--overwrite") }
}

fn of_refusal(folder: &Path, refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Taken(text) => Failure::Refused(folder.display().to_string(), text),
        Refusal::Failed(path, error) => refused(&path, error),
    }
}

/// Refuses a folder in which somebody else's files have the names of a probe's.
///
/// # Errors
/// If there are such files.
pub(crate) fn refuse_foreign(folder: &Path, name: &str, overwrite: bool) -> Result<(), Failure> {
    let paths = ["parquet", "json"].map(|ending| format!("{name}.{ending}").into());
    refuse_others(folder, &paths, &rules(overwrite)).map_err(|refusal| of_refusal(folder, refusal))
}

/// Reads the two files of a probe; `None` if it is not complete.
///
/// # Errors
/// If a file is damaged.
pub fn load_probe(folder: &Path, name: &str) -> Result<Option<Vec<Measured>>, Failure> {
    let path = folder.join(format!("{name}.json"));
    if !path.exists() {
        return Ok(None);
    }
    let about: Vec<SeriesAbout> = read_json(&path)?;
    let path = folder.join(format!("{name}.parquet"));
    let rows = fs::read(&path).map_err(|error| refused(&path, error))?;
    let mut rows = parquet::decode(rows).map_err(|error| refused(&path, error))?.into_iter();
    let mut measured = Vec::with_capacity(about.len());
    for one in about {
        let (requests, timings): (Vec<_>, Vec<_>) = rows.by_ref().take(one.requests).unzip();
        if requests.len() < one.requests {
            return Err(refused(&path, format!("series {} has too few rows", one.name)));
        }
        let at = match one.rule {
            Rule::Open => timings.iter().map(|timing: &Timing| timing.sent).collect(),
            _ => Vec::new(),
        };
        let series = Series { name: one.name, rule: one.rule, requests, at };
        measured.push(Measured { series, timings, counters: one.counters });
    }
    match rows.next() {
        Some(_) => Err(refused(&path, "there are rows of no series")),
        None => Ok(Some(measured)),
    }
}

fn refused(path: &Path, problem: impl ToString) -> Failure {
    Failure::Refused(path.display().to_string(), problem.to_string())
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = fs::read_to_string(path).map_err(|error| refused(path, error))?;
    serde_json::from_str(&text).map_err(|error| refused(path, error))
}

fn json<T: Serialize>(path: &Path, value: &T) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| refused(path, error))?;
    text.push('\n');
    Ok(text)
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Failure> {
    let text = json(path, value)?;
    flashlane_files::write_whole(path, text.as_bytes()).map_err(|error| refused(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Request;

    #[test]
    fn a_probe_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let requests = (0..1000).map(|i| Request::read(i * 4096, 4096)).collect();
        let timings = (0..1000).map(|i| Timing { sent: Time(i * 7), latency: Time(i * i) });
        let counters = Some((Counters::default(), Counters { host_written: 5, media_written: 9 }));
        let series = Series::closed("a", 4, requests);
        let one = Measured { series, timings: timings.collect(), counters };
        let series = Series::bursts("b", 2, vec![Request::write(512, 512), Request::trim(0, 8192)]);
        let two = Measured { series, timings: vec![Timing::default(); 2], counters: None };
        let all = vec![one, two];
        assert_eq!(load_probe(folder.path(), "idle-latency").expect("nothing there"), None);
        fs::write(folder.path().join("idle-latency.parquet"), "mine").expect("room");
        let refused = refuse_foreign(folder.path(), "idle-latency", false);
        let refused = refused.expect_err("it is the user's").to_string();
        assert!(refused.contains("idle-latency.parquet: flashlane did not write it"), "{refused}");
        write_probe(folder.path(), "idle-latency", &all, true).expect("room");
        write_probe(folder.path(), "idle-latency", &all, false).expect("they are ours");
        assert_eq!(load_probe(folder.path(), "idle-latency").expect("it is whole"), Some(all));
        fs::write(folder.path().join("idle-latency.parquet"), b"PAR1").expect("room");
        let error = load_probe(folder.path(), "idle-latency").expect_err("it is damaged");
        assert!(error.to_string().contains("idle-latency.parquet"), "{error}");
    }
}
