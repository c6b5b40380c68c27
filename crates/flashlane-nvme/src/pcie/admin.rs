//! Admin commands about queues and interrupts, which belong to this transport.

use super::function::{PcieFunction, Sides};
use super::pointers::PAGE;
use super::queues::{CompletionQueue, SubmissionQueue};
use crate::controller::features::QUEUES;
use crate::controller::registers::QUEUE_ENTRIES_MAX;
use crate::entry::Entry;
use crate::opcode::{admin, fabrics};
use crate::status::Status;
use crate::subsystem::{QueueKey, Subsystem};

/// The feature Interrupt Coalescing.
const COALESCING: u8 = 0x08;
/// The feature Interrupt Vector Configuration.
const VECTOR: u8 = 0x09;

/// Buffers of shadow doorbells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadow {
    /// The host writes doorbells here.
    pub(super) doorbells: u64,
    /// The controller says here up to which value the host need not write the register.
    pub(super) events: u64,
}

/// Admin commands of this transport. All others are the subsystem's.
#[derive(Clone, Copy, Debug)]
pub(super) enum Own {
    CreateCompletions,
    CreateSubmissions,
    DeleteCompletions,
    DeleteSubmissions,
    PlaceDoorbells,
    SetCoalescing,
    SetVector,
    GetCoalescing,
    GetVector,
    /// A command of fabrics, which this transport does not have.
    Fabrics,
}

impl Own {
    /// `None` for a command of the subsystem.
    pub(super) fn of(entry: &Entry) -> Option<Self> {
        let feature = entry.dword(10) as u8;
        Some(match (entry.opcode(), feature) {
            (admin::CREATE_COMPLETION_QUEUE, _) => Self::CreateCompletions,
            (admin::CREATE_SUBMISSION_QUEUE, _) => Self::CreateSubmissions,
            (admin::DELETE_COMPLETION_QUEUE, _) => Self::DeleteCompletions,
            (admin::DELETE_SUBMISSION_QUEUE, _) => Self::DeleteSubmissions,
            (admin::DOORBELL_BUFFER, _) => Self::PlaceDoorbells,
            (admin::SET_FEATURES, COALESCING) => Self::SetCoalescing,
            (admin::SET_FEATURES, VECTOR) => Self::SetVector,
            (admin::GET_FEATURES, COALESCING) => Self::GetCoalescing,
            (admin::GET_FEATURES, VECTOR) => Self::GetVector,
            (fabrics::OPCODE, _) => Self::Fabrics,
            _ => return None,
        })
    }
}

impl PcieFunction {
    /// Runs a command of this transport.
    pub(super) fn run_own(
        &mut self,
        own: Own,
        entry: &Entry,
        with: &mut Sides<'_>,
    ) -> Result<u64, Status> {
        match own {
            Own::CreateCompletions => self.create_completions(entry, with.subsystem),
            Own::CreateSubmissions => self.create_submissions(entry, with.subsystem),
            Own::DeleteCompletions => self.delete_completions(entry),
            Own::DeleteSubmissions => self.delete_submissions(entry, with),
            Own::PlaceDoorbells => self.place_doorbells(entry),
            Own::SetCoalescing => {
                self.interrupts.coalesce(entry.dword(11));
                Ok(0)
            }
            Own::SetVector => self.interrupts.configure(entry.dword(11)).map(|()| 0),
            Own::GetCoalescing => Ok(self.interrupts.coalescing().into()),
            Own::GetVector => self.interrupts.configuration(entry.dword(11) as u16).map(u64::from),
            Own::Fabrics => Err(Status::INVALID_OPCODE),
        }
    }

    /// The number and the size of a new queue. `granted`: number of queues, 0-based.
    fn new_queue(entry: &Entry, granted: u32) -> Result<(u16, u16), Status> {
        let (queue, size) = (entry.dword(10) as u16, entry.dword(10) >> 16);
        if queue == 0 || u32::from(queue) > granted + 1 {
            return Err(Status::INVALID_QUEUE_ID);
        }
        if size == 0 || size >= u32::from(QUEUE_ENTRIES_MAX) {
            return Err(Status::INVALID_QUEUE_SIZE);
        }
        if entry.dword(11) & 1 == 0 {
            return Err(Status::INVALID_FIELD); // Queues are contiguous.
        }
        match entry.qword(6) % PAGE {
            0 => Ok((queue, size as u16 + 1)),
            _ => Err(Status::PRP_OFFSET_INVALID),
        }
    }

    fn create_completions(
        &mut self,
        entry: &Entry,
        subsystem: &mut Subsystem,
    ) -> Result<u64, Status> {
        let granted = self.feature(QUEUES, subsystem)? >> 16;
        let (queue, size) = Self::new_queue(entry, granted)?;
        if self.completions.contains_key(&queue) {
            return Err(Status::INVALID_QUEUE_ID);
        }
        let (enabled, vector) = (entry.dword(11) >> 1 & 1 == 1, (entry.dword(11) >> 16) as u16);
        if enabled && !self.interrupts.has(vector) {
            return Err(Status::INVALID_INTERRUPT_VECTOR);
        }
        let made = CompletionQueue::new(entry.qword(6), size, enabled.then_some(vector));
        self.completions.insert(queue, made);
        Ok(0)
    }

    fn create_submissions(
        &mut self,
        entry: &Entry,
        subsystem: &mut Subsystem,
    ) -> Result<u64, Status> {
        let granted = self.feature(QUEUES, subsystem)? & 0xffff;
        let (queue, size) = Self::new_queue(entry, granted)?;
        if self.submissions.contains_key(&queue) {
            return Err(Status::INVALID_QUEUE_ID);
        }
        let completions = (entry.dword(11) >> 16) as u16;
        if completions == 0 || !self.completions.contains_key(&completions) {
            return Err(Status::COMPLETION_QUEUE_INVALID);
        }
        let class = (entry.dword(11) >> 1 & 3) as u8;
        let weighted = self.is_weighted(subsystem);
        let key = QueueKey { controller: self.id, queue };
        subsystem.open_attached(key, size, weighted.then_some(class));
        let (base, head, tail) = (entry.qword(6), 0, 0);
        let made = SubmissionQueue { base, size, head, tail, completions, class };
        self.submissions.insert(queue, made);
        Ok(0)
    }

    fn delete_completions(&mut self, entry: &Entry) -> Result<u64, Status> {
        let queue = entry.dword(10) as u16;
        if queue == 0 || !self.completions.contains_key(&queue) {
            return Err(Status::INVALID_QUEUE_ID);
        }
        if self.submissions.values().any(|it| it.completions == queue) {
            return Err(Status::INVALID_QUEUE_DELETION);
        }
        self.completions.remove(&queue);
        Ok(0)
    }

    /// Deletes a submission queue. Its commands that are under way are completed as aborted.
    fn delete_submissions(&mut self, entry: &Entry, with: &mut Sides<'_>) -> Result<u64, Status> {
        let queue = entry.dword(10) as u16;
        if queue == 0 || !self.submissions.contains_key(&queue) {
            return Err(Status::INVALID_QUEUE_ID);
        }
        self.abort_all(queue, with.host);
        with.subsystem.disconnect(QueueKey { controller: self.id, queue });
        self.submissions.remove(&queue);
        Ok(0)
    }

    fn place_doorbells(&mut self, entry: &Entry) -> Result<u64, Status> {
        let (doorbells, events) = (entry.qword(6), entry.qword(8));
        if doorbells % PAGE != 0 || events % PAGE != 0 {
            return Err(Status::INVALID_FIELD);
        }
        self.shadow = Some(Shadow { doorbells, events });
        Ok(0)
    }
}
