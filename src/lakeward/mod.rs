//! An opened lake: one snapshot of its index with the settings, the embedding model and the language model that belong to
//! it, and every question that can be put to it. What the command line, SQL and Python ask, they ask here.
//!
//! What it does not do: no printing, no choice of a lake by arguments, and no watching: a snapshot stays as it is, and
//! [`Lakeward::reopened`] gives the next one.

mod dataset_order;
mod learning;
mod model;
mod place;
mod snapshot_cache;
mod task;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lakeward_agent::config::Config;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::trace::Provenance;
use lakeward_agent::{Agent, Request, execution};
use lakeward_core::error::Result;
use lakeward_core::monitor::Monitor;
use lakeward_core::request::{Demand, Operation};
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, BuildStats};
use lakeward_models::embed::Embedder;
use lakeward_models::llm::config::ModelOptions;
use lakeward_operate::{LakeContext, Limits, Outcome, PreviewLimits};
use lakeward_search::cite::{Checked, Gate, Resolution, resolve};
use lakeward_search::{CompositeAnswers, CompositeOptions, JoinOptions, QueryTable};
use lakeward_search::{SearchAnswer, SearchOptions, UnionAnswer, UnionOptions};
use lakeward_search::{composite, join, text_search, union};
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::task_graph::TaskGraph;
use lakeward_tasks::task_graph::learned::is_learned;
use lakeward_tasks::task_graph::resolution::Judge;
use lakeward_tasks::task_graph::{self, DatasetRecord, GraphInputs, GraphOptions, GraphStats};

pub use model::{Model, model_options};
pub use place::Place;
pub use snapshot_cache::SnapshotCache;
pub use task::{ModelOrder, TaskFound};

/// A lake with one snapshot of its index. Cheap to share: clone it.
#[derive(Clone)]
pub struct Lakeward {
    place: Place,
    config: Config,
    embedder: Arc<dyn Embedder>,
    index: Arc<LakeIndex>,
    model: Option<Arc<Model>>,
    kept: Arc<SnapshotCache>,
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
    /// [`lakeward_core::Error::NoIndex`] where it was never indexed, [`lakeward_core::Error::IndexVersion`] and
    /// [`lakeward_core::Error::EmbeddingModel`] where another version or model has indexed it, and those of its settings.
    pub fn open_at(place: Place) -> Result<Self> {
        let embedder = place.embedder()?;
        let config = place.config()?;
        let index = LakeIndex::open(&place.index, embedder.id())?;
        Ok(Self { place, config, embedder, index: Arc::new(index), model: None, kept: Arc::default() })
    }

    /// Indexes the lake at `place`, or brings its index up to date, and opens it.
    ///
    /// # Errors
    /// Those of [`Place::build`] and of [`Lakeward::open_at`].
    pub fn build(place: Place, options: &BuildOptions, monitor: &dyn Monitor) -> Result<(Self, BuildStats)> {
        let stats = place.build(options, monitor)?;
        Ok((Self::open_at(place)?, stats))
    }

    /// The same lake as it is indexed now.
    ///
    /// # Errors
    /// Those of [`Lakeward::open_at`].
    pub fn reopened(&self) -> Result<Self> {
        let index = Arc::new(LakeIndex::open(&self.place.index, self.embedder.id())?);
        Ok(Self { index, kept: Arc::default(), ..self.clone() })
    }

    /// The same lake with the language model that `said` and the settings name, if any.
    ///
    /// # Errors
    /// Those of [`Model::of`].
    pub fn with_model(self, options: &ModelOptions) -> Result<Self> {
        let model = Model::of(options, &self.place, &self.config)?.map(Arc::new);
        Ok(Self { model, ..self })
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

    /// The snapshot.
    pub fn index(&self) -> &Arc<LakeIndex> {
        &self.index
    }

    /// What was made for the snapshot and is kept with it.
    pub fn kept(&self) -> &SnapshotCache {
        &self.kept
    }

    /// Tables that answer a text, the best `k`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn search(&self, text: &str, k: usize) -> Result<Checked<Vec<SearchAnswer>>> {
        let options = SearchOptions { k, weights: &self.config.ranking };
        let answers = text_search::search(&self.index, self.embedder(), text, &options)?;
        self.gate().admit(answers)
    }

    /// The table to search with: an id of the lake, else a file.
    ///
    /// # Errors
    /// Those of [`QueryTable::resolve`].
    pub fn query_table(&self, table: &str) -> Result<QueryTable> {
        QueryTable::resolve(&self.index, &self.place.lake, table, self.embedder())
    }

    /// The same, kept for the next time while its file does not change.
    ///
    /// # Errors
    /// Those of [`QueryTable::resolve`].
    pub fn cached_query_table(&self, table: &str) -> Result<Arc<QueryTable>> {
        self.kept.query_table(table, || self.query_table(table))
    }

    /// Tables that can be joined with `query` on `columns` together, or where none is named on the column that serves best;
    /// the best `k`.
    ///
    /// # Errors
    /// Those of [`join::search`] and [`composite::search`].
    pub fn join(&self, query: &QueryTable, columns: &[usize], k: usize) -> Result<CompositeAnswers> {
        if columns.len() > 1 {
            let options = CompositeOptions { k, columns: columns.to_vec(), weights: &self.config.ranking };
            return composite::search(&self.index, &self.place.lake, query, &options);
        }
        let options = JoinOptions { k, column: columns.first().copied(), weights: &self.config.ranking };
        let answers = join::search(&self.index, query, &options)?;
        let answers = self.gate().admit(answers)?;
        Ok(CompositeAnswers { answers, passes: 0, notes: Vec::new() })
    }

    /// Tables whose rows could stand below those of `query`, the best `k`, with their new rows counted.
    ///
    /// # Errors
    /// Those of [`union::search`].
    pub fn union(&self, query: &QueryTable, k: usize) -> Result<Checked<Vec<UnionAnswer>>> {
        let options = UnionOptions { k, count_rows: true, weights: &self.config.ranking };
        self.gate().admit(union::search(&self.index, &self.place.lake, query, &options)?)
    }

    /// What lets answers out: the catalogue of this snapshot.
    pub fn gate(&self) -> Gate<'_> {
        Gate::new(&self.index)
    }

    /// What an identifier or the id of a table stands for now.
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

    /// The graph of which datasets served which tasks.
    ///
    /// # Errors
    /// Those of [`TaskGraph::open`].
    pub fn task_graph(&self) -> Result<TaskGraph> {
        TaskGraph::open(&self.task_graph_folder(), self.embedder.id())
    }

    /// Builds the task graph of these documents, of what the index holds and of what sessions have taught where the settings let
    /// that count, or brings it up to date; names that rules leave open are put before `judge`.
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
        // What was learned is read anew: something may have been forgotten.
        let mut documents: Vec<Extraction> = extractions.iter().filter(|known| !is_learned(known)).cloned().collect();
        documents.extend(self.learned_documents(&datasets)?);
        let inputs = GraphInputs { datasets: &datasets, extractions: &documents, embedder: self.embedder(), judge };
        task_graph::build(&self.task_graph_folder(), &inputs, options)
    }

    /// Where the sessions of this lake are kept.
    pub fn sessions(&self) -> SessionStore {
        SessionStore::new(&self.place.index).teaching(self.config.learning.record.then(|| self.learned()))
    }

    /// An agent over this snapshot.
    pub fn agent(&self) -> Agent<'_> {
        Agent::new(&self.place.lake, &self.index, self.embedder(), self.config.clone(), self.sessions())
            .with_model(self.model.as_deref().map(Model::access))
            .with_words(Arc::clone(self.kept.words()))
            .with_tasks(self.task_source())
            .with_runs_kept(&self.place.index.join(model::RUNS))
    }

    /// What `words` demand of the catalogue in `role`, as of turn `turn`.
    ///
    /// # Errors
    /// Those of [`CatalogueWords::demand`](lakeward_reading::intent::CatalogueWords::demand).
    pub fn demand(&self, role: &str, words: &str, turn: usize) -> Result<Demand> {
        self.kept.words().demand(&self.index, role, words, turn)
    }

    /// A conversation about this lake that is kept nowhere.
    pub fn new_session(&self) -> Session {
        Session::new("", self.place.lake.to_string_lossy())
    }

    /// Ranked tables and operations for a request, as the next turn of `session`, with the way that led there.
    ///
    /// # Errors
    /// Those of [`Agent::traced_turn`].
    pub fn ask(&self, session: &mut Session, request: &Request) -> Result<(Checked<Recommendation>, Provenance)> {
        self.agent().traced_turn(session, request)
    }

    /// Carries `operation` out; its result is the working table of `session`, which is one of [`Lakeward::sessions`] and is not written.
    ///
    /// # Errors
    /// Those of [`execution::run`]; then the session is as before.
    pub fn run(&self, session: &mut Session, operation: &Operation) -> Result<Outcome> {
        let (context, sessions) = (self.context(Limits::default())?, self.sessions());
        execution::connect(&context, &sessions, session)?;
        execution::run(&context, &sessions, session, operation, &PreviewLimits::default())
    }

    /// A context that answers SQL over the lake's tables.
    ///
    /// # Errors
    /// Those of [`LakeContext::new`].
    pub fn context(&self, limits: Limits) -> Result<LakeContext> {
        LakeContext::new(&self.place.lake, &self.index, limits)
    }
}
