//! Reads tables of published figures.

use std::path::Path;

use flashlane::config::load::{allowed, read_text};
use flashlane::config::units::ByteSize;
use flashlane::{Error, Problem};
use serde::de::DeserializeOwned;
use serde::de::value::{Error as NameError, StrDeserializer};

use super::figure::{Figure, Role, State};

/// Relative error of a figure that states none.
pub const USUAL_SIGMA: f64 = 0.03;

const NEEDED: &[&str] = &["op", "pattern", "size", "depth", "metric", "value"];
const COLUMNS: &[&str] =
    &["op", "pattern", "size", "depth", "metric", "value", "sigma", "state", "role", "source"];

/// Reads a table from a file.
///
/// # Errors
/// Those of [`parse`], and a file that cannot be read.
pub fn read(path: &Path) -> Result<Vec<Figure>, Error> {
    parse(&read_text(path)?, &path.display().to_string())
}

/// Reads a table: columns `op,pattern,size,depth,metric,value` and, optionally, `sigma`, `state`,
/// `role` and `source`, in any order. `file` names it in messages. Lines that start with `#` and
/// empty lines are skipped.
///
/// # Errors
/// A header that lacks a column or has an unknown one; one problem for each bad line, with file and
/// line; no line at all.
pub fn parse(text: &str, file: &str) -> Result<Vec<Figure>, Error> {
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((number, header)) = lines.next() else {
        return Err(Error::config(file, "the file has no line; start with a line of column names"));
    };
    let columns = columns(header).map_err(|m| Error::config(format!("{file}:{number}"), m))?;
    let (mut figures, mut problems) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        match figure(line, &columns) {
            Ok(figure) => figures.push(figure),
            Err(message) => {
                problems.push(Problem { place: format!("{file}:{number}"), message });
            }
        }
    }
    if !problems.is_empty() {
        return Err(Error::Config(problems));
    }
    if figures.is_empty() {
        return Err(Error::config(file, "there is no figure below the column names"));
    }
    Ok(figures)
}

fn columns(header: &str) -> Result<Vec<String>, String> {
    let columns = cells(header)?;
    for (index, column) in columns.iter().enumerate() {
        if !COLUMNS.contains(&column.as_str()) {
            return Err(format!("unknown column `{column}`; {}", allowed(column, COLUMNS)));
        }
        if columns[..index].contains(column) {
            return Err(format!("column `{column}` stands there twice"));
        }
    }
    match NEEDED.iter().find(|needed| !columns.iter().any(|column| column == *needed)) {
        Some(missing) => {
            Err(format!("column `{missing}` is missing; needed: {}", NEEDED.join(", ")))
        }
        None => Ok(columns),
    }
}

fn figure(line: &str, columns: &[String]) -> Result<Figure, String> {
    let cells = cells(line)?;
    if cells.len() != columns.len() {
        return Err(format!("{} cells, the header has {} columns", cells.len(), columns.len()));
    }
    let cell = |name: &str| {
        let index = columns.iter().position(|column| column == name)?;
        Some(cells[index].as_str()).filter(|cell| !cell.is_empty())
    };
    let needed = |name: &str| cell(name).ok_or_else(|| format!("{name} is empty"));
    let size = needed("size")?.parse::<ByteSize>().map_err(|error| format!("size: {error}"))?;
    if size.0 == 0 || size.0 % 512 != 0 || size.0 > 64 << 20 {
        return Err(format!("size: found {size}, allowed: multiples of 512B up to 64MiB"));
    }
    let depth = needed("depth")?;
    let depth = match depth.parse() {
        Ok(depth @ 1..=65_535) => depth,
        _ => return Err(format!("depth: found {depth}, allowed: 1 to 65535")),
    };
    Ok(Figure {
        operation: name("op", needed("op")?)?,
        pattern: name("pattern", needed("pattern")?)?,
        size,
        depth,
        metric: name("metric", needed("metric")?)?,
        value: positive("value", needed("value")?)?,
        sigma: cell("sigma").map_or(Ok(USUAL_SIGMA), |text| positive("sigma", text))?,
        state: cell("state").map_or(Ok(State::default()), |text| name("state", text))?,
        role: cell("role").map_or(Ok(Role::default()), |text| name("role", text))?,
        source: cell("source").unwrap_or_default().to_owned(),
    })
}

/// A value of an enumeration by its name in the file.
fn name<T: DeserializeOwned>(column: &str, text: &str) -> Result<T, String> {
    let reader: StrDeserializer<'_, NameError> =
        serde::de::IntoDeserializer::into_deserializer(text);
    T::deserialize(reader).map_err(|error| format!("{column}: {error}"))
}

fn positive(column: &str, text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("{column}: found {text}, allowed: numbers above 0")),
    }
}

/// The cells of a line. A cell in quotation marks may contain commas; two marks in it stand for one
/// mark.
fn cells(line: &str) -> Result<Vec<String>, String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = line.trim_end().chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            letter => cell.push(letter),
        }
    }
    if quoted {
        return Err("a quotation mark is not closed".to_owned());
    }
    cells.push(cell.trim().to_owned());
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Metric, Operation, Pattern};
    use super::*;

    const HEADER: &str = "op,pattern,size,depth,metric,value,sigma,state,source\n";

    #[test]
    fn figures_are_read() {
        let lines = "# comment\nread,random,4KiB,1,mean_us,73.3,,,\"a, \"\"b\"\"\"\n\
                     write,sequential,128KiB,32,gb_per_s,2,0.01,sustained,\n";
        let figures = parse(&format!("{HEADER}{lines}"), "x.csv").expect("it is right");
        let [first, second] = &figures[..] else { panic!("{figures:?}") };
        assert_eq!((first.operation, first.pattern), (Operation::Read, Pattern::Random));
        assert_eq!((first.metric, first.sigma, first.depth), (Metric::MeanUs, USUAL_SIGMA, 1));
        assert_eq!(first.source, "a, \"b\"");
        assert_eq!((second.state, second.sigma), (State::Sustained, 0.01));
    }

    #[test]
    fn every_bad_line_is_named_once() {
        let lines = "reed,random,4KiB,1,mean_us,73.3,,,\nread,random,4,1,mean_us,73.3,,,\n\
                     read,random,4KiB,0,mean_us,73.3,,,\nread,random,4KiB,1,mean_us,-1,,,\n\
                     read,random,4KiB,1\nread,random,4KiB,1,mean_us,73.3,,,\"open\n";
        let error = parse(&format!("{HEADER}{lines}"), "x.csv").expect_err("bad").to_string();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines.len(), 6, "{error}");
        for (line, (number, words)) in lines.iter().zip([
            (2, "op: unknown variant `reed`"),
            (3, "size: "),
            (4, "depth: found 0"),
            (5, "value: found -1"),
            (6, "4 cells, the header has 9 columns"),
            (7, "not closed"),
        ]) {
            assert!(line.starts_with(&format!("x.csv:{number}")) && line.contains(words), "{line}");
        }
        let error = parse("op,pattern,size,depth,metric\n", "x.csv").expect_err("bad").to_string();
        assert!(error.contains("`value` is missing"), "{error}");
        assert!(parse("", "x.csv").is_err() && parse(HEADER, "x.csv").is_err());
        assert!(parse("op,oq\n", "x.csv").is_err() && parse("op,op\n", "x.csv").is_err());
    }
}
