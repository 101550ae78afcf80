//! What can be set: `lakeward.toml` in the folder of the lake, or a file that `LAKEWARD_CONFIG` names.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agentic::Settings;
use crate::recommend::utility::UtilityWeights;
use lakeward_core::error::{Error, Result, nearest_field};
use lakeward_lake::cell_setting::CellSetting;
use lakeward_lake::layout::Choices;
use lakeward_lake::notes::Synonyms;
use lakeward_models::llm::config::{EmbeddingConfig, LlmConfig};
use lakeward_search::{RankingWeights, RelevanceWeights};

/// Name of the file in the folder of the lake.
pub const FILE_NAME: &str = "lakeward.toml";
/// Longest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// All settings; what a file leaves out has its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A file of weights that `lakeward tune` wrote, relative to the folder of this one; those that ship without it. It has the
    /// next two, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
    /// What is in that file.
    #[serde(skip, default = "shipped")]
    pub ranking: RankingWeights,
    /// α, β, γ of the utility.
    pub utility: UtilityWeights,
    /// How much each search says about relevance.
    pub relevance: RelevanceWeights,
    /// How conversations are read.
    pub conversation: ConversationConfig,
    /// What a model is told of a conversation.
    pub memory: MemoryConfig,
    /// How a request's words are searched for.
    pub search: Settings,
    /// The language model.
    pub llm: LlmConfig,
    /// The model that makes vectors, where it is not the one inside the program.
    pub embedding: EmbeddingConfig,
    /// What may be learned from use.
    pub learning: FeedbackConfig,
    /// What a service may keep of how its answers are used.
    pub usage: UsageConfig,
    /// How the cells of columns are read, where their profile is wrong about it.
    pub cells: Vec<CellSetting>,
    /// Folders, and patterns of names such as `sales/sales_*.csv`, whose files are one table or separate ones.
    #[serde(skip_serializing_if = "Choices::is_empty")]
    pub tables: Choices,
    /// Terms with other words for them, which searches and turns understand alike.
    #[serde(skip_serializing_if = "Synonyms::is_empty")]
    pub synonyms: Synonyms,
}

/// What may be learned from use: nothing, unless the user says otherwise. What is learned stays in the folder of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FeedbackConfig {
    /// Whether requests of sessions are kept with the tables accepted or used for them, and used where `graph build` took them in.
    pub record: bool,
}

/// What a service may keep of how its answers are used: nothing, unless the user says otherwise. What is kept stays in the folder of the index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UsageConfig {
    /// Whether requests are kept with the tables that were shown, opened, accepted and used.
    pub record: bool,
    /// A file of weights, relative to the folder of this one, whose ranking is interleaved with the one in use, to compare them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<PathBuf>,
}

fn shipped() -> RankingWeights {
    RankingWeights::shipped().clone()
}

impl Default for Config {
    fn default() -> Self {
        Self {
            weights: None,
            ranking: shipped(),
            utility: UtilityWeights::default(),
            relevance: RelevanceWeights::default(),
            conversation: ConversationConfig::default(),
            memory: MemoryConfig::default(),
            search: Settings::default(),
            llm: LlmConfig::default(),
            embedding: EmbeddingConfig::default(),
            learning: FeedbackConfig::default(),
            usage: UsageConfig::default(),
            cells: Vec::new(),
            tables: Choices::new(),
            synonyms: Synonyms::default(),
        }
    }
}

/// How conversations are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationConfig {
    /// Turns before the present one that its signals are read with.
    pub window: usize,
}

impl Default for ConversationConfig {
    fn default() -> Self {
        Self { window: 5 }
    }
}

/// What a model is told of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Tokens of it at the most, 256 or more.
    pub max_tokens: usize,
}

impl MemoryConfig {
    /// Less does not hold the constraints of a long conversation.
    const LEAST: usize = 256;
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { max_tokens: 32_000 }
    }
}

impl Config {
    /// The settings of the file `path`; the defaults where there is none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] with file, line and the nearest valid name for anything that is no setting.
    pub fn load(path: &Path) -> Result<Self> {
        let size = match std::fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        if size > MOST_BYTES {
            return Err(Error::usage(format!("`{}` has {size} bytes; that is no configuration", path.display())));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let mut config: Self = toml::from_str(&text).map_err(|error| wrong(path, &text, &error))?;
        if let Some(prompts) = &mut config.llm.prompts {
            *prompts = path.parent().unwrap_or(Path::new("")).join(&prompts);
        }
        if let Some(model) = &mut config.embedding.path {
            *model = path.parent().unwrap_or(Path::new("")).join(&model);
        }
        if let Some(weights) = &mut config.usage.compare {
            *weights = path.parent().unwrap_or(Path::new("")).join(&weights);
        }
        config.with_weights(path)?.checked(path)
    }

    /// The settings that ship, with other weights.
    ///
    /// # Errors
    /// [`Error::Usage`] where α, β, γ are none.
    pub fn ranking_by(weights: RankingWeights) -> Result<Self> {
        let (utility, relevance) = (UtilityWeights::of(&weights)?, weights.relevance);
        Ok(Self { utility, relevance, ranking: weights, ..Self::default() })
    }

    /// These settings with the weights of the file that they name.
    fn with_weights(self, path: &Path) -> Result<Self> {
        let Some(named) = &self.weights else {
            let ranking = RankingWeights { relevance: self.relevance, ..shipped() };
            return Ok(Self { ranking, ..self });
        };
        let default = Self::default();
        if (self.utility, self.relevance) != (default.utility, default.relevance) {
            let what = "has `weights` and `[utility]` or `[relevance]`: set those in the file of weights";
            return Err(Error::usage(format!("`{}` {what}", path.display())));
        }
        let file = path.parent().unwrap_or(Path::new("")).join(named);
        let ranked = Self::ranking_by(RankingWeights::load(&file)?)?;
        let Self { utility, relevance, ranking, .. } = ranked;
        Ok(Self { utility, relevance, ranking, ..self })
    }

    fn checked(self, path: &Path) -> Result<Self> {
        self.synonyms.check().map_err(|error| Error::usage(format!("`{}`: {error}", path.display())))?;
        let UtilityWeights { alpha, beta, gamma, .. } = self.utility;
        let RelevanceWeights { to_join, otherwise } = self.relevance;
        let weights = [
            [("utility.alpha", alpha), ("utility.beta", beta), ("utility.gamma", gamma)],
            [
                ("relevance.to_join.search", to_join.search),
                ("relevance.to_join.join", to_join.join),
                ("relevance.to_join.union", to_join.union),
            ],
            [
                ("relevance.otherwise.search", otherwise.search),
                ("relevance.otherwise.join", otherwise.join),
                ("relevance.otherwise.union", otherwise.union),
            ],
        ];
        let wrong = weights.iter().flatten().find(|(_, value)| !value.is_finite() || *value < 0.0);
        if let Some((name, value)) = wrong {
            return Err(Error::usage(format!("`{}`: {name} is {value}; it must be 0 or more", path.display())));
        }
        if weights.iter().any(|kind| kind.iter().all(|(_, value)| *value == 0.0)) {
            return Err(Error::usage(format!("`{}`: not all weights of a kind can be 0", path.display())));
        }
        if self.memory.max_tokens < MemoryConfig::LEAST {
            let (least, is) = (MemoryConfig::LEAST, self.memory.max_tokens);
            let what = format!("memory.max_tokens is {is}; what is in force needs {least} or more");
            return Err(Error::usage(format!("`{}`: {what}", path.display())));
        }
        let Settings { iterations, tool_calls, seconds, .. } = self.search;
        if iterations == 0 || tool_calls == 0 || !(seconds > 0.0 && seconds <= 3600.0) {
            let what = "search.iterations, tool_calls and seconds must be more than 0, seconds at most 3600";
            return Err(Error::usage(format!("`{}`: {what}", path.display())));
        }
        if let Some(fault) = self.search.retrieval.fault() {
            return Err(Error::usage(format!("`{}`: [search.retrieval] {fault}", path.display())));
        }
        let cells = self.cells.iter().find_map(|cells| Some((cells, cells.writing.fault()?)));
        if let Some((cells, fault)) = cells {
            let what = format!("[[cells]] of `{}` in `{}`: {fault}", cells.column, cells.table);
            return Err(Error::usage(format!("`{}`: {what}", path.display())));
        }
        Ok(Self { llm: self.llm.checked()?, embedding: self.embedding.checked()?, ..self })
    }
}

/// What the parser found wrong, with the line and, for an unknown name, the nearest valid one.
fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
    let message = error.message();
    let nearest = nearest_field(message).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    Error::usage(format!("`{}` line {line}: {message}{nearest}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, text).unwrap();
        Config::load(&path)
    }

    #[test]
    fn settings_replace_defaults_and_mistakes_are_named() {
        assert_eq!(Config::load(Path::new("/nowhere/lakeward.toml")).unwrap(), Config::default());
        let config = load("[utility]\nalpha = 0.5\nfit = \"paper\"\n[conversation]\nwindow = 3\n").unwrap();
        assert_eq!((config.utility.alpha, config.conversation.window), (0.5, 3));
        assert_eq!(config.utility.beta, Config::default().utility.beta);
        let error = load("[utility]\nalpah = 0.5\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("did you mean `alpha`"), "{error}");
        assert!(load("[utility]\nalpha = -1\n").unwrap_err().to_string().contains("utility.alpha is -1"));
        assert!(load("[utility]\nalpha = 0\nbeta = 0\ngamma = 0\n").is_err());
        assert!(load("utility = [[[").is_err());
        let cells = "[[cells]]\ntable = \"a/b\"\ncolumn = \"dose\"\nwords = [\"None\"]\nmissing = [\"-9\"]\npoint = \"decimal\"\n";
        let set = &load(cells).unwrap().cells[0];
        assert_eq!(
            (set.table.as_str(), set.writing.to_string().as_str()),
            ("a/b", "point=decimal, word=None, missing=-9")
        );
        assert!(load(&cells.replace("-9", "none")).unwrap_err().to_string().contains("among `words` and"));
        assert!(load(&cells.replace("words", "word")).is_err());
    }
}
