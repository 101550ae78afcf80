//! What is wanted of datasets as a turn leaves it, and the records of the catalogue that meet it.

use std::collections::HashMap;

use super::Agent;
use super::alternatives::{joined, parted, read_alternatives, taken_back_by_name};
use super::publication::{says_publication, separate_publication};
use super::reading::Reading;
use super::subjects::hold_to_named;
use crate::recommend::{IntentionFit, Match};
use crate::session::{Retrieval, Session};
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::message::{Message, PARTS};
use lakeward_core::request::{Demand, Demanded, topic_words};
use lakeward_core::respect::Respect;
use lakeward_core::text::lower_words;
use lakeward_index::LakeIndex;
use lakeward_models::embed::Embedder;
use lakeward_reading::catalogue::Vocabulary;
use lakeward_reading::reader::{Act, Revised, TurnReading, revised};
use lakeward_search::record_search::{self, DemandState, Route};
use lakeward_search::weights::RankingWeights;
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

/// What records are looked for by.
pub(super) struct RecordRequest<'r> {
    texts: Vec<(String, f64)>,
    /// The turns that say what is wanted, and what else was said.
    said: Vec<String>,
    earlier: Vec<String>,
    demands: &'r [Demand],
    exclude: Vec<String>,
    /// Identifies the search and the state of the index.
    key: String,
    /// The same search in an earlier turn.
    known: Option<&'r Retrieval>,
}

impl Agent<'_> {
    /// What is wanted of datasets after a turn, in the values that the catalogue has; `over_demands` says that it was read over the demands
    /// in force and not over a table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub(super) fn demands_after(
        &self,
        session: &Session,
        text: &str,
        reading: &TurnReading,
        over_demands: bool,
    ) -> Result<Revised> {
        let (turn, vocabulary) = (session.next_turn(), self.words.of(self.index)?);
        let this_year = self.words.present_year(self.index);
        if over_demands && let Some(named) = self.demands_named(session, text)? {
            return Ok(named);
        }
        let undone = over_demands && reading.has(Act::Undo);
        let before = if undone { session.demands_before(reading.steps()) } else { session.demands.clone() };
        let named = match vocabulary {
            Some(vocabulary) if over_demands => vocabulary.with_names(text, reading.clone()),
            _ => reading.clone(),
        };
        let mut after = revised(&as_read(&before), &named, over_demands, turn, this_year);
        as_known(&mut after, &before);
        if undone {
            let stays = |demand: &&Demand| !before.contains(demand);
            after.gone.extend(session.demands.iter().filter(stays).cloned());
        }
        let said_topic = topic_words(&after.demands).next().is_some();
        if over_demands && session.remembered().is_empty() && !said_topic && reading.acts.first() != Some(&Act::Unclear)
        {
            // Nothing is understood of what it is about: all of it is.
            after.demands.insert(0, Demand::in_words(Respect::Topic, text.trim(), turn));
        }
        if over_demands && reading.has(Act::Retract) {
            taken_back_by_name(&mut after, text);
        }
        let replaces = reading.has(Act::Correct) || reading.has(Act::Retract);
        separate_publication(&mut after, text, turn, replaces);
        joined(&mut after.demands, text, turn);
        if let Some(vocabulary) = vocabulary {
            resolve_source_role(&mut after.demands, text, turn, vocabulary);
        }
        self.ground(&mut after.demands, session)?;
        let names_none = |act: &Act| {
            matches!(act, Act::Retract | Act::Undo | Act::Pick | Act::Ask | Act::Compare | Act::Accept | Act::Chat)
        };
        if let Some(vocabulary) = vocabulary.filter(|_| over_demands && !reading.acts.iter().any(names_none)) {
            hold_to_named(&mut after, text, turn, reading.has(Act::Correct), vocabulary);
        }
        parted(&mut after, text, turn, &|role, things| self.have_together(role, things))?;
        Ok(after)
    }

    /// Whether a record has all of `things`, each in one of its ways.
    fn have_together(&self, role: &Respect, things: &[Vec<String>]) -> Result<bool> {
        let facets = self.index.facets()?;
        let mut all = facets.all().clone();
        for thing in things {
            let mut set = facets.none();
            for value in thing {
                self.index.add_tables_with(role, value, &mut set)?;
            }
            all.intersect(&set);
        }
        Ok(!all.is_empty())
    }

    /// What is wanted of datasets where a model says what is after the turn.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub(super) fn demands_written(&self, session: &Session, written: &[Demand]) -> Result<Revised> {
        let mut demands = written.to_vec();
        let gone = session.demands.iter().filter(|demand| !demands.contains(demand)).cloned().collect();
        self.ground(&mut demands, session)?;
        Ok(Revised { demands, gone, not_found: Vec::new() })
    }

    /// What is wanted of datasets with a value that was chosen.
    ///
    /// # Errors
    /// Those of [`lakeward_reading::catalogue::CatalogueWords::demand`].
    pub(super) fn demands_with(&self, session: &Session, role: &Respect, value: &str) -> Result<Revised> {
        let chosen = self.words.demand(self.index, role.name(), value, session.next_turn())?;
        let (gone, mut demands): (Vec<Demand>, Vec<Demand>) =
            session.demands.iter().cloned().partition(|known| known.role == chosen.role && !known.avoid);
        demands.push(chosen);
        self.ground(&mut demands, session)?;
        Ok(Revised { demands, gone, not_found: Vec::new() })
    }

    /// The same where `text` is no more than a field of the catalogue and one of its values, as they are listed: `licence: CC BY 4.0`.
    fn demands_named(&self, session: &Session, text: &str) -> Result<Option<Revised>> {
        const LONGEST: usize = 4;
        let Some((name, value)) = text.split_once(':') else { return Ok(None) };
        let (role, value) = (Respect::of_field(name.trim()), value.trim());
        // "Area harvested: wheat" is about what it says.
        let is_field = name.split_whitespace().count() == 1;
        let is_field = is_field && self.words.of(self.index)?.is_some_and(|vocabulary| vocabulary.has(&role));
        match is_field.then(|| self.demands_with(session, &role, value)) {
            None => Ok(None),
            // No record has that value. A subject may be meant in other words.
            Some(Err(Error::Usage(_))) => {
                let is_value = role != Respect::Subject && value.split_whitespace().count() <= LONGEST;
                let demand = Demand { hard: true, ..Demand::in_words(role, value, session.next_turn()) };
                let demands = session.demands.iter().cloned().chain([demand]).collect();
                Ok(is_value.then(|| Revised { demands, gone: Vec::new(), not_found: Vec::new() }))
            }
            Some(found) => found.map(Some),
        }
    }

    /// What no record has of what this turn states in a field of the catalogue, each with the nearest value.
    pub(super) fn unknown_values(&self, demands: &[Demand], session: &Session) -> Result<Vec<Message>> {
        let Some(vocabulary) = self.words.of(self.index)? else { return Ok(Vec::new()) };
        let turn = session.next_turn();
        let is_unknown = |demand: &&Demand| {
            demand.turn == turn && demand.hard && demand.value == Demanded::Words && vocabulary.has(&demand.role)
        };
        let reason_of = |demand: &Demand| match self.words.demand(self.index, demand.role.name(), &demand.said, turn) {
            Err(Error::Usage(reason)) => Ok(Some(reason)),
            other => other.map(|_| None),
        };
        demands.iter().filter(is_unknown).filter_map(|demand| reason_of(demand).transpose()).collect()
    }

    /// The demands of this turn in the values that the catalogue has, and all that mean the same. One that was set by a command is as it was set.
    fn ground(&self, demands: &mut Vec<Demand>, session: &Session) -> Result<()> {
        let Some(vocabulary) = self.words.of(self.index)? else { return Ok(()) };
        let is_new = |demand: &&mut Demand| demand.turn == session.next_turn() && !session.demands.contains(demand);
        for demand in demands.iter_mut().filter(is_new) {
            *demand = vocabulary.grounded(demand.clone());
            if let Demanded::Values(things) = &mut demand.value {
                for thing in things {
                    let Some(first) = thing.first() else { continue };
                    let same = self.index.facets()?.alike(&demand.role, first);
                    let others = same.into_iter().filter(|other| !thing.iter().any(|known| known == other));
                    let others: Vec<String> = others.map(str::to_string).collect();
                    thing.extend(others);
                }
                read_alternatives(demand);
            } else if demand.value == Demanded::Words && demand.role != Respect::Topic {
                // Written with other accents or joining words than in the catalogue.
                let same = self.index.facets()?.alike(&demand.role, &demand.said);
                if !same.is_empty() {
                    let same = same.into_iter().map(str::to_string).collect();
                    *demand = Demand { value: Demanded::Values(vec![same]), hard: true, ..demand.clone() };
                }
            }
        }
        // A record comes in one rhythm and is kept up or not: what was said last holds.
        for role in [Respect::Frequency, Respect::Status] {
            let latest = demands.iter().rposition(|demand| demand.role == role && !demand.avoid);
            let mut place = 0;
            demands.retain(|demand| {
                place += 1;
                demand.role != role || demand.avoid || Some(place - 1) == latest
            });
        }
        Ok(())
    }

    /// What records are looked for by; nothing where the lake has only tables and nothing is demanded of them, and where nothing is wanted.
    /// `others` are texts that are searched for besides.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub(super) fn record_request<'r>(
        &self,
        session: &'r Session,
        reading: &'r Reading<'_>,
        others: &[(String, f64)],
    ) -> Result<Option<RecordRequest<'r>>> {
        let (demands, hidden) = (&reading.signals.demands, &reading.hidden);
        let states = demands.iter().any(|demand| demand.hard && demand.role != Respect::Period);
        if demands.is_empty() || !(states || self.index.has_records()?) {
            return Ok(None);
        }
        let (mut said, mut earlier) = session.demand_texts(&reading.signals, &reading.request.text);
        for choice in &session.rejected {
            let Some(table) = self.index.get(&choice.table)? else { continue };
            let title = self.index.dataset(table)?.title();
            said.iter_mut().chain(&mut earlier).for_each(|text| leave_out(text, &title));
        }
        let mut texts: Vec<(String, f64)> = vec![(words(demands), 1.0)];
        let most = self.ranking.turn.further_record_texts;
        texts.extend(others.iter().map(|(text, weight)| (text.clone(), weight.min(most))));
        texts.retain(|(text, _)| !text.trim().is_empty());
        let exclude: Vec<String> = session.rejected.iter().map(|choice| &choice.table).chain(hidden).cloned().collect();
        let asked = (&texts, demands, &exclude, &self.index.manifest().checksum);
        let bytes = serde_json::to_vec(&asked).unwrap_or_default();
        let key = blake3::hash(&bytes).to_hex()[..32].to_string();
        // Asked before, as when a turn speaks of what to do with what was found: its records need not be found again.
        let known = session.retrieved(&key).filter(|known| known.records.len() >= REUSED.min(known.found));
        Ok(Some(RecordRequest { texts, said, earlier, demands, exclude, key, known }))
    }
}

impl RecordRequest<'_> {
    /// The records that meet it, best first.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub(super) fn find(
        self,
        index: &LakeIndex,
        embedder: &dyn Embedder,
        weights: &RankingWeights,
    ) -> Result<RecordsFound> {
        let query = RecordQuery {
            texts: &self.texts,
            said: &self.said,
            earlier: &self.earlier,
            demands: self.demands,
            k: DEPTH,
            exclude: &self.exclude,
            among: self.known.map(|known| known.records.as_slice()),
            route: Route::Auto,
            weights,
        };
        let mut answers = record_search::search(index, embedder, &query)?;
        answers.matching = self.known.map_or(answers.matching, |known| known.met);
        Ok(RecordsFound::of(answers, self.key))
    }
}

/// Takes a title out of a text that says it: what was turned down by its title is not looked for by the title's words.
fn leave_out(text: &mut String, title: &str) {
    if let Some(at) = text.to_ascii_lowercase().find(&title.to_ascii_lowercase()).filter(|_| !title.is_empty()) {
        text.replace_range(at..at + title.len(), " ");
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
    pub(super) fn note(&self, shown: usize) -> Option<Message> {
        let answers = &self.answers.answers;
        let relaxed = answers.iter().take(shown).filter(|answer| !answer.relaxed.is_empty()).count();
        let first = answers.iter().find(|answer| !answer.relaxed.is_empty()).filter(|_| relaxed > 0)?;
        let said = first
            .demands
            .iter()
            .filter(|check| check.state != DemandState::Met && first.relaxed.contains(&check.role))
            .take(NAMED)
            .map(|check| message!("{} ({})", Message::name(check.role.to_string()), &check.said));
        let said = Message::list(PARTS, said);
        let met = self.answers.matching;
        Some(match met {
            0 => message!("nothing meets all that was stated; the first leaves out {}", said),
            1 => message!("1 record meets all that was stated; from number 2 on they leave out {}, or more", said),
            _ => message!(
                "{} records meet all that was stated; from number {} on they leave out {}, or more",
                met,
                met + 1,
                said
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

/// Decides whether a name in turn `turn` is of who published the data or of who made it. The reader reads both as a
/// source. Unless `text` speaks of a publisher or of publication, a name that the catalogue has as an institution is
/// one.
fn resolve_source_role(demands: &mut [Demand], text: &str, turn: usize, vocabulary: &Vocabulary) {
    const PUBLISHERS: [&str; 4] = ["publisher", "publishers", "source", "sources"];
    if says_publication(text) || lower_words(text).any(|word| PUBLISHERS.contains(&word.as_str())) {
        return;
    }
    for demand in demands.iter_mut().filter(|demand| demand.turn == turn && demand.role == Respect::Source) {
        let made = Demand { role: Respect::Institution, ..demand.clone() };
        if vocabulary.grounded(made.clone()).hard {
            *demand = made;
        }
    }
}

/// `demands` as a turn speaks of them: who made the data and who published it are one thing to the reader.
fn as_read(demands: &[Demand]) -> Vec<Demand> {
    let read = |demand: &Demand| match demand.role {
        Respect::Institution => Demand { role: Respect::Source, ..demand.clone() },
        _ => demand.clone(),
    };
    demands.iter().map(read).collect()
}

/// Gives what was [`as_read`] the roles that it has in `before`.
fn as_known(after: &mut Revised, before: &[Demand]) {
    for demand in after.demands.iter_mut().chain(&mut after.gone) {
        let is_it = |known: &&Demand| as_read(std::slice::from_ref(*known))[0] == *demand;
        if let Some(known) = before.iter().find(is_it) {
            *demand = known.clone();
        }
    }
}

/// How well a record meets what was stated; of rows and columns nothing is known.
pub(super) fn fit(answer: &RecordAnswer) -> IntentionFit {
    let unknown = || Match { met: true, grade: 0.5, evidence: message!("unknown: its data is not in the lake") };
    let check = |state: DemandState, said: &str| Match {
        met: state == DemandState::Met,
        grade: match state {
            DemandState::Met => 1.0,
            DemandState::Partly => 0.5,
            DemandState::Unsaid | DemandState::Violated => 0.0,
        },
        evidence: said.into(),
    };
    let constraints: Vec<(String, Match)> =
        answer.demands.iter().map(|demand| (demand.role.to_string(), check(demand.state, &demand.said))).collect();
    let stated = answer.demands.iter().filter(|demand| demand.hard).count();
    let met = answer.demands.iter().filter(|demand| demand.hard && demand.state == DemandState::Met).count();
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

/// The words to search by: what it is about, and what else is wanted that the catalogue has no field for.
fn words(demands: &[Demand]) -> String {
    let is_said = |demand: &&Demand| {
        let about = matches!(demand.role, Respect::Topic | Respect::Subject);
        !demand.avoid && (about || demand.value == Demanded::Words)
    };
    demands.iter().filter(is_said).map(|demand| demand.said.as_str()).collect::<Vec<_>>().join(" \n")
}
