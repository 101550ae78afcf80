//! A table of features for a model, built step by step: from a table with a target to a plan of left joins, each with
//! one column that goes with the target, at one row a key. No join can repeat a row or touch the target and the keys;
//! columns that give the target away are left out; and each column says what it adds to a model.

mod dictionary;
mod proposal;

use std::time::{Duration, Instant};

use arrow::array::AsArray;
use arrow::datatypes::Float64Type;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::dictionary::{DataDictionary, DictionaryEntry};
use self::proposal::proposal;
pub(crate) use self::proposal::{Added, free_name, one_row_join};
use crate::execution::preview_rows;
use crate::known_columns::column_names;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Expression, Grouping, Measure, MeasureFunction, Plan, Step};
use lakeward_core::request::Input;
use lakeward_core::text::lower_words;
use lakeward_index::{ColumnRef, LakeIndex};
use lakeward_lake::join_keys;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType};
use lakeward_operate::{Gain, GainOptions, LakeContext, Split, feature_gain, plan_sql};
use lakeward_search::correlate::{self, CorrelationAnswer, FOLLOWS};
use lakeward_search::{CorrelateOptions, QueryTable};

/// Proposals looked at for each feature that is wanted.
const LOOKED_AT: usize = 4;
/// Own columns that the model is given: so many, and one for so many rows.
const MOST_GIVEN: usize = 30;
const ROWS_OF_COLUMN: usize = 20;
/// A column that adds less to R² or accuracy is left out.
const LEAST_GAIN: f64 = 0.005;
/// A column that so few rows would get is left out.
const LEAST_COVERAGE: f64 = 0.2;

/// What a feature table is made from.
#[derive(Debug, Clone)]
pub struct FeatureOptions {
    /// Place of the target.
    pub target: usize,
    /// Places of the key columns, at most two; if none are given, the likeliest keys are tried.
    pub key: Vec<usize>,
    /// Most features.
    pub k: usize,
    /// How several numbers of a key become one.
    pub aggregate: Aggregate,
    /// Time for fitting models; features are proposed unproven after it.
    pub within: Duration,
    /// What was done to the table already; what its joins add is not proposed again. None: the table as it is.
    pub base: Option<Plan>,
    /// If there are any, these columns are added, whatever they add to a model, unless they know the target.
    pub only: Vec<ColumnRef>,
}

/// How several numbers of a key become one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// Their mean.
    #[default]
    Mean,
    /// Their median.
    Median,
    /// The smallest.
    Min,
    /// The greatest.
    Max,
    /// Their sum.
    Sum,
    /// The number of rows that have one.
    Count,
    /// That of the latest time, if the table has one; else their mean.
    Last,
}

impl Aggregate {
    /// What is made of the column `name` is called: a count of its values is none of them.
    pub(crate) fn named(self, name: &str) -> &str {
        if self == Self::Count { "count" } else { name }
    }

    /// What words say that several values of a column become: the first of these terms in them. A number of things is a count of their names,
    /// but a column of numbers holds it.
    pub(crate) fn named_in(words: &str, column: LogicalType) -> Option<Self> {
        const TERMS: [(&str, Aggregate); 12] = [
            ("number of", Aggregate::Count),
            ("how many", Aggregate::Count),
            ("count of", Aggregate::Count),
            ("total", Aggregate::Sum),
            ("sum", Aggregate::Sum),
            ("average", Aggregate::Mean),
            ("mean", Aggregate::Mean),
            ("median", Aggregate::Median),
            ("maximum", Aggregate::Max),
            ("highest", Aggregate::Max),
            ("minimum", Aggregate::Min),
            ("lowest", Aggregate::Min),
        ];
        let words: Vec<String> = lower_words(words).collect();
        let words = format!(" {} ", words.join(" "));
        let fits = |(_, aggregate): &&(&str, Self)| *aggregate != Self::Count || !column.is_numeric();
        let mut terms = TERMS.iter().filter(fits);
        terms.find(|(term, _)| words.contains(&format!(" {term} "))).map(|(_, aggregate)| *aggregate)
    }
}

/// A column of a feature table that comes from another table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Feature {
    /// Its name in the feature table.
    pub name: String,
    /// How the rows of a key become its value.
    pub aggregate: String,
    /// What it adds to a model of the target that has the table's own columns and the features before; none if there was no time.
    pub gain: Option<Gain>,
    /// Where it comes from, and how it goes with the target.
    pub found: CorrelationAnswer,
}

/// A column that goes with the target and is not in the table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Its table.
    pub table: String,
    /// Its name.
    pub column: String,
    /// Why it is left out.
    pub reason: String,
    /// Whether a model with it would know the target.
    pub leaks: bool,
}

impl LeftOut {
    fn of(found: &CorrelationAnswer, reason: String) -> Self {
        Self { table: found.table.clone(), column: found.column.clone(), reason, leaks: found.leaks() }
    }
}

/// A table of features.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FeatureTable {
    /// How the table that it was made from is cited; empty for a file outside the lake.
    pub citation: String,
    /// The target.
    pub target: String,
    /// The keys that were tried.
    pub keys: Vec<Vec<String>>,
    /// The own columns that the model was given.
    pub given: Vec<String>,
    /// Rows, as many as the table had.
    pub rows: u64,
    /// The features, in the order in which they were added.
    pub features: Vec<Feature>,
    /// What all features together add.
    pub gain: Option<Gain>,
    /// What was looked at and left out.
    pub left_out: Vec<LeftOut>,
    /// Columns of the lake that were tested, each with each key.
    pub tested: u64,
    /// The plan that makes the table.
    pub plan: Plan,
    /// What could not be done, and why.
    pub notes: Vec<String>,
}

/// The feature table of `query`.
///
/// # Errors
/// Those of [`correlate::search`] and of previewing joins.
pub fn feature_table(
    index: &LakeIndex,
    lake: &std::path::Path,
    context: &LakeContext,
    query: &QueryTable,
    options: &FeatureOptions,
) -> Result<FeatureTable> {
    let started = Instant::now();
    let columns = &query.entry.profile.columns;
    let (key, k, only) = (options.key.clone(), options.k.max(1) * LOOKED_AT, options.only.clone());
    let search = CorrelateOptions { target: options.target, key, k, only };
    let found = correlate::search(index, lake, query, &search)?;
    let source = match query.origin {
        Some(_) => Input::Table(query.entry.id.to_string()),
        None => Input::File(query.path.to_string_lossy().into_owned()),
    };
    let base = options.base.clone().unwrap_or_else(|| Plan::of(source));
    let rows = preview_rows(context, &base)?.rows_out;
    let keys: Vec<Vec<usize>> = found.keys.iter().map(|key| query.columns_named(key)).collect::<Result<_>>()?;
    let split = split(columns, &keys, rows);
    let mut given = given(columns, options.target, &keys);
    let mut notes = found.notes;
    for name in same_as_target(context, &base, &columns[options.target], columns)? {
        given.retain(|given| *given != name);
        notes.push(format!("`{name}` of the table itself follows from the target: a model must not have it"));
    }
    let mut table = FeatureTable {
        citation: query
            .origin
            .map(|origin| index.table(origin))
            .transpose()?
            .map_or_else(String::new, |own| own.citation.clone()),
        target: found.target,
        keys: found.keys,
        given,
        rows,
        features: Vec::new(),
        gain: None,
        left_out: Vec::new(),
        tested: found.tested,
        plan: base,
        notes,
    };
    let mut taken = column_names(context, &table.plan.relation)?;
    for answer in found.answers.into_inner() {
        if table.features.len() == options.k {
            break;
        }
        match proposal(index, &table, answer, &taken, options)? {
            Err(left_out) => table.left_out.push(left_out),
            Ok((feature, step)) => {
                let plan = table.plan.clone().then(step);
                let left = options.within.saturating_sub(started.elapsed());
                let least = if options.only.is_empty() { LEAST_GAIN } else { f64::NEG_INFINITY };
                if let Err(left_out) = add(context, &mut table, (feature, least), plan, &split, left)? {
                    table.left_out.push(left_out);
                } else if let Some(feature) = table.features.last() {
                    taken.push(feature.name.clone());
                }
            }
        }
    }
    let names: Vec<String> = table.features.iter().map(|feature| feature.name.clone()).collect();
    if names.len() == 1 {
        table.gain = table.features[0].gain.clone();
    } else if !names.is_empty() && started.elapsed() < options.within {
        let model = GainOptions::new(table.target.clone(), table.given.clone(), names, split);
        table.gain = feature_gain(context, &table.plan, &model).ok();
    }
    Ok(table)
}

/// Adds `feature` by `plan`, unless that repeats rows or adds less than `least` to a model.
fn add(
    context: &LakeContext,
    table: &mut FeatureTable,
    (mut feature, least): (Feature, f64),
    plan: Plan,
    split: &Split,
    within: Duration,
) -> Result<std::result::Result<(), LeftOut>> {
    let answer = &feature.found;
    let left_out = |reason: String| LeftOut::of(answer, reason);
    let preview = match preview_rows(context, &plan) {
        Ok(preview) => preview,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(error) => return Ok(Err(left_out(error.to_string()))),
    };
    if let Some(reason) = preview.stopped {
        return Ok(Err(left_out(reason)));
    }
    if preview.rows_out != table.rows {
        return Ok(Err(left_out(format!("it would make {} rows of {}", preview.rows_out, table.rows))));
    }
    if !within.is_zero() {
        let mut given = table.given.clone();
        given.extend(table.features.iter().map(|feature| feature.name.clone()));
        let model = GainOptions {
            within,
            ..GainOptions::new(table.target.clone(), given, vec![feature.name.clone()], split.clone())
        };
        match feature_gain(context, &plan, &model) {
            Ok(gain) if gain.gain < least => {
                return Ok(Err(left_out(format!("a model gets no better by it: {gain}"))));
            }
            Ok(gain) => feature.gain = Some(gain),
            Err(Error::Usage(reason)) if !table.notes.iter().any(|known| reason == **known) => {
                table.notes.push(reason.into())
            }
            Err(Error::Usage(_)) => {}
            Err(error) => return Err(error),
        }
    }
    table.plan = plan;
    table.features.push(feature);
    Ok(Ok(()))
}

/// Rows are tested together that a key with several rows says are of one thing; a series is tested in its order.
fn split(columns: &[ColumnProfile], keys: &[Vec<usize>], rows: u64) -> Split {
    let name = |place: usize| columns[place].name.clone();
    let Some(key) = keys.first() else { return Split::Random };
    let time = join_keys::time_part(columns, key);
    match (key.iter().find(|place| Some(**place) != time), time) {
        (None, Some(time)) => Split::Ordered(name(time)),
        (Some(thing), _) if columns[*thing].distinct < rows => Split::Grouped(name(*thing)),
        _ => Split::Random,
    }
}

/// The own columns of numbers that are the target under another name, or follow from it.
fn same_as_target(
    context: &LakeContext,
    base: &Plan,
    target: &ColumnProfile,
    columns: &[ColumnProfile],
) -> Result<Vec<String>> {
    let others: Vec<&ColumnProfile> =
        columns.iter().filter(|column| column.logical.is_numeric() && column.name != target.name).collect();
    if !target.logical.is_numeric() || others.is_empty() {
        return Ok(Vec::new());
    }
    let measure = |column: &&ColumnProfile| Measure {
        function: MeasureFunction::Correlation { with: Box::new(Expression::column(&target.name)) },
        of: Some(Expression::column(&column.name)),
        condition: None,
        name: Some(column.name.clone()),
    };
    let measures = others.iter().map(measure).collect();
    let plan = base.clone().then(Step::Group(Grouping { keys: Vec::new(), measures }));
    let mut rows = context.query(&plan_sql(context, &plan)?, None)?;
    let Some(batch) = rows.next_batch()? else { return Ok(Vec::new()) };
    let follows = |place: &usize| {
        let numbers = batch.column(*place).as_primitive_opt::<Float64Type>();
        numbers.is_some_and(|numbers| numbers.iter().flatten().any(|r| r.abs() >= FOLLOWS))
    };
    Ok((0..others.len()).filter(follows).map(|place| others[place].name.clone()).collect())
}

/// The own columns that a model of the target can use: no keys of single rows, no sentences, no constants.
fn given(columns: &[ColumnProfile], target: usize, keys: &[Vec<usize>]) -> Vec<String> {
    let is_key = |place: usize| keys.iter().any(|key| key.contains(&place)) && !join_keys::is_time(&columns[place]);
    let usable = |place: &usize| {
        let column = &columns[*place];
        let names_rows = !column.logical.is_numeric() && column.uniqueness > 0.5;
        *place != target
            && !is_key(*place)
            && column.distinct >= 2
            && !names_rows
            && !matches!(column.semantic, Some(SemanticType::FreeText | SemanticType::Identifier | SemanticType::Url))
    };
    let most = (columns.first().map_or(0, |column| column.rows as usize) / ROWS_OF_COLUMN).min(MOST_GIVEN);
    (0..columns.len()).filter(usable).take(most).map(|place| columns[place].name.clone()).collect()
}
