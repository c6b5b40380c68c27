//! Identify.

use super::PAGE_BYTES;
use super::errors::ENTRIES;
use super::fdp::GROUP;
use super::logs::firmware;
use crate::bytes::Page;
use crate::controller::io::{Space, TRANSFER_PAGES_LOG2};
use crate::controller::registers::{QUEUE_ENTRIES_MAX, VERSION};
use crate::controller::{EVENT_REQUESTS_MAX, Kind};
use crate::entry::Entry;
use crate::fabrics::DISCOVERY_NQN;
use crate::media::SECTOR_BYTES;
use crate::status::Status;
use crate::subsystem::Subsystem;

/// In-capsule data of a command of an I/O queue. Unit: bytes.
pub(crate) const IN_CAPSULE_BYTES: u32 = 8192;

impl Subsystem {
    /// The page that a command asks for.
    pub(super) fn identify(&mut self, id: u16, entry: &Entry) -> Result<Vec<u8>, Status> {
        let (what, namespace) = (entry.dword(10) as u8, entry.namespace());
        let after = (entry.dword(10) >> 16) as u16;
        let command_set = entry.dword(11) >> 24;
        let kind = self.controller(id)?.kind;
        if kind == Kind::Discovery && what != 0x01 {
            return Err(Status::INVALID_FIELD);
        }
        let nvm = || if command_set == 0 { Ok(()) } else { Err(Status::INVALID_FIELD) };
        match what {
            0x00 | 0x11 => self.namespace_page(namespace),
            0x01 => {
                let attached = self.controller(id)?.is_attached;
                let page = self.controller_page(id, kind);
                Ok(if attached { of_attached(page) } else { page })
            }
            0x02 | 0x10 => self.namespace_list(namespace),
            0x03 => self.descriptors(namespace),
            // What the NVM command set adds: nothing.
            0x05 => nvm().and_then(|()| self.known(namespace)).map(|_| vec![0; PAGE_BYTES]),
            0x06 => nvm().map(|()| vec![0; PAGE_BYTES]),
            0x12 => self.known(namespace).map(|_| self.controller_list(after)),
            0x13 => Ok(self.controller_list(after)),
            0x19 if self.placing().is_fdp() => Ok(endurance_groups(entry.dword(11) as u16)),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    fn known(&self, namespace: u32) -> Result<Space, Status> {
        self.space(namespace).ok_or(Status::INVALID_NAMESPACE)
    }

    fn controller_list(&self, from: u16) -> Vec<u8> {
        let mut page = Page::new(PAGE_BYTES);
        let listed = self.io_controllers().into_iter().filter(|&id| id >= from);
        let listed: Vec<u16> = listed.take(PAGE_BYTES / 2 - 1).collect();
        page.u16(0, listed.len() as u16);
        for (place, id) in (1..).zip(listed) {
            page.u16(place * 2, id);
        }
        page.into_bytes()
    }

    fn namespace_list(&self, after: u32) -> Result<Vec<u8>, Status> {
        if after >= 0xffff_fffe {
            return Err(Status::INVALID_NAMESPACE);
        }
        let mut page = Page::new(PAGE_BYTES);
        let listed = (after + 1..=self.media.namespaces()).take(PAGE_BYTES / 4);
        for (place, namespace) in listed.enumerate() {
            page.u32(place * 4, namespace);
        }
        Ok(page.into_bytes())
    }

    /// An identifier of a namespace that depends on the names of the subsystem only.
    fn guid(&self, namespace: u32) -> [u8; 16] {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64; // FNV-1a.
        let text = format!("{} {}", self.identity.nqn, self.identity.serial);
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut guid = [0; 16];
        guid[..8].copy_from_slice(&hash.to_be_bytes());
        guid[12..].copy_from_slice(&namespace.to_be_bytes());
        guid[8] = 0xf1; // Never all zeroes.
        guid
    }

    fn descriptors(&self, namespace: u32) -> Result<Vec<u8>, Status> {
        self.known(namespace)?;
        let mut page = Page::new(PAGE_BYTES);
        page.u8(0, 2); // NGUID.
        page.u8(1, 16);
        page.put(4, &self.guid(namespace));
        page.u8(20, 4); // The command set, 0 for NVM.
        page.u8(21, 1);
        Ok(page.into_bytes())
    }

    fn namespace_page(&self, namespace: u32) -> Result<Vec<u8>, Status> {
        let space = self.known(if namespace == u32::MAX { 1 } else { namespace })?;
        let mut page = Page::new(PAGE_BYTES);
        let shift = space.block.trailing_zeros() as u8;
        page.u8(130, shift);
        if namespace == u32::MAX {
            return Ok(page.into_bytes()); // What all namespaces have in common.
        }
        let blocks = (space.sectors * SECTOR_BYTES) >> shift;
        for at in [0, 8, 16] {
            page.u64(at, blocks);
        }
        page.u8(30, 1); // Controllers share it.
        page.u8(33, 0b1001); // Deallocated blocks read as zeroes, also with Write Zeroes.
        page.u128(48, u128::from(space.sectors) * u128::from(SECTOR_BYTES));
        if space.placing.is_fdp() {
            page.u16(102, GROUP);
        }
        page.put(104, &self.guid(namespace));
        Ok(page.into_bytes())
    }

    fn controller_page(&self, id: u16, kind: Kind) -> Vec<u8> {
        let mut page = Page::new(PAGE_BYTES);
        let identity = &self.identity;
        page.padded(4, 20, &identity.serial);
        page.padded(24, 40, &identity.model);
        page.padded(64, 8, firmware());
        page.u16(78, id);
        page.u32(80, VERSION);
        page.u32(96, 1 | 1 << 6); // Long host identifiers; every command keeps alive.
        page.u8(111, if kind == Kind::Io { 1 } else { 2 });
        page.u8(259, EVENT_REQUESTS_MAX as u8 - 1);
        page.u8(261, 0b10_0100); // Logs have offsets, and one lists the supported pages.
        page.u8(262, (ENTRIES - 1) as u8);
        page.u16(320, 1); // Keep alive in steps of 100 ms.
        page.u16(514, QUEUE_ENTRIES_MAX);
        page.u32(536, 1 | 1 << 20); // SGLs, also with offsets.
        let name = if kind == Kind::Io { identity.nqn.as_str() } else { DISCOVERY_NQN };
        page.text(768, 256, name);
        page.u32(1792, (64 + IN_CAPSULE_BYTES) / 16);
        page.u32(1796, 1);
        page.u8(1803, 1); // Descriptors in a capsule.
        if kind == Kind::Io {
            self.io_fields(&mut page);
        }
        page.into_bytes()
    }

    /// The fields of a controller that has namespaces.
    fn io_fields(&self, page: &mut Page) {
        page.u8(76, 0b10); // Several controllers.
        page.u8(77, TRANSFER_PAGES_LOG2);
        page.u16(256, 1 << 1); // Format NVM.
        page.u8(260, 0b11); // One slot for firmware, which cannot be written.
        page.u8(261, 0b10_0110); // There is a log of effects, too.
        page.u8(512, 0x66);
        page.u8(513, 0x44);
        page.u32(516, self.media.namespaces());
        page.u16(520, 1 << 2 | 1 << 3); // Dataset Management, Write Zeroes.
        page.u8(524, 0b1000); // Format NVM names its namespace.
        // A volatile cache, unless it survives a loss of power; a flush names its namespace.
        let volatile = !self.media.config().device.power_loss_protection;
        page.u8(525, 0b100 | u8::from(volatile));
        page.u128(280, self.capacity());
        if self.placing().is_fdp() {
            // Host identifiers and keep alive as above, endurance groups, data placement.
            page.u32(96, 1 | 1 << 6 | 1 << 4 | 1 << 19);
            page.u16(340, GROUP);
        }
    }

    /// All namespaces together. Unit: bytes.
    pub(super) fn capacity(&self) -> u128 {
        let sectors = (1..=self.media.namespaces()).filter_map(|it| self.media.sectors(it));
        u128::from(sectors.sum::<u64>()) * u128::from(SECTOR_BYTES)
    }
}

/// The endurance groups from a number on.
fn endurance_groups(from: u16) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    if from <= GROUP {
        page.u16(0, 1);
        page.u16(2, GROUP);
    }
    page.into_bytes()
}

/// The page of a controller that the host reaches through its own memory: what only networks have
/// is zero, and there are shadow doorbells.
fn of_attached(mut page: Vec<u8>) -> Vec<u8> {
    page[1792..1804].fill(0);
    page[536..540].copy_from_slice(&1_u32.to_le_bytes());
    page[257] |= 1; // Bit 8 of OACS.
    page
}
