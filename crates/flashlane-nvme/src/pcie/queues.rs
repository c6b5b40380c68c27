//! Queues in host memory.

use std::collections::VecDeque;

use super::host::{BadAddress, PcieHost, read_if_there};
use crate::entry::{CompletionEntry, Entry};

/// Unit: bytes.
const SUBMISSION_ENTRY: u64 = 64;
/// Unit: bytes.
const COMPLETION_ENTRY: u64 = 16;

/// Entries that the host writes and the controller fetches.
#[derive(Clone, Debug)]
pub(super) struct SubmissionQueue {
    pub(super) base: u64,
    /// Unit: entries.
    pub(super) size: u16,
    /// The entry that is fetched next.
    pub(super) head: u16,
    /// The entry that the host writes next.
    pub(super) tail: u16,
    /// The completion queue.
    pub(super) completions: u16,
    /// Priority class, 0 for urgent to 3 for low.
    pub(super) class: u8,
}

impl SubmissionQueue {
    /// Reads the next entry, which stays in the queue. `None` if it has not come from host memory
    /// yet.
    pub(super) fn next(&self, host: &mut dyn PcieHost) -> Result<Option<Entry>, BadAddress> {
        let mut bytes = [0; SUBMISSION_ENTRY as usize];
        let address = self.base.checked_add(u64::from(self.head) * SUBMISSION_ENTRY);
        let is_there = read_if_there(host, address.ok_or(BadAddress)?, &mut bytes)?;
        Ok(is_there.then_some(Entry(bytes)))
    }

    /// Takes the next entry off the queue.
    pub(super) fn take(&mut self) {
        self.head = (self.head + 1) % self.size;
    }
}

/// Entries that the controller posts and the host reads.
#[derive(Clone, Debug)]
pub(super) struct CompletionQueue {
    base: u64,
    /// Unit: entries.
    pub(super) size: u16,
    /// The entry that the host reads next.
    head: u16,
    /// The entry that is posted next.
    tail: u16,
    /// The phase tag of the entries of this round.
    phase: bool,
    /// `None` if the host polls.
    pub(super) vector: Option<u16>,
    /// Completions for which the queue has no room.
    pub(super) waiting: VecDeque<CompletionEntry>,
}

impl CompletionQueue {
    pub(super) fn new(base: u64, size: u16, vector: Option<u16>) -> Self {
        let (head, tail, phase, waiting) = (0, 0, true, VecDeque::new());
        Self { base, size, head, tail, phase, vector, waiting }
    }

    /// The host has read up to an entry. False if that entry was not posted.
    pub(super) fn read_to(&mut self, head: u16) -> bool {
        let distance = |to: u16| (to + self.size - self.head) % self.size;
        if head >= self.size || distance(head) > distance(self.tail) {
            return false;
        }
        self.head = head;
        true
    }

    /// Posts what waits, as far as there is room, and returns how many that are.
    pub(super) fn post(&mut self, host: &mut dyn PcieHost) -> Result<u32, BadAddress> {
        let mut posted = 0;
        while (self.tail + 1) % self.size != self.head {
            let Some(entry) = self.waiting.front() else { break };
            let mut bytes = entry.encode();
            bytes[14] |= u8::from(self.phase);
            let address = self.base.checked_add(u64::from(self.tail) * COMPLETION_ENTRY);
            host.write(address.ok_or(BadAddress)?, &bytes)?;
            self.waiting.pop_front();
            self.tail += 1;
            if self.tail == self.size {
                (self.tail, self.phase) = (0, !self.phase);
            }
            posted += 1;
        }
        Ok(posted)
    }
}
