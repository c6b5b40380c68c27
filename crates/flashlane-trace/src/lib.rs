//! Readers of block I/O traces.
//!
//! A trace file lists the requests that a host sent to a drive. This crate turns such a file, plain
//! or compressed, into a stream of [`Record`]s with one clock (picoseconds) and one address unit
//! (bytes). It knows nothing about SSDs.
//!
//! What it promises:
//!
//! * **Streaming.** A file is never loaded whole: memory is one read buffer plus what the
//!   decompressor needs. [`TraceReader::rewind`] reads the file again from its start.
//! * **Nothing is skipped in silence.** A line that is neither blank, nor a `#` comment, nor an
//!   announced header is either a record or a [rejected line](Rejected), counted by [`Reason`]. Too
//!   many of them end the reading with an error.
//! * **No guessing.** Only formats that describe themselves are [detected](detect). Five bare
//!   columns of numbers could be any of three formats, so such a file needs a named [`Format`].
//! * **No panic.** Whatever a file holds, the outcome is records or a [`TraceError`] of one line
//!   that names the file, the line, what was found and what is allowed.
//!
//! ```no_run
//! use flashlane_trace::{Format, TraceOptions, TraceReader};
//!
//! let options = TraceOptions::new(Format::Mqsim);
//! let mut reader = TraceReader::open("web.trace.zst", &options)?;
//! while let Some(record) = reader.next()? {
//!     println!("{} {:?} {}", record.time_ps, record.op, record.offset_bytes);
//! }
//! println!("{} lines rejected", reader.rejected().count());
//! # Ok::<(), flashlane_trace::TraceError>(())
//! ```
//!
//! # Adding a format
//!
//! Write `src/format/<name>.rs` with a `FormatInfo` constant called `INFO` and a function `parser`,
//! and add one line to the table in `src/format/mod.rs`. The property tests and the name list
//! follow.

#[cfg(feature = "codecs")]
mod ahead;
mod bare;
#[cfg(feature = "codecs")]
mod codecs;
#[cfg(not(feature = "codecs"))]
#[path = "no_codecs.rs"]
mod codecs;
mod completions;
mod cursor;
mod date_time;
mod detect;
mod error;
mod format;
mod lines;
mod number;
mod options;
mod pass;
mod pipe;
mod place;
mod reader;
mod record;
mod reject;
mod source;
mod split;
pub mod statistics;
mod summary;
mod tags;
mod units;
mod write;

pub use bare::{BareColumns, Candidate};
pub use completions::{Completions, Event};
pub use detect::detect;
pub use error::TraceError;
pub use format::{ColumnMap, Format, FormatInfo, Separator, files_of};
pub use options::{Action, OnDecreasing, Spelling, TraceOptions};
pub use pipe::keep_pipes;
pub use place::{Place, Unit};
pub use reader::TraceReader;
pub use record::{Op, Record};
pub use reject::{NamedLine, Reason, Rejected, RejectedLine};
pub use source::Codec;
pub use split::{Split, SplitBy, SplitError, Tally, Tenant};
pub use summary::{DeviceSummary, TraceSummary, summarise};
pub use tags::TagKind;
pub use units::{SpaceUnit, Stamp, TimeUnit};
pub use write::{OutputFormat, OutputInfo, RecordWriter};

#[cfg(test)]
mod test_support;
