//! Decompresses files for readers and compresses files for writers.

use std::io::{self, BufReader, BufWriter, Read, Write};

use crate::ahead::Ahead;
use crate::source::{Bytes, Codec};

/// Buffer between a file and its decompressor. Unit: bytes.
const COMPRESSED_BUFFER_BYTES: usize = 64 * 1024;

/// Largest memory that an xz file may ask for; `xz -9` needs 65 MiB. Unit: bytes.
const XZ_MEMORY_LIMIT_BYTES: u64 = 512 * 1024 * 1024;

/// Puts the decompressor of a codec in front of a file.
pub(crate) fn decompressor<R: Read + Send + 'static>(codec: Codec, whole: R) -> io::Result<Bytes> {
    if codec == Codec::Plain {
        return Ok(Box::new(whole));
    }
    let buffered = BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, whole);
    // Decompression takes longer than reading the lines, so it has a thread of its own.
    Ok(Box::new(match codec {
        Codec::Plain => unreachable!("what is plain needs nothing"),
        Codec::Gzip => Ahead::start(flate2::bufread::MultiGzDecoder::new(buffered))?,
        Codec::Zstd => Ahead::start(zstd::stream::read::Decoder::with_buffer(buffered)?)?,
        Codec::Xz => {
            let flags = xz2::stream::CONCATENATED;
            let stream = xz2::stream::Stream::new_stream_decoder(XZ_MEMORY_LIMIT_BYTES, flags)?;
            Ahead::start(xz2::bufread::XzDecoder::new_stream(buffered, stream))?
        }
        Codec::Bzip2 => Ahead::start(bzip2::bufread::MultiBzDecoder::new(buffered))?,
    }))
}

/// Buffer between a writer and its compressor. Unit: bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// A stream that is compressed or plain.
pub(crate) enum Compressor<W: Write> {
    Plain(BufWriter<W>),
    Gzip(BufWriter<flate2::write::GzEncoder<W>>),
    Zstd(BufWriter<zstd::Encoder<'static, W>>),
    Xz(BufWriter<xz2::write::XzEncoder<W>>),
    Bzip2(BufWriter<bzip2::write::BzEncoder<W>>),
}

impl<W: Write> Compressor<W> {
    pub(crate) fn new(out: W, codec: Codec) -> io::Result<Compressor<W>> {
        const XZ_LEVEL: u32 = 6;
        fn buffered<T: Write>(out: T) -> BufWriter<T> {
            BufWriter::with_capacity(BUFFER_BYTES, out)
        }
        Ok(match codec {
            Codec::Plain => Compressor::Plain(buffered(out)),
            Codec::Gzip => {
                let level = flate2::Compression::default();
                Compressor::Gzip(buffered(flate2::write::GzEncoder::new(out, level)))
            }
            Codec::Zstd => Compressor::Zstd(buffered(zstd::Encoder::new(out, 0)?)),
            Codec::Xz => Compressor::Xz(buffered(xz2::write::XzEncoder::new(out, XZ_LEVEL))),
            Codec::Bzip2 => {
                let level = bzip2::Compression::default();
                Compressor::Bzip2(buffered(bzip2::write::BzEncoder::new(out, level)))
            }
        })
    }

    /// Writes the remaining bytes and the end of the compressed stream.
    pub(crate) fn finish(self) -> io::Result<()> {
        fn inner<T: Write>(out: BufWriter<T>) -> io::Result<T> {
            out.into_inner().map_err(io::IntoInnerError::into_error)
        }
        match self {
            Compressor::Plain(out) => inner(out)?.flush(),
            Compressor::Gzip(out) => inner(out)?.finish()?.flush(),
            Compressor::Zstd(out) => inner(out)?.finish()?.flush(),
            Compressor::Xz(out) => inner(out)?.finish()?.flush(),
            Compressor::Bzip2(out) => inner(out)?.finish()?.flush(),
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Compressor::Plain(out) => out.write(bytes),
            Compressor::Gzip(out) => out.write(bytes),
            Compressor::Zstd(out) => out.write(bytes),
            Compressor::Xz(out) => out.write(bytes),
            Compressor::Bzip2(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressor::Plain(out) => out.flush(),
            Compressor::Gzip(out) => out.flush(),
            Compressor::Zstd(out) => out.flush(),
            Compressor::Xz(out) => out.flush(),
            Compressor::Bzip2(out) => out.flush(),
        }
    }
}
