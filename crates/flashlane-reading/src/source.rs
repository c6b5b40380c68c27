//! Reads configuration files, and checks everything that can be wrong before the first key.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use toml::de::DeTable;

use super::draft::Draft;
use super::places::{Lines, Places};
use crate::{Error, Problem};

/// Longest configuration file. Unit: bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// The text of a configuration file.
///
/// # Errors
/// A file that is missing, a directory, unreadable, empty, too long or not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let place = path.display().to_string();
    let refuse = |message: String| Error::config(place.clone(), message);
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => refuse("no such file".to_owned()),
        _ => refuse(format!("cannot be read: {error}")),
    };
    if path.is_dir() {
        return Err(refuse("is a folder; a file is expected".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(refuse("is longer than 64 MiB; not a configuration file".to_owned()));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(refuse("is empty; TOML or MQSim XML is expected".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count();
        let byte = error.as_bytes()[good];
        Error::config(
            format!("{place}:{line}"),
            format!("found the byte 0x{byte:02x}, allowed: UTF-8 text (TOML or MQSim XML)"),
        )
    })
}

/// Parses TOML into a draft that knows the line of each key.
///
/// # Errors
/// Text that is not TOML, with the line; a key that is given twice.
pub fn parse(text: &str, file: &str) -> Result<Draft, Error> {
    let refuse = |error: &toml::de::Error| {
        let line = error.span().map(|span| Lines::new(text).line(span.start));
        let place = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
        let message = match error.message().trim() {
            "duplicate key" => {
                let key = error.span().and_then(|span| text.get(span)).unwrap_or("").trim();
                format!("duplicate key `{key}`; give it once")
            }
            other => format!("not valid TOML: {}", other.replace('\n', "; ")),
        };
        Error::Config(vec![Problem { place, message }])
    };
    let (tree, errors) = DeTable::parse_recoverable(text);
    // Later errors are often only consequences of the first.
    let first =
        errors.iter().min_by_key(|error| error.span().map_or(usize::MAX, |span| span.start));
    if let Some(error) = first {
        return Err(refuse(error));
    }
    let value: toml::Table = toml::from_str(text).map_err(|error| refuse(&error))?;
    let mut places = Places::new(file);
    places.index(text, tree.get_ref());
    Ok(Draft { value, places })
}
