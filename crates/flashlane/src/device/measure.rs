//! Measurement of a drive: readings of all stages when the window opens and ends, for the summary.

use flashlane_engine::Time;

use super::Device;
use crate::config::DeviceConfig;
use crate::host::HostFlow;
use crate::metrics::load::Level;
use crate::metrics::reading::{ChipReading, FlowReading, FlowWork, Reading, RoundReading};
use crate::metrics::report::Ended;
use crate::metrics::summary::MemorySummary;
use crate::metrics::window::Edge;
use crate::transaction::Place;

impl Device {
    /// Reads all counters at `at`: everything that happens at that instant has happened, and
    /// nothing later.
    pub(crate) fn read(&self, at: Time) -> Reading {
        let mut flows: Vec<FlowReading> = self
            .host
            .flows()
            .zip(self.cache.asked())
            .zip(self.flash.array_time_of_flows().zip(self.scheduler.queues_of_flows()))
            .zip(self.ftl.pages_of_flows())
            .map(|(((host, cache), (device_time, queue)), pages)| FlowReading {
                arrived: host.submitted(),
                completed: host.done().requests(),
                bytes: host.done().bytes(),
                work: FlowWork {
                    host_programs: pages.host_programs,
                    other_programs: pages.other_programs,
                    read_modify_writes: pages.read_modify_writes,
                    cmt_hits: pages.cmt_hits,
                    cmt_misses: pages.cmt_misses,
                    cache_hits: cache.hits,
                    cache_misses: cache.misses,
                },
                device_time,
                waited: queue.area,
            })
            .collect();
        let mut chips: Vec<ChipReading> = self
            .flash
            .array_time_of_chips()
            .zip(self.scheduler.queues_of_chips())
            .zip(self.flash.busy_chips(at))
            .map(|((by_source, queue), busy)| ChipReading {
                busy,
                by_source,
                waited: queue.area,
                longest: queue.max.into(),
            })
            .collect();
        for (_, tr) in self.context.transactions.iter().filter(|(_, tr)| tr.place == Place::Queue) {
            let waited = u128::from(at.saturating_sub(tr.mark).0);
            flows[tr.flow.index()].waited += waited;
            chips[self.flash.chip_of(self.flash.die_of(tr.plane)).index()].waited += waited;
        }
        self.flash.each_unfinished(at, &self.context.transactions, |chip, flow, account, time| {
            chips[chip].by_source[account] += time;
            flows[flow].device_time[account] += time;
        });
        let erases = self.flash.counters().erases;
        Reading {
            at,
            flash: *self.flash.counters(),
            ftl: self.ftl.counts(),
            evictions: self.cache.evictions(),
            processors: self.interface.processors_done(),
            block_erases: if erases == 0 { Vec::new() } else { self.ftl.erases_of_blocks() },
            channels: self.flash.taken(at, &self.context.transactions),
            chips,
            flows,
            spent: self.observer.as_ref().map_or_else(Vec::new, |observer| observer.spent()),
        }
    }

    /// Request counts of each flow so far.
    fn levels(&self) -> Vec<Level> {
        let level =
            |flow: &HostFlow| Level { arrived: flow.submitted(), outstanding: flow.outstanding() };
        self.host.flows().map(level).collect()
    }

    /// Requests of each flow that arrived at `since` or later and are not complete.
    fn backlog(&self, since: Time) -> Vec<u64> {
        let mut backlog = vec![0; self.host.flows().len()];
        for (_, request) in self.context.requests.iter() {
            let inside = request.counted && request.arrival >= since;
            backlog[request.flow.index()] += u64::from(inside);
        }
        backlog
    }

    /// A request arrives before the window is open. True if it opens the window.
    #[cold]
    pub(crate) fn open_window(&mut self) -> bool {
        if !self.recorder.window.opens(self.context.now) {
            return false;
        }
        self.window_opens(self.context.now);
        if self.recorder.opened_by_request(self.context.now) {
            self.count_outstanding(self.context.now);
        }
        true
    }

    /// The clock passes edges of the window: takes the readings for them.
    #[cold]
    pub(super) fn pass_edges(&mut self, now: Time) {
        while self.recorder.window.edge < now {
            let Some((edge, at)) = self.recorder.window.take_edge() else { return };
            match edge {
                Edge::Open => self.window_opens(at),
                Edge::Close => self.load_ends(at),
                Edge::Sample => self.count_outstanding(at),
                Edge::Round => self.round_ends(at),
                Edge::Row => self.row_ends(at),
            }
        }
    }

    fn window_opens(&mut self, at: Time) {
        let reading = self.read(at);
        if self.recorder.counts_part() {
            self.scheduler.forget_longest();
        }
        self.recorder.window_opens(reading);
    }

    fn count_outstanding(&mut self, at: Time) {
        let levels = self.levels();
        self.recorder.count_outstanding(at, &levels);
    }

    fn load_ends(&mut self, at: Time) {
        let levels = self.levels();
        if self.recorder.load_ends(at, &levels) {
            self.window_ends(at);
        }
    }

    fn window_ends(&mut self, at: Time) {
        let backlog = self.backlog(self.recorder.window_since(at));
        let reading = self.read(at);
        self.recorder.window_ends(reading, backlog);
    }

    /// Ends a round of `--until-steady`.
    fn round_ends(&mut self, at: Time) {
        let round = RoundReading {
            reading: self.read(at),
            backlog: self.backlog(self.recorder.rounds_since(at)),
            levels: self.levels(),
        };
        self.recorder.round_ends(round);
    }

    /// Takes the last readings at the end of the run.
    pub(crate) fn settle_window(&mut self) {
        while let Some((edge, at)) = self.recorder.window.take_edge() {
            match edge {
                Edge::Open => self.window_opens(at),
                Edge::Close => self.load_ends(at),
                Edge::Round if at <= self.context.now => self.round_ends(at),
                Edge::Round | Edge::Sample | Edge::Row => {}
            }
        }
        if self.recorder.settle_rounds() {
            self.window_ends(self.context.now);
        }
    }

    /// The data from which the summary of a run that ends now is made.
    pub(crate) fn ended(&self, device: &DeviceConfig) -> Ended<'_> {
        // Number of transactions that the DRAM of the drive has room for.
        let room = device.cache.capacity.0 / device.flash.page_size.0;
        let (page_table_bytes, partial_page_bytes) = self.ftl.table_bytes();
        Ended {
            recorder: &self.recorder,
            end: self.read(self.context.now),
            events: self.events(),
            generated: self.host.flows().map(|flow| flow.submitted()).sum(),
            completed: self.host.flows().map(HostFlow::completed).sum(),
            geometry: self.geometry,
            isolation_sets: self.ftl.sets_summary(),
            scheduler_overhead: self.scheduler.overhead(room),
            logical_bytes: self.layout.logical_pages * device.flash.page_size.0,
            memory: MemorySummary {
                physical_pages: self.geometry.pages(),
                page_table_bytes,
                partial_page_bytes,
            },
        }
    }
}
