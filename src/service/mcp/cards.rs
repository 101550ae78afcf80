//! What the tools say of tables, columns and operations: the fields that decide, short enough for a list.

use serde::Serialize;

use super::answer::{figure, lake_text};
use lakeward_agent::feature_table::Feature;
use lakeward_agent::recommend::{Question, RankedOperation, RankedTable};
use lakeward_core::request::Label;
use lakeward_lake::metadata::TableMetadata;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType};
use lakeward_search::column_search::ColumnMatch;
use lakeward_search::correlate::{Caution, CorrelationAnswer};
use lakeward_search::{ColumnAnswer, JoinAnswer, SearchAnswer, UnionAnswer};

/// Characters of an id, a title or a name.
pub const NAME: usize = 100;
/// Characters of a cell.
pub const CELL: usize = 80;
/// Characters of a reason.
const REASON: usize = 220;
/// Names in a list inside an item.
const NAMES: usize = 12;
/// Values of a column that are shown.
const VALUES: usize = 3;

/// A table that a search found.
#[derive(Debug, Serialize)]
pub struct TableCard {
    /// Its id, for other tools.
    pub id: String,
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// How likely it serves the request, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Whether only a catalogue lists it: its data is not in the lake.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Its first columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Why it was found.
    pub reason: String,
}

impl TableCard {
    /// What a search by words found.
    pub fn found(answer: &SearchAnswer) -> Self {
        Self {
            id: lake_text(&answer.table, NAME),
            title: lake_text(&answer.title, NAME),
            score: figure(answer.score),
            relevance: answer.relevance.map(figure),
            rows: answer.rows,
            record: answer.record,
            columns: names(&answer.columns),
            reason: lake_text(&answer.reason, REASON),
        }
    }

    /// What an answer to a request recommends.
    pub fn recommended(ranked: &RankedTable) -> Self {
        let found = ranked.evidence.search.as_ref();
        Self {
            id: lake_text(&ranked.table, NAME),
            title: lake_text(&ranked.title, NAME),
            score: figure(ranked.utility.total),
            relevance: found.and_then(|found| found.relevance).map(figure),
            rows: (!ranked.record).then_some(ranked.rows),
            record: ranked.record,
            columns: found.map(|found| names(&found.columns)).unwrap_or_default(),
            reason: lake_text(&ranked.reason, REASON),
        }
    }
}

/// A table that can be joined.
#[derive(Debug, Serialize)]
pub struct JoinCard {
    /// Its id, for other tools.
    pub id: String,
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// The key column of the table asked about.
    pub query_column: String,
    /// The key column of this table.
    pub column: String,
    /// Share of the asked table's values found here, 0..=1.
    pub containment: f64,
    /// Share of this table's values found in the asked one, 0..=1.
    pub containment_of_table: f64,
    /// Whether these figures are exact.
    pub exact: bool,
    /// Rows of this table for each matching row.
    pub fan_out: f64,
    pub rows: u64,
    /// Columns that the join adds.
    pub adds: Vec<String>,
    /// Values in common.
    pub matches: Vec<String>,
    /// Why it was found.
    pub reason: String,
}

impl JoinCard {
    /// What a join search found.
    pub fn of(answer: &JoinAnswer) -> Self {
        Self {
            id: lake_text(&answer.table, NAME),
            title: lake_text(&answer.title, NAME),
            score: figure(answer.score),
            query_column: lake_text(&answer.query_column, NAME),
            column: lake_text(&answer.column, NAME),
            containment: figure(answer.containment),
            containment_of_table: figure(answer.containment_of_candidate),
            exact: answer.exact,
            fan_out: figure(answer.fan_out),
            rows: answer.rows,
            adds: names(&answer.adds),
            matches: answer.matches.iter().take(VALUES).map(|pair| lake_text(&pair.query, CELL)).collect(),
            reason: lake_text(&answer.reason, REASON),
        }
    }
}

/// A table whose rows can be appended.
#[derive(Debug, Serialize)]
pub struct UnionCard {
    /// Its id, for other tools.
    pub id: String,
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// Columns that correspond, as `asked = this`.
    pub aligned: Vec<String>,
    /// Columns of the asked table without a counterpart.
    pub unmatched: Vec<String>,
    /// Columns of this table without a counterpart.
    pub extra: Vec<String>,
    pub rows: u64,
    /// Whether it adds almost nothing.
    pub near_copy: bool,
    /// Why it was found.
    pub reason: String,
}

impl UnionCard {
    /// What a union search found.
    pub fn of(answer: &UnionAnswer) -> Self {
        let aligned = answer.alignment.iter().map(|pair| format!("{} = {}", pair.query_column, pair.column));
        Self {
            id: lake_text(&answer.table, NAME),
            title: lake_text(&answer.title, NAME),
            score: figure(answer.score),
            aligned: names(&aligned.collect::<Vec<String>>()),
            unmatched: names(&answer.unmatched),
            extra: names(&answer.extra),
            rows: answer.rows,
            near_copy: answer.near_copy,
            reason: lake_text(&answer.reason, REASON),
        }
    }
}

/// A column that holds what was asked for.
#[derive(Debug, Serialize)]
pub struct FoundColumn {
    /// Id of its table, for other tools.
    pub table: String,
    /// The table's title.
    pub title: String,
    /// Its name.
    pub column: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// What about it matches.
    pub matched: Vec<ColumnMatch>,
    /// The type of its cells.
    #[serde(rename = "type")]
    pub logical: LogicalType,
    /// What its values stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic: Option<SemanticType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Smallest and greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[String; 2]>,
    /// Cells asked for, else frequent values.
    pub values: Vec<String>,
    /// Why it was found.
    pub reason: String,
}

impl FoundColumn {
    /// What a column search found.
    pub fn of(answer: &ColumnAnswer) -> Self {
        let range = answer.min.as_deref().zip(answer.max.as_deref());
        Self {
            table: lake_text(&answer.table, NAME),
            title: lake_text(&answer.title, NAME),
            column: lake_text(&answer.column, NAME),
            score: figure(answer.score),
            matched: answer.matches.clone(),
            logical: answer.logical,
            semantic: answer.semantic,
            unit: answer.unit.as_deref().map(|unit| lake_text(unit, NAME)),
            range: range.map(|(min, max)| [min, max].map(|end| lake_text(end, CELL))),
            values: answer.values.iter().take(VALUES).map(|value| lake_text(value, CELL)).collect(),
            reason: lake_text(&answer.reason, REASON),
        }
    }
}

/// A column that goes with another.
#[derive(Debug, Serialize)]
pub struct CorrelationCard {
    /// Id of its table, for other tools.
    pub id: String,
    /// Its name.
    pub column: String,
    /// Greater is better, 0..=1: a lower bound of the strength.
    pub score: f64,
    /// Rank correlation, −1..=1; 0..=1 where labels are compared.
    pub strength: f64,
    /// Columns to join on, as `asked = this`.
    pub on: Vec<String>,
    /// How the rows of a key become one value.
    pub aggregate: String,
    /// Share of the asked table's rows that get a value, 0..=1.
    pub coverage: f64,
    /// Share of such finds that are chance, 0..=1.
    pub false_discovery_rate: f64,
    /// Whether the figures are those of all rows.
    pub verified: bool,
    /// Why it may be of no use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<Caution>,
    /// The answer in a sentence.
    pub reason: String,
}

impl CorrelationCard {
    /// What a correlation search found.
    pub fn of(answer: &CorrelationAnswer) -> Self {
        let on = answer.on.iter().map(|pair| format!("{} = {}", pair.query_column, pair.column));
        Self {
            id: lake_text(&answer.table, NAME),
            column: lake_text(&answer.column, NAME),
            score: figure(answer.score),
            strength: figure(answer.strength),
            on: names(&on.collect::<Vec<String>>()),
            aggregate: answer.aggregate.clone(),
            coverage: figure(answer.coverage),
            false_discovery_rate: figure(answer.false_discovery_rate),
            verified: answer.verified,
            cautions: answer.cautions.clone(),
            reason: lake_text(&answer.reason, REASON),
        }
    }
}

/// A column of a table of features.
#[derive(Debug, Serialize)]
pub struct FeatureCard {
    /// Its name in the table of features.
    pub name: String,
    /// What it adds to a small model, where that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<String>,
    /// Where it comes from, and how it goes with the target.
    #[serde(flatten)]
    pub found: CorrelationCard,
}

impl FeatureCard {
    /// A feature that was found.
    pub fn of(feature: &Feature) -> Self {
        let found = CorrelationCard { aggregate: feature.aggregate.clone(), ..CorrelationCard::of(&feature.found) };
        let gain = feature.gain.as_ref().map(|gain| lake_text(&gain.to_string(), REASON));
        Self { name: lake_text(&feature.name, NAME), gain, found }
    }
}

/// A column in brief.
#[derive(Debug, Serialize)]
pub struct ColumnCard {
    pub name: String,
    /// The type of its cells.
    #[serde(rename = "type")]
    pub logical: LogicalType,
    /// What its values stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<SemanticType>,
    /// Different values.
    pub distinct: u64,
    /// Cells without a value.
    pub missing: u64,
    /// Smallest value: number or date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    /// Greatest value: number or date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// How much it looks like a key, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_likeness: Option<f64>,
    /// Mean and standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moments: Option<[f64; 2]>,
    /// Most frequent values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<String>,
}

impl ColumnCard {
    /// Name, type and range of a column; with `all` also figures and values.
    pub fn of(column: &ColumnProfile, all: bool) -> Self {
        let text = |value: &Option<String>| value.as_ref().map(|value| lake_text(value, CELL));
        let values = column.top.iter().take(if all { VALUES } else { 0 });
        Self {
            name: lake_text(&column.name, NAME),
            logical: column.logical,
            meaning: column.semantic,
            distinct: column.distinct,
            missing: column.missing,
            min: text(&column.min),
            max: text(&column.max),
            key_likeness: all.then(|| figure(column.key_likeness)),
            moments: column.moments.filter(|_| all).map(|moments| moments.map(figure)),
            top: values.map(|(value, _)| lake_text(value, CELL)).collect(),
        }
    }
}

/// An operation that an answer proposes.
#[derive(Debug, Serialize)]
pub struct OperationCard {
    /// Its number, for `preview_operation`.
    pub number: usize,
    /// What to do.
    pub kind: &'static str,
    /// The probability, 0..=1, that it is what is wanted; those of one answer sum to 1 at most.
    pub score: f64,
    /// Whether all is known that it needs.
    pub can_run: bool,
    /// Why.
    pub reason: String,
}

impl OperationCard {
    /// Operation `number` of an answer.
    pub fn of(number: usize, operation: &RankedOperation) -> Self {
        Self {
            number,
            kind: operation.kind.name(),
            score: figure(operation.score),
            can_run: operation.runnable.is_some(),
            reason: lake_text(&operation.reason, REASON),
        }
    }
}

/// A question to put to the user.
#[derive(Debug, Serialize)]
pub struct QuestionCard {
    /// The question.
    pub text: String,
    /// Answers to choose from; answer with the number, from 1, or in words.
    pub choices: Vec<String>,
}

impl QuestionCard {
    /// The question of an operation.
    pub fn of(question: &Question) -> Self {
        let choices = question.choices.iter().take(NAMES).map(|choice| lake_text(&choice.label, NAME)).collect();
        Self { text: lake_text(&question.text, REASON), choices }
    }
}

/// What a publisher says of a table.
#[derive(Debug, Serialize)]
pub struct MetadataCard {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Who publishes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// When it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
    /// When it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Characters of a description.
const DESCRIPTION: usize = 500;

impl MetadataCard {
    /// What the metadata say.
    pub fn of(metadata: &TableMetadata) -> Self {
        let text = |value: &Option<String>, most| value.as_ref().map(|value| lake_text(value, most));
        Self {
            description: text(&metadata.description, DESCRIPTION),
            tags: names(&metadata.tags),
            publisher: text(&metadata.publisher, NAME),
            licence: text(&metadata.licence, NAME),
            issued: text(&metadata.issued, CELL),
            modified: text(&metadata.modified, CELL),
            source: text(&metadata.source_url, 2 * NAME),
        }
    }
}

/// The first names of a list; how many more there are, if there are more.
fn names(all: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = all.iter().take(NAMES).map(|name| lake_text(name, NAME / 2)).collect();
    if all.len() > NAMES {
        shown.push(format!("… {} more", all.len() - NAMES));
    }
    shown
}
