//! Requests through threads, each of which waits for one request, if the kernel does not allow
//! io_uring.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};

use super::LONGEST;
use super::engine::{Ended, Engine, Memory, What};
use crate::target::Operation;

/// Number of threads, and therefore most outstanding requests.
const THREADS: u32 = 64;

/// A request on its way to a thread.
type Work = (u64, What);

/// The threads.
pub(super) struct Threads {
    work: Sender<Work>,
    ended: Receiver<Ended>,
}

impl Threads {
    pub(super) fn new(file: &File) -> io::Result<Self> {
        let (work, taken) = channel::<Work>();
        let (tell, ended) = channel();
        let taken = Arc::new(Mutex::new(taken));
        for _ in 0..THREADS {
            let (file, taken, tell) = (file.try_clone()?, Arc::clone(&taken), tell.clone());
            std::thread::Builder::new().spawn(move || serve(&file, &taken, &tell))?;
        }
        Ok(Self { work, ended })
    }
}

/// Serves requests until there is no more sender.
fn serve(file: &File, work: &Mutex<Receiver<Work>>, tell: &Sender<Ended>) {
    let mut memory = Memory::new(LONGEST as usize);
    let next = || -> Result<Work, RecvError> { work.lock().map_err(|_| RecvError)?.recv() };
    while let Ok((cookie, what)) = next() {
        let (operation, offset, bytes) = what;
        let memory = memory.first(bytes as usize);
        let moved = match operation {
            Operation::Write => file.write_at(memory, offset),
            _ => file.read_at(memory, offset),
        };
        if tell.send(Ended::of(cookie, what, moved)).is_err() {
            return;
        }
    }
}

impl Engine for Threads {
    fn deepest(&self) -> u32 {
        THREADS
    }

    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> io::Result<()> {
        self.work.send((cookie, (operation, offset, bytes))).map_err(io::Error::other)
    }

    fn next(&mut self, wait: bool) -> io::Result<Option<Ended>> {
        if wait {
            return self.ended.recv().map(Some).map_err(io::Error::other);
        }
        match self.ended.try_recv() {
            Ok(ended) => Ok(Some(ended)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}
