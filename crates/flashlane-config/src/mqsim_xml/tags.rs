//! Typed access to the tags of a section, with all warnings about them.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::tree::{Node, cut};
use flashlane_reading::{Error, Problem};

/// A tag as MQSim's reader knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag {
    /// The spelling that MQSim reads.
    name: &'static str,
    /// Spellings of the documentation and of shipped files that MQSim does not read.
    also: &'static [&'static str],
    /// Default for a missing tag; `None` if the tag is required.
    default: Option<&'static str>,
}

impl Tag {
    /// An optional tag.
    pub(super) const fn new(name: &'static str, default: &'static str) -> Self {
        Self { name, also: &[], default: Some(default) }
    }

    /// A required tag.
    pub(super) const fn required(name: &'static str) -> Self {
        Self { name, also: &[], default: None }
    }

    /// Further spellings.
    pub(super) const fn also(mut self, names: &'static [&'static str]) -> Self {
        self.also = names;
        self
    }

    /// The spelling that MQSim reads.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    fn spells(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }
}

/// Warnings and problems of a file.
#[derive(Debug)]
pub(super) struct Notes {
    file: String,
    pub(super) warnings: Vec<String>,
    /// Problems with their lines.
    problems: Vec<(usize, Problem)>,
    defaulted: Vec<String>,
}

impl Notes {
    pub(super) fn new(file: &str) -> Self {
        let file = file.to_owned();
        Self { file, warnings: Vec::new(), problems: Vec::new(), defaulted: Vec::new() }
    }

    /// Adds a single warning for all tags that were missing since the last call.
    pub(super) fn warn_of_defaults(&mut self, what: &str) {
        if !self.defaulted.is_empty() {
            let list = std::mem::take(&mut self.defaulted).join(", ");
            self.warnings.push(format!("{}: {what}: {list}", self.file));
        }
    }

    pub(super) fn problem(&mut self, line: usize, message: impl Into<String>) {
        let place = format!("{}:{line}", self.file);
        self.problems.push((line, Problem { place, message: message.into() }));
    }

    pub(super) fn warn(&mut self, line: usize, message: impl Display) {
        self.warnings.push(format!("{}:{line}: {message}", self.file));
    }

    /// The warnings, or every problem at once, in the order of the file.
    pub(super) fn finish(mut self) -> Result<Vec<String>, Error> {
        if self.problems.is_empty() {
            return Ok(self.warnings);
        }
        self.problems.sort_by_key(|&(line, _)| line);
        Err(Error::Config(self.problems.into_iter().map(|(_, problem)| problem).collect()))
    }
}

/// The value of a tag, with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// The tags of a section.
pub(super) struct Section<'a, 'n> {
    node: Option<&'a Node>,
    pub(super) notes: &'n mut Notes,
    known: Vec<Tag>,
}

impl<'a, 'n> Section<'a, 'n> {
    pub(super) fn new(node: Option<&'a Node>, notes: &'n mut Notes) -> Self {
        Self { node, notes, known: Vec::new() }
    }

    /// Line of the section itself.
    pub(super) fn line(&self) -> usize {
        self.node.map_or(1, |node| node.line)
    }

    /// Line of a tag, or of the section if the tag is missing.
    pub(super) fn line_of(&self, name: &str) -> usize {
        let child = self.node.and_then(|n| n.children.iter().rfind(|child| child.name == name));
        child.map_or(self.line(), |child| child.line)
    }

    fn given(&mut self, tag: Tag) -> Option<Value<'a>> {
        self.known.push(tag);
        let node = self.node?;
        let mut found = node.children.iter().filter(|child| tag.spells(&child.name));
        let mut last = found.next()?;
        for child in found {
            if child.text != last.text {
                let message = format!("<{}> is given twice; the last one counts", child.name);
                self.notes.warn(child.line, message);
            }
            last = child;
        }
        if !last.children.is_empty() {
            let message = format!("<{}> holds tags where a value is due", last.name);
            self.notes.problem(last.line, message);
            return None;
        }
        if last.name != tag.name && tag.default != Some(last.text.as_str()) {
            let message = format!(
                "MQSim reads <{}> only under that spelling and ignores <{}>; here the value counts",
                tag.name, last.name
            );
            self.notes.warn(last.line, message);
        }
        Some(Value { text: &last.text, line: last.line })
    }

    /// The text of a tag, or its default; `None` if a problem was noted.
    pub(super) fn value(&mut self, tag: Tag) -> Option<Value<'a>> {
        let problems = self.notes.problems.len();
        let line = self.line();
        if let Some(value) = self.given(tag) {
            return Some(value);
        }
        if self.notes.problems.len() > problems {
            return None;
        }
        match tag.default {
            Some(text) => {
                self.notes.defaulted.push(format!("{}={text}", tag.name));
                Some(Value { text, line })
            }
            None => {
                let message =
                    format!("<{}> is missing here and MQSim has no default for it", tag.name);
                self.notes.problem(line, message);
                None
            }
        }
    }

    /// A number in a range; the start of the range if a problem was noted.
    pub(super) fn number<T>(&mut self, tag: Tag, range: RangeInclusive<T>) -> T
    where
        T: FromStr + PartialOrd + Display + Copy,
    {
        let Some(value) = self.value(tag) else { return *range.start() };
        match value.text.parse::<T>() {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let message = format!(
                    "<{}> is {:?}; allowed: {} to {}",
                    tag.name,
                    cut(value.text),
                    range.start(),
                    range.end()
                );
                self.notes.problem(value.line, message);
                *range.start()
            }
        }
    }

    /// Reads a number with [`Self::number`] if the tag has an effect; otherwise reads as much of it
    /// as possible.
    pub(super) fn number_if<T>(
        &mut self,
        effective: bool,
        tag: Tag,
        range: RangeInclusive<T>,
        fallback: T,
    ) -> T
    where
        T: FromStr + PartialOrd + Display + Copy,
    {
        if effective {
            return self.number(tag, range);
        }
        self.known.push(tag);
        let child = self.node.and_then(|n| n.children.iter().rfind(|c| tag.spells(&c.name)));
        child
            .and_then(|child| child.text.parse().ok())
            .filter(|number| range.contains(number))
            .unwrap_or(fallback)
    }

    /// Reads one of a list of names, in any case. `None` marks names that MQSim knows and this
    /// version lacks.
    pub(super) fn choice<T: Copy>(&mut self, tag: Tag, options: &[(&str, Option<T>)]) -> T {
        let fallback = options.iter().find_map(|&(_, value)| value).expect("some option is built");
        let Some(value) = self.value(tag) else { return fallback };
        let found = options.iter().find(|(name, _)| name.eq_ignore_ascii_case(value.text));
        if let Some(&(_, Some(choice))) = found {
            return choice;
        }
        let allowed: Vec<&str> =
            options.iter().filter(|(_, built)| built.is_some()).map(|&(name, _)| name).collect();
        let why = if found.is_some() { "which is not built yet" } else { "which is unknown" };
        let hint =
            if found.is_some() { None } else { similar(value.text, allowed.iter().copied()) };
        let hint = match value.text {
            "MIXED_STREAMING_RANDOM" => {
                "; flows of TOML files can mix: synthetic.address.mixed".to_owned()
            }
            _ => hint.map_or(String::new(), |name| format!(" (did you mean {name}?)")),
        };
        let message = format!(
            "<{}> is {:?}, {why}; allowed: {}{hint}",
            tag.name,
            cut(value.text),
            allowed.join(", ")
        );
        self.notes.problem(value.line, message);
        fallback
    }

    /// Reads a boolean: anything but "false" is true, as in MQSim.
    pub(super) fn boolean(&mut self, tag: Tag) -> bool {
        let Some(value) = self.value(tag) else { return false };
        let is = |name: &str| value.text.eq_ignore_ascii_case(name);
        if !is("true") && !is("false") {
            let message = format!(
                "<{}> is {:?}, neither true nor false; taken as true, as MQSim does",
                tag.name,
                cut(value.text)
            );
            self.notes.warn(value.line, message);
        }
        !is("false")
    }

    /// Skips a tag without effect here, without a warning.
    pub(super) fn skip(&mut self, name: &'static str) {
        self.known.push(Tag::required(name));
    }

    /// Warns of a tag that MQSim does not read.
    pub(super) fn ignored(&mut self, name: &'static str, why: &str) {
        self.skip(name);
        if let Some(child) = self.node.and_then(|n| n.children.iter().find(|c| c.name == name)) {
            self.notes.warn(child.line, format!("MQSim ignores <{name}>: {why}"));
        }
    }

    /// An inner section.
    pub(super) fn inner(&mut self, name: &'static str) -> Option<&'a Node> {
        self.skip(name);
        self.node?.children.iter().rfind(|child| child.name == name)
    }

    /// Warns of every tag that was not read.
    pub(super) fn finish(self) {
        let Some(node) = self.node else { return };
        for child in &node.children {
            if self.known.iter().any(|tag| tag.spells(&child.name)) {
                continue;
            }
            let hint = similar(&child.name, self.known.iter().map(|tag| tag.name))
                .map_or(String::new(), |name| format!(" (did you mean <{name}>?)"));
            let message = format!(
                "<{}> is no tag of <{}> and has no effect, as in MQSim{hint}",
                child.name, node.name
            );
            self.notes.warn(child.line, message);
        }
    }
}

/// The candidate that `text` was probably meant to be.
pub(super) fn similar<'a>(
    text: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let text = text.to_ascii_lowercase();
    let (distance, best) = candidates
        .map(|name| (strsim::damerau_levenshtein(&text, &name.to_ascii_lowercase()), name))
        .min_by_key(|&(distance, _)| distance)?;
    (distance <= 2.max(best.len() / 4)).then_some(best)
}
