//! The agent: reads what a request asks for ([`lakeward_reading::signals`]), finds and weighs tables, and recommends what to do next
//! ([`Agent::turn`]). It holds no state between turns: all of it is in the session.

mod acts;
mod added_columns;
pub mod agentic;
mod alternatives;
mod answer;
mod catalogue_demands;
mod code_lists;
mod column_facts;
pub mod config;
mod conversation_summary;
mod described_table;
mod doubts;
mod editions;
pub mod execution;
pub mod feature_table;
mod found;
mod in_english;
mod known_columns;
mod looked_up;
mod loop_search;
mod masked_values;
pub mod model;
mod model_reading;
mod named_table;
mod names_of_codes;
mod narrowed;
mod other_table;
mod plan_edit;
mod plan_reading;
mod prediction;
mod publication;
mod ranked_operations;
mod read_operations;
mod readers;
mod reading;
pub mod recommend;
mod record_facts;
mod record_questions;
mod related;
mod requested_columns;
mod requested_plan;
mod requested_table;
mod same_values;
mod scored;
pub mod session;
mod spelt_out;
mod start;
mod stated;
mod subjects;
mod tables;
mod task;
pub mod trace;
mod tried;
mod turn;
mod turn_effect;
mod turn_searches;
mod undo;
mod weighed;

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agentic::RunCache;
use crate::session::SessionStore;
pub use code_lists::CodeLists;
use config::Config;
pub use known_columns::known_table;
use lakeward_index::LakeIndex;
use lakeward_models::embed::Embedder;
use lakeward_operate::LakeContext;
use lakeward_reading::catalogue::CatalogueWords;
use lakeward_search::RankingWeights;
use lakeward_search::augment::QuestionIndex;
use lakeward_search::task_search::TaskSearch;
use model::ModelAccess;
use trace::Provenance;
pub use turn_effect::TurnEffect;
use turn_searches::TurnSearches;

/// What a turn is asked with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The request in words; may be empty where a table is given.
    pub text: String,
    /// The table at hand: an id of the lake or a file. It becomes the session's working table.
    pub table: Option<String>,
    /// Its key column, where one is meant.
    pub column: Option<String>,
    /// Tables to recommend; 0: as many as the conversation asked for, else 3 records or 10 tables.
    pub k: usize,
}

/// An agent over one snapshot of a lake.
pub struct Agent<'a> {
    lake: &'a Path,
    index: &'a LakeIndex,
    embedder: &'a dyn Embedder,
    config: Config,
    /// The weights of its searches.
    ranking: RankingWeights,
    /// Where results of steps are kept.
    sessions: SessionStore,
    /// Runs SQL; made when it is first needed.
    context: OnceCell<LakeContext>,
    /// The model that may be asked.
    model: Option<ModelAccess<'a>>,
    /// Where runs of the search are kept, if anywhere.
    runs: Option<RunCache>,
    /// What the plain searches of the turn that is being answered found.
    searches: TurnSearches,
    /// The questions of tables, opened when they are first needed.
    questions: OnceCell<Option<QuestionIndex>>,
    /// The words of the catalogue, read when they are first needed.
    words: Arc<CatalogueWords>,
    /// What codes of tables mean that turns spoke of.
    code_lists: Arc<CodeLists>,
    /// What is known of tasks.
    tasks: Option<&'a dyn TaskSearch>,
    /// The turn that is answered again as it was.
    replayed: Option<&'a Provenance>,
}

impl<'a> Agent<'a> {
    /// An agent over `index`, whose files are below `lake`; `sessions` keeps the results of steps.
    pub fn new(
        lake: &'a Path,
        index: &'a LakeIndex,
        embedder: &'a dyn Embedder,
        config: Config,
        sessions: SessionStore,
    ) -> Self {
        let ranking = RankingWeights { relevance: config.relevance, ..config.ranking.clone() };
        Self {
            lake,
            index,
            embedder,
            config,
            ranking,
            sessions,
            context: OnceCell::new(),
            model: None,
            runs: None,
            searches: TurnSearches::default(),
            questions: OnceCell::new(),
            words: Arc::default(),
            code_lists: Arc::default(),
            tasks: None,
            replayed: None,
        }
    }

    /// Where results of steps are kept.
    pub fn sessions(&self) -> &SessionStore {
        &self.sessions
    }

    /// The same agent with a language model at hand.
    pub fn with_model(self, model: Option<ModelAccess<'a>>) -> Self {
        Self { model, ..self }
    }

    /// The same agent, keeping what it plans, finds and judges in `folder`, by plan and state of the index.
    pub fn with_runs_kept(self, folder: &Path) -> Self {
        Self { runs: Some(RunCache::new(folder)), ..self }
    }

    /// The same agent, sharing the code lists of tables with others over the same snapshot.
    pub fn with_code_lists(self, code_lists: Arc<CodeLists>) -> Self {
        Self { code_lists, ..self }
    }

    /// The same agent, sharing the words of the catalogue with others over the same snapshot.
    pub fn with_words(self, words: Arc<CatalogueWords>) -> Self {
        Self { words, ..self }
    }

    /// The same agent, also asking which tables served tasks like the request.
    pub fn with_tasks(self, tasks: &'a dyn TaskSearch) -> Self {
        Self { tasks: Some(tasks), ..self }
    }

    /// The same agent, taking the way that the turn of `provenance` took where that depends on time and limits.
    pub fn replaying(self, provenance: &'a Provenance) -> Self {
        Self { replayed: Some(provenance), ..self }
    }
}
