//! How fast traces are read: records per second of processor time, of files of one line of each format.

use std::io::{BufWriter, Write};

use flashlane_trace::{Format, TraceOptions, TraceReader};

use crate::child::{cpu_since, cpu_time};

/// Lines of a file.
const LINES: u64 = 2_000_000;

/// Reads a file of each format and prints how fast that went. Formats whose lines mean nothing by themselves
/// are left out.
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
