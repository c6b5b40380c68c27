//! Builds the flows of a job from its keys.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::addresses::{self, addresses, pattern};
use super::files::{Copies, files};
use super::keys::{BUFFERED, NOT_MODELLED, REFUSED, is_without_effect};
use super::pace::{depth, end, flushes, rates, span, think};
use super::placement::placement;
use super::reader::Reader;
use super::sections::Section;
use super::sizes::{self, check_sectors, sizes};
use super::values::{SECOND_PS, time_ps};
use super::zones::zones;
use super::{FLOWS_MAX, Notes};
use crate::{
    DecreasingTimes, FioConfig, FioExtent, FioPlacement, FioRw, FlowConfig, OnEnd, SyntheticConfig,
    TraceConfig,
};
use flashlane_device::cache::config::CacheMode;
use flashlane_device::interface::config::Priority;
use flashlane_reading::Places;
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
        let priority = priority(&mut reader);
        let starts = starts(&mut reader);
        let ramp = span(&mut reader, "ramp_time").unwrap_or(0);
        self.warmup = self.warmup.max(ramp.saturating_add(starts.1));
        let stops = reader.flag("exitall");
        let (placement, several) = placement(&mut reader);
        left_out(&mut reader);
        let source = match reader.has("read_iolog") {
            true => Source::Trace(trace(&mut reader).map(Box::new)),
            false => Source::Synthetic(Box::new(job(&mut reader, ramp, several))),
        };
        let copies = match &source {
            Source::Synthetic(job) => Copies { ..job.copies },
            Source::Trace(_) => {
                let count = reader.number("numjobs", 1..=FLOWS_MAX as u64).unwrap_or(1) as u32;
                Copies { count, together: false }
            }
        };
        let tenants = if copies.together { 1 } else { copies.count };
        if self.flows.len() + tenants as usize > FLOWS_MAX {
            let found = self.flows.len() + tenants as usize;
            let message = format!("found {found} jobs together, allowed: up to {FLOWS_MAX}");
            return reader.refuse("numjobs", message);
        }
        let first_job = reader.notes.jobs + 1;
        reader.notes.jobs += copies.count;
        for copy in 0..tenants {
            let name = match tenants {
                1 => section.name.clone(),
                _ => format!("{}.{copy}", section.name),
            };
            let mut flow =
                FlowConfig { priority, placement, ..FlowConfig::named(self.unique(name)) };
            // Copies of a job that starts in a range of times are spread over that range.
            let start =
                starts.0 + (starts.1 - starts.0) / u64::from(tenants.max(1)) * u64::from(copy);
            flow.starts_after = (start > 0).then_some(Span(start));
            flow.on_end = stops.then_some(OnEnd::Stop);
            match &source {
                Source::Trace(trace) => flow.trace = trace.as_deref().cloned(),
                Source::Synthetic(job) => {
                    let fio = FioConfig { first_job: first_job + copy, ..job.fio.clone() };
                    let mut synthetic = job.synthetic.clone();
                    synthetic.fio = Some(Box::new(fio));
                    flow.synthetic = Some(synthetic);
                    if job.on_flash {
                        // A write is complete only when it is on flash.
                        flow.cache = CacheMode::Off;
                    }
                }
            }
            self.place(section);
            self.flows.push(flow);
        }
    }

    /// The name. If there is a job with that name already, the name and a number, because fio
    /// accepts both.
    fn unique(&mut self, name: String) -> String {
        let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
        let mut names = [name.clone()].into_iter().chain(numbered);
        let free = names.find(|name| !self.names.contains(name)).unwrap_or(name);
        self.names.insert(free.clone());
        free
    }

    /// Notes where the keys of the next flow were written.
    fn place(&mut self, section: &Section) {
        let flow = format!("flow[{}]", self.flows.len());
        let at = |line: usize| format!("{}:{line}", self.places.file());
        let keys = [
            ("iodepth", "synthetic.queue_depth"),
            ("bs", "synthetic.size"),
            ("bsrange", "synthetic.size"),
            ("bssplit", "synthetic.size"),
            ("size", "synthetic.region"),
            ("offset", "synthetic.region_start"),
            ("blockalign", "synthetic.fio.align"),
            ("thinktime", "synthetic.fio.think"),
            ("random_distribution", "synthetic.fio.read.distribution"),
            ("number_ios", "synthetic.fio.number_ios"),
            ("runtime", "synthetic.duration"),
            ("zonemode", "synthetic.fio.zbd"),
            ("zonesize", "synthetic.fio.zbd.size"),
            ("zonecapacity", "synthetic.fio.zbd.capacity"),
            ("max_open_zones", "synthetic.fio.zbd.max_open"),
            ("job_max_open_zones", "synthetic.fio.zbd.max_open_each"),
            ("startdelay", "starts_after"),
            ("plids", "placement"),
            ("plids", "synthetic.fio.placement.ids"),
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
    Synthetic(Box<Job>),
}

/// A job that is not a replay.
struct Job {
    synthetic: SyntheticConfig,
    fio: FioConfig,
    copies: Copies,
    /// True if writes are complete only when they are on flash.
    on_flash: bool,
}

/// Warns of keys that are left out, and refuses keys that have no meaning here.
fn left_out(reader: &mut Reader<'_>) {
    for (key, why) in NOT_MODELLED {
        let text = reader.text(key);
        // One request at a time is the behaviour here in any case.
        let is_one = key.starts_with("iodepth_") && text.as_deref() == Some("1");
        if reader.has(key) && text.as_deref() != Some("0") && !is_one {
            let line = reader.line(key);
            reader.notes.warn(line, key, why);
        }
    }
    if reader.text("direct").as_deref() == Some("0") {
        let line = reader.line("direct");
        reader.notes.warn(line, "direct", BUFFERED);
    }
    for (key, why) in REFUSED {
        if reader.has(key) && reader.text(key).as_deref() != Some("0") {
            reader.refuse(key, format!("is not modelled; {why}"));
        }
    }
    if reader.text("kb_base").is_some_and(|base| base != "1024") {
        let message = "found another base than 1024, allowed: 1024, which makes 4k of 4096 bytes";
        reader.refuse("kb_base", message.to_owned());
    }
    if reader.text("io_submit_mode").as_deref() == Some("offload") {
        let line = reader.line("io_submit_mode");
        let message = "offload is not modelled: paced requests wait for others as with inline";
        reader.notes.warn(line, "io_submit_mode", message);
    }
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
        "replay_redirect",
        "filename",
        "group_reporting",
        "name",
        "iodepth",
        "ioengine",
        "numjobs",
        "offset",
        "loops",
        "dataplacement",
        "fdp",
        "plid_select",
        "plids",
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
        let left_out = NOT_MODELLED.iter().chain(REFUSED).any(|one| one.0 == key);
        if !understood.contains(&key) && !is_without_effect(key) && !left_out {
            let list = understood.join(", ");
            reader.refuse(key, format!("found beside read_iolog, allowed there: {list}"));
        }
    }
    let path = reader
        .value("read_iolog", "a file", |text| (!text.is_empty()).then(|| PathBuf::from(text)))?;
    let percent = reader.number("replay_time_scale", 1..=1_000_000).unwrap_or(100);
    let depth = depth(reader, &mut FioConfig::default());
    let no_stall = reader.flag("replay_no_stall");
    let offset = reader.size("offset").unwrap_or(0);
    let repeat = reader.number("loops", 1..=u64::from(u32::MAX)).unwrap_or(1);
    Some(TraceConfig {
        time_scale: percent as f64 / 100.0,
        queue_depth: no_stall.then_some(depth),
        offset: ByteSize(offset),
        repeat,
        // fio at once issues a request whose time is before that of the request above it.
        decreasing_times: DecreasingTimes::Delay,
        ..TraceConfig::of(path)
    })
}

/// Reads a job as fio would run it. `placement`: that of its writes, unless the flow has it.
fn job(reader: &mut Reader<'_>, ramp: u64, placement: Option<FioPlacement>) -> Job {
    for key in ["replay_time_scale", "replay_no_stall", "replay_redirect"] {
        if reader.has(key) {
            reader.refuse(key, "found without read_iolog, allowed: beside it".to_owned());
        }
    }
    let (mut fio, mut synthetic) = (FioConfig::default(), SyntheticConfig::default());
    fio.placement = placement;
    pattern(reader, &mut fio);
    synthetic.queue_depth = Some(depth(reader, &mut fio));
    sizes(reader, &mut fio);
    addresses(reader, &mut fio);
    rates(reader, &mut fio);
    think(reader, &mut fio);
    zones(reader, &mut fio);
    let mut on_flash = flushes(reader, &mut fio);
    if on_flash && fio.rw == FioRw::Write && synthetic.queue_depth == Some(1) {
        // The kernel flushes the drive after each write, and only then does the write return.
        (fio.fdatasync, fio.queued_flushes, on_flash) = (1, false, false);
    }
    let copies = files(reader, FLOWS_MAX, &mut fio, &mut synthetic);
    if let Some(zbd) = &mut fio.zbd
        && !copies.together
    {
        // The limit is that of all copies, each of which is a tenant.
        zbd.max_open = zbd.max_open.map(|max| (max / copies.count).max(1));
    }
    end(reader, ramp, &mut fio, &mut synthetic);
    let used = match fio.rw {
        FioRw::Read => [true, false, false],
        FioRw::Write => [false, true, false],
        FioRw::Trim => [false, false, true],
        FioRw::ReadWrite => [true, true, false],
        FioRw::TrimWrite => [false, true, true],
    };
    check_sectors(reader, &fio, used);
    describe(&fio, &mut synthetic);
    Job { synthetic, fio, copies, on_flash: on_flash && (used[1]) }
}

/// Fills in the description of the job for reports.
fn describe(fio: &FioConfig, synthetic: &mut SyntheticConfig) {
    let reads = f64::from(fio.read_percent) / 100.0;
    let shares = match fio.rw {
        FioRw::Read => [1.0, 0.0, 0.0],
        FioRw::Write => [0.0, 1.0, 0.0],
        FioRw::Trim => [0.0, 0.0, 1.0],
        FioRw::ReadWrite => [reads, 1.0 - reads, 0.0],
        FioRw::TrimWrite => [0.0, 0.5, 0.5],
    };
    let every = [fio.fsync, fio.fdatasync].into_iter().filter(|every| *every > 0).min();
    let flushes = every.map_or(0.0, |every| shares[1] / every as f64);
    synthetic.trim_ratio = Ratio(shares[2] / (1.0 + flushes));
    synthetic.flush_ratio = Ratio(flushes / (1.0 + flushes));
    synthetic.read_ratio = Ratio(shares[0]);
    synthetic.size = sizes::described(fio, shares);
    synthetic.address = addresses::described(fio);
    if let FioExtent::Bytes(ByteSize(0)) = fio.offset
        && let Some(FioExtent::Percent(percent)) = fio.size
        && fio.files == 1
        && percent > 0
    {
        synthetic.working_set = Some(Ratio(f64::from(percent) / 100.0));
    }
}
