//! `flashlane trace clone`: statistical clones, their parameters and synthetic traces.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::load;
use flashlane::workload::RequestOp;
use flashlane::workload::clone::{self, CloneFile, CloneSource};
use flashlane_trace::statistics::{Meter, SideStatistics, TraceStatistics};

use super::{STRIDE, reading, trace_error};
use crate::args::{CloneArgs, ReadingArgs};
use crate::execute::{STEPS, progress_bar};
use crate::output::{OutFile, print, print_data, refuse_input};
use crate::table::{Table, number};

/// Columns of a synthetic trace; a reader takes them from the comment that says so.
const COLUMNS: &str = "t=1[us],op=2,off=3[B],len=4[B];sep=comma;read=R;write=W";

/// Prints or writes parameters, or a synthetic trace.
pub(super) fn clone(arguments: &CloneArgs) -> Result<(), Error> {
    let Some(source) = arguments.source.as_deref().filter(|_| !arguments.list) else {
        return list();
    };
    if !(1e-9..=1e9).contains(&arguments.time_scale) {
        let message = format!("found {}, allowed: above 0 (1e-9 to 1e9)", arguments.time_scale);
        return Err(Error::config("--time-scale", message));
    }
    let prepare = |path: &PathBuf| {
        refuse_input(path, [source])?;
        OutFile::prepare(path, arguments.overwrite.overwrite)
    };
    let out = arguments.out.as_ref().map(prepare).transpose()?;
    let (file, comments) = parameters(source, arguments)?;
    let text = format!("{comments}{}", toml_of(&file)?);
    match (arguments.generate, out) {
        (None, None) => print_data(&text),
        (None, Some(mut out)) => {
            out.write(|file| file.write_all(text.as_bytes()))?;
            out.keep()
        }
        (Some(requests), Some(mut out)) => {
            out.write(|writer| generated(&file, requests, arguments, writer))?;
            out.keep()
        }
        (Some(requests), None) => {
            match generated(&file, requests, arguments, &mut io::stdout().lock()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Error::Output(format!("standard output: cannot be written: {error}")))
                }
                _ => Ok(()),
            }
        }
    }
}

/// The built-in sets, their figures of Table 2 and where their shapes come from.
fn list() -> Result<(), Error> {
    let mut table = Table::new(&[
        "clone",
        "reads",
        "read KiB",
        "write KiB",
        "before reads ms",
        "before writes ms",
        "IOPS",
        "",
    ]);
    for params in clone::list() {
        table.row(vec![
            params.name.to_owned(),
            format!("{:.2}", params.read_ratio),
            format!("{}", params.read.mean_kib),
            format!("{}", params.write.mean_kib),
            format!("{}", params.read.gap_ms),
            format!("{}", params.write.gap_ms),
            number(1000.0 / params.gap_ms()),
            params.summary.to_owned(),
        ]);
    }
    print(&format!(
        "Read ratio, mean sizes and mean gaps before a request of the type: FLIN (ISCA 2018), Table 2; \
         of the last three, with a day: from the counts in UPI's Table 2.\n\n{}",
        table.render()
    ))
}

/// The parameters that a name, a parameter file or a trace stands for, and what to say of them.
fn parameters(source: &str, arguments: &CloneArgs) -> Result<(CloneFile, String), Error> {
    if source.to_ascii_lowercase().ends_with(".toml") {
        return Ok((load::clone_file(Path::new(source))?, String::new()));
    }
    if !Path::new(source).exists() {
        if clone::is_file(source) || source.contains('.') {
            return Err(Error::config(source, "no such file"));
        }
        return Ok((CloneFile::from(clone::find(source)?), String::new()));
    }
    let statistics = measured(source, arguments)?;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => {
            let file = Path::new(source).file_name().unwrap_or_default().to_string_lossy();
            file.split('.').next().unwrap_or_default().to_ascii_lowercase()
        }
    };
    let bar = progress_bar(STEPS, "fitting", arguments.quiet);
    let fitted =
        clone::fit(&statistics, &name, &|share| bar.set_position((share * STEPS as f64) as u64));
    bar.finish_and_clear();
    let mut file = fitted?;
    file.seed = arguments.seed.unwrap_or(file.seed);
    Ok((file, comments(source, &statistics)))
}

/// The statistics of a trace.
fn measured(source: &str, arguments: &CloneArgs) -> Result<TraceStatistics, Error> {
    let from = arguments.format.clone().or_else(|| arguments.reading.from.clone());
    let mut reader = reading::open(source, &ReadingArgs { from, ..arguments.reading.clone() })?;
    let mut meter = Meter::default();
    while let Some(record) = reader.next().map_err(trace_error)? {
        meter.add(&record);
    }
    Ok(meter.finish())
}

/// The statistics of the source as comments above the parameters.
fn comments(source: &str, s: &TraceStatistics) -> String {
    let mut text = String::new();
    let mut line = |what: &str, value: String| {
        let _ = writeln!(text, "# {what}: {value}");
    };
    let maybe = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    let windows = |values: [Option<f64>; 3]| values.map(maybe).join(" / ");
    let both =
        |of: &dyn Fn(&SideStatistics) -> f64| format!("{:.4} / {:.4}", of(&s.read), of(&s.write));
    let mib = |pages: u64| format!("{:.1}", pages as f64 / 256.0);
    line("clone of", source.to_owned());
    line("requests, trims and flushes left out", format!("{}, {}", s.requests, s.other_requests));
    line("span, s", format!("{:.3}", s.span_s));
    line("read ratio", format!("{:.4}", s.read_ratio));
    line("mean size of reads / writes, KiB", both(&|side| side.mean_kib));
    line("mean gap, ms", format!("{:.6}", s.gap_ms));
    line("mean gap before reads / writes, ms", both(&|side| side.gap_ms));
    line("variation of gaps", format!("{:.4}", s.gap_cv));
    line("variation of gaps before reads / writes", both(&|side| side.gap_cv));
    line("share of gaps of 0, below 100 us", format!("{:.4}, {:.4}", s.zero_gaps, s.short_gaps));
    line("correlation of types", format!("{:.4}", s.kappa()));
    line("index of dispersion at 10 ms / 100 ms / 1 s", windows(s.idc));
    line("busiest window over mean, the same", windows(s.peak));
    line("b-model bias", maybe(s.bias));
    line("continues the last request, reads / writes", both(&|side| side.seq1));
    line("continues one of the last 32, reads / writes", both(&|side| side.seq32));
    line("aligned to 4 KiB", format!("{:.4}", s.aligned));
    let footprint = [s.pages.count, s.read.pages.count, s.write.pages.count].map(mib).join(" / ");
    line("pages touched, all / reads / writes, MiB", footprint);
    line("pages read and written, MiB", mib(s.shared_pages));
    line("accesses to the hottest 10 % / 20 % of pages", {
        format!("{:.4} / {:.4}", s.pages.top10, s.pages.top20)
    });
    let zipf = [s.pages.zipf, s.read.pages.zipf, s.write.pages.zipf];
    line("Zipf slope of pages, all / reads / writes", windows(zipf));
    line("page accesses that come back, reads / writes", both(&|side| side.revisits));
    text.push('\n');
    text
}

fn toml_of(file: &CloneFile) -> Result<String, Error> {
    toml::to_string(file).map_err(|error| Error::Output(format!("parameters: {error}")))
}

/// Writes a synthetic trace.
fn generated(
    file: &CloneFile,
    requests: u64,
    arguments: &CloneArgs,
    out: &mut dyn Write,
) -> io::Result<()> {
    let compressed =
        arguments.out.as_ref().is_some_and(|path| path.extension().is_some_and(|e| e == "zst"));
    if !compressed {
        return write_requests(file, requests, arguments, &mut BufWriter::new(out));
    }
    let mut encoder = zstd::Encoder::new(out, 0)?;
    write_requests(file, requests, arguments, &mut BufWriter::new(&mut encoder))?;
    encoder.finish()?.flush()
}

fn write_requests(
    file: &CloneFile,
    requests: u64,
    arguments: &CloneArgs,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (scale, seed) = (arguments.time_scale, arguments.seed.unwrap_or(file.seed));
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "# {}", file.summary)?;
    writeln!(
        out,
        "# A synthetic trace by flashlane {version}: {requests} requests, time scale {scale}, seed {seed}, of"
    )?;
    let parameters = toml::to_string(file).map_err(io::Error::other)?;
    for line in parameters.lines() {
        writeln!(out, "# {line}")?;
    }
    writeln!(out, "# columns: {COLUMNS}")?;
    let bar = progress_bar(requests, "generating", arguments.quiet);
    let mut source = CloneSource::alone(&file.params(), requests, scale, seed);
    let mut written = 0;
    while let Some(request) = source.generate().map_err(io::Error::other)? {
        let op = if request.op == RequestOp::Read { 'R' } else { 'W' };
        let (us, ps) = (request.arrival.0 / 1_000_000, request.arrival.0 % 1_000_000);
        let (offset, length) = (request.sector * 512, request.sectors * 512);
        writeln!(out, "{us}.{ps:06},{op},{offset},{length}")?;
        written += 1;
        if written % STRIDE == 0 {
            bar.set_position(written);
        }
    }
    bar.finish_and_clear();
    out.flush()
}
