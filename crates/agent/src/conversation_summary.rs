//! What a model is told of the conversation so far: what is wanted, how much was chosen and what was carried out, the
//! latest requests; of a long one also a summary, which a model wrote. Names of tables stay out: who names a file must not have
//! a say in what is searched.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::session::{Retrieval, Session, Turn};
use lakeward_core::request::{Demand, Label};
use lakeward_core::respect::Respect;
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse, Refusal};

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
/// Characters of the words of an element in force.
const DEMAND_CHARS: usize = 160;
/// Bytes of JSON that make a token, as [`lakeward_models::llm::ChatCall::estimated_tokens`] counts.
const BYTES_A_TOKEN: usize = 3;

/// The conversation before a turn, for a prompt, in at most `max_tokens` tokens as they are estimated. `model` sums long ones up.
///
/// What is in force is told whatever else has to go: first the oldest requests go, then what was found, the summary, what ran,
/// the oldest topics; in the end texts are cut short.
pub fn memory(session: &Session, max_tokens: usize, model: Option<&LanguageModel<'_>>) -> Value {
    let turns = session.remembered();
    let (older, latest) = turns.split_at(turns.len().saturating_sub(LATEST));
    let standing = session.steps.iter().filter(|step| !step.undone);
    let ran: Vec<String> = standing.map(|step| format!("{}: {} rows", step.plan.kind().name(), step.rows)).collect();
    let mut memory = json!({
        "wanted": demand_items(&session.demands, DEMAND_CHARS),
        "accepted": session.accepted.len(),
        "rejected": session.rejected.len(),
        "ran": ran[ran.len().saturating_sub(CHOICES)..],
        "requests": latest.iter().map(|turn| clean(&turn.text, REQUEST)).collect::<Vec<_>>(),
    });
    if !session.retrievals.is_empty() {
        memory["found"] = session.retrievals.iter().map(found).collect();
    }
    if let (Some(model), true) = (model, older.len() >= LEAST_SUMMED)
        && let Some(summary) = summary(model, session, &older[older.len().saturating_sub(MOST_SUMMED)..])
    {
        memory["summary"] = json!(summary);
    }
    fitted(memory, &session.demands, max_tokens)
}

/// What is in force, as the user said it: neither values nor field names of the catalogue, whose publishers must not have a
/// say in what is searched.
fn demand_items(demands: &[Demand], characters: usize) -> Value {
    let demand = |demand: &Demand| {
        let role = match &demand.role {
            Respect::Other(_) => "other",
            role => role.name(),
        };
        json!({
            "about": role,
            "words": clean(&demand.said, characters),
            "wanted": !demand.avoid,
            "must": demand.is_held_to(),
            "turn": demand.turn,
        })
    };
    demands.iter().map(demand).collect()
}

/// A search of the catalogue, in numbers: names of records stay out.
fn found(retrieval: &Retrieval) -> Value {
    let relaxed = retrieval.relaxed.len();
    json!({"turn": retrieval.turn, "met_all": retrieval.met, "relaxed": relaxed})
}

/// Tokens of `value`, estimated as those of a call are.
fn tokens(value: &Value) -> usize {
    value.to_string().len() / BYTES_A_TOKEN + 1
}

/// `memory` in at most `max_tokens` tokens.
fn fitted(mut memory: Value, demands: &[Demand], max_tokens: usize) -> Value {
    for list in ["/requests", "/found", "/summary", "/ran"] {
        while tokens(&memory) > max_tokens {
            match memory.pointer_mut(list) {
                Some(Value::Array(items)) if !items.is_empty() => drop(items.remove(0)),
                Some(whole @ Value::String(_)) => *whole = Value::Null,
                _ => break,
            }
        }
    }
    if tokens(&memory) <= max_tokens {
        return memory;
    }
    for characters in [DEMAND_CHARS / 2, DEMAND_CHARS / 4, DEMAND_CHARS / 8, DEMAND_CHARS / 16] {
        memory["wanted"] = demand_items(demands, characters);
        if tokens(&memory) <= max_tokens {
            break;
        }
    }
    memory
}

fn summary(model: &LanguageModel<'_>, session: &Session, turns: &[Turn]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Summed {
        summary: String,
    }
    let items: Vec<Value> = turns
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
        ("turns", Value::Array(items)),
        ("wanted", demand_items(&session.demands, DEMAND_CHARS)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::request::Demanded;

    /// A conversation of 100 turns that set 20 elements, the first ones long ago.
    fn long_session() -> Session {
        let mut session = Session::new("s", "lake");
        session.demands = (1..=20)
            .map(|turn| Demand {
                value: Demanded::Values(vec![vec![format!("value {turn}")]]),
                hard: true,
                ..Demand::in_words(
                    Respect::Other(format!("field {turn}")),
                    format!("what turn {turn} says, in {}", "many words ".repeat(20)),
                    turn,
                )
            })
            .collect();
        session.retrievals = (80..=100)
            .map(|turn| Retrieval {
                turn,
                key: turn.to_string(),
                met: 3,
                relaxed: Vec::new(),
                found: 0,
                records: Vec::new(),
            })
            .collect();
        session
    }

    #[test]
    fn what_is_in_force_is_told_in_any_budget() {
        let session = long_session();
        for budget in [32_000, 8_000, 2_000, 1_000] {
            let memory = memory(&session, budget, None);
            assert!(tokens(&memory) <= budget, "{} tokens of {budget}", tokens(&memory));
            let turns: Vec<u64> =
                memory["wanted"].as_array().unwrap().iter().map(|demand| demand["turn"].as_u64().unwrap()).collect();
            assert_eq!(turns, (1..=20).collect::<Vec<u64>>(), "{budget}");
        }
    }

    #[test]
    fn no_text_of_the_catalogue_is_told() {
        let memory = memory(&long_session(), 32_000, None).to_string();
        assert!(!memory.contains("value 3") && !memory.contains("field 3"), "{memory}");
        assert!(memory.contains("what turn 3 says"));
    }
}
