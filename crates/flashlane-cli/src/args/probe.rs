//! Arguments of `probe`.

use std::path::PathBuf;

use clap::Args;
use flashlane::config::load::Overrides;
use flashlane::config::units::Span;

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// What is measured, as a black box: `simulated:` and the name of a preset or a device file,
    /// for example `simulated:980-pro`.
    #[arg(value_name = "TARGET", required_unless_present = "list")]
    pub(crate) target: Option<String>,
    /// Folder for the measurements; made if it does not exist. Probes that are complete there are
    /// kept, so that a second call goes on where the first one ended.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    pub(crate) out: Option<PathBuf>,
    /// Some of the probes; all without a name.
    #[arg(long, value_name = "NAME[,NAME...]", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// No further probe starts after this time by the clock of the target, for example `10s`.
    #[arg(long, value_name = "TIME", value_parser = super::parse_window)]
    pub(crate) time: Option<Span>,
    /// Set a key of the simulated device; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    sets: Vec<String>,
    /// Seed of random addresses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the probes and where their methods were published; measure nothing.
    #[arg(long, conflicts_with_all = ["target", "out"])]
    pub(crate) list: bool,
    /// No progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl ProbeArgs {
    /// Keys on top of the device.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides { sets: self.sets.clone(), ..Overrides::default() }
    }
}
