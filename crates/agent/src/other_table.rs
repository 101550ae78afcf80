//! Decides whether a turn is about another table than the one at hand: it is read over the tables that its words find
//! as well, and it is about the table whose columns explain more of it.

use super::named_table::{are_name, opens_other};
use super::plan_reading::PlanReading;
use super::reading::Reading;
use super::record_questions::asks_for_others;
use super::scored::{Scored, best_table};
use super::{Agent, Request};
use crate::recommend::Recommendation;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::request::{Act, OperationKind, topic_words};
use lakeward_core::text::{is_function_word, lower_words};
use lakeward_lake::dataset::Dataset;
use lakeward_models::llm::LanguageModel;
use lakeward_reading::reader::{Control, FoundBeside, Role, Span};

/// Tables found that are read over.
const READ: usize = 3;
/// Words of a turn that says nothing but the name of a table.
const MOST_NAMED: usize = 4;

/// Whether a word only asks for something to be shown.
pub(super) fn is_asking(word: &str) -> bool {
    const ASKING: [&str; 14] =
        ["give", "show", "list", "get", "want", "need", "see", "find", "just", "only", "please", "now", "me", "us"];
    is_function_word(word) || ASKING.contains(&word)
}

impl Agent<'_> {
    /// Whether a turn is about another table of the lake than the one at hand, or than the one that the turn before found: one that its words alone find, and
    /// whose columns explain much more of them. What the table at hand explains is about it: tables of a lake are alike. What corrects, takes back or
    /// asks is never about another one, what combines tables is about both, and what a language model read is left as it read it.
    ///
    /// # Errors
    /// Whatever the index and the heads of tables report.
    pub(super) fn is_about_other(&self, session: &Session, reading: &Reading<'_>) -> Result<bool> {
        if reading.request.table.is_some() || reading.answered.is_some() || reading.by_model {
            return Ok(false);
        }
        let text = reading.request.text.as_str();
        let over_answer = if reading.over.is_some() { None } else { self.over_answer(session, text)? };
        let Some(over) = reading.over.as_ref().or(over_answer.as_ref()) else { return Ok(false) };
        if asks_for_others(text) {
            return Ok(!over.explained.is_whole());
        }
        if !over.explained.is_whole() && self.opens_other(text, over)? {
            return Ok(true);
        }
        let continues = !matches!(over.turn.acts.first(), Some(Act::New | Act::Refine));
        // "Of those" are the rows at hand.
        let words: Vec<String> = lower_words(text).collect();
        let refers = words.windows(2).any(|two| two[0] == "of" && matches!(&*two[1], "those" | "these" | "them"));
        let combines = over.wants_tables() || reading.signals.operation.label.combines();
        // "Now just the top 2" needs no column.
        let of_any_rows = |span: &Span| matches!(span.role, Role::Limit | Role::Steps | Role::Answer);
        // Nor does "the ten biggest" of what was computed.
        let of_figures =
            |span: &Span| of_any_rows(span) || span.role == Role::Order && over.base.kind() == OperationKind::Aggregate;
        let is_read = |word: &str| over.turn.spans.iter().any(|span| lower_words(&span.words).any(|own| own == *word));
        let needs_none = !over.turn.spans.is_empty()
            && (over.turn.spans.iter().all(of_any_rows)
                || over.turn.spans.iter().all(of_figures) && words.iter().all(|word| is_read(word) || is_asking(word)));
        if !continues && !refers && self.counts_other(text, over)? {
            return Ok(true);
        }
        if continues || refers || combines || over.is_written() || over.explained.is_whole() || needs_none {
            return Ok(false);
        }
        let at_hand = |id: &str| over.base.tables().any(|own| own == id);
        let Some(found) = self.searched(text)? else { return Ok(false) };
        let (own, others): (Vec<_>, Vec<_>) = found.answers.into_iter().partition(|answer| at_hand(&answer.table));
        // What the turn is read to go on with is no other table, nor is what says what codes of its rows mean.
        let lists = self.lists_of(session, &over.base)?;
        let explains = |id: &str| lists.iter().any(|(_, list)| list.table == id);
        if others.iter().any(|answer| over.reads(&answer.table)) {
            return Ok(false);
        }
        let others = others.into_iter().filter(|answer| !explains(&answer.table));
        let own = own.iter().filter_map(|answer| answer.relevance).fold(0.0, f64::max);
        for (rank, answer) in others.take(READ).enumerate() {
            let dataset = self.index.dataset(self.index.find(&answer.table)?)?;
            let Some(table) = dataset.table() else { continue };
            let Ok(other) = self.read_over_found(session, text, table, ("", false)) else { continue };
            let found = FoundBeside { rank, relevance: answer.relevance.unwrap_or(0.0), own_relevance: own };
            if over.explained.other_is_meant(&over.turn, other.explained, found) >= self.ranking.turn.other_table {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a turn counts what another table that its words find is called, and nothing at hand is: who counts complaints counts no other rows.
    fn counts_other(&self, text: &str, over: &PlanReading) -> Result<bool> {
        let counted: Vec<&str> = over
            .assembly
            .not_applied
            .iter()
            .filter(|lost| lost.counts_rows())
            .map(|lost| lost.words.as_str())
            .collect();
        let Some(found) = self.searched(text)?.filter(|_| !counted.is_empty()) else { return Ok(false) };
        let is_at_hand = |id: &str| over.base.tables().any(|own| own == id);
        let is_counted = |id: &str| !is_at_hand(id) && counted.iter().any(|words| are_name(words, id));
        Ok(found.answers.iter().take(READ).any(|answer| is_counted(&answer.table)))
    }

    /// Whether a turn says nothing but the name of a table that its words find, and the plan at hand reads none that has anything called so.
    fn opens_other(&self, text: &str, over: &PlanReading) -> Result<bool> {
        let asks_more = lower_words(text).filter(|word| !is_asking(word)).count() > MOST_NAMED;
        let Some(found) = self.searched(text)?.filter(|_| !asks_more) else { return Ok(false) };
        let mut at_hand = Vec::new();
        for id in over.base.tables() {
            at_hand.extend(self.index.get(id)?.map(|table| self.index.dataset(table)).transpose()?);
        }
        for answer in found.answers.iter().take(READ) {
            let dataset = self.index.dataset(self.index.find(&answer.table)?)?;
            if dataset.table().is_some_and(|table| opens_other(text, table, at_hand.iter().filter_map(Dataset::table)))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The session at the table that the turn before has a plan for, and the turn read over it, where it goes on from that plan although it was not carried
    /// out: "only Asia", "the median instead". It does under the conditions that hold for a table at hand.
    ///
    /// # Errors
    /// A damaged index, and whatever reading the table reports.
    pub(super) fn continued_proposal<'r>(
        &self,
        session: &Session,
        reading: &Reading<'_>,
        request: &'r Request,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<Option<(Session, Reading<'r>)>> {
        if reading.answered.is_some() || request.table.is_some() {
            return Ok(None);
        }
        // What a closed form says is said of a table that was only opened, too.
        let is_closed = Control::of_text(&request.text).is_some();
        let at_hand = if is_closed { session.at_opened() } else { session.at_proposal() };
        let Some(at_hand) = at_hand else { return Ok(None) };
        let mut over = self.read(&at_hand, request, model)?;
        let continues =
            over.over.as_ref().is_some_and(PlanReading::continues_plan) && !self.is_about_other(&at_hand, &over)?;
        let table = at_hand.working().map(|input| input.to_string()).unwrap_or_default();
        over.notes.push(message!("this continues the plan that was proposed over {} and has not been run", table));
        Ok(continues.then_some((at_hand, over)))
    }

    /// The session with the table of the proposal that was made last, and the request as it is read over it, where a search only opens the same table
    /// again: what is said of rows and could not be read leaves standing what was asked for before.
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub(super) fn kept_proposal<'r>(
        &self,
        session: &Session,
        (reading, request): (&Reading<'_>, &'r Request),
        answer: &Recommendation,
    ) -> Result<Option<(Session, Reading<'r>)>> {
        let changes = |act: &Act| matches!(act, Act::Refine | Act::Correct | Act::Retract);
        let opened =
            answer.operations.first().filter(|first| !first.requested).and_then(|first| first.runnable.as_ref());
        let Some(opened) = opened.filter(|plan| plan.relation.steps.is_empty() && reading.over.is_none()) else {
            return Ok(None);
        };
        let Some(at_hand) = session.at_proposal().filter(|_| request.table.is_none()) else { return Ok(None) };
        let is_same = at_hand.working().as_ref() == Some(&opened.relation.source);
        if !is_same || !reading.signals.acts.first().is_some_and(changes) {
            return Ok(None);
        }
        let mut over = self.read(&at_hand, request, None)?;
        over.notes.push(message!("what was proposed before stands as it was"));
        Ok(Some((at_hand, over)))
    }

    /// A turn without a table at hand as it is read over the table that the turn before found, where that found tables of the lake.
    ///
    /// # Errors
    /// A damaged index.
    fn over_answer(&self, session: &Session, text: &str) -> Result<Option<PlanReading>> {
        let Some(id) = session.remembered().last().and_then(|turn| turn.tables.first()) else { return Ok(None) };
        let Some(table) = self.index.get(id)? else { return Ok(None) };
        let dataset = self.index.dataset(table)?;
        Ok(dataset.table().and_then(|table| self.read_over_found(session, text, table, ("", false)).ok()))
    }

    /// The turn as it is read over the best table of the lake, where none is at hand; none where that cannot be read.
    pub(super) fn over_first(
        &self,
        session: &Session,
        reading: &Reading<'_>,
        scored: &[Scored],
    ) -> Option<PlanReading> {
        let topic = topic_words(&reading.signals.demands).collect::<Vec<_>>().join(" ");
        let table = best_table(scored)?.candidate.dataset.table()?;
        self.read_over_found(session, &reading.request.text, table, (&topic, true)).ok()
    }
}
