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
    /// The states, the one that was used least lately first, and how much room they may take.
    List {
        #[command(flatten)]
        place: StatesPlace,
        /// What goes to standard output: a table, or one JSON object.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: TextOrJson,
    },
    /// Remove all states.
    Clear {
        #[command(flatten)]
        place: StatesPlace,
    },
    /// Remove states, those that were used least lately first, until the others fit.
    Prune {
        #[command(flatten)]
        place: StatesPlace,
        /// Room for all states together, for example `1GiB`; what they may take in any case
        /// without it.
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        limit: Option<u64>,
    },
}

/// Where the states are.
#[derive(Debug, Args)]
pub(crate) struct StatesPlace {
    /// The folder, as in `run`.
    #[arg(long, value_name = "DIR|off")]
    pub(crate) states: Option<PathBuf>,
}
