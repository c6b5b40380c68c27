//! Shadow doorbells: the host writes to its own memory in place of the registers.

use flashlane::Time;

use super::function::{PcieFunction, Sides};
use super::host::{BadAddress, read_if_there};

/// Unit: bytes.
const DOORBELL: u64 = 4;

/// Where the doorbell of a queue is in a buffer.
fn place(buffer: u64, queue: u16, of_completions: bool) -> Option<u64> {
    buffer.checked_add((u64::from(queue) * 2 + u64::from(of_completions)) * DOORBELL)
}

impl PcieFunction {
    /// Takes the values of all shadow doorbells. Those of the admin queues are registers only.
    pub(super) fn look_at_shadows(&mut self, at: Time, with: &mut Sides<'_>) {
        let Some(shadow) = self.shadow else { return };
        let completions: Vec<u16> = self.completions.keys().copied().collect();
        let submissions: Vec<u16> = self.submissions.keys().copied().collect();
        let all = completions.into_iter().map(|queue| (queue, true));
        for (queue, of_completions) in all.chain(submissions.into_iter().map(|it| (it, false))) {
            if queue == 0 {
                continue;
            }
            let mut bytes = [0; 4];
            let address = place(shadow.doorbells, queue, of_completions);
            let address = address.ok_or(BadAddress);
            match address.and_then(|address| read_if_there(with.host, address, &mut bytes)) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(BadAddress) => {
                    self.failed = true;
                    return;
                }
            }
            let value = u32::from_le_bytes(bytes);
            if let Err(kind) = self.take_doorbell(at, queue, of_completions, value, with) {
                let mut done = Vec::new();
                with.subsystem.tell_of_doorbell(at, self.id, kind, &mut done);
                self.post_all(done, with);
            }
        }
    }

    /// Says up to which values the controller has seen the doorbells. A host that goes beyond them
    /// writes the register.
    pub(super) fn tell_shadows(&mut self, with: &mut Sides<'_>) {
        let Some(shadow) = self.shadow else { return };
        for (&queue, submissions) in self.submissions.iter().filter(|it| *it.0 > 0) {
            let value = u32::from(submissions.tail).to_le_bytes();
            let address = place(shadow.events, queue, false);
            let written = address.is_some_and(|address| with.host.write(address, &value).is_ok());
            self.failed |= !written;
        }
    }
}
