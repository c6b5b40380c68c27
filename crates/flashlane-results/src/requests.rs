//! `requests.parquet`: a row for every request.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

use flashlane::Error;
use flashlane::observe::{RequestBatch, RequestRecord, RequestSink};
use flashlane::workload::RequestOp;
use parquet::errors::ParquetError;

use crate::background::Background;
use crate::chunk::Chunk;
use crate::columns::{Column, Kind, TableWriter};
use crate::encode::Dictionary;

/// Most vectors of records that wait for the writer; beyond that, the simulation waits.
const WAITING_MAX: usize = 16;

/// Rows of a group; the last one of a file may have fewer.
const GROUP_ROWS: usize = 1 << 16;

/// Columns of the file. `docs/results.md` explains them.
const COLUMNS: [Column; 18] = [
    ("flow", Kind::Name),
    ("op", Kind::Name),
    ("offset_bytes", Kind::Integer),
    ("bytes", Kind::Integer),
    ("counted", Kind::Flag),
    ("pages", Kind::Integer),
    ("arrival_ps", Kind::Integer),
    ("submit_ps", Kind::Integer),
    ("complete_ps", Kind::Integer),
    ("submission_ps", Kind::Integer),
    ("transfer_in_ps", Kind::Integer),
    ("firmware_ps", Kind::Integer),
    ("cache_ps", Kind::Integer),
    ("mapping_ps", Kind::Integer),
    ("flash_queue_ps", Kind::Integer),
    ("flash_bus_ps", Kind::Integer),
    ("flash_array_ps", Kind::Integer),
    ("transfer_out_ps", Kind::Integer),
];

/// Writes the records of a run to a file, on a separate thread.
#[derive(Debug)]
pub struct RequestFile {
    writer: Background<RequestRecord>,
    /// Vectors whose records were written, for reuse.
    spent: Receiver<Vec<RequestRecord>>,
}

impl RequestFile {
    /// Starts to write. `flows`: names in the order of the workload.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn create(file: File, flows: &[String]) -> Result<Self, Error> {
        let names = flows.to_vec();
        let (empty, spent) = channel();
        let write = move |received: &_| write(file, &names, received, &empty);
        Ok(Self { writer: Background::start("requests.parquet", WAITING_MAX, write)?, spent })
    }

    /// Waits until all records are written.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.writer.finish()
    }
}

impl RequestSink for RequestFile {
    fn take(&mut self, records: &mut Vec<RequestRecord>) -> Result<(), Error> {
        let next = self.spent.try_recv().unwrap_or_else(|_| Vec::with_capacity(records.len()));
        self.writer.send(std::mem::replace(records, next))
    }
}

/// The work of the thread: gathers groups of rows and writes them until no more come.
fn write(
    file: File,
    names: &[String],
    received: &Receiver<Vec<RequestRecord>>,
    empty: &Sender<Vec<RequestRecord>>,
) -> Result<(), ParquetError> {
    let mut table = TableWriter::new(BufWriter::new(file), &COLUMNS, &[])?;
    let mut rows = RequestBatch::default();
    let mut dictionary = Dictionary::default();
    for mut records in received {
        let mut left = &records[..];
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(GROUP_ROWS - rows.len()));
            rows.extend(now);
            left = later;
            if rows.len() == GROUP_ROWS {
                table.made_group(chunks(&rows, names, &mut dictionary))?;
                rows.clear();
            }
        }
        records.clear();
        // The other end is gone when the run is over.
        let _ = empty.send(records);
    }
    if !rows.is_empty() {
        table.made_group(chunks(&rows, names, &mut dictionary))?;
    }
    let mut out = table.end()?;
    out.flush()?;
    Ok(())
}

/// The columns of a group of rows.
fn chunks(rows: &RequestBatch, names: &[String], dictionary: &mut Dictionary) -> [Chunk; 18] {
    let ops: Vec<u16> = rows.op.iter().map(|&op| op as u16).collect();
    // A file names the commands of zones only where it has some.
    let names_of_ops = match ops.iter().all(|&op| op <= RequestOp::Flush as u16) {
        true => &RequestOp::ALL[..=RequestOp::Flush as usize],
        false => &RequestOp::ALL[..],
    };
    let pages: Vec<u64> = rows.pages.iter().map(|&pages| u64::from(pages)).collect();
    let mut integers = |column: &[u64]| Chunk::integers(column, dictionary);
    [
        Chunk::names(&rows.flow, names.iter().map(String::as_str)),
        Chunk::names(&ops, names_of_ops.iter().map(|op| op.name())),
        integers(&rows.offset_bytes),
        integers(&rows.bytes),
        Chunk::flags(&rows.counted),
        integers(&pages),
        integers(&rows.arrival_ps),
        integers(&rows.submit_ps),
        integers(&rows.complete_ps),
        integers(&rows.submission_ps),
        integers(&rows.transfer_in_ps),
        integers(&rows.firmware_ps),
        integers(&rows.cache_ps),
        integers(&rows.mapping_ps),
        integers(&rows.flash_queue_ps),
        integers(&rows.flash_bus_ps),
        integers(&rows.flash_array_ps),
        integers(&rows.transfer_out_ps),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn records(rows: u64, op: RequestOp) -> Vec<RequestRecord> {
        let record = |row| RequestRecord {
            flow: (row % 2) as u16,
            op,
            counted: row > 0,
            pages: 2,
            offset_bytes: row * 1_000,
            bytes: row * 1_000,
            arrival_ps: row * 1_000,
            submit_ps: row * row,
            complete_ps: row * row + 45,
            submission_ps: 1,
            transfer_in_ps: 2,
            firmware_ps: 3,
            cache_ps: 4,
            mapping_ps: 5,
            flash_queue_ps: 6,
            flash_bus_ps: 7,
            flash_array_ps: 8,
            transfer_out_ps: 9,
        };
        (0..rows).map(record).collect()
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let file = tempfile::tempfile().unwrap();
        let flows = ["one".to_owned(), "two".to_owned()];
        let mut writer = RequestFile::create(file.try_clone().unwrap(), &flows).unwrap();
        // The second vector is split between the first group of rows and the second one.
        let first = GROUP_ROWS as u64 - 3;
        let mut vector = records(first, RequestOp::Read);
        writer.take(&mut vector).unwrap();
        writer.take(&mut records(5, RequestOp::Trim)).unwrap();
        writer.finish().unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len() as u64, first + 5);
        for (row, (read, index)) in
            rows.iter().zip((0..first).map(|row| (true, row)).chain((0..5).map(|row| (false, row))))
        {
            let names = [row.get_string(0).unwrap().as_str(), row.get_string(1).unwrap().as_str()];
            let (flow, op) =
                (["one", "two"][index as usize % 2], if read { "read" } else { "trim" });
            assert_eq!(names, [flow, op]);
            assert_eq!(row.get_bool(4).unwrap(), index > 0);
            let numbers = [2, 5, 6, 7].map(|column| row.get_long(column).unwrap() as u64);
            assert_eq!(numbers, [index * 1_000, 2, index * 1_000, index * index]);
            let stages: i64 = (9..18).map(|column| row.get_long(column).unwrap()).sum();
            assert_eq!(stages, row.get_long(8).unwrap() - row.get_long(7).unwrap());
        }
    }

    #[test]
    fn a_full_disk_ends_the_run_with_an_error() {
        // Writes to a file that was opened for reading fail.
        let path = tempfile::NamedTempFile::new().unwrap();
        let file = File::open(path.path()).unwrap();
        let mut writer = RequestFile::create(file, &["one".to_owned(), "two".to_owned()]).unwrap();
        let error = (0..64).find_map(|_| writer.take(&mut records(1 << 16, RequestOp::Read)).err());
        let error = error.or_else(|| writer.finish().err()).expect("it cannot be written");
        assert!(error.to_string().contains("requests.parquet: cannot be written"), "{error}");
        assert_eq!(error.exit_status(), 2);
    }
}
