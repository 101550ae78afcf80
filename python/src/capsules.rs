//! The lake's functions and catalogue as capsules for PyPI's `datafusion`. Nothing else of another library's memory is
//! touched: `datafusion-ffi` of the same version writes and reads the capsules on both sides.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::{Arc, LazyLock};

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion_ffi::catalog_provider::FFI_CatalogProvider;
use datafusion_ffi::proto::logical_extension_codec::FFI_LogicalExtensionCodec;
use datafusion_ffi::udaf::FFI_AggregateUDF;
use datafusion_ffi::udf::FFI_ScalarUDF;
use lakeward::Lakeward;
use lakeward::functions;
use lakeward_core::Error;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tokio::runtime::{Handle, Runtime};

use crate::errors::{exception, usage};

const SCALAR: &CStr = c"datafusion_scalar_udf";
const AGGREGATE: &CStr = c"datafusion_aggregate_udf";
const CATALOG: &CStr = c"datafusion_catalog_provider";
const CODEC: &CStr = c"datafusion_logical_extension_codec";

/// Threads of the runtime that reads the lake's tables for another library's queries.
const THREADS: usize = 2;

/// Our own, because the host's runtime belongs to another copy of tokio.
static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).thread_name("lakeward").enable_all().build()
});

/// The runtime for another library's queries.
///
/// # Errors
/// [`Error::Internal`] if the system cannot start threads.
pub fn runtime(py: Python<'_>) -> PyResult<Handle> {
    match &*RUNTIME {
        Ok(runtime) => Ok(runtime.handle().clone()),
        Err(error) => Err(exception(py, &Error::Internal(format!("the system cannot start threads: {error}")))),
    }
}

/// The codec of the session that a capsule is made for: `session` is the codec's capsule for a catalogue, and an object with
/// a method that returns it for a table.
///
/// # Errors
/// A `UsageError` for anything else.
pub fn codec(session: &Bound<'_, PyAny>) -> PyResult<FFI_LogicalExtensionCodec> {
    let py = session.py();
    let capsule: Bound<'_, PyCapsule> = match session.cast::<PyCapsule>() {
        Ok(capsule) => capsule.clone(),
        Err(_) => session
            .call_method0(intern!(py, "__datafusion_logical_extension_codec__"))?
            .cast_into()
            .map_err(|_| usage(py, "the session of `datafusion` returned no capsule with its codec"))?,
    };
    let codec: NonNull<FFI_LogicalExtensionCodec> = capsule.pointer_checked(Some(CODEC))?.cast();
    // SAFETY: a capsule of this name holds such a codec; `lakeward` checks that `datafusion` has the version this was
    // built for before it makes any capsule.
    Ok(unsafe { codec.as_ref() }.clone())
}

/// A scalar function.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct ScalarFunction(Arc<ScalarUDF>);

#[pymethods]
impl ScalarFunction {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    fn __datafusion_scalar_udf__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, FFI_ScalarUDF::from(Arc::clone(&self.0)), SCALAR)
    }
}

/// An aggregate function.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct AggregateFunction(Arc<AggregateUDF>);

#[pymethods]
impl AggregateFunction {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    fn __datafusion_aggregate_udf__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, FFI_AggregateUDF::from(Arc::clone(&self.0)), AGGREGATE)
    }
}

/// The catalogue of a lake's tables.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct Catalog(Lakeward);

#[pymethods]
impl Catalog {
    fn __datafusion_catalog_provider__<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let catalog = functions::catalog(&self.0).map_err(|error| exception(py, &error))?;
        let catalog = FFI_CatalogProvider::new_with_ffi_codec(catalog, Some(runtime(py)?), codec(session)?);
        PyCapsule::new_with_value(py, catalog, CATALOG)
    }
}

/// A table function: `datafusion` calls it with the arguments to get a table.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct TableFunction {
    lakeward: Lakeward,
    name: &'static str,
}

#[pymethods]
impl TableFunction {
    #[getter]
    fn name(&self) -> &str {
        self.name
    }

    #[pyo3(signature = (*arguments))]
    fn __call__(&self, arguments: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<crate::table_functions::TableProvider> {
        crate::table_functions::provider_of_call(&self.lakeward, self.name, arguments)
    }
}

/// All functions and the catalogue of a lake.
pub type Functions = (Vec<ScalarFunction>, Vec<AggregateFunction>, Vec<TableFunction>, Catalog);

/// All functions and the catalogue of `lakeward`.
pub fn all(lakeward: &Lakeward) -> Functions {
    let scalars = lakeward_operate::functions::all().into_iter().chain(functions::scalar::scalars(lakeward));
    let scalars = scalars.map(|function| ScalarFunction(Arc::new(function))).collect();
    let aggregates = functions::aggregate::aggregates();
    let aggregates = aggregates.into_iter().map(|function| AggregateFunction(Arc::new(function))).collect();
    let tables = functions::table::NAMES.iter();
    let tables = tables.map(|name| TableFunction { lakeward: lakeward.clone(), name }).collect();
    (scalars, aggregates, tables, Catalog(lakeward.clone()))
}
