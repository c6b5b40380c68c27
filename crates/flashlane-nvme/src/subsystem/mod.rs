//! The subsystem: a drive with data, and the controllers that hosts use it through.

mod attached;
mod connections;
mod names;
mod start;

use std::collections::BTreeMap;

use flashlane::{Error, Time};

use crate::admin::fdp::EventSwitches;
use crate::admin::{self, ErrorLog};
use crate::controller::features::Features;
use crate::controller::io::{self, Space};
use crate::controller::registers::Change;
use crate::controller::{Controller, Kind, Queue, Transfer};
use crate::entry::{CompletionEntry, Entry};
use crate::fabrics::FabricsCommand;
use crate::media::{Finished, Media, Slots, WorkError};
use crate::opcode::{admin as admin_opcode, fabrics, io as io_opcode};
use crate::status::Status;
pub use names::{Connected, Done, Identity, QueueKey};

/// An I/O command that is under way.
struct Running {
    key: QueueKey,
    serial: u64,
    command_id: u16,
    opcode: u8,
    namespace: u32,
    block: u64,
}

/// A drive with data and its controllers.
pub struct Subsystem {
    pub(crate) media: Media,
    pub(crate) identity: Identity,
    pub(crate) errors: ErrorLog,
    pub(crate) switches: EventSwitches,
    controllers: BTreeMap<u16, Controller>,
    last_controller: u16,
    last_serial: u64,
    running: Slots<Running>,
    finished: Vec<Finished>,
}

impl Subsystem {
    /// Tags from this one on belong to doors that submit their work to [`Subsystem::media`].
    pub const FOREIGN: u64 = 1 << 63;

    /// A subsystem without controllers.
    #[must_use]
    pub fn new(media: Media, identity: Identity) -> Self {
        Self {
            media,
            identity,
            errors: ErrorLog::default(),
            switches: EventSwitches::default(),
            controllers: BTreeMap::new(),
            last_controller: 0,
            last_serial: 0,
            running: Slots::default(),
            finished: Vec::new(),
        }
    }

    /// The names.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The drive, for doors that do not speak NVMe.
    pub fn media(&mut self) -> &mut Media {
        &mut self.media
    }

    /// The controllers there are.
    #[must_use]
    pub fn controllers(&self) -> usize {
        self.controllers.len()
    }

    /// Milliseconds within which the host of a controller must be heard of; 0 for no limit.
    #[must_use]
    pub fn keep_alive_ms(&self, controller: u16) -> u32 {
        let known = self.controllers.get(&controller);
        known.map_or(0, |controller| controller.features.keep_alive_ms())
    }

    /// The data of a command.
    ///
    /// # Errors
    ///
    /// The status that the host gets; the command is then over.
    pub fn transfer(&self, key: QueueKey, entry: &Entry) -> Result<Transfer, Status> {
        let controller = self.controllers.get(&key.controller);
        let controller = controller.ok_or(Status::COMMAND_SEQUENCE_ERROR)?;
        if entry.opcode() == fabrics::OPCODE {
            return match FabricsCommand::of(entry)? {
                FabricsCommand::Connect { .. } => Err(Status::COMMAND_SEQUENCE_ERROR),
                _ => Ok(Transfer::None),
            };
        }
        match key.queue {
            0 => admin::transfer(controller.kind, entry, self.placing().is_fdp()),
            _ => io::transfer(entry, self.space(entry.namespace())),
        }
    }

    /// A namespace for commands; `None` if there is no such namespace.
    pub(crate) fn space(&self, namespace: u32) -> Option<Space> {
        let (block, placing) = (self.media.config().block_bytes, self.placing());
        self.media.sectors(namespace).map(|sectors| Space { sectors, block, placing })
    }

    /// Takes a command with its data at a time to which the caller has advanced. Commands that take
    /// no simulated time are complete at once.
    ///
    /// # Errors
    ///
    /// [`Status::COMMAND_SEQUENCE_ERROR`] if the queue does not exist or is full, so that the host
    /// cannot be answered.
    pub fn submit(
        &mut self,
        at: Time,
        key: QueueKey,
        entry: &Entry,
        data: Vec<u8>,
        done: &mut Vec<Done>,
    ) -> Result<(), Status> {
        let queue = self.queue(key).ok_or(Status::COMMAND_SEQUENCE_ERROR)?;
        if queue.outstanding >= queue.most {
            return Err(Status::COMMAND_SEQUENCE_ERROR);
        }
        queue.outstanding += 1;
        queue.head = (queue.head + 1) % queue.size;
        let serial = queue.serial;
        let answer = match (entry.opcode(), key.queue) {
            (fabrics::OPCODE, _) => self.fabrics_command(key, entry).map(Some),
            (admin_opcode::FORMAT_NVM, 0) => self.format(at, (key, serial), entry),
            (_, 0) => self.admin_command(key.controller, entry, &data),
            _ => self.io_command(at, (key, serial), entry, data),
        };
        match answer {
            Ok(None) => {}
            Ok(Some((result, data))) => {
                self.complete(at, key, entry.command_id(), (Status::SUCCESS, result, data), done);
            }
            Err(status) => self.fail(at, key, entry, status, done),
        }
        Ok(())
    }

    /// Completes a command with an error status, without looking at the command.
    pub fn refuse(
        &mut self,
        at: Time,
        key: QueueKey,
        entry: &Entry,
        status: Status,
        done: &mut Vec<Done>,
    ) {
        if let Some(queue) = self.queue(key) {
            queue.outstanding += 1;
            queue.head = (queue.head + 1) % queue.size;
            self.fail(at, key, entry, status, done);
        }
    }

    fn fail(
        &mut self,
        at: Time,
        key: QueueKey,
        entry: &Entry,
        status: Status,
        done: &mut Vec<Done>,
    ) {
        let block = if key.queue == 0 { 0 } else { entry.qword(10) };
        self.errors.add(key.queue, entry.command_id(), status, block, entry.namespace());
        self.complete(at, key, entry.command_id(), (status, 0, Vec::new()), done);
    }

    fn queue(&mut self, key: QueueKey) -> Option<&mut Queue> {
        self.controllers.get_mut(&key.controller)?.queues.get_mut(&key.queue)
    }

    pub(crate) fn controller(&mut self, id: u16) -> Result<&mut Controller, Status> {
        self.controllers.get_mut(&id).ok_or(Status::INTERNAL_ERROR)
    }

    /// The numbers of the controllers for namespaces.
    pub(crate) fn io_controllers(&self) -> Vec<u16> {
        let io = self.controllers.values().filter(|controller| controller.kind == Kind::Io);
        io.map(|controller| controller.id).collect()
    }

    fn complete(
        &mut self,
        at: Time,
        key: QueueKey,
        command_id: u16,
        (status, result, data): (Status, u64, Vec<u8>),
        done: &mut Vec<Done>,
    ) {
        let Some(queue) = self.queue(key) else { return };
        queue.outstanding = queue.outstanding.saturating_sub(1);
        let queue_head = queue.head;
        let completion =
            CompletionEntry { result, queue_head, queue: key.queue, command_id, status };
        done.push(Done { at, key, completion, data });
    }

    fn fabrics_command(&mut self, key: QueueKey, entry: &Entry) -> Result<(u64, Vec<u8>), Status> {
        let command = FabricsCommand::of(entry)?;
        let controller = self.controller(key.controller)?;
        let result = match command {
            FabricsCommand::PropertyGet { offset, wide } => {
                controller.registers.get(offset, wide)?
            }
            FabricsCommand::PropertySet { offset, wide, value } if key.queue == 0 => {
                if controller.registers.set(offset, wide, value)? == Change::Stop {
                    self.stop(key.controller);
                }
                0
            }
            FabricsCommand::Disconnect if key.queue != 0 => 0,
            _ => return Err(Status::COMMAND_SEQUENCE_ERROR),
        };
        Ok((result, Vec::new()))
    }

    /// Forgets what a reset forgets. The queues end with their connections, which the host closes.
    fn stop(&mut self, id: u16) {
        let Ok(controller) = self.controller(id) else { return };
        controller.features = Features::new(controller.features.keep_alive_ms());
        controller.error_event_masked = false;
        let held = std::mem::take(&mut controller.event_requests).len() as u32;
        if let Some(admin) = controller.queues.get_mut(&0) {
            admin.outstanding = admin.outstanding.saturating_sub(held);
        }
    }

    /// The time of the next event of the drive.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.media.next_event()
    }

    /// Handles all events up to and including `until`. Adds commands of queues that are complete to
    /// `done`, and the work of other doors that is over to `foreign`.
    ///
    /// # Errors
    ///
    /// Those of [`Media::advance`].
    pub fn advance(
        &mut self,
        until: Time,
        done: &mut Vec<Done>,
        foreign: &mut Vec<Finished>,
    ) -> Result<(), Error> {
        let mut finished = std::mem::take(&mut self.finished);
        let advanced = self.media.advance(until, &mut finished);
        for over in finished.drain(..) {
            match over.tag >= Self::FOREIGN {
                true => foreign.push(over),
                false => self.io_over(over, done),
            }
        }
        self.finished = finished;
        advanced
    }

    fn io_over(&mut self, over: Finished, done: &mut Vec<Done>) {
        let Some(running) = self.running.remove(over.tag as usize) else { return };
        let Running { key, serial, command_id, opcode, namespace, block } = running;
        if self.queue(key).is_none_or(|queue| queue.serial != serial) {
            return;
        }
        match over.outcome {
            Ok(data) => {
                self.complete(over.at, key, command_id, (Status::SUCCESS, 0, data), done);
            }
            Err(error) => {
                let status = status_of(&error, opcode);
                self.errors.add(key.queue, command_id, status, block, namespace);
                self.complete(over.at, key, command_id, (status, 0, Vec::new()), done);
                self.tell_of_errors(over.at, done);
            }
        }
    }

    /// Tells hosts that wait for events about a media error. They hear of the next one when they
    /// have read the error log.
    fn tell_of_errors(&mut self, at: Time, done: &mut Vec<Done>) {
        /// Error status; "transient internal error"; the error log.
        const EVENT: u64 = 0x01_04_00;
        let mut told = Vec::new();
        for controller in self.controllers.values_mut() {
            if !controller.error_event_masked
                && let Some(command_id) = controller.event_requests.pop_front()
            {
                controller.error_event_masked = true;
                told.push((QueueKey { controller: controller.id, queue: 0 }, command_id));
            }
        }
        for (key, command_id) in told {
            self.complete(at, key, command_id, (Status::SUCCESS, EVENT, Vec::new()), done);
        }
    }
}

/// The status for work that did not succeed.
fn status_of(error: &WorkError, opcode: u8) -> Status {
    match error {
        WorkError::Namespace { .. } => Status::INVALID_NAMESPACE,
        WorkError::Range { .. } => Status::LBA_OUT_OF_RANGE,
        WorkError::Data { .. } => Status::DATA_LENGTH_INVALID,
        WorkError::Refused(_) => Status::INTERNAL_ERROR,
        WorkError::Store(_) if opcode == io_opcode::READ => Status::UNRECOVERED_READ_ERROR,
        WorkError::Store(_) => Status::WRITE_FAULT,
    }
}
