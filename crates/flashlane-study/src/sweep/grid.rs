//! Reads a grid: what is the same at every point, and the axes.
//!
//! ```toml
//! device = "980-pro"
//! workload = "tenants.toml"
//!
//! [run]
//! alone = true
//!
//! [axes]
//! scheduler = ["fcfs", "flin"]
//! flow.reader.synthetic.queue_depth = [1, 8, 64]
//! ftl.over_provisioning = { from = 0.07, to = 0.28, steps = 4 }
//! seed = [1, 2, 3]
//! ```

use std::path::Path;

use flashlane::config::load::{Caller, Overrides, nearest, read_text};
use flashlane::{Error, Problem, RunOptions};
use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::axes::{self, Axis, Method, Point, Range, Sample, Values, When};
use super::point;
use crate::base::Base;

/// The largest number of points.
const POINTS: usize = 1_000_000;

/// A grid that was read.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The device and the tenants.
    pub base: Base,
    /// The options of the runs. The keys of a point override them.
    pub run: Point,
    /// The keys of the axes, in the order of the file. Axes under a condition come last.
    pub keys: Vec<String>,
    /// The points.
    pub points: Vec<Point>,
}

/// The grid file before it is checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    device: String,
    workload: String,
    #[serde(default)]
    set: Table,
    #[serde(default)]
    run: Table,
    axes: Table,
    #[serde(default)]
    when: Vec<WrittenWhen>,
    #[serde(default)]
    skip: Vec<Table>,
    sample: Option<WrittenSample>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWhen {
    #[serde(rename = "if")]
    matches: Table,
    axes: Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSample {
    method: WrittenMethod,
    points: u32,
    #[serde(default = "one")]
    seed: u64,
}

fn one() -> u64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenMethod {
    Random,
    LatinHypercube,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRange {
    from: Value,
    to: Value,
    steps: Option<u32>,
    #[serde(default)]
    scale: Scale,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Scale {
    #[default]
    Linear,
    Log,
}

impl Grid {
    /// The options of all runs. The options in `[run]` override those of the caller.
    ///
    /// # Errors
    /// [`Error::Config`] if a value has the wrong type.
    pub fn options(&self, caller: &RunOptions) -> Result<RunOptions, Error> {
        point::options(caller, &self.run)
    }

    /// Reads a grid file.
    ///
    /// # Errors
    /// [`Error::Config`] with the file, the line or key, what was found and what is allowed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&read_text(path)?, path)
    }

    /// Reads the text of a grid file. Relative paths in the text start at the folder of the file.
    ///
    /// # Errors
    /// The errors of [`Grid::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let written: Written = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let place = line.map_or(file.clone(), |line| format!("{file}:{line}"));
            Error::config(place, error.message().to_owned())
        })?;
        let reader = Reader { file: &file, order: order(text) };
        let axes = reader.axes("axes", &written.axes, written.sample.is_some())?;
        let whens = written.when.iter().enumerate().map(|(index, when)| {
            let axes = reader.axes(&format!("when[{index}].axes"), &when.axes, false)?;
            Ok(When { matches: flat("", &when.matches), axes })
        });
        let whens = whens.collect::<Result<Vec<When>, Error>>()?;
        let points = reader.points(&axes, &whens, &written)?;
        let mut keys: Vec<String> = Vec::new();
        for axis in axes.iter().chain(whens.iter().flat_map(|when| &when.axes)) {
            if !keys.contains(&axis.key) {
                keys.push(axis.key.clone());
            }
        }
        let run = flat("", &written.run);
        reader.check_run(&run)?;
        let overrides = Overrides {
            sets: point::sets(flat("", &written.set).iter()),
            caller: Caller::Program,
            ..Overrides::default()
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut base = Base { folder, overrides, ..Base::default() };
        base.take("device", &written.device);
        base.take("workload", &written.workload);
        Ok(Self { base, run, keys, points })
    }
}

/// The keys below a table with their values, sorted by name. Nested keys are written `a.b.c`.
fn flat(above: &str, table: &Table) -> Point {
    let each = |(key, value): (&String, &Value)| {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Value::Table(below) => flat(&path, below),
            value => vec![(path, plain(value))],
        }
    };
    table.iter().flat_map(each).collect()
}

/// A TOML value as JSON. Times of the day become text.
fn plain(value: &Value) -> serde_json::Value {
    match value {
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Table(table) => {
            table.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
        }
        Value::Datetime(time) => time.to_string().into(),
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(yes) => (*yes).into(),
    }
}

/// The place where each key begins in a text.
fn order(text: &str) -> Vec<(String, usize)> {
    fn below(path: &str, table: &DeTable<'_>, found: &mut Vec<(String, usize)>) {
        for (key, value) in table {
            let name = key.get_ref();
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            found.push((path.clone(), key.span().start));
            match value.get_ref() {
                DeValue::Table(table) => below(&path, table, found),
                DeValue::Array(list) => {
                    for (index, element) in list.iter().enumerate() {
                        if let DeValue::Table(table) = element.get_ref() {
                            below(&format!("{path}[{index}]"), table, found);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    if let Ok(document) = DeTable::parse(text) {
        below("", document.get_ref(), &mut found);
    }
    found
}

/// What error messages need to know about the file.
struct Reader<'a> {
    file: &'a str,
    order: Vec<(String, usize)>,
}

impl Reader<'_> {
    fn refuse(&self, key: &str, message: String) -> Error {
        Error::Config(vec![Problem { place: format!("{}: {key}", self.file), message }])
    }

    fn at(&self, path: &str) -> usize {
        self.order.iter().find(|(key, _)| key == path).map_or(usize::MAX, |&(_, at)| at)
    }

    /// The axes below a table, in the order of the file.
    fn axes(&self, above: &str, table: &Table, sampled: bool) -> Result<Vec<Axis>, Error> {
        let mut axes = Vec::new();
        self.axes_below(above, "", table, sampled, &mut axes)?;
        axes.sort_by_key(|axis| self.at(&format!("{above}.{}", axis.key)));
        Ok(axes)
    }

    fn axes_below(
        &self,
        above: &str,
        path: &str,
        table: &Table,
        sampled: bool,
        axes: &mut Vec<Axis>,
    ) -> Result<(), Error> {
        for (name, value) in table {
            let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let place = format!("{above}.{key}");
            let values = match value {
                Value::Array(values) if values.is_empty() => {
                    let message = "found an empty list, allowed: one value or more".to_owned();
                    return Err(self.refuse(&place, message));
                }
                Value::Array(values) => Values::List(values.iter().map(plain).collect()),
                Value::Table(table) if table.contains_key("from") || table.contains_key("to") => {
                    Values::Range(self.range(&place, table, sampled)?)
                }
                Value::Table(table) => {
                    self.axes_below(above, &key, table, sampled, axes)?;
                    continue;
                }
                value => {
                    let message = format!(
                        "found {value}, allowed: a list, or {{ from = …, to = …, steps = … }}"
                    );
                    return Err(self.refuse(&place, message));
                }
            };
            axes.push(Axis { key, values });
        }
        Ok(())
    }

    fn range(&self, place: &str, table: &Table, sampled: bool) -> Result<Range, Error> {
        let written: WrittenRange = Value::Table(table.clone())
            .try_into()
            .map_err(|error: toml::de::Error| self.refuse(place, error.message().to_owned()))?;
        let number = |key: &str, value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let digits = text.trim().trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
            let unit = text.trim()[digits.len()..].trim().to_owned();
            let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map(|number| (number, unit)).ok_or_else(|| {
                let message = format!("found {value}, allowed: a number, or one with a unit");
                self.refuse(&format!("{place}.{key}"), message)
            })
        };
        let (from, unit) = number("from", &written.from)?;
        let (to, other) = number("to", &written.to)?;
        let refuse = |message: String| Err(self.refuse(place, message));
        if unit != other {
            return refuse(format!("found the units `{unit}` and `{other}`, allowed: the same"));
        }
        if from >= to {
            return refuse(format!("found {from} to {to}, allowed: `from` below `to`"));
        }
        let log = written.scale == Scale::Log;
        if log && from <= 0.0 {
            return refuse(format!("found {from}, allowed: above 0 with a logarithmic scale"));
        }
        if !sampled && written.steps.is_none_or(|steps| steps == 0) {
            let message =
                "`steps` is missing; allowed: how many values a grid takes, 1 and above".to_owned();
            return refuse(message);
        }
        let whole = match (&written.from, &written.to) {
            (Value::Integer(_), Value::Integer(_)) => true,
            (Value::String(from), Value::String(to)) => !from.contains('.') && !to.contains('.'),
            _ => false,
        };
        Ok(Range { from, to, unit, log, whole, steps: written.steps })
    }

    /// The points, each once, without the skipped ones.
    fn points(
        &self,
        axes: &[Axis],
        whens: &[When],
        written: &Written,
    ) -> Result<Vec<Point>, Error> {
        let count = match &written.sample {
            Some(sample) => sample.points as usize,
            None => axes.iter().map(axes::count).fold(1, usize::saturating_mul),
        };
        if count > POINTS || count == 0 {
            let message = format!("found {count} points, allowed: 1 to {POINTS}");
            return Err(self.refuse("axes", message));
        }
        let mut points = match &written.sample {
            None => axes::grid(axes),
            Some(sample) => {
                let method = match sample.method {
                    WrittenMethod::Random => Method::Random,
                    WrittenMethod::LatinHypercube => Method::LatinHypercube,
                };
                axes::sample(axes, Sample { method, points: sample.points, seed: sample.seed })
            }
        };
        for when in whens {
            self.known(&when.matches, axes, "when")?;
            points = axes::extend(points, when);
            if points.len() > POINTS {
                let message = format!("found {} points, allowed: 1 to {POINTS}", points.len());
                return Err(self.refuse("when", message));
            }
        }
        let conditional: Vec<Axis> = whens.iter().flat_map(|when| when.axes.clone()).collect();
        for skip in &written.skip {
            let wanted = flat("", skip);
            self.known(&wanted, &[axes, &conditional].concat(), "skip")?;
            points.retain(|point| !axes::matches(point, &wanted));
        }
        match points.is_empty() {
            true => Err(self.refuse("skip", "no point is left; allowed: one or more".to_owned())),
            false => Ok(points),
        }
    }

    /// Refuses a condition on a key that is not an axis.
    fn known(&self, wanted: &Point, axes: &[Axis], place: &str) -> Result<(), Error> {
        let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
        match wanted.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => {
                let allowed = flashlane::config::load::allowed(key, &keys);
                Err(self.refuse(place, format!("`{key}` is no axis; {allowed}")))
            }
        }
    }

    fn check_run(&self, run: &Point) -> Result<(), Error> {
        match run.iter().find(|(key, _)| !point::RUN_KEYS.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => {
                let near = nearest(key, point::RUN_KEYS.iter().copied());
                let hint = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
                let message = format!("allowed: {}{hint}", point::RUN_KEYS.join(", "));
                Err(self.refuse(&format!("run.{key}"), message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Grid, String> {
        let text = format!("device = 'tiny'\nworkload = 'w.toml'\n{text}");
        Grid::parse(&text, Path::new("there/grid.toml")).map_err(|error| error.to_string())
    }

    fn shown(grid: &Grid) -> Vec<String> {
        grid.points.iter().map(|point| point::sets(point.iter()).join(" ")).collect()
    }

    #[test]
    fn axes_keep_the_order_of_the_file() {
        let grid = parse(
            "[run]\nseed = 3\n[set]\nftl.gc.threshold = '4 blocks'\n[axes]\nscheduler = ['fcfs', { flin = {} }]\n\
             flow.a.synthetic.queue_depth = [1, 2]\n\"device\" = ['tiny']\n",
        );
        let grid = grid.expect("valid");
        assert_eq!(grid.keys, ["scheduler", "flow.a.synthetic.queue_depth", "device"]);
        assert_eq!(
            shown(&grid)[0],
            "scheduler=\"fcfs\" flow.a.synthetic.queue_depth=1 device=\"tiny\""
        );
        assert_eq!(grid.points.len(), 4);
        assert_eq!(grid.base.overrides.sets, ["ftl.gc.threshold=\"4 blocks\""]);
        assert_eq!(grid.run, [("seed".to_owned(), serde_json::Value::from(3))]);
    }

    #[test]
    fn conditions_and_samples_make_other_points() {
        let grid = parse(
            "[axes]\na = [1, 2, 3]\n[[when]]\nif = { a = [1, 2] }\naxes.b = [5, 6]\n[[skip]]\na = 2\nb = 6\n",
        );
        let grid = grid.expect("valid");
        assert_eq!(shown(&grid), ["a=1 b=5", "a=1 b=6", "a=2 b=5", "a=3"]);
        assert_eq!(grid.keys, ["a", "b"]);
        let grid = parse(
            "[axes]\na = { from = '1us', to = '100us', scale = 'log' }\n[sample]\nmethod = 'latin-hypercube'\n\
             points = 50",
        );
        let grid = grid.expect("valid");
        assert_eq!(grid.points.len(), 50);
        let below = |grid: &Grid| {
            let values = grid.points.iter().map(|point| point[0].1.as_str().expect("a time"));
            values
                .filter(|value| value.trim_end_matches("us").parse::<f64>().expect("whole") < 10.0)
                .count()
        };
        assert!((23..=27).contains(&below(&grid)), "half of them lie below the geometric mean");
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, parts) in [
            ("[axes]\na = []", ["there/grid.toml: axes.a", "empty list"]),
            ("[axes]\na.b = 3", ["axes.a.b", "found 3, allowed: a list"]),
            ("[axes]\na = { from = 1, to = 2 }", ["axes.a", "`steps` is missing"]),
            ("[axes]\na = { from = 2, to = 1, steps = 3 }", ["axes.a", "`from` below `to`"]),
            ("[axes]\na = { from = '1us', to = '2ms', steps = 3 }", ["axes.a", "`us` and `ms`"]),
            ("[axes]\na = { from = 'x', to = 1, steps = 3 }", ["axes.a.from", "a number"]),
            ("[axes]\na = { from = 0, to = 1, steps = 3, scale = 'log' }", ["axes.a", "above 0"]),
            ("[axes]\na = [1]\n[run]\nsed = 1", ["run.sed", "did you mean `seed`?"]),
            ("[axes]\na = [1]\n[[skip]]\nb = 1", ["skip", "`b` is no axis"]),
            ("[axes]\na = [1]\n[[skip]]\na = 1", ["skip", "no point is left"]),
            ("[axis]\na = [1]", ["there/grid.toml:3", "unknown field"]),
            ("", ["there/grid.toml", "missing field `axes`"]),
            ("[axes]\na = [1]\n[sample]\nmethod = 'sobol'\npoints = 3", ["grid.toml:6", "sobol"]),
        ] {
            let error = parse(text).expect_err(text);
            for part in parts {
                assert!(error.contains(part), "{text}: {part}: {error}");
            }
        }
    }
}
