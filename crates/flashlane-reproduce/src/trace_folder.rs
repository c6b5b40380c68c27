//! A user's own copies of the traces that have clones (FLIN's and UPI's Table 2), in place of the
//! clones.
//!
//! A file belongs to a trace if its name up to the first dot is the trace's, upper and lower case,
//! `-` and `_` alike: `prn_0.csv.gz` is `prn-0`. Files whose lines do not tell their format are
//! described in `traces.toml` beside them, one table per trace with keys of `[flow.trace]`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flashlane::config::load::{allowed, read_text};
use flashlane::config::{CloneConfig, TraceConfig};
use flashlane::workload::{clone, trace};
use flashlane::{Error, Problem};
use serde::Serialize;
use toml::{Table, Value};

/// Name of the file that says how to read the others.
const SETTINGS: &str = "traces.toml";
/// Keys that belong to the experiment.
const TAKEN: [&str; 4] = ["limit", "queue_depth", "repeat", "time_scale"];

/// The traces that a user has, by name. Empty by default: every trace is a clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceFolder {
    files: BTreeMap<&'static str, TraceConfig>,
}

/// Where the requests of a trace came from in an experiment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Name of the trace.
    pub name: &'static str,
    /// The user's file; `None` for a clone.
    pub file: Option<PathBuf>,
}

impl TraceFolder {
    /// Looks for the traces that have clones in a folder and tries every file that it finds.
    ///
    /// # Errors
    /// A folder that cannot be read or has none of them; two files for one trace; a file that
    /// cannot be read as a trace; settings that are wrong. All problems at once.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let mut found = files_by_name(folder)?;
        let mut settings = settings(folder)?;
        let mut problems = Vec::new();
        let mut files = BTreeMap::new();
        for params in clone::list() {
            let name = params.name;
            let (table, paths) = (settings.remove(name), found.remove(name));
            if table.is_none() && paths.is_none() {
                continue;
            }
            match config(folder, name, table.unwrap_or_default(), paths.unwrap_or_default()) {
                Ok(config) => drop(files.insert(name, config)),
                Err(Error::Config(more)) => problems.extend(more),
                Err(other) => problems.push(Problem {
                    place: name.to_owned(),
                    message: format!(
                        "{other}; how to read it can be said under [{name}] in {SETTINGS}"
                    ),
                }),
            }
        }
        if files.is_empty() && problems.is_empty() {
            let names: Vec<&str> = clone::list().iter().map(|params| params.name).collect();
            let message = format!(
                "found no file named after a trace, allowed: at least one of {}, with any extension",
                names.join(", ")
            );
            problems.push(Problem { place: folder.display().to_string(), message });
        }
        if problems.is_empty() { Ok(Self { files }) } else { Err(Error::Config(problems)) }
    }

    /// The names of the traces that are there.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.keys().copied()
    }

    /// The source of a flow as a TOML table, `[flow.trace]` or `[flow.clone]`, and where it comes
    /// from. A trace that is shorter than `requests` is replayed as often as it takes; it starts
    /// with its first request, whatever the hour of the clone.
    ///
    /// # Errors
    /// A name that is not in Table 2; a file that cannot be read so far.
    pub(crate) fn source(
        &self,
        stand_in: &CloneConfig,
        requests: u64,
    ) -> Result<(String, Origin), Error> {
        let (name, time_scale) = (clone::find(&stand_in.of)?.name, stand_in.time_scale);
        let Some(config) = self.files.get(name) else {
            return Ok((table("flow.clone", stand_in)?, Origin { name, file: None }));
        };
        let mut reader = trace::open_reader(config)?;
        let mut there = 0;
        while there < requests {
            match reader.next().map_err(|error| Error::Trace(error.to_string()))? {
                Some(_) => there += 1,
                None => break,
            }
        }
        let file = Some(config.path.clone());
        let short = there < requests;
        let config = TraceConfig {
            time_scale,
            limit: (!short).then_some(requests),
            repeat: if short { requests.div_ceil(there.max(1)) } else { 1 },
            ..config.clone()
        };
        Ok((table("flow.trace", &config)?, Origin { name, file }))
    }
}

fn table<T: Serialize>(head: &str, config: &T) -> Result<String, Error> {
    let body = toml::to_string(config).map_err(|error| Error::config(head, error.to_string()))?;
    Ok(format!("[{head}]\n{body}"))
}

/// A name as those of Table 2 are written.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// The files of the folder that are named after a trace, in order of their names.
fn files_by_name(folder: &Path) -> Result<BTreeMap<&'static str, BTreeSet<PathBuf>>, Error> {
    let refuse = |error: std::io::Error| {
        Error::config("--traces", format!("{}: cannot be read: {error}", folder.display()))
    };
    let mut found: BTreeMap<&'static str, BTreeSet<PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = plain(file.split('.').next().unwrap_or_default());
        let params = clone::list().iter().find(|params| params.name == stem);
        if let Some(params) = params.filter(|_| path.is_file()) {
            found.entry(params.name).or_default().insert(path);
        }
    }
    Ok(found)
}

/// The tables of `traces.toml` by name; none without that file.
fn settings(folder: &Path) -> Result<BTreeMap<&'static str, Table>, Error> {
    let path = folder.join(SETTINGS);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let place = path.display().to_string();
    let text = read_text(&path)?;
    let tree: Table = toml::from_str(&text)
        .map_err(|error| Error::config(&place, format!("not valid TOML: {}", error.message())))?;
    let names: Vec<&str> = clone::list().iter().map(|params| params.name).collect();
    let mut settings = BTreeMap::new();
    for (key, value) in tree {
        let refuse = |message: String| Err(Error::config(format!("{place}: {key}"), message));
        let Some(&name) = names.iter().find(|&&name| name == plain(&key)) else {
            return refuse(format!("found `{key}`; {}", allowed(&key, &names)));
        };
        let Value::Table(table) = value else {
            return refuse(format!("found {value}, allowed: a table with keys of [flow.trace]"));
        };
        if let Some(key) = TAKEN.iter().find(|&&key| table.contains_key(key)) {
            return refuse(format!("`{key}` is set by the experiment; allowed: other keys"));
        }
        if settings.insert(name, table).is_some() {
            return refuse(format!("found a second table for {name}, allowed: one"));
        }
    }
    Ok(settings)
}

/// How to replay one trace; its first request has been read.
fn config(
    folder: &Path,
    name: &str,
    mut table: Table,
    paths: BTreeSet<PathBuf>,
) -> Result<TraceConfig, Error> {
    let refuse = |message: String| Err(Error::config(name, message));
    let path = match table.get("path").map(Value::as_str) {
        Some(Some(path)) => folder.join(path),
        Some(None) => return refuse(format!("{SETTINGS}: path: found no text, allowed: a file")),
        None => {
            let list: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            match &list[..] {
                [_] => paths.into_iter().next().expect("there is one"),
                [] => return refuse(format!("{SETTINGS} describes it, but no file has its name")),
                _ => {
                    return refuse(format!(
                        "found {}, allowed: one file, or `path` under [{name}] in {SETTINGS}",
                        list.join(" and ")
                    ));
                }
            }
        }
    };
    let Some(text) = path.to_str() else {
        return refuse(format!("{}: allowed: paths in UTF-8", path.display()));
    };
    table.insert("path".to_owned(), Value::String(text.to_owned()));
    // Real traces step back now and then; the summary counts how often.
    table.entry("decreasing_times").or_insert(Value::String("delay".to_owned()));
    let config: TraceConfig = Value::Table(table)
        .try_into()
        .map_err(|error: toml::de::Error| Error::config(name, error.message().to_owned()))?;
    let mut reader = trace::open_reader(&config)?;
    reader.next().map_err(|error| Error::Trace(error.to_string()))?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lab;

    const MSR: &str = "128166385295514663,hm,0,Write,9056014336,2048,2833\n\
        128166385295614663,hm,0,Read,4096,4096,2833\n\
        128166385295714663,hm,0,Read,8192,4096,2833\n";
    const MQSIM: &str = "5 1 0 8 1\n10 1 64 16 0\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        folder
    }

    fn refusal(files: &[(&str, &str)]) -> String {
        TraceFolder::open(folder(files).path()).expect_err("it is refused").to_string()
    }

    #[test]
    fn names_match_up_to_case_dashes_extension_and_compression() {
        let folder = folder(&[("PRN_0.csv", MSR), ("src1-2.trace.zst", MSR), ("notes.txt", "")]);
        std::fs::create_dir(folder.path().join("tpcc")).expect("a folder");
        let found = TraceFolder::open(folder.path()).expect("two traces");
        assert_eq!(found.names().collect::<Vec<_>>(), ["prn-0", "src1-2"]);
    }

    #[test]
    fn a_flow_replays_the_file_and_the_rest_are_clones() {
        let folder = folder(&[("prn_0.csv", MSR)]);
        let mut lab = Lab::new(1, &|_| {});
        lab.trace_folder = TraceFolder::open(folder.path()).expect("a trace");
        let source = |name, requests| {
            let text = lab.source(name, requests, 0.5).expect("a source");
            let flow: Table = toml::from_str(&text).expect("TOML");
            flow["flow"].as_table().expect("a table").clone()
        };
        let trace: TraceConfig = source("PRN_0", 2)["trace"].clone().try_into().expect("valid");
        assert_eq!((trace.limit, trace.repeat, trace.time_scale), (Some(2), 1, 0.5));
        assert_eq!(trace.path, folder.path().join("prn_0.csv"));
        let trace: TraceConfig = source("prn-0", 7)["trace"].clone().try_into().expect("valid");
        assert_eq!((trace.limit, trace.repeat), (None, 3), "three requests, three times");
        let clone: CloneConfig = source("tpcc", 9)["clone"].clone().try_into().expect("valid");
        assert_eq!((clone.of.as_str(), clone.requests, clone.time_scale), ("tpcc", Some(9), 0.5));
        assert!(lab.source("tpcx", 1, 1.0).is_err());
        let origins = lab.origins();
        assert_eq!(origins[0], Origin { name: "prn-0", file: Some(trace.path) });
        assert_eq!(origins[1..], [Origin { name: "tpcc", file: None }]);
    }

    #[test]
    fn settings_say_how_to_read_a_file() {
        let text = "[TPCC]\nformat = 'mqsim'\n[wsrch]\npath = 'WebSearch1'\nformat = 'mqsim'\n";
        let files = [("tpcc.trace", MQSIM), ("WebSearch1", MQSIM), (SETTINGS, text)];
        let found = TraceFolder::open(folder(&files).path()).expect("two traces");
        assert_eq!(found.names().collect::<Vec<_>>(), ["tpcc", "wsrch"]);
        assert_eq!(found.files["tpcc"].format.as_deref(), Some("mqsim"));
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_what_was_found() {
        for (files, expected) in [
            (&[("notes.txt", "x")] as &[_], "found no file named after a trace"),
            (&[("prn_0.csv", MSR), ("prn-0.gz", MSR)], "prn-0.gz and "),
            (&[("tpcc.trace", MQSIM)], "said under [tpcc] in traces.toml"),
            (&[(SETTINGS, "[tpcx]\n")], "did you mean `tpc"),
            (&[(SETTINGS, "[tpcc]\nlimit = 4\n")], "`limit` is set by the experiment"),
            (&[(SETTINGS, "tpcc = 4\n")], "found 4, allowed: a table"),
            (&[(SETTINGS, "[tpcc]\n")], "no file has its name"),
            (&[(SETTINGS, "[prn_0]\n[PRN-0]\n")], "second table for prn-0"),
            (&[("prn-0.csv", MSR), (SETTINGS, "[prn-0]\nfromat = 'msr'\n")], "fromat"),
            (&[(SETTINGS, "[prn-0")], "not valid TOML"),
        ] {
            let message = refusal(files);
            assert!(message.contains(expected), "{message}");
        }
        let none = TraceFolder::open(Path::new("no-such-folder")).expect_err("there is none");
        assert!(none.to_string().contains("no-such-folder: cannot be read"), "{none}");
    }
}
