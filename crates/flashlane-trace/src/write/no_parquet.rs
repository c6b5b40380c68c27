//! Replaces the writer of Parquet in a program that is built without it.

use std::io::{self, Write};
use std::marker::PhantomData;

use super::{OutputInfo, RecordWriter};
use crate::record::Record;

pub(super) const INFO: OutputInfo = OutputInfo {
    name: "parquet",
    loses: "everything: this program writes no Parquet",
    endings: &["parquet"],
};

/// A writer that does not exist.
pub(super) struct ParquetWriter<W: Write + Send>(PhantomData<W>);

impl<W: Write + Send> ParquetWriter<W> {
    pub(super) fn new(_out: W) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this program writes no Parquet"))
    }
}

impl<W: Write + Send> RecordWriter for ParquetWriter<W> {
    fn write(&mut self, _record: &Record) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
