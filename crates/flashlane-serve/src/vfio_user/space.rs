//! The configuration space of the PCI function.

/// Unit: bytes.
pub(super) const CONFIG_BYTES: usize = 4096;

/// The memory of the function (BAR 0): registers and doorbells. Unit: bytes.
pub(super) const BAR_BYTES: u64 = 0x4000;

/// The table of interrupts is here in BAR 0. The doorbells are before it.
pub(super) const TABLE: u64 = 0x2000;

/// The bits of interrupts that are pending are here in BAR 0, after the table.
pub(super) const PENDING: u64 = 0x3000;

/// Places of capabilities.
const POWER: usize = 0x40;
const MESSAGES: usize = 0x50;
const EXPRESS: usize = 0x60;

/// The configuration space: its bytes, and the bits that the client may change.
pub(super) struct ConfigSpace {
    bytes: Vec<u8>,
    writable: Vec<u8>,
}

impl ConfigSpace {
    /// The space after a reset, for a number of interrupt vectors.
    pub(super) fn new(vectors: u16) -> Self {
        let empty = vec![0; CONFIG_BYTES];
        let mut space = Self { bytes: empty.clone(), writable: empty };
        // Vendor 0, as Identify says: nobody's. The device is "FL".
        space.put(0x02, &0x464c_u16.to_le_bytes());
        // Memory, bus mastering, parity and system errors, interrupts by wire.
        space.allow(0x04, &0x0546_u16.to_le_bytes());
        // There are capabilities.
        space.put(0x06, &0x0010_u16.to_le_bytes());
        // The class: NVM Express.
        space.put(0x09, &[0x02, 0x08, 0x01]);
        space.allow(0x0c, &[0xff]);
        // A memory of 64-bit addresses.
        space.put(0x10, &0x4_u32.to_le_bytes());
        space.allow(0x10, &(!(BAR_BYTES - 1)).to_le_bytes());
        space.put(0x34, &[POWER as u8]);
        space.allow(0x3c, &[0xff]);

        // Power management of version 3. The host sets the power state; no reset follows it.
        space.put(POWER, &[0x01, MESSAGES as u8, 0x03, 0x00, 0x08, 0x00]);
        space.allow(POWER + 4, &[0x03]);
        // MSI-X: the size of the table, the enable bit and the mask, the places in BAR 0.
        space.put(MESSAGES, &[0x11, EXPRESS as u8]);
        space.put(MESSAGES + 2, &(vectors - 1).to_le_bytes());
        space.allow(MESSAGES + 2, &0xc000_u16.to_le_bytes());
        space.put(MESSAGES + 4, &(TABLE as u32).to_le_bytes());
        space.put(MESSAGES + 8, &(PENDING as u32).to_le_bytes());
        // PCI Express of version 2: an endpoint with function-level reset, and a link of 4 lanes
        // at 8 GT/s.
        space.put(EXPRESS, &[0x10, 0x00, 0x02, 0x00]);
        space.put(EXPRESS + 4, &0x1000_8000_u32.to_le_bytes());
        space.allow(EXPRESS + 8, &0x7fff_u16.to_le_bytes());
        space.put(EXPRESS + 12, &0x43_u32.to_le_bytes());
        space.put(EXPRESS + 18, &0x43_u16.to_le_bytes());
        space
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn allow(&mut self, at: usize, bits: &[u8]) {
        self.writable[at..at + bits.len()].copy_from_slice(bits);
    }

    /// Reads bytes, which must be inside of the space.
    pub(super) fn read(&self, at: usize, count: usize) -> Vec<u8> {
        self.bytes[at..at + count].to_vec()
    }

    /// Writes bytes, which must be inside of the space. True if that asks for a reset of the
    /// function.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) -> bool {
        let places = at..at + bytes.len();
        for (place, &new) in places.clone().zip(bytes) {
            let may = self.writable[place];
            self.bytes[place] = self.bytes[place] & !may | new & may;
        }
        // The function-level reset is bit 15 of the device control, and reads as 0.
        let control = EXPRESS + 9;
        places.contains(&control) && bytes[control - at] & 0x80 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_finds_an_nvme_function() {
        let mut space = ConfigSpace::new(65);
        assert_eq!(space.read(0x09, 3), [2, 8, 1], "the class code");
        let mut found = Vec::new();
        let mut at = space.read(0x34, 1)[0] as usize;
        while at != 0 {
            found.push(space.read(at, 1)[0]);
            at = space.read(at + 1, 1)[0] as usize;
        }
        assert_eq!(found, [0x01, 0x11, 0x10], "power, MSI-X, PCI Express");
        assert_eq!(space.read(MESSAGES + 2, 2), [64, 0]);
        assert!(!space.write(0, &[0xff; 64]), "no reset");
        assert_eq!(space.read(0x00, 4), [0, 0, 0x4c, 0x46], "the identity stays");
        assert_eq!(space.read(0x10, 8), [4, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "16 KiB");
        assert!(space.write(EXPRESS + 8, &[0x10, 0xa8]));
        assert_eq!(space.read(EXPRESS + 8, 2), [0x10, 0x28], "the reset bit reads as 0");
    }
}
