//! An opened lake: one snapshot of its index with its settings, embedding model and language model, and all operations on
//! it. The command line, SQL and Python use this API.
//!
//! It does not print, choose a lake by arguments, or watch for changes: a snapshot is immutable, and [`Lakeward::reopened`]
//! gives the next one.

mod learning;
mod model;
mod place;
mod shard;
mod snapshot_cache;
mod task;
mod task_trace;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lakeward_agent::config::Config;
use lakeward_agent::feature_table::{FeatureOptions, FeatureTable, feature_table};
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::trace::Provenance;
use lakeward_agent::{Agent, Request, execution};
use lakeward_core::error::Result;
use lakeward_core::monitor::Monitor;
use lakeward_core::plan::Plan;
use lakeward_core::request::Demand;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, BuildStats};
use lakeward_index::index_store::IndexStore;
use lakeward_lake::notes::{NoteEdit, Notes, TableNote};
use lakeward_models::embed::Embedder;
use lakeward_models::languages::Translated;
use lakeward_models::llm::ModelRole;
use lakeward_models::llm::config::ModelOptions;
use lakeward_operate::{LakeContext, Limits, Outcome, PreviewLimits};
use lakeward_search::CopyGroup;
use lakeward_search::cite::{Checked, Gate, Resolution, resolve};
use lakeward_search::query_table::column_named;
use lakeward_search::{
    ColumnAnswer, CompositeAnswers, CompositeOptions, CorrelateOptions, CorrelationAnswers, JoinOptions,
};
use lakeward_search::{QueryTable, RankingWeights, SearchAnswer, SearchOptions, UnionAnswer, UnionOptions};
use lakeward_search::{column_search, composite, copies, correlate, join, text_search, union};
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::task_graph::TaskGraph;
use lakeward_tasks::task_graph::learned::is_learned;
use lakeward_tasks::task_graph::resolution::Judge;
use lakeward_tasks::task_graph::{self, DatasetRecord, GraphInputs, GraphOptions, GraphStats};

/// Folder of kept steps of plans, in that of the index.
const STEPS: &str = "cache/steps";

pub use model::{Model, model_options};
pub use place::Place;
pub use shard::{ShardRound, ShardState, SharedQuestion};
pub use snapshot_cache::SnapshotCache;
pub use task::{ModelOrder, TaskFound};
pub use task_trace::TaskTrace;

/// The folder of the users' sessions, in that of the index.
const USERS: &str = "users";

/// A lake with one snapshot of its index. Cheap to share: clone it.
#[derive(Clone)]
pub struct Lakeward {
    place: Place,
    config: Config,
    embedder: Arc<dyn Embedder>,
    index: Arc<LakeIndex>,
    model: Option<Arc<Model>>,
    cache: Arc<SnapshotCache>,
    /// The folder of its sessions, if it is not that of the index.
    sessions_in: Option<Arc<Path>>,
}

/// The current snapshot of the index at `place`, with what users know.
fn opened(place: &Place, config: &Config, embedder: &dyn Embedder) -> Result<LakeIndex> {
    let index = LakeIndex::open_shard(&place.index, embedder.id(), place.shard)?;
    Ok(index.with_known(&place.lake, Notes::read(&place.index)?, config.synonyms.clone()))
}

impl std::fmt::Debug for Lakeward {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lakeward").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Lakeward {
    /// Opens the lake in the folder `lake`, whose index is in `.lakeward` below it, without a language model.
    ///
    /// # Errors
    /// Those of [`Lakeward::open_at`]; [`lakeward_core::Error::Usage`] where `lake` is no folder.
    pub fn open(lake: &Path) -> Result<Self> {
        Self::open_at(Place::new(lake, None)?)
    }

    /// Opens the lake at `place`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::NoIndex`] if it was never indexed, [`lakeward_core::Error::IndexVersion`] and
    /// [`lakeward_core::Error::EmbeddingModel`] if another version or model has indexed it, and those of its settings.
    pub fn open_at(place: Place) -> Result<Self> {
        let embedder = place.embedder()?;
        let config = place.config()?;
        let index = opened(&place, &config, &*embedder)?;
        Ok(Self {
            place,
            config,
            embedder,
            index: Arc::new(index),
            model: None,
            cache: Arc::default(),
            sessions_in: None,
        })
    }

    /// Indexes the lake at `place`, or brings its index up to date, and opens it.
    ///
    /// # Errors
    /// Those of [`Place::build`] and of [`Lakeward::open_at`].
    pub fn build(place: Place, options: &BuildOptions, monitor: &dyn Monitor) -> Result<(Self, BuildStats)> {
        let stats = place.build(options, monitor)?;
        Ok((Self::open_at(place)?, stats))
    }

    /// The same lake with the current snapshot of its index.
    ///
    /// # Errors
    /// Those of [`Lakeward::open_at`].
    pub fn reopened(&self) -> Result<Self> {
        IndexStore::refresh(&self.place.index)?;
        let index = Arc::new(opened(&self.place, &self.config, self.embedder())?);
        Ok(Self { index, cache: Arc::default(), ..self.clone() })
    }

    /// The same lake with the language model that `options` and the settings name, if any.
    ///
    /// # Errors
    /// Those of [`Model::of`].
    pub fn with_model(self, options: &ModelOptions) -> Result<Self> {
        let model = Model::of(options, &self.place, &self.config)?.map(Arc::new);
        let mut config = self.config.clone();
        if let Some(model) = &model {
            config.llm.share = model.share();
            for role in ModelRole::ALL {
                if let Some(measured) = model.measured(&self.place, role)? {
                    config.llm.trust_as_measured(role, measured.trust);
                }
            }
        }
        Ok(Self { model, config, ..self })
    }

    /// The same lake with the sessions of `user` alone; the name must be one of a file.
    pub fn of_user(&self, user: &Arc<str>) -> Self {
        let folder = self.place.index.join(USERS).join(&**user);
        Self { sessions_in: Some(folder.into()), ..self.clone() }
    }

    /// The same lake with sessions in `folder` that teach nothing: those of a measurement.
    pub fn with_sessions_apart(mut self, folder: &Path) -> Self {
        self.config.learning.record = false;
        Self { sessions_in: Some(folder.into()), ..self }
    }

    /// The same lake without its language model.
    pub fn without_model(&self) -> Self {
        Self { model: None, ..self.clone() }
    }

    /// The same lake, ranked by other weights.
    pub fn ranked_by(&self, ranking: RankingWeights) -> Self {
        Self { config: Config { ranking, ..self.config.clone() }, ..self.clone() }
    }

    /// The language model.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_deref()
    }

    /// Where the lake and its index are.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The embedding model.
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// The snapshot of the index.
    pub fn index(&self) -> &Arc<LakeIndex> {
        &self.index
    }

    /// The cache of this snapshot.
    pub fn cache(&self) -> &SnapshotCache {
        &self.cache
    }

    /// The best `k` tables for a text.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn search(&self, text: &str, k: usize) -> Result<Checked<Vec<SearchAnswer>>> {
        let options = SearchOptions { k, weights: &self.config.ranking };
        let answers = text_search::search(&self.index, self.embedder(), &self.read(text)?, &options)?;
        self.gate().admit(answers)
    }

    /// A text in another language in English words, as searches read it; none where it is English, or where the lake says more of it as it is.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn in_english(&self, text: &str) -> Result<Option<Translated>> {
        self.agent().in_english(text)
    }

    fn read<'t>(&self, text: &'t str) -> Result<Cow<'t, str>> {
        Ok(self.in_english(text)?.map_or(Cow::Borrowed(text), |translated| Cow::Owned(translated.text)))
    }

    /// The best `k` columns for a text.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn columns(&self, text: &str, k: usize) -> Result<Checked<Vec<ColumnAnswer>>> {
        let options = SearchOptions { k, weights: &self.config.ranking };
        self.gate().admit(column_search::search(&self.index, self.embedder(), &self.read(text)?, &options)?)
    }

    /// The table to search with: an id of the lake, else a file.
    ///
    /// # Errors
    /// Those of [`QueryTable::resolve`].
    pub fn query_table(&self, table: &str) -> Result<QueryTable> {
        QueryTable::resolve(&self.index, &self.place.lake, table, self.embedder())
    }

    /// The same, cached until its file changes.
    ///
    /// # Errors
    /// Those of [`QueryTable::resolve`].
    pub fn cached_query_table(&self, table: &str) -> Result<Arc<QueryTable>> {
        self.cache.query_table(table, || self.query_table(table))
    }

    /// The best `k` tables to join with `query` on all `columns` together, or on the best column if none is given.
    ///
    /// # Errors
    /// Those of [`join::search`] and [`composite::search`].
    pub fn join(&self, query: &QueryTable, columns: &[usize], k: usize) -> Result<CompositeAnswers> {
        if columns.len() > 1 {
            let options = CompositeOptions { k, columns: columns.to_vec(), weights: &self.config.ranking };
            return composite::search(&self.index, &self.place.lake, query, &options);
        }
        let options = JoinOptions { k, column: columns.first().copied(), weights: &self.config.ranking };
        let mut answers = join::search(&self.index, query, &options)?;
        let (mut passes, mut notes) = (0, Vec::new());
        if columns.is_empty() {
            for key in composite::declared_keys(&self.index, query)? {
                let options = CompositeOptions { k, columns: key, weights: &self.config.ranking };
                let found = composite::search(&self.index, &self.place.lake, query, &options)?;
                passes += found.passes;
                notes.extend(found.notes);
                for declared in found.answers.into_inner().into_iter().filter(|answer| answer.declared).rev() {
                    answers.retain(|answer| answer.table != declared.table);
                    answers.insert(0, declared);
                }
            }
            answers.truncate(k);
        }
        Ok(CompositeAnswers { answers: self.gate().admit(answers)?, passes, notes })
    }

    /// The best `k` tables whose rows could be appended to `query`, with the number of new rows.
    ///
    /// # Errors
    /// Those of [`union::search`].
    pub fn union(&self, query: &QueryTable, k: usize) -> Result<Checked<Vec<UnionAnswer>>> {
        let options = UnionOptions { k, count_rows: true, weights: &self.config.ranking };
        self.gate().admit(union::search(&self.index, &self.place.lake, query, &options)?)
    }

    /// The best `k` columns of the lake that go with column `target` of `query`, joined on the columns of `key`, or on the
    /// likeliest keys if none is given.
    ///
    /// # Errors
    /// Those of [`correlate::search`].
    pub fn correlate(&self, query: &QueryTable, target: usize, key: &[usize], k: usize) -> Result<CorrelationAnswers> {
        let options = CorrelateOptions { target, key: key.to_vec(), k, only: Vec::new() };
        correlate::search(&self.index, &self.place.lake, query, &options)
    }

    /// The tables that are copies or editions of each other, or those of `table`, an id.
    ///
    /// # Errors
    /// [`lakeward_core::Error::UnknownTable`] with the nearest ids, and those of [`copies::groups`].
    pub fn copies(&self, table: Option<&str>) -> Result<Vec<CopyGroup>> {
        let table = table.map(|table| self.index.find(table)).transpose()?;
        copies::groups(&self.index, &self.place.lake, table)
    }

    /// A table of features for a model of a column of `query`, as a plan that `context` can run.
    ///
    /// # Errors
    /// Those of [`feature_table`].
    pub fn features(
        &self,
        context: &LakeContext,
        query: &QueryTable,
        options: &FeatureOptions,
    ) -> Result<FeatureTable> {
        feature_table(&self.index, &self.place.lake, context, query, options)
    }

    /// Changes what users know of the table or record `table`, its id, and returns that. Searches of the next snapshot use it;
    /// the index stays as it is.
    ///
    /// # Errors
    /// [`lakeward_core::Error::UnknownTable`] and [`lakeward_core::Error::UnknownColumn`] with the nearest names, unless a note on it is
    /// removed; those of [`Notes::change`].
    pub fn note(&self, table: &str, edits: Vec<NoteEdit>) -> Result<TableNote> {
        let known = self.index.notes().of(table);
        let removes = |edit: &NoteEdit| match edit {
            NoteEdit::Remove => known.is_some(),
            NoteEdit::Column(name, None) => known.is_some_and(|note| note.columns.contains_key(name)),
            _ => false,
        };
        let mut named = Vec::with_capacity(edits.len());
        for edit in edits {
            named.push(match edit {
                edit if removes(&edit) => edit,
                NoteEdit::Column(name, text) => {
                    let entry = self.index.table(self.index.find(table)?)?;
                    let place = column_named(&entry, &name)?;
                    NoteEdit::Column(entry.profile.columns[place].name.clone(), text)
                }
                edit => self.index.find(table).map(|_| edit)?,
            });
        }
        Notes::change(&self.place.index, table, named)
    }

    /// The check of answers against the catalogue of this snapshot.
    pub fn gate(&self) -> Gate<'_> {
        Gate::new(&self.index)
    }

    /// Resolves an identifier or the id of a table.
    ///
    /// # Errors
    /// Those of [`resolve`].
    pub fn resolve(&self, identifier: &str) -> Result<Resolution> {
        resolve(&self.index, &self.place.lake, identifier)
    }

    /// The folder of the task graph.
    pub fn task_graph_folder(&self) -> PathBuf {
        self.place.index.join(task_graph::FOLDER)
    }

    /// The graph of which datasets were used for which tasks.
    ///
    /// # Errors
    /// Those of [`TaskGraph::open`].
    pub fn task_graph(&self) -> Result<TaskGraph> {
        TaskGraph::open(&self.task_graph_folder(), self.embedder.id())
    }

    /// Builds or updates the task graph from these documents, the datasets of the index and, if the settings enable it, what
    /// was learned from sessions; `judge` decides about names that rules leave open.
    ///
    /// # Errors
    /// Those of [`task_graph::build()`] and of [`lakeward_agent::session::FeedbackStore::uses`].
    pub fn build_task_graph(
        &self,
        extractions: &[Extraction],
        judge: Option<&dyn Judge>,
        options: &GraphOptions,
    ) -> Result<GraphStats> {
        let datasets = DatasetRecord::all(&self.index)?;
        // Learned documents are read again: some may have been forgotten.
        let mut documents: Vec<Extraction> =
            extractions.iter().filter(|document| !is_learned(document)).cloned().collect();
        documents.extend(self.learned_documents(&datasets)?);
        let inputs = GraphInputs { datasets: &datasets, extractions: &documents, embedder: self.embedder(), judge };
        task_graph::build(&self.task_graph_folder(), &inputs, options)
    }

    /// The store of this lake's sessions.
    pub fn sessions(&self) -> SessionStore {
        let folder = self.sessions_in.as_deref().unwrap_or(&self.place.index);
        SessionStore::new(folder).teaching(self.config.learning.record.then(|| self.learned()))
    }

    /// An agent over this snapshot.
    pub fn agent(&self) -> Agent<'_> {
        Agent::new(&self.place.lake, &self.index, self.embedder(), self.config.clone(), self.sessions())
            .with_model(self.model.as_deref().map(Model::access))
            .with_words(Arc::clone(self.cache.words()))
            .with_code_lists(Arc::clone(self.cache.code_lists()))
            .with_tasks(self.task_source())
            .with_runs_kept(&self.place.index.join(model::RUNS))
    }

    /// The demand on catalogue records that `words` express in `role`, made in turn `turn`.
    ///
    /// # Errors
    /// Those of [`CatalogueWords::demand`](lakeward_reading::catalogue::CatalogueWords::demand).
    pub fn demand(&self, role: &str, words: &str, turn: usize) -> Result<Demand> {
        self.cache.words().demand(&self.index, role, words, turn)
    }

    /// A session about this lake that is not stored.
    pub fn new_session(&self) -> Session {
        Session::new("", self.place.lake.to_string_lossy())
    }

    /// Ranked tables and operations for a request, as the next turn of `session`, with their provenance.
    ///
    /// # Errors
    /// Those of [`Agent::traced_turn`].
    pub fn ask(&self, session: &mut Session, request: &Request) -> Result<(Checked<Recommendation>, Provenance)> {
        self.agent().traced_turn(session, request)
    }

    /// Runs `plan`; its result becomes the working table of `session`, which must be one of [`Lakeward::sessions`] and is
    /// not saved.
    ///
    /// # Errors
    /// Those of [`execution::preview`] and [`execution::run`]; the session is then unchanged.
    pub fn run(&self, session: &mut Session, plan: &Plan) -> Result<Outcome> {
        let (context, sessions) = (self.context(Limits::default())?, self.sessions());
        let limits = PreviewLimits { sample_rows: 0, ..execution::limits(session) };
        execution::connect(&context, &sessions, session)?;
        execution::preview(&context, session, plan, &limits)?;
        execution::run(&context, &sessions, session, plan, &limits)
    }

    /// A context that answers SQL over the lake's tables.
    ///
    /// # Errors
    /// Those of [`LakeContext::new`].
    pub fn context(&self, limits: Limits) -> Result<LakeContext> {
        let context = LakeContext::new(&self.place.lake, &self.index, limits)?;
        Ok(context.keeping_steps_in(&self.place.index.join(STEPS)))
    }
}
