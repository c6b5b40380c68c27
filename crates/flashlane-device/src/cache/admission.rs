//! Admission of writes beyond what slots decide: by rate (`cache.admission = "rate"`), and in
//! pauses (`[cache.pause]`, `pause.rs`).
//!
//! By rate: above a fill level of the buffer, writes are admitted at a pace that follows the rate
//! at which the buffer drains. The fill is the data of a pool on its way to flash. Up to the mark,
//! every write is admitted at once. Above it, the time from one admitted write to the next one is a
//! product: its sectors, the mean time in which a sector drains, and a factor that grows with the
//! fill. The factor is 0 at the mark, 1 halfway between the mark and the bound, and 2 at the bound.
//! It is a cubic that is flat in the middle, so that the buffer takes up the bursts of the flash,
//! and the writers do not. The fill settles halfway, whatever the flash sustains. All is integer
//! arithmetic in picoseconds and sectors.
//!
//! Invariants: nothing is delayed while the fill is at or below the mark and no pause runs; the end
//! of a delay is ahead.
//! Source: our own rule; `docs/model-cache.md` names the public measurements that it imitates.

use flashlane_engine::{EventQueue, Time};
use flashlane_units::{FlowId, Lpa};

use super::Cache;
use super::config::{Admission, CacheConfig};
use super::pause::Pause;
use crate::event::Event;

/// One in the arithmetic of [`Pace::factor`], and its cube root.
const ONE: u64 = 1 << 30;
const ROOT: i64 = 1 << 10;

/// What delays the writes of a pool although there is room.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pace: Option<Pace>,
    pause: Option<Pause>,
    /// Fill before the write that is being admitted. Unit: sectors.
    before: u64,
    /// Time of the event that ends the wait of the write that has waited longest.
    alarm: Option<Time>,
}

/// The pace at which the writes of a pool are admitted.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Fill up to which writes are admitted at once. Unit: sectors.
    mark: u64,
    /// Fill at which no write is admitted. Unit: sectors.
    bound: u64,
    /// Sectors at which older ones begin to count less.
    window: u64,
    /// Time in which `drained` sectors left, while the fill was above the mark all the time.
    /// Unit: picoseconds.
    time: u64,
    drained: u64,
    /// The last time at which data left.
    last: Time,
    /// True if the fill has been above the mark since then.
    above: bool,
    /// The next write may be admitted now.
    next: Time,
    counts: AdmissionCounts,
}

/// What the pace and the pauses did, over all pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdmissionCounts {
    /// Pages admitted while the fill was above the mark, at the pace.
    pub paced: u64,
    /// Sectors that drained while the fill was above the mark.
    pub drained: u64,
    /// The time that they took, as a sum over the pools. Unit: picoseconds.
    pub drain_time: u128,
    /// Pauses that delayed a write.
    pub pauses: u64,
}

impl Gate {
    /// The gate of a pool whose fill is bounded by `bound` sectors, if the configuration wants one.
    /// `page`: sectors of a page.
    fn new(config: &CacheConfig, bound: u64, page: u64) -> Option<Self> {
        let by_rate = config.admission == Admission::Rate;
        let pace = by_rate.then(|| Pace::new(config, bound, page));
        let pause = Pause::new(&config.pause);
        let is_used = pace.is_some() || pause.is_some();
        is_used.then_some(Self { pace, pause, before: 0, alarm: None })
    }

    /// The time until which the next write is delayed, if it is. Notes the fill for
    /// [`Self::admitted`].
    fn delayed_until(&mut self, fill: u64, now: Time) -> Option<Time> {
        self.before = fill;
        let pace = self.pace.as_ref().and_then(|pace| pace.delayed_until(fill, now));
        let pause = self.pause.as_mut().and_then(|pause| pause.delays_until(now));
        pace.max(pause)
    }

    /// A write was admitted, which has added to the fill.
    fn admitted(&mut self, fill: u64, now: Time) {
        assert!(fill >= self.before, "a write that is admitted takes nothing out of the buffer");
        let added = fill - self.before;
        if added == 0 {
            return;
        }
        if let Some(pace) = &mut self.pace {
            pace.admitted(fill, added, now);
        }
        if let Some(pause) = &mut self.pause {
            pause.admitted(added, now);
        }
    }

    /// Checks the state between two events. `waits`: a write waits for room or for the gate.
    pub(super) fn audit(&self, fill: u64, waits: bool, now: Time) {
        assert!(self.alarm.is_none_or(|at| at >= now), "the end of a wait is ahead");
        let pauses = self.pause.as_ref().is_some_and(|pause| pause.delays(now));
        assert!(!waits || fill > 0 || pauses, "a write waits only for data on its way to flash");
        if let Some(pace) = &self.pace {
            pace.audit(now);
        }
        if let Some(pause) = &self.pause {
            pause.audit();
        }
    }

    fn counts(&self) -> AdmissionCounts {
        let pace = self.pace.as_ref().map_or_else(AdmissionCounts::default, |pace| pace.counts);
        let pauses = self.pause.as_ref().map_or(0, Pause::count);
        AdmissionCounts { pauses, ..pace }
    }
}

impl Pace {
    /// The pace of a pool whose fill is bounded by `bound` sectors. `page`: sectors of a page.
    pub(super) fn new(config: &CacheConfig, bound: u64, page: u64) -> Self {
        let mark = (config.admission_mark.0 * bound as f64) as u64;
        Self {
            mark: mark.min(bound - 1),
            bound,
            window: u64::from(config.admission_window) * page,
            time: 0,
            drained: 0,
            last: Time::ZERO,
            above: false,
            next: Time::ZERO,
            counts: AdmissionCounts::default(),
        }
    }

    /// Time for which `sectors` more sectors delay the writes after them, at a fill.
    fn interval(&self, fill: u64, sectors: u64) -> Time {
        // Until half of a window has drained, the rate is not known, and slots alone decide.
        if fill <= self.mark || self.drained < self.window / 2 {
            return Time::ZERO;
        }
        let whole = u128::from(self.time) * u128::from(sectors) * u128::from(self.factor(fill));
        let parts = u128::from(self.drained) * u128::from(ONE);
        Time(u64::try_from(whole / parts).unwrap_or(u64::MAX))
    }

    /// `1 + x^3`, where `x` goes from -1 at the mark to 1 at the bound. Unit: 1 / [`ONE`].
    fn factor(&self, fill: u64) -> u64 {
        let above = (fill.min(self.bound) - self.mark) as i64;
        let room = (self.bound - self.mark) as i64;
        let x = (2 * above - room) * ROOT / room;
        let factor = ROOT * ROOT * ROOT + x * x * x;
        assert!((0..=2 * ONE as i64).contains(&factor), "the pace is slowest at the bound");
        factor as u64
    }

    /// The time until which the next write is delayed, if it is.
    fn delayed_until(&self, fill: u64, now: Time) -> Option<Time> {
        (fill > self.mark && now < self.next).then_some(self.next)
    }

    /// A write was admitted, which has added some sectors to the fill.
    fn admitted(&mut self, fill: u64, added: u64, now: Time) {
        self.next = now + self.interval(fill, added);
        self.counts.paced += u64::from(self.next > now);
    }

    /// Sectors have left the buffer, which has `fill` now.
    fn drained(&mut self, fill: u64, sectors: u64, now: Time) {
        if self.above {
            let time = (now - self.last).0;
            (self.time, self.drained) = (self.time + time, self.drained + sectors);
            self.counts.drained += sectors;
            self.counts.drain_time += u128::from(time);
            if self.drained >= self.window {
                (self.time, self.drained) = (self.time / 2, self.drained / 2);
            }
        }
        (self.last, self.above) = (now, fill > self.mark);
    }

    /// Checks the state between two events.
    fn audit(&self, now: Time) {
        assert!(self.mark < self.bound, "writes are delayed below the bound");
        assert!(self.drained < self.window, "older sectors count less");
        assert!(!self.above || self.last <= now, "data has left before now");
    }
}

impl Cache {
    /// True if more than slots decides when a write is admitted.
    #[inline]
    pub(crate) fn is_gated(&self) -> bool {
        !self.gates.is_empty()
    }

    /// Gates for the pools, if the configuration wants them.
    pub(super) fn gated(mut self, config: &CacheConfig, page: u64) -> Self {
        let of = |pool: &super::Pool| Gate::new(config, pool.fill_max(page), page);
        self.gates = self.pools.iter().filter_map(of).collect();
        self
    }

    /// True if the next page of the longest waiting write of a pool has to wait although there is
    /// room; an event will end the wait. A page that is changed already is merged, which takes
    /// nothing from the flash, so it does not wait.
    #[cold]
    pub(crate) fn delays(
        &mut self,
        flow: FlowId,
        lpa: Lpa,
        now: Time,
        events: &mut EventQueue<Event>,
    ) -> bool {
        let at = self.pool_at(flow);
        let (pool, gate) = (&self.pools[at], &mut self.gates[at]);
        let until = gate.delayed_until(pool.in_flight(), now);
        let Some(until) = until.filter(|_| !pool.cached().is_dirty(lpa)) else { return false };
        if gate.alarm.is_none_or(|alarm| until < alarm) {
            gate.alarm = Some(until);
            events.schedule(until, Event::Admission { flow });
        }
        true
    }

    /// The page of a write was accepted, and its write-backs have begun.
    #[cold]
    pub(crate) fn admitted(&mut self, flow: FlowId, now: Time) {
        let at = self.pool_at(flow);
        self.gates[at].admitted(self.pools[at].in_flight(), now);
    }

    /// A write-back has left the buffer.
    #[cold]
    pub(crate) fn drained(&mut self, flow: FlowId, sectors: u32, now: Time) {
        let at = self.pool_at(flow);
        if let Some(pace) = &mut self.gates[at].pace {
            pace.drained(self.pools[at].in_flight(), sectors.into(), now);
        }
    }

    /// The event that ends the wait of a write has come. It may be older than the last one.
    pub(crate) fn admission_due(&mut self, flow: FlowId, now: Time) {
        let at = self.pool_at(flow);
        let alarm = &mut self.gates[at].alarm;
        if alarm.is_some_and(|at| at <= now) {
            *alarm = None;
        }
    }

    /// What the gates did so far, where there are any.
    pub fn admission_counts(&self) -> Option<AdmissionCounts> {
        self.gates.iter().map(Gate::counts).reduce(|a, b| AdmissionCounts {
            paced: a.paced + b.paced,
            drained: a.drained + b.drained,
            drain_time: a.drain_time + b.drain_time,
            pauses: a.pauses + b.pauses,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::Ratio;

    /// A pace for 1000 sectors, with the mark at the middle and a window of 128 sectors.
    fn pace() -> Pace {
        let config = CacheConfig {
            admission_mark: Ratio(0.5),
            admission_window: 16,
            ..CacheConfig::default()
        };
        Pace::new(&config, 1000, 8)
    }

    /// A pace that has seen a sector drain every 100 ps.
    fn measured() -> Pace {
        let mut pace = pace();
        for step in 0..40 {
            pace.drained(900, 8, Time(800 * step));
        }
        pace
    }

    #[test]
    fn the_factor_is_flat_in_the_middle() {
        let pace = pace();
        assert_eq!([500, 750, 1000].map(|fill| pace.factor(fill)), [0, ONE, 2 * ONE]);
        let near = [700, 800].map(|fill| pace.factor(fill) as f64 / ONE as f64);
        assert!((near[0] - 0.992).abs() < 1e-3 && (near[1] - 1.008).abs() < 1e-3, "{near:?}");
        assert!((501..=1000).all(|fill| pace.factor(fill) >= pace.factor(fill - 1)));
        assert_eq!(pace.factor(2000), 2 * ONE, "a flush may fill the buffer beyond its bound");
    }

    #[test]
    fn a_write_delays_the_next_one_for_its_own_time() {
        let mut pace = measured();
        assert_eq!(pace.delayed_until(742, Time(50_000)), None);
        pace.admitted(750, 8, Time(50_000));
        assert_eq!(
            pace.delayed_until(750, Time(50_000)),
            Some(Time(50_800)),
            "8 sectors of 100 ps"
        );
        assert_eq!(pace.delayed_until(500, Time(50_000)), None, "nothing at the mark");
        assert_eq!(pace.delayed_until(750, Time(50_800)), None);
        assert_eq!(pace.delayed_until(936, Time(60_000)), None);
        pace.admitted(1000, 64, Time(60_000));
        assert_eq!(pace.next, Time(60_000 + 2 * 6_400), "slower at the bound");
        assert_eq!(pace.counts.paced, 2);
    }

    #[test]
    fn a_merge_takes_nothing() {
        let config = CacheConfig { admission: Admission::Rate, ..CacheConfig::default() };
        let mut gate = Gate::new(&config, 1000, 8).expect("by rate");
        gate.pace = Some(measured());
        assert_eq!(gate.delayed_until(750, Time(50_000)), None);
        gate.admitted(750, Time(50_000));
        assert_eq!(gate.delayed_until(750, Time(50_000)), None);
        gate.admitted(758, Time(50_000));
        assert!(gate.delayed_until(758, Time(50_000)).is_some(), "8 sectors were added");
        gate.audit(758, true, Time(50_000));
        assert!(Gate::new(&CacheConfig::default(), 1000, 8).is_none());
    }

    #[test]
    fn only_the_time_above_the_mark_counts() {
        let mut pace = measured();
        let rate = |pace: &Pace| pace.time / pace.drained;
        assert_eq!(rate(&pace), 100);
        pace.drained(500, 8, Time(32_000));
        // The buffer is at the mark for long.
        pace.drained(700, 8, Time(1_000_000));
        pace.drained(700, 8, Time(1_000_800));
        assert_eq!(rate(&pace), 100);
        let before = pace.counts;
        pace.drained(700, 8, Time(1_002_400));
        assert_eq!(pace.counts.drain_time, before.drain_time + 1_600, "now it is slower");
        assert!(rate(&pace) > 100);
        pace.audit(Time(1_002_400));
    }

    #[test]
    fn nothing_is_delayed_until_the_rate_is_known() {
        let mut pace = pace();
        assert_eq!(pace.delayed_until(742, Time(10)), None);
        pace.admitted(750, 8, Time(10));
        assert_eq!(pace.delayed_until(750, Time(10)), None);
    }
}
