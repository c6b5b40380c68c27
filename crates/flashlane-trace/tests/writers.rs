//! Reads back the files that writers write.

use std::io::Write;

use flashlane_trace::{Codec, Format, Op, OutputFormat, Record, TraceOptions, TraceReader};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tempfile::NamedTempFile;

const CODECS: [Codec; 5] = [Codec::Plain, Codec::Gzip, Codec::Zstd, Codec::Xz, Codec::Bzip2];

/// Records in order of time, the first at 0; `unit_ps` is what the format can tell apart.
fn records(unit_ps: u64) -> impl Strategy<Value = Vec<Record>> {
    let op = select(vec![Op::Read, Op::Write, Op::Trim, Op::Flush]);
    let record = (0..10_u64.pow(7), op, 0..1_u64 << 50, 1..1_u64 << 40, 0..5_u32);
    vec(record, 1..60).prop_map(move |drawn| {
        let mut now = 0;
        let mut record = |(index, (gap, op, offset, length, device))| {
            now += if index == 0 { 0 } else { gap * unit_ps };
            let is_flush = op == Op::Flush;
            let (offset_bytes, length_bytes) =
                if is_flush { (0, 0) } else { (offset * 512, length * 512) };
            Record { time_ps: now, op, offset_bytes, length_bytes, device, placement: None }
        };
        drawn.into_iter().enumerate().map(&mut record).collect()
    })
}

/// As [`records`]; in some traces requests have placement identifiers, from some request on.
fn placed_records(unit_ps: u64) -> impl Strategy<Value = Vec<Record>> {
    let ids = prop_oneof![Just(None), (0..=Record::PLACEMENT_MAX).prop_map(Some)];
    (records(unit_ps), vec(ids, 60), 0..90_usize).prop_map(|(mut records, ids, from)| {
        for (record, id) in records.iter_mut().zip(ids).skip(from) {
            record.placement = id;
        }
        records
    })
}

/// Writes the records; returns the file and those that the format has.
fn written(format: OutputFormat, codec: Codec, records: &[Record]) -> (NamedTempFile, Vec<Record>) {
    let mut file = NamedTempFile::new().expect("room for a small file");
    let mut writer = format.writer(file.as_file_mut(), codec, &[]).expect("a writer");
    let kept =
        records.iter().filter(|record| writer.write(record).expect("room")).copied().collect();
    writer.finish().expect("room");
    (file, kept)
}

fn read(file: &NamedTempFile, format: &str) -> Vec<Record> {
    let format = Format::by_name(format).expect("a format");
    let reader = TraceReader::open(file.path(), &TraceOptions::new(format)).expect("a trace");
    reader.map(|record| record.expect("a record")).collect()
}

/// Devices by the order in which they appear.
fn renumbered(records: &[Record]) -> Vec<Record> {
    let mut seen = Vec::new();
    let number = |record: &Record| {
        let known = seen.iter().position(|device| *device == record.device);
        let device = known.unwrap_or_else(|| {
            seen.push(record.device);
            seen.len() - 1
        });
        Record { device: device as u32, ..*record }
    };
    records.iter().map(number).collect()
}

/// Times from the first record on.
fn rebased(mut records: Vec<Record>) -> Vec<Record> {
    let first = records.first().map_or(0, |record| record.time_ps);
    records.iter_mut().for_each(|record| record.time_ps -= first);
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn csv_keeps_everything(records in placed_records(1), codec in select(CODECS.to_vec())) {
        let (file, kept) = written(OutputFormat::Csv, codec, &records);
        prop_assert_eq!(&kept, &records);
        prop_assert_eq!(read(&file, "csv"), records);
    }

    #[test]
    fn parquet_keeps_nanoseconds(records in placed_records(1_000)) {
        let (file, kept) = written(OutputFormat::Parquet, Codec::Plain, &records);
        prop_assert_eq!(&kept, &records);
        prop_assert_eq!(read(&file, "parquet"), records);
    }

    #[test]
    fn iologs_keep_microseconds_and_milliseconds(
        fine in records(1_000_000),
        coarse in records(1_000_000_000),
        codec in select(CODECS.to_vec()),
    ) {
        for (format, records) in [(OutputFormat::FioV3, fine), (OutputFormat::FioV2, coarse)] {
            let (file, kept) = written(format, codec, &records);
            prop_assert_eq!(&kept, &records);
            prop_assert_eq!(read(&file, format.info().name), renumbered(&records));
        }
    }

    #[test]
    fn mqsim_keeps_reads_and_writes(records in records(1_000), codec in select(CODECS.to_vec())) {
        let (file, kept) = written(OutputFormat::Mqsim, codec, &records);
        let has = |record: &&Record| matches!(record.op, Op::Read | Op::Write);
        prop_assert_eq!(&kept, &records.iter().filter(has).copied().collect::<Vec<_>>());
        if !kept.is_empty() {
            prop_assert_eq!(read(&file, "mqsim"), rebased(kept));
        }
    }
}

#[test]
fn csv_names_a_column_of_placement_identifiers_once_there_are_some() {
    let record = Record { op: Op::Write, ..ONE };
    let placed = Record { placement: Some(3), ..record };
    let text = |records: &[Record]| {
        let (file, _) = written(OutputFormat::Csv, Codec::Plain, records);
        std::fs::read_to_string(file.path()).expect("a text")
    };
    let plain = "# t_us,op(R/W),offset_bytes,size_bytes,device\n";
    let named = "# t_us,op(R/W),offset_bytes,size_bytes,device,placement\n";
    let line = "0.000,W,0,512,0";
    assert_eq!(text(&[]), plain);
    assert_eq!(text(&[record, record]), format!("{plain}{line}\n{line}\n"));
    assert_eq!(text(&[placed, record]), format!("{named}{line},3\n{line},\n"));
    let later = format!("{plain}{line}\n{named}{line},3\n{line},\n");
    assert_eq!(text(&[record, placed, record]), later);
}

const ONE: Record = Record {
    time_ps: 0,
    op: Op::Read,
    offset_bytes: 0,
    length_bytes: 512,
    device: 0,
    placement: None,
};

#[test]
fn written_files_describe_themselves() {
    let record = Record { offset_bytes: 1, length_bytes: 1000, device: 7, ..ONE };
    for format in OutputFormat::ALL {
        let (file, _) = written(*format, Codec::Plain, &[record]);
        let found = flashlane_trace::detect(file.path()).expect("readable");
        let expected = match format {
            // Five bare columns.
            OutputFormat::Mqsim => None,
            other => Some(other.info().name),
        };
        assert_eq!(found.map(|format| format.name()), expected);
    }
    let (file, _) = written(OutputFormat::Mqsim, Codec::Plain, &[record]);
    let widened = read(&file, "mqsim")[0];
    assert_eq!((widened.offset_bytes, widened.length_bytes), (0, 1024), "whole sectors");
}

#[test]
fn parquet_is_compressed_inside() {
    let refused = OutputFormat::Parquet.writer(Vec::new(), Codec::Gzip, &[]);
    assert!(refused.is_err_and(|error| error.to_string().contains("compressed inside")));
}

#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no room"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in OutputFormat::ALL {
        let result = format.writer(Full, Codec::Plain, &[]).and_then(|mut writer| {
            writer.write(&ONE)?;
            writer.finish()
        });
        assert!(result.is_err(), "{format:?}");
    }
}
