//! XML text to a tree of tags, each with its line.

use quick_xml::Reader;
use quick_xml::errors::Error as XmlError;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use flashlane_reading::Error;

/// Most levels of nesting.
const DEPTH_MAX: usize = 32;

/// A tag with its text or its inner tags.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    /// Line of the opening tag, counted from 1.
    pub(super) line: usize,
    /// Text between the tags, trimmed. Empty where there are inner tags.
    pub(super) text: String,
    /// Line where the text begins; 0 without one.
    text_line: usize,
    pub(super) children: Vec<Self>,
}

/// Parses a file that must hold exactly one element.
pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Node, Error> {
    let text = decode(file, bytes)?;
    refuse_conflicts(file, text)?;
    let mut builder = Builder { file, lines: Lines::new(text), open: Vec::new(), root: None };
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    loop {
        let start = reader.buffer_position();
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => builder.take(event, start)?,
            Err(error) => return Err(builder.malformed(reader.error_position(), describe(&error))),
        }
    }
    builder.finish()
}

fn decode<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        Error::config(
            format!("{file}:{line}"),
            "is not UTF-8 text (ASCII is); save the file as UTF-8".to_owned(),
        )
    })?;
    if text.trim().is_empty() {
        return Err(Error::config(file, "is empty; an MQSim XML file is due"));
    }
    Ok(text)
}

/// Refuses markers that are left over from a version control merge, which a parser would take for
/// tags.
fn refuse_conflicts(file: &str, text: &str) -> Result<(), Error> {
    let marker = |line: &str| {
        line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>") || line.trim_end() == "======="
    };
    match text.lines().position(marker) {
        Some(index) => Err(Error::config(
            format!("{file}:{}", index + 1),
            "a merge conflict marker; resolve the conflict in the file first",
        )),
        None => Ok(()),
    }
}

fn describe(error: &XmlError) -> String {
    format!("malformed XML: {error}")
}

/// Byte offsets to line numbers.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i).collect())
    }

    fn at(&self, offset: u64) -> usize {
        1 + self.0.partition_point(|&newline| (newline as u64) < offset)
    }
}

struct Builder<'a> {
    file: &'a str,
    lines: Lines,
    open: Vec<Node>,
    root: Option<Node>,
}

impl Builder<'_> {
    fn malformed(&self, offset: u64, message: impl Into<String>) -> Error {
        Error::config(format!("{}:{}", self.file, self.lines.at(offset)), message)
    }

    fn take(&mut self, event: Event<'_>, offset: u64) -> Result<(), Error> {
        match event {
            Event::Start(tag) => self.start(&tag, offset),
            Event::End(_) => self.end(offset),
            Event::Text(text) => {
                let text = text.decode().map_err(|e| self.malformed(offset, e.to_string()))?;
                self.text(&text, offset)
            }
            Event::CData(text) => {
                let text = text.decode().map_err(|e| self.malformed(offset, e.to_string()))?;
                self.text(&text, offset)
            }
            Event::GeneralRef(reference) => {
                let text = self.resolve(&reference, offset)?;
                self.text(&text, offset)
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, offset: u64) -> Result<(), Error> {
        let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
        let first_ok = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest_ok = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c));
        if !first_ok || !rest_ok {
            return Err(self.malformed(offset, format!("malformed XML: {name:?} is no tag name")));
        }
        if self.root.is_some() {
            let message = format!("malformed XML: <{name}> follows the end of the document");
            return Err(self.malformed(offset, message));
        }
        if self.open.len() == DEPTH_MAX {
            return Err(self.malformed(offset, format!("tags nest more than {DEPTH_MAX} deep")));
        }
        let line = self.lines.at(offset);
        self.open.push(Node {
            name,
            line,
            text: String::new(),
            text_line: 0,
            children: Vec::new(),
        });
        Ok(())
    }

    fn end(&mut self, offset: u64) -> Result<(), Error> {
        let Some(mut node) = self.open.pop() else {
            return Err(self.malformed(offset, "malformed XML: an end tag without a start tag"));
        };
        let text = node.text.trim();
        if !node.children.is_empty() && !text.is_empty() {
            return Err(Error::config(
                format!("{}:{}", self.file, node.text_line),
                format!(
                    "malformed XML: loose text {:?} among the tags of <{}>",
                    cut(text),
                    node.name
                ),
            ));
        }
        node.text = text.to_owned();
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn text(&mut self, text: &str, offset: u64) -> Result<(), Error> {
        let trimmed = text.trim_start();
        let begin = offset + (text.len() - trimmed.len()) as u64;
        match self.open.last_mut() {
            Some(node) => {
                node.text.push_str(text);
                if node.text_line == 0 && !trimmed.is_empty() {
                    node.text_line = self.lines.at(begin);
                }
                Ok(())
            }
            None if trimmed.is_empty() => Ok(()),
            None => {
                let message = format!("malformed XML: loose text {:?} outside any tag", cut(text));
                Err(self.malformed(begin, message))
            }
        }
    }

    fn resolve(&self, reference: &BytesRef<'_>, offset: u64) -> Result<String, Error> {
        let name = String::from_utf8_lossy(reference).into_owned();
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            return Ok(character.to_string());
        }
        resolve_predefined_entity(&name).map(str::to_owned).ok_or_else(|| {
            self.malformed(offset, format!("malformed XML: the entity &{name}; is not defined"))
        })
    }

    fn finish(self) -> Result<Node, Error> {
        if let Some(node) = self.open.last() {
            return Err(Error::config(
                format!("{}:{}", self.file, node.line),
                format!("malformed XML: the file ends inside <{}>, opened here", node.name),
            ));
        }
        self.root.ok_or_else(|| Error::config(self.file, "holds no XML element"))
    }
}

/// The beginning of a text, for messages.
pub(super) fn cut(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
