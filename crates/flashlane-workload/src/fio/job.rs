//! A copy of a job: it decides when to issue which request.

use flashlane_engine::Time;
use flashlane_units::RequestOp;

use super::choice::Choice;
use super::draw::{Draw, Stream};
use super::place::{Place, Places};
use super::plan::{DIRECTIONS, Plan, READ, TRIM, WRITE};
use super::rates::{Rates, first_resumed};
use super::state::{Next, State};
use super::zbd::{Moved, Request, Zbd};
use crate::Directive;
use crate::config::FioRw;

/// A copy of the job.
#[derive(Clone, Debug)]
pub(super) struct Job {
    places: Places,
    mix: Draw,
    rates: Rates,
    choice: Choice,
    seed: u64,
    state: State,
    outstanding: u32,
    /// True while a flush or a command to a zone is under way that the job waits for.
    flushing: bool,
    /// The request that comes after a command to a zone.
    held: Option<Place>,
    /// A direction that was chosen before the job had to wait.
    chosen: Option<usize>,
    /// Requests issued and complete, without flushes.
    issued: [u64; 3],
    completed: u64,
    /// Bytes issued, over all passes.
    bytes: [u64; 3],
    after_flush: bool,
    loops: u64,
    start: Time,
    /// Time at which the last pause ended; see [`first_resumed`].
    resumed: Time,
    /// True if a pause must be considered when the current request is complete.
    pause_due: bool,
}

impl Job {
    pub(super) fn new(plan: &Plan, seed: u64, copy: u32) -> Self {
        let mut job = Self {
            places: Places::new(plan, seed, copy),
            mix: Draw::new(0),
            rates: Rates::default(),
            choice: Choice::new(plan),
            seed,
            state: State::Running,
            outstanding: 0,
            flushing: false,
            held: None,
            chosen: None,
            issued: [0; 3],
            completed: 0,
            bytes: [0; 3],
            after_flush: false,
            loops: plan.config.loops.max(1) - 1,
            start: Time::ZERO,
            resumed: first_resumed(plan, Time::ZERO),
            pause_due: false,
        };
        job.seed_draws(plan);
        job
    }

    /// Starts a new pass at `now`; requests may be outstanding.
    pub(super) fn restart(&mut self, plan: &Plan, now: Time) {
        let (seed, copy, outstanding) = (self.seed, self.places.copy(), self.outstanding);
        if plan.config.repeat {
            *self = Self::new(plan, seed, copy);
        } else {
            let (mut places, mix) = (self.places.clone(), self.mix.clone());
            let (rates, choice) = (self.rates.restarted(), self.choice.clone());
            places.restart(plan);
            *self = Self { places, mix, rates, choice, ..Self::new(plan, seed, copy) };
        }
        (self.outstanding, self.start) = (outstanding, now);
        self.resumed = first_resumed(plan, now);
    }

    fn seed_draws(&mut self, plan: &Plan) {
        let number = plan.config.first_job + self.places.copy();
        let of = |stream| Draw::stream(self.seed, number, plan.config.repeat, stream);
        self.mix = of(Stream::Mix);
        self.rates.seed([Stream::ReadGap, Stream::WriteGap, Stream::TrimGap].map(of));
        self.choice.seed(of(Stream::Placement));
    }

    /// The placement directive of a request of this job.
    pub(super) fn directive(&mut self, plan: &Plan, op: RequestOp, place: Place) -> Directive {
        match op {
            RequestOp::Write => self.choice.next(plan, place.file),
            _ => Directive::NONE,
        }
    }

    /// Switches to other draws from the same distributions, without an end, for the past of the
    /// flow. Streams reach their start after `bytes`.
    pub(super) fn diverge(&mut self, plan: &Plan, bytes: u64) {
        let copy = self.places.copy();
        *self = Self::new(plan, self.seed.rotate_left(17) ^ 0x5DEE_CE66, copy);
        if !plan.config.random {
            self.places.set_back(plan, bytes);
        }
    }

    /// Notes that a request is complete.
    pub(super) fn complete(&mut self, op: RequestOp) {
        self.outstanding = self.outstanding.saturating_sub(1);
        if op == RequestOp::Flush || op.manages_zone() {
            self.flushing = false;
        } else {
            self.completed += 1;
        }
    }

    /// Number of issued bytes.
    pub(super) fn gone(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// The next step of the job at `now`. `is_late`: the time of the job is over. `zones`: those
    /// that requests go to, if the job knows zones.
    pub(super) fn step(
        &mut self,
        plan: &Plan,
        zones: &mut Option<Zbd>,
        now: Time,
        is_late: bool,
    ) -> Next {
        loop {
            if self.flushing {
                return Next::Hold;
            }
            if self.pause_due && (self.outstanding == 0 || !plan.config.blocking) {
                self.pause_due = false;
                if self.must_pause(plan, now) {
                    self.state = State::Pausing;
                }
            }
            match self.state {
                State::Over => return Next::End,
                State::Pausing | State::Paced { .. } | State::PassEnds { .. }
                    if self.outstanding > 0 =>
                {
                    return Next::Hold;
                }
                State::Pausing => {
                    let time = plan.config.think.map_or(0, |think| think.time.0);
                    if plan.config.think.is_some_and(|think| think.shifts_rate) {
                        self.rates.shift(time);
                    }
                    self.state = State::Paused(now + Time(time));
                }
                State::Paused(until) if now < until && !is_late => return Next::Wait(until),
                State::Paused(_) => {
                    self.resumed = now;
                    self.state = State::Running;
                }
                State::Paced { until, .. } if now < until && !is_late => return Next::Wait(until),
                State::Paced { direction, .. } => {
                    self.chosen = Some(direction);
                    self.state = State::Running;
                }
                State::PassEnds { flushes: 0 } => self.end_pass(plan, is_late),
                State::PassEnds { flushes } => {
                    self.state = State::PassEnds { flushes: flushes - 1 };
                    let place = Place { file: flushes - 1, start: 0, bytes: 0 };
                    return self.issue_flush(plan, place);
                }
                State::Running if self.outstanding >= plan.depth => return Next::Hold,
                State::Running => {
                    if is_late || !plan.config.time_based && self.is_through(plan) {
                        self.wind_up(plan);
                    } else if let Some(next) = self.next(plan, zones, now) {
                        return next;
                    }
                }
            }
        }
    }

    /// Ends the pass once its requests are complete and flushed.
    fn wind_up(&mut self, plan: &Plan) {
        let flushes = plan.config.end_fsync && plan.does(WRITE);
        let flushes = if flushes { plan.config.files.max(1) } else { 0 };
        self.state = State::PassEnds { flushes };
    }

    /// True if the job has issued all its bytes or requests.
    fn is_through(&self, plan: &Plan) -> bool {
        let bytes = match plan.config.rw {
            FioRw::TrimWrite => self.bytes[WRITE],
            _ => self.bytes.iter().sum(),
        };
        bytes >= plan.limit || self.issued.iter().sum::<u64>() >= plan.requests
    }

    /// Starts the next pass, or ends the job.
    fn end_pass(&mut self, plan: &Plan, is_late: bool) {
        let bytes: u64 = self.bytes.iter().sum();
        let rest = plan.pass.saturating_sub(bytes);
        let largest = plan.directions.iter().map(|one| one.largest).max().unwrap_or(0);
        let goes_on = if self.loops > 0 {
            self.loops -= 1;
            true
        } else {
            !self.is_through(plan) && rest >= largest.max(1) && plan.config.io_size.is_some()
        };
        if is_late || !goes_on {
            self.state = State::Over;
            return;
        }
        self.state = State::Running;
        (self.chosen, self.held) = (None, None);
        self.after_flush = false;
        if plan.config.repeat {
            self.places = Places::new(plan, self.seed, self.places.copy());
            self.seed_draws(plan);
        } else {
            self.places.restart(plan);
        }
    }

    /// The next request; `None` if the job has changed state and must be asked again.
    fn next(&mut self, plan: &Plan, zones: &mut Option<Zbd>, now: Time) -> Option<Next> {
        let file = if self.chosen.is_none() { self.places.pick_file(plan) } else { Some(0) };
        let Some(file) = file else {
            self.wind_up(plan);
            return None;
        };
        if self.chosen.is_none() && self.must_flush(plan) {
            return Some(self.issue_flush(plan, Place { file, start: 0, bytes: 0 }));
        }
        let direction = match self.chosen.take() {
            Some(direction) => direction,
            None => match self.choose(plan, now) {
                Ok(direction) => direction,
                Err(until) => {
                    self.state = until;
                    return None;
                }
            },
        };
        let Some(place) = self.held.take().or_else(|| self.places.next(plan, direction)) else {
            self.places.finish_file();
            return None;
        };
        let place = match zones {
            None => place,
            Some(zones) => match self.go_to_zone(plan, zones, direction, place) {
                Ok(place) => place,
                Err(instead) => return instead,
            },
        };
        self.issued[direction] += 1;
        self.bytes[direction] += place.bytes;
        self.after_flush = false;
        self.outstanding += 1;
        self.rates.pace(plan, direction, self.bytes[direction]);
        self.pause_due = plan.config.think.is_some();
        Some(Next::Issue(DIRECTIONS[direction], place))
    }

    /// The place of a request that moves to its zone; otherwise what the job does instead.
    fn go_to_zone(
        &mut self,
        plan: &Plan,
        zones: &mut Zbd,
        direction: usize,
        place: Place,
    ) -> Result<Place, Option<Next>> {
        let (copy, is_alone) = (self.places.copy(), self.outstanding == 0);
        match zones.go(plan, Request { copy, direction, place, is_alone }) {
            Moved::To(moved) => return Ok(self.places.moved(direction, moved)),
            Moved::After(op, zone) => {
                (self.chosen, self.held) = (Some(direction), Some(place));
                self.outstanding += 1;
                self.flushing = true;
                return Err(Some(Next::Manage(op, zone)));
            }
            Moved::Later => {
                (self.chosen, self.held) = (Some(direction), Some(place));
                return Err(Some(Next::Hold));
            }
            // A mix writes where it has nothing to read.
            Moved::Nowhere if direction == READ && plan.does(WRITE) => self.chosen = Some(WRITE),
            Moved::Nowhere => self.places.finish_file(),
        }
        Err(None)
    }

    fn issue_flush(&mut self, plan: &Plan, place: Place) -> Next {
        self.outstanding += 1;
        self.flushing = !plan.config.queued_flushes;
        self.after_flush = true;
        Next::Issue(RequestOp::Flush, place)
    }

    /// True if a flush is due by the number of writes and none was issued since the last request.
    fn must_flush(&self, plan: &Plan) -> bool {
        let writes = self.issued[WRITE];
        let due = |every: u64| every > 0 && writes > 0 && writes.is_multiple_of(every);
        plan.does(WRITE)
            && !self.after_flush
            && (due(plan.config.fsync) || due(plan.config.fdatasync))
    }

    /// Chooses the direction of the next request, or a wait for its time.
    fn choose(&mut self, plan: &Plan, now: Time) -> Result<usize, State> {
        let wanted = match plan.config.rw {
            FioRw::Read => READ,
            FioRw::Write => WRITE,
            FioRw::Trim => TRIM,
            FioRw::ReadWrite if self.mix.percent() <= plan.config.read_percent => READ,
            FioRw::ReadWrite => WRITE,
            FioRw::TrimWrite if self.issued[TRIM] == self.issued[WRITE] => TRIM,
            FioRw::TrimWrite => WRITE,
        };
        let time = |direction: usize| self.rates.time(plan, direction, self.start);
        if time(wanted) <= now {
            return Ok(wanted);
        }
        let other = READ + WRITE - wanted.min(WRITE);
        let (until, direction) = match plan.config.rw {
            FioRw::ReadWrite if self.may_switch(plan, other) => {
                if time(other) < now {
                    return Ok(other);
                }
                if time(wanted) <= time(other) {
                    (time(wanted), wanted)
                } else {
                    (time(other), other)
                }
            }
            _ => (time(wanted), wanted),
        };
        Err(State::Paced { until, direction })
    }

    /// True if the mix has requests left for the other direction.
    fn may_switch(&self, plan: &Plan, other: usize) -> bool {
        let reads = plan.config.read_percent;
        if other == READ { reads > 0 } else { reads < 100 }
    }

    /// True if a pause is due.
    fn must_pause(&self, plan: &Plan, now: Time) -> bool {
        let Some(think) = plan.config.think else { return false };
        let since = now.saturating_sub(self.resumed);
        if think.after.is_some_and(|after| since >= Time(after.0)) {
            return true;
        }
        let blocks = match (think.blocks, think.after) {
            (Some(blocks), _) => blocks.max(1),
            (None, None) => 1,
            (None, Some(_)) => return false,
        };
        let count = if think.issued { self.issued.iter().sum() } else { self.completed };
        count > 0 && count % blocks == 0
    }
}
