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
mod fetch;
mod function;
mod host;
mod interrupts;
mod pointers;
mod queues;
mod registers;
mod shadows;

use flashlane::{Error, Time};

use crate::subsystem::Subsystem;
pub use function::PcieFunction;
use function::Sides;
pub use host::{BadAddress, PcieHost};

/// What a controller has.
#[derive(Clone, Copy, Debug)]
pub struct PcieOptions {
    /// Interrupt vectors. Range: 1 and up.
    pub vectors: u16,
    /// I/O commands that are in the drive at a time. Others stay in host memory. Range: 1 and up.
    pub commands_max: usize,
    /// Data of I/O commands that are in the drive: from this much on, others stay in host memory.
    /// Unit: bytes. Range: 1 and up.
    pub data_max: usize,
}

impl Default for PcieOptions {
    fn default() -> Self {
        Self { vectors: 65, commands_max: 65_536, data_max: usize::MAX }
    }
}

/// An NVMe controller behind PCIe, alone in its subsystem. See the page of the module.
pub struct PcieController {
    subsystem: Subsystem,
    function: PcieFunction,
}

impl PcieController {
    /// A controller of a subsystem, after a reset.
    ///
    /// # Errors
    ///
    /// Those of [`PcieFunction::new`].
    pub fn new(mut subsystem: Subsystem, options: PcieOptions) -> Result<Self, Error> {
        let function = PcieFunction::new(&mut subsystem, options)?;
        Ok(Self { subsystem, function })
    }

    /// The subsystem of the controller.
    pub fn subsystem(&mut self) -> &mut Subsystem {
        &mut self.subsystem
    }

    /// Reads 1, 2, 4 or 8 bytes of the memory of the controller. Places without a register read
    /// as 0.
    pub fn mmio_read(&mut self, offset: u64, bytes: usize) -> u64 {
        self.function.mmio_read(offset, bytes, &mut self.subsystem)
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
        self.function.mmio_write(at, (offset, bytes, value), &mut self.subsystem, host);
    }

    /// The time of the next event, if there is one.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        let drive = self.subsystem.next_event();
        drive.into_iter().chain(self.function.due()).min()
    }

    /// Handles all events up to and including `until`, and looks at the shadow doorbells.
    ///
    /// # Errors
    ///
    /// Those of [`Subsystem::advance`].
    pub fn advance(&mut self, until: Time, host: &mut dyn PcieHost) -> Result<(), Error> {
        let (mut done, mut foreign) = (Vec::new(), Vec::new());
        while let Some(at) = self.next_event().filter(|&at| at <= until) {
            self.function.now = self.function.now.max(at);
            self.subsystem.advance(at, &mut done, &mut foreign)?;
            let mut with = Sides { subsystem: &mut self.subsystem, host: &mut *host };
            self.function.post_all(std::mem::take(&mut done), &mut with);
            self.function.pass(at, &mut self.subsystem, host);
        }
        self.function.pass(until, &mut self.subsystem, host);
        Ok(())
    }
}
