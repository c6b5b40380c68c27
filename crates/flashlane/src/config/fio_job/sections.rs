//! The lines of a job file.

use std::collections::BTreeMap;

use super::Notes;
use super::keys::{KEYS, canonical};
use crate::reading::allowed;

/// A key of a job and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// `None`: the key stands alone.
    pub(super) value: Option<String>,
    pub(super) line: usize,
}

/// A job: its own keys, and those of the `[global]` sections above it.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: BTreeMap<&'static str, Entry>,
}

/// The value with what the environment has for `$NAME` and `${NAME}` in it.
fn expanded(value: &str) -> Result<String, String> {
    let (mut text, mut rest) = (String::new(), value);
    while let Some((before, after)) = rest.split_once('$') {
        let (name, behind) = match after.strip_prefix('{') {
            Some(inside) => inside.split_once('}').unwrap_or((inside, "")),
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                after.split_at(end.unwrap_or(after.len()))
            }
        };
        let found = std::env::var(name).map_err(|_| {
            format!("found the variable {name}, which the environment does not have, allowed: set it, or a plain value")
        })?;
        text += before;
        text += &found;
        rest = behind;
    }
    Ok(text + rest)
}

/// The jobs of a file.
pub(super) fn sections(text: &str, notes: &mut Notes) -> Vec<Section> {
    let mut globals = BTreeMap::new();
    let mut jobs: Vec<Section> = Vec::new();
    let mut is_global = None;
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        // A comment may stand behind a value, too.
        let content = content.split(['#', ';']).next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let name = rest.strip_suffix(']').unwrap_or("").trim();
            if name.is_empty() {
                let message = format!("found {content:?}, allowed: [global] or [NAME]");
                notes.refuse(line, "", message);
            }
            is_global = Some(name == "global");
            if name != "global" {
                jobs.push(Section { name: name.to_owned(), line, entries: globals.clone() });
            }
            continue;
        }
        let (key, value) = match content.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
            None => (content, None),
        };
        let Some(known) = canonical(key) else {
            notes.refuse(line, "", format!("unknown key `{key}`; {}", allowed(key, KEYS)));
            continue;
        };
        // Names of files may have anything in them: they are not looked at.
        let value = match value {
            Some(value) if KEYS.contains(&known) => match expanded(&value) {
                Ok(value) => Some(value),
                Err(message) => {
                    notes.refuse(line, known, message);
                    continue;
                }
            },
            value => value,
        };
        let entry = Entry { value, line };
        match (is_global, jobs.last_mut()) {
            (Some(true), _) => globals.insert(known, entry),
            (Some(false), Some(job)) => job.entries.insert(known, entry),
            _ => {
                notes.refuse(line, known, "found a key above all sections, allowed: below [NAME]");
                None
            }
        };
    }
    jobs
}
