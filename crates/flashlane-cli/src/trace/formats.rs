//! `flashlane trace formats`: what can be read and written.

use flashlane::Error;
use flashlane_trace::Format;

use crate::output::print;
use crate::table::Table;

/// One line for each format.
pub(super) fn formats() -> Result<(), Error> {
    let mut table = Table::new(&["format", "a line, or a record"]);
    for info in Format::ALL {
        table.row(vec![info.name.to_owned(), info.description.to_owned()]);
    }
    print(&table.render())
}
