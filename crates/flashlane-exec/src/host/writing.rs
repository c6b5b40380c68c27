//! Buffered writes, write-back, and syncs.

use std::ops::Range;

use flashlane::Time;
use flashlane::drive::Command;

use super::cache::{Key, Presence};
use super::{Host, PAGE, Progress, Purpose, SECTORS, Step, Then, pages};

impl Host {
    /// Writes a range of a file through the page cache. `size`: the earlier size of the file. Pages
    /// that are only partly written and that the drive has are read first.
    pub(crate) fn write(&mut self, now: Time, file: u32, bytes: Range<u64>, size: u64) -> Progress {
        let Range { start: offset, end: tail } = bytes;
        let (first, end) = pages(offset, tail - offset);
        let operation = self.begin(Then::MarkDirty((file, first, end)));
        let mut partial = Vec::new();
        if !offset.is_multiple_of(PAGE) {
            partial.push(first);
        }
        if !tail.is_multiple_of(PAGE) && tail < size && partial.last() != Some(&(end - 1)) {
            partial.push(end - 1);
        }
        for page in partial.into_iter().filter(|page| page * PAGE < size) {
            match self.cache.presence((file, page)) {
                Presence::Loading(request) => self.wait_for(operation, request),
                Presence::Present => {}
                Presence::Absent => self.load(operation, (file, page, page + 1), page + 1),
            }
        }
        self.advance(operation, now);
        self.progress(operation)
    }

    /// Makes a file durable, or all files. `metadata`: including size and extents.
    pub(crate) fn sync(&mut self, now: Time, file: Option<u32>, metadata: bool) -> Progress {
        let then = Then::Sync { file, since: now, metadata, step: Step::Data };
        let operation = self.begin(then);
        self.advance(operation, now);
        self.progress(operation)
    }

    /// Next time at which the host writes a dirty page back because of its age.
    pub(crate) fn next_tick(&self) -> Option<Time> {
        let (since, _) = self.cache.oldest()?;
        let room = self.writebacks < self.config.writeback_depth;
        room.then(|| Time(since.0.saturating_add(self.config.dirty_age.0)))
    }

    /// Writes dirty pages back if there are too many or they are too old, and lets writers continue
    /// if there is room again.
    pub(crate) fn write_back(&mut self, now: Time) {
        while self.writebacks < self.config.writeback_depth {
            let expired = |since: Time| since.0.saturating_add(self.config.dirty_age.0) <= now.0;
            let old = self.cache.oldest().filter(|&(since, _)| expired(since)).map(|one| one.1);
            let many = || match self.cache.dirty() > self.background {
                true => self.cache.dirty_after(self.cursor),
                false => None,
            };
            let Some(key) = old.or_else(many) else { break };
            let (_, end) = self.write_run(key, true);
            self.writebacks += 1;
            self.cursor = (key.0, end - 1);
        }
        while self.cache.unwritten() <= self.limit {
            let Some(operation) = self.throttled.pop_front() else { break };
            self.operations.remove(&operation);
            self.finished.push_back(operation);
        }
    }

    /// Writes a dirty page, and the dirty pages that follow it. Returns the request and the end of
    /// the pages.
    fn write_run(&mut self, (file, first): Key, background: bool) -> (u32, u64) {
        let (block, run) = self.files.get(file).block(first).expect("a dirty page has a block");
        let most = run.min(self.config.request.0 / PAGE);
        let dirty = |&page: &u64| self.cache.is_dirty((file, page));
        let count = (first..first + most).take_while(dirty).count() as u64;
        let end = first + count;
        let command = self.write_of(file, block * SECTORS, (count * SECTORS) as u32);
        let request = self.send(Purpose::WriteBack((file, first, end), background), command);
        for page in first..end {
            self.cache.write((file, page), request);
        }
        (request, end)
    }

    /// A write of a file's data, which goes where the hint of the file says.
    pub(super) fn write_of(&self, file: u32, sector: u64, sectors: u32) -> Command {
        let placement = self.hints.identifier(self.files.get(file).hint);
        Command { placement, ..Command::write(sector, sectors) }
    }

    /// Does one step of `fsync`. Returns the next step.
    pub(super) fn sync_step(
        &mut self,
        operation: u32,
        (file, since): (Option<u32>, Time),
        metadata: bool,
        step: Step,
    ) -> Step {
        match step {
            Step::Data => {
                let (dirty, writing) = self.cache.unwritten_of(file, since);
                for request in writing {
                    self.wait_for(operation, request);
                }
                let mut wrote = false;
                for key in dirty {
                    if self.cache.is_dirty(key) {
                        let (request, _) = self.write_run(key, false);
                        self.wait_for(operation, request);
                        wrote = true;
                    }
                }
                let waits = self.operations[&operation].parts > 0;
                if wrote || waits { Step::Data } else { Step::Journal }
            }
            Step::Journal => {
                let numbers: Vec<u32> =
                    file.map_or_else(|| self.files.numbers().collect(), |one| vec![one]);
                let mut changed = false;
                for number in numbers {
                    if let Some(one) = self.files.find_mut(number) {
                        changed |= std::mem::take(&mut one.metadata_dirty);
                    }
                }
                if changed && metadata {
                    let at = self.journal_next % self.journal;
                    self.journal_next += 1;
                    let command = Command::write(at * SECTORS, SECTORS as u32);
                    let request = self.send(Purpose::Other, command);
                    self.wait_for(operation, request);
                }
                if self.config.barrier { Step::Flush } else { Step::End }
            }
            Step::Flush => {
                let request = self.send(Purpose::Other, Command::flush());
                self.wait_for(operation, request);
                Step::End
            }
            Step::End => Step::End,
        }
    }
}
