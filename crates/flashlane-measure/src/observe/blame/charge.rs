//! Charges waits: looks up in the logs of dies, channels and memory which flow had the resource
//! that a piece of work waited for.

use flashlane_units::{ChannelId, DieId, FlowId, PlaneId};

use super::log::{Cursor, Log, Part, Point, State};
use super::planes::PlaneLogs;
use super::sums::{Charge, Sum, Tally};
use super::weights::Weights;
use flashlane_device::cause::{CAUSES, Cause};

/// A span in which a piece of work waited. Unit of times: picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) obstacle: Obstacle,
}

/// The obstacle of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Obstacle {
    /// A die. While the die and its channel are idle, the wait is charged to the given cause and
    /// culprit.
    Die { die: DieId, idle: Cause, culprit: FlowId },
    /// A die, as a program or an erase waits for it where commands have their own bus.
    BothBuses { die: DieId, idle: Cause, culprit: FlowId },
    /// A plane that reads by itself, as a die.
    Plane { die: DieId, plane: PlaneId, idle: Cause, culprit: FlowId },
    /// A channel.
    Channel { channel: ChannelId },
    /// An obstacle whose culprit and cause are known at once.
    Known { culprit: FlowId, cause: Cause },
}

/// Stands in sums for the cell that is charged while die and channel are idle; that cell depends on
/// the wait.
const IDLE: u32 = u32::MAX;

/// The logs of the resources that all flows wait for.
#[derive(Clone, Debug)]
pub(crate) struct Logs {
    pub(crate) dies: Vec<Log>,
    /// Logs of channels; where commands have their own bus, of the data buses.
    pub(crate) channels: Vec<Log>,
    /// Logs of command buses; `None` where commands share the bus of the data.
    pub(super) command_buses: Option<Vec<Log>>,
    /// Logs of planes; `None` where these do not read independently.
    pub(super) planes: Option<PlaneLogs>,
    /// Log of the memory of the data cache.
    pub(crate) dram: Log,
    pub(super) dies_per_channel: u32,
    /// The culprit of waits that no flow causes.
    pub(super) device: FlowId,
    /// The charges of a long wait.
    tally: Tally,
}

impl Logs {
    /// Logs of a run in which nothing has happened.
    pub(super) fn new(channels: u32, dies_per_channel: u32, flows: usize) -> Self {
        Self {
            dies: vec![Log::default(); (channels * dies_per_channel) as usize],
            channels: vec![Log::default(); channels as usize],
            command_buses: None,
            planes: None,
            dram: Log::default(),
            dies_per_channel,
            device: FlowId::at(flows),
            tally: Tally::new((flows + 1) * CAUSES),
        }
    }

    /// Charges a wait that is over to the flows that had the resource.
    pub(super) fn charge(&mut self, wait: &Wait, charges: &mut Weights) {
        let Wait { from, to, obstacle } = *wait;
        if self.command_buses.is_some() && !matches!(obstacle, Obstacle::Known { .. }) {
            return self.charge_on_buses(wait, charges);
        }
        match obstacle {
            Obstacle::Known { culprit, cause } => charges.add(cell(culprit, cause), to - from),
            Obstacle::BothBuses { .. } => unreachable!("commands have a bus of their own then"),
            Obstacle::Channel { channel } => {
                let idle = cell(self.device, Cause::Policy);
                let log = &mut self.channels[channel.index()];
                charge_in_order(log, (from, to), idle, &mut self.tally, charges);
            }
            Obstacle::Die { die, idle, culprit } => {
                let channel = &mut self.channels[(die.get() / self.dies_per_channel) as usize];
                let logs = (&mut self.dies[die.index()], channel);
                charge_place(logs, (from, to), cell(culprit, idle), &mut self.tally, charges);
            }
            Obstacle::Plane { die, plane, idle, culprit } => {
                let channel = &mut self.channels[(die.get() / self.dies_per_channel) as usize];
                let planes = self.planes.as_mut().expect("planes have logs");
                let logs = (&mut planes.logs[plane.index()], channel);
                charge_place(logs, (from, to), cell(culprit, idle), &mut self.tally, charges);
            }
        }
    }

    /// Charges a span to the work of the memory of the data cache.
    pub(super) fn charge_dram(&mut self, from: u64, to: u64, charges: &mut Weights) {
        let idle = cell(self.device, Cause::Dram);
        charge_in_order(&mut self.dram, (from, to), idle, &mut self.tally, charges);
    }
}

/// Charges a span to the work of a die or of a plane, and to that of its channel.
fn charge_place(
    (die, channel): (&mut Log, &mut Log),
    span: (u64, u64),
    idle: u32,
    tally: &mut Tally,
    charges: &mut Weights,
) {
    let (from, to) = span;
    if die.is_long(from) || channel.is_long(from) {
        sum_up_die(die, channel, to);
        charge_die((die, channel), span, idle, &mut |charge| tally.add(charge));
        tally.hand_over(charges);
    } else {
        let mut add = |charge: Charge| charges.add(charge.cell, charge.ps);
        charge_die((die, channel), span, idle, &mut add);
    }
}

/// Charges a span to the work of a channel or of the memory, with cells in the order of time.
fn charge_in_order(
    log: &mut Log,
    (from, to): (u64, u64),
    idle: u32,
    tally: &mut Tally,
    charges: &mut Weights,
) {
    let (span, mut cursor) = ((from, to), Cursor::default());
    if log.is_long(from) {
        sum_up(log, to);
        charge_log(log, span, &mut cursor, idle, &mut |charge| tally.add(charge));
        tally.hand_over(charges);
    } else {
        let mut add = |charge: Charge| charges.add(charge.cell, charge.ps);
        charge_log(log, span, &mut cursor, idle, &mut add);
    }
}

/// Charges a span to the work of a channel or of the memory; idle time to `idle`.
pub(super) fn charge_log(
    log: &Log,
    span: (u64, u64),
    cursor: &mut Cursor,
    idle: u32,
    charge: &mut impl FnMut(Charge),
) {
    log.walk_sums(span, cursor, &mut |part| match part {
        Part::Piece(from, to, point) => {
            let cell = match point.state {
                State::Idle => idle,
                State::Busy(cause) | State::Holds(cause) => cell(point.flow, cause),
            };
            charge(Charge { cell, ps: to - from, since: from });
        }
        Part::Sum(sum) => charge_sum(sum, idle, charge),
    });
}

/// Charges the sum over many pieces.
fn charge_sum(sum: &Sum, idle: u32, charge: &mut impl FnMut(Charge)) {
    for &part in &sum.charges {
        let cell = if part.cell == IDLE { idle } else { part.cell };
        charge(Charge { cell, ..part });
    }
}

/// Sums up the work of a channel or of the memory until now.
fn sum_up(log: &mut Log, now: u64) {
    log.sum_up(now, |from, to, point, sum| {
        let cell = match point.state {
            State::Idle => IDLE,
            State::Busy(cause) | State::Holds(cause) => cell(point.flow, cause),
        };
        sum.charges.push(Charge { cell, ps: to - from, since: from });
    });
}

/// Sums up the work of a die until now, and the work of its channel while the die was idle.
fn sum_up_die(die: &mut Log, channel: &mut Log, now: u64) {
    sum_up(channel, now);
    let mut cursor = Cursor::default();
    die.sum_up(now, |from, to, point, sum| {
        let mut add = |charge: Charge| sum.charges.push(charge);
        match point.state {
            State::Busy(cause) => {
                add(Charge { cell: cell(point.flow, cause), ps: to - from, since: from });
            }
            State::Holds(cause) => {
                let holder = cell(point.flow, cause);
                charge_log(channel, (from, to), &mut cursor, holder, &mut add);
            }
            State::Idle => charge_log(channel, (from, to), &mut cursor, IDLE, &mut add),
        }
    });
    channel.settle(die.settled());
}

/// Charges a wait for a die; time in which die and channel were idle to `idle`. With sums the
/// charges are in no order.
fn charge_die(
    (die, channel): (&Log, &Log),
    span: (u64, u64),
    idle: u32,
    charge: &mut impl FnMut(Charge),
) {
    let mut cursor = Cursor::default();
    die.walk_sums(span, &mut Cursor::default(), &mut |part| match part {
        Part::Piece(from, to, point) => {
            charge_piece((from, to), point, (channel, &mut cursor), idle, charge);
        }
        Part::Sum(sum) => charge_sum(sum, idle, charge),
    });
}

/// Charges a piece of a wait for a die.
fn charge_piece(
    (from, to): (u64, u64),
    point: &Point,
    (channel, cursor): (&Log, &mut Cursor),
    idle: u32,
    charge: &mut impl FnMut(Charge),
) {
    match point.state {
        State::Busy(cause) => {
            charge(Charge { cell: cell(point.flow, cause), ps: to - from, since: from });
        }
        State::Holds(cause) => {
            charge_log(channel, (from, to), cursor, cell(point.flow, cause), charge);
        }
        State::Idle => charge_log(channel, (from, to), cursor, idle, charge),
    }
}

/// A culprit and a cause as one number.
pub(super) fn cell(culprit: FlowId, cause: Cause) -> u32 {
    u32::from(culprit.get()) * CAUSES as u32 + cause as u32
}

#[cfg(test)]
#[path = "charge_tests.rs"]
mod tests;
