//! `lake_tables()`: a row a table or catalogue record, by id, with what its entry says.

use std::sync::LazyLock;

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
use lakeward_lake::catalog::TableEntry;
use lakeward_lake::grain::GrainKind;
use lakeward_lake::source::{Compression, Format, classify};
use lakeward_operate::sql_name;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::of::<Row>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// A row. `sql_name` is how a query names the table; `rows` are those read where it is `sampled`, of `total_rows` where that is known;
/// figures of a record, whose data is not in the lake, are NULL. `content` is the hash of the file.
#[derive(Serialize, Deserialize, JsonSchema)]
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

/// All tables of the snapshot; kept with it, because every entry has to be parsed.
pub(super) fn rows(lakeward: &Lakeward) -> Result<RecordBatch> {
    lakeward.kept().tables(|| {
        let index = lakeward.index();
        let tables: Vec<TableRef> = index.tables().collect();
        // Not through the index's own store of entries, which all of them would empty.
        let entry = |table: &TableRef| index.segment(table.segment)?.catalog.entry(table.table).map(row);
        let mut rows: Vec<Row> = tables.par_iter().map(entry).collect::<Result<_>>()?;
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        COLUMNS.batch(&rows)
    })
}

fn row(entry: TableEntry) -> Row {
    let file = (!entry.record).then(|| classify(std::path::Path::new(&entry.path))).flatten();
    let of_data = !entry.record;
    let sample = entry.report.sample;
    let title = entry.title();
    let id = entry.id.to_string();
    let metadata = entry.metadata.unwrap_or_default();
    let profile = entry.profile;
    Row {
        title,
        sql_name: of_data.then(|| sql_name(&id)),
        path: entry.path,
        format: file.map(|(format, _)| format),
        compression: file.map(|(_, compression)| compression).filter(|packed| *packed != Compression::None),
        rows: of_data.then_some(profile.rows),
        total_rows: match sample {
            Some(sample) => sample.total_rows,
            None => of_data.then_some(profile.rows),
        },
        columns: of_data.then_some(profile.columns.len()),
        column_names: profile.columns.into_iter().map(|column| column.name).collect(),
        read_bytes: of_data.then_some(entry.read_bytes),
        sampled: sample.is_some(),
        record: entry.record,
        grain: of_data.then_some(profile.grain.kind),
        keys: profile.keys,
        time_from: profile.time.as_ref().map(|time| time.from.clone()),
        time_to: profile.time.map(|time| time.to),
        description: metadata.description,
        tags: metadata.tags,
        publisher: metadata.publisher,
        licence: metadata.licence,
        source_url: metadata.source_url,
        citation: entry.citation,
        content: of_data.then(|| entry.content.to_string()),
        id,
    }
}
