//! MQSim's synthetic flows.

use flashlane_engine::{Rng, Time};

use super::{MqsimRandom, place};
use crate::config::{MqsimAddress, MqsimSyntheticConfig};
use crate::{Directive, Planned, RequestOp, RequestSource, SourceReport};
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES};
use flashlane_reading::Error;

/// The random numbers that a flow draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorMode {
    /// The numbers of the released MQSim, draw for draw, with gaps truncated to nanoseconds.
    Mqsim {
        /// Addresses are aligned to the device, not to the start of the flow.
        device_aligned: bool,
    },
    /// Our own numbers, from the same distributions; the mean gap is not rounded.
    Ours {
        /// Root seed of the run.
        seed: u64,
        /// Number of the flow.
        flow_index: u64,
    },
}

/// The generators of a flow.
#[derive(Debug)]
enum Draws {
    /// MQSim has one generator for each purpose, with consecutive seeds.
    Mqsim(Box<Separate>),
    Ours(Rng),
}

#[derive(Debug)]
struct Separate {
    kind: MqsimRandom,
    /// Uniform addresses, and the first address of a stream.
    address: MqsimRandom,
    /// Addresses of hot and cold requests alike.
    hot_address: MqsimRandom,
    hot_cold: MqsimRandom,
    size: MqsimRandom,
    gap: MqsimRandom,
}

/// Purpose of a number.
#[derive(Clone, Copy, Debug)]
enum Use {
    Kind,
    Address,
    HotAddress,
    HotCold,
    Size,
    Gap,
}

impl Draws {
    fn new(config: &MqsimSyntheticConfig, mode: GeneratorMode) -> Self {
        let seed = config.seed.unsigned_abs();
        match mode {
            // The seed in the XML tells apart flows with equal numbers in different files.
            GeneratorMode::Ours { seed: root, flow_index } => {
                let index = flow_index ^ (u64::from(seed) << 32);
                Self::Ours(Rng::stream(root, "workload.mqsim", index))
            }
            GeneratorMode::Mqsim { .. } => {
                let mut next = seed;
                let mut take = |used: bool| {
                    let random = MqsimRandom::new(next);
                    next += u32::from(used);
                    random
                };
                let hot_cold = config.address == MqsimAddress::HotCold;
                Self::Mqsim(Box::new(Separate {
                    kind: take(true),
                    address: take(true),
                    hot_address: take(hot_cold),
                    hot_cold: take(hot_cold),
                    size: take(config.normal_size),
                    gap: take(!config.closed_loop),
                }))
            }
        }
    }

    fn unit(&mut self, purpose: Use) -> f64 {
        match self {
            Self::Mqsim(separate) => separate.of(purpose).unit(),
            Self::Ours(rng) => rng.unit(),
        }
    }

    fn below(&mut self, purpose: Use, count: u64) -> u64 {
        match self {
            Self::Mqsim(separate) => separate.of(purpose).below(count),
            Self::Ours(rng) => rng.below(count),
        }
    }

    fn normal(&mut self) -> f64 {
        match self {
            Self::Mqsim(separate) => separate.of(Use::Size).normal(),
            Self::Ours(rng) => rng.normal(),
        }
    }

    fn exponential(&mut self) -> f64 {
        match self {
            Self::Mqsim(separate) => separate.of(Use::Gap).exponential(),
            Self::Ours(rng) => rng.exponential(),
        }
    }
}

impl Separate {
    fn of(&mut self, purpose: Use) -> &mut MqsimRandom {
        match purpose {
            Use::Kind => &mut self.kind,
            Use::Address => &mut self.address,
            Use::HotAddress => &mut self.hot_address,
            Use::HotCold => &mut self.hot_cold,
            Use::Size => &mut self.size,
            Use::Gap => &mut self.gap,
        }
    }
}

/// Requests of an `IO_Flow_Parameter_Set_Synthetic`.
///
/// Differs from MQSim: alignment counts from the start of the flow, not of the device; no request
/// leaves the working set (see the report); negative sizes become one sector.
#[derive(Debug)]
pub struct MqsimSource {
    config: MqsimSyntheticConfig,
    draws: Draws,
    /// Last sector of the working set.
    last: u64,
    /// Last sector of the hot region.
    hot_last: u64,
    /// True if the flow has no sector.
    empty: bool,
    unit: u64,
    /// Requests may reach over the end of the working set.
    wraps: bool,
    /// Origin of the alignment, as a distance before the start of the flow. Unit: sectors.
    aligned_from: u64,
    /// Next start of a stream.
    stream: u64,
    /// Distance that a stream has gone in its past; `None` in a run. Unit: sectors.
    gone: Option<u64>,
    /// Mean time between arrivals (open loop). Unit: nanoseconds.
    gap_mean: f64,
    /// Gaps are cut to whole nanoseconds.
    gap_truncated: bool,
    pass_start: Time,
    arrival: Time,
    generated: u64,
    ended: bool,
    report: SourceReport,
}

impl MqsimSource {
    /// The source of a flow that owns `space`.
    #[must_use]
    pub fn new(config: &MqsimSyntheticConfig, space: &FlowSpace, mode: GeneratorMode) -> Self {
        let last = config.last_sector(space.sectors);
        let hot_share = f64::from(config.hot_region_percent.min(100)) / 100.0;
        let mut source = Self {
            draws: Draws::new(config, mode),
            last,
            hot_last: ((last as f64 * hot_share) as u64).min(last),
            empty: space.sectors == 0,
            unit: if config.aligned { u64::from(config.alignment_sectors.max(1)) } else { 1 },
            aligned_from: match mode {
                GeneratorMode::Mqsim { device_aligned: true } => space.start_sector,
                _ => 0,
            },
            wraps: space.wraps_after.is_some(),
            stream: 0,
            gone: None,
            gap_mean: gap_mean(config, mode),
            gap_truncated: matches!(mode, GeneratorMode::Mqsim { .. }),
            pass_start: Time::ZERO,
            arrival: Time::ZERO,
            generated: 0,
            ended: false,
            report: SourceReport::default(),
            config: config.clone(),
        };
        if config.address == MqsimAddress::Streaming {
            let first = source.draws.below(Use::Address, last + 1);
            source.stream = source.aligned(first);
        }
        source.advance();
        source
    }

    /// The last aligned sector up to this one. If it is before the flow, it is mapped into the flow
    /// like any address outside in the released MQSim.
    fn aligned(&self, sector: u64) -> u64 {
        let on_device = self.aligned_from + sector;
        let aligned = on_device - on_device % self.unit;
        match aligned.checked_sub(self.aligned_from) {
            Some(sector) => sector,
            None => aligned % self.last.max(1),
        }
    }

    /// Moves the clock of an open loop to the next arrival.
    fn advance(&mut self) {
        if self.config.closed_loop {
            return;
        }
        let gap_ns = self.gap_mean * self.draws.exponential();
        let gap = if self.gap_truncated {
            (gap_ns as u64).saturating_mul(1_000)
        } else {
            (gap_ns * 1e3) as u64
        };
        self.arrival = Time(self.arrival.0.saturating_add(gap));
    }

    /// True if the pass is over for a request that would be made at `now`.
    fn over(&self, now: Time) -> bool {
        if self.config.stop_time_ns == 0 {
            return self.generated >= self.config.requests;
        }
        let passed = now.saturating_sub(self.pass_start);
        passed.0 > self.config.stop_time_ns.saturating_mul(1_000)
    }

    fn size(&mut self) -> u32 {
        if !self.config.normal_size {
            return self.config.size_mean_sectors.max(1);
        }
        let mean = f64::from(self.config.size_mean_sectors);
        let spread = f64::from(self.config.size_stddev_sectors);
        ((mean + self.draws.normal() * spread).ceil() as u32).max(1)
    }

    /// The space in which the past of a stream wraps. Unit: sectors.
    fn round(&self) -> u64 {
        (self.last + 1).next_multiple_of(self.unit)
    }

    /// Start of a request in the past of a stream. The stream wraps in its space, so that it ends
    /// where the run begins, whatever the sizes of its requests are.
    fn past_stream(&mut self, sectors: u64) -> u64 {
        let step = sectors.next_multiple_of(self.unit);
        self.gone = self.gone.map(|gone| gone + step);
        let start = self.stream.min((self.last + 1).saturating_sub(sectors));
        self.stream = (self.stream + step) % self.round();
        start
    }

    /// Start of a request of `sectors`, before alignment.
    fn address(&mut self, sectors: u64) -> u64 {
        let (last, hot_last) = (self.last, self.hot_last);
        match self.config.address {
            MqsimAddress::Uniform => {
                let start = self.draws.below(Use::Address, last + 1);
                if start + sectors > last { 0 } else { start }
            }
            MqsimAddress::Streaming if self.gone.is_some() => self.past_stream(sectors),
            MqsimAddress::Streaming => {
                let start = if self.stream + sectors > last { 0 } else { self.stream };
                let next = self.stream + sectors;
                let next = if next > last { 0 } else { next };
                self.stream =
                    (self.aligned_from + next).next_multiple_of(self.unit) - self.aligned_from;
                start
            }
            // This share of the requests goes to the cold region, and the rest to the hot region.
            MqsimAddress::HotCold => {
                let hot_share = f64::from(self.config.hot_region_percent) / 100.0;
                if self.draws.unit(Use::HotCold) < hot_share && hot_last < last {
                    hot_last + 1 + self.draws.below(Use::HotAddress, last - hot_last)
                } else {
                    self.draws.below(Use::HotAddress, hot_last + 1)
                }
            }
        }
    }
}

/// Mean gap of an open loop. MQSim computes it in whole requests per second and whole nanoseconds.
fn gap_mean(config: &MqsimSyntheticConfig, mode: GeneratorMode) -> f64 {
    let sectors = u64::from(config.size_mean_sectors.max(1));
    match mode {
        GeneratorMode::Mqsim { .. } => {
            let per_second = (config.bandwidth / SECTOR_BYTES / sectors).max(1);
            (1_000_000_000 / per_second) as f64
        }
        GeneratorMode::Ours { .. } => {
            (sectors * SECTOR_BYTES) as f64 / config.bandwidth.max(1) as f64 * 1e9
        }
    }
}

impl RequestSource for MqsimSource {
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error> {
        let at = if self.config.closed_loop { now } else { self.arrival };
        if self.ended || self.empty || self.over(at) {
            self.ended = true;
            return Ok(None);
        }
        let read_share = f64::from(self.config.read_percent) / 100.0;
        let read = read_share > 0.0 && self.draws.unit(Use::Kind) <= read_share;
        let sectors = self.size();
        let start = self.address(u64::from(sectors));
        let start = self.aligned(start);
        let placed = place(start, sectors, self.last + 1, self.unit);
        let sector = if self.wraps && !placed.clipped { start } else { placed.sector };
        self.report.wrapped += u64::from(placed.moved);
        self.report.clipped += u64::from(placed.clipped);
        self.generated += 1;
        self.advance();
        let op = if read { RequestOp::Read } else { RequestOp::Write };
        Ok(Some(Planned {
            arrival: at,
            op,
            sector,
            sectors: placed.sectors,
            queue: 0,
            directive: Directive::NONE,
        }))
    }

    /// The random numbers continue; counts and times start again.
    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.pass_start = now;
        self.arrival = now;
        self.generated = 0;
        self.ended = false;
        self.advance();
        Ok(())
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        let first = self.draws.below(Use::Address, u64::from(u32::MAX));
        self.draws = Draws::Ours(Rng::stream(first, "workload.past", 0));
        let round = self.round();
        self.stream = (self.stream + round - back % round) % round;
        self.gone = Some(0);
        Ok(())
    }

    fn gone(&self) -> u64 {
        self.gone.unwrap_or(0)
    }

    fn closed_loop(&self) -> Option<u32> {
        self.config.closed_loop.then_some(self.config.queue_depth)
    }

    fn time_limit(&self) -> Option<Time> {
        let limit = self.config.stop_time_ns.saturating_mul(1000);
        (limit > 0).then_some(Time(limit))
    }

    fn report(&self) -> SourceReport {
        self.report.clone()
    }
}
