//! Reads a stream ahead on a thread of its own, so that decompression does not delay the reader.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// Largest number of chunks that wait for the reader.
const CHUNKS_AHEAD: usize = 2;

/// The reader's side. The thread ends at the end of the stream, after a fault, or when the reader
/// is dropped.
pub(crate) struct Ahead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    /// Empty buffers on their way back to the thread.
    spent: SyncSender<Vec<u8>>,
    chunk: Vec<u8>,
    /// Number of bytes of the current chunk that were read.
    read: usize,
}

impl Ahead {
    /// Starts to read a stream.
    ///
    /// # Errors
    /// Fails if the system cannot start another thread.
    pub(crate) fn start(source: impl Read + Send + 'static) -> io::Result<Self> {
        let (full, chunks) = sync_channel(CHUNKS_AHEAD);
        let (spent, empty) = sync_channel(CHUNKS_AHEAD + 2);
        thread::Builder::new()
            .name("decompression".to_owned())
            .spawn(move || read_all(source, &full, &empty))?;
        Ok(Self { chunks, spent, chunk: Vec::new(), read: 0 })
    }
}

/// The thread's side.
fn read_all(
    mut source: impl Read,
    full: &SyncSender<io::Result<Vec<u8>>>,
    empty: &Receiver<Vec<u8>>,
) {
    loop {
        let mut chunk = empty.try_recv().unwrap_or_default();
        chunk.clear();
        let count = source.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
        // The bytes before a fault are delivered. An empty chunk marks the end.
        let over = !matches!(count, Ok(1..));
        if full.send(Ok(chunk)).is_err() {
            return;
        }
        if let Err(fault) = count {
            let _ = full.send(Err(fault));
        }
        if over {
            return;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.chunk.len() {
            // The channel is closed once the thread has delivered everything.
            let Ok(next) = self.chunks.recv() else { return Ok(0) };
            let spent = std::mem::replace(&mut self.chunk, next?);
            self.read = 0;
            let _ = self.spent.try_send(spent);
        }
        let count = buffer.len().min(self.chunk.len() - self.read);
        buffer[..count].copy_from_slice(&self.chunk[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives some bytes and then a fault.
    struct Faulty(u64);

    impl Read for Faulty {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("torn"));
            }
            let count = buffer.len().min(self.0 as usize).min(10_000);
            buffer[..count].fill(7);
            self.0 -= count as u64;
            Ok(count)
        }
    }

    #[test]
    fn bytes_come_whole_and_in_order() {
        let all: Vec<u8> = (0..3_000_000_u32).map(|i| ((i * 31) >> 3) as u8).collect();
        let mut read = Vec::new();
        Ahead::start(io::Cursor::new(all.clone())).unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, all);
        assert_eq!(Ahead::start(io::empty()).unwrap().read(&mut [0; 9]).unwrap(), 0);
    }

    #[test]
    fn a_fault_comes_after_the_bytes_before_it() {
        let mut read = Vec::new();
        let fault = Ahead::start(Faulty(700_001)).unwrap().read_to_end(&mut read).unwrap_err();
        assert_eq!((fault.to_string().as_str(), read.len()), ("torn", 700_001));
    }

    #[test]
    fn the_thread_ends_with_its_reader() {
        let (ends, ended) = sync_channel::<()>(0);
        struct Endless(#[expect(dead_code, reason = "it is dropped")] SyncSender<()>);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                Ok(buffer.len())
            }
        }
        let mut ahead = Ahead::start(Endless(ends)).unwrap();
        assert_eq!(ahead.read(&mut [0; 9]).unwrap(), 9);
        drop(ahead);
        assert!(ended.recv().is_err(), "the stream is dropped");
    }
}
