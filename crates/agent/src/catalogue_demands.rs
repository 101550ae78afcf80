//! What a turn wants of the catalogue: the intent as the turn leaves it, and the records that meet it.

use std::collections::HashMap;

use super::Agent;
use super::model;
use crate::recommend::{Choice, IntentionFit, Match};
use crate::session::{Retrieval, Session};
use lakeward_core::error::Result;
use lakeward_core::request::Intent;
use lakeward_core::role::Role;
use lakeward_models::llm::LanguageModel;
use lakeward_reading::intent::{Conflict, Fact, TurnReading, apply};
use lakeward_search::record_search::{self, DemandState, Route};
use lakeward_search::{RecordAnswer, RecordAnswers, RecordQuery};

/// Records asked of a search: more than are shown, for operations and for the turns that follow.
const DEPTH: usize = 100;
/// Records that an earlier search must have left to be taken for the same again.
const REUSED: usize = 30;
/// Roles that a note names.
const NAMED: usize = 5;

/// The records that meet what is wanted.
#[derive(Debug, Default)]
pub(super) struct RecordsFound {
    pub(super) answers: RecordAnswers,
    /// Rank of each, from 0, with its relevance: the share of the best one's score, and never more than that of a record
    /// that violates less.
    ranks: HashMap<String, (usize, f64)>,
    key: String,
}

impl Agent<'_> {
    /// What is wanted of the catalogue after `text`, and the question where it states something against an earlier turn without taking
    /// that back. Nothing changes where the catalogue has no fields, nor where the text answers a question about something else.
    pub(super) fn demands(
        &self,
        session: &Session,
        text: &str,
        answered: Option<&Choice>,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<(Intent, Option<Conflict>)> {
        let memory = &session.memory;
        let mut intent = memory.intent.clone();
        let text = match (answered, &memory.open) {
            // Chosen by its number.
            (Some(choice), Some(_)) => choice.label.as_str(),
            (Some(_), None) => "",
            (None, _) => text,
        };
        if text.trim().is_empty() {
            return Ok((intent, None));
        }
        let Some(reader) = self.words.reader(self.index)? else { return Ok((intent, None)) };
        let turn = session.next_turn();
        let settled = memory.open.as_ref().and_then(|open| Some((open, open.answered(text)?)));
        let settled = settled.filter(|(open, settlement)| open.settle(*settlement, &mut intent, turn));
        let mut reading = reader.read(text, turn, &intent);
        if let Some((open, _)) = settled {
            without(&mut reading, open);
        } else if let Some(model) = model {
            let earlier = self.window(session);
            reading.facts.extend(model::elements(model, text, &earlier, &reader, &reading));
        }
        let changes = apply(&reading, &mut intent);
        Ok((intent, changes.conflicts.into_iter().next()))
    }

    /// The records that meet what is wanted; nothing where the lake has only tables and nothing is demanded of them, and where
    /// nothing is wanted. `others` are texts that are searched for besides.
    pub(super) fn records(
        &self,
        session: &Session,
        intent: &Intent,
        others: &[(String, f64)],
    ) -> Result<Option<RecordsFound>> {
        let states = intent.demands.iter().any(|demand| demand.hard);
        if (intent.topics.is_empty() && intent.demands.is_empty()) || !(states || self.index.has_records()?) {
            return Ok(None);
        }
        let mut texts: Vec<(String, f64)> = vec![(words(intent), 1.0)];
        let most = self.ranking.turn.further_record_texts;
        texts.extend(others.iter().map(|(text, weight)| (text.clone(), weight.min(most))));
        texts.retain(|(text, _)| !text.trim().is_empty());
        let exclude: Vec<String> = session.rejected.iter().map(|choice| choice.table.clone()).collect();
        let query = RecordQuery {
            texts: &texts,
            demands: &intent.demands,
            refused: &intent.refused,
            k: DEPTH,
            exclude: &exclude,
            among: None,
            route: Route::Auto,
            weights: &self.ranking,
        };
        let key = self.key_of(&query);
        // Asked before, as when a turn speaks of what to do with what was found: its records need not be found again.
        let known = session.memory.retrieved(&key).filter(|known| known.records.len() >= REUSED.min(known.found));
        let query = RecordQuery { among: known.map(|known| known.records.as_slice()), ..query };
        let mut answers = record_search::search(self.index, self.embedder, &query)?;
        answers.matching = known.map_or(answers.matching, |known| known.met);
        Ok(Some(RecordsFound::of(answers, key)))
    }

    /// Identifies a search and the state of the index.
    fn key_of(&self, query: &RecordQuery<'_>) -> String {
        let asked = (query.texts, query.demands, query.refused, query.exclude, &self.index.manifest().checksum);
        let bytes = serde_json::to_vec(&asked).unwrap_or_default();
        blake3::hash(&bytes).to_hex()[..32].to_string()
    }
}

impl RecordsFound {
    fn of(answers: RecordAnswers, key: String) -> Self {
        let best = answers.answers.iter().map(|answer| answer.score).fold(f64::MIN_POSITIVE, f64::max);
        let mut least = 1.0f64;
        let mut ranks = HashMap::with_capacity(answers.answers.len());
        for (rank, answer) in answers.answers.iter().enumerate() {
            least = least.min((answer.score / best).clamp(0.0, 1.0));
            ranks.insert(answer.table.clone(), (rank, least));
        }
        Self { answers, ranks, key }
    }

    /// The answer that names `id`, with its rank from 0 and its relevance.
    pub(super) fn get(&self, id: &str) -> Option<(usize, f64, &RecordAnswer)> {
        let (rank, relevance) = *self.ranks.get(id)?;
        Some((rank, relevance, self.answers.answers.get(rank)?))
    }

    /// What the analyst should know of the search: what was not held to.
    pub(super) fn note(&self, shown: usize) -> Option<String> {
        let answers = &self.answers.answers;
        let relaxed = answers.iter().take(shown).filter(|answer| !answer.relaxed.is_empty()).count();
        let first = answers.iter().find(|answer| !answer.relaxed.is_empty()).filter(|_| relaxed > 0)?;
        let said: Vec<String> = first
            .demands
            .iter()
            .filter(|check| check.hard && check.state != DemandState::Met)
            .take(NAMED)
            .map(|check| format!("{} ({})", check.role, check.said))
            .collect();
        let met = self.answers.matching;
        Some(match met {
            0 => format!("nothing meets all that was stated; the first leaves out {}", said.join(", ")),
            1 => format!(
                "1 record meets all that was stated; from number 2 on they leave out {}, or more",
                said.join(", ")
            ),
            _ => format!(
                "{met} records meet all that was stated; from number {} on they leave out {}, or more",
                met + 1,
                said.join(", ")
            ),
        })
    }

    /// What is remembered of the search, with the first `shown` that were shown and more.
    pub(super) fn logged(&self, turn: usize, shown: usize) -> Retrieval {
        let answers = &self.answers.answers;
        let mut relaxed = Vec::new();
        for role in answers.iter().take(shown).flat_map(|answer| &answer.relaxed) {
            if !relaxed.contains(role) {
                relaxed.push(role.clone());
            }
        }
        let records = answers.iter().map(|answer| answer.table.clone()).collect();
        Retrieval { turn, key: self.key.clone(), met: self.answers.matching, relaxed, found: answers.len(), records }
    }
}

/// How well a record meets what was stated; of rows and columns nothing is known.
pub(super) fn fit(answer: &RecordAnswer) -> IntentionFit {
    let unknown = || Match { met: true, grade: 0.5, evidence: "unknown: its data is not in the lake".into() };
    let check = |state: DemandState, said: &str| Match {
        met: state == DemandState::Met,
        grade: match state {
            DemandState::Met => 1.0,
            DemandState::Partly => 0.5,
            DemandState::Unsaid | DemandState::Violated => 0.0,
        },
        evidence: said.to_string(),
    };
    let constraints: Vec<(String, Match)> =
        answer.demands.iter().map(|demand| (demand.role.to_string(), check(demand.state, &demand.said))).collect();
    let stated = answer.demands.iter().filter(|demand| demand.hard).count();
    let met = stated.saturating_sub(answer.relaxed.len());
    let share = if stated == 0 { 1.0 } else { met as f64 / stated as f64 };
    IntentionFit {
        granularity: unknown(),
        richness: unknown(),
        compatibility: unknown(),
        constraints,
        paper: share,
        graded: share,
    }
}

/// The words to search by.
fn words(intent: &Intent) -> String {
    let entity = intent.data.entity.iter();
    let said = intent.topics.iter().chain(entity);
    said.map(|said| said.text.as_str()).collect::<Vec<_>>().join(" \n")
}

/// Leaves what settles a question out of what a turn says besides: `keep the old one` is no topic.
fn without(reading: &mut TurnReading, settled: &Conflict) {
    const MOST_WORDS: usize = 4;
    let role = &settled.now.role;
    reading.facts.retain(|fact| match fact {
        // `The old one` is the earlier value, not one that is no longer kept up.
        Fact::Demanded { demand, .. } => demand.role != *role && demand.role != Role::Status,
        Fact::Refused(demand) => demand.role != *role && demand.role != Role::Status,
        Fact::Words { text, .. } => text.split_whitespace().count() > MOST_WORDS,
        _ => true,
    });
}
