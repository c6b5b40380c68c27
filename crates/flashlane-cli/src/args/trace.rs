//! Arguments of `flashlane trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use flashlane::config::units::ByteSize;
use flashlane_trace::SplitBy;

use super::Format;

/// Arguments of `trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) action: TraceAction,
}

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceAction {
    /// Show the content of traces: requests, sizes, rates, burstiness, footprint, skew, and a plot
    /// over time.
    Inspect(InspectArgs),
    /// Write the requests of a trace in another format.
    Convert(ConvertArgs),
    /// Split a trace of several tenants into a trace for each, with a workload file that runs them
    /// together. Tenants differ by process, device, address or another property in the trace.
    Split(SplitArgs),
    /// Write the parameters of a clone, built in or fitted to a trace, as a file for
    /// `[flow.clone]`; or write a synthetic trace that is drawn from the parameters.
    Clone(CloneArgs),
    /// List the formats that can be read, and those that can be written.
    Formats,
}

/// Arguments of `trace inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Traces, plain or compressed (gz, zst, xz, bz2).
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Format of standard output: text, or one JSON object per file and line.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = parse_inspect_format)]
    format: Format,
    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl InspectArgs {
    /// True if JSON is wanted.
    pub(crate) fn json(&self) -> bool {
        self.format == Format::Json
    }
}

/// Arguments of `trace convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A trace, plain or compressed (gz, zst, xz, bz2).
    #[arg(value_name = "IN")]
    pub(crate) input: String,
    /// File to write, whole or not at all, compressed if it ends in .gz, .zst, .xz or .bz2.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Format of the output: csv, fio-v3, fio-v2, mqsim or parquet. Default: the format of the file
    /// name's ending (.csv, .iolog, .trace, .parquet).
    #[arg(long, value_name = "NAME")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Factor on times: 0.1 is ten times as fast.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub(crate) time_scale: f64,
    /// Size of the address space of the output, for --out-of-range.
    #[arg(long, value_name = "SIZE")]
    pub(crate) space: Option<ByteSize>,
    /// Treatment of requests that end beyond --space.
    #[arg(long, value_name = "RULE", default_value = "wrap", requires = "space")]
    pub(crate) out_of_range: Beyond,
    /// Place the devices one after the other in one address space, with this distance. The output
    /// has one device.
    #[arg(long, value_name = "SIZE")]
    pub(crate) device_stride: Option<ByteSize>,
    /// New numbers for devices, such as `4=0,5=1`, applied after --device-stride. Other devices
    /// keep their numbers.
    #[arg(long, value_name = "OLD=NEW", value_delimiter = ',')]
    pub(crate) map_devices: Vec<String>,
    /// Names of the devices in fio's logs, from number 0 on, separated by commas. Default: device0,
    /// device1 ...
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fio_file: Vec<String>,
    /// Print only errors on standard error.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Treatment of addresses beyond the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Beyond {
    /// Addresses are taken modulo the size.
    Wrap,
    /// Such requests are left out.
    Clip,
}

/// Arguments of `trace split`.
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// A trace, plain or compressed (gz, zst, xz, bz2).
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// The property that tells tenants apart: process, pid, cgroup, device, queue, namespace or
    /// column:NAME as recorded in the trace; or lba for ranges of addresses whose requests are
    /// alike.
    #[arg(long, value_name = "WHAT", value_parser = parse_split)]
    pub(crate) by: SplitBy,
    /// Largest number of tenants. The tenants with the most requests are kept; all others become
    /// one, `others`.
    #[arg(long, value_name = "N", default_value_t = TENANTS,
        value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) top: u16,
    /// Folder for the traces and for workload.toml; made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Print only errors on standard error.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Largest number of tenants of a trace by default.
const TENANTS: u16 = 64;

/// Arguments of `run` for a trace of several tenants.
#[derive(Clone, Debug, Args)]
pub(crate) struct SplitRunArgs {
    /// The workload is a trace of several tenants: split it by process, pid, cgroup, device, lba,
    /// queue, namespace or column:NAME (see `flashlane trace split`), run the tenants together, and
    /// show which tenant delays which. With --out, their traces are kept in the folder `tenants`.
    #[arg(long, value_name = "WHAT", value_parser = parse_split)]
    pub(crate) split: Option<SplitBy>,
    /// With --split: largest number of tenants. The tenants with the most requests are kept.
    #[arg(long, value_name = "N", default_value_t = TENANTS, requires = "split",
        value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) top: u16,
    /// With --split: format of the trace, if the file does not describe itself.
    #[arg(long, value_name = "NAME", requires = "split")]
    from: Option<String>,
    /// With --split: column map of the trace.
    #[arg(long, value_name = "MAP", requires = "split")]
    columns: Option<String>,
}

impl SplitRunArgs {
    /// The options for reading the trace.
    pub(crate) fn reading(&self) -> ReadingArgs {
        let (from, columns) = (self.from.clone(), self.columns.clone());
        ReadingArgs { from, columns, ..ReadingArgs::default() }
    }
}

fn parse_split(text: &str) -> Result<SplitBy, String> {
    SplitBy::by_name(text).ok_or_else(|| format!("allowed: {}", SplitBy::ALLOWED))
}

/// Arguments of `trace clone`.
#[derive(Debug, Args)]
pub(crate) struct CloneArgs {
    /// A built-in clone, a file of parameters, or a trace to which a clone is fitted.
    #[arg(value_name = "NAME|FILE.toml|TRACE", required_unless_present = "list")]
    pub(crate) source: Option<String>,
    /// List the built-in clones, their figures of FLIN's Table 2 and the source of their shapes.
    #[arg(long, conflicts_with_all = ["source", "generate", "out"])]
    pub(crate) list: bool,
    /// Write a synthetic trace of this many requests in place of parameters.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) generate: Option<u64>,
    /// Factor on the gaps of the synthetic trace: 0.1 is ten times as fast.
    #[arg(long, value_name = "X", default_value_t = 1.0, requires = "generate")]
    pub(crate) time_scale: f64,
    /// Seed of the synthetic trace, in place of the seed in the parameters.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// File to write, whole or not at all, compressed if it ends in `.zst`. Default: standard
    /// output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Name of the fitted clone. Default: the file name up to the first dot.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Format of the file; an alias of --from.
    #[arg(long, value_name = "NAME", hide = true, conflicts_with = "from")]
    pub(crate) format: Option<String>,
    /// Show no progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Options for reading a trace, as the keys of `[flow.trace]`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReadingArgs {
    /// Format of the input (`flashlane trace formats`); not needed if the file describes itself.
    #[arg(long, value_name = "NAME")]
    pub(crate) from: Option<String>,
    /// Column map, for example "t=1[us],op=3,off=4,len=5;sep=comma".
    #[arg(long, value_name = "MAP")]
    pub(crate) columns: Option<String>,
    /// Unit of the time column, in place of the unit of the format: s, ms, us, ns, ps.
    #[arg(long, value_name = "UNIT")]
    pub(crate) time_unit: Option<String>,
    /// Unit of offsets and lengths, in place of the unit of the format, for formats that come in
    /// several: B, KiB, sector.
    #[arg(long, value_name = "UNIT")]
    pub(crate) size_unit: Option<String>,
    /// Event of a request that counts in blktrace and blkparse traces: Q (arrival, the default), D
    /// (sent to the drive) or C (completed).
    #[arg(long, value_name = "EVENT")]
    pub(crate) action: Option<String>,
    /// Read only requests of these devices, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) devices: Option<Vec<u32>>,
    /// Read only this many requests.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Accept times that step back. Such a request arrives together with the request above it.
    #[arg(long)]
    pub(crate) delay: bool,
}

fn parse_inspect_format(text: &str) -> Result<Format, String> {
    match text {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => Err("allowed: text, json; the format of the input is named by --from".to_owned()),
    }
}
