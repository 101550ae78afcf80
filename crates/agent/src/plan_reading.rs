//! What a turn wants done with the table at hand: read over its columns, put into its plan.
//!
//! The reader tells what is said of columns, rows and figures; tables that are wanted beside the one at hand are chosen here among what the
//! searches found, by their names, the columns that are wanted, and the keys they share. The turn is then read again over the columns of both.

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};

use super::Agent;
use super::known_columns::{AtHand, described};
use super::model_reading::Written;
use super::requested_table::{Chosen, Next, is_column_called, replaced_source};
use super::scored::Scored;
use crate::session::{Session, Turn};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Join, Kept, Plan, Relation, Step};
use lakeward_core::request::{Input, OperationKind};
use lakeward_core::text::stems;
use lakeward_lake::dataset::TableEntry;
use lakeward_operate::relation_columns;
use lakeward_reading::reader::{
    Act, Assembly, Control, Explained, How, Meaning, NotApplied, READINGS, Reader, RequestedTable, Role, Span,
    TurnReading, assemble, meanings, schema_of, with_table,
};
use lakeward_search::Candidate;

/// Where the reader is less sure of an act, nothing is taken back.
const SURE: f32 = 0.5;
/// A table that fits no better than this for what was read is taken for the other of joining and appending where that fits at least as well as
/// [`FITS`]: shares of key values that meet, of columns that are aligned.
const LITTLE: f64 = 0.5;
const FITS: f64 = 0.8;

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
    assembly: Assembly,
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
pub(super) struct Read {
    turn: TurnReading,
    pub(super) assembly: Assembly,
    explained: Explained,
    /// The probability that this is what is meant, 0..=1.
    certainty: f64,
    /// What else may be meant, the likeliest first.
    others: Vec<Meaning>,
}

/// What the turn comes to.
pub(super) struct RequestedPlan {
    /// The plan.
    pub plan: Plan,
    /// The table that is joined or appended, if one is.
    pub table: Option<String>,
    /// Its kind among operations.
    pub kind: OperationKind,
    /// What was read and could not be applied.
    pub not_applied: Vec<NotApplied>,
    /// How words were taken that can be taken in another way.
    pub remarks: Vec<String>,
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

    /// Whether the turn only turns down what was asked for last.
    pub fn only_rejects(&self) -> bool {
        self.turn.acts == [Act::Reject] && !self.says_more()
    }

    /// Whether the turn takes back all that was asked for and not carried out, and says nothing else.
    pub fn only_drops_pending(&self) -> bool {
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
            || self.assembly.plan != self.base;
        match self.turn.acts.first() {
            Some(Act::Correct | Act::Retract | Act::Refine | Act::Undo | Act::Redo | Act::Reject) => changes,
            Some(Act::New) => changes && self.explained.is_whole(),
            _ => false,
        }
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
        let mut plan = self.base.clone();
        plan.relation.steps.truncate(figure);
        let is_other = matches!(self.turn.acts.first(), Some(Act::Accept | Act::Reject | Act::Unclear));
        let is_asked = !is_other && !self.is_written() && !self.says_more();
        let remarks = vec!["these are the rows that the figure is of".to_string()];
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
        self.assembly.plan.inputs().iter().any(|input| matches!(input, Input::Table(own) if own == id))
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
        let reading = PlanReading::of(read, current, base, None);
        if !reading.turn.has(Act::Undo) || reading.only_moves().is_some() {
            return Ok(reading);
        }
        let Some(base) = session.plan_before(reading.turn.steps()) else { return Ok(reading) };
        let read = self.assembled(session, text, &base, at_hand, &|_| ())?;
        Ok(PlanReading::of(read, reading.current, base, None))
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
            true => self.with_looked_up(session, text, (base.clone(), read), (None, &without_topic))?,
            false => (base.clone(), read),
        };
        Ok(PlanReading::of(read, base, wider, None))
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
            let (turn, assembly) = (control.reading(text), control.applied(text, plan));
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
        schema.language = self.index.names_language()?;
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let holds = |place: usize, value: &str| self.holds_value(&schema, &known, place, value);
        let mut readings = Reader::builtin().readings(text, previous, &schema, &holds, READINGS);
        // What is in the name of a table holds of all its rows.
        let about =
            plan.inputs().into_iter().filter_map(|input| if let Input::Table(id) = input { Some(id) } else { None });
        let about: BTreeSet<String> = about.flat_map(|id| stems(id)).collect();
        for reading in &mut readings {
            reading.turn.unread.retain(|word| !stems(word).is_subset(&about));
            self.note_ids((text, plan), &holds, &mut reading.turn)?;
            corrected(&mut reading.turn);
        }
        let mut others = meanings(readings, plan, &|turn| assemble(turn, &schema, plan));
        let Meaning { mut turn, mut assembly, probability: mut certainty } = others.remove(0);
        // What was read as a question of its own and speaks of columns that only the plan makes goes on from it.
        let lacks_column = |made: &Assembly| {
            matches!(relation_columns(context, &made.plan.relation), Err(Error::UnknownColumn { .. }))
        };
        if turn.has(Act::New) && !plan.relation.steps.is_empty() && lacks_column(&assembly) {
            turn.acts.iter_mut().filter(|act| **act == Act::New).for_each(|act| *act = Act::Refine);
            let bases = [tables_of(plan), plan.clone()];
            let made = bases.iter().map(|base| assemble(&turn, &schema, base)).find(|made| !lacks_column(made));
            assembly = made.unwrap_or(assembly);
        }
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

    /// What the turn comes to, with the tables that it wants chosen among `partners`; nothing where it says nothing of the plan.
    ///
    /// # Errors
    /// Whatever the index and the heads of tables report.
    pub(super) fn requested_plan(
        &self,
        session: &Session,
        text: &str,
        reading: &PlanReading,
        (partners, supplements): (&[Scored], &[&Candidate]),
        at_hand: Option<AtHand<'_>>,
    ) -> Result<Option<RequestedPlan>> {
        if let Some(written) = &reading.written {
            return Ok(written_plan(&reading.base, written));
        }
        let (mut plan, mut not_applied) = (reading.base.clone(), Vec::new());
        if reading.turn.has(Act::New) {
            plan = Plan::of(plan.relation.source.clone());
        }
        let mut chosen: Option<(String, OperationKind)> = None;
        let mut tables_chosen: Vec<String> = Vec::new();
        let mut remarks: Vec<String> = Vec::new();
        // All tables that fit were appended at once.
        let mut appended = false;
        // The second part: whether it is what another table did not answer.
        let mut queue: VecDeque<(RequestedTable, bool)> =
            reading.assembly.tables.iter().map(|requested| (requested.clone(), false)).collect();
        while let Some((requested, is_rest)) = queue.pop_front() {
            let requested = &requested;
            let is_there =
                |id: &String| plan.inputs().iter().any(|input| matches!(input, Input::Table(known) if known == id));
            // Who names the table at hand wants no other one.
            if matches!(&plan.relation.source, Input::Table(own) if requested.id.as_ref() == Some(own)) {
                continue;
            }
            if requested.how == How::Union && appended {
                continue;
            }
            // Who wants codes in words names no table.
            if requested.how == How::Join
                && requested.id.is_none()
                && let Some(join) = self.requested_meaning(session, &plan, requested)?
            {
                let Input::Table(list) = join.with.source.clone() else { continue };
                let is_same = |step: &Step| matches!(step, Step::Join(known) if (&known.with, &known.on) == (&join.with, &join.on));
                if plan.relation.steps.iter().any(is_same) {
                    let reason = format!("what `{list}` says of it is in the plan already");
                    not_applied.push(NotApplied::left_out(&requested.words, reason));
                    continue;
                }
                let with = self.with_columns_shown(session, &plan, with_table(&plan, Step::Join(join)))?;
                if relation_columns(self.connected(session)?, &with.relation).is_ok() {
                    tables_chosen.push(list.clone());
                    (plan, chosen) = (with, Some((list, OperationKind::Join)));
                    continue;
                }
            }
            let by_words = &self.found_for(requested)?;
            let found = match requested.how {
                How::Source => self.other_source(session, &plan, (requested, by_words), text)?,
                How::Semi | How::Anti => {
                    self.to_join(session, &plan, (requested, by_words), at_hand, text, partners)?
                }
                How::Join | How::Union => {
                    let joined = RequestedTable { how: How::Join, ..requested.clone() };
                    let join = || self.to_join(session, &plan, (&joined, by_words), at_hand, text, partners);
                    let append = || self.to_append(session, &plan, (requested, by_words), text, supplements);
                    let (first, other) = match requested.how {
                        How::Union => (append()?, &join as &dyn Fn() -> Result<Option<Chosen>>),
                        _ => (join()?, &append as _),
                    };
                    match first {
                        // Rows that meet none, and rows that have hardly a column in common, are not what was meant.
                        Some(found) if found.fit <= LITTLE => {
                            other()?.filter(|other| other.table == found.table && other.fit >= FITS).or(Some(found))
                        }
                        found => found,
                    }
                }
            };
            // Nor is a guess made for that.
            let found = found.filter(|found| !is_rest || !found.not_applied.iter().any(NotApplied::is_guess));
            let Some(Chosen { table, next, not_applied: lost, left, .. }) = found else {
                let words =
                    if requested.words.is_empty() { requested.columns.join(", ") } else { requested.words.clone() };
                let reason = match &requested.id {
                    Some(id) if at_hand.is_some() => format!("no column of `{id}` has values of the rows at hand"),
                    _ => "no table of the lake that fits was found for it".into(),
                };
                not_applied.push(NotApplied::left_out(words, reason));
                continue;
            };
            if requested.how != How::Source && is_there(&table) {
                if !tables_chosen.contains(&table) {
                    let reason = format!("`{table}` is in the plan already");
                    not_applied.push(NotApplied::left_out(&requested.words, reason));
                }
                continue;
            }
            not_applied.extend(lost);
            if !left.is_empty() {
                queue.push_front((RequestedTable { columns: left, ..requested.clone() }, true));
            }
            tables_chosen.push(table.clone());
            appended |=
                matches!(&next, Next::Step(step) if matches!(&**step, Step::Union(union) if union.others.len() > 1));
            let is_appended = matches!(&next, Next::Step(step) if matches!(&**step, Step::Union(_)));
            if is_appended != (requested.how == How::Union) && requested.how != How::Source {
                // Said, as it is not what was read.
                remarks.push(match is_appended {
                    true => format!("hardly a row of it meets one of `{table}`, which has the same columns"),
                    false => format!("`{table}` has hardly another column in common"),
                });
            }
            let kind = if is_appended { OperationKind::Union } else { OperationKind::Join };
            let with = match next {
                Next::Step(step) => self.with_columns_shown(session, &plan, with_table(&plan, *step)),
                Next::Source(source, renames) => Ok(replaced_source(&plan, source, renames)),
            };
            let made = with.and_then(|with| relation_columns(self.connected(session)?, &with.relation).map(|_| with));
            plan = match made {
                Ok(made) => made,
                // The table at hand has the key, what was made of it has not.
                Err(Error::UnknownColumn { name: column, .. }) => {
                    let words =
                        if requested.words.is_empty() { requested.columns.join(", ") } else { requested.words.clone() };
                    let reason = format!("the rows as they stand have no column `{column}` to join `{table}` by");
                    not_applied.push(NotApplied::left_out(words, reason));
                    chosen = Some((table, OperationKind::Join));
                    continue;
                }
                Err(error) => return Err(error),
            };
            if requested.how != How::Source {
                chosen = Some((table, kind));
            }
        }
        let says_more = reading.turn.spans.iter().any(|span| {
            !matches!(span.role, Role::Table | Role::Add | Role::Key | Role::Column | Role::Topic | Role::Steps)
        });
        let assembly = if reading.assembly.tables.is_empty() {
            reading.assembly.clone()
        } else if says_more {
            // Now with the columns of the other table. Values that none of the rows before had say which rows are appended.
            let is_appended = matches!(&chosen, Some((_, OperationKind::Union)));
            let lost: Vec<&str> = reading.assembly.not_applied.iter().map(|lost| lost.words.as_str()).collect();
            let says_which =
                |span: &Span| is_appended && span.role == Role::Value && lost.contains(&span.words.as_str());
            for span in reading.turn.spans.iter().filter(|span| says_which(span)) {
                remarks.push(format!("`{}` is taken to say which rows are appended", span.words));
            }
            let without_tables = |turn: &mut TurnReading| {
                turn.acts.retain(|act| *act != Act::New);
                turn.spans
                    .retain(|span| !matches!(span.role, Role::Table | Role::Add | Role::Key) && !says_which(span));
            };
            self.assembled(session, text, &plan, at_hand, &without_tables)?.assembly
        } else {
            unchanged(&plan)
        };
        not_applied.extend(assembly.not_applied);
        let made = (&reading.base, assembly.plan);
        plan = self.keeping_added(session, made, &reading.turn, &mut not_applied)?;
        // Requests about a dataset belong to a search; beside a change of the plan they would be lost.
        if plan != reading.base {
            let of_dataset = reading.turn.spans.iter().filter(|span| speaks_of_dataset(span.role));
            not_applied.extend(of_dataset.map(|span| {
                let reason = "it is read as a wish about the data to look for, not about these rows";
                NotApplied::left_out(&span.words, reason)
            }));
        }
        if plan == reading.base && not_applied.is_empty() {
            return Ok(None);
        }
        let kind = kind_of(&reading.base, &plan, chosen.as_ref().map(|(_, kind)| *kind));
        let is_used = |table: &String| plan.inputs().contains(&&Input::Table(table.clone()));
        let table = chosen.map(|(table, _)| table).filter(is_used);
        remarks.extend(assembly.remarks);
        Ok(Some(RequestedPlan { plan, table, kind, not_applied, remarks }))
    }

    /// What adds the meanings of codes that a requested table speaks of.
    fn requested_meaning(&self, session: &Session, plan: &Plan, requested: &RequestedTable) -> Result<Option<Join>> {
        let words: Vec<&str> =
            std::iter::once(requested.words.as_str()).chain(requested.columns.iter().map(String::as_str)).collect();
        let Some(mut join) = self.meaning_named(session, plan, &words.join(" "))? else { return Ok(None) };
        let Input::Table(list) = &join.with.source else { return Ok(Some(join)) };
        // "The capacity of the stage" is another column of the list of stages than what its codes mean.
        let owned = requested.of_owner();
        let heads = owned.as_ref().map_or(&requested.columns, |owned| &owned.columns);
        let dataset = self.index.dataset(self.index.find(list)?)?;
        let is_key = |name: &str| join.on.iter().any(|key| key.right == name);
        let others: Vec<&str> =
            dataset.columns().iter().map(|column| &*column.name).filter(|name| !is_key(name)).collect();
        let called = |head: &String| others.iter().find(|name| is_column_called(head, name));
        let wanted: Vec<&str> = heads.iter().filter_map(called).copied().collect();
        if !heads.is_empty() && wanted.len() == heads.len() {
            join.columns = wanted.into_iter().map(|name| Kept { column: name.into(), name: None }).collect();
        }
        Ok(Some(join))
    }

    /// The plan with a further table, whose columns are shown beside those that the plan before kept.
    fn with_columns_shown(&self, session: &Session, before: &Plan, mut after: Plan) -> Result<Plan> {
        let ends = (after.relation.steps.split_last_mut(), before.relation.steps.split_last());
        let (Some((Step::Select(kept), rows)), Some((Step::Select(_), rows_before))) = ends else { return Ok(after) };
        let context = self.connected(session)?;
        let names = |steps: &[Step]| -> Result<Vec<String>> {
            let rows = Relation { source: before.relation.source.clone(), steps: steps.to_vec() };
            Ok(relation_columns(context, &rows)?.into_iter().map(|column| column.name).collect())
        };
        let known = names(rows_before)?;
        let added = names(rows)?.into_iter().filter(|name| !known.contains(name));
        kept.extend(added.map(|column| Kept { column, name: None }));
        Ok(after)
    }
}

/// What leaves a plan as it is.
fn unchanged(plan: &Plan) -> Assembly {
    Assembly { plan: plan.clone(), tables: Vec::new(), not_applied: Vec::new(), remarks: Vec::new() }
}

/// What a plan that a model wrote comes to; nothing where it changes nothing and leaves nothing out.
fn written_plan(base: &Plan, written: &Written) -> Option<RequestedPlan> {
    let Written { plan, missing, .. } = written;
    let lost = |words: &String| NotApplied::left_out(words, "these tables do not have it");
    let not_applied: Vec<NotApplied> = missing.iter().map(lost).collect();
    if plan == base && not_applied.is_empty() {
        return None;
    }
    let known = base.inputs();
    let new = plan.inputs().into_iter().find(|input| !known.contains(input));
    let table = new.and_then(|input| if let Input::Table(id) = input { Some(id.clone()) } else { None });
    let unions = |plan: &Plan| plan.relation.steps.iter().filter(|step| matches!(step, Step::Union(_))).count();
    let is_union = unions(plan) > unions(base);
    let combined = table.is_some().then_some(if is_union { OperationKind::Union } else { OperationKind::Join });
    let kind = kind_of(base, plan, combined);
    Some(RequestedPlan { plan: plan.clone(), table, kind, not_applied, remarks: Vec::new() })
}

/// The kind of an operation that makes `plan` of `base`, where it has combined tables so.
pub(super) fn kind_of(base: &Plan, plan: &Plan, combined: Option<OperationKind>) -> OperationKind {
    match combined {
        _ if groupings(plan) != groupings(base) => OperationKind::Aggregate,
        Some(kind) => kind,
        None if unions(plan) > unions(base) => OperationKind::Union,
        None => OperationKind::Filter,
    }
}

/// The steps of a plan that group.
fn groupings(plan: &Plan) -> Vec<&Step> {
    plan.relation.steps.iter().filter(|step| matches!(step, Step::Group(_) | Step::Pivot(_))).collect()
}

/// The tables that a plan appends.
fn unions(plan: &Plan) -> usize {
    plan.relation.steps.iter().map(|step| if let Step::Union(union) = step { union.others.len() } else { 0 }).sum()
}

/// A plan with the tables of another one and none of what is done with their rows.
fn tables_of(plan: &Plan) -> Plan {
    let mut tables = plan.clone();
    tables.relation.steps.retain(|step| matches!(step, Step::Join(_) | Step::Union(_) | Step::Rename(_)));
    tables
}

/// Whether a span of this role changes rows or columns.
fn speaks_of_rows(role: Role) -> bool {
    role.place() <= Role::Derive.place() && role != Role::Column
}

/// Whether a span of this role is a request about a dataset.
fn speaks_of_dataset(role: Role) -> bool {
    role.place() >= Role::Place.place()
}
