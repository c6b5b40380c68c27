//! Prints how fast a trace is read: `trace_rate FILE [FORMAT]`.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use flashlane_trace::{Format, OnDecreasing, TraceOptions, TraceReader};

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: trace_rate FILE [FORMAT]")?;
    let format = arguments.next().map(|name| Format::by_name(&name)).transpose()?;
    let options =
        TraceOptions { format, on_decreasing: OnDecreasing::Count, ..TraceOptions::default() };

    let start = Instant::now();
    let mut reader = TraceReader::open(&path, &options)?;
    let mut bytes = 0_u64;
    while let Some(record) = reader.next()? {
        bytes = bytes.wrapping_add(record.length_bytes);
    }
    let seconds = start.elapsed().as_secs_f64();

    let mut out = std::io::stdout();
    writeln!(
        out,
        "{path}: {} lines ({}), {} records of {bytes} bytes, {} rejected, {} decreasing",
        reader.line(),
        reader.codec(),
        reader.delivered_count(),
        reader.rejected().count(),
        reader.decreasing_count(),
    )?;
    writeln!(out, "{seconds:.3} s, {:.2} M lines/s", reader.line() as f64 / seconds / 1e6)?;
    Ok(())
}
