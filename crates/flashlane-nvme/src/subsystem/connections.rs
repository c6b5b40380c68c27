//! Queues of a subsystem come and go.

use crate::controller::features::{self, Features};
use crate::controller::registers::{QUEUE_ENTRIES_MAX, Registers};
use crate::controller::{Controller, Kind, Queue};
use crate::entry::Entry;
use crate::fabrics::{ConnectData, DISCOVERY_NQN, FabricsCommand};
use crate::media::{Client, Tenancy};
use crate::status::Status;
use std::collections::BTreeMap;

use super::{Connected, QueueKey, Subsystem};

impl Subsystem {
    /// Connects a queue, and with an admin queue a new controller.
    ///
    /// # Errors
    ///
    /// The status that the host gets.
    pub fn connect(&mut self, entry: &Entry, data: &[u8]) -> Result<Connected, Status> {
        let Ok(FabricsCommand::Connect { queue, size, class, keep_alive_ms }) =
            FabricsCommand::of(entry)
        else {
            return Err(Status::COMMAND_SEQUENCE_ERROR);
        };
        let data = ConnectData::decode(data)?;
        let size = u16::try_from(size).unwrap_or(u16::MAX);
        if !(2..=QUEUE_ENTRIES_MAX).contains(&size) {
            return Err(Status::CONNECT_INVALID_PARAMETERS);
        }
        let kind = match data.subsystem.as_str() {
            DISCOVERY_NQN => Kind::Discovery,
            name if name == self.identity.nqn => Kind::Io,
            _ => return Err(Status::CONNECT_INVALID_PARAMETERS),
        };
        let controller = match queue {
            0 => self.new_controller(kind, &data, keep_alive_ms)?,
            _ => self.admit_queue(queue, kind, &data)?,
        };
        // Hosts that do not know of classes say 0: only a server of classes looks at it.
        let has_class = self.media.config().tenancy == Tenancy::Class;
        let client = Client { host: Some(&data.host), class: has_class.then_some(class) };
        let tenants = match (queue, kind) {
            (0, Kind::Discovery) => Vec::new(),
            (0, Kind::Io) => {
                self.media.meet(&data.host);
                Vec::new()
            }
            _ => self.media.open_queue_of(client),
        };
        self.last_serial += 1;
        let (head, outstanding, most) = (0, 0, u32::from(size));
        let serial = self.last_serial;
        let opened = Queue { size, head, serial, tenants, outstanding, most };
        if let Some(controller) = self.controllers.get_mut(&controller) {
            controller.queues.insert(queue, opened);
        }
        Ok(Connected { key: QueueKey { controller, queue }, size })
    }

    pub(super) fn new_controller(
        &mut self,
        kind: Kind,
        data: &ConnectData,
        keep_alive_ms: u32,
    ) -> Result<u16, Status> {
        if data.controller != ConnectData::NEW {
            return Err(Status::CONNECT_INVALID_PARAMETERS);
        }
        if self.controllers.len() >= usize::from(self.identity.controllers_max) {
            return Err(Status::CONNECT_CONTROLLER_BUSY);
        }
        // Numbers go round, so that a host does not meet another controller under its old number.
        let after = self.last_controller;
        let free = (1..=0xffef_u16).map(|step| (after + step - 1) % 0xffef + 1);
        let free = free.into_iter().find(|number| !self.controllers.contains_key(number));
        let id = free.ok_or(Status::CONNECT_CONTROLLER_BUSY)?;
        self.last_controller = id;
        let controller = Controller {
            id,
            kind,
            host_id: data.host_id,
            host_nqn: data.host.clone(),
            registers: Registers::default(),
            is_attached: false,
            features: Features::new(keep_alive_ms),
            timestamp: 0,
            queues: BTreeMap::new(),
            event_requests: std::collections::VecDeque::new(),
            error_event_masked: false,
        };
        self.controllers.insert(id, controller);
        Ok(id)
    }

    /// Checks the Connect of an I/O queue.
    fn admit_queue(&self, queue: u16, kind: Kind, data: &ConnectData) -> Result<u16, Status> {
        let known = self.controllers.get(&data.controller);
        let controller = known.ok_or(Status::CONNECT_INVALID_PARAMETERS)?;
        if controller.host_id != data.host_id || controller.host_nqn != data.host {
            return Err(Status::CONNECT_INVALID_HOST);
        }
        if kind == Kind::Discovery || controller.kind != kind {
            return Err(Status::CONNECT_INVALID_PARAMETERS);
        }
        if !controller.registers.is_ready() {
            return Err(Status::COMMAND_SEQUENCE_ERROR);
        }
        let granted = controller.features.get(features::QUEUES)?;
        if u32::from(queue) > (granted & 0xffff) + 1 {
            return Err(Status::INVALID_QUEUE_ID);
        }
        match controller.queues.contains_key(&queue) {
            true => Err(Status::CONNECT_CONTROLLER_BUSY),
            false => Ok(controller.id),
        }
    }

    /// Closes a queue. With the admin queue its controller ends, and with it all queues, which are
    /// returned. Commands that are under way go on, but nobody hears of their completion.
    pub fn disconnect(&mut self, key: QueueKey) -> Vec<QueueKey> {
        let Some(controller) = self.controllers.get_mut(&key.controller) else { return Vec::new() };
        let closed: Vec<(u16, Queue)> = match key.queue {
            0 => std::mem::take(&mut controller.queues).into_iter().collect(),
            queue => controller.queues.remove_entry(&queue).into_iter().collect(),
        };
        if key.queue == 0 {
            self.controllers.remove(&key.controller);
        }
        for (_, queue) in &closed {
            self.media.close_queue(&queue.tenants);
        }
        closed.into_iter().map(|(queue, _)| QueueKey { queue, ..key }).collect()
    }
}
