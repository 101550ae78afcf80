//! DataFusion's view of the lake: folders are schemas, files are tables, each opened when a query first names it.
//!
//! The same catalogue serves Lakeward's own queries and, [alone](LakeCatalog::alone), the sessions of other programs.
//! Nothing can be registered here, so nothing but the lake can be reached: no file by its path, no table made by a query.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::DataType;
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::TableReference;
use datafusion::common::config::TableParquetOptions;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::TableType;

use super::cells::CellType;
use super::fault::fault;
use super::names::Names;
use super::notes::Notes;
use super::session_tables::{SESSION_SCHEMA, SessionTables};
use super::table::{LakeTable, cell_types};
use lakeward_core::error::{Error, Result};
use lakeward_index::LakeIndex;
use lakeward_lake::location::Location;
use lakeward_lake::profile::{ColumnProfile, TableProfile};
use lakeward_lake::reader::KnownColumns;
use lakeward_lake::source::{Compression, Format};
use lakeward_lake::storage::Address;

/// Name of the catalogue that stands for the lake.
pub const CATALOG: &str = "lake";
/// Name of the schema that holds the tables at the lake's root, and all tables by their whole id.
pub const ROOT_SCHEMA: &str = "lake";

/// Which table a name means.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// Number of a table of the lake in [`Names`].
    Lake(usize),
    /// Name of a table of the session.
    Session(String),
}

/// The tables of a lake, with those that are open, and those of a session beside them.
pub struct Tables {
    lake: PathBuf,
    names: Names,
    /// Results of steps, and files outside the lake.
    pub session: SessionTables,
    notes: Arc<Notes>,
    /// Reads Parquet footers; holds no tables.
    opener: SessionContext,
    open: Mutex<HashMap<Place, Arc<dyn TableProvider>>>,
    /// Names that the query under way calls as functions.
    calls: Mutex<Vec<String>>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("lake", &self.lake).finish_non_exhaustive()
    }
}

impl Tables {
    /// The tables `names` of the lake at `lake`; `opener` reads Parquet footers.
    pub fn new(lake: &Path, names: Names, notes: Arc<Notes>, opener: SessionContext) -> Self {
        let session = SessionTables::default();
        Self {
            lake: lake.to_path_buf(),
            names,
            session,
            notes,
            opener,
            open: Mutex::default(),
            calls: Mutex::default(),
        }
    }

    /// The place of the table that a query calls `reference`.
    ///
    /// # Errors
    /// Those of [`Names::resolve`].
    pub fn resolve(&self, reference: &TableReference) -> Result<Place> {
        let parts = [reference.catalog(), reference.schema(), Some(reference.table())];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        self.resolve_parts(&parts)
    }

    fn resolve_parts(&self, parts: &[&str]) -> Result<Place> {
        let parts = parts.strip_prefix(&[CATALOG]).filter(|rest| rest.len() > 1).unwrap_or(parts);
        let place = match parts {
            [SESSION_SCHEMA, name] => match self.session.find(name) {
                Some(name) => return Ok(Place::Session(name)),
                // The lake may have a folder of that schema's name, as of the root's.
                None => self.names.resolve(&parts.join("/")).or_else(|unknown| match unknown {
                    Error::UnknownTable { .. } => self.session.get(name).and(Err(unknown)),
                    other => Err(other),
                }),
            },
            [ROOT_SCHEMA, name] => {
                self.names.resolve(name).or_else(|unknown| self.names.resolve(&parts.join("/")).map_err(|_| unknown))
            }
            _ => self.names.resolve(&parts.join("/")),
        };
        place.map(Place::Lake)
    }

    /// The place of the lake's table called `id`.
    ///
    /// # Errors
    /// Those of [`Names::resolve`].
    pub fn find(&self, id: &str) -> Result<Place> {
        self.names.resolve(id).map(Place::Lake)
    }

    /// The id of the table at `place`, or its name in a query.
    pub fn id(&self, place: &Place) -> Result<String> {
        match place {
            Place::Lake(number) => Ok(self.names.entry(*number)?.id.to_string()),
            Place::Session(name) => Ok(format!("{SESSION_SCHEMA}.{name}")),
        }
    }

    /// What is known of the columns of the table at `place`; of a table that declares its types it may be known from its
    /// first rows only.
    pub fn columns(&self, place: &Place) -> Result<Vec<ColumnProfile>> {
        match place {
            Place::Lake(number) => Ok(self.names.entry(*number)?.profile.columns.clone()),
            Place::Session(name) => Ok(self.session_profile(name)?.columns.clone()),
        }
    }

    /// The file of the table at `place`, and whether DataFusion reads it as Parquet.
    pub fn file(&self, place: &Place) -> Result<(PathBuf, bool)> {
        let path = match place {
            Place::Lake(number) => self.names.entry(*number)?.file(&self.lake)?,
            Place::Session(name) => self.session.get(name)?.path,
        };
        let is_parquet = is_parquet(&path);
        Ok((path, is_parquet))
    }

    /// The query that comes next calls these functions: DataFusion looks their names up among the tables, too.
    pub fn set_calls(&self, calls: Vec<String>) {
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner) = calls;
    }

    fn is_called(&self, name: &str) -> bool {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|call| call == name)
    }

    /// Forgets what is open of the table at `place`.
    pub fn close(&self, place: &Place) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(place);
    }

    /// Opens a table, or gives the one that is open.
    ///
    /// # Errors
    /// Those of the catalogue and of reading a file's head.
    pub async fn table(&self, place: &Place) -> Result<Arc<dyn TableProvider>> {
        if let Place::Session(name) = place {
            // Closes it if its file has changed.
            self.session_profile(name)?;
        }
        let known = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned();
        if let Some(table) = known {
            return Ok(table);
        }
        let table = self.opened(place).await.map_err(|error| self.session.with_step_named(error))?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(place.clone(), Arc::clone(&table));
        Ok(table)
    }

    fn session_profile(&self, name: &str) -> Result<Arc<TableProfile>> {
        let (profile, is_new) = self.session.profile(name)?;
        if is_new {
            self.close(&Place::Session(name.to_string()));
        }
        Ok(profile)
    }

    fn is_kept(&self, place: &Place) -> bool {
        matches!(place, Place::Session(name) if self.session.get(name).is_ok_and(|table| table.kept))
    }

    async fn opened(&self, place: &Place) -> Result<Arc<dyn TableProvider>> {
        let (path, is_parquet) = self.file(place)?;
        let columns = self.columns(place)?;
        if is_parquet && let Some(table) = parquet(&self.opener, &columns, &path, self.is_kept(place)).await? {
            return Ok(Arc::new(table));
        }
        let known = match place {
            Place::Lake(number) => self.names.entry(*number)?.report.known_columns(),
            Place::Session(_) => None,
        };
        Ok(Arc::new(LakeTable::open(self.id(place)?, &columns, path, known, Arc::clone(&self.notes))?))
    }
}

/// A Parquet file through DataFusion's own reader; `None` where its columns had to be renamed, because empty or repeated
/// names cannot be told apart there.
/// Of rows that are `kept` the types are those that were written.
async fn parquet(
    opener: &SessionContext,
    columns: &[ColumnProfile],
    path: &Path,
    kept: bool,
) -> Result<Option<ListingTable>> {
    let path = std::fs::canonicalize(path).map_err(|error| Error::io("read", path, error))?;
    let failed = |error: DataFusionError| Error::unreadable(&path, error.strip_backtrace());
    let url = ListingTableUrl::parse(file_url(&path)).map_err(failed)?;
    // Rows that a filter drops are not decoded, whatever the settings of the session that asks.
    let mut format = TableParquetOptions::default();
    format.global.pushdown_filters = true;
    format.global.schema_force_view_types &= !kept;
    let format = ParquetFormat::default().with_options(format);
    let options = ListingOptions::new(Arc::new(format)).with_file_extension("");
    let config = ListingTableConfig::new(url).with_listing_options(options);
    let config = config.infer_schema(&opener.state()).await.map_err(failed)?;
    let table = ListingTable::try_new(config).map_err(failed)?;
    let same = table.schema().fields().iter().map(|field| field.name()).eq(columns.iter().map(|column| &column.name));
    Ok(same.then_some(table))
}

/// The types that a query gets of the `columns` of the table in the file at `path`; reads its head where it declares them, of several files all
/// heads unless their columns are `known`.
///
/// # Errors
/// Those of reading the head.
pub fn column_types(path: &Path, columns: &[ColumnProfile], known: Option<KnownColumns>) -> Result<Vec<DataType>> {
    if is_parquet(path) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| Error::Internal(error.to_string()))?;
        if let Some(table) = runtime.block_on(parquet(&SessionContext::new(), columns, path, false))? {
            return Ok(table.schema().fields().iter().map(|field| field.data_type().clone()).collect());
        }
    }
    Ok(cell_types(path, columns, known)?.iter().map(CellType::data_type).collect())
}

fn is_parquet(path: &Path) -> bool {
    // Files of stores are opened in one place.
    !Address::is(path)
        && matches!(Location::of(path), Location::File { format: Format::Parquet, compression: Compression::None, .. })
}

/// `file://` with every byte escaped that means something in an address or a glob.
fn file_url(path: &Path) -> String {
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~') {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

/// The lake as a catalogue; below `above`, where a name has three parts and begins with a folder.
#[derive(Debug)]
pub struct LakeCatalog {
    tables: Arc<Tables>,
    above: Option<String>,
    /// Names at the lake's root that mean something else; none where queries are checked before they get here.
    alone: Option<&'static [&'static str]>,
}

impl LakeCatalog {
    /// The catalogue of `tables`, whose names begin with the folder `above`.
    pub(super) fn new(tables: Arc<Tables>, above: Option<String>) -> Self {
        Self { tables, above, alone: None }
    }

    /// The tables of `index`, whose files are below `lake`, as a catalogue for any session. A name that no table has is an
    /// error with the nearest ids, except for the `functions`: a session looks their names up among the tables, too.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn alone(lake: &Path, index: &LakeIndex, functions: &'static [&'static str]) -> Result<Self> {
        let tables = Tables::new(lake, Names::new(index)?, Arc::default(), SessionContext::new());
        Ok(Self { tables: Arc::new(tables), above: None, alone: Some(functions) })
    }
}

impl CatalogProvider for LakeCatalog {
    fn schema_names(&self) -> Vec<String> {
        if self.above.is_some() {
            // The folders are listed under the lake's own catalogue.
            return Vec::new();
        }
        let mut folders: BTreeSet<&str> = self.tables.names.ids().map(folder_of).collect();
        if !self.tables.session.names().is_empty() {
            folders.insert(SESSION_SCHEMA);
        }
        folders.into_iter().map(str::to_string).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let parts = self.above.iter().cloned().chain([name.to_string()]).collect();
        Some(Arc::new(LakeSchema { tables: Arc::clone(&self.tables), parts, alone: self.alone }))
    }
}

fn folder_of(id: &str) -> &str {
    id.rsplit_once('/').map_or(ROOT_SCHEMA, |(folder, _)| folder)
}

/// Whether `name` is a table function, of ours or of those that every session has.
fn is_function(name: &str, functions: &[&str]) -> bool {
    functions.contains(&name) || matches!(name, "generate_series" | "range")
}

/// A folder of the lake as a schema; whether it exists shows when a table is asked for.
#[derive(Debug)]
struct LakeSchema {
    tables: Arc<Tables>,
    parts: Vec<String>,
    alone: Option<&'static [&'static str]>,
}

impl LakeSchema {
    fn resolve(&self, name: &str) -> Result<Place> {
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).chain([name]).collect();
        self.tables.resolve_parts(&parts)
    }
}

#[async_trait]
impl SchemaProvider for LakeSchema {
    fn table_names(&self) -> Vec<String> {
        let folder = self.parts.join("/");
        let ids = self.tables.names.ids().filter(|id| folder_of(id) == folder);
        let session = if folder == SESSION_SCHEMA { self.tables.session.names() } else { Vec::new() };
        ids.map(|id| id.rsplit('/').next().unwrap_or(id).to_string()).chain(session).collect()
    }

    async fn table(&self, name: &str) -> DataFusionResult<Option<Arc<dyn TableProvider>>> {
        let is_function =
            self.tables.is_called(name) || self.alone.is_some_and(|functions| is_function(name, functions));
        // Before the name is looked up whatever its case: in a large lake that takes longer than all other planning.
        if is_function && self.parts == [ROOT_SCHEMA] && !self.tables.names.has(name) {
            return Ok(None);
        }
        let place = match (self.resolve(name), self.alone) {
            (Ok(place), _) => place,
            (Err(unknown), Some(_)) => return Err(fault(unknown)),
            (Err(_), None) => return Ok(None),
        };
        self.tables.table(&place).await.map(Some).map_err(fault)
    }

    async fn table_type(&self, name: &str) -> DataFusionResult<Option<TableType>> {
        // Listing the tables must not open them.
        Ok(self.table_exist(name).then_some(TableType::Base))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.resolve(name).is_ok()
    }
}
