//! The option that allows replacing other files.

use clap::Args;

/// The option that allows replacing other files.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OverwriteArgs {
    /// Replace files of these names that flashlane did not write, or that were changed since.
    /// Without this option such files are refused.
    #[arg(long)]
    pub(crate) overwrite: bool,
}
