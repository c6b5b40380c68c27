//! A SATA drive. A command goes through the adapter, gets a tag, and crosses the link of the drive.
//! Its completion comes back the same way and frees the tag. With `compat.sata_over_pcie` commands
//! and completions cross the PCIe link.

use super::Device;
use crate::event::{Event, Up};
use flashlane_units::{RequestId, RequestOp};

impl Device {
    /// The adapter has passed a command on, which needs a tag now.
    pub(super) fn on_adapter_submitted(&mut self, id: RequestId) {
        self.interface.sata_mut().queue(id);
        self.issue_commands();
    }

    /// Sends waiting commands to the drive while tags are free.
    fn issue_commands(&mut self) {
        let now = self.context.now;
        while let Some(id) = self.interface.sata_mut().next_tagged() {
            let arrival = if self.interface.sata_mut().is_over_pcie() {
                self.send_doorbell()
            } else {
                let (start, arrival) = self.interface.sata_mut().send_command(now);
                self.context.requests[id].fetched = start;
                arrival
            };
            debug_assert!(arrival >= now, "a command takes time");
            self.context.requests[id].enqueued = now;
            self.context.events.schedule(arrival, Event::SataCommand { request: id });
        }
    }

    /// A command reaches the drive, which asks for the rest of it.
    pub(super) fn on_sata_command(&mut self, id: RequestId) {
        if self.interface.sata_mut().is_over_pcie() {
            self.fetch_entry(id);
        } else {
            self.interface.accept(&mut self.context, id);
            self.observe_firmware(id);
        }
    }

    /// The device work of a command is done: sends data, then the completion, to the adapter.
    pub(super) fn sata_served(&mut self, id: RequestId, op: RequestOp, sectors: u32) {
        let sata = self.interface.sata_mut();
        if sata.is_over_pcie() {
            self.send_read_data(op, sectors);
            self.send_completion(id);
        } else {
            self.context.requests[id].report(sata.begun());
            sata.serve(&mut self.context, id);
        }
    }

    /// A completion reaches the adapter.
    pub(super) fn on_sata_completion(&mut self, id: RequestId) {
        self.expect_postponed();
        self.interface.sata_mut().complete(self.context.now, &mut self.context.events, id);
    }

    /// The host sees a completion, so that the tag is free for the next command.
    pub(super) fn on_adapter_completed(&mut self, id: RequestId) -> Up {
        let flow = self.retire(id);
        if self.interface.sata_mut().is_over_pcie() {
            self.send_doorbell();
        }
        let begun = self.interface.sata_mut().begun();
        let reported = self.completed().reported(begun);
        self.interface.sata_mut().free_tag(reported);
        self.issue_commands();
        Up::TagFreed { flow }
    }
}
