//! Arguments of `validate`.

use std::path::PathBuf;

use clap::Args;

use super::fit::parse_effort;

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The drives; all that have measured figures if none is named.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only figures of this kind: waf, write-rate, latency, depth, size; repeatable.
    #[arg(long, value_name = "KIND[,KIND...]", value_delimiter = ',')]
    pub(crate) kind: Vec<String>,
    /// A table of figures in place of the shipped ones: the columns of `fit`, and `drive` and
    /// `kind`.
    #[arg(long, value_name = "FACTS.csv")]
    pub(crate) facts: Option<PathBuf>,
    /// The device that stands for a drive, in place of the preset of its name; repeatable.
    #[arg(long, value_name = "NAME=PRESET|FILE")]
    pub(crate) device: Vec<String>,
    /// Set a key of every device, for example `ftl.over_provisioning=30%`; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// A column with the arithmetic of the released MQSim, where its features suffice.
    #[arg(long, value_name = "MODE")]
    pub(crate) compat: Option<super::Compat>,
    /// Folder for validate.json and the page validate.html.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Factor on the number of requests of runs with time.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_effort)]
    pub(crate) effort: f64,
    /// Threads for independent runs; 0 for all cores. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) threads: u16,
    /// Show no progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}
