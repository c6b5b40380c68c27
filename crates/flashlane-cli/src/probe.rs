//! `flashlane probe`: measures a drive from outside.

use std::collections::BTreeMap;

use flashlane::Error;
use flashlane::config::load;
use flashlane_engine::Time;
use flashlane_probe::battery::{NAMES, PROBES, Probe};
use flashlane_probe::{Battery, Collected, Failure, Measured, Progress, Simulated};

use crate::args::ProbeArgs;
use crate::output::{note, print};
use crate::table::Table;

/// How the name of a simulated target begins.
const SIMULATED: &str = "simulated:";

/// Measures a target, and writes what was measured.
pub(crate) fn probe(arguments: &ProbeArgs) -> Result<(), Error> {
    let (Some(target), Some(out)) = (&arguments.target, &arguments.out) else {
        return print(&list());
    };
    if let Some(name) = arguments.only.iter().find(|name| !NAMES.contains(&name.as_str())) {
        let allowed = NAMES.join(", ");
        return Err(Error::config("--only", format!("found `{name}`, allowed: {allowed}")));
    }
    let device = target.strip_prefix(SIMULATED).ok_or_else(|| {
        let allowed = "`simulated:` and the name of a preset or a device file";
        Error::config("TARGET", format!("found `{target}`, allowed: {allowed}"))
    })?;
    let config = load::device(device, &arguments.overrides())?.config;
    let mut target = Simulated::new(&config, arguments.seed, true).map_err(failed)?;
    std::fs::create_dir_all(out)
        .map_err(|error| Error::Output(format!("{}: {error}", out.display())))?;
    let battery = Battery {
        destroy_data: false,
        only: &arguments.only,
        budget: arguments.time.map(|time| Time(time.0)),
        seed: arguments.seed,
    };
    let progress = &mut Words { quiet: arguments.quiet };
    let data = battery.run(&mut target, Some(out), progress).map_err(failed)?;
    print(&summary(&data))?;
    note(&format!("next: flashlane fit {}", out.display()));
    Ok(())
}

fn failed(failure: Failure) -> Error {
    match failure {
        Failure::Simulator(error) => error,
        Failure::Refused(place, problem) => Error::config(place, problem),
        other => Error::Output(other.to_string()),
    }
}

/// The probes that there are.
fn list() -> String {
    let mut table = Table::new(&["probe", "what it measures", "method"]);
    for Probe { name, about, source, .. } in PROBES {
        table.row(vec![(*name).to_owned(), (*about).to_owned(), (*source).to_owned()]);
    }
    table.render()
}

/// Says what happens on standard error.
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
