//! Tests of Parquet files; a round trip of our own is in `tests/writers.rs`.

use std::sync::Arc;

use parquet::data_type::{ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;
use crate::test_support::{TempTrace, message, read};
use crate::{Format, TraceOptions, TraceReader};

/// Columns of any order: float times, sectors, flows by name, one missing length.
fn file(schema: &str, times: &[f64]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let names: Vec<String> = schema.get_fields().iter().map(|f| f.name().to_owned()).collect();
    let mut names = names.iter();
    let mut out = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut out, schema, properties).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    let rows = times.len();
    let texts = |of: fn(usize) -> &'static str| -> Vec<ByteArray> {
        (0..rows).map(|row| ByteArray::from(of(row))).collect()
    };
    let mut lengths: Vec<i64> = vec![4096; rows];
    lengths.pop();
    let mut levels = vec![1; rows];
    levels[1] = 0;
    while let Some(mut column) = group.next_column().expect("a column") {
        match names.next().expect("as many names").as_str() {
            "flow" => {
                let names = texts(|row| if row % 2 == 0 { "a" } else { "b" });
                column.typed::<ByteArrayType>().write_batch(&names, None, None)
            }
            "length" => column.typed::<Int64Type>().write_batch(&lengths, Some(&levels), None),
            "lba" => column.typed::<Int32Type>().write_batch(&vec![8; rows], None, None),
            "op" => {
                let ops = texts(|row| ["Read", "W", "TRIM", "flush"][row % 4]);
                column.typed::<ByteArrayType>().write_batch(&ops, None, None)
            }
            _ => column.typed::<DoubleType>().write_batch(times, None, None),
        }
        .expect("room");
        column.close().expect("room");
    }
    group.close().expect("room");
    writer.close().expect("room");
    out
}

const SCHEMA: &str = "message other {
    required binary flow (string);
    optional int64 length;
    required int32 lba;
    required binary op (string);
    required double arrival_us;
}";

#[test]
fn columns_are_found_by_name_and_rows_come_in_order() {
    let content = file(SCHEMA, &[5.0, 1.0, 3.5, 2.0]);
    let file = TempTrace::new(&content);
    let options = TraceOptions { max_rejected_fraction: 0.5, ..TraceOptions::default() };
    let mut reader = TraceReader::open(file.path(), &options).expect("a trace");
    let found: Vec<_> = reader.by_ref().map(|record| record.expect("a record")).collect();
    let brief: Vec<_> = found.iter().map(|r| (r.time_ps, r.op, r.device)).collect();
    let expected = [(0, Op::Flush, 1), (1_500_000, Op::Trim, 0), (3_000_000, Op::Read, 0)];
    assert_eq!(brief, expected);
    assert_eq!((found[2].offset_bytes, found[2].length_bytes), (4096, 4096));
    let rejected = &reader.rejected().first()[0];
    assert_eq!((rejected.line, rejected.reason), (2, Reason::BadLength));
    assert_eq!(rejected.excerpt, "1, W, 8, nothing");
}

#[test]
fn what_is_no_such_file_is_refused() {
    let good = file(SCHEMA, &[1.0, 2.0]);
    let named = TraceOptions::new(Format::Parquet);
    let refused = |content: &[u8], part: &str| {
        let found = message(read(content, &named));
        assert!(found.contains(part), "{part}: {found}");
    };
    refused(&good[..good.len() - 9], "record 1: found ");
    refused(b"PAR1", "record 1: found ");
    refused(b"1 0 0 8 1\n", "record 1: found ");
    refused(
        &file(&SCHEMA.replace("arrival_us", "when"), &[1.0, 2.0]),
        "no column called t_ps or t_ns",
    );
    let packed = zstd::encode_all(&good[..], 1).expect("room");
    refused(&packed, "found a file that zstd compresses as a whole");
    refused(&file(SCHEMA, &[-1.0, 2.0]), "bad time in `-1, Read, 8, 4096`");
}

/// Files that fuzzing made of good ones, on which the library panics by itself. Their first two bytes are the
/// fuzzer's.
#[test]
fn damaged_files_are_refused() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/binary_formats");
    for (name, part) in [
        ("parquet-no-dictionary", "refers to a dictionary that is not there"),
        ("parquet-negative-size", "a column of negative place or size"),
        ("parquet-large-dictionary", "a dictionary of more values than bytes"),
    ] {
        let content = std::fs::read(format!("{corpus}/{name}")).expect("a file of the corpus");
        let found = message(read(&content[2..], &TraceOptions::new(Format::Parquet)));
        assert!(found.contains(part), "{name}: {found}");
    }
}
