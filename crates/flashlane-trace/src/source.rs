//! Opens files as streams of decompressed bytes.

use std::fmt;
use std::io::{Cursor, Read};
use std::path::Path;

use crate::codecs::decompressor;
use crate::error::TraceError;

/// The codec of a file. It is detected from the first bytes of the file, never from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Not compressed.
    Plain,
    /// gzip, one or several members (RFC 1952).
    Gzip,
    /// Zstandard, one or several frames (RFC 8878).
    Zstd,
    /// xz, one or several streams.
    Xz,
    /// bzip2, one or several streams.
    Bzip2,
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Codec::Plain => "plain",
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
            Codec::Xz => "xz",
            Codec::Bzip2 => "bzip2",
        })
    }
}

/// Number of bytes that are needed to detect the codec.
const MAGIC_BYTES: usize = 10;

impl Codec {
    /// The codec of the ending of a file name: `.gz`, `.zst`, `.xz` or `.bz2`. Used for files that
    /// are written. The codec of a file that is read is detected.
    #[must_use]
    pub fn by_file_name(name: &str) -> Option<Codec> {
        let endings =
            [("gz", Codec::Gzip), ("zst", Codec::Zstd), ("xz", Codec::Xz), ("bz2", Codec::Bzip2)];
        let (_, ending) = name.rsplit_once('.')?;
        endings.into_iter().find(|(own, _)| ending.eq_ignore_ascii_case(own)).map(|found| found.1)
    }

    /// The codec whose files start with `head`.
    fn of(head: &[u8]) -> Codec {
        match head {
            [0x1f, 0x8b, ..] => Codec::Gzip,
            // A zstd file may begin with skippable frames, as parallel compressors write them.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Codec::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Codec::Xz,
            // The magic number of a block follows the digit of the level, because a text may well
            // start with `BZh1`.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => {
                Codec::Bzip2
            }
            _ => Codec::Plain,
        }
    }
}

/// A stream of decompressed bytes.
pub(crate) type Bytes = Box<dyn Read + Send>;

/// Opens a file and puts the right decompressor in front of it.
pub(crate) fn open(path: &Path) -> Result<(Codec, Bytes), TraceError> {
    let fault = |source| TraceError::Open { path: path.to_owned(), source };
    let mut file = crate::pipe::open(path).map_err(fault)?;
    if file.metadata().map_err(fault)?.is_dir() {
        return Err(TraceError::Directory { path: path.to_owned() });
    }
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    file.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head).map_err(fault)?;
    let codec = Codec::of(&head);
    let whole = Cursor::new(head).chain(file);
    let bytes = decompressor(codec, whole).map_err(fault)?;
    Ok((codec, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_tells_the_codec() {
        assert_eq!(Codec::of(b""), Codec::Plain);
        assert_eq!(Codec::of(b"\x1f"), Codec::Plain);
        assert_eq!(Codec::of(b"\x1f\x8b\x08"), Codec::Gzip);
        assert_eq!(Codec::of(b"\x28\xb5\x2f\xfd"), Codec::Zstd);
        assert_eq!(Codec::of(b"\x5e\x2a\x4d\x18"), Codec::Zstd);
        assert_eq!(Codec::of(b"\xfd7zXZ\0"), Codec::Xz);
        assert_eq!(Codec::of(b"BZh91AY&SY"), Codec::Bzip2);
        assert_eq!(Codec::of(b"BZh9,1,2,3"), Codec::Plain);
    }
}
