//! Buffered reads: they request absent pages, and the next pages of a sequential reader.

use flashlane::drive::Command;

use super::cache::Presence;
use super::{Host, PAGE, Progress, Purpose, Range, ReadAhead, SECTORS, Then, pages};

impl Host {
    /// Reads a range of a file that lies within its size.
    pub(crate) fn read(
        &mut self,
        file: u32,
        offset: u64,
        length: u64,
        ahead: &mut ReadAhead,
    ) -> Progress {
        let (first, end) = pages(offset, length);
        let to = self.look_ahead(file, offset, length, ahead).max(end);
        let operation = self.begin(Then::Finish);
        for page in first..end {
            match self.cache.presence((file, page)) {
                Presence::Absent => self.counts.misses += 1,
                Presence::Loading(request) => {
                    self.counts.misses += 1;
                    self.wait_for(operation, request);
                }
                Presence::Present => {
                    self.counts.hits += 1;
                    self.cache.touch((file, page));
                }
            }
        }
        self.load(operation, (file, first, to), end);
        self.progress(operation)
    }

    /// The end of the pages to request for a sequential reader. Unit: pages.
    fn look_ahead(&self, file: u32, offset: u64, length: u64, ahead: &mut ReadAhead) -> u64 {
        let (_, end) = pages(offset, length);
        let most = self.config.read_ahead.0 / PAGE;
        if offset == ahead.next && most > 0 {
            ahead.window = (ahead.window * 2).clamp(most.min(4), most);
        } else {
            (ahead.window, ahead.asked) = (0, 0);
        }
        ahead.next = offset + length;
        if ahead.window == 0 || ahead.asked >= end + ahead.window / 2 {
            return end;
        }
        let last = self.files.get(file).size.div_ceil(PAGE);
        ahead.asked = (end + ahead.window).min(last);
        ahead.asked
    }

    /// Requests the absent pages of a range. The operation waits for the pages before `needed`.
    pub(super) fn load(&mut self, operation: u32, (file, first, end): Range, needed: u64) {
        let mut page = first;
        while page < end {
            if self.cache.presence((file, page)) != Presence::Absent {
                page += 1;
                continue;
            }
            let Some((block, run)) = self.files.get(file).block(page) else {
                // A hole consists of zeros, which the drive need not deliver.
                self.cache.touch((file, page));
                page += 1;
                continue;
            };
            let most = run.min(end - page).min(self.config.request.0 / PAGE);
            let absent = |&page: &u64| self.cache.presence((file, page)) == Presence::Absent;
            let count = (page..page + most).take_while(absent).count() as u64;
            let purpose = Purpose::Load((file, page, page + count));
            let command = Command::read(block * SECTORS, (count * SECTORS) as u32);
            let request = self.send(purpose, command);
            if page < needed {
                self.wait_for(operation, request);
            }
            for one in page..page + count {
                self.cache.load((file, one), request);
            }
            page += count;
        }
    }
}
