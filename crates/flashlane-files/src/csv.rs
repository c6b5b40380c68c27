//! Tables with commas between cells.

/// A line of a table by RFC 4180, with its end.
#[must_use]
pub fn csv_line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let quoted = |cell: T| {
        let text = cell.as_ref();
        match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        }
    };
    cells.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_it_is_quoted() {
        assert_eq!(csv_line(["a", "", "b,c", "d\"e", "f\ng"]), "a,,\"b,c\",\"d\"\"e\",\"f\ng\"\n");
        assert_eq!(csv_line([""; 0]), "\n");
    }
}
