//! Compares charges by sums with a walk over all pieces, on random histories.

use flashlane_engine::Rng;
use flashlane_units::{ChannelId, FlowId};

use super::*;

const FLOWS: u64 = 4;
const CAUSES_USED: [Cause; 3] = [Cause::Read, Cause::Program, Cause::Gc];

/// The charges of a wait if every piece is looked at.
fn charge_by_walk(logs: &Logs, wait: &Wait, charges: &mut Weights) {
    let Wait { from, to, obstacle } = *wait;
    let walk_channel =
        |channel: ChannelId, from: u64, to: u64, idle: u32, charges: &mut Weights| {
            logs.channels[channel.index()].walk(from, to, |from, to, point| match point.state {
                State::Idle => charges.add(idle, to - from),
                State::Busy(cause) | State::Holds(cause) => {
                    charges.add(cell(point.flow, cause), to - from);
                }
            });
        };
    match obstacle {
        Obstacle::Known { culprit, cause } => charges.add(cell(culprit, cause), to - from),
        Obstacle::Plane { .. } => unreachable!("the planes of the test have no logs"),
        Obstacle::BothBuses { .. } => unreachable!("the channel of the test has one bus"),
        Obstacle::Channel { channel } => {
            walk_channel(channel, from, to, cell(logs.device, Cause::Policy), charges);
        }
        Obstacle::Die { die, idle, culprit } => {
            let channel = die.get() / logs.dies_per_channel;
            logs.dies[die.index()].walk(from, to, |from, to, point| match point.state {
                State::Busy(cause) => charges.add(cell(point.flow, cause), to - from),
                State::Holds(cause) => {
                    walk_channel(
                        ChannelId::at(channel as usize),
                        from,
                        to,
                        cell(point.flow, cause),
                        charges,
                    );
                }
                State::Idle => walk_channel(
                    ChannelId::at(channel as usize),
                    from,
                    to,
                    cell(culprit, idle),
                    charges,
                ),
            });
        }
    }
}

/// A random history of two dies behind one channel, and of the memory.
struct History {
    logs: Logs,
    rng: Rng,
    now: u64,
}

impl History {
    fn new(seed: u64) -> Self {
        let rng = Rng::stream(seed, "blame", 0);
        Self { logs: Logs::new(1, 2, FLOWS as usize), rng, now: 1 }
    }

    fn flow(&mut self) -> FlowId {
        FlowId::new(self.rng.below(FLOWS) as u16)
    }

    fn cause(&mut self) -> Cause {
        CAUSES_USED[self.rng.below(3) as usize]
    }

    fn state(&mut self) -> State {
        match self.rng.below(4) {
            0 => State::Idle,
            1 => State::Holds(self.cause()),
            _ => State::Busy(self.cause()),
        }
    }

    /// Adds a random event, sometimes with a planned end that may come sooner.
    fn step(&mut self) {
        self.now += self.rng.below(20);
        let (now, end, flow) = (self.now, self.now + self.rng.below(40), self.flow());
        match self.rng.below(5) {
            0 | 1 => {
                let state = self.state();
                let die = self.rng.below(2) as usize;
                self.logs.dies[die].push(now, flow, state);
                self.logs.dies[die].push(end, FlowId::new(0), State::Idle);
            }
            2 | 3 => {
                self.logs.channels[0].push(now, flow, State::Busy(Cause::Bus));
                self.logs.channels[0].push(end, FlowId::new(0), State::Idle);
            }
            _ => {
                self.logs.dram.push(now, flow, State::Busy(Cause::Dram));
                self.logs.dram.push(end, FlowId::new(0), State::Idle);
            }
        }
    }

    fn wait(&mut self, oldest: u64) -> Wait {
        let from = oldest + self.rng.below(self.now - oldest + 1);
        let to = if self.rng.below(2) == 0 {
            self.now
        } else {
            from + self.rng.below(self.now - from + 1)
        };
        let obstacle = match self.rng.below(4) {
            0 => Obstacle::Channel { channel: ChannelId::new(0) },
            _ => Obstacle::Die {
                die: DieId::new(self.rng.below(2) as u32),
                idle: Cause::Policy,
                culprit: FlowId::new(self.rng.below(FLOWS + 1) as u16),
            },
        };
        Wait { from, to, obstacle }
    }
}

/// Both ways give the same cells in the same order, whatever is summed up and forgotten meanwhile.
#[test]
fn sums_charge_what_a_walk_charges() {
    let cells = (FLOWS as usize + 1) * CAUSES;
    let (mut fast, mut slow) = (Weights::new(cells), Weights::new(cells));
    let mut longest = 0;
    for seed in 0..60 {
        let mut history = History::new(seed);
        let mut oldest = 0;
        for step in 0..3_000 {
            history.step();
            if step % 7 == 0 {
                let wait = history.wait(oldest);
                // Charges of earlier waits are there, whose cells keep their places.
                if step % 3 == 0 {
                    fast.clear();
                    slow.clear();
                }
                charge_by_walk(&history.logs, &wait, &mut slow);
                history.logs.charge(&wait, &mut fast);
                assert_eq!(fast.list(), slow.list(), "seed {seed}, step {step}: {wait:?}");
                longest = longest.max(wait.to - wait.from);
            }
            if step % 500 == 499 && seed % 2 == 0 {
                oldest += history.rng.below(history.now - oldest);
                let Logs { dies, channels, dram, .. } = &mut history.logs;
                dies.iter_mut().chain(channels).chain([dram]).for_each(|log| log.trim(oldest));
            }
        }
        let (from, to) = (oldest, history.now);
        fast.clear();
        history.logs.charge_dram(from, to, &mut fast);
        assert_eq!(fast.total(), u128::from(to - from));
    }
    assert!(longest > 20_000, "some waits are long");
}

/// A wait behind ten times as many pieces costs hardly more.
#[test]
fn a_long_wait_takes_few_steps() {
    let steps_of_a_wait = |depth: u64| {
        let mut logs = Logs::new(1, 1, 2);
        let mut charges = Weights::new(3 * CAUSES);
        let (service, mut waits) = (100, 0);
        for piece in 0..4 * depth {
            let now = (piece + depth) * service;
            let flow = FlowId::new((piece % 2) as u16);
            let log = &mut logs.dies[0];
            log.push(now, flow, State::Busy(Cause::Read));
            log.push(now + service / 2, FlowId::new(0), State::Idle);
            if piece > depth {
                let obstacle = Obstacle::Die {
                    die: DieId::new(0),
                    idle: Cause::Policy,
                    culprit: FlowId::new(2),
                };
                let wait = Wait { from: now - depth * service, to: now, obstacle };
                logs.charge(&wait, &mut charges);
                assert_eq!(charges.total(), u128::from(depth * service));
                charges.clear();
                waits += 1;
            }
            if piece % 1024 == 0 {
                logs.dies[0].trim(now - depth * service);
            }
        }
        logs.tally.steps / waits
    };
    let (shallow, deep) = (steps_of_a_wait(1_000), steps_of_a_wait(10_000));
    assert!(deep < 1_000, "{deep} steps behind 10,000 pieces");
    assert!(deep < 2 * shallow, "{shallow} steps behind 1,000 pieces, {deep} behind 10,000");
}
