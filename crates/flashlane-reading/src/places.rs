//! The places where the keys of a configuration were written: file and line, preset, or command
//! line.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key path, one level deeper.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A key path, one list element deeper.
pub(crate) fn join_index(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// `device.toml:12: flash.channels`; only the key if no file has it.
pub(crate) fn at(place: &str, key: &str) -> String {
    match (place.is_empty(), key.is_empty()) {
        (true, _) => key.to_owned(),
        (_, true) => place.to_owned(),
        _ => format!("{place}: {key}"),
    }
}

/// The key path without its last step.
fn parent(path: &str) -> Option<&str> {
    path.rfind(['.', '[']).map(|end| &path[..end])
}

/// True for the path itself and everything below it.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The places where the keys of a configuration were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The file as a whole; empty for a configuration that a program gives key by key.
    file: String,
    /// From key path to `file:line`, or to the option that set the key.
    keys: BTreeMap<String, String>,
}

impl Places {
    /// No keys yet; everything is somewhere in `file`.
    #[must_use]
    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), keys: BTreeMap::new() }
    }

    /// The name of the file as a whole.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// `device.toml:12: flash.read_time[0]`. A key that was not written is at its default.
    #[must_use]
    pub fn locate(&self, key: &str) -> String {
        match self.keys.get(key) {
            Some(place) => at(place, key),
            None => self.locate_nearest(key),
        }
    }

    /// The place of a key, at the line of the nearest table that was written.
    pub(crate) fn locate_nearest(&self, key: &str) -> String {
        let mut above = Some(key);
        while let Some(path) = above {
            if let Some(place) = self.keys.get(path) {
                return at(place, key);
            }
            above = parent(path);
        }
        at(&self.file, key)
    }

    /// Moves keys without a line to `file`.
    pub fn rename(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Notes that `key` and everything below it now comes from `place`.
    pub fn set(&mut self, key: &str, place: &str) {
        self.remove_below(key);
        self.keys.insert(key.to_owned(), place.to_owned());
    }

    /// Takes over the places of `other` for `key` and everything below it.
    pub(crate) fn take_over(&mut self, key: &str, other: &Self) {
        self.remove_below(key);
        let taken = other.below(key);
        self.keys.extend(taken.map(|(path, place)| (path.clone(), place.clone())));
    }

    /// `key` and everything below it. Looks only at keys that begin like it.
    fn below<'a>(&'a self, key: &'a str) -> impl Iterator<Item = (&'a String, &'a String)> {
        let same_start = self.keys.range(key.to_owned()..);
        let same_start = same_start.take_while(move |(path, _)| path.starts_with(key));
        same_start.filter(move |(path, _)| is_below(path, key))
    }

    /// Takes over the places of `other` for `key` and everything below it, under the key `name`.
    pub fn take_over_as(&mut self, key: &str, other: &Self, name: &str) {
        let taken = other.below(key);
        self.keys.extend(taken.map(|(path, place)| (path.replacen(key, name, 1), place.clone())));
    }

    /// Removes the places of `key` and of everything below it.
    pub fn remove_below(&mut self, key: &str) {
        let below: Vec<String> = self.below(key).map(|(path, _)| path.clone()).collect();
        for path in below {
            self.keys.remove(&path);
        }
    }

    /// Takes over the place of `key` alone.
    pub fn take_over_one(&mut self, key: &str, other: &Self) {
        if let Some(place) = other.keys.get(key) {
            self.keys.insert(key.to_owned(), place.clone());
        }
    }

    /// Records every key of a parsed document.
    pub(crate) fn index(&mut self, text: &str, table: &DeTable<'_>) {
        let lines = Lines::new(text);
        self.index_table(&lines, "", table);
    }

    fn index_table(&mut self, lines: &Lines, path: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let path = join(path, key.get_ref());
            let line = lines.line(key.span().start);
            self.keys.insert(path.clone(), format!("{}:{line}", self.file));
            self.index_value(lines, &path, value);
        }
    }

    fn index_value(&mut self, lines: &Lines, path: &str, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.index_table(lines, path, table),
            DeValue::Array(array) => {
                for (index, element) in array.iter().enumerate() {
                    let path = join_index(path, index);
                    let line = lines.line(element.span().start);
                    self.keys.insert(path.clone(), format!("{}:{line}", self.file));
                    self.index_value(lines, &path, element);
                }
            }
            _ => {}
        }
    }
}

/// Byte offsets to line numbers.
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self { starts: std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect() }
    }

    /// Line of a byte. Range: 1 and above.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).max(1)
    }
}
