//! Detects accesses to memory that a program does not have, by the access rights of the pages of
//! this process.
//!
//! The emulator reads and writes the memory of a program directly. Pages that the program does not
//! have get no access rights. If the program touches one, the handler of SIGSEGV notes the address,
//! gives the page its rights back and lets the access happen, so that the emulator is not
//! interrupted. The machine stops at the end of its slice at the latest, before the program affects
//! anything else, and its program counts as crashed.

// Only this file and `machine.rs` have unsafe code in this crate.
#![allow(unsafe_code)]

/// An access to memory that the program does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadAccess {
    /// Address in the memory of the program.
    pub(crate) address: u64,
    /// Kind of the access, if the processor tells.
    pub(crate) what: &'static str,
}

/// The address space of a program, on processors with 39 bits of address. The program can use only
/// the memory that it was given. Unit: bytes.
const SPACE: u64 = 1 << 38;

/// Address space that the emulator takes for a program with this much memory. The part behind the
/// memory is closed, and costs nothing.
pub(crate) fn space(memory: u64) -> u64 {
    // A limit of the address space counts closed pages, too.
    let limited = flashlane::need::address_space().is_some();
    if cfg!(target_os = "linux") && !limited { memory.max(SPACE) } else { memory }
}

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Arena;
#[cfg(target_os = "linux")]
pub(crate) use linux::Arena;

#[cfg(target_os = "linux")]
mod linux {
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::mem::{MaybeUninit, transmute};
    use std::sync::OnceLock;

    use crate::guard::BadAccess;

    thread_local! {
        /// The memory of the program that this thread works for: address and length.
        static WATCHED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
        /// The first access to memory that the program does not have.
        static FOUND: Cell<Option<BadAccess>> = const { Cell::new(None) };
    }

    /// The handler that was installed before, and the size of a page of this machine.
    static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

    /// The memory of a program in this process.
    #[derive(Debug)]
    pub(crate) struct Arena {
        base: usize,
        length: usize,
    }

    impl Arena {
        /// Memory of `length` bytes that begins at `base`.
        pub(crate) fn new(base: usize, length: usize) -> Self {
            BEFORE.get_or_init(install);
            Self { base, length }
        }

        /// Gives these bytes to the program.
        pub(crate) fn open(&self, address: u64, length: u64) {
            let page = page_size();
            let (start, end) = self.range(address, length);
            let start = start / page * page;
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            protect(self.base + start, end.next_multiple_of(page).max(start) - start, rights);
        }

        /// Takes these bytes away from the program.
        pub(crate) fn close(&self, address: u64, length: u64) {
            let page = page_size();
            let (start, end) = self.range(address, length);
            let (start, end) = (start.next_multiple_of(page), end / page * page);
            protect(self.base + start, end.saturating_sub(start), libc::PROT_NONE);
        }

        fn range(&self, address: u64, length: u64) -> (usize, usize) {
            let end = address.saturating_add(length);
            let inside = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.length);
            (inside(address), inside(end))
        }

        /// Does work with the memory. Also returns the first access to memory that the program does
        /// not have.
        pub(crate) fn watched<T>(&self, work: impl FnOnce() -> T) -> (T, Option<BadAccess>) {
            FOUND.set(None);
            WATCHED.set((self.base, self.length));
            let done = work();
            WATCHED.set((0, 0));
            (done, FOUND.take())
        }
    }

    fn page_size() -> usize {
        BEFORE.get().map_or(4096, |before| before.1)
    }

    fn protect(start: usize, length: usize, rights: c_int) {
        if length > 0 {
            // SAFETY: the range lies in the memory of a machine that is alive, which nobody uses
            // meanwhile.
            let status = unsafe { libc::mprotect(start as *mut c_void, length, rights) };
            assert_eq!(status, 0, "the rights of a program's memory can be changed");
        }
    }

    fn install() -> (libc::sigaction, usize) {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: all zeros are a valid value: no flags, an empty mask.
        let mut own: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        own.sa_sigaction = on_fault as *const () as usize;
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both structures are valid, and the handler has the type for `SA_SIGINFO`.
        let status = unsafe { libc::sigaction(libc::SIGSEGV, &raw const own, before.as_mut_ptr()) };
        assert_eq!(status, 0, "the handler can be set");
        // SAFETY: a plain question.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        // SAFETY: the call above has filled it.
        (unsafe { before.assume_init() }, usize::try_from(page).unwrap_or(4096))
    }

    extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: the system passes a valid pointer.
        let info_of = unsafe { &*info };
        // SAFETY: signals of this kind have an address.
        let address = unsafe { info_of.si_addr() } as usize;
        let (base, length) = WATCHED.get();
        let offset = address.wrapping_sub(base);
        if offset < length {
            if FOUND.get().is_none() {
                FOUND.set(Some(BadAccess { address: offset as u64, what: what(context) }));
            }
            let page = page_size();
            let start = (address / page * page) as *mut c_void;
            // SAFETY: it is a page of the program's memory.
            let status = unsafe { libc::mprotect(start, page, libc::PROT_READ | libc::PROT_WRITE) };
            if status == 0 {
                return;
            }
        }
        hand_on(signal, info, context);
    }

    /// Passes a signal on to the handler that was installed before.
    fn hand_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
        let before = BEFORE.get().map(|before| before.0);
        match before {
            Some(before) if before.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: with this flag it is a handler of this type.
                let handler: Handler = unsafe { transmute(before.sa_sigaction) };
                handler(signal, info, context);
            }
            _ => {
                // The access happens again, and ends the process.
                // SAFETY: the default action is a valid handler.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn what(context: *mut c_void) -> &'static str {
        const WRITE: i64 = 2;
        // SAFETY: the system passes a valid context.
        let context = unsafe { &*context.cast::<libc::ucontext_t>() };
        let error = context.uc_mcontext.gregs[libc::REG_ERR as usize];
        if error & WRITE != 0 { "a write to" } else { "a read of" }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn what(_: *mut c_void) -> &'static str {
        "an access to"
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use crate::guard::BadAccess;

    /// On other systems accesses are not watched.
    #[derive(Debug)]
    pub(crate) struct Arena;

    impl Arena {
        pub(crate) fn new(_: usize, _: usize) -> Self {
            Self
        }
        pub(crate) fn open(&self, _: u64, _: u64) {}
        pub(crate) fn close(&self, _: u64, _: u64) {}
        pub(crate) fn watched<T>(&self, work: impl FnOnce() -> T) -> (T, Option<BadAccess>) {
            (work(), None)
        }
    }
}
