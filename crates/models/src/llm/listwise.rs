//! A model's order of candidates, and how it is fused with the computed one.
//!
//! Candidates are called `c01`, `c02`, … and listed in an order that has nothing to do with their rank: models favour what stands
//! first or last. The best of the answer are listed once more, the other way round, where the turn has asked little so far, and both
//! answers are averaged. How much an order weighs is measured (`lakeward model check`), by role, model and prompt; one of a model that was
//! not measured weighs little, and nothing where it agrees with the computed order no more than one drawn at random.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{AnswerShape, LanguageModel, PromptUse, Refusal, Unanswered};

/// Candidates at the most: their names have two digits.
pub const MOST: usize = 99;
/// Candidates that are listed a second time.
const TWICE: usize = 8;
/// Of fewer, nothing is gained by a second answer.
const LEAST_TWICE: usize = 3;
/// Tokens of prompts from which on a turn asks no second time: with reading, one order of 30 and the answer it stays below 6,000.
const LITTLE: u64 = 4_000;

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

/// A candidate as it is listed: its opaque id and its place in computed order.
pub type Entry<'a> = (&'a str, usize);

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
        let key = |place: &usize| *blake3::hash(format!("{request}\0{place}").as_bytes()).as_bytes();
        let mut places: Vec<usize> = (0..count.min(MOST)).collect();
        places.sort_by_cached_key(key);
        let ids = (1..=places.len()).map(|number| format!("c{number:02}")).collect();
        Self { ids, places }
    }

    /// Each id with the place of its candidate in computed order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.ids.iter().map(String::as_str).zip(self.places.iter().copied())
    }

    /// Asks for their order with the prompt for `of`, whose placeholders `values` fill, `candidates` with what `cards` tells of them.
    ///
    /// # Errors
    /// [`Unanswered`]: also where the first answer names what is not there or one candidate twice. Where only the second one is
    /// missing, the first stands.
    pub fn order(
        &self,
        model: &LanguageModel<'_>,
        of: PromptUse,
        values: &[(&str, Value)],
        cards: &dyn Fn(&[Entry<'_>]) -> Value,
    ) -> Result<Order, Unanswered> {
        let all: Vec<Entry<'_>> = self.iter().collect();
        let mut order = ask_for_order(model, of, values, cards, &all)?;
        let head = &order[..order.len().min(TWICE)];
        let again: Vec<Entry<'_>> = all.iter().rev().filter(|(_, place)| head.contains(place)).copied().collect();
        if again.len() >= LEAST_TWICE
            && model.question_tokens() < LITTLE
            && let Ok(second) = ask_for_order(model, of, values, cards, &again)
        {
            // What it does not name any more goes behind what it names.
            let again = |place: &usize| second.iter().position(|other| other == place).unwrap_or(head.len());
            let mut sums: Vec<(usize, usize)> = head.iter().map(again).zip(head.iter().copied()).collect();
            sums.iter_mut().enumerate().for_each(|(rank, (sum, _))| *sum += rank);
            // The sort is stable: ties stay as first answered.
            sums.sort_by_key(|(sum, _)| *sum);
            let count = sums.len();
            order.splice(..count, sums.into_iter().map(|(_, place)| place));
        }
        Ok(self.whole(order))
    }

    /// The order that one answer gives by its ids, best first.
    ///
    /// # Errors
    /// [`Refusal`] where one is no candidate or stands there twice.
    pub fn read(&self, ids: &[String]) -> Result<Order, Refusal> {
        let all: Vec<Entry<'_>> = self.iter().collect();
        places(&all, ids).map(|named| self.whole(named))
    }

    /// An order with those that it leaves out behind it.
    fn whole(&self, mut places: Vec<usize>) -> Order {
        let named = places.len();
        let left_out: Vec<usize> = (0..self.ids.len()).filter(|place| !places.contains(place)).collect();
        places.extend(left_out);
        Order { places, named }
    }
}

/// The places of the candidates that one answer names, best first; none where nothing fits.
fn ask_for_order(
    model: &LanguageModel<'_>,
    of: PromptUse,
    values: &[(&str, Value)],
    cards: &dyn Fn(&[Entry<'_>]) -> Value,
    listed: &[Entry<'_>],
) -> Result<Vec<usize>, Unanswered> {
    let ids: Vec<&str> = listed.iter().map(|(id, _)| *id).collect();
    let schema = json!({
        "type": "object",
        "properties": {"ranking": {
            "type": "array", "items": {"type": "string", "enum": ids}, "minItems": 0, "maxItems": ids.len(),
        }},
        "required": ["ranking"],
        "additionalProperties": false,
    });
    let shape = AnswerShape { name: "ranking", schema, max_tokens: 40 + 6 * ids.len() as u32 };
    let mut values = values.to_vec();
    values.push(("candidates", cards(listed)));
    model.ask(of, &values, shape, |answer: Ranking| places(listed, &answer.ranking))
}

/// The places of the candidates that `ids` name.
fn places(listed: &[Entry<'_>], ids: &[String]) -> Result<Vec<usize>, Refusal> {
    let refuse = |problem: String| Refusal { problem, valid: listed.iter().map(|(id, _)| (*id).to_string()).collect() };
    let mut places = Vec::with_capacity(ids.len());
    for id in ids {
        let known = listed.iter().find(|(known, _)| known == id);
        let (_, place) = known.ok_or_else(|| refuse(format!("`{id}` is no candidate")))?;
        if places.contains(place) {
            return Err(refuse(format!("`{id}` stands there twice")));
        }
        places.push(*place);
    }
    Ok(places)
}

impl Order {
    /// The weight of this order by a model that was `measured` to be worth so much, 0..=1, or was not.
    pub fn weight(&self, measured: Option<f64>) -> f64 {
        const UNMEASURED: f64 = 0.1;
        measured.unwrap_or(if self.agreement() > 1.0 { UNMEASURED } else { 0.0 })
    }

    /// By how many standard deviations of a random order it agrees with the computed one: Kendall's S over the pairs that it decides, those
    /// left out being tied (Kendall, 1945).
    fn agreement(&self) -> f64 {
        let (count, named) = (self.places.len(), self.named.min(self.places.len()));
        let decided = self.places[..named].iter().enumerate();
        let sum: i64 = decided
            .flat_map(|(rank, place)| {
                self.places[rank + 1..].iter().map(move |later| if place < later { 1 } else { -1 })
            })
            .sum();
        let spread = |count: usize| (count * count.saturating_sub(1) * (2 * count + 5)) as f64;
        let variance = (spread(count) - spread(count - named)) / 18.0;
        if variance > 0.0 { sum as f64 / variance.sqrt() } else { 0.0 }
    }

    /// The candidates, which have these computed `scores`, greatest first, in the order of (1 − w)·score + w·voice for `weight` w, 0..=1:
    /// scores as shares of their range, the model's voice falling evenly from 1 for its first to 0 for the last. What it left out
    /// keeps its order among itself. Ties stay as they were.
    pub fn fused(&self, scores: &[f64], weight: f64) -> Vec<usize> {
        let weight = weight.clamp(0.0, 1.0);
        let count = self.places.len().min(scores.len());
        let weight = if self.named == 0 { 0.0 } else { weight };
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

    const SCORES: [f64; 5] = [0.9, 0.8, 0.79, 0.7, 0.65];

    #[test]
    fn an_order_of_a_model_that_was_not_measured_counts_where_it_is_no_chance() {
        let weight = |places: Vec<usize>, named| Order { places, named }.weight(None);
        assert_eq!(weight((0..30).collect(), 30), 0.1);
        assert_eq!(weight((0..30).rev().collect(), 30), 0.0);
        assert_eq!(weight((0..30).collect(), 0), 0.0);
        // Of what was left out nothing is said: the last alone put first is no agreement.
        let last_first: Vec<usize> = std::iter::once(29).chain(0..29).collect();
        assert_eq!((weight(last_first.clone(), 1), weight(last_first, 30)), (0.0, 0.1));
        assert_eq!(weight(vec![0, 1, 2, 4, 3], 2), 0.1);
        assert_eq!(Order { places: vec![1, 0], named: 2 }.weight(Some(0.7)), 0.7);
        // Random orders: Park and Miller's numbers.
        let mut state = 1_u64;
        let mut random = || {
            let mut keyed: Vec<(u64, usize)> = (0..30)
                .map(|place| {
                    state = state * 48_271 % 0x7fff_ffff;
                    (state, place)
                })
                .collect();
            keyed.sort_unstable();
            weight(keyed.into_iter().map(|(_, place)| place).collect(), 12)
        };
        let positive = (0..1_000).filter(|_| random() > 0.0).count();
        assert!((110..=210).contains(&positive), "{positive} of 1,000");
    }

    #[test]
    fn an_order_counts_as_much_as_it_weighs() {
        let computed: Vec<usize> = (0..5).collect();
        let reversed = Order { places: (0..5).rev().collect(), named: 5 };
        assert_eq!(reversed.fused(&SCORES, 0.0), computed);
        assert_eq!(reversed.fused(&SCORES, 1.0), [4, 3, 2, 1, 0]);
        assert_eq!(Order { places: vec![0, 2, 1, 3, 4], named: 5 }.fused(&SCORES, 0.3), [0, 2, 1, 3, 4]);
        // Partial: what was left out stays as it was, behind what was named; nothing named changes nothing.
        assert_eq!(Order { places: vec![3, 0, 1, 2, 4], named: 1 }.fused(&SCORES, 1.0), [3, 0, 1, 2, 4]);
        assert_eq!(Order { places: computed.clone(), named: 0 }.fused(&[0.5; 5], 1.0), computed);
    }
}
