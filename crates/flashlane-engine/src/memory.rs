//! What safe code cannot tell the machine. With [`crate::places`] the only unsafe code of the simulator.

use std::fs::File;
use std::io;

use memmap2::{MmapMut, MmapOptions};

/// Bytes of a line of the caches of a processor.
const LINE: usize = 64;

/// Asks for the cache line of an element that is needed soon. A hint: changes no result, and any index is
/// allowed. Does nothing on machines other than x86-64 and 64-bit ARM.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    prefetch_line(values.as_ptr().wrapping_add(index).cast());
}

/// Asks the processor for all lines of a value that begins with one.
#[inline(always)]
pub(crate) fn prefetch_whole<T>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        prefetch_line(first.wrapping_add(line * LINE));
    }
}

#[inline(always)]
#[expect(unsafe_code, reason = "the instruction takes a raw pointer")]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch neither faults nor reads, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch neither faults nor reads, whatever the address, and leaves flags and stack alone.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(readonly, nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Asks for large pages of memory. A system without them refuses, and small ones do as well.
pub(crate) fn prefer_large_pages(memory: &MmapMut) {
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// A file without a name, in memory.
///
/// # Errors
/// On systems that have none.
fn nameless_file(bytes: usize) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let file = File::from(rustix::fs::memfd_create("flashlane-tables", flags)?);
        file.set_len(bytes as u64)?;
        Ok(file)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = bytes;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Zeros that become the contents of copies: a file, and where it is mapped. `bytes` must not be 0.
///
/// # Errors
/// Without so much memory, or without such files.
#[expect(unsafe_code, reason = "memory could change with its file")]
pub(crate) fn shared(bytes: usize) -> io::Result<(File, MmapMut)> {
    let file = nameless_file(bytes)?;
    // SAFETY: the file has no name and stays in this process, which changes it through this mapping only and
    // never makes it shorter.
    let memory = unsafe { MmapOptions::new().len(bytes).map_mut(&file)? };
    Ok((file, memory))
}

/// A copy of the contents of a file of [`shared`]: pages are copied when they are written.
///
/// # Errors
/// Without memory for it.
#[expect(unsafe_code, reason = "memory could change with its file")]
pub(crate) fn copy_on_write(file: &File, bytes: usize) -> io::Result<MmapMut> {
    // SAFETY: the file has no name and stays in this process. Who maps it so has dropped the mapping through
    // which it changes, and nobody makes it shorter.
    unsafe { MmapOptions::new().len(bytes).no_reserve_swap().map_copy(file) }
}
