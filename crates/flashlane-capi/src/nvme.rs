//! The NVMe controller behind PCIe, for programs in C and C++ that simulate a host.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{Mutex, TryLockError};

use flashlane::Time;
use flashlane_nvme::pcie::{BadAddress, PcieController, PcieHost, PcieOptions};
use flashlane_nvme::{Identity, Media, MediaConfig, MemoryStore, Subsystem, Tenancy};

use crate::border::guard;
use crate::error::{Failure, Status};
use crate::pointers::{self, needed, shared};
use crate::types::{Config, FLASHLANE_NEVER};
use crate::{make, text};

/// The largest store of data. Unit: bytes.
const STORE_MAX: u64 = 1 << 40;

/// Logical block of the namespace. Unit: bytes.
const BLOCK_BYTES: u32 = 4096;

/// An NVMe controller of a simulated drive, whose data is in the memory of the process.
pub struct Nvme {
    state: Mutex<NvmeState>,
}

/// What the lock of a controller protects.
struct NvmeState {
    controller: PcieController,
    host: HostSide,
    /// An earlier call failed, so that the drive cannot go on.
    dead: bool,
}

/// What a controller asks of the simulated host. The functions are called only during a call of
/// this library, in its thread. They may not call functions of this library with the same
/// controller: those return FLASHLANE_STATUS_BUSY.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NvmeHost {
    /// Given to every function.
    pub context: *mut c_void,
    /// Copies "bytes" bytes of host memory from "address" on to "data". Returns 0, or another
    /// number if a part of the range is no memory: the command then fails.
    pub read: Option<
        extern "C" fn(context: *mut c_void, address: u64, data: *mut c_void, bytes: usize) -> i32,
    >,
    /// Copies "bytes" bytes from "data" to host memory, from "address" on. Returns 0, or another
    /// number if a part of the range is no memory.
    pub write: Option<
        extern "C" fn(context: *mut c_void, address: u64, data: *const c_void, bytes: usize) -> i32,
    >,
    /// The controller interrupts the host at a time (in picoseconds) by a message of a vector.
    pub interrupt: Option<extern "C" fn(context: *mut c_void, at_ps: u64, vector: u16)>,
}

/// The functions of a host.
struct HostSide {
    functions: NvmeHost,
    /// Asks whether a range can be read now: 0 for no.
    ready: Option<extern "C" fn(context: *mut c_void, address: u64, bytes: usize) -> i32>,
}

impl PcieHost for HostSide {
    fn is_there(&mut self, address: u64, bytes: usize) -> bool {
        self.ready.is_none_or(|ready| ready(self.functions.context, address, bytes) != 0)
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), BadAddress> {
        let read = self.functions.read.ok_or(BadAddress)?;
        match read(self.functions.context, address, data.as_mut_ptr().cast(), data.len()) {
            0 => Ok(()),
            _ => Err(BadAddress),
        }
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), BadAddress> {
        let write = self.functions.write.ok_or(BadAddress)?;
        match write(self.functions.context, address, data.as_ptr().cast(), data.len()) {
            0 => Ok(()),
            _ => Err(BadAddress),
        }
    }

    fn interrupt(&mut self, at: Time, vector: u16) {
        if let Some(interrupt) = self.functions.interrupt {
            interrupt(self.functions.context, at.0, vector);
        }
    }
}

/// Runs work on a controller. A panic makes it dead for good.
fn with(
    nvme: Option<NonNull<Nvme>>,
    work: impl FnOnce(&mut NvmeState) -> Result<Status, Failure>,
) -> Status {
    guard(|| {
        let nvme = shared(nvme, "nvme")?;
        // A panic poisons the lock.
        let mut state = match nvme.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(_)) => {
                return Err(Failure::new(Status::Dead, "the drive is dead after a fault"));
            }
            Err(TryLockError::WouldBlock) => {
                let text = "the controller is in use; allowed: one call at a time";
                return Err(Failure::new(Status::Busy, text));
            }
        };
        if state.dead {
            let text = "an earlier call failed, and the drive cannot go on";
            return Err(Failure::new(Status::Dead, text));
        }
        let done = work(&mut state);
        state.dead = matches!(&done, Err(failure) if failure.is_stuck());
        done
    })
}

/// Makes a controller of a preconditioned drive at time 0, after a reset of the controller. Every
/// queue belongs to a tenant: to the one with the fewest queues. The namespace is as long as the
/// share of a tenant. "host" is copied; read and write may not be NULL, and interrupt may be. After
/// a failure *nvme is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_new(
    config: *const Config,
    host: Option<&NvmeHost>,
    nvme: Option<&mut MaybeUninit<Option<Box<Nvme>>>>,
) -> Status {
    guard(|| {
        let place = needed(nvme, "nvme")?.write(None);
        let host = *needed(host, "host")?;
        needed(host.read, "host.read")?;
        needed(host.write, "host.write")?;
        let (device, tenants, seed, options) = make::parts(&pointers::config(config)?)?;
        let identity = Identity::of(&device.name);
        let (tenancy, block_bytes) = (Tenancy::Queue, BLOCK_BYTES);
        let config = MediaConfig { device, tenants, tenancy, block_bytes, seed, options };
        let media = Media::new(config, Box::new(MemoryStore::new(STORE_MAX)))?;
        let subsystem = Subsystem::new(media, identity);
        let controller = PcieController::new(subsystem, PcieOptions::default())?;
        let host = HostSide { functions: host, ready: None };
        let state = NvmeState { controller, host, dead: false };
        *place = Some(Box::new(Nvme { state: Mutex::new(state) }));
        Ok(Status::Ok)
    })
}

/// For a host whose memory takes time to answer. From now on the controller asks "ready" before it
/// reads a range; it gets the context of the host. A host that has to read the range first starts
/// to do so, and returns 0. The command that needs the range then stays in its queue, while other
/// queues go on. Once the range is there, the host calls flashlane_nvme_advance(), and is asked
/// again. It keeps all that has come until the controller asks for nothing that is missing. For a
/// range that is no memory the answer is another number than 0. NULL: memory answers at once.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_set_ready(
    nvme: Option<NonNull<Nvme>>,
    ready: Option<extern "C" fn(context: *mut c_void, address: u64, bytes: usize) -> i32>,
) -> Status {
    with(nvme, |state| {
        state.host.ready = ready;
        Ok(Status::Ok)
    })
}

/// Frees a controller. NULL is allowed. No other thread may use the controller any more.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_free(nvme: Option<Box<Nvme>>) {
    guard(|| {
        drop(nvme);
        Ok(Status::Ok)
    });
}

/// Reads 1, 2, 4 or 8 bytes of the memory of the controller (its BAR 0). Places without a register
/// read as 0.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_mmio_read(
    nvme: Option<NonNull<Nvme>>,
    offset: u64,
    bytes: u32,
    value: Option<&mut MaybeUninit<u64>>,
) -> Status {
    with(nvme, |state| {
        let value = needed(value, "value")?;
        value.write(state.controller.mmio_read(offset, bytes as usize));
        Ok(Status::Ok)
    })
}

/// Writes 4 or 8 bytes of the memory of the controller at a time, up to which
/// flashlane_nvme_advance() has been called before. Writes of other lengths, or beside the
/// registers, change nothing.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_mmio_write(
    nvme: Option<NonNull<Nvme>>,
    at_ps: u64,
    offset: u64,
    bytes: u32,
    value: u64,
) -> Status {
    with(nvme, |state| {
        let NvmeState { controller, host, .. } = state;
        controller.mmio_write(Time(at_ps), offset, bytes as usize, value, host);
        Ok(Status::Ok)
    })
}

/// The time of the next event; FLASHLANE_NEVER if nothing is left to do until the host writes to
/// the controller. Unit: picoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_next_event(
    nvme: Option<NonNull<Nvme>>,
    at_ps: Option<&mut MaybeUninit<u64>>,
) -> Status {
    with(nvme, |state| {
        let next = state.controller.next_event();
        needed(at_ps, "at_ps")?.write(next.map_or(FLASHLANE_NEVER, |at| at.0));
        Ok(Status::Ok)
    })
}

/// Handles every event up to and including a time: moves data, posts completions, and interrupts
/// the host. Also looks at the shadow doorbells, if the host has placed them.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_advance(nvme: Option<NonNull<Nvme>>, until_ps: u64) -> Status {
    with(nvme, |state| {
        let NvmeState { controller, host, .. } = state;
        controller.advance(Time(until_ps), host)?;
        Ok(Status::Ok)
    })
}

/// What the drive has done so far, as flashlane_summary() gives it. Free *json with
/// flashlane_string_free(). After a failure it is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_nvme_summary(
    nvme: Option<NonNull<Nvme>>,
    json: Option<&mut MaybeUninit<Option<NonNull<c_char>>>>,
) -> Status {
    with(nvme, |state| {
        let place = needed(json, "json")?.write(None);
        let summary = state.controller.subsystem().media().summary()?;
        *place = Some(pointers::give_text(text::json_of(&summary)?)?);
        Ok(Status::Ok)
    })
}
