//! The operations that a turn as it was read comes to: what it is taken for, and what else it may mean.

use super::Agent;
use super::doubts::doubts;
use super::plan_reading::{PlanReading, RequestedPlan, kind_of};
use crate::recommend::RankedOperation;
use crate::recommend::next_operations::{met, unmet};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_reading::reader::{Act, Meaning, NotApplied, TurnReading};

impl Agent<'_> {
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
            Some(span) => format!("what `{}` means is uncertain", span.words),
            None => "it is uncertain what is meant".into(),
        });
        let written = reading.written.iter();
        let unsure = written.clone().filter_map(|written| written.unsure.as_ref());
        let unsure = unsure.map(|what| format!("it is uncertain: {what}"));
        let unmeasured = written.filter(|_| self.config.llm.reading.is_none());
        let unmeasured = unmeasured
            .map(|_| "a model read it of which nothing is known yet: `lakeward model check` measures it".to_string());
        let unsure = doubtful.into_iter().chain(unsure).chain(unmeasured).collect();
        let table = requested.table.clone();
        let operation = self.operation_of(session, (&reading.current, &reading.turn), requested, unsure)?;
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
                let reason = format!("or: {}", operation.reason);
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
        unsure: Vec<String>,
    ) -> Result<RankedOperation> {
        let lost = requested.not_applied.iter().map(NotApplied::statement);
        let anew = turn.has(Act::New);
        let before = doubts(session).into_iter().filter(|_| !anew);
        let mut preconditions: Vec<_> = lost.chain(unsure).chain(before).map(unmet).collect();
        if preconditions.is_empty() {
            preconditions.push(met("everything that was understood is applied"));
        }
        let mut operation = self.changed_plan(session, current, requested.plan, requested.kind, preconditions)?;
        if !requested.remarks.is_empty() {
            operation.reason.push_str(&format!(" ({})", requested.remarks.join("; ")));
        }
        Ok(operation)
    }
}
