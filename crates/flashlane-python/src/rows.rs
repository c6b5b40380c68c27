//! Iterates over the rows of a table as dictionaries.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// An iterator over the rows of a table.
#[pyclass(module = "flashlane._flashlane", name = "_Rows")]
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) batches: Vec<RecordBatch>,
    batch: usize,
    row: usize,
}

impl Rows {
    pub(crate) fn new(batches: Vec<RecordBatch>) -> Self {
        Self { batches, batch: 0, row: 0 }
    }
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        while self.batches.get(self.batch).is_some_and(|batch| self.row >= batch.num_rows()) {
            (self.batch, self.row) = (self.batch + 1, 0);
        }
        let Some(batch) = self.batches.get(self.batch) else { return Ok(None) };
        let row = PyDict::new(py);
        let schema = batch.schema_ref();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            row.set_item(PyString::intern(py, field.name()), value(py, column, self.row)?)?;
        }
        self.row += 1;
        Ok(Some(row))
    }
}

/// A value of a column, for the types that tables have.
fn value<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    let any = column.as_any();
    if let Some(numbers) = any.downcast_ref::<UInt64Array>() {
        return Ok(numbers.value(row).into_pyobject(py)?.into_any());
    }
    if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        return Ok(numbers.value(row).into_pyobject(py)?.into_any());
    }
    if let Some(numbers) = any.downcast_ref::<UInt32Array>() {
        return Ok(numbers.value(row).into_pyobject(py)?.into_any());
    }
    if let Some(flags) = any.downcast_ref::<BooleanArray>() {
        return Ok(flags.value(row).into_pyobject(py)?.to_owned().into_any());
    }
    if let Some(names) = column.as_dictionary_opt::<UInt16Type>()
        && let Some(texts) = names.values().as_any().downcast_ref::<StringArray>()
    {
        let key = usize::from(names.keys().value(row));
        return Ok(PyString::new(py, texts.value(key)).into_any());
    }
    Err(pyo3::exceptions::PyTypeError::new_err(format!(
        "table: rows of type {} are not told one by one",
        column.data_type()
    )))
}
