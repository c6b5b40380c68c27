//! The registers of the controller in its memory, and its doorbells.

use flashlane::Time;

use super::function::{PcieFunction, Sides};
use super::pointers::PAGE;
use super::queues::{CompletionQueue, SubmissionQueue};
use crate::controller::registers::Change;
use crate::subsystem::{QueueKey, Subsystem};

/// Offsets of registers.
const CAP: u64 = 0x00;
const VS: u64 = 0x08;
const INTMS: u64 = 0x0c;
const INTMC: u64 = 0x10;
const CC: u64 = 0x14;
const CSTS: u64 = 0x1c;
const AQA: u64 = 0x24;
const ASQ: u64 = 0x28;
const ACQ: u64 = 0x30;
/// The doorbells: of each queue, first that of the submission queue.
const DOORBELLS: u64 = 0x1000;
/// Unit: bytes.
const DOORBELL: u64 = 4;

/// Where the admin queues are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AdminQueues {
    /// Sizes, 0-based, of the submission queue in bits 11:0, of the completion queue in 27:16.
    sizes: u32,
    submissions: u64,
    completions: u64,
}

/// Replaces a half of a register of 8 bytes.
fn half(register: u64, value: u32, high: bool) -> u64 {
    match high {
        false => register & !0xffff_ffff | u64::from(value),
        true => register & 0xffff_ffff | u64::from(value) << 32,
    }
}

impl PcieFunction {
    /// The dword of the registers at an offset that is a multiple of 4; 0 where there is none.
    pub(super) fn register(&self, offset: u64, subsystem: &mut Subsystem) -> u32 {
        let queues = self.admin;
        let mut property = |offset: u64, wide| {
            let known = subsystem.controller(self.id);
            known.and_then(|it| it.registers.get(offset as u32, wide)).unwrap_or_default()
        };
        match offset {
            CAP => property(CAP, true) as u32,
            0x04 => (property(CAP, true) >> 32) as u32,
            VS | CC => property(offset, false) as u32,
            CSTS => property(CSTS, false) as u32 | u32::from(self.failed) << 1,
            INTMS | INTMC => self.interrupts.masked(),
            AQA => queues.sizes,
            ASQ => queues.submissions as u32,
            0x2c => (queues.submissions >> 32) as u32,
            ACQ => queues.completions as u32,
            0x34 => (queues.completions >> 32) as u32,
            _ => 0,
        }
    }

    /// Writes a dword of the registers.
    pub(super) fn set_register(&mut self, at: Time, offset: u64, value: u32, with: &mut Sides<'_>) {
        let is_enabled = self.register(CC, with.subsystem) & 1 == 1;
        match offset {
            INTMS => self.interrupts.mask(value),
            INTMC => self.interrupts.unmask(at, value, with.host),
            CC => self.configure(value, with),
            // The admin queues stay where they are while the controller is enabled.
            AQA if !is_enabled => self.admin.sizes = value & 0x0fff_0fff,
            ASQ | 0x2c if !is_enabled => {
                self.admin.submissions = half(self.admin.submissions, value, offset != ASQ);
            }
            ACQ | 0x34 if !is_enabled => {
                self.admin.completions = half(self.admin.completions, value, offset != ACQ);
            }
            _ if offset >= DOORBELLS => self.ring(at, (offset - DOORBELLS) / DOORBELL, value, with),
            _ => {}
        }
    }

    fn configure(&mut self, value: u32, with: &mut Sides<'_>) {
        let was_enabled = self.register(CC, with.subsystem) & 1 == 1;
        let Ok(controller) = with.subsystem.controller(self.id) else { return };
        let change = controller.registers.set(CC as u32, false, value.into());
        if value & 1 == 0 {
            if was_enabled {
                self.reset(with.subsystem);
            }
            return;
        }
        if !was_enabled && !self.open_admin_queues(with.subsystem) {
            self.failed = true;
        }
        // A shutdown; commands that are under way are complete for the host.
        self.is_shut_down |= was_enabled && change == Ok(Change::Stop);
    }

    /// Opens the admin queues. False if they cannot be where the host says.
    fn open_admin_queues(&mut self, subsystem: &mut Subsystem) -> bool {
        let queues = self.admin;
        let sizes = [(queues.sizes & 0xfff) as u16 + 1, (queues.sizes >> 16 & 0xfff) as u16 + 1];
        let places = [queues.submissions, queues.completions];
        if sizes.iter().any(|&size| size < 2) || places.iter().any(|place| place % PAGE != 0) {
            return false;
        }
        let submissions = SubmissionQueue {
            base: queues.submissions,
            size: sizes[0],
            head: 0,
            tail: 0,
            completions: 0,
            class: 0,
        };
        self.submissions.insert(0, submissions);
        let completions = CompletionQueue::new(queues.completions, sizes[1], Some(0));
        self.completions.insert(0, completions);
        let key = QueueKey { controller: self.id, queue: 0 };
        subsystem.open_attached(key, sizes[0], None);
        true
    }

    /// A doorbell register is written.
    fn ring(&mut self, at: Time, number: u64, value: u32, with: &mut Sides<'_>) {
        let queue = u16::try_from(number / 2).unwrap_or(u16::MAX);
        if let Err(kind) = self.take_doorbell(at, queue, number % 2 == 1, value, with) {
            let mut done = Vec::new();
            with.subsystem.tell_of_doorbell(at, self.id, kind, &mut done);
            self.post_all(done, with);
        }
        self.pump(at, with);
    }

    /// Takes the value of a doorbell, which may be a shadow. The error is the kind that
    /// [`crate::Subsystem::tell_of_doorbell`] knows.
    pub(super) fn take_doorbell(
        &mut self,
        at: Time,
        queue: u16,
        of_completions: bool,
        value: u32,
        with: &mut Sides<'_>,
    ) -> Result<(), u8> {
        const NO_QUEUE: u8 = 0;
        const VALUE: u8 = 1;
        let value = u16::try_from(value).map_err(|_| VALUE)?;
        if of_completions {
            let known = self.completions.get_mut(&queue).ok_or(NO_QUEUE)?;
            if !known.read_to(value) {
                return Err(VALUE);
            }
            self.drain(at, queue, with.host);
            return Ok(());
        }
        let known = self.submissions.get_mut(&queue).ok_or(NO_QUEUE)?;
        if value >= known.size {
            return Err(VALUE);
        }
        known.tail = value;
        Ok(())
    }
}
