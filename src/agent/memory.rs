//! What a model is told of the conversation so far: the constraints in force, how much was chosen and what was carried out, the
//! latest requests; of a long one also a summary, which a model wrote. Names of tables stay out: who names a file must not have
//! a say in what is searched.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::llm::quote::clean;
use crate::llm::{AnswerShape, LanguageModel, PromptUse, Refusal};
use crate::request::Label;
use crate::session::{Session, Turn};

/// The latest requests, told as they were typed.
const LATEST: usize = 5;
/// Turns before these that are summed up; of fewer there is nothing to sum up.
const LEAST_SUMMED: usize = 5;
/// Turns that a summary is made of at the most.
const MOST_SUMMED: usize = 40;
/// Words of a summary.
const SUMMARY_WORDS: usize = 120;
/// Choices and operations told.
const CHOICES: usize = 8;
/// Characters of a request.
const REQUEST: usize = 300;

/// The conversation before a turn, for a prompt. `model` sums long ones up.
pub fn memory(session: &Session, model: Option<&LanguageModel<'_>>) -> Value {
    let latest = session.turns.len().saturating_sub(LATEST);
    let (older, latest) = session.turns.split_at(latest);
    let standing = session.steps.iter().filter(|step| !step.undone);
    let ran: Vec<String> =
        standing.map(|step| format!("{}: {} rows", step.operation.kind().name(), step.rows)).collect();
    let mut memory = json!({
        "constraints": session.constraints,
        "accepted": session.accepted.len(),
        "rejected": session.rejected.len(),
        "ran": ran[ran.len().saturating_sub(CHOICES)..],
        "requests": latest.iter().map(|turn| clean(&turn.text, REQUEST)).collect::<Vec<_>>(),
    });
    if let (Some(model), true) = (model, older.len() >= LEAST_SUMMED)
        && let Some(summary) = summary(model, session, &older[older.len().saturating_sub(MOST_SUMMED)..])
    {
        memory["summary"] = json!(summary);
    }
    memory
}

fn summary(model: &LanguageModel<'_>, session: &Session, turns: &[Turn]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Summed {
        summary: String,
    }
    let told: Vec<Value> = turns
        .iter()
        .map(|turn| {
            json!({
                "turn": turn.number,
                "request": clean(&turn.text, REQUEST),
                "operation": turn.signals.operation.label.name(),
                "tables": turn.tables.len(),
            })
        })
        .collect();
    let values = [
        ("turns", Value::Array(told)),
        ("constraints", json!(session.constraints)),
        ("most_words", json!(SUMMARY_WORDS)),
    ];
    let schema = json!({
        "type": "object",
        "properties": {"summary": {"type": "string"}},
        "required": ["summary"],
        "additionalProperties": false,
    });
    let shape = AnswerShape { name: "summary", schema, max_tokens: 300 };
    let summed = model.ask(PromptUse::Memory, &values, shape, |answer: Summed| {
        let text = clean(&answer.summary, 1_500);
        match text.split_whitespace().count() {
            0 => Err(Refusal::new("the summary is empty")),
            words if words > SUMMARY_WORDS + SUMMARY_WORDS / 2 => {
                Err(Refusal::new(format!("the summary has {words} words; {SUMMARY_WORDS} are allowed")))
            }
            _ => Ok(text),
        }
    });
    summed.ok()
}
