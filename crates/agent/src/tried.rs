//! Tries what a turn is read as on the rows: a plan that leaves no row, or has a step that changes or groups nothing, is hardly what was meant, and
//! the next likeliest reading whose plan does something takes its place.

use super::Agent;
use super::execution::preview_rows;
use super::plan_reading::PlanReading;
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::plan::{Plan, Step};
use lakeward_core::request::Input;
use lakeward_operate::{PlanWarning, WarningKind};
use lakeward_reading::reader::Meaning;

/// Further readings that are tried.
const TRIED: usize = 4;
/// A reading is not tried where it is this much less likely than one that leaves no row, or than one that changes nothing, which may be meant.
const INSTEAD_OF_NO_ROW: f64 = 0.05;
const INSTEAD_OF_NO_CHANGE: f64 = 0.2;
/// Tables and results of more rows are not read for this, nor files outside the lake.
const MOST_ROWS: u64 = 200_000;

impl Agent<'_> {
    /// A turn as it was read over rows that are at hand or were found, with another of its readings first where the likeliest comes to nothing on them.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; a damaged index.
    pub(super) fn tried(&self, session: &Session, mut reading: PlanReading) -> Result<PlanReading> {
        let is_of_rows = reading.assembly.tables.is_empty() && reading.assembly.plan != reading.base;
        if reading.others.is_empty() || !is_of_rows {
            return Ok(reading);
        }
        let least = match self.outcome(session, &reading.base, &reading.assembly.plan)? {
            Outcome::NothingLeft => INSTEAD_OF_NO_ROW * reading.certainty,
            Outcome::NoChange => INSTEAD_OF_NO_CHANGE * reading.certainty,
            Outcome::Rows | Outcome::Refused => return Ok(reading),
        };
        for place in 0..reading.others.len().min(TRIED) {
            let Meaning { assembly, probability, .. } = &reading.others[place];
            // That there is nothing is an answer, too: what was said is not given up for rows.
            let loses = assembly.not_applied.len() > reading.assembly.not_applied.len();
            let is_likely = *probability >= least && assembly.plan != reading.base && !loses;
            if !is_likely || self.outcome(session, &reading.base, &assembly.plan)? != Outcome::Rows {
                continue;
            }
            let Meaning { turn, mut assembly, probability } = reading.others.remove(place);
            assembly.remarks.push(message!("a likelier reading comes to nothing on these rows"));
            let before = Meaning {
                turn: std::mem::replace(&mut reading.turn, turn),
                assembly: std::mem::replace(&mut reading.assembly, assembly),
                probability,
            };
            reading.certainty = probability;
            reading.others.insert(place, before);
            return Ok(reading);
        }
        Ok(reading)
    }

    /// What comes of a plan that goes on from `base`.
    fn outcome(&self, session: &Session, base: &Plan, plan: &Plan) -> Result<Outcome> {
        for input in plan.inputs() {
            let rows = match input {
                Input::Table(id) => {
                    let dataset = self.index.get(id)?.map(|table| self.index.dataset(table)).transpose()?;
                    dataset.and_then(|dataset| Some(dataset.table()?.profile.rows))
                }
                Input::Step(number) => session.step(*number).map(|step| step.rows),
                Input::File(_) => None,
            };
            if rows.is_none_or(|rows| rows > MOST_ROWS) {
                return Ok(Outcome::Rows);
            }
        }
        let known = known_steps(base, plan);
        let preview = match preview_rows(self.connected(session)?, plan) {
            Ok(preview) => preview,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => return Ok(Outcome::Refused),
        };
        // Five of three rows are all, and towns that are there once are so: neither is wrong.
        let may_be_idle = |step: &Step| !matches!(step, Step::Filter(_) | Step::Group(_));
        let has = |kind| {
            let of_step = |warning: &PlanWarning| plan.relation.steps.get(warning.step.saturating_sub(1));
            let counts =
                |warning: &PlanWarning| kind == WarningKind::NothingLeft || !of_step(warning).is_some_and(may_be_idle);
            let mut new = preview.warnings.iter().filter(|warning| warning.step > known);
            new.any(|warning| warning.kind == kind && counts(warning))
        };
        Ok(match (has(WarningKind::NothingLeft), has(WarningKind::NoChange)) {
            (true, _) => Outcome::NothingLeft,
            (false, true) => Outcome::NoChange,
            (false, false) => Outcome::Rows,
        })
    }
}

/// What comes of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Other rows than before, or too many to try.
    Rows,
    /// No row.
    NothingLeft,
    /// A new step changes or groups nothing.
    NoChange,
    /// It cannot be carried out.
    Refused,
}

/// The steps with which two plans begin alike.
fn known_steps(base: &Plan, plan: &Plan) -> usize {
    let (base, plan) = (&base.relation, &plan.relation);
    let alike = base.steps.iter().zip(&plan.steps).take_while(|(one, other)| one == other).count();
    if base.source == plan.source { alike } else { 0 }
}
