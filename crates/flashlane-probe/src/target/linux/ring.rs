//! Requests through io_uring.

#![allow(unsafe_code, reason = "the kernel is given addresses of memory")]

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, opcode, types};

use super::LONGEST;
use super::engine::{Ended, Engine, Memory, What};
use crate::target::Operation;

/// Most outstanding requests.
const ENTRIES: u32 = 1024;

/// A ring, and the memory that all its requests share; the data that is read is never used.
pub(super) struct Ring {
    // Declared first, so that it is closed before the memory goes.
    ring: IoUring,
    file: OwnedFd,
    reads: Memory,
    writes: Memory,
    /// Outstanding requests by place; the ring identifies requests by their places.
    sent: Vec<Option<(u64, What)>>,
    free: Vec<usize>,
    ended: VecDeque<Ended>,
}

impl Ring {
    pub(super) fn new(file: &File) -> io::Result<Self> {
        let (reads, writes) = (Memory::new(LONGEST as usize), Memory::new(LONGEST as usize));
        Ok(Self {
            ring: IoUring::new(ENTRIES)?,
            file: file.try_clone()?.into(),
            reads,
            writes,
            sent: vec![None; ENTRIES as usize],
            free: (0..ENTRIES as usize).collect(),
            ended: VecDeque::new(),
        })
    }

    /// Takes the results from the kernel.
    fn take(&mut self) {
        for entry in self.ring.completion() {
            let place = entry.user_data() as usize;
            let (cookie, what) = self.sent[place].take().expect("it was sent");
            self.free.push(place);
            let moved = match entry.result() {
                moved @ 0.. => Ok(moved as usize),
                error => Err(io::Error::from_raw_os_error(-error)),
            };
            self.ended.push_back(Ended::of(cookie, what, moved));
        }
    }
}

impl Engine for Ring {
    fn deepest(&self) -> u32 {
        ENTRIES
    }

    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> io::Result<()> {
        let fd = types::Fd(self.file.as_raw_fd());
        let place = self.free.pop().ok_or_else(|| io::Error::other("too many are outstanding"))?;
        let entry = match operation {
            Operation::Write => {
                let memory = self.writes.first(bytes as usize).as_ptr();
                opcode::Write::new(fd, memory, bytes).offset(offset).build()
            }
            _ => {
                let memory = self.reads.first(bytes as usize).as_mut_ptr();
                opcode::Read::new(fd, memory, bytes).offset(offset).build()
            }
        };
        self.sent[place] = Some((cookie, (operation, offset, bytes)));
        let entry = entry.user_data(place as u64);
        // SAFETY: the memory is as long as the request, nobody else touches it, and it lives until
        // `drop` has seen every request end.
        unsafe { self.ring.submission().push(&entry) }.map_err(io::Error::other)?;
        self.ring.submit()?;
        Ok(())
    }

    fn next(&mut self, wait: bool) -> io::Result<Option<Ended>> {
        if self.ended.is_empty() {
            if wait {
                self.ring.submit_and_wait(1)?;
            }
            self.take();
        }
        Ok(self.ended.pop_front())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        while self.free.len() < self.sent.len() {
            if self.ring.submit_and_wait(1).is_err() {
                // The kernel may still write to the memory, so it has to stay.
                let memory = || Memory::new(0);
                std::mem::forget(std::mem::replace(&mut self.reads, memory()));
                std::mem::forget(std::mem::replace(&mut self.writes, memory()));
                return;
            }
            self.take();
        }
    }
}
