//! `flashlane trace convert`: the requests of a trace in another format.

use std::collections::BTreeSet;
use std::io;

use flashlane::Error;
use flashlane_trace::{Codec, NamedLine, Op, OutputFormat, Record, RecordWriter, TraceReader};

use super::{STRIDE, reading, trace_error};
use crate::args::{Beyond, ConvertArgs};
use crate::execute::spinner;
use crate::output::{OutFile, note, refuse_input};

/// Changes to records on their way.
struct Transform {
    time_scale: f64,
    /// Size of the space and what to do beyond it. Unit: bytes.
    space: Option<(u64, Beyond)>,
    /// Distance between the address spaces of successive devices, and the devices in rising order.
    layout: Option<(u64, Vec<u32>)>,
    /// Devices, and the numbers that they get.
    map: Vec<(u32, u32)>,
    wrapped: u64,
    dropped: u64,
    /// The first lines that were wrapped, dropped or left out.
    named: [Vec<String>; 3],
}

/// Indices of [`Transform::named`].
const WRAPPED: usize = 0;
const DROPPED: usize = 1;
const LEFT_OUT: usize = 2;
/// Lines that are named of each kind.
const NAMED: usize = 10;

/// Converts a trace; the output is written whole or not at all.
pub(super) fn convert(arguments: &ConvertArgs) -> Result<(), Error> {
    let (format, codec) = output_format(arguments)?;
    let mut transform = Transform::of(arguments)?;
    let mut out = OutFile::prepare(&arguments.output, arguments.overwrite.overwrite)?;
    let mut reader = reading::open(&arguments.input, &arguments.reading)?;
    if let Some((_, devices)) = &mut transform.layout {
        *devices = devices_of(&mut reader)?;
    }
    let unwritten = |error: io::Error| {
        Error::Output(format!("{}: cannot be written: {error}", arguments.output.display()))
    };
    let mut writer = format.writer(out.file(), codec, &arguments.fio_file).map_err(unwritten)?;
    let bar = spinner("converting", arguments.quiet);
    let (mut written, mut left_out) = (0_u64, 0_u64);
    while let Some(record) = reader.next().map_err(trace_error)? {
        let (wrapped, dropped) = (transform.wrapped, transform.dropped);
        let given = transform.apply(&record)?;
        if transform.wrapped > wrapped {
            transform.name(WRAPPED, &reader, &record);
        }
        if transform.dropped > dropped {
            transform.name(DROPPED, &reader, &record);
        }
        if let Some(given) = given {
            match writer.write(&given).map_err(unwritten)? {
                true => written += 1,
                false => {
                    left_out += 1;
                    transform.name(LEFT_OUT, &reader, &record);
                }
            }
        }
        if reader.delivered_count().is_multiple_of(STRIDE) {
            bar.set_position(reader.delivered_count());
        }
    }
    finish(writer).map_err(unwritten)?;
    bar.finish_and_clear();
    if written == 0 {
        return Err(Error::Trace(format!(
            "{}: no request is left to write; allowed: addresses and operations that {} has",
            arguments.input,
            format.info().name
        )));
    }
    out.keep()?;
    if !arguments.quiet {
        report(&reader, &transform, Counts { written, left_out }, format);
    }
    Ok(())
}

fn finish(writer: Box<dyn RecordWriter + '_>) -> io::Result<()> {
    writer.finish()
}

/// What `--to` or the name of the output says.
fn output_format(arguments: &ConvertArgs) -> Result<(OutputFormat, Codec), Error> {
    let name = arguments.output.file_name().unwrap_or_default().to_string_lossy();
    let names: Vec<&str> = OutputFormat::ALL.iter().map(|format| format.info().name).collect();
    let allowed = |found: &str| flashlane::config::load::allowed(found, &names);
    let format = match &arguments.to {
        Some(to) => OutputFormat::by_name(to).ok_or_else(|| {
            Error::config("--to", format!("found {to:?}; {}", allowed(to)))
        })?,
        None => OutputFormat::by_file_name(&name).ok_or_else(|| {
            let message = format!(
                "the name does not tell the format; allowed: --to with one of {}, or a name that ends in .csv, \
                 .iolog, .trace or .parquet",
                names.join(", ")
            );
            Error::config(arguments.output.display().to_string(), message)
        })?,
    };
    let codec = Codec::by_file_name(&name).unwrap_or(Codec::Plain);
    if format == OutputFormat::Parquet && codec != Codec::Plain {
        let message = "Parquet is compressed inside; allowed: a name that ends in .parquet";
        return Err(Error::config(arguments.output.display().to_string(), message));
    }
    refuse_input(&arguments.output, [&arguments.input])?;
    Ok((format, codec))
}

/// The devices of a trace, in rising order: one pass over it.
fn devices_of(reader: &mut TraceReader) -> Result<Vec<u32>, Error> {
    let mut devices = BTreeSet::new();
    while let Some(record) = reader.next().map_err(trace_error)? {
        devices.insert(record.device);
    }
    reader.rewind().map_err(trace_error)?;
    Ok(devices.into_iter().collect())
}

impl Transform {
    fn of(arguments: &ConvertArgs) -> Result<Transform, Error> {
        let scale = arguments.time_scale;
        if !(1e-9..=1e9).contains(&scale) {
            let message = format!("found {scale}, allowed: above 0 (1e-9 to 1e9)");
            return Err(Error::config("--time-scale", message));
        }
        let size = |option: &str, size: Option<flashlane::config::units::ByteSize>| match size {
            Some(size) if !(512..=1 << 60).contains(&size.0) => {
                let message = format!("found {size}, allowed: 512B to 1EiB");
                Err(Error::config(option, message))
            }
            size => Ok(size.map(|size| size.0)),
        };
        let space = size("--space", arguments.space)?;
        let stride = size("--device-stride", arguments.device_stride)?;
        Ok(Transform {
            time_scale: scale,
            space: space.map(|space| (space, arguments.out_of_range)),
            layout: stride.map(|stride| (stride, Vec::new())),
            map: map_of(&arguments.map_devices)?,
            wrapped: 0,
            dropped: 0,
            named: Default::default(),
        })
    }

    /// Names a record, if it is one of the first ten of its kind.
    fn name(&mut self, kind: usize, reader: &TraceReader, record: &Record) {
        let named = &mut self.named[kind];
        if named.len() < NAMED {
            let (unit, line, op) = (reader.unit(), reader.record_line(), record.op);
            let (first, last) = (record.offset_bytes, record.end_bytes().saturating_sub(1));
            let what = match op {
                Op::Flush => "flush".to_owned(),
                op => format!("{op:?} of bytes {first}..={last}").to_lowercase(),
            };
            named.push(format!("{unit} {line}: {what}"));
        }
    }

    /// The record as it is written; `None`: it lies beyond the space and is dropped.
    fn apply(&mut self, record: &Record) -> Result<Option<Record>, Error> {
        let mut record = *record;
        if self.time_scale != 1.0 {
            let scaled = (record.time_ps as f64 * self.time_scale).round();
            if scaled >= u64::MAX as f64 {
                let message = "a request arrives after 2^64 ps (213 days), allowed: before that";
                return Err(Error::config("--time-scale", message));
            }
            record.time_ps = scaled as u64;
        }
        if record.op != Op::Flush && !self.place(&mut record)? {
            self.dropped += 1;
            return Ok(None);
        }
        if self.layout.is_some() {
            record.device = 0;
        }
        if let Some((_, to)) = self.map.iter().find(|(from, _)| *from == record.device) {
            record.device = *to;
        }
        Ok(Some(record))
    }

    /// Gives the record its place in the space. False: it has none.
    fn place(&mut self, record: &mut Record) -> Result<bool, Error> {
        if let Some((stride, devices)) = &self.layout {
            let base = devices.binary_search(&record.device).unwrap_or(0) as u64;
            let offset =
                base.checked_mul(*stride).and_then(|base| base.checked_add(record.offset_bytes));
            let end = offset.and_then(|offset| offset.checked_add(record.length_bytes));
            let (Some(offset), Some(_)) = (offset, end) else {
                let message = "an address exceeds 2^64 bytes, allowed: a stride below";
                return Err(Error::config("--device-stride", message));
            };
            record.offset_bytes = offset;
        }
        if let Some((space, beyond)) = self.space
            && record.end_bytes() > space
        {
            if beyond == Beyond::Clip {
                return Ok(false);
            }
            self.wrapped += 1;
            record.length_bytes = record.length_bytes.min(space);
            record.offset_bytes = (record.offset_bytes % space).min(space - record.length_bytes);
        }
        Ok(true)
    }
}

/// Pairs like `4=0`.
fn map_of(texts: &[String]) -> Result<Vec<(u32, u32)>, Error> {
    let pair = |text: &String| {
        let numbers = text.split_once('=').and_then(|(from, to)| {
            Some((from.trim().parse::<u32>().ok()?, to.trim().parse::<u32>().ok()?))
        });
        numbers.ok_or_else(|| {
            let message = format!("found {text:?}, allowed: OLD=NEW, for example 4=0,5=1");
            Error::config("--map-devices", message)
        })
    };
    texts.iter().map(pair).collect()
}

/// Numbers of requests of a conversion.
struct Counts {
    /// Requests that were written.
    written: u64,
    /// Trims and flushes, which some formats do not have.
    left_out: u64,
}

/// Reports the changes, on standard error.
fn report(reader: &TraceReader, transform: &Transform, counts: Counts, format: OutputFormat) {
    note(&format!(
        "{}: {}; {} requests written",
        reader.path().display(),
        reader.reading(),
        counts.written
    ));
    let shown = |lines: &[NamedLine]| lines.iter().map(ToString::to_string).collect();
    let [wrapped, dropped, unwritten] = transform.named.clone();
    let changes: [(&str, u64, Vec<String>); 5] = [
        ("wrapped into the space", transform.wrapped, wrapped),
        ("dropped beyond the space", transform.dropped, dropped),
        ("left out (trims and flushes)", counts.left_out, unwritten),
        (
            "times that stepped back, delayed",
            reader.decreasing_count(),
            shown(reader.decreasing_lines()),
        ),
        ("skipped, as they are no requests", reader.skipped_count(), shown(reader.skipped_lines())),
    ];
    for (what, count, lines) in changes.into_iter().filter(|(_, count, _)| *count > 0) {
        note(&format!("{what}: {count}"));
        lines.iter().for_each(|line| note(&format!("  {line}")));
    }
    for (what, count) in reader.notes() {
        note(&format!("{what}: {count}"));
    }
    for (reason, count) in reader.rejected().by_reason() {
        note(&format!("rejected: {count} for {reason}"));
    }
    for line in reader.rejected().first() {
        note(&format!("  {line}"));
    }
    if format.info().loses != "nothing" {
        note(&format!("{} loses {}", format.info().name, format.info().loses));
    }
}
