//! Rows after each step of a plan, and what is found on the way: warnings and facts.

use std::time::Instant;

use super::combine::Aligned;
use super::key_pair::{Comparison, KeyPair};
use super::preview::{PlanWarning, PreviewLimits, WarningKind};
use super::{Compiler, first_column};
use crate::context::LakeContext;
use crate::counts::figures;
use crate::inputs::{Family, InputColumn};
use crate::notes::Note;
use crate::quote::identifier;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::plan::{
    Condition, Expression, Grouping, Join, JoinKind, Measure, MeasureFunction, Relation, Step, Union,
};
use lakeward_core::text::counted;

/// Values told for one that a column does not have.
const NEAREST: usize = 5;
/// Different values among which the nearest are looked for.
const MOST_VALUES: usize = 20_000;
/// Keys without a partner that are named.
const SAMPLE_KEYS: usize = 3;
/// Longest values of a column of codes.
const CODE_CHARS: usize = 3;
/// Words for a row that holds the total of others, in the index's normal form.
const TOTALS: [&str; 6] = ["total", "all", "overall", "grand total", "world", "sum"];

/// Counts rows, and collects what is found on the way.
pub(super) struct Counter<'a> {
    pub compiler: Compiler<'a>,
    pub notes: Vec<Note>,
    pub warnings: Vec<PlanWarning>,
    /// Why the plan is not to be run as it stands.
    pub stopped: Option<String>,
    limits: &'a PreviewLimits,
    started: Instant,
    facts: Vec<String>,
}

/// The tables of a join as the query names them, and its keys.
struct Sides {
    left: String,
    right: String,
    pairs: Vec<KeyPair>,
}

/// Figures of a join.
struct Joined {
    /// Rows after it.
    after: u64,
    /// Rows here that have a partner, and those that have none.
    matched: u64,
    unmatched: u64,
    /// Rows there without a partner.
    alone: u64,
}

impl<'a> Counter<'a> {
    pub fn new(context: &'a LakeContext, limits: &'a PreviewLimits) -> Self {
        let (notes, warnings, facts) = (Vec::new(), Vec::new(), Vec::new());
        let (compiler, started) = (Compiler::new(context), Instant::now());
        Self { compiler, notes, warnings, stopped: None, limits, started, facts }
    }

    /// Whether there is time for what is not needed to decide.
    pub fn has_time(&self) -> bool {
        self.started.elapsed() < self.limits.extras_within
    }

    /// What else there is to know of the step counted last.
    pub fn facts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.facts)
    }

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

    pub fn rows(&mut self, relation: &Relation) -> Result<u64> {
        let counts = self.ask(relation, |from| format!("SELECT count(*) FROM {from}"))?;
        Ok(counts.first().copied().unwrap_or(0))
    }

    /// Counts every join of a relation, so that one that would explode is found before any runs. `within` is the step of the
    /// plan that the relation stands in; the plan itself stands in none.
    pub fn joins_within(&mut self, within: Option<usize>, relation: &Relation) -> Result<()> {
        for (at, step) in relation.steps.iter().enumerate() {
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

    /// [`Counter::joins_within`] the tables that a step joins or appends.
    fn tables_within(&mut self, place: usize, step: &Step) -> Result<()> {
        match step {
            Step::Join(join) => self.joins_within(Some(place), &join.with),
            Step::Union(union) => union.others.iter().try_for_each(|part| self.joins_within(Some(place), &part.with)),
            _ => Ok(()),
        }
    }

    /// Rows after a step over a relation of `rows` rows; `None` when it is stopped.
    pub fn step(&mut self, place: usize, before: &Relation, step: &Step, rows: u64) -> Result<Option<u64>> {
        self.tables_within(place, step)?;
        if self.stopped.is_some() {
            return Ok(None);
        }
        let after = before.clone().then(step.clone());
        let left = match step {
            Step::Select(_) | Step::Drop(_) | Step::Rename(_) | Step::Derive { .. } | Step::Sort(_) => rows,
            Step::Limit { rows: most, skip } => rows.saturating_sub(*skip).min(*most),
            Step::Join(join) => match self.join(place, before, join)? {
                Some(joined) => {
                    self.keys(place, before, join, &joined)?;
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
            Step::Union(union) => self.columns(place, before, union)?,
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
    fn group(&mut self, place: usize, before: &Relation, grouping: &Grouping) -> Result<()> {
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
    fn totals(&mut self, place: usize, before: &Relation, grouping: &Grouping) -> Result<()> {
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
            let name = identifier(&column.name);
            let normal = column.call("value_normalize", &name);
            // Among codes, ALL is the Albanian lek.
            format!(
                "CASE WHEN max(length({name})) > {CODE_CHARS} THEN count(*) FILTER (WHERE {normal} IN ({})) ELSE 0 END",
                words.join(", ")
            )
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        let counts = self.ask(before, |from| format!("SELECT {counts} FROM {from}"))?;
        for (column, rows) in texts.iter().zip(counts).filter(|(_, rows)| *rows > 0) {
            let rows = counted(rows, "row");
            let text = format!("{} holds totals of others in {rows}, which count beside them", column.name);
            self.warn(place, WarningKind::TotalsAmongParts, text);
        }
        Ok(())
    }

    /// Compiles both sides of a join.
    fn sides(&mut self, before: &Relation, join: &Join) -> Result<Sides> {
        self.compiler.clear();
        let mut left = self.compiler.relation(before)?;
        left.order.clear();
        self.compiler.close(&mut left);
        let mut right = self.compiler.relation(&join.with)?;
        right.order.clear();
        self.compiler.close(&mut right);
        let pairs = Compiler::key_pairs(&left.table, &right.table, join)?;
        Ok(Sides { left: left.open.from, right: right.open.from, pairs })
    }

    /// Rows after a join; `None` when it would explode. Rows are counted by key on both sides, however many they would be.
    fn join(&mut self, place: usize, before: &Relation, join: &Join) -> Result<Option<Joined>> {
        let sides = self.sides(before, join)?;
        let select = format!(
            "SELECT sum(l.n), sum(CASE WHEN r.n IS NOT NULL THEN l.n END), sum(l.n * r.n), \
             sum(CASE WHEN l.n IS NULL THEN r.n END), sum(r.n)\nFROM {} AS l\nFULL JOIN {} AS r\n  ON {}",
            sides.left_keys(""),
            sides.right_keys(""),
            sides.on()
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
        let limits = self.limits;
        let fan_out = after as f64 / rows.max(1) as f64;
        let explodes = fan_out > limits.max_fan_out && after > rows.saturating_add(others);
        if after > limits.max_rows || explodes {
            let advice = format!("join on more columns, or group `{}` to one row a key first", join.with.source);
            self.stopped = Some(if explodes {
                format!("step {place} would make {after} rows of {rows}, {fan_out:.0} for each; {advice}")
            } else {
                format!("step {place} would give {after} rows, more than the {} allowed; {advice}", limits.max_rows)
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
        if !adds && after == rows {
            self.warn(place, WarningKind::NoChange, format!("step {place} changes nothing: all {rows} rows are kept"));
        }
        Ok(Some(Joined { after, matched, unmatched, alone }))
    }

    /// What there is to know of the keys of a join: those without a partner, and what speaks against comparing them so.
    fn keys(&mut self, place: usize, before: &Relation, join: &Join, joined: &Joined) -> Result<()> {
        let name = &join.with.source;
        let mut sides = self.sides(before, join)?;
        let unmatched = [
            (joined.unmatched, String::new(), sides.unmatched_left()),
            (joined.alone, format!(" of {name}"), sides.unmatched_right()),
        ];
        for (rows, whose, select) in unmatched.into_iter().filter(|(rows, ..)| *rows > 0) {
            if !self.has_time() {
                return Ok(());
            }
            let keys = first_column(self.compiler.context, &self.compiler.with(&select), SAMPLE_KEYS)?;
            let such =
                if keys.is_empty() { "without a key".to_string() } else { format!("such as {}", keys.join(", ")) };
            self.facts.push(format!("{}{whose} without a partner, {such}", counted(rows, "row")));
        }
        for pair in sides.pairs.iter().filter(|pair| pair.comparison == Comparison::AsText) {
            let (left, right) = (&pair.left, &pair.right);
            let text = format!(
                "{} is {} and {} of {name} {}: they are compared as they are written, 01 is not 1",
                left.name,
                left.family.words(),
                right.name,
                right.family.words()
            );
            self.warnings.push(PlanWarning { step: place, kind: WarningKind::KeysOfTwoTypes, text });
        }
        let normal: Vec<KeyPair> = sides.pairs.iter().map(|pair| KeyPair::new(&pair.left, &pair.right, true)).collect();
        if normal.iter().zip(&sides.pairs).all(|(a, b)| a.comparison == b.comparison) || !self.has_time() {
            return Ok(());
        }
        sides.pairs = normal;
        let (left, right, on) = (sides.left_keys(""), sides.right_keys(""), sides.on());
        let select = format!("SELECT sum(l.n)\nFROM {left} AS l\nJOIN {right} AS r\n  ON {on}");
        let matched = figures(self.compiler.context, &self.compiler.with(&select), &mut self.notes)?;
        if let Some(more) =
            matched.first().and_then(|matched| matched.checked_sub(joined.matched)).filter(|more| *more > 0)
        {
            let text = format!(
                "{} more would have a partner if keys were compared in their normal form",
                counted(more, "row")
            );
            self.warn(place, WarningKind::KeysAsWritten, text);
        }
        Ok(())
    }

    /// What becomes of the columns of a union.
    fn columns(&mut self, place: usize, before: &Relation, union: &Union) -> Result<()> {
        self.compiler.clear();
        let mut made = self.compiler.relation(before)?;
        let width = made.table.columns.len();
        let Aligned { names, parts, .. } = self.compiler.aligned(&mut made, union)?;
        for (at, name) in names.iter().enumerate() {
            let types: Vec<(&str, Family)> = parts
                .iter()
                .filter_map(|part| Some((part.table.name.as_str(), part.columns.get(at)?.as_ref()?.family)))
                .filter(|(_, family)| *family != Family::Empty)
                .collect();
            let same = |(_, family): &(&str, Family)| types.iter().all(|(_, other)| other == family);
            if types.first().is_none_or(same) || types.iter().all(|(_, family)| family.is_dated()) {
                continue;
            }
            let types: Vec<String> =
                types.iter().map(|(table, family)| format!("{} in {table}", family.words())).collect();
            let text = format!("{name} becomes text: it is {}", types.join(", "));
            self.warn(place, WarningKind::ColumnBecomesText, text);
        }
        for part in &parts[1..] {
            let table = &part.table.name;
            let empty = (0..width).filter(|at| part.columns.get(*at).is_none_or(Option::is_none));
            let empty: Vec<&str> = empty.map(|at| names[at].as_str()).collect();
            if !empty.is_empty() {
                self.facts.push(format!("empty in the rows of {table}: {}", empty.join(", ")));
            }
            let used = |column: &&InputColumn| part.columns.iter().flatten().any(|used| used.name == column.name);
            let left_out = part.table.columns.iter().filter(|column| !used(column));
            let left_out: Vec<&str> = left_out.map(|column| column.name.as_str()).collect();
            if !left_out.is_empty() {
                self.facts.push(format!("left out of {table}: {}", left_out.join(", ")));
            }
        }
        Ok(())
    }
}

impl Sides {
    /// The different keys of a table: what is compared as `k0`, `k1`, …, the rows of each as `n`, and `more`.
    fn keys(from: &str, values: impl Iterator<Item = String>, more: &str) -> String {
        let keys: Vec<String> = values.enumerate().map(|(at, value)| format!("{value} AS k{at}")).collect();
        let places: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
        format!("(SELECT {}, count(*) AS n{more} FROM {from} GROUP BY {})", keys.join(", "), places.join(", "))
    }

    fn left_keys(&self, more: &str) -> String {
        let values = self.pairs.iter().map(|pair| pair.left_value(&identifier(&pair.left.name)));
        Self::keys(&self.left, values, more)
    }

    fn right_keys(&self, more: &str) -> String {
        let values = self.pairs.iter().map(|pair| pair.right_value(&identifier(&pair.right.name)));
        Self::keys(&self.right, values, more)
    }

    /// That the keys `l` and `r` are equal.
    fn on(&self) -> String {
        let on: Vec<String> = (0..self.pairs.len()).map(|at| format!("l.k{at} = r.k{at}")).collect();
        on.join(" AND ")
    }

    /// Keys without a partner as they are written, those of most rows first.
    fn unmatched_left(&self) -> String {
        let left = self.left_keys(&written(self.pairs.iter().map(|pair| &pair.left)));
        self.unmatched("l", &format!("{left} AS l LEFT ANTI JOIN {} AS r", self.right_keys("")))
    }

    fn unmatched_right(&self) -> String {
        let right = self.right_keys(&written(self.pairs.iter().map(|pair| &pair.right)));
        self.unmatched("r", &format!("{right} AS r LEFT ANTI JOIN {} AS l", self.left_keys("")))
    }

    fn unmatched(&self, side: &str, tables: &str) -> String {
        let whole: Vec<String> = (0..self.pairs.len()).map(|at| format!("{side}.k{at} IS NOT NULL")).collect();
        let (on, whole) = (self.on(), whole.join(" AND "));
        format!(
            "SELECT {side}.w\nFROM {tables}\n  ON {on}\nWHERE {whole}\nORDER BY {side}.n DESC, {side}.w\nLIMIT {SAMPLE_KEYS}"
        )
    }
}

/// Of the ways to write a key the first in the alphabet, as a further column.
fn written<'c>(columns: impl Iterator<Item = &'c InputColumn>) -> String {
    let texts: Vec<String> = columns.map(|column| format!("CAST({} AS VARCHAR)", identifier(&column.name))).collect();
    format!(", min(concat_ws(' | ', {})) AS w", texts.join(", "))
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
