//! `requests.parquet`: a row for every request.

use std::fs::File;
use std::io::BufWriter;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use flashlane::Error;
use flashlane::observe::{RequestBatch, RequestSink};
use flashlane::workload::RequestOp;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;

use crate::columns::{Column, Kind, TableWriter, Values};

/// Batches that wait for the writer at most; the simulation waits beyond that.
const BATCHES_WAITING: usize = 4;

/// Columns of the file. `docs/results.md` says what they mean.
const COLUMNS: [Column; 18] = [
    ("flow", Kind::Name),
    ("op", Kind::Name),
    ("offset_bytes", Kind::Time),
    ("bytes", Kind::Integer),
    ("counted", Kind::Flag),
    ("pages", Kind::Integer),
    ("arrival_ps", Kind::Time),
    ("submit_ps", Kind::Time),
    ("complete_ps", Kind::Time),
    ("submission_ps", Kind::Integer),
    ("transfer_in_ps", Kind::Integer),
    ("firmware_ps", Kind::Integer),
    ("cache_ps", Kind::Integer),
    ("mapping_ps", Kind::Integer),
    ("flash_queue_ps", Kind::Time),
    ("flash_bus_ps", Kind::Integer),
    ("flash_array_ps", Kind::Integer),
    ("transfer_out_ps", Kind::Integer),
];

/// Writes the records of a run to a file, on a thread of its own, in groups of a batch each.
#[derive(Debug)]
pub struct RequestFile {
    batches: Option<SyncSender<RequestBatch>>,
    writer: Option<JoinHandle<Result<(), ParquetError>>>,
}

impl RequestFile {
    /// Starts to write. `flows`: names in the order of the workload.
    ///
    /// # Errors
    /// Without a thread to write on.
    pub fn create(file: File, flows: &[String]) -> Result<Self, Error> {
        let names: Vec<ByteArray> =
            flows.iter().map(|name| ByteArray::from(name.as_str())).collect();
        let (batches, received) = sync_channel::<RequestBatch>(BATCHES_WAITING);
        let write = move || {
            let mut table = TableWriter::new(BufWriter::new(file), &COLUMNS, &[])?;
            for batch in received {
                table.group(&values(&batch, &names))?;
            }
            let mut out = table.end()?;
            std::io::Write::flush(&mut out)?;
            Ok(())
        };
        let writer = std::thread::Builder::new().name("requests".to_owned()).spawn(write);
        let writer = writer.map_err(|error| failed(&error))?;
        Ok(Self { batches: Some(batches), writer: Some(writer) })
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.batches = None;
        match self.writer.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(failed(&error)),
            Some(Err(fault)) => std::panic::resume_unwind(fault),
        }
    }
}

fn failed(error: &dyn std::error::Error) -> Error {
    Error::Output(format!("requests.parquet: cannot be written: {error}"))
}

impl RequestSink for RequestFile {
    fn batch(&mut self, batch: RequestBatch) -> Result<(), Error> {
        let sent = self.batches.as_ref().is_some_and(|batches| batches.send(batch).is_ok());
        // A writer that takes no more has given up, and says why.
        if sent { Ok(()) } else { self.finish() }
    }
}

/// The columns of a batch.
fn values(batch: &RequestBatch, names: &[ByteArray]) -> [Values; 18] {
    let ops = ["read", "write", "trim", "flush"].map(ByteArray::from);
    let op = |op: &RequestOp| match op {
        RequestOp::Read => ops[0].clone(),
        RequestOp::Write => ops[1].clone(),
        RequestOp::Trim => ops[2].clone(),
        RequestOp::Flush => ops[3].clone(),
    };
    let flow = |&flow: &u16| names[flow as usize].clone();
    [
        Values::Name(batch.flow.iter().map(flow).collect()),
        Values::Name(batch.op.iter().map(op).collect()),
        Values::of(&batch.offset_bytes),
        Values::of(&batch.bytes),
        Values::Flag(batch.counted.clone()),
        Values::Integer(batch.pages.iter().map(|&pages| i64::from(pages)).collect()),
        Values::of(&batch.arrival_ps),
        Values::of(&batch.submit_ps),
        Values::of(&batch.complete_ps),
        Values::of(&batch.submission_ps),
        Values::of(&batch.transfer_in_ps),
        Values::of(&batch.firmware_ps),
        Values::of(&batch.cache_ps),
        Values::of(&batch.mapping_ps),
        Values::of(&batch.flash_queue_ps),
        Values::of(&batch.flash_bus_ps),
        Values::of(&batch.flash_array_ps),
        Values::of(&batch.transfer_out_ps),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn batch(rows: u64, op: RequestOp) -> RequestBatch {
        let times: Vec<u64> = (0..rows).map(|row| row * 1_000).collect();
        RequestBatch {
            flow: (0..rows).map(|row| (row % 2) as u16).collect(),
            op: vec![op; rows as usize],
            counted: (0..rows).map(|row| row > 0).collect(),
            pages: vec![2; rows as usize],
            offset_bytes: times.clone(),
            bytes: times.clone(),
            arrival_ps: times.clone(),
            submit_ps: times.clone(),
            complete_ps: times.iter().map(|time| time + 45).collect(),
            submission_ps: vec![1; rows as usize],
            transfer_in_ps: vec![2; rows as usize],
            firmware_ps: vec![3; rows as usize],
            cache_ps: vec![4; rows as usize],
            mapping_ps: vec![5; rows as usize],
            flash_queue_ps: vec![6; rows as usize],
            flash_bus_ps: vec![7; rows as usize],
            flash_array_ps: vec![8; rows as usize],
            transfer_out_ps: vec![9; rows as usize],
        }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let file = tempfile::tempfile().unwrap();
        let flows = ["one".to_owned(), "two".to_owned()];
        let mut writer = RequestFile::create(file.try_clone().unwrap(), &flows).unwrap();
        writer.batch(batch(5, RequestOp::Read)).unwrap();
        writer.batch(batch(3, RequestOp::Trim)).unwrap();
        writer.finish().unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 8);
        let row = &rows[6];
        assert_eq!(
            (row.get_string(0).unwrap().as_str(), row.get_string(1).unwrap().as_str()),
            ("two", "trim")
        );
        assert_eq!((row.get_long(2).unwrap(), row.get_bool(4).unwrap()), (1_000, true));
        let stages: i64 = (9..18).map(|column| row.get_long(column).unwrap()).sum();
        assert_eq!(stages, row.get_long(8).unwrap() - row.get_long(7).unwrap());
        assert!(!rows[5].get_bool(4).unwrap());
    }

    #[test]
    fn a_full_disk_ends_the_run_with_an_error() {
        // What is written to a file that was opened for reading fails.
        let path = tempfile::NamedTempFile::new().unwrap();
        let file = File::open(path.path()).unwrap();
        let mut writer = RequestFile::create(file, &["one".to_owned(), "two".to_owned()]).unwrap();
        let error = (0..64).find_map(|_| writer.batch(batch(1 << 16, RequestOp::Read)).err());
        let error = error.or_else(|| writer.finish().err()).expect("it cannot be written");
        assert!(error.to_string().contains("requests.parquet: cannot be written"), "{error}");
        assert_eq!(error.exit_status(), 2);
    }
}
