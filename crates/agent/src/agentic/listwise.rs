//! The question to a model for an order of tables, with the evidence of each.

use serde_json::{Value, json};

use super::card::{self, Card};
use lakeward_models::llm::listwise::{Entry, Listed, Order};
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{LanguageModel, PromptUse, Unanswered};

/// Bytes of the cards of all candidates; with reading and answer a turn of 30 stays near 6,000 tokens.
const CARD_BYTES: usize = 6_000;
/// Characters of a request, and of what was said before it.
const REQUEST: usize = 1_500;
const EARLIER: usize = 300;

/// What candidates are ordered for.
#[derive(Debug, Clone)]
pub struct OrderRequest<'a> {
    /// The request in words.
    pub request: &'a str,
    /// What was said before it, oldest first.
    pub earlier: &'a [&'a str],
    /// The operation asked for.
    pub operation: &'a str,
    /// The intention behind it.
    pub intention: &'a str,
    /// What a table should be like.
    pub specification: Value,
    /// The table at hand, or null.
    pub table: Value,
}

/// Asks for the order of `cards`, which are in computed order.
///
/// # Errors
/// As [`Listed::order`].
pub fn order(model: &LanguageModel<'_>, asked: &OrderRequest<'_>, cards: &[Card]) -> Result<Order, Unanswered> {
    let earlier: Vec<String> = asked.earlier.iter().map(|text| clean(text, EARLIER)).collect();
    let values = [
        ("earlier", json!(earlier)),
        ("request", json!(clean(asked.request, REQUEST))),
        ("operation", json!(asked.operation)),
        ("intention", json!(asked.intention)),
        ("specification", asked.specification.clone()),
        ("table", asked.table.clone()),
    ];
    let all = cards.len();
    let prompt_cards = |listed: &[Entry<'_>]| {
        let cards: Vec<(&str, &Card)> = listed.iter().map(|(id, place)| (*id, &cards[*place])).collect();
        card::to_json(&cards, CARD_BYTES * listed.len() / all)
    };
    Listed::of(asked.request, cards.len()).order(model, PromptUse::Rerank, &values, &prompt_cards)
}
