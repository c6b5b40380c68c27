//! The kinds of host requests.

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestOp {
    /// Read data.
    #[default]
    Read,
    /// Write data.
    Write,
    /// Deallocate.
    Trim,
    /// Make everything acknowledged durable.
    Flush,
}
