//! Prompts: one file per use in `prompts/`, with name, version and placeholders in its header, checked when it is read.

use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use super::call::{Message, ModelPart, Role};
use super::quote;
use lakeward_core::error::{Error, Result};

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptUse {
    /// Reading a turn: acts, plan and wishes.
    Read,
    /// Planning what to search for.
    Plan,
    /// Judging whether the results are sufficient.
    Evaluate,
    /// Planning, judging and ranking in one.
    Agent,
    /// Planning calls of tools, and ranking what they leave.
    Tools,
    /// Ranking candidates.
    Rerank,
    /// Writing questions that a table answers.
    PseudoQueries,
    /// Rewording a question to the analyst.
    Clarify,
    /// Summarising a long conversation.
    Memory,
    /// Deciding whether a name refers to a dataset.
    SameDataset,
    /// Deciding whether a document used datasets.
    ExtractGate,
    /// Extracting which datasets were used for which tasks of a document.
    ExtractPairs,
    /// Extracting names and keywords of a document's tasks.
    ExtractKeywords,
    /// Ranking datasets for a task.
    RerankDatasets,
    /// Writing the answer in words.
    Answer,
    /// Repairing a wrong answer.
    Repair,
}

lakeward_core::names! { PromptUse, "Its name: the file name without `.md`.":
    Read = "read",
    Plan = "plan",
    Evaluate = "evaluate",
    Agent = "agent",
    Tools = "tools",
    Rerank = "rerank",
    PseudoQueries = "pseudo_queries",
    Clarify = "clarify",
    Memory = "memory",
    SameDataset = "same_dataset",
    ExtractGate = "extract_gate",
    ExtractPairs = "extract_pairs",
    ExtractKeywords = "extract_keywords",
    RerankDatasets = "rerank_datasets",
    Answer = "answer",
    Repair = "repair",
}

impl PromptUse {
    /// Which part of the work it is.
    pub fn part(self) -> ModelPart {
        use PromptUse as Use;
        match self {
            Use::Plan | Use::Evaluate | Use::Agent | Use::Tools => ModelPart::Planner,
            Use::Rerank | Use::RerankDatasets | Use::SameDataset => ModelPart::Ranker,
            Use::PseudoQueries | Use::Clarify | Use::Answer => ModelPart::Writer,
            Use::Read | Use::Memory | Use::ExtractGate | Use::ExtractPairs | Use::ExtractKeywords | Use::Repair => {
                ModelPart::Reader
            }
        }
    }

    /// What it is for, as shown to people.
    pub fn purpose(self) -> &'static str {
        match self {
            PromptUse::Read => "reading the request",
            PromptUse::Plan => "planning the search",
            PromptUse::Evaluate => "judging the results",
            PromptUse::Agent => "searching step by step",
            PromptUse::Tools => "calling tools",
            PromptUse::Rerank => "ordering the tables",
            PromptUse::PseudoQueries => "writing questions",
            PromptUse::Clarify => "wording the question",
            PromptUse::Memory => "summarising the session",
            PromptUse::SameDataset => "comparing names of datasets",
            PromptUse::ExtractGate => "screening a document",
            PromptUse::ExtractPairs => "finding the datasets of a document",
            PromptUse::ExtractKeywords => "naming the tasks of a document",
            PromptUse::RerankDatasets => "ordering the datasets",
            PromptUse::Answer => "writing the answer",
            PromptUse::Repair => "repairing its answer",
        }
    }

    /// The placeholders that the program fills; a file must use each of them and no others.
    pub fn placeholders(self) -> &'static [&'static str] {
        match self {
            PromptUse::Read => &[
                "year",
                "conversation",
                "plan",
                "earlier_plans",
                "proposed",
                "tables",
                "others",
                "wanted",
                "shown",
                "roles",
                "request",
            ],
            PromptUse::Plan => &["request", "memory", "previous", "most_queries"],
            PromptUse::Evaluate => &["memory", "request", "plan", "candidates"],
            PromptUse::Agent => &["rounds_left", "most_queries", "memory", "previous", "request", "candidates"],
            PromptUse::Tools => &["earlier", "request", "fields", "results", "rounds_left"],
            PromptUse::Rerank => {
                &["earlier", "request", "operation", "intention", "specification", "table", "candidates"]
            }
            PromptUse::PseudoQueries => &["record", "least", "most"],
            PromptUse::Clarify => &["request", "question", "choices"],
            PromptUse::Memory => &["turns", "wanted", "most_words"],
            PromptUse::SameDataset => &["name", "said", "title", "description"],
            PromptUse::ExtractGate => &["title", "sentences"],
            PromptUse::ExtractPairs => &["title", "sentences", "most"],
            PromptUse::ExtractKeywords => &["title", "abstract", "tasks"],
            PromptUse::RerankDatasets => &["task", "candidates"],
            PromptUse::Answer => &["earlier", "request", "tables", "missing", "next"],
            PromptUse::Repair => &["problem", "valid"],
        }
    }

    fn shipped(self) -> &'static str {
        match self {
            PromptUse::Read => include_str!("../../../../prompts/read.md"),
            PromptUse::Plan => include_str!("../../../../prompts/plan.md"),
            PromptUse::Evaluate => include_str!("../../../../prompts/evaluate.md"),
            PromptUse::Agent => include_str!("../../../../prompts/agent.md"),
            PromptUse::Tools => include_str!("../../../../prompts/tools.md"),
            PromptUse::Rerank => include_str!("../../../../prompts/rerank.md"),
            PromptUse::PseudoQueries => include_str!("../../../../prompts/pseudo_queries.md"),
            PromptUse::Clarify => include_str!("../../../../prompts/clarify.md"),
            PromptUse::Memory => include_str!("../../../../prompts/memory.md"),
            PromptUse::SameDataset => include_str!("../../../../prompts/same_dataset.md"),
            PromptUse::ExtractGate => include_str!("../../../../prompts/extract_gate.md"),
            PromptUse::ExtractPairs => include_str!("../../../../prompts/extract_pairs.md"),
            PromptUse::ExtractKeywords => include_str!("../../../../prompts/extract_keywords.md"),
            PromptUse::RerankDatasets => include_str!("../../../../prompts/rerank_datasets.md"),
            PromptUse::Answer => include_str!("../../../../prompts/answer.md"),
            PromptUse::Repair => include_str!("../../../../prompts/repair.md"),
        }
    }
}

/// A checked prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    name: &'static str,
    version: u32,
    /// 8 hex digits of a hash of the file.
    hash: String,
    system: Vec<Piece>,
    user: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(String),
}

/// The header between the `+++` lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: String,
    version: u32,
    placeholders: Vec<String>,
}

impl Prompt {
    /// Parses a prompt file.
    ///
    /// # Errors
    /// What is wrong with it, in one clause.
    fn parse(of: PromptUse, text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("+++\n").ok_or("it does not begin with a line `+++`")?;
        let (head, body) = rest.split_once("\n+++\n").ok_or("its header has no end line `+++`")?;
        let head: Head = toml::from_str(head).map_err(|error| format!("its header: {}", error.message()))?;
        if head.name != of.name() {
            return Err(format!("it is called `{}`, not `{}`", head.name, of.name()));
        }
        let body = body.strip_prefix("# system\n").ok_or("its first line is not `# system`")?;
        let (system, user) = body.split_once("\n# user\n").ok_or("it has no line `# user`")?;
        let mut declared: Vec<&str> = head.placeholders.iter().map(String::as_str).collect();
        let mut known = of.placeholders().to_vec();
        declared.sort_unstable();
        known.sort_unstable();
        if declared != known {
            return Err(format!("its placeholders are {declared:?}; the program fills {known:?}"));
        }
        let (system, user) = (pieces(system.trim())?, pieces(user.trim())?);
        let used: Vec<&str> = system.iter().chain(&user).filter_map(Piece::value).collect();
        if let Some(unknown) = used.iter().find(|name| !known.contains(name)) {
            return Err(format!("it uses `{{{{{unknown}}}}}`; the program fills {known:?}"));
        }
        if let Some(unused) = known.iter().find(|name| !used.contains(name)) {
            return Err(format!("it does not use `{{{{{unused}}}}}`"));
        }
        let hash = blake3::hash(text.as_bytes()).to_hex()[..8].to_string();
        Ok(Self { name: of.name(), version: head.version, hash, system, user })
    }

    /// Name, version and hash: `rerank@1#0a1b2c3d`.
    pub fn id(&self) -> String {
        format!("{}@{}#{}", self.name, self.version, self.hash)
    }

    /// The messages with `values` for their placeholders, as cleaned JSON. Text in a value is never a placeholder.
    pub fn messages(&self, values: &[(&str, Value)]) -> Vec<Message> {
        let fill = |pieces: &[Piece]| -> String {
            let text = |piece: &Piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Value(name) => {
                    let value = values.iter().find(|(known, _)| known == name).map(|(_, value)| value);
                    quote::json(value.unwrap_or(&Value::Null))
                }
            };
            pieces.iter().map(text).collect()
        };
        vec![
            Message { role: Role::System, content: fill(&self.system) },
            Message { role: Role::User, content: fill(&self.user) },
        ]
    }
}

impl Piece {
    fn value(&self) -> Option<&str> {
        match self {
            Piece::Value(name) => Some(name),
            Piece::Text(_) => None,
        }
    }
}

/// The text and the `{{placeholders}}` of a message.
fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or("a `{{` has no `}}`")?;
        pieces.extend([Piece::Text(before.into()), Piece::Value(name.trim().into())]);
        rest = after;
    }
    pieces.push(Piece::Text(rest.into()));
    Ok(pieces)
}

/// All prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts(Vec<(PromptUse, Prompt)>);

impl Prompts {
    /// The built-in prompts.
    pub fn shipped() -> &'static Self {
        static PROMPTS: OnceLock<Prompts> = OnceLock::new();
        PROMPTS.get_or_init(|| {
            let parsed = PromptUse::ALL.map(|of| match Prompt::parse(of, of.shipped()) {
                Ok(prompt) => (of, prompt),
                // The tests check them.
                Err(problem) => panic!("prompts/{}.md: {problem}", of.name()),
            });
            Prompts(parsed.into())
        })
    }

    /// The built-in prompts, replaced by the files `NAME.md` in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] with file and problem.
    pub fn load(folder: &Path) -> Result<Self> {
        let mut prompts = Self::shipped().clone();
        if !folder.is_dir() {
            return Err(Error::usage(format!("prompts: `{}` is not a folder", folder.display())));
        }
        for (of, prompt) in &mut prompts.0 {
            let path = folder.join(format!("{}.md", of.name()));
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => text.replace("\r\n", "\n"),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("read", &path, error)),
            };
            *prompt = Prompt::parse(*of, &text)
                .map_err(|problem| Error::usage(format!("prompt `{}`: {problem}", path.display())))?;
        }
        Ok(prompts)
    }

    /// The prompt for a use.
    pub fn of(&self, of: PromptUse) -> &Prompt {
        // `self.0` has every use in the order of `PromptUse::ALL`.
        &self.0[of as usize].1
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REPAIR: &str = "+++\nname = \"repair\"\nversion = 3\nplaceholders = [\"problem\", \"valid\"]\n+++\n# system\nFix.\n# user\n{{problem}} of {{ valid }}!\n";

    #[test]
    fn the_prompts_that_ship_are_well_formed() {
        for of in PromptUse::ALL {
            let prompt = Prompts::shipped().of(of);
            assert_eq!(prompt.name, of.name());
            assert!(prompt.version > 0 && prompt.hash.len() == 8);
        }
    }

    #[test]
    fn values_stand_as_data_and_are_no_templates() {
        let prompt = Prompt::parse(PromptUse::Repair, REPAIR).unwrap();
        let messages = prompt.messages(&[("problem", json!("a {{valid}} \u{202e}\nb")), ("valid", json!(["c01"]))]);
        assert_eq!(messages[0], Message { role: Role::System, content: "Fix.".into() });
        assert_eq!(messages[1].content, "\"a {{valid}} b\" of [\"c01\"]!");
        assert!(prompt.id().starts_with("repair@3#"));
    }

    #[test]
    fn a_wrong_file_is_named_with_its_problem() {
        let wrong = |from: &str, to: &str| Prompt::parse(PromptUse::Repair, &REPAIR.replace(from, to)).unwrap_err();
        assert!(wrong("name = \"repair\"", "name = \"rerank\"").contains("called `rerank`"));
        assert!(wrong("{{problem}}", "").contains("does not use `{{problem}}`"));
        assert!(wrong("{{problem}}", "{{problem}} {{key}}").contains("uses `{{key}}`"));
        assert!(wrong("\"valid\"]", "\"valid\", \"key\"]").contains("the program fills"));
        assert!(wrong("}}!", "").contains("no `}}`"));
        assert!(wrong("# user", "user").contains("no line `# user`"));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("repair.md"), REPAIR).unwrap();
        assert!(Prompts::load(folder.path()).unwrap().of(PromptUse::Repair).id().starts_with("repair@3"));
        std::fs::write(folder.path().join("rerank.md"), REPAIR).unwrap();
        assert!(Prompts::load(folder.path()).unwrap_err().to_string().contains("rerank.md"));
    }
}
