//! The types of the header that hold numbers and texts.

use std::ffi::c_char;

use flashlane::drive::{self, Operation};
use flashlane::workload::RequestOp;

use crate::error::{Failure, Status};

/// Version of the binary interface. A library with another number does not fit a program that was
/// compiled with this header; flashlane_abi_version() tells the number of the library.
pub const FLASHLANE_ABI_VERSION: u32 = 1;

/// Length of a sector. Unit: bytes.
pub const FLASHLANE_SECTOR_BYTES: u32 = 512;

/// A time after every event; cbindgen.toml has its text for the header.
/// cbindgen:ignore
pub const FLASHLANE_NEVER: u64 = 0xFFFF_FFFF_FFFF_FFFF;

/// Flag of a drive: compare the whole state of the model with itself during the run. This is slow.
pub const FLASHLANE_CHECK: u32 = 1;

/// Flag of a drive: keep which tenant delayed which, for flashlane_blame().
pub const FLASHLANE_BLAME: u32 = 2;

/// Flag of a command: "placement" is set.
pub const FLASHLANE_PLACED: u8 = 1;

/// What a command does.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads sectors.
    Read = 0,
    /// Writes sectors.
    Write = 1,
    /// Deallocates sectors.
    Trim = 2,
    /// Makes everything durable that was acknowledged before. It has no sectors.
    Flush = 3,
    /// Writes at the write pointer of the zone that starts at `lba`. The completion has the place.
    ZoneAppend = 4,
    /// Empties the zone that starts at `lba`.
    ZoneReset = 5,
    /// Makes the zone that starts at `lba` full.
    ZoneFinish = 6,
    /// Opens the zone that starts at `lba`.
    ZoneOpen = 7,
    /// Closes the zone that starts at `lba`.
    ZoneClose = 8,
    /// In completions: the command broke a rule of zones, and `result` has the status.
    Refused = 9,
    /// Moves the write pointer of a zone with a random write area behind the logical block at
    /// `lba`.
    ZoneCommit = 10,
}

/// What a step of a drive was.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// There was no event: the drive has nothing to do until something is submitted.
    Idle = 0,
    /// Something inside the drive happened.
    Internal = 1,
    /// A command that was submitted for a later time has arrived.
    Arrived = 2,
    /// A command is complete.
    Completed = 3,
}

/// A command of a tenant. Set unused fields to 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Comes back with the completion. The drive does not look at it.
    pub cookie: u64,
    /// First sector, in the tenant's space. Unit: sectors of 512 bytes.
    pub lba: u64,
    /// Length. Unit: sectors of 512 bytes. Range: 1 to 32768 (16 MiB), of a trim to 8388608
    /// (4 GiB); 0 for a flush.
    pub sectors: u32,
    /// The tenant, by its place in flashlane_config.tenants.
    pub tenant: u32,
    /// Namespace. Every tenant has one. Range: 1, or 0, which means the same.
    pub nsid: u32,
    /// Placement identifier of a write (flexible data placement), where "flags" has
    /// FLASHLANE_PLACED: a handle or a stream. Below the number of the drive's identifiers
    /// (placement.handles); a drive without placement refuses it.
    pub placement: u16,
    /// A flashlane_op.
    pub op: u8,
    /// 0 or FLASHLANE_PLACED.
    pub flags: u8,
}

/// A command that is complete. Times are picoseconds from the start of the drive. The nine stages,
/// "submission_ps" to "transfer_out_ps", sum to "complete_ps" - "submit_ps". docs/results.md
/// describes them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The cookie of the command.
    pub cookie: u64,
    /// First byte in the tenant's space.
    pub offset_bytes: u64,
    /// Length. Unit: bytes.
    pub bytes: u64,
    /// The time that the command was submitted for.
    pub arrival_ps: u64,
    /// The command was written to the submission queue. It waits for that where the queue is full.
    pub submit_ps: u64,
    /// The host saw the completion.
    pub complete_ps: u64,
    /// In the submission queue, until the drive fetched the command.
    pub submission_ps: u64,
    /// The command, and the data of a write, came over the link.
    pub transfer_in_ps: u64,
    /// In the firmware.
    pub firmware_ps: u64,
    /// In the data cache.
    pub cache_ps: u64,
    /// Waiting for the mapping of the pages.
    pub mapping_ps: u64,
    /// Waiting for dies and channels.
    pub flash_queue_ps: u64,
    /// On the channels.
    pub flash_bus_ps: u64,
    /// In the flash arrays.
    pub flash_array_ps: u64,
    /// The data of a read, and the completion, went over the link.
    pub transfer_out_ps: u64,
    /// Flash pages that the command touched, in part or whole.
    pub pages: u32,
    /// The tenant of the command.
    pub tenant: u16,
    /// The flashlane_op of the command.
    pub op: u8,
    /// 1: part of the summary. Always so today.
    pub counted: u8,
    /// How the drive carried the command out: 0, as it was asked. Otherwise the command broke a
    /// rule of zones, and nothing was done: status code type times 256, and status code, as NVMe
    /// has them.
    pub result: u32,
    /// 0.
    pub reserved: u32,
}

/// A tenant of a drive.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Tenant {
    /// Name in the summary. Every tenant has another one.
    pub name: *const c_char,
    /// NULL, or more keys of a flow as TOML, for example "priority = 'high'\nchannels = [0, 1]".
    /// docs/configuration.md lists them. A source of requests ("synthetic", "trace" and so on) says
    /// only what the tenant has done before: what the drive and its caches hold of it.
    pub keys: *const c_char,
}

/// How to make a drive. Set unused fields to 0 or NULL. Texts are UTF-8 and end with a zero byte.
/// The library reads them during the call and keeps none of them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// sizeof(flashlane_config). A later version of the library knows by it which fields there are.
    pub struct_size: usize,
    /// The name of a preset ("tiny", "980-pro" and so on), or the path of a TOML file or of MQSim's
    /// ssdconfig.xml. NULL where "device_toml" is given.
    pub device: *const c_char,
    /// The text of a device file, for example "base = '980-pro'\nflash.channels = 4". NULL where
    /// "device" is given.
    pub device_toml: *const c_char,
    /// Keys of the device that are changed, each as "path.to.key=value", for example
    /// "scheduler=flin". NULL where there are none.
    pub overrides: *const *const c_char,
    /// Number of overrides.
    pub overrides_count: usize,
    /// Who shares the drive. One tenant at least.
    pub tenants: *const Tenant,
    /// Number of tenants.
    pub tenants_count: usize,
    /// Root of all random draws. Equal seeds give equal drives.
    pub seed: u64,
    /// FLASHLANE_CHECK and FLASHLANE_BLAME, or 0.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

const _: () = assert!(size_of::<Command>() == 32, "programs are compiled with this size");
const _: () = assert!(size_of::<Completion>() == 136, "programs are compiled with this size");

impl Command {
    /// The command for the drive.
    pub(crate) fn to_drive(self) -> Result<drive::Command, Failure> {
        let operation = match self.op {
            0 => Operation::Read,
            1 => Operation::Write,
            2 => Operation::Trim,
            3 => Operation::Flush,
            4 => Operation::ZoneAppend,
            5 => Operation::ZoneReset,
            6 => Operation::ZoneFinish,
            7 => Operation::ZoneOpen,
            8 => Operation::ZoneClose,
            10 => Operation::ZoneCommit,
            other => return Err(wrong(format!("op: found {other}, allowed: 0 to 8, 10"))),
        };
        let placement = match (self.flags, self.placement) {
            (0, 0) => None,
            (FLASHLANE_PLACED, placement) => Some(placement),
            (0, other) => {
                let allowed = "allowed: 0, since flags has no FLASHLANE_PLACED";
                return Err(wrong(format!("placement: found {other}, {allowed}")));
            }
            (other, _) => {
                return Err(wrong(format!("flags: found {other}, allowed: 0 or FLASHLANE_PLACED")));
            }
        };
        let namespace = self.nsid.max(1);
        Ok(drive::Command {
            operation,
            namespace,
            sector: self.lba,
            sectors: self.sectors,
            placement,
        })
    }
}

fn wrong(text: String) -> Failure {
    Failure::new(Status::Argument, text)
}

impl From<&drive::Completion> for Completion {
    fn from(done: &drive::Completion) -> Self {
        let record = &done.record;
        Self {
            cookie: done.cookie,
            offset_bytes: record.offset_bytes,
            bytes: record.bytes,
            arrival_ps: record.arrival_ps,
            submit_ps: record.submit_ps,
            complete_ps: record.complete_ps,
            submission_ps: record.submission_ps,
            transfer_in_ps: record.transfer_in_ps,
            firmware_ps: record.firmware_ps,
            cache_ps: record.cache_ps,
            mapping_ps: record.mapping_ps,
            flash_queue_ps: record.flash_queue_ps,
            flash_bus_ps: record.flash_bus_ps,
            flash_array_ps: record.flash_array_ps,
            transfer_out_ps: record.transfer_out_ps,
            pages: record.pages,
            tenant: record.flow,
            op: match record.op {
                RequestOp::Read => Op::Read,
                RequestOp::Write => Op::Write,
                RequestOp::Trim => Op::Trim,
                RequestOp::Flush => Op::Flush,
                RequestOp::ZoneAppend => Op::ZoneAppend,
                RequestOp::ZoneReset => Op::ZoneReset,
                RequestOp::ZoneFinish => Op::ZoneFinish,
                RequestOp::ZoneOpen => Op::ZoneOpen,
                RequestOp::ZoneClose => Op::ZoneClose,
                RequestOp::Refused => Op::Refused,
                RequestOp::ZoneCommit => Op::ZoneCommit,
            } as u8,
            counted: record.counted.into(),
            result: done.refusal.map_or(0, |why| {
                let (kind, code) = why.status();
                u32::from(kind) << 8 | u32::from(code)
            }),
            reserved: 0,
        }
    }
}
