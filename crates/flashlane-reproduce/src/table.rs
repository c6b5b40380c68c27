//! The data behind a figure.

use flashlane_files::csv_line;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A number.
    Number(f64),
    /// Nothing known.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Self {
        Self::Number(f64::from(value))
    }
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Empty, Self::Number)
    }
}

/// Columns of names and numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name of the file, without its ending.
    pub name: String,
    /// What the rows are, for people.
    pub title: String,
    /// Names of the columns; with their unit.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Too long for a terminal: only written to its file.
    pub long: bool,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        columns: &[&'static str],
    ) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            long: false,
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "a row of {} has all columns", self.name);
        self.rows.push(cells);
    }

    /// The table as CSV: a header line, numbers in full, names in quotation marks where they need
    /// them.
    #[must_use]
    pub fn csv(&self) -> String {
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) => value.to_string(),
            Cell::Empty => String::new(),
        };
        let rows = self.rows.iter().map(|row| csv_line(row.iter().map(text)));
        std::iter::once(csv_line(&self.columns)).chain(rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_what_needs_it() {
        let mut table = Table::new("t", "", &["name", "value, us"]);
        table.row(vec!["a \"b\", c".into(), 1.5.into()]);
        table.row(vec!["plain".into(), None.into()]);
        assert_eq!(table.csv(), "name,\"value, us\"\n\"a \"\"b\"\", c\",1.5\nplain,\n");
    }
}
