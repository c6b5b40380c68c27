//! Reading speed of traces: records per second of processor time, for a generated file of each
//! format, or for given files and their replay.

use std::io::{BufWriter, Write};
use std::time::Duration;

use flashlane_trace::{Format, OnDecreasing, TraceOptions, TraceReader};

use crate::child::{cpu_since, cpu_time};
use crate::{cases, child, workloads};

/// Lines of a file.
const LINES: u64 = 2_000_000;
/// Fewest requests of a replay, and of records that are read beside it.
const REPLAYED: u64 = 400_000;

/// Reads files, replays them, and prints the times of both. `FILE=FORMAT` for a file that does not
/// describe itself.
pub(crate) fn replays(files: &[String]) -> Result<(), String> {
    println!("million records/s      read    replayed   read/replayed");
    for file in files {
        let (path, format) =
            file.split_once('=').map_or((file.as_str(), None), |(path, name)| (path, Some(name)));
        let (mut records, mut passes, before) = (0, 0, cpu_time());
        while records < REPLAYED {
            records += read(path, format)?;
            passes += 1;
        }
        let reading = cpu_since(before);
        let case = cases::find("backend-2-2").expect("the case exists");
        let before = cpu_time();
        let summary = child::run_with(case, &workloads::replay(path, format, passes), &[])?;
        let rate = |count: u64, time: Duration| count as f64 / time.as_secs_f64() / 1e6;
        let (read, replayed) =
            (rate(records, reading), rate(summary.requests_completed, cpu_since(before)));
        println!("{:>26.2} {replayed:>11.3} {:>15.1}  {path}", read, read / replayed);
    }
    Ok(())
}

/// Reads a file to its end. Returns the number of its requests.
fn read(path: &str, format: Option<&str>) -> Result<u64, String> {
    let text = |error: flashlane_trace::TraceError| error.to_string();
    let format = format.map(|name| Format::by_name(name).map_err(text)).transpose()?;
    let on_decreasing = OnDecreasing::Clamp;
    let options = TraceOptions { format, on_decreasing, ..TraceOptions::default() };
    let mut reader = TraceReader::open(path, &options).map_err(text)?;
    let mut records = 0;
    while reader.next().map_err(text)?.is_some() {
        records += 1;
    }
    if records > 0 { Ok(records) } else { Err(format!("{path}: no request")) }
}

/// Reads a file of each format and prints the speed. Formats whose lines depend on other lines are
/// left out.
pub(crate) fn traces() -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    println!("format        records   million records/s  bytes/record");
    for info in Format::ALL {
        let Ok(format) = Format::by_name(info.name) else { continue };
        let mut file = tempfile::NamedTempFile::new().map_err(text)?;
        let mut lines = BufWriter::new(&mut file);
        let line = match info.name {
            // Second, object, bytes, next access.
            "oracle-general" => {
                [&7_u32.to_le_bytes()[..], &9_u64.to_le_bytes(), &4096_u32.to_le_bytes(), &[1; 8]]
                    .concat()
            }
            _ => format!("{}\n", info.example).into_bytes(),
        };
        for _ in 0..LINES {
            lines.write_all(&line).map_err(text)?;
        }
        lines.flush().map_err(text)?;
        drop(lines);
        let Ok(mut reader) = TraceReader::open(file.path(), &TraceOptions::new(format)) else {
            continue;
        };
        let before = cpu_time();
        let mut records = 0_u64;
        while let Ok(Some(_)) = reader.next() {
            records += 1;
        }
        let seconds = cpu_since(before).as_secs_f64();
        if records == LINES {
            let (rate, bytes) = (records as f64 / seconds / 1e6, line.len());
            println!("{:<12} {records:>9} {rate:>18.1} {bytes:>13}", info.name);
        }
    }
    Ok(())
}
