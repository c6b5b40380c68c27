//! Leases on mapped files: see [`crate::kept`].

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::{Memory, MmapOptions, read_at};

/// Time between two checks whether another process waits for a file. The kernel waits 45 s unless
/// configured otherwise (`/proc/sys/fs/lease-break-time`).
const INTERVAL: Duration = Duration::from_millis(100);

/// A file with a lease.
#[derive(Debug)]
pub(crate) struct Leased {
    /// The file. Closing it ends the lease, at the latest.
    file: File,
    /// True if another process waits for the end of the lease.
    wanted: AtomicBool,
    users: Mutex<Users>,
}

/// The users of the file.
#[derive(Debug, Default)]
struct Users {
    /// Number of mappings of the file.
    showing: usize,
    /// Parts of the file of which more copies may be made: offset and length. Unit: bytes.
    sections: Vec<(u64, usize)>,
    /// Private copies of these parts, once the lease was given back.
    saved: Option<Vec<(u64, Memory)>>,
}

/// Marks memory that maps a file.
#[derive(Debug)]
pub(super) struct Shown(Arc<Leased>);

impl Shown {
    /// True if another process waits for the file.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.wanted.load(Ordering::Relaxed)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.users().showing -= 1;
    }
}

/// A part of a file that has a lease, for copies.
#[derive(Debug)]
pub(crate) struct Section {
    lease: Arc<Leased>,
    offset: u64,
    len: usize,
}

impl Section {
    /// Length. Unit: bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A copy. It shares its memory with the file, except for the pages that it writes.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    #[expect(unsafe_code, reason = "memory could change with its file")]
    pub(crate) fn copy(&self) -> io::Result<Memory> {
        let Self { lease, offset, len } = self;
        let mut users = lease.users();
        if let Some(saved) = &users.saved {
            let saved = saved.iter().find(|(at, memory)| at == offset && memory.len() >= *len);
            let mut own = Memory::own(*len);
            own.copy_from_slice(&saved.expect("every section is saved").1[..*len]);
            return Ok(own);
        }
        let mut options = MmapOptions::new();
        options.offset(*offset).len(*len).no_reserve_swap();
        // SAFETY: under the lease nobody writes to the file or changes its length, and the file was
        // long enough when the lease was taken. The lease is not given back before the memory made
        // here is dropped: it counts as showing the file from now on, while this thread holds the
        // lock.
        let bytes = unsafe { options.map_copy(&lease.file)? };
        users.showing += 1;
        Ok(Memory { bytes, file: None, shown: Some(Shown(Arc::clone(lease))) })
    }
}

impl Drop for Section {
    fn drop(&mut self) {
        let sections = &mut self.lease.users().sections;
        let own = sections.iter().position(|&section| section == (self.offset, self.len));
        sections.swap_remove(own.expect("every section is known"));
    }
}

impl Leased {
    /// Takes a lease on a file that was opened for reading. `None` if the system has no leases, or
    /// while any process has the file open for writing.
    pub(crate) fn new(file: &File) -> Option<Arc<Self>> {
        let file = file.try_clone().ok()?;
        system::take(&file).ok()?;
        let lease =
            Arc::new(Self { file, wanted: AtomicBool::new(false), users: Mutex::default() });
        let watched = Arc::downgrade(&lease);
        let thread = std::thread::Builder::new().name("flashlane-lease".to_owned());
        if thread.spawn(move || watch(&watched)).is_err() {
            // The caller's file shares the lease, which would outlive this value.
            system::give_back(&lease.file);
            return None;
        }
        Some(lease)
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A part of the file, which must be at least that long. `None` if the lease was given back
    /// already.
    pub(crate) fn section(self: &Arc<Self>, offset: u64, len: usize) -> Option<Section> {
        let mut users = self.users();
        if users.saved.is_some() {
            return None;
        }
        users.sections.push((offset, len));
        Some(Section { lease: Arc::clone(self), offset, len })
    }

    /// Gives the lease back if no memory maps the file any more. True if the lease is over.
    fn give_back(&self) -> bool {
        let mut users = self.users();
        if users.showing > 0 {
            return false;
        }
        let saved = users.sections.iter().map(|&(offset, len)| {
            let mut own = Memory::own(len);
            read_at(&self.file, &mut own, offset).map(|()| (offset, own))
        });
        // Without a copy of the numbers, the lease stays as long as the kernel permits.
        let Ok(saved) = saved.collect() else { return false };
        users.saved = Some(saved);
        system::give_back(&self.file);
        true
    }
}

/// Checks now and then whether another process waits for the file, as long as the file has users.
fn watch(lease: &Weak<Leased>) {
    loop {
        std::thread::sleep(INTERVAL);
        let Some(lease) = lease.upgrade() else { return };
        if system::is_wanted(&lease.file) {
            lease.wanted.store(true, Ordering::Relaxed);
            if lease.give_back() {
                return;
            }
        }
    }
}

/// Leases of Linux. Source of the numbers: `fcntl.h` of Linux.
#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    use libc::c_int;

    const SET_SIGNAL: c_int = 10;
    const SET_LEASE: c_int = 1024;
    const GET_LEASE: c_int = 1025;

    #[expect(unsafe_code, reason = "no library knows leases")]
    fn control(file: &File, command: c_int, argument: c_int) -> io::Result<c_int> {
        // SAFETY: the descriptor is open as long as the file, and these commands take a number and
        // touch no memory of the process.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
    }

    /// Takes a lease that ends with an attempt to write.
    pub(super) fn take(file: &File) -> io::Result<()> {
        // The kernel would announce the end with a signal that ends the process. The signal is not
        // needed, and SIGURG is ignored by default.
        control(file, SET_SIGNAL, libc::SIGURG)?;
        control(file, SET_LEASE, c_int::from(libc::F_RDLCK)).map(|_| ())
    }

    /// True if another process waits for the end of the lease.
    pub(super) fn is_wanted(file: &File) -> bool {
        control(file, GET_LEASE, 0).is_ok_and(|lease| lease != c_int::from(libc::F_RDLCK))
    }

    pub(super) fn give_back(file: &File) {
        let _ = control(file, SET_LEASE, c_int::from(libc::F_UNLCK));
    }
}

/// Other systems have no leases, so files are never mapped.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use std::fs::File;
    use std::io;

    pub(super) fn take(_file: &File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_wanted(_file: &File) -> bool {
        false
    }

    pub(super) fn give_back(_file: &File) {}
}
