//! Formats of standard output.

use clap::ValueEnum;

/// Format of the standard output of `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people.
    Text,
    /// One summary per line.
    Json,
    /// A line for each flow, with the column names of a sweep.
    Csv,
    /// The table of the flows, in Markdown.
    Markdown,
    /// The table of the flows, as a LaTeX `tabular`.
    Latex,
    /// An object for each scenario, with the keys of fio 3.
    FioJson,
    /// Results under MQSim's tags, one document per scenario. With `--out` they go to files with
    /// MQSim's names, else to standard output.
    MqsimXml,
}

/// Format of the standard output of other commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Tables for people.
    Text,
    /// JSON.
    Json,
}
