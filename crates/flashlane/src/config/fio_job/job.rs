//! From the keys of a job to its flows.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::keys::{NOT_MODELLED, WITHOUT_EFFECT};
use super::pace::{depth, end, flushes, pace, span};
use super::reader::Reader;
use super::requests::{address, mix, pattern, sizes, smallest};
use super::sections::Section;
use super::values::{SECOND_PS, time_ps};
use super::{FLOWS_MAX, Notes};
use crate::config::{FlowConfig, OnEnd, Priority, SyntheticConfig, TraceConfig};
use crate::reading::Places;
use flashlane_units::{ByteSize, Ratio, Span};

/// The flows of jobs that run together.
pub(super) struct Jobs {
    pub(super) places: Places,
    pub(super) flows: Vec<FlowConfig>,
    pub(super) warnings: Vec<String>,
    /// Names of the flows.
    names: BTreeSet<String>,
    /// The longest `ramp_time`.
    warmup: u64,
}

impl Jobs {
    pub(super) fn new(file: &str) -> Self {
        Self {
            places: Places::new(file),
            flows: Vec::new(),
            warnings: Vec::new(),
            names: BTreeSet::new(),
            warmup: 0,
        }
    }

    /// Load that does not count.
    pub(super) fn warmup(&self) -> Option<Span> {
        (self.warmup > 0).then_some(Span(self.warmup))
    }

    /// Adds the flows of a job.
    pub(super) fn add(&mut self, section: &Section, notes: &mut Notes) {
        let mut reader = Reader { section, notes };
        let copies = reader.number("numjobs", 1..=FLOWS_MAX as u64).unwrap_or(1);
        let priority = priority(&mut reader);
        let starts = starts(&mut reader);
        let ramp = span(&mut reader, "ramp_time").unwrap_or(0);
        self.warmup = self.warmup.max(ramp.saturating_add(starts.1));
        let stops = reader.flag("exitall");
        for (key, why) in NOT_MODELLED {
            if reader.has(key) {
                let line = reader.line(key);
                reader.notes.warn(line, key, why);
            }
        }
        let source = match reader.has("read_iolog") {
            true => Source::Trace(trace(&mut reader).map(Box::new)),
            false => Source::Synthetic(Box::new(synthetic(&mut reader, ramp))),
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
        if self.flows.len() + copies as usize > FLOWS_MAX {
            let found = self.flows.len() + copies as usize;
            let message = format!("found {found} jobs together, allowed: up to {FLOWS_MAX}");
            return reader.refuse("numjobs", message);
        }
        for copy in 0..copies {
            let name = match copies {
                1 => section.name.clone(),
                _ => format!("{}.{copy}", section.name),
            };
            let mut flow = FlowConfig { priority, ..FlowConfig::named(self.unique(name)) };
            // Copies of a job that starts in a range of times are spread over it.
            let start = starts.0 + (starts.1 - starts.0) / copies.max(1) * copy;
            flow.starts_after = (start > 0).then_some(Span(start));
            flow.on_end = stops.then_some(OnEnd::Stop);
            match &source {
                Source::Trace(trace) => flow.trace = trace.as_deref().cloned(),
                Source::Synthetic(synthetic) => {
                    let mut synthetic = (**synthetic).clone();
                    if copy > 0 {
                        // Jobs of one section draw differently.
                        synthetic.seed = synthetic.seed.map(|seed| seed.wrapping_add(copy));
                    }
                    flow.synthetic = Some(synthetic);
                }
            }
            self.place(section);
            self.flows.push(flow);
        }
    }

    /// The name, or the name and a number where there is such a job already: fio takes both.
    fn unique(&mut self, name: String) -> String {
        let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
        let mut names = [name.clone()].into_iter().chain(numbered);
        let free = names.find(|name| !self.names.contains(name)).unwrap_or(name);
        self.names.insert(free.clone());
        free
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
            ("startdelay", "starts_after"),
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

/// When a job starts, at the earliest and at the latest: `startdelay=5` or `5-10`. Unit:
/// picoseconds.
fn starts(reader: &mut Reader<'_>) -> (u64, u64) {
    let allowed = "seconds or a time, such as 5, 500ms or a range 5-10";
    let range = reader.value("startdelay", allowed, |text| {
        let one = |text: &str| time_ps(text, SECOND_PS);
        match text.split_once('-') {
            Some((from, to)) => one(from).zip(one(to)).filter(|(from, to)| from <= to),
            None => one(text).map(|time| (time, time)),
        }
    });
    range.unwrap_or_default()
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
        "startdelay",
        "ramp_time",
        "stonewall",
        "wait_for",
        "exitall",
    ];
    let own: Vec<&str> = reader.section.entries.keys().copied().collect();
    for key in own {
        let left_out = NOT_MODELLED.iter().any(|one| one.0 == key);
        if !understood.contains(&key) && !WITHOUT_EFFECT.contains(&key) && !left_out {
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

/// A flow drawn from distributions.
fn synthetic(reader: &mut Reader<'_>, ramp: u64) -> SyntheticConfig {
    for key in ["replay_time_scale", "replay_no_stall"] {
        if reader.has(key) {
            reader.refuse(key, "found without read_iolog, allowed: beside it".to_owned());
        }
    }
    let Some(pattern) = pattern(reader) else { return SyntheticConfig::default() };
    let mut synthetic = SyntheticConfig {
        read_ratio: Ratio(mix(reader, pattern)),
        trim_ratio: Ratio(if pattern.trims { 1.0 } else { 0.0 }),
        ..SyntheticConfig::default()
    };
    // Rates may change the mix, on which sizes depend.
    pace(reader, pattern, &mut synthetic);
    let (size, mean) = sizes(reader, pattern, synthetic.read_ratio.0);
    synthetic.size = size;
    synthetic.align =
        reader.size("blockalign").map(ByteSize).or(Some(ByteSize(smallest(&synthetic.size))));
    synthetic.address = address(reader, pattern, &synthetic.size);
    region(reader, &mut synthetic);
    end(reader, mean, ramp, &mut synthetic);
    flushes(reader, &mut synthetic);
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
    let key = if reader.has("size") { "size" } else { "filesize" };
    synthetic.region = reader.size(key).map(ByteSize);
    synthetic.region_start = reader.size("offset").map(ByteSize);
}
