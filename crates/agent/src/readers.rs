//! The readers of turns behind one trait: the trained model inside the program, and a language model. Both give the
//! same type.

use super::Agent;
use super::known_columns::AtHand;
use super::plan_reading::PlanReading;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Demand, Intention, OperationKind};
use lakeward_models::llm::LanguageModel;
use lakeward_reading::reader::{Reader, Revised, Schema, TurnReading, schema_of_demands};

/// A turn that is to be read.
#[derive(Clone, Copy)]
pub(super) struct TurnToRead<'a> {
    pub session: &'a Session,
    /// What is said, in English.
    pub text: &'a str,
    /// What was said before; empty where that does not count.
    pub previous: &'a str,
    /// The plan of the table at hand, if there is one, and that table opened.
    pub plan: Option<&'a Plan>,
    pub at_hand: Option<AtHand<'a>>,
}

/// A turn as a reader understands it.
#[derive(Default)]
pub(super) struct Understood {
    /// What the analyst does, and what is said span by span.
    pub turn: TurnReading,
    /// The same over the plan of the table at hand.
    pub over: Option<PlanReading>,
    /// What is asked for and what for, where the reader tells.
    pub purpose: Option<(OperationKind, Intention)>,
    /// All that is wanted of datasets after the turn, where the reader tells that instead of what changes.
    pub all_demands: Option<Vec<Demand>>,
}

impl Understood {
    /// The probability that the turn is read right, 0..=1.
    pub fn certainty(&self) -> f64 {
        self.over.as_ref().map_or_else(|| self.turn.certainty(), |over| over.certainty)
    }

    /// What is wanted of datasets after the turn, in the catalogue's values.
    ///
    /// # Errors
    /// A damaged index.
    pub fn demands(&self, agent: &Agent<'_>, to_read: &TurnToRead<'_>) -> Result<Revised> {
        match &self.all_demands {
            Some(demands) => agent.demands_written(to_read.session, demands),
            None => agent.demands_after(to_read.session, to_read.text, &self.turn, self.over.is_none()),
        }
    }
}

/// Reads turns.
pub(super) trait TurnReader {
    /// A turn as it is understood; `None` where the reader gives no answer that holds.
    ///
    /// # Errors
    /// A damaged index, and whatever reading the tables of the plan reports.
    fn read(&self, agent: &Agent<'_>, to_read: &TurnToRead<'_>) -> Result<Option<Understood>>;
}

/// The trained model inside the program; it always has an answer.
pub(super) struct BuiltIn;

impl TurnReader for BuiltIn {
    fn read(&self, agent: &Agent<'_>, to_read: &TurnToRead<'_>) -> Result<Option<Understood>> {
        let TurnToRead { session, text, previous, plan, at_hand } = *to_read;
        let over = plan.map(|plan| agent.read_over(session, text, plan.clone(), at_hand)).transpose()?;
        let turn = match &over {
            Some(over) => over.turn.clone(),
            None => {
                let is_of_catalogue = agent.words.of(agent.index)?.is_some();
                let schema = Schema { is_of_catalogue, ..schema_of_demands(&session.demands) };
                Reader::builtin().read(text, previous, &schema, &|_, _| false)
            }
        };
        Ok(Some(Understood { turn, over, ..Understood::default() }))
    }
}

impl TurnReader for LanguageModel<'_> {
    fn read(&self, agent: &Agent<'_>, to_read: &TurnToRead<'_>) -> Result<Option<Understood>> {
        let Some(read) = agent.read_by_model(self, to_read)? else { return Ok(None) };
        let over = to_read.plan.map(|plan| PlanReading::by_model(read.turn.clone(), plan.clone(), read.written));
        let purpose = Some((read.operation, read.intention));
        Ok(Some(Understood { turn: read.turn, over, purpose, all_demands: Some(read.demands) }))
    }
}
