//! Waits where commands have a bus of their own (`flash.command_bus`).
//!
//! A wait is charged to the holder of the bus that it is for: read data waits for the data bus, a
//! read for the command bus, a program or an erase for both, first for the data bus. While that bus
//! is idle, the other bus keeps the work waiting: read data lets a command end before a choice
//! among all commands, and a read of a die that has had many reads waits for such a choice.

use super::account::Account;
use super::charge::{Logs, Obstacle, Wait, cell, charge_log};
use super::log::{Cursor, Log, Part, State};
use super::sums::Charge;
use super::weights::Weights;
use flashlane_device::cause::Cause;
use flashlane_units::{ChannelId, FlowId};

/// The logs of two buses: that for which a wait is, and the other one.
struct Buses<'a> {
    first: &'a Log,
    second: &'a Log,
    cursors: [Cursor; 2],
}

impl<'a> Buses<'a> {
    fn new(first: &'a Log, second: &'a Log) -> Self {
        Self { first, second, cursors: <[Cursor; 2]>::default() }
    }

    /// Charges a span to the work of the first bus, or else of the second one; otherwise to `idle`.
    fn charge(&mut self, (from, to): (u64, u64), idle: u32, charge: &mut impl FnMut(Charge)) {
        let Self { first, second, cursors: [cursor, other] } = self;
        first.walk_sums((from, to), cursor, &mut |part| match part {
            Part::Piece(from, to, point) => match point.state {
                State::Idle => charge_log(second, (from, to), other, idle, charge),
                State::Busy(cause) | State::Holds(cause) => {
                    charge(Charge { cell: cell(point.flow, cause), ps: to - from, since: from });
                }
            },
            Part::Sum(_) => unreachable!("the work of two buses is not summed up"),
        });
    }
}

impl Logs {
    /// Charges a wait that is over. All pieces are looked at.
    pub(super) fn charge_on_buses(&self, wait: &Wait, charges: &mut Weights) {
        let Wait { from, to, obstacle } = *wait;
        let commands = self.command_buses.as_ref().expect("commands have a bus of their own");
        let (log, die, idle, commands_first) = match obstacle {
            Obstacle::Known { .. } => unreachable!("it is charged at once"),
            Obstacle::Channel { channel } => {
                let at = channel.index();
                let idle = cell(self.device, Cause::Policy);
                let mut add = |charge: Charge| charges.add(charge.cell, charge.ps);
                let mut buses = Buses::new(&self.channels[at], &commands[at]);
                return buses.charge((from, to), idle, &mut add);
            }
            Obstacle::Die { die, idle, culprit } => {
                (&self.dies[die.index()], die, cell(culprit, idle), true)
            }
            Obstacle::BothBuses { die, idle, culprit } => {
                (&self.dies[die.index()], die, cell(culprit, idle), false)
            }
            Obstacle::Plane { die, plane, idle, culprit } => {
                let planes = self.planes.as_ref().expect("planes have logs");
                (&planes.logs[plane.index()], die, cell(culprit, idle), true)
            }
        };
        let at = (die.get() / self.dies_per_channel) as usize;
        let (data, commands) = (&self.channels[at], &commands[at]);
        let mut holding = Buses::new(data, commands);
        let mut idling =
            if commands_first { Buses::new(commands, data) } else { Buses::new(data, commands) };
        let mut add = |charge: Charge| charges.add(charge.cell, charge.ps);
        log.walk_sums((from, to), &mut Cursor::default(), &mut |part| match part {
            Part::Piece(from, to, point) => match point.state {
                State::Busy(cause) => {
                    add(Charge { cell: cell(point.flow, cause), ps: to - from, since: from });
                }
                State::Holds(cause) => {
                    holding.charge((from, to), cell(point.flow, cause), &mut add);
                }
                State::Idle => idling.charge((from, to), idle, &mut add),
            },
            Part::Sum(_) => unreachable!("the work of two buses is not summed up"),
        });
    }

    /// Notes that a command is on its channel from `now` to `commanded`, and that its data then
    /// moves up to `sent`. A program has a data bus from the start of its command. `pages`: flow
    /// and cause of each page.
    pub(crate) fn command_sent(
        &mut self,
        channel: ChannelId,
        (now, commanded, sent): (u64, u64, u64),
        pages: impl Iterator<Item = (FlowId, Cause)> + Clone,
    ) {
        let Some(buses) = &mut self.command_buses else {
            return self.channels[channel.index()].push_shares((now, sent), pages);
        };
        buses[channel.index()].push_shares((now, commanded), pages.clone());
        if commanded < sent {
            self.channels[channel.index()].push_shares((now, sent), pages);
        }
    }

    /// True if commands have a bus of their own.
    pub(crate) fn have_command_buses(&self) -> bool {
        self.command_buses.is_some()
    }
}

impl Account {
    /// From now on, commands have a bus of their own.
    pub(super) fn separate_commands(&mut self) {
        let channels = self.logs.channels.len();
        self.logs.command_buses = Some(vec![Log::default(); channels]);
        self.shadows.separate_commands();
    }
}
