//! Log pages.

use super::fdp;
use super::health::Health;
use crate::bytes::{Page, part};
use crate::controller::Kind;
use crate::controller::io::Space;
use crate::entry::Entry;
use crate::fabrics::discovery_log;
use crate::opcode::{admin, io};
use crate::status::Status;
use crate::subsystem::Subsystem;

/// Supported log pages.
const SUPPORTED: u8 = 0x00;
/// Errors.
const ERRORS: u8 = 0x01;
/// Health.
const SMART: u8 = 0x02;
/// Firmware slots.
const FIRMWARE: u8 = 0x03;
/// Namespaces that have changed.
const CHANGED_NAMESPACES: u8 = 0x04;
/// Commands supported and their effects.
const EFFECTS: u8 = 0x05;
/// Health and written data of the endurance group.
const ENDURANCE_GROUP: u8 = 0x09;
/// Discovery.
const DISCOVERY: u8 = 0x70;
/// Health, as the Open Compute Project has it.
const OPEN_COMPUTE: u8 = 0xc0;

/// The log pages of a controller for namespaces.
const OF_IO: &[u8] =
    &[SUPPORTED, ERRORS, SMART, FIRMWARE, CHANGED_NAMESPACES, EFFECTS, OPEN_COMPUTE];

/// The further log pages of a drive with flexible data placement.
const OF_FDP: &[u8] =
    &[ENDURANCE_GROUP, fdp::CONFIGURATIONS, fdp::HANDLES, fdp::STATISTICS, fdp::EVENTS];

/// The log pages of a discovery controller.
const OF_DISCOVERY: &[u8] = &[SUPPORTED, ERRORS, DISCOVERY];

/// The version of the firmware.
pub(super) fn firmware() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The length that a command asks for. Unit: bytes.
pub(super) fn length(entry: &Entry) -> usize {
    let dwords = u64::from(entry.dword(10) >> 16) | u64::from(entry.dword(11) & 0xffff) << 16;
    usize::try_from((dwords + 1) * 4).unwrap_or(usize::MAX)
}

impl Subsystem {
    /// The part of a log page that a command asks for.
    pub(super) fn log_page(&mut self, id: u16, entry: &Entry) -> Result<Vec<u8>, Status> {
        let (log, offset) = (entry.dword(10) as u8, entry.qword(12));
        let keep_event = entry.dword(10) >> 15 & 1 == 1;
        let kind = self.controller(id)?.kind;
        let with_fdp = kind == Kind::Io && self.placing().is_fdp();
        let known = match (kind, with_fdp) {
            (Kind::Discovery, _) => OF_DISCOVERY.to_vec(),
            (Kind::Io, false) => OF_IO.to_vec(),
            (Kind::Io, true) => [OF_IO, OF_FDP].concat(),
        };
        if !known.contains(&log) {
            return Err(Status::INVALID_LOG_PAGE);
        }
        if entry.dword(14) >> 23 & 1 == 1 {
            return Err(Status::INVALID_FIELD); // An index in place of an offset.
        }
        if OF_FDP.contains(&log) && (entry.dword(11) >> 16) as u16 != fdp::GROUP {
            return Err(Status::INVALID_FIELD);
        }
        let page = match log {
            SUPPORTED => supported(&known),
            ERRORS => {
                if !keep_event {
                    self.controller(id)?.error_event_masked = false;
                }
                self.errors.page()
            }
            SMART => self.health()?.smart(),
            OPEN_COMPUTE => {
                let used = self.space(1).map_or(0, Space::blocks);
                self.health()?.open_compute(used)
            }
            FIRMWARE => firmware_slots(),
            CHANGED_NAMESPACES => vec![0; 4096],
            EFFECTS => effects(with_fdp),
            ENDURANCE_GROUP => self.health()?.endurance_group(self.capacity()),
            fdp::CONFIGURATIONS..=fdp::EVENTS => self.placement_log(log, entry)?,
            _ => discovery_log(1, &self.identity.records),
        };
        let offset = usize::try_from(offset).ok().filter(|&offset| offset <= page.len());
        let offset = offset.filter(|offset| offset % 4 == 0).ok_or(Status::INVALID_FIELD)?;
        Ok(part(&page, offset, length(entry)))
    }

    fn health(&mut self) -> Result<Health, Status> {
        let summary = self.media.summary().map_err(|_| Status::INTERNAL_ERROR)?;
        let device = &self.media.config().device;
        let (page, rated) = (device.flash.page_size.0, device.endurance.rated_cycles);
        Ok(Health::new(&summary, *self.media.counts(), page, rated, self.errors.count()))
    }
}

fn supported(known: &[u8]) -> Vec<u8> {
    let mut page = Page::new(1024);
    for &log in known {
        page.u32(usize::from(log) * 4, 1);
    }
    page.into_bytes()
}

/// One slot, which cannot be written.
fn firmware_slots() -> Vec<u8> {
    let mut page = Page::new(512);
    page.u8(0, 1);
    page.padded(8, 8, firmware());
    page.into_bytes()
}

/// Bit 0: the command is supported. Bit 1: it changes data.
fn effects(with_fdp: bool) -> Vec<u8> {
    let mut page = Page::new(4096);
    let of_admin = [
        admin::GET_LOG_PAGE,
        admin::IDENTIFY,
        admin::ABORT,
        admin::SET_FEATURES,
        admin::GET_FEATURES,
        admin::ASYNC_EVENT,
        admin::KEEP_ALIVE,
    ];
    for opcode in of_admin {
        page.u32(usize::from(opcode) * 4, 1);
    }
    // Bit 16: no other command of the namespace may be under way.
    page.u32(usize::from(admin::FORMAT_NVM) * 4, 3 | 1 << 16);
    let mut of_io = vec![
        (io::FLUSH, 1),
        (io::WRITE, 3),
        (io::READ, 1),
        (io::WRITE_ZEROES, 3),
        (io::DATASET_MANAGEMENT, 3),
    ];
    if with_fdp {
        of_io.push((io::IO_MANAGEMENT_RECEIVE, 1));
    }
    for (opcode, effect) in of_io {
        page.u32(1024 + usize::from(opcode) * 4, effect);
    }
    page.into_bytes()
}
