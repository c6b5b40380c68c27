//! The measured requests, sent to a simulated drive.

use std::collections::BTreeMap;

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_probe::battery::conflicts::{round, steps};
use flashlane_probe::{self as probe, Collected, Failure, Series, Simulated, Target};

use super::{Inside, Request, keys};

/// Probes whose requests are sent again.
const PROBES: &[&str] = &["conflicts", "idle-latency", "shared-die", "depth"];

/// Number of writes that are sent again.
const WRITES: u64 = 512;
/// Length of a trim. Unit: bytes.
const TRIM: u64 = 16 << 20;

/// The requests that are sent to every drive that is tried.
pub(super) struct Replay<'a> {
    data: &'a Collected,
    base: &'a str,
    seed: u64,
    structure: Vec<String>,
    /// Addresses are taken modulo this. Unit: bytes.
    wrap: u64,
    series: Vec<(&'static str, Series)>,
}

impl<'a> Replay<'a> {
    pub(super) fn of(
        data: &'a Collected,
        inside: &Inside,
        request: &'a Request,
        structure: Vec<String>,
    ) -> Self {
        let wrap = wrap(data, inside);
        let mut series = Vec::new();
        for &probe in PROBES {
            let all = data.probe(probe).iter().map(|one| &one.series);
            // The first base of single pages is as informative as all of them.
            let sent = all.filter(|one| probe != "conflicts" || one.name.ends_with("-alone-0"));
            series.extend(sent.map(|one| (probe, wrapped(one, wrap))));
        }
        Self { data, base: &request.base, seed: request.seed, structure, wrap, series }
    }

    /// Changes the requests to writes without a pause, after a trim of everything. A part of the
    /// measured writes is enough.
    pub(super) fn of_writes(mut self, planes: u64, page: u64) -> Self {
        let trim = |at: u64| probe::Request::trim(at, TRIM.min(self.wrap - at) as u32);
        let trims = (0..self.wrap).step_by(TRIM as usize).map(trim).collect();
        self.series = vec![("trim", Series::single("trim", trims))];
        let Some(measured) = self.data.series("behind-writes", "without-pause") else {
            return self;
        };
        let mut series = wrapped(&measured.series, self.wrap);
        // A page that is written again would stay in the buffer.
        let most = (self.wrap / (page * planes) / 2).min(WRITES);
        series.requests.truncate(most.max(8) as usize);
        self.series.push(("behind-writes", series));
        self
    }

    /// Sends all requests to a drive with keys set.
    pub(super) fn run(&self, sets: &[String]) -> Result<Collected, Error> {
        self.run_on(self.seed, sets)
    }

    /// Sends all requests to a drive with a seed, on which the places of its data depend.
    pub(super) fn run_on(&self, seed: u64, sets: &[String]) -> Result<Collected, Error> {
        let sets = self.structure.iter().chain(sets).cloned().collect();
        let overrides = Overrides { sets, ..Overrides::default() };
        let config = load::device(self.base, &overrides)?.config;
        let mut drive = Simulated::new(&config, seed, true).map_err(failed)?;
        if drive.facts().bytes < self.wrap {
            let (has, needs) = (drive.facts().bytes, self.wrap);
            return Err(Error::config("fit", format!("{has} bytes are too few for {needs}")));
        }
        let mut probes: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for (probe, series) in &self.series {
            let measured = series.clone().run(&mut drive).map_err(failed)?;
            probes.entry((*probe).to_owned()).or_default().push(measured);
        }
        let facts = self.data.facts.clone();
        let skipped = BTreeMap::new();
        Ok(Collected { facts, destroys: false, seed, probes, skipped })
    }
}

/// Capacity of the drives that are tried; addresses are taken modulo this. For a large drive, a few
/// rounds of its addresses are enough. Unit: bytes.
pub(super) fn wrap(data: &Collected, inside: &Inside) -> u64 {
    let page = inside.page.unwrap_or(4096);
    let pages = data.facts.bytes / page;
    let round = page * round(steps(pages), pages);
    match data.facts.bytes > keys::MOST_BYTES {
        true => (keys::MOST_BYTES / round).max(1) * round,
        false => data.facts.bytes,
    }
}

pub(super) fn wrapped(series: &Series, wrap: u64) -> Series {
    let mut series = series.clone();
    for request in &mut series.requests {
        request.offset %= wrap;
        if request.offset + u64::from(request.bytes) > wrap {
            request.offset = 0;
        }
    }
    series
}

pub(super) fn failed(failure: Failure) -> Error {
    match failure {
        Failure::Simulator(error) => error,
        other => Error::config("fit", other.to_string()),
    }
}
