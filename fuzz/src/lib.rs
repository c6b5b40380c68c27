//! What the targets share: a trace file made of the input, read to its end.

pub mod nvme;

use std::path::PathBuf;
use std::sync::OnceLock;

use flashlane_trace::statistics::Meter;
use flashlane_trace::{
    Action, BareColumns, Format, OnDecreasing, Op, SpaceUnit, Spelling, TagKind, TimeUnit,
    TraceOptions, TraceReader, detect,
};

/// Most requests that a file may have and still be measured: the others cost time, not coverage.
const MEASURED_MAX: u64 = 2_000;

/// The one file of this process, in memory where there is such a place.
fn path() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        folder.join(format!("flashlane-fuzz-{}", std::process::id()))
    })
}

/// Options of which each bit says something.
pub fn options(format: Option<Format>, bits: u8) -> TraceOptions {
    let pick = |bit: u8| bits >> bit & 1 == 1;
    TraceOptions {
        format,
        time_unit: pick(0).then_some(TimeUnit::Milliseconds),
        size_unit: pick(1).then_some(SpaceUnit::Bytes),
        action: if pick(2) { Action::Complete } else { Action::Queue },
        on_decreasing: if pick(3) { OnDecreasing::Clamp } else { OnDecreasing::Count },
        max_rejected_fraction: if pick(4) { 1.0 } else { 0.01 },
        rebase: !pick(5),
        devices: pick(6).then(|| vec![0, 1, 7]),
        limit: pick(7).then_some(3),
        tag: (bits % 3 == 1).then_some(TagKind::Process),
        spelling: Spelling::default(),
    }
}

/// Reads the content as a trace, twice, and measures it.
pub fn read(content: &[u8], options: &TraceOptions) {
    let path = path();
    std::fs::write(path, content).expect("room for a small file");
    if let Err(error) = detect(path) {
        one_line(&error);
    }
    if let Err(error) = BareColumns::of(path) {
        one_line(&error);
    }
    let mut reader = match TraceReader::open(path, options) {
        Ok(reader) => reader,
        Err(error) => return one_line(&error),
    };
    let first = drain(&mut reader);
    reader.rewind().expect("the file is still there");
    assert_eq!(first, drain(&mut reader), "a second pass reads the same");
}

/// Reads to the end; the number of requests and a sum over them.
fn drain(reader: &mut TraceReader) -> (u64, u64) {
    let (mut meter, mut sum) = (Meter::default(), 0_u64);
    loop {
        match reader.next() {
            Ok(Some(record)) => {
                assert!(record.length_bytes > 0 || record.op == Op::Flush);
                assert!(record.offset_bytes.checked_add(record.length_bytes).is_some());
                if reader.delivered_count() < MEASURED_MAX && record.length_bytes < 1 << 24 {
                    meter.add(&record);
                }
                sum = sum.wrapping_mul(31).wrapping_add(record.time_ps ^ record.offset_bytes);
            }
            Ok(None) => break,
            Err(error) => {
                one_line(&error);
                break;
            }
        }
    }
    let _ = meter.finish();
    (reader.delivered_count(), sum)
}

fn one_line(error: &flashlane_trace::TraceError) {
    let message = error.to_string();
    assert_eq!(message.lines().count(), 1, "{message:?}");
}
