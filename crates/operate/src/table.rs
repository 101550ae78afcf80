//! A table of the lake as DataFusion sees it: its schema from the catalogue, its rows streamed by the lake's reader.
//!
//! Each reading opens the file anew on a thread of its own and hands batches over through a short channel, so memory stays
//! bounded whatever the size of the file, and stops when nobody wants the next batch. Only the columns that a query needs
//! are converted; filters are DataFusion's business.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::take_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DFSchema;
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};

use super::cells::{CellReader, CellType};
use super::fault::fault;
use super::notes::Notes;
use lakeward_core::error::{Error, Result};
use lakeward_lake::layout::FileSet;
use lakeward_lake::location::Location;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::reader::{self, KnownColumns, ReadOptions, TableReader};
use lakeward_sketch::Writing;

/// Batches between the reading thread and the query.
const BATCHES_AHEAD: usize = 2;
/// Rows of a batch where there is memory enough; the reader's batches then pass as they are.
const USUAL_ROWS: usize = 8192;

/// What every reading of one table shares.
#[derive(Debug)]
struct Source {
    id: String,
    path: PathBuf,
    /// Its files, where it has several.
    set: Option<FileSet>,
    /// Column names as the reader gives them.
    names: Vec<String>,
    types: Vec<CellType>,
    writings: Vec<Writing>,
    options: ReadOptions,
    notes: Arc<Notes>,
}

/// A table read through [`lakeward_lake::reader`].
pub struct LakeTable {
    source: Arc<Source>,
    schema: SchemaRef,
}

impl fmt::Debug for LakeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LakeTable").field("id", &self.source.id).finish_non_exhaustive()
    }
}

impl LakeTable {
    /// The table `id` of `columns`, whose file is at `path`; what is `known` of the columns of its files, if it has several. Where the file declares its
    /// types its head is read; else nothing is.
    ///
    /// # Errors
    /// Those of the reader, for a table that declares its types.
    pub fn open(
        id: String,
        columns: &[ColumnProfile],
        path: PathBuf,
        known: Option<KnownColumns>,
        notes: Arc<Notes>,
    ) -> Result<Self> {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let types = cell_types(&path, columns, known.clone())?;
        let fields: Vec<Field> =
            names.iter().zip(&types).map(|(name, cells)| Field::new(name, cells.data_type(), true)).collect();
        let writings = columns.iter().map(|column| column.writing.clone()).collect();
        let set = matches!(Location::of(&path), Location::Files { .. }).then(|| FileSet::at(&path)).flatten();
        let options = ReadOptions { known, ..ReadOptions::default() };
        let source = Source { id, path, set, names, types, writings, options, notes };
        Ok(Self { source: Arc::new(source), schema: Arc::new(Schema::new(fields)) })
    }
}

impl LakeTable {
    /// The files, by place, whose paths' values pass `filters`, which speak of nothing else; `None` for all files.
    fn files_for(&self, state: &dyn Session, filters: &[Expr]) -> DataFusionResult<Option<Vec<usize>>> {
        let Some(set) = self.source.set.as_ref().filter(|_| !filters.is_empty()) else { return Ok(None) };
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        let written = self.source.types.iter().zip(&self.source.writings);
        for (field, (cells, writing)) in self.schema.fields().iter().zip(written) {
            let key = set.keys.iter().position(|key| key == field.name());
            arrays.push(match key {
                Some(key) => {
                    let values = set.parts.iter().map(|part| part.values[key].as_deref());
                    let read = match cells {
                        CellType::Declared(kind) => reader::key_array(values, kind),
                        _ => reader::key_array(values, &DataType::Utf8),
                    };
                    CellReader::new(cells.clone(), writing.clone()).read(&read).map_err(fault)?
                }
                None => new_null_array(field.data_type(), set.parts.len()),
            });
        }
        let files = RecordBatch::try_new(self.schema(), arrays)?;
        let schema = DFSchema::try_from(self.schema())?;
        let mut passes = vec![true; set.parts.len()];
        for filter in filters {
            let found = state.create_physical_expr(filter.clone(), &schema)?.evaluate(&files)?;
            let found = found.into_array(set.parts.len())?;
            let Some(found) = found.as_boolean_opt() else { return Ok(None) };
            passes.iter_mut().zip(found).for_each(|(passes, found)| *passes &= found == Some(true));
        }
        Ok(Some((0..passes.len()).filter(|&place| passes[place]).collect()))
    }
}

/// How the cells of `columns` are read from the file at `path`; its head is read where it declares its types, of several files all heads
/// unless their columns are `known`.
///
/// # Errors
/// Those of the reader, for a table that declares its types.
pub fn cell_types(path: &Path, columns: &[ColumnProfile], known: Option<KnownColumns>) -> Result<Vec<CellType>> {
    if Location::of(path).declares_types() {
        let reader = reader::open_path(path, &ReadOptions { max_rows: Some(1), known, ..ReadOptions::default() })?;
        if let Some(schema) = reader.declared_types() {
            return Ok(schema.fields().iter().map(|field| CellType::Declared(field.data_type().clone())).collect());
        }
    }
    Ok(columns.iter().map(CellType::of).collect())
}

#[async_trait]
impl TableProvider for LakeTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DataFusionResult<Vec<TableProviderFilterPushDown>> {
        let of_keys = |filter: &&Expr| {
            let columns = filter.column_refs();
            let keys = self.source.set.iter().flat_map(|set| &set.keys).collect::<Vec<_>>();
            !columns.is_empty() && !filter.is_volatile() && columns.iter().all(|column| keys.contains(&&column.name))
        };
        let support = |filter| match of_keys(filter) {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let columns: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let schema = Arc::new(self.schema.project(&columns)?);
        let files = self.files_for(state, filters)?;
        let reading = Reading { source: Arc::clone(&self.source), files, columns, schema: Arc::clone(&schema) };
        let plan = StreamingTableExec::try_new(schema, vec![Arc::new(reading)], None, [], false, limit)?;
        Ok(Arc::new(plan))
    }
}

/// Some columns of a table, from start to end.
#[derive(Debug)]
struct Reading {
    source: Arc<Source>,
    /// The files to read, by place; `None` for all.
    files: Option<Vec<usize>>,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl PartitionStream for Reading {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), BATCHES_AHEAD);
        let batches = builder.tx();
        let most_rows = context.session_config().batch_size();
        let (source, columns, schema) = (Arc::clone(&self.source), self.columns.clone(), Arc::clone(&self.schema));
        let files = self.files.clone();
        builder.spawn_blocking(move || {
            // Sending fails when the query needs no more rows.
            let send = |batch| batches.blocking_send(Ok(batch)).is_ok();
            let send = |batch: RecordBatch| {
                if most_rows >= USUAL_ROWS {
                    return Ok(send(batch));
                }
                for piece in pieces(&batch, most_rows)? {
                    if !send(piece) {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            read(&source, files.as_deref(), &columns, &schema, send).map_err(fault)
        });
        builder.build()
    }
}

/// Reads the table to its end, or until `send` says that no more is wanted.
fn read(
    source: &Source,
    files: Option<&[usize]>,
    columns: &[usize],
    schema: &SchemaRef,
    send: impl Fn(RecordBatch) -> Result<bool>,
) -> Result<()> {
    let only = Some(columns.iter().map(|&at| source.names[at].clone()).collect());
    let options = ReadOptions { only, ..source.options.clone() };
    let mut reader = match files.and_then(|_| FileSet::at(&source.path)) {
        Some(set) => reader::open_files(set, &options, files)?,
        None => reader::open_path(&source.path, &options)?,
    };
    if !reader.columns().iter().map(|column| &column.name).eq(&source.names) {
        let reason = "its columns have changed since it was indexed; run `lakeward index` again";
        return Err(Error::unreadable(&source.path, reason));
    }
    let mut cells: Vec<CellReader> =
        columns.iter().map(|&at| CellReader::new(source.types[at].clone(), source.writings[at].clone())).collect();
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows() as u64;
        let mut arrays = Vec::with_capacity(columns.len());
        for (cells, &column) in cells.iter_mut().zip(columns) {
            arrays.push(cells.read(batch.column(column))?);
            if cells.misfits > 0 {
                let sql_type = source.types[column].data_type().to_string();
                source.notes.misfits(&source.id, &source.names[column], &sql_type, cells.misfits);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
            .map_err(|error| Error::Internal(error.to_string()))?;
        if !send(batch)? {
            return Ok(());
        }
    }
    note_losses(source, reader.as_ref());
    if files.is_none() {
        source.notes.read_whole(&source.path, rows);
    }
    Ok(())
}

/// `batch` in pieces of at most `most_rows` rows, each in memory of its own, so that it can be given back on its own.
fn pieces(batch: &RecordBatch, most_rows: usize) -> Result<Vec<RecordBatch>> {
    let most_rows = u32::try_from(most_rows).unwrap_or(u32::MAX).max(1);
    let rows = u32::try_from(batch.num_rows()).map_err(|error| Error::Internal(error.to_string()))?;
    (0..rows)
        .step_by(most_rows as usize)
        .map(|from| {
            let places = UInt32Array::from_iter_values(from..from.saturating_add(most_rows).min(rows));
            take_record_batch(batch, &places).map_err(|error| Error::Internal(error.to_string()))
        })
        .collect()
}

fn note_losses(source: &Source, reader: &dyn TableReader) {
    let losses = reader.report().repairs.iter().filter(|repair| repair.kind.loses_data());
    let losses: Vec<String> = losses.map(ToString::to_string).collect();
    if !losses.is_empty() {
        source.notes.in_part(&source.id, losses.join("; "));
    }
}
