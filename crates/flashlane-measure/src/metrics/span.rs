//! Work of the device between two readings: in the window, before it, or after it.

use flashlane_engine::Time;
use flashlane_units::ChipId;

use super::energy::FlowEnergy;
use super::reading::Reading;
use super::recorder::Recorder;
use super::summary::{
    AdmissionSummary, BusyBySource, ByteCounts, CacheSummary, ChannelSummary, ChipSummary,
    CmtSummary, CommandCounts, CommandSummary, CompletedInWindow, DeviceTime, EraseSummary,
    ErrorSummary, FlashSummary, OutsideWindow, PlacementSummary, ProcessorsSummary, RequestCounts,
    SeparationSummary, SlcCacheSummary, UnitSummary, ZonesSummary,
};
use flashlane_config::{DeviceConfig, WindowRule};
use flashlane_device::device::reading::FlowWork;
use flashlane_device::ftl::units::UnitCounts;
use flashlane_device::interface::processors::ProcessorReading;
use flashlane_device::layout::{Geometry, ZoneGeometry};

/// The whole run, cut at both ends of the window.
pub(crate) struct Spans {
    start: Reading,
    opened: Reading,
    closed: Reading,
    end: Reading,
}

impl Spans {
    /// Cuts a finished run. `end`: the reading at its end.
    pub(crate) fn of(recorder: &Recorder, end: &Reading) -> Self {
        let (start, end) = (Reading::start(end), end.clone());
        let readings = &recorder.readings;
        let (opened, closed) = match recorder.window.rule {
            WindowRule::WholeRun => (None, None),
            WindowRule::Steady => (readings.opened.clone(), readings.closed.clone()),
        };
        let closed = closed.unwrap_or_else(|| end.clone());
        // A given window may open with the run. If no request counts, there is no window.
        let window = &recorder.window;
        let whole = window.rule == WindowRule::WholeRun || window.opened() == Some(Time::ZERO);
        let opened = opened.unwrap_or_else(|| if whole { &start } else { &closed }.clone());
        Self { start, opened, closed, end }
    }

    pub(crate) fn window(&self) -> Span<'_> {
        Span { from: &self.opened, to: &self.closed }
    }

    pub(crate) fn before(&self) -> Span<'_> {
        Span { from: &self.start, to: &self.opened }
    }

    pub(crate) fn after(&self) -> Span<'_> {
        Span { from: &self.closed, to: &self.end }
    }
}

/// The difference of two readings.
pub(crate) struct Span<'a> {
    from: &'a Reading,
    to: &'a Reading,
}

/// Page programs of all kinds divided by host page programs; 0 without host programs.
pub fn amplification(host: u64, all: u64) -> f64 {
    if host == 0 { 0.0 } else { all as f64 / host as f64 }
}

impl Span<'_> {
    /// Length of the span. Unit: picoseconds.
    pub(crate) fn length(&self) -> u64 {
        self.to.drive.at.saturating_sub(self.from.drive.at).0
    }

    fn count(&self, of: impl Fn(&Reading) -> u64) -> u64 {
        of(self.to).saturating_sub(of(self.from))
    }

    /// A time as a share of the span.
    fn share(&self, of: impl Fn(&Reading) -> u64) -> f64 {
        let length = self.length();
        if length == 0 { 0.0 } else { self.count(of) as f64 / length as f64 }
    }

    /// A sum over parallel activities, as a multiple of the span.
    fn average(&self, of: impl Fn(&Reading) -> u128) -> f64 {
        let length = self.length();
        let area = of(self.to).saturating_sub(of(self.from));
        if length == 0 { 0.0 } else { area as f64 / length as f64 }
    }

    /// Requests of a flow that arrived.
    pub(crate) fn arrived(&self, flow: usize) -> u64 {
        self.count(|reading| reading.drive.flows[flow].arrived)
    }

    /// Requests of a flow that completed.
    pub(crate) fn completed(&self, flow: usize) -> CompletedInWindow {
        let count =
            |of: fn(&RequestCounts) -> u64| self.count(|r| of(&r.drive.flows[flow].completed));
        let bytes = |of: fn(&ByteCounts) -> u64| self.count(|r| of(&r.drive.flows[flow].bytes));
        CompletedInWindow {
            requests: RequestCounts {
                read: count(|c| c.read),
                write: count(|c| c.write),
                trim: count(|c| c.trim),
                flush: count(|c| c.flush),
                zone: count(|c| c.zone),
            },
            bytes: ByteCounts { read: bytes(|b| b.read), write: bytes(|b| b.write) },
        }
    }

    /// Work of the device for a flow.
    pub(crate) fn work(&self, flow: usize) -> FlowWork {
        let count = |of: fn(&FlowWork) -> u64| self.count(|r| of(&r.drive.flows[flow].work));
        FlowWork {
            host_programs: count(|w| w.host_programs),
            other_programs: count(|w| w.other_programs),
            read_modify_writes: count(|w| w.read_modify_writes),
            cmt_hits: count(|w| w.cmt_hits),
            cmt_misses: count(|w| w.cmt_misses),
            cache_hits: count(|w| w.cache_hits),
            cache_misses: count(|w| w.cache_misses),
            retried_pages: count(|w| w.retried_pages),
            retry_time: count(|w| w.retry_time),
        }
    }

    /// Work of the device for all flows together.
    fn work_of_all(&self, of: fn(&FlowWork) -> u64) -> u64 {
        self.count(|reading| reading.drive.flows.iter().map(|flow| of(&flow.work)).sum())
    }

    /// Expenses of each flow; empty where they are not counted.
    pub(crate) fn spent(&self) -> Vec<FlowEnergy> {
        self.to.spent.iter().zip(&self.from.spent).map(|(to, from)| to.since(from)).collect()
    }

    /// Mean number of a flow's waiting transactions per chip.
    pub(crate) fn mean_queue_length(&self, flow: usize) -> f64 {
        self.average(|reading| reading.drive.flows[flow].waited)
            / self.to.drive.chips.len().max(1) as f64
    }

    /// Array time by host, collection and mapping; of a flow, or of all.
    pub(crate) fn device_time(&self, geometry: Geometry, flow: Option<usize>) -> DeviceTime {
        let flows =
            || (0..self.to.drive.flows.len()).filter(|&f| flow.is_none_or(|flow| flow == f));
        let seconds = |by: usize| {
            let sum = |r: &Reading| flows().map(|flow| r.drive.flows[flow].device_time[by]).sum();
            let (from, to): (u128, u128) = (sum(self.from), sum(self.to));
            to.saturating_sub(from) as f64 / 1e12
        };
        let all = Time(self.length()).as_s() * f64::from(geometry.dies());
        let share = |seconds: f64| if all > 0.0 { seconds / all } else { 0.0 };
        let [host_s, gc_s, mapping_s] = [0, 1, 2].map(seconds);
        DeviceTime {
            host_s,
            gc_s,
            mapping_s,
            host_share: share(host_s),
            gc_share: share(gc_s),
            mapping_share: share(mapping_s),
        }
    }

    /// Mapping units; `None` where every page is mapped and programmed by itself.
    pub(crate) fn units(&self) -> Option<UnitSummary> {
        let UnitCounts { per_page, per_program, waiting_max, passes, .. } =
            self.to.drive.ftl.units?;
        let count = |of: fn(&UnitCounts) -> u64| {
            self.count(|reading| reading.drive.ftl.units.as_ref().map_or(0, of))
        };
        Some(UnitSummary {
            per_page,
            per_program,
            padded: count(|units| units.padded),
            waiting_max,
            buffered_reads: count(|units| units.buffered_reads),
            joined_reads: count(|units| units.joined_reads),
            first_passes: passes.map(|_| count(|units| units.passes.map_or(0, |it| it.first))),
            early_second_passes: passes
                .map(|_| count(|units| units.passes.map_or(0, |it| it.early))),
        })
    }

    /// Flash operations.
    pub(crate) fn flash(&self) -> FlashSummary {
        let commands = |kinds: [usize; 2]| {
            let of = |reading: &Reading| {
                let of = reading.drive.flash.commands.iter().map(|op| op[kinds[0]] + op[kinds[1]]);
                of.sum()
            };
            self.count(of)
        };
        let user_programs = self.count(|r| r.drive.flash.user_programs);
        let gc_programs = self.count(|r| r.drive.flash.gc_programs);
        let mapping_programs = self.count(|r| r.drive.flash.mapping_programs);
        // A program may write several units, and finishes of zones write what no host did.
        let by_units = self.to.drive.ftl.units.is_some() || self.to.drive.zones.is_some();
        FlashSummary {
            user_reads: self.count(|r| r.drive.flash.user_reads),
            zero_fill_reads: self.count(|r| r.drive.ftl.zero_fill_reads),
            user_programs,
            gc_reads: self.count(|r| r.drive.flash.gc_reads),
            gc_programs,
            mapping_reads: self.count(|r| r.drive.flash.mapping_reads),
            mapping_programs,
            erases: self.count(|r| r.drive.flash.erases),
            wear_leveling_moves: self.count(|r| r.drive.ftl.wear_leveling_moves),
            read_scrubbing_moves: self.count(|r| r.drive.ftl.read_scrubbing_moves),
            block_erases: self.block_erases(),
            copybacks: self.count(|r| r.drive.flash.copybacks),
            multiplane_commands: commands([1, 3]),
            interleaved_commands: commands([2, 3]),
            program_suspends: self.count(|r| r.drive.flash.program_suspends),
            erase_suspends: self.count(|r| r.drive.flash.erase_suspends),
            gc_invocations: self.count(|r| r.drive.ftl.gc_invocations),
            blocks_owed_at_end: self.to.drive.ftl.blocks_owed,
            full_merges: self.count(|r| r.drive.ftl.merges[0]),
            partial_merges: self.count(|r| r.drive.ftl.merges[1]),
            switch_merges: self.count(|r| r.drive.ftl.merges[2]),
            write_amplification: match by_units {
                false => {
                    amplification(user_programs, user_programs + gc_programs + mapping_programs)
                }
                true => {
                    let host = self.work_of_all(|work| work.host_programs);
                    amplification(host, host + self.work_of_all(|work| work.other_programs))
                }
            },
        }
    }

    /// Erases of a block.
    fn erases_of(&self, block: usize) -> u32 {
        let of = |reading: &Reading| reading.drive.block_erases.get(block).copied().unwrap_or(0);
        of(self.to) - of(self.from)
    }

    fn block_erases(&self) -> EraseSummary {
        EraseSummary::of((0..self.to.drive.block_erases.len()).map(|block| self.erases_of(block)))
    }

    /// Flash commands.
    pub(crate) fn commands(&self) -> CommandSummary {
        let of = |op: usize| {
            let [single, multiplane, interleaved, interleaved_multiplane] =
                [0, 1, 2, 3].map(|kind| self.count(|r| r.drive.flash.commands[op][kind]));
            CommandCounts { single, multiplane, interleaved, interleaved_multiplane }
        };
        CommandSummary { read: of(0), program: of(1), erase: of(2) }
    }

    /// The data cache.
    pub(crate) fn cache(&self) -> CacheSummary {
        CacheSummary {
            hits: self.work_of_all(|w| w.cache_hits),
            misses: self.work_of_all(|w| w.cache_misses),
            evictions: self.count(|r| r.drive.evictions),
        }
    }

    /// The cached mapping table.
    pub(crate) fn cmt(&self) -> CmtSummary {
        CmtSummary {
            hits: self.work_of_all(|w| w.cmt_hits),
            misses: self.work_of_all(|w| w.cmt_misses),
            writebacks: self.count(|r| r.drive.ftl.writebacks),
        }
    }

    /// Bit errors; `None` where they are not modelled.
    pub(crate) fn errors(&self) -> Option<ErrorSummary> {
        let to = self.to.drive.ftl.errors?;
        let from = self.from.drive.ftl.errors.unwrap_or_default();
        Some(ErrorSummary::between(&from, &to))
    }

    /// The SLC cache; `None` where there is none.
    pub(crate) fn slc_cache(&self) -> Option<SlcCacheSummary> {
        let to = self.to.drive.ftl.slc_cache?;
        let from = self.from.drive.ftl.slc_cache.unwrap_or_default();
        Some(SlcCacheSummary::between(&from, &to))
    }

    /// Hot and cold pages of the host; `None` where no policy tells them apart.
    pub(crate) fn separation(&self) -> Option<SeparationSummary> {
        let to = self.to.drive.ftl.separation?;
        let from = self.from.drive.ftl.separation.unwrap_or_default();
        Some(to.since(from).into())
    }

    /// Data by placement handle; `None` where hosts place nothing.
    pub(crate) fn placement(&self, device: &DeviceConfig) -> Option<PlacementSummary> {
        let to = self.to.drive.ftl.placement.as_deref()?;
        let counts = match self.from.drive.ftl.placement.as_deref() {
            Some(from) => &to.since(from),
            None => to,
        };
        Some(PlacementSummary::of(counts, device))
    }

    /// Commands to zones; `None` where the drive has none. `zones`: the zones of all flows.
    pub(crate) fn zones(&self, zones: Option<(ZoneGeometry, u64)>) -> Option<ZonesSummary> {
        let to = self.to.drive.zones?;
        let from = self.from.drive.zones.unwrap_or_default();
        Some(ZonesSummary::between(from, to, zones?))
    }

    /// Admission to the data cache; `None` unless that is by rate.
    pub(crate) fn admission(&self) -> Option<AdmissionSummary> {
        let to = self.to.drive.admission?;
        let from = self.from.drive.admission.unwrap_or_default();
        Some(AdmissionSummary::between(&from, &to))
    }

    /// The controller's processors; `None` where they are not modelled.
    pub(crate) fn processors(&self) -> Option<ProcessorsSummary> {
        let cores = self.to.drive.processors.cores;
        let share = |of: fn(&ProcessorReading) -> u128| {
            self.average(|reading| of(&reading.drive.processors)) / f64::from(cores)
        };
        (cores > 0).then(|| {
            let parts = [share(|p| p.commands), share(|p| p.own_pages), share(|p| p.decisions)];
            ProcessorsSummary {
                busy_fraction: parts.iter().sum(),
                commands: parts[0],
                own_pages: parts[1],
                decisions: parts[2],
                lookups: self.count(|reading| reading.drive.processors.lookups),
                lookup_misses: self.count(|reading| reading.drive.processors.misses),
            }
        })
    }

    /// Every channel.
    pub(crate) fn channels(&self) -> Vec<ChannelSummary> {
        (0..self.to.drive.channels.len())
            .map(|index| ChannelSummary {
                channel: index as u32,
                busy_fraction: self.share(|reading| reading.drive.channels[index]),
                command_bus_busy_fraction: (!self.to.drive.command_buses.is_empty())
                    .then(|| self.share(|reading| reading.drive.command_buses[index])),
            })
            .collect()
    }

    /// Every chip.
    pub(crate) fn chips(&self, geometry: Geometry) -> Vec<ChipSummary> {
        let blocks = self.to.drive.block_erases.len() / self.to.drive.chips.len().max(1);
        (0..self.to.drive.chips.len())
            .map(|chip| {
                let source =
                    |by: usize| self.average(|reading| reading.drive.chips[chip].by_source[by]);
                let blocks = chip * blocks..(chip + 1) * blocks;
                let erases = blocks.map(|block| u64::from(self.erases_of(block)));
                ChipSummary {
                    channel: geometry.channel_of(ChipId::at(chip)).get(),
                    chip: geometry.way_of(ChipId::at(chip)),
                    busy_fraction: self.share(|reading| reading.drive.chips[chip].busy),
                    busy_by_source: BusyBySource {
                        host: source(0),
                        gc: source(1),
                        mapping: source(2),
                    },
                    mean_queue_length: self.average(|reading| reading.drive.chips[chip].waited),
                    max_queue_length: self.to.drive.chips[chip].longest,
                    erases: erases.sum(),
                }
            })
            .collect()
    }

    /// The summary of this span, as a part of the run outside the window.
    pub(crate) fn outside(&self) -> OutsideWindow {
        OutsideWindow {
            length_s: Time(self.length()).as_s(),
            requests_completed: self.to.drive.completed() - self.from.drive.completed(),
            flash: self.flash(),
            cache: self.cache(),
            cmt: self.cmt(),
        }
    }
}
