//! What a turn wants done with the table at hand, as it is read over its columns and what else the turn speaks of: tables that are
//! joined already, editions of other periods, tables of codes.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::Agent;
use super::known_columns::{AtHand, described};
use super::model_reading::Written;
use super::plan_edit::first_steps;
use super::requested_plan::{RequestedPlan, written_plan};
use crate::session::{Session, Turn};
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::plan::{Condition, Plan, Relation, Step};
use lakeward_core::request::{Input, OperationKind};
use lakeward_core::text::{lower_words, stems};
use lakeward_lake::dataset::TableEntry;
use lakeward_operate::relation_columns;
use lakeward_reading::reader::{
    Act, Assembly, Control, Explained, Meaning, NotApplied, READINGS, Reader, Role, Span, TurnReading, assemble,
    meanings, schema_of,
};

/// Where the reader is less sure of an act, nothing is taken back.
const SURE: f32 = 0.5;

/// What a reading is corrected by.
pub(super) type Correction<'c> = dyn Fn(&mut TurnReading) + 'c;

/// A turn as it was read over a table.
pub(super) struct PlanReading {
    /// What was read.
    pub turn: TurnReading,
    /// The plan that was carried out.
    pub current: Plan,
    /// The plan that it goes on from: what was asked for last, carried out or not.
    pub base: Plan,
    /// What it makes of that plan, tables aside.
    pub assembly: Assembly,
    /// How much of it the columns explain.
    pub explained: Explained,
    /// The probability that the turn is read right, 0..=1.
    pub certainty: f64,
    /// What else it may make of that plan, the likeliest first.
    pub others: Vec<Meaning>,
    /// The plan after the turn, where a language model wrote it.
    pub written: Option<Written>,
}

/// What a turn is read as over a plan.
#[derive(Clone)]
pub(super) struct Read {
    pub(super) turn: TurnReading,
    pub(super) assembly: Assembly,
    explained: Explained,
    /// The probability that this is what is meant, 0..=1.
    certainty: f64,
    /// What else may be meant, the likeliest first.
    others: Vec<Meaning>,
}

impl PlanReading {
    /// A turn as a model reads it over `base`.
    pub fn by_model(turn: TurnReading, base: Plan, written: Option<Written>) -> Self {
        let read = Read {
            certainty: turn.certainty(),
            turn,
            assembly: unchanged(&base),
            explained: Explained::default(),
            others: Vec::new(),
        };
        Self::of(read, base.clone(), base, written)
    }

    fn of(read: Read, current: Plan, base: Plan, written: Option<Written>) -> Self {
        let Read { turn, assembly, explained, certainty, others } = read;
        Self { turn, current, base, assembly, explained, certainty, others, written }
    }

    /// The same turn with the plan that a model wrote for it.
    pub fn with_plan(self, written: Option<Written>) -> Self {
        Self { written, ..self }
    }

    /// Whether the turn only takes steps back, or makes them again: it is surely that and says nothing of rows.
    pub fn only_moves(&self) -> Option<Act> {
        let [act @ (Act::Undo | Act::Redo)] = self.turn.acts[..] else { return None };
        (self.turn.confidence >= SURE && !self.says_more()).then_some(act)
    }

    /// The steps that the turn takes back, or makes again, where it does nothing else; of `pending` plans that were asked for and not carried
    /// out it may turn down the last or take back all.
    pub fn moves(&self, pending: usize) -> Option<(Act, usize)> {
        match self.only_moves() {
            Some(act) => Some((act, self.turn.steps())),
            None if self.only_rejects() && pending > 0 => Some((Act::Undo, 1)),
            None => self.only_drops_pending().then_some((Act::Undo, pending)),
        }
    }

    /// Whether the turn only turns down what was asked for last.
    fn only_rejects(&self) -> bool {
        self.turn.acts == [Act::Reject] && !self.says_more()
    }

    /// Whether the turn takes back all that was asked for and not carried out, and says nothing else.
    fn only_drops_pending(&self) -> bool {
        self.turn.acts == [Act::Retract]
            && self.base != self.current
            && self.assembly.plan == self.current
            && self.assembly.tables.is_empty()
            && self.assembly.not_applied.is_empty()
            && self.written.is_none()
    }

    /// Whether it changes the plan that it was read over, or takes steps of it back. What begins something new does so only where the columns explain
    /// nearly all of it.
    pub fn continues_plan(&self) -> bool {
        let changes = self.only_moves().is_some()
            || self.only_rejects()
            || self.wants_tables()
            || self.assembly.not_applied.iter().any(NotApplied::is_of_gap)
            || self.is_in_vain()
            || self.assembly.plan != self.base;
        match self.turn.acts.first() {
            Some(Act::Correct | Act::Retract | Act::Refine | Act::Undo | Act::Redo | Act::Reject) => changes,
            Some(Act::New) => changes && self.explained.is_whole(),
            _ => false,
        }
    }

    /// Whether a closed form, which leaves nothing open, cannot be applied: `drop the filter` where there is none.
    pub fn is_in_vain(&self) -> bool {
        self.certainty >= 1.0 && self.assembly.plan == self.base && !self.assembly.not_applied.is_empty()
    }

    /// Whether it goes on from the plan over another table in the place of the one at hand.
    pub fn is_over_other_rows(&self) -> bool {
        self.assembly.plan.relation.source != self.current.relation.source
    }

    /// The rows that were counted or computed from, where the plan ends with one figure of all of them and the turn names nothing of it: "show me those".
    pub fn rows_counted(&self) -> Option<RequestedPlan> {
        let steps = &self.base.relation.steps;
        let is_of_all = |step: &Step| matches!(step, Step::Group(grouping) if grouping.keys.is_empty());
        let figure = steps.iter().rposition(is_of_all)?;
        let plan = first_steps(&self.base, figure);
        let is_other = matches!(self.turn.acts.first(), Some(Act::Accept | Act::Reject | Act::Unclear));
        let is_asked = !is_other && !self.is_written() && !self.says_more();
        let remarks = vec![message!("these are the rows that the figure is of")];
        is_asked.then_some(RequestedPlan {
            plan,
            table: None,
            kind: OperationKind::Filter,
            not_applied: Vec::new(),
            remarks,
        })
    }

    /// Whether a language model wrote the plan.
    pub fn is_written(&self) -> bool {
        self.written.is_some()
    }

    /// Whether the plan after it has a table.
    pub fn reads(&self, id: &str) -> bool {
        self.assembly.plan.tables().any(|own| own == id)
    }

    /// The rows that the turn starts from where none are at hand: the table that was found, with those of its editions that are wanted as well.
    pub fn found_rows(&self) -> Plan {
        let mut rows = Plan::of(self.assembly.plan.relation.source.clone());
        let is_union = |step: &&Step| matches!(step, Step::Union(_));
        rows.relation.steps.extend(self.assembly.plan.relation.steps.iter().take_while(is_union).cloned());
        rows
    }

    /// Whether tables are wanted beside the one at hand, or editions of it.
    pub fn wants_tables(&self) -> bool {
        let known = self.base.inputs();
        !self.assembly.tables.is_empty() || self.assembly.plan.inputs().iter().any(|input| !known.contains(input))
    }

    fn says_more(&self) -> bool {
        self.turn.spans.iter().any(|span| speaks_of_rows(span.role))
    }

    /// The plan after the turn, tables that have to be searched for aside.
    pub fn into_plan(self) -> Plan {
        self.written.map_or(self.assembly.plan, |written| written.plan)
    }

    /// What the plan that a language model wrote does to the one before; none where it wrote none, or the same.
    pub fn written_kind(&self) -> Option<OperationKind> {
        Some(written_plan(&self.base, self.written.as_ref()?)?.kind)
    }

    /// Whether a language model wrote a plan that has all that was asked for.
    pub fn is_settled(&self) -> bool {
        self.written.as_ref().is_some_and(|written| written.missing.is_empty())
    }

    /// Whether it wants something that nobody could say what.
    pub fn is_unclear(&self) -> bool {
        self.turn.acts.first() == Some(&Act::Unclear) && !self.says_more()
    }
}

impl Agent<'_> {
    /// Reads a turn over the table that `current` makes, and over what was asked of it since. Turns that take steps back are read on the plan before
    /// them.
    ///
    /// # Errors
    /// Whatever reading the heads of its tables reports.
    pub(super) fn read_over(
        &self,
        session: &Session,
        text: &str,
        current: Plan,
        at_hand: Option<AtHand<'_>>,
    ) -> Result<PlanReading> {
        let is_at_hand = session.plan().as_ref() == Some(&current);
        let base = session.pending().last().filter(|_| is_at_hand).map_or(&current, |plan| *plan).clone();
        let mut read = self.assembled(session, text, &base, at_hand, &|_| ())?;
        let mut base = base;
        if let Some(groups) = groups_left(text, &read.assembly.plan, &base) {
            let rows = first_steps(&base, groups);
            read = self.assembled(session, text, &rows, at_hand, &|_| ())?;
            base = rows;
        }
        let before = session.pending().into_iter().rev().find(|plan| !counts_rows(plan)).unwrap_or(&current);
        if is_at_hand && counts_beside(text, &read.assembly.plan, &base, before) {
            let beside = before.clone();
            read = self.assembled(session, text, &beside, at_hand, &|_| ())?;
            base = beside;
        }
        // What the rows at hand do not have, a table that is joined to them may.
        for (place, column) in self.columns_of_joined(&base, &read.assembly.not_applied, (text, at_hand))? {
            let mut wider = base.clone();
            if let Some(Step::Join(join)) = wider.relation.steps.get_mut(place) {
                join.columns.push(column);
            }
            let with = self.assembled(session, text, &wider, at_hand, &|_| ())?;
            if with.assembly.not_applied.len() < read.assembly.not_applied.len() {
                (base, read) = (wider, with);
            }
        }
        let (base, read) = match self.requested_editions(text, &base, &read.assembly.tables)? {
            // What goes on from the plan is the change to its tables, too.
            Some(editions) => {
                let read = self.read_in_editions(session, text, &editions, (at_hand, &|_| ()))?;
                let without_periods = |turn: &mut TurnReading| editions.without_periods(turn);
                let read = (editions.plan.clone(), read);
                let (_, read) = self.with_looked_up(session, text, read, (at_hand, &without_periods))?;
                (base, read)
            }
            None => self.with_looked_up(session, text, (base, read), (at_hand, &|_| ()))?,
        };
        let read = self.with_names_of_codes(session, text, (&base, read), at_hand)?;
        let reading = PlanReading::of(read, current, base, None);
        let before = || session.plan_before(reading.turn.steps());
        if reading.turn.has(Act::Undo)
            && reading.only_moves().is_none()
            && let Some(base) = before()
        {
            let read = self.assembled(session, text, &base, at_hand, &|_| ())?;
            return self.tried(session, PlanReading::of(read, reading.current, base, None));
        }
        self.tried(session, reading)
    }

    /// Reads a turn without a table at hand over the one that was found for it. Words of its topic that name the table are no value of its rows:
    /// "killed by the police" over a table of police killings. With what its codes mean, where that `is_looked_up`.
    ///
    /// # Errors
    /// Those of [`Agent::read_over`].
    pub(super) fn read_over_found(
        &self,
        session: &Session,
        text: &str,
        table: &TableEntry,
        (topic, is_looked_up): (&str, bool),
    ) -> Result<PlanReading> {
        let (topic, about) = (stems(topic), stems(&format!("{} {}", table.id, table.title())));
        let names_table = |span: &Span| {
            let said = stems(&span.words);
            let is_spelt = span.value.as_ref().is_some_and(|value| stems(value) == said);
            let may_be_topic = matches!(span.role, Role::Value | Role::Test | Role::Add | Role::Table);
            may_be_topic && !is_spelt && !said.is_empty() && said.is_subset(&about) && said.is_subset(&topic)
        };
        let base = Plan::of(Input::Table(table.id.to_string()));
        let names_table = |span: &Span| names_table(span) || Self::says_own_period(table, &span.words);
        let without_topic = |turn: &mut TurnReading| turn.spans.retain(|span| !names_table(span));
        let mut read = self.assembled(session, text, &base, None, &without_topic)?;
        if let Some(editions) = self.requested_editions(text, &base, &read.assembly.tables)? {
            read = self.read_in_editions(session, text, &editions, (None, &without_topic))?;
            return Ok(PlanReading::of(read, base.clone(), base, None));
        }
        let (wider, read) = match is_looked_up {
            true => {
                let read = (base.clone(), read);
                let (wider, read) = self.with_looked_up(session, text, read, (None, &without_topic))?;
                let read = self.with_names_of_codes(session, text, (&wider, read), None)?;
                (wider, read)
            }
            false => (base.clone(), read),
        };
        let reading = PlanReading::of(read, base, wider, None);
        if is_looked_up { self.tried(session, reading) } else { Ok(reading) }
    }

    /// The turn as it is read over a plan and then `corrected`, what it makes of the plan, and how much of it the columns explain.
    pub(super) fn assembled(
        &self,
        session: &Session,
        text: &str,
        plan: &Plan,
        at_hand: Option<AtHand<'_>>,
        corrected: &Correction<'_>,
    ) -> Result<Read> {
        if let Some(control) = Control::of_text(text) {
            let columns = relation_columns(self.connected(session)?, &plan.relation).unwrap_or_default();
            let names: Vec<String> = columns.into_iter().map(|column| column.name).collect();
            let (turn, assembly) = (control.reading(text), control.applied(text, plan, &names));
            let explained = Explained::default();
            return Ok(Read { turn, assembly, explained, certainty: 1.0, others: Vec::new() });
        }
        let previous = session.remembered().last().map_or("", Turn::read);
        let known = self.known_columns(session, plan, at_hand)?;
        let context = self.connected(session)?;
        let failure = OnceCell::new();
        let columns = |relation: &Relation| match relation_columns(context, relation) {
            Ok(columns) => columns.iter().map(|column| described(column, &known)).collect(),
            Err(error) => {
                failure.get_or_init(|| error);
                Vec::new()
            }
        };
        let mut schema = schema_of(plan, &columns);
        schema.add_computed(text);
        schema.language = self.index.names_language()?;
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let holds = |place: usize, value: &str| self.holds_value(&schema, &known, place, value);
        let mut readings = Reader::builtin().readings(text, previous, &schema, &holds, READINGS);
        // What is in the name of a table holds of all its rows.
        let about: BTreeSet<String> = plan.tables().flat_map(stems).collect();
        for reading in &mut readings {
            reading.turn.unread.retain(|word| !stems(word).is_subset(&about));
            self.note_ids((text, plan), &holds, &mut reading.turn)?;
            corrected(&mut reading.turn);
        }
        let mut others = meanings(readings, plan, &|turn| assemble(turn, &schema, plan));
        let Meaning { mut turn, mut assembly, probability: mut certainty } = others.remove(0);
        let lacks_column = |made: &Assembly| {
            matches!(relation_columns(context, &made.plan.relation), Err(Error::UnknownColumn { .. }))
        };
        // What speaks of columns that cannot be together is not what was meant.
        if lacks_column(&assembly)
            && let Some(place) = others.iter().position(|other| !lacks_column(&other.assembly))
        {
            Meaning { turn, assembly, probability: certainty } = others.remove(place);
        }
        assembly.not_applied.extend(self.counted_by_another_name(&turn, &schema, plan)?);
        let explained = Explained::of(&turn, &schema, &assembly);
        Ok(Read { turn, assembly, explained, certainty, others })
    }
}

/// Where the groups are made that a turn speaks of the rows of: "which of them have no phone?" after a number for each town, where the groups have
/// nothing that is asked.
fn groups_left(text: &str, made: &Plan, base: &Plan) -> Option<usize> {
    let words: Vec<String> = lower_words(text).take(3).collect();
    let [which, of, whom] = &words[..] else { return None };
    let asks = which == "which" && of == "of" && matches!(whom.as_str(), "them" | "those" | "these");
    let place = base.relation.steps.iter().rposition(|step| matches!(step, Step::Group(_))).filter(|_| asks)?;
    let Step::Group(grouping) = &base.relation.steps[place] else { return None };
    let keys = grouping.keys.iter().map(|key| key.column_name());
    let results: Vec<String> = keys.chain(grouping.measures.iter().map(|measure| measure.column_name())).collect();
    let known = conditions(base);
    let mut new = conditions(made).into_iter().filter(|part| !known.contains(part)).peekable();
    let is_of_rows = |part: &Condition| !part.columns().iter().any(|name| results.iter().any(|known| known == name));
    (new.peek().is_some() && new.all(is_of_rows)).then_some(place)
}

/// Whether a turn counts other rows than the turn before did, beside them and not among them: "and how many have no phone?" after "how many have no
/// address?". Both ask for a yes or a gap, or for a value of one column.
fn counts_beside(text: &str, made: &Plan, base: &Plan, before: &Plan) -> bool {
    const AMONG: [&str; 8] = ["those", "these", "them", "which", "whom", "among", "that", "they"];
    let words: Vec<String> = lower_words(text).collect();
    let asks = words.windows(2).any(|two| two[0] == "how" && two[1] == "many");
    let refers = words.iter().any(|word| AMONG.contains(&word.as_str()));
    if !asks || refers || !counts_rows(base) {
        return false;
    }
    let is_test = |part: &&Condition| match part {
        Condition::Not(of) => matches!(**of, Condition::Missing(_) | Condition::Holds(_)),
        other => matches!(other, Condition::Missing(_) | Condition::Holds(_)),
    };
    let columns = |parts: &[&Condition]| -> BTreeSet<String> {
        parts.iter().flat_map(|part| part.columns()).map(str::to_string).collect()
    };
    let (earlier, known) = (conditions(before), conditions(base));
    let added: Vec<&Condition> = known.iter().copied().filter(|part| !earlier.contains(part)).collect();
    let new: Vec<&Condition> = conditions(made).into_iter().filter(|part| !known.contains(part)).collect();
    let tests = added.iter().chain(&new).all(is_test);
    let is_same = columns(&added).len() == 1 && columns(&added) == columns(&new);
    !added.is_empty() && !new.is_empty() && (tests || is_same)
}

/// Whether a plan ends with one figure of all rows.
fn counts_rows(plan: &Plan) -> bool {
    matches!(plan.relation.steps.last(), Some(Step::Group(grouping)) if grouping.keys.is_empty())
}

/// The conditions of a plan, those that all have to hold one by one.
fn conditions(plan: &Plan) -> Vec<&Condition> {
    let filters = plan.relation.steps.iter().filter_map(|step| match step {
        Step::Filter(condition) => Some(condition.parts()),
        _ => None,
    });
    filters.flatten().collect()
}

/// What leaves a plan as it is.
pub(super) fn unchanged(plan: &Plan) -> Assembly {
    Assembly { plan: plan.clone(), tables: Vec::new(), not_applied: Vec::new(), remarks: Vec::new() }
}

/// Whether a span of this role changes rows or columns.
fn speaks_of_rows(role: Role) -> bool {
    role.place() <= Role::Derive.place() && role != Role::Column
}
