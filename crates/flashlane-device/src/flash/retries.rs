//! Pages whose data could not be decoded: their die reads them again.
//!
//! The die is kept: it takes no other command before its pages are correct. When all pages of its
//! command have crossed the channel, the pages that failed are read together once more. The command
//! crosses the channel at once; the array starts when decoding has failed. Then the data crosses
//! the channel as any read data. So a page that is read again once takes longer by the time of
//! decoding, a read command, tR and a transfer.
//!
//! Pages that are correct leave the die as always, and wait for the end of their decoding in the
//! controller. Source: Park et al. (ASPLOS 2021), whose retries are sequential, too.

use super::timing::Cells;
use flashlane_engine::{Array, Time, place_of};
use flashlane_units::{ChannelId, DieId, FlowId, TransactionId};

use super::channel::COMMANDS;
use super::command::{Command, CommandTime};
use super::{DieState, Flash};
use crate::context::Context;
use crate::event::Event;
use crate::transaction::{Op, Source, Transaction};

/// The pages of a die that are read again.
#[derive(Clone, Copy, Debug)]
struct Failed {
    /// First page; the others follow by `sibling`.
    head: TransactionId,
    last: TransactionId,
    pages: u32,
    /// Time at which decoding has failed for all of them.
    at: Time,
}

const NOTHING: Failed =
    Failed { head: TransactionId::NONE, last: TransactionId::NONE, pages: 0, at: Time::ZERO };

/// Pages of hosts that were read again, for one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowRetries {
    pub(crate) pages: u64,
    /// Time from the first arrival of their data to the last. Unit: picoseconds.
    pub(crate) time: u64,
}

/// Pages whose data is being decoded, or is read again.
#[derive(Clone, Debug)]
pub(super) struct Retries {
    failed: Array<DieId, Failed>,
    /// By transaction: the time at which the data first arrived, if the page is read again;
    /// otherwise the end of time.
    arrived: Vec<Time>,
    by_flow: Array<FlowId, FlowRetries>,
    /// Correct pages whose decoding is not over.
    decoding: usize,
}

impl Retries {
    pub(super) fn new(dies: usize, flows: usize) -> Box<Self> {
        let by_flow = Array::of(FlowRetries::default(), flows);
        let failed = Array::of(NOTHING, dies);
        Box::new(Self { failed, arrived: Vec::new(), by_flow, decoding: 0 })
    }

    /// Notes that the data of a page has arrived and is wrong.
    fn note_failure(&mut self, id: TransactionId, now: Time) {
        let at = place_of(id);
        if at >= self.arrived.len() {
            self.arrived.resize((at + 1).next_power_of_two(), Time::MAX);
        }
        self.arrived[at] = self.arrived[at].min(now);
    }

    /// Notes that the data of a page has arrived and is correct.
    fn note_success(&mut self, id: TransactionId, tr: &Transaction, now: Time) {
        let Some(arrived) = self.arrived.get_mut(place_of(id)) else { return };
        let since = std::mem::replace(arrived, Time::MAX);
        if since < Time::MAX && matches!(tr.source, Source::User | Source::Cache) {
            let flow = &mut self.by_flow[tr.flow];
            flow.pages += 1;
            flow.time += (now - since).0;
        }
    }

    /// Pages that a die holds no longer, and whose reads are not over.
    pub(super) fn pages(&self) -> usize {
        self.failed.iter().map(|failed| failed.pages as usize).sum::<usize>() + self.decoding
    }
}

impl Flash {
    /// From now on, data is decoded.
    pub(crate) fn decode(&mut self) {
        self.retries = Some(Retries::new(self.dies.len(), self.by_flow.len()));
    }

    /// True if data is decoded.
    #[inline(always)]
    pub(crate) fn decodes(&self) -> bool {
        self.retries.is_some()
    }

    fn retries(&mut self) -> &mut Retries {
        self.retries.as_mut().expect("data is decoded")
    }

    /// The page of read data on a channel is in the controller, and is decoded next. Returns its
    /// transaction, source and die. A page counts as read once.
    pub(crate) fn raw_data_arrives(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
    ) -> (TransactionId, Source, DieId) {
        let arrived = self.transfer_ends(cx, channel);
        if !cx.transactions[arrived.0].reads_again() {
            self.count_read(&cx.transactions, arrived.0, arrived.1);
        }
        arrived
    }

    /// The data of a page cannot be decoded: it is read again. `decoding`: the time until that is
    /// known. Unit: picoseconds.
    pub(crate) fn fails(&mut self, cx: &mut Context, die: DieId, id: TransactionId, decoding: u64) {
        let at = cx.now + Time(decoding);
        self.retries().note_failure(id, cx.now);
        let failed = &mut self.retries().failed[die];
        if failed.pages == 0 {
            *failed = Failed { head: id, last: id, pages: 1, at };
            return;
        }
        let last = failed.last;
        *failed = Failed { last: id, pages: failed.pages + 1, at: failed.at.max(at), ..*failed };
        cx.transactions[last].sibling = id;
    }

    /// The data of a page is correct.
    pub(crate) fn succeeds(&mut self, cx: &Context, id: TransactionId) {
        self.retries().note_success(id, &cx.transactions[id], cx.now);
    }

    /// Pages of hosts that were read again, by flow; nothing where bit errors are not modelled.
    pub(crate) fn retries_of_flows(&self) -> &[FlowRetries] {
        self.retries.as_ref().map_or(&[], |retries| &retries.by_flow)
    }

    /// The data of a page is correct, which is known after `decoding`. Unit: picoseconds.
    pub(crate) fn decodes_for(&mut self, cx: &mut Context, id: TransactionId, decoding: u64) {
        self.retries().decoding += 1;
        cx.events.schedule(cx.now + Time(decoding), Event::Decoded { transaction: id });
    }

    /// The decoding of a page is over. Returns its source and the time that it took.
    pub(crate) fn decoded(&mut self, cx: &mut Context, id: TransactionId) -> (Source, Time) {
        self.retries().decoding -= 1;
        let tr = &mut cx.transactions[id];
        let took = tr.lap(cx.now);
        tr.chain.array += took;
        (tr.source, Time(took))
    }

    /// True if a page of read data that has left its die was the last one of its command, and pages
    /// of that command are read again.
    pub(crate) fn has_to_read_again(&self, die: DieId) -> bool {
        let failed = self.retries.as_ref().is_some_and(|retries| retries.failed[die].pages > 0);
        failed && self.dies[die].data_left == 1
    }

    /// The first of the pages that a die reads again.
    pub(crate) fn first_to_read_again(&self, die: DieId) -> TransactionId {
        self.retries.as_ref().map_or(TransactionId::NONE, |retries| retries.failed[die].head)
    }

    /// Reads the pages of a die again whose data could not be decoded. The channel has moved the
    /// last page of their command, and its bus for commands is free. `cells`: those of the first
    /// page.
    pub(crate) fn read_again(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
        die: DieId,
        cells: Cells,
    ) {
        self.look_at_sensing(cx, channel);
        if !self.separate {
            self.channels[channel].busy[COMMANDS] = false;
        }
        let Failed { head, pages, at, .. } =
            std::mem::replace(&mut self.retries().failed[die], NOTHING);
        assert!(pages > 0, "a die reads again what failed");
        let (mut sectors, mut id) = (0, head);
        while id != TransactionId::NONE {
            let tr = &mut cx.transactions[id];
            // The others of the command came later.
            let waited = tr.lap(cx.now);
            tr.chain.queue += waited;
            sectors = sectors.max(tr.sectors());
            id = tr.sibling;
        }
        let state = &mut self.dies[die];
        assert!(state.data_left <= 1, "all data of a command moves before a part is read again");
        state.data_left = 0;
        let pages = u64::from(pages);
        let bus = self.timing.command(Op::Read, pages);
        let settle = at.saturating_sub(cx.now).0;
        let after = DieState::DataOut;
        let command = Command { op: Op::Read, head, sectors, cells, pages, after };
        self.send_command(cx, die, command, CommandTime { bus, settle }, false);
    }

    /// All data of a command has crossed the channel, and its die waits for the command bus, to
    /// read pages again.
    pub(crate) fn reads_again_later(&mut self, channel: ChannelId, die: DieId) {
        self.dies[die].data_left = 0;
        self.channels[channel].copybacks.push_back(die);
    }

    /// Checks the pages that are read again.
    pub(super) fn audit_retries(&self) {
        let Some(retries) = &self.retries else { return };
        for (id, failed) in retries.failed.numbered().filter(|(_, failed)| failed.pages > 0) {
            let die = &self.dies[id];
            assert!(
                die.state == DieState::DataOut && (die.data_left > 0 || self.separate),
                "the other data of die {id} moves before its {} pages are read again",
                failed.pages
            );
        }
    }
}
