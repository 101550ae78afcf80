//! The lake as a catalogue for any DataFusion session.

use std::sync::Arc;

use datafusion::catalog::CatalogProvider;

use super::table;
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_operate::LakeCatalog;

pub use lakeward_operate::CATALOG;

/// The tables of a lake as a catalogue: folders are schemas, tables at the root are in the schema `lake`. A table is opened
/// when a query names it; an unknown name is an error with the nearest ids.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`].
pub fn catalog(lakeward: &Lakeward) -> Result<Arc<dyn CatalogProvider>> {
    let catalog = LakeCatalog::alone(&lakeward.place().lake, lakeward.index(), &table::NAMES)?;
    Ok(Arc::new(catalog))
}
