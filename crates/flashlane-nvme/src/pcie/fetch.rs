//! Fetches commands: whose turn it is, what of the command is in host memory, and its start.

use std::collections::BTreeSet;

use flashlane::Time;

use super::admin::Own;
use super::arbiter::Weights;
use super::function::{PcieFunction, Running, Sides};
use super::host::BadAddress;
use super::pointers::{Segments, Unready};
use super::queues::SubmissionQueue;
use crate::controller::Transfer;
use crate::entry::Entry;
use crate::status::Status;
use crate::subsystem::{QueueKey, Subsystem};

/// The feature Arbitration.
const ARBITRATION: u8 = 0x01;

impl PcieFunction {
    /// Fetches entries and runs them, as far as there is room.
    pub(super) fn pump(&mut self, at: Time, with: &mut Sides<'_>) {
        self.look_at_shadows(at, with);
        // Queues whose next command has not come from host memory yet.
        let mut waiting = BTreeSet::new();
        loop {
            let before = self.arbiter.clone();
            let Some(queue) = self.next_queue(&waiting, with.subsystem) else { break };
            if !self.fetch(at, queue, with) {
                // The turn of the queue comes when host memory has answered.
                self.arbiter = before;
                waiting.insert(queue);
            }
        }
        self.tell_shadows(with);
    }

    /// The queue from which the next entry is fetched. It is none of those that wait.
    fn next_queue(&mut self, waiting: &BTreeSet<u16>, subsystem: &mut Subsystem) -> Option<u16> {
        let known = subsystem.controller(self.id);
        let is_ready = known.is_ok_and(|it| it.registers.is_ready());
        if self.failed || self.is_shut_down || !is_ready {
            return None;
        }
        let has_entry = |number: u16, it: &SubmissionQueue| {
            let completions = self.completions.get(&it.completions);
            let has_room = completions.is_some_and(|it| it.waiting.is_empty());
            it.head != it.tail && has_room && !waiting.contains(&number)
        };
        if self.submissions.get(&0).is_some_and(|it| has_entry(0, it)) {
            return Some(0);
        }
        if self.in_drive >= self.commands_max || self.data >= self.data_max {
            return None;
        }
        let ready = self.submissions.iter();
        let ready = ready.filter(|&(&number, it)| number > 0 && has_entry(number, it));
        let ready: Vec<(u16, u8)> = ready.map(|(&number, it)| (number, it.class)).collect();
        if ready.is_empty() {
            return None;
        }
        let weights = Weights::of(self.feature(ARBITRATION, subsystem).unwrap_or_default());
        let weighted = self.is_weighted(subsystem);
        self.arbiter.pick(&ready, weights, weighted)
    }

    /// Fetches an entry and runs it. False if a part of it has not come from host memory yet.
    fn fetch(&mut self, at: Time, queue: u16, with: &mut Sides<'_>) -> bool {
        let Some(submissions) = self.submissions.get(&queue) else { return true };
        let entry = match submissions.next(with.host) {
            Ok(Some(entry)) => entry,
            Ok(None) => return false,
            Err(BadAddress) => {
                self.failed = true;
                return true;
            }
        };
        let key = QueueKey { controller: self.id, queue };
        let prepared = match self.prepare(key, &entry, with) {
            Err(Unready::Later) => return false,
            Err(Unready::Refused(status)) => Err(status),
            Ok(prepared) => Ok(prepared),
        };
        self.submissions.get_mut(&queue).expect("it has the entry").take();
        self.fetched += 1;
        self.start(at, key, &entry, prepared, with);
        true
    }

    /// Starts a command that was fetched, or refuses it.
    fn start(
        &mut self,
        at: Time,
        key: QueueKey,
        entry: &Entry,
        prepared: Result<(Vec<u8>, Segments), Status>,
        with: &mut Sides<'_>,
    ) {
        let (mut done, queue) = (Vec::new(), key.queue);
        match prepared {
            Err(status) => {
                with.subsystem.refuse(at, key, entry, status, &mut done);
                for refused in done {
                    self.complete(at, queue, refused.completion, with.host);
                }
            }
            Ok((data, segments)) => {
                let own = Own::of(entry).filter(|_| queue == 0);
                let own = own.map(|own| self.run_own(own, entry, with));
                let bytes = data.len() + segments.bytes();
                self.begin((queue, entry.command_id()), Running { segments, bytes });
                if let Some(answer) = own {
                    with.subsystem.answer(at, key, entry, answer, &mut done);
                } else if let Err(status) = with.subsystem.submit(at, key, entry, data, &mut done) {
                    with.subsystem.refuse(at, key, entry, status, &mut done);
                }
                self.post_all(done, with);
            }
        }
    }

    /// Host memory of a command, and the data that it brings.
    fn prepare(
        &mut self,
        key: QueueKey,
        entry: &Entry,
        with: &mut Sides<'_>,
    ) -> Result<(Vec<u8>, Segments), Unready> {
        if self.running.contains_key(&(key.queue, entry.command_id())) {
            return Err(Status::COMMAND_ID_CONFLICT.into());
        }
        let is_admin = key.queue == 0;
        if is_admin && Own::of(entry).is_some() {
            return Ok(Default::default());
        }
        match with.subsystem.transfer(key, entry)? {
            Transfer::None => Ok(Default::default()),
            Transfer::ToHost(bytes) => {
                Ok((Vec::new(), Segments::of(entry, bytes, is_admin, with.host)?))
            }
            Transfer::FromHost(bytes) => {
                let segments = Segments::of(entry, bytes, is_admin, with.host)?;
                Ok((segments.gather(with.host)?, Segments::default()))
            }
        }
    }
}
