//! Notes what transactions wait for, while they do.

use super::account::{Account, slot};
use super::charge::{Obstacle, Wait};
use super::log::Delay;
use crate::cause::CAUSES;
use crate::transaction::{Source, Transaction};
use flashlane_units::{FlowId, TransactionId};

impl Account {
    /// A transaction waited in a queue, for the bus, or suspended until now.
    pub(crate) fn note_queue(
        &mut self,
        id: TransactionId,
        tr: &Transaction,
        now: u64,
        obstacle: Obstacle,
    ) {
        let record = slot(&mut self.transactions, id);
        // All its waits of this kind so far, less those that are noted.
        let more = tr.chain.queue - record.queue_noted;
        if more > 0 {
            record.queue_noted = tr.chain.queue;
            self.note(id, tr, Wait { from: now - more, to: now, obstacle });
        }
    }

    /// A transaction waited from `mark`, or since its last wait that was noted.
    pub(crate) fn note_since(
        &mut self,
        id: TransactionId,
        tr: &Transaction,
        (mark, now): (u64, u64),
        obstacle: Obstacle,
    ) {
        let from = slot(&mut self.transactions, id).last.max(mark);
        if from < now {
            self.note(id, tr, Wait { from, to: now, obstacle });
        }
    }

    /// Notes a wait: a span for translation pages, charges for all others.
    fn note(&mut self, id: TransactionId, tr: &Transaction, wait: Wait) {
        let record = slot(&mut self.transactions, id);
        record.last = wait.to;
        if tr.source == Source::Mapping {
            record.waits.push(wait);
        } else {
            self.logs.charge(tr.flow, &wait, &mut self.charges);
            // The parts of one span, so each has 64 bits.
            let parts = self.charges.list().iter().map(|&(cell, ps)| (cell, ps as u64));
            record.charges.extend(parts);
            self.charges.clear();
        }
    }

    /// How much others delayed a transaction so far. In a closed loop, where its requests would not
    /// have come as they did without that, only if it waited for others longer than for its own
    /// flow.
    pub(crate) fn delay(&mut self, id: TransactionId, flow: FlowId) -> Delay {
        let device = self.device();
        let (mut delay, mut own) = (Delay::default(), 0);
        for &(cell, ps) in &slot(&mut self.transactions, id).charges {
            let culprit = FlowId::new((cell / CAUSES as u32) as u16);
            if culprit == flow || culprit == device {
                own += ps;
                continue;
            }
            delay.ps += ps;
            let same = delay.by.iter().position(|&(other, known)| other == cell && known > 0);
            let least = (0..3).min_by_key(|&at| delay.by[at].1).expect("three places");
            match same {
                Some(at) => delay.by[at].1 += ps,
                None if ps > delay.by[least].1 => delay.by[least] = (cell, ps),
                None => {}
            }
        }
        let counts = delay.ps > own || self.open_loops[flow.index()];
        if counts { delay } else { Delay::default() }
    }

    /// `id` waited from `mark` on for `other`, which is done: for what that waited for, and for its
    /// work.
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
                    self.note(id, tr, Wait { from, to: start, obstacle: work });
                }
                self.note(id, tr, Wait { from: start, to: end, obstacle: wait.obstacle });
                from = end;
            }
        }
        if from < now {
            self.note(id, tr, Wait { from, to: now, obstacle: work });
        }
        slot(&mut self.transactions, other).waits = theirs;
    }

    /// The waits of `other`, which is over, are part of those of `id`.
    pub(crate) fn append(&mut self, id: TransactionId, other: TransactionId) {
        let mut theirs = std::mem::take(slot(&mut self.transactions, other));
        let ours = slot(&mut self.transactions, id);
        ours.charges.append(&mut theirs.charges);
        ours.queue_noted += theirs.queue_noted;
        ours.last = ours.last.max(theirs.last);
        *slot(&mut self.transactions, other) = theirs;
        self.forget(other);
    }

    /// A transaction is over, and nothing noted of it matters any more.
    pub(crate) fn forget(&mut self, id: TransactionId) {
        let record = slot(&mut self.transactions, id);
        record.waits.clear();
        record.charges.clear();
        (record.last, record.queue_noted) = (0, 0);
    }
}
