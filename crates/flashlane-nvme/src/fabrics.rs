//! Fabrics: the Connect command, properties, and the discovery log page.

use crate::bytes::{Page, u16_at, u32_at};
use crate::entry::Entry;
use crate::opcode::fabrics;
use crate::status::Status;

/// The name of every discovery subsystem.
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";

/// A command that only hosts over a network send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricsCommand {
    /// Creates a queue, and with queue 0 a controller.
    Connect {
        /// Number of the queue.
        queue: u16,
        /// Unit: entries.
        size: u32,
        /// Priority class of the queue, from 0 for urgent to 3 for low.
        class: u8,
        /// Unit: milliseconds; 0 for no limit.
        keep_alive_ms: u32,
    },
    /// Reads a register.
    PropertyGet {
        /// The register.
        offset: u32,
        /// 8 bytes, not 4.
        wide: bool,
    },
    /// Writes a register.
    PropertySet {
        /// The register.
        offset: u32,
        /// 8 bytes, not 4.
        wide: bool,
        /// The value.
        value: u64,
    },
    /// Closes an I/O queue.
    Disconnect,
}

impl FabricsCommand {
    /// Reads a fabrics command.
    ///
    /// # Errors
    ///
    /// The status of a command that is not supported.
    pub fn of(entry: &Entry) -> Result<Self, Status> {
        let bytes = &entry.0;
        let wide = match bytes[40] & 7 {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        let offset = u32_at(bytes, 44);
        match bytes[4] {
            fabrics::CONNECT if u16_at(bytes, 40) == 0 => Ok(Self::Connect {
                queue: u16_at(bytes, 42),
                size: u32::from(u16_at(bytes, 44)) + 1,
                class: bytes[46] & 3,
                keep_alive_ms: u32_at(bytes, 48),
            }),
            fabrics::CONNECT => Err(Status::CONNECT_INCOMPATIBLE_FORMAT),
            fabrics::PROPERTY_GET => {
                let wide = wide.ok_or(Status::INVALID_FIELD)?;
                Ok(Self::PropertyGet { offset, wide })
            }
            fabrics::PROPERTY_SET => {
                let wide = wide.ok_or(Status::INVALID_FIELD)?;
                Ok(Self::PropertySet { offset, wide, value: entry.qword(12) })
            }
            fabrics::DISCONNECT => Ok(Self::Disconnect),
            _ => Err(Status::INVALID_OPCODE),
        }
    }
}

/// The names that a host gives of itself and of the subsystem when it connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectData {
    /// Identifier of the host.
    pub host_id: [u8; 16],
    /// The controller of an I/O queue; FFFFh for a new one.
    pub controller: u16,
    /// Name of the subsystem.
    pub subsystem: String,
    /// Name of the host, as the host says.
    pub host: String,
}

impl ConnectData {
    /// Length of the data. Unit: bytes.
    pub const BYTES: usize = 1024;

    /// Any controller.
    pub const NEW: u16 = 0xffff;

    /// Reads the data.
    ///
    /// # Errors
    ///
    /// [`Status::CONNECT_INVALID_PARAMETERS`] for another length, or a name that is no text.
    pub fn decode(bytes: &[u8]) -> Result<Self, Status> {
        if bytes.len() != Self::BYTES {
            return Err(Status::CONNECT_INVALID_PARAMETERS);
        }
        let mut host_id = [0; 16];
        host_id.copy_from_slice(&bytes[..16]);
        Ok(Self {
            host_id,
            controller: u16_at(bytes, 16),
            subsystem: name(&bytes[256..512])?,
            host: name(&bytes[512..768])?,
        })
    }

    /// The data as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut page = Page::new(Self::BYTES);
        page.put(0, &self.host_id);
        page.u16(16, self.controller);
        page.text(256, 256, &self.subsystem);
        page.text(512, 256, &self.host);
        page.into_bytes()
    }
}

/// A name that ends with a zero byte, of at most 223 bytes.
fn name(field: &[u8]) -> Result<String, Status> {
    let end = field.iter().position(|&byte| byte == 0).filter(|&end| end <= 223);
    let text = end.and_then(|end| std::str::from_utf8(&field[..end]).ok());
    text.map(str::to_owned).ok_or(Status::CONNECT_INVALID_PARAMETERS)
}

/// Family of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Where a subsystem can be reached over NVMe/TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryRecord {
    /// Name of the subsystem.
    pub subsystem: String,
    /// Family of the address.
    pub family: Family,
    /// The address.
    pub address: String,
    /// The port.
    pub port: u16,
}

/// Unit: bytes. So long is the header of the discovery log page, and each record.
const RECORD_BYTES: usize = 1024;

/// The discovery log page.
pub(crate) fn discovery_log(generation: u64, records: &[DiscoveryRecord]) -> Vec<u8> {
    let mut page = Page::new(RECORD_BYTES * (1 + records.len()));
    page.u64(0, generation);
    page.u64(8, records.len() as u64);
    for (number, record) in (1..).zip(records) {
        let at = number * RECORD_BYTES;
        page.u8(at, 3); // TCP.
        page.u8(at + 1, if record.family == Family::V4 { 1 } else { 2 });
        page.u8(at + 2, 2); // A subsystem with namespaces.
        page.u16(at + 4, number as u16);
        page.u16(at + 6, ConnectData::NEW);
        page.u16(at + 8, 32); // Entries of the admin queue.
        page.padded(at + 32, 32, &record.port.to_string());
        page.text(at + 256, 256, &record.subsystem);
        page.padded(at + 512, 256, &record.address);
    }
    page.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_data_comes_back_as_it_was() {
        let data = ConnectData {
            host_id: [7; 16],
            controller: 3,
            subsystem: "nqn.2026-11.dev.flashlane:tiny".to_owned(),
            host: "nqn.2014-08.org.nvmexpress:uuid:1".to_owned(),
        };
        assert_eq!(ConnectData::decode(&data.encode()), Ok(data.clone()));
        let refused = Err(Status::CONNECT_INVALID_PARAMETERS);
        assert_eq!(ConnectData::decode(&data.encode()[..1023]), refused);
        let mut endless = data.encode();
        endless[256..512].fill(b'x');
        assert_eq!(ConnectData::decode(&endless), refused);
    }

    #[test]
    fn fabrics_commands_are_read() {
        let mut bytes = [0; 64];
        bytes[0] = fabrics::OPCODE;
        bytes[4] = fabrics::CONNECT;
        bytes[42..44].copy_from_slice(&1_u16.to_le_bytes());
        bytes[44..46].copy_from_slice(&127_u16.to_le_bytes());
        bytes[46] = 0b101;
        bytes[48..52].copy_from_slice(&5000_u32.to_le_bytes());
        let (queue, size, class, keep_alive_ms) = (1, 128, 1, 5000);
        let connect = FabricsCommand::Connect { queue, size, class, keep_alive_ms };
        assert_eq!(FabricsCommand::of(&Entry(bytes)), Ok(connect));
        bytes[40] = 1;
        let refused = Err(Status::CONNECT_INCOMPATIBLE_FORMAT);
        assert_eq!(FabricsCommand::of(&Entry(bytes)), refused);
        bytes[4] = 0x55;
        assert_eq!(FabricsCommand::of(&Entry(bytes)), Err(Status::INVALID_OPCODE));
    }
}
