//! What goes to standard output.

use clap::ValueEnum;

/// What `run` writes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people.
    Text,
    /// One summary per line.
    Json,
    /// A line for each flow, under the names of a sweep's columns.
    Csv,
    /// The table of the flows, in Markdown.
    Markdown,
    /// The table of the flows, as a LaTeX `tabular`.
    Latex,
    /// An object for each scenario, with the keys of fio 3.
    FioJson,
    /// Results under MQSim's tags, one document per scenario: to files of MQSim's names with
    /// `--out`, else to standard output.
    MqsimXml,
}

/// What other commands write to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Tables for people.
    Text,
    /// JSON.
    Json,
}
