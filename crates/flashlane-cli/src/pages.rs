//! Completions and manual pages, made of the arguments.

use std::path::Path;

use flashlane::Error;

use crate::args::{self, CompletionsArgs, ManArgs};
use crate::output::print_data;

/// Prints the completions of a shell.
pub(crate) fn completions(arguments: &CompletionsArgs) -> Result<(), Error> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut args::whole(), "flashlane", &mut text);
    print_data(&String::from_utf8_lossy(&text))
}

/// Writes the manual pages.
pub(crate) fn man(arguments: &ManArgs) -> Result<(), Error> {
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let mut command = args::whole();
    command.build();
    clap_mangen::generate_to(command, folder).map_err(|error| failed(folder, &error))
}

fn failed(folder: &Path, error: &std::io::Error) -> Error {
    Error::Output(format!("{}: cannot be written: {error}", folder.display()))
}
