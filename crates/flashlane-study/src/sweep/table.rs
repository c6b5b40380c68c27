//! The table of a sweep. It has a row for each tenant of each point, and one row for a point that
//! failed.

use std::sync::Arc;

use flashlane_files::csv_line;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::Value;

use super::axes::Point;
use super::outcome::Outcome;

/// Figures of a tenant: the column, and the path below the flow in the summary.
const OF_FLOW: [(&str, &[&str]); 52] = [
    ("saturated", &["saturated"]),
    ("starved", &["starved"]),
    ("iops", &["iops"]),
    ("bandwidth_bytes_per_s", &["bandwidth_bytes_per_s"]),
    ("mean_us", &["response_time_us", "mean"]),
    ("p50_us", &["response_time_us", "p50"]),
    ("p90_us", &["response_time_us", "p90"]),
    ("p99_us", &["response_time_us", "p99"]),
    ("p99_9_us", &["response_time_us", "p99_9"]),
    ("max_us", &["response_time_us", "max"]),
    ("end_to_end_mean_us", &["end_to_end_us", "mean"]),
    ("end_to_end_p99_us", &["end_to_end_us", "p99"]),
    ("measured_requests", &["measured_response_time_us", "count"]),
    ("measured_mean_us", &["measured_response_time_us", "mean"]),
    ("measured_p50_us", &["measured_response_time_us", "p50"]),
    ("measured_p90_us", &["measured_response_time_us", "p90"]),
    ("measured_p99_us", &["measured_response_time_us", "p99"]),
    ("measured_p99_9_us", &["measured_response_time_us", "p99_9"]),
    ("measured_max_us", &["measured_response_time_us", "max"]),
    ("measured_error", &["measured_error"]),
    ("read_requests", &["read_response_time_us", "count"]),
    ("read_mean_us", &["read_response_time_us", "mean"]),
    ("read_p50_us", &["read_response_time_us", "p50"]),
    ("read_p90_us", &["read_response_time_us", "p90"]),
    ("read_p99_us", &["read_response_time_us", "p99"]),
    ("read_p99_9_us", &["read_response_time_us", "p99_9"]),
    ("read_max_us", &["read_response_time_us", "max"]),
    ("write_requests", &["write_response_time_us", "count"]),
    ("write_mean_us", &["write_response_time_us", "mean"]),
    ("write_p50_us", &["write_response_time_us", "p50"]),
    ("write_p90_us", &["write_response_time_us", "p90"]),
    ("write_p99_us", &["write_response_time_us", "p99"]),
    ("write_p99_9_us", &["write_response_time_us", "p99_9"]),
    ("write_max_us", &["write_response_time_us", "max"]),
    ("trim_requests", &["trim_response_time_us", "count"]),
    ("trim_mean_us", &["trim_response_time_us", "mean"]),
    ("trim_p50_us", &["trim_response_time_us", "p50"]),
    ("trim_p90_us", &["trim_response_time_us", "p90"]),
    ("trim_p99_us", &["trim_response_time_us", "p99"]),
    ("trim_p99_9_us", &["trim_response_time_us", "p99_9"]),
    ("trim_max_us", &["trim_response_time_us", "max"]),
    ("flush_requests", &["flush_response_time_us", "count"]),
    ("flush_mean_us", &["flush_response_time_us", "mean"]),
    ("flush_p50_us", &["flush_response_time_us", "p50"]),
    ("flush_p90_us", &["flush_response_time_us", "p90"]),
    ("flush_p99_us", &["flush_response_time_us", "p99"]),
    ("flush_p99_9_us", &["flush_response_time_us", "p99_9"]),
    ("flush_max_us", &["flush_response_time_us", "max"]),
    ("slowdown", &["slowdown"]),
    (OWN, &[OWN]),
    ("slo_met", &["slo", "met"]),
    ("flow_write_amplification", &["write_amplification"]),
];

/// The slowdown against the point's own tenants alone.
const OWN: &str = "own_slowdown";

/// Figures of the drive: the column, and the path in the summary.
const OF_DRIVE: [(&str, &[&str]); 4] = [
    ("fairness", &["fairness", "fairness"]),
    ("max_slowdown", &["fairness", "max_slowdown"]),
    ("write_amplification", &["flash", "write_amplification"]),
    ("erases", &["flash", "erases"]),
];

/// A cell of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// An empty cell.
    #[default]
    Empty,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Cell {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Empty,
            Value::Bool(yes) => Self::Flag(*yes),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Self::Integer(whole),
                (None, Some(number)) => Self::Number(number),
                (None, None) => Self::Text(number.to_string()),
            },
            Value::String(text) => Self::Text(text.clone()),
            other => Self::Text(other.to_string()),
        }
    }

    /// The cell as text. An empty cell gives an empty text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Flag(yes) => yes.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The table of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns: `point`, the keys, the figures, `error_kind` and `error`.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Makes the table from points and their results, in this order. Each of `keys` gets a column.
    /// A key with the name of a figure gets the prefix `key.`.
    #[must_use]
    pub fn of<'a>(
        keys: &[String],
        results: impl IntoIterator<Item = (&'a Point, &'a Outcome)>,
    ) -> Self {
        let figures: Vec<&str> = OF_FLOW.iter().chain(&OF_DRIVE).map(|one| one.0).collect();
        let fixed = |name: &str| {
            figures.contains(&name) || ["point", "flow", "error", "error_kind"].contains(&name)
        };
        let mut columns = vec!["point".to_owned()];
        columns.extend(keys.iter().map(|key| match fixed(key) {
            true => format!("key.{key}"),
            false => key.clone(),
        }));
        columns.push("flow".to_owned());
        columns.extend(figures.iter().map(|name| (*name).to_owned()));
        columns.extend(["error_kind".to_owned(), "error".to_owned()]);
        let rows = results.into_iter().enumerate().flat_map(|(at, one)| rows(keys, at, one));
        Self { rows: rows.collect(), columns }
    }

    /// The table as comma-separated values, by RFC 4180.
    #[must_use]
    pub fn csv(&self) -> String {
        let rows = self.rows.iter().map(|row| csv_line(row.iter().map(Cell::text)));
        std::iter::once(csv_line(&self.columns)).chain(rows).collect()
    }

    /// The table as a Parquet file. A column has the type of its cells if all cells have one type
    /// (whole numbers, numbers, or true and false), else it is text.
    ///
    /// # Errors
    /// Writing a table in memory causes no error that is known.
    pub fn parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let kinds: Vec<Kind> = (0..self.columns.len()).map(|at| self.kind(at)).collect();
        let fields = self.columns.iter().zip(&kinds).map(|(name, kind)| {
            let (physical, converted) = match kind {
                Kind::Flag => (Physical::BOOLEAN, ConvertedType::NONE),
                Kind::Integer => (Physical::INT64, ConvertedType::NONE),
                Kind::Number => (Physical::DOUBLE, ConvertedType::NONE),
                Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            };
            let field = Type::primitive_type_builder(name, physical);
            let field = field.with_repetition(Repetition::OPTIONAL).with_converted_type(converted);
            field.build().map(Arc::new)
        });
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("sweep").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_created_by(format!("flashlane {}", env!("CARGO_PKG_VERSION")))
            .build();
        let mut bytes = Vec::new();
        let mut file =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for (at, kind) in kinds.iter().enumerate() {
            let cells =
                || self.rows.iter().map(|row| &row[at]).filter(|cell| **cell != Cell::Empty);
            let levels: Vec<i16> =
                self.rows.iter().map(|row| i16::from(row[at] != Cell::Empty)).collect();
            let mut column = group.next_column()?.expect("a column for all cells");
            match kind {
                Kind::Flag => {
                    let values: Vec<bool> = cells().map(|cell| *cell == Cell::Flag(true)).collect();
                    column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
                }
                Kind::Integer => {
                    let values: Vec<i64> = cells().map(whole).collect();
                    column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
                }
                Kind::Number => {
                    let values: Vec<f64> = cells().map(number).collect();
                    column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
                Kind::Text => {
                    let values: Vec<ByteArray> =
                        cells().map(|cell| ByteArray::from(cell.text().as_str())).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                }
            }
            column.close()?;
        }
        group.close()?;
        file.close()?;
        Ok(bytes)
    }

    /// The type that fits all cells of a column.
    fn kind(&self, at: usize) -> Kind {
        let cells = || self.rows.iter().map(|row| &row[at]).filter(|cell| **cell != Cell::Empty);
        let name = self.columns[at].as_str();
        let figure = OF_FLOW.iter().chain(&OF_DRIVE).any(|one| one.0 == name);
        match () {
            () if cells().next().is_none() && !figure => Kind::Text,
            () if matches!(name, "saturated" | "starved" | "slo_met") => Kind::Flag,
            () if figure => Kind::Number,
            () if cells().all(|cell| matches!(cell, Cell::Flag(_))) => Kind::Flag,
            () if cells().all(|cell| matches!(cell, Cell::Integer(_))) => Kind::Integer,
            () if cells().all(|cell| matches!(cell, Cell::Integer(_) | Cell::Number(_))) => {
                Kind::Number
            }
            () => Kind::Text,
        }
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Flag,
    Integer,
    Number,
    Text,
}

fn whole(cell: &Cell) -> i64 {
    if let Cell::Integer(number) = cell { *number } else { 0 }
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Integer(number) => *number as f64,
        Cell::Number(number) => *number,
        _ => f64::NAN,
    }
}

fn rows(keys: &[String], at: usize, (point, outcome): (&Point, &Outcome)) -> Vec<Vec<Cell>> {
    let mut head = vec![Cell::Integer(at as i64)];
    head.extend(keys.iter().map(|key| {
        let value = point.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        value.map_or(Cell::Empty, Cell::of)
    }));
    let figures = OF_FLOW.len() + OF_DRIVE.len();
    match outcome {
        Outcome::Failed(trouble, why) => {
            let empty = vec![Cell::Empty; 1 + figures];
            let why: Vec<&str> = why.lines().map(str::trim).collect();
            let said = vec![Cell::Text(trouble.name().to_owned()), Cell::Text(why.join("; "))];
            vec![[head, empty, said].concat()]
        }
        Outcome::Done(summary) => {
            let below = |value: &Value, path: &[&str]| {
                // There is no latency without a request.
                // Where there is one slowdown, it is against the point's own tenants alone.
                let path = match path {
                    [OWN] if value[OWN].is_null() => &["slowdown"],
                    path => path,
                };
                let latency = path.len() == 2 && path[1] != "count" && value[path[0]]["count"] == 0;
                if latency {
                    return Cell::Empty;
                }
                Cell::of(path.iter().fold(value, |value, key| &value[*key]))
            };
            let flows = summary["flows"].as_array().map_or(&[][..], Vec::as_slice);
            let row = |flow: &Value| {
                let mut row = head.clone();
                row.push(below(flow, &["name"]));
                row.extend(OF_FLOW.iter().map(|one| below(flow, one.1)));
                row.extend(OF_DRIVE.iter().map(|one| below(summary, one.1)));
                row.extend([Cell::Empty, Cell::Empty]);
                row
            };
            flows.iter().map(row).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::outcome::Trouble;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use serde_json::json;

    fn table() -> Table {
        let points: [Point; 3] = [
            vec![("scheduler".into(), json!("fcfs")), ("depth".into(), json!(1))],
            vec![("scheduler".into(), json!({"flin": {}})), ("depth".into(), json!(2))],
            vec![("scheduler".into(), json!("x, \"y\""))],
        ];
        let flow = |name: &str, iops: f64| json!({"name": name, "iops": iops, "saturated": false});
        let summary = |flows: Value| Outcome::Done(json!({"flows": flows, "flash": {"erases": 7}}));
        let results = [
            summary(json!([flow("a", 1.5), flow("b", 2.0)])),
            Outcome::Failed(Trouble::Stuck, "request 7 waits\nfor ever".to_owned()),
            summary(json!([flow("a", 3.0)])),
        ];
        Table::of(&["scheduler".into(), "depth".into(), "iops".into()], points.iter().zip(&results))
    }

    #[test]
    fn every_tenant_and_every_failure_is_a_row() {
        let table = table();
        assert_eq!(table.columns[..5], ["point", "scheduler", "depth", "key.iops", "flow"]);
        let column = |name: &str| {
            let at = table.columns.iter().position(|one| one == name).expect("a column");
            table.rows.iter().map(|row| row[at].text()).collect::<Vec<_>>()
        };
        assert_eq!(column("point"), ["0", "0", "1", "2"]);
        assert_eq!(column("flow"), ["a", "b", "", "a"]);
        assert_eq!(column("iops"), ["1.5", "2", "", "3"]);
        assert_eq!(column("error_kind"), ["", "", "stuck", ""]);
        let csv = table.csv();
        assert_eq!(csv.lines().next().map(|line| line.matches(',').count()), Some(62));
        assert!(csv.contains("\"x, \"\"y\"\"\"") && csv.contains(",request 7 waits; for ever"));
    }

    #[test]
    fn columns_of_the_file_have_types() {
        let bytes = table().parquet().expect("written");
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("Parquet");
        let rows: Vec<_> =
            file.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), 4);
        let of = |row: usize, name: &str| {
            let found = rows[row].get_column_iter().find(|(column, _)| *column == name);
            found.map(|(_, field)| field.clone()).expect("a column")
        };
        assert_eq!(of(1, "depth"), Field::Long(1));
        assert_eq!(of(1, "iops"), Field::Double(2.0));
        assert_eq!(of(1, "saturated"), Field::Bool(false));
        assert_eq!(of(2, "iops"), Field::Null);
        assert_eq!(of(2, "scheduler"), Field::Str("{\"flin\":{}}".to_owned()));
        assert_eq!(of(3, "depth"), Field::Null);
        assert_eq!(of(0, "erases"), Field::Double(7.0));
    }
}
