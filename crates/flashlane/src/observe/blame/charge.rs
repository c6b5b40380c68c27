//! Looks up in the logs of dies, channels and memory who had what somebody waited for.

use super::cause::{CAUSES, Cause};
use super::log::{Delay, Log, State};
use super::weights::Weights;

/// A span in which a piece of work waited. Unit of times: picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) obstacle: Obstacle,
}

/// What was in the way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Obstacle {
    /// A die. Where it and its channel have nothing to do, the wait is charged to this cause.
    Die { die: u32, idle: Cause, culprit: u16 },
    /// A channel.
    Channel { channel: u32 },
    /// Known at once.
    Known { culprit: u16, cause: Cause },
}

/// What everybody waits for.
#[derive(Clone, Debug)]
pub(crate) struct Logs {
    pub(crate) dies: Vec<Log>,
    pub(crate) channels: Vec<Log>,
    /// Of the data cache.
    pub(crate) dram: Log,
    pub(super) dies_per_channel: u32,
    /// The culprit where there is none.
    pub(super) device: u16,
}

impl Logs {
    /// Charges a wait of a flow to those who had what it waited for.
    pub(super) fn charge(&self, victim: u16, wait: &Wait, charges: &mut Weights) {
        let Wait { from, to, obstacle } = *wait;
        let asked = from;
        match obstacle {
            Obstacle::Known { culprit, cause } => charges.add(cell(culprit, cause), to - from),
            Obstacle::Channel { channel } => {
                self.charge_channel(channel, from, to, cell(self.device, Cause::Policy), charges);
            }
            Obstacle::Die { die, idle, culprit } => {
                let channel = die / self.dies_per_channel;
                self.dies[die as usize].walk(from, to, |from, to, point| match point.state {
                    State::Busy(cause) if point.flow == victim && point.delay.ps > 0 => {
                        let own = cell(victim, cause);
                        charge_own(own, &point.delay, asked, (from, to), charges);
                    }
                    State::Busy(cause) => charges.add(cell(point.flow, cause), to - from),
                    State::Holds(cause) => {
                        let holder = cell(point.flow, cause);
                        self.charge_channel(channel, from, to, holder, charges);
                    }
                    State::Idle => {
                        self.charge_channel(channel, from, to, cell(culprit, idle), charges);
                    }
                });
            }
        }
    }

    /// Charges a span to what the channel did; where it did nothing, to `idle`.
    fn charge_channel(&self, channel: u32, from: u64, to: u64, idle: u32, charges: &mut Weights) {
        self.channels[channel as usize].walk(from, to, |from, to, point| match point.state {
            State::Idle => charges.add(idle, to - from),
            State::Busy(cause) | State::Holds(cause) => {
                charges.add(cell(point.flow, cause), to - from);
            }
        });
    }

    /// Charges a span to what the memory of the data cache did.
    pub(super) fn charge_dram(&self, from: u64, to: u64, charges: &mut Weights) {
        self.dram.walk(from, to, |from, to, point| {
            let culprit = if point.state == State::Idle { self.device } else { point.flow };
            charges.add(cell(culprit, Cause::Dram), to - from);
        });
    }
}

/// Charges a span in which a flow waited behind its own work, from `asked` on. What of it would have been over
/// by then but for the delay of that work is charged to those who delayed it, in proportion.
fn charge_own(own: u32, delay: &Delay, asked: u64, (from, to): (u64, u64), charges: &mut Weights) {
    let sooner = from.saturating_sub(delay.ps).max(asked);
    let rest = to.saturating_sub(delay.ps).saturating_sub(sooner);
    let others = to - from - rest;
    charges.add(own, rest);
    let total: u128 = delay.by.iter().map(|&(_, ps)| u128::from(ps)).sum();
    let (mut before, mut given) = (0, 0);
    for &(cell, ps) in delay.by.iter().filter(|&&(_, ps)| ps > 0) {
        before += u128::from(ps);
        let until = (u128::from(others) * before / total) as u64;
        charges.add(cell, until - given);
        given = until;
    }
}

/// A culprit and a cause as one number.
pub(super) fn cell(culprit: u16, cause: Cause) -> u32 {
    u32::from(culprit) * CAUSES as u32 + cause as u32
}
