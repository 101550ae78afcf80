//! The plan that a turn asks for: what is said of columns, rows and figures, put into the plan at hand with the tables that are wanted
//! beside.
//!
//! The tables are chosen one after the other among what the searches found, by their names, the columns that are wanted, and the keys
//! they share. The turn is then read again over the columns of all.

use super::Agent;
use super::known_columns::{AtHand, column_names};
use super::model_reading::Written;
use super::plan_edit::added_table;
use super::plan_reading::{PlanReading, unchanged};
use super::requested_table::{Chosen, Next, all_words, is_column_called, replaced_source};
use super::scored::Scored;
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::{Join, Kept, Plan, Relation, Step};
use lakeward_core::request::{Input, OperationKind};
use lakeward_operate::relation_columns;
use lakeward_reading::reader::{Act, Assembly, How, NotApplied, RequestedTable, Role, Span, TurnReading, with_table};
use lakeward_search::Candidate;
use lakeward_search::weights::PartnerWeights;

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
    pub remarks: Vec<Message>,
}

/// What the tables of a turn are chosen among, and by which words.
#[derive(Clone, Copy)]
pub(super) struct Among<'t> {
    pub session: &'t Session,
    /// What is said, in English.
    pub text: &'t str,
    /// The table at hand, opened.
    pub at_hand: Option<AtHand<'t>>,
    /// What it can be joined with, best first.
    pub partners: &'t [Scored],
    /// What can be appended to it, best first.
    pub supplements: &'t [&'t Candidate],
}

/// A plan with the tables that were chosen for it.
struct Combined {
    plan: Plan,
    /// All that were chosen, by their ids.
    tables: Vec<String>,
    /// The last that was joined or appended, and which of both.
    latest: Option<(String, OperationKind)>,
    /// Whether all tables that fit were appended at once.
    has_all: bool,
    not_applied: Vec<NotApplied>,
    remarks: Vec<Message>,
}

/// What the meanings of codes do to a plan.
enum Meanings {
    /// The plan with them, and the table that they are of.
    Added(Plan, String),
    /// The plan has those of this table already.
    Known(String),
}

impl Combined {
    fn of(plan: Plan) -> Self {
        let (not_applied, remarks) = (Vec::new(), Vec::new());
        Self { plan, tables: Vec::new(), latest: None, has_all: false, not_applied, remarks }
    }

    /// The same, where what is wanted of a table is not had.
    fn without(mut self, words: &str, reason: String) -> Self {
        self.not_applied.push(NotApplied::left_out(words, reason));
        self
    }
}

impl Agent<'_> {
    /// What the turn comes to, with the tables that it wants; nothing where it says nothing of the plan.
    ///
    /// # Errors
    /// Whatever the index and the heads of tables report.
    pub(super) fn requested_plan(&self, reading: &PlanReading, among: Among<'_>) -> Result<Option<RequestedPlan>> {
        if let Some(written) = &reading.written {
            return Ok(written_plan(&reading.base, written));
        }
        let base = &reading.base;
        let start = if reading.turn.has(Act::New) { Plan::of(base.relation.source.clone()) } else { base.clone() };
        let mut combined = Combined::of(start);
        for requested in &reading.assembly.tables {
            combined = self.with_requested_table(combined, requested, false, among)?;
        }
        let read = self.read_over_combined(reading, &combined, among)?;
        let mut not_applied = [combined.not_applied, read.not_applied].concat();
        let plan = self.keeping_added(among.session, (base, read.plan), &reading.turn, &mut not_applied)?;
        // Requests about a dataset belong to a search; beside a change of the plan they would be lost.
        if plan != *base {
            let of_dataset = reading.turn.spans.iter().filter(|span| speaks_of_dataset(span.role));
            not_applied.extend(of_dataset.map(|span| {
                let reason = "it is read as a wish about the data to look for, not about these rows";
                NotApplied::left_out(&span.words, reason)
            }));
        }
        if plan == *base && not_applied.is_empty() {
            return Ok(None);
        }
        let kind = kind_of(base, &plan, combined.latest.as_ref().map(|(_, kind)| *kind));
        let is_used = |table: &String| plan.tables().any(|used| used == table);
        let table = combined.latest.map(|(table, _)| table).filter(is_used);
        let remarks = [combined.remarks, read.remarks].concat();
        Ok(Some(RequestedPlan { plan, table, kind, not_applied, remarks }))
    }

    /// A plan with a further table, chosen for what is `requested`; `is_rest` where this is what another one did not answer.
    fn with_requested_table(
        &self,
        combined: Combined,
        requested: &RequestedTable,
        is_rest: bool,
        among: Among<'_>,
    ) -> Result<Combined> {
        let own = combined.plan.relation.source.table();
        // Who names the table at hand wants no other one.
        if own.is_some() && requested.id.as_deref() == own || (requested.how == How::Union && combined.has_all) {
            return Ok(combined);
        }
        match self.requested_meanings(among.session, &combined.plan, requested)? {
            Some(Meanings::Known(list)) => {
                let reason = format!("what `{list}` says of it is in the plan already");
                return Ok(combined.without(&requested.words, reason));
            }
            Some(Meanings::Added(plan, list)) => {
                let mut tables = combined.tables;
                tables.push(list.clone());
                return Ok(Combined { plan, tables, latest: Some((list, OperationKind::Join)), ..combined });
            }
            None => {}
        }
        let found = self.chosen_table(&combined.plan, requested, among)?;
        // Nor is a guess made for the rest.
        let Some(chosen) = found.filter(|found| !is_rest || !found.not_applied.iter().any(NotApplied::is_guess)) else {
            let wish = (&requested.columns[..], among.text);
            let is_open = requested.how == How::Join && requested.id.is_none();
            let at_hand = among.at_hand.filter(|_| is_open);
            if let Some(_) = at_hand
                && let Some(named) = self.requested_names(among.session, &combined.plan, wish, at_hand)?
            {
                let (mut tables, mut remarks) = (combined.tables, combined.remarks);
                tables.push(named.table.clone());
                remarks.extend(named.remarks);
                let latest = Some((named.table, OperationKind::Join));
                return Ok(Combined { plan: named.plan, tables, latest, remarks, ..combined });
            }
            let reason = match &requested.id {
                Some(id) if among.at_hand.is_some() => format!("no column of `{id}` has values of the rows at hand"),
                _ => "no table of the lake that fits was found for it".into(),
            };
            return Ok(combined.without(&words_of(requested), reason));
        };
        let table = &chosen.table;
        if requested.how != How::Source && combined.plan.tables().any(|known| known == table) {
            let reason = format!("`{table}` is in the plan already");
            let is_chosen = combined.tables.contains(table);
            return Ok(if is_chosen { combined } else { combined.without(&requested.words, reason) });
        }
        self.with_chosen(combined, requested, chosen, among)
    }

    /// The table that is best joined or appended for what is requested.
    fn chosen_table(&self, plan: &Plan, requested: &RequestedTable, among: Among<'_>) -> Result<Option<Chosen>> {
        let Among { session, text, at_hand, partners, supplements } = among;
        let PartnerWeights { little_fit, other_fit, .. } = self.ranking.partner;
        let by_words = &self.found_for(requested)?;
        let join =
            |requested: &RequestedTable| self.to_join(session, plan, (requested, by_words), at_hand, text, partners);
        let append = || self.to_append(session, plan, (requested, by_words), text, supplements);
        let first = match requested.how {
            How::Source => return self.other_source(session, plan, (requested, by_words), text),
            How::Semi | How::Anti => return join(requested),
            How::Join => join(requested)?,
            How::Union => append()?,
        };
        // Rows that meet none, and rows that have hardly a column in common, are not what was meant.
        let first = match first {
            Some(first) if first.fit <= little_fit => first,
            found => return Ok(found),
        };
        let other = match requested.how {
            How::Union => join(&RequestedTable { how: How::Join, ..requested.clone() })?,
            _ => append()?,
        };
        Ok(other.filter(|other| other.table == first.table && other.fit >= other_fit).or(Some(first)))
    }

    /// A plan with a table that was chosen, and with others for what that does not answer.
    fn with_chosen(
        &self,
        combined: Combined,
        requested: &RequestedTable,
        chosen: Chosen,
        among: Among<'_>,
    ) -> Result<Combined> {
        let Chosen { table, next, not_applied, left, .. } = chosen;
        let Combined { plan: before, mut tables, mut latest, has_all, not_applied: lost, mut remarks } = combined;
        let mut not_applied = [lost, not_applied].concat();
        tables.push(table.clone());
        let appended = match &next {
            Next::Step(step) => unions(std::slice::from_ref(&**step)),
            Next::Source(..) => 0,
        };
        let (is_source, kind) =
            (requested.how == How::Source, if appended > 0 { OperationKind::Union } else { OperationKind::Join });
        if !is_source && (appended > 0) != (requested.how == How::Union) {
            // Said, as it is not what was read.
            remarks.push(match kind {
                OperationKind::Union => {
                    message!("hardly a row of it meets one of `{}`, which has the same columns", &table)
                }
                _ => message!("`{}` has hardly another column in common", &table),
            });
        }
        let with = match next {
            Next::Step(step) => self.with_columns_shown(among.session, &before, with_table(&before, *step)),
            Next::Source(source, renames) => Ok(replaced_source(&before, source, renames)),
        };
        let context = self.connected(among.session)?;
        let made = with.and_then(|with| relation_columns(context, &with.relation).map(|_| with));
        let plan = match made {
            Ok(made) => {
                latest = if is_source { latest } else { Some((table, kind)) };
                made
            }
            // The table at hand has the key, what was made of it has not.
            Err(Error::UnknownColumn { name: column, .. }) => {
                let reason = format!("the rows as they stand have no column `{column}` to join `{table}` by");
                not_applied.push(NotApplied::left_out(words_of(requested), reason));
                latest = Some((table, OperationKind::Join));
                before
            }
            Err(error) => return Err(error),
        };
        let has_all = has_all || appended > 1;
        let combined = Combined { plan, tables, latest, has_all, not_applied, remarks };
        if left.is_empty() {
            return Ok(combined);
        }
        self.with_requested_table(combined, &RequestedTable { columns: left, ..requested.clone() }, true, among)
    }

    /// What the turn makes of a plan with all its tables.
    fn read_over_combined(&self, reading: &PlanReading, combined: &Combined, among: Among<'_>) -> Result<Assembly> {
        let spans = &reading.turn.spans;
        let says_more = spans.iter().any(|span| {
            !matches!(span.role, Role::Table | Role::Add | Role::Key | Role::Column | Role::Topic | Role::Steps)
        });
        if reading.assembly.tables.is_empty() {
            return Ok(reading.assembly.clone());
        }
        if !says_more {
            return Ok(unchanged(&combined.plan));
        }
        // Now with the columns of the other table. Values that none of the rows before had say which rows are appended.
        let is_appended = matches!(&combined.latest, Some((_, OperationKind::Union)));
        let lost: Vec<&str> = reading.assembly.not_applied.iter().map(|lost| lost.words.as_str()).collect();
        let says_which = |span: &Span| is_appended && span.role == Role::Value && lost.contains(&span.words.as_str());
        let without_tables = |turn: &mut TurnReading| {
            turn.acts.retain(|act| *act != Act::New);
            turn.spans.retain(|span| !matches!(span.role, Role::Table | Role::Add | Role::Key) && !says_which(span));
        };
        let Among { session, text, at_hand, .. } = among;
        let read = self.assembled(session, text, &combined.plan, at_hand, &without_tables)?.assembly;
        let which = spans.iter().filter(|span| says_which(span));
        let which = which.map(|span| message!("`{}` is taken to say which rows are appended", &span.words));
        Ok(Assembly { remarks: which.chain(read.remarks).collect(), ..read })
    }

    /// The meanings of codes that a requested table speaks of: who wants codes in words names no table.
    fn requested_meanings(
        &self,
        session: &Session,
        plan: &Plan,
        requested: &RequestedTable,
    ) -> Result<Option<Meanings>> {
        if requested.how != How::Join || requested.id.is_some() {
            return Ok(None);
        }
        let Some(mut join) = self.meaning_named(session, plan, &all_words(requested))? else { return Ok(None) };
        let Input::Table(list) = join.with.source.clone() else { return Ok(None) };
        // "The capacity of the stage" is another column of the list of stages than what its codes mean.
        let owned = requested.of_owner();
        let heads = owned.as_ref().map_or(&requested.columns, |owned| &owned.columns);
        let dataset = self.index.dataset(self.index.find(&list)?)?;
        let is_key = |name: &str| join.on.iter().any(|key| key.right == name);
        let others: Vec<&str> =
            dataset.columns().iter().map(|column| &*column.name).filter(|name| !is_key(name)).collect();
        let called = |head: &String| others.iter().find(|name| is_column_called(head, name, &self.ranking.partner));
        let wanted: Vec<&str> = heads.iter().filter_map(called).copied().collect();
        if !heads.is_empty() && wanted.len() == heads.len() {
            join.columns = wanted.into_iter().map(|name| Kept { column: name.into(), name: None }).collect();
        }
        let is_same = |known: &Join| (&known.with, &known.on) == (&join.with, &join.on);
        if plan.relation.steps.iter().any(|step| matches!(step, Step::Join(known) if is_same(known))) {
            return Ok(Some(Meanings::Known(list)));
        }
        let with = self.with_columns_shown(session, plan, with_table(plan, Step::Join(join)))?;
        let is_made = relation_columns(self.connected(session)?, &with.relation).is_ok();
        Ok(is_made.then_some(Meanings::Added(with, list)))
    }

    /// The plan with a further table, whose columns are shown beside those that the plan before kept.
    fn with_columns_shown(&self, session: &Session, before: &Plan, mut after: Plan) -> Result<Plan> {
        let ends = (after.relation.steps.split_last_mut(), before.relation.steps.split_last());
        let (Some((Step::Select(kept), rows)), Some((Step::Select(_), rows_before))) = ends else { return Ok(after) };
        let context = self.connected(session)?;
        let names = |steps: &[Step]| -> Result<Vec<String>> {
            column_names(context, &Relation { source: before.relation.source.clone(), steps: steps.to_vec() })
        };
        let known = names(rows_before)?;
        let added = names(rows)?.into_iter().filter(|name| !known.contains(name));
        kept.extend(added.map(|column| Kept { column, name: None }));
        Ok(after)
    }
}

/// What is wanted of a table: the words for it, else those for its columns.
fn words_of(requested: &RequestedTable) -> String {
    if requested.words.is_empty() { requested.columns.join(", ") } else { requested.words.clone() }
}

/// What a plan that a model wrote comes to; nothing where it changes nothing and leaves nothing out.
pub(super) fn written_plan(base: &Plan, written: &Written) -> Option<RequestedPlan> {
    let Written { plan, missing, .. } = written;
    let lost = |words: &String| NotApplied::left_out(words, "these tables do not have it");
    let not_applied: Vec<NotApplied> = missing.iter().map(lost).collect();
    if plan == base && not_applied.is_empty() {
        return None;
    }
    let table = added_table(base, plan);
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
        None if unions(&plan.relation.steps) > unions(&base.relation.steps) => OperationKind::Union,
        None if only_joins(base, plan) => OperationKind::Join,
        None => OperationKind::Filter,
    }
}

/// The steps of a plan that group.
fn groupings(plan: &Plan) -> Vec<&Step> {
    plan.relation.steps.iter().filter(|step| matches!(step, Step::Group(_) | Step::Pivot(_))).collect()
}

/// Whether a plan goes on from `base` with joins and nothing else.
fn only_joins(base: &Plan, plan: &Plan) -> bool {
    let new = plan.relation.steps.get(base.relation.steps.len()..).unwrap_or_default();
    plan.continues(base) && !new.is_empty() && new.iter().all(|step| matches!(step, Step::Join(_)))
}

/// The number of tables that steps append.
fn unions(steps: &[Step]) -> usize {
    steps.iter().map(|step| if let Step::Union(union) = step { union.others.len() } else { 0 }).sum()
}

/// Whether a span of this role is a request about a dataset.
fn speaks_of_dataset(role: Role) -> bool {
    role.place() >= Role::Place.place()
}
