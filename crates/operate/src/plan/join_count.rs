//! A join counted by key on both sides, however many rows it would make, and what there is to know of its keys.

use super::counter::Counter;
use super::key_pair::{Comparison, KeyPair};
use super::preview::{PlanWarning, WarningKind};
use super::{Compiler, first_column};
use crate::counts::figures;
use crate::inputs::InputColumn;
use crate::quote::identifier;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Join, JoinKind, Relation};
use lakeward_core::text::counted;

/// Keys without a partner that are named.
const SAMPLE_KEYS: usize = 3;

/// The tables of a join as the query names them, and its keys.
struct Sides {
    left: String,
    right: String,
    pairs: Vec<KeyPair>,
}

/// Figures of a join.
pub(super) struct Joined {
    /// Rows after it.
    pub after: u64,
    /// Rows here that have a partner, and those that have none.
    matched: u64,
    unmatched: u64,
    /// Rows there without a partner.
    alone: u64,
}

impl Counter<'_> {
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
    pub(super) fn join(&mut self, place: usize, before: &Relation, join: &Join) -> Result<Option<Joined>> {
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
    pub(super) fn keys(&mut self, place: usize, before: &Relation, join: &Join, joined: &Joined) -> Result<()> {
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
            self.warnings.push(PlanWarning { step: place, kind: WarningKind::KeysOfTwoTypes, text, remedy: None });
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
