//! `lake_tables()`: one row per table or catalogue record, by id, with the fields of its entry.

use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::Columns;
use crate::Lakeward;
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_index::TableRef;
use lakeward_lake::dataset::{Dataset, TableEntry};
use lakeward_lake::grain::GrainKind;
use lakeward_lake::source::{Compression, Format, classify_table};
use lakeward_operate::sql_name;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::of::<Row>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// A row. `sql_name` is the table's name in queries; if it is `sampled`, `rows` are the rows read, of `total_rows` if known;
/// for a record, whose data is not in the lake, the figures are NULL. `content` is the hash of the file.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
struct Row {
    id: String,
    title: String,
    sql_name: Option<String>,
    path: String,
    format: Option<Format>,
    compression: Option<Compression>,
    rows: Option<u64>,
    total_rows: Option<u64>,
    columns: Option<usize>,
    column_names: Vec<String>,
    read_bytes: Option<u64>,
    sampled: bool,
    record: bool,
    grain: Option<GrainKind>,
    keys: Vec<String>,
    time_from: Option<String>,
    time_to: Option<String>,
    description: Option<String>,
    tags: Vec<String>,
    publisher: Option<String>,
    licence: Option<String>,
    source_url: Option<String>,
    citation: String,
    content: Option<String>,
}

/// All tables of the snapshot; cached, because every entry has to be parsed.
pub(super) fn rows(lakeward: &Lakeward) -> Result<RecordBatch> {
    lakeward.cache().tables(|| {
        let index = lakeward.index();
        let tables: Vec<TableRef> = index.tables().collect();
        // Bypasses the index's cache of entries, which a full scan would evict.
        let dataset = |table: &TableRef| index.segment(table.segment)?.tables.dataset(table.table).map(row);
        let mut rows: Vec<Row> = tables.par_iter().map(dataset).collect::<Result<_>>()?;
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        COLUMNS.batch(&rows)
    })
}

fn row(dataset: Dataset) -> Row {
    let metadata = dataset.metadata().cloned().unwrap_or_default();
    let (title, id, citation) = (dataset.title(), dataset.id().to_string(), dataset.citation().to_string());
    let row = Row {
        title,
        path: dataset.origin().to_string(),
        record: dataset.is_record(),
        description: metadata.description,
        tags: metadata.tags,
        publisher: metadata.publisher,
        licence: metadata.licence,
        source_url: metadata.source_url,
        citation,
        id,
        ..Row::default()
    };
    let Dataset::Table(table) = dataset else { return row };
    let TableEntry { path, read_bytes, content, report, profile, .. } = Arc::unwrap_or_clone(table);
    let (format, compression) = classify_table(&path).unzip();
    Row {
        sql_name: Some(sql_name(&row.id)),
        format,
        compression: compression.filter(|packed| *packed != Compression::None),
        rows: Some(profile.rows),
        total_rows: report.sample.map_or(Some(profile.rows), |sample| sample.total_rows),
        columns: Some(profile.columns.len()),
        column_names: profile.columns.into_iter().map(|column| column.name).collect(),
        read_bytes: Some(read_bytes),
        sampled: report.sample.is_some(),
        grain: Some(profile.grain.kind),
        keys: profile.keys,
        time_from: profile.time.as_ref().map(|time| time.from.clone()),
        time_to: profile.time.map(|time| time.to),
        content: Some(content.to_string()),
        ..row
    }
}
