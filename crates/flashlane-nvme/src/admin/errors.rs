//! The error log.

use std::collections::VecDeque;

use crate::bytes::Page;
use crate::status::Status;

/// Errors that are kept.
pub(crate) const ENTRIES: usize = 64;

/// Unit: bytes.
const ENTRY_BYTES: usize = 64;

/// A command that ended without success.
#[derive(Clone, Copy, Debug)]
struct ErrorEntry {
    number: u64,
    queue: u16,
    command_id: u16,
    status: Status,
    block: u64,
    namespace: u32,
}

/// The last errors of all controllers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorLog {
    /// The newest one first.
    entries: VecDeque<ErrorEntry>,
    count: u64,
}

impl ErrorLog {
    /// Notes an error.
    pub(crate) fn add(
        &mut self,
        queue: u16,
        command_id: u16,
        status: Status,
        block: u64,
        namespace: u32,
    ) {
        self.count += 1;
        let number = self.count;
        self.entries.truncate(ENTRIES - 1);
        self.entries.push_front(ErrorEntry { number, queue, command_id, status, block, namespace });
    }

    /// Errors there ever were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The log page.
    pub(crate) fn page(&self) -> Vec<u8> {
        let mut page = Page::new(ENTRIES * ENTRY_BYTES);
        for (place, entry) in self.entries.iter().enumerate() {
            let at = place * ENTRY_BYTES;
            page.u64(at, entry.number);
            page.u16(at + 8, entry.queue);
            page.u16(at + 10, entry.command_id);
            page.u16(at + 12, entry.status.0 << 1);
            page.u16(at + 14, 0xffff); // The error has no place in the command.
            page.u64(at + 16, entry.block);
            page.u32(at + 24, entry.namespace);
        }
        page.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{u16_at, u64_at};

    #[test]
    fn the_newest_errors_are_kept() {
        let mut log = ErrorLog::default();
        for number in 0..100 {
            log.add(1, number, Status::LBA_OUT_OF_RANGE, 7, 1);
        }
        let page = log.page();
        assert_eq!((page.len(), log.count()), (4096, 100));
        assert_eq!((u64_at(&page, 0), u16_at(&page, 10)), (100, 99));
        assert_eq!((u64_at(&page, 63 * 64), u16_at(&page, 63 * 64 + 10)), (37, 36));
        assert_eq!(u16_at(&page, 12), 0x8100, "80h, not to be retried");
    }
}
