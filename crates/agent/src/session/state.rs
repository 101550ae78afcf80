//! How a session changes: turns and steps are added, tables chosen and turned down. Nothing here reads a file.

use chrono::{SecondsFormat, Utc};

use super::document::{Choice, Session, Step, StepInput, Turn, VERSION};
use crate::recommend::{RankedOperation, Recommendation};
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Demand, Input, Signals};
use lakeward_core::respect::Respect;

/// A plan that was carried out, before the session numbers it.
#[derive(Debug, Clone)]
pub struct NewStep {
    /// The plan.
    pub plan: Plan,
    /// The SQL that ran.
    pub sql: String,
    /// What it read.
    pub inputs: Vec<StepInput>,
    /// Rows of the result.
    pub rows: u64,
    /// Columns of the result.
    pub columns: Vec<String>,
    /// The file that holds the result, below the folder of sessions.
    pub file: String,
}

impl Session {
    /// A session that has not begun, nowhere stored.
    pub fn new(id: impl Into<String>, lake: impl Into<String>) -> Self {
        let created = now();
        Self {
            version: VERSION,
            id: id.into(),
            revision: 0,
            updated: created.clone(),
            created,
            lake: lake.into(),
            table: None,
            steps_before_table: 0,
            turns_before_table: 0,
            turns_forgotten: 0,
            demands: Vec::new(),
            retrievals: Vec::new(),
            accepted: Vec::new(),
            rejected: Vec::new(),
            turns: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Whether nothing has happened in it.
    pub fn is_untouched(&self) -> bool {
        let Self { table, accepted, rejected, turns, steps, .. } = self;
        table.is_none() && accepted.is_empty() && rejected.is_empty() && turns.is_empty() && steps.is_empty()
    }

    /// The session with its turns and what was turned down, and with neither a table at hand nor demands.
    pub(crate) fn without_table(&self) -> Self {
        let kept =
            Self { turns: self.turns.clone(), rejected: self.rejected.clone(), ..Self::new(&*self.id, &*self.lake) };
        Self { retrievals: self.retrievals.clone(), turns_forgotten: self.turns_forgotten, ..kept }
    }

    /// The latest turn.
    pub fn latest(&self) -> Option<&Turn> {
        self.turns.last()
    }

    /// The number that the next turn will have, from 1.
    pub fn next_turn(&self) -> usize {
        self.latest().map_or(1, |turn| turn.number + 1)
    }

    /// Adds a request and its answer; the demands that the answer was read under are in force from now on.
    pub fn push_turn(&mut self, text: &str, recommendation: &Recommendation) {
        self.demands = recommendation.signals.demands.clone();
        self.turns.push(Turn {
            number: self.next_turn(),
            at: now(),
            text: text.to_string(),
            english: None,
            signals: recommendation.signals.clone(),
            tables: recommendation.tables.iter().map(|table| table.table.clone()).collect(),
            recommendation: Some(recommendation.clone()),
            asked: None,
        });
    }

    /// Notes that the analyst wants this table; an earlier rejection no longer counts.
    pub fn accept(&mut self, table: &str) {
        let turn = self.next_turn() - 1;
        self.rejected.retain(|choice| choice.table != table);
        choose(&mut self.accepted, table, turn);
    }

    /// Notes that the analyst does not want this table; an earlier acceptance no longer counts.
    pub fn reject(&mut self, table: &str) {
        let turn = self.next_turn() - 1;
        self.accepted.retain(|choice| choice.table != table);
        choose(&mut self.rejected, table, turn);
    }

    /// Whether the analyst turned this table down.
    pub fn is_rejected(&self, table: &str) -> bool {
        self.rejected.iter().any(|choice| choice.table == table)
    }

    /// Whether the analyst accepted this table.
    pub fn is_accepted(&self, table: &str) -> bool {
        self.accepted.iter().any(|choice| choice.table == table)
    }

    /// Makes `input` the working table, whatever was carried out before.
    ///
    /// A table that was not among the answers leaves what was looked for behind.
    pub fn use_table(&mut self, input: Input) {
        let is_answer = |id: &String| self.turns.iter().any(|turn| turn.tables.contains(id));
        if !matches!(&input, Input::Table(id) if is_answer(id)) {
            self.demands.retain(|demand| demand.role != Respect::Topic);
        }
        self.table = Some(input);
        self.steps_before_table = self.steps.len();
        self.turns_before_table = self.latest().map_or(0, |turn| turn.number);
    }

    /// The session as if the table for which the latest answer proposes a plan had been at hand: it is the working
    /// table, and the plan is pending. `None` where the latest answer proposes no such plan, and where there is
    /// another working table, unless the latest turn began a new request whose plan does not read it.
    pub(crate) fn at_proposal(&self) -> Option<Self> {
        self.at_latest(|first| first.requested)
    }

    /// The same where the latest answer proposes to open a table and no more.
    pub(crate) fn at_opened(&self) -> Option<Self> {
        let opens = |plan: &Plan| plan.relation.steps.is_empty();
        self.at_latest(|first| first.requested || first.runnable.as_ref().is_some_and(opens))
    }

    fn at_latest(&self, is_meant: impl Fn(&RankedOperation) -> bool) -> Option<Self> {
        let (latest, first) = self.latest_proposal()?;
        let plan = first.runnable.as_ref().filter(|_| is_meant(first) && !first.kind.combines())?;
        if let Some(working) = self.working() {
            // A table that was chosen after that turn is what the next one is about.
            let begins_anew = latest.signals.acts == [Act::New] && self.turns_before_table < latest.number;
            let at_hand = self.plan_of(&working).relation.source;
            if !begins_anew || plan.inputs().contains(&&at_hand) {
                return None;
            }
        }
        let mut at_hand = self.clone();
        at_hand.use_table(plan.relation.source.clone());
        at_hand.turns_before_table = latest.number - 1;
        Some(at_hand)
    }

    /// The operation that was proposed last, and the turn that it answers. What only asks, thanks or wants more answers stands between; what began
    /// another request, took something back or was carried out does not.
    fn latest_proposal(&self) -> Option<(&Turn, &RankedOperation)> {
        for turn in self.remembered().iter().rev().filter(|turn| turn.signals.acts != [Act::Chat]) {
            let first = turn.recommendation.as_ref().and_then(|answer| answer.operations.first());
            if let Some(first) = first.filter(|first| first.requested || first.runnable.is_some()) {
                return Some((turn, first));
            }
            let goes_elsewhere =
                |act: &Act| matches!(act, Act::New | Act::Undo | Act::Redo | Act::Retract | Act::Reject);
            if turn.signals.acts.iter().any(goes_elsewhere) || self.steps.iter().any(|step| step.turn == turn.number) {
                return None;
            }
        }
        None
    }

    /// Adds a plan that was carried out; its result is the working table now.
    pub fn push_step(&mut self, step: NewStep) -> &Step {
        let NewStep { plan, sql, inputs, rows, columns, file } = step;
        let (number, turn) = (self.steps.len() + 1, self.next_turn() - 1);
        self.steps.push(Step { number, turn, at: now(), plan, sql, inputs, rows, columns, file, undone: false });
        &self.steps[number - 1]
    }

    /// Step `number`, from 1.
    pub fn step(&self, number: usize) -> Option<&Step> {
        self.steps.get(number.checked_sub(1)?)
    }

    /// Takes back the latest step that stands; the working table is the one before. Its file stays.
    pub fn undo(&mut self) -> Option<&Step> {
        let before = self.latest().map_or(0, |turn| turn.number);
        let step = self.steps.iter_mut().rev().find(|step| !step.undone)?;
        self.turns_before_table = before;
        step.undone = true;
        Some(step)
    }

    /// Makes the step again that was taken back last, where no other was carried out since.
    pub fn redo(&mut self) -> Option<&Step> {
        let next = self.steps.iter().rposition(|step| !step.undone).map_or(0, |place| place + 1);
        let before = self.latest().map_or(0, |turn| turn.number);
        let step = self.steps.get_mut(next)?;
        self.turns_before_table = before;
        step.undone = false;
        Some(step)
    }

    /// [`Session::undo`], or [`Session::redo`] if `again`.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such step.
    pub fn step_back(&mut self, again: bool) -> Result<&Step> {
        let none = match again {
            true => message!("there is no undone operation to make again"),
            false => message!("there is no operation to undo"),
        };
        let moved = if again { self.redo() } else { self.undo() };
        moved.ok_or_else(|| Error::usage(none))
    }

    /// The table that operations start from: the result of the latest step that stands, else the table in use, else the
    /// last accepted one. A table chosen after a step comes before that step.
    pub fn working(&self) -> Option<Input> {
        let is_in_force = |number: usize| self.step(number).is_some_and(|step| !step.undone);
        let last = self.steps.iter().rev().find(|step| !step.undone && step.number > self.steps_before_table);
        let in_use =
            || self.table.clone().filter(|input| !matches!(input, Input::Step(number) if !is_in_force(*number)));
        let accepted = || self.accepted.last().map(|choice| Input::Table(choice.table.clone()));
        last.map(|step| Input::Step(step.number)).or_else(in_use).or_else(accepted)
    }

    /// How the working table is made from tables of the lake and files: what a request goes on from.
    pub fn plan(&self) -> Option<Plan> {
        self.working().map(|input| self.plan_of(&input))
    }

    /// The number of the turn after which the table that operations start from was chosen or gone back to; 0 where none was.
    pub(crate) fn turns_before_working(&self) -> usize {
        let accepted = self.accepted.last().filter(|_| self.table.is_none());
        accepted.map_or(0, |choice| choice.turn).max(self.turns_before_table)
    }

    /// What the latest turns asked for, one after the other, without any of it being carried out, oldest first: the next turn goes on from the
    /// last of these plans.
    pub fn pending(&self) -> Vec<&Plan> {
        let mut pending = Vec::new();
        if self.working().is_none() {
            return pending;
        }
        let before = self.turns_before_working();
        for turn in self.remembered().iter().filter(|turn| turn.number > before) {
            let requested = turn.requested();
            if self.steps.iter().any(|step| step.turn == turn.number) {
                pending.clear();
            } else if matches!(turn.signals.acts[..], [Act::Undo | Act::Reject]) {
                // What is left is asked for again.
                match requested {
                    None if turn.signals.acts == [Act::Reject] => drop(pending.pop()),
                    Some(left) => {
                        pending.truncate(pending.iter().rposition(|plan| *plan == left).map_or(0, |at| at + 1))
                    }
                    None => pending.clear(),
                }
            } else {
                // What is only to be carried out was asked for before.
                pending.extend(requested.filter(|plan| pending.last() != Some(plan)));
            }
        }
        pending
    }

    /// The plan that stood `steps` before the one that the next turn goes on from: what is pending is taken back before what was carried out.
    pub fn plan_before(&self, steps: usize) -> Option<Plan> {
        let pending = self.pending();
        if steps < pending.len() {
            return Some(pending[pending.len() - 1 - steps].clone());
        }
        let mut before = self.clone();
        for _ in pending.len()..steps {
            before.undo();
        }
        before.plan()
    }

    /// The texts of the conversation in two lists. The first has the turns that say what is looked for: the one that
    /// began the present request, and those after it that changed the demands; `text`, which is read as `signals`, may
    /// be the last. The second has other turns that want something: those before the present request, and those that
    /// changed no demand. Turns that only ask about answers or choose among them are in neither. Words of values that
    /// are no longer wanted are cut out.
    pub(crate) fn demand_texts(&self, signals: &Signals, text: &str) -> (Vec<String>, Vec<String>) {
        let turns = self.remembered();
        let before = turns.iter().map(|turn| (&turn.signals, turn.read(), turn.number));
        let all: Vec<(&Signals, &str, usize)> = before.chain([(signals, text, self.next_turn())]).collect();
        // What may begin anew and leaves earlier demands in force does not.
        let begins = |(signals, _, turn): &(&Signals, &str, usize)| {
            signals.acts.contains(&Act::New) && signals.demands.iter().all(|demand| demand.turn >= *turn)
        };
        let begun = all.iter().rposition(begins).unwrap_or(0);
        let is_said = |at: usize| at == begun || (at > begun && all[at].0.demands != all[at - 1].0.demands);
        // Without the values that a turn wanted and that are no longer wanted.
        let about = |demand: &Demand| matches!(demand.role, Respect::Topic | Respect::Subject | Respect::Column);
        let is_in_force = |said: &Demand| {
            signals.demands.iter().any(|known| known.role == said.role && known.said.contains(&said.said))
        };
        let without_gone = |at: usize| {
            let (of_turn, text, number) = &all[at];
            let said = of_turn.demands.iter().filter(|demand| demand.turn == *number);
            let gone = said.filter(|demand| !about(demand) && !demand.said.is_empty() && !is_in_force(demand));
            gone.fold(text.to_string(), |text, demand| text.replace(&demand.said, " "))
        };
        let wants = |at: usize| {
            use Act::{Correct, New, Refine, Reject, Retract, Unclear};
            let wants = |act: &Act| matches!(act, Refine | Correct | Retract | New | Reject | Unclear);
            all[at].0.acts.iter().any(wants) && turns.get(at).is_none_or(|turn| turn.requested().is_none())
        };
        let (said, others): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|at| is_said(*at));
        let texts = |turns: Vec<usize>| turns.into_iter().map(without_gone).collect();
        (texts(said), texts(others.into_iter().filter(|at| wants(*at)).collect()))
    }

    /// How a table is made: the plan of the step that made it, else the table as it is.
    pub fn plan_of(&self, input: &Input) -> Plan {
        let step = if let Input::Step(number) = input { self.step(*number) } else { None };
        step.map_or_else(|| Plan::of(input.clone()), |step| step.plan.clone())
    }
}

impl Turn {
    /// The plan that it asked for, where it can be carried out.
    pub fn requested(&self) -> Option<&Plan> {
        let Some(answer) = &self.recommendation else { return self.asked.as_ref() };
        answer.operations.iter().find(|operation| operation.requested)?.runnable.as_ref()
    }
}

fn choose(choices: &mut Vec<Choice>, table: &str, turn: usize) {
    choices.retain(|choice| choice.table != table);
    choices.push(Choice { table: table.to_string(), turn });
}

/// The time, RFC 3339 in UTC with milliseconds.
pub(super) fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::plan::Step as PlanStep;

    fn step(session: &mut Session) {
        let plan = session.plan().unwrap_or_else(|| Plan::of(Input::Table("a".into())));
        session.push_step(NewStep {
            plan: plan.then(PlanStep::Limit { rows: 1, skip: 0 }),
            sql: "SELECT 1".into(),
            inputs: Vec::new(),
            rows: 1,
            columns: Vec::new(),
            file: String::new(),
        });
    }

    #[test]
    fn a_choice_takes_back_its_contrary() {
        let mut session = Session::new("s", "lake");
        session.accept("a");
        session.accept("b");
        session.reject("a");
        assert!(session.is_rejected("a") && !session.is_accepted("a"));
        session.accept("a");
        session.accept("a");
        assert!(!session.is_rejected("a"));
        let accepted: Vec<&str> = session.accepted.iter().map(|choice| choice.table.as_str()).collect();
        assert_eq!(accepted, ["b", "a"]);
    }

    #[test]
    fn the_working_table_is_the_latest_choice_or_result() {
        let mut session = Session::new("s", "lake");
        assert_eq!(session.working(), None);
        session.accept("a");
        assert_eq!(session.working(), Some(Input::Table("a".into())));
        session.use_table(Input::Table("b".into()));
        assert_eq!(session.working(), Some(Input::Table("b".into())));
        step(&mut session);
        step(&mut session);
        assert_eq!(session.working(), Some(Input::Step(2)));
        let plan = session.plan().unwrap();
        assert_eq!((plan.inputs(), plan.relation.steps.len()), (vec![&Input::Table("b".into())], 2));
        session.undo();
        assert_eq!(session.working(), Some(Input::Step(1)));
        // A table chosen after a step is worked on, and a step after it again.
        session.use_table(Input::Table("c".into()));
        assert_eq!(session.working(), Some(Input::Table("c".into())));
        step(&mut session);
        assert_eq!(session.working(), Some(Input::Step(3)));
        assert_eq!(session.undo().map(|step| step.number), Some(3));
        assert_eq!(session.working(), Some(Input::Table("c".into())));
        // The result of a step that is taken back is no table to work on.
        session.use_table(Input::Step(1));
        assert_eq!(session.working(), Some(Input::Step(1)));
        assert_eq!(session.undo().map(|step| step.number), Some(1));
        assert_eq!(session.working(), Some(Input::Table("a".into())));
        assert_eq!(session.undo(), None);
        assert_eq!(session.redo().map(|step| step.number), Some(1));
        assert_eq!(session.redo().map(|step| step.number), Some(2));
        assert_eq!(session.redo().map(|step| step.number), Some(3));
        assert_eq!(session.redo(), None, "nothing more was taken back");
    }
}
