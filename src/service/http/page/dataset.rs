//! A dataset: what its publisher says, its columns with their figures, its first rows, its citation.

use std::sync::Arc;

use axum::extract::State;
use maud::{Markup, html};
use serde::Deserialize;

use super::conversation::bar;
use super::layout::{Fault, Visitor, page as whole, text};
use crate::service::http::app::{App, READ};
use crate::service::http::endpoint::Query;
use crate::service::percent::percent_encoded;
use crate::service::{Stop, mcp, query_context};
use lakeward::Lakeward;
use lakeward::documents::TableReport;
use lakeward_core::error::Result;
use lakeward_core::text::counted;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::profile::ColumnProfile;
use lakeward_operate::{CellForm, sql_name, texts};

/// Rows of the sample.
const ROWS: usize = 10;
/// Columns of the sample.
const SAMPLE_COLUMNS: usize = 30;
/// Columns that are listed.
const COLUMNS: usize = 120;
/// Values of a column that are shown.
const VALUES: usize = 3;

/// The dataset that is meant.
#[derive(Deserialize)]
pub struct Of {
    id: String,
}

/// The first rows of a table.
struct Sample {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The page.
pub async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(of): Query<Of>,
) -> std::result::Result<Markup, Fault> {
    let found = app.work(&visitor.user, READ, move |lake, stop| {
        let report = TableReport::of(lake, &mcp::table_id(lake, &of.id)?)?;
        let sample = sample(lake, stop, &report.dataset)?;
        Ok((report, sample))
    });
    let (report, sample) = found.await?;
    let dataset = &report.dataset;
    Ok(whole(
        &dataset.title(),
        Some(&visitor),
        &html! {
            h1 { (text(&dataset.title())) }
            p {
                code { (text(dataset.id().as_str())) }
                @match dataset.table() {
                    Some(table) => { ", " (counted(table.profile.rows, "row")) ", " (counted(table.profile.columns.len() as u64, "column")) },
                    None => ", a catalogue record: its data is not in the lake",
                }
                @if report.sampled { "; only its first rows were read" }
            }
            @if dataset.table().is_some() {
            p { a href={ "/?table=" (percent_encoded(dataset.id().as_str())) } { "Start from this table" } }
        }
        (metadata(dataset))
            @if let Some(table) = dataset.table() {
                @if !table.profile.keys.is_empty() { p { "Keys: " (text(&table.profile.keys.join(", "))) } }
                (columns(&table.profile.columns))
            }
            @if let Some(sample) = &sample { (rows(sample)) }
            h2 { "Cite" }
            p { (text(dataset.citation())) }
        },
    ))
}

fn sample(lake: &Lakeward, stop: &Stop, dataset: &Dataset) -> Result<Option<Sample>> {
    if dataset.is_record() {
        return Ok(None);
    }
    let context = query_context(lake, stop)?;
    let mut found = context.query(&format!("SELECT * FROM {}", sql_name(dataset.id().as_str())), Some(ROWS))?;
    let columns = found.columns().iter().take(SAMPLE_COLUMNS).map(|column| text(&column.name)).collect();
    let mut rows = Vec::new();
    while let Some(batch) = found.next_batch()? {
        let batch = texts(&batch, CellForm::Shown)?;
        rows.extend(batch.iter().map(|row| row.iter().take(SAMPLE_COLUMNS).map(|cell| text(cell)).collect::<Vec<_>>()));
    }
    Ok(Some(Sample { columns, rows }))
}

fn metadata(dataset: &Dataset) -> Markup {
    html! {
        @if let Some(metadata) = dataset.metadata() {
            @if let Some(description) = &metadata.description { p { (text(description)) } }
            dl {
                @for (name, value) in [("Publisher", &metadata.publisher), ("Licence", &metadata.licence), ("Issued", &metadata.issued), ("Modified", &metadata.modified), ("Source", &metadata.source_url)] {
                    @if let Some(value) = value { dt { (name) } dd { (text(value)) } }
                }
            }
        }
    }
}

fn columns(columns: &[ColumnProfile]) -> Markup {
    html! {
        h2 { "Columns" }
        div class="scroll" tabindex="0" role="region" aria-label="Columns" {
            table {
                thead { tr { @for head in ["Name", "Type", "Different values", "Missing", "Range", "Most frequent values"] { th scope="col" { (head) } } } }
                tbody {
                    @for column in columns.iter().take(COLUMNS) {
                        tr {
                            th scope="row" { (text(&column.name)) }
                            td { (label(&column.logical)) @if let Some(semantic) = &column.semantic { ", " (label(semantic)) } }
                            td class="number" { (column.distinct) }
                            td class="number" { (column.missing) }
                            td { @if let (Some(min), Some(max)) = (&column.min, &column.max) { (text(min)) " – " (text(max)) } }
                            td {
                                @for (value, count) in column.top.iter().take(VALUES) {
                                    div { (bar(*count as f64 / column.rows.max(1) as f64, &format!("{} ({count})", text(value)))) }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if columns.len() > COLUMNS { p { (counted((columns.len() - COLUMNS) as u64, "more column")) } }
    }
}

/// The name of a type, as documents write it.
fn label(kind: &impl serde::Serialize) -> String {
    serde_json::to_value(kind)
        .ok()
        .and_then(|name| name.as_str().map(|name| name.replace('_', " ")))
        .unwrap_or_default()
}

fn rows(sample: &Sample) -> Markup {
    html! {
        h2 { "First rows" }
        div class="scroll" tabindex="0" role="region" aria-label="First rows" {
            table {
                thead { tr { @for column in &sample.columns { th scope="col" { (column) } } } }
                tbody { @for row in &sample.rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}
