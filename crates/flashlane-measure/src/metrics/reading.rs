//! Readings: counters of the device and the flows at an instant. The difference of two readings is
//! the work between them: in the summary's window, before it, or after it.

use flashlane_engine::Time;

use super::energy::FlowEnergy;
use super::load::Load;
use super::recorder::Recorder;
use super::steady::{ROUNDS_MAX, WINDOW_ROUNDS};
use super::window::{Edge, TimeRange};
use flashlane_config::WindowRule;
use flashlane_device::device::reading::{DeviceReading, Level};

/// All counters up to an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) drive: DeviceReading,
    /// Expenses by flow, where energy is counted.
    pub(crate) spent: Vec<FlowEnergy>,
}

impl Reading {
    /// The reading at the start of the run of `later`, before anything happened.
    pub(crate) fn start(later: &Self) -> Self {
        Self {
            drive: DeviceReading::start(&later.drive),
            spent: vec![FlowEnergy::default(); later.spent.len()],
        }
    }
}

/// The readings that the summary is computed from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings {
    pub(super) opened: Option<Reading>,
    pub(super) closed: Option<Reading>,
    /// With `--until-steady`: readings at the end of each round.
    rounds: Vec<RoundReading>,
    /// By flow: requests that arrived in the window and were outstanding at its end.
    pub(super) backlog: Vec<u64>,
    /// By flow: true if the drive does not keep up.
    pub(super) saturated: Vec<bool>,
    /// By flow: true if it made no progress over the second half of the window while others did.
    pub(super) starved: Vec<bool>,
}

/// Reading at the end of a round.
#[derive(Clone, Debug)]
pub(crate) struct RoundReading {
    pub(crate) reading: Reading,
    /// By flow: requests that arrived in the window and are outstanding.
    pub(crate) backlog: Vec<u64>,
    pub(crate) levels: Vec<Level>,
}

impl Recorder {
    /// Notes that a request opened the window. True if outstanding requests are counted from now
    /// on.
    pub(crate) fn opened_by_request(&mut self, now: Time) -> bool {
        if self.window.is_until_steady() {
            let first = self.watch.as_ref().and_then(|watch| watch.next_end(now));
            self.window.set(Edge::Round, first.unwrap_or(Time::MAX));
        }
        self.open_loops.contains(&true) || self.open_loops.len() > 1
    }

    /// Opens the window. `reading`: the counters before it.
    pub(crate) fn window_opens(&mut self, reading: Reading) {
        self.readings.opened = Some(reading);
    }

    /// True if only a part of the run counts, so that maxima begin with the window.
    pub(crate) fn counts_part(&self) -> bool {
        self.window.rule == WindowRule::Steady
    }

    /// Counts the outstanding requests of each flow.
    pub(crate) fn count_outstanding(&mut self, at: Time, levels: &[Level]) {
        let load = self.load.get_or_insert_with(|| Load::new(levels.len()));
        let next = load.count(at, levels);
        self.window.set(Edge::Sample, next);
    }

    /// Ends the load that counts, or the window if that lasts longer. True if the window ends.
    pub(crate) fn load_ends(&mut self, at: Time, levels: &[Level]) -> bool {
        self.window.set(Edge::Sample, Time::MAX);
        if self.readings.saturated.is_empty() {
            self.judge_load(at, levels);
        }
        self.window.rule == WindowRule::Steady && self.window.is_over()
    }

    /// Compares the load with the completed work when the load ends at `at`.
    fn judge_load(&mut self, at: Time, levels: &[Level]) {
        // A burst is over before anything completes, and so says nothing about rates.
        if self.window.is_burst() {
            return;
        }
        let Some((load, from)) = self.load.as_ref().zip(self.window.opened()) else { return };
        let range = TimeRange { from, to: at };
        self.readings.saturated = load.saturated(range, levels, &self.open_loops);
        self.readings.starved = load.starved(range, levels);
    }

    /// Start of the window that ends at `at`.
    pub(crate) fn window_since(&self, at: Time) -> Time {
        self.window.opened().unwrap_or(at)
    }

    /// Ends the window. `reading`: the counters up to its end; `backlog`: the requests that are
    /// left of it.
    pub(crate) fn window_ends(&mut self, reading: Reading, backlog: Vec<u64>) {
        self.readings.backlog = backlog;
        self.readings.closed = Some(reading);
    }

    /// With `--until-steady`: start of the window, if it ended with the round that ends at `at`.
    pub(crate) fn rounds_since(&self, at: Time) -> Time {
        let rounds = &self.readings.rounds;
        let first =
            rounds.len().checked_sub(WINDOW_ROUNDS).map(|first| rounds[first].reading.drive.at);
        first.or(self.window.opened()).unwrap_or(at)
    }

    /// Ends a round of `--until-steady`.
    pub(crate) fn round_ends(&mut self, round: RoundReading) {
        let next = self.watch.as_ref().and_then(|watch| watch.next_end(round.reading.drive.at));
        self.readings.rounds.push(round);
        // Short rounds may all end before a request completes, which is when they are judged.
        let next = next.filter(|_| self.readings.rounds.len() < ROUNDS_MAX);
        self.window.set(Edge::Round, next.unwrap_or(Time::MAX));
    }

    /// Sets the window to the rounds that count, at the end of the run. True if the window has no
    /// end yet.
    pub(crate) fn settle_rounds(&mut self) -> bool {
        let rounds = std::mem::take(&mut self.readings.rounds);
        if self.watch.as_ref().is_some_and(|watch| watch.finished()) {
            let TimeRange { from, to } = self.window.span();
            for round in rounds {
                if round.reading.drive.at == from {
                    self.readings.opened = Some(round.reading);
                } else if round.reading.drive.at == to {
                    self.judge_load(to, &round.levels);
                    self.window_ends(round.reading, round.backlog);
                }
            }
        }
        self.readings.closed.is_none()
    }
}
