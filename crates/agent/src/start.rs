//! The table that the operations of a turn start from, and what goes with it: the fourth stage of a turn.

use super::Agent;
use super::known_columns::AtHand;
use super::plan_reading::PlanReading;
use super::readers::{TurnReader, TurnToRead};
use super::reading::Reading;
use super::scored::{Scored, best_for, best_table, supplements};
use super::turn::ReadTurn;
use super::weighed::Weighed;
use crate::recommend::next_operations::Base;
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Input, OperationKind};
use lakeward_search::{Candidate, QueryTable};

/// The table that operations start from: the one at hand, else the best one of the lake that was found.
pub(super) struct Start<'t> {
    /// The table at hand, where there is one.
    working: Option<&'t Input>,
    /// How the table is made, and what is in it; none where no table was found.
    pub base: Option<Base<'t>>,
    /// The same as searches see it, where it was opened.
    pub table: Option<&'t QueryTable>,
    /// What it can be combined with, best first.
    pub partners: &'t [Scored],
    /// The best candidate of all, where that is a record of a catalogue: there is nothing to start from.
    pub record: Option<&'t str>,
    /// Whether it was found, and most of the columns that are wanted are not in it.
    pub lacks_columns: bool,
    /// The turn as it is read over it.
    read: Option<&'t PlanReading>,
    /// The same, where it was found and a language model read it.
    read_by_model: Option<PlanReading>,
}

/// What goes with the table that operations start from.
pub(super) struct Partners<'t> {
    all: &'t [Scored],
    /// The one that has what is wanted at the grain that the words name, where they name one.
    at_grain: Option<Scored>,
    /// The best of all to join with.
    best: Option<&'t Candidate>,
    /// Those to append, best first.
    pub supplements: Vec<&'t Candidate>,
}

impl Start<'_> {
    /// The turn as it is read over the table.
    pub fn over(&self) -> Option<&PlanReading> {
        self.read_by_model.as_ref().or(self.read)
    }

    /// Whether the table is at hand already.
    pub fn is_at_hand(&self) -> bool {
        self.working.is_some()
    }

    /// The table with its name, where it was opened.
    pub fn at_hand(&self) -> Option<AtHand<'_>> {
        let input = self.working.or(self.base.as_ref().map(|base| &base.plan.relation.source));
        input.zip(self.table).map(|(input, table)| AtHand { input, table })
    }
}

impl Partners<'_> {
    /// What can be joined: where the words name a grain, only the partner that has it.
    pub fn to_join(&self) -> &[Scored] {
        self.at_grain.as_ref().map_or(self.all, std::slice::from_ref)
    }

    /// The best one to join with.
    pub fn best(&self) -> Option<&Candidate> {
        self.at_grain.as_ref().map(|scored| &scored.candidate).or(self.best)
    }

    /// Whether the words name a grain that one of them has.
    pub fn is_at_grain(&self) -> bool {
        self.at_grain.is_some()
    }
}

impl Agent<'_> {
    /// The table that operations start from, and how the turn reads over it.
    ///
    /// # Errors
    /// A damaged index, and whatever reading the table reports.
    pub(super) fn start<'t>(&self, turn: ReadTurn<'t>, weighed: &'t Weighed) -> Result<Start<'t>> {
        let ReadTurn { session, reading, model } = turn;
        let Weighed { scored, pair, over_first, .. } = weighed;
        let working = reading.working.as_ref();
        let table = reading.query.as_ref().or(pair.as_ref().map(|(best, _)| best));
        let best = best_table(scored);
        let base = match (working, table, best.and_then(|best| best.candidate.dataset.table())) {
            (Some(input), Some(table), _) => Some(Base { plan: session.plan_of(input), entry: &table.entry }),
            (None, Some(table), _) => Some(Base { plan: whole(&table.entry.id), entry: &table.entry }),
            (_, None, Some(best)) => {
                let own = whole(&best.id);
                let rows = over_first.as_ref().map(PlanReading::found_rows);
                let plan = rows.filter(|rows| rows.relation.source == own.relation.source).unwrap_or(own);
                Some(Base { plan, entry: best })
            }
            _ => None,
        };
        // The best table stands for one at hand; what cannot be read of it proposes nothing.
        let asked = model.filter(|_| reading.by_model && reading.signals.operation.label.needs_table());
        let read_by_model = match (over_first, &base, asked) {
            (Some(_), Some(base), Some(model)) => {
                let text = reading.request.text.as_str();
                let asked = TurnToRead { session, text, previous: "", plan: Some(&base.plan), at_hand: None };
                model.read(self, &asked)?.and_then(|read| read.over)
            }
            _ => None,
        };
        Ok(Start {
            working,
            base,
            table,
            partners: weighed.partners(),
            record: scored.first().filter(|first| first.candidate.dataset.is_record()).map(Scored::id),
            lacks_columns: working.is_none() && best.is_some_and(Scored::lacks_columns),
            read: reading.over.as_ref().or(over_first.as_ref()),
            read_by_model,
        })
    }

    /// What goes with the table that operations start from.
    ///
    /// # Errors
    /// Those of [`Agent::at_grain`].
    pub(super) fn partners<'t>(&self, reading: &Reading<'_>, start: &Start<'t>) -> Result<Partners<'t>> {
        let (all, text) = (start.partners, reading.request.text.as_str());
        let to_add = self.columns_to_add(&reading.requested_columns, start.table);
        let at_grain = match start.table.filter(|_| reading.signals.operation.label == OperationKind::Join) {
            Some(table) => self.at_grain(text, &reading.requested_columns, table, all)?,
            None => None,
        };
        let best = best_for(OperationKind::Join, all, &to_add, &self.ranking);
        Ok(Partners { all, at_grain, best, supplements: supplements(all, &to_add, text, &self.ranking) })
    }
}

/// All rows of a table of the lake.
fn whole(id: &impl ToString) -> Plan {
    Plan::of(Input::Table(id.to_string()))
}
