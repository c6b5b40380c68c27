//! Buffers for the data of reads, where they are bounded (`interface.read_buffer`).
//!
//! A read takes its buffers when it is fetched, and frees them when its data is sent to the host.
//! Nothing is fetched while they are full. So they never hold more than their size and one read.

use flashlane_units::ByteSize;

use crate::layout::SECTOR_BYTES;

/// Bounded buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadBuffer {
    /// Unit: sectors.
    size: u64,
    /// Data of reads that were fetched and not sent. Unit: sectors.
    taken: u64,
}

impl ReadBuffer {
    /// Empty buffers of a size.
    pub(super) fn new(size: ByteSize) -> Self {
        Self { size: size.0 / SECTOR_BYTES, taken: 0 }
    }

    /// True if another command may be fetched.
    pub(super) fn has_room(&self) -> bool {
        self.taken < self.size
    }

    /// True if the data of every read was sent.
    pub(super) fn is_empty(&self) -> bool {
        self.taken == 0
    }

    /// A read was fetched.
    pub(crate) fn take(&mut self, sectors: u32) {
        assert!(self.has_room(), "nothing is fetched while the buffers of reads are full");
        self.taken += u64::from(sectors);
    }

    /// The data of a read is sent.
    pub(crate) fn send(&mut self, sectors: u32) {
        assert!(self.taken >= u64::from(sectors), "data is sent once");
        self.taken -= u64::from(sectors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_read_may_exceed_the_buffers_and_fills_them() {
        let mut buffer = ReadBuffer::new(ByteSize(8192));
        buffer.take(8);
        assert!(buffer.has_room());
        buffer.take(24);
        assert!(!buffer.has_room());
        buffer.send(24);
        assert!(buffer.has_room() && !buffer.is_empty());
        buffer.send(8);
        assert!(buffer.is_empty());
    }

    #[test]
    #[should_panic(expected = "data is sent once")]
    fn buffers_are_freed_once() {
        let mut buffer = ReadBuffer::new(ByteSize(8192));
        buffer.take(8);
        buffer.send(9);
    }

    #[test]
    #[should_panic(expected = "nothing is fetched")]
    fn full_buffers_take_no_read() {
        let mut buffer = ReadBuffer::new(ByteSize(8192));
        buffer.take(16);
        buffer.take(1);
    }
}
