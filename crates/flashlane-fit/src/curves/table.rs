//! Reads tables of published figures.

use std::path::Path;

use flashlane::config::load::{allowed, read_text};
use flashlane::config::units::ByteSize;
use flashlane::{Error, Problem};
use serde::de::DeserializeOwned;
use serde::de::value::{Error as NameError, StrDeserializer};

use super::figure::{Figure, Lasted, Load, Metric, Operation, Phase, Role, State, USUAL_WRITTEN};
use super::hosted::Host;
use super::neighbours::Neighbours;
use super::pattern::Pattern;

/// Relative error of a figure that states none.
pub const USUAL_SIGMA: f64 = 0.03;

const NEEDED: &[&str] = &["op", "pattern", "size", "metric", "value"];
const COLUMNS: &[&str] = &[
    "op",
    "pattern",
    "size",
    "depth",
    "load_iops",
    "write_share",
    "host",
    "phase",
    "used",
    "written",
    "lasted",
    "metric",
    "value",
    "sigma",
    "state",
    "role",
    "source",
];
/// Outstanding requests of a figure of amplification, which does not depend on them.
const UNIMPORTANT_DEPTH: u32 = 32;
/// Highest rate of an open loop. Unit: requests per second.
const MOST_IOPS: f64 = 1e8;
/// Most times that the space in use is written.
const MOST_WRITTEN: f64 = 1000.0;

/// Reads a table from a file.
///
/// # Errors
/// Those of [`parse`], and a file that cannot be read.
pub fn read(path: &Path) -> Result<Vec<Figure>, Error> {
    parse(&read_text(path)?, &path.display().to_string())
}

/// Reads a table: columns `op,pattern,size,metric,value`, `depth` or `load_iops` with
/// `write_share`, and, optionally, `used`, `written` or `lasted`, `sigma`, `state`, `role` and
/// `source`, in any order. `file` names it in messages. Lines that start with `#` and empty lines
/// are skipped.
///
/// # Errors
/// A header that lacks a column or has an unknown one; one problem for each bad line, with file and
/// line; no line at all.
pub fn parse(text: &str, file: &str) -> Result<Vec<Figure>, Error> {
    let figures = parse_named(text, file, &[])?;
    Ok(figures.into_iter().map(|(figure, _)| figure).collect())
}

/// Reads a table that has further columns, which are needed: with each figure the cells of these.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_named(
    text: &str,
    file: &str,
    further: &[&str],
) -> Result<Vec<(Figure, Vec<String>)>, Error> {
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((number, header)) = lines.next() else {
        return Err(Error::config(file, "the file has no line; start with a line of column names"));
    };
    let columns = columns(header, further);
    let columns = columns.map_err(|m| Error::config(format!("{file}:{number}"), m))?;
    let (mut figures, mut problems) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        match Row::new(line, &columns).and_then(|row| row.figure_and(further)) {
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

fn columns(header: &str, further: &[&str]) -> Result<Vec<String>, String> {
    let columns = cells(header)?;
    let known: Vec<&str> =
        further.iter().chain(COLUMNS).chain(&Neighbours::COLUMNS).copied().collect();
    for (index, column) in columns.iter().enumerate() {
        if !known.contains(&column.as_str()) {
            return Err(format!("unknown column `{column}`; {}", allowed(column, &known)));
        }
        if columns[..index].contains(column) {
            return Err(format!("column `{column}` stands there twice"));
        }
    }
    let needed: Vec<&str> = further.iter().chain(NEEDED).copied().collect();
    match needed.iter().find(|needed| !columns.iter().any(|column| column == *needed)) {
        Some(missing) => {
            Err(format!("column `{missing}` is missing; needed: {}", needed.join(", ")))
        }
        None => Ok(columns),
    }
}

/// The cells of a line, by column.
struct Row<'a> {
    columns: &'a [String],
    cells: Vec<String>,
}

impl<'a> Row<'a> {
    fn new(line: &str, columns: &'a [String]) -> Result<Self, String> {
        let cells = cells(line)?;
        if cells.len() != columns.len() {
            return Err(format!("{} cells, the header has {} columns", cells.len(), columns.len()));
        }
        Ok(Self { columns, cells })
    }

    /// A cell that is not empty.
    fn cell(&self, name: &str) -> Option<&str> {
        let index = self.columns.iter().position(|column| column == name)?;
        Some(self.cells[index].as_str()).filter(|cell| !cell.is_empty())
    }

    fn needed(&self, name: &str) -> Result<&str, String> {
        self.cell(name).ok_or_else(|| format!("{name} is empty"))
    }

    /// A number in a range of `low` to `high`; `None` if the cell is empty.
    fn number(&self, name: &str, low: f64, high: f64) -> Result<Option<f64>, String> {
        let Some(text) = self.cell(name) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(value) if (low..=high).contains(&value) => Ok(Some(value)),
            _ => Err(format!("{name}: found {text}, allowed: {low} to {high}")),
        }
    }

    fn figure_and(&self, further: &[&str]) -> Result<(Figure, Vec<String>), String> {
        let cells = further.iter().map(|column| self.needed(column).map(str::to_owned));
        let cells = cells.collect::<Result<_, _>>()?;
        Ok((self.figure()?, cells))
    }

    fn figure(&self) -> Result<Figure, String> {
        let size = self.size("size")?;
        let operation = name("op", self.needed("op")?)?;
        let metric = name("metric", self.needed("metric")?)?;
        if metric == Metric::Waf && operation == Operation::Read {
            return Err("op: found read beside the metric waf, allowed: write".to_owned());
        }
        let load = self.load(operation)?;
        if load.is_some() && metric == Metric::Waf {
            return Err("load_iops: found beside the metric waf, allowed: empty".to_owned());
        }
        let phase = self.phase(metric)?;
        let pattern = self.needed("pattern")?.parse();
        let (state, role) = (self.cell("state"), self.cell("role"));
        let figure = Figure {
            operation,
            pattern: pattern.map_err(|error| format!("pattern: {error}"))?,
            size,
            depth: self.depth(load, metric)?,
            load,
            host: self.host()?,
            neighbours: self.neighbours()?,
            phase,
            used: self.number("used", 0.001, 1.0)?.unwrap_or(1.0),
            written: self.written(metric)?,
            lasted: self.lasted(metric)?,
            metric,
            value: positive("value", self.needed("value")?)?,
            sigma: self.cell("sigma").map_or(Ok(USUAL_SIGMA), |text| positive("sigma", text))?,
            state: state.map_or(Ok(State::default()), |text| name("state", text))?,
            role: role.map_or(Ok(Role::default()), |text| name("role", text))?,
            source: self.cell("source").unwrap_or_default().to_owned(),
        };
        if figure.metric.is_of_fill() && !fills(&figure) {
            return Err("metric: found one of a fill, allowed: with write, sequential, fresh, \
                        no load_iops and the whole drive in use"
                .to_owned());
        }
        hosted(&figure)?;
        Ok(figure)
    }

    fn size(&self, column: &str) -> Result<ByteSize, String> {
        let size = self.needed(column)?;
        let size = size.parse::<ByteSize>().map_err(|error| format!("{column}: {error}"))?;
        if size.0 == 0 || size.0 % 512 != 0 || size.0 > 64 << 20 {
            return Err(format!("{column}: found {size}, allowed: multiples of 512B up to 64MiB"));
        }
        Ok(size)
    }

    fn neighbours(&self) -> Result<Option<Neighbours>, String> {
        if Neighbours::COLUMNS.iter().all(|column| self.cell(column).is_none()) {
            return Ok(None);
        }
        let (low, high) = Neighbours::HOST_GB_PER_S;
        let host_gb_per_s = self.number("host_gb_per_s", low, high)?;
        let host_gb_per_s = host_gb_per_s.ok_or("host_gb_per_s is empty")?;
        Ok(Some(Neighbours {
            jobs: self.whole("neighbours", 0, 64)?,
            operation: name("neighbour_op", self.needed("neighbour_op")?)?,
            size: self.size("neighbour_size")?,
            depth: self.whole("neighbour_depth", 1, 4096)?,
            drives: self.whole("drives", 1, 64)?,
            host_gb_per_s,
        }))
    }

    /// A whole number in a range of `low` to `high`.
    fn whole(&self, column: &str, low: u32, high: u32) -> Result<u32, String> {
        let text = self.needed(column)?;
        match text.parse() {
            Ok(value) if (low..=high).contains(&value) => Ok(value),
            _ => Err(format!("{column}: found {text}, allowed: {low} to {high}")),
        }
    }

    fn host(&self) -> Result<Option<Host>, String> {
        let host = self.cell("host").map(str::parse).transpose();
        host.map_err(|error| format!("host: {error}"))
    }

    fn phase(&self, metric: Metric) -> Result<Option<Phase>, String> {
        let phase: Option<Phase> = match self.cell("phase") {
            Some(text) => Some(text.parse().map_err(|error| format!("phase: {error}"))?),
            None => None,
        };
        match (phase, metric) {
            (Some(_), metric) if !metric.is_of_fill() => {
                Err("phase: found, allowed: with the metrics fill_gb, fill_mb_per_s".to_owned())
            }
            (None, Metric::FillGb) => Err("phase is empty beside the metric fill_gb".to_owned()),
            (Some(phase), Metric::FillGb) if phase.number == phase.of => {
                Err("phase: found the last one, which ends with the drive".to_owned())
            }
            (phase, _) => Ok(phase),
        }
    }

    fn depth(&self, load: Option<Load>, metric: Metric) -> Result<u32, String> {
        let depth = match (self.cell("depth"), load, metric) {
            (Some(depth), Some(_), _) => {
                return Err(format!("depth: found {depth} beside load_iops, allowed: one of them"));
            }
            (None, Some(_), _) | (None, None, Metric::Waf) => return Ok(UNIMPORTANT_DEPTH),
            (None, ..) => return Err("depth and load_iops are empty, allowed: one of them".into()),
            (Some(depth), ..) => depth,
        };
        match depth.parse() {
            Ok(depth @ 1..=65_535) => Ok(depth),
            _ => Err(format!("depth: found {depth}, allowed: 1 to 65535")),
        }
    }

    fn load(&self, operation: Operation) -> Result<Option<Load>, String> {
        let iops = self.number("load_iops", 1.0, MOST_IOPS)?;
        let share = self.number("write_share", 0.0, 1.0)?;
        let (iops, write_share) = match (iops, share) {
            (None, None) => return Ok(None),
            (Some(iops), Some(share)) => (iops, share),
            (Some(_), None) => return Err("write_share is empty beside load_iops".to_owned()),
            (None, Some(_)) => {
                return Err("write_share: found without load_iops, allowed: with it".to_owned());
            }
        };
        let none = match operation {
            Operation::Read => write_share >= 1.0,
            Operation::Write => write_share <= 0.0,
        };
        if none {
            let why = "leaves no request of the operation whose figure this is";
            return Err(format!("write_share: found {write_share}, which {why}"));
        }
        Ok(Some(Load { iops, write_share }))
    }

    fn written(&self, metric: Metric) -> Result<f64, String> {
        let written = self.number("written", 0.1, MOST_WRITTEN)?;
        if written.is_some() && !matches!(metric, Metric::Waf | Metric::MbPerS) {
            return Err("written: found, allowed: with the metrics waf, mb_per_s".to_owned());
        }
        Ok(written.unwrap_or(USUAL_WRITTEN))
    }

    /// A copy costs one write of the host, if nothing else is known of the drive.
    fn lasted(&self, metric: Metric) -> Result<Option<Lasted>, String> {
        let Some(rounds) = self.number("lasted", 0.1, MOST_WRITTEN)? else { return Ok(None) };
        if !matches!(metric, Metric::Waf | Metric::MbPerS) || self.cell("written").is_some() {
            return Err(
                "lasted: found, allowed: with the metrics waf, mb_per_s, and without written"
                    .to_owned(),
            );
        }
        Ok(Some(Lasted { rounds, copy: 1.0 }))
    }
}

/// Refuses what a host with software of its own cannot do.
fn hosted(figure: &Figure) -> Result<(), String> {
    let reads = (figure.operation, figure.pattern) == (Operation::Read, Pattern::Random);
    let plain = reads && (figure.load, figure.used) == (None, 1.0);
    match (figure.host, figure.neighbours) {
        (_, None) if figure.metric == Metric::Slowdown => {
            Err("metric: found slowdown, allowed: with neighbours".to_owned())
        }
        (None, None) => Ok(()),
        (Some(_), None) if plain && figure.state == State::Fresh => Ok(()),
        (Some(_), None) => Err("host: found, allowed: with read, random, fresh, no load_iops and \
                                the whole drive in use"
            .to_owned()),
        (Some(Host { jobs: 1, .. }), Some(_)) if plain => Ok(()),
        (_, Some(_)) => Err("neighbours: found, allowed: with a host of one job, read, random, \
                             no load_iops and the whole drive in use"
            .to_owned()),
    }
}

/// True if the requests fill a drive as new in sequence.
fn fills(figure: &Figure) -> bool {
    (figure.operation, figure.pattern) == (Operation::Write, Pattern::Sequential)
        && (figure.state, figure.load, figure.used) == (State::Fresh, None, 1.0)
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

    #[test]
    fn open_loops_and_amplification_have_columns_of_their_own() {
        let header = "op,pattern,size,depth,load_iops,write_share,used,written,metric,value\n";
        let read = |lines: &str| parse(&format!("{header}{lines}"), "x.csv");
        let figures = read(
            "read,random,4KiB,,60000,0.9,,,p999_us,500\nwrite,zipf:0.8,4KiB,,,,0.5,7,waf,1.9\n",
        );
        let figures = figures.expect("they are right");
        assert_eq!(figures[0].load, Some(Load { iops: 60_000.0, write_share: 0.9 }));
        assert_eq!((figures[1].pattern, figures[1].used), (Pattern::Zipf(0.8), 0.5));
        assert_eq!((figures[1].written, figures[0].written), (7.0, USUAL_WRITTEN));
        for (line, words) in [
            ("read,random,4KiB,1,60000,0.9,,,p99_us,5", "depth: found 1 beside load_iops"),
            ("read,random,4KiB,,,,,,p99_us,5", "depth and load_iops are empty"),
            ("read,random,4KiB,,60000,,,,p99_us,5", "write_share is empty"),
            ("read,random,4KiB,1,,0.5,,,p99_us,5", "write_share: found without load_iops"),
            ("read,random,4KiB,,60000,1,,,p99_us,5", "leaves no request"),
            ("write,random,4KiB,,60000,0.5,,,waf,5", "load_iops: found beside the metric waf"),
            ("read,random,4KiB,,,,,,waf,5", "op: found read"),
            ("write,random,4KiB,,,,0,,waf,5", "used: found 0, allowed: 0.001 to 1"),
            ("write,random,4KiB,1,,,,9,mean_us,5", "written: found"),
            ("write,zipf:9,4KiB,,,,,,waf,5", "pattern: found zipf:9"),
        ] {
            let error = read(line).expect_err(line).to_string();
            assert!(error.starts_with("x.csv:2") && error.contains(words), "{error}");
        }
        let named = parse_named("drive,op,pattern,size,metric,value\n", "x", &["drive"]);
        assert!(named.expect_err("empty").to_string().contains("no figure"));
        assert!(parse_named(header, "x", &["drive"]).is_err(), "the further column is needed");
    }
}
