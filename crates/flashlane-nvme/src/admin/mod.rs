//! Admin commands. All but Format NVM take no simulated time.

mod errors;
pub(crate) mod fdp;
mod format;
mod health;
mod identify;
mod logs;

use crate::bytes::u64_at;
use crate::controller::features::{self, HOST_IDENTIFIER, QUEUES, TIMESTAMP};
use crate::controller::{EVENT_REQUESTS_MAX, Kind, Transfer};
use crate::entry::Entry;
use crate::opcode::admin;
use crate::status::Status;
use crate::subsystem::Subsystem;

pub(crate) use errors::ErrorLog;
pub(crate) use format::action as format_action;

/// Result and data of a command that is complete; `None` if it completes later.
pub(crate) type Answer = Option<(u64, Vec<u8>)>;

/// Length of an Identify page. Unit: bytes.
const PAGE_BYTES: usize = 4096;

/// The longest part of a log page that a command gets. Unit: bytes.
const LOG_BYTES_MAX: usize = crate::controller::io::TRANSFER_MAX;

/// Bit 31 of dword 10: save the feature.
const SAVE: u32 = 1 << 31;

/// The data that a command transfers. `with_fdp`: the drive has flexible data placement.
pub(crate) fn transfer(kind: Kind, entry: &Entry, with_fdp: bool) -> Result<Transfer, Status> {
    if entry.fused() != 0 {
        return Err(Status::INVALID_FIELD);
    }
    let feature = entry.dword(10) as u8;
    let data = match feature {
        TIMESTAMP => 8,
        HOST_IDENTIFIER => 16,
        fdp::FDP_EVENTS if with_fdp => fdp::event_bytes(entry),
        _ => 0,
    };
    match (entry.opcode(), kind) {
        (admin::IDENTIFY, _) => Ok(Transfer::ToHost(PAGE_BYTES)),
        (admin::GET_LOG_PAGE, _) => match logs::length(entry) {
            bytes @ 0..=LOG_BYTES_MAX => Ok(Transfer::ToHost(bytes)),
            _ => Err(Status::INVALID_FIELD),
        },
        (admin::KEEP_ALIVE | admin::ASYNC_EVENT, _) => Ok(Transfer::None),
        (admin::GET_FEATURES, _) if data > 0 => Ok(Transfer::ToHost(data)),
        (admin::SET_FEATURES, _) if data > 0 => Ok(Transfer::FromHost(data)),
        (admin::GET_FEATURES | admin::SET_FEATURES, _) => Ok(Transfer::None),
        (admin::ABORT | admin::FORMAT_NVM, Kind::Io) => Ok(Transfer::None),
        _ => Err(Status::INVALID_OPCODE),
    }
}

impl Subsystem {
    /// Runs an admin command.
    pub(crate) fn admin_command(
        &mut self,
        id: u16,
        entry: &Entry,
        data: &[u8],
    ) -> Result<Answer, Status> {
        let (kind, with_fdp) = (self.controller(id)?.kind, self.placing().is_fdp());
        if let Transfer::FromHost(bytes) = transfer(kind, entry, with_fdp)?
            && bytes != data.len()
        {
            return Err(Status::DATA_LENGTH_INVALID);
        }
        let nothing = |result: u64| Ok(Some((result, Vec::new())));
        match entry.opcode() {
            admin::IDENTIFY => Ok(Some((0, self.identify(id, entry)?))),
            admin::GET_LOG_PAGE => Ok(Some((0, self.log_page(id, entry)?))),
            admin::SET_FEATURES => nothing(self.set_feature(id, entry, data)?.into()),
            admin::GET_FEATURES => self.get_feature(id, entry).map(Some),
            admin::ABORT => nothing(1), // Bit 0: the command was not aborted.
            admin::KEEP_ALIVE => nothing(0),
            admin::ASYNC_EVENT => self.hold_event_request(id, entry.command_id()),
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    fn hold_event_request(&mut self, id: u16, command_id: u16) -> Result<Answer, Status> {
        let controller = self.controller(id)?;
        if controller.event_requests.len() >= EVENT_REQUESTS_MAX {
            return Err(Status::ASYNC_EVENT_LIMIT);
        }
        controller.event_requests.push_back(command_id);
        Ok(None)
    }

    fn set_feature(&mut self, id: u16, entry: &Entry, data: &[u8]) -> Result<u32, Status> {
        let (feature, value) = (entry.dword(10) as u8, entry.dword(11));
        let (most, with_fdp) = (self.identity.queues_max, self.placing().is_fdp());
        if entry.dword(10) & SAVE != 0 {
            return Err(Status::FEATURE_NOT_SAVEABLE);
        }
        let controller = self.controller(id)?;
        match feature {
            QUEUES if controller.kind == Kind::Io => {
                let granted = features::granted(value, most)?;
                controller.features.set(QUEUES, granted)?;
                Ok(granted)
            }
            TIMESTAMP => {
                controller.timestamp = u64_at(data, 0) & 0xffff_ffff_ffff;
                Ok(0)
            }
            HOST_IDENTIFIER => Err(Status::COMMAND_SEQUENCE_ERROR), // Connect has set it.
            // Only a drive without namespaces may change the configuration.
            fdp::FDP if with_fdp => Err(Status::COMMAND_SEQUENCE_ERROR),
            fdp::FDP_EVENTS if with_fdp => self.set_events(entry, data).map(|()| 0),
            _ => controller.features.set(feature, value).map(|()| 0),
        }
    }

    fn get_feature(&mut self, id: u16, entry: &Entry) -> Result<(u64, Vec<u8>), Status> {
        let (feature, select) = (entry.dword(10) as u8, entry.dword(10) >> 8 & 7);
        let with_fdp = self.placing().is_fdp();
        let controller = self.controller(id)?;
        if select != 0 {
            return Err(Status::INVALID_FIELD); // Only current values.
        }
        match feature {
            TIMESTAMP => Ok((0, controller.timestamp.to_le_bytes().to_vec())),
            HOST_IDENTIFIER => Ok((0, controller.host_id.to_vec())),
            fdp::FDP if with_fdp => Ok((Self::get_placement(entry)?, Vec::new())),
            fdp::FDP_EVENTS if with_fdp => self.get_events(entry),
            _ => Ok((controller.features.get(feature)?.into(), Vec::new())),
        }
    }
}
