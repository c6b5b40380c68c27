//! Candidates: settings of the drive and of its tenants, with a name in plain words.

use std::path::Path;

use flashlane::Error;
use flashlane::config::load::read_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::sweep::Point;

/// Settings that may help.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Candidate {
    /// The change in plain words.
    pub label: String,
    /// The kinds of settings among them. Settings of the same kind exclude each other.
    pub families: Vec<String>,
    /// The settings, each as `--set` takes it.
    pub sets: Vec<String>,
    /// The tenants whose rate is limited, by their places in the workload.
    #[serde(skip)]
    pub(super) limited: Vec<usize>,
}

impl Candidate {
    pub(super) fn new(family: &str, label: String, sets: &[&str]) -> Self {
        Self {
            label,
            families: vec![family.to_owned()],
            sets: sets.iter().map(|&set| set.to_owned()).collect(),
            limited: Vec::new(),
        }
    }

    /// The drive as it is.
    pub(super) fn unchanged() -> Self {
        Self { label: "unchanged".to_owned(), ..Self::default() }
    }

    /// True if this is a pair of others.
    #[must_use]
    pub fn is_pair(&self) -> bool {
        self.families.len() > 1
    }

    /// True if this limits the rate of a tenant, and does nothing else.
    pub(super) fn is_limit(&self) -> bool {
        !self.is_pair() && self.families[0].starts_with(super::space::LIMIT)
    }

    /// Makes a pair of two candidates. `None` if they exclude each other, or give a key two values.
    pub(super) fn with(&self, other: &Self) -> Option<Self> {
        let shared = self.families.iter().any(|family| other.families.contains(family));
        let differs = |set: &String| {
            let key = |set: &str| set.split('=').next().map(|key| key.trim().to_owned());
            self.sets.iter().any(|own| key(own) == key(set) && own != set)
        };
        if shared || other.sets.iter().any(differs) {
            return None;
        }
        let new = other.sets.iter().filter(|set| !self.sets.contains(set));
        Some(Self {
            label: format!("{} and {}", self.label, other.label),
            families: [&self.families[..], &other.families].concat(),
            sets: self.sets.iter().chain(new).cloned().collect(),
            limited: [&self.limited[..], &other.limited].concat(),
        })
    }

    /// The point of a sweep with these settings.
    pub(super) fn point(&self, seed: u64, alone: bool) -> Point {
        let mut point = point(&self.sets);
        point.push(("seed".to_owned(), seed.into()));
        point.push(("alone".to_owned(), alone.into()));
        point
    }
}

/// The point with these settings.
pub(super) fn point(sets: &[String]) -> Point {
    let pair = |set: &String| {
        let (key, value) = set.split_once('=').unwrap_or((set, ""));
        (key.trim().to_owned(), plain(value.trim()))
    };
    sets.iter().map(pair).collect()
}

/// A value as `--set` takes it: TOML, or text without quotes.
fn plain(text: &str) -> Value {
    let table: Option<toml::Table> = format!("value = {text}").parse().ok();
    let value = table.filter(|table| table.len() == 1).and_then(|mut one| one.remove("value"));
    let value = value.and_then(|value| serde_json::to_value(value).ok());
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The file with candidates before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    candidate: Vec<WrittenCandidate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCandidate {
    label: String,
    set: Vec<String>,
    family: Option<String>,
}

/// Reads a file with candidates:
///
/// ```toml
/// [[candidate]]
/// label = "suspend programs"
/// set = ["flash.suspend.program = true"]
/// ```
///
/// # Errors
/// [`Error::Config`] with the file, the line or key, what was found and what is allowed.
pub fn read_candidates(path: &Path) -> Result<Vec<Candidate>, Error> {
    let text = read_text(path)?;
    let file = path.display().to_string();
    let written: Written = toml::from_str(&text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line.map_or(file.clone(), |line| format!("{file}:{line}"));
        Error::config(place, error.message().to_owned())
    })?;
    let refuse = |at: usize, key: &str, message: &str| {
        Err(Error::config(format!("{file}: candidate[{at}]{key}"), message))
    };
    if written.candidate.is_empty() {
        let message =
            "found no candidate; allowed: [[candidate]] with `label` and `set`, one or more";
        return Err(Error::config(file, message));
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    for (at, one) in written.candidate.into_iter().enumerate() {
        if one.label.trim().is_empty() {
            return refuse(at, ".label", "found an empty text; allowed: what is done, in words");
        }
        if candidates.iter().any(|other| other.label == one.label) {
            let message = format!("found `{}` twice; allowed: each label once", one.label);
            return refuse(at, ".label", &message);
        }
        let is_set = |set: &String| set.split_once('=').is_some_and(|one| !one.0.trim().is_empty());
        if one.set.is_empty() || !one.set.iter().all(is_set) {
            let message = "allowed: a list of KEY = VALUE, for example \
                           [\"flash.suspend.program = true\"]";
            return refuse(at, ".set", message);
        }
        let family = one.family.unwrap_or_else(|| one.label.clone());
        candidates.push(Candidate {
            label: one.label,
            families: vec![family],
            sets: one.set,
            limited: Vec::new(),
        });
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_become_a_point() {
        let sets = ["a.b = true", "scheduler=flin", "c=\"5MB/s\"", "d=[1, 2]", "e=5MB/s"];
        let found = point(&sets.map(str::to_owned));
        let expected = [
            ("a.b", json!(true)),
            ("scheduler", json!("flin")),
            ("c", json!("5MB/s")),
            ("d", json!([1, 2])),
            ("e", json!("5MB/s")),
        ];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value)));
    }

    #[test]
    fn pairs_have_no_kind_and_no_key_twice() {
        let of = |family: &str, set: &str| Candidate::new(family, set.to_owned(), &[set]);
        let (a, b, c) = (of("x", "k=1"), of("y", "k=2"), of("z", "l=1"));
        assert_eq!(a.with(&of("x", "m=1")), None);
        assert_eq!(a.with(&b), None);
        let pair = a.with(&c).expect("a pair");
        assert_eq!((pair.label.as_str(), pair.sets.len()), ("k=1 and l=1", 2));
        assert!(pair.is_pair() && !a.is_pair());
        assert_eq!(a.with(&of("w", "k=1")).expect("the same value").sets, ["k=1"]);
    }

    #[test]
    fn a_file_of_candidates_is_read_or_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).expect("written");
            read_candidates(&path).map_err(|error| error.to_string())
        };
        let good = "[[candidate]]\nlabel = 'one'\nset = ['a = 1']\n[[candidate]]\nlabel = 'two'\n\
                    set = ['b = 1', 'c = 2']\nfamily = 'x'\n";
        let found = read(good).expect("read");
        assert_eq!(found[0].families, ["one"]);
        assert_eq!((found[1].families[0].as_str(), found[1].sets.len()), ("x", 2));
        for (text, part) in [
            ("# nothing\n", "c.toml: found no candidate; allowed: [[candidate]]"),
            ("[[candidate]]\nlabel = 'a'\n", "missing field `set`"),
            ("[[candidate]]\nlabel = 'a'\nset = ['b']\n", "c.toml: candidate[0].set: allowed"),
            ("[[candidate]]\nlabel = 'a'\nset = []\n", "candidate[0].set: allowed: a list of KEY"),
            ("[[candidate]]\nlabel = ' '\nset = ['b=1']\n", "candidate[0].label: found an empty"),
            ("x = 1\n", "c.toml:1: unknown field `x`"),
        ] {
            let error = read(text).expect_err("refused");
            assert!(error.contains(part), "{error}");
        }
        let twice = good.replace("two", "one");
        assert!(
            read(&twice).expect_err("refused").contains("candidate[1].label: found `one` twice")
        );
    }
}
