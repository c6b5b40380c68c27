//! Turns the keys of a point into a drive, its tenants and the options of a run.

use std::path::Path;

use flashlane::config::load::{self, Caller, Overrides};
use flashlane::config::units::Span;
use flashlane::config::validate;
use flashlane::{Error, RunOptions, Warmup};
use serde_json::Value;

use super::axes::Point;
use crate::base::{Base, Scenario};

/// The keys of a point that set options of `run` of the same name.
pub const RUN_KEYS: [&str; 7] =
    ["seed", "alone", "energy", "warmup", "waf_only", "windows", "check"];

/// Where the device and the tenants of a sweep come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Files, which are read again for each point.
    Files(Base),
    /// A device and a workload as texts of TOML files, in which all paths are absolute.
    Texts {
        /// The text of the device file.
        device: String,
        /// The text of the workload file.
        workload: String,
    },
}

impl Source {
    /// The device and the tenants at a point.
    ///
    /// # Errors
    /// [`Error::Config`] if the configuration is refused.
    pub fn scenario(&self, point: &Point) -> Result<Scenario, Error> {
        let keys = point.iter().filter(|(key, _)| !RUN_KEYS.contains(&key.as_str()));
        match self {
            Self::Files(base) => {
                let (mut base, mut left) = (base.clone(), Vec::new());
                for (key, value) in keys {
                    if !value.as_str().is_some_and(|name| base.take(key, name)) {
                        left.push((key.clone(), value.clone()));
                    }
                }
                base.load(&sets(left.iter()), &[])
            }
            Self::Texts { device, workload } => {
                let caller = Caller::Program;
                let overrides = Overrides { sets: sets(keys), caller, ..Overrides::default() };
                let device = load::device_from_table(table(device)?, &overrides)?;
                let mut workload = load::workload_from_table(table(workload)?, &overrides)?;
                load::resolve_paths(&mut workload, Path::new(""))?;
                validate::check_pair(&device, &workload)?;
                Ok(Scenario { device, workload })
            }
        }
    }
}

/// The keys of a configuration that a program wrote with all values resolved.
fn table(text: &str) -> Result<toml::Table, Error> {
    text.parse().map_err(|error| Error::config("", format!("not valid TOML: {error}")))
}

/// The keys with values, as `--set` takes them. A key without a value is left out.
pub(super) fn sets<'a>(keys: impl Iterator<Item = &'a (String, Value)>) -> Vec<String> {
    keys.filter_map(|(key, value)| Some(format!("{key}={}", toml_text(value)?))).collect()
}

/// A value as TOML writes it. Returns `None` for null.
fn toml_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Array(list) => {
            format!("[{}]", list.iter().filter_map(toml_text).collect::<Vec<_>>().join(", "))
        }
        Value::Object(keys) => {
            let keys = keys.iter().filter_map(|(key, value)| {
                Some(format!("{} = {}", toml::Value::String(key.clone()), toml_text(value)?))
            });
            format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number.to_string(),
    })
}

/// The options of a run. The keys of a point override the base.
///
/// # Errors
/// [`Error::Config`] if a value has the wrong type.
pub fn options(base: &RunOptions, point: &Point) -> Result<RunOptions, Error> {
    let mut options = base.clone();
    for (key, value) in point {
        let wrong = |allowed: &str| {
            Error::config(key.clone(), format!("found {value}, allowed: {allowed}"))
        };
        let flag = || value.as_bool().ok_or_else(|| wrong("true, false"));
        match (key.as_str(), value) {
            (key, Value::Null) if RUN_KEYS.contains(&key) => {}
            ("seed", value) => {
                options.seed = value.as_u64().ok_or_else(|| wrong("0 to 18446744073709551615"))?;
            }
            ("alone", _) => options.alone = flag()?,
            ("energy", _) => options.observe.energy = flag()?,
            ("waf_only", _) => options.waf_only = flag()?,
            ("check", _) => options.check = flag()?,
            ("warmup", Value::Number(count)) => {
                let count =
                    count.as_u64().ok_or_else(|| wrong("a time, or a number of requests"))?;
                options.warmup = Warmup::Requests(count);
            }
            ("warmup", value) => {
                let span = value.as_str().and_then(|text| text.parse::<Span>().ok());
                let span = span.ok_or_else(|| wrong("a time, or a number of requests"))?;
                options.warmup = Warmup::Time(span.0);
            }
            ("windows", value) => {
                let span = value.as_str().and_then(|text| text.parse::<Span>().ok());
                options.windows = Some(span.ok_or_else(|| wrong("a time"))?.0);
            }
            _ => {}
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn point(keys: Value) -> Point {
        keys.as_object().expect("keys").iter().map(|(k, v)| (k.clone(), v.clone())).collect()
    }

    #[test]
    fn values_become_toml() {
        let keys = point(json!({
            "a": "x\"y", "b": [1, 2.5, true], "c": {"d e": {"f": []}}, "g": null, "h": -3
        }));
        let found = sets(keys.iter());
        assert_eq!(found.len(), 4);
        let text: String = found.iter().map(|set| format!("{set}\n")).collect();
        let back: toml::Table = toml::from_str(&text).expect("TOML");
        assert_eq!(
            serde_json::to_value(back).expect("plain"),
            json!({
                "a": "x\"y", "b": [1, 2.5, true], "c": {"d e": {"f": []}}, "h": -3
            })
        );
    }

    #[test]
    fn options_are_checked() {
        let of = |keys| options(&RunOptions::default(), &point(keys)).map_err(|e| e.to_string());
        let all = json!({
            "seed": 7, "alone": true, "warmup": "2ms", "windows": "1ms", "waf_only": false,
            "check": true, "scheduler": "fcfs",
        });
        let found = of(all).expect("valid");
        assert_eq!((found.seed, found.alone, found.check), (7, true, true));
        assert_eq!(found.warmup, Warmup::Time(2_000_000_000));
        assert_eq!(of(json!({"warmup": 10})).expect("valid").warmup, Warmup::Requests(10));
        assert_eq!(of(json!({"warmup": null})).expect("valid").warmup, Warmup::None);
        for (keys, part) in [
            (json!({"seed": -4}), "seed: found -4, allowed: 0 to"),
            (json!({"alone": 1}), "alone: found 1, allowed: true, false"),
            (json!({"warmup": "2"}), "warmup: found \"2\", allowed: a time"),
            (json!({"windows": 3}), "windows: found 3, allowed: a time"),
        ] {
            let error = of(keys).expect_err("refused");
            assert!(error.contains(part), "{error}");
        }
    }
}
