//! One turn: from a request and its session to ranked tables and ranked operations.

use std::collections::BTreeSet;

use super::hear::{Turn, without_clarify};
use super::model;
use super::scored::{Scored, best_for, best_table, lists, ranked_table, supplements};
use super::search::Found;
use super::trace::{ModelUse, Provenance, RankedList};
use super::wanted;
use super::{Agent, Request};
use crate::agentic::RunCache;
use crate::agentic::card::{self, Card};
use crate::agentic::listwise::{Asked, Order};
use crate::recommend::operations::{self, Base, Situation};
use crate::recommend::task_spec::TaskSpec;
use crate::recommend::utility::{Purpose, utilities};
use crate::recommend::{Recommendation, Utility, fit, question};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::request::{Constraints, Input, Label, OperationKind};
use lakeward_core::text::name_words;
use lakeward_models::embed::EmbedderExt;
use lakeward_models::llm::{LanguageModel, Limits, Unanswered};
use lakeward_search::candidates::{self, TableAnswers, TableRequest, TextAnswers, TextRequest, candidates};
use lakeward_search::cite::{Checked, Gate};
use lakeward_search::likeness::name_likeness;
use lakeward_search::{QueryTable, Relevance};

/// Answers asked of each search.
pub(super) const DEPTH: usize = 100;
/// Tables that a partner is looked for among, before all others.
const PAIRED: usize = 20;
/// Operations whose SQL is shown at once.
const WITH_SQL: usize = 2;

impl Agent<'_> {
    /// Answers a request and adds the turn to the session, which is not written.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for a request without words and table; [`lakeward_core::Error::UnknownTable`] and
    /// [`lakeward_core::Error::UnknownColumn`]; whatever reading the working table and the index reports.
    pub fn turn(&self, session: &mut Session, request: &Request) -> Result<Checked<Recommendation>> {
        self.traced_turn(session, request).map(|(recommendation, _)| recommendation)
    }

    /// The same with what led to the answer, for [`super::trace::TurnTrace`].
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub fn traced_turn(
        &self,
        session: &mut Session,
        request: &Request,
    ) -> Result<(Checked<Recommendation>, Provenance)> {
        self.answer(session, request, self.runs.as_ref())
    }

    /// The answer to a request, with what led to it. Runs of the search are taken from and kept in `runs`; what is traced asks
    /// anew, so that its trace has every question.
    pub(super) fn answer(
        &self,
        session: &mut Session,
        request: &Request,
        runs: Option<&RunCache>,
    ) -> Result<(Checked<Recommendation>, Provenance)> {
        let model =
            self.model.map(|access| LanguageModel::new(access.chat, access.prompts, self.limits(), access.cache));
        let mut turn = self.hear(session, request, model.as_ref())?;
        let sought = self.sought(session, &turn.request.text, &turn.text, &turn.signals, model.as_ref());
        // With a table at hand it is the table that finds most; the rules would add searches and next to nothing else.
        turn.served = self.served(&turn.text);
        let by_rules_with_table = model.is_none() && turn.query.is_some();
        let own = if by_rules_with_table { None } else { self.searched(&turn.text)? };
        let mut found = match &own {
            Some(own) => self.pursue(sought, own, model.as_ref(), runs)?,
            None => None,
        };
        let further = found.as_mut().map(|found| std::mem::take(&mut found.searched)).unwrap_or_default();
        turn.searched = own.into_iter().chain(further).collect();
        if let Some(found) = &found {
            turn.texts = found.texts(&turn.text, self.config.llm.voice, &self.ranking.turn);
            turn.proposed = self.proposed(found);
        }
        self.find_records(session, &mut turn)?;
        let (mut recommendation, lists) = self.recommend(session, &turn, model.as_ref())?;
        let shown = recommendation.tables.len();
        recommendation.notes.extend(turn.records.as_ref().and_then(|records| records.note(shown)));
        recommendation.notes.extend(found.as_ref().and_then(Found::note));
        recommendation.notes.extend(turn.served.trouble.take());
        let recommendation = Gate::new(self.index).admit(recommendation)?;
        let retrieval = turn.records.as_ref().map(|records| records.logged(session.next_turn(), shown));
        session.push_turn(&request.text, &recommendation);
        session.memory.note(turn.conflict.take(), retrieval);
        let run = found.map(|found| found.pursuit.trace);
        Ok((recommendation, Provenance { lists, run, model: model.map(ModelUse::of) }))
    }

    /// U(T, O) of every candidate, once for each operation with it: what the first turn of a session ranks by. Candidates
    /// are in the order of their ids.
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub fn weigh(&self, request: &Request) -> Result<Vec<(String, Vec<Utility>)>> {
        let mut session = Session::new("weigh", "");
        let mut turn = self.hear(&mut session, request, None)?;
        turn.served = self.served(&turn.text);
        self.find_records(&session, &mut turn)?;
        let (texts, table) = self.find(&turn)?;
        let scored = self.scored(&session, &turn, &texts, table.as_ref())?;
        let utilities = |scored: &Scored| scored.utilities.iter().map(|(_, utility)| *utility).collect();
        let mut weighed: Vec<(String, Vec<Utility>)> =
            scored.iter().map(|scored| (scored.id().to_string(), utilities(scored))).collect();
        weighed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(weighed)
    }

    /// Finds the records that meet what is wanted; they are candidates whatever else finds them.
    fn find_records(&self, session: &Session, turn: &mut Turn<'_>) -> Result<()> {
        turn.records = self.records(session, &turn.signals.intent, turn.texts.get(1..).unwrap_or_default())?;
        let Some(found) = &turn.records else { return Ok(()) };
        for answer in &found.answers.answers {
            turn.proposed.extend(self.index.get(&answer.table)?);
        }
        turn.proposed.sort_unstable();
        turn.proposed.dedup();
        Ok(())
    }

    fn recommend(
        &self,
        session: &Session,
        turn: &Turn<'_>,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<(Recommendation, Vec<RankedList>)> {
        let Turn { signals, query, working, .. } = turn;
        let has_working = query.is_some();
        let spec = turn.spec();
        let (texts, table) = self.find(turn)?;
        let mut scored = self.scored(session, turn, &texts, table.as_ref())?;
        let mut lists = lists(&scored);
        if let Some(order) = model.and_then(|model| self.ordered_by(model, turn, &spec, &scored)) {
            lists.push(RankedList::of("model", order.places.iter().map(|place| (scored[*place].id(), None))));
            scored = self.reordered(scored, &order);
        }
        lists.push(RankedList::of("answer", scored.iter().map(|scored| (scored.id(), None))));
        let pair = if has_working { None } else { self.pair(session, turn, &texts, &scored)? };
        let mut notes = Vec::new();
        let base_query = query.as_ref().or(pair.as_ref().map(|(base, _)| base));
        let holds = |place: usize, hash: u64| match (base_query, best_table(&scored)) {
            (Some(query), _) => {
                query.columns.get(place).is_some_and(|column| column.values.hashes.binary_search(&hash).is_ok())
            }
            (None, Some(best)) => self.is_held(best.id(), place, hash).unwrap_or(false),
            (None, None) => false,
        };
        let base = match (working, base_query, best_table(&scored).and_then(|best| best.candidate.dataset.table())) {
            (Some(input), Some(query), _) => Some(Base { input: input.clone(), entry: &query.entry, holds: &holds }),
            (None, Some(query), _) => {
                let input = Input::Table(query.entry.id.as_str().to_string());
                Some(Base { input, entry: &query.entry, holds: &holds })
            }
            (_, None, Some(best)) => {
                Some(Base { input: Input::Table(best.id.to_string()), entry: best, holds: &holds })
            }
            _ => None,
        };
        let partners = pair.as_ref().map_or(scored.as_slice(), |(_, partners)| partners.as_slice());
        let wanted = self.columns_to_add(&signals.constraints, base_query);
        let partner = best_for(OperationKind::Join, partners, &wanted, &self.ranking);
        let supplements = supplements(partners, &wanted, &turn.request.text, &self.ranking);
        let asked = turn.conflict.as_ref().map(|conflict| question::about(conflict.question(), conflict.readings()));
        let computed = || question::best(scored.iter().map(|scored| &scored.candidate), &signals.operation);
        let mut question = asked.or_else(computed);
        if let (Some(model), Some(question), OperationKind::Clarify) = (model, &mut question, signals.operation.label) {
            let reworded = model::reworded(model, &turn.request.text, question);
            if reworded != question.text {
                question.computed = Some(std::mem::replace(&mut question.text, reworded));
            }
        }
        let record = scored.first().filter(|scored| scored.candidate.dataset.is_record()).map(Scored::id);
        let text = turn.request.text.as_str();
        let weights = &self.ranking;
        let situation = Situation { signals, text, base, record, partner, supplements, question, weights };
        let mut operations = operations::rank(&situation);
        for operation in operations.iter_mut().take(WITH_SQL) {
            let Some(runnable) = &operation.runnable else { continue };
            match self.sql(session, runnable) {
                Ok(sql) => operation.sql = Some(sql),
                Err(error) => {
                    notes.push(format!("{} cannot be run as it stands: {error}", operation.kind.name()));
                    operation.runnable = None;
                }
            }
        }
        if scored.is_empty() {
            notes.push("no table of the lake was found for this".into());
        }
        if let Some((of, trouble)) = model.and_then(LanguageModel::trouble) {
            let trouble = match trouble {
                // It quotes what the model answered.
                Unanswered::Contract(_) => Gate::new(self.index).text(&trouble.to_string(), &[])?,
                other => other.to_string(),
            };
            notes.push(format!("the language model did not help with {}: {trouble}", of.purpose()));
        }
        if let Some(trouble) = self.embedder.failure() {
            notes.push(format!("found by words and values only, not by meaning: {trouble}"));
        }
        scored.truncate(shown(turn, &scored));
        let tables = scored.into_iter().map(ranked_table).collect();
        Ok((Recommendation { signals: signals.clone(), spec, tables, operations, notes }, lists))
    }

    /// What the model may cost in a turn; a replay is bounded by what was recorded.
    fn limits(&self) -> Limits {
        if self.replayed.is_some() { Limits::NONE } else { self.config.llm.limits() }
    }

    /// The first candidates in the model's order.
    fn ordered_by(
        &self,
        model: &LanguageModel<'_>,
        turn: &Turn<'_>,
        spec: &TaskSpec,
        scored: &[Scored],
    ) -> Option<Order> {
        let first = &scored[..scored.len().min(self.config.llm.candidates)];
        let cards: Vec<Card> = first
            .iter()
            .map(|scored| Card::of(&scored.candidate.dataset, card::Found::from(&scored.candidate)))
            .collect();
        let asked = Asked {
            request: &turn.request.text,
            operation: turn.signals.operation.label.name(),
            intention: turn.signals.intention.label.name(),
            specification: serde_json::to_value(spec).unwrap_or_default(),
            table: model::table_at_hand(turn.query.as_ref()),
        };
        model::order(model, &asked, &cards)
    }

    /// The candidates, the first of them in computed and model's order fused.
    fn reordered(&self, scored: Vec<Scored>, order: &Order) -> Vec<Scored> {
        let scores: Vec<f64> = scored.iter().take(order.places.len()).map(|scored| scored.best().1.total).collect();
        let fused = order.fused(&scores, self.config.llm.voice);
        let mut places: Vec<Option<Scored>> = scored.into_iter().map(Some).collect();
        for (rank, place) in order.places.iter().take(order.named).enumerate() {
            if let Some(Some(scored)) = places.get_mut(*place) {
                scored.model_rank = Some(rank + 1);
            }
        }
        let first: Vec<Scored> = fused.into_iter().filter_map(|place| places[place].take()).collect();
        first.into_iter().chain(places.into_iter().flatten()).collect()
    }

    /// The tables that the texts of a turn find, and those that go with the table at hand.
    fn find<'t>(&self, turn: &'t Turn<'_>) -> Result<(TextAnswers, Option<TableAnswers<'t>>)> {
        let texts: Vec<(&str, f64)> = turn.texts.iter().map(|(text, weight)| (text.as_str(), *weight)).collect();
        let request = TextRequest {
            texts: &texts,
            searched: &turn.searched,
            proposed: &turn.proposed,
            supported: &turn.served.gains(),
            depth: DEPTH,
        };
        let table = turn.query.as_ref().map(|query| TableRequest { query, column: turn.column, depth: DEPTH });
        candidates::find(self.index, self.lake, self.embedder, (&request, table), &self.ranking)
    }

    /// The candidates with their scores, greatest utility first, ties by id; without the rejected ones.
    fn scored(
        &self,
        session: &Session,
        turn: &Turn<'_>,
        texts: &TextAnswers,
        table: Option<&TableAnswers<'_>>,
    ) -> Result<Vec<Scored>> {
        let (spec, query) = (turn.spec(), table.map(TableAnswers::query));
        let constraints = &turn.signals.constraints;
        let found = candidates(self.index, texts, table, &constraints.geography, &self.ranking)?;
        let used = used_up(session);
        let wanted = self.columns_to_add(constraints, query);
        let asked = match turn.signals.operation.label {
            OperationKind::Clarify => without_clarify(&turn.signals.operation),
            _ => turn.signals.operation.clone(),
        };
        // A join or union is asked of the table at hand, whenever that was named.
        let with_table = turn.request.table.is_some() || asked.combining() >= self.ranking.turn.combining;
        let purpose = Purpose {
            asked: &asked,
            wanted: &wanted,
            has_working: query.is_some(),
            with_table,
            accepted: false,
            weights: &self.ranking,
        };
        let kept: Option<BTreeSet<&str>> = turn
            .answered
            .as_ref()
            .map(|choice| choice.tables.iter().map(String::as_str).collect::<BTreeSet<_>>())
            .filter(|tables| !tables.is_empty());
        let mut scored: Vec<Scored> = found
            .into_iter()
            .filter(|candidate| {
                let id = candidate.dataset.id().as_str();
                let done_with = session.is_rejected(id) || used.contains(id);
                (!done_with || names_table(&turn.request.text, id))
                    && kept.as_ref().is_none_or(|kept| kept.contains(id))
            })
            .filter_map(|mut candidate| {
                let found = match turn.records.as_ref().filter(|_| candidate.dataset.is_record()) {
                    // The search for records looked at all of them.
                    Some(records) => Some(records.get(candidate.dataset.id().as_str())?),
                    None => None,
                };
                let fit = match found {
                    Some((_, relevance, answer)) => {
                        candidate.relevance = Relevance { to_join: 0.0, otherwise: relevance, by_words: relevance };
                        wanted::fit(answer)
                    }
                    None => fit::fit(&spec, constraints, &candidate, &self.ranking.fit),
                };
                let record = found.map(|(rank, _, answer)| (rank, answer.clone()));
                let accepted = session.is_accepted(candidate.dataset.id().as_str());
                let purpose = Purpose { accepted, ..purpose };
                let utilities = utilities(&candidate, &fit, &purpose, &self.config.utility);
                let task = turn.served.evidence(candidate.dataset.id().as_str()).cloned();
                Some(Scored { candidate, fit, utilities, record, task, accepted, model_rank: None })
            })
            .collect();
        let rank = |scored: &Scored| scored.record.as_ref().map_or(usize::MAX, |(rank, _)| *rank);
        scored.sort_by(|a, b| {
            let by_total = b.best().1.total.total_cmp(&a.best().1.total);
            by_total.then_with(|| rank(a).cmp(&rank(b))).then_with(|| a.id().cmp(b.id()))
        });
        Ok(scored)
    }

    /// The columns asked for that the working table does not have.
    fn columns_to_add(&self, constraints: &Constraints, query: Option<&QueryTable>) -> Vec<String> {
        let own = query.map_or(&[][..], |query| query.entry.profile.columns.as_slice());
        let least = self.ranking.fit.same_name;
        let has = |wanted: &&String| own.iter().any(|column| name_likeness(wanted, &column.name) >= least);
        constraints.required_columns.iter().filter(|wanted| !has(wanted)).cloned().collect()
    }

    /// Without a working table, where a join or union may be meant: the best table as a first part, and what goes with it,
    /// those found by words first.
    fn pair(
        &self,
        session: &Session,
        turn: &Turn<'_>,
        texts: &TextAnswers,
        scored: &[Scored],
    ) -> Result<Option<(QueryTable, Vec<Scored>)>> {
        let combines = turn.signals.operation.combining();
        let Some(best) = best_table(scored).filter(|_| combines >= self.ranking.turn.pairing) else { return Ok(None) };
        let Some(base) = self.open_candidate(best.id())? else { return Ok(None) };
        let request = TableRequest { query: &base, column: turn.column, depth: DEPTH };
        let table = TableAnswers::of(self.index, self.lake, &request, &self.ranking)?;
        let mut partners = self.scored(session, turn, texts, Some(&table))?;
        let found: BTreeSet<&str> = scored.iter().take(PAIRED).map(Scored::id).collect();
        partners.sort_by_key(|partner| !found.contains(partner.id()));
        Ok(Some((base, partners)))
    }
}

/// How many tables a turn shows: as many as the caller or the conversation asks for, else few records or some tables.
fn shown(turn: &Turn<'_>, scored: &[Scored]) -> usize {
    const RECORDS: usize = 3;
    const TABLES: usize = 10;
    let are_records = scored.first().is_some_and(|scored| scored.candidate.dataset.is_record());
    match (turn.request.k, turn.signals.intent.answers) {
        (0, Some(asked)) => asked.max(1),
        (0, None) => {
            if are_records {
                RECORDS
            } else {
                TABLES
            }
        }
        (k, _) => k,
    }
}

/// The tables that the working table was made of: they are in it.
fn used_up(session: &Session) -> BTreeSet<&str> {
    let standing = session.steps.iter().filter(|step| !step.undone);
    let inputs = standing.flat_map(|step| step.operation.inputs());
    inputs.filter_map(|input| if let Input::Table(id) = input { Some(id.as_str()) } else { None }).collect()
}

/// Whether the words of a text name a table outright: they contain its id or all words of its last part.
fn names_table(text: &str, id: &str) -> bool {
    let lower = text.to_lowercase();
    let last = id.rsplit('/').next().unwrap_or(id);
    lower.contains(&id.to_lowercase()) || lower.contains(&last.to_lowercase()) || {
        let said = name_words(text);
        let words = name_words(last);
        words.len() > 1 && words.iter().all(|word| said.contains(word))
    }
}
