//! Little-endian numbers in pages of fixed length.

/// A page of a fixed length, which starts as zeroes.
pub(crate) struct Page(Vec<u8>);

impl Page {
    /// A page of `length` zero bytes.
    pub(crate) fn new(length: usize) -> Self {
        Self(vec![0; length])
    }

    /// Places bytes. They must fit.
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Places a byte.
    pub(crate) fn u8(&mut self, at: usize, value: u8) {
        self.0[at] = value;
    }

    /// Places a number of two bytes.
    pub(crate) fn u16(&mut self, at: usize, value: u16) {
        self.put(at, &value.to_le_bytes());
    }

    /// Places a number of four bytes.
    pub(crate) fn u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    /// Places a number of eight bytes.
    pub(crate) fn u64(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    /// Places a number of sixteen bytes.
    pub(crate) fn u128(&mut self, at: usize, value: u128) {
        self.put(at, &value.to_le_bytes());
    }

    /// Places text in a field of `length` bytes that is filled up with spaces. Text that does
    /// not fit is cut off; characters outside of ASCII become question marks.
    pub(crate) fn padded(&mut self, at: usize, length: usize, text: &str) {
        let printable = |c: char| if (' '..='~').contains(&c) { c as u8 } else { b'?' };
        let filled = text.chars().map(printable).chain(std::iter::repeat(b' '));
        for (place, byte) in self.0[at..at + length].iter_mut().zip(filled) {
            *place = byte;
        }
    }

    /// Places text that ends with zeroes in a field of `length` bytes.
    pub(crate) fn text(&mut self, at: usize, length: usize, text: &str) {
        let kept = text.len().min(length - 1);
        self.put(at, &text.as_bytes()[..kept]);
    }

    /// The bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// `length` bytes of a page from `offset`, with zeroes after its end.
pub(crate) fn part(page: &[u8], offset: usize, length: usize) -> Vec<u8> {
    let rest = page.get(offset..).unwrap_or_default();
    let mut part = rest[..rest.len().min(length)].to_vec();
    part.resize(length, 0);
    part
}

/// The number of two bytes at `at`. The bytes must be there.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The number of four bytes at `at`. The bytes must be there.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// The number of eight bytes at `at`. The bytes must be there.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
