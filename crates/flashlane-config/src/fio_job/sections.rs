//! The lines of a job file.

use std::collections::BTreeMap;
use std::path::Path;

use super::Notes;
use super::command;
use super::keys::{canonical, is_without_effect, proposed};
use flashlane_reading::allowed;

/// Most levels of files that include each other.
const INCLUDES_MAX: usize = 16;
/// Keys by which a text is recognised as a job.
const TELLING: &[&str] = &["rw", "readwrite", "ioengine", "filename", "bs", "iodepth", "size"];

/// A key of a job and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// `None` for a key without a value.
    pub(super) value: Option<String>,
    pub(super) line: usize,
}

/// A job: its own keys, and the keys of the `[global]` sections above it.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: BTreeMap<&'static str, Entry>,
}

/// True for a job file or a command line of fio, as opposed to TOML and XML.
pub(super) fn is_job(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    if command::is_command(text) {
        return true;
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.by_ref().find(|line| !line.starts_with(['#', ';'])) else {
        return false;
    };
    if first.eq_ignore_ascii_case("[global]") {
        return true;
    }
    let tells = |line: &str| {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let bare = !value.trim().starts_with(['"', '\'', '[', '{']);
        bare && TELLING.contains(&key.trim())
    };
    first.starts_with('[') && !first.starts_with("[[") && lines.any(tells)
}

/// The value with `$NAME` and `${NAME}` replaced from the environment.
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

/// The lines of a file and of the files that it includes, without comments. Lines of an included
/// file count as the line that includes it.
fn lines(path: &Path, text: &str, level: usize, notes: &mut Notes) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        // A comment may also follow a value.
        let content = content.split(['#', ';']).next().unwrap_or("").trim();
        let Some(name) = content.strip_prefix("include ").map(str::trim) else {
            if !content.is_empty() {
                lines.push((line, content.to_owned()));
            }
            continue;
        };
        let beside = path.parent().unwrap_or(Path::new("")).join(name);
        let found = if beside.exists() { beside } else { Path::new(name).to_owned() };
        match flashlane_reading::read_text(&found) {
            Ok(_) if level == INCLUDES_MAX => {
                let message = format!("found more than {INCLUDES_MAX} files inside each other");
                notes.refuse(line, "include", message);
            }
            Ok(text) => {
                let included = self::lines(&found, &text, level + 1, notes);
                lines.extend(included.into_iter().map(|(_, content)| (line, content)));
            }
            Err(error) => notes.refuse(line, "include", error.to_string()),
        }
    }
    lines
}

/// The jobs of a file.
pub(super) fn sections(path: &Path, text: &str, notes: &mut Notes) -> Vec<Section> {
    let lines = match command::is_command(text) {
        false => lines(path, text, 0, notes),
        true => command::lines(text).unwrap_or_else(|(line, word)| {
            let message = format!("found {word:?} in a command line of fio, allowed: options; run a job file by itself");
            notes.refuse(line, "", message);
            Vec::new()
        }),
    };
    let mut globals = BTreeMap::new();
    let mut jobs: Vec<Section> = Vec::new();
    let mut is_global = None;
    for (line, content) in lines {
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
        let Some((known, entry)) = entry(line, &content, notes) else { continue };
        match (is_global, jobs.last_mut()) {
            (Some(true), _) => globals.insert(known, entry),
            (Some(false), Some(job)) => {
                if let ("name", Some(name)) = (known, &entry.value) {
                    job.name.clone_from(name);
                }
                job.entries.insert(known, entry)
            }
            _ => {
                notes.refuse(line, known, "found a key above all sections, allowed: below [NAME]");
                None
            }
        };
    }
    jobs
}

/// A key and its value.
fn entry(line: usize, content: &str, notes: &mut Notes) -> Option<(&'static str, Entry)> {
    let (key, value) = match content.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
        None => (content, None),
    };
    let Some(known) = canonical(key) else {
        notes.refuse(line, "", format!("unknown key `{key}`; {}", allowed(key, &proposed())));
        return None;
    };
    // File names may contain anything, so they are not checked.
    if is_without_effect(known) || known == "filename" {
        return Some((known, Entry { value, line }));
    }
    match value.as_deref().map(expanded).transpose() {
        Ok(value) => Some((known, Entry { value, line })),
        Err(message) => {
            notes.refuse(line, known, message);
            None
        }
    }
}
