//! Settings of language models: server, cost limits, weights.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::ModelPart;
use super::contract::Limits;
use super::parts::PartModels;
use super::server::{self, Key, Manners, Server};
use super::trust::ModelRole;
use lakeward_core::error::{Error, Result};

/// OpenAI's own server: used if a model is configured without a server.
const OPENAI: &str = "https://api.openai.com/v1";

/// Settings of the language model, `[llm]` in `lakeward.toml`. Keys are not settings: they come from the environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmConfig {
    /// Base URL of a server with the OpenAI protocol. In the folder of a lake: only a server on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The model's name on the server; without one no model is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Other models for parts of the work.
    #[serde(skip_serializing_if = "PartModels::is_empty")]
    pub parts: PartModels,
    /// A folder with prompts that replace the built-in ones, relative to the folder of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// Seconds to wait for one answer.
    pub timeout_seconds: f64,
    /// Number of retries if a server is busy or fails.
    pub retries: u32,
    /// Maximum number of concurrent questions.
    pub concurrency: usize,
    /// Total seconds per turn that may be spent waiting for the model.
    pub seconds_per_turn: f64,
    /// Maximum calls per turn.
    pub calls_per_turn: usize,
    /// Maximum tokens of questions and answers per turn.
    pub tokens_per_turn: u64,
    /// Maximum cost per turn, in the currency of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money_per_turn: Option<f64>,
    /// Price of a million question tokens.
    pub question_price: f64,
    /// Price of a million answer tokens.
    pub answer_price: f64,
    /// Weight of the model's order of candidates beside the computed one, 0..=1; with 0 it is not asked. By default what `lakeward model
    /// check` measured; before that little, and nothing where the order agrees with the computed one no more than chance.
    #[serde(skip_serializing_if = "Option::is_none", alias = "voice")]
    pub ranking: Option<f64>,
    /// How far the model's reading of a request is trusted, 0..=1: it is asked where the built-in reader is less sure. By default what
    /// `lakeward model check` measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<f64>,
    /// Whether its verdict on what was found is used, and how far queries that it plans count: 0 for neither. As `ranking`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judging: Option<f64>,
    /// Whether it reads papers: not with 0. As `ranking`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extraction: Option<f64>,
    /// Whether it decides which names mean the same dataset: not with 0, and not before it is set or measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_dataset: Option<f64>,
    /// What the model may see of a table. A server on this machine sees values, whatever is set here.
    pub share: Share,
    /// Number of candidates that the model ranks, at most 99.
    pub candidates: usize,
}

/// What a model on another machine may see of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Names and types of columns.
    #[default]
    Schema,
    /// Some of their values, and their ranges, too.
    Values,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            url: None,
            model: None,
            parts: PartModels::default(),
            prompts: None,
            timeout_seconds: 20.0,
            retries: 2,
            concurrency: 2,
            seconds_per_turn: 30.0,
            calls_per_turn: 12,
            tokens_per_turn: 30_000,
            money_per_turn: None,
            question_price: 0.0,
            answer_price: 0.0,
            ranking: None,
            reading: None,
            judging: None,
            extraction: None,
            same_dataset: None,
            share: Share::Schema,
            candidates: 30,
        }
    }
}

impl LlmConfig {
    /// How far the model is trusted in a role, 0..=1, where that is set or measured.
    pub fn trust(&self, role: ModelRole) -> Option<f64> {
        match role {
            ModelRole::Reading => self.reading,
            ModelRole::Ranking => self.ranking,
            ModelRole::Judging => self.judging,
            ModelRole::Extraction => self.extraction,
            ModelRole::SameDataset => self.same_dataset,
        }
    }

    /// Sets how far it is trusted in a role, where the user has not.
    pub fn trust_as_measured(&mut self, role: ModelRole, measured: f64) {
        let set = match role {
            ModelRole::Reading => &mut self.reading,
            ModelRole::Ranking => &mut self.ranking,
            ModelRole::Judging => &mut self.judging,
            ModelRole::Extraction => &mut self.extraction,
            ModelRole::SameDataset => &mut self.same_dataset,
        };
        set.get_or_insert(measured);
    }

    /// The weight of a query that the model plans, 0..=1.
    pub fn weight_of_plans(&self) -> f64 {
        const MOST: f64 = 0.3;
        self.judging.unwrap_or(MOST).min(MOST)
    }

    /// Validates these settings.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the setting.
    pub fn checked(self) -> Result<Self> {
        let wrong = |name: &str, what: &str| Err(Error::usage(format!("llm.{name} {what}")));
        let seconds = [("timeout_seconds", self.timeout_seconds), ("seconds_per_turn", self.seconds_per_turn)];
        if let Some((name, _)) = seconds.iter().find(|(_, value)| !(*value > 0.0 && *value <= 86_400.0)) {
            return wrong(name, "must be more than 0 and at most a day");
        }
        let prices = [self.question_price, self.answer_price, self.money_per_turn.unwrap_or(0.0)];
        if prices.iter().any(|price| !price.is_finite() || *price < 0.0) {
            return wrong("question_price, answer_price and money_per_turn", "must be 0 or more");
        }
        if self.money_per_turn.is_some() && self.question_price == 0.0 && self.answer_price == 0.0 {
            return wrong("money_per_turn", "limits nothing without question_price and answer_price");
        }
        let set = |role: &ModelRole| self.trust(*role).is_some_and(|trust| !(0.0..=1.0).contains(&trust));
        if let Some(role) = ModelRole::ALL.iter().find(|role| set(role)) {
            return wrong(role.name(), "must be in 0..=1");
        }
        if self.candidates > 99 {
            return wrong("candidates", "must be at most 99");
        }
        for url in self.url.as_deref().into_iter().chain(self.parts.urls()) {
            server::parse(url)?;
        }
        Ok(self)
    }

    /// Validates these settings as read from the folder of a lake: the author of a lake must not choose where requests and cells are sent.
    ///
    /// # Errors
    /// [`Error::Usage`] for a server that is not on this machine, and for prompts.
    pub fn of_a_lake(self) -> Result<Self> {
        if self.prompts.is_some() {
            return Err(Error::usage(
                "the `lakeward.toml` of a lake may not set prompts: set them in your own file, named by LAKEWARD_CONFIG",
            ));
        }
        if self.share == Share::Values {
            return Err(Error::usage(
                "the `lakeward.toml` of a lake may not share values: set that in your own file, named by LAKEWARD_CONFIG",
            ));
        }
        // A model without a URL would be requested from OpenAI.
        let url = self.url.as_deref().or(self.model.as_ref().map(|_| OPENAI));
        for url in url.into_iter().chain(self.parts.urls()) {
            of_this_machine(Some(url), "a language model", "LAKEWARD_LLM_URL")?;
        }
        Ok(self)
    }

    /// The server to call: `options` of the user override these settings; `None` if no model is set.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid address.
    pub fn server(&self, options: &ModelOptions) -> Result<Option<Server>> {
        options.server(self.url.as_deref(), self.model.as_deref())
    }

    /// How to call the server.
    pub fn manners(&self) -> Manners {
        Manners { retries: self.retries.min(10), concurrency: self.concurrency.clamp(1, 64) }
    }

    /// The limits of a turn.
    pub fn limits(&self) -> Limits {
        Limits {
            calls: self.calls_per_turn,
            tokens: self.tokens_per_turn,
            time: Duration::from_secs_f64(self.seconds_per_turn),
            call_time: Duration::from_secs_f64(self.timeout_seconds),
            money: self.money_per_turn,
            question_price: self.question_price,
            answer_price: self.answer_price,
        }
    }
}

/// Settings of an embedding model on a server or in a folder, `[embedding]` in `lakeward.toml`; without them the built-in model is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// Base URL of a server with the OpenAI protocol. In the folder of a lake: only a server on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The model's name on the server; without one no server is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Folder of a sentence model to run locally instead of a server, with `config.json`, `vocab.txt` and `model.safetensors`; relative to
    /// the folder of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Seconds to wait for the vectors of one request.
    pub timeout_seconds: f64,
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self { url: None, model: None, path: None, timeout_seconds: 60.0 }
    }
}

impl EmbeddingConfig {
    /// Validates these settings.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the setting.
    pub fn checked(self) -> Result<Self> {
        if !(self.timeout_seconds > 0.0 && self.timeout_seconds <= 86_400.0) {
            return Err(Error::usage("embedding.timeout_seconds must be more than 0 and at most a day"));
        }
        self.url.as_deref().map(server::parse).transpose()?;
        if self.path.is_some() && self.model.is_some() {
            return Err(Error::usage("`[embedding]` has both a `path` and a server's `model`: set one of them"));
        }
        Ok(self)
    }

    /// Validates these settings as read from the folder of a lake: cells are sent to this server.
    ///
    /// # Errors
    /// [`Error::Usage`] for a server that is not on this machine.
    pub fn of_a_lake(self) -> Result<Self> {
        if self.model.is_some() && self.url.is_none() {
            return Err(Error::usage(
                "the `lakeward.toml` of a lake must set a `url` on this machine with the `model` of `[embedding]`",
            ));
        }
        of_this_machine(self.url.as_deref(), "an embedding model", "LAKEWARD_EMBEDDING_URL")?;
        Ok(self)
    }

    /// The server to call: `options` of the user override these settings; `None` if no model is set.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid address.
    pub fn server(&self, options: &ModelOptions) -> Result<Option<Server>> {
        options.server(self.url.as_deref(), self.model.as_deref())
    }

    /// How to call the server: with as many concurrent requests as one machine can use.
    pub fn manners(&self) -> Manners {
        Manners { retries: 2, concurrency: 2 }
    }

    /// The time for one request.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_seconds)
    }
}

/// Rejects a server on another machine in the settings of a lake.
fn of_this_machine(url: Option<&str>, what: &str, variable: &str) -> Result<()> {
    let Some(url) = url else { return Ok(()) };
    if lakeward_http::is_loopback(&server::parse(url)?) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the `lakeward.toml` of a lake may set {what} on this machine only, not `{url}`: set {variable}, or put the settings \
         in your own file, named by LAKEWARD_CONFIG"
    )))
}

/// Model settings from flags and the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelOptions {
    /// Base URL of the server.
    pub url: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The key for any server.
    pub key: Option<Key>,
    /// Replaces the URL of OpenAI's own server.
    pub openai_url: Option<String>,
    /// The key for that server only.
    pub openai_key: Option<Key>,
    /// The keys for servers of parts of the work.
    pub part_keys: Vec<(ModelPart, Key)>,
}

impl ModelOptions {
    /// The server to call; `url` and `model` are the defaults.
    fn server(&self, url: Option<&str>, model: Option<&str>) -> Result<Option<Server>> {
        let Some(model) = self.model.as_deref().or(model).map(str::trim).filter(|model| !model.is_empty()) else {
            return Ok(None);
        };
        let openai = self.openai_url.as_deref().unwrap_or(OPENAI);
        let url = self.url.as_deref().or(url).unwrap_or(openai);
        server::parse(url)?;
        let key = self.key.as_ref().or(self.openai_key.as_ref().filter(|_| url == openai));
        Ok(Some(Server { url: url.to_string(), model: model.to_string(), key: key.cloned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lake_names_no_server_elsewhere() {
        let at = |url: &str| LlmConfig { url: Some(url.into()), ..LlmConfig::default() };
        assert!(at("http://127.0.0.1:8080/v1").of_a_lake().is_ok());
        let error = at("https://collector.example/v1").of_a_lake().unwrap_err().to_string();
        assert!(error.contains("LAKEWARD_LLM_URL"), "{error}");
        let part: LlmConfig =
            serde_json::from_str(r#"{"parts": {"reader": {"model": "m", "url": "https://collector.example/v1"}}}"#)
                .unwrap();
        let error = part.of_a_lake().unwrap_err().to_string();
        assert!(error.contains("collector.example"), "{error}");
        let at = |url: &str| EmbeddingConfig { url: Some(url.into()), ..EmbeddingConfig::default() };
        assert!(at("http://[::1]:8080/v1").of_a_lake().is_ok());
        let error = at("https://collector.example/v1").of_a_lake().unwrap_err().to_string();
        assert!(error.contains("LAKEWARD_EMBEDDING_URL"), "{error}");
        let elsewhere = EmbeddingConfig { model: Some("m".into()), ..EmbeddingConfig::default() };
        assert!(elsewhere.of_a_lake().is_err(), "without a url it would be OpenAI's server");
    }

    #[test]
    fn user_options_override_settings() {
        let config = LlmConfig { model: Some("small".into()), ..LlmConfig::default() };
        assert_eq!(LlmConfig::default().server(&ModelOptions::default()).unwrap(), None);
        assert_eq!(config.server(&ModelOptions::default()).unwrap().unwrap().url, OPENAI);
        let options = ModelOptions {
            url: Some("http://127.0.0.1:1/v1".into()),
            model: Some("large".into()),
            ..ModelOptions::default()
        };
        let server = config.server(&options).unwrap().unwrap();
        assert_eq!((server.url.as_str(), server.model.as_str()), ("http://127.0.0.1:1/v1", "large"));
    }

    #[test]
    fn the_key_of_openai_goes_there_only() {
        let config = LlmConfig { model: Some("m".into()), ..LlmConfig::default() };
        let key = |options: &ModelOptions| config.server(options).unwrap().unwrap().key;
        let openai = ModelOptions { openai_key: Some(Key::new("sk-openai-0123")), ..ModelOptions::default() };
        assert!(key(&openai).is_some());
        let stand_in = ModelOptions { openai_url: Some("https://stand-in.example/v1".into()), ..openai.clone() };
        assert!(key(&stand_in).is_some());
        let elsewhere = ModelOptions { url: Some("https://elsewhere.example/v1".into()), ..openai };
        assert_eq!(key(&elsewhere), None);
        let own = Some(Key::new("sk-own-0123456"));
        assert_eq!(key(&ModelOptions { key: own.clone(), ..elsewhere }), own);
        assert!(config.of_a_lake().is_err(), "a lake would send its cells to OpenAI at the user's cost");
    }

    #[test]
    fn limits_that_cannot_be_kept_are_named() {
        let broken = LlmConfig { money_per_turn: Some(1.0), ..LlmConfig::default() };
        assert!(broken.checked().unwrap_err().to_string().contains("money_per_turn"));
        let broken = LlmConfig { timeout_seconds: f64::NAN, ..LlmConfig::default() };
        assert!(broken.checked().unwrap_err().to_string().contains("timeout_seconds"));
    }
}
