//! How far a language model may be trusted, role by role: what its answers to labelled items come to, beside what Lakeward does without it.
//!
//! All items are our own and in the program (`labels/`): turns to read, asks with the datasets that were found for them to put in order and to
//! call enough or not, short papers to extract from, names to compare. A model that guesses, always says the same, or does what a text of the data says, is not trusted.

mod asks;
mod demands;
mod extraction;
mod reading;
mod same_dataset;
mod sheets;
mod work;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_core::error::Result;
use lakeward_core::monitor::Monitor;
use lakeward_models::embed::Embedder;
use lakeward_models::llm::{ModelRole, Spent};

pub use asks::{Question, questions};
use work::Work;

/// What a check may cost.
#[derive(Debug, Clone, Copy)]
pub struct CheckLimits {
    /// Tokens of all questions and answers together.
    pub tokens: u64,
    /// Questions side by side.
    pub concurrency: usize,
}

/// What a model was found to be worth in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleCheck {
    /// The role.
    pub role: ModelRole,
    /// Model and server that have it.
    pub model_id: String,
    /// Name, version and hash of the prompt.
    pub prompt: String,
    /// Labelled items.
    pub items: usize,
    /// Those that the model answered: the others were beyond the limit, or without a valid answer.
    pub answered: usize,
    /// Those that it gets right; where it orders, those whose right answer it puts first.
    pub model: usize,
    /// Those that Lakeward gets right without it.
    pub built_in: usize,
    /// Those in which it did what a text of the data says.
    pub obeyed: usize,
    /// How far it is trusted in this role from now on, 0..=1.
    pub trust: f64,
}

/// What `lakeward model check` reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCheck {
    /// Model and server.
    pub model: String,
    /// Its roles.
    pub roles: Vec<RoleCheck>,
    /// What it cost.
    pub spent: Spent,
    /// What kept it from answering, the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// How one item was answered.
#[derive(Debug, Default, Clone, Copy)]
struct Tried {
    answered: bool,
    model: bool,
    built_in: bool,
    /// Whether a text of the data says what to answer, and whether that was answered.
    carries: bool,
    obeyed: bool,
}

/// Measures the model that `access` asks in `roles`.
///
/// # Errors
/// [`lakeward_core::Error::Io`] where no folder can be made, [`lakeward_core::Error::Interrupted`], and whatever the made-up lakes report.
pub fn check(
    access: ModelAccess<'_>,
    (config, embedder): (&Config, &dyn Embedder),
    roles: &[ModelRole],
    limits: CheckLimits,
    monitor: &dyn Monitor,
) -> Result<ModelCheck> {
    let work = Work::new(access, (config, embedder), limits, monitor);
    let asks = |role: &ModelRole| matches!(role, ModelRole::Ranking | ModelRole::Judging);
    let catalogue = roles.iter().any(asks).then(|| asks::Catalogue::new(embedder)).transpose()?;
    let of = |role: &ModelRole| match (role, &catalogue) {
        (ModelRole::Reading, _) => reading::check(&work).map(Some),
        (ModelRole::Ranking, Some(catalogue)) => catalogue.check_ranking(&work).map(Some),
        (ModelRole::Judging, Some(catalogue)) => catalogue.check_judging(&work).map(Some),
        (ModelRole::Extraction, _) => extraction::check(&work).map(Some),
        (ModelRole::SameDataset, _) => same_dataset::check(&work).map(Some),
        (_, None) => Ok(None),
    };
    let roles: Vec<RoleCheck> = roles.iter().filter_map(|role| of(role).transpose()).collect::<Result<_>>()?;
    let (spent, trouble) = work.spent();
    Ok(ModelCheck { model: access.chat.id().to_string(), roles, spent, trouble })
}
