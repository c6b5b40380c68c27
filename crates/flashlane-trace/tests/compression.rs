//! Compressed traces: every codec gives the same records, and a broken file is an error, never a
//! shorter trace.

use std::io::Write;
use std::path::Path;

use flashlane_trace::{Codec, Format, Record, TraceError, TraceOptions, TraceReader};
use tempfile::NamedTempFile;

const CODECS: [Codec; 4] = [Codec::Gzip, Codec::Zstd, Codec::Xz, Codec::Bzip2];

/// Text that does not compress to almost nothing.
fn trace(lines: u64) -> String {
    let mut state = 1_u64;
    let line = |time: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!(
            "{} {} {} {} {}\n",
            time * 10,
            state >> 61,
            state >> 30,
            1 + (state >> 56),
            time % 2
        )
    };
    (0..lines).map(line).collect()
}

fn compress(codec: Codec, text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let result =
        match codec {
            Codec::Plain => packed.write_all(text),
            Codec::Gzip => flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast())
                .write_all(text),
            Codec::Zstd => zstd::encode_all(text, 1).map(|bytes| packed = bytes),
            Codec::Xz => xz2::write::XzEncoder::new(&mut packed, 1).write_all(text),
            Codec::Bzip2 => bzip2::write::BzEncoder::new(&mut packed, bzip2::Compression::fast())
                .write_all(text),
        };
    result.expect("compressing in memory cannot fail");
    packed
}

fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("room for a small file");
    file.write_all(content).expect("room for a small file");
    file
}

fn read(path: &Path) -> Result<Vec<Record>, TraceError> {
    TraceReader::open(path, &TraceOptions::new(Format::Mqsim))?.collect()
}

fn read_bytes(content: &[u8]) -> Result<Vec<Record>, TraceError> {
    read(file(content).path())
}

#[test]
fn every_codec_gives_the_same_records() {
    let text = trace(20_000);
    let expected = read_bytes(text.as_bytes()).expect("a good trace");
    assert_eq!(expected.len(), 20_000);
    for codec in CODECS {
        let packed = file(&compress(codec, text.as_bytes()));
        assert_eq!(read(packed.path()).expect("a good trace"), expected, "{codec}");
        let reader = TraceReader::open(packed.path(), &TraceOptions::new(Format::Mqsim));
        assert_eq!(reader.expect("readable").codec(), codec);
    }
}

#[test]
fn several_members_are_read_as_one_text() {
    let text = trace(3_000);
    let expected = read_bytes(text.as_bytes()).expect("a good trace");
    for codec in CODECS {
        // The parts are cut without regard to line ends.
        let parts = text.as_bytes().chunks(text.len() / 3 + 1);
        let packed: Vec<u8> = parts.flat_map(|part| compress(codec, part)).collect();
        assert_eq!(read_bytes(&packed).expect("a good trace"), expected, "{codec}");
    }
}

#[test]
fn the_name_of_the_file_does_not_matter() {
    let packed = compress(Codec::Zstd, b"1 0 0 8 1\n");
    let file = tempfile::Builder::new().suffix(".gz").tempfile().expect("room for a small file");
    std::fs::write(file.path(), packed).expect("room for a small file");
    assert_eq!(read(file.path()).expect("a good trace").len(), 1);
}

#[test]
fn a_truncated_file_is_an_error_wherever_it_was_cut() {
    let text = trace(2_000);
    for codec in CODECS {
        let packed = compress(codec, text.as_bytes());
        for cut in (20..packed.len()).step_by(packed.len() / 40).chain([packed.len() - 1]) {
            let error = read_bytes(&packed[..cut]).expect_err("half a file");
            let truncated = matches!(&error, TraceError::Truncated { codec: c, .. } if *c == codec);
            assert!(truncated, "{codec} cut to {cut} bytes: {error:?}");
        }
    }
}

#[test]
fn the_records_before_a_break_are_delivered_whole() {
    let text = trace(50_000);
    let expected = read_bytes(text.as_bytes()).expect("a good trace");
    for codec in CODECS {
        let packed = compress(codec, text.as_bytes());
        let broken = file(&packed[..packed.len() * 3 / 4]);
        let mut reader = TraceReader::open(broken.path(), &TraceOptions::new(Format::Mqsim))
            .expect("the start is fine");
        let mut found = Vec::new();
        let error = loop {
            match reader.next() {
                Ok(Some(record)) => found.push(record),
                Ok(None) => panic!("{codec}: the break was not noticed"),
                Err(error) => break error,
            }
        };
        assert!(expected.starts_with(&found), "{codec}");
        let message = error.to_string();
        assert!(message.contains(&format!("line {}", found.len() + 1)), "{message}");
        assert!(message.contains("data ends early, after"), "{message}");
        assert!(message.contains(&broken.path().display().to_string()), "{message}");
    }
}

#[test]
fn a_damaged_file_is_an_error() {
    let text = trace(2_000);
    for codec in CODECS {
        let mut packed = compress(codec, text.as_bytes());
        let middle = packed.len() / 2;
        for byte in &mut packed[middle..middle + 64] {
            *byte ^= 0x55;
        }
        let error = read_bytes(&packed).expect_err("a damaged file");
        assert_eq!(error.to_string().lines().count(), 1, "{codec}: {error}");
    }
}

#[test]
fn a_compressed_nothing_is_empty() {
    for codec in CODECS {
        let error = read_bytes(&compress(codec, b"")).expect_err("nothing in it");
        assert!(matches!(error, TraceError::Empty { .. }), "{codec}: {error}");
    }
}
