//! The answer in words: which datasets serve, what is missing, what to do next. Each sentence rests on evidence that the answer has; what a
//! language model writes without evidence is struck out, and without a model, or where nothing of its text is left, a template speaks.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::recommendation::{RankedOperation, RankedTable, Recommendation};
use crate::agentic::card::Found;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message, PARTS};
use lakeward_core::request::{Label, OperationKind, in_role};
use lakeward_core::respect::Respect;
use lakeward_core::text::lower_words;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse};
use lakeward_search::cite::Gate;

/// Tables that a model is told of.
const TABLES: usize = 5;
/// Sentences and their words, at most.
const SENTENCES: usize = 4;
const WORDS: usize = 50;
/// Characters of a request, of one said before, of a title and of a piece of evidence.
const REQUEST: usize = 1_000;
const EARLIER: usize = 200;
const TITLE: usize = 90;
const EVIDENCE: usize = 240;
/// A word of fewer letters ties no sentence to its evidence.
const TELLING: usize = 4;
/// From this share of the best utility on a table serves about as well …
const EQUAL: f64 = 0.9;
/// … and below this one it does not come near.
const BEHIND: f64 = 0.75;
/// A table is likely to serve from this utility on.
const LIKELY: f64 = 0.5;
/// Tables that a template names.
const NAMED: usize = 3;

/// A sentence of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sentence {
    /// The sentence.
    pub text: Message,
    /// What it is about.
    pub about: About,
    /// The ids of the tables it speaks of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<String>,
    /// What it rests on, as the answer says it; never empty.
    pub evidence: Vec<Message>,
    /// Whether a language model wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_model: bool,
}

/// What a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// What serves, and why.
    Serves,
    /// What is missing.
    Missing,
    /// What to do next.
    Next,
}

impl Sentence {
    /// The sentence with what it cites; the text of a template names it.
    pub fn cited(&self) -> Message {
        match self.by_model && !self.cites.is_empty() {
            true => message!("{} [{}]", &self.text, self.cites.join(", ")),
            false => self.text.clone(),
        }
    }

    /// Whether the catalogue has what it speaks of, and it names nothing else.
    pub(super) fn passes(&self, gate: &Gate<'_>, names: &[String]) -> Result<bool> {
        for id in &self.cites {
            if !gate.has(id)? {
                return Ok(false);
            }
        }
        let grounds: Vec<&str> = self
            .evidence
            .iter()
            .map(Message::as_str)
            .chain(self.cites.iter().chain(names).map(String::as_str))
            .collect();
        Ok(!self.by_model || gate.admits_text(&self.text, &grounds)?)
    }
}

/// A piece of evidence as a model is told it.
struct Piece {
    id: String,
    says: String,
    /// The same for the analyst, where the model must not see all of it.
    whole: String,
    /// The place of the table that it is about.
    table: Option<usize>,
    about: About,
}

/// What is missing from all tables that are shown: the name of the constraint and what was looked for and found.
fn missing(answer: &Recommendation) -> Vec<(&str, &Message)> {
    let Some(first) = answer.tables.first() else { return Vec::new() };
    let unmet_in = |table: &RankedTable, name: &str| {
        table.fit.constraints.iter().any(|(other, check)| other == name && !check.met)
    };
    let constraints = first.fit.constraints.iter();
    // Columns that no table has are no lack where the first operation joins what brings them, or computes what was asked for: "average".
    let quotes = |what: &Message, words: &str| {
        what.made_of().is_some_and(|made_of| made_of.parts.iter().any(|part| part.contains(words)))
    };
    let is_doubted = |operation: &RankedOperation, words: &str| {
        operation.preconditions.iter().any(|part| !part.met && quotes(&part.what, words))
    };
    let brings = answer.worth_showing().next().filter(|first| first.runnable.is_some()).is_some_and(|first| {
        let mut columns = in_role(&answer.signals.demands, &Respect::Column);
        let computes = first.requested && first.kind == OperationKind::Aggregate;
        first.kind.combines() || (computes && !columns.any(|words| is_doubted(first, words)))
    });
    let nowhere = constraints
        .filter(|(name, _)| !(brings && name == "columns") && answer.tables.iter().all(|table| unmet_in(table, name)));
    nowhere.map(|(name, check)| (name.as_str(), &check.evidence)).collect()
}

/// What can be done now, and the tables it uses; without its reason where no value may be told, as that can name some.
fn next_step(answer: &Recommendation, share: Share) -> Option<(Message, Vec<String>)> {
    let first = answer.worth_showing().next()?;
    let says = match (&first.question, share) {
        (Some(question), _) => question.computed().clone(),
        (None, Share::Values) => first.reason.clone(),
        (None, Share::Schema) => first.kind.name().to_lowercase().into(),
    };
    (!says.trim().is_empty()).then(|| (says, first.table.iter().cloned().collect()))
}

/// The answer by template: of tables that are likely to serve only, and not where a table is at hand: what is done with it says so itself.
pub fn by_template(answer: &Recommendation, is_at_hand: bool) -> Vec<Sentence> {
    let Some(best) = answer.tables.first().filter(|_| !is_at_hand) else { return Vec::new() };
    let sentence = |about, text: Message, cites: Vec<String>, evidence: Vec<Message>| Sentence {
        text,
        about,
        cites,
        evidence,
        by_model: false,
    };
    let share = |table: &RankedTable| table.utility.total / best.utility.total.max(f64::MIN_POSITIVE);
    let equal: Vec<&RankedTable> = answer.tables.iter().take_while(|table| share(table) >= EQUAL).collect();
    let named: Vec<Message> = equal.iter().take(NAMED).map(|table| message!("`{}`", &table.table)).collect();
    let second = answer.tables.get(1);
    let text = match (answer.nothing_found, named.split_last(), second) {
        (true, ..) => message!("Nothing in the lake seems to answer this; `{}` comes nearest.", &best.table),
        _ if best.utility.total < LIKELY => message!("`{}` comes nearest; it may not be what is wanted.", &best.table),
        (_, Some((last, before)), _) if !before.is_empty() => {
            let before = Message::list(PARTS, before);
            match equal.len().saturating_sub(NAMED) {
                0 => message!("{} and {} serve about equally well.", before, last),
                more => message!("{} and {}, and {} more serve about equally well.", before, last, more),
            }
        }
        (_, _, Some(second)) if share(second) >= BEHIND => {
            message!("`{}` serves best, `{}` next.", &best.table, &second.table)
        }
        _ => message!("`{}` serves best, far ahead of all others.", &best.table),
    };
    let cited: Vec<&RankedTable> = if equal.len() > 1 { equal.into_iter().take(NAMED).collect() } else { vec![best] };
    let cites = cited.iter().map(|table| table.table.clone()).collect();
    let evidence = cited.iter().map(|table| table.reason.clone()).collect();
    let mut sentences = vec![sentence(About::Serves, text, cites, evidence)];
    let missing: Vec<Message> =
        missing(answer).into_iter().map(|(name, evidence)| message!("{}: {}", Message::name(name), evidence)).collect();
    if !missing.is_empty() {
        let text = message!("None of them has everything you asked for ({}).", Message::list(CLAUSES, &missing));
        sentences.push(sentence(About::Missing, text, Vec::new(), missing));
    }
    if let Some((says, tables)) = next_step(answer, Share::Values) {
        sentences.push(sentence(
            About::Next,
            message!("Next: {}", says.strip_suffix('.').map_or_else(|| says.clone(), Message::from)),
            tables,
            vec![says],
        ));
    }
    sentences
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    sentences: Vec<WrittenSentence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSentence {
    text: String,
    tables: Vec<String>,
    evidence: Vec<String>,
}

/// The answer as a model writes it, and how many of its sentences were struck out; `None` where nothing of it is left. What it is told of has
/// values of cells only if they may be shared.
pub fn by_model(
    (model, share): (&LanguageModel<'_>, Share),
    (request, earlier): (&str, &[&str]),
    answer: &Recommendation,
    described: &dyn Fn(&str) -> String,
) -> Option<(Vec<Sentence>, usize)> {
    let first = &answer.tables[..answer.tables.len().min(TABLES)];
    let mut pieces: Vec<Piece> = Vec::new();
    let mut add = |says: &str, whole: &str, table: Option<usize>, about: About| {
        let (says, whole) = (clean(says, EVIDENCE), clean(whole, EVIDENCE));
        if !says.is_empty() {
            let letter = ["e", "m", "n"][about as usize];
            pieces.push(Piece { id: format!("{letter}{}", pieces.len() + 1), says, whole, table, about });
        }
    };
    for (place, table) in first.iter().enumerate() {
        // A record has no cells: its reason is of what its publisher says.
        let reason = match share {
            Share::Schema if !table.record => Found::from(&table.evidence).without_values().join("; "),
            _ => table.reason.to_string(),
        };
        add(&reason, &table.reason, Some(place), About::Serves);
        let described = described(&table.table);
        add(&described, &described, Some(place), About::Serves);
    }
    for (name, evidence) in missing(answer) {
        let whole = format!("{name}: {evidence}");
        add(if share == Share::Values { &whole } else { name }, &whole, None, About::Missing);
    }
    if answer.nothing_found {
        let nothing = "nothing in the lake seems to answer the request; the tables are but the nearest";
        add(nothing, nothing, None, About::Missing);
    }
    let next = next_step(answer, share);
    if let Some((says, _)) = &next {
        let whole = next_step(answer, Share::Values).map_or_else(Message::default, |(whole, _)| whole);
        add(says, &whole, None, About::Next);
    }
    let joined: Vec<String> = next.into_iter().flat_map(|(_, tables)| tables).collect();
    let evidence_of = |about: About, table: Option<usize>| -> Vec<Value> {
        let of = pieces.iter().filter(|piece| piece.about == about && piece.table == table);
        of.map(|piece| json!({"id": piece.id, "says": piece.says})).collect()
    };
    let tables: Vec<Value> = first
        .iter()
        .enumerate()
        .map(|(place, table)| {
            let evidence = evidence_of(About::Serves, Some(place));
            json!({"id": format!("t{}", place + 1), "title": clean(&table.title, TITLE), "evidence": evidence})
        })
        .collect();
    let earlier: Vec<String> = earlier.iter().map(|text| clean(text, EARLIER)).collect();
    let values = [
        ("earlier", json!(earlier)),
        ("request", json!(clean(request, REQUEST))),
        ("tables", Value::Array(tables)),
        ("missing", Value::Array(evidence_of(About::Missing, None))),
        ("next", Value::Array(evidence_of(About::Next, None))),
    ];
    let shape = AnswerShape { name: "answer", schema: schema(), max_tokens: 400 };
    let written = model.ask(PromptUse::Answer, &values, shape, |written: Written| Ok(written.sentences)).ok()?;
    let count = written.len();
    let grounded = written
        .into_iter()
        .take(SENTENCES)
        .filter_map(|sentence| grounded(sentence, first, (&pieces, &joined), request));
    let sentences: Vec<Sentence> = grounded.collect();
    let struck = count - sentences.len();
    (!sentences.is_empty()).then_some((sentences, struck))
}

/// A written sentence with what it rests on; `None` for one that its evidence does not bear. What comes next speaks of the tables `joined` too.
fn grounded(
    written: WrittenSentence,
    tables: &[RankedTable],
    (pieces, joined): (&[Piece], &[String]),
    request: &str,
) -> Option<Sentence> {
    let text = clean(&written.text, 600);
    let is_plain = !text.contains("://") && !text.contains(['`', '<', '>', '[', '|']);
    if !is_plain || text.split_whitespace().count() > WORDS {
        return None;
    }
    let place =
        |id: &String| id.strip_prefix('t')?.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < tables.len());
    let cited: BTreeSet<usize> = written.tables.iter().map(place).collect::<Option<_>>()?;
    let rests: Vec<&Piece> = written
        .evidence
        .iter()
        .map(|id| pieces.iter().find(|piece| piece.id == *id && piece.table.is_none_or(|table| cited.contains(&table))))
        .collect::<Option<_>>()?;
    let about = rests.iter().map(|piece| piece.about).min_by_key(|about| *about as usize)?;
    // Who speaks of a table rests on something about it.
    let speaks = |at: &usize| rests.iter().any(|piece| piece.table == Some(*at));
    if about == About::Serves && (cited.is_empty() || !cited.iter().all(speaks)) {
        return None;
    }
    let titles = cited.iter().map(|at| tables[*at].title.as_str());
    let known: BTreeSet<String> =
        rests.iter().map(|piece| piece.says.as_str()).chain(titles).flat_map(lower_words).collect();
    let asked: BTreeSet<String> = lower_words(request).collect();
    let words: Vec<String> = lower_words(&text).collect();
    let is_number = |word: &&String| word.chars().any(|c| c.is_ascii_digit());
    let invents = words.iter().filter(is_number).any(|word| !known.contains(word) && !asked.contains(word));
    let tied = words.iter().any(|word| word.chars().count() >= TELLING && known.contains(word));
    let mut cites: Vec<String> = cited.into_iter().map(|at| tables[at].table.clone()).collect();
    if rests.iter().any(|piece| piece.about == About::Next) {
        let more: Vec<String> = joined.iter().filter(|id| !cites.contains(id)).cloned().collect();
        cites.extend(more);
    }
    (tied && !invents).then(|| Sentence {
        text: text.into(),
        about,
        cites,
        evidence: rests.into_iter().map(|piece| (&piece.whole).into()).collect(),
        by_model: true,
    })
}

fn schema() -> Value {
    let ids = json!({"type": "array", "items": {"type": "string"}, "maxItems": 8});
    json!({
        "type": "object",
        "properties": {"sentences": {
            "type": "array",
            "minItems": 1,
            "maxItems": SENTENCES,
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "tables": ids, "evidence": ids},
                "required": ["text", "tables", "evidence"],
                "additionalProperties": false,
            },
        }},
        "required": ["sentences"],
        "additionalProperties": false,
    })
}
