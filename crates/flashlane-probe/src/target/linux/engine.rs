//! How requests reach the kernel.

use std::io;
use std::time::Instant;

use flashlane_engine::Rng;

use crate::target::Operation;

/// Direct I/O wants memory at a multiple of this. Unit: bytes.
const ALIGNED: usize = 4096;

/// What a request is to do: first byte and length.
pub(super) type What = (Operation, u64, u32);

/// A request that ended.
pub(super) struct Ended {
    pub(super) cookie: u64,
    pub(super) at: Instant,
    /// What it was to do.
    pub(super) what: What,
    /// Why it failed.
    pub(super) problem: Option<String>,
}

impl Ended {
    /// From what the kernel said: bytes that were moved, or an error.
    pub(super) fn of(cookie: u64, what: What, moved: io::Result<usize>) -> Self {
        let problem = match moved {
            Ok(moved) if moved == what.2 as usize => None,
            Ok(moved) => Some(format!("{moved} bytes were moved")),
            Err(error) => Some(error.to_string()),
        };
        Self { cookie, at: Instant::now(), what, problem }
    }
}

/// Sends requests, and says when they are over.
pub(super) trait Engine {
    /// Requests that may be outstanding at most.
    fn deepest(&self) -> u32;

    /// Sends a read or a write.
    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> io::Result<()>;

    /// The next one that ended; waits for it if asked to. Something is outstanding.
    fn next(&mut self, wait: bool) -> io::Result<Option<Ended>>;
}

/// Memory that direct I/O takes, full of random bytes: drives that compress gain nothing.
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

    /// Its beginning.
    pub(super) fn first(&mut self, length: usize) -> &mut [u8] {
        let skip = self.bytes.as_ptr().align_offset(ALIGNED);
        &mut self.bytes[skip..skip + length.min(self.length)]
    }
}
