//! The tools that describe: the lake, a table, its columns.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Listing, Nothing, Page, Paging, json_bytes, lake_text};
use super::cards::{CELL, ColumnCard, MetadataCard, NAME};
use super::names;
use super::searches::generation;
use crate::service::{Stop, query_context};
use lakeward::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::counted;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::grain::GrainKind;
use lakeward_operate::{CellForm, sql_name, texts};

/// Rows of a sample.
const SAMPLE_ROWS: usize = 3;
/// Columns of a sample.
const SAMPLE_COLUMNS: usize = 12;
/// Examples of a folder's tables.
const EXAMPLES: usize = 3;

/// The part of the overview.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LakeOverview {
    /// The part of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

/// What a table to describe is.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DescribeTable {
    /// Id of a table of the lake.
    pub table: String,
    /// Only these columns.
    #[serde(default)]
    pub columns: Vec<String>,
    /// What to tell: by default `profile` and `metadata`.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// The part of the list of columns.
    #[serde(flatten)]
    pub paging: Paging,
}

/// A part of a table's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The columns with their figures, keys, period.
    Profile,
    /// The first rows.
    Sample,
    /// What the publisher says.
    Metadata,
    /// What to cite.
    Citation,
}

/// Whose columns to list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListColumns {
    /// Id of a table of the lake.
    pub table: String,
    /// Only columns whose names contain this.
    #[serde(default, rename = "match")]
    pub part: Option<String>,
    /// The part of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

/// The lake in figures.
#[derive(Debug, Serialize)]
pub struct LakeCard {
    pub name: String,
    /// Tables whose data is in the lake.
    pub tables: usize,
    /// Catalogue records, whose data is not.
    pub records: usize,
    /// Rows of all tables.
    pub rows: u64,
    /// Columns of all tables.
    pub columns: u64,
    /// Files that could not be read.
    pub skipped_files: usize,
}

/// A folder of the lake.
#[derive(Debug, Default, Serialize)]
pub struct FolderCard {
    /// Its name; empty for the lake's own folder.
    pub folder: String,
    /// Tables and records below it.
    pub tables: usize,
    /// Their rows.
    pub rows: u64,
    /// Some of their titles.
    pub examples: Vec<String>,
}

/// A table as a whole.
#[derive(Debug, Serialize)]
pub struct TableDescription {
    pub id: String,
    /// Its name in SQL, for `query`.
    pub sql_name: String,
    pub title: String,
    /// Whether only a catalogue lists it: its data is not in the lake.
    pub record: bool,
    pub rows: u64,
    pub columns: usize,
    /// What a row stands for: one thing, or an aggregate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_is: Option<GrainKind>,
    /// Columns that could identify a row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The period covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// What the publisher says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MetadataCard>,
    /// What to cite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Names of the sample's columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample_columns: Vec<String>,
    /// The first rows, cell by cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample: Vec<Vec<String>>,
}

pub fn lake_overview(lake: &Lakeward, asked: &LakeOverview) -> Result<Answer<FolderCard, LakeCard>> {
    let page = Page::of(&asked.paging, "lake_overview", generation(lake))?;
    let index = lake.index();
    let mut about = LakeCard {
        name: lake_text(&index.manifest().lake, NAME),
        tables: 0,
        records: 0,
        rows: 0,
        columns: 0,
        skipped_files: index.manifest().skipped.len(),
    };
    let mut folders: BTreeMap<String, FolderCard> = BTreeMap::new();
    for table in index.tables() {
        let dataset = index.dataset(table)?;
        let rows = dataset.table().map_or(0, |table| table.profile.rows);
        about.tables += usize::from(!dataset.is_record());
        about.records += usize::from(dataset.is_record());
        about.rows += rows;
        about.columns += dataset.columns().len() as u64;
        let folder = dataset.id().as_str().split_once('/').map_or("", |(folder, _)| folder);
        let card = folders.entry(folder.to_string()).or_default();
        card.tables += 1;
        card.rows += rows;
        if card.examples.len() < EXAMPLES {
            card.examples.push(lake_text(&dataset.title(), NAME / 2));
        }
    }
    let total = folders.len();
    let named = |(folder, card): (String, FolderCard)| FolderCard { folder: lake_text(&folder, NAME), ..card };
    let items: Vec<FolderCard> = folders.into_iter().skip(page.start()).map(named).collect();
    let hint = "find data with `find_tables`, or say the whole task to `ask`".to_string();
    Ok(page.answer(Listing { about: Some(about), items, total: Some(total), more: false, hint }))
}

/// A table with its columns.
pub fn describe_table(
    lake: &Lakeward,
    stop: &Stop,
    asked: &DescribeTable,
) -> Result<Answer<ColumnCard, TableDescription>> {
    let request = format!("describe_table {} {:?} {:?}", asked.table, asked.columns, asked.fields);
    let page = Page::of(&asked.paging, &request, generation(lake))?;
    let id = names::table_id(lake, &asked.table)?;
    let dataset = lake.index().dataset(lake.index().find(&id)?)?;
    let has = |field| match asked.fields.as_slice() {
        [] => matches!(field, Field::Profile | Field::Metadata),
        fields => fields.contains(&field),
    };
    let mut about = description(&dataset);
    about.metadata = dataset.metadata().filter(|_| has(Field::Metadata)).map(MetadataCard::of);
    about.citation = has(Field::Citation).then(|| lake_text(dataset.citation(), 2 * NAME));
    if has(Field::Sample) && !dataset.is_record() {
        (about.sample_columns, about.sample) = sample(lake, stop, &dataset)?;
    }
    while json_bytes(&about) > page.about_bytes() && about.sample.pop().is_some() {}
    let columns = match asked.columns.as_slice() {
        [] if has(Field::Profile) => dataset.columns().iter().collect(),
        named => named.iter().map(|name| names::column(&id, dataset.columns(), name)).collect::<Result<Vec<_>>>()?,
    };
    let items = columns.iter().skip(page.start()).map(|column| ColumnCard::of(column, true)).collect();
    let hint = match dataset.is_record() {
        true => "its data is not in the lake; `citation` and `metadata.source` say where it is".to_string(),
        false => format!("query it as {}", about.sql_name),
    };
    Ok(page.answer(Listing { about: Some(about), items, total: Some(columns.len()), more: false, hint }))
}

fn description(dataset: &Dataset) -> TableDescription {
    let profile = dataset.table().map(|table| &table.profile);
    let keys = profile.map(|profile| profile.keys.iter().map(|key| lake_text(key, NAME / 2)).collect());
    let period = profile.and_then(|profile| profile.time.as_ref());
    TableDescription {
        id: lake_text(dataset.id().as_str(), NAME),
        sql_name: lake_text(&sql_name(dataset.id().as_str()), 2 * NAME),
        title: lake_text(&dataset.title(), NAME),
        record: dataset.is_record(),
        rows: profile.map_or(0, |profile| profile.rows),
        columns: dataset.columns().len(),
        row_is: profile.map(|profile| profile.grain.kind),
        keys: keys.unwrap_or_default(),
        period: period.map(|time| lake_text(&format!("{} to {}", time.from, time.to), CELL)),
        metadata: None,
        citation: None,
        sample_columns: Vec::new(),
        sample: Vec::new(),
    }
}

/// The first rows of a table, with the names of its columns.
fn sample(lake: &Lakeward, stop: &Stop, dataset: &Dataset) -> Result<(Vec<String>, Vec<Vec<String>>)> {
    let context = query_context(lake, stop)?;
    let sql = format!("SELECT * FROM {}", sql_name(dataset.id().as_str()));
    let mut rows = context.query(&sql, Some(SAMPLE_ROWS))?;
    let short = |text: &String| lake_text(text, CELL / 2);
    let columns = rows.columns().iter().take(SAMPLE_COLUMNS).map(|column| short(&column.name)).collect();
    let mut cells = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        let batch = texts(&batch, CellForm::Shown)?;
        cells.extend(batch.iter().map(|row| row.iter().take(SAMPLE_COLUMNS).map(short).collect::<Vec<String>>()));
    }
    Ok((columns, cells))
}

/// The columns of a table in brief.
pub fn list_columns(lake: &Lakeward, asked: &ListColumns) -> Result<Answer<ColumnCard, Nothing>> {
    let part = asked.part.as_deref().unwrap_or_default().to_lowercase();
    let page = Page::of(&asked.paging, &format!("list_columns {} {part}", asked.table), generation(lake))?;
    let id = names::table_id(lake, &asked.table)?;
    let dataset = lake.index().dataset(lake.index().find(&id)?)?;
    let matching = dataset.columns().iter().filter(|column| column.name.to_lowercase().contains(&part));
    let columns: Vec<_> = matching.collect();
    let hint = match (columns.len(), dataset.columns().len()) {
        (0, 0) => "a catalogue record has no known columns".to_string(),
        (0, all) => format!("no name contains this; the table has {}", counted(all as u64, "column")),
        _ => "`describe_table` with `columns` shows figures and values".to_string(),
    };
    let items = columns.iter().skip(page.start()).map(|column| ColumnCard::of(column, false)).collect();
    Ok(page.answer(Listing { about: None, items, total: Some(columns.len()), more: false, hint }))
}

/// The description of the table `name` as text.
pub fn table_text(lake: &Lakeward, name: &str) -> Result<String> {
    let id = names::table_id(lake, name)?;
    let dataset = lake.index().dataset(lake.index().find(&id)?)?;
    let mut about = description(&dataset);
    about.metadata = dataset.metadata().map(MetadataCard::of);
    about.citation = Some(lake_text(dataset.citation(), 2 * NAME));
    let columns = dataset.columns().iter().map(|column| ColumnCard::of(column, false)).collect();
    let paging = Paging { cursor: None, max_tokens: Some(super::answer::MOST_TOKENS) };
    let page = Page::of(&paging, &id, generation(lake))?;
    let listing = Listing {
        about: Some(about),
        items: columns,
        total: Some(dataset.columns().len()),
        more: false,
        hint: String::new(),
    };
    serde_json::to_string(&page.answer(listing)).map_err(|error| Error::Internal(error.to_string()))
}
