//! The answer to a turn, as plain types: what `ask --json` prints and what a session keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::narrowing::Narrowing;
use super::record_fact::RecordFact;
use super::summary::Sentence;
use super::task_spec::TaskSpec;
use lakeward_core::answer::in_order;
use lakeward_core::error::{Error, Result};
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message};
use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Input, Label, OperationKind, Signals, in_role};
use lakeward_core::respect::Respect;
use lakeward_search::cite::{Gate, NamesTables};
use lakeward_search::task_search::TaskPath;
use lakeward_search::{JoinAnswer, RecordAnswer, SearchAnswer, UnionAnswer};

/// Characters of a title in a list.
const TITLE_CHARS: usize = 200;

/// The answer to one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    /// What was understood.
    pub signals: Signals,
    /// What a table should be like for that intention.
    pub spec: TaskSpec,
    /// Tables, greatest utility first.
    pub tables: Vec<RankedTable>,
    /// Operations, likeliest first: one of each kind, and other plans that the request may mean.
    pub operations: Vec<RankedOperation>,
    /// Whether the analyst wants the first operation carried out, as "run it" says; whoever talks with him does so with a preview. It is what the turn
    /// before proposed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carry_out: bool,
    /// Whether nothing in the lake seems to answer the request: the tables are but the nearest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_found: bool,
    /// The answer in words: which tables serve and why, what is missing, what to do next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<Sentence>,
    /// What the answers can be narrowed by, where they are records: the most telling field first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowings: Vec<Narrowing>,
    /// What records say, where a turn asks about them: one a record and field. `notes` has each as a line, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<RecordFact>,
    /// What the analyst should know besides: what was left out, what could not be used.
    // The last of them are the lines of `facts`, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Message>,
}

/// Operations with a lower score are not shown.
const LEAST_SCORE: f64 = 0.02;

impl Recommendation {
    /// The operations worth showing, likeliest first; `operation 1` of an answer is the first of them.
    pub fn worth_showing(&self) -> impl Iterator<Item = &RankedOperation> {
        let first = self.operations.first().map(|operation| operation.kind);
        self.operations.iter().filter(move |operation| {
            let empty = operation.runnable.is_none() && operation.question.is_none();
            Some(operation.kind) == first || operation.score >= LEAST_SCORE && !empty
        })
    }

    /// Whether it answers the request: with tables, what can be done or what records say, or with a sentence where it asks or
    /// takes steps back.
    pub fn is_answer(&self) -> bool {
        let asks = |act: &Act| {
            matches!(act, Act::Ask | Act::Compare | Act::Pick | Act::Accept | Act::Undo | Act::Redo | Act::Run)
        };
        let has_any = !self.tables.is_empty() || !self.operations.is_empty() || !self.facts.is_empty();
        let acts = &self.signals.acts;
        !self.nothing_found && (has_any || acts.iter().any(asks))
    }

    /// The plan of operation `number` of those worth showing, from 1.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none with this number, and with what is missing if it cannot be run yet.
    pub fn plan(&self, number: usize) -> Result<&Plan> {
        let Some(operation) = number.checked_sub(1).and_then(|place| self.worth_showing().nth(place)) else {
            let count = self.worth_showing().count();
            return Err(Error::usage(match count {
                0 => message!("there is no operation {}: the answer proposes none", number),
                _ => message!("there is no operation {}: the answer has 1 to {}", number, count),
            }));
        };
        operation.runnable.as_ref().ok_or_else(|| {
            let unmet = operation.preconditions.iter().filter(|precondition| !precondition.met);
            let unmet: Vec<&Message> = unmet.map(|precondition| &precondition.what).collect();
            let why = if unmet.is_empty() { operation.reason.clone() } else { Message::list(CLAUSES, unmet) };
            Error::usage(message!(
                "operation {} ({}) cannot be run yet: {}",
                number,
                Message::name(operation.kind.name()),
                why
            ))
        })
    }
}

/// A note of an answer, as what it was made from.
#[derive(Debug, Clone, Copy)]
pub enum Note<'a> {
    /// What a record says; [`Recommendation::notes`] has its line.
    Fact(&'a RecordFact),
    /// Any other sentence.
    Sentence(&'a Message),
}

impl Recommendation {
    /// Adds what records say, each with its line.
    pub(crate) fn add_facts(&mut self, facts: Vec<RecordFact>) {
        self.notes.extend(facts.iter().map(|fact| Message::from(fact.line())));
        self.facts.extend(facts);
    }

    /// The notes in their order, those that are lines of facts as the facts.
    pub fn typed_notes(&self) -> impl Iterator<Item = Note<'_>> {
        let sentences = self.notes[..self.sentences()].iter().map(Note::Sentence);
        sentences.chain(self.facts.iter().map(Note::Fact))
    }

    /// How many notes come before the lines of facts.
    fn sentences(&self) -> usize {
        self.notes.len().saturating_sub(self.facts.len())
    }
}

impl NamesTables for Recommendation {
    /// Tables, operations and choices lose what is not in the catalogue; a question that a model put in words that name other
    /// data is asked as it was computed.
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        let before = gate.taken();
        self.tables.pass(gate)?;
        let names = names_in(self);
        for operation in &mut self.operations {
            operation.pass_with(gate, &names)?;
        }
        let mut passed = Vec::with_capacity(self.summary.len());
        for sentence in std::mem::take(&mut self.summary) {
            match sentence.passes(gate, &names)? {
                true => passed.push(sentence),
                false => gate.count(1),
            }
        }
        self.summary = passed;
        self.notes.truncate(self.sentences());
        for note in &mut self.notes {
            let passed = gate.identifiers(note, &[])?;
            if passed != **note {
                *note = passed.into();
            }
        }
        // What a record says of other works is quoted from it.
        let mut facts = Vec::with_capacity(self.facts.len());
        for fact in std::mem::take(&mut self.facts) {
            match gate.has(&fact.record)? {
                true => facts.push(fact),
                false => gate.count(1),
            }
        }
        let taken = gate.taken() - before;
        if taken > 0 {
            let what = Message::counted(taken as u64, "name");
            self.notes.push(message!("kept back: {} of data that the catalogue does not have", what));
        }
        self.add_facts(facts);
        Ok(true)
    }
}

/// What the answer itself says of its tables: titles, columns, demands. A question may name these.
fn names_in(answer: &Recommendation) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for table in &answer.tables {
        names.push(table.title.clone());
        names.extend(table.evidence.search.iter().flat_map(|found| found.columns.iter().cloned()));
        names.extend(table.evidence.join.iter().map(|found| found.column.clone()));
    }
    names.extend(in_role(&answer.signals.demands, &Respect::Column).map(str::to_string));
    names
}

impl RankedOperation {
    fn pass_with(&mut self, gate: &Gate<'_>, names: &[String]) -> Result<()> {
        let inputs = self.runnable.as_ref().map(Plan::inputs).unwrap_or_default();
        let reads = |table: &String| inputs.iter().any(|input| input.table() == Some(table.as_str()));
        // What works on one table works on the one at hand, which need not be the lake's: a file, the result of a step.
        let is_own = |table: &String| !inputs.is_empty() && !self.kind.combines() && !reads(table);
        if let Some(table) = &self.table
            && !is_own(table)
            && !gate.has(table)?
        {
            gate.count(1);
            self.table = None;
        }
        let mut is_there = true;
        for table in inputs.into_iter().filter_map(Input::table) {
            is_there &= gate.has(table)?;
        }
        if !is_there {
            gate.count(1);
            (self.runnable, self.sql) = (None, None);
        }
        let Some(question) = &mut self.question else { return Ok(()) };
        for choice in &mut question.choices {
            choice.tables = there(gate, std::mem::take(&mut choice.tables))?;
        }
        let Some(computed) = question.computed.clone() else { return Ok(()) };
        let labels = question.choices.iter().map(|choice| &*choice.label);
        let grounds: Vec<&str> = labels.chain(names.iter().map(String::as_str)).chain([&*computed]).collect();
        if !gate.admits_text(&question.text, &grounds)? {
            gate.count(1);
            // The reason is the question.
            if self.reason == question.text {
                self.reason = computed.clone();
            }
            question.text = computed;
            question.computed = None;
        }
        Ok(())
    }
}

/// Those of `tables` that are in the catalogue.
fn there(gate: &Gate<'_>, tables: Vec<String>) -> Result<Vec<String>> {
    let mut kept = Vec::with_capacity(tables.len());
    for table in tables {
        match gate.has(&table)? {
            true => kept.push(table),
            false => gate.count(1),
        }
    }
    Ok(kept)
}

impl NamesTables for RankedTable {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        gate.has(&self.table)
    }
}

/// A table with its utility.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct RankedTable {
    /// Its id.
    pub table: String,
    /// What it is cited by: the publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub citation: String,
    /// Where it is on the web, where its citation is no address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Its title.
    pub title: String,
    /// Whether it is a record of a catalogue: its data is not in the lake, and no operation can use it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Its rows; those read where it was sampled; 0 for a record.
    pub rows: u64,
    /// Its columns.
    pub columns: usize,
    /// The operation it serves best.
    pub operation: OperationKind,
    /// Why it stands where it stands.
    pub utility: Utility,
    /// How well it meets the task specification.
    pub fit: IntentionFit,
    /// What the searches found.
    pub evidence: Evidence,
    /// Whether the analyst accepted it earlier.
    #[serde(default)]
    pub accepted: bool,
    /// Its rank by the language model, from 1, where one ordered the tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_rank: Option<usize>,
    /// The answer in one line.
    pub reason: Message,
}

impl Listed for RankedTable {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Id(|ranked| &ranked.table)),
        column("utility", ListCell::Figure(2, |ranked| ranked.utility.total)),
        column("rows", ListCell::Count(|ranked| (!ranked.record).then_some(ranked.rows))),
        column(
            "for",
            ListCell::Text(REASON_CHARS, |ranked| if ranked.record { "–" } else { ranked.operation.name() }.into()),
        ),
        column("why", ListCell::Message(REASON_CHARS, |ranked| &ranked.reason)),
    ];
}

impl RankedTable {
    /// The columns of a list of records alone: their ids say nothing to people, and nothing is known of rows.
    pub const RECORD_COLUMNS: &'static [ListColumn<Self>] = &[
        column("record", ListCell::Id(|ranked| &ranked.table)),
        column("title", ListCell::Text(TITLE_CHARS, |ranked| ranked.title.as_str().into())),
        column("cite", ListCell::Text(TITLE_CHARS, |ranked| ranked.cited().into())),
        column("utility", ListCell::Figure(2, |ranked| ranked.utility.total)),
        column("why", ListCell::Message(REASON_CHARS, |ranked| &ranked.reason)),
    ];
}

impl RankedTable {
    /// Its citation and its address, if that is another.
    pub fn cited(&self) -> String {
        self.link.as_ref().map_or_else(|| self.citation.clone(), |link| format!("{} {link}", self.citation))
    }
}

/// AIDEN's Eq. 4 (Taha, 2026): U(T, O) = α·Rel + β·Int + γ·Opt, each part and the sum in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utility {
    /// Rel(T, q): how well the table answers request and query table.
    pub relevance: f64,
    /// Int(T, U): how well it meets the task specification.
    pub intention: f64,
    /// Opt(O, o, s): how appropriate the operation is with this table.
    pub operation: f64,
    /// The weighted sum.
    pub total: f64,
}

/// AIDEN's Eq. 3 (Taha, 2026) with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntentionFit {
    /// Whether a row is what the intention needs a row to be.
    pub granularity: Match,
    /// Whether there are as many informative columns as it needs.
    pub richness: Match,
    /// Whether it goes with the working table, where it must.
    pub compatibility: Match,
    /// The explicit constraints, by name; they enter the graded score only.
    #[serde(default)]
    pub constraints: Vec<(String, Match)>,
    /// The paper's form: the share of the three that are met: 0, ⅓, ⅔ or 1.
    pub paper: f64,
    /// The mean grade of the three and of the explicit constraints, 0..=1.
    pub graded: f64,
}

/// A check with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// Whether it is met.
    pub met: bool,
    /// How well, 0..=1.
    pub grade: f64,
    /// What was seen, in a clause.
    pub evidence: Message,
}

/// What the searches found out about a table; each only where it was asked and found it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct Evidence {
    /// By words and meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchAnswer>,
    /// By shared key values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinAnswer>,
    /// By alignable columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub union: Option<UnionAnswer>,
    /// By what is wanted of the catalogue's records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordAnswer>,
    /// By the tasks that it served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskEvidence>,
}

/// What a graph of tasks says for a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEvidence {
    /// How far the tasks it served fit the request, 0..=1: of the best dataset as far as the graph knows the request's words.
    pub share: f64,
    /// The way from the request to the table.
    pub path: TaskPath,
    /// The way in a sentence.
    pub reason: String,
}

/// An operation with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct RankedOperation {
    /// What to do.
    pub kind: OperationKind,
    /// The probability, 0..=1, that it is what is wanted; those of one answer sum to 1 at most.
    pub score: f64,
    /// The probability that the request asks for it.
    pub asked: f64,
    /// Whether it is what the request says, not a suggestion: until it is carried out, the next request goes on from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requested: bool,
    /// What has to hold for it.
    pub preconditions: Vec<Precondition>,
    /// The table it would use besides the working table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// How its result is made, where all is known: the plan of the working table with what the operation does to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable: Option<Plan>,
    /// The SQL that running it would execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// The question to answer first, for [`OperationKind::Clarify`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Why, in one line.
    pub reason: Message,
}

/// Something that has to hold for an operation to make sense.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precondition {
    /// Whether it holds.
    pub met: bool,
    /// What was looked for and found, in a clause.
    pub what: Message,
}

/// A question whose answers split the candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    pub text: Message,
    /// The question as it was computed, where a language model put it in other words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<Message>,
    /// The answers to choose from, numbered from 1 for the analyst.
    pub choices: Vec<Choice>,
    /// How much an answer tells, in bits, weighing candidates by utility.
    pub information: f64,
}

impl Question {
    /// The question as it was computed.
    pub fn computed(&self) -> &Message {
        self.computed.as_ref().unwrap_or(&self.text)
    }
}

/// An answer to a question and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionChoice", transform = in_order::<Self>)]
pub struct Choice {
    /// As shown.
    pub label: Message,
    /// The operation it stands for, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationKind>,
    /// The tables it keeps; empty keeps all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
}
