//! Arguments of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell. For bash, put the text into
    /// `~/.local/share/bash-completion/completions/flashlane`.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder; made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: super::OverwriteArgs,
}
