//! Rows after each step of a plan, and what is found on the way: warnings and facts.

use std::collections::HashSet;
use std::time::Instant;

use super::block::Block;
use super::condition::condition;
use super::kept::{KeptRelation, KeptSteps, StepReport};
use super::preview::{PlanWarning, PreviewLimits, WarningKind};
use super::table::Made;
use super::value::{condition_looks_around, value};
use super::{Compiler, first_column};
use crate::context::{LakeContext, Strategy};
use crate::counts::{add_notes, figures};
use crate::lake_catalog::Place;
use crate::notes::Note;
use crate::quote::identifier;
use crate::session_tables::SESSION_SCHEMA;
use lakeward_core::error::{Result, nearest_names};
use lakeward_core::plan::{Comparison, Condition, Edit, Expression, Plan, Relation, Step, Value};
use lakeward_core::text::counted;

/// Values told for one that a column does not have.
const NEAREST: usize = 5;
/// Different values among which the nearest are looked for.
const MOST_VALUES: usize = 20_000;
/// Values of a list that are looked for one by one.
const MOST_LISTED: usize = 50;
/// Values without rows that are named.
const NAMED_VALUES: usize = 3;
/// Bytes of the rows of a step that are kept at most.
const KEPT_BYTES: usize = 32 << 20;
/// Most rows of a join that are kept: of no other step is the number known before.
const KEPT_JOIN_ROWS: u64 = 200_000;

/// Counts rows, and collects what is found on the way.
pub(super) struct Counter<'a> {
    pub compiler: Compiler<'a>,
    pub notes: Vec<Note>,
    pub warnings: Vec<PlanWarning>,
    /// Why the plan is not to be run as it stands.
    pub stopped: Option<String>,
    pub(super) limits: &'a PreviewLimits,
    started: Instant,
    /// Relations whose rows were to be kept, with their number if they are.
    tried: Vec<(Relation, Option<u64>)>,
    pub(super) facts: Vec<String>,
}

impl<'a> Counter<'a> {
    pub fn new(context: &'a LakeContext, limits: &'a PreviewLimits) -> Self {
        let (notes, warnings, facts) = (Vec::new(), Vec::new(), Vec::new());
        let (compiler, started) = (Compiler::new(context), Instant::now());
        Self { compiler, notes, warnings, stopped: None, limits, started, tried: Vec::new(), facts }
    }

    /// Whether there is time for what is not needed to decide.
    pub fn has_time(&self) -> bool {
        self.started.elapsed() < self.limits.extras_within
    }

    pub(super) fn warn(&mut self, step: usize, kind: WarningKind, text: String) {
        self.warnings.push(PlanWarning { step, kind, text, remedy: None });
    }

    /// Warns of what `remedy` puts right.
    pub(super) fn warn_with(&mut self, step: usize, kind: WarningKind, text: String, remedy: Edit) {
        self.warnings.push(PlanWarning { step, kind, text, remedy: Some(Box::new(remedy)) });
    }

    /// What `select` computes of the rows of a relation, which it calls by the name it is given.
    pub(super) fn ask(&mut self, relation: &Relation, select: impl FnOnce(&str) -> String) -> Result<Vec<u64>> {
        let made = self.closed(relation)?;
        let sql = self.compiler.with(&select(&made.open.from));
        figures(self.compiler.context, &sql, &mut self.notes)
    }

    /// A relation as a table of a query, in any order.
    pub(super) fn closed(&mut self, relation: &Relation) -> Result<Made> {
        self.compiler.clear();
        let mut made = self.compiler.relation(relation)?;
        made.order.clear();
        self.compiler.close(&mut made);
        Ok(made)
    }

    fn count(&mut self, relation: &Relation) -> Result<u64> {
        let counts = self.ask(relation, |from| format!("SELECT count(*) FROM {from}"))?;
        Ok(counts.first().copied().unwrap_or(0))
    }

    /// Rows of a relation, which are kept where they are few.
    fn rows(&mut self, relation: &Relation) -> Result<u64> {
        match self.keep(relation)? {
            Some(rows) => Ok(rows),
            None => self.count(relation),
        }
    }

    /// What the relation is known by among what is kept; none where nothing is.
    fn key(&mut self, relation: &Relation) -> Result<Option<(&'a KeptSteps, String)>> {
        let Some(kept) = self.compiler.context.kept() else { return Ok(None) };
        let plan = Plan::from(relation.clone());
        let inputs = plan.inputs().into_iter().map(|input| self.compiler.input(input)).collect::<Result<Vec<_>>>()?;
        Ok(Some((kept, KeptSteps::key(relation, &inputs, self.limits)?)))
    }

    /// What the relation is known by, if its visible columns are all that later steps need and its rows are to be kept.
    pub fn key_of_whole(&mut self, relation: &Relation) -> Result<Option<String>> {
        self.compiler.clear();
        let whole = self.compiler.relation(relation)?.hidden.is_empty();
        Ok(self.key(relation)?.filter(|_| whole).map(|(_, key)| key))
    }

    /// Computes the rows of a relation and keeps them; their number. None where they are too many to be kept.
    fn keep(&mut self, relation: &Relation) -> Result<Option<u64>> {
        if let Some((_, rows)) = self.tried.iter().find(|(tried, _)| tried == relation) {
            return Ok(*rows);
        }
        let rows = self.compute(relation)?;
        self.tried.push((relation.clone(), rows));
        Ok(rows)
    }

    fn compute(&mut self, relation: &Relation) -> Result<Option<u64>> {
        let Some((kept, key)) = self.key(relation)? else { return Ok(None) };
        let context = self.compiler.context;
        self.compiler.clear();
        let mut made = self.compiler.relation(relation)?;
        let sql = self.compiler.whole(&mut made);
        let sql = self.compiler.with(&sql);
        let (mut batches, mut bytes, mut rows) = (Vec::new(), 0, 0);
        let mut read = || -> Result<bool> {
            let mut answer = context.query_by(&sql, None, Strategy::InOrder)?;
            while let Some(batch) = answer.next_batch()? {
                bytes += batch.get_array_memory_size();
                if bytes > KEPT_BYTES {
                    return Ok(false);
                }
                rows += batch.num_rows() as u64;
                batches.push(batch);
            }
            let Some(path) = kept.put_rows(&key, answer.schema(), &batches) else { return Ok(false) };
            self.compiler.start_from(relation, made.clone(), &key, &path);
            Ok(true)
        };
        match read() {
            Ok(whole) => {
                if whole {
                    add_notes(&mut self.notes, context.notes());
                }
                Ok(whole.then_some(rows))
            }
            // There is another way to count them.
            Err(_) if context.is_exhausted() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What was found out of the last step of a relation before; its rows serve the steps that follow.
    pub fn recall(&mut self, relation: &Relation) -> Result<Option<StepReport>> {
        let Some((kept, key)) = self.key(relation)? else { return Ok(None) };
        let Some(report) = kept.report(&key) else { return Ok(None) };
        if let Some(path) = kept.rows(&key) {
            self.compiler.clear();
            let made = self.compiler.relation(relation)?;
            self.compiler.start_from(relation, made, &key, &path);
        }
        add_notes(&mut self.notes, report.notes.clone());
        Ok(Some(report))
    }

    /// Keeps what was found out of the last step of a relation, unless something was left out.
    fn remember(&mut self, relation: &Relation, report: &StepReport) -> Result<()> {
        if self.stopped.is_none()
            && self.has_time()
            && let Some((kept, key)) = self.key(relation)?
        {
            kept.put_report(&key, report);
        }
        Ok(())
    }

    /// Rows of the source of `relation`.
    pub fn source(&mut self, relation: &Relation) -> Result<u64> {
        let source = &Relation::of(relation.source.clone());
        if let Some(report) = self.recall(source)? {
            return Ok(report.rows);
        }
        let rows = match self.read_by_first_step(relation)? {
            Some(rows) => rows,
            None => self.count(source)?,
        };
        let report = StepReport { rows, facts: Vec::new(), warnings: Vec::new(), notes: self.notes.clone() };
        self.remember(source, &report)?;
        Ok(rows)
    }

    /// Rows of the source, where computing the first step has read all of it.
    fn read_by_first_step(&mut self, relation: &Relation) -> Result<Option<u64>> {
        let Some(first @ (Step::Filter(_) | Step::Group(_) | Step::Distinct(_))) = relation.steps.first() else {
            return Ok(None);
        };
        let first = Relation::of(relation.source.clone()).then(first.clone());
        let kept = self.keep(&first)?;
        let path = self.compiler.input(&relation.source)?.path;
        Ok(kept.and_then(|_| self.compiler.context.rows_read(&path)))
    }

    /// Rows after the last step of `after`, and facts about it; no rows when it is stopped.
    pub fn last_step(&mut self, after: &Relation, rows: u64) -> Result<(Option<u64>, Vec<String>)> {
        if let Some(report) = self.recall(after)? {
            self.warnings.extend(report.warnings);
            return Ok((Some(report.rows), report.facts));
        }
        let Some((step, steps)) = after.steps.split_last() else { return Ok((Some(rows), Vec::new())) };
        let before = Relation { source: after.source.clone(), steps: steps.to_vec() };
        let warned = self.warnings.len();
        let left = self.step(after.steps.len(), &before, step, rows)?;
        let facts = std::mem::take(&mut self.facts);
        if let Some(rows) = left {
            let warnings = self.warnings[warned..].to_vec();
            self.remember(after, &StepReport { rows, facts: facts.clone(), warnings, notes: self.notes.clone() })?;
        }
        Ok((left, facts))
    }

    /// Counts every join of a relation, so that one that would explode is found before any runs. `within` is the step of the
    /// plan that the relation stands in; the plan itself stands in none. What was counted before counts.
    pub fn joins_within(&mut self, within: Option<usize>, relation: &Relation) -> Result<()> {
        let first = if within.is_none() { self.recalled(relation)? } else { 0 };
        for (at, step) in relation.steps.iter().enumerate().skip(first) {
            let place = within.unwrap_or(at + 1);
            self.tables_within(place, step)?;
            if self.stopped.is_some() {
                break;
            }
            if let Step::Join(join) = step {
                let before = Relation { source: relation.source.clone(), steps: relation.steps[..at].to_vec() };
                self.join(place, &before, join)?;
            }
        }
        Ok(())
    }

    /// The number of first steps of a relation that were counted before.
    fn recalled(&mut self, relation: &Relation) -> Result<usize> {
        for steps in (1..=relation.steps.len()).rev() {
            let first = Relation { source: relation.source.clone(), steps: relation.steps[..steps].to_vec() };
            if self.recall(&first)?.is_some() {
                return Ok(steps);
            }
        }
        Ok(0)
    }

    /// [`Counter::joins_within`] the tables that a step joins or appends.
    fn tables_within(&mut self, place: usize, step: &Step) -> Result<()> {
        match step {
            Step::Join(join) => self.joins_within(Some(place), &join.with),
            Step::Union(union) => union.others.iter().try_for_each(|part| self.joins_within(Some(place), &part.with)),
            _ => Ok(()),
        }
    }

    /// Rows after a step over a relation of `rows` rows; `None` when it is stopped.
    fn step(&mut self, place: usize, before: &Relation, step: &Step, rows: u64) -> Result<Option<u64>> {
        self.tables_within(place, step)?;
        if self.stopped.is_some() {
            return Ok(None);
        }
        let after = before.clone().then(step.clone());
        let left = match step {
            Step::Select(_) | Step::Drop(_) | Step::Rename(_) | Step::Derive { .. } | Step::Sort(_) => rows,
            Step::Limit { rows: most, skip } => {
                let left = rows.saturating_sub(*skip).min(*most);
                self.keep(&after)?.unwrap_or(left)
            }
            Step::Join(join) => match self.join(place, before, join)? {
                Some(joined) => {
                    self.keys(place, before, join, &joined)?;
                    if joined.after <= KEPT_JOIN_ROWS {
                        self.keep(&after)?;
                    }
                    joined.after
                }
                None => return Ok(None),
            },
            Step::Filter(_)
            | Step::Group(_)
            | Step::Distinct(_)
            | Step::Top(_)
            | Step::Union(_)
            | Step::Unpivot(_)
            | Step::Pivot(_) => self.rows(&after)?,
        };
        self.cautions(place, before, step, [rows, left])?;
        Ok(Some(left))
    }

    /// Says which condition no row meets, with the values or the range that there are.
    pub(super) fn nothing_left(&mut self, place: usize, before: &Relation, filter: &Condition) -> Result<()> {
        let parts = filter.parts();
        let mut is_reported = false;
        for part in &parts {
            let alone = before.clone().then(Step::Filter((*part).clone()));
            if parts.len() > 1 && self.count(&alone)? > 0 {
                continue;
            }
            is_reported = true;
            let what = self.what_there_is(before, part)?;
            let text = format!("no row is left by step {place}: there is none whose {part}{what}");
            self.warn(place, WarningKind::NothingLeft, text);
        }
        if !is_reported {
            let text =
                format!("no row is left by step {place}: each condition is met by some row, but no row meets all");
            self.warn(place, WarningKind::NothingLeft, text);
        }
        Ok(())
    }

    /// Says which values of a condition no row has, where other rows keep it from leaving nothing.
    pub(super) fn values_without_rows(&mut self, place: usize, before: &Relation, filter: &Condition) -> Result<()> {
        let mut single = Vec::new();
        filter.parts().into_iter().for_each(|part| values_of(part, &mut single));
        single.retain(|one| !condition_looks_around(one));
        let mut seen = HashSet::new();
        single.retain(|one| seen.insert(one.to_string()));
        single.truncate(MOST_LISTED);
        if single.is_empty() || !self.has_time() {
            return Ok(());
        }
        let made = self.closed(before)?;
        let counts = single.iter().enumerate().map(|(at, one)| {
            // Two values may be one number, and columns of one name are an error.
            Ok(format!("count(*) FILTER (WHERE {}) AS c{at}", condition(&made.table, one)?))
        });
        let select = format!("SELECT {} FROM {}", counts.collect::<Result<Vec<_>>>()?.join(", "), made.open.from);
        let sql = self.compiler.with(&select);
        let counts = figures(self.compiler.context, &sql, &mut self.notes)?;
        let mut none = single.iter().zip(counts).filter(|(_, rows)| *rows == 0).map(|(one, _)| one);
        for one in none.by_ref().take(NAMED_VALUES) {
            let what = self.what_there_is(before, one)?;
            self.warn(place, WarningKind::NothingLeft, format!("there is no row whose {one}{what}"));
        }
        let more = none.count() as u64;
        if more > 0 {
            let text = format!("nor are there rows for {} of the condition", counted(more, "more value"));
            self.warn(place, WarningKind::NothingLeft, text);
        }
        Ok(())
    }

    /// The values of the column of a condition that are nearest, or its range.
    fn what_there_is(&mut self, before: &Relation, part: &Condition) -> Result<String> {
        let (of, named) = match part {
            Condition::Compare { left: of, right: Expression::Value(value), .. }
            | Condition::Compare { left: Expression::Value(value), right: of, .. }
            | Condition::Between { value: of, from: value, .. } => (of, value.to_string()),
            Condition::OneOf { value: of, values } => (of, values.first().map(Value::to_string).unwrap_or_default()),
            Condition::Text { value: of, text, .. } => (of, text.clone()),
            _ => return Ok(String::new()),
        };
        self.compiler.clear();
        let mut made = self.compiler.relation(before)?;
        made.order.clear();
        let typed = value(&made.table, of)?;
        self.compiler.close(&mut made);
        let (column, from) = (&typed.sql, &made.open.from);
        if typed.column.family.is_text() {
            let sql = self
                .compiler
                .with(&format!("SELECT DISTINCT {column} FROM {from} WHERE {column} IS NOT NULL ORDER BY 1"));
            let values = first_column(self.compiler.context, &sql, MOST_VALUES)?;
            let mut nearest = nearest_names(&named, values.iter().map(String::as_str), NEAREST);
            if nearest.is_empty() {
                nearest = values.into_iter().take(NEAREST).collect();
                return Ok(format!("; it has {}, …", nearest.join(", ")));
            }
            return Ok(format!("; the nearest are {}", nearest.join(", ")));
        }
        let ends = ["min", "max"].map(|end| self.compiler.with(&format!("SELECT {end}({column}) FROM {from}")));
        let ends = ends.map(|sql| first_column(self.compiler.context, &sql, 1));
        let [least, most] = ends;
        Ok(match (least?.pop(), most?.pop()) {
            (Some(least), Some(most)) => format!("; it goes from {least} to {most}"),
            _ => "; it has no value at all".to_string(),
        })
    }

    /// Of `rows` rows those without a value in a column, as a fact.
    pub(super) fn missing_in(&mut self, after: &Relation, name: &str, rows: u64) -> Result<()> {
        let name = identifier(name);
        let counts = self.ask(after, |from| format!("SELECT count(*) - count({name}) FROM {from}"))?;
        if let Some(&missing) = counts.first().filter(|missing| **missing > 0) {
            self.facts.push(format!("without a value in {missing} of {}", counted(rows, "row")));
        }
        Ok(())
    }
}

impl Compiler<'_> {
    /// From now on the rows of `relation` come from the file at `path`, where they are kept as `key`.
    fn start_from(&mut self, relation: &Relation, made: Made, key: &str, path: &std::path::Path) {
        let tables = self.context.tables();
        let name = tables.session.set_kept(key, path);
        // The file may have gone and come again.
        tables.close(&Place::Session(name.clone()));
        let open = Block::of(format!("{SESSION_SCHEMA}.{name}"));
        self.kept.push(KeptRelation { relation: relation.clone(), made: Made { open, ..made } });
    }
}

/// The conditions that a part of a condition is met by, one for each value, where it is met by any of several; and the value that
/// it leaves out.
fn values_of(part: &Condition, single: &mut Vec<Condition>) {
    match part {
        Condition::OneOf { value, values } if values.len() > 1 => {
            let one = |given: &Value| Condition::OneOf { value: value.clone(), values: vec![given.clone()] };
            single.extend(values.iter().map(one));
        }
        Condition::Any(parts) => parts.iter().for_each(|part| match part {
            Condition::OneOf { values, .. } if values.len() > 1 => values_of(part, single),
            Condition::Any(_) => values_of(part, single),
            Condition::All(_) | Condition::Not(_) | Condition::Missing(_) | Condition::Holds(_) => {}
            one => single.push(one.clone()),
        }),
        Condition::Not(part) => match &**part {
            part @ (Condition::Compare { comparison: Comparison::Equal, .. } | Condition::Text { .. }) => {
                single.push(part.clone());
            }
            part @ Condition::OneOf { values, .. } if values.len() == 1 => single.push(part.clone()),
            part => values_of(part, single),
        },
        Condition::Compare { left, comparison: Comparison::Different, right }
            if matches!(left, Expression::Value(_)) || matches!(right, Expression::Value(_)) =>
        {
            let (left, right) = (left.clone(), right.clone());
            single.push(Condition::Compare { left, comparison: Comparison::Equal, right });
        }
        _ => {}
    }
}
