//! Writes records to a trace file.

mod csv;
mod fio;
mod mqsim;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;

use std::io::{self, Write};

use crate::codecs::Compressor;
use crate::record::Record;
use crate::source::Codec;

/// Description of a format that can be written.
#[derive(Debug)]
pub struct OutputInfo {
    /// Name that [`OutputFormat::by_name`] takes. The reader uses the same name.
    pub name: &'static str,
    /// The properties of records that the format cannot hold.
    pub loses: &'static str,
    /// Endings of file names that select the format.
    pub endings: &'static [&'static str],
}

/// Writes records one after the other.
pub trait RecordWriter: Send {
    /// Writes a record. Returns false if the format does not have such requests; the record is then
    /// left out.
    ///
    /// # Errors
    /// The errors of the file.
    fn write(&mut self, record: &Record) -> io::Result<bool>;

    /// Completes the file. A file that is not finished is damaged.
    ///
    /// # Errors
    /// The errors of the file.
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
            /// All formats.
            pub const ALL: &[OutputFormat] = &[$(OutputFormat::$variant,)*];

            /// The description of the format.
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
    /// `t_us,op(R/W),offset_bytes,size_bytes,device`, and `placement` where a request names one.
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

    /// The format of the ending of a file name. Endings of codecs are ignored.
    #[must_use]
    pub fn by_file_name(name: &str) -> Option<OutputFormat> {
        let name = name.to_ascii_lowercase();
        let stem = Codec::by_file_name(&name)
            .and_then(|_| name.rsplit_once('.'))
            .map_or(name.as_str(), |(stem, _)| stem);
        let has = |ending: &&'static str| stem.ends_with(&format!(".{ending}"));
        OutputFormat::ALL.iter().copied().find(|format| format.info().endings.iter().any(has))
    }

    /// A writer to `out`, compressed by `codec`. In fio's logs, device n has the name `files[n]`,
    /// or `device` and its number if there is no such name.
    ///
    /// # Errors
    /// The errors of the file. Parquet is compressed inside, and refuses any codec but
    /// [`Codec::Plain`].
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
            OutputFormat::Csv => Box::new(csv::CsvWriter::new(out)),
            OutputFormat::FioV3 => Box::new(fio::FioWriter::new(out, 3, files)?),
            OutputFormat::FioV2 => Box::new(fio::FioWriter::new(out, 2, files)?),
            OutputFormat::Mqsim => Box::new(mqsim::MqsimWriter::new(out)),
            OutputFormat::Parquet => unreachable!("it was made above"),
        })
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
