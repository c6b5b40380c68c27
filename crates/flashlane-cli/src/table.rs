//! Tables of text.

/// A table under construction: the first column is text, the others are numbers.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Joins tables with equal columns. If there are several, the first column has the heading
    /// `what` and their names.
    pub(crate) fn together<'a>(
        what: &str,
        tables: impl IntoIterator<Item = (&'a str, Self)>,
    ) -> Self {
        let mut tables: Vec<(&str, Self)> = tables.into_iter().collect();
        if tables.len() == 1 {
            return tables.remove(0).1;
        }
        let mut rows = Vec::new();
        for (name, table) in tables {
            let named = |(index, row): (usize, Vec<String>)| {
                let first = if index == 0 { what } else { name };
                [vec![first.to_owned()], row].concat()
            };
            let header_once = usize::from(!rows.is_empty());
            rows.extend(table.rows.into_iter().enumerate().map(named).skip(header_once));
        }
        Self { rows }
    }

    /// True if there are no rows below the header.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// The table in Markdown, with numbers to the right.
    pub(crate) fn markdown(&self) -> String {
        let line = |row: &Vec<String>| {
            let cells = row.iter().map(|cell| cell.replace('\\', "\\\\").replace('|', "\\|"));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        let columns = self.rows.first().map_or(0, Vec::len);
        lines.insert(1, format!("| --- |{}\n", " ---: |".repeat(columns.saturating_sub(1))));
        lines.concat()
    }

    /// The table as a `tabular` with horizontal rules, for any document class.
    pub(crate) fn latex(&self) -> String {
        let escaped = |cell: &String| {
            let each = cell.chars().map(|c| match c {
                '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
                '\\' => "\\textbackslash{}".to_owned(),
                '~' => "\\textasciitilde{}".to_owned(),
                '^' => "\\textasciicircum{}".to_owned(),
                '±' => "$\\pm$".to_owned(),
                other => other.to_string(),
            });
            each.collect::<String>()
        };
        let line = |row: &Vec<String>| {
            format!("{} \\\\\n", row.iter().map(escaped).collect::<Vec<_>>().join(" & "))
        };
        let columns = self.rows.first().map_or(0, Vec::len);
        let mut text =
            format!("\\begin{{tabular}}{{l{}}}\n\\hline\n", "r".repeat(columns.max(1) - 1));
        for (index, row) in self.rows.iter().enumerate() {
            text += &line(row);
            if index == 0 {
                text += "\\hline\n";
            }
        }
        text + "\\hline\n\\end{tabular}\n"
    }

    /// Aligned text with a rule below the header.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let pad = " ".repeat(width - cell.chars().count());
                match column {
                    0 => line.push_str(&format!("{cell}{pad}")),
                    _ => line.push_str(&format!("  {pad}{cell}")),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
            if index == 0 {
                let rule = widths.iter().sum::<usize>() + 2 * (columns.max(1) - 1);
                text.push_str(&format!("{}\n", "-".repeat(rule)));
            }
        }
        text
    }
}

/// A number with three to five significant digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

/// A size in the largest binary unit that keeps it at 1 or more.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if scaled.fract() == 0.0 {
        format!("{scaled} {}", UNITS[unit])
    } else {
        format!("{scaled:.2} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["flow", "IOPS"]);
        table.row(vec!["a".to_owned(), number(12345.6)]);
        table.row(vec!["long name".to_owned(), number(0.5)]);
        assert_eq!(
            table.render(),
            "flow        IOPS\n----------------\na          12346\nlong name  0.500\n"
        );
        assert_eq!(bytes(192 << 30), "192 GiB");
        assert_eq!(bytes(1536), "1.50 KiB");
    }

    #[test]
    fn tables_below_each_other_have_one_header() {
        let table = |iops: &str| {
            let mut table = Table::new(&["flow", "IOPS"]);
            table.row(vec!["a".to_owned(), iops.to_owned()]);
            table
        };
        assert_eq!(
            Table::together("run", [("x", table("1"))]).rows,
            [["flow", "IOPS"], ["a", "1"]]
        );
        let two = Table::together("run", [("x", table("1")), ("y", table("2"))]);
        assert_eq!(two.rows, [["run", "flow", "IOPS"], ["x", "a", "1"], ["y", "a", "2"]]);
    }

    #[test]
    fn tables_have_the_forms_of_other_programs() {
        let mut table = Table::new(&["side", "a, b"]);
        table.row(vec!["x_1 | 100 %".to_owned(), "4.03 ±0.2".to_owned()]);
        assert_eq!(
            table.markdown(),
            "| side | a, b |\n| --- | ---: |\n| x_1 \\| 100 % | 4.03 ±0.2 |\n"
        );
        assert_eq!(
            table.latex(),
            "\\begin{tabular}{lr}\n\\hline\nside & a, b \\\\\n\\hline\n\
             x\\_1 | 100 \\% & 4.03 $\\pm$0.2 \\\\\n\\hline\n\\end{tabular}\n"
        );
    }
}
