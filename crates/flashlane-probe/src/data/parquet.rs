//! Requests and their times as a Parquet file.

use std::sync::Arc;

use bytes::Bytes;
use flashlane_engine::Time;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::Int64Type;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;

use super::Measured;
use crate::series::{Request, Timing};
use crate::target::Operation;

const SCHEMA: &str = "message requests {
    required int64 series; required int64 operation; required int64 offset_bytes;
    required int64 bytes; required int64 sent_ps; required int64 latency_ps;
}";

const OPERATIONS: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Trim];

/// All series of a probe, one below the other. `operation` is 0 for a read, 1 for a write, 2 for a
/// trim; `series` counts from 0.
pub(super) fn encode(measured: &[Measured]) -> Result<Vec<u8>, ParquetError> {
    let mut columns: [Vec<i64>; 6] = Default::default();
    for (series, one) in measured.iter().enumerate() {
        for (request, timing) in one.series.requests.iter().zip(&one.timings) {
            let operation = OPERATIONS.iter().position(|found| *found == request.operation);
            let row = [
                series as i64,
                operation.expect("all are listed") as i64,
                request.offset as i64,
                i64::from(request.bytes),
                timing.sent.0 as i64,
                timing.latency.0 as i64,
            ];
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
    }
    let mut bytes = Vec::new();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by("flashlane".to_owned())
        .build();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in &columns {
        let mut writer = group.next_column()?.expect("there are six columns");
        writer.typed::<Int64Type>().write_batch(column, None, None)?;
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

/// Requests and timings from a Parquet file that [`encode`] made.
pub(super) fn decode(bytes: Vec<u8>) -> Result<Vec<(Request, Timing)>, ParquetError> {
    let file = SerializedFileReader::new(Bytes::from(bytes))?;
    file.get_row_iter(None)?
        .map(|row| {
            let row = row?;
            let unknown = || ParquetError::General("an operation that does not exist".to_owned());
            let operation = usize::try_from(row.get_long(1)?).ok();
            let operation = operation.and_then(|at| OPERATIONS.get(at)).ok_or_else(unknown)?;
            let number = |column| row.get_long(column).map(|value| value as u64);
            let (offset, bytes) = (number(2)?, number(3)? as u32);
            let request = Request { operation: *operation, offset, bytes };
            let timing = Timing { sent: Time(number(4)?), latency: Time(number(5)?) };
            Ok((request, timing))
        })
        .collect()
}
