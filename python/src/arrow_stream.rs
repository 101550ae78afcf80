//! Record batches for Python: the Arrow PyCapsule interface, without copies.
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use std::ffi::CStr;
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::FFI_ArrowSchema;
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::parquet::arrow::ArrowWriter;
use lakeward_core::Error;
use lakeward_core::guard::guarded;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{exception, usage};
use crate::work;

/// Most bytes of a cell that are shown.
const CELL_BYTES: usize = 400;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// Rows of one schema. All consumers share the same memory.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Batches {
    /// All `batches`, which must have the schema `schema`.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

impl From<RecordBatch> for Batches {
    fn from(batch: RecordBatch) -> Self {
        Self::new(batch.schema(), vec![batch])
    }
}

#[pymethods]
impl Batches {
    /// A capsule with a C stream of all batches, always in their own schema: the interface allows ignoring the requested
    /// one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    /// A capsule with the C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref())
            .map_err(|error| exception(py, &Error::Internal(error.to_string())))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The Arrow types of the columns.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    /// The cells of the first `rows` rows as text, each cut to a displayable length.
    fn texts(&self, py: Python<'_>, rows: usize) -> PyResult<Vec<Vec<Option<String>>>> {
        let mut lines = Vec::new();
        for batch in &self.batches {
            let shown = batch.slice(0, batch.num_rows().min(rows - lines.len()));
            lines.extend(texts(&shown).map_err(|error| exception(py, &Error::Internal(error.to_string())))?);
        }
        Ok(lines)
    }
}

fn texts(batch: &RecordBatch) -> Result<Vec<Vec<Option<String>>>, ArrowError> {
    let options = FormatOptions::default();
    let formatters: Vec<ArrayFormatter<'_>> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options)).collect::<Result<_, _>>()?;
    let cell = |column: usize, row: usize| {
        if batch.column(column).is_null(row) {
            return None;
        }
        let mut text = LimitedText(String::new());
        // An error only means that the limit was reached, or that the rest cannot be formatted.
        let _ = write!(text, "{}", formatters[column].value(row));
        Some(text.0)
    };
    Ok((0..batch.num_rows()).map(|row| (0..batch.num_columns()).map(|column| cell(column, row)).collect()).collect())
}

/// Text of at most [`CELL_BYTES`] bytes.
struct LimitedText(String);

impl Write for LimitedText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let fitting = text.floor_char_boundary(CELL_BYTES.saturating_sub(self.0.len()));
        self.0.push_str(&text[..fitting]);
        if fitting < text.len() { Err(std::fmt::Error) } else { Ok(()) }
    }
}

/// Writes any table with `__arrow_c_stream__` to the Parquet file `path`.
#[pyfunction]
pub fn write_table(py: Python<'_>, table: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<()> {
    let reader = reader(table)?;
    work::run(py, move |stop| {
        // Another library's data may make the writer panic.
        let written = guarded(|| write(reader, &path, &|| stop.requested()));
        written.unwrap_or_else(|_| Err(Error::usage("this table cannot be written as Parquet")))
    })
}

fn reader(table: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let py = table.py();
    let capsule = table.call_method0(intern!(py, "__arrow_c_stream__"))?;
    let capsule: Bound<'_, PyCapsule> =
        capsule.cast_into().map_err(|_| usage(py, "`__arrow_c_stream__` returned no capsule"))?;
    let stream: NonNull<FFI_ArrowArrayStream> = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: by the interface, a valid capsule of this name holds a stream; it is moved out, and what remains has no `release`,
    // so that the capsule's destructor does nothing.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(|error| usage(py, format!("the table cannot be read as Arrow: {error}")))
}

fn write(reader: ArrowArrayStreamReader, path: &Path, stopped: &dyn Fn() -> bool) -> lakeward_core::Result<()> {
    let unusable =
        |error: &dyn std::fmt::Display| Error::usage(format!("the table cannot be used for a search: {error}"));
    let file = File::create(path).map_err(|error| Error::io("create", path, error))?;
    let fields = reader.schema().fields().iter().map(|field| unpacked(field)).collect::<Fields>();
    let schema = Arc::new(Schema::new(fields));
    let mut writer = ArrowWriter::try_new(file, schema.clone(), None).map_err(|error| unusable(&error))?;
    for batch in reader {
        if stopped() {
            return Err(Error::Interrupted);
        }
        let batch = batch.map_err(|error| unusable(&error))?;
        let columns = batch.columns().iter().zip(schema.fields());
        let columns: Result<Vec<_>, _> = columns.map(|(column, field)| cast(column, field.data_type())).collect();
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        columns
            .and_then(|columns| RecordBatch::try_new_with_options(schema.clone(), columns, &rows))
            .map_err(|error| unusable(&error))
            .and_then(|batch| writer.write(&batch).map_err(|error| unusable(&error)))?;
    }
    writer.close().map_err(|error| unusable(&error))?;
    Ok(())
}

/// `field` without dictionaries, only some of which the Parquet writer supports.
fn unpacked(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => unpacked(&Field::new("", values.as_ref().clone(), true)).data_type().clone(),
        DataType::List(item) => DataType::List(Arc::new(unpacked(item))),
        DataType::LargeList(item) => DataType::LargeList(Arc::new(unpacked(item))),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(Arc::new(unpacked(item)), *length),
        DataType::Struct(parts) => DataType::Struct(parts.iter().map(|part| unpacked(part)).collect()),
        data_type => data_type.clone(),
    };
    // Without metadata, which does not describe the values; pandas' refers to columns that do not exist here.
    Field::new(field.name(), data_type, field.is_nullable())
}
