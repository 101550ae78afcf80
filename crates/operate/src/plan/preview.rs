//! What a plan would do, counted step by step without keeping its rows, and its result in a file.

use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Compiler, first_column};
use crate::context::LakeContext;
use crate::counts::figures;
use crate::inputs::{Family, InputTable};
use crate::notes::Note;
use crate::preview::{PreviewLimits, first_rows, too_many_rows};
use crate::quote::identifier;
use crate::rows::ResultColumn;
use crate::run::{Outcome, answer_to_file};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::plan::{Condition, Expression, Join, JoinKind, Measure, MeasureFunction, Plan, Relation, Step};
use lakeward_core::text::counted;

/// Values told for one that a column does not have.
const NEAREST: usize = 5;
/// Different values among which the nearest are looked for.
const MOST_VALUES: usize = 20_000;
/// Words for a row that holds the total of others, in the index's normal form.
const TOTALS: [&str; 6] = ["total", "all", "overall", "grand total", "world", "sum"];

/// What a plan would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanPreview {
    /// The query that carries it out.
    pub sql: String,
    /// Rows of the source.
    pub rows_in: u64,
    /// What each step does, in their order.
    pub steps: Vec<StepPreview>,
    /// Rows of the result.
    pub rows_out: u64,
    /// Columns of the result.
    pub columns: Vec<ResultColumn>,
    /// The first rows of the result, each with its values in the order of `columns`; none when it is stopped.
    pub sample: Vec<Vec<Json>>,
    /// What whoever relies on the result should know.
    pub warnings: Vec<PlanWarning>,
    /// Why it is not run as it stands, and what to do instead.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<String>,
    /// Cells read as NULL, tables read in part.
    pub notes: Vec<Note>,
    /// Time it took to find this out, in milliseconds.
    pub elapsed_ms: f64,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepPreview {
    /// One sentence.
    pub does: String,
    /// Rows after it; none after a step that is stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<u64>,
}

/// Something that an analyst would want to know before relying on a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanWarning {
    /// The step, from 1.
    pub step: usize,
    /// What kind of thing.
    pub kind: WarningKind,
    /// One sentence.
    pub text: String,
}

/// Kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A step that changes nothing.
    NoChange,
    /// A step that leaves no row, or a condition that no row meets.
    NothingLeft,
    /// A join that repeats rows.
    RowsMultiplied,
    /// Most rows have no partner.
    MostUnmatched,
    /// A mean of what is a mean already.
    MeanOfMeans,
    /// Rows of totals among the rows they sum up.
    TotalsAmongParts,
    /// Text that is computed with, of which some is no number.
    TextAsNumbers,
}

/// What `plan` would do.
///
/// # Errors
/// Those of [`super::plan_sql`]; [`Error::Interrupted`]; what reading the tables meets.
pub fn plan_preview(context: &LakeContext, plan: &Plan, limits: &PreviewLimits) -> Result<PlanPreview> {
    let started = Instant::now();
    plan.check()?;
    let mut counter =
        Counter { compiler: Compiler::new(context), notes: Vec::new(), warnings: Vec::new(), stopped: None };
    let sql = counter.compiler.compile(plan)?;
    let source = Relation::of(plan.relation.source.clone());
    let rows_in = counter.rows(&source)?;
    let mut rows = Some(rows_in);
    let mut steps = Vec::new();
    for (place, step) in plan.relation.steps.iter().enumerate() {
        let before = Relation { source: source.source.clone(), steps: plan.relation.steps[..place].to_vec() };
        rows = match rows {
            Some(rows) => counter.step(place + 1, &before, step, rows, limits)?,
            None => None,
        };
        steps.push(StepPreview { does: step.to_string(), rows });
    }
    let rows_out = rows.unwrap_or(0);
    if counter.stopped.is_none() && rows_out > limits.max_rows {
        counter.stopped = Some(too_many_rows(rows_out, limits.max_rows));
    }
    let wanted = if counter.stopped.is_some() { 0 } else { limits.sample_rows };
    let (columns, sample) = first_rows(context, &sql, wanted, &mut counter.notes)?;
    let Counter { notes, warnings, stopped, .. } = counter;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(PlanPreview { sql, rows_in, steps, rows_out, columns, sample, warnings, stopped, notes, elapsed_ms })
}

/// Runs `plan` and writes its rows to the file `out`, CSV where its name says so, else Parquet, in place of one that is there.
///
/// # Errors
/// [`Error::Usage`] for what [`plan_preview`] stops; [`Error::Interrupted`]; [`Error::Io`] where `out` cannot be written; those
/// of [`super::plan_sql`]; what reading the tables meets. Then `out` is as before.
pub fn run_plan(context: &LakeContext, plan: &Plan, limits: &PreviewLimits, out: &Path) -> Result<Outcome> {
    let started = Instant::now();
    plan.check()?;
    let mut counter =
        Counter { compiler: Compiler::new(context), notes: Vec::new(), warnings: Vec::new(), stopped: None };
    let sql = counter.compiler.compile(plan)?;
    counter.joins_within(None, &plan.relation, limits)?;
    if let Some(reason) = counter.stopped {
        return Err(Error::Usage(reason));
    }
    let inputs: Vec<&InputTable> = counter.compiler.inputs.iter().map(|(_, input)| input).collect();
    answer_to_file(context, sql, &inputs, limits, started, out)
}

/// Counts rows, and collects what is found on the way.
struct Counter<'a> {
    compiler: Compiler<'a>,
    notes: Vec<Note>,
    warnings: Vec<PlanWarning>,
    stopped: Option<String>,
}

impl Counter<'_> {
    fn warn(&mut self, step: usize, kind: WarningKind, text: String) {
        self.warnings.push(PlanWarning { step, kind, text });
    }

    /// What `select` computes of the rows of a relation, which it calls by the name it is given.
    fn ask(&mut self, relation: &Relation, select: impl FnOnce(&str) -> String) -> Result<Vec<u64>> {
        self.compiler.clear();
        let mut made = self.compiler.relation(relation)?;
        made.order.clear();
        self.compiler.close(&mut made);
        let sql = self.compiler.with(&select(&made.open.from));
        figures(self.compiler.context, &sql, &mut self.notes)
    }

    fn rows(&mut self, relation: &Relation) -> Result<u64> {
        let counts = self.ask(relation, |from| format!("SELECT count(*) FROM {from}"))?;
        Ok(counts.first().copied().unwrap_or(0))
    }

    /// Counts every join of a relation, so that one that would explode is found before any runs. `within` is the step of the
    /// plan that the relation stands in; the plan itself stands in none.
    fn joins_within(&mut self, within: Option<usize>, relation: &Relation, limits: &PreviewLimits) -> Result<()> {
        for (at, step) in relation.steps.iter().enumerate() {
            let place = within.unwrap_or(at + 1);
            self.tables_within(place, step, limits)?;
            if self.stopped.is_some() {
                break;
            }
            if let Step::Join(join) = step {
                let before = Relation { source: relation.source.clone(), steps: relation.steps[..at].to_vec() };
                self.join(place, &before, join, limits)?;
            }
        }
        Ok(())
    }

    /// [`Counter::joins_within`] the tables that a step joins or appends.
    fn tables_within(&mut self, place: usize, step: &Step, limits: &PreviewLimits) -> Result<()> {
        match step {
            Step::Join(join) => self.joins_within(Some(place), &join.with, limits),
            Step::Union(union) => {
                union.others.iter().try_for_each(|part| self.joins_within(Some(place), &part.with, limits))
            }
            _ => Ok(()),
        }
    }

    /// Rows after a step over a relation of `rows` rows; `None` when it is stopped.
    fn step(
        &mut self,
        place: usize,
        before: &Relation,
        step: &Step,
        rows: u64,
        limits: &PreviewLimits,
    ) -> Result<Option<u64>> {
        self.tables_within(place, step, limits)?;
        if self.stopped.is_some() {
            return Ok(None);
        }
        let after = before.clone().then(step.clone());
        let left = match step {
            Step::Select(_) | Step::Drop(_) | Step::Rename(_) | Step::Derive { .. } | Step::Sort(_) => rows,
            Step::Limit { rows: most, skip } => rows.saturating_sub(*skip).min(*most),
            Step::Join(join) => match self.join(place, before, join, limits)? {
                Some(rows) => rows,
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
        match step {
            Step::Filter(wanted) if left == 0 && rows > 0 => self.nothing_left(place, before, wanted)?,
            Step::Filter(_) | Step::Distinct(_) | Step::Limit { .. } | Step::Top(_) if left == rows => {
                self.warn(
                    place,
                    WarningKind::NoChange,
                    format!("step {place} changes nothing: all {rows} rows are kept"),
                );
            }
            Step::Group(grouping) => {
                if !grouping.keys.is_empty() && left == rows && rows > 1 {
                    let text = format!("step {place} groups nothing: each of the {rows} rows is a group of its own");
                    self.warn(place, WarningKind::NoChange, text);
                }
                self.group(place, before, grouping)?;
            }
            _ => {}
        }
        Ok(Some(left))
    }

    /// Says which condition no row meets, with the values or the range that there are.
    fn nothing_left(&mut self, place: usize, before: &Relation, wanted: &Condition) -> Result<()> {
        let parts = wanted.parts();
        let mut told = false;
        for part in &parts {
            let alone = before.clone().then(Step::Filter((*part).clone()));
            if parts.len() > 1 && self.rows(&alone)? > 0 {
                continue;
            }
            told = true;
            let what = self.what_there_is(before, part)?;
            let text = format!("no row is left by step {place}: there is none whose {part}{what}");
            self.warn(place, WarningKind::NothingLeft, text);
        }
        if !told {
            let text =
                format!("no row is left by step {place}: each condition is met by some row, but no row meets all");
            self.warn(place, WarningKind::NothingLeft, text);
        }
        Ok(())
    }

    /// The values of the column of a condition that are nearest, or its range.
    fn what_there_is(&mut self, before: &Relation, part: &Condition) -> Result<String> {
        let (Condition::Compare { left: of, right: Expression::Value(value), .. }
        | Condition::Compare { left: Expression::Value(value), right: of, .. }
        | Condition::Between { value: of, from: value, .. }) = part
        else {
            return Ok(String::new());
        };
        self.compiler.clear();
        let mut made = self.compiler.relation(before)?;
        made.order.clear();
        let typed = super::value::value(&made.table, of)?;
        self.compiler.close(&mut made);
        let (column, from) = (&typed.sql, &made.open.from);
        if typed.column.family.is_text() {
            let sql = self
                .compiler
                .with(&format!("SELECT DISTINCT {column} FROM {from} WHERE {column} IS NOT NULL ORDER BY 1"));
            let values = first_column(self.compiler.context, &sql, MOST_VALUES)?;
            let wanted = value.to_string();
            let mut nearest = nearest_names(&wanted, values.iter().map(String::as_str), NEAREST);
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

    /// Warnings about what a grouping computes.
    fn group(&mut self, place: usize, before: &Relation, grouping: &lakeward_core::plan::Grouping) -> Result<()> {
        let means = means_of(before);
        let mut adds_up = false;
        for measure in &grouping.measures {
            let computes = matches!(
                measure.function,
                MeasureFunction::Sum | MeasureFunction::Mean | MeasureFunction::Median | MeasureFunction::Share { .. }
            );
            adds_up |= computes || matches!(measure.function, MeasureFunction::Count);
            let Some(name) = measure.of.as_ref().and_then(Expression::as_column) else { continue };
            if matches!(measure.function, MeasureFunction::Mean | MeasureFunction::Median)
                && means.iter().any(|mean| mean.eq_ignore_ascii_case(name))
            {
                let text =
                    format!("{name} is a mean already; the {measure} counts groups of one row as much as large ones");
                self.warn(place, WarningKind::MeanOfMeans, text);
            }
            if computes {
                self.text_as_numbers(place, before, name)?;
            }
        }
        if adds_up { self.totals(place, before, grouping) } else { Ok(()) }
    }

    fn text_as_numbers(&mut self, place: usize, before: &Relation, name: &str) -> Result<()> {
        self.compiler.clear();
        let made = self.compiler.relation(before)?;
        let column = made.table.column(name)?.clone();
        if !column.family.is_text() {
            return Ok(());
        }
        let cell = identifier(&column.name);
        let number = column.call("value_number", &cell);
        let counts = self.ask(before, |from| format!("SELECT count({cell}), count({number}) FROM {from}"))?;
        if let [cells, numbers] = counts[..]
            && numbers < cells
        {
            let text =
                format!("{name} is text; {} of its {cells} values are no numbers and are left out", cells - numbers);
            self.warn(place, WarningKind::TextAsNumbers, text);
        }
        Ok(())
    }

    /// Rows such as `Total` beside the rows they sum up, unless a key keeps them apart.
    fn totals(&mut self, place: usize, before: &Relation, grouping: &lakeward_core::plan::Grouping) -> Result<()> {
        self.compiler.clear();
        let made = self.compiler.relation(before)?;
        let is_key = |name: &str| {
            grouping.keys.iter().any(|key| key.of.as_column().is_some_and(|key| key.eq_ignore_ascii_case(name)))
        };
        let texts: Vec<_> = made
            .table
            .columns
            .iter()
            .filter(|column| column.family == Family::Text && !is_key(&column.name))
            .cloned()
            .collect();
        if texts.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = TOTALS.iter().map(|word| crate::quote::literal(word)).collect();
        let counts = texts.iter().map(|column| {
            let normal = column.call("value_normalize", &identifier(&column.name));
            format!("count(*) FILTER (WHERE {normal} IN ({}))", words.join(", "))
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        let counts = self.ask(before, |from| format!("SELECT {counts} FROM {from}"))?;
        for (column, rows) in texts.iter().zip(counts).filter(|(_, rows)| *rows > 0) {
            let rows = counted(rows, "row");
            let text = format!("{rows} of {} hold a total of others and count beside them", column.name);
            self.warn(place, WarningKind::TotalsAmongParts, text);
        }
        Ok(())
    }

    /// Rows after a join; `None` when it would explode. Rows are counted by key on both sides, however many they would be.
    fn join(&mut self, place: usize, before: &Relation, join: &Join, limits: &PreviewLimits) -> Result<Option<u64>> {
        self.compiler.clear();
        let mut left = self.compiler.relation(before)?;
        left.order.clear();
        self.compiler.close(&mut left);
        let mut right = self.compiler.relation(&join.with)?;
        right.order.clear();
        self.compiler.close(&mut right);
        let pairs = Compiler::key_pairs(&left.table, &right.table, join)?;
        let side = |values: Vec<String>, from: &str| {
            let keys: Vec<String> = values.iter().enumerate().map(|(at, value)| format!("{value} AS k{at}")).collect();
            let places: Vec<String> = (1..=values.len()).map(|place| place.to_string()).collect();
            format!("(SELECT {}, count(*) AS n FROM {from} GROUP BY {})", keys.join(", "), places.join(", "))
        };
        let lefts = pairs.iter().map(|pair| pair.left_value(&identifier(&pair.left.name))).collect();
        let rights = pairs.iter().map(|pair| pair.right_value(&identifier(&pair.right.name))).collect();
        let on: Vec<String> = (0..pairs.len()).map(|at| format!("l.k{at} = r.k{at}")).collect();
        let select = format!(
            "SELECT sum(l.n), sum(CASE WHEN r.n IS NOT NULL THEN l.n END), sum(l.n * r.n), \
             sum(CASE WHEN l.n IS NULL THEN r.n END), sum(r.n)\nFROM {} AS l\nFULL JOIN {} AS r\n  ON {}",
            side(lefts, &left.open.from),
            side(rights, &right.open.from),
            on.join(" AND ")
        );
        let counts = figures(self.compiler.context, &self.compiler.with(&select), &mut self.notes)?;
        let [rows, matched, pairs_of_rows, alone, others] = counts[..] else {
            return Err(Error::Internal("a join without figures".into()));
        };
        let unmatched = rows.saturating_sub(matched);
        let after = match join.kind {
            JoinKind::Left => pairs_of_rows.saturating_add(unmatched),
            JoinKind::Inner => pairs_of_rows,
            JoinKind::Semi => matched,
            JoinKind::Anti => unmatched,
            JoinKind::Full => pairs_of_rows.saturating_add(unmatched).saturating_add(alone),
        };
        let fan_out = after as f64 / rows.max(1) as f64;
        let explodes = fan_out > limits.max_fan_out && after > rows.saturating_add(others);
        if after > limits.max_rows || explodes {
            self.stopped = Some(if explodes {
                format!(
                    "step {place} would make {after} rows of {rows}, {fan_out:.0} for each; join on more keys, or group the other table first"
                )
            } else {
                too_many_rows(after, limits.max_rows)
            });
            return Ok(None);
        }
        let adds = !matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
        let name = &join.with.source;
        if adds && pairs_of_rows > matched {
            let text = format!(
                "{} with a partner in {name} become {pairs_of_rows}: its keys are not unique",
                counted(matched, "row")
            );
            self.warn(place, WarningKind::RowsMultiplied, text);
        }
        if join.kind != JoinKind::Anti && matched * 2 < rows {
            let text = format!("only {matched} of {rows} rows have a partner in {name}");
            self.warn(place, WarningKind::MostUnmatched, text);
        }
        if matches!(join.kind, JoinKind::Semi | JoinKind::Anti) && after == rows {
            self.warn(place, WarningKind::NoChange, format!("step {place} changes nothing: all {rows} rows are kept"));
        }
        Ok(Some(after))
    }
}

/// Names of columns that hold means.
fn means_of(relation: &Relation) -> Vec<String> {
    let mut means = Vec::new();
    for step in &relation.steps {
        match step {
            Step::Group(grouping) => {
                means = grouping
                    .measures
                    .iter()
                    .filter(|measure| matches!(measure.function, MeasureFunction::Mean | MeasureFunction::Median))
                    .map(Measure::column_name)
                    .collect();
            }
            Step::Rename(pairs) => {
                for (old, new) in pairs {
                    means
                        .iter_mut()
                        .filter(|mean| mean.eq_ignore_ascii_case(old))
                        .for_each(|mean| mean.clone_from(new));
                }
            }
            _ => {}
        }
    }
    means
}
