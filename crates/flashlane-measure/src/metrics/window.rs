//! The measurement window: the requests that count, and the span of rates and counters.
//!
//! The window opens with the first arrival after the warm-up. Arrivals count until every flow has
//! ended its first pass, or until the first flow ends that does not start over, whichever comes
//! first. After that the load would not be the one that was asked for. Flows that start over go on
//! until everything that counts has completed, but for no longer than the window was open.
//!
//! The window ends with the last arrival that may count. Two kinds of load have no such end. A
//! closed loop that is alone ends the window with its last completion. A load that is over before
//! any of its requests has completed (a burst) ends the window when all of them have.
//!
//! Edges are the times at which something has to be read. The run loop compares the clock with the
//! next edge and stops there when everything up to that instant has happened.

use flashlane_engine::Time;

use crate::rules::Warmup;
use flashlane_config::WindowRule;

/// Longest time for which the load goes on after the window, as a multiple of the window's length.
const TAIL: u64 = 1;

/// The reason for an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The window of another run opens.
    Open,
    /// The load that counts has ended; the window may last longer.
    Close,
    /// Outstanding requests are counted, for the verdict about saturation.
    Sample,
    /// A round ends.
    Round,
    /// A row of the time series ends.
    Row,
}

const EDGES: [Edge; 5] = [Edge::Open, Edge::Close, Edge::Sample, Edge::Round, Edge::Row];

/// The measurement window.
#[derive(Clone, Debug)]
pub struct Window {
    pub(crate) rule: WindowRule,
    warmup: Warmup,
    /// Requests that arrived, counted or not.
    arrivals: u64,
    /// First and last instant at which an arrival counts; the end of time while it is not known.
    from: Time,
    to: Time,
    /// End of the window, once it is known.
    ended: Option<Time>,
    /// True if the window was given and does not depend on this run.
    fixed: bool,
    /// True if the load ends with the window, and a closed loop ends it.
    drains: bool,
    /// True if the load goes on after the window.
    load_goes_on: bool,
    /// True if every flow has ended its first pass.
    passes_over: bool,
    /// With `--until-steady`: whether the run ends with steady state, and whether the rounds are
    /// over.
    until_steady: bool,
    rounds_over: bool,
    /// The window opens at this time or later.
    earliest: Time,
    counted: u64,
    completed: u64,
    /// The window ends with this many completions of counted requests.
    ends_with: u64,
    last_completion: Time,
    /// Next instant after which something is read.
    pub(crate) edge: Time,
    edges: [Time; EDGES.len()],
}

/// A range of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// Start.
    pub from: Time,
    /// End.
    pub to: Time,
}

impl TimeRange {
    /// The middle of the range.
    pub(crate) fn middle(self) -> Time {
        Time(self.from.0 + (self.to.0 - self.from.0) / 2)
    }
}

impl Window {
    /// A window that the run itself determines.
    pub fn new(rule: WindowRule, warmup: Warmup) -> Self {
        Self {
            rule,
            warmup,
            arrivals: 0,
            from: Time::MAX,
            to: Time::MAX,
            ended: None,
            fixed: false,
            drains: false,
            load_goes_on: false,
            passes_over: false,
            until_steady: false,
            rounds_over: false,
            earliest: Time::ZERO,
            counted: 0,
            completed: 0,
            ends_with: u64::MAX,
            last_completion: Time::ZERO,
            edge: Time::MAX,
            edges: [Time::MAX; EDGES.len()],
        }
    }

    /// Delays the window until every flow loads the drive; the last one starts at `start`.
    pub fn after(self, start: Time) -> Self {
        match self.rule {
            WindowRule::Steady => Self { earliest: start, ..self },
            WindowRule::WholeRun => self,
        }
    }

    /// A window that rounds determine.
    pub fn until_steady(warmup: Warmup) -> Self {
        Self { until_steady: true, ..Self::new(WindowRule::Steady, warmup) }
    }

    /// True if flows start over until rounds end the run.
    pub fn is_until_steady(&self) -> bool {
        self.until_steady
    }

    /// Sets the window to the last rounds, which are over.
    pub(crate) fn rounds_ended(&mut self, rounds: TimeRange) {
        self.from = rounds.from;
        self.to = rounds.to;
        self.ended = Some(rounds.to);
        self.load_goes_on = true;
        self.rounds_over = true;
    }

    /// The window of another run, as a fixed window.
    pub fn fixed(other: &Self) -> Self {
        let mut window = Self::new(other.rule, Warmup::None);
        if other.rule == WindowRule::Steady {
            (window.from, window.to) = (other.from, other.to);
            window.ended = Some(other.ended.unwrap_or(other.to));
            window.fixed = true;
            window.load_goes_on = other.load_goes_on;
            if window.from > Time::ZERO {
                // Events at the first instant belong to the window.
                window.set(Edge::Open, Time(window.from.0 - 1));
            }
            window.set(Edge::Close, window.ended.unwrap_or(Time::MAX));
        }
        window
    }

    /// The first instant of the window, once it is open.
    pub fn opened(&self) -> Option<Time> {
        (self.from < Time::MAX).then_some(self.from)
    }

    /// The last instant at which arrivals count, once it is known.
    pub fn load_ended(&self) -> Option<Time> {
        (self.to < Time::MAX).then_some(self.to)
    }

    /// True if a request that arrives now counts.
    #[inline]
    pub(crate) fn admits(&mut self, now: Time) -> bool {
        self.arrivals += 1;
        let counts = now >= self.from && now <= self.to;
        self.counted += u64::from(counts);
        counts
    }

    /// True if the window is not open and this run decides when it opens.
    #[inline]
    pub(crate) fn may_open(&self) -> bool {
        self.from == Time::MAX && !self.fixed
    }

    /// A request arrives before the window is open. Opens the window if the warm-up is over; true
    /// if it does.
    pub(crate) fn opens(&mut self, now: Time) -> bool {
        let open = match self.warmup {
            Warmup::None => true,
            Warmup::Time(span) => now.0 >= span,
            Warmup::Requests(count) => self.arrivals > count,
        };
        // The load may have ended before.
        if open && now >= self.earliest && now <= self.to {
            self.from = now;
            self.counted += 1;
            return true;
        }
        false
    }

    /// Notes that a counted request has completed.
    #[inline]
    pub(crate) fn completed(&mut self, now: Time) {
        self.completed += 1;
        self.last_completion = now;
        if self.completed == self.ends_with {
            self.ended = Some(now);
            self.set(Edge::Close, now);
        }
    }

    /// Ends the load that was asked for. `drains`: a closed loop ends it.
    pub fn close(&mut self, now: Time, load_goes_on: bool, drains: bool) {
        if self.rule == WindowRule::Steady && self.to == Time::MAX && !self.until_steady {
            self.to = now;
            self.load_goes_on = load_goes_on;
            self.drains = drains && !load_goes_on;
            self.set(Edge::Close, now);
        }
    }

    /// Called when everything up to the end of the load has happened. True if the window is over,
    /// too.
    pub(crate) fn is_over(&mut self) -> bool {
        if self.ended.is_none() {
            if (self.drains || self.completed == 0) && self.completed < self.counted {
                self.ends_with = self.counted;
                return false;
            }
            self.ended = Some(self.to);
        }
        true
    }

    /// Every flow has ended its first pass. Where all requests count, no flow starts over any more.
    pub fn passes_ended(&mut self, now: Time) {
        self.passes_over = true;
        if self.rule == WindowRule::WholeRun && self.to == Time::MAX {
            // Later arrivals count, too, but the verdict is about the load up to here.
            self.set(Edge::Close, now);
        }
    }

    /// Ends the load before its time. Rounds go on with the outstanding requests.
    pub fn cut(&mut self, now: Time) {
        self.passes_ended(now);
        self.close(now, false, false);
    }

    /// True if no more requests are needed.
    #[inline]
    pub fn generation_over(&self, now: Time) -> bool {
        if self.until_steady {
            return self.rounds_over;
        }
        if self.rule == WindowRule::WholeRun {
            return self.passes_over;
        }
        if now <= self.to {
            return false;
        }
        let tail = Time(self.to.saturating_sub(self.from).0.saturating_mul(TAIL));
        self.counted == self.completed || now.saturating_sub(self.to) > tail
    }

    /// Checks what must hold when every request is complete.
    pub(crate) fn audit_end(&self) {
        assert_eq!(self.completed, self.counted, "every request that counts completes once");
    }

    /// True if no counted request has completed yet.
    pub(crate) fn is_burst(&self) -> bool {
        self.completed == 0
    }

    /// True if no arrival counts, because the warm-up lasted as long as the load.
    pub fn is_empty(&self) -> bool {
        self.counted == 0
    }

    /// Start and end of the span of rates.
    pub fn span(&self) -> TimeRange {
        let ended = self.ended.unwrap_or(self.last_completion);
        match self.rule {
            WindowRule::WholeRun => TimeRange { from: Time::ZERO, to: self.last_completion },
            WindowRule::Steady => TimeRange { from: self.from.min(ended), to: ended },
        }
    }

    /// Makes the run loop stop after `at`.
    pub(crate) fn set(&mut self, edge: Edge, at: Time) {
        self.edges[edge as usize] = at;
        self.edge = self.edges.into_iter().min().unwrap_or(Time::MAX);
    }

    /// Takes the next edge, with its time.
    pub(crate) fn take_edge(&mut self) -> Option<(Edge, Time)> {
        let edge = EDGES.into_iter().min_by_key(|&edge| self.edges[edge as usize])?;
        let at = self.edges[edge as usize];
        self.set(edge, Time::MAX);
        (at < Time::MAX).then_some((edge, at))
    }
}
