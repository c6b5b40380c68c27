//! Adapts error messages to Python: flows by their names, keys as `Flow` takes them, and parameters
//! in place of options of the command.

use flashlane::config::WorkloadConfig;
use flashlane::config::load::Loaded;
use flashlane::{Error, Problem};

/// Options of the command in error messages, with the Python names for them.
const OPTIONS: [(&str, &str); 10] = [
    ("--series-window", "timeseries"),
    ("--waf-only", "waf_only"),
    ("--until-steady", "until_steady"),
    ("--warmup", "warmup"),
    ("--alone", "alone"),
    ("--windows", "windows"),
    ("--requests", "requests"),
    ("--blame", "blame"),
    ("--timeline", "timeline"),
    ("--seeds", "seeds"),
];

/// Names of the flows of a workload that is not yet loaded.
pub(crate) fn names(keys: &toml::Table) -> Vec<String> {
    let flows = keys.get("flow").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let name =
        |flow: &toml::Value| flow.get("name").and_then(toml::Value::as_str).map(str::to_owned);
    flows.iter().map(|flow| name(flow).unwrap_or_default()).collect()
}

/// Adapts the error for a workload that was given key by key: flows are called by their names. The
/// error for a file is unchanged.
pub(crate) fn of_flows(error: Error, loaded: &Loaded<WorkloadConfig>) -> Error {
    if !loaded.places.file().is_empty() {
        return error;
    }
    let names: Vec<String> = loaded.config.flows.iter().map(|flow| flow.name.clone()).collect();
    renamed(error, &names)
}

/// The error with the names of flows in place of their numbers.
pub(crate) fn renamed(error: Error, names: &[String]) -> Error {
    let Error::Config(problems) = error else { return error };
    let said = |problem: Problem| Problem {
        place: flow_and_key(&problem.place, names).unwrap_or(problem.place),
        message: problem
            .message
            .replace(" (looked beside the workload file and in the current folder)", ""),
    };
    Error::Config(problems.into_iter().map(said).collect())
}

/// Converts `flow[0].synthetic.queue_depth` to `Flow 'reader': queue_depth`.
fn flow_and_key(place: &str, names: &[String]) -> Option<String> {
    if place == "flow" {
        return Some("Workload".to_owned());
    }
    let (index, rest) = place.strip_prefix("flow[")?.split_once(']')?;
    let name = names.get(index.parse::<usize>().ok()?).filter(|name| !name.is_empty())?;
    let key = match rest.trim_start_matches('.') {
        "trace.path" => "trace",
        "clone.of" => "clone",
        key => ["synthetic", "trace", "clone"]
            .iter()
            .find_map(|source| key.strip_prefix(source))
            .map_or(key, |key| key.trim_start_matches('.')),
    };
    let colon = if key.is_empty() { "" } else { ": " };
    Some(format!("Flow '{name}'{colon}{key}"))
}

/// Replaces options of the command by parameters.
pub(crate) fn without_options(text: &str) -> String {
    OPTIONS
        .iter()
        .fold(text.to_owned(), |text, (option, parameter)| text.replace(option, parameter))
}
