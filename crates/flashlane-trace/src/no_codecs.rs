//! Replaces the codecs in a program that is built without them. Such a program reads and writes
//! only plain files.

use std::io::{self, Read, Write};

use crate::source::{Bytes, Codec};

fn refused<T>(codec: Codec) -> io::Result<T> {
    let found = format!("found a file that {codec} compresses, allowed here: plain files");
    Err(io::Error::new(io::ErrorKind::Unsupported, found))
}

/// Returns a plain file unchanged.
pub(crate) fn decompressor<R: Read + Send + 'static>(codec: Codec, whole: R) -> io::Result<Bytes> {
    if codec == Codec::Plain { Ok(Box::new(whole)) } else { refused(codec) }
}

/// A stream that is not compressed.
pub(crate) struct Compressor<W: Write>(io::BufWriter<W>);

impl<W: Write> Compressor<W> {
    pub(crate) fn new(out: W, codec: Codec) -> io::Result<Compressor<W>> {
        if codec == Codec::Plain { Ok(Self(io::BufWriter::new(out))) } else { refused(codec) }
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
