//! What a turn changes as one reader reads it, without a search. Readers are measured by it.

use super::Agent;
use super::known_columns::AtHand;
use super::plan_reading::PlanReading;
use super::readers::{BuiltIn, TurnReader, TurnToRead, Understood};
use crate::session::{Session, Turn};
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Demand, Input};
use lakeward_models::llm::LanguageModel;
use lakeward_reading::reader::TurnReading;

/// What stands after a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEffect {
    /// What the analyst does.
    pub acts: Vec<Act>,
    /// The plan of the table at hand, if there is one.
    pub plan: Option<Plan>,
    /// What is wanted of datasets.
    pub demands: Vec<Demand>,
}

impl Agent<'_> {
    /// What a turn comes to as the built-in reader reads it, or `model` where one is given; `None` where that gives no answer that holds.
    ///
    /// # Errors
    /// Whatever the index and the tables of the plan report.
    pub fn effect(
        &self,
        session: &Session,
        text: &str,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<Option<TurnEffect>> {
        let _turn = self.searches.begin_turn();
        let working = self.working(session)?;
        // A result of the session is read from the tables that its plan names.
        let file = working.as_ref().filter(|input| matches!(input, Input::File(_)));
        let query = file.map(|input| self.open_input(session, input)).transpose()?;
        let at_hand = file.zip(query.as_ref()).map(|(input, table)| AtHand { input, table });
        let plan = working.as_ref().map(|input| session.plan_of(input));
        let previous = session.remembered().last().map_or("", Turn::read);
        let asked = TurnToRead { session, text, previous, plan: plan.as_ref(), at_hand };
        let reader: &dyn TurnReader = model.map_or(&BuiltIn, |model| model);
        let Some(read) = reader.read(self, &asked)? else { return Ok(None) };
        let demands = read.demands(self, &asked)?.demands;
        let Understood { turn: TurnReading { acts, .. }, over, .. } = read;
        let plan = match over {
            Some(over) if over.only_moves() == Some(Act::Undo) => session.plan_before(over.turn.steps()),
            Some(over) if over.only_moves() == Some(Act::Redo) => {
                let mut again = session.clone();
                for _ in 0..over.turn.steps() {
                    again.redo();
                }
                again.plan()
            }
            over => over.map(PlanReading::into_plan),
        };
        Ok(Some(TurnEffect { acts, plan, demands }))
    }
}
