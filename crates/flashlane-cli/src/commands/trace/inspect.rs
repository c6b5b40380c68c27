//! `flashlane trace inspect`: what a trace holds.

use std::collections::BTreeMap;
use std::path::Path;

use flashlane::Error;
use flashlane_trace::statistics::{Meter, Profile, SideStatistics, TraceStatistics};
use flashlane_trace::{
    BareColumns, Candidate, NamedLine, Op, Rejected, SpaceUnit, TimeUnit, TraceReader, detect,
};
use serde_json::{Value, json};

use super::{STRIDE, plot, reading, trace_error};
use crate::args::InspectArgs;
use crate::execute::spinner;
use crate::output::{print, print_data};
use crate::table::{Table, bytes, maybe, number};

/// Requests that the readings of five bare columns are formed over.
const CANDIDATE_REQUESTS: u64 = 200_000;
/// Devices and sizes that the text lists.
const LISTED: usize = 8;
/// Most devices that are told apart.
const DEVICES_MAX: usize = 65_536;

/// A device of a trace.
#[derive(Clone, Copy, Debug, Default)]
struct Device {
    requests: u64,
    end_bytes: u64,
}

/// All that is said of a trace.
struct Inspection {
    path: String,
    format: &'static str,
    reading: String,
    codec: String,
    statistics: TraceStatistics,
    trims: u64,
    flushes: u64,
    devices: BTreeMap<u32, Device>,
    profile: Profile,
    rejected: Rejected,
    skipped: u64,
    delayed: u64,
    /// The first lines that were skipped or delayed, and what was read as something else.
    named: Vec<NamedLine>,
    notes: Vec<(&'static str, u64)>,
}

/// Inspects the files one after the other.
pub(super) fn inspect(arguments: &InspectArgs) -> Result<(), Error> {
    for file in &arguments.files {
        let reading = &arguments.reading;
        let tells_nothing = reading.from.is_none()
            && reading.columns.is_none()
            && reading.time_unit.is_none()
            && reading.size_unit.is_none();
        if tells_nothing
            && Path::new(file).exists()
            && !Path::new(file).is_dir()
            && detect(file).map_err(trace_error)?.is_none()
            && let Some(bare) = BareColumns::of(file).map_err(trace_error)?
        {
            return Err(undecided(file, bare, arguments)?);
        }
        let reader = reading::open(file, reading)?;
        let inspection = Inspection::of(file, reader, arguments.quiet)?;
        match arguments.json() {
            true => print_data(&format!("{}\n", inspection.json()))?,
            false => print(&inspection.text())?,
        }
    }
    Ok(())
}

impl Inspection {
    fn of(path: &str, mut reader: TraceReader, quiet: bool) -> Result<Inspection, Error> {
        let (mut meter, mut profile) = (Meter::default(), Profile::default());
        let mut devices: BTreeMap<u32, Device> = BTreeMap::new();
        let (mut trims, mut flushes) = (0, 0);
        let bar = spinner("reading", quiet);
        while let Some(record) = reader.next().map_err(trace_error)? {
            meter.add(&record);
            profile.add(&record);
            trims += u64::from(record.op == Op::Trim);
            flushes += u64::from(record.op == Op::Flush);
            if devices.len() < DEVICES_MAX || devices.contains_key(&record.device) {
                let device = devices.entry(record.device).or_default();
                device.requests += 1;
                device.end_bytes = device.end_bytes.max(record.end_bytes());
            }
            if reader.delivered_count().is_multiple_of(STRIDE) {
                bar.set_position(reader.delivered_count());
            }
        }
        bar.finish_and_clear();
        Ok(Inspection {
            path: path.to_owned(),
            format: reader.format().name(),
            reading: reader.reading(),
            codec: reader.codec().to_string(),
            statistics: meter.finish(),
            trims,
            flushes,
            devices,
            profile,
            rejected: reader.rejected().clone(),
            skipped: reader.skipped_count(),
            delayed: reader.decreasing_count(),
            named: reader
                .skipped_lines()
                .iter()
                .chain(reader.decreasing_lines())
                .cloned()
                .collect(),
            notes: reader.notes(),
        })
    }

    fn text(&self) -> String {
        let s = &self.statistics;
        let mut text = format!("{}: {}; {}\n\n", self.path, self.reading, self.codec);
        text += &self.requests().render();
        text += &format!(
            "\nspan {} s, gaps of 0: {} %, trims {}, flushes {}\n",
            short_span(s.span_s),
            number(100.0 * s.zero_gaps),
            self.trims,
            self.flushes
        );
        text += &self.bursts().render();
        text += &sizes(s);
        text += &self.devices();
        text += &self.unread();
        text.push('\n');
        text += &plot::plots(&self.profile);
        text.push('\n');
        text
    }

    /// What FLIN's Table 2 has of a trace, and where the requests go.
    fn requests(&self) -> Table {
        let s = &self.statistics;
        let mut table = Table::new(&["", "all", "reads", "writes"]);
        let mut row = |what: &str, all: String, read: String, write: String| {
            table.row(vec![what.to_owned(), all, read, write]);
        };
        let sides = |of: &dyn Fn(&SideStatistics) -> f64| [of(&s.read), of(&s.write)].map(number);
        let of_span =
            |count: f64| if s.span_s > 0.0 { number(count / s.span_s) } else { "-".into() };
        let mib = |pages: u64| number(pages as f64 / 256.0);
        let [all, reads, writes] = [s.requests, s.read.requests, s.write.requests];
        row("requests", all.to_string(), reads.to_string(), writes.to_string());
        row("share", "1.000".into(), number(s.read_ratio), number(1.0 - s.read_ratio));
        row("per second", of_span(all as f64), of_span(reads as f64), of_span(writes as f64));
        let kib = |side: &SideStatistics| side.mean_kib * side.requests as f64;
        let whole = kib(&s.read) + kib(&s.write);
        let mean = if all > 0 { whole / all as f64 } else { 0.0 };
        row("mean size, KiB", number(mean), number(s.read.mean_kib), number(s.write.mean_kib));
        let mb = |kib: f64| of_span(kib * 1024.0 / 1e6);
        row("MB/s", mb(whole), mb(kib(&s.read)), mb(kib(&s.write)));
        let gaps = [s.gap_ms, s.read.gap_ms, s.write.gap_ms].map(number_of_gap);
        let [all, read, write] = gaps;
        row("mean gap before, ms", all, read, write);
        let [read, write] = sides(&|side| side.gap_cv);
        row("variation of gaps", number(s.gap_cv), read, write);
        let [p, r, w] = [&s.pages, &s.read.pages, &s.write.pages];
        row("footprint, MiB", mib(p.count), mib(r.count), mib(w.count));
        row("accesses to hottest 10 %", number(p.top10), number(r.top10), number(w.top10));
        row("accesses to hottest 20 %", number(p.top20), number(r.top20), number(w.top20));
        row("Zipf slope", maybe(p.zipf), maybe(r.zipf), maybe(w.zipf));
        let [read, write] = sides(&|side| side.revisits);
        row("page accesses that return", "".into(), read, write);
        let [read, write] = sides(&|side| side.seq1);
        row("continues the last request", "".into(), read, write);
        let [read, write] = sides(&|side| side.seq32);
        row("continues one of the last 32", "".into(), read, write);
        row("aligned to 4 KiB", number(s.aligned), "".into(), "".into());
        table
    }

    fn bursts(&self) -> Table {
        let s = &self.statistics;
        let mut table = Table::new(&["burstiness", "10 ms", "100 ms", "1 s"]);
        let row = |what: &str, values: [Option<f64>; 3]| {
            let mut cells = vec![what.to_owned()];
            cells.extend(values.map(maybe));
            cells
        };
        table.row(row("index of dispersion", s.idc));
        table.row(row("busiest window over mean", s.peak));
        table.row(row("b-model bias (0.5: even)", [s.bias, None, None]));
        table
    }

    fn devices(&self) -> String {
        let count = self.devices.len();
        let listed = self.devices.iter().take(LISTED).map(|(number, device)| {
            format!("{number} ({} requests up to {})", device.requests, bytes(device.end_bytes))
        });
        let more = if count > LISTED { ", ..." } else { "" };
        format!("devices: {count}: {}{more}\n", listed.collect::<Vec<_>>().join(", "))
    }

    fn unread(&self) -> String {
        let mut text = String::new();
        for (reason, count) in self.rejected.by_reason() {
            text += &format!("rejected: {count} for {reason}\n");
        }
        for line in self.rejected.first() {
            text += &format!("  {line}\n");
        }
        if self.skipped > 0 {
            text += &format!("skipped, as they are no requests: {}\n", self.skipped);
        }
        if self.delayed > 0 {
            text += &format!("times that stepped back: {}\n", self.delayed);
        }
        for line in &self.named {
            text += &format!("  {line}\n");
        }
        for (what, count) in &self.notes {
            text += &format!("{what}: {count}\n");
        }
        text
    }

    fn json(&self) -> Value {
        let s = &self.statistics;
        let per_second = |count: u64| (s.span_s > 0.0).then(|| count as f64 / s.span_s);
        let mib = |pages: u64| pages as f64 / 256.0;
        let side = |side: &SideStatistics| {
            json!({
                "requests": side.requests, "iops": per_second(side.requests),
                "mean_kib": side.mean_kib, "gap_ms": side.gap_ms, "gap_cv": side.gap_cv,
                "footprint_mib": mib(side.pages.count), "top10": side.pages.top10,
                "top20": side.pages.top20, "zipf": side.pages.zipf, "revisits": side.revisits,
                "seq1": side.seq1, "seq32": side.seq32, "sizes": side.sizes,
            })
        };
        let windows = |values: [Option<f64>; 3]| {
            let [short, middle, long] = values;
            json!({ "10ms": short, "100ms": middle, "1s": long })
        };
        let devices: Vec<Value> = self
            .devices
            .iter()
            .map(|(number, device)| {
                let (requests, end_bytes) = (device.requests, device.end_bytes);
                json!({ "device": number, "requests": requests, "end_bytes": end_bytes })
            })
            .collect();
        let reasons: BTreeMap<&str, u64> =
            self.rejected.by_reason().map(|(reason, count)| (reason.name(), count)).collect();
        let named: Vec<String> = self.named.iter().map(ToString::to_string).collect();
        let notes: BTreeMap<&str, u64> = self.notes.iter().copied().collect();
        let first: Vec<String> = self.rejected.first().iter().map(ToString::to_string).collect();
        json!({
            "file": self.path, "format": self.format, "reading": self.reading, "codec": self.codec,
            "requests": s.requests, "trims": self.trims, "flushes": self.flushes,
            "span_s": s.span_s, "iops": per_second(s.requests), "read_ratio": s.read_ratio,
            "gap_ms": s.gap_ms, "gap_cv": s.gap_cv, "zero_gaps": s.zero_gaps,
            "read": side(&s.read), "write": side(&s.write),
            "footprint_mib": mib(s.pages.count), "top10": s.pages.top10, "top20": s.pages.top20,
            "zipf": s.pages.zipf, "aligned": s.aligned,
            "idc": windows(s.idc), "peak_over_mean": windows(s.peak), "bias": s.bias,
            "devices": devices,
            "rejected": { "count": self.rejected.count(), "reasons": reasons, "first": first },
            "skipped": self.skipped, "delayed": self.delayed, "named": named, "notes": notes,
            "profile": { "interval_s": self.profile.interval_ps() as f64 / 1e12,
                "reads": self.profile.reads(), "writes": self.profile.writes() },
        })
    }
}

/// The most frequent sizes.
fn sizes(s: &TraceStatistics) -> String {
    let of = |name: &str, side: &SideStatistics| {
        let mut sizes = side.sizes.clone();
        sizes.sort_by_key(|(size, count)| (u64::MAX - count, *size));
        let share = |count: u64| number(100.0 * count as f64 / side.requests as f64);
        let shown: Vec<String> = sizes
            .iter()
            .take(LISTED)
            .map(|(size, count)| format!("{} {} %", bytes(*size), share(*count)))
            .collect();
        let more = if sizes.len() > LISTED { ", ..." } else { "" };
        match shown.is_empty() {
            true => String::new(),
            false => format!("sizes of {name}: {}{more}\n", shown.join(", ")),
        }
    };
    of("reads", &s.read) + &of("writes", &s.write)
}

/// A span with as many digits as short ones need. Unit: seconds.
fn short_span(seconds: f64) -> String {
    if seconds < 0.1 { format!("{seconds:.6}") } else { number(seconds) }
}

/// A gap with as many digits as short ones need. Unit: milliseconds.
fn number_of_gap(ms: f64) -> String {
    if ms < 1.0 { format!("{ms:.5}") } else { number(ms) }
}

/// Prints every reading of five bare columns and what it implies; the error asks for one of them.
fn undecided(file: &str, bare: BareColumns, arguments: &InspectArgs) -> Result<Error, Error> {
    let candidates = bare.candidates(file, CANDIDATE_REQUESTS).map_err(trace_error)?;
    let readings: Vec<Value> = candidates.iter().map(candidate_json).collect();
    if arguments.json() {
        print_data(&format!("{}\n", json!({ "file": file, "readings": readings })))?;
    } else {
        let mut table = Table::new(&[
            "reading",
            "span, s",
            "IOPS",
            "reads",
            "read KiB",
            "write KiB",
            "footprint, MiB",
            "highest address",
        ]);
        for candidate in &candidates {
            let s = &candidate.statistics;
            let iops =
                if s.span_s > 0.0 { number(s.requests as f64 / s.span_s) } else { "-".into() };
            table.row(vec![
                flags(candidate),
                significant(s.span_s),
                iops,
                number(s.read_ratio),
                number(s.read.mean_kib),
                number(s.write.mean_kib),
                number(s.pages.count as f64 / 256.0),
                bytes(candidate.end_bytes_max),
            ]);
        }
        let columns = if bare.has_commas { "with commas" } else { "with blanks" };
        print(&format!(
            "{file}: five bare columns {columns}, which do not say their units. What each reading makes of the \
             first {CANDIDATE_REQUESTS} requests (mqsim and ssdsim read alike):\n\n{}",
            table.render()
        ))?;
    }
    Ok(Error::Trace(format!(
        "{file}: found five bare columns, which do not tell their format; allowed: one of the readings, or one of \
         --time-unit, --size-unit and --columns"
    )))
}

/// The flags that choose a reading.
fn flags(candidate: &Candidate) -> String {
    if let flashlane_trace::Format::Columns(map) = &candidate.format {
        return format!("--columns \"{map}\"");
    }
    let mut text = format!("--from {}", candidate.format.name());
    if let Some(unit) = candidate.time_unit {
        text += &format!(" --time-unit {unit}");
    }
    if let Some(unit) = candidate.size_unit {
        text += &format!(" --size-unit {unit}");
    }
    text
}

fn candidate_json(candidate: &Candidate) -> Value {
    let s = &candidate.statistics;
    json!({
        "flags": flags(candidate),
        "time_unit": candidate.time_unit.map(TimeUnit::name),
        "size_unit": candidate.size_unit.map(SpaceUnit::name),
        "requests": s.requests, "span_s": s.span_s,
        "iops": (s.span_s > 0.0).then(|| s.requests as f64 / s.span_s),
        "read_ratio": s.read_ratio, "read_kib": s.read.mean_kib, "write_kib": s.write.mean_kib,
        "footprint_mib": s.pages.count as f64 / 256.0, "end_bytes": candidate.end_bytes_max,
    })
}

/// A number with three digits however small it is.
fn significant(value: f64) -> String {
    if value == 0.0 || value >= 0.1 { number(value) } else { format!("{value:.2e}") }
}
