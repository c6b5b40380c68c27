//! Commands from Python, one by one or as the rows of an Arrow table, and completions for Python.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_schema::DataType;
use flashlane::Time;
use flashlane::drive::{
    self, Command, Operation, PlacementEvent, Submitted, ZoneFailure, ZoneReport,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::not_commands;

/// Start, capacity, state and write pointer of a zone.
pub(super) type Zone = (u64, u64, String, u64);

/// A zone for Python.
pub(super) fn zone(zone: &ZoneReport) -> Zone {
    (zone.start, zone.capacity, zone.state.to_string(), zone.pointer)
}

/// The use that is left of a zone that fails.
pub(super) fn failure(state: &str) -> PyResult<ZoneFailure> {
    match state {
        "read only" => Ok(ZoneFailure::ReadOnly),
        "offline" => Ok(ZoneFailure::Offline),
        _ => {
            let message = format!("state: found `{state}`, allowed: read only, offline");
            Err(PyValueError::new_err(message))
        }
    }
}

/// Time, kind, placement identifier and pages of an event of placement.
pub(super) type Event = (u64, &'static str, Option<u8>, u32);

/// An event of placement for Python.
pub(super) fn event(event: &PlacementEvent) -> Event {
    (event.at.0, event.kind.name(), event.identifier, event.pages)
}

/// The operation with this name.
pub(super) fn operation(name: &str) -> PyResult<Operation> {
    Operation::ALL.into_iter().find(|operation| operation.name() == name).ok_or_else(|| {
        let names = Operation::ALL.map(Operation::name);
        let (plain, of_zones) = names.split_at(4);
        PyValueError::new_err(format!(
            "op: found `{}`, allowed: {}; with zones {}",
            flashlane::visible(name),
            plain.join(", "),
            of_zones.join(", ")
        ))
    })
}

/// A completed command, as an object of Python.
#[pyclass(frozen, module = "flashlane._flashlane", name = "Completion")]
pub(crate) struct Completion {
    pub(super) tenant: String,
    pub(super) done: drive::Completion,
}

/// Makes a number of the record an attribute.
macro_rules! getters {
    ($($name:ident),*) => {
        #[pymethods]
        impl Completion {
            $(#[getter]
            fn $name(&self) -> u64 {
                self.done.record.$name.into()
            })*

            #[getter]
            fn cookie(&self) -> u64 {
                self.done.cookie
            }

            #[getter]
            fn tenant(&self) -> &str {
                &self.tenant
            }

            #[getter]
            fn op(&self) -> &'static str {
                self.done.record.op.name()
            }

            #[getter]
            fn refusal(&self) -> Option<String> {
                self.done.refusal.map(|refusal| refusal.to_string())
            }

            #[getter]
            fn latency_ps(&self) -> u64 {
                self.done.record.complete_ps - self.done.record.submit_ps
            }

            fn __repr__(&self) -> String {
                let latency = Time(self.latency_ps());
                let (cookie, op, tenant) = (self.done.cookie, self.op(), &self.tenant);
                format!("Completion({op} of {tenant:?}, cookie={cookie}, {latency})")
            }
        }
    };
}

getters!(
    offset_bytes,
    bytes,
    pages,
    arrival_ps,
    submit_ps,
    complete_ps,
    submission_ps,
    transfer_in_ps,
    firmware_ps,
    cache_ps,
    mapping_ps,
    flash_queue_ps,
    flash_bus_ps,
    flash_array_ps,
    transfer_out_ps
);

/// A row of a table of commands.
pub(super) struct Row {
    /// The time of the command. `None` stands for the current time of the drive.
    pub(super) at: Option<Time>,
    pub(super) tenant: usize,
    pub(super) command: Command,
    pub(super) cookie: u64,
    pub(super) by_clock: bool,
    /// Number of reports of the drive before the command.
    pub(super) after: u64,
}

impl Row {
    /// The row in the form of a recording.
    pub(super) fn submitted(&self) -> Submitted {
        Submitted {
            after: self.after,
            at: self.at.unwrap_or(Time::ZERO),
            tenant: u16::try_from(self.tenant).unwrap_or(u16::MAX),
            command: self.command,
            at_once: !self.by_clock,
        }
    }
}

/// The commands of an object that offers an Arrow stream.
pub(super) fn from_arrow(
    table: &Bound<'_, PyAny>,
    tenant_named: impl Fn(&str) -> PyResult<usize>,
) -> PyResult<Vec<Row>> {
    let mut rows = Vec::new();
    for batch in reader(table)? {
        let batch = batch.map_err(|error| not_commands(error.to_string()))?;
        add_rows(&batch, &tenant_named, &mut rows)?;
    }
    Ok(rows)
}

/// Takes over the stream of an object. The capsule then holds a released stream.
fn reader(table: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let Ok(export) = table.getattr("__arrow_c_stream__") else {
        return Err(PyTypeError::new_err(format!(
            "submit_batch: found {}, allowed: a table with Arrow's PyCapsule interface, such as those of \
             pyarrow, polars and pandas",
            table.get_type().name()?
        )));
    };
    let capsule = export.call0()?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a valid `ArrowArrayStream`, by the interface. `from_raw`
    // moves it out and leaves a released one behind, which the capsule's destructor accepts.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr().cast()) };
    ArrowArrayStreamReader::try_new(stream).map_err(|error| not_commands(error.to_string()))
}

fn add_rows(
    batch: &RecordBatch,
    tenant_named: &impl Fn(&str) -> PyResult<usize>,
    rows: &mut Vec<Row>,
) -> PyResult<()> {
    const COLUMNS: [&str; 8] =
        ["tenant", "op", "lba", "sectors", "at_ps", "cookie", "by_clock", "after_reports"];
    let schema = batch.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    if let Some(stranger) = names.clone().find(|name| !COLUMNS.contains(name)) {
        let (found, allowed) = (flashlane::visible(stranger), COLUMNS.join(", "));
        return Err(not_commands(format!("found a column `{found}`, allowed: {allowed}")));
    }
    let column = |name: &str| {
        batch.column_by_name(name).ok_or_else(|| {
            let missing = "allowed: tables with tenant, op, lba and sectors";
            not_commands(format!("found no column `{name}`, {missing}"))
        })
    };
    let tenant = column("tenant")?;
    let tenants: Vec<usize> = match is_text(tenant.data_type()) {
        true => texts("tenant", tenant, tenant_named)?,
        false => numbers("tenant", tenant)?
            .into_iter()
            .map(|place| usize::try_from(place).unwrap_or(usize::MAX))
            .collect(),
    };
    let operations = texts("op", column("op")?, operation)?;
    let sectors = numbers("lba", column("lba")?)?;
    let lengths = numbers("sectors", column("sectors")?)?;
    let optional = |name| batch.column_by_name(name).map(|it| numbers(name, it)).transpose();
    let (at, cookies) = (optional("at_ps")?, optional("cookie")?);
    let after = optional("after_reports")?;
    let by_clock = match batch.column_by_name("by_clock") {
        Some(column) => match column.as_boolean_opt() {
            Some(flags) if flags.null_count() == 0 => Some(flags.clone()),
            _ => return Err(not_commands("column `by_clock`: allowed: booleans without gaps")),
        },
        None => None,
    };
    rows.reserve(batch.num_rows());
    for row in 0..batch.num_rows() {
        // The drive refuses a length that does not fit, as it refuses all lengths that are too
        // large.
        let length = u32::try_from(lengths[row]).unwrap_or(u32::MAX);
        rows.push(Row {
            at: at.as_ref().map(|at| Time(at[row])),
            tenant: tenants[row],
            command: Command::new(operations[row], sectors[row], length),
            cookie: cookies.as_ref().map_or(rows.len() as u64, |cookies| cookies[row]),
            by_clock: by_clock.as_ref().is_some_and(|flags| flags.value(row)),
            after: after.as_ref().map_or(0, |after| after[row]),
        });
    }
    Ok(())
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

fn wrong_type(name: &str, column: &ArrayRef, allowed: &str) -> PyErr {
    not_commands(format!("column `{name}`: found {}, allowed: {allowed}", column.data_type()))
}

/// Reads a column of whole numbers of any width, which must not be negative.
fn numbers(name: &str, column: &ArrayRef) -> PyResult<Vec<u64>> {
    fn of<T: ArrowPrimitiveType>(name: &str, column: &ArrayRef) -> PyResult<Vec<u64>>
    where
        T::Native: TryInto<u64> + std::fmt::Display + Copy,
    {
        let values = column.as_primitive::<T>();
        let taken = values.iter().enumerate().map(|(row, value)| {
            let value = value.ok_or_else(|| gap(name, row))?;
            value.try_into().map_err(|_| {
                not_commands(format!(
                    "column `{name}`, row {row}: found {value}, allowed: 0 or more"
                ))
            })
        });
        taken.collect()
    }
    match column.data_type() {
        DataType::UInt64 if column.null_count() == 0 => {
            Ok(column.as_primitive::<UInt64Type>().values().to_vec())
        }
        DataType::UInt64 => of::<UInt64Type>(name, column),
        DataType::UInt32 => of::<UInt32Type>(name, column),
        DataType::UInt16 => of::<UInt16Type>(name, column),
        DataType::UInt8 => of::<UInt8Type>(name, column),
        DataType::Int64 => of::<Int64Type>(name, column),
        DataType::Int32 => of::<Int32Type>(name, column),
        DataType::Int16 => of::<Int16Type>(name, column),
        DataType::Int8 => of::<Int8Type>(name, column),
        _ => Err(wrong_type(name, column, "integers")),
    }
}

fn gap(name: &str, row: usize) -> PyErr {
    not_commands(format!(
        "column `{name}`, row {row}: found no value, allowed: a value in every row"
    ))
}

/// Translates a column of names. Each name of a dictionary is translated once.
fn texts<T: Copy>(
    name: &str,
    column: &ArrayRef,
    meaning: impl Fn(&str) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    if let Some(row) = (column.null_count() > 0).then(|| first_null(column)) {
        return Err(gap(name, row));
    }
    if let Some(dictionary) = column.as_any_dictionary_opt() {
        let values = texts(name, dictionary.values(), meaning)?;
        return Ok(dictionary.normalized_keys().into_iter().map(|key| values[key]).collect());
    }
    let each = |text: Option<&str>| meaning(text.unwrap_or_default());
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().map(each).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(each).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(each).collect(),
        _ => Err(wrong_type(name, column, "text")),
    }
}

fn first_null(column: &ArrayRef) -> usize {
    (0..column.len()).find(|&row| column.is_null(row)).unwrap_or(0)
}
