//! Tables of columns in Arrow's memory layout: pandas, polars and pyarrow read them without a copy.

use std::sync::Arc;

use arrow_array::builder::{StringDictionaryBuilder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::UInt16Type;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, UInt32Array,
    UInt64Array,
};
use arrow_schema::{ArrowError, SchemaRef};
use flashlane::Details;
use flashlane::drive::Submitted;
use flashlane::observe::{RequestBatch, Slice, TimeSeries, Timeline};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};

use crate::rows::Rows;

/// Named columns of equal length in Arrow's memory layout.
///
/// Every library that reads Arrow takes it without a copy: ``pyarrow.table(t)``,
/// ``polars.DataFrame(t)``, ``pandas.DataFrame.from_arrow(t)``, ``duckdb``. As an iterable it gives
/// its rows as dictionaries, slowly: ``pandas.DataFrame(t)``, ``for row in t``.
#[pyclass(frozen, module = "flashlane", name = "Table")]
#[derive(Clone, Debug)]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

fn broken(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("table: {error}"))
}

impl Table {
    /// A table of columns of equal length.
    pub(crate) fn of(columns: Vec<(&str, ArrayRef)>) -> Self {
        let batch = RecordBatch::try_from_iter(columns).expect("columns of equal length");
        Self { schema: batch.schema(), batches: vec![batch] }
    }

    /// A table of batches with one schema.
    pub(crate) fn of_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// Imports a library of an optional part of the package, or raises an error that says what to
/// install.
fn needed<'py>(py: Python<'py>, name: &str, extra: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("flashlane.optional")?.getattr("needed")?.call1((name, extra))
}

#[pymethods]
impl Table {
    /// Names of the columns; those of times and sizes end in their unit.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.rows()
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    /// The rows as dictionaries, one after the other.
    fn __iter__(&self) -> Rows {
        Rows::new(self.batches.clone())
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.rows(), self.column_names().join(", "))
    }

    /// The rows as a ``pandas.DataFrame``. Needs pandas and pyarrow.
    ///
    /// Raises:
    ///     ModuleNotFoundError: they are not installed; the message says how to get them.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let table = needed(slf.py(), "pyarrow", "pandas")?.call_method1("table", (slf,))?;
        table.call_method0("to_pandas")
    }

    /// The rows as a ``polars.DataFrame``, without a copy. Needs polars.
    ///
    /// Raises:
    ///     ModuleNotFoundError: it is not installed; the message says how to get it.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        needed(slf.py(), "polars", "polars")?.call_method1("DataFrame", (slf,))
    }

    /// Arrow's PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore the requested types.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let table = slf.get();
        let mut bytes = Vec::new();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &table.schema)
            .map_err(|error| broken(&error))?;
        for batch in &table.batches {
            writer.write(batch).map_err(|error| broken(&error))?;
        }
        writer.finish().map_err(|error| broken(&error))?;
        drop(writer);
        let made = py.import("flashlane._flashlane")?.getattr("Table")?.getattr("_from_ipc")?;
        let arguments = PyTuple::new(py, [PyBytes::new(py, &bytes)])?;
        PyTuple::new(py, [made, arguments.into_any()])
    }

    /// A table from the bytes of an Arrow IPC stream.
    #[staticmethod]
    fn _from_ipc(bytes: &[u8]) -> PyResult<Self> {
        let reader = arrow_ipc::reader::StreamReader::try_new(bytes, None);
        let reader = reader.map_err(|error| broken(&error))?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(|error| broken(&error))?;
        Ok(Self { schema, batches })
    }
}

/// A column of names. It is a dictionary, because there are only few different names.
fn names(values: impl Iterator<Item = Option<impl AsRef<str>>>) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<UInt16Type>::new();
    for value in values {
        builder.append_option(value);
    }
    Arc::new(builder.finish())
}

fn u64s(values: Vec<u64>) -> ArrayRef {
    Arc::new(UInt64Array::from(values))
}

/// A batch of request records. The columns of times keep their memory.
pub(crate) fn requests(batch: RequestBatch, flows: &[String]) -> RecordBatch {
    RecordBatch::try_from_iter(columns(batch, flows)).expect("columns of equal length")
}

/// Completions of a drive that a program steps.
pub(crate) fn completions(cookies: Vec<u64>, batch: RequestBatch, tenants: &[String]) -> Table {
    let mut columns = columns(batch, tenants);
    // Every command counts, so the column is not needed.
    columns.retain(|(name, _)| *name != "counted");
    columns[0].0 = "tenant";
    columns.insert(0, ("cookie", u64s(cookies)));
    Table::of(columns)
}

fn columns(batch: RequestBatch, flows: &[String]) -> Vec<(&'static str, ArrayRef)> {
    let flow = names(batch.flow.iter().map(|&flow| Some(&flows[usize::from(flow)])));
    let op = names(batch.op.iter().map(|&op| Some(op.name())));
    vec![
        ("flow", flow),
        ("op", op),
        ("offset_bytes", u64s(batch.offset_bytes)),
        ("bytes", u64s(batch.bytes)),
        ("counted", Arc::new(BooleanArray::from(batch.counted))),
        ("pages", Arc::new(UInt32Array::from(batch.pages))),
        ("arrival_ps", u64s(batch.arrival_ps)),
        ("submit_ps", u64s(batch.submit_ps)),
        ("complete_ps", u64s(batch.complete_ps)),
        ("submission_ps", u64s(batch.submission_ps)),
        ("transfer_in_ps", u64s(batch.transfer_in_ps)),
        ("firmware_ps", u64s(batch.firmware_ps)),
        ("cache_ps", u64s(batch.cache_ps)),
        ("mapping_ps", u64s(batch.mapping_ps)),
        ("flash_queue_ps", u64s(batch.flash_queue_ps)),
        ("flash_bus_ps", u64s(batch.flash_bus_ps)),
        ("flash_array_ps", u64s(batch.flash_array_ps)),
        ("transfer_out_ps", u64s(batch.transfer_out_ps)),
    ]
}

/// The schema of [`requests`].
pub(crate) fn request_schema() -> SchemaRef {
    requests(RequestBatch::default(), &[]).schema()
}

/// The submissions of the flows of a run, in their order. A drive can replay this table.
pub(crate) fn submissions(submitted: &[Submitted], flows: &[String]) -> Table {
    let commands = || submitted.iter().map(|it| it.command);
    let ops = commands().map(|command| command.operation.name());
    let tenants = submitted.iter().map(|it| Some(&flows[usize::from(it.tenant)]));
    let by_clock: Vec<bool> = submitted.iter().map(|it| !it.at_once).collect();
    Table::of(vec![
        ("after_reports", u64s(submitted.iter().map(|it| it.after).collect())),
        ("at_ps", u64s(submitted.iter().map(|it| it.at.0).collect())),
        ("tenant", names(tenants)),
        ("op", names(ops.map(Some))),
        ("lba", u64s(commands().map(|command| command.sector).collect())),
        ("sectors", Arc::new(UInt32Array::from_iter_values(commands().map(|it| it.sectors)))),
        ("by_clock", Arc::new(BooleanArray::from(by_clock))),
    ])
}

/// One row for each window and flow. Rows without a flow are for the device.
pub(crate) fn time_series(series: &TimeSeries) -> Table {
    let rows = || {
        series.windows.iter().flat_map(|window| {
            let flows = window.flows.iter().enumerate().map(|(at, point)| (Some(at), Some(point)));
            flows.chain([(None, None)]).map(move |(flow, point)| (window, flow, point))
        })
    };
    let flow = names(rows().map(|(_, flow, _)| flow.map(|at| &series.flows[at])));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("start_s", Arc::new(Float64Array::from_iter_values(rows().map(|(w, ..)| w.start_s)))),
        ("end_s", Arc::new(Float64Array::from_iter_values(rows().map(|(w, ..)| w.end_s)))),
        ("flow", flow),
    ];
    type OfFlow = fn(&flashlane::observe::FlowPoint) -> Option<f64>;
    let flow_figures: [(&str, OfFlow); 13] = [
        ("requests", |p| Some(p.requests as f64)),
        ("read_iops", |p| Some(p.read_iops)),
        ("write_iops", |p| Some(p.write_iops)),
        ("read_bytes_per_s", |p| Some(p.read_bytes_per_s)),
        ("write_bytes_per_s", |p| Some(p.write_bytes_per_s)),
        ("response_mean_us", |p| p.response_mean_us),
        ("response_p50_us", |p| p.response_p50_us),
        ("response_p99_us", |p| p.response_p99_us),
        ("end_to_end_mean_us", |p| p.end_to_end_mean_us),
        ("slowdown", |p| p.slowdown),
        ("waiting_requests", |p| Some(p.waiting_requests)),
        ("device_requests", |p| Some(p.device_requests)),
        ("set_chips", |p| p.set_chips.map(f64::from)),
    ];
    for (name, figure) in flow_figures {
        let values = rows().map(|(_, _, point)| point.and_then(figure));
        columns.push((name, Arc::new(Float64Array::from_iter(values))));
    }
    type OfDevice = fn(&flashlane::observe::DevicePoint) -> Option<f64>;
    let device_figures: [(&str, OfDevice); 9] = [
        ("free_blocks_min", |p| Some(p.free_blocks_min as f64)),
        ("free_blocks", |p| Some(p.free_blocks as f64)),
        ("user_programs", |p| Some(p.user_programs as f64)),
        ("gc_programs", |p| Some(p.gc_programs as f64)),
        ("mapping_programs", |p| Some(p.mapping_programs as f64)),
        ("erases", |p| Some(p.erases as f64)),
        ("write_amplification", |p| p.write_amplification),
        ("channels_busy", |p| Some(p.channels_busy)),
        ("chips_busy", |p| Some(p.chips_busy)),
    ];
    for (name, figure) in device_figures {
        let device = |flow: Option<usize>| flow.is_none();
        let values = rows().map(|(w, flow, _)| device(flow).then(|| figure(&w.device)).flatten());
        columns.push((name, Arc::new(Float64Array::from_iter(values))));
    }
    Table::of(columns)
}

/// Work of hosts, cache, channels and dies: one row for each slice.
pub(crate) fn timeline(timeline: &Timeline) -> Table {
    let slices = &timeline.slices;
    let track = |slice: &Slice| timeline.tracks.get(slice.track as usize);
    let above = |slice: &Slice| timeline.tracks.get(track(slice)?.parent? as usize);
    let flow = |slice: &Slice| timeline.flows.get(usize::from(slice.flow));
    let request = |slice: &Slice| (slice.request > 0).then_some(slice.request);
    Table::of(vec![
        ("part", names(slices.iter().map(|slice| above(slice).map(|track| &track.name)))),
        ("track", names(slices.iter().map(|slice| track(slice).map(|track| &track.name)))),
        ("name", names(slices.iter().map(|slice| Some(slice.name)))),
        ("flow", names(slices.iter().map(flow))),
        ("request", Arc::new(UInt64Array::from_iter(slices.iter().map(request)))),
        ("start_ps", u64s(slices.iter().map(|slice| slice.start).collect())),
        ("end_ps", u64s(slices.iter().map(|slice| slice.end).collect())),
    ])
}

/// Distributions of response times: one row for each flow, operation and step.
pub(crate) fn histograms(flows: &[String], details: &Details) -> Table {
    let kinds = details.by_operation();
    let rows = || {
        kinds.iter().flat_map(|(op, of_flows)| {
            let flows = of_flows.iter().zip(flows);
            flows.flat_map(move |(steps, flow)| steps.iter().map(move |step| (*op, flow, step)))
        })
    };
    Table::of(vec![
        ("flow", names(rows().map(|(_, flow, _)| Some(flow)))),
        ("op", names(rows().map(|(op, ..)| Some(op)))),
        ("response_us", Arc::new(Float64Array::from_iter_values(rows().map(|(.., s)| s.0)))),
        ("share_at_or_below", Arc::new(Float64Array::from_iter_values(rows().map(|(.., s)| s.1)))),
    ])
}

/// Columns of a trace, gathered row by row.
#[derive(Debug, Default)]
pub(crate) struct TraceColumns {
    time_ps: UInt64Builder,
    op: Vec<&'static str>,
    offset_bytes: UInt64Builder,
    bytes: UInt64Builder,
    device: Vec<u32>,
}

impl TraceColumns {
    /// Adds a request.
    pub(crate) fn push(&mut self, record: &flashlane_trace::Record) {
        self.time_ps.append_value(record.time_ps);
        self.op.push(match record.op {
            flashlane_trace::Op::Read => "read",
            flashlane_trace::Op::Write => "write",
            flashlane_trace::Op::Trim => "trim",
            flashlane_trace::Op::Flush => "flush",
        });
        self.offset_bytes.append_value(record.offset_bytes);
        self.bytes.append_value(record.length_bytes);
        self.device.push(record.device);
    }

    /// The table.
    pub(crate) fn finish(mut self) -> Table {
        Table::of(vec![
            ("time_ps", Arc::new(self.time_ps.finish())),
            ("op", names(self.op.into_iter().map(Some))),
            ("offset_bytes", Arc::new(self.offset_bytes.finish())),
            ("bytes", Arc::new(self.bytes.finish())),
            ("device", Arc::new(UInt32Array::from(self.device))),
        ])
    }
}
