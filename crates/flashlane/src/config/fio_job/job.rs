//! From the keys of a job to its flows.

use std::path::PathBuf;

use super::reader::Reader;
use super::requests::{PATTERNS, Pattern, address, mix, sizes, smallest};
use super::sections::{Section, WITHOUT_EFFECT};
use super::values::{bytes, one_of_directions, time_ps};
use super::{FLOWS_MAX, Notes};
use crate::config::{Arrivals, FlowConfig, Priority, SyntheticConfig, TraceConfig};
use crate::reading::{Places, allowed};
use flashlane_units::{Bandwidth, ByteSize, Ratio, Span};

const SECOND_PS: u64 = 1_000_000_000_000;
const MICROSECOND_PS: u64 = 1_000_000;
/// Engines that wait for every request: the depth is 1.
const SYNCHRONOUS: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "posix_sync"];
/// Engines that keep requests in flight.
const ASYNCHRONOUS: &[&str] =
    &["libaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "null", "sg"];

/// The flows of a file.
pub(super) struct Jobs {
    pub(super) places: Places,
    pub(super) flows: Vec<FlowConfig>,
}

impl Jobs {
    /// Adds the flows of a job.
    pub(super) fn add(&mut self, section: &Section, notes: &mut Notes) {
        let mut reader = Reader { section, notes };
        let copies = reader.number("numjobs", 1..=FLOWS_MAX as u64).unwrap_or(1);
        let increment = reader.size("offset_increment").unwrap_or(0);
        let priority = priority(&mut reader);
        let source = match reader.has("read_iolog") {
            true => Source::Trace(trace(&mut reader).map(Box::new)),
            false => Source::Synthetic(Box::new(synthetic(&mut reader))),
        };
        if reader.section.entries.keys().any(|key| matches!(*key, "direct" | "buffered")) {
            let buffered = reader.text("direct").as_deref() == Some("0")
                || reader.text("buffered").as_deref() == Some("1");
            if buffered {
                let key = if reader.has("direct") { "direct" } else { "buffered" };
                let line = reader.line(key);
                reader.notes.warn(line, key, "there is no page cache: requests go to the drive");
            }
        }
        for copy in 0..copies {
            let name = match copies {
                1 => section.name.clone(),
                _ => format!("{}.{copy}", section.name),
            };
            let mut flow = flow(name, priority);
            match &source {
                Source::Trace(trace) => flow.trace = trace.as_deref().cloned(),
                Source::Synthetic(synthetic) => {
                    let mut synthetic = (**synthetic).clone();
                    if copy > 0 {
                        // Jobs of one section draw differently.
                        synthetic.seed = synthetic.seed.map(|seed| seed.wrapping_add(copy));
                    }
                    let moved = increment.checked_mul(copy).filter(|by| *by > 0);
                    if let Some(by) = moved {
                        let start = synthetic.region_start.map_or(0, |start| start.0);
                        synthetic.region_start = Some(ByteSize(start.saturating_add(by)));
                    }
                    flow.synthetic = Some(synthetic);
                }
            }
            self.place(section);
            self.flows.push(flow);
        }
    }

    /// Where the keys of the next flow were written.
    fn place(&mut self, section: &Section) {
        let flow = format!("flow[{}]", self.flows.len());
        let at = |line: usize| format!("{}:{line}", self.places.file());
        let keys = [
            ("iodepth", "synthetic.queue_depth"),
            ("rate_iops", "synthetic.iops"),
            ("rate", "synthetic.bandwidth"),
            ("bs", "synthetic.size"),
            ("bsrange", "synthetic.size"),
            ("bssplit", "synthetic.size"),
            ("blockalign", "synthetic.align"),
            ("size", "synthetic.region"),
            ("offset", "synthetic.region_start"),
            ("thinktime", "synthetic.think_time"),
            ("random_distribution", "synthetic.address"),
            ("number_ios", "synthetic.requests"),
            ("runtime", "synthetic.duration"),
            ("read_iolog", "trace.path"),
            ("replay_time_scale", "trace.time_scale"),
        ];
        let mut written = vec![(flow.clone(), at(section.line))];
        written.extend(keys.iter().filter_map(|(key, ours)| {
            let entry = section.entries.get(key)?;
            Some((format!("{flow}.{ours}"), at(entry.line)))
        }));
        for (key, place) in written {
            self.places.set(&key, &place);
        }
    }
}

enum Source {
    Trace(Option<Box<TraceConfig>>),
    Synthetic(Box<SyntheticConfig>),
}

fn flow(name: String, priority: Priority) -> FlowConfig {
    FlowConfig { priority, ..FlowConfig::named(name) }
}

/// `prioclass` 1 (real time) is urgent; 2 (best effort, the default) is high for `prio` 0 to 3,
/// medium for 4 and low for 5 to 7; 3 (idle) is low.
fn priority(reader: &mut Reader<'_>) -> Priority {
    let class = reader.number("prioclass", 0..=3).unwrap_or(2);
    let prio = reader.number("prio", 0..=7);
    match (class, prio) {
        (1, _) => Priority::Urgent,
        (3, _) | (_, Some(5..=7)) => Priority::Low,
        (_, Some(0..=3)) => Priority::High,
        _ => Priority::Medium,
    }
}

/// A replayed log.
fn trace(reader: &mut Reader<'_>) -> Option<TraceConfig> {
    let understood = [
        "read_iolog",
        "replay_time_scale",
        "replay_no_stall",
        "iodepth",
        "ioengine",
        "numjobs",
        "offset",
        "loops",
        "prio",
        "prioclass",
        "rw",
    ];
    let own: Vec<&str> = reader.section.entries.keys().copied().collect();
    for key in own {
        if !understood.contains(&key) && !WITHOUT_EFFECT.contains(&key) {
            let list = understood.join(", ");
            reader.refuse(key, format!("found beside read_iolog, allowed there: {list}"));
        }
    }
    let path = reader
        .value("read_iolog", "a file", |text| (!text.is_empty()).then(|| PathBuf::from(text)))?;
    let percent = reader.number("replay_time_scale", 1..=1_000_000).unwrap_or(100);
    let depth = depth(reader);
    let no_stall = reader.flag("replay_no_stall");
    let offset = reader.size("offset").unwrap_or(0);
    let repeat = reader.number("loops", 1..=u64::from(u32::MAX)).unwrap_or(1);
    Some(TraceConfig {
        time_scale: percent as f64 / 100.0,
        queue_depth: no_stall.then_some(depth),
        offset: ByteSize(offset),
        repeat,
        ..TraceConfig::of(path)
    })
}

/// `iodepth`, or 1 where the engine waits for every request.
fn depth(reader: &mut Reader<'_>) -> u32 {
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

/// A flow drawn from distributions.
fn synthetic(reader: &mut Reader<'_>) -> SyntheticConfig {
    let names: Vec<&str> = PATTERNS.iter().map(|pattern| pattern.0).collect();
    for key in ["replay_time_scale", "replay_no_stall"] {
        if reader.has(key) {
            reader.refuse(key, "found without read_iolog, allowed: beside it".to_owned());
        }
    }
    let rw = reader.text("rw").unwrap_or_else(|| "read".to_owned());
    let Some((_, pattern)) = PATTERNS.iter().find(|(name, _)| *name == rw) else {
        reader.refuse("rw", format!("found {rw:?}; {}", allowed(&rw, &names)));
        return SyntheticConfig::default();
    };
    let mut synthetic = SyntheticConfig {
        read_ratio: Ratio(mix(reader, *pattern)),
        trim_ratio: Ratio(if pattern.trims { 1.0 } else { 0.0 }),
        ..SyntheticConfig::default()
    };
    let (size, mean) = sizes(reader, *pattern);
    synthetic.size = size;
    synthetic.align =
        reader.size("blockalign").map(ByteSize).or(Some(ByteSize(smallest(&synthetic.size))));
    synthetic.address = address(reader, *pattern, &synthetic.size);
    region(reader, &mut synthetic);
    pace(reader, *pattern, &mut synthetic);
    end(reader, mean, &mut synthetic);
    synthetic.seed = reader.number("randseed", 0..=u64::MAX);
    synthetic
}

/// `offset` and `size`: the region in which requests lie.
fn region(reader: &mut Reader<'_>, synthetic: &mut SyntheticConfig) {
    let share = reader.text("size").and_then(|size| size.strip_suffix('%').map(str::to_owned));
    if let Some(percent) = share {
        let share = percent.parse::<u32>().ok().filter(|percent| (1..=100).contains(percent));
        match share {
            Some(percent) => synthetic.working_set = Some(Ratio(f64::from(percent) / 100.0)),
            None => reader.refuse("size", format!("found {percent}%, allowed: 1% to 100%")),
        }
        if reader.has("offset") {
            reader.refuse(
                "offset",
                "found beside a size in percent, allowed: a size in bytes".to_owned(),
            );
        }
        return;
    }
    synthetic.region = reader.size("size").map(ByteSize);
    synthetic.region_start = reader.size("offset").map(ByteSize);
}

/// How fast requests come.
fn pace(reader: &mut Reader<'_>, pattern: Pattern, synthetic: &mut SyntheticConfig) {
    let depth = depth(reader);
    let wanted = (pattern.reads, pattern.writes, pattern.trims);
    let iops =
        reader.value("rate_iops", "requests per second, for all operations together", |text| {
            let one = text.parse::<f64>().ok().or_else(|| match wanted {
                // Both are used: fio counts each by itself.
                (true, true, _) => None,
                _ => one_of_directions(text, wanted)?.parse().ok(),
            })?;
            (0.001..=1e9).contains(&one).then_some(one)
        });
    let rate = reader.value(
        "rate",
        "bytes per second, such as 100m, for all operations together",
        |text| bytes(text).filter(|rate| (1_000..=1_000_000_000_000).contains(rate)),
    );
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
            synthetic.think_time = think.filter(|think| *think > 0).map(Span);
        }
        (Some(_), Some(_)) => {
            reader.refuse("rate", "found beside rate_iops, allowed: one of them".to_owned());
        }
        (iops, rate) => {
            (synthetic.iops, synthetic.bandwidth) = (iops, rate.map(Bandwidth));
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
fn end(reader: &mut Reader<'_>, mean_bytes: f64, synthetic: &mut SyntheticConfig) {
    let runtime = reader.value("runtime", "a time, such as 30 (seconds), 500ms or 2m", |text| {
        time_ps(text, SECOND_PS).filter(|time| *time > 0)
    });
    synthetic.duration = runtime.map(Span);
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
        let message = "found nothing that ends the job, allowed: size or io_size in bytes, number_ios or runtime";
        reader.refuse("", message.to_owned());
    }
}
