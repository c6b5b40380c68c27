//! Makes completions and manual pages from the arguments.

use std::path::{Path, PathBuf};

use clap::Args;
use flashlane::Error;

use crate::args::{self, OverwriteArgs};
use crate::output::{Content, OutFolder, print_data};

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
    pub(crate) overwrite: OverwriteArgs,
}

/// Prints the completions of a shell.
pub(crate) fn completions(arguments: &CompletionsArgs) -> Result<(), Error> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut args::whole(), "flashlane", &mut text);
    print_data(&String::from_utf8_lossy(&text))
}

/// Writes the manual pages.
pub(crate) fn man(arguments: &ManArgs) -> Result<(), Error> {
    let folder = OutFolder::prepare(&arguments.out, arguments.overwrite.overwrite)?;
    let mut command = args::whole();
    command.build();
    let pages = pages(command).map_err(|error| failed(&arguments.out, &error))?;
    folder.write(pages)
}

/// The pages by name.
fn pages(command: clap::Command) -> std::io::Result<Vec<(PathBuf, Content)>> {
    let made = tempfile::tempdir()?;
    clap_mangen::generate_to(command, made.path())?;
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(made.path())? {
        let entry = entry?;
        let content = Content::Bytes(std::fs::read(entry.path())?);
        pages.push((PathBuf::from(entry.file_name()), content));
    }
    Ok(pages)
}

fn failed(folder: &Path, error: &std::io::Error) -> Error {
    Error::Output(format!("{}: cannot be written: {error}", folder.display()))
}
