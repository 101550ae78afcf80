//! The operations of a turn, ranked: what its words ask for, joins that add what they name, and what else fits. The seventh stage
//! of a turn.

use super::Agent;
use super::doubts::carried_out_in_doubt;
use super::named_table::{names_outright, only_names};
use super::prediction::{Joined, Joining};
use super::read_operations::Requested;
use super::start::{Partners, Start};
use super::turn::ReadTurn;
use crate::recommend::likelihood::{Basis, to_probabilities};
use crate::recommend::next_operations::{self, Base, Situation, unmet};
use crate::recommend::{Question, RankedOperation};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Label, OperationKind};

/// Operations whose SQL is shown at once.
const WITH_SQL: usize = 2;

/// All operations that a turn proposes.
pub(super) struct RankedOperations {
    /// Best first, each with the probability that it is what is wanted.
    pub operations: Vec<RankedOperation>,
    /// What the analyst should know of them.
    pub notes: Vec<Message>,
}

impl Agent<'_> {
    /// The operations that a turn proposes, best first.
    ///
    /// # Errors
    /// What reading and previewing tables meets.
    pub(super) fn ranked_operations(
        &self,
        turn: ReadTurn<'_>,
        (start, partners): (&Start<'_>, &Partners<'_>),
        requested: &Requested,
        question: Option<&Question>,
    ) -> Result<RankedOperations> {
        let names_base = |base: &Base<'_>| only_names(&turn.reading.request.text, base.entry);
        let is_named = start.base.as_ref().is_some_and(names_base);
        // A table that is named outright and not open yet is wanted as it is.
        let is_wanted_whole = |base: &Base<'_>| names_outright(&turn.reading.request.text, base.entry);
        let is_whole = !start.is_at_hand() && start.base.as_ref().is_some_and(is_wanted_whole);
        let asked = requested.operation.as_ref().filter(|_| !is_whole);
        let opens = is_named && !start.is_at_hand() && asked.is_none();
        let ranked = self.by_fit(turn, (start, partners), (asked, opens), question);
        let joined = self.joined(turn, (start, partners), asked, ranked)?;
        let operations = doubting_guesses(turn, (start, partners), joined.operations);
        let basis = match operations.first().filter(|first| first.requested) {
            Some(_) if joined.is_looked_up => Basis::Named,
            Some(_) => self.basis_of_words(turn.session, start, requested.is_lossy),
            None if is_named => Basis::Opened,
            None => Basis::Fits,
        };
        let operations = self.by_probability(turn.session, start, basis, operations)?;
        let (mut operations, untried) = self.with_sql(turn.session, operations);
        // What the next turn says is said of a table that was asked for by its name.
        if opens && is_whole {
            operations.first_mut().into_iter().for_each(|first| first.requested = first.runnable.is_some());
        }
        Ok(RankedOperations { operations, notes: joined.notes.into_iter().map(Message::from).chain(untried).collect() })
    }

    /// One operation of each kind, by how much of what it needs holds.
    fn by_fit(
        &self,
        turn: ReadTurn<'_>,
        (start, partners): (&Start<'_>, &Partners<'_>),
        (requested, opens): (Option<&RankedOperation>, bool),
        question: Option<&Question>,
    ) -> Vec<RankedOperation> {
        let (reading, over) = (turn.reading, start.over());
        next_operations::rank(&Situation {
            signals: &reading.signals,
            text: &reading.request.text,
            requested_columns: &reading.requested_columns,
            base: start.base.as_ref(),
            is_at_hand: start.is_at_hand(),
            opens,
            record: start.record,
            requested,
            is_over_other_rows: over.is_some_and(|over| over.is_over_other_rows()),
            unclear: start.is_at_hand() && over.is_some_and(|over| over.is_unclear()),
            partner: partners.best(),
            supplements: &partners.supplements,
            question,
            weights: &self.ranking,
        })
    }

    /// The operations with the joins first that add columns which the words want of other tables.
    fn joined(
        &self,
        turn: ReadTurn<'_>,
        (start, partners): (&Start<'_>, &Partners<'_>),
        requested: Option<&RankedOperation>,
        ranked: Vec<RankedOperation>,
    ) -> Result<Joined> {
        let (Some(base), Some(table)) = (&start.base, start.table) else { return Ok(Joined::of(ranked)) };
        let reading = turn.reading;
        let is_join =
            reading.signals.operation.label == OperationKind::Join && reading.surely_combines(&self.ranking.turn);
        // What was read joins a table already, perhaps for a figure of the rows.
        let is_read = |requested: &RankedOperation| {
            let mut tables = requested.runnable.iter().flat_map(Plan::tables);
            requested.kind.combines() || tables.any(|table| base.plan.tables().all(|own| own != table))
        };
        let is_guess = (is_join || start.lacks_columns) && !partners.is_at_grain() && !requested.is_some_and(is_read);
        let (is_at_hand, partners) = (start.is_at_hand(), start.partners);
        let joining = Joining { base, table, is_at_hand, requested, partners, is_guess };
        let turns = (start.over().map_or(&reading.turn, |over| &over.turn), &reading.turn);
        self.with_joins(turn.session, (&reading.signals, &reading.request.text), &joining, turns, ranked)
    }

    /// What a plan rests on that was read from words; `is_lossy` where not all of them could be applied.
    fn basis_of_words(&self, session: &Session, start: &Start<'_>, is_lossy: bool) -> Basis {
        let over = start.over();
        let anew = over.is_some_and(|over| over.turn.has(Act::New));
        let doubt = carried_out_in_doubt(session).filter(|_| !anew);
        Basis::Read {
            certainty: over.map_or(0.0, |over| self.certainty(over)),
            lost: is_lossy,
            standing: doubt.map_or(1.0, |doubt| doubt.likelihood),
        }
    }

    /// The operations with their probabilities, and after the first what else the words may mean.
    fn by_probability(
        &self,
        session: &Session,
        start: &Start<'_>,
        basis: Basis,
        mut operations: Vec<RankedOperation>,
    ) -> Result<Vec<RankedOperation>> {
        to_probabilities(&mut operations, basis, &self.ranking.likelihood);
        let (Basis::Read { .. }, Some(over)) = (basis, start.over()) else { return Ok(operations) };
        let first = operations.first();
        let likeliest = first.map_or(0.0, |first| first.score);
        let others = self.other_operations(session, over, first.and_then(|first| first.runnable.as_ref()))?;
        operations
            .extend(others.into_iter().map(|other| RankedOperation { score: other.score.min(likeliest), ..other }));
        if let Some((_, rest)) = operations.split_first_mut() {
            rest.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        Ok(operations)
    }

    /// The operations, the first of them with their SQL, and what is to be said of those that cannot be run.
    fn with_sql(
        &self,
        session: &Session,
        mut operations: Vec<RankedOperation>,
    ) -> (Vec<RankedOperation>, Vec<Message>) {
        let mut notes = Vec::new();
        for operation in operations.iter_mut().take(WITH_SQL) {
            let (Some(runnable), None) = (&operation.runnable, &operation.sql) else { continue };
            match self.sql(session, runnable) {
                Ok(sql) => operation.sql = Some(sql),
                Err(error) => {
                    notes.push(message!(
                        "{} cannot be run as it stands: {}",
                        Message::name(operation.kind.name()),
                        error.to_string()
                    ));
                    operation.runnable = None;
                }
            }
        }
        (operations, notes)
    }
}

/// The operations; of one that the turn asks for of the table and that could not be read, it is said that it is guessed.
fn doubting_guesses(
    turn: ReadTurn<'_>,
    (start, partners): (&Start<'_>, &Partners<'_>),
    mut operations: Vec<RankedOperation>,
) -> Vec<RankedOperation> {
    let asked = turn.reading.signals.operation.label;
    let is_guess = |operation: &&mut RankedOperation| {
        let is_read = operation.kind == OperationKind::Join && partners.is_at_grain();
        !operation.requested && !is_read && operation.kind == asked && operation.kind.combines()
    };
    if start.over().is_some() {
        for operation in operations.iter_mut().filter(is_guess) {
            let what = "which table and columns is not read from the words: this one fits best";
            operation.preconditions.push(unmet(what));
        }
    }
    operations
}
