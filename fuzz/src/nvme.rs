//! What the targets of the NVMe controller and of the doors share: a small drive with data.

use std::sync::OnceLock;

use flashlane::config::DeviceConfig;
use flashlane::config::load::{Overrides, device};
use flashlane::drive::{DriveOptions, Tenant};
use flashlane_nvme::{
    ConnectData, Entry, Media, MediaConfig, MemoryStore, Tenancy, fabrics_type as fabrics,
};
use flashlane_serve::Limits;

/// A drive that begins empty.
fn empty() -> &'static DeviceConfig {
    static DEVICE: OnceLock<DeviceConfig> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let sets = vec!["ftl.precondition.enabled=false".to_owned()];
        let overrides = Overrides { sets, ..Overrides::default() };
        device("tiny", &overrides).expect("a preset").config
    })
}

/// The drive for two tenants. One bit says what a tenant is.
pub fn media(bits: u8) -> Media {
    let tenancy = if bits & 1 == 0 { Tenancy::Queue } else { Tenancy::Namespace };
    let block_bytes = if bits & 2 == 0 { 4096 } else { 512 };
    let config = MediaConfig {
        device: empty().clone(),
        tenants: vec![Tenant::named("a"), Tenant::named("b")],
        tenancy,
        block_bytes,
        seed: 1,
        options: DriveOptions { check: false, blame: false },
    };
    Media::new(config, Box::new(MemoryStore::new(1 << 20))).expect("a valid drive")
}

/// Limits that inputs can reach.
pub fn limits() -> Limits {
    Limits { connection_bytes: 1 << 20, request_bytes: 1 << 18, ..Limits::default() }
}

/// The command with its data that makes a connection a queue.
pub fn connect(queue: u16, controller: u16) -> (Entry, Vec<u8>) {
    let mut entry = Entry::new(fabrics::OPCODE, 0, 0);
    entry.0[4] = fabrics::CONNECT;
    entry.0[42..44].copy_from_slice(&queue.to_le_bytes());
    entry.0[44..46].copy_from_slice(&31_u16.to_le_bytes());
    let data = ConnectData {
        host_id: [1; 16],
        controller,
        subsystem: "nqn.2026-11.dev.flashlane:tiny".to_owned(),
        host: "nqn.2014-08.org.nvmexpress:uuid:fuzz".to_owned(),
    };
    (entry, data.encode())
}

/// The command that writes a register.
pub fn set_property(offset: u32, value: u64) -> Entry {
    let mut entry = Entry::new(fabrics::OPCODE, 0, 0);
    entry.0[4] = fabrics::PROPERTY_SET;
    entry.0[44..48].copy_from_slice(&offset.to_le_bytes());
    entry.0[48..56].copy_from_slice(&value.to_le_bytes());
    entry
}

/// Takes bytes from the front of an input; zeroes behind its end.
pub fn take<const N: usize>(input: &mut &[u8]) -> [u8; N] {
    let (from, rest) = input.split_at(input.len().min(N));
    *input = rest;
    let mut bytes = [0; N];
    bytes[..from.len()].copy_from_slice(from);
    bytes
}
