//! `timeseries.parquet`: a row for every window and flow, and one for the device.

use flashlane::Error;
use flashlane::observe::{DevicePoint, FlowPoint, SeriesWindow, TimeSeries};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;

use crate::columns::{Column, Kind, TableWriter, Values};

const REAL: Kind = Kind::OptionalNumber;
const COUNT: Kind = Kind::OptionalInteger;

/// Columns of the file: those of a flow, then those of the device. Columns that do not apply to a
/// row are empty. `docs/results.md` explains them.
const COLUMNS: [Column; 25] = [
    ("start_s", REAL),
    ("end_s", REAL),
    ("flow", Kind::OptionalName),
    ("requests", COUNT),
    ("read_iops", REAL),
    ("write_iops", REAL),
    ("read_bytes_per_s", REAL),
    ("write_bytes_per_s", REAL),
    ("response_mean_us", REAL),
    ("response_p50_us", REAL),
    ("response_p99_us", REAL),
    ("end_to_end_mean_us", REAL),
    ("slowdown", REAL),
    ("waiting_requests", REAL),
    ("device_requests", REAL),
    ("set_chips", COUNT),
    ("free_blocks_min", COUNT),
    ("free_blocks", COUNT),
    ("user_programs", COUNT),
    ("gc_programs", COUNT),
    ("mapping_programs", COUNT),
    ("erases", COUNT),
    ("write_amplification", REAL),
    ("channels_busy", REAL),
    ("chips_busy", REAL),
];

/// A row: the window, and a flow or the device.
#[derive(Clone, Copy)]
struct Row<'a> {
    window: &'a SeriesWindow,
    flow: Option<(usize, &'a FlowPoint)>,
}

/// The file.
///
/// # Errors
/// Only for a fault of the format's library.
pub fn parquet(series: &TimeSeries) -> Result<Vec<u8>, Error> {
    write(series)
        .map_err(|error| Error::Output(format!("timeseries.parquet: cannot be written: {error}")))
}

fn write(series: &TimeSeries) -> Result<Vec<u8>, ParquetError> {
    let rows: Vec<Row<'_>> = series
        .windows
        .iter()
        .flat_map(|window| {
            let flows = window.flows.iter().enumerate().map(Some);
            flows.chain([None]).map(move |flow| Row { window, flow })
        })
        .collect();
    let names: Vec<ByteArray> =
        series.flows.iter().map(|name| ByteArray::from(name.as_str())).collect();
    let real =
        |value: &dyn Fn(&Row<'_>) -> Option<f64>| Values::Numbers(rows.iter().map(value).collect());
    let of_flow = |value: &dyn Fn(&FlowPoint) -> Option<f64>| {
        real(&|row| row.flow.and_then(|(_, point)| value(point)))
    };
    let of_device = |value: &dyn Fn(&DevicePoint) -> Option<f64>| {
        real(&|row| if row.flow.is_none() { value(&row.window.device) } else { None })
    };
    let count = |value: &dyn Fn(&Row<'_>) -> Option<u64>| {
        let value = |row: &Row<'_>| value(row).map(|count| count as i64);
        Values::Integers(rows.iter().map(value).collect())
    };
    let counted = |value: &dyn Fn(&DevicePoint) -> u64| {
        count(&|row| row.flow.is_none().then(|| value(&row.window.device)))
    };
    let name = |row: &Row<'_>| row.flow.map(|(flow, _)| names[flow].clone());
    let about = [("flashlane.window_s", series.window_s.to_string())];
    let mut table = TableWriter::new(Vec::new(), &COLUMNS, &about)?;
    table.group(&[
        real(&|row| Some(row.window.start_s)),
        real(&|row| Some(row.window.end_s)),
        Values::Names(rows.iter().map(name).collect()),
        count(&|row| row.flow.map(|(_, point)| point.requests)),
        of_flow(&|point| Some(point.read_iops)),
        of_flow(&|point| Some(point.write_iops)),
        of_flow(&|point| Some(point.read_bytes_per_s)),
        of_flow(&|point| Some(point.write_bytes_per_s)),
        of_flow(&|point| point.response_mean_us),
        of_flow(&|point| point.response_p50_us),
        of_flow(&|point| point.response_p99_us),
        of_flow(&|point| point.end_to_end_mean_us),
        of_flow(&|point| point.slowdown),
        of_flow(&|point| Some(point.waiting_requests)),
        of_flow(&|point| Some(point.device_requests)),
        count(&|row| row.flow.and_then(|(_, point)| point.set_chips.map(u64::from))),
        counted(&|device| device.free_blocks_min),
        counted(&|device| device.free_blocks),
        counted(&|device| device.user_programs),
        counted(&|device| device.gc_programs),
        counted(&|device| device.mapping_programs),
        counted(&|device| device.erases),
        of_device(&|device| device.write_amplification),
        of_device(&|device| Some(device.channels_busy)),
        of_device(&|device| Some(device.chips_busy)),
    ])?;
    table.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::observe::DevicePoint;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    #[test]
    fn a_window_has_a_row_for_each_flow_and_one_for_the_device() {
        let point = |requests, slowdown| FlowPoint { requests, slowdown, ..FlowPoint::default() };
        let device = DevicePoint { erases: 7, channels_busy: 0.25, ..DevicePoint::default() };
        let window = |start_s: f64| SeriesWindow {
            start_s,
            end_s: start_s + 0.5,
            flows: vec![point(3, Some(2.0)), point(4, None)],
            device,
            chips: Vec::new(),
        };
        let flows = vec!["one".to_owned(), "two".to_owned()];
        let series = TimeSeries { window_s: 0.5, flows, windows: vec![window(0.0), window(0.5)] };
        let bytes = parquet(&series).unwrap();
        let file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &file, &bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 6);
        let field = |row: usize, name: &str| {
            let mut fields = rows[row].get_column_iter();
            fields.find(|(column, _)| *column == name).unwrap().1.clone()
        };
        assert_eq!(field(0, "flow"), Field::Str("one".into()));
        assert_eq!(field(4, "flow"), Field::Str("two".into()));
        assert_eq!(
            (field(4, "requests"), field(4, "start_s")),
            (Field::Long(4), Field::Double(0.5))
        );
        assert_eq!((field(3, "slowdown"), field(4, "slowdown")), (Field::Double(2.0), Field::Null));
        assert_eq!((field(5, "flow"), field(5, "erases")), (Field::Null, Field::Long(7)));
        assert_eq!((field(5, "requests"), field(0, "erases")), (Field::Null, Field::Null));
        assert_eq!(field(5, "channels_busy"), Field::Double(0.25));
    }
}
