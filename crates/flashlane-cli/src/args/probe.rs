//! Arguments of `probe`.

use std::path::PathBuf;

use clap::Args;
use flashlane::config::load::Overrides;
use flashlane::config::units::Span;

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// The target, as a black box: a block device or a file of Linux, for example /dev/nvme1n1, or
    /// `simulated:` and the name of a preset or a device file, for example `simulated:980-pro`. The
    /// target is only read.
    #[arg(value_name = "TARGET", required_unless_present = "list")]
    pub(crate) target: Option<String>,
    /// Folder for the measurements; made if it does not exist. Complete probes in this folder are
    /// kept, so that a second call continues where the first one ended.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
    /// Allow writes that destroy all data on the target, whose name is repeated here. Refused if
    /// the target is mounted, is in use in another way, or has a known file system or partition
    /// table.
    #[arg(long, value_name = "TARGET")]
    pub(crate) destroy_data: Option<String>,
    /// Do not read the drive's own counters of the data written to flash.
    #[arg(long)]
    pub(crate) no_counters: bool,
    /// Send the requests of a trace at their times, and run no probes. `fit --validate` compares
    /// this work with the fitted device. Addresses are taken modulo the size of the target.
    #[arg(long, value_name = "TRACE", conflicts_with = "only")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: super::trace::ReadingArgs,
    /// Some probes; all probes if none is named.
    #[arg(long, value_name = "NAME[,NAME...]", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Time for all probes together by the clock of the target, for example `10m`. Probes that are
    /// not over by then are cut.
    #[arg(long, value_name = "TIME", value_parser = super::parse_window)]
    pub(crate) time: Option<Span>,
    /// Set a key of the simulated device; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    sets: Vec<String>,
    /// Seed of random addresses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the probes and the publications of their methods, and measure nothing.
    #[arg(long, conflicts_with_all = ["target", "out", "destroy_data"])]
    pub(crate) list: bool,
    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl ProbeArgs {
    /// True if keys of the device are set.
    pub(crate) fn sets(&self) -> bool {
        !self.sets.is_empty()
    }

    /// The settings of the command line, which override the device.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides { sets: self.sets.clone(), ..Overrides::default() }
    }
}
