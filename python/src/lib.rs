//! The compiled half of the Python package `lakeward`: the library's answers as JSON and Arrow, its errors as Python
//! exceptions, its functions as DataFusion capsules.
//!
//! The public API and the display in notebooks belong to the Python half in `python/lakeward`, the only user of this module.

mod arrow_stream;
mod capsules;
mod errors;
mod found;
mod indexing;
mod lake;
mod session;
mod shards;
mod table_functions;
mod work;

use pyo3::prelude::*;

/// The compiled half of `lakeward`.
#[pymodule]
mod _lakeward {
    #[pymodule_export]
    use super::arrow_stream::{Batches, write_table};
    #[pymodule_export]
    use super::capsules::{AggregateFunction, Catalog, ScalarFunction, TableFunction};
    #[pymodule_export]
    use super::found::Found;
    #[pymodule_export]
    use super::indexing::build;
    #[pymodule_export]
    use super::lake::Lake;
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::shards::{commit_shards, list_shards, work_on_shard};
    #[pymodule_export]
    use super::table_functions::TableProvider;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        lakeward_core::guard::quiet_hook();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
