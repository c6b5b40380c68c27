//! The run that gives the values of figures.

use flashlane::config::load::{self, Overrides};
use flashlane::config::units::ByteSize;
use flashlane::config::validate::validate;
use flashlane::config::{DeviceConfig, Superblock, WorkloadConfig};
use flashlane::metrics::{Latency, Summary};
use flashlane::run::{Details, Distribution};
use flashlane::{Error, RunOptions, Warmup, simulate, simulate_in_detail};

use super::figure::{Figure, Load, Metric, Operation, State};
use super::fill::Fill;
use super::hosted::{Fault, Hosted};
use super::mqsim;
use super::pattern::Pattern;
use super::{length, scaled};

/// Share of a run of amplification, from its end, that counts.
const COUNTED: f64 = 0.4;

/// Reads of an open loop, at least, so that rare ones are among them.
const OPEN_READS: f64 = 40_000.0;

/// Bounds of the requests of an open loop.
const OPEN_REQUESTS: (f64, f64) = (60_000.0, 4_000_000.0);

/// Writes of an open loop, at least, as multiples of a block of every plane: collection comes round
/// so often.
const OPEN_ROUNDS: f64 = 20.0;

/// Share of an open loop, from its start, that does not count.
const OPEN_WARMUP: f64 = 0.3;

/// Largest request of a run of amplification. Unit: bytes.
const MOST_PER_REQUEST: u64 = 16 << 10;

/// Keys of a drive as new that needs no filling.
const FRESH: &[&str] = &["ftl.precondition.enabled=false", "ftl.unwritten_read=flash"];

/// What a run gave.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A run with time.
    Timed(Box<(Summary, Details)>),
    /// Write amplification, from a run without time.
    Amplification(f64),
    /// What a host with software of its own has seen.
    Hosted(Hosted),
    /// The course of a fill.
    Fill(Fill),
}

impl Outcome {
    /// Runs what a figure needs on a device (a preset, or a file with some keys set).
    ///
    /// # Errors
    /// A device that does not load, or that the simulation refuses.
    pub fn of(figure: &Figure, device: &str, sets: &[String], effort: f64) -> Result<Self, Error> {
        if figure.metric == Metric::Waf {
            return amplification(figure, loaded(device, sets, &[])?, Count::Bytes);
        }
        if figure.metric.is_of_fill() {
            return Ok(Self::Fill(Fill::of(figure, loaded(device, sets, FRESH)?)?));
        }
        if let Some(host) = figure.host {
            let config = match figure.state {
                State::Fresh => loaded(device, sets, FRESH)?,
                State::Sustained => sustained(figure, device, sets)?.0,
            };
            return Ok(Self::Hosted(Hosted::of(figure, host, &config, effort)?));
        }
        let (config, scale) = match figure.state {
            State::Fresh => (loaded(device, sets, FRESH)?, 1.0),
            State::Sustained => sustained(figure, device, sets)?,
        };
        timed(figure, &config, scale, effort)
    }

    /// Runs what a figure needs with the arithmetic of the released MQSim, on the device as far as
    /// that simulator can describe it. `None` where its features do not suffice.
    #[must_use]
    pub fn of_mqsim(figure: &Figure, device: &str, sets: &[String], effort: f64) -> Option<Self> {
        let told = matches!(figure.pattern, Pattern::Random | Pattern::Sequential);
        if !told || figure.host.is_some() || figure.metric.is_of_fill() {
            return None;
        }
        let mut config = loaded(device, sets, &[]).ok()?;
        mqsim::describe(&mut config);
        if figure.metric == Metric::Waf {
            // Reads that allocate pages are a matter of time, and there are none.
            config.compat.flash_unwritten_reads = false;
            return amplification(figure, config, Count::Pages).ok();
        }
        let real = scaled::logical_bytes(&config) as f64;
        match figure.state {
            State::Fresh => config.ftl.precondition.enabled = false,
            State::Sustained => scaled::with_time(&mut config),
        }
        let scale = scaled::logical_bytes(&config) as f64 / real;
        timed(figure, &config, scale, effort).ok()
    }

    /// For what the requests of a figure waited; `None` without neighbours.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::Hosted(hosted) => hosted.fault(),
            _ => None,
        }
    }

    /// The value of a figure that shares the run.
    #[must_use]
    pub fn value(&self, figure: &Figure) -> f64 {
        let (summary, details) = match self {
            Self::Amplification(value) => return *value,
            Self::Fill(fill) => return fill.value(figure),
            Self::Hosted(hosted) => return hosted.value(figure),
            Self::Timed(outcome) => (&outcome.0, &outcome.1),
        };
        let flow = &summary.flows[0];
        let (latency, distribution) = match (figure.load, figure.operation) {
            (None, _) => (&flow.response_time_us, &details.distributions[0]),
            (_, Operation::Read) => (&flow.read_response_time_us, &details.read_distributions[0]),
            (_, Operation::Write) => {
                (&flow.write_response_time_us, &details.write_distributions[0])
            }
        };
        match figure.metric {
            Metric::Kiops => flow.iops / 1e3,
            Metric::GbPerS => flow.bandwidth_bytes_per_s / 1e9,
            Metric::MbPerS => flow.bandwidth_bytes_per_s / 1e6,
            Metric::Waf => summary.flash.write_amplification,
            Metric::FillMbPerS | Metric::FillGb => unreachable!("fills have outcomes of their own"),
            Metric::Slowdown => unreachable!("tables ask for neighbours"),
            metric => time(metric, latency, distribution),
        }
    }
}

/// A run with time on a drive that is scaled down by `scale`.
fn timed(
    figure: &Figure,
    config: &DeviceConfig,
    scale: f64,
    effort: f64,
) -> Result<Outcome, Error> {
    let length = TimedLength::of(figure, config, effort);
    let real = (scaled::logical_bytes(config) as f64 / scale) as u64;
    let workload = workload(figure, &timed_keys(figure, length), scale, real)?;
    let warmup = Warmup::Requests(length.before);
    let options = RunOptions { warmup, threads: 1, ..RunOptions::default() };
    refuse(config, &workload)?;
    let outcome = simulate_in_detail(config, &workload, &options, &|_| {})?;
    Ok(Outcome::Timed(Box::new(outcome)))
}

/// Refuses a drive that was changed after it was loaded, where the change does not go with the rest
/// of it.
pub(super) fn refuse(device: &DeviceConfig, workload: &WorkloadConfig) -> Result<(), Error> {
    let problems = validate(device, workload);
    if problems.is_empty() { Ok(()) } else { Err(Error::Config(problems)) }
}

/// A mean or a percentile. Unit: microseconds.
fn time(metric: Metric, latency: &Latency, distribution: &Distribution) -> f64 {
    match metric {
        Metric::P50Us => latency.p50,
        Metric::P90Us => latency.p90,
        Metric::P99Us => latency.p99,
        Metric::P999Us => latency.p99_9,
        Metric::P9999Us => latency.p99_99,
        Metric::P99999Us => {
            let reached = distribution.iter().find(|(_, share)| *share >= 0.999_99);
            reached.map_or(latency.max, |(bound, _)| *bound)
        }
        _ => latency.mean,
    }
}

/// The cost of writes where a copy costs `copy` writes of the host, at an amplification.
#[must_use]
pub fn copies_cost(amplification: f64, copy: f64) -> f64 {
    1.0 + copy * (amplification - 1.0)
}

fn loaded(device: &str, sets: &[String], state: &[&str]) -> Result<DeviceConfig, Error> {
    let sets = state.iter().map(ToString::to_string).chain(sets.iter().cloned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    Ok(load::device(device, &overrides)?.config)
}

/// The drive in steady state, smaller, so that it stays there, and its scale.
fn sustained(figure: &Figure, device: &str, sets: &[String]) -> Result<(DeviceConfig, f64), Error> {
    let mut config = loaded(device, sets, &[])?;
    let real = scaled::logical_bytes(&config) as f64;
    if config.ftl.superblock == Superblock::Block && config.unit() == config.flash.page_size {
        let smaller =
            ["flash.blocks_per_plane=512", "flash.pages_per_block=64", "ftl.gc.threshold=8 blocks"];
        config = loaded(device, sets, &smaller)?;
    } else {
        scaled::with_time(&mut config);
    }
    config.ftl.precondition.occupancy.0 = figure.used.min(config.ftl.precondition.occupancy.0);
    let scale = scaled::logical_bytes(&config) as f64 / real;
    Ok((config, scale))
}

/// Requests of an open loop: enough for rare latencies of reads, and for collection to come round.
fn open_requests(load: Load, device: &DeviceConfig, effort: f64) -> f64 {
    let reads = OPEN_READS / (1.0 - load.write_share).max(1e-6);
    let writes = OPEN_ROUNDS * scaled::units_of_blocks(device) as f64 / load.write_share.max(1e-6);
    reads.max(writes).clamp(OPEN_REQUESTS.0, OPEN_REQUESTS.1) * effort
}

/// Length of a run with time. Unit: requests.
#[derive(Clone, Copy, Debug)]
struct TimedLength {
    /// Requests before counting starts.
    before: u64,
    /// All of them.
    all: u64,
}

impl TimedLength {
    fn of(figure: &Figure, device: &DeviceConfig, effort: f64) -> Self {
        let part = |requests: f64| (requests * effort) as u64;
        if let Some(load) = figure.load {
            let all = open_requests(load, device, effort);
            return Self { before: (OPEN_WARMUP * all) as u64, all: all as u64 };
        }
        let depth = u64::from(figure.depth);
        let (before, all) = match (figure.state, figure.pattern) {
            (State::Fresh, Pattern::Sequential) => (4 * depth, part(12_000.0)),
            (State::Fresh, _) => {
                (4 * depth, part(f64::from((400 * figure.depth).clamp(2_000, 60_000))))
            }
            // A whole round first, so that what was written at random before is gone.
            (State::Sustained, Pattern::Sequential) => {
                let round = scaled::logical_bytes(device) as f64 / figure.size.0 as f64;
                (round as u64, (1.5 * round) as u64)
            }
            (State::Sustained, _) => (part(150_000.0), part(300_000.0)),
        };
        Self { before, all: all.max(before + 4 * depth + 100) }
    }
}

/// Keys of the flow of a run with time: its pace and its length.
fn timed_keys(figure: &Figure, length: TimedLength) -> String {
    let requests = length.all;
    match figure.load {
        Some(Load { iops, write_share }) => {
            let read_ratio = 1.0 - write_share;
            format!(
                "iops = {iops:?}\narrivals = \"constant\"\nread_ratio = {read_ratio:?}\n\
                 requests = {requests}\n"
            )
        }
        None => format!(
            "queue_depth = {}\nread_ratio = {}\nrequests = {requests}\n",
            figure.depth,
            u32::from(figure.operation == Operation::Read),
        ),
    }
}

/// The flow of a figure on a drive that is scaled down by `scale` from one of `real` bytes.
fn workload(figure: &Figure, keys: &str, scale: f64, real: u64) -> Result<WorkloadConfig, Error> {
    let cache = if figure.metric == Metric::Waf { "cache = \"off\"\n" } else { "" };
    let used = match figure.used {
        1.0 => String::new(),
        share => format!("working_set = {share:?}\n"),
    };
    let text = format!(
        "[[flow]]\nname = \"one\"\n{cache}[flow.synthetic]\nsize = \"{}\"\nalign = \"{}\"\n\
         address = {}\n{used}{keys}",
        figure.size,
        ByteSize(figure.size.0.min(4096)),
        figure.pattern.address(scale, real),
    );
    Ok(load::workload_from_toml(&text, "figure", &Overrides::default())?.config)
}

/// Write amplification from a run without time on a smaller drive: it is filled in sequence, and
/// then written at random; the end of that counts. Nothing merges before it reaches the flash, as
/// rates under skewed writes say of real drives.
fn amplification(
    figure: &Figure,
    mut device: DeviceConfig,
    count: Count,
) -> Result<Outcome, Error> {
    let real = scaled::logical_bytes(&device);
    scaled::without_time(&mut device);
    device.ftl.precondition.enabled = false;
    let small = scaled::logical_bytes(&device);
    // Large requests are cut, so that a small drive takes many of them; zones stay longer.
    let size = figure.size.0.min(MOST_PER_REQUEST);
    let figure = &Figure { size: ByteSize(size), ..figure.clone() };
    let round = figure.used * small as f64 / size as f64;
    let run = |rounds: length::Rounds| {
        let requests = (round * (1.0 + rounds.all)).ceil() as u64;
        let keys = format!(
            "queue_depth = {}\nread_ratio = 0\nfill_first = true\nrequests = {requests}\n",
            figure.depth
        );
        let workload = workload(figure, &keys, small as f64 / real as f64, real)?;
        let counted = (round * (rounds.all - rounds.before)) as u64;
        let options = RunOptions {
            warmup: Warmup::Requests(requests - counted.max(1)),
            waf_only: true,
            threads: 1,
            ..RunOptions::default()
        };
        refuse(&device, &workload)?;
        simulate(&device, &workload, &options, &|_| {})
    };
    let summary = match figure.lasted {
        Some(lasted) => length::by_time(lasted, &run)?,
        None => {
            let (all, before) = (figure.written, figure.written * (1.0 - COUNTED));
            run(length::Rounds { before, all })?
        }
    };
    let flash = &summary.flash;
    let units = flash.user_programs + flash.gc_programs + flash.mapping_programs;
    Ok(Outcome::Amplification(match count {
        Count::Bytes => (units * device.unit().0) as f64 / summary.flows[0].bytes.write as f64,
        Count::Pages => flash.write_amplification,
    }))
}

/// What amplification compares.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// Bytes that were programmed with those that the host wrote.
    Bytes,
    /// Pages that were programmed with those that were programmed for the host, as MQSim counts.
    Pages,
}
