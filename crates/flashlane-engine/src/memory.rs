//! Instructions to the machine that safe code cannot give. This module and `places.rs` hold
//! the only unsafe code of the simulator.

mod exhausted;
mod lease;
#[cfg(target_family = "wasm")]
mod no_maps;

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};

#[cfg(not(target_family = "wasm"))]
use memmap2::{MmapMut, MmapOptions};
#[cfg(target_family = "wasm")]
use no_maps::{MmapMut, MmapOptions};

pub use exhausted::{OutOfMemory, Tell, WatchedAllocator};
use lease::Shown;
pub(crate) use lease::{Leased, Section};

/// Size of a line of a processor's cache. Unit: bytes.
const LINE: usize = 64;

/// Prefetches the cache line of an element. This hint changes no result, and any index is allowed.
/// It does nothing on machines other than x86-64 and 64-bit ARM.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    prefetch_line(values.as_ptr().wrapping_add(index).cast());
}

/// Prefetches all cache lines of an element, which must begin at the start of a line. A hint, as
/// [`prefetch`].
#[inline(always)]
pub(crate) fn prefetch_whole<T>(values: &[T], index: usize) {
    let first = values.as_ptr().wrapping_add(index).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        prefetch_line(first.wrapping_add(line * LINE));
    }
}

#[inline(always)]
#[cfg_attr(
    all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unsafe_code, reason = "the instruction takes a raw pointer")
)]
fn prefetch_line(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of x86-64, and a prefetch neither faults nor reads, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch neither faults nor reads, whatever the address, and leaves flags and stack
    // alone.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(readonly, nostack, preserves_flags),
        );
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

/// Bytes that start as zeros, in private memory or in a file that copies may share once it is
/// sealed; or bytes that start as those of a file on disk.
///
/// The file that copies may share has no name, and nothing outside this module sees it. It changes
/// only through the mapping here.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: MmapMut,
    file: Option<File>,
    /// For memory that maps a file on disk. It comes after the bytes, so that it is dropped last.
    shown: Option<Shown>,
}

impl Memory {
    /// `len` zeros, at least one, in private memory.
    ///
    /// # Panics
    ///
    /// If there is not enough memory, with [`OutOfMemory`].
    pub(crate) fn own(len: usize) -> Self {
        let bytes = MmapMut::map_anon(len).unwrap_or_else(|_| exhausted::unwind(len));
        Self { bytes, file: None, shown: None }
    }

    /// `len` zeros, at least one, that copies may share later. The file is sealed against changes
    /// of its length.
    ///
    /// # Errors
    ///
    /// If there is not enough memory, or on systems without such files.
    #[expect(unsafe_code, reason = "memory could change with its file")]
    pub(crate) fn to_share(len: usize) -> io::Result<Self> {
        let file = system::file(len)?;
        // SAFETY: the file has exactly these bytes, and its seals keep it from getting shorter, so
        // every byte of the mapping exists as long as the mapping. The file has no name, and `self`
        // alone owns it and lends it to nobody, so nobody else in this process writes to it. If
        // mapping fails, the file is closed.
        let bytes = unsafe { MmapOptions::new().len(len).map_mut(&file)? };
        system::keep_from_children(&bytes);
        Ok(Self { bytes, file: Some(file), shown: None })
    }

    /// Moves the bytes to private memory if they map a file on disk that another process waits for.
    pub(crate) fn let_go(&mut self) {
        if self.shown.as_ref().is_some_and(Shown::is_wanted) {
            let mut own = Self::own(self.len());
            own.copy_from_slice(self);
            *self = own;
        }
    }

    /// Asks for large pages of memory. A system without them refuses, and small pages also work.
    pub(crate) fn prefer_large_pages(&self) {
        system::prefer_large_pages(&self.bytes);
    }

    /// Ends all changes, by a seal of the file.
    ///
    /// # Errors
    ///
    /// The bytes in private memory, if there is no file, or if the file can still be written
    /// elsewhere.
    pub(crate) fn seal(self) -> Result<Sealed, Self> {
        let Self { bytes, file: Some(file), .. } = self else { return Err(self) };
        let len = bytes.len();
        // The file cannot be sealed while it is mapped for writing.
        drop(bytes);
        if system::seal(&file).is_ok() {
            return Ok(Sealed { file, len });
        }
        let mut own = Self::own(len);
        read_at(&file, &mut own, 0).expect("the memory of a table can be read");
        Err(own)
    }
}

impl Deref for Memory {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Memory {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

/// Bytes that change no more, and can be copied. Only [`Memory::seal`] makes them.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// The file, sealed against writes and changes of its length.
    file: File,
    /// Length of the file. Unit: bytes.
    len: usize,
}

impl Sealed {
    /// Length. Unit: bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A copy. It shares its memory with the other copies, except for the pages that it writes.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    #[expect(unsafe_code, reason = "memory could change with its file")]
    pub(crate) fn copy(&self) -> io::Result<Memory> {
        let mut options = MmapOptions::new();
        // SAFETY: the file has exactly these bytes, and its seals refuse writes and any other
        // length for good, from this process and from others. So what is mapped here changes
        // through this mapping only, whose pages are private.
        let bytes = unsafe { options.len(self.len).no_reserve_swap().map_copy(&self.file)? };
        Ok(Memory { bytes, file: None, shown: None })
    }
}

/// Reads from a place in a file.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, to: &mut [u8], offset: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    file.read_exact_at(to, offset)
}

/// Reads from a place in a file.
#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, to: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(to)
}

/// Files in memory, on systems that have them. Miri has none.
#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::fs::File;
    use std::io;

    use memmap2::MmapMut;
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    /// A file without a name, of `bytes` zeros, whose length cannot change.
    pub(super) fn file(bytes: usize) -> io::Result<File> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("flashlane-tables", flags)?);
        file.set_len(u64::try_from(bytes).map_err(io::Error::other)?)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
        Ok(file)
    }

    /// Keeps the mapping out of forked processes, through which the file could change.
    pub(super) fn keep_from_children(memory: &MmapMut) {
        let _ = memory.advise(memmap2::Advice::DontFork);
    }

    /// Forbids all further writes. Fails while the file is mapped for writing anywhere.
    pub(super) fn seal(file: &File) -> io::Result<()> {
        fcntl_add_seals(file, SealFlags::WRITE | SealFlags::SEAL)?;
        Ok(())
    }

    pub(super) fn prefer_large_pages(memory: &MmapMut) {
        let _ = memory.advise(memmap2::Advice::HugePage);
    }
}

/// Other systems have no such files, so memory is never shared.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use std::fs::File;
    use std::io;

    use super::MmapMut;

    pub(super) fn file(_bytes: usize) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn keep_from_children(_memory: &MmapMut) {}

    pub(super) fn seal(_file: &File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn prefer_large_pages(_memory: &MmapMut) {}
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const LEN: usize = 1 << 16;

    fn to_share() -> Memory {
        let mut memory = Memory::to_share(LEN).expect("this system has files in memory");
        memory[7] = 9;
        memory
    }

    fn refused(result: io::Result<()>) {
        let error = result.expect_err("the file is sealed");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
    }

    #[test]
    fn nobody_changes_the_bytes_that_copies_share() {
        let sealed = to_share().seal().expect("nobody else writes");
        let [mut one, two] = [(); 2].map(|()| sealed.copy().expect("memory"));
        one[7] = 1;
        refused(sealed.file.write_at(&[1], 7).map(|_| ()));
        refused(sealed.file.set_len(0));
        refused(sealed.file.set_len(2 * LEN as u64));
        refused(system::seal(&sealed.file));
        assert_eq!((two[7], sealed.copy().expect("memory")[7], two.len()), (9, 9, LEN));
    }

    #[test]
    fn nobody_shortens_memory_that_is_in_use() {
        let memory = to_share();
        let file = memory.file.as_ref().expect("it is to be shared");
        refused(file.set_len(0));
        refused(file.set_len(2 * LEN as u64));
        assert_eq!((memory[7], memory.len()), (9, LEN));
    }

    #[test]
    #[expect(unsafe_code, reason = "somebody who breaks the rules")]
    fn memory_that_somebody_else_can_write_is_not_shared() {
        let memory = to_share();
        let file = memory.file.as_ref().expect("it is to be shared");
        // SAFETY: nobody writes through this mapping; it only is there.
        let other = unsafe { MmapOptions::new().len(LEN).map_mut(file) };
        let own = memory.seal().expect_err("there is another mapping to write through");
        assert_eq!((own.len(), own[7], own[8]), (LEN, 9, 0));
        drop(other);
    }

    #[test]
    fn memory_without_a_file_is_not_shared() {
        let own = Memory::own(3).seal().expect_err("there is no file");
        assert_eq!(*own, [0; 3]);
    }
}
