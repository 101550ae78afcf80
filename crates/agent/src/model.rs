//! What a language model adds to a turn besides its reading: a voice in the computed order, and better words for a question. Each answer is
//! one of a closed set; without it the turn is what it would have been.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::agentic::card::Card;
use crate::agentic::listwise::{self, OrderRequest};
use crate::recommend::Question;
use lakeward_core::request::{Label, Ranked};
use lakeward_core::store::BlobCache;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::listwise::Order;
use lakeward_models::llm::{AnswerShape, Chat, LanguageModel, PromptUse, Prompts, Refusal};
use lakeward_search::QueryTable;

/// Columns of the table at hand that a model is told of.
const COLUMNS: usize = 30;
/// Characters of a request that it is told.
const REQUEST: usize = 1_500;
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
pub fn order(model: &LanguageModel<'_>, asked: &OrderRequest<'_>, cards: &[Card]) -> Option<Order> {
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

/// A question in better words; its choices stay, and are told only if values may be: places are some. The question itself where the model has
/// none.
pub fn reworded((model, share): (&LanguageModel<'_>, Share), request: &str, question: &Question) -> String {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Reworded {
        question: String,
    }
    let told = question.choices.iter().filter(|_| share == Share::Values);
    let choices: Vec<Value> = (1..).zip(told).map(|(id, choice)| json!({"id": id, "label": choice.label})).collect();
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
    reworded.unwrap_or_else(|_| question.text.to_string())
}

#[cfg(test)]
mod tests {
    use lakeward_core::request::OperationKind;

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
