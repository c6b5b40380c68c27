//! What a client lends to the function: its memory, and its interrupts.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use flashlane::Time;
use flashlane_nvme::pcie::{BadAddress, PcieHost};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstatfs;
use rustix::io::Errno;

/// The most areas of memory of a client.
const AREAS_MAX: usize = 65_536;

/// The file system of huge pages, whose files cannot be written with a system call.
const HUGE_PAGES: u32 = 0x9584_58f6;

/// Flags of an area.
const READABLE: u32 = 1;
const WRITABLE: u32 = 1 << 1;

/// The length of a completion entry. Unit: bytes.
const ENTRY: usize = 16;

/// A range of addresses that is memory of the client.
struct Area {
    /// `None` for addresses that the client keeps to itself.
    file: Option<File>,
    /// Where the range begins in the file. Unit: bytes.
    offset: u64,
    /// Unit: bytes.
    size: u64,
    flags: u32,
}

/// A part of an access that is in one area.
struct Piece<'a> {
    file: &'a File,
    offset: u64,
    length: usize,
}

/// The machine of a client. Its memory is read and written through its files: a client that cuts
/// them off gets errors, and does no harm.
pub(super) struct Machine {
    areas: BTreeMap<u64, Area>,
    /// The interrupts that the client has armed, by vector.
    vectors: Vec<Option<File>>,
}

impl Machine {
    /// A machine without memory.
    pub(super) fn new(vectors: u16) -> Self {
        let vectors = (0..vectors).map(|_| None).collect();
        Self { areas: BTreeMap::new(), vectors }
    }

    /// Adds memory. `place`: the first address and the length.
    pub(super) fn map(
        &mut self,
        place: (u64, u64),
        offset: u64,
        flags: u32,
        file: Option<File>,
    ) -> Result<(), Errno> {
        let (address, size) = place;
        let last = address.checked_add(size.wrapping_sub(1)).filter(|_| size > 0);
        let last = last.ok_or(Errno::INVAL)?;
        offset.checked_add(size).filter(|&end| end <= i64::MAX as u64).ok_or(Errno::INVAL)?;
        if self.areas.len() >= AREAS_MAX {
            return Err(Errno::NOSPC);
        }
        let before = self.areas.range(..=last).next_back();
        if before.is_some_and(|(&first, area)| first + (area.size - 1) >= address) {
            return Err(Errno::EXIST);
        }
        if let Some(file) = &file {
            let known = file.metadata().map_err(|_| Errno::BADF)?;
            let kind = fstatfs(file)?.f_type as u32;
            if !known.is_file() || kind == HUGE_PAGES {
                return Err(Errno::NOTSUP);
            }
        }
        self.areas.insert(address, Area { file, offset, size, flags });
        Ok(())
    }

    /// Removes the areas of a range.
    pub(super) fn unmap(&mut self, address: u64, size: u64) -> Result<(), Errno> {
        let last = address.checked_add(size.wrapping_sub(1)).filter(|_| size > 0);
        let last = last.ok_or(Errno::INVAL)?;
        let inside = self.areas.range(address..=last);
        let inside: Vec<u64> = inside.map(|(&first, _)| first).collect();
        let ends = |first: &u64| first + (self.areas[first].size - 1);
        if inside.is_empty() || inside.last().is_some_and(|it| ends(it) > last) {
            return Err(Errno::NOENT);
        }
        self.areas.retain(|first, _| !inside.contains(first));
        Ok(())
    }

    /// Removes all memory.
    pub(super) fn unmap_all(&mut self) {
        self.areas.clear();
    }

    /// Arms vectors from `start` on with the files, or disarms `count` of them if there are none.
    pub(super) fn arm(&mut self, start: u32, count: u32, files: Vec<File>) -> Result<(), Errno> {
        let end = start.checked_add(count).filter(|&end| end as usize <= self.vectors.len());
        let end = end.ok_or(Errno::INVAL)?;
        let vectors = &mut self.vectors[start as usize..end as usize];
        if files.is_empty() {
            vectors.iter_mut().for_each(|vector| *vector = None);
            return Ok(());
        }
        if files.len() != vectors.len() || !files.iter().all(is_event) {
            return Err(Errno::INVAL);
        }
        for (vector, file) in vectors.iter_mut().zip(files) {
            *vector = Some(file);
        }
        Ok(())
    }

    /// Disarms all vectors.
    pub(super) fn disarm(&mut self) {
        self.vectors.iter_mut().for_each(|vector| *vector = None);
    }

    /// Interrupts the client, if it has armed the vector.
    pub(super) fn fire(&self, vector: usize) {
        let Some(Some(file)) = self.vectors.get(vector) else { return };
        // A counter that is full would let the write wait; the client is told already.
        let mut places = [PollFd::new(file, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut places, Some(&now)) == Ok(1) && places[0].revents().contains(PollFlags::OUT) {
            let _ = rustix::io::write(file, &1_u64.to_ne_bytes());
        }
    }

    /// The parts of an access, all of which are memory with the flag.
    fn pieces(&self, address: u64, length: usize, flag: u32) -> Result<Vec<Piece<'_>>, BadAddress> {
        let (mut at, mut left, mut pieces) = (address, length, Vec::new());
        while left > 0 {
            let (&first, area) = self.areas.range(..=at).next_back().ok_or(BadAddress)?;
            let inside = at - first;
            let rest = area.size.checked_sub(inside).filter(|&rest| rest > 0).ok_or(BadAddress)?;
            let file = area.file.as_ref().filter(|_| area.flags & flag != 0).ok_or(BadAddress)?;
            let length = left.min(usize::try_from(rest).unwrap_or(usize::MAX));
            pieces.push(Piece { file, offset: area.offset + inside, length });
            left -= length;
            if left > 0 {
                at = at.checked_add(length as u64).ok_or(BadAddress)?;
            }
        }
        Ok(pieces)
    }

    fn put(&self, address: u64, data: &[u8]) -> Result<(), BadAddress> {
        let mut rest = data;
        for piece in self.pieces(address, data.len(), WRITABLE)? {
            let (now, later) = rest.split_at(piece.length);
            piece.file.write_all_at(now, piece.offset).map_err(|_| BadAddress)?;
            rest = later;
        }
        Ok(())
    }
}

/// True for a counter of events. Other files might let the server wait.
fn is_event(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let name = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    name.is_ok_and(|name| name.as_os_str() == "anon_inode:[eventfd]")
}

impl PcieHost for Machine {
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), BadAddress> {
        let mut rest = data;
        for piece in self.pieces(address, rest.len(), READABLE)? {
            let (now, later) = rest.split_at_mut(piece.length);
            piece.file.read_exact_at(now, piece.offset).map_err(|_| BadAddress)?;
            rest = later;
        }
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), BadAddress> {
        self.pieces(address, data.len(), WRITABLE)?;
        if data.len() != ENTRY {
            return self.put(address, data);
        }
        // A host that polls sees the phase tag of a completion last: it is in the last 4 bytes.
        let (first, last) = data.split_at(ENTRY - 4);
        self.put(address, first)?;
        let after = address.checked_add(first.len() as u64).ok_or(BadAddress)?;
        self.put(after, last)
    }

    fn interrupt(&mut self, _: Time, vector: u16) {
        self.fire(vector.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: u64) -> Option<File> {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(bytes).expect("room");
        Some(file)
    }

    #[test]
    fn memory_is_where_the_client_says() {
        let mut machine = Machine::new(1);
        assert_eq!(machine.map((0x1000, 0x1000), 0x800, 3, memory(0x1800)), Ok(()));
        assert_eq!(machine.map((0x2000, 0x1000), 0, 1, memory(0x1000)), Ok(()));
        assert_eq!(machine.map((0x3000, 0x1000), 0, 3, None), Ok(()));
        for place in [(0x1fff, 1), (0, 0x1001), (0x800, 0x4000), (0x3800, 0x100)] {
            assert_eq!(machine.map(place, 0, 3, None), Err(Errno::EXIST), "{place:x?}");
        }
        for place in [(0x9000, 0), (u64::MAX, 2)] {
            assert_eq!(machine.map(place, 0, 3, None), Err(Errno::INVAL), "{place:x?}");
        }
        let data: Vec<u8> = (0..32).collect();
        assert_eq!(machine.write(0x1fe0, &data), Ok(()));
        assert_eq!(machine.write(0x1ff0, &data), Err(BadAddress), "a part is read only");
        let mut read = vec![0; 64];
        assert_eq!(machine.read(0x1fe0, &mut read), Ok(()), "over the border of two areas");
        assert_eq!(read, [data, vec![0; 32]].concat());
        for (address, length) in [(0x2ff0, 32), (0xff0, 32), (0x4000, 1), (u64::MAX, 2)] {
            let read = machine.read(address, &mut vec![0; length]);
            assert_eq!(read, Err(BadAddress), "{address:x}");
        }
    }

    #[test]
    fn memory_goes() {
        let mut machine = Machine::new(1);
        for first in [0x1000, 0x2000, 0x3000] {
            assert_eq!(machine.map((first, 0x1000), 0, 3, memory(0x1000)), Ok(()));
        }
        for place in [(0x1000, 0x800), (0x5000, 0x1000), (0x1000, 0), (0x1001, 0x10)] {
            assert!(machine.unmap(place.0, place.1).is_err(), "{place:x?}");
        }
        assert_eq!(machine.unmap(0x1000, 0x2000), Ok(()));
        assert_eq!(machine.read(0x2000, &mut [0; 4]), Err(BadAddress));
        assert_eq!(machine.read(0x3000, &mut [0; 4]), Ok(()));
        machine.unmap_all();
        assert_eq!(machine.read(0x3000, &mut [0; 4]), Err(BadAddress));
    }

    #[test]
    fn memory_that_is_cut_off_is_an_error() {
        let mut machine = Machine::new(1);
        let file = memory(0x2000).expect("a file");
        let kept = file.try_clone().expect("a file");
        assert_eq!(machine.map((0, 0x2000), 0, 3, Some(file)), Ok(()));
        kept.set_len(0x1000).expect("a file");
        assert_eq!(machine.read(0x1000, &mut [0; 4]), Err(BadAddress));
        assert_eq!(machine.read(0xffc, &mut [0; 4]), Ok(()));
    }

    #[test]
    fn only_counters_of_events_are_interrupts() {
        let mut machine = Machine::new(2);
        assert_eq!(machine.arm(0, 1, vec![memory(8).expect("a file")]), Err(Errno::INVAL));
        let event = || {
            let flags = rustix::event::EventfdFlags::NONBLOCK;
            File::from(rustix::event::eventfd(0, flags).expect("a counter"))
        };
        let file = event();
        let kept = file.try_clone().expect("a file");
        assert_eq!(machine.arm(1, 1, vec![file]), Ok(()));
        assert_eq!(machine.arm(1, 2, vec![event(), event()]), Err(Errno::INVAL), "two vectors");
        assert_eq!(machine.arm(0, 2, vec![event()]), Err(Errno::INVAL), "one is missing");
        machine.fire(1);
        machine.fire(1);
        machine.fire(0);
        machine.fire(9);
        let mut count = [0; 8];
        assert_eq!(rustix::io::read(&kept, &mut count), Ok(8));
        assert_eq!(u64::from_ne_bytes(count), 2);
        assert_eq!(machine.arm(0, 2, Vec::new()), Ok(()));
        machine.fire(1);
        assert!(rustix::io::read(&kept, &mut count).is_err(), "the vector is disarmed");
    }
}
