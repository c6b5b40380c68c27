//! Helpers of the unit tests.

use std::fmt::Debug;
use std::io::Write;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::TraceError;
use crate::options::{Action, Reading, TraceOptions};
use crate::reader::TraceReader;
use crate::record::Record;
use crate::units::{SpaceUnit, TimeUnit};

/// A trace file that disappears with the test.
pub(crate) struct TempTrace(NamedTempFile);

impl TempTrace {
    pub(crate) fn new(content: impl AsRef<[u8]>) -> TempTrace {
        let mut file = NamedTempFile::new().expect("the test machine has room for a small file");
        file.write_all(content.as_ref()).expect("the test machine has room for a small file");
        TempTrace(file)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// All records of a text.
pub(crate) fn read(
    content: impl AsRef<[u8]>,
    options: &TraceOptions,
) -> Result<Vec<Record>, TraceError> {
    let file = TempTrace::new(content);
    TraceReader::open(file.path(), options)?.collect()
}

/// The message of the error, which must be one line.
pub(crate) fn message<T: Debug>(result: Result<T, TraceError>) -> String {
    let message = result.expect_err("an error was expected").to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// Settings of a parser: sectors, and the time unit.
pub(crate) fn reading(time_unit: TimeUnit) -> Reading {
    Reading { time_unit, size_unit: SpaceUnit::Sectors, action: Action::Queue, tag: None }
}
