//! Discovery as DataFusion functions, for queries in Lakeward's session or in any other.
//!
//! - [`table`]: table functions. `lake_search('delays')` is a table of ranked tables, `lake_joinable('us/states', 'fips')` one
//!   of join partners; rows can be filtered, unnested and joined like any other.
//! - [`catalog()`]: every table of the lake as `lake.folder.name`, opened when a query names it.
//! - [`scalar`] and [`aggregate`]: signatures, vectors and their comparison; with them the `value_*` functions of
//!   [`lakeward_operate`].
//!
//! [`register_all`] registers everything in a session. Nothing is searched or read while a query is planned; functions answer
//! from the registered snapshot ([`Lakeward::reopened`] gives the next one).

pub mod aggregate;
mod lake_catalog;
pub mod scalar;
pub mod table;

use datafusion::execution::context::SessionContext;

use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_operate::{LakeContext, Limits};

pub use lake_catalog::{CATALOG, catalog};
pub use table::{TableCall, provider};

/// Registers all functions and the catalogue `lake` in `session`, replacing those of the same names.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`].
pub fn register_all(session: &SessionContext, lakeward: &Lakeward) -> Result<()> {
    for function in lakeward_operate::functions::all() {
        session.register_udf(function);
    }
    register(session, lakeward);
    session.register_catalog(CATALOG, catalog(lakeward)?);
    Ok(())
}

/// A query context over the lake's tables with all functions.
///
/// # Errors
/// Those of [`LakeContext::new`].
pub fn context(lakeward: &Lakeward, limits: Limits) -> Result<LakeContext> {
    let context = lakeward.context(limits)?;
    register(context.session(), lakeward);
    Ok(context)
}

/// Registers the functions that a [`LakeContext`] does not have.
fn register(session: &SessionContext, lakeward: &Lakeward) {
    for function in scalar::scalars(lakeward) {
        session.register_udf(function);
    }
    for function in aggregate::aggregates() {
        session.register_udaf(function);
    }
    for (name, function) in table::functions(lakeward) {
        session.register_udtf(name, function);
    }
}
