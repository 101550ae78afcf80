//! The operations that a turn as it was read comes to: what it is taken for, and what else it may mean. The first is the fifth
//! stage of a turn.

use super::Agent;
use super::doubts::doubts;
use super::named_table::named_in_vain;
use super::plan_reading::PlanReading;
use super::requested_plan::{Among, RequestedPlan, kind_of};
use super::start::{Partners, Start};
use super::turn::ReadTurn;
use crate::recommend::RankedOperation;
use crate::recommend::next_operations::{met, unmet};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message};
use lakeward_core::plan::Plan;
use lakeward_core::request::OperationKind;
use lakeward_reading::reader::{Act, Meaning, NotApplied, TurnReading};

/// What the words of a turn ask for.
#[derive(Default)]
pub(super) struct Requested {
    /// The operation, its SQL tried; none where they say nothing of rows, or mean something else.
    pub operation: Option<RankedOperation>,
    /// Whether something that was read could not be applied.
    pub is_lossy: bool,
}

impl Agent<'_> {
    /// The operation that the words of a turn ask for, over the table that operations start from.
    ///
    /// # Errors
    /// Whatever the index and the heads of tables report.
    pub(super) fn requested(
        &self,
        turn: ReadTurn<'_>,
        start: &Start<'_>,
        partners: &Partners<'_>,
    ) -> Result<Requested> {
        let ReadTurn { session, reading, .. } = turn;
        let Some(over) = start.over() else { return Ok(Requested::default()) };
        let among = Among {
            session,
            text: &reading.request.text,
            at_hand: start.at_hand(),
            partners: partners.to_join(),
            supplements: &partners.supplements,
        };
        let asks_for_rows = reading.signals.operation.label == OperationKind::Filter;
        let plan = self.requested_plan(over, among)?.or_else(|| over.rows_counted().filter(|_| asks_for_rows));
        let Some(plan) = plan else { return Ok(Requested::default()) };
        let is_lossy = !plan.not_applied.is_empty();
        let operation = self.requested_operation(session, over, plan)?;
        let other = start.base.as_ref().filter(|_| reading.is_about_other).map(|base| {
            unmet(message!("it is taken to be about `{}` and not about the table before", base.entry.id.as_str()))
        });
        let named = start.base.as_ref().filter(|_| !start.is_at_hand()).map_or(Vec::new(), |base| {
            let used: Vec<&str> = operation.runnable.iter().flat_map(|plan| plan.tables()).collect();
            named_in_vain(&reading.request.text, start.partners, base.entry, &used)
        });
        let is_lossy = is_lossy || !named.is_empty();
        let named = named.into_iter().map(|id| unmet(message!("`{}` is a table of its own, which is not used", id)));
        let preconditions = other.into_iter().chain(named).chain(operation.preconditions).collect();
        let operation = RankedOperation { preconditions, ..operation };
        Ok(Requested {
            operation: Some(operation).filter(|operation| self.is_meant(turn, start, over, operation)),
            is_lossy,
        })
    }

    /// The probability that a turn is read right, 0..=1.
    pub(super) fn certainty(&self, reading: &PlanReading) -> f64 {
        if reading.is_written() { self.trust_in_reading() } else { reading.certainty }
    }

    /// The operation that carries a requested plan out, with what was not understood.
    ///
    /// # Errors
    /// What reading the tables' heads meets.
    pub(super) fn requested_operation(
        &self,
        session: &Session,
        reading: &PlanReading,
        requested: RequestedPlan,
    ) -> Result<RankedOperation> {
        let is_uncertain = self.certainty(reading) < self.ranking.likelihood.uncertain;
        let doubtful = (!reading.is_written() && is_uncertain).then(|| match reading.turn.least_sure() {
            Some(span) => message!("what `{}` means is uncertain", &span.words),
            None => message!("it is uncertain what is meant"),
        });
        let written = reading.written.iter();
        let unsure = written.clone().filter_map(|written| written.unsure.as_ref());
        let unsure = unsure.map(|what| message!("it is uncertain: {}", what));
        let unmeasured = written.filter(|_| self.config.llm.reading.is_none());
        let unmeasured = unmeasured
            .map(|_| message!("a model read it of which nothing is known yet: `lakeward model check` measures it"));
        let unsure = doubtful.into_iter().chain(unsure).chain(unmeasured).collect();
        let table = requested.table.clone();
        // Where nothing of a turn could be applied, what was proposed before is not its plan: it is asked what is meant.
        let operation = match requested.plan == reading.base {
            true => {
                let lost = requested.not_applied.iter().map(NotApplied::statement).chain(unsure);
                self.changed_plan(session, &reading.base, requested.plan, requested.kind, lost.map(unmet).collect())?
            }
            false => self.operation_of(session, (&reading.current, &reading.turn), requested, unsure)?,
        };
        Ok(RankedOperation { table, requested: true, ..operation })
    }

    /// What else a turn over rows may mean, as operations beside `first`; the likeliest first.
    ///
    /// # Errors
    /// What reading the tables' heads meets.
    pub(super) fn other_operations(
        &self,
        session: &Session,
        reading: &PlanReading,
        first: Option<&Plan>,
    ) -> Result<Vec<RankedOperation>> {
        const MOST: usize = 2;
        let least = self.ranking.likelihood.other;
        let is_new = |plan: &Plan| Some(plan) != first && *plan != reading.base;
        let may_be =
            |other: &&Meaning| !reading.is_written() && other.probability >= least && is_new(&other.assembly.plan);
        let mut found = Vec::new();
        for Meaning { turn, assembly, probability } in reading.others.iter().filter(may_be) {
            let requested = RequestedPlan {
                kind: kind_of(&reading.base, &assembly.plan, None),
                plan: assembly.plan.clone(),
                table: None,
                not_applied: assembly.not_applied.clone(),
                remarks: assembly.remarks.clone(),
            };
            let operation = self.operation_of(session, (&reading.current, turn), requested, Vec::new())?;
            if operation.runnable.is_some() {
                let reason = message!("or: {}", operation.reason);
                found.push(RankedOperation { score: *probability, reason, ..operation });
            }
            if found.len() == MOST {
                break;
            }
        }
        Ok(found)
    }

    /// The operation that a requested plan comes to, with what could not be applied of it, what is unsure, and what was in doubt before it.
    fn operation_of(
        &self,
        session: &Session,
        (current, turn): (&Plan, &TurnReading),
        requested: RequestedPlan,
        unsure: Vec<Message>,
    ) -> Result<RankedOperation> {
        let lost = requested.not_applied.iter().map(NotApplied::statement);
        let anew = turn.has(Act::New);
        let before = doubts(session).into_iter().filter(|_| !anew);
        let mut preconditions: Vec<_> = lost.chain(unsure).chain(before).map(unmet).collect();
        if preconditions.is_empty() {
            preconditions.push(met(message!("everything that was understood is applied")));
        }
        let mut operation = self.changed_plan(session, current, requested.plan, requested.kind, preconditions)?;
        if !requested.remarks.is_empty() {
            operation.reason = message!("{} ({})", operation.reason, Message::list(CLAUSES, requested.remarks));
        }
        Ok(operation)
    }

    /// Whether an operation that was read is what a turn asks for. Without a table at hand the words may speak of what is looked
    /// for: only what can be done with the best table is proposed, and nothing where the request is too vague.
    fn is_meant(&self, turn: ReadTurn<'_>, start: &Start<'_>, over: &PlanReading, operation: &RankedOperation) -> bool {
        let (asked, kind) = (&turn.reading.signals.operation, operation.kind);
        // What corrects the plan that stands, or has it over another edition, combines nothing with it.
        let corrects = over.turn.has(Act::Correct) || over.is_over_other_rows();
        let combines = !corrects && turn.reading.surely_combines(&self.ranking.turn) && !kind.combines();
        if start.is_at_hand() {
            return !combines;
        }
        let is_asked = (start.lacks_columns && kind == OperationKind::Join)
            || turn.reading.by_model
            || is_of_kind(kind, asked.label);
        // What the columns explain is asked for, whatever operation the words look like.
        operation.runnable.is_some() && (is_asked || (!combines && !kind.combines()))
    }
}

/// Whether a plan of one kind may be what a request of another asks for: one about rows and one about figures are told apart by the plan alone.
fn is_of_kind(plan: OperationKind, asked: OperationKind) -> bool {
    let is_single = |kind: OperationKind| matches!(kind, OperationKind::Filter | OperationKind::Aggregate);
    plan == asked || (is_single(plan) && is_single(asked))
}
