//! A command bus beside the data bus (`flash.command_bus`; separate command address, SCA): a die
//! gets a read command while data of another die moves.
//!
//! Commands and addresses take the command bus only, read data takes the data bus only. A program
//! begins when both are free. It has the data bus from then on, but its data moves only when its
//! command is over. Other commands may follow meanwhile.
//!
//! While the data bus is in use, dies get only the reads that they get before read data on a shared
//! bus, or reads that suspend something. Programs, erases and collection that goes first are chosen
//! when both buses are free. Otherwise an erase would go whenever the data bus is busy, before a
//! program that has to wait for it. Reads could keep the buses from being free together. Therefore,
//! after a page of data per die, read data waits for the end of a command, if one is on its bus:
//! see [`Flash::next_on_buses`].
//!
//! Every end of either bus is an event, after which the channel looks for work.
//! Invariants: a bus carries one thing at a time; data that waits, waits for one of both buses.
//! Source: ONFI 5.2 and JEDEC JESD230G; the order of the work is our choice.

use flashlane_engine::{Sequence, Time};
use flashlane_units::{ChannelId, DieId, TransactionId};

use super::Flash;
use super::channel::COMMANDS;
use crate::context::Context;
use crate::event::Event;

/// The data bus in the arrays of a channel whose commands have their own bus.
const DATA: usize = 1;

/// The data of a program on the data bus, or of the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgramData {
    until: Time,
    /// Unit: picoseconds.
    takes: u64,
}

impl ProgramData {
    /// Time after `at` for which the data moves. Unit: picoseconds.
    pub(super) fn left(self, at: Time) -> u64 {
        self.until.saturating_sub(at).0.min(self.takes)
    }
}

/// What a channel with two buses does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusWork {
    /// A die whose next command is known gets it: it programs pages out of its registers, or reads
    /// pages again. Afterwards the channel looks again, for read data.
    Due(DieId),
    /// Any command; then read data, if some waits.
    AnyCommand,
    /// A read command for an idle die, and read data.
    ReadAndData,
    /// A read command, while data moves.
    ReadBesideData,
    /// Read data, while a command is sent.
    Data,
    /// Nothing before the next end of a bus, unless work arrives.
    Nothing,
}

impl Flash {
    /// True if commands have a bus of their own.
    #[inline(always)]
    pub(crate) fn has_command_bus(&self) -> bool {
        self.separate
    }

    /// True if a data bus of its own is in use.
    #[inline(always)]
    pub(crate) fn data_bus_busy(&self, channel: ChannelId) -> bool {
        self.separate && self.channels[channel].busy[DATA]
    }

    /// The command that is sent next is a program, whose data takes a bus for `data` picoseconds.
    #[inline(always)]
    pub(super) fn data_follows(&mut self, data: u64) {
        if self.separate {
            self.following = data;
        }
    }

    /// Takes the command bus for a command, and the data bus for the data that follows it and ends
    /// at `sent`: both together for `bus` picoseconds. `place`: that of the end of the command in
    /// the order of events.
    #[cold]
    #[inline(never)]
    pub(super) fn hold_buses(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
        (sent, place): (Time, Sequence),
        bus: u64,
    ) {
        let data = std::mem::take(&mut self.following);
        let state = &mut self.channels[channel];
        let commanded = Time(sent.0 - data);
        assert!(!state.busy[COMMANDS], "a command bus carries one command at a time");
        state.busy[COMMANDS] = true;
        state.taken[COMMANDS] += bus - data;
        state.until = commanded;
        cx.events.schedule_at(commanded, place, Event::ChannelFree { channel });
        if data > 0 {
            assert!(!state.busy[DATA], "a data bus moves the data of one die at a time");
            state.busy[DATA] = true;
            state.taken[DATA] += data;
            state.programming = ProgramData { until: sent, takes: data };
            cx.events.schedule(sent, Event::DataBusFree { channel });
        } else if !state.busy[DATA] {
            state.await_sensing(channel, &mut cx.events);
        }
    }

    /// A command is over its own bus.
    pub(crate) fn command_bus_ends(&mut self, cx: &Context, channel: ChannelId) {
        let state = &mut self.channels[channel];
        assert!(state.busy[COMMANDS] && state.until == cx.now, "a command ends once");
        state.busy[COMMANDS] = false;
    }

    /// Data is over the data bus.
    pub(crate) fn data_bus_ends(&mut self, channel: ChannelId) {
        let state = &mut self.channels[channel];
        assert!(state.moving == TransactionId::NONE, "the data that moved has arrived");
        state.busy[DATA] = false;
    }

    /// Decides what a channel with two buses does next.
    ///
    /// A program needs both buses. After a page of data per die, read data therefore lets a command
    /// end, so that there is a choice among all commands: as on a shared bus, read data without end
    /// would otherwise shut the other commands out.
    pub(crate) fn next_on_buses(&mut self, cx: &mut Context, channel: ChannelId) -> BusWork {
        self.look_at_sensing(cx, channel);
        let dies = self.chips_per_channel.get() * self.dies_per_chip.get();
        let others_wait = self.wanted[channel] != 0;
        let state = &mut self.channels[channel];
        let [commands_free, data_free] = state.busy.map(|busy| !busy);
        if commands_free && let Some(die) = state.copybacks.pop_front() {
            return BusWork::Due(die);
        }
        let data_waits = state.data_waits();
        let data_goes = data_waits && state.moved < dies;
        match (commands_free, data_free) {
            (true, true) if data_goes => BusWork::ReadAndData,
            (true, true) => BusWork::AnyCommand,
            (true, false) => BusWork::ReadBesideData,
            (false, true) if data_goes || data_waits && !others_wait => BusWork::Data,
            (false, _) => BusWork::Nothing,
        }
    }

    /// Notes that the scheduler could choose among all commands. If it has sent a program or
    /// nothing, read data has its turn.
    pub(crate) fn had_all_commands(&mut self, channel: ChannelId) {
        let state = &mut self.channels[channel];
        if state.busy[DATA] || !state.busy[COMMANDS] {
            state.moved = 0;
        }
    }

    /// The channel has looked for work. If its data bus is free, the next end of a read in the
    /// array must make it look again.
    pub(crate) fn watch_data_bus(&mut self, cx: &mut Context, channel: ChannelId) {
        let state = &mut self.channels[channel];
        if !state.busy[DATA] {
            state.await_sensing(channel, &mut cx.events);
        }
    }

    /// End of the command of a die that got it just now; `since` where the data of a program takes
    /// the same bus. `since`: start of the work in the array.
    pub(super) fn commanded(&self, die: DieId, since: Time) -> Time {
        let channel = &self.channels[self.dies[die].channel];
        if self.separate { channel.until.min(since) } else { since }
    }

    /// Time up to `at` for which each command bus was taken; empty where commands have none.
    pub(crate) fn command_buses_taken(&self, at: Time) -> Vec<u64> {
        let taken =
            |channel: &super::Channel| channel.taken[COMMANDS] - channel.until.saturating_sub(at).0;
        if self.separate { self.channels.iter().map(taken).collect() } else { Vec::new() }
    }

    /// Checks the buses, for audits. An end that nobody noticed would leave a bus busy.
    pub(super) fn audit_buses(&self, now: Time) {
        for (id, channel) in self.channels.numbered() {
            assert_eq!(channel.data_bus, usize::from(self.separate), "the buses stay apart");
            assert_eq!(self.following, 0, "data follows its command at once");
            if !self.separate {
                assert!(!channel.busy[DATA], "channel {id} has one bus");
                continue;
            }
            let [commands, data] = channel.busy;
            assert!(channel.unawaited.is_none(), "the end of a command is an event");
            assert!(!commands || now <= channel.until, "the command bus of channel {id} ends");
            let moves = channel.moving != TransactionId::NONE;
            let programs = now <= channel.programming.until;
            assert!(!data || moves || programs, "the data bus of channel {id} ends");
            let waits = channel.data_waits() || !channel.copybacks.is_empty();
            assert!(
                !waits || commands || data,
                "work waits for a bus of channel {id} that is free"
            );
        }
    }
}
