//! Where the data of namespaces is kept.

use std::collections::BTreeMap;
use std::io;

/// Keeps the data of all namespaces as one space of bytes. Bytes that were never written are zero.
///
/// An error is a media error of the current command; the drive goes on.
pub trait Store: Send {
    /// Fills `data` with the bytes from `offset`.
    ///
    /// # Errors
    ///
    /// The reason for which the data cannot be read.
    fn read(&mut self, offset: u64, data: &mut [u8]) -> io::Result<()>;

    /// Replaces the bytes from `offset`.
    ///
    /// # Errors
    ///
    /// The reason for which the data cannot be kept, for example a full disk.
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Makes `length` bytes from `offset` zero, and frees what they took.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()>;

    /// Makes all writes durable that have returned.
    ///
    /// # Errors
    ///
    /// The reason for which they may not be durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// Unit: bytes.
const CHUNK: u64 = 64 * 1024;

/// Data in memory. Only chunks that hold data take memory.
#[derive(Debug)]
pub struct MemoryStore {
    chunks: BTreeMap<u64, Box<[u8]>>,
    /// Unit: bytes.
    most: u64,
}

impl MemoryStore {
    /// An empty store that takes at most `most` bytes of memory for data.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self { chunks: BTreeMap::new(), most }
    }

    /// Memory that the data takes. Unit: bytes.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK
    }
}

/// The pieces of a range inside of single chunks: the chunk, the place in it, the length.
fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let (mut at, end) = (offset, offset + length);
    std::iter::from_fn(move || {
        let inside = at % CHUNK;
        let piece = (end - at).min(CHUNK - inside);
        let found = (piece > 0).then_some((at / CHUNK, inside as usize, piece as usize));
        at += piece;
        found
    })
}

impl Store for MemoryStore {
    fn read(&mut self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let mut rest = data;
        for (chunk, inside, length) in pieces(offset, rest.len() as u64) {
            let (part, more) = rest.split_at_mut(length);
            match self.chunks.get(&chunk) {
                Some(kept) => part.copy_from_slice(&kept[inside..inside + length]),
                None => part.fill(0),
            }
            rest = more;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut rest = data;
        for (chunk, inside, length) in pieces(offset, data.len() as u64) {
            if self.taken() >= self.most && !self.chunks.contains_key(&chunk) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let empty = || vec![0; CHUNK as usize].into_boxed_slice();
            let kept = self.chunks.entry(chunk).or_insert_with(empty);
            let (part, more) = rest.split_at(length);
            kept[inside..inside + length].copy_from_slice(part);
            rest = more;
        }
        Ok(())
    }

    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let end = offset + length;
        // Chunks in the middle are dropped, those at the ends are kept if the range has a part.
        let whole = offset.div_ceil(CHUNK)..end / CHUNK;
        if whole.start < whole.end {
            let dropped: Vec<u64> = self.chunks.range(whole).map(|(&chunk, _)| chunk).collect();
            for chunk in dropped {
                self.chunks.remove(&chunk);
            }
        }
        let last = end - end % CHUNK;
        let ends = match offset / CHUNK == end / CHUNK {
            true => [(offset, length), (end, 0)],
            false => [(offset, (CHUNK - offset % CHUNK) % CHUNK), (last, end - last)],
        };
        for (chunk, inside, length) in ends.into_iter().flat_map(|(at, long)| pieces(at, long)) {
            if let Some(kept) = self.chunks.get_mut(&chunk) {
                kept[inside..inside + length].fill(0);
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_was_written() {
        let (mut store, length) = (MemoryStore::new(1 << 20), 5 * CHUNK as usize);
        let mut plain = vec![0_u8; length];
        let mut seed = 1_u64;
        let mut draw = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (seed >> 33) as usize % below
        };
        for round in 0..400 {
            let (at, long) = (draw(length), draw(2 * CHUNK as usize));
            let long = long.min(length - at);
            if draw(3) == 0 {
                store.zero(at as u64, long as u64).expect("memory is there");
                plain[at..at + long].fill(0);
            } else {
                let data = vec![round as u8 | 1; long];
                store.write(at as u64, &data).expect("memory is there");
                plain[at..at + long].copy_from_slice(&data);
            }
            let mut read = vec![7; length];
            store.read(0, &mut read).expect("memory is there");
            assert!(read == plain, "round {round}: {at} + {long}");
        }
        store.zero(0, length as u64).expect("memory is there");
        assert_eq!(store.taken(), 0, "whole chunks of zeroes take no memory");
    }

    #[test]
    fn a_full_memory_says_so() {
        let mut store = MemoryStore::new(CHUNK);
        store.write(5, b"data").expect("the first chunk fits");
        let error = store.write(CHUNK, b"more").expect_err("the second one does not");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        store.write(9, b"data").expect("the first chunk is still there");
    }
}
