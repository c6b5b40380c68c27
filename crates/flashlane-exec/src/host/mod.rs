//! The model of a program's host: a page cache with write-back over a simple file system on the
//! tenant's space. docs/exec.md describes it for users.
//!
//! The host knows no drive and no processor. It puts commands in an outbox, is told of their
//! completions, and reports the operations that are over. A system call waits for an operation. An
//! operation has parts, each of which is a command; when all of them are complete, it may have a
//! next step.

mod cache;
mod files;
mod reading;
mod space;
mod writing;

use std::collections::{BTreeMap, VecDeque};

use flashlane::Time;
use flashlane::drive::Command;

use crate::config::{Hints, HostConfig};
use cache::{Cache, Key};
pub(crate) use files::Files;
use space::Space;

/// Size of a page of memory and of a block of the file system.
pub(crate) const PAGE: u64 = 4096;

/// Sectors in a page.
const SECTORS: u64 = PAGE / 512;

/// Progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The call is done.
    Done,
    /// The call waits for this operation.
    Wait(u32),
}

/// The file system is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A range of pages of a file: number of the file, first page, end.
type Range = (u32, u64, u64);

/// Next step of an operation when its parts are complete.
#[derive(Clone, Debug)]
enum Then {
    /// The operation is over.
    Finish,
    /// Marks the pages dirty.
    MarkDirty(Range),
    /// Continues when there is room for dirty pages.
    Throttle,
    /// Does the next step of `fsync`.
    Sync { file: Option<u32>, since: Time, metadata: bool, step: Step },
}

/// Steps of `fsync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Data,
    Journal,
    Flush,
    End,
}

#[derive(Debug)]
struct Operation {
    parts: u32,
    then: Then,
}

/// Purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Load(Range),
    WriteBack(Range, bool),
    Other,
}

#[derive(Debug)]
struct Request {
    purpose: Purpose,
    operations: Vec<u32>,
}

/// How a descriptor was read so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadAhead {
    /// Offset at which a sequential reader reads next. Unit: bytes.
    next: u64,
    /// Length of the read-ahead. Unit: pages.
    window: u64,
    /// End of the pages that were requested.
    asked: u64,
}

/// Counts of the page cache, in pages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CacheCounts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) files: Files,
    pub(crate) counts: CacheCounts,
    cache: Cache,
    operations: BTreeMap<u32, Operation>,
    requests: BTreeMap<u32, Request>,
    next: u32,
    outbox: Vec<(u32, Command)>,
    finished: VecDeque<u32>,
    throttled: VecDeque<u32>,
    /// Number of requests of the background write-back under way.
    writebacks: u32,
    cursor: Key,
    journal: u64,
    journal_next: u64,
    background: usize,
    limit: usize,
    config: HostConfig,
    hints: Hints,
}

impl Host {
    /// A host with an empty file system on a space of `sectors` sectors.
    pub(crate) fn new(config: &HostConfig, hints: &Hints, sectors: u64) -> Self {
        let blocks = sectors / SECTORS;
        let journal = (blocks / 16).clamp(1, 4096);
        let pages = (config.cache.0 / PAGE) as usize;
        let share = |ratio: f64| ((pages as f64 * ratio) as usize).max(1);
        let extent = config.extent.0 / PAGE;
        let end = blocks / extent * extent;
        let first = journal.next_multiple_of(extent);
        Self {
            files: Files::new(Space::new(first, end), extent),
            counts: CacheCounts::default(),
            cache: Cache::new(pages),
            operations: BTreeMap::new(),
            requests: BTreeMap::new(),
            next: 0,
            outbox: Vec::new(),
            finished: VecDeque::new(),
            throttled: VecDeque::new(),
            writebacks: 0,
            cursor: (0, 0),
            journal,
            journal_next: 0,
            background: share(config.dirty_background.0),
            limit: share(config.dirty_limit.0),
            config: config.clone(),
            hints: hints.clone(),
        }
    }

    /// Takes the commands for the drive, with the numbers for their completions.
    pub(crate) fn take_outbox(&mut self) -> Vec<(u32, Command)> {
        std::mem::take(&mut self.outbox)
    }

    /// Takes an operation that is over.
    pub(crate) fn take_finished(&mut self) -> Option<u32> {
        self.finished.pop_front()
    }

    /// Makes sure that a range has room on the drive.
    ///
    /// # Errors
    /// [`Full`].
    pub(crate) fn reserve(&mut self, file: u32, offset: u64, length: u64) -> Result<(), Full> {
        let (first, end) = pages(offset, length);
        if length == 0 || self.files.allocate(file, first, end) { Ok(()) } else { Err(Full) }
    }

    /// Reads or writes whole sectors of a range, past the page cache.
    pub(crate) fn direct(&mut self, file: u32, offset: u64, length: u64, write: bool) -> Progress {
        assert!(offset.is_multiple_of(512), "direct I/O is of whole sectors");
        assert!(length.is_multiple_of(512), "direct I/O is of whole sectors");
        let operation = self.begin(Then::Finish);
        if write {
            let (first, end) = pages(offset, length);
            self.cache.forget(file, first, end);
        }
        let (mut sector, end) = (offset / 512, (offset + length) / 512);
        while sector < end {
            let (page, within) = (sector / SECTORS, sector % SECTORS);
            let Some((block, run)) = self.files.get(file).block(page) else {
                sector = (page + 1) * SECTORS;
                continue;
            };
            let most = self.config.request.0 / 512;
            let count = (run * SECTORS - within).min(end - sector).min(most);
            let (at, count32) = (block * SECTORS + within, count as u32);
            let command = match write {
                true => self.write_of(file, at, count32),
                false => Command::read(at, count32),
            };
            let request = self.send(Purpose::Other, command);
            self.wait_for(operation, request);
            sector += count;
        }
        self.progress(operation)
    }

    /// Changes the size of a file.
    pub(crate) fn resize(&mut self, file: u32, size: u64) {
        let before = self.files.get(file).size;
        let freed = self.files.resize(file, size);
        if size < before {
            self.cache.forget(file, size.div_ceil(PAGE), u64::MAX);
        }
        self.freed(freed);
    }

    /// Forgets a file that has no name and is not open.
    pub(crate) fn drop_unused(&mut self, file: u32) {
        if let Some(extents) = self.files.drop_unused(file) {
            self.cache.forget(file, 0, u64::MAX);
            self.freed(extents);
        }
    }

    /// Trims blocks that were freed, if the host does that.
    fn freed(&mut self, extents: Vec<(u64, u64)>) {
        if !self.config.discard {
            return;
        }
        const MOST: u64 = (16 << 20) / PAGE;
        for (mut start, mut left) in extents {
            while left > 0 {
                let blocks = left.min(MOST);
                let command = Command::trim(start * SECTORS, (blocks * SECTORS) as u32);
                self.send(Purpose::Other, command);
                (start, left) = (start + blocks, left - blocks);
            }
        }
    }

    /// A command is complete.
    pub(crate) fn completed(&mut self, now: Time, request: u32) {
        let Request { purpose, operations } =
            self.requests.remove(&request).expect("a command completes once");
        match purpose {
            Purpose::Load((file, first, end)) => {
                for page in first..end {
                    self.cache.loaded((file, page), request);
                }
            }
            Purpose::WriteBack((file, first, end), background) => {
                self.cache.written((file, first), end - first, request);
                self.writebacks -= u32::from(background);
            }
            Purpose::Other => {}
        }
        for operation in operations {
            self.operations.get_mut(&operation).expect("an operation with parts").parts -= 1;
            self.advance(operation, now);
        }
        self.write_back(now);
    }

    fn begin(&mut self, then: Then) -> u32 {
        self.next += 1;
        self.operations.insert(self.next, Operation { parts: 0, then });
        self.next
    }

    fn send(&mut self, purpose: Purpose, command: Command) -> u32 {
        self.next += 1;
        self.requests.insert(self.next, Request { purpose, operations: Vec::new() });
        self.outbox.push((self.next, command));
        self.next
    }

    /// Makes an operation wait for a request.
    fn wait_for(&mut self, operation: u32, request: u32) {
        let waiting = &mut self.requests.get_mut(&request).expect("under way").operations;
        if !waiting.contains(&operation) {
            waiting.push(operation);
            self.operations.get_mut(&operation).expect("just begun").parts += 1;
        }
    }

    /// The progress of a call that began an operation. An operation without parts is over.
    fn progress(&mut self, operation: u32) -> Progress {
        let waits = |one: &Operation| one.parts > 0 || matches!(one.then, Then::Throttle);
        if self.operations.get(&operation).is_some_and(waits) {
            return Progress::Wait(operation);
        }
        self.operations.remove(&operation);
        self.finished.retain(|&one| one != operation);
        Progress::Done
    }

    /// Advances an operation until it has to wait.
    fn advance(&mut self, number: u32, now: Time) {
        loop {
            let Some(operation) = self.operations.get_mut(&number) else { return };
            if operation.parts > 0 {
                return;
            }
            match operation.then.clone() {
                Then::Finish => {
                    self.operations.remove(&number);
                    self.finished.push_back(number);
                    return;
                }
                Then::Throttle => return,
                Then::MarkDirty((file, first, end)) => {
                    operation.then = Then::Finish;
                    // The file may have become shorter, or may have been removed, in the meantime.
                    for page in first..end {
                        let there =
                            self.files.find_mut(file).is_some_and(|f| f.block(page).is_some());
                        if there {
                            self.cache.mark_dirty((file, page), now);
                        }
                    }
                    self.write_back(now);
                    if self.cache.unwritten() > self.limit {
                        self.operations.get_mut(&number).expect("still there").then =
                            Then::Throttle;
                        self.throttled.push_back(number);
                        return;
                    }
                }
                Then::Sync { file, since, metadata, step } => {
                    let next = self.sync_step(number, (file, since), metadata, step);
                    let then = match next {
                        Step::End => Then::Finish,
                        step => Then::Sync { file, since, metadata, step },
                    };
                    self.operations.get_mut(&number).expect("still there").then = then;
                }
            }
        }
    }
}

/// The pages of a range of bytes: first, and end.
fn pages(offset: u64, length: u64) -> (u64, u64) {
    (offset / PAGE, (offset + length).div_ceil(PAGE))
}

#[cfg(test)]
mod tests {
    use flashlane::config::units::ByteSize;
    use flashlane::drive::Operation as Op;

    use super::*;

    fn host() -> Host {
        let config = HostConfig { cache: ByteSize(4 << 20), ..HostConfig::default() };
        Host::new(&config, &Hints::default(), 1 << 20)
    }

    fn sent(host: &mut Host) -> Vec<(u32, Op, u32)> {
        let text = |(number, command): (u32, Command)| (number, command.operation, command.sectors);
        host.take_outbox().into_iter().map(text).collect()
    }

    #[test]
    fn a_write_waits_for_nothing_and_fsync_for_data_journal_and_flush() {
        let mut host = host();
        let file = host.files.create("/a");
        host.reserve(file, 0, 8192).expect("there is room");
        assert_eq!(host.write(Time(1), file, 0..8192, 0), Progress::Done);
        assert_eq!(sent(&mut host), []);
        let Progress::Wait(sync) = host.sync(Time(2), Some(file), true) else { panic!("no wait") };
        let data = sent(&mut host);
        assert_eq!((data[0].1, data[0].2, data.len()), (Op::Write, 16, 1));
        host.completed(Time(3), data[0].0);
        let journal = sent(&mut host);
        assert_eq!((journal[0].1, journal[0].2), (Op::Write, 8));
        host.completed(Time(4), journal[0].0);
        let flush = sent(&mut host);
        assert_eq!((flush[0].1, host.take_finished()), (Op::Flush, None));
        host.completed(Time(5), flush[0].0);
        assert_eq!(host.take_finished(), Some(sync));
        assert!(host.operations.is_empty());
    }

    #[test]
    fn a_sequential_reader_is_read_ahead_and_waits_for_its_own_pages_only() {
        let mut host = host();
        let file = host.files.create("/a");
        host.reserve(file, 0, 1 << 20).expect("there is room");
        host.files.get_mut(file).size = 1 << 20;
        let mut ahead = ReadAhead::default();
        let Progress::Wait(first) = host.read(file, 0, 4096, &mut ahead) else { panic!("no wait") };
        let requests = sent(&mut host);
        assert_eq!(requests[0].2, 5 * 8, "one page, and four ahead");
        host.completed(Time(1), requests[0].0);
        assert_eq!(host.take_finished(), Some(first));
        assert_eq!(host.read(file, 4096, 4096, &mut ahead), Progress::Done);
        assert_eq!(sent(&mut host).len(), 1, "the window has grown");
        assert_eq!((host.counts.hits, host.counts.misses), (1, 1));
    }

    #[test]
    fn writers_wait_at_the_limit_and_go_on_when_pages_are_written() {
        let mut host = host();
        let file = host.files.create("/a");
        let length = 300 * PAGE;
        host.reserve(file, 0, length).expect("there is room");
        host.files.get_mut(file).size = length;
        let Progress::Wait(write) = host.write(Time(1), file, 0..length, 0) else {
            panic!("300 of 1024 pages are more than a fifth")
        };
        let mut requests = VecDeque::from(sent(&mut host));
        while let Some((number, ..)) = requests.pop_front() {
            host.completed(Time(2), number);
            requests.extend(sent(&mut host));
        }
        assert_eq!((host.take_finished(), host.take_finished()), (Some(write), None));
        assert!(host.cache.dirty() <= host.background);
    }
}
