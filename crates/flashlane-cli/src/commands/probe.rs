//! `flashlane probe`: measures a drive from outside.

mod held_back;

use std::collections::BTreeMap;
use std::path::Path;

use flashlane::Error;
use flashlane::config::load;
use flashlane_engine::Time;
use flashlane_probe::battery::{NAMES, PROBES, Probe};
use flashlane_probe::data::{self, HELD_BACK};
use flashlane_probe::{Battery, Collected, Failure, Measured, Progress, Simulated, Target};

use crate::args::ProbeArgs;
use crate::output::{OutFolder, note, print};
use crate::table::{Table, number};

/// Prefix of the name of a simulated target.
const SIMULATED: &str = "simulated:";

/// Measures a target, and writes the measurements.
pub(crate) fn probe(arguments: &ProbeArgs) -> Result<(), Error> {
    let (Some(target), Some(out)) = (&arguments.target, &arguments.out) else {
        return print(&list());
    };
    if let Some(name) = arguments.only.iter().find(|name| !NAMES.contains(&name.as_str())) {
        let allowed = NAMES.join(", ");
        return Err(Error::config("--only", format!("found `{name}`, allowed: {allowed}")));
    }
    if let Some(again) = arguments.destroy_data.as_ref().filter(|again| *again != target) {
        let problem = format!("found `{again}`, allowed: the target once more, `{target}`");
        return Err(Error::config("--destroy-data", problem));
    }
    let mut opened = open(target, arguments)?;
    let _held = OutFolder::prepare(out, arguments.overwrite.overwrite)?;
    let battery = Battery {
        overwrite: arguments.overwrite.overwrite,
        destroy_data: arguments.destroy_data.is_some(),
        only: &arguments.only,
        budget: arguments.time.map(|time| Time(time.0)),
        seed: arguments.seed,
    };
    if let Some(trace) = &arguments.trace {
        return work(trace, opened.as_mut(), out, arguments);
    }
    let progress = &mut Words { quiet: arguments.quiet };
    let data = battery.run(opened.as_mut(), Some(out), progress).map_err(failed)?;
    print(&summary(&data))?;
    note(&format!("next: flashlane fit {}", out.display()));
    Ok(())
}

/// Measures the requests of a trace.
fn work(
    trace: &Path,
    target: &mut dyn Target,
    out: &Path,
    arguments: &ProbeArgs,
) -> Result<(), Error> {
    let destroys = arguments.destroy_data.is_some();
    let series = held_back::series(trace, &arguments.reading, target.facts(), destroys)?;
    let (facts, seed) = (target.facts().clone(), arguments.seed);
    let (probes, skipped) = Default::default();
    let all = Collected { facts, destroys, seed, probes, skipped };
    all.claim(out).and_then(|()| all.write_about(out)).map_err(failed)?;
    let measured = series.run(target).map_err(failed)?;
    let measured_all = std::slice::from_ref(&measured);
    let overwrite = arguments.overwrite.overwrite;
    data::write_probe(out, HELD_BACK, measured_all, overwrite).map_err(failed)?;
    let mut table = Table::new(&["requests", "mean (us)", "p50 (us)", "p99 (us)", "p99.9 (us)"]);
    let quantiles = [0.5, 0.99, 0.999].map(|share| measured.quantile_us(share));
    let cells = std::iter::once(measured.mean_us()).chain(quantiles).map(number);
    table.row(std::iter::once(measured.timings.len().to_string()).chain(cells).collect());
    print(&table.render())?;
    note(&format!("next: flashlane fit DIR --validate {}", out.display()));
    Ok(())
}

/// Opens the target.
fn open(target: &str, arguments: &ProbeArgs) -> Result<Box<dyn Target>, Error> {
    let Some(device) = target.strip_prefix(SIMULATED) else {
        let problem = match () {
            () if arguments.sets() => "allowed with a simulated target only",
            () => return open_path(target, arguments.destroy_data.is_some()),
        };
        return Err(Error::config("--set", problem));
    };
    let config = load::device(device, &arguments.overrides())?.config;
    let counters = !arguments.no_counters;
    Ok(Box::new(Simulated::new(&config, arguments.seed, counters).map_err(failed)?))
}

#[cfg(target_os = "linux")]
fn open_path(target: &str, writes: bool) -> Result<Box<dyn Target>, Error> {
    let path = std::path::Path::new(target);
    Ok(Box::new(flashlane_probe::target::Linux::open(path, writes).map_err(failed)?))
}

#[cfg(not(target_os = "linux"))]
fn open_path(target: &str, _writes: bool) -> Result<Box<dyn Target>, Error> {
    let allowed = "`simulated:` and a device; block devices and files are measured on Linux only";
    Err(Error::config("TARGET", format!("found `{target}`, allowed: {allowed}")))
}

fn failed(failure: Failure) -> Error {
    match failure {
        Failure::Simulator(error) => error,
        Failure::Refused(place, problem) => Error::config(place, problem),
        other => Error::Output(other.to_string()),
    }
}

/// The list of all probes.
fn list() -> String {
    let mut table = Table::new(&["probe", "what it measures", "method"]);
    for Probe { name, about, source, .. } in PROBES {
        table.row(vec![(*name).to_owned(), (*about).to_owned(), (*source).to_owned()]);
    }
    table.render()
}

/// Prints the progress on standard error.
struct Words {
    quiet: bool,
}

impl Words {
    fn say(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }
}

impl Progress for Words {
    fn starts(&mut self, probe: &Probe, index: usize, count: usize) {
        self.say(&format!("{} of {count}: {}, {}", index + 1, probe.name, probe.about));
    }

    fn kept(&mut self, probe: &Probe) {
        self.say(&format!("{}: measured before", probe.name));
    }

    fn skipped(&mut self, probe: &Probe, reason: &str) {
        self.say(&format!("{}: left out, {reason}", probe.name));
    }
}

/// A line for each probe.
fn summary(data: &Collected) -> String {
    let mut table = Table::new(&["probe", "series", "requests", "mean latency (us)"]);
    for probe in PROBES {
        let series = data.probe(probe.name);
        let requests: usize = series.iter().map(|one| one.timings.len()).sum();
        let cells = match data.skipped.get(probe.name) {
            Some(reason) => [reason.clone(), String::new(), String::new()],
            None if series.is_empty() => continue,
            None => [series.len().to_string(), requests.to_string(), means(series)],
        };
        table.row(std::iter::once(probe.name.to_owned()).chain(cells).collect());
    }
    table.render()
}

/// The smallest and the largest mean of some series.
fn means(series: &[Measured]) -> String {
    let means: BTreeMap<u64, f64> =
        series.iter().map(Measured::mean_us).map(|mean| (mean.to_bits(), mean)).collect();
    match (means.values().next(), means.values().next_back()) {
        (Some(low), Some(high)) => format!("{low:.1} to {high:.1}"),
        _ => String::new(),
    }
}
