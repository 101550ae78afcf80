//! Table functions for PyPI's `datafusion`. Their own capsule crashes its host, because datafusion-ffi 55 reads the other
//! library's private data. So the host calls a Python callable with the arguments' expressions, and gets a table, whose
//! capsule is safe. The search itself runs when the host scans that table.

use std::ffi::CStr;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::datasource::TableProvider as Provider;
use datafusion_ffi::table_provider::FFI_TableProvider;
use lakeward::Lakeward;
use lakeward::functions::{self, TableCall};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt, PyString, PyTuple};

use crate::capsules::{codec, runtime};
use crate::errors::{exception, usage};

const TABLE: &CStr = c"datafusion_table_provider";

/// The table that a call of a table function returns.
#[pyclass(frozen, module = "lakeward._lakeward")]
pub struct TableProvider {
    provider: Arc<dyn Provider>,
    /// The call in SQL.
    #[pyo3(get)]
    call: String,
}

#[pymethods]
impl TableProvider {
    fn __datafusion_table_provider__<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let provider = Arc::clone(&self.provider);
        let provider = FFI_TableProvider::new_with_ffi_codec(provider, true, Some(runtime(py)?), codec(session)?);
        PyCapsule::new_with_value(py, provider, TABLE)
    }
}

/// The table for a call of the function `name` with the expressions `arguments`.
pub fn provider_of_call(lakeward: &Lakeward, name: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<TableProvider> {
    let py = arguments.py();
    let arguments: Vec<ScalarValue> =
        arguments.iter().map(|argument| constant(name, &argument)).collect::<PyResult<_>>()?;
    let lakeward = lakeward.clone();
    let checked = py.detach(|| {
        let call = TableCall::parse(name, &arguments)?;
        call.check(&lakeward)?;
        let name = call.to_string();
        Ok(TableProvider { provider: functions::table::provider(&lakeward, call), call: name })
    });
    checked.map_err(|error| exception(py, &error))
}

/// The value of a constant expression.
fn constant(name: &str, expression: &Bound<'_, PyAny>) -> PyResult<ScalarValue> {
    let py = expression.py();
    let not_constant =
        |_: PyErr| usage(py, format!("the arguments of `{name}` must be constants, not columns or results"));
    let value = expression.call_method0(intern!(py, "python_value")).map_err(not_constant)?;
    let value = value.call_method0(intern!(py, "as_py"))?;
    if value.is_none() {
        return Ok(ScalarValue::Null);
    }
    // A Python `bool` is an `int` too.
    if value.is_instance_of::<PyBool>() {
        return Ok(ScalarValue::Boolean(Some(value.extract()?)));
    }
    if value.is_instance_of::<PyInt>() {
        let outside = |_: PyErr| usage(py, format!("an argument of `{name}` is too large"));
        return value.extract().map(|number| ScalarValue::Int64(Some(number))).map_err(outside);
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(ScalarValue::Float64(Some(value.extract()?)));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(ScalarValue::Utf8(Some(value.extract()?)));
    }
    let kind = value.get_type().name()?;
    Err(usage(py, format!("the arguments of `{name}` must be texts or numbers, not a Python `{kind}`")))
}
