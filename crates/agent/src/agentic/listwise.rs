//! The model's order of candidates, and how much it counts.
//!
//! Candidates are called `c01`, `c02`, … and listed in an order that has nothing to do with their rank: models favour what
//! stands first or last, and that order would only be ours again. So an order that agrees with the computed one owes it to the
//! evidence. One that agrees no better than a guess may, counts nothing: neither a weak model nor one that a candidate talks
//! into something changes an answer.

use serde::Deserialize;
use serde_json::{Value, json};

use super::card::{self, Card};
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse, Refusal, Unanswered};

/// Bytes of cards in a question: with prompt, request and query table it stays below 4,000 tokens.
const CARD_BYTES: usize = 9_500;
/// Candidates at the most: their names have two digits.
pub const MOST: usize = 99;

/// What candidates are ordered for.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The request in words.
    pub request: &'a str,
    /// The operation asked for.
    pub operation: &'a str,
    /// The intention behind it.
    pub intention: &'a str,
    /// What a table should be like.
    pub specification: Value,
    /// The table at hand, or null.
    pub table: Value,
}

/// Candidates as a model orders them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// All places of the computed order, from 0, best first; those that the model left out follow as they were.
    pub places: Vec<usize>,
    /// How many it named.
    pub named: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranking {
    ranking: Vec<String>,
}

/// Asks for the order of `cards`, which are in computed order, at most [`MOST`] of them.
///
/// # Errors
/// [`Unanswered`]: also where the answer names what is not there or one candidate twice.
pub fn order(model: &LanguageModel<'_>, asked: &Asked<'_>, cards: &[Card]) -> Result<Order, Unanswered> {
    let listed = Listed::of(asked.request, cards.len());
    let named: Vec<(String, &Card)> = listed.iter().map(|(id, place)| (id.to_string(), &cards[place])).collect();
    let values = [
        ("request", json!(asked.request)),
        ("operation", json!(asked.operation)),
        ("intention", json!(asked.intention)),
        ("specification", asked.specification.clone()),
        ("table", asked.table.clone()),
        ("candidates", card::told(&named, CARD_BYTES)),
    ];
    listed.order(model, PromptUse::Rerank, &values)
}

/// Candidates as they are listed to a model: opaque ids, in an order that has nothing to do with their rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    ids: Vec<String>,
    /// The place of each in computed order.
    places: Vec<usize>,
}

impl Listed {
    /// The first `count` candidates for a request, at most [`MOST`] of them.
    pub fn of(request: &str, count: usize) -> Self {
        let places = listing(request, count.min(MOST));
        let ids = (1..=places.len()).map(|number| format!("c{number:02}")).collect();
        Self { ids, places }
    }

    /// Each id with the place of its candidate in computed order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.ids.iter().map(String::as_str).zip(self.places.iter().copied())
    }

    /// Asks for their order with the prompt for `of`, whose placeholders `values` fill.
    ///
    /// # Errors
    /// As [`order`].
    pub fn order(
        &self,
        model: &LanguageModel<'_>,
        of: PromptUse,
        values: &[(&str, Value)],
    ) -> Result<Order, Unanswered> {
        let Self { ids, places: listed } = self;
        let items =
            json!({"type": "array", "items": {"type": "string", "enum": ids}, "minItems": 1, "maxItems": ids.len()});
        let schema = json!({
            "type": "object",
            "properties": {"ranking": items},
            "required": ["ranking"],
            "additionalProperties": false,
        });
        let shape = AnswerShape { name: "ranking", schema, max_tokens: 40 + 6 * ids.len() as u32 };
        model.ask(of, values, shape, |answer: Ranking| {
            let refuse = |problem: String| Refusal { problem, valid: ids.clone() };
            let mut places = Vec::with_capacity(listed.len());
            for id in &answer.ranking {
                let at = ids
                    .iter()
                    .position(|known| known == id)
                    .ok_or_else(|| refuse(format!("`{id}` is no candidate")))?;
                if places.contains(&listed[at]) {
                    return Err(refuse(format!("`{id}` stands there twice")));
                }
                places.push(listed[at]);
            }
            if places.is_empty() {
                return Err(refuse("the ranking is empty".into()));
            }
            let named = places.len();
            let left_out: Vec<usize> = (0..listed.len()).filter(|place| !places.contains(place)).collect();
            places.extend(left_out);
            Ok(Order { places, named })
        })
    }
}

/// The first `count` places in the order in which they are listed: by a hash of request and place.
fn listing(request: &str, count: usize) -> Vec<usize> {
    let key = |place: &usize| *blake3::hash(format!("{request}\0{place}").as_bytes()).as_bytes();
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by_cached_key(key);
    places
}

impl Order {
    /// Kendall's τ with the computed order, −1..=1, over the pairs of which the model named at least one; 0 for none.
    pub fn agreement(&self) -> f64 {
        let (mut sum, mut pairs) = (0i64, 0i64);
        for (at, first) in self.places.iter().take(self.named).enumerate() {
            for second in &self.places[at + 1..] {
                sum += if first < second { 1 } else { -1 };
                pairs += 1;
            }
        }
        if pairs == 0 { 0.0 } else { sum as f64 / pairs as f64 }
    }

    /// The weight of the model's order where its voice is `voice`: nothing up to an agreement that one of forty guesses reaches
    /// (twice the deviation of τ, √(2(2n + 5) / 9n(n − 1)) for n candidates named; Kendall, 1938), all of it from 0.2 above that.
    pub fn weight(&self, voice: f64) -> f64 {
        const RISE: f64 = 0.2;
        let n = self.named.max(2) as f64;
        let guess = 2.0 * (2.0 * (2.0 * n + 5.0) / (9.0 * n * (n - 1.0))).sqrt();
        // The sum below is exact for equal orders, 1 − guess may not be.
        let full = (guess + RISE).min(1.0);
        let share = if full > guess { (self.agreement() - guess) / (full - guess) } else { 0.0 };
        voice.clamp(0.0, 1.0) * share.clamp(0.0, 1.0)
    }

    /// The candidates, which have these computed `scores`, greatest first, in the order of (1 − w)·score + w·voice: scores as
    /// shares of their range, the model's voice falling evenly from 1 for its first to 0 for its last. Ties stay as they were.
    pub fn fused(&self, scores: &[f64], voice: f64) -> Vec<usize> {
        let weight = self.weight(voice);
        let count = self.places.len().min(scores.len());
        let (most, least) = (scores.first().copied().unwrap_or(0.0), scores[..count].last().copied().unwrap_or(0.0));
        let range = (most - least).max(f64::MIN_POSITIVE);
        let last = (count.max(2) - 1) as f64;
        let mut fused = vec![0.0; count];
        for (rank, place) in self.places.iter().enumerate().filter(|(_, place)| **place < count) {
            fused[*place] = (1.0 - weight) * (scores[*place] - least) / range + weight * (1.0 - rank as f64 / last);
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| fused[*b].total_cmp(&fused[*a]).then(a.cmp(b)));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 12] = [0.9, 0.8, 0.79, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3];

    fn order(swapped: &[(usize, usize)]) -> Order {
        let mut places: Vec<usize> = (0..12).collect();
        swapped.iter().for_each(|(a, b)| places.swap(*a, *b));
        Order { places, named: 12 }
    }

    #[test]
    fn an_order_counts_where_it_agrees() {
        let computed: Vec<usize> = (0..12).collect();
        let close = order(&[(1, 2)]);
        let reversed = Order { places: (0..12).rev().collect(), named: 12 };
        assert_eq!((order(&[]).agreement(), reversed.agreement()), (1.0, -1.0));
        assert_eq!((close.weight(0.3), reversed.weight(1.0)), (0.3, 0.0));
        assert_eq!(close.fused(&SCORES, 0.3)[..3], [0, 2, 1]);
        assert_eq!(close.fused(&SCORES, 0.0), computed);
        assert_eq!(reversed.fused(&SCORES, 1.0), computed);
        // What is listed in no order agrees by chance, if at all.
        let mixed = Order { places: vec![3, 0, 8, 1, 11, 2, 9, 4, 6, 5, 10, 7], named: 12 };
        assert!(mixed.agreement() > 0.3 && mixed.weight(1.0) == 0.0, "{}", mixed.agreement());
    }

    #[test]
    fn what_was_not_named_keeps_its_order() {
        let one = Order { places: vec![1, 0, 2, 3], named: 1 };
        assert!((one.agreement() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(one.fused(&[0.5; 4], 1.0), [0, 1, 2, 3]);
    }
}
