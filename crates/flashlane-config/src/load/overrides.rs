//! Overrides on top of the files, by the command line or by a program.

use toml::Value;

use flashlane_reading::shortened;
use flashlane_reading::{self, Draft};
use flashlane_reading::{Error, Problem};

/// Top-level keys of a workload; `--set` takes other keys as keys of the device.
pub(super) const WORKLOAD_KEYS: &[&str] = &["flow", "window", "warmup", "outstanding_max"];

/// The caller, whose words messages use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caller {
    /// The command line: `--set flash.chanels=4: flash.chanels: …`.
    #[default]
    CommandLine,
    /// A program, which knows keys but no options: `flash.chanels: …`.
    Program,
}

impl Caller {
    /// The place of an override, for messages. `option`: the option and its value.
    pub(super) fn place(self, option: String) -> String {
        match self {
            Self::CommandLine => option,
            Self::Program => String::new(),
        }
    }
}

/// Overrides of the command line, or of a program, on top of the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The caller, whose words messages use.
    pub caller: Caller,
    /// `--scheduler NAME`.
    pub scheduler: Option<String>,
    /// `--isolation NAME`.
    pub isolation: Option<String>,
    /// True with `--compat mqsim`.
    pub compat_mqsim: bool,
    /// `--set path.to.key=value`. Keys that start with `flow`, `window`, `warmup` or
    /// `outstanding_max` belong to the workload, all others to the device; a leading `device.` or
    /// `workload.` decides this explicitly. A flow is named by number, `flow[0].…` or `flow.0.…`,
    /// or by name, `flow.tpcc.…`.
    pub sets: Vec<String>,
    /// `--slo FLOW:GOAL=VALUE`: goals in addition to those of the workload.
    pub slos: Vec<String>,
    /// Numbers of tenants, in place of the `count` of their flows: name and number.
    pub counts: Vec<(String, u32)>,
}

/// A `--set`, split into its place for messages, its key and its value.
fn split_set(text: &str, caller: Caller) -> Result<(String, &str, Value), Problem> {
    let place = caller.place(format!("--set {}", shortened(text)));
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((place, key.trim(), flashlane_reading::parse_value(value.trim())))
        }
        _ => Err(Problem {
            place,
            message: "write path.to.key=value, for example flash.channels=4".to_owned(),
        }),
    }
}

/// Whether a key belongs to the workload, and the key without a prefix `device.` or `workload.`.
fn route(key: &str) -> (bool, &str) {
    if let Some(rest) = key.strip_prefix("workload.") {
        return (true, rest);
    }
    if let Some(rest) = key.strip_prefix("device.") {
        return (false, rest);
    }
    let first = key.split(['.', '[']).next().unwrap_or(key);
    (WORKLOAD_KEYS.contains(&first), key)
}

/// Applies the `--set`s of the workload, or those of the device.
pub(super) fn apply_sets(
    draft: &mut Draft,
    overrides: &Overrides,
    workload: bool,
) -> Result<bool, Error> {
    let mut problems = Vec::new();
    let mut applied = false;
    for text in &overrides.sets {
        let result = split_set(text, overrides.caller).and_then(|(place, key, value)| {
            let (for_workload, key) = route(key);
            if for_workload != workload {
                return Ok(());
            }
            applied = true;
            draft.set(key, value, &place)
        });
        problems.extend(result.err());
    }
    if problems.is_empty() { Ok(applied) } else { Err(Error::Config(problems)) }
}
