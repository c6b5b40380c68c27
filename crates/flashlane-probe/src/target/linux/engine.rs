//! Interfaces to the kernel.

use std::io;
use std::time::Instant;

use flashlane_engine::Rng;

use crate::target::Operation;

/// Alignment of memory that direct I/O needs. Unit: bytes.
const ALIGNED: usize = 4096;

/// A request: operation, first byte and length.
pub(super) type What = (Operation, u64, u32);

/// A request that ended.
pub(super) struct Ended {
    pub(super) cookie: u64,
    pub(super) at: Instant,
    /// The request.
    pub(super) what: What,
    /// Reason for a failure.
    pub(super) problem: Option<String>,
}

impl Ended {
    /// From the result of the kernel: bytes that were moved, or an error.
    pub(super) fn of(cookie: u64, what: What, moved: io::Result<usize>) -> Self {
        let problem = match moved {
            Ok(moved) if moved == what.2 as usize => None,
            Ok(moved) => Some(format!("{moved} bytes were moved")),
            Err(error) => Some(error.to_string()),
        };
        Self { cookie, at: Instant::now(), what, problem }
    }
}

/// Sends requests, and reports their ends.
pub(super) trait Engine {
    /// Most outstanding requests.
    fn deepest(&self) -> u32;

    /// Sends a read or a write.
    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> io::Result<()>;

    /// The next request that ended; waits for it if `wait` is set. Some request must be
    /// outstanding.
    fn next(&mut self, wait: bool) -> io::Result<Option<Ended>>;
}

/// Memory for direct I/O, full of random bytes, so that drives that compress gain nothing.
#[derive(Clone)]
pub(super) struct Memory {
    bytes: Vec<u8>,
    length: usize,
}

impl Memory {
    pub(super) fn new(length: usize) -> Self {
        let mut random = Rng::stream(0, "memory", 0);
        let words = (0..(length + ALIGNED) / 8).flat_map(|_| random.next_u64().to_le_bytes());
        Self { bytes: words.collect(), length }
    }

    /// The first `length` bytes of the memory.
    pub(super) fn first(&mut self, length: usize) -> &mut [u8] {
        let skip = self.bytes.as_ptr().align_offset(ALIGNED);
        &mut self.bytes[skip..skip + length.min(self.length)]
    }
}
