//! The function without the drive: its registers, its queues, and the commands that are under way.

use std::collections::BTreeMap;

use flashlane::{Error, Time};

use super::PcieOptions;
use super::admin::Shadow;
use super::arbiter::Arbiter;
use super::host::{BadAddress, PcieHost};
use super::interrupts::Interrupts;
use super::pointers::Segments;
use super::queues::{CompletionQueue, SubmissionQueue};
use super::registers::AdminQueues;
use crate::entry::CompletionEntry;
use crate::status::Status;
use crate::subsystem::{Done, QueueKey, Subsystem};

/// The two sides of a function: the drive, and the machine that it is in.
pub(super) struct Sides<'a> {
    pub(super) subsystem: &'a mut Subsystem,
    pub(super) host: &'a mut dyn PcieHost,
}

/// A command that is under way.
pub(super) struct Running {
    /// Host memory for its data.
    pub(super) segments: Segments,
    /// The data of the command. Unit: bytes.
    pub(super) bytes: usize,
}

/// An NVMe controller behind PCIe whose subsystem belongs to the caller, who may have other
/// controllers in it. The caller lets time pass in the subsystem ([`Subsystem::advance`]), and
/// hands the completions of this controller to it ([`PcieFunction::done`]).
pub struct PcieFunction {
    pub(super) id: u16,
    pub(super) now: Time,
    pub(super) commands_max: usize,
    pub(super) data_max: usize,
    pub(super) admin: AdminQueues,
    pub(super) submissions: BTreeMap<u16, SubmissionQueue>,
    pub(super) completions: BTreeMap<u16, CompletionQueue>,
    /// Commands that are under way, by queue and command identifier.
    pub(super) running: BTreeMap<(u16, u16), Running>,
    /// Number of running commands of I/O queues.
    pub(super) in_drive: usize,
    /// Data of running commands of I/O queues. Unit: bytes.
    pub(super) data: usize,
    /// Entries that were fetched since the caller looked.
    pub(super) fetched: u32,
    pub(super) arbiter: Arbiter,
    pub(super) interrupts: Interrupts,
    pub(super) shadow: Option<Shadow>,
    /// Queues are not where the host said.
    pub(super) failed: bool,
    pub(super) is_shut_down: bool,
}

impl PcieFunction {
    /// A function after a reset, which is a new controller of the subsystem.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for options out of range, and if the subsystem has no room for a
    /// controller.
    pub fn new(subsystem: &mut Subsystem, options: PcieOptions) -> Result<Self, Error> {
        if options.vectors == 0 || options.commands_max == 0 || options.data_max == 0 {
            let message = "found 0 vectors, commands or bytes of data, allowed: at least 1 of each";
            return Err(Error::config("PCIe controller", message));
        }
        let id = subsystem.attach().map_err(|status| {
            Error::config("PCIe controller", format!("the subsystem has no room: {status}"))
        })?;
        Ok(Self {
            id,
            now: subsystem.media().now(),
            commands_max: options.commands_max,
            data_max: options.data_max,
            admin: AdminQueues::default(),
            submissions: BTreeMap::new(),
            completions: BTreeMap::new(),
            running: BTreeMap::new(),
            in_drive: 0,
            data: 0,
            fetched: 0,
            arbiter: Arbiter::default(),
            interrupts: Interrupts::new(options.vectors),
            shadow: None,
            failed: false,
            is_shut_down: false,
        })
    }

    /// The number of the controller in the subsystem.
    #[must_use]
    pub fn controller(&self) -> u16 {
        self.id
    }

    /// Reads 1, 2, 4 or 8 bytes of the memory of the controller. Places without a register read
    /// as 0.
    pub fn mmio_read(&mut self, offset: u64, bytes: usize, subsystem: &mut Subsystem) -> u64 {
        let first = offset & !3;
        let low = u64::from(self.register(first, subsystem));
        let next = first.checked_add(4);
        let high = u64::from(next.map_or(0, |next| self.register(next, subsystem)));
        let shift = (offset - first) * 8;
        let both = u128::from(low) | u128::from(high) << 32;
        let value = (both >> shift) as u64;
        match bytes {
            1 | 2 | 4 => value & ((1 << (bytes * 8)) - 1),
            8 => value,
            _ => 0,
        }
    }

    /// Writes 4 or 8 bytes of the memory of the controller, at a time to which the caller has
    /// advanced. Writes of other lengths, or beside the registers, change nothing.
    pub fn mmio_write(
        &mut self,
        at: Time,
        (offset, bytes, value): (u64, usize, u64),
        subsystem: &mut Subsystem,
        host: &mut dyn PcieHost,
    ) {
        self.now = self.now.max(at);
        let now = self.now;
        if !offset.is_multiple_of(4) || !matches!(bytes, 4 | 8) {
            return;
        }
        let mut with = Sides { subsystem, host };
        self.set_register(now, offset, value as u32, &mut with);
        if let (8, Some(next)) = (bytes, offset.checked_add(4)) {
            self.set_register(now, next, (value >> 32) as u32, &mut with);
        }
    }

    /// Takes completions of this controller: their data and entries go to host memory. Fetches
    /// entries for which there was no room before.
    pub fn done(&mut self, done: Vec<Done>, subsystem: &mut Subsystem, host: &mut dyn PcieHost) {
        self.now = done.iter().map(|done| done.at).fold(self.now, Time::max);
        let mut with = Sides { subsystem, host };
        self.post_all(done, &mut with);
        self.pump(self.now, &mut with);
    }

    /// When an interrupt is due that tells of several completions.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.interrupts.due()
    }

    /// Time has passed: sends the interrupts that are due, and looks at the shadow doorbells.
    pub fn pass(&mut self, until: Time, subsystem: &mut Subsystem, host: &mut dyn PcieHost) {
        self.now = self.now.max(until);
        self.interrupts.pass(self.now, host);
        self.pump(self.now, &mut Sides { subsystem, host });
    }

    /// The number of entries that were fetched since the last call.
    pub fn take_fetched(&mut self) -> u32 {
        std::mem::take(&mut self.fetched)
    }

    /// Resets the function: all queues are gone, and the registers are as at the start.
    pub fn restart(&mut self, subsystem: &mut Subsystem) {
        self.reset(subsystem);
        self.admin = AdminQueues::default();
        subsystem.restart_attached(self.id);
    }

    /// Takes the controller out of the subsystem. Its commands that are under way go on, but
    /// nobody hears of their completion.
    pub fn detach(self, subsystem: &mut Subsystem) {
        subsystem.disconnect(QueueKey { controller: self.id, queue: 0 });
    }

    /// The value of a feature.
    pub(super) fn feature(&self, feature: u8, subsystem: &mut Subsystem) -> Result<u32, Status> {
        subsystem.controller(self.id)?.features.get(feature)
    }

    /// True if the host has chosen weighted round robin.
    pub(super) fn is_weighted(&self, subsystem: &mut Subsystem) -> bool {
        self.register(0x14, subsystem) >> 11 & 7 == 1
    }

    /// A command is under way.
    pub(super) fn begin(&mut self, name: (u16, u16), running: Running) {
        if name.0 > 0 {
            self.in_drive += 1;
            self.data += running.bytes;
        }
        self.running.insert(name, running);
    }

    /// A command is over. Returns its host memory; `None` if it was not under way.
    fn end(&mut self, name: (u16, u16)) -> Option<Segments> {
        let running = self.running.remove(&name)?;
        if name.0 > 0 {
            self.in_drive -= 1;
            self.data -= running.bytes;
        }
        Some(running.segments)
    }

    /// Moves the data of commands that are complete, and posts their completions.
    pub(super) fn post_all(&mut self, done: Vec<Done>, with: &mut Sides<'_>) {
        for Done { at, key, mut completion, data } in done {
            let Some(segments) = self.end((key.queue, completion.command_id)) else { continue };
            if completion.status.is_success()
                && let Err(status) = segments.scatter(&data, with.host)
            {
                (completion.status, completion.result) = (status, 0);
            }
            self.complete(at, key.queue, completion, with.host);
        }
    }

    pub(super) fn complete(
        &mut self,
        at: Time,
        queue: u16,
        completion: CompletionEntry,
        host: &mut dyn PcieHost,
    ) {
        let Some(submissions) = self.submissions.get(&queue) else { return };
        let number = submissions.completions;
        if let Some(completions) = self.completions.get_mut(&number) {
            completions.waiting.push_back(completion);
            self.drain(at, number, host);
        }
    }

    /// Posts completions that wait, and interrupts the host.
    pub(super) fn drain(&mut self, at: Time, queue: u16, host: &mut dyn PcieHost) {
        let Some(completions) = self.completions.get_mut(&queue) else { return };
        match completions.post(host) {
            Err(BadAddress) => self.failed = true,
            Ok(0) => {}
            Ok(posted) => {
                if let Some(vector) = completions.vector {
                    self.interrupts.posted(at, (vector, posted), queue == 0, host);
                }
            }
        }
    }

    /// Completes all commands of a queue as aborted.
    pub(super) fn abort_all(&mut self, queue: u16, host: &mut dyn PcieHost) {
        let of_queue = (queue, 0)..=(queue, u16::MAX);
        let running: Vec<u16> = self.running.range(of_queue).map(|(name, _)| name.1).collect();
        for command_id in running {
            self.end((queue, command_id));
            let queue_head = self.submissions.get(&queue).map_or(0, |it| it.head);
            let status = Status::ABORTED_WITH_QUEUE;
            let completion = CompletionEntry { result: 0, queue_head, queue, command_id, status };
            self.complete(self.now, queue, completion, host);
        }
    }

    /// The host has disabled the controller: all queues are gone.
    pub(super) fn reset(&mut self, subsystem: &mut Subsystem) {
        subsystem.reset_attached(self.id);
        self.submissions.clear();
        self.completions.clear();
        self.running.clear();
        (self.in_drive, self.data) = (0, 0);
        self.arbiter = Arbiter::default();
        self.interrupts.reset();
        (self.shadow, self.failed, self.is_shut_down) = (None, false, false);
    }
}
