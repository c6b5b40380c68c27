//! Files on disk as the contents of tables.
//!
//! A mapping makes a file of gigabytes usable at once, but the file must not change while it is
//! mapped. The numbers would change with it, and if the file became shorter, the system would end
//! the process with a signal. Therefore a mapped file has a lease (`fcntl(2)`, under "Leases"): the
//! kernel lets no other process write to it or shorten it before the lease is given back. When
//! another process wants to, the run moves its table to private memory ([`Table::let_go`], to be
//! called now and then) and gives the lease back. On systems without leases, the file is read.

use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::memory::{Leased, read_at};
use crate::table::{Frozen, Table, Use};

/// A file that tables start from. It is never written through this type.
#[derive(Debug)]
pub struct KeptFile {
    source: Source,
    len: u64,
}

/// Access to the file.
#[derive(Debug)]
enum Source {
    /// The file is mapped, under a lease.
    Leased(Arc<Leased>),
    /// The file is read.
    Read(File),
}

impl KeptFile {
    /// Takes a file that was opened for reading.
    ///
    /// # Errors
    ///
    /// If its length is unknown.
    pub fn new(file: File) -> io::Result<Self> {
        let lease = Leased::new(&file);
        let len = file.metadata()?.len();
        Ok(Self { source: lease.map_or(Source::Read(file), Source::Leased), len })
    }

    /// Length of the file. Unit: bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True for a file without bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A table of `numbers` numbers, at least one, that the file holds from `offset` on, in the
    /// byte order of the machine.
    ///
    /// # Errors
    ///
    /// If the file is too short, or cannot be read.
    pub fn table(&self, offset: u64, numbers: usize) -> io::Result<Frozen> {
        let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let bytes = numbers.checked_mul(size_of::<u32>()).filter(|&len| len > 0);
        let bytes = bytes.ok_or_else(short)?;
        let end = offset.checked_add(u64::try_from(bytes).map_err(io::Error::other)?);
        if end.is_none_or(|end| end > self.len) {
            return Err(short());
        }
        match &self.source {
            Source::Leased(lease) => {
                let section = lease.section(offset, bytes);
                section.map(Frozen::kept).ok_or_else(|| io::ErrorKind::ResourceBusy.into())
            }
            Source::Read(file) => {
                let mut table = Table::new(numbers, Use::Filled);
                read_at(file, table.as_mut_bytes(), offset)?;
                Ok(table.freeze())
            }
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::PathBuf;

    const NUMBERS: u32 = 300_000;

    /// A file with a page of zeros and then the numbers from 0 on. It is removed when dropped.
    struct OnDisk(PathBuf);

    impl OnDisk {
        fn new(name: &str) -> Self {
            let name = format!("flashlane-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let numbers: Vec<u8> = (0..NUMBERS).flat_map(u32::to_ne_bytes).collect();
            let mut file = File::create(&path).expect("room");
            file.write_all(&[0; 4096]).expect("room");
            file.write_all(&numbers).expect("room");
            Self(path)
        }

        fn open(&self) -> File {
            File::open(&self.0).expect("it is there")
        }
    }

    impl Drop for OnDisk {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn holds_all(table: &Table) -> bool {
        (1..NUMBERS).all(|number| table.get(number) == number)
    }

    #[test]
    fn copies_of_a_kept_table_are_on_their_own() {
        let file = OnDisk::new("copies");
        let read = KeptFile { source: Source::Read(file.open()), len: 4096 + 4 * 300_000 };
        for kept in [KeptFile::new(file.open()).expect("a file"), read] {
            let frozen = kept.table(4096, NUMBERS as usize).expect("it is long enough");
            drop(kept);
            let (mut one, two) = (frozen.copy(), frozen.copy());
            one.set(0, 7);
            drop(frozen);
            assert_eq!((one.get(0), two.get(0), two.len()), (7, 0, NUMBERS as usize));
            assert!(holds_all(&one) && holds_all(&two));
        }
        let again = KeptFile::new(file.open()).expect("a file");
        assert_eq!(again.table(4096, 1).expect("long enough").copy().get(0), 0);
    }

    #[test]
    fn a_file_that_is_too_short_is_refused() {
        let file = OnDisk::new("short");
        let kept = KeptFile::new(file.open()).expect("a file");
        assert_eq!(kept.len(), 4096 + 4 * u64::from(NUMBERS));
        for (offset, numbers) in [(4100, NUMBERS as usize), (u64::MAX, 1), (0, usize::MAX), (0, 0)]
        {
            let error = kept.table(offset, numbers).expect_err("too short");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{offset} {numbers}");
        }
    }

    #[test]
    fn somebody_who_shortens_the_file_waits_until_nothing_shows_it() {
        let file = OnDisk::new("shortened");
        let kept = KeptFile::new(file.open()).expect("a file");
        if matches!(kept.source, Source::Read(_)) {
            return flashlane_testing::skip("a folder for temporary files that has leases");
        }
        let frozen = kept.table(4096, NUMBERS as usize).expect("long enough");
        let mut before = frozen.copy();
        before.set(0, 9);
        std::thread::scope(|scope| {
            let shortened = scope.spawn(|| {
                let other = File::options().write(true).open(&file.0).expect("after a while");
                other.set_len(0).expect("it can be shortened");
                other
            });
            while !shortened.is_finished() {
                before.let_go();
                assert!(holds_all(&before));
            }
            // No lease is possible while the file is open for writing, so it is read.
            let _open = shortened.join().expect("it ended");
            let late = KeptFile::new(file.open()).expect("a file");
            assert!(matches!(late.source, Source::Read(_)) && late.is_empty());
        });
        let after = frozen.copy();
        assert_eq!((before.get(0), after.get(0)), (9, 0));
        assert!(holds_all(&before) && holds_all(&after));
    }
}
