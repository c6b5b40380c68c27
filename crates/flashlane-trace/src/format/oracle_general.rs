//! libCacheSim's oracleGeneral traces.
//!
//! Source: libCacheSim's documentation: little-endian records of 24 bytes without a header: time
//! u32 (seconds), object u64, size u32 (bytes), next access i64 (not read). Such traces are of
//! caches, so that much is reconstructed: every request is a **read**, and the object is taken for
//! an address in 512-byte sectors (`size_unit` names another unit), which suits those made from
//! block traces. All requests of a second carry the same time. Nothing in the file tells the
//! format.

use std::path::Path;

use super::five_columns::range;
use super::{Entry, FormatInfo, RecordParser};
use crate::error::TraceError;
use crate::lines::LineReader;
use crate::options::Reading;
use crate::record::Op;
use crate::units::{SpaceUnit, TimeUnit};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "oracle-general",
    description: "binary records of libCacheSim: time u32 (s), object u64, size u32, next access i64",
    example: "time in s, object (a sector), size in bytes, next access",
    time_unit: TimeUnit::Seconds,
    fixed_clock: false,
    size_unit: Some(SpaceUnit::Sectors),
    ..FormatInfo::PLAIN
};

/// Size of a record. Unit: bytes.
const RECORD_BYTES: usize = 24;

pub(super) struct OracleGeneral {
    reading: Reading,
    /// Object and size of the last record.
    last: (u64, u64),
}

#[expect(clippy::unnecessary_wraps, reason = "the parsers of binary formats are made alike")]
pub(super) fn parser(reading: &Reading, _: &Path) -> Result<OracleGeneral, TraceError> {
    Ok(OracleGeneral { reading: *reading, last: (0, 0) })
}

impl RecordParser for OracleGeneral {
    fn next(&mut self, input: &mut LineReader) -> Result<Option<Entry>, TraceError> {
        let Some(record) = input.record(RECORD_BYTES)? else { return Ok(None) };
        let small = |at: usize| {
            u32::from_le_bytes(*record[at..].first_chunk().expect("it lies in the record"))
        };
        let object = u64::from_le_bytes(*record[4..].first_chunk().expect("it lies in the record"));
        let (time, size) = (small(0), u64::from(small(12)));
        self.last = (object, size);
        let time_ps = u128::from(time) * u128::from(self.reading.time_unit.picoseconds());
        let op = Op::Read;
        let range = range(op, object, size, self.reading.size_unit.bytes(), 1);
        Ok(Some(Entry::of(time_ps, op, range)))
    }

    fn shown(&self) -> String {
        format!("object {} size {}", self.last.0, self.last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{TempTrace, message, read};
    use crate::{Format, TraceOptions, detect};

    fn record(time: u32, object: u64, size: u32) -> Vec<u8> {
        let mut out = time.to_le_bytes().to_vec();
        out.extend(object.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend((-1_i64).to_le_bytes());
        out
    }

    #[test]
    fn objects_are_sectors_unless_told_otherwise() {
        let file = [record(5, 8, 4096), record(7, 16, 512)].concat();
        let options = TraceOptions::new(Format::OracleGeneral);
        let found = read(&file, &options).expect("a trace");
        assert_eq!((found[1].time_ps, found[1].op), (2_000_000_000_000, Op::Read));
        assert_eq!((found[1].offset_bytes, found[1].length_bytes), (8192, 512));
        let bytes = TraceOptions { size_unit: Some(SpaceUnit::Bytes), ..options };
        assert_eq!(read(&file, &bytes).expect("a trace")[1].offset_bytes, 16);
        assert_eq!(detect(TempTrace::new(&file).path()).expect("readable"), None);
    }

    #[test]
    fn damage_is_named_with_its_record() {
        let options =
            TraceOptions { max_rejected_fraction: 0.5, ..TraceOptions::new(Format::OracleGeneral) };
        let good = record(1, 1, 512);
        let cut = message(read([&good[..], &good[..23]].concat(), &options));
        assert!(cut.contains("record 2: found the end of the file after 23 bytes of 24"), "{cut}");
        let hashed = message(read(record(1, u64::MAX, 512), &options));
        assert!(hashed.contains("record 1: number too large in `object 18446744073709551615"));
        assert!(message(read(b"", &options)).contains("found no record in"));
    }
}
