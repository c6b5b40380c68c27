//! Notes the waits of transactions while they last.

use super::account::{Account, slot};
use super::charge::{Obstacle, Wait};
use super::shadow::{CommandTimes, ShadowPage};
use crate::observe::credit::Credits;
use flashlane_device::cause::CAUSES;
use flashlane_device::flash::Running;
use flashlane_device::transaction::{Source, Transaction, Transactions, pages_from};
use flashlane_units::{DieId, FlowId, RequestId, TransactionId};

impl Account {
    /// Notes that a transaction waited in a queue, for the bus, or suspended until now.
    pub(crate) fn note_queue(
        &mut self,
        id: TransactionId,
        tr: &Transaction,
        now: u64,
        obstacle: Obstacle,
    ) {
        let record = slot(&mut self.transactions, id);
        // All its waits of this kind so far, less those that are noted already.
        let more = tr.chain.queue - record.queue_noted;
        if more > 0 {
            record.queue_noted = tr.chain.queue;
            self.note(id, tr, Wait { from: now - more, to: now, obstacle }, true);
        }
    }

    /// Notes that a transaction waited from `mark`, or since its last noted wait.
    pub(crate) fn note_since(
        &mut self,
        id: TransactionId,
        tr: &Transaction,
        (mark, now): (u64, u64),
        obstacle: Obstacle,
    ) {
        let from = slot(&mut self.transactions, id).last.max(mark);
        if from < now {
            self.note(id, tr, Wait { from, to: now, obstacle }, false);
        }
    }

    /// Notes a wait: a span for translation pages, charges for all others.
    fn note(&mut self, id: TransactionId, tr: &Transaction, wait: Wait, queue: bool) {
        let record = slot(&mut self.transactions, id);
        record.last = wait.to;
        if tr.source == Source::Mapping {
            record.waits.push(wait);
        } else {
            self.logs.charge(&wait, &mut self.charges);
            // The parts of one span, so each has 64 bits.
            let parts = self.charges.list().iter().map(|&(cell, ps)| (cell, ps as u64));
            record.charges.extend(parts);
            if !queue {
                let own =
                    |&&(cell, _): &&(u32, u128)| cell / CAUSES as u32 == u32::from(tr.flow.get());
                record.own +=
                    self.charges.list().iter().filter(own).map(|&(_, ps)| ps as u64).sum::<u64>();
            }
            self.charges.clear();
        }
    }

    /// Notes that `id` waited from `mark` on for `other`, which is done: for the waits of `other`,
    /// and for its work.
    pub(crate) fn note_other(
        &mut self,
        id: TransactionId,
        tr: &Transaction,
        (mark, now): (u64, u64),
        other: TransactionId,
        work: Obstacle,
    ) {
        let theirs = std::mem::take(&mut slot(&mut self.transactions, other).waits);
        let mut from = mark;
        for wait in &theirs {
            let (start, end) = (wait.from.max(from), wait.to.min(now));
            if start < end {
                if from < start {
                    self.note(id, tr, Wait { from, to: start, obstacle: work }, false);
                }
                self.note(id, tr, Wait { from: start, to: end, obstacle: wait.obstacle }, false);
                from = end;
            }
        }
        if from < now {
            self.note(id, tr, Wait { from, to: now, obstacle: work }, false);
        }
        slot(&mut self.transactions, other).waits = theirs;
    }

    /// Adds the waits of `other`, which is over, to those of `id`.
    pub(crate) fn append(&mut self, id: TransactionId, other: TransactionId) {
        let mut theirs = std::mem::take(slot(&mut self.transactions, other));
        let ours = slot(&mut self.transactions, id);
        ours.charges.append(&mut theirs.charges);
        ours.queue_noted += theirs.queue_noted;
        ours.last = ours.last.max(theirs.last);
        ours.own += theirs.own;
        ours.shadow = theirs.shadow;
        *slot(&mut self.transactions, other) = theirs;
        self.forget(other);
    }

    /// Notes that units begin to ride on the page of a transaction.
    pub(crate) fn page_begins(&mut self, leader: TransactionId) {
        let record = slot(&mut self.transactions, leader);
        record.own_charges = record.charges.len();
    }

    /// Adds the waits of a leader since its page began to those of a unit that rode on it.
    pub(crate) fn rode(&mut self, id: TransactionId, tr: &Transaction, leader: TransactionId) {
        let theirs = std::mem::take(slot(&mut self.transactions, leader));
        let ours = slot(&mut self.transactions, id);
        ours.charges.extend_from_slice(&theirs.charges[theirs.own_charges..]);
        ours.queue_noted = tr.chain.queue;
        ours.last = ours.last.max(theirs.last);
        ours.shadow = theirs.shadow;
        *slot(&mut self.transactions, leader) = theirs;
    }

    /// Forgets a transaction that is over.
    pub(crate) fn forget(&mut self, id: TransactionId) {
        let record = slot(&mut self.transactions, id);
        record.waits.clear();
        record.charges.clear();
        (record.last, record.queue_noted, record.own) = (0, 0, 0);
        record.shadow = ShadowPage::default();
    }

    /// Notes that the device work of a request begins.
    pub(crate) fn begins(&mut self, id: RequestId, flow: FlowId, arrival: u64, now: u64) {
        self.request(id).shadow = self.shadows.request(flow, arrival, now);
    }

    /// Notes that a transaction enters the scheduler's queue.
    pub(crate) fn enlisted(&mut self, id: TransactionId, tr: &Transaction, flow: FlowId, now: u64) {
        let request = (tr.request != RequestId::NONE).then(|| self.request(tr.request).shadow);
        let page = &mut slot(&mut self.transactions, id).shadow;
        self.shadows.enlisted(flow, request.as_ref(), page, now);
    }

    /// Notes that a die got a command. Its pages of one flow stay together in the shadow.
    pub(crate) fn shadow_pages(
        &mut self,
        die: DieId,
        command: &Running,
        transactions: &Transactions,
        credits: &Credits,
        times: CommandTimes,
    ) {
        let from = |id| pages_from(transactions, id);
        let culprit = |id: TransactionId| credits.culprit_of(&transactions[id]);
        let pages = from(command.head).count() as u64;
        let mut head = command.head;
        while head != TransactionId::NONE {
            let flow = culprit(head);
            let same = || from(head).take_while(|&id| culprit(id) == flow);
            let ready = same().map(|id| slot(&mut self.transactions, id).shadow.ready()).max();
            let held = times.held * same().count() as u64 / pages;
            let times = CommandTimes { held, ..times };
            let parts = self.shadows.parts_of(die, &transactions[head]);
            let times = self.shadows.command(flow, parts, ready.unwrap_or(0), times);
            for id in same() {
                slot(&mut self.transactions, id).shadow.starts(times);
            }
            head = from(head).nth(same().count()).unwrap_or(TransactionId::NONE);
        }
    }

    /// Notes that the data of a read page crosses the channel.
    pub(crate) fn shadow_transfer(
        &mut self,
        (id, tr): (TransactionId, &Transaction),
        (flow, die): (FlowId, DieId),
        duration: u64,
    ) {
        let parts = self.shadows.parts_of(die, tr);
        let page = &mut slot(&mut self.transactions, id).shadow;
        self.shadows.transfer(flow, parts, page, duration);
    }

    /// Notes that the old data of a write is read: the write waits for it in the shadow as well.
    pub(crate) fn shadow_merges(
        &mut self,
        (write, tr): (TransactionId, &Transaction),
        read: TransactionId,
        now: u64,
    ) {
        if tr.request != RequestId::NONE {
            self.shadow_ends(read, tr.request, now);
        }
        let end = slot(&mut self.transactions, read).shadow.end();
        slot(&mut self.transactions, write).shadow.not_before(end);
    }

    /// Notes that a transaction of a request is over.
    pub(crate) fn shadow_ends(&mut self, id: TransactionId, request: RequestId, now: u64) {
        let mut shadow = self.request(request).shadow;
        slot(&mut self.transactions, id).shadow.ends(&mut shadow, now);
        self.request(request).shadow = shadow;
    }
}
