//! `arrivals.parquet`: the commands that the clients of a served drive sent, in the order in which
//! they entered the drive. The columns are those of a trace, so that readers of traces read the
//! file too.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::Receiver;

use flashlane::Error;
use flashlane::drive::{Command, Operation};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};

use crate::background::Background;
use crate::columns::{Column, Kind, TableWriter, Values};

/// Most vectors of rows that wait for the writer; beyond that, the server waits.
const WAITING_MAX: usize = 64;

/// Rows of a group; the last one of a file may have fewer.
const GROUP_ROWS: usize = 1 << 16;

/// Unit: bytes.
const SECTOR_BYTES: u64 = 512;

/// Columns of the file. `docs/serve.md` explains them. The reader knows them by these names.
const COLUMNS: [Column; 8] = [
    ("t_ps", Kind::Integer),
    ("op", Kind::Name),
    ("offset_bytes", Kind::Integer),
    ("length_bytes", Kind::Integer),
    ("device", Kind::Integer),
    ("tenant", Kind::Name),
    ("complete_ps", Kind::OptionalInteger),
    (PLACEMENT, Kind::OptionalInteger),
];

/// The column of placement identifiers. Files of earlier versions lack it.
const PLACEMENT: &str = "placement";

/// The key under which the file keeps the seed of the drive.
const SEED: &str = "flashlane.seed";

/// The operations by their names.
const OPS: [(&str, Operation); 4] = [
    ("read", Operation::Read),
    ("write", Operation::Write),
    ("trim", Operation::Trim),
    ("flush", Operation::Flush),
];

/// A command that entered the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRow {
    /// Time at which the command entered, after all events up to and including this time. Unit:
    /// picoseconds.
    pub at_ps: u64,
    /// The tenant, as an index into the workload.
    pub tenant: usize,
    /// The command.
    pub command: Command,
    /// Time at which the host saw the completion; `None` if the server ended before. Unit:
    /// picoseconds.
    pub complete_ps: Option<u64>,
}

/// Writes commands to a file, on a separate thread.
#[derive(Debug)]
pub struct ArrivalFile(Background<ArrivalRow>);

impl ArrivalFile {
    /// Starts to write. `tenants`: names in the order of the workload.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn create(file: File, tenants: &[String], seed: u64) -> Result<Self, Error> {
        let names = tenants.to_vec();
        let write = move |received: &_| write(file, &names, seed, received);
        Background::start("arrivals.parquet", WAITING_MAX, write).map(Self)
    }

    /// Takes the next rows of the file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn take(&mut self, rows: Vec<ArrivalRow>) -> Result<(), Error> {
        self.0.send(rows)
    }

    /// Waits until all rows are written.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.0.finish()
    }
}

/// The work of the thread: gathers groups of rows and writes them until no more come.
fn write(
    file: File,
    names: &[String],
    seed: u64,
    received: &Receiver<Vec<ArrivalRow>>,
) -> Result<(), ParquetError> {
    let about = [(SEED, seed.to_string())];
    let mut table = TableWriter::new(BufWriter::new(file), &COLUMNS, &about)?;
    let names: Vec<ByteArray> = names.iter().map(|name| name.as_str().into()).collect();
    let mut rows: Vec<ArrivalRow> = Vec::with_capacity(GROUP_ROWS);
    for more in received {
        rows.extend(more);
        while rows.len() >= GROUP_ROWS {
            table.group(&group(&rows[..GROUP_ROWS], &names))?;
            rows.drain(..GROUP_ROWS);
        }
    }
    if !rows.is_empty() {
        table.group(&group(&rows, &names))?;
    }
    let mut out = table.end()?;
    out.flush()?;
    Ok(())
}

/// The columns of a group of rows.
fn group(rows: &[ArrivalRow], names: &[ByteArray]) -> [Values; 8] {
    let integers = |value: &dyn Fn(&ArrivalRow) -> Option<u64>| {
        Values::Integers(rows.iter().map(|row| value(row).map(|value| value as i64)).collect())
    };
    let ops = OPS.map(|(name, _)| ByteArray::from(name));
    // No drive accepts a command of a zone, so that none enters.
    let op = |row: &ArrivalRow| {
        let place = OPS.iter().position(|(_, operation)| *operation == row.command.operation);
        place.map(|place| ops[place].clone())
    };
    [
        integers(&|row| Some(row.at_ps)),
        Values::Names(rows.iter().map(op).collect()),
        integers(&|row| Some(row.command.sector * SECTOR_BYTES)),
        integers(&|row| Some(u64::from(row.command.sectors) * SECTOR_BYTES)),
        integers(&|row| Some(row.tenant as u64)),
        Values::Names(rows.iter().map(|row| names.get(row.tenant).cloned()).collect()),
        integers(&|row| row.complete_ps),
        integers(&|row| row.command.placement.map(u64::from)),
    ]
}

/// Reads the rows of a file in order.
pub struct Arrivals {
    place: String,
    seed: Option<u64>,
    rows: RowIter<'static>,
    count: u64,
    last_ps: u64,
}

impl Arrivals {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if it cannot be read, or is not a recording.
    pub fn open(path: &Path) -> Result<Self, Error> {
        const ALLOWED: &str = "allowed: arrivals.parquet of `flashlane serve --record`";
        let place = path.display().to_string();
        let refuse = |message: String| Error::config(place.clone(), message);
        let file = File::open(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let reader = SerializedFileReader::new(file)
            .map_err(|error| refuse(format!("found no Parquet ({error}), {ALLOWED}")))?;
        let about = reader.metadata().file_metadata();
        let columns = about.schema_descr();
        let found: Vec<&str> = columns.columns().iter().map(|column| column.name()).collect();
        let lacking = |(name, _): &&Column| *name != PLACEMENT && !found.contains(name);
        if let Some((name, _)) = COLUMNS.iter().find(lacking) {
            let message = format!("found no column `{name}`, {ALLOWED}");
            return Err(refuse(message));
        }
        let pairs = about.key_value_metadata();
        let seed = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == SEED));
        let seed = seed.and_then(|pair| pair.value.as_ref()?.parse().ok());
        Ok(Self { place, seed, rows: reader.into_iter(), count: 0, last_ps: 0 })
    }

    /// The seed of the drive that was recorded.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a row that is not one of a recording.
    pub fn next_row(&mut self) -> Result<Option<ArrivalRow>, Error> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        self.count += 1;
        let place = format!("{}: row {}", self.place, self.count);
        let refuse = |message: String| Error::config(place.clone(), message);
        let row = row.map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let row = arrival(&row).map_err(refuse)?;
        if row.at_ps < self.last_ps {
            let message = format!("t_ps: found {}, allowed: from {} on", row.at_ps, self.last_ps);
            return Err(Error::config(place, message));
        }
        self.last_ps = row.at_ps;
        Ok(Some(row))
    }
}

/// A row of the file as a command.
fn arrival(row: &Row) -> Result<ArrivalRow, String> {
    let field = |name: &str| {
        let found = row.get_column_iter().find(|(column, _)| *column == name);
        found.map(|(_, field)| field).ok_or_else(|| format!("found no column `{name}`"))
    };
    let number = |name: &str| match field(name)? {
        Field::Long(value) if *value >= 0 => Ok(*value as u64),
        other => Err(format!("{name}: found {other}, allowed: a whole number from 0 on")),
    };
    let sectors = |name: &str| {
        let bytes = number(name)?;
        match bytes % SECTOR_BYTES {
            0 => Ok(bytes / SECTOR_BYTES),
            _ => Err(format!("{name}: found {bytes}, allowed: multiples of {SECTOR_BYTES}")),
        }
    };
    let op = field("op")?;
    let named = |(name, _): &&(&str, Operation)| matches!(op, Field::Str(op) if op == name);
    let operation = OPS.iter().find(named).map(|(_, operation)| *operation);
    let operation =
        operation.ok_or_else(|| format!("op: found {op}, allowed: read, write, trim, flush"))?;
    let length = sectors("length_bytes")?;
    let length = u32::try_from(length)
        .map_err(|_| format!("length_bytes: found {length} sectors, allowed: below 2^32"))?;
    let complete_ps = match field("complete_ps")? {
        Field::Null => None,
        _ => Some(number("complete_ps")?),
    };
    let placement = match field(PLACEMENT) {
        Err(_) | Ok(Field::Null) => None,
        Ok(_) => Some(number(PLACEMENT)?),
    };
    let placement = placement.map(u16::try_from).transpose();
    let placement = placement.map_err(|_| "placement: allowed: below 65536".to_owned())?;
    let command = Command::new(operation, sectors("offset_bytes")?, length);
    Ok(ArrivalRow {
        at_ps: number("t_ps")?,
        tenant: number("device")? as usize,
        command: Command { placement, ..command },
        complete_ps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: u64) -> Vec<ArrivalRow> {
        let commands = [
            Command::read(1 << 30, 8),
            Command { placement: Some(5), ..Command::write(3, 1) },
            Command::new(Operation::Trim, 16, 8_388_608),
            Command::flush(),
        ];
        let row = |index: u64| ArrivalRow {
            at_ps: index * 1_001,
            tenant: (index % 3) as usize,
            command: commands[index as usize % 4],
            complete_ps: (!index.is_multiple_of(5)).then_some(index * 1_001 + 7),
        };
        (0..count).map(row).collect()
    }

    fn written(rows: &[ArrivalRow]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let names = ["a", "b", "c"].map(str::to_owned);
        let mut out = ArrivalFile::create(file.reopen().unwrap(), &names, 7).unwrap();
        for piece in rows.chunks(1000) {
            out.take(piece.to_vec()).unwrap();
        }
        out.finish().unwrap();
        file
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let rows = rows(GROUP_ROWS as u64 + 1_234);
        let file = written(&rows);
        let mut arrivals = Arrivals::open(file.path()).unwrap();
        assert_eq!(arrivals.seed(), Some(7));
        for row in rows {
            assert_eq!(arrivals.next_row().unwrap(), Some(row));
        }
        assert_eq!(arrivals.next_row().unwrap(), None);
    }

    #[test]
    fn other_files_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no table").unwrap();
        let error = Arrivals::open(file.path()).err().expect("it is refused").to_string();
        assert!(error.contains("found no Parquet"), "{error}");
        let gone = Arrivals::open(&file.path().join("gone")).err().expect("it is refused");
        assert!(gone.to_string().contains("cannot be read"), "{gone}");
        let back = written(&[rows(3)[2], rows(3)[1]]);
        let mut arrivals = Arrivals::open(back.path()).unwrap();
        arrivals.next_row().unwrap();
        let error = arrivals.next_row().expect_err("time steps back").to_string();
        assert!(error.contains("row 2: t_ps: found 1001, allowed: from 2002 on"), "{error}");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        // Writes to a file that was opened for reading fail.
        let path = tempfile::NamedTempFile::new().unwrap();
        let file = File::open(path.path()).unwrap();
        let mut out = ArrivalFile::create(file, &["a".to_owned()], 1).unwrap();
        let tried = out.take(vec![rows(1)[0]]).and_then(|()| out.finish());
        let error = tried.expect_err("it cannot be written");
        assert!(error.to_string().contains("arrivals.parquet: cannot be written"), "{error}");
    }
}
