//! Arguments of `fit`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Folder of `flashlane probe`, or a CSV table of published figures. Its columns are op,
    /// pattern, size, depth (or load_iops and write_share), metric and value, and optionally used,
    /// written, sigma, state, role and source.
    #[arg(value_name = "DIR|CURVES.csv")]
    pub(crate) data: PathBuf,
    /// The device whose keys are varied: preset name or TOML file. Keys that the figures do not
    /// determine keep the value of this device, above all the numbers of channels, chips, dies and
    /// planes. If none is named for a table, searches begin at the two presets of real drives that
    /// are nearest to the figures, and the better end counts. Measurements of `probe` determine
    /// these numbers; their base is `fast18` if none is named.
    #[arg(long, value_name = "PRESET|FILE")]
    pub(crate) base: Option<String>,
    /// Keys to vary in place of the usual times and rates. Keys of whole numbers are tried value by
    /// value; repeatable.
    #[arg(long, value_name = "KEY[,KEY...]", value_delimiter = ',')]
    pub(crate) vary: Vec<String>,
    /// Compare the fitted device with work that was not used for the fit: a folder of `flashlane
    /// probe --trace`, measured on the same target.
    #[arg(long, value_name = "DIR")]
    pub(crate) validate: Option<PathBuf>,
    /// The device file to write. fit.json and the page fit.html are written beside it.
    #[arg(long, value_name = "FILE.toml", default_value = "fitted.toml")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Number of starting points for the search, if the first search does not meet the figures.
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) starts: u16,
    /// Largest number of devices that the search simulates. Without `--base` two searches share it.
    #[arg(long, value_name = "N", default_value_t = 400,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) evaluations: u32,
    /// Factor on the number of requests that are simulated for each figure.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_effort)]
    pub(crate) effort: f64,
    /// Threads for independent simulations; 0 for all cores. The number never changes a result.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) threads: u16,
    /// Show no progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(super) fn parse_effort(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(effort) if (0.001..=100.0).contains(&effort) => Ok(effort),
        _ => Err("allowed: 0.001 to 100".to_owned()),
    }
}
