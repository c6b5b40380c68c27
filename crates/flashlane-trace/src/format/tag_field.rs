//! Finds the place of a tag in a file.

use std::path::Path;

use super::column_map::LAST_COLUMN;
use super::five_columns::next_field;
use super::{Format, Separator};
use crate::error::TraceError;
use crate::lines::{LineReader, trim};
use crate::tags::{TagField, TagKind};

/// Lines at the start of a file among which the names of its columns are looked for.
const HEADER_LINES_MAX: u64 = 16;

impl Format {
    /// The place of a tag of this kind.
    ///
    /// # Errors
    /// [`TraceError::NoTag`] if the format has no such tag. The errors of reading the start of the
    /// file, which may name its columns.
    pub(super) fn tag_field(&self, kind: &TagKind, path: &Path) -> Result<TagField, TraceError> {
        if let Format::Columns(map) = self
            && let Some(column) = map.tag(kind)
        {
            return Ok(TagField::Column(usize::from(column) - 1));
        }
        if self.info().tags.contains(kind) {
            match kind {
                TagKind::Process => return Ok(TagField::Process),
                TagKind::Pid => return Ok(TagField::Pid),
                TagKind::Cgroup => return Ok(TagField::Cgroup),
                TagKind::Queue => return Ok(TagField::Queue),
                TagKind::Namespace => return Ok(TagField::Namespace),
                TagKind::Column(_) => {}
            }
        }
        if let Some(separator) = self.separator() {
            let name = match kind {
                TagKind::Column(name) => name.clone(),
                named => named.to_string(),
            };
            if let Some(column) = column(&name, separator, path)? {
                return Ok(TagField::Column(column));
            }
        }
        Err(TraceError::NoTag {
            path: path.to_owned(),
            kind: crate::reject::excerpt(kind.to_string().as_bytes()),
            format: self.name(),
            allowed: self.tags_allowed(),
        })
    }

    /// The separator of columns, for formats whose columns may be named by a number.
    fn separator(&self) -> Option<Separator> {
        match self {
            Format::Columns(map) => Some(map.separator()),
            Format::Alibaba | Format::Csv | Format::Spc | Format::Tencent => Some(Separator::Comma),
            _ => None,
        }
    }

    fn tags_allowed(&self) -> String {
        let mut names: Vec<String> = self.info().tags.iter().map(TagKind::to_string).collect();
        if let Format::Columns(map) = self {
            names.extend(map.tags().map(|(kind, _)| kind.to_string()));
        }
        if self.separator().is_some() {
            names
                .push("column:NAME with a name of the header line or a column's number".to_owned());
        }
        if names.is_empty() { "none in this format".to_owned() } else { names.join(", ") }
    }
}

/// The column with this number (counted from 1) or name in one of the first lines.
fn column(name: &str, separator: Separator, path: &Path) -> Result<Option<usize>, TraceError> {
    if let Ok(number) = name.parse::<u16>() {
        return Ok((1..=LAST_COLUMN).contains(&number).then(|| usize::from(number) - 1));
    }
    let mut lines = LineReader::open(path)?;
    while let Some(line) = lines.next()? {
        if line.number > HEADER_LINES_MAX {
            break;
        }
        let text = trim(line.bytes);
        let text = trim(text.strip_prefix(b"#").unwrap_or(text));
        let is_named = |field: &[u8]| unquoted(field) == name.as_bytes();
        let found = match separator {
            Separator::Space => {
                let mut rest = text;
                std::iter::from_fn(|| next_field(&mut rest)).position(is_named)
            }
            other => text.split(|byte| *byte == other.byte()).map(trim).position(is_named),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// A field without the quotation marks around it.
fn unquoted(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\"")).unwrap_or(field)
}
