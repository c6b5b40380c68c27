//! Warps of a GPU: a closed loop of batches. Each warp makes a batch of requests, waits for all of
//! them, thinks, and makes the next batch.
//!
//! Memory: 4 B for each warp, and 16 B for each warp that thinks. Nothing is allocated for a
//! request.
//!
//! Invariants: at most `count * reads` requests are outstanding; a batch begins no earlier than the
//! end of the warp's last batch plus its think time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use flashlane_engine::{Rng, Time};
use flashlane_reading::Error;

use super::pace::Gap;
use super::synthetic::SyntheticSource;
use super::{JobSource, JobStep, Planned, RequestSource};
use crate::config::{SyntheticConfig, ThinkTimes, WarpsConfig};
use crate::footprint::Footprint;
use flashlane_device::layout::FlowSpace;

/// A flow of warps.
#[derive(Clone, Debug)]
pub struct WarpSource {
    /// Draws the requests and knows the end of a pass.
    requests: SyntheticSource,
    reads: u32,
    queue_pairs: u32,
    /// Mean think time. Unit: picoseconds.
    think_ps: u64,
    think: ThinkTimes,
    think_rng: Rng,
    /// By warp: outstanding requests of its batch.
    outstanding: Vec<u32>,
    /// Outstanding requests of all warps.
    outstanding_all: u64,
    /// Warps that think, and warps whose turn has come: by the time of their next batch.
    thinking: BinaryHeap<Reverse<(Time, u32)>>,
    /// The warp that makes its batch, and the requests that are left of the batch.
    current: Option<(u32, u32)>,
    /// The warp whose batch has just ended; the next step sets the time of its next batch.
    ended: Option<u32>,
    /// True if all requests of the pass were made.
    exhausted: bool,
}

impl WarpSource {
    /// The warps of a valid configuration, before their first batches. The other parameters are
    /// those of [`SyntheticSource::new`].
    #[must_use]
    pub fn new(
        config: &SyntheticConfig,
        warps: &WarpsConfig,
        space: &FlowSpace,
        page_bytes: u64,
        seed: u64,
        flow: u64,
    ) -> Self {
        let own = config.seed.unwrap_or(seed);
        let mut made = Self {
            requests: SyntheticSource::new(config, space, page_bytes, seed, flow),
            reads: warps.reads,
            queue_pairs: warps.queue_pairs.into(),
            think_ps: warps.think_time.0,
            think: warps.think,
            think_rng: Rng::stream(own, "workload.think", flow),
            outstanding: vec![0; warps.count as usize],
            outstanding_all: 0,
            thinking: BinaryHeap::with_capacity(warps.count as usize),
            current: None,
            ended: None,
            exhausted: false,
        };
        made.begin(Time::ZERO);
        made
    }

    /// The part of the space that the requests touch.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        self.requests.footprint()
    }

    /// Begins a pass: every warp makes its first batch at `now`.
    fn begin(&mut self, now: Time) {
        assert_eq!(self.outstanding_all, 0, "a pass begins when the last one is complete");
        self.thinking.clear();
        (self.current, self.ended, self.exhausted) = (None, None, false);
        let warps = self.outstanding.len() as u32;
        self.thinking.extend((0..warps).map(|warp| Reverse((now, warp))));
    }

    /// A think time.
    fn draw_think(&mut self) -> Time {
        match self.think {
            ThinkTimes::Constant => Time(self.think_ps),
            ThinkTimes::Exponential => {
                let factor = self.think_rng.exponential();
                Gap::from_ps(factor * self.think_ps as f64).whole()
            }
        }
    }

    /// The next request of the current batch, or of the batch of a warp whose time has come. `None`
    /// if there is none at `now`.
    fn draw(&mut self, now: Time) -> Option<(Planned, u32)> {
        let (warp, left) = match self.current.take() {
            Some(current) => current,
            None => {
                let &Reverse((at, warp)) = self.thinking.peek().filter(|next| next.0.0 <= now)?;
                debug_assert!(at <= now, "a warp thinks for its whole think time");
                self.thinking.pop();
                assert_eq!(self.outstanding[warp as usize], 0, "a warp has one batch at a time");
                (warp, self.reads)
            }
        };
        // A synthetic source reads no file, so it cannot fail; the pass is not over.
        let planned = self.requests.next(now).ok().flatten().expect("the pass has requests");
        self.current = (left > 1).then_some((warp, left - 1));
        self.outstanding[warp as usize] += 1;
        self.outstanding_all += 1;
        Some((Planned { queue: (warp % self.queue_pairs) as u16, ..planned }, warp))
    }
}

impl JobSource for WarpSource {
    fn step(&mut self, now: Time) -> JobStep {
        if let Some(warp) = self.ended.take() {
            let at = Time(now.0.saturating_add(self.draw_think().0));
            if !self.exhausted {
                self.thinking.push(Reverse((at, warp)));
            }
        }
        if self.requests.is_over(now) {
            self.exhausted = true;
            self.current = None;
            self.thinking.clear();
        } else if let Some((planned, warp)) = self.draw(now) {
            return JobStep::Submit(planned, warp.into());
        }
        match self.thinking.peek() {
            Some(&Reverse((at, _))) => JobStep::Wait(at.min(self.requests.ends_at())),
            None if self.outstanding_all > 0 => JobStep::Hold,
            None => JobStep::End,
        }
    }

    fn completed(&mut self, cookie: u64) {
        let warp = cookie as u32;
        let outstanding = &mut self.outstanding[warp as usize];
        assert!(*outstanding > 0, "a request of a warp completes once");
        *outstanding -= 1;
        self.outstanding_all -= 1;
        let makes_batch = self.current.is_some_and(|(current, _)| current == warp);
        if *outstanding == 0 && !makes_batch {
            // A flow that was stopped takes no further step.
            self.ended = Some(warp);
        }
    }
}

impl RequestSource for WarpSource {
    /// The next request, as if it completed at once and no warp thought.
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error> {
        self.requests.next(now)
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.begin(now);
        self.requests.restart(now)
    }

    fn closed_loop(&self) -> Option<u32> {
        Some((self.outstanding.len() as u32).saturating_mul(self.reads))
    }

    fn job(&mut self) -> Option<&mut dyn JobSource> {
        Some(self)
    }

    fn time_limit(&self) -> Option<Time> {
        self.requests.time_limit()
    }

    fn endless(&self) -> bool {
        self.requests.endless()
    }

    fn progress(&self, now: Time) -> f64 {
        self.requests.progress(now)
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        self.requests.diverge(back)
    }

    fn gone(&self) -> u64 {
        self.requests.gone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::{ByteSize, Span};

    fn source(warps: &WarpsConfig, requests: u64) -> WarpSource {
        let config = SyntheticConfig {
            size: crate::config::SizeConfig::Fixed(ByteSize(512)),
            read_ratio: flashlane_units::Ratio(1.0),
            requests: Some(requests),
            warps: Some(Box::new(warps.clone())),
            ..SyntheticConfig::default()
        };
        let space = FlowSpace {
            sectors: 1 << 20,
            pages: 1 << 17,
            ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]])
        };
        WarpSource::new(&config, warps, &space, 4096, 7, 0)
    }

    fn warps(count: u32, reads: u32, think_us: u64, think: ThinkTimes) -> WarpsConfig {
        let think_time = Span(think_us * 1_000_000);
        WarpsConfig { count, reads, think_time, think, queue_pairs: 3 }
    }

    /// A drive that completes requests after random times, in any order. Checks the invariants;
    /// returns the number of requests and the mean think time.
    fn play(config: &WarpsConfig, requests: u64, seed: u64) -> (u64, f64) {
        let mut source = source(config, requests);
        let mut random = Rng::stream(seed, "warps", 0);
        let mut under_way: BinaryHeap<Reverse<(Time, u64)>> = BinaryHeap::new();
        let mut of_warp = vec![(0_u32, None::<Time>); config.count as usize];
        let (mut now, mut made, mut thought, mut pauses) = (Time::ZERO, 0, 0, 0_u64);
        loop {
            let wake = match source.step(now) {
                JobStep::Submit(planned, warp) => {
                    assert_eq!(u64::from(planned.queue), warp % 3, "a warp keeps its queue");
                    let (outstanding, ended) = &mut of_warp[warp as usize];
                    if let Some(ended) = ended.take() {
                        assert!(*outstanding == 0 && now >= ended, "the last batch is over");
                        if config.think == ThinkTimes::Constant {
                            assert!(now >= ended + Time(config.think_time.0), "it thinks first");
                        }
                        (thought, pauses) = (thought + (now - ended).0, pauses + 1);
                    }
                    *outstanding += 1;
                    assert!(*outstanding <= config.reads, "one batch at a time");
                    under_way.push(Reverse((now + Time(1 + random.below(9_000_000)), warp)));
                    assert!(under_way.len() as u64 <= config.outstanding_max());
                    made += 1;
                    continue;
                }
                JobStep::Wait(until) => until,
                JobStep::Hold => Time::MAX,
                JobStep::End => break,
            };
            match under_way.peek().copied() {
                Some(Reverse((at, warp))) if at <= wake => {
                    under_way.pop();
                    now = at;
                    let (outstanding, ended) = &mut of_warp[warp as usize];
                    *outstanding -= 1;
                    *ended = (*outstanding == 0).then_some(now);
                    source.completed(warp);
                }
                _ => now = wake,
            }
        }
        assert!(under_way.is_empty(), "a pass ends with its last completion");
        (made, thought as f64 / pauses.max(1) as f64)
    }

    #[test]
    fn warps_keep_their_batches_apart_and_think_in_between() {
        let mut random = Rng::stream(3, "shapes", 0);
        for seed in 0..60 {
            let (count, reads) = (1 + random.below(40) as u32, 1 + random.below(33) as u32);
            let think = [ThinkTimes::Constant, ThinkTimes::Exponential][random.below(2) as usize];
            let config = warps(count, reads, random.below(20), think);
            let requests = 1 + random.below(5000);
            assert_eq!(play(&config, requests, seed).0, requests, "{config:?}");
        }
    }

    #[test]
    fn think_times_have_their_mean() {
        for think in [ThinkTimes::Constant, ThinkTimes::Exponential] {
            let (_, mean) = play(&warps(64, 1, 50, think), 200_000, 1);
            assert!((mean / 50e6 - 1.0).abs() < 0.01, "{think:?}: {mean} ps");
        }
    }

    #[test]
    fn a_pass_starts_over_with_all_warps() {
        let mut source = source(&warps(2, 2, 5, ThinkTimes::Constant), 4);
        for pass in [Time(0), Time(77)] {
            for warp in [0, 0, 1, 1] {
                let JobStep::Submit(_, cookie) = source.step(pass) else { panic!("a request") };
                assert_eq!(cookie, warp);
            }
            let at = pass + Time(1);
            for warp in [0, 0, 1, 1] {
                source.completed(warp);
                source.step(pass + Time(1));
            }
            assert_eq!(source.step(at), JobStep::End);
            source.restart(Time(77)).expect("no file");
        }
    }

    #[test]
    fn a_million_warps_take_little_memory() {
        let config = WarpsConfig { count: 1 << 20, ..warps(1, 16, 1, ThinkTimes::Constant) };
        let source = source(&config, u64::MAX);
        assert_eq!(source.closed_loop(), Some(1 << 24));
        let bytes = source.outstanding.capacity() * 4 + source.thinking.capacity() * 16;
        assert!(bytes <= 20 << 20, "{bytes} bytes");
    }
}
