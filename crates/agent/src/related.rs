//! Counts the rows of another table that belong to each row at hand, where a turn speaks of them: "pets with no visits in 2024", "owners with more
//! than two pets". The number is a column of the rows, which the turn is then read over; what is said right behind the name of the counted table is
//! read over that.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Agent;
use super::plan_reading::{Correction, Read};
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::message::{AND, Message};
use lakeward_core::plan::{
    Comparison, Condition, Expression, Grouping, Join, JoinKey, JoinKind, Kept, Key, Measure, MeasureFunction, Plan,
    Relation, Step, Value,
};
use lakeward_core::request::Input;
use lakeward_core::text::{lower_words, name_words, stems};
use lakeward_index::TableRef;
use lakeward_operate::relation_columns;
use lakeward_reading::reader::{Assembly, Function, NotApplied, Role, Span, TurnReading};
use lakeward_search::QueryTable;

use crate::session::Session;

/// Letters of the shortest name of a table that words are taken for.
const SHORTEST: usize = 4;

/// Words before a table's name that ask for what has rows there, and for what has none.
const SOME: [&str; 5] = ["with", "have", "has", "having", "had"];
const NONE: [&str; 3] = ["no", "without", "zero"];

/// Rows of another table that are counted.
struct Counted {
    join: Join,
    /// The comparison with nought that the words before the name say.
    exists: Option<Comparison>,
    /// The column of their number: the table as the turn names it.
    name: String,
    /// Whether names of the table at hand have that word, too.
    is_known: bool,
    remark: Message,
}

impl Agent<'_> {
    /// A plan and how a turn reads over it, `read_over` a plan; with the number of rows of another table in `among` for each row, where the turn names
    /// that table, its rows name those at hand by a key, and the turn is then read as a plan that needs the number and nothing more is lost.
    ///
    /// # Errors
    /// A damaged index, and whatever reading the turn reports.
    pub(super) fn with_counted(
        &self,
        session: &Session,
        text: &str,
        (base, mut read): (Plan, Read),
        (own, among): (&QueryTable, &[TableRef]),
        read_over: &dyn Fn(&Plan, &Correction<'_>) -> Result<Read>,
    ) -> Result<(Plan, Read)> {
        let mut all = self.counted(text, own, among)?;
        for place in 0..all.len() {
            let behind = self.said_of_rows(session, &read.turn.text, &all[place])?;
            if let Some(behind) = &behind {
                all[place].only(behind);
            }
            let counted = &all[place];
            let (join, derive) = (Step::Join(counted.join.clone()), counted.none_is_zero());
            if base.relation.steps.contains(&join) {
                continue;
            }
            let mut wider = base.clone();
            wider.relation.steps.splice(0..0, [join.clone(), derive.clone()]);
            let is_about = |span: &Span| lower_words(&span.words).any(|word| word == counted.name);
            let told = |turn: &mut TurnReading| {
                if counted.exists.is_some() {
                    turn.spans.retain(|span| !is_about(span));
                }
                if let Some(behind) = &behind {
                    behind.take_from(turn);
                }
            };
            let mut with = read_over(&wider, &told)?;
            if let Some(filter) = counted.exists.map(|comparison| counted.compared(comparison)) {
                let steps = &mut with.assembly.plan.relation.steps;
                let place = steps.iter().position(|step| *step == derive).map_or(steps.len(), |place| place + 1);
                steps.insert(place, Step::Filter(filter));
            }
            let mut without = with.assembly.plan.clone();
            without.relation.steps.retain(|step| *step != join && *step != derive);
            let columns = relation_columns(self.connected(session)?, &without.relation);
            let is_needed = matches!(columns, Err(Error::UnknownColumn { .. }));
            if is_needed && !counted.is_known && with.assembly.not_applied.len() <= read.assembly.not_applied.len() {
                for step in &mut with.assembly.plan.relation.steps {
                    if let Step::Filter(condition) = step {
                        *condition = counted.gaps_are_zero(condition);
                    }
                }
                counted.of_each_row(&mut with.assembly.plan);
                with.assembly.remarks.push(counted.remark.clone());
                let doubts = counted.doubts(behind.is_some(), &with.turn, &all);
                with.assembly.not_applied.extend(doubts);
                // Rows with the number and nothing else are a change of the rows without it.
                let read_over = if with.assembly.plan == wider { base } else { wider };
                return Ok((read_over, with));
            }
            // Columns at hand that speak of such things have not got the number: `max_anim`.
            let made = base.clone().then(join).then(derive);
            if counted.is_asked_for_each(&read) && relation_columns(self.connected(session)?, &made.relation).is_ok() {
                let doubts = counted.doubts(behind.is_some(), &read.turn, &all);
                let remarks = vec![counted.remark.clone()];
                read.assembly = Assembly { plan: made, tables: Vec::new(), not_applied: doubts, remarks };
                return Ok((base, read));
            }
        }
        Ok((base, read))
    }

    /// The tables of `among` that the words of a turn name and whose rows name one row of `own` each.
    fn counted(&self, text: &str, own: &QueryTable, among: &[TableRef]) -> Result<Vec<Counted>> {
        let own_names = own.columns.iter().map(|column| column.profile.name.as_str());
        let mut known: BTreeSet<String> = own_names.flat_map(stems).collect();
        known.extend(stems(own.entry.id.as_str()));
        let Some(at_hand) = self.index.get(own.entry.id.as_str())? else { return Ok(Vec::new()) };
        let words: Vec<String> = lower_words(text).collect();
        let mut found = Vec::new();
        for table in among {
            let id = self.index.id(*table)?.to_string();
            let name = name_words(id.rsplit('/').next().unwrap_or_default());
            let Some(noun) = name.into_iter().rev().find(|word| word.chars().all(char::is_alphabetic)) else {
                continue;
            };
            let noun = stems(&noun);
            let says = |word: &String| word.len() >= SHORTEST && stems(word) == noun;
            let Some(place) = words.iter().position(says) else { continue };
            let said = words[place].clone();
            let Some(rows) = self.open_candidate(&id)? else { continue };
            let Some(key) = self.key_of(&rows, at_hand)? else { continue };
            let on = JoinKey { left: key.right, right: key.left, exact: key.exact };
            let count =
                Measure { function: MeasureFunction::Count, of: None, condition: None, name: Some(said.clone()) };
            let keys = vec![Key { of: Expression::column(on.right.clone()), name: None }];
            let steps = vec![Step::Group(Grouping { keys, measures: vec![count] })];
            let remark = message!("`{}` is the number of rows of `{}` for each `{}`", &said, &id, &on.left);
            let with = Relation { source: Input::Table(id), steps };
            let columns = vec![Kept { column: said.clone(), name: None }];
            let join = Join { with, kind: JoinKind::Left, on: vec![on], columns };
            let exists = exists(&words[..place]);
            found.push(Counted { join, exists, name: said, is_known: !noun.is_disjoint(&known), remark });
        }
        Ok(found)
    }

    /// The conditions on rows of a counted table that stand right behind its name, up to the end of the clause or to what is none: "loans in 2024 that".
    fn said_of_rows(&self, session: &Session, text: &str, counted: &Counted) -> Result<Option<Behind>> {
        let Some(mut bytes) = clause_from(text, &counted.name) else { return Ok(None) };
        let rows = Plan::of(counted.join.with.source.clone());
        for _ in 0..2 {
            let name = bytes.start + counted.name.len();
            if text[name..bytes.end].trim().is_empty() {
                break;
            }
            let is_about = |span: &Span| lower_words(&span.words).any(|word| word == counted.name);
            let unnamed = |turn: &mut TurnReading| turn.spans.retain(|span| !is_about(span));
            let read = self.assembled(session, &text[bytes.clone()], &rows, None, &unnamed)?;
            let steps = &read.assembly.plan.relation.steps;
            let filter = |step: &Step| if let Step::Filter(condition) = step { Some(condition.clone()) } else { None };
            let conditions: Vec<Condition> = steps.iter().filter_map(filter).collect();
            let is_all = conditions.len() == steps.len() && read.assembly.tables.is_empty();
            if is_all && !conditions.is_empty() && read.assembly.not_applied.is_empty() {
                return Ok(Some(Behind { bytes: name..bytes.end, conditions }));
            }
            let is_condition = |span: &&Span| matches!(span.role, Role::Value | Role::Test | Role::Compare);
            let first = read.turn.spans.iter().take_while(is_condition).last();
            let Some(end) = first.map(|span| bytes.start + span.bytes.end).filter(|end| *end < bytes.end) else {
                break;
            };
            bytes.end = end.max(name);
        }
        Ok(None)
    }
}

/// What is said of the rows of a counted table.
struct Behind {
    /// Where in the turn.
    bytes: Range<usize>,
    conditions: Vec<Condition>,
}

impl Behind {
    /// Leaves nothing of it to the rows at hand.
    fn take_from(&self, turn: &mut TurnReading) {
        turn.spans.retain(|span| span.bytes.end <= self.bytes.start || self.bytes.end <= span.bytes.start);
        let said: Vec<String> = lower_words(&turn.text[self.bytes.clone()]).collect();
        turn.unread.retain(|word| !said.contains(&word.to_lowercase()));
    }
}

/// From the name of a table to the end of its clause.
fn clause_from(text: &str, name: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let is_apart = |place: usize| {
        let before = lower[..place].chars().next_back();
        let after = lower[place + name.len()..].chars().next();
        !before.into_iter().chain(after).any(char::is_alphanumeric)
    };
    let start = lower.match_indices(name).map(|(place, _)| place).find(|place| is_apart(*place))?;
    let behind = &text[start..];
    let ends = |at: &usize| {
        let rest = &behind[*at..];
        rest.starts_with([',', ';', '?', '!', ':'])
            || rest.starts_with(". ")
            || [" and ", " but ", " or "].iter().any(|word| rest.starts_with(word))
    };
    let end = behind.char_indices().map(|(at, _)| at).find(ends).unwrap_or(behind.len());
    Some(start..start + end)
}

/// What the words right before the name of a table say of its rows: that there are some, or none.
fn exists(before: &[String]) -> Option<Comparison> {
    let before = match before {
        [before @ .., any] if any == "any" => before,
        before => before,
    };
    let last = before.last()?.as_str();
    if NONE.contains(&last) {
        return Some(Comparison::Equal);
    }
    SOME.contains(&last).then_some(Comparison::Greater)
}

impl Counted {
    /// Counts only the rows that meet conditions.
    fn only(&mut self, behind: &Behind) {
        for condition in behind.conditions.iter().rev() {
            self.join.with.steps.insert(0, Step::Filter(condition.clone()));
        }
        let said = Message::list(AND, behind.conditions.iter().map(Condition::message));
        self.remark = message!("{}, of those where {}", std::mem::take(&mut self.remark), said);
    }

    /// What is computed of the number for each row at hand, "how many pets does each owner have", is the number.
    fn of_each_row(&self, plan: &mut Plan) {
        let [JoinKey { left: key, .. }] = &self.join.on[..] else { return };
        let Some(Step::Group(Grouping { keys, measures })) = plan.relation.steps.last() else { return };
        let by_key = matches!(&keys[..], [only] if only.of.as_column() == Some(key));
        let of_number = |measure: &Measure| measure.of.as_ref().and_then(Expression::as_column) == Some(&self.name);
        if by_key && measures.iter().all(of_number) {
            plan.relation.steps.pop();
        }
    }

    /// Whether a turn asks for the number of each row at hand and nothing else: "how many animals live in each of them".
    fn is_asked_for_each(&self, read: &Read) -> bool {
        let lost = &read.assembly.not_applied;
        let says_each = lost.iter().any(|lost| lower_words(&lost.words).eq(["each".to_string()]));
        let counts = |span: &Span| span.role == Role::Measure && span.function == Some(Function::Count);
        let is_about = |span: &Span| lower_words(&span.words).any(|word| word == self.name);
        let is_each = |span: &Span| span.role == Role::Group && span.columns.is_empty();
        let spans = &read.turn.spans;
        self.exists.is_none()
            && says_each
            && spans.iter().any(counts)
            && spans.iter().all(|span| counts(span) || is_about(span) || is_each(span))
    }

    /// What may be meant otherwise: a condition behind the name of the table that is not read as one on its rows, and another table of this name.
    fn doubts(&self, is_read_behind: bool, turn: &TurnReading, all: &[Counted]) -> Vec<NotApplied> {
        let named = turn.text.to_ascii_lowercase().find(&self.name).unwrap_or(turn.text.len());
        let is_condition = |span: &&Span| {
            let is_behind = !is_read_behind && span.bytes.start > named;
            is_behind && matches!(span.role, Role::Value | Role::Test | Role::Compare)
        };
        let reason = format!("it is taken for a condition on the rows at hand and not on `{}`", self.name);
        let behind = turn.spans.iter().filter(is_condition).map(|span| NotApplied::left_out(&span.words, &reason));
        let others = all.iter().filter(|other| other.name == self.name).count() > 1;
        let other =
            others.then(|| NotApplied::left_out(&self.name, "other tables are called so, too, and are not counted"));
        behind.chain(other).collect()
    }

    fn compared(&self, comparison: Comparison) -> Condition {
        let (left, none) = (Expression::column(self.name.clone()), Value::Integer(0));
        Condition::Compare { left, comparison, right: Expression::Value(none) }
    }

    /// What has no row there has none.
    fn none_is_zero(&self) -> Step {
        let number = Expression::column(self.name.clone());
        let value = Expression::FirstPresent(vec![number, Expression::Value(Value::Integer(0))]);
        Step::Derive { name: self.name.clone(), value }
    }

    /// A condition in which the number is nought instead of missing.
    fn gaps_are_zero(&self, condition: &Condition) -> Condition {
        let all = |parts: &[Condition]| parts.iter().map(|part| self.gaps_are_zero(part)).collect();
        match condition {
            Condition::Missing(of) if of.as_column() == Some(&self.name) => self.compared(Comparison::Equal),
            Condition::Not(of) => Condition::Not(Box::new(self.gaps_are_zero(of))),
            Condition::All(parts) => Condition::All(all(parts)),
            Condition::Any(parts) => Condition::Any(all(parts)),
            other => other.clone(),
        }
    }
}
