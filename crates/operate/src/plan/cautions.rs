//! Warnings about a step: what it does not change, values it mixes, text it computes with, columns it loses.

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;

use super::combine::Aligned;
use super::condition::condition;
use super::counter::Counter;
use super::preview::WarningKind;
use super::totals::Totals;
use crate::context::Strategy;
use crate::counts::{for_each_batch, with_memory};
use crate::inputs::{Family, InputColumn};
use crate::quote::identifier;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{
    Comparison, Condition, Edit, Expression, Grouping, Kept, Key, Measure, MeasureFunction, Order, Relation, Step,
    Union, Value,
};
use lakeward_core::text::counted;

/// Words in the name of a column that says what the numbers of its row are.
const KINDS_OF_NUMBERS: [&str; 7] = ["unit", "units", "uom", "currency", "indicator", "variable", "metric"];
/// Words in the name of a column of means.
const MEANS: [&str; 4] = ["mean", "average", "avg", "median"];
/// Kinds of numbers that are named.
const NAMED: usize = 5;

impl Counter<'_> {
    /// What an analyst would want to know of a step over `rows` rows that leaves `left`.
    pub(super) fn cautions(
        &mut self,
        place: usize,
        before: &Relation,
        step: &Step,
        [rows, left]: [u64; 2],
    ) -> Result<()> {
        match step {
            Step::Filter(filter) if left == 0 && rows > 0 => return self.nothing_left(place, before, filter),
            Step::Filter(filter) => {
                self.values_without_rows(place, before, filter)?;
                self.missing_beside(before, filter)?;
            }
            Step::Group(grouping) => {
                if !grouping.keys.is_empty() && left == rows && rows > 1 {
                    let text = format!("step {place} groups nothing: each of the {rows} rows is a group of its own");
                    self.warn(place, WarningKind::NoChange, text);
                }
                self.group(place, before, grouping)?;
            }
            Step::Union(union) => self.columns(place, before, union)?,
            Step::Sort(by) => self.ordered_text(place, before, by)?,
            Step::Top(top) => self.ordered_text(place, before, &top.by)?,
            Step::Derive { name, .. } if self.has_time() => {
                self.missing_in(&before.clone().then(step.clone()), name, rows)?;
            }
            Step::Select(kept) => self.dropped_keys(place, before, step, |name| {
                !kept.iter().any(|kept| kept.column.eq_ignore_ascii_case(name))
            })?,
            Step::Drop(names) => {
                self.dropped_keys(place, before, step, |name| {
                    names.iter().any(|drop| drop.eq_ignore_ascii_case(name))
                })?;
            }
            _ => {}
        }
        let keeps_rows = matches!(step, Step::Filter(_) | Step::Distinct(_) | Step::Limit { .. } | Step::Top(_));
        if keeps_rows && left == rows {
            let text = format!("step {place} changes nothing: all {rows} rows are kept");
            self.warn_with(place, WarningKind::NoChange, text, Edit::Remove { step: place });
        }
        Ok(())
    }

    /// Tells of the rows without a value in a column of which some values are not wanted: an order leaves them out and `not` keeps them.
    fn missing_beside(&mut self, before: &Relation, filter: &Condition) -> Result<()> {
        for part in filter.parts() {
            let kept = match part {
                Condition::Compare { comparison: Comparison::Different, .. } => false,
                // Rows without a value are all that this leaves out.
                Condition::Not(part) if matches!(**part, Condition::Missing(_)) => continue,
                Condition::Not(_) => true,
                _ => continue,
            };
            let [name] = part.columns()[..] else { continue };
            let made = self.closed(before)?;
            let Ok(absent) = condition(&made.table, &Condition::Missing(Expression::column(name))) else { continue };
            let counts = self.ask(before, |from| format!("SELECT count(*) FILTER (WHERE {absent}) FROM {from}"))?;
            if let Some(&missing) = counts.first().filter(|missing| **missing > 0) {
                let rows = format!("{} without a value in {name}", counted(missing, "row"));
                self.facts.push(match kept {
                    true => format!("of these, {rows} are kept"),
                    false => format!("{rows} are left out, too"),
                });
            }
        }
        Ok(())
    }

    /// Warnings about what a grouping computes.
    fn group(&mut self, place: usize, before: &Relation, grouping: &Grouping) -> Result<()> {
        let means = means_of(before);
        let mut adds_up = false;
        for measure in &grouping.measures {
            let averages = matches!(measure.function, MeasureFunction::Mean | MeasureFunction::Median);
            let computes = averages || matches!(measure.function, MeasureFunction::Sum | MeasureFunction::Share { .. });
            adds_up |= computes || matches!(measure.function, MeasureFunction::Count);
            let Some(name) = measure.of.as_ref().and_then(Expression::as_column) else { continue };
            let is_mean = means.iter().any(|mean| mean.eq_ignore_ascii_case(name)) || has_word(name, &MEANS);
            if averages && is_mean {
                let text =
                    format!("{name} is a mean already; {measure} counts groups of one row as much as large ones");
                self.warn(place, WarningKind::MeanOfMeans, text);
            }
            if matches!(measure.function, MeasureFunction::Min | MeasureFunction::Max) {
                let by = [Order { by: Expression::column(name), direction: Default::default() }];
                self.ordered_text(place, before, &by)?;
            } else if computes {
                self.text_as_numbers(place, before, name)?;
                self.mixed_signs(place, before, name)?;
            }
        }
        if adds_up { self.rows_that_differ(place, before, grouping) } else { Ok(()) }
    }

    fn text_as_numbers(&mut self, place: usize, before: &Relation, name: &str) -> Result<()> {
        let made = self.closed(before)?;
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
            // `5 kg`, `3 lb`
            let made = self.closed(before)?;
            let unit = format!("trim(ltrim({cell}, '0123456789.,+- '))");
            let where_unit = format!("{cell} ~ '^[-+]?[0-9][0-9.,]* *[^0-9]{{1,12}}$'");
            let from = format!("{} WHERE {where_unit}", made.open.from);
            self.mixed(place, &format!("the values of {name} have different units"), &unit, &from)?;
        }
        Ok(())
    }

    /// Warns where there are several values of `kind` in the rows of `from`, which `how` says in words.
    fn mixed(&mut self, place: usize, how: &str, kind: &str, from: &str) -> Result<()> {
        let select = format!("SELECT {kind}, count(*) FROM {from} GROUP BY 1 ORDER BY 2 DESC, 1");
        let sql = self.compiler.with(&select);
        let mut kinds = super::first_column(self.compiler.context, &sql, NAMED + 1)?;
        if kinds.len() < 2 {
            return Ok(());
        }
        if kinds.len() > NAMED {
            kinds[NAMED] = "…".to_string();
        }
        let text = format!("{how} and are computed together: {}", kinds.join(", "));
        self.warn(place, WarningKind::MixedUnits, text);
        Ok(())
    }

    /// Numbers that are written with different signs beside them, `$5` and `€7`.
    fn mixed_signs(&mut self, place: usize, before: &Relation, name: &str) -> Result<()> {
        self.compiler.clear();
        let made = self.compiler.relation(before)?;
        let signs = &made.table.column(name)?.signs;
        if signs.len() > 1 {
            let named = |sign: &String| if sign.is_empty() { "no sign".to_string() } else { sign.clone() };
            let signs: Vec<String> = signs.iter().map(named).collect();
            let signs = signs.join(", ");
            let text = format!("the values of {name} have different units and are computed together: {signs}");
            self.warn(place, WarningKind::MixedUnits, text);
        }
        Ok(())
    }

    /// Text that holds numbers is ordered as text: 10 before 9.
    fn ordered_text(&mut self, place: usize, before: &Relation, by: &[Order]) -> Result<()> {
        for name in by.iter().filter_map(|order| order.by.as_column()) {
            self.compiler.clear();
            let made = self.compiler.relation(before)?;
            let column = made.table.column(name)?.clone();
            if column.family != Family::Text || !self.has_time() {
                continue;
            }
            let cell = identifier(&column.name);
            let number = column.call("value_number", &cell);
            let counts = self.ask(before, |from| format!("SELECT count({cell}), count({number}) FROM {from}"))?;
            if let [cells, numbers] = counts[..]
                && numbers * 2 > cells
            {
                let text =
                    format!("{name} is text, of which {numbers} of {cells} values are numbers; 10 comes before 9");
                self.warn(place, WarningKind::TextAsNumbers, text);
            }
        }
        Ok(())
    }

    /// Columns that tell rows apart and are left out: keys of the grouping before, else the only keys of the table.
    fn dropped_keys(
        &mut self,
        place: usize,
        before: &Relation,
        step: &Step,
        dropped: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let mut keys: Vec<String> = Vec::new();
        // Whether the keys of the source still tell rows apart.
        let mut of_source = true;
        for earlier in &before.steps {
            match earlier {
                Step::Group(grouping) => {
                    of_source = false;
                    keys = grouping.keys.iter().map(Key::column_name).collect();
                }
                Step::Rename(pairs) => pairs.iter().for_each(|(old, new)| rename(&mut keys, old, new)),
                Step::Select(kept) => {
                    keys.retain(|key| kept.iter().any(|kept| kept.column.eq_ignore_ascii_case(key)));
                    for kept in kept {
                        if let Some(new) = &kept.name {
                            rename(&mut keys, &kept.column, new);
                        }
                    }
                }
                Step::Distinct(_) | Step::Pivot(_) | Step::Unpivot(_) | Step::Union(_) => {
                    of_source = false;
                    keys.clear();
                }
                _ => {}
            }
        }
        if of_source {
            self.compiler.clear();
            let made = self.compiler.relation(before)?;
            keys = made.table.columns.iter().filter(|column| column.unique).map(|column| column.name.clone()).collect();
        }
        let lost: Vec<&str> = keys.iter().map(String::as_str).filter(|key| dropped(key)).collect();
        if lost.is_empty() || (of_source && lost.len() < keys.len()) {
            return Ok(());
        }
        let (names, verb) = (lost.join(", "), if lost.len() == 1 { "tells" } else { "tell" });
        let text = format!("{names} {verb} the rows apart; step {place} leaves that out");
        match step {
            Step::Select(kept) => {
                let lost = lost.iter().map(|name| Kept { column: name.to_string(), name: None });
                let with = Step::Select(lost.chain(kept.iter().cloned()).collect());
                self.warn_with(place, WarningKind::KeyDropped, text, Edit::Replace { step: place, with });
            }
            _ => self.warn(place, WarningKind::KeyDropped, text),
        }
        Ok(())
    }

    /// Rows that are no parts of one whole: totals beside what they sum up, numbers of several kinds; unless a key keeps them
    /// apart.
    fn rows_that_differ(&mut self, place: usize, before: &Relation, grouping: &Grouping) -> Result<()> {
        self.compiler.clear();
        let made = self.compiler.relation(before)?;
        let is_key = |name: &str| {
            grouping.keys.iter().any(|key| key.of.as_column().is_some_and(|key| key.eq_ignore_ascii_case(name)))
        };
        let is_text = |column: &&InputColumn| column.family == Family::Text && !is_key(&column.name);
        let texts: Vec<InputColumn> = made.table.columns.iter().filter(is_text).cloned().collect();
        let computes = grouping.measures.iter().any(|measure| measure.of.is_some());
        for kind in texts.iter().filter(|column| computes && has_word(&column.name, &KINDS_OF_NUMBERS)) {
            let made = self.closed(before)?;
            let name = identifier(&kind.name);
            let from = format!("{} WHERE {name} IS NOT NULL", made.open.from);
            self.mixed(place, &format!("the rows differ in {}", kind.name), &name, &from)?;
        }
        let texts: Vec<InputColumn> = texts.into_iter().filter(|column| column.totals).collect();
        self.totals(place, before, &texts)
    }

    /// Rows such as `Total` beside the rows they sum up.
    fn totals(&mut self, place: usize, before: &Relation, texts: &[InputColumn]) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        let made = self.closed(before)?;
        let names: Vec<String> = texts.iter().map(|column| identifier(&column.name)).collect();
        let sql = self.compiler.with(&format!("SELECT {} FROM {}", names.join(", "), made.open.from));
        let context = self.compiler.context;
        let totals = with_memory(Strategy::Parallel, context, |strategy| {
            let mut totals: Vec<Totals> = texts.iter().map(|_| Totals::default()).collect();
            for_each_batch(context, &sql, strategy, &mut self.notes, |batch| {
                for (totals, column) in totals.iter_mut().zip(batch.columns()) {
                    let cells = cast(column, &DataType::Utf8).map_err(|error| Error::Internal(error.to_string()))?;
                    totals.count(cells.as_string());
                }
                Ok(())
            })?;
            Ok(totals)
        })?;
        for (column, totals) in texts.iter().zip(&totals).filter(|(_, totals)| totals.rows() > 0) {
            let rows = counted(totals.rows(), "row");
            let text = format!("{} holds totals of others in {rows}, which count beside them", column.name);
            let values = totals.cells().map(|cell| Value::Text(cell.to_string())).collect();
            let totals = Condition::OneOf { value: Expression::column(&column.name), values };
            let without = Step::Filter(Condition::Not(Box::new(totals)));
            self.warn_with(
                place,
                WarningKind::TotalsAmongParts,
                text,
                Edit::Add { step: without, before: Some(place) },
            );
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

/// Whether a name has one of `words`, parted by whatever is no letter.
fn has_word(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    lower.split(|c: char| !c.is_alphabetic()).any(|word| words.contains(&word))
}

fn rename(names: &mut [String], old: &str, new: &str) {
    names.iter_mut().filter(|name| name.eq_ignore_ascii_case(old)).for_each(|name| *name = new.to_string());
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
            Step::Rename(pairs) => pairs.iter().for_each(|(old, new)| rename(&mut means, old, new)),
            _ => {}
        }
    }
    means
}
