//! What a language model adds to a turn: a voice beside the computed signals and the computed order, and better words for a
//! question. Each answer is one of a closed set; without it the turn is what it would have been.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::agentic::card::Card;
use crate::agentic::listwise::{self, Asked, Order};
use crate::recommend::Question;
use lakeward_core::request::{Demand, Demanded, Intention, Label, OperationKind, Ranked};
use lakeward_core::role::Role;
use lakeward_core::store::BlobCache;
use lakeward_core::text::on_one_line;
use lakeward_models::llm::{AnswerShape, Chat, LanguageModel, PromptUse, Prompts, Refusal};
use lakeward_reading::catalogue::Vocabulary;
use lakeward_search::QueryTable;

/// Columns of the table at hand that a model is told of.
const COLUMNS: usize = 30;
/// Characters of a request that it is told.
const REQUEST: usize = 1_500;
/// Characters of an earlier request.
const EARLIER: usize = 300;
/// Words of a reworded question.
const QUESTION_WORDS: usize = 40;

/// A model that an agent may ask.
#[derive(Clone, Copy)]
pub struct ModelAccess<'a> {
    /// The model.
    pub chat: &'a dyn Chat,
    /// What it is asked with.
    pub prompts: &'a Prompts,
    /// Where its answers are kept.
    pub cache: Option<&'a BlobCache>,
}

/// Operation and intention as a model reads a request with the ones before it, oldest first; `None` where it gives no valid
/// answer. It is told nothing of tables: headers would have a say in what is to be done.
pub fn signals(model: &LanguageModel<'_>, text: &str, earlier: &[&str]) -> Option<(OperationKind, Intention)> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Read {
        operation: String,
        intention: String,
    }
    let cut = |text: &str, most| lakeward_models::llm::quote::clean(text, most);
    let values = [
        ("conversation", json!(earlier.iter().map(|text| cut(text, EARLIER)).collect::<Vec<_>>())),
        ("request", json!(cut(text, REQUEST))),
    ];
    let names = |all: Vec<&'static str>| json!({"type": "string", "enum": all});
    let operations: Vec<&str> = OperationKind::ALL.iter().map(|kind| kind.name()).collect();
    let intentions: Vec<&str> = Intention::ALL.iter().map(|intention| intention.name()).collect();
    let schema = json!({
        "type": "object",
        "properties": {"operation": names(operations), "intention": names(intentions)},
        "required": ["operation", "intention"],
        "additionalProperties": false,
    });
    let shape = AnswerShape { name: "signals", schema, max_tokens: 60 };
    let read = model.ask(PromptUse::Signals, &values, shape, |read: Read| {
        Ok((label::<OperationKind>(&read.operation)?, label::<Intention>(&read.intention)?))
    });
    read.ok()
}

/// What a model finds a request to want of the catalogue besides what was read: each demand in words of the request, in a value that the
/// catalogue has, and in a role of which nothing was read. Only inferred: it leaves nothing out.
pub fn demands(
    model: &LanguageModel<'_>,
    text: &str,
    earlier: &[&str],
    vocabulary: &Vocabulary,
    (read, turn): (&[Demand], usize),
) -> Vec<Demand> {
    const MOST: usize = 8;
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Element {
        about: String,
        words: String,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Elements {
        elements: Vec<Element>,
    }
    // Fields that the publishers named themselves stay out: their names are text of the catalogue.
    let roles = vocabulary.roles().filter(|role| !matches!(role, Role::Other(_))).map(Role::name);
    let abouts: Vec<&str> = roles.collect();
    let cut = |text: &str, most| lakeward_models::llm::quote::clean(text, most);
    let values = [
        ("conversation", json!(earlier.iter().map(|text| cut(text, EARLIER)).collect::<Vec<_>>())),
        ("abouts", json!(abouts)),
        ("request", json!(cut(text, REQUEST))),
    ];
    let element = json!({
        "type": "object",
        "properties": {"about": {"type": "string", "enum": abouts}, "words": {"type": "string"}},
        "required": ["about", "words"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": {"elements": {"type": "array", "items": element, "maxItems": MOST}},
        "required": ["elements"],
        "additionalProperties": false,
    });
    let shape = AnswerShape { name: "intent", schema, max_tokens: 300 };
    let said = on_one_line(text).to_lowercase();
    let answered = model.ask(PromptUse::Intent, &values, shape, |answer: Elements| {
        for element in &answer.elements {
            let words = on_one_line(&element.words).to_lowercase();
            if words.is_empty() || !said.contains(&words) {
                return Err(Refusal::new("an element has words that the request does not have"));
            }
            if !abouts.contains(&element.about.as_str()) {
                let valid = abouts.iter().map(|about| about.to_string()).collect();
                return Err(Refusal { problem: "an element is about something else".into(), valid });
            }
        }
        Ok(answer.elements)
    });
    let elements = answered.unwrap_or_default().into_iter().take(MOST);
    let demands = elements.filter_map(|Element { about, words }| {
        let demand = Demand::said(Role::from(about), cut(&words, EARLIER), turn);
        if read.iter().any(|known| known.role == demand.role) {
            return None;
        }
        let grounded = vocabulary.grounded(demand);
        (grounded.value != Demanded::Said).then_some(Demand { hard: false, ..grounded })
    });
    demands.collect()
}

fn label<L: Label>(name: &str) -> Result<L, Refusal> {
    let found = L::ALL.iter().copied().find(|label| label.name() == name);
    found.ok_or_else(|| Refusal {
        problem: format!("`{name}` is no label"),
        valid: L::ALL.iter().map(|label| label.name().to_string()).collect(),
    })
}

/// Probabilities in which a model's label has this weight: (1 − voice)·p + voice for its label.
pub fn with_voice<L: Label>(computed: &Ranked<L>, said: L, voice: f64) -> Ranked<L> {
    let voice = voice.clamp(0.0, 1.0);
    let mixed = |(label, p): &(L, f64)| (*label, (1.0 - voice) * p + if *label == said { voice } else { 0.0 });
    let mut all: Vec<(L, f64)> = computed.all.iter().map(mixed).collect();
    // The sort is stable: ties stay as computed.
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    match all.first() {
        Some((label, confidence)) => Ranked { label: *label, confidence: *confidence, all },
        None => computed.clone(),
    }
}

/// The model's order of candidates, if it gives a valid one.
pub fn order(model: &LanguageModel<'_>, asked: &Asked<'_>, cards: &[Card]) -> Option<Order> {
    if cards.len() < 2 { None } else { listwise::order(model, asked, cards).ok() }
}

/// The table at hand as a model is told of it: its name and columns; null for none.
pub fn table_at_hand(table: Option<&QueryTable>) -> Value {
    table.map_or(Value::Null, |table| {
        let columns: Vec<&str> =
            table.entry.profile.columns.iter().take(COLUMNS).map(|column| column.name.as_str()).collect();
        json!({"name": table.entry.id.as_str(), "columns": columns})
    })
}

/// A question in better words; its choices stay. The question itself where the model has none.
pub fn reworded(model: &LanguageModel<'_>, request: &str, question: &Question) -> String {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Reworded {
        question: String,
    }
    let choices: Vec<Value> =
        (1..).zip(&question.choices).map(|(id, choice)| json!({"id": id, "label": choice.label})).collect();
    let values = [
        ("request", json!(lakeward_models::llm::quote::clean(request, REQUEST))),
        ("question", json!(question.text)),
        ("choices", Value::Array(choices)),
    ];
    let schema = json!({
        "type": "object",
        "properties": {"question": {"type": "string"}},
        "required": ["question"],
        "additionalProperties": false,
    });
    let shape = AnswerShape { name: "question", schema, max_tokens: 120 };
    let reworded = model.ask(PromptUse::Clarify, &values, shape, |answer: Reworded| {
        let text = lakeward_models::llm::quote::clean(&answer.question, 400);
        let words = text.split_whitespace().count();
        match () {
            () if !text.ends_with('?') => Err(Refusal::new("it is no question: it does not end with `?`")),
            () if !(3..=QUESTION_WORDS).contains(&words) => Err(Refusal::new("it must have 3 to 30 words")),
            // A link or markup is not the model's to give.
            () if text.contains("://") || text.contains(['`', '<', '>', '[', '|']) => {
                Err(Refusal::new("it holds a link or markup"))
            }
            () => Ok(text),
        }
    });
    reworded.unwrap_or_else(|_| question.text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_turns_what_is_undecided() {
        let ranked = |join: f64| Ranked {
            label: OperationKind::Filter,
            confidence: 1.0 - join,
            all: vec![(OperationKind::Filter, 1.0 - join), (OperationKind::Join, join)],
        };
        assert_eq!(with_voice(&ranked(0.4), OperationKind::Join, 0.3).label, OperationKind::Join);
        assert_eq!(with_voice(&ranked(0.1), OperationKind::Join, 0.3).label, OperationKind::Filter);
        assert_eq!(with_voice(&ranked(0.4), OperationKind::Join, 0.0), ranked(0.4));
    }
}
