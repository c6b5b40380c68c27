//! Data of reads is decoded, where bit errors are modelled (`[errors]`): pages that fail are read
//! again.

use flashlane_units::{ChannelId, DieId, TransactionId};

use super::Device;
use crate::transaction::{Op, pages_from};

/// Times of the decoders, and the reads that they need. Unit: picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoders {
    hard: u64,
    soft: u64,
    /// Reads of a page for soft decoding.
    soft_senses: u8,
}

impl Decoders {
    /// The decoders of a drive; `None` where bit errors are not modelled.
    pub(super) fn new(device: &crate::config::DeviceConfig) -> Option<Self> {
        device.errors.as_ref().map(|errors| Self {
            hard: errors.decode_time.0,
            soft: errors.soft_decode_time.0,
            soft_senses: errors.soft_senses as u8,
        })
    }

    /// Time from the arrival of data until it is known whether it is correct. `left`: reads that
    /// follow; `soft`: all retries fail.
    fn time(self, left: u8, soft: bool) -> u64 {
        match (soft, left) {
            (true, 0) => self.soft,
            // Until the last of them, soft decoding gathers data.
            (true, left) if left < self.soft_senses => 0,
            _ => self.hard,
        }
    }
}

impl Device {
    /// Read data is in the controller, and is decoded.
    #[cold]
    #[inline(never)]
    pub(super) fn on_raw_data(&mut self, channel: ChannelId) {
        let (id, source, die) = self.flash.raw_data_arrives(&mut self.context, channel);
        if self.observer.is_some() {
            self.observe_operation(id, Op::Read);
        }
        let decoders = self.decoders.expect("data is decoded");
        if !self.context.transactions[id].reads_again() {
            self.ask_ftl(|ftl, context| {
                let more = ftl.more_reads(context, id);
                context.transactions[id].needs_reads(1 + more.count, more.soft);
            });
        }
        let (left, soft) = self.context.transactions[id].has_been_read();
        let time = decoders.time(left, soft);
        if left > 0 {
            self.flash.fails(&mut self.context, die, id, time);
        } else {
            self.flash.succeeds(&self.context, id);
            if time > 0 {
                self.flash.decodes_for(&mut self.context, id, time);
            } else {
                self.read_over(id, source);
            }
        }
        if self.flash.has_to_read_again(die) {
            if self.may_read_again(channel, die) {
                self.read_again(channel, die);
                if !self.flash.has_command_bus() {
                    return;
                }
            }
        } else if self.flash.data_left(die)
            && self.read_on(channel, die)
            && !self.flash.has_command_bus()
        {
            return;
        }
        self.channel_free(channel);
    }

    /// A die reads the pages of its command again that could not be decoded.
    #[cold]
    #[inline(never)]
    pub(super) fn read_again(&mut self, channel: ChannelId, die: DieId) {
        self.queue_lone();
        let first = self.flash.first_to_read_again(die);
        let transactions = &self.context.transactions;
        let pages = pages_from(transactions, first).map(|id| &transactions[id]);
        let cells = self.ftl.cells_of(pages);
        self.flash.read_again(&mut self.context, channel, die, cells);
        if self.observer.is_some() {
            self.observe_retry(die);
        }
    }

    /// The data of a page is correct.
    #[cold]
    #[inline(never)]
    pub(super) fn on_decoded(&mut self, id: TransactionId) {
        let (source, took) = self.flash.decoded(&mut self.context, id);
        if self.observer.is_some() {
            self.observe_decoded(id, took);
        }
        self.read_over(id, source);
    }
}
