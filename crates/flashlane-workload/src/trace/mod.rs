//! Requests replayed from a file.

mod names;
mod place;
mod reading;
mod scan;
mod timing;

use flashlane_engine::Time;
use flashlane_trace::{Completions, Op, Record, TraceError, TraceReader};

use self::names::Names;
use self::place::{Placed, Placer};
pub use self::reading::{reader_options, with_usual_units};
pub use self::scan::footprint;
use self::timing::Timing;
pub use self::timing::scaled;
use super::{Directive, Planned, RequestOp, RequestSource, SourceReport};
use crate::config::TraceConfig;
use flashlane_device::ftl::placement::HANDLES;
use flashlane_device::layout::FlowSpace;
use flashlane_reading::Error;
use flashlane_units::Handle;

/// A replayed trace. It streams: the file is never loaded whole.
///
/// A record that is earlier than its predecessor arrives together with it. It is counted under the
/// rejected lines with that reason.
#[derive(Debug)]
pub struct TraceSource {
    reader: TraceReader,
    placer: Placer,
    time_scale: f64,
    queue_depth: Option<u32>,
    repeat: u64,
    /// Passes over the file that are left in the current pass of the flow, the running one
    /// included.
    passes_left: u64,
    timing: Timing,
    wrapped: u64,
    clipped: u64,
    /// The first lines that were not replayed unchanged.
    names: Names,
    /// Records of the complete passes over the file.
    earlier: RecordCounts,
    /// Requests of the running pass over the file that are longer than allowed.
    too_long: u64,
    /// Writes of the running pass over the file whose placement identifier the drive does not have.
    no_handle: u64,
    /// Placement identifiers of the drive.
    identifiers: u32,
    /// Requests of the running pass over the file.
    placed: u64,
    /// Requests of all passes.
    gone: u64,
    /// True if the flow has started over: it then loads the drive for as long as other flows need.
    restarted: bool,
    /// Lines that the last complete pass over the file could not use.
    rejected: Option<Vec<(String, u64)>>,
}

/// Turns an error of the trace crate into an error of a run.
pub fn trace_error(error: TraceError) -> Error {
    Error::Trace(error.to_string())
}

/// Opens the file as the configuration says; its times are unscaled.
///
/// # Errors
/// A file that cannot be read; options that do not suit it.
pub fn open_reader(config: &TraceConfig) -> Result<TraceReader, Error> {
    TraceReader::open(&config.path, &reader_options(config)?).map_err(trace_error)
}

/// Opens the file for its completions; none where it has none.
///
/// # Errors
///
/// Those of [`open_reader`].
pub fn open_completions(config: &TraceConfig) -> Result<Option<Completions>, Error> {
    Completions::open(&config.path, &reader_options(config)?).map_err(trace_error)
}

/// Records of a trace file.
#[derive(Clone, Copy, Debug, Default)]
struct RecordCounts {
    /// All records.
    all: u64,
    /// Records that were rejected or delayed.
    changed: u64,
}

impl TraceSource {
    /// Opens a trace for replay in `space`. Reads it through beforehand where devices are laid out
    /// by a stride, and where addresses beyond the space are refused.
    ///
    /// # Errors
    /// A file that cannot be read; options that do not suit it; addresses that are refused.
    pub fn open(config: &TraceConfig, space: &FlowSpace) -> Result<Self, Error> {
        if !(config.time_scale > 0.0 && config.time_scale.is_finite()) {
            let message = format!("{} is not a number above 0", config.time_scale);
            return Err(Error::config("trace.time_scale", message));
        }
        if config.repeat == 0 {
            return Err(Error::config("trace.repeat", "0 passes; allowed: 1 and above"));
        }
        Ok(Self {
            placer: scan::placer(config, space)?,
            reader: open_reader(config)?,
            time_scale: config.time_scale,
            queue_depth: config.queue_depth,
            repeat: config.repeat,
            passes_left: config.repeat,
            timing: Timing { origin_trace: Some(0), ..Timing::default() },
            wrapped: 0,
            clipped: 0,
            names: Names::default(),
            earlier: RecordCounts::default(),
            too_long: 0,
            no_handle: 0,
            identifiers: space.identifiers,
            placed: 0,
            gone: 0,
            restarted: false,
            rejected: None,
        })
    }

    /// Goes back to the start of the file, with the first record one mean gap after `from`.
    fn rewind(&mut self, from: u64) -> Result<(), Error> {
        self.earlier = self.looked_at();
        self.names.close(&self.reader);
        self.reader.rewind().map_err(trace_error)?;
        let gap = scaled(self.timing.mean_gap(), self.time_scale);
        let origin_flow = from.saturating_add(gap);
        self.timing = Timing { origin_flow, arrival: from, ..Timing::default() };
        self.placed = 0;
        (self.too_long, self.no_handle) = (0, 0);
        Ok(())
    }

    /// At the end of the file: true if another pass over it begins.
    fn next_pass(&mut self) -> Result<bool, Error> {
        self.rejected = Some(self.unusable());
        if self.placed == 0 {
            return Err(Error::Trace(format!(
                "{}: not one request lies in the flow's logical space, asks for 4 GiB or less and names a \
                 placement identifier of the drive; allowed: a trace that fits, or out_of_range = \"wrap\"",
                self.reader.path().display()
            )));
        }
        self.passes_left -= 1;
        if self.passes_left == 0 {
            return Ok(false);
        }
        self.rewind(self.timing.arrival)?;
        Ok(true)
    }

    /// Skips up to `most` requests of the file. Returns the number of skipped requests.
    fn skip(&mut self, most: u64) -> Result<u64, Error> {
        let mut skipped = 0;
        while skipped < most {
            let Some(record) = self.reader.next().map_err(trace_error)? else { break };
            let placed = matches!(self.placer.place(&record), Placed::At { .. });
            skipped += u64::from(placed);
            self.placed += u64::from(placed);
        }
        Ok(skipped)
    }

    /// Records of all passes so far.
    fn looked_at(&self) -> RecordCounts {
        let rejected = self.reader.rejected().count();
        let RecordCounts { all, changed } = self.earlier;
        RecordCounts {
            all: all + self.reader.delivered_count() + rejected,
            changed: changed
                + rejected
                + self.reader.decreasing_count()
                + self.too_long
                + self.no_handle,
        }
    }

    fn unusable(&self) -> Vec<(String, u64)> {
        let mut list: Vec<(String, u64)> = self
            .reader
            .rejected()
            .by_reason()
            .map(|(reason, count)| (reason.name().to_owned(), count))
            .collect();
        let early = self.reader.decreasing_count();
        if early > 0 {
            list.push(("time before the previous record (delayed to it)".to_owned(), early));
        }
        if self.too_long > 0 {
            let what = "longer than 4 GiB, the most that a request may ask for";
            list.push((what.to_owned(), self.too_long));
        }
        if self.no_handle > 0 {
            let identifiers = self.identifiers;
            let what =
                format!("placement identifier not below {identifiers}, the number of the drive");
            list.push((what, self.no_handle));
        }
        list.extend(self.reader.notes().into_iter().map(|(what, count)| (what.to_owned(), count)));
        let others = self.reader.skipped_count();
        if others > 0 {
            list.push(("events of other kinds (skipped)".to_owned(), others));
        }
        list.sort();
        list
    }

    fn plan(&mut self, record: &Record, now: Time) -> Result<Option<Planned>, Error> {
        // In a closed loop the times of the trace do not matter.
        let arrival = if self.queue_depth.is_some() { now } else { self.arrival(record)? };
        let (sector, sectors) = match self.placer.place(record) {
            Placed::At { sector, sectors, wrapped } => {
                if wrapped {
                    self.wrapped += 1;
                    self.names.wrapped(&self.reader, record, sector..sector + sectors);
                }
                (sector, sectors as u32)
            }
            Placed::Dropped => {
                self.clipped += 1;
                self.names.dropped(&self.reader, record);
                return Ok(None);
            }
            Placed::TooLong => {
                self.too_long += 1;
                self.names.too_long(&self.reader, record);
                return Ok(None);
            }
            Placed::NoHandle { id } => {
                self.no_handle += 1;
                self.names.no_handle(&self.reader, id, self.identifiers);
                return Ok(None);
            }
            Placed::Refused { first, last } => {
                let path = self.reader.path().display();
                let message =
                    format!("{path}: bytes {first}..={last} appeared after the first pass");
                return Err(Error::Trace(message));
            }
        };
        Ok(Some(Planned {
            arrival,
            op: operation(record.op),
            sector,
            sectors,
            queue: 0,
            directive: directive(record),
        }))
    }
}

impl TraceSource {
    /// Arrival of a record of an open loop. A flow that has started over may come to the end of
    /// simulated time before the others are done; its next request then never arrives.
    fn arrival(&mut self, record: &Record) -> Result<Time, Error> {
        let arrival = self.timing.admit(record.time_ps, self.time_scale).map_or(Time::MAX, Time);
        if arrival < Time::END || self.restarted {
            return Ok(arrival);
        }
        let pass = self.repeat - self.passes_left + 1;
        Err(Error::Trace(format!(
            "{}: line {}: the request arrives beyond the end of simulated time in pass {pass} of {} over the \
             file; allowed: up to 213 days (2^64 ps) for all passes together, after time_scale",
            self.reader.path().display(),
            self.reader.line(),
            self.repeat,
        )))
    }
}

const _: () = assert!(
    Record::PLACEMENT_MAX as u32 == *HANDLES.end(),
    "a trace may name every stream that a drive may have"
);

/// The placement directive of a request: that of a write whose record names one.
fn directive(record: &Record) -> Directive {
    match record.placement {
        Some(id) if record.op == Op::Write => Directive::place(Handle::new(id)),
        _ => Directive::NONE,
    }
}

fn operation(op: Op) -> RequestOp {
    match op {
        Op::Read => RequestOp::Read,
        Op::Write => RequestOp::Write,
        Op::Trim => RequestOp::Trim,
        Op::Flush => RequestOp::Flush,
    }
}

impl RequestSource for TraceSource {
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error> {
        while self.passes_left > 0 {
            match self.reader.next().map_err(trace_error)? {
                Some(record) => {
                    if let Some(planned) = self.plan(&record, now)? {
                        self.placed += 1;
                        self.gone += 1;
                        return Ok(Some(planned));
                    }
                }
                None => {
                    if !self.next_pass()? {
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.passes_left = self.repeat;
        self.restarted = true;
        self.rewind(now.0)
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        if back == 0 {
            return Ok(());
        }
        let requests = self.skip(u64::MAX)?;
        self.rewind(0)?;
        if requests > 0 {
            self.skip((requests - back % requests) % requests)?;
        }
        Ok(())
    }

    fn gone(&self) -> u64 {
        self.gone
    }

    fn closed_loop(&self) -> Option<u32> {
        self.queue_depth
    }

    fn place(&self) -> Option<String> {
        Some(names::place(&self.reader))
    }

    fn report(&self) -> SourceReport {
        let RecordCounts { all: records, changed } = self.looked_at();
        SourceReport {
            wrapped: self.wrapped,
            clipped: self.clipped,
            rejected: self.rejected.clone().unwrap_or_else(|| self.unusable()),
            records,
            changed,
            named: self.names.all(&self.reader),
            ..SourceReport::default()
        }
    }
}

/// A configuration with only a path, for tests.
#[cfg(test)]
pub(crate) fn plain_config(path: &str) -> TraceConfig {
    TraceConfig { format: Some("mqsim".to_owned()), ..TraceConfig::of(path.into()) }
}
