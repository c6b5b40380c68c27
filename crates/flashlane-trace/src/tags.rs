//! Tags: the origin of a request as the trace names it, beside the fields of a record.
//!
//! Readers look for tags only if [`TraceOptions::tag`](crate::TraceOptions::tag) asks for them.
//! Each text gets a small number at its first appearance, so that a record carries only four bytes.

use std::collections::HashMap;
use std::fmt;

/// Largest number of different tags of one trace. With more, the tags would not be tenants.
pub(crate) const TAGS_MAX: usize = 65_536;

/// The property that a tag holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TagKind {
    /// Name of the process.
    Process,
    /// Number of the process.
    Pid,
    /// Control group.
    Cgroup,
    /// Queue of the host interface.
    Queue,
    /// Namespace of the drive.
    Namespace,
    /// A column of a text or table: its name in the header line, or its number, counted from 1.
    Column(String),
}

impl TagKind {
    /// The kinds with a name of their own.
    pub const NAMED: [TagKind; 5] =
        [TagKind::Process, TagKind::Pid, TagKind::Cgroup, TagKind::Queue, TagKind::Namespace];

    /// The kind with this name: `process`, `pid`, `cgroup`, `queue`, `namespace` or `column:NAME`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<TagKind> {
        if let Some(column) = name.strip_prefix("column:") {
            return (!column.is_empty()).then(|| TagKind::Column(column.to_owned()));
        }
        TagKind::NAMED.into_iter().find(|kind| kind.to_string() == name)
    }
}

impl fmt::Display for TagKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TagKind::Process => "process",
            TagKind::Pid => "pid",
            TagKind::Cgroup => "cgroup",
            TagKind::Queue => "queue",
            TagKind::Namespace => "namespace",
            TagKind::Column(name) => return write!(f, "column:{name}"),
        })
    }
}

/// The place where a parser finds the tag that the options ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagField {
    Process,
    Pid,
    Cgroup,
    Queue,
    Namespace,
    /// A column, counted from 0.
    Column(usize),
}

/// The texts of the tags of a trace. Tag 0 stands for a record without a tag.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    /// Texts of the tags 1, 2, and so on.
    texts: Vec<String>,
    /// The number of each text. Never iterated over, because the order of a hash map is not fixed.
    numbers: HashMap<Vec<u8>, u32>,
    /// Number of records whose text came after [`TAGS_MAX`] others; they have tag 0.
    overflowed: u64,
}

impl Tags {
    /// The tag of a text. An empty text has tag 0.
    pub(crate) fn number(&mut self, text: &[u8]) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        if self.texts.len() == TAGS_MAX {
            self.overflowed += 1;
            return 0;
        }
        self.texts.push(String::from_utf8_lossy(text).into_owned());
        let number = self.texts.len() as u32;
        self.numbers.insert(text.to_vec(), number);
        number
    }

    /// Gives a tag another text.
    pub(crate) fn rename(&mut self, tag: u32, text: &[u8]) {
        if let Some(index) = (tag as usize).checked_sub(1)
            && let Some(own) = self.texts.get_mut(index)
            && !text.is_empty()
        {
            *own = String::from_utf8_lossy(text).into_owned();
        }
    }

    /// The text of a tag. Tag 0 has none.
    pub(crate) fn text(&self, tag: u32) -> Option<&str> {
        let index = (tag as usize).checked_sub(1)?;
        self.texts.get(index).map(String::as_str)
    }

    /// Number of records without a tag because there are too many different texts.
    pub(crate) fn overflowed(&self) -> u64 {
        self.overflowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kind() {
        let column = TagKind::Column("tenant".to_owned());
        for kind in TagKind::NAMED.into_iter().chain([column]) {
            assert_eq!(TagKind::by_name(&kind.to_string()), Some(kind));
        }
        for unknown in ["", "device", "column:", "Process"] {
            assert_eq!(TagKind::by_name(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn texts_are_numbered_as_they_appear() {
        let mut tags = Tags::default();
        let numbers = [&b"b"[..], b"a", b"", b"b", b"\xff"].map(|text| tags.number(text));
        assert_eq!(numbers, [1, 2, 0, 1, 3]);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|tag| tags.text(tag)),
            [None, Some("b"), Some("a"), Some("\u{fffd}"), None]
        );
    }

    #[test]
    fn too_many_texts_are_counted() {
        let mut tags = Tags::default();
        for text in 0..TAGS_MAX {
            assert_ne!(tags.number(text.to_string().as_bytes()), 0);
        }
        assert_eq!((tags.number(b"one more"), tags.number(b"0")), (0, 1));
        assert_eq!(tags.overflowed(), 1);
    }
}
