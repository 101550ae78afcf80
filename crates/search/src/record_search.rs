//! Finding records and tables that meet what was demanded: a filter first, then words, meaning and late interaction.
//!
//! What was set by a command filters. Records are looked at in stages: those that pass every filter, then those that violate one, and so on,
//! only while fewer than asked were found; so relaxation is stepwise. What was read from words may be misread, so it weighs; each answer
//! names what it violates. Inside a stage, after ScienceDB AI (Long et al., 2026), in two steps:
//!
//! s(d) = 80 · words(d)^1.5 + 10 · cos(request, about) + Σ stated .7 · m + Σ inferred .4 · m + Σ violated filters m
//! words(d) = Σ weight(w) · BM25(w, d) / Σ weight(w) · its limit, over the words of what was said that any record has
//!
//! with m the share of a demand that is met; then the best by s get .5 · MaxSim(request, title) ([`super::late`]) and .32 · what they say side
//! by side as it was said ([`neighbours`]), and are put in order. Words are counted as a share of all that was said and not of the best
//! record's: a piece of a record's own text is found by its words, and what is said in other words, of which no record has many, by its
//! meaning. A word of an earlier topic, or of a turn that changed nothing, weighs .7. A cosine is at most 1 and at least -1, so most records
//! are out of the first before theirs is looked at, and nothing is lost by leaving them out; where still many are left, words propose a
//! thousand and vectors a hundred. Words are counted inside the filter, not filtered after, so none is lost. Weights have wide plateaus:
//! stated .6–1.4, inferred .2–.8, words 70–130, neighbours .2–.5, earlier .5–1, the cosine 7–14 (eval/dialogues.md). Where records have no
//! vectors of what they are about, the cosine is that of the title and weighs .2, words 8.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::late::{self, LateQuery};
use super::text_search::text_encoder;
use super::weights::{RankingWeights, RecordWeights};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message, PARTS};
use lakeward_core::request::{Demand, Demanded};
use lakeward_core::respect::Respect;
use lakeward_core::text::on_one_line;
use lakeward_index::lexical::Greatest;
use lakeward_index::structures::Segment;
use lakeward_index::vectors::VectorSet;
use lakeward_index::{LakeIndex, TableRef, TableSet};
use lakeward_models::embed::{Embedder, EmbedderExt, normalise};

mod checks;
mod neighbours;
mod stages;
mod words;

use checks::Check;
use neighbours::Neighbours;
use stages::Stages;
use words::WordShares;

pub use checks::{DemandCheck, DemandState};

/// Records of a stage that late interaction puts in order: a bound of work.
const RERANKED: usize = 30;
/// Demands that are looked at.
const MOST_DEMANDS: usize = 64;
/// As many records are all compared by meaning; of more only those that words and vectors propose.
const EXACT_RECORDS: usize = 65_536;
/// Records that words and demands propose of a stage, and vectors of all stages.
const PROPOSED_BY_WORDS: usize = 1000;
const PROPOSED_BY_VECTORS: usize = 100;
/// Records whose greatest score is looked at before theirs, a multiple of 64.
const BLOCK: usize = 512;
/// Words of the request that enter its vector, or are looked for: of what is said now, and of all.
const MOST_WORDS: usize = 64;

/// How the records that are ranked are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route {
    /// All where there are few, else those proposed.
    #[default]
    Auto,
    /// All.
    Exact,
    /// Those proposed by words and vectors.
    Proposed,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct RecordQuery<'a> {
    /// What was read to search by, each text with its weight; none where only demands were made.
    pub texts: &'a [(String, f64)],
    /// What was said of what is looked for, turn by turn: whole sentences for the model that reads such; `texts` where there is none.
    pub said: &'a [String],
    /// What else was said in the conversation; its words count less.
    pub earlier: &'a [String],
    /// What must or should be met; the first 64.
    pub demands: &'a [Demand],
    /// Answers wanted.
    pub k: usize,
    /// Ids that are no answers.
    pub exclude: &'a [String],
    /// Only these ids are looked at, where there are any.
    pub among: Option<&'a [String]>,
    /// How to find them.
    pub route: Route,
    /// What decides the order.
    pub weights: &'a RankingWeights,
}

/// What a record was ranked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// The share of the words of what was said that it says, by how rare they are, 0..=1.
    pub words: f64,
    /// Cosine of request and title.
    pub meaning: f64,
    /// What soft demands give, and violated ones that are partly met.
    pub wishes: f64,
    /// Late interaction with the title, 0..=1; none for a record that did not come so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<f64>,
    /// What it says side by side as it was said, 0 and above; none for a record that did not come so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<f64>,
}

/// A record or table that meets what was demanded, or the most of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct RecordAnswer {
    /// Its id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Whether it is a record of a catalogue: its data is not in the lake.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Greater is better; comparable among answers that violate as many filters.
    pub score: f64,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// Each demand of which the catalogue says something, with whether it is met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<DemandCheck>,
    /// Roles of what was set or stated and is violated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relaxed: Vec<Respect>,
    /// The answer in a sentence.
    pub reason: Message,
}

/// The answers to a [`RecordQuery`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordAnswers {
    /// Best first: those that violate fewer filters before those that violate more.
    pub answers: Vec<RecordAnswer>,
    /// Records and tables that meet all that was set or stated.
    pub matching: usize,
    /// Whether all that could be an answer were scored.
    pub exact: bool,
}

/// The records and tables of `index` that meet `query`, best first.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn search(index: &LakeIndex, embedder: &dyn Embedder, query: &RecordQuery<'_>) -> Result<RecordAnswers> {
    let weights = &query.weights.records;
    let known = query.demands.iter().filter(|demand| demand.value != Demanded::Words);
    let known: Vec<&Demand> = known.take(MOST_DEMANDS).collect();
    let checks: Vec<Check<'_>> =
        known.par_iter().map(|demand| Check::of(index, demand, weights)).collect::<Result<_>>()?;
    let facets = index.facets()?;
    let mut looked_at = if query.among.is_some() { facets.none() } else { facets.all().clone() };
    for id in query.among.unwrap_or_default() {
        if let Some(table) = index.get(id)? {
            looked_at.insert(table);
        }
    }
    for id in query.exclude {
        if let Some(table) = index.get(id)? {
            looked_at.remove(table);
        }
    }
    let stages = Stages::of(looked_at, &checks, query.k, weights);
    let (ranked, exact) = Ranking { index, embedder, query, stages: &stages }.run()?;
    let answers = ranked.into_iter().map(|ranked| answer(index, &checks, ranked)).collect::<Result<_>>()?;
    Ok(RecordAnswers { answers, matching: stages.matching, exact })
}

/// A record on its way to an answer.
struct Ranked {
    table: TableRef,
    place: usize,
    score: f64,
    parts: ScoreParts,
}

/// One search while it runs.
struct Ranking<'a> {
    index: &'a LakeIndex,
    embedder: &'a dyn Embedder,
    query: &'a RecordQuery<'a>,
    stages: &'a Stages,
}

impl Ranking<'_> {
    /// The best, and whether all records that could be among them were compared.
    fn run(&self) -> Result<(Vec<Ranked>, bool)> {
        let weights = &self.query.weights.records;
        let reached = &self.stages.reached;
        let text = self.query.texts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" \n");
        let request = self.vector()?;
        let of_texts = request.as_ref().is_some_and(|request| request.of_texts);
        let weight = if of_texts { weights.words_about } else { weights.words };
        let margin = request.as_ref().map_or(0.0, |request| 2.0 * request.weight(weights));
        let words = self.words(weight, margin)?;
        let before_meaning = |place: usize| words.value_of(words.scores[place]) + self.stages.soft_score(place);
        let (candidates, exact) = self.candidates(&words, request.as_ref())?;
        let cosines = self.cosines(&candidates, request.as_ref())?;
        let meaning = request.as_ref().map_or(0.0, |request| request.weight(weights));
        let mut by_stage: Vec<Vec<Ranked>> = self.stages.levels.iter().map(|_| Vec::new()).collect();
        for (place, cosine) in candidates.into_iter().zip(cosines) {
            let parts = ScoreParts {
                words: f64::from(words.share_of(words.scores[place])),
                meaning: f64::from(cosine),
                wishes: f64::from(self.stages.soft_score(place)),
                late: None,
                neighbours: None,
            };
            let score = f64::from(before_meaning(place) + meaning * cosine);
            if let Some(stage) = by_stage.get_mut(self.stages.violated(place)) {
                stage.push(Ranked { table: reached.at(place), place, score, parts });
            }
        }
        let vectors = late::token_vectors(self.index, self.embedder, &self.query.weights.late)?;
        let mut late = LateQuery::new(vectors.as_ref(), &text)?;
        let (said, earlier) = (self.query.said.iter(), self.query.earlier.iter());
        let neighbours = match self.query.said {
            [] => Neighbours::of(self.query.texts.iter().map(|(text, _)| text.as_str())),
            _ => Neighbours::of(said.chain(earlier).map(String::as_str)),
        };
        let mut ranked: Vec<Ranked> = Vec::new();
        for mut stage in by_stage {
            if ranked.len() >= self.query.k {
                break;
            }
            best(&mut stage, self.reranked());
            let tables: Vec<TableRef> = stage.iter().map(|one| one.table).collect();
            for (one, shared) in stage.iter_mut().zip(neighbours.scores(self.index, &tables)?) {
                let said = late.score_title(one.table)?;
                (one.parts.late, one.parts.neighbours) = (Some(said), Some(shared));
                one.score += weights.late * said + f64::from(weight * weights.neighbours) * shared;
            }
            stage.sort_by(order);
            ranked.append(&mut stage);
        }
        ranked.truncate(self.query.k);
        Ok((ranked, exact))
    }

    /// Records of a stage that late interaction puts in order.
    fn reranked(&self) -> usize {
        RERANKED.max(self.query.k)
    }

    /// The vector of the request: of what was said where records have vectors of what they are about, else of all texts with rare words
    /// weighing more; none where it would be zero.
    fn vector(&self) -> Result<Option<RequestVector>> {
        if let Some(encoder) = text_encoder(self.index, self.embedder) {
            let vector = self.vector_of_turns(encoder);
            return Ok(vector.map(|vector| RequestVector { vector, of_texts: true }));
        }
        let mut weighted: Vec<(String, f32)> = Vec::new();
        for (text, weight) in self.query.texts {
            for (word, rarity) in self.index.lexical().informative_words(text, MOST_WORDS)? {
                weighted.push((word, rarity.rarity as f32 * *weight as f32));
            }
        }
        let weighted: Vec<(&str, f32)> = weighted.iter().map(|(word, weight)| (word.as_str(), *weight)).collect();
        let mut vector = vec![0.0; self.embedder.dims()];
        self.embedder.embed_weighted(&weighted, &mut vector);
        Ok(normalise(&mut vector).then_some(RequestVector { vector, of_texts: false }))
    }

    /// The vector of what was said as a whole and turn by turn, each of the two counting as much as the other; of the texts where nothing was.
    fn vector_of_turns(&self, encoder: &dyn Embedder) -> Option<Vec<f32>> {
        let joined = |texts: &mut dyn Iterator<Item = &str>| on_one_line(&texts.collect::<Vec<_>>().join(" "));
        let said = self.query.said;
        let whole = match said {
            [] => joined(&mut self.query.texts.iter().map(|(text, _)| text.as_str())),
            said => joined(&mut said.iter().map(String::as_str)),
        };
        let mut sum = vec![0.0; encoder.dims()];
        let mut add = |text: &str, weight: f32| {
            let vector = encoder.embed(text);
            sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += weight * value);
        };
        if !whole.is_empty() {
            add(&whole, 1.0);
        }
        if said.len() > 1 {
            said.iter().for_each(|turn| add(&on_one_line(turn), 1.0 / said.len() as f32));
        }
        normalise(&mut sum).then_some(sum)
    }

    /// The places of the records to be ranked, ascending, and whether every other one is worse than the best of them, whatever its
    /// cosine.
    fn candidates(&self, words: &WordShares, request: Option<&RequestVector>) -> Result<(Vec<usize>, bool)> {
        let reached = &self.stages.reached;
        let soft_scores = &self.stages.soft_scores;
        // The bits of what is not below 0 are in its order, and so many whole numbers are compared at once.
        let greatest = |values: &[f32]| {
            f32::from_bits(values.iter().fold(0, |most, value| (value.to_bits() as i32).max(most)) as u32)
        };
        let soft = |at: usize| soft_scores.get(at * BLOCK..).map(|from| greatest(&from[..from.len().min(BLOCK)]));
        let most = |(at, scores): (usize, &[f32])| words.value_of(greatest(scores)) + soft(at).unwrap_or(0.0);
        let most: Vec<f32> = words.scores.chunks(BLOCK).enumerate().map(most).collect();
        let margin = request.map_or(0.0, |request| 2.0 * request.weight(&self.query.weights.records));
        let promising = |level: &TableSet| -> Vec<(f32, usize)> {
            let of_block = |at: usize| {
                let places = level.places_within(at * BLOCK..(at + 1) * BLOCK);
                places.map(|place| (words.value_of(words.scores[place]) + self.stages.soft_score(place), place))
            };
            let mut first = Greatest::of(self.reranked());
            for (at, most) in most.iter().enumerate() {
                if first.takes(*most) {
                    of_block(at).for_each(|(score, _)| first.push(score));
                }
            }
            let least = first.least() - margin;
            let blocks = most.iter().enumerate().filter(|(_, most)| **most >= least);
            blocks.flat_map(|(at, _)| of_block(at)).filter(|(score, _)| *score >= least).collect()
        };
        let by_stage: Vec<Vec<(f32, usize)>> = self.stages.levels.iter().map(promising).collect();
        let exact = match self.query.route {
            Route::Exact => true,
            Route::Proposed => false,
            Route::Auto => by_stage.iter().map(Vec::len).sum::<usize>() <= EXACT_RECORDS,
        };
        if exact {
            let mut places: Vec<usize> = by_stage.into_iter().flatten().map(|(_, place)| place).collect();
            places.sort_unstable();
            return Ok((places, true));
        }
        let mut places: Vec<usize> = Vec::new();
        for mut stage in by_stage {
            if stage.len() > PROPOSED_BY_WORDS {
                let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
                stage.select_nth_unstable_by(PROPOSED_BY_WORDS, order);
                stage.truncate(PROPOSED_BY_WORDS);
            }
            places.extend(stage.into_iter().map(|(_, place)| place));
        }
        if let Some(request) = request {
            for (at, segment) in self.index.segments().iter().enumerate() {
                let table = |table: u32| TableRef { segment: at as u32, table };
                let passes = |number: u32| reached.contains(table(number));
                let Some(vectors) = request.of_tables(segment) else { continue };
                let found = vectors.search(&request.vector, PROPOSED_BY_VECTORS, Some(&passes))?;
                places.extend(found.into_iter().filter_map(|(number, _)| reached.place(table(number))));
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok((places, false))
    }

    /// The cosine of the request and each of `places`, ascending places: of what it is about, or of its title; 0 without a request.
    fn cosines(&self, places: &[usize], request: Option<&RequestVector>) -> Result<Vec<f32>> {
        let Some(request) = request else { return Ok(vec![0.0; places.len()]) };
        let mut cosines = Vec::with_capacity(places.len());
        let mut prepared = None;
        for place in places {
            let table = self.stages.reached.at(*place);
            let Some(vectors) = request.of_titles(self.index.segment(table.segment)?) else {
                cosines.push(0.0);
                continue;
            };
            let query = match &prepared {
                Some(query) => query,
                None => prepared.insert(vectors.prepare(&request.vector)?),
            };
            cosines.push(vectors.cosine_with(table.table, query)?);
        }
        Ok(cosines)
    }
}

/// A request as a vector.
struct RequestVector {
    vector: Vec<f32>,
    /// By the model that reads whole texts.
    of_texts: bool,
}

impl RequestVector {
    fn weight(&self, weights: &RecordWeights) -> f32 {
        if self.of_texts { weights.about } else { weights.meaning }
    }

    fn of_tables<'s>(&self, segment: &'s Segment) -> Option<&'s VectorSet> {
        if self.of_texts {
            segment.meanings.as_ref().map(|meanings| &meanings.0)
        } else {
            Some(&segment.vectors.topics)
        }
    }

    fn of_titles<'s>(&self, segment: &'s Segment) -> Option<&'s VectorSet> {
        if self.of_texts { self.of_tables(segment) } else { Some(&segment.vectors.titles) }
    }
}

/// Best first, ties in the order of the catalogue.
fn order(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.place.cmp(&b.place))
}

/// Keeps the `k` best.
fn best(ranked: &mut Vec<Ranked>, k: usize) {
    if k > 0 && ranked.len() > k {
        ranked.select_nth_unstable_by(k - 1, order);
    }
    ranked.truncate(k);
}

fn answer(index: &LakeIndex, checks: &[Check<'_>], ranked: Ranked) -> Result<RecordAnswer> {
    let dataset = index.dataset(ranked.table)?;
    let reported = checks::ReportedRoles::of(&dataset, index.years(ranked.table)?);
    let demands: Vec<DemandCheck> = checks.iter().map(|check| check.outcome(ranked.place, &reported)).collect();
    let mut relaxed: Vec<Respect> = Vec::new();
    for check in checks.iter().filter(|check| check.violated(ranked.place)) {
        if !relaxed.contains(&check.demand.role) {
            relaxed.push(check.demand.role.clone());
        }
    }
    let mut answer = RecordAnswer {
        table: dataset.id().to_string(),
        title: dataset.title(),
        record: dataset.is_record(),
        score: ranked.score,
        parts: ranked.parts,
        demands,
        relaxed,
        reason: Message::default(),
    };
    answer.reason = reason(&answer);
    Ok(answer)
}

fn reason(answer: &RecordAnswer) -> Message {
    let listed = |state: DemandState| -> Option<Message> {
        let named =
            Message::list(PARTS, answer.demands.iter().filter(|check| check.state == state).map(DemandCheck::words));
        (!named.is_empty()).then_some(named)
    };
    let mut parts: Vec<Message> = Vec::new();
    if !answer.demands.iter().any(|check| check.state == DemandState::Met) {
        let ScoreParts { words, meaning, .. } = answer.parts;
        parts.push(match words > meaning {
            true => message!("says the words ({})", format!("{words:.2}")),
            false => message!("is close in meaning ({})", format!("{meaning:.2}")),
        });
    }
    parts.extend(listed(DemandState::Met).map(|met| message!("meets {}", met)));
    parts.extend(listed(DemandState::Partly).map(|partly| message!("partly {}", partly)));
    parts.extend(listed(DemandState::Violated).map(|violated| message!("not {}", violated)));
    parts.extend(listed(DemandState::Unsaid).map(|unsaid| message!("says nothing of {}", unsaid)));
    Message::list(CLAUSES, parts)
}
