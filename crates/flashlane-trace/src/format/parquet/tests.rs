//! Tests of Parquet files; a round trip of our own is in `tests/writers.rs`.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
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

/// Files that fuzzing made of good ones, on which the library panics by itself. Their first two
/// bytes are the fuzzer's.
#[test]
fn damaged_files_are_refused() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/binary_formats");
    for (name, part) in [
        ("parquet-no-dictionary", "a value that its dictionary lacks"),
        ("parquet-negative-size", "a column of negative place or size"),
        ("parquet-large-dictionary", "a page that ends early"),
        ("parquet-short-text", "a page that ends early"),
    ] {
        let content = std::fs::read(format!("{corpus}/{name}")).expect("a file of the corpus");
        let found = message(read(&content[2..], &TraceOptions::new(Format::Parquet)));
        assert!(found.contains(part), "{name}: {found}");
    }
}

/// Rows of a file: time, operation, sector, and length if it is there.
type Row = (i64, usize, i32, Option<i64>);

const OPS: [&str; 3] = ["read", "write", "trim"];

/// Rows with runs, steps back and gaps.
fn rows(seed: u64) -> Vec<Row> {
    let mut state = seed;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut now = 0;
    (0..10_000)
        .map(|at| {
            now += draw(1 << (at % 40)) as i64 / 4;
            let op = if at % 100 < 50 { 0 } else { draw(3) as usize };
            let sector = if at % 7 == 0 { i32::MAX } else { draw(1 << 31) as i32 };
            (now, op, sector, (draw(10) > 0).then(|| 512 * (1 + draw(64) as i64)))
        })
        .collect()
}

fn written(rows: &[Row], properties: WriterProperties) -> Vec<u8> {
    written_as("t_ps", rows, properties)
}

/// As [`written`], with another column of times.
fn written_as(time: &str, rows: &[Row], properties: WriterProperties) -> Vec<u8> {
    let schema = &format!(
        "message rows {{ required int64 {time}; required binary op; required int32 lba; optional int64 length; }}"
    );
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut out = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut out, schema, Arc::new(properties)).expect("a writer");
    for rows in rows.chunks(6_000) {
        let mut group = writer.next_row_group().expect("a group");
        for at in 0..4 {
            let mut column = group.next_column().expect("a column").expect("four columns");
            match at {
                0 => {
                    let times: Vec<i64> = rows.iter().map(|row| row.0).collect();
                    column.typed::<Int64Type>().write_batch(&times, None, None)
                }
                1 => {
                    let ops: Vec<_> = rows.iter().map(|row| ByteArray::from(OPS[row.1])).collect();
                    column.typed::<ByteArrayType>().write_batch(&ops, None, None)
                }
                2 => {
                    let sectors: Vec<i32> = rows.iter().map(|row| row.2).collect();
                    column.typed::<Int32Type>().write_batch(&sectors, None, None)
                }
                _ => {
                    let lengths: Vec<i64> = rows.iter().filter_map(|row| row.3).collect();
                    let levels: Vec<i16> = rows.iter().map(|row| row.3.is_some().into()).collect();
                    column.typed::<Int64Type>().write_batch(&lengths, Some(&levels), None)
                }
            }
            .expect("room");
            column.close().expect("room");
        }
        group.close().expect("room");
    }
    writer.close().expect("room");
    out
}

#[test]
fn every_encoding_is_read_as_it_was_written() {
    let options = TraceOptions { max_rejected_fraction: 0.5, ..TraceOptions::default() };
    let mut files = std::collections::BTreeSet::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for (dictionary, encoding) in [
            (true, Encoding::PLAIN),
            (false, Encoding::PLAIN),
            (false, Encoding::DELTA_BINARY_PACKED),
        ] {
            let rows = rows(files.len() as u64);
            let mut properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(dictionary)
                .set_data_page_row_count_limit(700)
                .set_write_batch_size(100);
            for name in ["t_ps", "op", "lba", "length"] {
                let encoding = if name == "op" { Encoding::PLAIN } else { encoding };
                properties = properties.set_column_encoding(name.into(), encoding);
            }
            let content = written(&rows, properties.build());
            let found = read(&content, &options).expect("a trace");
            let complete = rows.iter().filter_map(|row| Some((row.0, row.1, row.2, row.3?)));
            let first = rows[0].0;
            assert_eq!(found.len(), complete.clone().count());
            for (record, (time, op, sector, length)) in found.iter().zip(complete) {
                assert_eq!(record.time_ps, (time - first) as u64);
                assert_eq!(record.op, [Op::Read, Op::Write, Op::Trim][op]);
                let place = (record.offset_bytes, record.length_bytes);
                assert_eq!(place, (sector as u64 * 512, length as u64));
            }
            files.insert(content);
        }
    }
    assert_eq!(files.len(), 6, "the writer makes another file of each");
}

#[test]
fn other_encodings_are_named() {
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("op".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
        .build();
    let found = message(read(written(&rows(1), properties), &TraceOptions::default()));
    assert!(found.contains("values encoded as DELTA_LENGTH_BYTE_ARRAY"), "{found}");
}

#[test]
fn pages_may_be_compressed_in_any_usual_way() {
    let rows = rows(3);
    let options = TraceOptions { max_rejected_fraction: 0.5, ..TraceOptions::default() };
    let plain = read(written(&rows, WriterProperties::builder().build()), &options);
    let plain = plain.expect("a trace");
    for compression in [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ] {
        let properties = WriterProperties::builder().set_compression(compression).build();
        let content = written(&rows, properties);
        assert_eq!(read(content, &options).expect("a trace"), plain, "{compression:?}");
    }
}

#[test]
fn the_unit_of_a_timestamp_counts_and_not_that_of_the_name() {
    let rows = [(1_000, 0, 8, Some(512)), (4_000, 1, 8, Some(512))];
    let last = |time: &str| {
        let content = written_as(time, &rows, WriterProperties::builder().build());
        read(content, &TraceOptions::default()).map(|records| records[1].time_ps)
    };
    for (time, ps) in [
        ("t_us", 3_000_000_000),
        ("t_us (TIMESTAMP(NANOS,false))", 3_000_000),
        ("t_ns (TIMESTAMP(MICROS,true))", 3_000_000_000),
        ("timestamp (TIMESTAMP(MILLIS,true))", 3_000_000_000_000),
        ("t_ns (TIMESTAMP_MILLIS)", 3_000_000_000_000),
        ("time (TIME(MICROS,true))", 3_000_000_000),
    ] {
        assert_eq!(last(time).expect("a trace"), ps, "{time}");
    }
    assert!(message(last("timestamp")).contains("column timestamp is a number without a unit"));
    assert!(message(last("t_us (DECIMAL(9,2))")).contains("column t_us is a decimal"));
    let content = written_as("t_ps", &rows, WriterProperties::builder().build());
    assert_eq!(read(content, &TraceOptions::default()).expect("a trace").len(), 2);
}

#[test]
fn placement_identifiers_may_be_integers_floats_or_missing() {
    let written = |kind: &str, ids: &[f64]| {
        let schema =
            SCHEMA.replace("required double", &format!("{kind} placement;\nrequired double"));
        let schema = schema.replace("optional int64", "required int64");
        let schema = Arc::new(parse_message_type(&schema).expect("a schema"));
        let mut out = Vec::new();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(&mut out, schema, properties).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let text = |text: &str| vec![ByteArray::from(text); ids.len()];
        for at in 0..6 {
            let mut column = group.next_column().expect("a column").expect("six columns");
            match at {
                0 => column.typed::<ByteArrayType>().write_batch(&text("a"), None, None),
                1 => column.typed::<Int64Type>().write_batch(&vec![512; ids.len()], None, None),
                2 => column.typed::<Int32Type>().write_batch(&vec![8; ids.len()], None, None),
                3 => column.typed::<ByteArrayType>().write_batch(&text("W"), None, None),
                4 if kind.ends_with("double") => {
                    column.typed::<DoubleType>().write_batch(ids, None, None)
                }
                4 => {
                    let there: Vec<i32> =
                        ids.iter().filter(|id| !id.is_nan()).map(|id| *id as i32).collect();
                    let levels: Vec<i16> = ids.iter().map(|id| (!id.is_nan()).into()).collect();
                    column.typed::<Int32Type>().write_batch(&there, Some(&levels), None)
                }
                _ => column.typed::<DoubleType>().write_batch(&vec![1.0; ids.len()], None, None),
            }
            .expect("room");
            column.close().expect("room");
        }
        group.close().expect("room");
        writer.close().expect("room");
        out
    };
    for kind in ["optional int32", "required double"] {
        let file = TempTrace::new(written(kind, &[3.0, f64::NAN, 64.0, 65.0, -1.0]));
        let options = TraceOptions { max_rejected_fraction: 0.5, ..TraceOptions::default() };
        let mut reader = TraceReader::open(file.path(), &options).expect("a trace");
        let ids: Vec<_> =
            reader.by_ref().map(|record| record.expect("a record").placement).collect();
        assert_eq!(ids, [Some(3), None, Some(64)], "{kind}");
        assert_eq!(reader.rejected().count_of(Reason::BadPlacement), 2);
        assert_eq!(reader.rejected().first()[0].excerpt, "1, W, 8, 512, 65");
    }
}
