//! Handling of memory exhaustion.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The payload of a panic when there is no memory for a table. It is no fault of the program, so
/// the panic hook is not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Size of the allocation that failed. Unit: bytes.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} more bytes of memory could not be had", self.bytes)
    }
}

/// Unwinds with [`OutOfMemory`].
#[cold]
pub(crate) fn unwind(bytes: usize) -> ! {
    resume_unwind(Box::new(OutOfMemory { bytes }))
}

/// Receives the size of a failed allocation, in bytes. It may allocate a little, and does not have
/// to return.
pub type Tell = fn(usize);

/// The function that is called after a failed allocation.
static TELL: OnceLock<Tell> = OnceLock::new();
/// True while that function runs: further failures are not reported.
static TELLING: AtomicBool = AtomicBool::new(false);

/// The allocator of the system, for `#[global_allocator]` of a program that reports exhausted
/// memory. Before [`WatchedAllocator::watch`] it behaves like that of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchedAllocator;

impl WatchedAllocator {
    /// Sets the function that is called after failed allocations. Only the first call counts.
    pub fn watch(tell: Tell) {
        let _ = TELL.set(tell);
    }
}

/// Reports a failed allocation.
#[cold]
#[inline(never)]
fn failed(bytes: usize) {
    let Some(tell) = TELL.get() else { return };
    if !TELLING.swap(true, Ordering::SeqCst) {
        tell(bytes);
        TELLING.store(false, Ordering::SeqCst);
    }
}

#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
// SAFETY: every call goes to the allocator of the system as it is, and so does its answer.
unsafe impl GlobalAlloc for WatchedAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of the allocator of the system.
        let place = unsafe { System.alloc(layout) };
        if place.is_null() {
            failed(layout.size());
        }
        place
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let place = unsafe { System.alloc_zeroed(layout) };
        if place.is_null() {
            failed(layout.size());
        }
        place
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { System.realloc(place, layout, size) };
        if moved.is_null() {
            failed(size);
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_table_without_memory_says_how_much_it_wanted() {
        let payload = catch_unwind(|| unwind(77)).expect_err("it unwinds");
        let found = payload.downcast_ref::<OutOfMemory>().expect("its payload");
        assert_eq!(found.to_string(), "77 more bytes of memory could not be had");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory does")]
    #[expect(unsafe_code, reason = "allocates by hand")]
    fn an_allocation_that_fails_is_told() {
        static HEARD: AtomicUsize = AtomicUsize::new(0);
        WatchedAllocator::watch(|bytes| HEARD.store(bytes, Ordering::SeqCst));
        let layout = Layout::from_size_align(1 << 60, 8).expect("a layout");
        // SAFETY: the layout is not empty; nothing is used.
        let place = std::hint::black_box(unsafe { WatchedAllocator.alloc(layout) });
        assert!(place.is_null());
        assert_eq!(HEARD.load(Ordering::SeqCst), 1 << 60);
    }
}
