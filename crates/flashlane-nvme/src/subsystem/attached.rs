//! Controllers that the host reaches through its own memory, not over a network.

use flashlane::Time;

use super::{Done, QueueKey, Subsystem};
use crate::controller::registers::Registers;
use crate::controller::{Kind, Queue};
use crate::entry::Entry;
use crate::fabrics::ConnectData;
use crate::media::Client;
use crate::status::Status;

impl Subsystem {
    /// A new controller without queues, whose registers the host reaches directly.
    pub(crate) fn attach(&mut self) -> Result<u16, Status> {
        let data = ConnectData {
            host_id: [0; 16],
            controller: ConnectData::NEW,
            subsystem: self.identity.nqn.clone(),
            host: String::new(),
        };
        let id = self.new_controller(Kind::Io, &data, 0)?;
        let controller = self.controller(id)?;
        (controller.is_attached, controller.registers) = (true, Registers::attached());
        Ok(id)
    }

    /// Opens a queue of an attached controller. An I/O queue with a class belongs to a tenant of
    /// this priority, if there is one.
    pub(crate) fn open_attached(&mut self, key: QueueKey, size: u16, class: Option<u8>) {
        let host = self.controllers.get(&key.controller).map(|it| it.host_nqn.as_str());
        let tenants = match key.queue {
            0 => Vec::new(),
            _ => self.media.open_queue_of(Client { host, class }),
        };
        self.last_serial += 1;
        let (head, outstanding, most) = (0, 0, u32::MAX);
        let serial = self.last_serial;
        let queue = Queue { size, head, serial, tenants, outstanding, most };
        if let Ok(controller) = self.controller(key.controller) {
            controller.queues.insert(key.queue, queue);
        }
    }

    /// Closes all queues of an attached controller. Its settings are those after a reset.
    pub(crate) fn reset_attached(&mut self, id: u16) {
        let Ok(controller) = self.controller(id) else { return };
        let closed = std::mem::take(&mut controller.queues);
        for queue in closed.values() {
            self.media.close_queue(&queue.tenants);
        }
        self.stop(id);
    }

    /// Sets the registers of an attached controller to those after a reset.
    pub(crate) fn restart_attached(&mut self, id: u16) {
        if let Ok(controller) = self.controller(id) {
            controller.registers = Registers::attached();
        }
    }

    /// Completes a command that the transport has done itself.
    pub(crate) fn answer(
        &mut self,
        at: Time,
        key: QueueKey,
        entry: &Entry,
        answer: Result<u64, Status>,
        done: &mut Vec<Done>,
    ) {
        let result = match answer {
            Ok(result) => result,
            Err(status) => return self.refuse(at, key, entry, status, done),
        };
        if let Some(queue) = self.queue(key) {
            queue.outstanding += 1;
            queue.head = (queue.head + 1) % queue.size;
            let success = (Status::SUCCESS, result, Vec::new());
            self.complete(at, key, entry.command_id(), success, done);
        }
    }

    /// Tells the host of a controller, if it waits for events, of an error of a kind: 0 for a
    /// doorbell that does not exist, 1 for the value of a doorbell.
    pub(crate) fn tell_of_doorbell(&mut self, at: Time, id: u16, kind: u8, done: &mut Vec<Done>) {
        self.errors.add(0, u16::MAX, Status::INVALID_FIELD, 0, 0);
        let Ok(controller) = self.controller(id) else { return };
        if controller.error_event_masked {
            return;
        }
        let Some(command_id) = controller.event_requests.pop_front() else { return };
        controller.error_event_masked = true;
        // Error status; the kind; the error log.
        let event = u64::from(kind) << 8 | 1 << 16;
        let key = QueueKey { controller: id, queue: 0 };
        self.complete(at, key, command_id, (Status::SUCCESS, event, Vec::new()), done);
    }
}
