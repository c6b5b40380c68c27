//! Whether files of others may be replaced.

use clap::Args;

/// Whether files of others may be replaced.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OverwriteArgs {
    /// Replace files of the same names that flashlane did not write, or that were changed since.
    /// Without it they are refused.
    #[arg(long)]
    pub(crate) overwrite: bool,
}
