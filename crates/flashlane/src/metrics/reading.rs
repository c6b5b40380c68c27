//! What the device and the flows have done up to an instant. The difference of two readings is what happened
//! between them: the summary's window, and what lies before and after it.

use flashlane_engine::Time;

use super::load::Level;
use super::recorder::FlowWork;
use super::steady::WINDOW_ROUNDS;
use super::window::Edge;
use crate::config::WindowRule;
use crate::device::Device;
use crate::flash::FlashCounters;
use crate::host::HostFlow;
use crate::metrics::summary::{ByteCounts, RequestCounts};
use crate::transaction::Place;

/// A chip up to an instant. Unit: picoseconds, unless named otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChipReading {
    /// Time with at least one die in an array operation.
    pub(crate) busy: u64,
    /// Array time of the dies: host, collection, mapping.
    pub(crate) by_source: [u128; 3],
    /// Transactions times the time that they waited.
    pub(crate) waited: u128,
    /// Most transactions that waited at a time, since the window opened, or in the whole run where all of it counts.
    /// Unit: transactions.
    pub(crate) longest: u64,
}

/// A flow up to an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowReading {
    /// Requests that arrived, counted or not.
    pub(crate) arrived: u64,
    /// Requests that completed, counted or not, and their bytes.
    pub(crate) completed: RequestCounts,
    pub(crate) bytes: ByteCounts,
    pub(crate) work: FlowWork,
    /// Array time of all dies: host, collection, mapping. Unit: picoseconds.
    pub(crate) device_time: [u128; 3],
    /// Transactions times the time that they waited. Unit: picoseconds.
    pub(crate) waited: u128,
}

/// Everything up to an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) at: Time,
    pub(crate) flash: FlashCounters,
    pub(crate) zero_fill_reads: u64,
    pub(crate) gc_invocations: u64,
    pub(crate) wear_leveling_moves: u64,
    /// Of hybrid mapping: full, partial, switch.
    pub(crate) merges: [u64; 3],
    pub(crate) evictions: u64,
    pub(crate) writebacks: u64,
    /// Blocks that planes have fewer free than `ftl.gc.threshold` asks for.
    pub(crate) blocks_owed: u64,
    /// Erases of each block; empty before the first one.
    pub(crate) block_erases: Vec<u32>,
    /// Time that each channel was taken. Unit: picoseconds.
    pub(crate) channels: Vec<u64>,
    pub(crate) chips: Vec<ChipReading>,
    pub(crate) flows: Vec<FlowReading>,
}

impl Reading {
    /// Nothing has happened yet.
    pub(crate) fn start(ssd: &Device) -> Self {
        Self {
            channels: vec![0; ssd.flash.channels.len()],
            chips: vec![ChipReading::default(); ssd.flash.chips.len()],
            flows: vec![FlowReading::default(); ssd.host.flows.len()],
            ..Self::default()
        }
    }

    /// Requests that completed, of all flows.
    pub(crate) fn completed(&self) -> u64 {
        self.flows.iter().map(|flow| flow.completed.all()).sum()
    }
}

/// The readings that the summary is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings {
    pub(crate) opened: Option<Reading>,
    pub(crate) closed: Option<Reading>,
    /// With `--until-steady`: at the end of each round.
    rounds: Vec<RoundReading>,
    /// By flow: requests that arrived in the window and were outstanding at its end.
    pub(crate) backlog: Vec<u64>,
    /// By flow: the drive does not keep up.
    pub(crate) saturated: Vec<bool>,
}

/// The end of a round.
#[derive(Clone, Debug)]
struct RoundReading {
    reading: Reading,
    backlog: Vec<u64>,
    levels: Vec<Level>,
}

impl Device {
    /// What has been done up to `at`: everything that happens at that instant has happened, and nothing later.
    pub(crate) fn read(&self, at: Time) -> Reading {
        let mut flows: Vec<FlowReading> = self
            .host
            .flows
            .iter()
            .zip(&self.recorder.flows)
            .zip(self.flash.by_flow.iter().zip(&self.scheduler.flows))
            .map(|((host, record), (&device_time, queue))| FlowReading {
                arrived: host.submitted,
                completed: host.done.requests(),
                bytes: host.done.bytes(),
                work: record.work,
                device_time,
                waited: queue.area,
            })
            .collect();
        let mut chips: Vec<ChipReading> = self
            .flash
            .chips
            .iter()
            .zip(&self.scheduler.chips)
            .zip(self.flash.busy_chips(at))
            .map(|((account, queue), busy)| ChipReading {
                busy,
                by_source: account.by_source,
                waited: queue.area,
                longest: queue.max.into(),
            })
            .collect();
        for (_, tr) in self.transactions.iter().filter(|(_, tr)| tr.place == Place::Queue) {
            let waited = u128::from(at.saturating_sub(tr.mark).0);
            flows[tr.flow as usize].waited += waited;
            chips[self.flash.chip_of(self.flash.die_of(tr.plane)) as usize].waited += waited;
        }
        self.flash.each_unfinished(at, &self.transactions, |chip, flow, account, time| {
            chips[chip].by_source[account] += time;
            flows[flow].device_time[account] += time;
        });
        let blocks = &self.ftl.blocks;
        let erased = if self.flash.counters.erases == 0 { 0 } else { blocks.count() as u32 };
        let merges = self.ftl.hybrid.as_ref();
        Reading {
            at,
            flash: self.flash.counters,
            zero_fill_reads: self.ftl.zero_fill_reads,
            gc_invocations: self.ftl.gc_invocations,
            wear_leveling_moves: self.ftl.wear_leveling_moves,
            merges: merges.map_or([0; 3], |h| [h.full_merges, h.partial_merges, h.switch_merges]),
            evictions: self.cache.evictions(),
            writebacks: self.ftl.mapping.as_ref().map_or(0, |table| table.writebacks),
            blocks_owed: self.ftl.blocks_owed(),
            block_erases: (0..erased).map(|block| blocks.block(block).erases).collect(),
            channels: self.flash.taken(at, &self.transactions),
            chips,
            flows,
        }
    }

    /// A request arrives before the window is open. True if it opens it.
    #[cold]
    pub(crate) fn open_window(&mut self) -> bool {
        if !self.recorder.window.opens(self.now) {
            return false;
        }
        self.window_opens(self.now);
        if self.recorder.window.is_until_steady() {
            let first = self.recorder.watch.as_ref().and_then(|watch| watch.next_end(self.now));
            self.recorder.window.set(Edge::Round, first.unwrap_or(Time::MAX));
        }
        let watched = self.recorder.open_loops.contains(&true);
        if watched {
            self.count_outstanding(self.now);
        }
        true
    }

    fn window_opens(&mut self, at: Time) {
        let reading = self.read(at);
        if self.recorder.window.rule == WindowRule::Steady {
            for queue in &mut self.scheduler.chips {
                queue.max = queue.length;
            }
        }
        self.recorder.readings.opened = Some(reading);
    }

    /// Requests of each flow so far.
    fn levels(&self) -> Vec<Level> {
        let level = |flow: &HostFlow| Level {
            arrived: flow.submitted,
            outstanding: flow.submitted - flow.completed(),
        };
        self.host.flows.iter().map(level).collect()
    }

    /// Requests of each flow that arrived at `since` or later and are not complete.
    fn backlog(&self, since: Time) -> Vec<u64> {
        let mut backlog = vec![0; self.host.flows.len()];
        for (_, request) in self.requests.iter() {
            let inside = request.counted && request.arrival >= since;
            backlog[request.flow as usize] += u64::from(inside);
        }
        backlog
    }

    fn count_outstanding(&mut self, at: Time) {
        let flows = self.host.flows.len();
        let mut load = self.recorder.load.take().unwrap_or_else(|| super::load::Load::new(flows));
        let next = load.count(at, &self.levels());
        self.recorder.load = Some(load);
        self.recorder.window.set(Edge::Sample, next);
    }

    /// The clock goes beyond edges: reads what is to be read there.
    #[cold]
    pub(crate) fn pass_edges(&mut self, now: Time) {
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

    /// The load that counts is over, or the window that outlasts it.
    fn load_ends(&mut self, at: Time) {
        self.recorder.window.set(Edge::Sample, Time::MAX);
        if self.recorder.readings.saturated.is_empty() {
            self.judge_load(at, &self.levels());
        }
        if self.recorder.window.rule == WindowRule::Steady && self.recorder.window.is_over() {
            self.window_ends(at);
        }
    }

    /// Compares the load with what is done, when it ends at `at`.
    fn judge_load(&mut self, at: Time, levels: &[Level]) {
        let window = &self.recorder.window;
        // A burst, which is over before anything completes, says nothing about rates.
        if window.is_burst() {
            return;
        }
        let Some((load, opened)) = self.recorder.load.as_ref().zip(window.opened()) else { return };
        self.recorder.readings.saturated =
            load.saturated((opened, at), levels, &self.recorder.open_loops);
    }

    fn window_ends(&mut self, at: Time) {
        let reading = self.read(at);
        let opened = self.recorder.window.opened().unwrap_or(at);
        self.recorder.readings.backlog = self.backlog(opened);
        self.recorder.readings.closed = Some(reading);
    }

    /// A round of `--until-steady` ends.
    fn round_ends(&mut self, at: Time) {
        let next = self.recorder.watch.as_ref().and_then(|watch| watch.next_end(at));
        let rounds = &self.recorder.readings.rounds;
        let first = rounds.len().checked_sub(WINDOW_ROUNDS).map(|first| rounds[first].reading.at);
        let since = first.or(self.recorder.window.opened()).unwrap_or(at);
        let round = RoundReading {
            reading: self.read(at),
            backlog: self.backlog(since),
            levels: self.levels(),
        };
        self.recorder.readings.rounds.push(round);
        self.recorder.window.set(Edge::Round, next.unwrap_or(Time::MAX));
    }

    /// The run is over: takes the readings that are still to be taken.
    pub(crate) fn settle_window(&mut self) {
        while let Some((edge, at)) = self.recorder.window.take_edge() {
            match edge {
                Edge::Open => self.window_opens(at),
                Edge::Close => self.load_ends(at),
                Edge::Round if at <= self.now => self.round_ends(at),
                Edge::Round | Edge::Sample | Edge::Row => {}
            }
        }
        let rounds = std::mem::take(&mut self.recorder.readings.rounds);
        if self.recorder.watch.as_ref().is_some_and(|watch| watch.finished()) {
            let (from, to) = self.recorder.window.span();
            for round in rounds {
                if round.reading.at == from {
                    self.recorder.readings.opened = Some(round.reading);
                } else if round.reading.at == to {
                    self.judge_load(to, &round.levels);
                    self.recorder.readings.backlog = round.backlog;
                    self.recorder.readings.closed = Some(round.reading);
                }
            }
        }
        if self.recorder.readings.closed.is_none() {
            self.window_ends(self.now);
        }
    }
}
