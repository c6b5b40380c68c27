//! Parquet files written column by column, one group of rows at a time.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use crate::chunk::Chunk;

/// Kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole numbers, none missing.
    Integer,
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

/// Values of a column in a group of rows, some of which are missing.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Names(Vec<Option<ByteArray>>),
}

/// Writes a table.
pub(crate) struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file. `about`: a key with its value, which is stored in the file.
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
            // Statistics would be half of the work, and no reader uses them.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false)
            .set_key_value_metadata(Some(
                about
                    .iter()
                    .map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()))
                    .collect(),
            ));
        for &(name, kind) in columns {
            let path = ColumnPath::from(name);
            let (physical, repetition) = match kind {
                Kind::Integer => (Physical::INT64, Repetition::REQUIRED),
                Kind::OptionalInteger => (Physical::INT64, Repetition::OPTIONAL),
                Kind::OptionalNumber => (Physical::DOUBLE, Repetition::OPTIONAL),
                Kind::Flag => (Physical::BOOLEAN, Repetition::REQUIRED),
                Kind::Name => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
                Kind::OptionalName => (Physical::BYTE_ARRAY, Repetition::OPTIONAL),
            };
            let mut field =
                Type::primitive_type_builder(name, physical).with_repetition(repetition);
            if matches!(kind, Kind::Name | Kind::OptionalName) {
                field = field.with_converted_type(ConvertedType::UTF8);
                properties = properties.set_column_dictionary_enabled(path, true);
            }
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
                Values::Integers(values) => {
                    let (values, levels) = present(values);
                    writer.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
                }
                Values::Numbers(values) => {
                    let (values, levels) = present(values);
                    writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
                Values::Names(values) => {
                    let (values, levels) = present(values);
                    writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes a group of rows from finished columns, in order.
    pub(crate) fn made_group(
        &mut self,
        columns: impl IntoIterator<Item = Chunk>,
    ) -> Result<(), ParquetError> {
        let about: Vec<_> = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group()?;
        for (chunk, about) in columns.into_iter().zip(about) {
            chunk.append_to(&mut group, about)?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn end(self) -> Result<W, ParquetError> {
        self.file.into_inner()
    }
}

/// The values that are not missing, and a flag for each value.
fn present<T: Clone>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.iter().flatten().cloned().collect(), levels)
}
