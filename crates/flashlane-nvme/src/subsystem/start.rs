//! Commands that take simulated time enter the drive.

use flashlane::Time;

use super::{QueueKey, Running, Subsystem, status_of};
use crate::admin::{self, Answer, fdp};
use crate::bytes::part;
use crate::controller::Transfer;
use crate::controller::io::{self, Space};
use crate::entry::Entry;
use crate::media::{Action, Tenancy};
use crate::opcode::io as io_opcode;
use crate::status::Status;

impl Subsystem {
    /// A command of an I/O queue. `name`: the queue and its serial number.
    pub(super) fn io_command(
        &mut self,
        at: Time,
        name: (QueueKey, u64),
        entry: &Entry,
        data: Vec<u8>,
    ) -> Result<Answer, Status> {
        let key = name.0;
        let controller = self.controller(key.controller)?;
        if !controller.registers.is_ready() {
            return Err(Status::COMMAND_SEQUENCE_ERROR);
        }
        let namespace = entry.namespace();
        let queue = controller.queues.get(&key.queue);
        let tenant = queue.and_then(|queue| queue.tenant(namespace));
        let space = self.space(namespace).ok_or(Status::INVALID_NAMESPACE)?;
        let tenant = tenant.ok_or(Status::INVALID_NAMESPACE)?;
        let expected = match io::transfer(entry, Some(space))? {
            Transfer::FromHost(bytes) => bytes,
            Transfer::ToHost(_) | Transfer::None => 0,
        };
        if data.len() != expected {
            return Err(Status::DATA_LENGTH_INVALID);
        }
        if entry.opcode() == io_opcode::IO_MANAGEMENT_RECEIVE {
            return self.manage_receive(entry, space).map(Some);
        }
        let Some(action) = io::action(entry, space, data)? else {
            return Ok(Some((0, Vec::new())));
        };
        self.start(at, name, entry, (tenant, action))
    }

    /// Format NVM, which takes as much simulated time as trims do.
    pub(super) fn format(
        &mut self,
        at: Time,
        name: (QueueKey, u64),
        entry: &Entry,
    ) -> Result<Answer, Status> {
        admin::transfer(self.controller(name.0.controller)?.kind, entry, self.placing().is_fdp())?;
        if entry.namespace() == u32::MAX {
            return Err(Status::INVALID_FIELD); // Not for all namespaces at once.
        }
        let space = self.space(entry.namespace()).ok_or(Status::INVALID_NAMESPACE)?;
        let action = admin::format_action(entry, space)?;
        let tenant = match self.media.config().tenancy {
            Tenancy::Namespace => entry.namespace() as usize - 1,
            _ => 0,
        };
        self.start(at, name, entry, (tenant, action))
    }

    /// The work of a command enters the drive.
    fn start(
        &mut self,
        at: Time,
        (key, serial): (QueueKey, u64),
        entry: &Entry,
        (tenant, action): (usize, Action),
    ) -> Result<Answer, Status> {
        let (command_id, opcode) = (entry.command_id(), entry.opcode());
        let namespace = entry.namespace();
        let block = if key.queue == 0 { 0 } else { entry.qword(10) };
        let running = Running { key, serial, command_id, opcode, namespace, block };
        let tag = self.running.insert(running) as u64;
        match self.media.submit(at, (tenant, namespace), action, tag) {
            Ok(()) => Ok(None),
            Err(error) => {
                self.running.remove(tag as usize);
                Err(status_of(&error, opcode))
            }
        }
    }

    /// The status of reclaim unit handles, which takes no simulated time.
    fn manage_receive(&mut self, entry: &Entry, space: Space) -> Result<(u64, Vec<u8>), Status> {
        let data = match io::transfer(entry, Some(space))? {
            Transfer::ToHost(bytes) => {
                let page = fdp::unit_status(&self.placed()?, space.placing, space.block);
                part(&page, 0, bytes)
            }
            _ => Vec::new(),
        };
        Ok((0, data))
    }
}
