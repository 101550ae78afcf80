//! The tools that search: tables by words, to join, to append.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Answer, Listing, Page, Paging};
use super::cards::{CorrelationCard, FeatureCard, FoundColumn, JoinCard, TableCard, UnionCard};
use super::names;
use crate::service::{Stop, query_context};
use lakeward::Lakeward;
use lakeward::documents::FeatureDocument;
use lakeward_agent::feature_table::{Aggregate, FeatureOptions};
use lakeward_core::error::{Error, Result};
use lakeward_search::{ColumnAnswer, JoinAnswer, QueryTable, SearchAnswer, UnionOptions, union};

/// Items of a page unless the caller asks for more.
const DEFAULT_ITEMS: usize = 10;
/// Items of a page at most.
const MOST_ITEMS: usize = 50;
/// Answers that a search gives at most, over all pages.
const MOST_ANSWERS: usize = 200;
/// Answers among which those of a folder are looked for.
const MOST_RANKED: usize = 2_000;

/// What to search for by words.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindTables {
    /// What is looked for, in plain words.
    pub request: String,
    /// Tables of a page: 10 by default, at most 50.
    #[serde(default)]
    pub k: Option<usize>,
    /// Only tables whose id begins with this, such as a folder of `lake_overview`.
    #[serde(default)]
    pub folder: Option<String>,
    /// Leave out catalogue records, whose data is not in the lake.
    #[serde(default)]
    pub tables_only: bool,
    /// The part of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

/// What columns should hold.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindColumns {
    /// What they hold, in plain words: a name, a meaning, a unit, a value.
    pub holding: String,
    /// Columns of a page: 10 by default, at most 50.
    #[serde(default)]
    pub k: Option<usize>,
    /// The part of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

/// What to join with.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindJoinable {
    /// Id of a table of the lake.
    pub table: String,
    /// Its key column, or the columns of a composite key; without it the likeliest key is tried.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Tables of a page: 10 by default, at most 50.
    #[serde(default)]
    pub k: Option<usize>,
    /// The part of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

/// What to append to.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindUnionable {
    /// Id of a table of the lake.
    pub table: String,
    /// Tables of a page: 10 by default, at most 50.
    #[serde(default)]
    pub k: Option<usize>,
    /// The part of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

/// What to explain.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindCorrelated {
    /// Id of a table of the lake.
    pub table: String,
    /// Its column to be explained.
    pub target: String,
    /// Its key column, or the two of a composite key; without it the likeliest keys are tried.
    #[serde(default)]
    pub key: Vec<String>,
    /// Columns of a page: 10 by default, at most 50.
    #[serde(default)]
    pub k: Option<usize>,
    /// The part of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

/// The number of the snapshot, to which cursors belong.
pub fn generation(lake: &Lakeward) -> u64 {
    lake.index().manifest().generation
}

/// Tables that match a request in words.
pub fn find_tables(lake: &Lakeward, asked: &FindTables) -> Result<Answer<TableCard>> {
    let folder = asked.folder.as_deref().unwrap_or_default();
    let request = format!("find_tables {} {folder} {}", asked.request, asked.tables_only);
    let page = Page::of(&asked.paging, &request, generation(lake))?;
    let narrowed = !folder.is_empty() || asked.tables_only;
    let answers = lake.search(&asked.request, if narrowed { MOST_RANKED } else { MOST_ANSWERS })?;
    let calibration = &lake.config().ranking.calibration;
    let may_serve = answers.iter().any(|answer| answer.may_serve(calibration));
    let requested = |answer: &&SearchAnswer| answer.table.starts_with(folder) && !(asked.tables_only && answer.record);
    let all: Vec<&SearchAnswer> = answers.iter().filter(requested).take(MOST_ANSWERS).collect();
    let hint = match (all.len(), may_serve) {
        (0, _) => "no table matches; ask in other words, or see `lake_overview`",
        _ if answers.len() == MOST_RANKED => {
            "only the best 2000 of the lake were looked at: say more of what you look for"
        }
        (_, false) => "nothing in the lake seems to answer this: these are but the nearest",
        (MOST_ANSWERS, _) => "`total` counts the best 200; `describe_table` shows what is in one",
        _ => "`describe_table` shows what is in one, `find_joinable` and `find_unionable` what goes with it",
    };
    Ok(page.answer(ranked(&page, asked.k, &all, |answer| TableCard::found(answer), hint)))
}

/// Columns that hold what is asked for.
pub fn find_columns(lake: &Lakeward, asked: &FindColumns) -> Result<Answer<FoundColumn>> {
    let page = Page::of(&asked.paging, &format!("find_columns {}", asked.holding), generation(lake))?;
    let answers = lake.columns(&asked.holding, MOST_ANSWERS)?;
    let all: Vec<&ColumnAnswer> = answers.iter().collect();
    let hint = match all.is_empty() {
        true => "no column holds that; ask in other words, or search with `find_tables`",
        false => "at most three columns of a table are given; `list_columns` shows the others",
    };
    Ok(page.answer(ranked(&page, asked.k, &all, |answer| FoundColumn::of(answer), hint)))
}

/// Tables that can be joined.
pub fn find_joinable(lake: &Lakeward, asked: &FindJoinable) -> Result<Answer<JoinCard>> {
    let request = format!("find_joinable {} {:?}", asked.table, asked.columns);
    let page = Page::of(&asked.paging, &request, generation(lake))?;
    let query = names::query_table(lake, &asked.table)?;
    let columns = asked.columns.iter().map(|name| column_place(&query, name)).collect::<Result<Vec<usize>>>()?;
    let found = lake.join(&query, &columns, requested(&page, asked.k))?;
    let all: Vec<&JoinAnswer> = found.answers.iter().collect();
    let hint = match (found.notes.first(), all.is_empty()) {
        (Some(note), _) => note.as_str(),
        (None, true) => "no table shares these values; name another column in `columns`",
        (None, false) => "`ask` with `table` proposes the join and `preview_operation` counts its rows",
    };
    Ok(page.answer(counted_as_needed(&page, asked.k, &all, |answer| JoinCard::of(answer), hint)))
}

/// Tables whose rows can be appended.
pub fn find_unionable(lake: &Lakeward, asked: &FindUnionable) -> Result<Answer<UnionCard>> {
    let page = Page::of(&asked.paging, &format!("find_unionable {}", asked.table), generation(lake))?;
    let query = names::query_table(lake, &asked.table)?;
    // New rows would be counted by reading every candidate's file.
    let weights = &lake.config().ranking;
    let options = UnionOptions { k: requested(&page, asked.k), count_rows: false, weights };
    let answers = union::search(lake.index(), &lake.place().lake, &query, &options)?;
    let answers = lake.gate().admit(answers)?;
    let all: Vec<_> = answers.iter().collect();
    let hint = match all.is_empty() {
        true => "no table has columns that correspond",
        false => "`ask` with `table` proposes the union and `preview_operation` counts its rows",
    };
    Ok(page.answer(counted_as_needed(&page, asked.k, &all, |answer| UnionCard::of(answer), hint)))
}

/// A table of features for a model of a column, as a plan; it is made of the best of what is found within some seconds.
pub fn features(
    lake: &Lakeward,
    stop: &Stop,
    table: String,
    target: &str,
    key: impl IntoIterator<Item = String>,
    k: Option<usize>,
) -> Result<FeatureDocument> {
    const FEATURES: usize = 3;
    const MOST_FEATURES: usize = 10;
    const WITHIN: Duration = Duration::from_secs(6);
    let started = Instant::now();
    let query = names::query_table(lake, &table)?;
    let key: Vec<String> = key.into_iter().collect();
    let options = FeatureOptions {
        target: query.column(target)?,
        key: query.columns_named(&key)?,
        k: k.unwrap_or(FEATURES).clamp(1, MOST_FEATURES),
        aggregate: Aggregate::Mean,
        within: WITHIN,
        base: None,
        only: Vec::new(),
    };
    let found = lake.features(&query_context(lake, stop)?, &query, &options)?;
    Ok(FeatureDocument::new(table, found, started))
}

/// The features of a table of features.
pub fn build_features(lake: &Lakeward, stop: &Stop, asked: FindCorrelated) -> Result<Answer<FeatureCard>> {
    let request = format!("build_features {} {} {:?}", asked.table, asked.target, asked.key);
    let page = Page::of(&asked.paging, &request, generation(lake))?;
    let FeatureDocument { table, .. } = features(lake, stop, asked.table, &asked.target, asked.key, asked.k)?;
    let all: Vec<_> = table.features.iter().collect();
    let left_out = table.left_out.iter().filter(|left_out| left_out.leaks).count();
    let hint = match &table.gain {
        _ if all.is_empty() => format!("none of {} columns that were tested helps", table.tested),
        Some(gain) => format!("all of them: {gain}; {left_out} left out as they know the target"),
        None => format!("not tried with a model; {left_out} left out as they know the target"),
    };
    Ok(page.answer(counted_as_needed(&page, asked.k, &all, |feature| FeatureCard::of(feature), &hint)))
}

/// Columns that go with a column of a table.
pub fn find_correlated(lake: &Lakeward, asked: &FindCorrelated) -> Result<Answer<CorrelationCard>> {
    let request = format!("find_correlated {} {} {:?}", asked.table, asked.target, asked.key);
    let page = Page::of(&asked.paging, &request, generation(lake))?;
    let query = names::query_table(lake, &asked.table)?;
    let target = column_place(&query, &asked.target)?;
    let key = asked.key.iter().map(|name| column_place(&query, name)).collect::<Result<Vec<usize>>>()?;
    let found = lake.correlate(&query, target, &key, requested(&page, asked.k))?;
    let all: Vec<_> = found.answers.iter().collect();
    let hint = match (found.notes.first(), all.is_empty()) {
        (Some(note), _) => note.clone(),
        (None, true) => format!("none of {} columns that were tested goes with it", found.tested),
        (None, false) => {
            format!("the best of {} columns that were tested; one with a caution may be of no use", found.tested)
        }
    };
    Ok(page.answer(counted_as_needed(&page, asked.k, &all, |answer| CorrelationCard::of(answer), &hint)))
}

fn column_place(query: &QueryTable, name: &str) -> Result<usize> {
    let columns = &query.entry.profile.columns;
    let column = names::column(query.entry.id.as_str(), columns, name)?;
    let place = columns.iter().position(|other| std::ptr::eq(other, column));
    place.ok_or_else(|| Error::Internal("a found column is not in its table".into()))
}

fn items_of(k: Option<usize>) -> usize {
    k.unwrap_or(DEFAULT_ITEMS).clamp(1, MOST_ITEMS)
}

/// How many answers a search must give for this page: one more tells whether there are more.
fn requested(page: &Page, k: Option<usize>) -> usize {
    (page.start() + items_of(k) + 1).min(MOST_ANSWERS)
}

/// The page's part of `all` answers there are.
fn ranked<A, T>(page: &Page, k: Option<usize>, all: &[A], card: impl Fn(&A) -> T, hint: &str) -> Listing<T> {
    let items: Vec<T> = all.iter().skip(page.start()).take(items_of(k)).map(card).collect();
    let more = page.start() + items.len() < all.len();
    Listing { about: None, items, total: Some(all.len()), more, hint: hint.to_string() }
}

/// The page's part of the answers found so far, which are all only if there is none beyond the page.
fn counted_as_needed<A, T>(page: &Page, k: Option<usize>, all: &[A], card: impl Fn(&A) -> T, hint: &str) -> Listing<T> {
    let listing = ranked(page, k, all, card, hint);
    let total = listing.total.filter(|_| !listing.more);
    Listing { total, ..listing }
}
