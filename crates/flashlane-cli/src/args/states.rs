//! Arguments of `states`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::TextOrJson;
use super::sweep::parse_size;

/// Arguments of `states`.
#[derive(Debug, Args)]
pub(crate) struct StatesArgs {
    #[command(subcommand)]
    pub(crate) action: StatesAction,
}

/// What to do with kept states.
#[derive(Debug, Subcommand)]
pub(crate) enum StatesAction {
    /// List the states, the least recently used one first, and the room that they may take.
    List {
        #[command(flatten)]
        place: StatesPlace,
        /// Format of standard output: a table, or one JSON object.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: TextOrJson,
    },
    /// Remove all states.
    Clear {
        #[command(flatten)]
        place: StatesPlace,
    },
    /// Remove the least recently used states until the others fit.
    Prune {
        #[command(flatten)]
        place: StatesPlace,
        /// Room for all states together, for example `1GiB`. Default: the usual limit.
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        limit: Option<u64>,
    },
}

/// The option that names the folder of the states.
#[derive(Debug, Args)]
pub(crate) struct StatesPlace {
    /// The folder, as in `run`.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
}
