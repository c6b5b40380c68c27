//! Stage 3 of 8: the host interface. Receives commands from `host`, gives them firmware time and cuts
//! them into page transactions for `cache` and `ftl`; sends data and completions back.
//!
//! How commands get in and completions out is the protocol's: [`nvme`] with a queue pair per flow, or
//! [`sata`] with one tagged queue for all of them.
//! Source: MQSim (FAST'18) section 4.1.

pub mod arbitration;
pub(crate) mod config;
pub(crate) mod nvme;
pub(crate) mod sata;

use flashlane_engine::Time;

use crate::compat::CompatConfig;
use crate::device::Device;
use crate::request::{Chain, Request};
use config::{InterfaceConfig, InterfaceKind};
use flashlane_units::RequestOp;
use nvme::Nvme;
use sata::Sata;

/// The host interface.
#[derive(Clone)]
pub(crate) struct Interface {
    pub(crate) nvme: Nvme,
    /// Takes the place of NVMe.
    pub(crate) sata: Option<Box<Sata>>,
    firmware_time: u64,
    write_firmware_time: u64,
    /// When each firmware server is free.
    servers: Vec<Time>,
}

impl Interface {
    /// Idle queues; `classes` by flow.
    pub(crate) fn new(config: &InterfaceConfig, compat: &CompatConfig, classes: &[u8]) -> Self {
        let instant = compat.zero_firmware_time;
        let writes = config.write_firmware_time.unwrap_or(config.firmware_time);
        let sata = config.kind == InterfaceKind::Sata;
        Self {
            nvme: Nvme::new(config, compat, classes),
            sata: sata.then(|| Box::new(Sata::new(config, compat))),
            firmware_time: if instant { 0 } else { config.firmware_time.0 },
            write_firmware_time: if instant { 0 } else { writes.0 },
            servers: vec![Time::ZERO; config.firmware_servers as usize],
        }
    }

    /// Firmware time of a command. Unit: picoseconds.
    #[inline]
    pub(crate) fn firmware_time_of(&self, op: RequestOp) -> u64 {
        if op == RequestOp::Write { self.write_firmware_time } else { self.firmware_time }
    }

    /// The earliest end of the firmware time of a command that is due at `ready` or later.
    #[inline]
    fn firmware_at_least(&self, ready: Time, op: RequestOp) -> Time {
        let time = self.firmware_time_of(op);
        if time == 0 {
            return ready;
        }
        let server = match self.servers[..] {
            [only] => only,
            ref several => *several.iter().min().expect("there is a server"),
        };
        ready.max(server) + Time(time)
    }

    /// A command is due at `ready`; returns when its firmware time is over.
    #[inline]
    fn firmware(&mut self, ready: Time, op: RequestOp) -> Time {
        let time = self.firmware_time_of(op);
        if time == 0 {
            return ready;
        }
        let server = match &mut self.servers[..] {
            [only] => only,
            several => several.iter_mut().min().expect("there is a server"),
        };
        *server = ready.max(*server) + Time(time);
        *server
    }
}

impl Device {
    /// Firmware is done: the command is cut into page transactions.
    pub(crate) fn on_begin(&mut self, id: u32) {
        let now = self.now;
        let Some(request) = self.firmware_done(id) else { return };
        request.begun = now;
        // Work is pending until the last piece is handed out, so that none ends the request early.
        request.pending = 1;
        let Request { flow, op, sector, sectors, .. } = *request;
        match &mut self.interface.sata {
            None => self.interface.nvme.begun(flow),
            Some(sata) => sata.begun(),
        }
        match op {
            RequestOp::Read => self.read_pages(id, flow, sector, sectors),
            RequestOp::Write => self.write_pages(id),
            RequestOp::Trim => self.trim_pages(id),
            RequestOp::Flush => self.flush(id),
        }
        let request = &mut self.requests[id];
        if request.pending > 1 {
            request.pending -= 1;
        } else {
            self.part_done(id, &Chain::default());
        }
        self.fetch();
    }

    /// One part of the device work of a request is done; the chain that ends last counts.
    pub(crate) fn part_done(&mut self, id: u32, chain: &Chain) {
        self.end_part(id, chain);
    }

    /// The same as a part of the caller.
    #[inline(always)]
    pub(crate) fn end_part(&mut self, id: u32, chain: &Chain) {
        let now = self.now;
        let request = &mut self.requests[id];
        assert!(request.pending > 0, "a part ends once");
        request.pending -= 1;
        let span = (now - request.begun).0;
        let spans = chain.total() == span;
        if spans {
            request.chain = *chain;
        }
        if request.pending == 0 {
            assert!(spans || request.chain.total() == span, "the last part spans the device work");
            request.served = now;
            let (flow, op, sectors) = (request.flow, request.op, request.sectors);
            match self.interface.sata {
                None => {
                    self.send_read_data(op, sectors);
                    self.nvme_served(id, flow);
                }
                Some(_) => self.sata_served(id),
            }
        }
    }
}
