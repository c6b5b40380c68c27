//! Writers: records in, a trace file out.

mod csv;
mod fio;
mod mqsim;
mod parquet;

use std::io::{self, BufWriter, Write};

use crate::record::Record;
use crate::source::Codec;

/// What there is to know about a format that can be written.
#[derive(Debug)]
pub struct OutputInfo {
    /// Name that [`OutputFormat::by_name`] takes; the reader knows it by the same.
    pub name: &'static str,
    /// What gets lost.
    pub loses: &'static str,
    /// Endings of file names that stand for it.
    pub endings: &'static [&'static str],
}

/// Takes records one after the other and writes them.
pub trait RecordWriter: Send {
    /// Writes a record. False: the format has no such requests, and it is left out.
    ///
    /// # Errors
    /// Those of the file.
    fn write(&mut self, record: &Record) -> io::Result<bool>;

    /// Ends the file. Without it the file is not whole.
    ///
    /// # Errors
    /// Those of the file.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

macro_rules! outputs {
    ($($(#[$doc:meta])* $variant:ident => $module:ident :: $info:ident,)*) => {
        /// A format that can be written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum OutputFormat {
            $($(#[$doc])* $variant,)*
        }

        impl OutputFormat {
            /// All of them.
            pub const ALL: &[OutputFormat] = &[$(OutputFormat::$variant,)*];

            /// Name and limits.
            #[must_use]
            pub fn info(self) -> &'static OutputInfo {
                match self {
                    $(OutputFormat::$variant => &$module::$info,)*
                }
            }
        }
    };
}

outputs! {
    /// `t_us,op(R/W),offset_bytes,size_bytes,device`.
    Csv => csv::INFO,
    /// fio's iolog, version 3.
    FioV3 => fio::INFO_V3,
    /// fio's iolog, version 2.
    FioV2 => fio::INFO_V2,
    /// MQSim's ASCII traces.
    Mqsim => mqsim::INFO,
    /// Parquet.
    Parquet => parquet::INFO,
}

impl OutputFormat {
    /// The format with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<OutputFormat> {
        OutputFormat::ALL.iter().copied().find(|format| format.info().name == name)
    }

    /// The format that the ending of a file name stands for; endings of codecs do not matter.
    #[must_use]
    pub fn by_file_name(name: &str) -> Option<OutputFormat> {
        let name = name.to_ascii_lowercase();
        let stem = Codec::by_file_name(&name)
            .and_then(|_| name.rsplit_once('.'))
            .map_or(name.as_str(), |(stem, _)| stem);
        let has = |ending: &&'static str| stem.ends_with(&format!(".{ending}"));
        OutputFormat::ALL.iter().copied().find(|format| format.info().endings.iter().any(has))
    }

    /// A writer to `out`, which is compressed by `codec`. Fio's logs call device n `files[n]`;
    /// without a name there it is `device` and its number.
    ///
    /// # Errors
    /// Those of the file. Parquet is compressed inside, and refuses any codec but [`Codec::Plain`].
    pub fn writer<'a>(
        self,
        out: impl Write + Send + 'a,
        codec: Codec,
        files: &[String],
    ) -> io::Result<Box<dyn RecordWriter + 'a>> {
        if self == OutputFormat::Parquet {
            if codec != Codec::Plain {
                let message =
                    "Parquet is compressed inside; allowed: a name without another ending";
                return Err(io::Error::other(message));
            }
            return Ok(Box::new(parquet::ParquetWriter::new(out)?));
        }
        let out = Compressor::new(out, codec)?;
        Ok(match self {
            OutputFormat::Csv => Box::new(csv::CsvWriter::new(out)?),
            OutputFormat::FioV3 => Box::new(fio::FioWriter::new(out, 3, files)?),
            OutputFormat::FioV2 => Box::new(fio::FioWriter::new(out, 2, files)?),
            OutputFormat::Mqsim => Box::new(mqsim::MqsimWriter::new(out)),
            OutputFormat::Parquet => unreachable!("it was made above"),
        })
    }
}

/// Buffer between a writer and its compressor. Unit: bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// A stream that may be compressed.
enum Compressor<W: Write> {
    Plain(BufWriter<W>),
    Gzip(BufWriter<flate2::write::GzEncoder<W>>),
    Zstd(BufWriter<zstd::Encoder<'static, W>>),
    Xz(BufWriter<xz2::write::XzEncoder<W>>),
    Bzip2(BufWriter<bzip2::write::BzEncoder<W>>),
}

impl<W: Write> Compressor<W> {
    fn new(out: W, codec: Codec) -> io::Result<Compressor<W>> {
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

    /// Writes what is left, and the end of the compressed stream.
    fn finish(self) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_stand_for_formats() {
        let cases = [
            ("a.csv", Some(OutputFormat::Csv)),
            ("a.b.CSV.zst", Some(OutputFormat::Csv)),
            ("a.iolog.gz", Some(OutputFormat::FioV3)),
            ("a.trace.xz", Some(OutputFormat::Mqsim)),
            ("a.parquet", Some(OutputFormat::Parquet)),
            ("csv", None),
            ("a.zst", None),
            ("a.dat", None),
        ];
        for (name, expected) in cases {
            assert_eq!(OutputFormat::by_file_name(name), expected, "{name}");
        }
        for format in OutputFormat::ALL {
            assert_eq!(OutputFormat::by_name(format.info().name), Some(*format));
            assert!(crate::Format::by_name(format.info().name).is_ok(), "it can be read again");
        }
    }
}
