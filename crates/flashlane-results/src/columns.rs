//! Parquet files written column by column, one group of rows at a time.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{
    Compression, ConvertedType, Encoding, Repetition, Type as Physical, ZstdLevel,
};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole numbers, none missing, mostly the same few.
    Integer,
    /// Whole numbers, none missing, that grow or differ from row to row.
    Time,
    /// Whole numbers, of which some are missing.
    OptionalInteger,
    /// Numbers, of which some are missing.
    OptionalNumber,
    /// True or false.
    Flag,
    /// Few different names, none missing.
    Name,
    /// Few different names, of which some are missing.
    OptionalName,
}

/// Name and kind of a column.
pub(crate) type Column = (&'static str, Kind);

/// Values of a column in a group of rows.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Integer(Vec<i64>),
    OptionalInteger(Vec<Option<i64>>),
    OptionalNumber(Vec<Option<f64>>),
    Flag(Vec<bool>),
    Name(Vec<ByteArray>),
    OptionalName(Vec<Option<ByteArray>>),
}

impl Values {
    /// Times or counts; none exceeds 2^63.
    pub(crate) fn of(values: &[u64]) -> Self {
        Self::Integer(values.iter().map(|&value| value as i64).collect())
    }
}

/// Writes a table.
pub(crate) struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file. `about` is kept in it as key and value.
    pub(crate) fn new(
        out: W,
        columns: &[Column],
        about: &[(&str, String)],
    ) -> Result<Self, ParquetError> {
        let mut fields = Vec::new();
        let level = ZstdLevel::try_new(1)?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(format!("flashlane {}", env!("CARGO_PKG_VERSION")))
            // Half of the work, for what nobody looks up.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false)
            .set_key_value_metadata(Some(
                about
                    .iter()
                    .map(|(key, value)| {
                        parquet::file::metadata::KeyValue::new((*key).to_owned(), value.clone())
                    })
                    .collect(),
            ));
        for &(name, kind) in columns {
            let path = || ColumnPath::from(name);
            let (physical, repetition) = match kind {
                Kind::Integer | Kind::Time => (Physical::INT64, Repetition::REQUIRED),
                Kind::OptionalInteger => (Physical::INT64, Repetition::OPTIONAL),
                Kind::OptionalNumber => (Physical::DOUBLE, Repetition::OPTIONAL),
                Kind::Flag => (Physical::BOOLEAN, Repetition::REQUIRED),
                Kind::Name => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
                Kind::OptionalName => (Physical::BYTE_ARRAY, Repetition::OPTIONAL),
            };
            let mut field =
                Type::primitive_type_builder(name, physical).with_repetition(repetition);
            properties = match kind {
                // Differences are small, and compress no further.
                Kind::Time => properties
                    .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
                    .set_column_compression(path(), Compression::UNCOMPRESSED),
                Kind::Name | Kind::OptionalName => {
                    field = field.with_converted_type(ConvertedType::UTF8);
                    properties.set_column_dictionary_enabled(path(), true)
                }
                _ => properties,
            };
            fields.push(Arc::new(field.build()?));
        }
        let schema = Type::group_type_builder("flashlane").with_fields(fields).build()?;
        let properties = Arc::new(properties.build());
        Ok(Self { file: SerializedFileWriter::new(out, Arc::new(schema), properties)? })
    }

    /// Writes a group of rows: the values of every column, in order.
    pub(crate) fn group(&mut self, columns: &[Values]) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for values in columns {
            let mut writer = group.next_column()?.expect("a column for all values");
            match values {
                Values::Integer(values) => {
                    writer.typed::<Int64Type>().write_batch(values, None, None)?;
                }
                Values::OptionalInteger(values) => {
                    let (values, levels) = present(values);
                    writer.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
                }
                Values::OptionalNumber(values) => {
                    let (values, levels) = present(values);
                    writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
                Values::Flag(values) => {
                    writer.typed::<BoolType>().write_batch(values, None, None)?;
                }
                Values::Name(values) => {
                    writer.typed::<ByteArrayType>().write_batch(values, None, None)?;
                }
                Values::OptionalName(values) => {
                    let (values, levels) = present(values);
                    writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn end(self) -> Result<W, ParquetError> {
        self.file.into_inner()
    }
}

/// The values that are not missing, and which these are.
fn present<T: Clone>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.iter().flatten().cloned().collect(), levels)
}
