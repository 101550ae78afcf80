//! The same three steps with a language model: whether a document used datasets, which were used for which tasks, and the field's
//! names for those tasks.
//!
//! A model may read better than the rules, but it must not add anything. It gets only an [`Excerpt`], as quoted data. Each pair
//! must name a sentence of it, and the dataset's name must occur in that sentence ([`ground`](super::ground)); tasks must use
//! the document's words. An answer that breaks this is rejected and repaired once; after that the rules' result is used
//! for that document. So a prompt injection affects only its own document, and there only which of the names in it are
//! selected.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::document::Document;
use super::super::extraction::{DatasetMention, ExtractedTask, Extraction};
use super::cues::words;
use super::excerpt::{Excerpt, ExcerptSize};
use super::gazetteer::loose_key;
use super::ground::{Excerpted, GroundedName, ShortForms, name_in};
use super::known::KnownDatasets;
use super::lines::Lines;
use super::mentions::Mentions;
use lakeward_core::store::BlobCache;
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{
    AnswerShape, Chat, LanguageModel, Limits, PromptUse, Prompts, Refusal, RunBudget, RunLimits, Unanswered,
};

/// Excerpt for the gate: about 1,200 tokens.
const GATE_SIZE: ExcerptSize = ExcerptSize { sentences: 16, bytes: 3_500 };
/// Excerpt for the pairs: about 3,000 tokens.
const PAIRS_SIZE: ExcerptSize = ExcerptSize { sentences: 60, bytes: 9_000 };
/// Maximum numbers of pairs and tasks per document.
const MAX_PAIRS: usize = 40;
const MAX_TASKS: usize = 12;
/// Maximum number of keywords per task.
const MAX_KEYWORDS: usize = 8;
/// Maximum characters of a dataset's name, a task, a description, and a task's name or keyword.
const NAME_CHARS: usize = 150;
const TASK_CHARS: usize = 240;
const DESCRIPTION_CHARS: usize = 300;
const SHORT_CHARS: usize = 80;
/// Characters of the abstract that is sent with the tasks.
const ABSTRACT_CHARS: usize = 1_500;
/// Datasets listed with a task.
const LISTED_DATASETS: usize = 8;
/// Minimum share of the words of a task, its name or a description that must occur in the excerpt.
const MIN_SHARE: f64 = 0.5;
/// Maximum tokens of the answers.
const GATE_TOKENS: u32 = 60;
const PAIRS_TOKENS: u32 = 2_400;
const KEYWORDS_TOKENS: u32 = 900;

/// The prompts of the three steps.
const STEPS: [PromptUse; 3] = [PromptUse::ExtractGate, PromptUse::ExtractPairs, PromptUse::ExtractKeywords];

/// A language model as a reader of documents.
pub struct ExtractionModel<'a> {
    chat: &'a dyn Chat,
    prompts: &'a Prompts,
    cache: Option<&'a BlobCache>,
    /// Limits per document.
    limits: Limits,
    budget: RunBudget,
}

/// Why a model has extracted nothing from a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotExtracted {
    /// The reason, in a clause.
    pub trouble: String,
    /// Whether the model answered something unusable, so that asking again is useless.
    pub is_refused: bool,
}

/// A checked pair of dataset and task.
struct Pair {
    found: GroundedName,
    task: String,
    description: Option<String>,
    line: usize,
}

/// A task with its datasets.
struct Task {
    text: String,
    pairs: Vec<Pair>,
}

/// One document being read by the model.
struct Reading<'m, 'd> {
    model: &'m LanguageModel<'m>,
    document: &'d Document,
    lines: &'d Lines<'d>,
    known: &'d KnownDatasets,
}

impl<'a> ExtractionModel<'a> {
    /// `chat`, asked with `prompts`: within `limits` for each document and within `run_limits` for all of them; answers are
    /// cached in `cache`, if given.
    pub fn new(
        chat: &'a dyn Chat,
        prompts: &'a Prompts,
        cache: Option<&'a BlobCache>,
        limits: Limits,
        run_limits: RunLimits,
    ) -> Self {
        Self { chat, prompts, cache, limits, budget: RunBudget::new(run_limits) }
    }

    /// The model and the three prompts with their versions; documents extracted with another id are extracted again.
    pub fn id(&self) -> String {
        format!("{} {}", self.chat.id(), STEPS.map(|of| self.prompts.of(of).id()).join(" "))
    }

    /// Calls and tokens used so far.
    pub fn spent(&self) -> (u64, u64) {
        self.budget.spent()
    }

    /// The datasets and tasks of `document` as read by the model; without tasks if it uses no datasets.
    ///
    /// # Errors
    /// [`NotExtracted`]: then the rules' result is used.
    pub fn extract(&self, document: &Document, known: &KnownDatasets) -> Result<Extraction, NotExtracted> {
        self.budget.allowed().map_err(|trouble| NotExtracted { trouble, is_refused: false })?;
        // One per document: a failure for one is retried for the next.
        let model = LanguageModel::new(self.chat, self.prompts, self.limits, self.cache);
        let read = extract_by(&model, document, known);
        let trouble = read.as_ref().err().map(Unanswered::to_string);
        self.budget.settle(model.spent(), trouble.as_deref());
        let refused = |unanswered: Unanswered| NotExtracted {
            trouble: unanswered.to_string(),
            is_refused: matches!(unanswered, Unanswered::Contract(_)),
        };
        read.map_err(refused)
    }
}

/// The datasets and tasks of `document` as `model` reads it, each with a sentence that names it.
///
/// # Errors
/// [`Unanswered`], also for an answer that adds to the document.
pub fn extract_by(
    model: &LanguageModel<'_>,
    document: &Document,
    known: &KnownDatasets,
) -> Result<Extraction, Unanswered> {
    let lines = Lines::of(document);
    let mut tasks = Reading { model, document, lines: &lines, known }.tasks()?;
    super::add_other_names(&mut tasks, &lines);
    let found = Extraction {
        document: document.id.clone(),
        title: document.title.clone(),
        year: document.year.map(i32::from),
        text: lines.summary(),
        tasks,
        extractor: format!("{} {}", model.id(), STEPS.map(|of| model.prompt_id(of)).join(" ")),
    };
    Ok(found.bounded())
}

impl Reading<'_, '_> {
    fn tasks(&self) -> Result<Vec<ExtractedTask>, Unanswered> {
        let mentions = Mentions::of(self.lines, self.known);
        if !self.uses_datasets(&Excerpt::of(self.lines, &mentions, GATE_SIZE))? {
            return Ok(Vec::new());
        }
        let excerpt = Excerpt::of(self.lines, &mentions, PAIRS_SIZE);
        let excerpted = Excerpted::of(&excerpt.text());
        let mut tasks: Vec<Task> = Vec::new();
        for pair in self.pairs(&excerpt, &excerpted)? {
            let same = tasks.iter_mut().find(|task| loose_key(&task.text) == loose_key(&pair.task));
            match same {
                Some(task) => task.pairs.push(pair),
                None => tasks.push(Task { text: pair.task.clone(), pairs: vec![pair] }),
            }
        }
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let named = self.named(&tasks, &excerpted)?;
        Ok(tasks.into_iter().zip(named).map(|(task, named)| self.extracted(task, named)).collect())
    }

    /// The first step: the gate.
    fn uses_datasets(&self, excerpt: &Excerpt) -> Result<bool, Unanswered> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Gate {
            uses_datasets: bool,
            sentence: usize,
        }
        let schema = json!({
            "type": "object",
            "properties": {
                "uses_datasets": {"type": "boolean"},
                "sentence": {"type": "integer", "minimum": 0, "maximum": excerpt.len()},
            },
            "required": ["uses_datasets", "sentence"],
            "additionalProperties": false,
        });
        let shape = AnswerShape { name: "extract_gate", schema, max_tokens: GATE_TOKENS };
        let values = [("title", excerpt.title()), ("sentences", excerpt.to_json())];
        self.model.ask(PromptUse::ExtractGate, &values, shape, |gate: Gate| {
            if gate.uses_datasets && excerpt.get(gate.sentence).is_none() {
                return Err(no_sentence(gate.sentence, excerpt));
            }
            Ok(gate.uses_datasets)
        })
    }

    /// The second step: pairs of dataset and task.
    fn pairs(&self, excerpt: &Excerpt, excerpted: &Excerpted) -> Result<Vec<Pair>, Unanswered> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Pairs {
            pairs: Vec<ReportedPair>,
        }
        let text = json!({"type": "string"});
        let pair = json!({
            "type": "object",
            "properties": {
                "dataset": text,
                "task": text,
                "description": text,
                "sentence": {"type": "integer", "minimum": 1, "maximum": excerpt.len()},
            },
            "required": ["dataset", "task", "description", "sentence"],
            "additionalProperties": false,
        });
        let schema = json!({
            "type": "object",
            "properties": {"pairs": {"type": "array", "items": pair, "maxItems": MAX_PAIRS}},
            "required": ["pairs"],
            "additionalProperties": false,
        });
        let shape = AnswerShape { name: "extract_pairs", schema, max_tokens: PAIRS_TOKENS };
        let values = [("title", excerpt.title()), ("sentences", excerpt.to_json()), ("most", json!(MAX_PAIRS))];
        let forms = ShortForms::of(self.lines);
        self.model.ask(PromptUse::ExtractPairs, &values, shape, |answer: Pairs| {
            if answer.pairs.len() > MAX_PAIRS {
                return Err(Refusal::new(format!("there are more than {MAX_PAIRS} pairs")));
            }
            let mut pairs: Vec<Pair> = Vec::new();
            for reported in answer.pairs {
                let pair = self.checked(reported, excerpt, excerpted, &forms)?;
                let is_same = |other: &Pair| {
                    loose_key(&other.found.name) == loose_key(&pair.found.name)
                        && loose_key(&other.task) == loose_key(&pair.task)
                };
                if !pairs.iter().any(is_same) {
                    pairs.push(pair);
                }
            }
            let mut tasks: Vec<String> = pairs.iter().map(|pair| loose_key(&pair.task)).collect();
            tasks.sort_unstable();
            tasks.dedup();
            match tasks.len() > MAX_TASKS {
                true => Err(Refusal::new(format!(
                    "there are more than {MAX_TASKS} tasks: use the same words for the same task"
                ))),
                false => Ok(pairs),
            }
        })
    }

    fn checked(
        &self,
        pair: ReportedPair,
        excerpt: &Excerpt,
        excerpted: &Excerpted,
        forms: &ShortForms,
    ) -> Result<Pair, Refusal> {
        let Some(quoted) = excerpt.get(pair.sentence) else { return Err(no_sentence(pair.sentence, excerpt)) };
        let name = clean(&pair.dataset, NAME_CHARS);
        let Some(found) = name_in(&quoted.text, &name, self.known, forms) else {
            let problem = format!(
                "sentence {} has no data set of the name `{name}`: copy names letter by letter, give the sentence that has \
                 them, and leave out what has no name",
                pair.sentence
            );
            return Err(Refusal::new(problem));
        };
        let task = clean(&pair.task, TASK_CHARS);
        if task.chars().count() < 4 || excerpted.share(&task) < MIN_SHARE {
            return Err(Refusal::new(format!("the task `{task}` is not in the words of the document")));
        }
        let description = clean(&pair.description, DESCRIPTION_CHARS);
        // A description that goes beyond the excerpt is dropped without a repair: the pair is valid without it.
        let description = (excerpted.share(&description) >= MIN_SHARE).then_some(description);
        Ok(Pair { found, task, description, line: quoted.line })
    }

    /// The third step: a name and keywords for each of `tasks`.
    fn named(&self, tasks: &[Task], excerpted: &Excerpted) -> Result<Vec<ReportedTask>, Unanswered> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Tasks {
            tasks: Vec<ReportedTask>,
        }
        let ids: Vec<String> = (1..=tasks.len()).map(|number| format!("t{number}")).collect();
        let item = json!({
            "type": "object",
            "properties": {
                "id": {"type": "string", "enum": ids},
                "name": {"type": "string"},
                "keywords": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_KEYWORDS},
            },
            "required": ["id", "name", "keywords"],
            "additionalProperties": false,
        });
        let schema = json!({
            "type": "object",
            "properties": {"tasks": {"type": "array", "items": item, "minItems": ids.len(), "maxItems": ids.len()}},
            "required": ["tasks"],
            "additionalProperties": false,
        });
        let shape = AnswerShape { name: "extract_keywords", schema, max_tokens: KEYWORDS_TOKENS };
        let about = |(id, task): (&String, &Task)| {
            let datasets: Vec<&str> =
                task.pairs.iter().take(LISTED_DATASETS).map(|pair| pair.found.name.as_str()).collect();
            json!({"id": id, "task": task.text, "datasets": datasets})
        };
        let listed: Vec<Value> = ids.iter().zip(tasks).map(about).collect();
        let summary = clean(&self.lines.summary(), ABSTRACT_CHARS);
        let values = [("title", json!(self.document.title)), ("abstract", json!(summary)), ("tasks", json!(listed))];
        self.model.ask(PromptUse::ExtractKeywords, &values, shape, |answer: Tasks| {
            let mut named: Vec<Option<ReportedTask>> = vec![None; tasks.len()];
            for task in answer.tasks {
                let refuse = |problem: String| Refusal { problem, valid: ids.clone() };
                let Some(place) = ids.iter().position(|id| *id == task.id) else {
                    return Err(refuse(format!("`{}` is not the id of a task", clean(&task.id, SHORT_CHARS))));
                };
                if named[place].is_some() {
                    return Err(refuse(format!("`{}` occurs twice", task.id)));
                }
                named[place] = Some(worded(task, &tasks[place], excerpted)?);
            }
            let missing = named.iter().position(Option::is_none).map(|place| &ids[place]);
            match missing {
                Some(id) => Err(Refusal { problem: format!("`{id}` is missing"), valid: ids.clone() }),
                None => Ok(named.into_iter().flatten().collect()),
            }
        })
    }

    fn extracted(&self, task: Task, named: ReportedTask) -> ExtractedTask {
        let mention = |pair: Pair| DatasetMention {
            name: pair.found.name,
            also: Vec::new(),
            description: pair.description,
            sentence: Some(self.lines.text(pair.line).to_string()),
            section: Some(self.lines.heading(pair.line).to_string()).filter(|heading| !heading.is_empty()),
            record: pair.found.record,
        };
        let datasets = task.pairs.into_iter().map(mention).collect();
        super::task(&named.name, task.text, named.keywords, datasets)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportedPair {
    dataset: String,
    task: String,
    description: String,
    sentence: usize,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct ReportedTask {
    id: String,
    name: String,
    keywords: Vec<String>,
}

fn no_sentence(number: usize, excerpt: &Excerpt) -> Refusal {
    let valid = (1..=excerpt.len()).map(|number| number.to_string()).collect();
    Refusal { problem: format!("there is no sentence {number}"), valid }
}

/// Checks a task's name and keywords: the name must use words of the excerpt; keywords without such a word are dropped.
fn worded(task: ReportedTask, of: &Task, excerpted: &Excerpted) -> Result<ReportedTask, Refusal> {
    let own = Excerpted::of(&of.text);
    let name = clean(&task.name, SHORT_CHARS);
    if f64::max(excerpted.share(&name), own.share(&name)) < MIN_SHARE {
        return Err(Refusal::new(format!("the name `{name}` of `{}` is not in the document's words", task.id)));
    }
    let mut keywords: Vec<String> = Vec::new();
    let names: Vec<String> = of.pairs.iter().map(|pair| loose_key(&pair.found.name)).collect();
    for keyword in task.keywords.iter().map(|keyword| clean(keyword, SHORT_CHARS).to_lowercase()) {
        let key = loose_key(&keyword);
        let is_excerpted = excerpted.share(&keyword) > 0.0 || own.share(&keyword) > 0.0;
        let is_new = !names.contains(&key) && !keywords.iter().any(|known| loose_key(known) == key);
        if is_excerpted && is_new && words(&keyword).next().is_some() && keywords.len() < MAX_KEYWORDS {
            keywords.push(keyword);
        }
    }
    Ok(ReportedTask { id: task.id, name, keywords })
}
