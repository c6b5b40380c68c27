//! Channels whose commands have their own bus (`flash.command_bus`): an end of either bus makes the
//! channel look for work.

use flashlane_units::{ChannelId, DieId, TransactionId};

use super::Device;
use crate::flash::BusWork;

impl Device {
    /// A command is over its own bus.
    #[cold]
    #[inline(never)]
    pub(super) fn command_bus_free(&mut self, channel: ChannelId) {
        self.flash.command_bus_ends(&self.context, channel);
        self.use_buses(channel);
    }

    /// Data is over the data bus.
    #[cold]
    #[inline(never)]
    pub(super) fn data_bus_free(&mut self, channel: ChannelId) {
        self.flash.data_bus_ends(channel);
        self.use_buses(channel);
    }

    /// Starts what a channel can do now, on either bus.
    #[cold]
    #[inline(never)]
    pub(super) fn use_buses(&mut self, channel: ChannelId) {
        assert!(self.flash.has_command_bus(), "channel {channel} has two buses");
        self.queue_lone();
        let mut next = self.flash.next_on_buses(&mut self.context, channel);
        while let BusWork::Due(die) = next {
            self.send_due(channel, die);
            next = self.flash.next_on_buses(&mut self.context, channel);
        }
        match next {
            BusWork::Due(_) | BusWork::Nothing => {}
            BusWork::AnyCommand => {
                self.dispatch_free(channel);
                self.flash.had_all_commands(channel);
                self.move_data_beside(channel);
            }
            BusWork::ReadAndData => {
                self.dispatch_read(channel);
                self.move_data_beside(channel);
            }
            BusWork::ReadBesideData => self.dispatch_beside_data(channel),
            BusWork::Data => self.move_data_beside(channel),
        }
        self.flash.watch_data_bus(&mut self.context, channel);
    }

    /// Starts the next transfer of read data, unless a program has taken the data bus.
    fn move_data_beside(&mut self, channel: ChannelId) {
        if !self.flash.data_bus_busy(channel) {
            self.move_data(channel);
        }
    }

    /// Sends the command of a die that waited for the command bus.
    fn send_due(&mut self, channel: ChannelId, die: DieId) {
        assert!(!self.channel_busy(channel), "the command bus is free for what waits for it");
        if self.flash.first_to_read_again(die) != TransactionId::NONE {
            self.read_again(channel, die);
        } else {
            self.send_copyback(die);
        }
    }

    /// Pages of a die have to be read again, whose data has crossed the channel. False if the die
    /// waits for the command bus.
    pub(super) fn may_read_again(&mut self, channel: ChannelId, die: DieId) -> bool {
        let waits = self.flash.has_command_bus() && self.channel_busy(channel);
        if waits {
            self.flash.reads_again_later(channel, die);
        }
        !waits
    }

    /// Sends a read command, if one may go while data moves.
    fn dispatch_beside_data(&mut self, channel: ChannelId) {
        loop {
            let (scheduler, mut at) = self.scheduling();
            if scheduler.look_beside_data(&mut at, channel) {
                return self.send_formed();
            }
            if !self.scheduler.has_cancelled() {
                return;
            }
            // As for any look, the moves that turned out pointless are settled before it goes on.
            let die = self.scheduler.command().die;
            self.settle_cancelled(die);
            self.offer_at(self.flash.place_of(die));
        }
    }
}
