//! A block device or a file of Linux: direct I/O through io_uring, or through threads if the kernel
//! does not allow that.
//!
//! A file is written in place and never trimmed, because that would involve its file system. A
//! device is trimmed by punching holes, which Linux turns into the drive's own command.

mod counters;
mod engine;
mod ring;
mod safety;
mod threads;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use flashlane_engine::Time;
use rustix::fs::{FallocateFlags, OFlags, SeekFrom};

use self::engine::{Engine, Memory};
use super::{Counters, Done, Facts, Failure, Kind, Operation, Target};

/// Longest request. Unit: bytes.
const LONGEST: u32 = 4 << 20;
/// The smallest target. Unit: bytes.
const LEAST: u64 = 64 << 20;
/// Waits below this read the clock continuously, because a sleep is not exact.
const SPIN: Duration = Duration::from_micros(200);

/// A block device or a file.
pub struct Linux {
    file: File,
    facts: Facts,
    engine: Box<dyn Engine>,
    start: Instant,
    outstanding: usize,
    /// Requests that ended when they were submitted.
    at_once: Vec<Done>,
    writes: bool,
    /// The drive's own counters, if writes are measured and it has some.
    counted: Option<counters::Drive>,
}

impl Linux {
    /// Opens a target for measurements. `writes`: true if measurements also write to it.
    ///
    /// # Errors
    /// Fails if the target cannot be opened, cannot be measured, or is to be written but in use.
    pub fn open(path: &Path, writes: bool) -> Result<Self, Failure> {
        let refused = |problem: String| Failure::Refused(path.display().to_string(), problem);
        let kind = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?.file_type();
        let kind = match () {
            () if kind.is_block_device() => Kind::BlockDevice,
            () if kind.is_file() => Kind::File,
            () => return Err(refused("found neither a block device nor a file".to_owned())),
        };
        if writes {
            safety::System::of_this_machine().check(path, kind).map_err(refused)?;
        }
        let mut flags = OFlags::DIRECT;
        if writes && kind == Kind::BlockDevice {
            // Opens it exclusively.
            flags |= OFlags::EXCL;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(writes).custom_flags(flags.bits() as i32);
        let file = options
            .open(path)
            .map_err(|error| refused(format!("cannot be opened for direct I/O: {error}")))?;
        let size = rustix::fs::seek(&file, SeekFrom::End(0))
            .map_err(|error| refused(error.to_string()))?;
        if size < LEAST {
            return Err(refused(format!("found {size} bytes, allowed: at least {LEAST}")));
        }
        if kind == Kind::File {
            whole(&file, size).map_err(refused)?;
        }
        let memory = Memory::new(LONGEST as usize);
        let block = block(&file, &memory).map_err(refused)?;
        let (engine, way): (Box<dyn Engine>, _) = match ring::Ring::new(&file) {
            Ok(ring) => (Box::new(ring), "io_uring"),
            Err(_) => (
                Box::new(threads::Threads::new(&file).map_err(|e| refused(e.to_string()))?),
                "threads, since io_uring is not allowed here",
            ),
        };
        let facts = Facts {
            name: format!("{} by {way}", path.display()),
            kind,
            bytes: size / u64::from(LONGEST) * u64::from(LONGEST),
            block,
            longest: LONGEST,
            deepest: engine.deepest(),
        };
        let counts = writes && kind == Kind::BlockDevice;
        let counted = counts.then(|| counters::Drive::behind(path)).flatten();
        let (start, outstanding, at_once) = (Instant::now(), 0, Vec::new());
        Ok(Self { file, facts, engine, start, outstanding, at_once, writes, counted })
    }

    fn time(&self) -> Time {
        Time(self.start.elapsed().as_nanos() as u64 * 1000)
    }

    /// The next request that ended; waits for it if `wait` is set.
    fn next(&mut self, wait: bool) -> Result<Option<Done>, Failure> {
        if let Some(done) = self.at_once.pop() {
            return Ok(Some(done));
        }
        if self.outstanding == 0 {
            return Ok(None);
        }
        let start = self.start;
        let ended = self
            .engine
            .next(wait)
            .map_err(|error| Failure::Refused(self.facts.name.clone(), error.to_string()))?;
        let Some(ended) = ended else { return Ok(None) };
        self.outstanding -= 1;
        let at = Time(ended.at.duration_since(start).as_nanos() as u64 * 1000);
        match ended.problem {
            None => Ok(Some(Done { cookie: ended.cookie, at })),
            Some(reason) => {
                let (operation, offset, bytes) = ended.what;
                Err(Failure::Request { operation, offset, bytes, reason })
            }
        }
    }
}

/// Refuses a file with holes, because reads of holes do not reach the drive.
fn whole(file: &File, size: u64) -> Result<(), String> {
    let hole = rustix::fs::seek(file, SeekFrom::Hole(0)).map_err(|error| error.to_string())?;
    match hole < size {
        true => Err(format!(
            "has a hole at byte {hole}, whose reads do not reach the drive; allowed: a file that \
             was written from end to end, for example by dd"
        )),
        false => Ok(()),
    }
}

/// The least unit of direct I/O that works. Unit: bytes.
fn block(file: &File, memory: &Memory) -> Result<u32, String> {
    use std::os::unix::fs::FileExt;
    let mut problem = String::new();
    let mut memory = memory.clone();
    for block in [512, 4096] {
        // Addresses that a larger unit does not allow.
        match file.read_at(memory.first(block), block as u64) {
            Ok(_) => return Ok(block as u32),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(format!("direct reads of 512 and of 4096 bytes fail: {problem}"))
}

impl Target for Linux {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now(&mut self) -> Time {
        self.time()
    }

    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> Result<Time, Failure> {
        let failed = |reason: String| Failure::Request { operation, offset, bytes, reason };
        if operation != Operation::Read && !self.writes {
            return Err(failed("the target is read-only".to_owned()));
        }
        let sent = self.time();
        if operation == Operation::Trim {
            if self.facts.kind == Kind::BlockDevice {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                rustix::fs::fallocate(&self.file, flags, offset, u64::from(bytes))
                    .map_err(|error| failed(error.to_string()))?;
            }
            let at = self.time();
            self.at_once.push(Done { cookie, at });
            return Ok(sent);
        }
        self.engine
            .submit(operation, offset, bytes, cookie)
            .map_err(|error| failed(error.to_string()))?;
        self.outstanding += 1;
        Ok(sent)
    }

    fn wait(&mut self) -> Result<Done, Failure> {
        Ok(self.next(true)?.expect("something is outstanding"))
    }

    fn pause_until(&mut self, at: Time) -> Result<(), Failure> {
        let mut ended = Vec::new();
        loop {
            let left = Duration::from_nanos(at.saturating_sub(self.time()).0 / 1000);
            if left.is_zero() {
                break;
            }
            // A request that ends meanwhile is noticed when it ends.
            match self.next(false)? {
                Some(done) => ended.push(done),
                None if self.outstanding == 0 && left > SPIN => std::thread::sleep(left - SPIN),
                None => std::hint::spin_loop(),
            }
        }
        ended.reverse();
        self.at_once.extend(ended);
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn counters(&mut self) -> Option<Counters> {
        self.counted.as_ref()?.counters()
    }
}
