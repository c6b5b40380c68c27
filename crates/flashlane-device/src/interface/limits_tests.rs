//! Tests of the limits of rates.

use flashlane_engine::Rng;

use super::*;

/// Limits with a queue for each flow, and their events.
struct Door {
    limits: Limits,
    events: EventQueue<Event>,
    now: Time,
}

impl Door {
    fn new(limits: &[RateLimit]) -> Self {
        let limits = Limits::new(limits, 4, LimitPlace::Device).expect("there are limits");
        Self { limits, events: EventQueue::new(), now: Time::ZERO }
    }

    fn pass(&mut self, flow: u16, op: RequestOp, sectors: u32) -> bool {
        self.pass_at(flow, op, sectors, COST_UNIT)
    }

    fn pass_at(&mut self, flow: u16, op: RequestOp, sectors: u32, cost: u64) -> bool {
        let command = Passing { flow: FlowId::new(flow), op, sectors, cost };
        self.limits.pass(self.now, &mut self.events, QueueId::new(flow), command)
    }

    /// The time at which a command of the only queue passes.
    fn time(&mut self, op: RequestOp, sectors: u32) -> u64 {
        while !self.pass(0, op, sectors) {
            self.turn();
        }
        self.now.0
    }

    /// The next turn: its queue.
    fn turn(&mut self) -> QueueId {
        let (at, event) = self.events.pop().expect("a queue waits");
        let Event::LimitRoom { limit } = event else { panic!("another event: {event:?}") };
        assert!(at >= self.now);
        self.now = at;
        self.limits.turn(limit)
    }
}

fn limit(flows: &[u16], reads: bool, writes: bool) -> RateLimit {
    RateLimit {
        flows: flows.iter().map(|&flow| FlowId::new(flow)).collect(),
        reads,
        writes,
        per_command: 100,
        per_sector: 0,
        burst: 0,
        place: LimitPlace::Device,
    }
}

#[test]
fn commands_are_apart_by_their_cost_and_a_burst_passes_at_once() {
    let read = RequestOp::Read;
    let mut apart = Door::new(&[limit(&[0], true, true)]);
    let times: Vec<u64> = (0..4).map(|_| apart.time(read, 8)).collect();
    assert_eq!(times, [0, 100, 200, 300]);
    let mut burst = Door::new(&[RateLimit { burst: 200, ..limit(&[0], true, true) }]);
    let times: Vec<u64> = (0..5).map(|_| burst.time(read, 8)).collect();
    assert_eq!(times, [0, 0, 0, 100, 200]);
    // Tokens do not pile up beyond the burst.
    burst.now = Time(5000);
    let times: Vec<u64> = (0..4).map(|_| burst.time(read, 8)).collect();
    assert_eq!(times, [5000, 5000, 5000, 5100]);
}

#[test]
fn bytes_cost_by_sector_and_kinds_have_buckets_of_their_own() {
    let bytes = RateLimit { per_command: 0, per_sector: 10, ..limit(&[0], false, true) };
    let mut door = Door::new(&[bytes, limit(&[0], true, false)]);
    assert_eq!(door.time(RequestOp::Write, 8), 0);
    assert_eq!(door.time(RequestOp::Read, 64), 0, "writes are no reads");
    assert_eq!(door.time(RequestOp::Flush, 0), 0, "a flush is neither kind");
    assert_eq!(door.time(RequestOp::Write, 1), 80);
    assert_eq!(door.time(RequestOp::Read, 64), 100);
}

#[test]
fn members_of_a_group_take_turns_in_the_order_in_which_they_came() {
    let read = RequestOp::Read;
    let mut door = Door::new(&[limit(&[0, 1, 2], true, true)]);
    assert!(door.pass(0, read, 8) && door.pass(3, read, 8), "3 has no limit");
    assert!(!door.pass(0, read, 8) && !door.pass(1, read, 8) && !door.pass(2, read, 8));
    let mut order = Vec::new();
    for _ in 0..6 {
        let queue = door.turn();
        let flow = queue.get();
        // Nobody slips in before it.
        let other = (flow + 1) % 3;
        assert!(door.limits.buckets[0].holds(door.now, QueueId::new(other)));
        assert!(door.pass(flow, read, 8) && !door.pass(flow, read, 8));
        order.push((door.now.0, flow));
    }
    assert_eq!(order, [(100, 0), (200, 1), (300, 2), (400, 0), (500, 1), (600, 2)]);
    assert!(Limits::new(&[], 3, LimitPlace::Device).is_none());
}

#[test]
fn who_waits_for_another_limit_as_well_leaves_its_turn_to_the_next() {
    let read = RequestOp::Read;
    let slow = RateLimit { per_command: 1000, ..limit(&[0], true, true) };
    let mut door = Door::new(&[limit(&[0, 1], true, true), slow]);
    assert!(door.pass(0, read, 8));
    assert!(!door.pass(0, read, 8) && !door.pass(1, read, 8));
    // 0 waits for its own limit until 1000, and 1 for the group's until 100.
    assert_eq!((door.turn().get(), door.now), (1, Time(100)));
    assert!(door.pass(1, read, 8));
    assert_eq!((door.turn().get(), door.now), (0, Time(1000)));
    assert!(door.pass(0, read, 8));
}

/// A random limit of some of four flows.
fn random(rng: &mut Rng) -> RateLimit {
    let flows: Vec<FlowId> = (0..4).filter(|_| rng.below(2) == 0).map(FlowId::new).collect();
    let (reads, writes) = [(true, true), (true, false), (false, true)][rng.below(3) as usize];
    let (per_command, per_sector) = match rng.below(2) {
        0 => (1 + rng.below(1000), 0),
        _ => (0, 1 + rng.below(100)),
    };
    RateLimit {
        flows,
        reads,
        writes,
        per_command,
        per_sector,
        burst: rng.below(5000),
        place: LimitPlace::Device,
    }
}

/// A command whose cost grows with its length.
fn command(flow: u16, op: RequestOp, sectors: u32) -> Passing {
    Passing { flow: FlowId::new(flow), op, sectors, cost: COST_UNIT / 2 * u64::from(sectors) }
}

/// Commands of four queues pass limits. Returns what passed: time, flow, kind, sectors.
fn passed(door: &mut Door, rng: &mut Rng) -> Vec<(u64, u16, RequestOp, u32)> {
    let ops = [RequestOp::Read, RequestOp::Write, RequestOp::Flush];
    let mut waiting: [Option<(RequestOp, u32)>; 4] = [None; 4];
    let mut passed = Vec::new();
    let go = |door: &mut Door, flow: u16, (op, sectors), passed: &mut Vec<_>| {
        let goes = door.pass_at(flow, op, sectors, command(flow, op, sectors).cost);
        if goes {
            passed.push((door.now.0, flow, op, sectors));
        }
        (!goes).then_some((op, sectors))
    };
    for _ in 0..200 {
        let next = Time(door.now.0 + rng.below(400));
        while door.events.next_time().is_some_and(|at| at <= next) {
            let flow = door.turn().get();
            let command = waiting[usize::from(flow)].take().expect("it waits");
            waiting[usize::from(flow)] = go(door, flow, command, &mut passed);
        }
        door.now = next;
        let flow = rng.below(4) as u16;
        let command = (ops[rng.below(3) as usize], 1 + rng.below(16) as u32);
        if waiting[usize::from(flow)].is_none() {
            waiting[usize::from(flow)] = go(door, flow, command, &mut passed);
        }
        let held = (0..4).filter(|flow| waiting[*flow].is_some()).collect();
        door.limits.audit(held);
    }
    while !door.events.is_empty() {
        let flow = door.turn().get();
        let command = waiting[usize::from(flow)].take().expect("it waits");
        waiting[usize::from(flow)] = go(door, flow, command, &mut passed);
    }
    assert_eq!(waiting, [None; 4], "nobody waits for ever");
    passed
}

#[test]
fn a_thousand_random_configurations_keep_their_bounds() {
    for seed in 0..1000 {
        let mut rng = Rng::stream(seed, "limits", 0);
        let all: Vec<RateLimit> = (0..1 + rng.below(5)).map(|_| random(&mut rng)).collect();
        let passed = passed(&mut Door::new(&all), &mut rng);
        for limit in &all {
            let counts = |(_, flow, op, _): &&(u64, u16, RequestOp, u32)| {
                limit.flows.contains(&FlowId::new(*flow)) && limit.counts(*op)
            };
            let of: Vec<(u64, u64)> = passed
                .iter()
                .filter(counts)
                .map(|&(at, flow, op, sectors)| (at, limit.cost(command(flow, op, sectors))))
                .collect();
            for (first, &(begin, _)) in of.iter().enumerate() {
                let mut sum = 0;
                for &(end, cost) in &of[first..] {
                    assert!(sum <= end - begin + limit.burst, "seed {seed}: {limit:?}");
                    sum += cost;
                }
            }
        }
    }
}

#[test]
fn a_rate_of_commands_counts_what_they_cost() {
    let mut door = Door::new(&[limit(&[0], true, true)]);
    assert!(door.pass_at(0, RequestOp::Write, 128, 16 * COST_UNIT));
    assert!(!door.pass(0, RequestOp::Read, 8));
    assert_eq!((door.turn().get(), door.now), (0, Time(1600)));
    assert!(door.pass(0, RequestOp::Read, 8));
    // Half a picosecond is rounded up, so that no rate is exceeded.
    let half = RateLimit { per_command: 1, ..limit(&[0], true, true) };
    let command = Passing { cost: COST_UNIT / 2, ..command(0, RequestOp::Read, 8) };
    assert_eq!(half.cost(command), 1);
}
