//! The controller as a PCIe function: registers, doorbells, and queues in host memory.
//!
//! The owner of the function passes on what the host writes to and reads from the memory of the
//! controller ([`PcieController::mmio_write`], [`PcieController::mmio_read`]), gives it access to
//! host memory ([`PcieHost`]), and lets time pass ([`PcieController::next_event`],
//! [`PcieController::advance`]).
//!
//! An entry enters the drive when its doorbell is written, if [`PcieOptions::commands_max`] allows.
//! The drive then models how it fetches and arbitrates. Entries beyond this number stay in host
//! memory. As places become free, the controller fetches in the order of arbitration that the host
//! has chosen: round robin, or weighted round robin with an urgent class.

mod admin;
mod arbiter;
mod host;
mod interrupts;
mod pointers;
mod queues;
mod registers;
mod shadows;

use std::collections::BTreeMap;

use flashlane::{Error, Time};

use crate::controller::Transfer;
use crate::entry::{CompletionEntry, Entry};
use crate::status::Status;
use crate::subsystem::{Done, QueueKey, Subsystem};
use admin::{Own, Shadow};
use arbiter::{Arbiter, Weights};
pub use host::{BadAddress, PcieHost};
use interrupts::Interrupts;
use pointers::Segments;
use queues::{CompletionQueue, SubmissionQueue};
use registers::AdminQueues;

/// The feature Arbitration.
const ARBITRATION: u8 = 0x01;

/// What a controller has.
#[derive(Clone, Copy, Debug)]
pub struct PcieOptions {
    /// Interrupt vectors. Range: 1 and up.
    pub vectors: u16,
    /// I/O commands that are in the drive at a time. Others stay in host memory. Range: 1 and up.
    pub commands_max: usize,
}

impl Default for PcieOptions {
    fn default() -> Self {
        Self { vectors: 65, commands_max: 65_536 }
    }
}

/// An NVMe controller behind PCIe. See the page of the module.
pub struct PcieController {
    subsystem: Subsystem,
    id: u16,
    now: Time,
    commands_max: usize,
    admin: AdminQueues,
    submissions: BTreeMap<u16, SubmissionQueue>,
    completions: BTreeMap<u16, CompletionQueue>,
    /// Host memory of the commands that are under way, by queue and command identifier.
    running: BTreeMap<(u16, u16), Segments>,
    /// Number of running commands of I/O queues.
    in_drive: usize,
    arbiter: Arbiter,
    interrupts: Interrupts,
    shadow: Option<Shadow>,
    /// Queues are not where the host said.
    failed: bool,
    is_shut_down: bool,
}

impl PcieController {
    /// A controller of a subsystem, after a reset.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for options out of range, and if the subsystem has no room for a
    /// controller.
    pub fn new(mut subsystem: Subsystem, options: PcieOptions) -> Result<Self, Error> {
        if options.vectors == 0 || options.commands_max == 0 {
            let message = "found 0 vectors or commands, allowed: at least 1 of each";
            return Err(Error::config("PCIe controller", message));
        }
        let id = subsystem.attach().map_err(|status| {
            Error::config("PCIe controller", format!("the subsystem has no room: {status}"))
        })?;
        Ok(Self {
            now: subsystem.media().now(),
            subsystem,
            id,
            commands_max: options.commands_max,
            admin: AdminQueues::default(),
            submissions: BTreeMap::new(),
            completions: BTreeMap::new(),
            running: BTreeMap::new(),
            in_drive: 0,
            arbiter: Arbiter::default(),
            interrupts: Interrupts::new(options.vectors),
            shadow: None,
            failed: false,
            is_shut_down: false,
        })
    }

    /// The subsystem of the controller.
    pub fn subsystem(&mut self) -> &mut Subsystem {
        &mut self.subsystem
    }

    /// Reads 1, 2, 4 or 8 bytes of the memory of the controller. Places without a register read
    /// as 0.
    pub fn mmio_read(&mut self, offset: u64, bytes: usize) -> u64 {
        let first = offset & !3;
        let low = u64::from(self.register(first));
        let high = u64::from(first.checked_add(4).map_or(0, |next| self.register(next)));
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
        offset: u64,
        bytes: usize,
        value: u64,
        host: &mut dyn PcieHost,
    ) {
        self.now = self.now.max(at);
        let now = self.now;
        if !offset.is_multiple_of(4) || !matches!(bytes, 4 | 8) {
            return;
        }
        self.set_register(now, offset, value as u32, host);
        if let (8, Some(next)) = (bytes, offset.checked_add(4)) {
            self.set_register(now, next, (value >> 32) as u32, host);
        }
    }

    /// The time of the next event, if there is one.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        let drive = self.subsystem.next_event();
        drive.into_iter().chain(self.interrupts.due()).min()
    }

    /// Handles all events up to and including `until`, and looks at the shadow doorbells.
    ///
    /// # Errors
    ///
    /// Those of [`Subsystem::advance`].
    pub fn advance(&mut self, until: Time, host: &mut dyn PcieHost) -> Result<(), Error> {
        let (mut done, mut foreign) = (Vec::new(), Vec::new());
        while let Some(at) = self.next_event().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.subsystem.advance(at, &mut done, &mut foreign)?;
            self.post_all(std::mem::take(&mut done), host);
            self.interrupts.pass(self.now, host);
            self.pump(self.now, host);
        }
        self.now = self.now.max(until);
        self.pump(self.now, host);
        Ok(())
    }

    /// The value of a feature.
    fn feature(&mut self, feature: u8) -> Result<u32, Status> {
        self.subsystem.controller(self.id)?.features.get(feature)
    }

    /// True if the host has chosen weighted round robin.
    fn is_weighted(&mut self) -> bool {
        self.register(0x14) >> 11 & 7 == 1
    }

    /// Fetches entries and runs them, as far as there is room.
    fn pump(&mut self, at: Time, host: &mut dyn PcieHost) {
        self.look_at_shadows(at, host);
        while let Some(queue) = self.next_queue() {
            self.fetch(at, queue, host);
        }
        self.tell_shadows(host);
    }

    /// The queue from which the next entry is fetched.
    fn next_queue(&mut self) -> Option<u16> {
        let known = self.subsystem.controller(self.id);
        let is_ready = known.is_ok_and(|it| it.registers.is_ready());
        if self.failed || self.is_shut_down || !is_ready {
            return None;
        }
        let has_entry = |it: &SubmissionQueue| {
            let completions = self.completions.get(&it.completions);
            it.head != it.tail && completions.is_some_and(|it| it.waiting.is_empty())
        };
        if self.submissions.get(&0).is_some_and(has_entry) {
            return Some(0);
        }
        if self.in_drive >= self.commands_max {
            return None;
        }
        let ready = self.submissions.iter().filter(|&(&number, it)| number > 0 && has_entry(it));
        let ready: Vec<(u16, u8)> = ready.map(|(&number, it)| (number, it.class)).collect();
        if ready.is_empty() {
            return None;
        }
        let weights = Weights::of(self.feature(ARBITRATION).unwrap_or_default());
        let weighted = self.is_weighted();
        self.arbiter.pick(&ready, weights, weighted)
    }

    /// Fetches an entry and runs it.
    fn fetch(&mut self, at: Time, queue: u16, host: &mut dyn PcieHost) {
        let Some(submissions) = self.submissions.get_mut(&queue) else { return };
        let Ok(entry) = submissions.fetch(host) else {
            self.failed = true;
            return;
        };
        let key = QueueKey { controller: self.id, queue };
        let (mut done, name) = (Vec::new(), (queue, entry.command_id()));
        match self.prepare(key, &entry, host) {
            Err(status) => {
                self.subsystem.refuse(at, key, &entry, status, &mut done);
                for refused in done {
                    self.complete(at, queue, refused.completion, host);
                }
            }
            Ok((data, segments)) => {
                let own = Own::of(&entry).filter(|_| queue == 0);
                let own = own.map(|own| self.run_own(own, &entry, host));
                self.running.insert(name, segments);
                self.in_drive += usize::from(queue > 0);
                if let Some(answer) = own {
                    self.subsystem.answer(at, key, &entry, answer, &mut done);
                } else if let Err(status) = self.subsystem.submit(at, key, &entry, data, &mut done)
                {
                    self.subsystem.refuse(at, key, &entry, status, &mut done);
                }
                self.post_all(done, host);
            }
        }
    }

    /// Host memory of a command, and the data that it brings.
    fn prepare(
        &mut self,
        key: QueueKey,
        entry: &Entry,
        host: &mut dyn PcieHost,
    ) -> Result<(Vec<u8>, Segments), Status> {
        if self.running.contains_key(&(key.queue, entry.command_id())) {
            return Err(Status::COMMAND_ID_CONFLICT);
        }
        let is_admin = key.queue == 0;
        if is_admin && Own::of(entry).is_some() {
            return Ok(Default::default());
        }
        match self.subsystem.transfer(key, entry)? {
            Transfer::None => Ok(Default::default()),
            Transfer::ToHost(bytes) => {
                Ok((Vec::new(), Segments::of(entry, bytes, is_admin, host)?))
            }
            Transfer::FromHost(bytes) => {
                let segments = Segments::of(entry, bytes, is_admin, host)?;
                Ok((segments.gather(host)?, Segments::default()))
            }
        }
    }

    /// Moves the data of commands that are complete, and posts their completions.
    fn post_all(&mut self, done: Vec<Done>, host: &mut dyn PcieHost) {
        for Done { at, key, mut completion, data } in done {
            let Some(segments) = self.running.remove(&(key.queue, completion.command_id)) else {
                continue;
            };
            self.in_drive -= usize::from(key.queue > 0);
            if completion.status.is_success()
                && let Err(status) = segments.scatter(&data, host)
            {
                (completion.status, completion.result) = (status, 0);
            }
            self.complete(at, key.queue, completion, host);
        }
    }

    fn complete(
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
    fn drain(&mut self, at: Time, queue: u16, host: &mut dyn PcieHost) {
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
    fn abort_all(&mut self, queue: u16, host: &mut dyn PcieHost) {
        let of_queue = (queue, 0)..=(queue, u16::MAX);
        let running: Vec<u16> = self.running.range(of_queue).map(|(name, _)| name.1).collect();
        for command_id in running {
            self.running.remove(&(queue, command_id));
            self.in_drive -= usize::from(queue > 0);
            let queue_head = self.submissions.get(&queue).map_or(0, |it| it.head);
            let status = Status::ABORTED_WITH_QUEUE;
            let completion = CompletionEntry { result: 0, queue_head, queue, command_id, status };
            self.complete(self.now, queue, completion, host);
        }
    }

    /// The host has disabled the controller: all queues are gone.
    fn reset(&mut self) {
        self.subsystem.reset_attached(self.id);
        self.submissions.clear();
        self.completions.clear();
        self.running.clear();
        self.in_drive = 0;
        self.arbiter = Arbiter::default();
        self.interrupts.reset();
        (self.shadow, self.failed, self.is_shut_down) = (None, false, false);
    }
}
