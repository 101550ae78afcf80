//! The language model that flags, environment and settings name.

use super::place::Place;
use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_core::error::Result;
use lakeward_core::store::BlobCache;
use lakeward_models::llm::config::{ModelOptions, Share};
use lakeward_models::llm::{
    Chat, Key, Limits, MeasuredTrust, ModelPart, ModelRole, OpenAiChat, PartedChat, Prompts, RunLimits, Server,
    TrustStore, answer_cache,
};
use lakeward_search::augment::QuestionModel;
use lakeward_tasks::papers::extract::ExtractionModel;

/// Folder of cached answers, in that of the index.
const ANSWERS: &str = "cache/answers";

/// Folder of cached search runs, in that of the index.
pub const RUNS: &str = "cache/runs";

/// A language model with its prompts and cache.
pub struct Model {
    chat: PartedChat,
    prompts: Prompts,
    cache: BlobCache,
    share: Share,
}

impl Model {
    /// The model that `options` or `config` name, if any.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for an invalid address or invalid prompts.
    pub fn of(options: &ModelOptions, place: &Place, config: &Config) -> Result<Option<Self>> {
        let Some(mut server) = config.llm.server(options)? else { return Ok(None) };
        // A server that the lake names could be a trap to collect keys.
        let by_lake = std::env::var_os("LAKEWARD_CONFIG").is_none();
        if options.url.is_none() && config.llm.url.is_some() && by_lake {
            server.key = None;
        }
        let prompts = match &config.llm.prompts {
            Some(folder) => Prompts::load(folder)?,
            None => Prompts::shipped().clone(),
        };
        let connect = |server: &Server| -> Result<Box<dyn Chat>> {
            Ok(Box::new(OpenAiChat::connect(server, config.llm.manners())?))
        };
        let of_part = |(part, name, url): (ModelPart, &str, Option<&str>)| {
            let own_key =
                || options.part_keys.iter().find(|(of, _)| *of == part && !by_lake).map(|(_, key)| key.clone());
            let (url, key) = match url {
                Some(url) => (url.to_string(), own_key()),
                None => (server.url.clone(), server.key.clone()),
            };
            (part, Server { url, model: name.to_string(), key })
        };
        let parts: Vec<(ModelPart, Server)> = config.llm.parts.named().map(of_part).collect();
        let is_here = server.is_on_this_machine() && parts.iter().all(|(_, server)| server.is_on_this_machine());
        let share = if is_here { Share::Values } else { config.llm.share };
        let parts = parts.iter().map(|(part, server)| Ok((*part, connect(server)?))).collect::<Result<_>>()?;
        let chat = PartedChat::new(connect(&server)?, parts);
        Ok(Some(Self { chat, prompts, cache: answer_cache(&place.index.join(ANSWERS)), share }))
    }

    /// The model as a generator of questions, within `limits` per table and `run` in total.
    pub fn question_maker(&self, limits: Limits, run: RunLimits) -> QuestionModel<'_> {
        QuestionModel::new((&self.chat, self.share), &self.prompts, limits, run, Some(&self.cache))
    }

    /// The model as an extractor from documents, within `limits` per document and `run` in total.
    pub fn extractor(&self, limits: Limits, run: RunLimits) -> ExtractionModel<'_> {
        ExtractionModel::new(&self.chat, &self.prompts, Some(&self.cache), limits, run)
    }

    /// What it may see of tables.
    pub fn share(&self) -> Share {
        self.share
    }

    /// What it was measured to be worth in a role, if it was.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedFile`] where the measurements cannot be read.
    pub fn measured(&self, place: &Place, role: ModelRole) -> Result<Option<MeasuredTrust>> {
        let prompt = role.prompt();
        TrustStore::new(&place.index).measured(self.chat.id_of(prompt.part()), &self.prompts.of(prompt).id())
    }

    /// The model for an agent.
    pub fn access(&self) -> ModelAccess<'_> {
        ModelAccess { chat: &self.chat, prompts: &self.prompts, cache: Some(&self.cache) }
    }
}

/// The model options of the environment; `url` and `model` take precedence.
pub fn model_options(url: Option<String>, model: Option<String>) -> ModelOptions {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let key = |name: &str| set(name).map(|key| Key::new(&key));
    ModelOptions {
        url: url.or_else(|| set("LAKEWARD_LLM_URL")),
        model: model.or_else(|| set("LAKEWARD_LLM_MODEL")),
        key: key("LAKEWARD_LLM_KEY"),
        openai_url: set("OPENAI_BASE_URL"),
        openai_key: key("OPENAI_API_KEY"),
        part_keys: ModelPart::ALL
            .into_iter()
            .filter_map(|part| Some((part, key(&format!("LAKEWARD_LLM_{}_KEY", part.name().to_uppercase()))?)))
            .collect(),
    }
}
