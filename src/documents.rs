//! Answers as documents: what `--json` prints and what Python reads.

mod cite;
mod error;
mod sql;

use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Lakeward;
use lakeward_agent::feature_table::FeatureTable;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::{Session, SessionStore, SessionSummary};
use lakeward_agent::trace::{ModelUse, Provenance};
use lakeward_core::answer::in_order;
use lakeward_core::error::{Error, Result};
use lakeward_core::listing::{ListCell, ListColumn, Listed, column};
use lakeward_index::LakeIndex;
use lakeward_lake::composite_key::{self, CompositeKey};
use lakeward_lake::dataset::{Dataset, StoredDataset};
use lakeward_lake::location::Location;
use lakeward_lake::notes::TableNote;
use lakeward_lake::reader::Sample;
use lakeward_lake::source;
use lakeward_models::embed::StaticModel;
use lakeward_models::llm::Spent;
use lakeward_operate::{Outcome, PlanWarning};
use lakeward_search::cite::Checked;
use lakeward_search::{CompositeAnswers, CopyGroup, CorrelationAnswer, CorrelationAnswers, JoinAnswer, QueryTable};

pub use cite::{CiteDocument, Cited};
pub use error::ErrorDocument;
pub use sql::{Row, SqlDocument};

/// The answers of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<A> {
    /// The program's version.
    pub lakeward: &'static str,
    /// The request: the text, or the query table.
    pub query: String,
    /// Best first.
    pub answers: Checked<Vec<A>>,
    /// Whether nothing in the lake seems to answer it: the answers are but the nearest.
    pub nothing_found: bool,
    /// Time to answer with the index open, in milliseconds.
    pub elapsed_ms: f64,
}

impl<A> Document<A> {
    /// The answers to `query`, which was submitted at `started`.
    pub fn new(query: String, answers: Checked<Vec<A>>, started: Instant) -> Self {
        let nothing_found = answers.is_empty();
        Self { lakeward: env!("CARGO_PKG_VERSION"), query, answers, nothing_found, elapsed_ms: elapsed_ms(started) }
    }
}

fn elapsed_ms(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0
}

/// The answers of a join search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JoinDocument {
    /// The answers.
    #[serde(flatten)]
    pub found: Document<JoinAnswer>,
    /// Composite keys of the query table that are worth a search of their own, if no column was given and no single
    /// column is a key.
    pub composite_keys: Vec<CompositeKey>,
    /// What could not be compared and why.
    pub notes: Vec<String>,
}

impl JoinDocument {
    /// The answers to a join with `query`, given as `name`, on `columns` if any, submitted at `started`.
    pub fn new(name: String, query: &QueryTable, columns: &[usize], found: CompositeAnswers, started: Instant) -> Self {
        let composite_keys = if columns.is_empty() && !composite_key::has_single_key(&query.entry.profile) {
            // Only a hint, so errors are ignored: the search has already reported what is wrong with the file.
            composite_key::find(&query.path, &query.entry.profile).unwrap_or_default()
        } else {
            Vec::new()
        };
        let CompositeAnswers { answers, notes, .. } = found;
        Self { found: Document::new(name, answers, started), composite_keys, notes }
    }
}

/// The answers of a correlation search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CorrelationDocument {
    /// The answers.
    #[serde(flatten)]
    pub found: Document<CorrelationAnswer>,
    /// The column that they go with.
    pub target: String,
    /// The keys that were tried, each by the names of its columns.
    pub keys: Vec<Vec<String>>,
    /// Pairs of a key and a column of the lake that were tested.
    pub tested: u64,
    /// What could not be verified and why.
    pub notes: Vec<String>,
}

impl CorrelationDocument {
    /// The answers to a search with the table given as `name`, submitted at `started`.
    pub fn new(name: String, found: CorrelationAnswers, started: Instant) -> Self {
        let CorrelationAnswers { answers, target, keys, tested, notes } = found;
        Self { found: Document::new(name, answers, started), target, keys, tested, notes }
    }
}

/// A table of features.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeatureDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// The table it was made from, as given.
    pub query: String,
    /// The features, and what was left out.
    #[serde(flatten)]
    pub table: FeatureTable,
    /// Time to answer with the index open, in milliseconds.
    pub elapsed_ms: f64,
}

impl FeatureDocument {
    /// The features of the table given as `query`, asked for at `started`.
    pub fn new(query: String, table: FeatureTable, started: Instant) -> Self {
        Self { lakeward: env!("CARGO_PKG_VERSION"), query, table, elapsed_ms: elapsed_ms(started) }
    }
}

/// The answer to a turn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AskDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// The request as typed.
    pub request: String,
    /// The session, if the turn belongs to one.
    pub session: Option<String>,
    /// The number of the turn, from 1.
    pub turn: usize,
    /// The answer.
    #[serde(flatten)]
    pub recommendation: Checked<Recommendation>,
    /// The language model that helped, with what it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelCost>,
    /// Why the language model was not asked, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_not_asked: Option<String>,
    /// What carrying an operation of the answer out made, where one was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
    /// Time to answer with the index open, in milliseconds.
    pub elapsed_ms: f64,
}

impl AskDocument {
    /// The answer to `request` as the latest turn of `session`, submitted at `started`.
    pub fn new(
        request: String,
        session: &Session,
        recommendation: Checked<Recommendation>,
        provenance: &Provenance,
        started: Instant,
    ) -> Self {
        Self {
            lakeward: env!("CARGO_PKG_VERSION"),
            request,
            // A session that is not stored has no name.
            session: Some(session.id.clone()).filter(|id| !id.is_empty()),
            turn: session.latest().map_or(1, |turn| turn.number),
            recommendation,
            model: provenance.model.as_ref().map(ModelCost::of),
            model_not_asked: None,
            ran: None,
            elapsed_ms: elapsed_ms(started),
        }
    }
}

/// An operation that was carried out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ran {
    /// Its number among those shown, from 1.
    pub operation: usize,
    /// What whoever relies on the result should know.
    pub warnings: Vec<PlanWarning>,
    /// What it made.
    pub outcome: Outcome,
}

/// A language model, with what it cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelCost {
    /// Model and server.
    pub id: String,
    /// What it cost.
    #[serde(flatten)]
    pub spent: Spent,
}

impl ModelCost {
    /// The cost of the model's calls.
    pub fn of(used: &ModelUse) -> Self {
        Self { id: used.id.clone(), spent: used.spent }
    }
}

/// Everything known about a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableReport {
    /// Everything known about the table except its values.
    #[serde(flatten)]
    #[schemars(with = "StoredDataset")]
    pub dataset: Dataset,
    /// Whether only its first rows were read, so that the profile describes only those.
    pub sampled: bool,
    /// Whether it is a table of the lake; else it was read from a file now.
    pub in_lake: bool,
    /// Columns that identify a row only together, most plausible first, found by reading the file now.
    pub composite_keys: Vec<CompositeKey>,
    /// What users say of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<TableNote>,
}

/// The tables of a lake that are copies or editions of each other.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CopyList {
    /// The program's version.
    pub lakeward: &'static str,
    /// The groups, by their current tables.
    pub groups: Vec<CopyGroup>,
}

impl CopyList {
    /// These groups.
    pub fn new(groups: Vec<CopyGroup>) -> Self {
        Self { lakeward: env!("CARGO_PKG_VERSION"), groups }
    }
}

/// What users say of the tables of a lake.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoteList {
    /// The program's version.
    pub lakeward: &'static str,
    /// The notes, by table.
    pub notes: Vec<TableNote>,
    /// Tables of them that are not in the lake now.
    pub gone: Vec<String>,
}

impl NoteList {
    /// `notes` on tables of `index`.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn of<'n>(index: &LakeIndex, notes: impl Iterator<Item = &'n TableNote>) -> Result<Self> {
        let (mut list, mut gone) = (Vec::new(), Vec::new());
        for note in notes {
            if index.get(&note.table)?.is_none() {
                gone.push(note.table.clone());
            }
            list.push(note.clone());
        }
        Ok(Self { lakeward: env!("CARGO_PKG_VERSION"), notes: list, gone })
    }
}

impl TableReport {
    /// The report on the lake's table `name`, else on the file at that path.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] with the nearest ids; those of reading the file.
    pub fn of(lakeward: &Lakeward, name: &str) -> Result<Self> {
        let index = lakeward.index();
        let dataset = match index.find(name) {
            Err(Error::UnknownTable { .. }) if Location::of(Path::new(name)).is_table() => {
                return Self::of_file(Path::new(name));
            }
            found => index.dataset(found?)?,
        };
        // A record has no file, so no composite keys.
        let path = dataset.path().map(|path| source::file_path(&lakeward.place().lake, path)).transpose()?;
        let note = index.notes().of(dataset.id().as_str()).cloned();
        Ok(Self { note, ..Self::new(path.as_deref(), dataset, true) })
    }

    /// The report on a file, which needs no lake.
    ///
    /// # Errors
    /// Those of [`QueryTable::read`].
    pub fn of_file(path: &Path) -> Result<Self> {
        Ok(Self::new(Some(path), Dataset::Table(QueryTable::read(path, None, StaticModel::builtin())?.entry), false))
    }

    /// Has no composite keys if the file can no longer be read; the rest of the profile is as indexed.
    fn new(path: Option<&Path>, dataset: Dataset, in_lake: bool) -> Self {
        let table = dataset.table();
        let keys = path.zip(table).and_then(|(path, table)| composite_key::find(path, &table.profile).ok());
        let sampled = table.is_some_and(|table| table.report.sample.is_some());
        Self { dataset, sampled, in_lake, composite_keys: keys.unwrap_or_default(), note: None }
    }
}

/// The tables of a lake.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableList {
    /// The lake's tables by id.
    pub tables: Vec<TableLine>,
}

/// One table in a list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct TableLine {
    /// Its id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Whether it is a record of a catalogue: its data is not in the lake, rows and columns are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Rows; those read, where it is `sampled`.
    pub rows: u64,
    /// The part that was read, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sample>,
    /// Columns.
    pub columns: u64,
}

/// Characters of a title in a list.
const TITLE_CHARS: usize = 200;

impl Listed for TableLine {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Id(|line| &line.table)),
        column("rows", ListCell::Amount(|line| line.amount())),
        column("columns", ListCell::Count(|line| (!line.record).then_some(line.columns))),
        column("title", ListCell::Text(TITLE_CHARS, |line| line.title.as_str().into())),
    ];
}

impl TableLine {
    /// How many rows, or how many of them were read.
    fn amount(&self) -> Option<String> {
        let rows = || self.sampled.map_or_else(|| self.rows.to_string(), |sample| sample.to_string());
        (!self.record).then(rows)
    }
}

impl TableList {
    /// The tables whose ids contain `part`, by id.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn containing(index: &LakeIndex, part: &str) -> Result<Self> {
        let mut tables = Vec::new();
        for table in index.tables() {
            if !index.id(table)?.contains(part) {
                continue;
            }
            let dataset = index.dataset(table)?;
            tables.push(TableLine {
                table: dataset.id().to_string(),
                title: dataset.title(),
                record: dataset.is_record(),
                rows: dataset.table().map_or(0, |table| table.profile.rows),
                sampled: dataset.table().and_then(|table| table.report.sample),
                columns: dataset.columns().len() as u64,
            });
        }
        tables.sort_by(|a, b| a.table.cmp(&b.table));
        Ok(Self { tables })
    }
}

/// What `sessions --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionList {
    /// The program's version.
    pub lakeward: &'static str,
    /// The folder of their files.
    pub folder: String,
    /// The sessions, the most recently written first; unusable ones last.
    pub sessions: Vec<SessionSummary>,
}

impl SessionList {
    /// The list of the sessions in `store`.
    pub fn new(store: &SessionStore, sessions: Vec<SessionSummary>) -> Self {
        Self { lakeward: env!("CARGO_PKG_VERSION"), folder: store.folder().display().to_string(), sessions }
    }
}
