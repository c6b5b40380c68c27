//! A store that keeps nothing.

use std::io;

use flashlane_nvme::Store;

/// Reads get a pattern: each eight bytes hold their place, the lowest byte first. Writes are
/// dropped. It takes no memory, so it suits load without verification on large drives.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatternStore;

impl Store for PatternStore {
    fn read(&mut self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        for (place, byte) in (offset..).zip(data) {
            *byte = (place & !7).to_le_bytes()[(place % 8) as usize];
        }
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn zero(&mut self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_holds_its_place() {
        let mut data = [0; 20];
        PatternStore.read(4092, &mut data).expect("it never fails");
        assert_eq!(data[4..12], 4096_u64.to_le_bytes());
        assert_eq!(data[12..], 4104_u64.to_le_bytes());
        assert_eq!(data[..4], 4088_u64.to_le_bytes()[4..]);
    }
}
