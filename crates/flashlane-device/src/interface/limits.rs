//! Limits of rates: token buckets that a command passes before it is fetched.
//!
//! A bucket is kept as the time at which its debt is paid (the generic cell rate algorithm of ATM,
//! ITU-T I.371). A command that needs `c` of a rate moves this time by `c / rate`. It may pass while
//! the time is at most `burst` ahead. So in any window of length `w` a flow gets at most
//! `rate * (w + burst)` and one command more.

use flashlane_engine::Time;
use flashlane_units::{FlowId, RequestOp};

/// A limit for some flows together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The flows that share it.
    pub flows: Vec<FlowId>,
    /// True if reads count.
    pub reads: bool,
    /// True if writes count. Trims and flushes count where both do.
    pub writes: bool,
    /// Cost of a command. Unit: picoseconds of the bucket.
    pub per_command: u64,
    /// Cost of a sector. Unit: picoseconds of the bucket.
    pub per_sector: u64,
    /// How far the bucket may be in debt when a command passes. Unit: picoseconds.
    pub burst: u64,
}

impl RateLimit {
    fn counts(&self, op: RequestOp) -> bool {
        match op {
            RequestOp::Read => self.reads,
            RequestOp::Write => self.writes,
            RequestOp::Trim | RequestOp::Flush => self.reads && self.writes,
        }
    }

    fn cost(&self, op: RequestOp, sectors: u32) -> u64 {
        let moves_data = matches!(op, RequestOp::Read | RequestOp::Write);
        self.per_command
            + if moves_data { self.per_sector.saturating_mul(u64::from(sectors)) } else { 0 }
    }
}

/// The buckets of a drive.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    limits: Vec<RateLimit>,
    /// The time at which the debt of each limit is paid. Unit: picoseconds.
    paid: Vec<u64>,
    /// The limits of each flow.
    of_flow: Vec<Vec<u16>>,
}

impl Limits {
    /// Full buckets. `None` without a limit.
    pub(super) fn new(limits: &[RateLimit], flows: usize) -> Option<Self> {
        let mut of_flow = vec![Vec::new(); flows];
        for (index, limit) in limits.iter().enumerate() {
            for flow in &limit.flows {
                of_flow[flow.index()].push(u16::try_from(index).expect("some thousands at most"));
            }
        }
        let paid = vec![0; limits.len()];
        (!limits.is_empty()).then(|| Self { limits: limits.to_vec(), paid, of_flow })
    }

    /// Lets a command pass and charges all its buckets, or says when it may pass.
    pub(super) fn pass(
        &mut self,
        now: Time,
        flow: FlowId,
        op: RequestOp,
        sectors: u32,
    ) -> Result<(), Time> {
        let limits = &self.limits;
        let counts = |index: &&u16| limits[usize::from(**index)].counts(op);
        let own = &self.of_flow[flow.index()];
        let free = |index: &u16| {
            let index = usize::from(*index);
            self.paid[index].saturating_sub(limits[index].burst)
        };
        let at = own.iter().filter(counts).map(free).max().unwrap_or(0);
        if at > now.0 {
            return Err(Time(at));
        }
        for index in own.iter().filter(counts) {
            let index = usize::from(*index);
            let paid = &mut self.paid[index];
            *paid = (*paid).max(now.0).saturating_add(limits[index].cost(op, sectors));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_engine::Rng;

    fn limit(flows: &[u16], reads: bool, writes: bool) -> RateLimit {
        RateLimit {
            flows: flows.iter().map(|&flow| FlowId::new(flow)).collect(),
            reads,
            writes,
            per_command: 100,
            per_sector: 0,
            burst: 0,
        }
    }

    fn limits(limits: &[RateLimit]) -> Limits {
        Limits::new(limits, 3).expect("there are limits")
    }

    #[test]
    fn commands_are_apart_by_their_cost_and_a_burst_passes_at_once() {
        let (flow, read) = (FlowId::new(0), RequestOp::Read);
        let mut apart = limits(&[limit(&[0], true, true)]);
        assert_eq!(apart.pass(Time(0), flow, read, 8), Ok(()));
        assert_eq!(apart.pass(Time(0), flow, read, 8), Err(Time(100)));
        assert_eq!(apart.pass(Time(99), flow, read, 8), Err(Time(100)));
        assert_eq!(apart.pass(Time(100), flow, read, 8), Ok(()));
        let mut burst = limits(&[RateLimit { burst: 200, ..limit(&[0], true, true) }]);
        for _ in 0..3 {
            assert_eq!(burst.pass(Time(0), flow, read, 8), Ok(()));
        }
        assert_eq!(burst.pass(Time(0), flow, read, 8), Err(Time(100)));
        // Tokens do not pile up beyond the burst.
        for _ in 0..3 {
            assert_eq!(burst.pass(Time(5000), flow, read, 8), Ok(()));
        }
        assert_eq!(burst.pass(Time(5000), flow, read, 8), Err(Time(5100)));
    }

    #[test]
    fn bytes_cost_by_sector_and_kinds_have_buckets_of_their_own() {
        let bytes = RateLimit { per_command: 0, per_sector: 10, ..limit(&[0], false, true) };
        let mut limits = limits(&[bytes, limit(&[0], true, false)]);
        let flow = FlowId::new(0);
        assert_eq!(limits.pass(Time(0), flow, RequestOp::Write, 8), Ok(()));
        assert_eq!(limits.pass(Time(0), flow, RequestOp::Write, 1), Err(Time(80)));
        assert_eq!(limits.pass(Time(0), flow, RequestOp::Read, 64), Ok(()));
        assert_eq!(limits.pass(Time(0), flow, RequestOp::Read, 64), Err(Time(100)));
        assert_eq!(limits.pass(Time(0), flow, RequestOp::Flush, 0), Ok(()), "neither kind");
    }

    #[test]
    fn flows_of_a_group_share_a_bucket_and_others_are_free() {
        let mut limits = limits(&[limit(&[0, 2], true, true), limit(&[2], true, true)]);
        let read = RequestOp::Read;
        assert_eq!(limits.pass(Time(0), FlowId::new(0), read, 8), Ok(()));
        assert_eq!(limits.pass(Time(0), FlowId::new(2), read, 8), Err(Time(100)));
        assert_eq!(limits.pass(Time(0), FlowId::new(1), read, 8), Ok(()));
        assert_eq!(limits.pass(Time(0), FlowId::new(1), read, 8), Ok(()));
        assert_eq!(limits.pass(Time(100), FlowId::new(2), read, 8), Ok(()));
        assert_eq!(limits.pass(Time(100), FlowId::new(0), read, 8), Err(Time(200)));
        assert!(Limits::new(&[], 3).is_none());
    }

    /// A random limit of some of four flows.
    fn random(rng: &mut Rng) -> RateLimit {
        let flows: Vec<FlowId> = (0..4).filter(|_| rng.below(2) == 0).map(FlowId::new).collect();
        let (reads, writes) = [(true, true), (true, false), (false, true)][rng.below(3) as usize];
        let (per_command, per_sector) = match rng.below(2) {
            0 => (1 + rng.below(1000), 0),
            _ => (0, 1 + rng.below(100)),
        };
        RateLimit { flows, reads, writes, per_command, per_sector, burst: rng.below(5000) }
    }

    #[test]
    fn a_thousand_random_configurations_keep_their_bounds_and_hold_nothing_back_for_nothing() {
        for seed in 0..1000 {
            let mut rng = Rng::stream(seed, "limits", 0);
            let all: Vec<RateLimit> = (0..1 + rng.below(5)).map(|_| random(&mut rng)).collect();
            let mut limits = Limits::new(&all, 4).expect("there are limits");
            // What passed each limit, and when.
            let mut passed: Vec<Vec<(u64, u64)>> = vec![Vec::new(); all.len()];
            let mut now = 0;
            for _ in 0..150 {
                now += rng.below(400);
                let flow = FlowId::new(rng.below(4) as u16);
                let op = [RequestOp::Read, RequestOp::Write, RequestOp::Flush];
                let (op, sectors) = (op[rng.below(3) as usize], 1 + rng.below(16) as u32);
                if let Err(at) = limits.pass(Time(now), flow, op, sectors) {
                    assert!(at > Time(now));
                    let before = limits.pass(Time(at.0 - 1), flow, op, sectors);
                    assert_eq!(before, Err(at), "not a picosecond earlier");
                    now = at.0;
                    assert_eq!(limits.pass(at, flow, op, sectors), Ok(()), "and then at once");
                }
                for (limit, passed) in all.iter().zip(&mut passed) {
                    if limit.flows.contains(&flow) && limit.counts(op) {
                        passed.push((now, limit.cost(op, sectors)));
                    }
                }
            }
            for (limit, passed) in all.iter().zip(&passed) {
                for (first, &(begin, _)) in passed.iter().enumerate() {
                    let mut sum = 0;
                    for &(end, cost) in &passed[first..] {
                        assert!(sum <= end - begin + limit.burst, "seed {seed}: {limit:?}");
                        sum += cost;
                    }
                }
            }
        }
    }
}
