//! A program that reads no Parquet.

use std::io;
use std::path::Path;

use super::{Entry, FormatInfo, RecordParser};
use crate::error::TraceError;
use crate::lines::LineReader;
use crate::options::Reading;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "parquet",
    description: "Parquet, which this program does not read",
    example: "",
    recognises: |head| head.starts_with(b"PAR1"),
    ..FormatInfo::PLAIN
};

/// There is none.
pub(super) enum Parquet {}

pub(super) fn parser(_: &Reading, path: &Path) -> Result<Parquet, TraceError> {
    let source = io::Error::new(io::ErrorKind::Unsupported, "this program reads no Parquet");
    Err(TraceError::Open { path: path.to_owned(), source })
}

impl RecordParser for Parquet {
    fn next(&mut self, _input: &mut LineReader) -> Result<Option<Entry>, TraceError> {
        match *self {}
    }

    fn shown(&self) -> String {
        match *self {}
    }
}
