//! The third stage of a turn: its candidates with their scores, in the order in which the answer lists them.

use std::collections::BTreeSet;

use super::Agent;
use super::catalogue_demands;
use super::code_lists::Explained;
use super::found::{DEPTH, Found};
use super::model;
use super::named_table::with_named_first;
use super::plan_reading::PlanReading;
use super::reading::{Reading, without_clarify};
use super::scored::{Scored, best_table, lists, with_first};
use super::trace::RankedList;
use super::turn::ReadTurn;
use crate::agentic::card::{self, Card};
use crate::agentic::listwise::OrderRequest;
use crate::recommend::fit;
use crate::recommend::utility::{Purpose, utilities};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::request::{Label, OperationKind, in_role};
use lakeward_core::respect::Respect;
use lakeward_core::text::name_likeness;
use lakeward_core::text::name_words;
use lakeward_models::llm::listwise::Order;
use lakeward_search::candidates::{TableAnswers, TableRequest, candidates};
use lakeward_search::{QueryTable, Relevance};

/// Tables that a partner is looked for among, before all others: a bound of work.
const PAIRED: usize = 20;

/// The candidates of a turn with their scores.
pub(super) struct Weighed {
    /// The candidates, best first.
    pub(super) scored: Vec<Scored>,
    /// Without a working table, where a join or union may be meant, or columns are wanted that the best table has not: the best table, and what goes with it.
    pub(super) pair: Option<(QueryTable, Vec<Scored>)>,
    /// The turn as it is read over the first table, where none is at hand.
    pub(super) over_first: Option<PlanReading>,
    /// The orders that led to the answer.
    pub(super) lists: Vec<RankedList>,
}

impl Weighed {
    /// What an operation may be done with: those that go with the table at hand, or with the best one.
    pub(super) fn partners(&self) -> &[Scored] {
        self.pair.as_ref().map_or(&self.scored, |(_, partners)| partners)
    }
}

impl Agent<'_> {
    /// Scores what was found, and lets the model have its say in the order of the first.
    ///
    /// # Errors
    /// Whatever the index and the files of a pair report.
    pub(super) fn weigh_found(&self, turn: ReadTurn<'_>, found: &Found<'_>) -> Result<Weighed> {
        let ReadTurn { session, reading, .. } = turn;
        let by_utility = self.scored(session, reading, found, found.table.as_ref())?;
        let mut lists = lists(&by_utility);
        let order = self.ordered_by_model(turn, &by_utility);
        lists.extend(
            order
                .as_ref()
                .map(|order| RankedList::of("model", order.places.iter().map(|place| (by_utility[*place].id(), None)))),
        );
        let scored = match &order {
            Some(order) => self.reordered(by_utility, order),
            None => by_utility,
        };
        let scored = self.with_explained_first(&found.explained, scored)?;
        let is_found = reading.query.is_none();
        let scored = match is_found {
            true => with_named_first(&reading.request.text, self.with_edition_first(&reading.words, scored)?),
            false => scored,
        };
        lists.push(RankedList::of("answer", scored.iter().map(|scored| (scored.id(), None))));
        let is_read = is_found && reading.answered.is_none() && !reading.request.text.trim().is_empty();
        let over_first = is_read.then(|| self.over_first(session, reading, &scored)).flatten();
        let pair = if is_found { self.pair(session, reading, found, &scored)? } else { None };
        Ok(Weighed { scored, pair, over_first, lists })
    }

    /// The candidates, the best table whose codes the best one explains before all.
    fn with_explained_first(&self, explained: &[Explained], scored: Vec<Scored>) -> Result<Vec<Scored>> {
        let Some(best) = best_table(&scored) else { return Ok(scored) };
        let by_best = explained.iter().filter(|explained| explained.list == best.id());
        let explained: BTreeSet<&str> = by_best.map(|by_best| self.index.id(by_best.table)).collect::<Result<_>>()?;
        Ok(with_first(scored, |id| explained.contains(id)))
    }

    /// The order that the model gives the first candidates, where it is asked and gives one.
    fn ordered_by_model(&self, turn: ReadTurn<'_>, scored: &[Scored]) -> Option<Order> {
        let ReadTurn { session, reading, model } = turn;
        let llm = &self.config.llm;
        let model = model.filter(|_| llm.ranking != Some(0.0))?;
        let first = &scored[..scored.len().min(llm.candidates)];
        let cards: Vec<Card> = first
            .iter()
            .map(|scored| Card::of(&scored.candidate.dataset, card::Found::from(&scored.candidate), llm.share))
            .collect();
        let earlier = self.window(session);
        let asked = OrderRequest {
            earlier: &earlier,
            request: &reading.request.text,
            operation: reading.signals.operation.label.name(),
            intention: reading.signals.intention.label.name(),
            specification: serde_json::to_value(reading.spec(&self.ranking.turn)).unwrap_or_default(),
            table: model::table_at_hand(reading.query.as_ref()),
        };
        model::order(model, &asked, &cards)
    }

    /// The candidates, the first of them in computed and model's order fused.
    fn reordered(&self, scored: Vec<Scored>, order: &Order) -> Vec<Scored> {
        let scores: Vec<f64> = scored.iter().take(order.places.len()).map(|scored| scored.best().1.total).collect();
        let fused = order.fused(&scores, order.weight(self.config.llm.ranking));
        let mut places: Vec<Option<Scored>> = scored.into_iter().map(Some).collect();
        for (rank, place) in order.places.iter().take(order.named).enumerate() {
            if let Some(Some(scored)) = places.get_mut(*place) {
                scored.model_rank = Some(rank + 1);
            }
        }
        let first: Vec<Scored> = fused.into_iter().filter_map(|place| places[place].take()).collect();
        first.into_iter().chain(places.into_iter().flatten()).collect()
    }

    /// The candidates with their scores, greatest utility first, ties by id; without the rejected ones.
    fn scored(
        &self,
        session: &Session,
        reading: &Reading<'_>,
        found: &Found<'_>,
        table: Option<&TableAnswers<'_>>,
    ) -> Result<Vec<Scored>> {
        let (spec, query) = (reading.spec(&self.ranking.turn), table.map(TableAnswers::query));
        let demands = &reading.signals.demands;
        let places: Vec<String> = in_role(demands, &Respect::Place).map(str::to_string).collect();
        let candidates = candidates(self.index, (&found.texts, table), (&places, &found.grains), &self.ranking)?;
        let used = used_up(session);
        let to_add = self.columns_to_add(&reading.requested_columns, query);
        let asked = match reading.signals.operation.label {
            OperationKind::Clarify => without_clarify(&reading.signals.operation, &self.ranking.operations),
            _ => reading.signals.operation.clone(),
        };
        // A join or union is asked of the table at hand, whenever that was named.
        let with_table = reading.request.table.is_some() || asked.combining() >= self.ranking.turn.combining;
        let purpose = Purpose {
            asked: &asked,
            to_add: &to_add,
            has_working: query.is_some(),
            with_table,
            accepted: false,
            weights: &self.ranking,
        };
        let mut scored: Vec<Scored> = candidates
            .into_iter()
            .filter(|candidate| may_serve(session, reading, &used, candidate.dataset.id().as_str()))
            .filter_map(|mut candidate| {
                let of_record = match found.records.as_ref().filter(|_| candidate.dataset.is_record()) {
                    // The search for records looked at all of them.
                    Some(records) => Some(records.get(candidate.dataset.id().as_str())?),
                    None => None,
                };
                let fit = match of_record {
                    Some((_, relevance, answer)) => {
                        candidate.relevance = Relevance { to_join: 0.0, otherwise: relevance, by_words: relevance };
                        catalogue_demands::fit(answer)
                    }
                    None => fit::fit(&spec, demands, &candidate, &self.ranking.fit),
                };
                let record = of_record.map(|(rank, _, answer)| (rank, answer.clone()));
                let accepted = session.is_accepted(candidate.dataset.id().as_str());
                let purpose = Purpose { accepted, ..purpose };
                let utilities = utilities(&candidate, &fit, &purpose, &self.config.utility);
                let task = found.tasks.evidence(candidate.dataset.id().as_str()).cloned();
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
    pub(super) fn columns_to_add(&self, requested: &[String], query: Option<&QueryTable>) -> Vec<String> {
        let own = query.map_or(&[][..], |query| query.entry.profile.columns.as_slice());
        let least = self.ranking.fit.same_name;
        let has = |requested: &&String| own.iter().any(|column| name_likeness(requested, &column.name) >= least);
        requested.iter().filter(|requested| !has(requested)).cloned().collect()
    }

    /// Without a working table, where a join or union may be meant, or columns are wanted that the best table has not: the best table as a first part, and what goes with it,
    /// those found by words first.
    fn pair(
        &self,
        session: &Session,
        reading: &Reading<'_>,
        found: &Found<'_>,
        scored: &[Scored],
    ) -> Result<Option<(QueryTable, Vec<Scored>)>> {
        let combines = reading.signals.operation.combining();
        let may_combine = |best: &&Scored| combines >= self.ranking.turn.pairing || best.lacks_columns();
        let Some(best) = best_table(scored).filter(may_combine) else { return Ok(None) };
        let Some(base) = self.open_candidate(best.id())? else { return Ok(None) };
        let request = TableRequest { query: &base, column: reading.column, depth: DEPTH };
        let table = TableAnswers::of(self.index, self.lake, &request, &self.ranking)?;
        let mut partners = self.scored(session, reading, found, Some(&table))?;
        let first: BTreeSet<&str> = scored.iter().take(PAIRED).map(Scored::id).collect();
        partners.sort_by_key(|partner| !first.contains(partner.id()));
        Ok(Some((base, partners)))
    }
}

/// Whether a candidate may serve: it is of the choice that was made, and neither turned down, shown before nor `used` up, unless the words name
/// it.
fn may_serve(session: &Session, reading: &Reading<'_>, used: &BTreeSet<&str>, id: &str) -> bool {
    let is_hidden = reading.hidden.iter().any(|hidden| hidden == id);
    let done_with = session.is_rejected(id) || used.contains(id) || is_hidden;
    let chosen = reading.answered.as_ref().map(|choice| &choice.tables).filter(|tables| !tables.is_empty());
    (!done_with || names_table(&reading.request.text, id))
        && chosen.is_none_or(|chosen| chosen.iter().any(|chosen| chosen == id))
}

/// The tables that the working table was made of: they are in it.
fn used_up(session: &Session) -> BTreeSet<&str> {
    let standing = session.steps.iter().filter(|step| !step.undone);
    standing.flat_map(|step| step.plan.tables()).collect()
}

/// Whether the words of a text name a table outright: they contain its id or all words of its last part.
pub(super) fn names_table(text: &str, id: &str) -> bool {
    let lower = text.to_lowercase();
    let last = id.rsplit('/').next().unwrap_or(id);
    lower.contains(&id.to_lowercase()) || lower.contains(&last.to_lowercase()) || {
        let said = name_words(text);
        let words = name_words(last);
        words.len() > 1 && words.iter().all(|word| said.contains(word))
    }
}
