//! How fast the requests of a job come, and what ends it.

use super::reader::Reader;
use super::requests::Pattern;
use super::values::{MICROSECOND_PS, SECOND_PS, bytes, directions, time_ps};
use crate::config::{Arrivals, SyntheticConfig};
use crate::reading::allowed;
use flashlane_units::{Bandwidth, Ratio, Span};

/// Engines that wait for every request: the depth is 1.
const SYNCHRONOUS: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "posix_sync"];
/// Engines that keep requests in flight.
const ASYNCHRONOUS: &[&str] =
    &["libaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "null", "sg"];

/// `iodepth`, or 1 where the engine waits for every request.
pub(super) fn depth(reader: &mut Reader<'_>) -> u32 {
    let depth = reader.number("iodepth", 1..=65_535).unwrap_or(1) as u32;
    let Some(engine) = reader.text("ioengine") else { return depth };
    if SYNCHRONOUS.contains(&engine.as_str()) {
        if depth > 1 {
            let line = reader.line("iodepth");
            let message =
                format!("has no effect with ioengine={engine}, which waits for every request");
            reader.notes.warn(line, "iodepth", &message);
        }
        return 1;
    }
    if !ASYNCHRONOUS.contains(&engine.as_str()) {
        let all: Vec<&str> = SYNCHRONOUS.iter().chain(ASYNCHRONOUS).copied().collect();
        reader.refuse("ioengine", format!("found {engine:?}; {}", allowed(&engine, &all)));
    }
    depth
}

/// A time in seconds or with a unit. Unit of the result: picoseconds.
pub(super) fn span(reader: &mut Reader<'_>, key: &str) -> Option<u64> {
    reader.value(key, "a time, such as 30 (seconds), 500ms or 2m", |text| time_ps(text, SECOND_PS))
}

/// Rates of reads and of everything else.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    reads: f64,
    others: f64,
}

impl Rates {
    fn total(self) -> f64 {
        self.reads + self.others
    }
}

/// The rates of the directions that a job uses: fio keeps each by itself.
fn rate(
    reader: &mut Reader<'_>,
    key: &str,
    allowed: &str,
    pattern: Pattern,
    read: impl Fn(&str) -> Option<f64>,
) -> Option<Rates> {
    reader.value(key, allowed, |text| {
        let (reads, writes, trims) = directions(text)?;
        let used = |is_used: bool, text: &str| if is_used { read(text) } else { Some(0.0) };
        let others = used(pattern.writes, writes)? + used(pattern.trims, trims)?;
        Some(Rates { reads: used(pattern.reads, reads)?, others })
    })
}

/// How fast requests come.
pub(super) fn pace(reader: &mut Reader<'_>, pattern: Pattern, synthetic: &mut SyntheticConfig) {
    let depth = depth(reader);
    let number = |text: &str| text.parse::<f64>().ok().filter(|rate| (0.001..=1e9).contains(rate));
    let allowed = "requests per second of each direction, such as 500 or 500,100 (reads, writes)";
    let iops = rate(reader, "rate_iops", allowed, pattern, number);
    let allowed = "bytes per second of each direction, such as 100m or 100m,20m (reads, writes)";
    let in_range = |rate: &u64| (1..=1_000_000_000_000).contains(rate);
    let rate = rate(reader, "rate", allowed, pattern, |text| {
        bytes(text).filter(in_range).map(|rate| rate as f64)
    });
    let process = reader.text("rate_process").unwrap_or_else(|| "linear".to_owned());
    match process.as_str() {
        "linear" => synthetic.arrivals = Arrivals::Constant,
        "poisson" => synthetic.arrivals = Arrivals::Poisson,
        _ => reader.refuse("rate_process", format!("found {process:?}, allowed: linear, poisson")),
    }
    let think =
        reader.value("thinktime", "a time, such as 50us, 1ms or 100 (microseconds)", |text| {
            time_ps(text, MICROSECOND_PS)
        });
    match (iops, rate) {
        (None, None) => {
            synthetic.arrivals = Arrivals::default();
            synthetic.queue_depth = Some(depth);
            let blocks = reader.number("thinktime_blocks", 1..=1 << 20).unwrap_or(1);
            synthetic.think_time = think.map(|think| think / blocks).filter(|it| *it > 0).map(Span);
        }
        (Some(_), Some(_)) => {
            reader.refuse("rate", "found beside rate_iops, allowed: one of them".to_owned());
        }
        (iops, rate) => {
            let all = iops.or(rate).unwrap_or_default();
            synthetic.iops = iops.map(|_| all.total());
            synthetic.bandwidth = rate.map(|_| Bandwidth(all.total() as u64));
            if pattern.reads && pattern.writes {
                // Each direction keeps its own rate, whatever mix was asked for.
                synthetic.read_ratio = Ratio(all.reads / all.total());
            }
            let key = if iops.is_some() { "rate_iops" } else { "rate" };
            if think.is_some() {
                reader.refuse("thinktime", format!("found beside {key}, allowed: one of them"));
            }
            let line = reader.line(key);
            let message = "requests come at this rate whatever is outstanding; fio never has more than iodepth";
            reader.notes.warn(line, key, message);
        }
    }
}

/// What ends the job: bytes, requests or time, whichever comes first.
pub(super) fn end(
    reader: &mut Reader<'_>,
    mean_bytes: f64,
    ramp: u64,
    synthetic: &mut SyntheticConfig,
) {
    let runtime = reader.value("runtime", "a time, such as 30 (seconds), 500ms or 2m", |text| {
        time_ps(text, SECOND_PS).filter(|time| *time > 0)
    });
    // What fio does before it counts comes on top of the time that it counts.
    synthetic.duration = runtime.map(|time| Span(time.saturating_add(ramp)));
    let is_time_based = reader.flag("time_based");
    let loops = reader.number("loops", 1..=1 << 20).unwrap_or(1);
    let io_size = reader.size("io_size");
    let count = reader.number("number_ios", 1..=1 << 50);
    if is_time_based {
        if runtime.is_none() {
            reader.refuse("time_based", "found without runtime, allowed: beside it".to_owned());
        }
        return;
    }
    let whole = io_size.or(synthetic.region.map(|region| region.0));
    let of_bytes = whole.map(|bytes| (bytes as f64 / mean_bytes).round().max(1.0) as u64);
    let requests = [of_bytes, count].into_iter().flatten().min();
    synthetic.requests = requests.map(|requests| requests.saturating_mul(loops).min(1 << 50));
    if requests.is_none() && runtime.is_none() {
        // fio would go through the whole device once.
        synthetic.duration = Some(Span(SECOND_PS.saturating_add(ramp)));
        let message = "nothing ends the job before the end of the drive: it runs for 1 s of simulated time; \
                       io_size in bytes, number_ios or runtime say otherwise";
        let line = reader.section.line;
        reader.notes.warn(line, "", message);
    }
}

/// `fsync=N`: a flush after every N writes.
pub(super) fn flushes(reader: &mut Reader<'_>, synthetic: &mut SyntheticConfig) {
    let Some(writes) = reader.number("fsync", 0..=1 << 30).filter(|writes| *writes > 0) else {
        return;
    };
    let per_request =
        (1.0 - synthetic.read_ratio.0) * (1.0 - synthetic.trim_ratio.0) / writes as f64;
    let more = 1.0 + per_request;
    synthetic.flush_ratio = Ratio(per_request / more);
    synthetic.requests = synthetic.requests.map(|count| (count as f64 * more).round() as u64);
    synthetic.iops = synthetic.iops.map(|iops| iops * more);
}
