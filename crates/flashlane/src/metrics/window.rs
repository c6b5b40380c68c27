//! Which requests count.
//!
//! The window opens after the warm-up. It closes when every flow has ended its first pass, or
//! when the first flow ends that does not start over, whichever comes first: from then on the load
//! would not be the one asked for. Flows that start over go on until everything that counts has
//! completed, but for no longer than the window was open.

use flashlane_engine::Time;

use crate::config::WindowRule;
use crate::run::Warmup;

/// Largest part of the window's length for which the load goes on after it.
const TAIL: u64 = 1;

/// The measurement window.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    rule: WindowRule,
    warmup: Warmup,
    /// Requests seen by `admits`.
    arrivals: u64,
    pub(crate) opened: Option<Time>,
    pub(crate) closed: Option<Time>,
    /// The window was given and does not depend on this run.
    fixed: bool,
    /// The load goes on after the window.
    load_goes_on: bool,
    /// Every flow has ended its first pass.
    passes_over: bool,
    /// Rounds decide: whether the run ends with steady state, and whether they are over.
    until_steady: bool,
    rounds_over: bool,
    counted: u64,
    completed: u64,
    pub(crate) last_completion: Time,
}

impl Window {
    /// A window that the run itself determines.
    pub(crate) fn new(rule: WindowRule, warmup: Warmup) -> Self {
        Self {
            rule,
            warmup,
            arrivals: 0,
            opened: None,
            closed: None,
            fixed: false,
            load_goes_on: false,
            passes_over: false,
            until_steady: false,
            rounds_over: false,
            counted: 0,
            completed: 0,
            last_completion: Time::ZERO,
        }
    }

    /// A window that rounds determine.
    pub(crate) fn until_steady(warmup: Warmup) -> Self {
        Self { until_steady: true, ..Self::new(WindowRule::Steady, warmup) }
    }

    /// Flows start over until rounds end the run.
    pub(crate) fn is_until_steady(&self) -> bool {
        self.until_steady
    }

    /// The rounds are over; these are the start and the end of the last ones.
    pub(crate) fn rounds_ended(&mut self, (opened, closed): (Time, Time)) {
        self.opened = Some(opened);
        self.closed = Some(closed);
        self.load_goes_on = true;
        self.rounds_over = true;
    }

    /// The window of another run.
    pub(crate) fn fixed(other: &Self) -> Self {
        let mut window = Self::new(other.rule, Warmup::None);
        if other.rule == WindowRule::Steady {
            window.opened = Some(other.opened.unwrap_or(Time::MAX));
            window.closed = Some(other.closed.unwrap_or(Time::MAX));
            window.fixed = true;
            window.load_goes_on = other.load_goes_on;
        }
        window
    }

    /// A request arrives: does it count?
    #[inline]
    pub(crate) fn admits(&mut self, now: Time) -> bool {
        self.arrivals += 1;
        if self.opened.is_none() {
            let open = match self.warmup {
                Warmup::None => true,
                Warmup::Time(span) => now.0 >= span,
                Warmup::Requests(count) => self.arrivals > count,
            };
            if open {
                self.opened = Some(now);
            }
        }
        let counts =
            self.opened.is_some_and(|at| now >= at) && self.closed.is_none_or(|at| now <= at);
        self.counted += u64::from(counts);
        counts
    }

    /// A counted request has completed.
    #[inline]
    pub(crate) fn completed(&mut self, now: Time) {
        self.completed += 1;
        self.last_completion = now;
    }

    /// The load that was asked for ends now.
    pub(crate) fn close(&mut self, now: Time, load_goes_on: bool) {
        if self.rule == WindowRule::Steady && self.closed.is_none() && !self.until_steady {
            self.closed = Some(now);
            self.load_goes_on = load_goes_on;
        }
    }

    /// Every flow has ended its first pass: where all requests count, none starts over any more.
    pub(crate) fn passes_ended(&mut self) {
        self.passes_over = true;
    }

    /// No more requests are needed.
    #[inline]
    pub(crate) fn generation_over(&self, now: Time) -> bool {
        if self.until_steady {
            return self.rounds_over;
        }
        if self.rule == WindowRule::WholeRun {
            return self.passes_over;
        }
        let Some(closed) = self.closed else { return false };
        if now <= closed {
            return false;
        }
        let opened = self.opened.unwrap_or(Time::ZERO);
        let tail = Time(closed.saturating_sub(opened).0.saturating_mul(TAIL));
        self.counted == self.completed || now.saturating_sub(closed) > tail
    }

    /// Start and end over which rates are formed. Where the load ends with the window, the end is
    /// that of the last counted completion.
    pub(crate) fn span(&self, end: Time) -> (Time, Time) {
        let opened = match self.rule {
            WindowRule::WholeRun => Time::ZERO,
            WindowRule::Steady => self.opened.unwrap_or(Time::ZERO),
        };
        let closed = match self.closed {
            Some(at) if self.load_goes_on => at,
            Some(at) => at.max(self.last_completion),
            None if self.rule == WindowRule::WholeRun => self.last_completion,
            None => end,
        };
        // A window given by another run may lie behind the end of this one.
        (opened.min(closed), closed)
    }
}
