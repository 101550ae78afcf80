//! A dataset: what its publisher says, its columns with their figures, its first rows, its citation.

use std::collections::HashMap;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use maud::{Markup, html};
use serde::Deserialize;

use super::answer::bar;
use super::fault::Fault;
use super::layout::{Visitor, grid, page as whole, phrase, text};
use crate::messages::{count, name, say};
use crate::service::http::actions;
use crate::service::http::app::READ;
use crate::service::http::chart::histogram;
use crate::service::http::endpoint::Query;
use crate::service::percent::percent_encoded;
use crate::service::{Stop, mcp, query_context};
use lakeward::Lakeward;
use lakeward::documents::{Cited, TableReport};
use lakeward::usage::Did;
use lakeward_core::error::{Error, Result};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::profile::ColumnProfile;
use lakeward_operate::{CellForm, sql_name, texts};

/// Rows of the sample.
const ROWS: usize = 10;
/// Cells that histograms are made of at most, and rows.
const HISTOGRAM_CELLS: usize = 2_000_000;
const HISTOGRAM_ROWS: usize = 50_000;
/// Columns with a histogram, and its bars.
const HISTOGRAMS: usize = 40;
const BARS: usize = 16;
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
    /// The answer in which it was seen.
    seen: Option<String>,
}

/// The first rows of a table, and how its numbers are spread.
#[derive(Default)]
struct Sample {
    columns: Vec<String>,
    rows: Vec<Vec<(String, bool)>>,
    /// By column: counts in ranges of the same width.
    histograms: HashMap<String, Vec<u64>>,
    /// Rows that the histograms are made of.
    counted: usize,
}

pub async fn page(visitor: Visitor, Query(of): Query<Of>) -> std::result::Result<Markup, Fault> {
    let seen = of.seen.clone();
    let found = visitor.work(READ, move |lake, stop| {
        let report = TableReport::of(lake, &mcp::table_id(lake, &of.id)?)?;
        let sample = sample(lake, stop, &report.dataset)?;
        let cited = actions::cite(lake, report.dataset.id().as_str())?;
        Ok((report, sample, cited))
    });
    let (report, sample, cited) = found.await?;
    let dataset = &report.dataset;
    if let (Some(log), Some(answer)) = (&visitor.app.usage, &seen) {
        log.add(answer, Did::Opened, [dataset.id().as_str().to_string()]);
    }
    let id = percent_encoded(dataset.id().as_str());
    Ok(whole(
        &dataset.title(),
        Some(&visitor),
        &html! {
            h1 { (text(&dataset.title())) }
            p {
                code { (text(dataset.id().as_str())) }
                @match dataset.table() {
                    Some(table) => { ", " (count(table.profile.rows, "row")) ", " (count(table.profile.columns.len() as u64, "column")) },
                    None => { ", " (say("a catalogue record: its data is not in the lake")) },
                }
                @if report.sampled { "; " (say("only its first rows were read")) }
            }
            @if dataset.table().is_some() {
                p { a.button href={ "/?table=" (id) } { (say("Start from this table")) } " " a.button href={ "/map?table=" (id) } { (say("What goes with it")) } }
            }
            (metadata(dataset))
            @if let Some(table) = dataset.table() {
                @if !table.profile.keys.is_empty() { p { (phrase("Keys: {}", &[html! { (text(&table.profile.keys.join(", "))) }])) } }
                (columns(&table.profile.columns, &sample))
            }
            @if !sample.rows.is_empty() {
                h2 { (say("First rows")) }
                (grid(say("First rows of the table"), &sample.columns, &sample.rows))
            }
            h2 id="cite" { (say("Cite")) }
            @for cited in &cited.citations { (citation(cited)) }
        },
    ))
}

fn sample(lake: &Lakeward, stop: &Stop, dataset: &Dataset) -> Result<Sample> {
    let Some(table) = dataset.table() else { return Ok(Sample::default()) };
    let context = query_context(lake, stop)?;
    let most = (HISTOGRAM_CELLS / table.profile.columns.len().max(1)).clamp(ROWS, HISTOGRAM_ROWS);
    let mut found = context.query(&format!("SELECT * FROM {}", sql_name(dataset.id().as_str())), Some(most))?;
    let heads = found.columns().to_vec();
    let columns = heads.iter().take(SAMPLE_COLUMNS).map(|column| text(&column.name)).collect();
    let mut sample = Sample { columns, ..Sample::default() };
    let numeric: Vec<usize> = (0..heads.len()).filter(|place| heads[*place].is_numeric).take(HISTOGRAMS).collect();
    let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); numeric.len()];
    while let Some(batch) = found.next_batch()? {
        let left = ROWS.saturating_sub(sample.rows.len()).min(batch.num_rows());
        for row in texts(&batch.slice(0, left), CellForm::Shown)? {
            let cells = row.iter().zip(&heads).take(SAMPLE_COLUMNS);
            sample.rows.push(cells.map(|(cell, column)| (text(cell), column.is_numeric)).collect());
        }
        for (numbers, place) in numbers.iter_mut().zip(&numeric) {
            let as_numbers = cast(batch.column(*place), &DataType::Float64);
            let as_numbers = as_numbers.map_err(|error| Error::Internal(error.to_string()))?;
            numbers.extend(as_numbers.as_primitive::<Float64Type>().iter().flatten().filter(|it| it.is_finite()));
        }
        sample.counted += batch.num_rows();
    }
    let named =
        numeric.iter().zip(numbers).filter_map(|(place, numbers)| Some((heads[*place].name.clone(), bins(&numbers)?)));
    sample.histograms = named.collect();
    Ok(sample)
}

/// How many of `numbers` fall into each of some ranges of the same width; `None` if all are equal.
fn bins(numbers: &[f64]) -> Option<Vec<u64>> {
    let (from, to) = numbers.iter().fold((f64::MAX, f64::MIN), |(a, b), it| (a.min(*it), b.max(*it)));
    let wide = (to - from) / BARS as f64;
    if !wide.is_finite() || wide <= 0.0 {
        return None;
    }
    let mut counts = vec![0; BARS];
    numbers.iter().for_each(|number| counts[(((number - from) / wide) as usize).min(BARS - 1)] += 1);
    Some(counts)
}

fn citation(cited: &Cited) -> Markup {
    let csl = serde_json::to_string_pretty(&[&cited.csl_json]).unwrap_or_default();
    let bibtex: Vec<String> = cited.bibtex.lines().map(text).collect();
    let csl: Vec<String> = csl.lines().map(text).collect();
    html! {
        @if let Some(note) = &cited.note { p.why { (text(note)) } }
        @for (name, form) in [("Text", text(&cited.text)), ("BibTeX", bibtex.join("\n")), ("CSL-JSON", csl.join("\n"))] {
            details.cite open[name == "Text"] { summary { (say(name)) } pre data-copy=(say(name)) tabindex="0" { (form) } }
        }
    }
}

fn metadata(dataset: &Dataset) -> Markup {
    html! {
        @if let Some(metadata) = dataset.metadata() {
            @if let Some(description) = &metadata.description { p { (text(description)) } }
            dl {
                @for (name, value) in [("Publisher", &metadata.publisher), ("Licence", &metadata.licence), ("Issued", &metadata.issued), ("Modified", &metadata.modified), ("Source", &metadata.source_url)] {
                    @if let Some(value) = value { dt { (say(name)) } dd { (text(value)) } }
                }
            }
        }
    }
}

fn columns(columns: &[ColumnProfile], sample: &Sample) -> Markup {
    html! {
        h2 { (say("Columns")) }
        div.scroll tabindex="0" role="region" aria-label=(say("Columns")) {
            table {
                thead { tr { @for head in ["Name", "Type", "Different values", "Missing", "Range", "Distribution"] { th scope="col" { (say(head)) } } } }
                tbody {
                    @for column in columns.iter().take(COLUMNS) {
                        tr {
                            th scope="row" { (text(&column.name)) }
                            td { (name(&label(&column.logical))) @if let Some(semantic) = &column.semantic { ", " (name(&label(semantic))) } }
                            td.number { (column.distinct) }
                            td.number { (column.missing) }
                            td { @if let (Some(min), Some(max)) = (&column.min, &column.max) { (text(min)) " – " (text(max)) } }
                            td { (distribution(column, sample.histograms.get(&column.name))) }
                        }
                    }
                }
            }
        }
        @if !sample.histograms.is_empty() { p.why { (phrase("Histograms of the first {}.", &[html! { (count(sample.counted as u64, "row")) }])) } }
        @if columns.len() > COLUMNS { p { (count((columns.len() - COLUMNS) as u64, "more column")) } }
    }
}

/// A histogram of numbers, else the most frequent values.
fn distribution(column: &ColumnProfile, counts: Option<&Vec<u64>>) -> Markup {
    html! {
        @match counts {
            Some(counts) => {
                @let ranges = [&column.min, &column.max].map(|end| end.as_deref().map(text).unwrap_or_default());
                (histogram(counts, &format!("from {} to {}: {counts:?}", ranges[0], ranges[1])))
            },
            None => { @for (value, count) in column.top.iter().take(VALUES) {
                div { (bar(*count as f64 / column.rows.max(1) as f64, &format!("{} ({count})", text(value)))) }
            } },
        }
    }
}

/// The name of a type, as documents write it.
fn label(kind: &impl serde::Serialize) -> String {
    serde_json::to_value(kind)
        .ok()
        .and_then(|name| name.as_str().map(|name| name.replace('_', " ")))
        .unwrap_or_default()
}
