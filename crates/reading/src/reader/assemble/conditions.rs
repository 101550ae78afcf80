//! Values, tests and comparisons as conditions on rows.

use lakeward_core::plan::{Comparison, Condition, DatePart, Expression, Step, TextTest, Value};

use super::values::{compared, comparison, is_place, months_among, number_in, plain_value};
use super::yes_no::{may_say_yes, no, says_yes_or_no, speaks_of_gaps, tells_present, yes};
use super::{Assembler, NotApplied};
use crate::reader::number::month;
use crate::reader::schema::{ColumnKind, SchemaColumn, StandIn};
use crate::reader::span::{Operator, Role, Span};
use crate::reader::unit::{Taken, in_unit_of};
use lakeward_core::message;
use lakeward_core::request::Act;
use lakeward_core::text::name_key;

impl Assembler<'_> {
    /// Conditions of the turn that were not used elsewhere.
    pub(super) fn rows(&mut self) {
        let mut shares = self.reading.spans.iter().filter(|span| span.is_share());
        let share =
            shares.find(|span| span.role == Role::Measure || (span.role == Role::Derive && self.is_share_of_sum(span)));
        let counted = share.and_then(|_| self.counted_by_share());
        let quantity = share.and_then(|span| self.quantity(span));
        let mut equal: Vec<(String, Vec<Value>)> = Vec::new();
        let mut conditions: Vec<(String, Condition)> = Vec::new();
        // Which of them ask for one part of a date.
        let mut of_parts: Vec<usize> = Vec::new();
        // Where the condition on a part of a date is, by its column.
        let mut parts: Vec<((usize, DatePart), usize)> = Vec::new();
        // Of each column, the condition that its cells have one of several texts.
        let mut either: Vec<(String, Condition)> = Vec::new();
        for (place, span) in self.reading.spans.iter().enumerate() {
            if self.done[place] {
                continue;
            }
            // A name in two spans is one condition.
            let is_counted = |counted: usize| {
                place == counted
                    || self.condition(span).is_some_and(|own| Some(own) == self.condition(&self.reading.spans[counted]))
            };
            if counted.is_some_and(is_counted) {
                self.done[place] = true;
                continue;
            }
            let Some(column) = span.column() else { continue };
            let name = self.name(column);
            if self.speaks_of_figure(span) || (self.schema.columns[column].of_result && self.groups_anew()) {
                continue;
            }
            if span.role == Role::Test && Some(column) == quantity {
                self.done[place] = true;
                continue;
            }
            if let Some(values) = months_among(&self.schema.columns[column], span) {
                self.done[place] = true;
                match span.operator {
                    Operator::Different => {
                        let one_of = Condition::OneOf { value: Expression::column(name.clone()), values };
                        conditions.push((name, Condition::Not(Box::new(one_of))));
                    }
                    _ => equal.push((name, values)),
                }
                continue;
            }
            if self.leaves_one_group(column, span) {
                self.refuse(place, message!("it would leave one group of `{}`", name));
                continue;
            }
            if !self.replaces && span.role == Role::Value && self.layout.has_gap(&name) {
                self.done[place] = true;
                self.not_applied.push(NotApplied::of_gap(&span.words, name));
                continue;
            }
            if let Some(reason) = self.unfit(column, span) {
                self.refuse(place, reason);
                continue;
            }
            if self.lacks_value(column, span)
                || (self.is_part_of_values(column, span) && !self.may_be_part(column, span))
            {
                self.refuse(place, message!("`{}` has no such value", name));
                continue;
            }
            if span.role == Role::Value
                && span.operator == Operator::Equal
                && span.part.is_none()
                && !self.is_part_of_values(column, span)
                && let Some(value) = plain_value(&self.schema.columns[column], span)
            {
                self.done[place] = true;
                match equal.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, values)) => values.push(value),
                    None => equal.push((name, vec![value])),
                }
                continue;
            }
            if self.is_part_of_values(column, span) {
                self.done[place] = true;
                let condition = part_of_values(Expression::column(name.clone()), span);
                match either.iter_mut().find(|(known, _)| *known == name) {
                    // Names that are taken for equal values, "only Kurosawa and Spielberg": a cell is one of them.
                    Some((_, known)) if span.operator == Operator::Equal => *known = known.clone().or(condition),
                    _ if span.operator == Operator::Equal => either.push((name, condition)),
                    _ => conditions.push((name, condition)),
                }
            } else if let Some(condition) = self.condition(span) {
                self.done[place] = true;
                // No date is in two years: "2022 and 2023", "in June and in August".
                let part = span.part.filter(|_| span.role == Role::Value && span.operator == Operator::Equal);
                let key = part.map(|part| (column, part));
                match parts.iter().find(|(known, _)| Some(*known) == key) {
                    Some((_, at)) => conditions[*at].1 = conditions[*at].1.clone().or(condition),
                    None => {
                        of_parts.extend(key.map(|_| conditions.len()));
                        parts.extend(key.map(|key| (key, conditions.len())));
                        conditions.push((name, condition));
                    }
                }
            }
        }
        for (name, values) in equal {
            self.add_equal(&name, values);
        }
        for place in of_parts.into_iter().filter(|_| !self.replaces) {
            let (name, condition) = &mut conditions[place];
            // As with values: a further month is one more that may stand, one of those that stand is the one that is left.
            let known = self.layout.take_conditions(name, |known| asks_for_same_part(known, condition));
            let known: Vec<Condition> = known.iter().flat_map(alternatives).filter(|_| !self.swaps).cloned().collect();
            if !alternatives(condition).all(|one| known.contains(one)) {
                let all = known.into_iter().chain([condition.clone()]);
                *condition = all.reduce(Condition::or).unwrap_or_else(|| condition.clone());
            }
        }
        conditions.extend(either);
        // Of one column, what is said together stands together: "not A, not B" replaces as one.
        let mut replaced: Vec<String> = Vec::new();
        for (name, condition) in conditions {
            if self.replaces && !replaced.contains(&name) {
                self.layout.take_conditions(&name, |_| true);
                replaced.push(name.clone());
            }
            self.add(&name, condition);
        }
    }

    /// Whether a span that says no value wholly is taken for the only value of a column by which the turn groups.
    fn leaves_one_group(&self, column: usize, span: &Span) -> bool {
        let is_value = |span: &&Span| span.role == Role::Value && span.column() == Some(column);
        let groups = self.reading.of(Role::Group).any(|group| group.columns.contains(&column));
        let is_guessed = span.value.as_ref().is_some_and(|value| name_key(value) != name_key(&span.words));
        let compares = span.operator == Operator::Equal && span.part.is_none();
        groups && is_guessed && compares && self.reading.spans.iter().filter(is_value).count() == 1
    }

    /// Why a column cannot have what a span says of it, as far as that is plain; what is converted on the way is remarked.
    fn unfit(&mut self, column: usize, span: &Span) -> Option<String> {
        let column = &self.schema.columns[column];
        let name = &column.name;
        if span.role == Role::Test && !tells_present(span.operator) && !may_say_yes(column) {
            return Some(format!("`{name}` does not say yes or no"));
        }
        let texts = matches!(span.operator, Operator::Contains | Operator::Starts | Operator::Ends);
        if span.role == Role::Value && texts && column.complete {
            let wanted = span.words.trim().to_lowercase();
            let has = column.values.iter().any(|value| value.to_lowercase().contains(&wanted));
            return (!has).then(|| format!("`{name}` has no such value"));
        }
        let orders = !matches!(span.operator, Operator::Equal | Operator::Different) && !texts;
        if span.role == Role::Value && orders && !column.may_have_numbers() {
            return Some(format!("`{name}` has no numbers"));
        }
        if !column.kind.is_number() || span.role != Role::Value {
            return None;
        }
        if is_place(column, span) {
            return Some("it is a place in an order, no value".into());
        }
        let unit = span.unit.as_ref()?;
        match in_unit_of(column, number_in(span)?, unit) {
            Taken::Cannot(reason) => return Some(reason),
            Taken::Converted(_, how) => self.remarks.extend(how),
            Taken::Unconverted => {
                let reason = format!("the unit of `{name}` is not known: the number is taken as it stands");
                self.not_applied.push(NotApplied::left_out(&unit.name, reason));
            }
        }
        None
    }

    /// Whether a column whose values are all known has none that the words name.
    fn lacks_value(&self, column: usize, span: &Span) -> bool {
        let column = &self.schema.columns[column];
        let compares = matches!(span.operator, Operator::Equal | Operator::Different);
        // A place or code that is known and that no row has is none of its values either.
        let is_known =
            span.value.as_ref().is_some_and(|value| column.meanings.is_empty() || column.values.contains(value));
        span.role == Role::Value && compares && !is_known && column.kind == ColumnKind::Text && column.complete
    }

    /// Whether the words can only be a part of what the cells of a column of text hold: as a whole value nobody knows them.
    fn is_part_of_values(&self, column: usize, span: &Span) -> bool {
        let column = &self.schema.columns[column];
        let compares = matches!(span.operator, Operator::Equal | Operator::Different);
        let known = span.value.is_some() || column.values.is_empty() || column.of_result;
        span.role == Role::Value && compares && span.part.is_none() && !known && column.kind == ColumnKind::Text
    }

    /// Whether cells of a column may have the words somewhere: a known one does, or they are long texts.
    fn may_be_part(&self, column: usize, span: &Span) -> bool {
        const LONG: usize = 30;
        let wanted = span.words.trim().to_lowercase();
        let values = &self.schema.columns[column].values;
        values.iter().any(|value| value.len() > LONG || value.to_lowercase().contains(&wanted))
    }

    /// Conditions on what the turn itself computes and on the number of rows in its groups: behind its grouping.
    pub(super) fn figure_rows(&mut self) {
        for (place, span) in self.reading.spans.iter().enumerate() {
            if self.done[place] || span.role != Role::Value {
                continue;
            }
            let figure = match self.stand_in(span) {
                Some(StandIn::Figure) => self.figure.clone().or_else(|| self.computed.clone()),
                Some(StandIn::Rows) => self.count_of_rows(),
                None => span.column().map(|column| self.name(column)).filter(|name| self.is_measure(name)),
            };
            let Some(figure) = figure else { continue };
            let keys =
                self.layout.grouped().and_then(|level| level.grouping()).map_or(0, |grouping| grouping.keys.len());
            let is_of_all = figure == "count" && keys == 0 && self.layout.is_grouped();
            if (self.stand_in(span) == Some(StandIn::Rows) && keys == 0) || is_of_all {
                self.refuse(place, "it is not said of what, and all rows have one number");
                continue;
            }
            let column = SchemaColumn { of_result: true, ..SchemaColumn::new(figure, ColumnKind::Number) };
            let Some(condition) = compared(&column, span) else { continue };
            self.done[place] = true;
            if self.replaces {
                self.layout.take_conditions(&column.name, |_| true);
            }
            match self.layout.grouped() {
                Some(level) => level.add_condition(condition, true),
                None => self.layout.last().add_condition(condition, false),
            }
        }
    }

    fn add_equal(&mut self, name: &str, mut values: Vec<Value>) {
        let is_equal = |part: &Condition| {
            matches!(part, Condition::OneOf { .. } | Condition::Compare { comparison: Comparison::Equal, .. })
        };
        if self.replaces {
            self.layout.take_conditions(name, |_| true);
        } else {
            // Rows cannot have two values of one column: a further one is one more that may stand.
            let mut known: Vec<Value> = Vec::new();
            for taken in self.layout.take_conditions(name, is_equal) {
                match taken {
                    Condition::OneOf { values, .. } => known.extend(values),
                    Condition::Compare { right: Expression::Value(value), .. } => known.push(value),
                    _ => {}
                }
            }
            let narrows = values.iter().all(|value| known.contains(value));
            if !narrows && !self.swaps {
                known.extend(values);
                values = known;
            }
        }
        values.dedup();
        let left = Expression::column(name);
        let condition = match <[Value; 1]>::try_from(values) {
            Ok([value]) => Condition::Compare { left, comparison: Comparison::Equal, right: Expression::Value(value) },
            Err(values) => Condition::OneOf { value: left, values },
        };
        self.add(name, condition);
    }

    /// Adds a condition where its column is: behind the grouping for what that has made, else to the rows.
    fn add(&mut self, name: &str, condition: Condition) {
        let of_result = self.is_of_result(name);
        let replaces = self.replaces || self.reading.has(Act::Retract);
        if self.layout.is_grouped() {
            let cut = self.layout.last().limit.is_some() && !replaces;
            let is_shown = !cut || of_result || self.is_key(name);
            if cut && is_shown {
                self.layout.on_result().add_condition(condition, false);
            } else if let Some(level) = self.layout.grouped() {
                let after = of_result
                    || level.after.iter().any(|step| matches!(step, Step::Derive { name: made, .. } if made == name));
                level.add_condition(condition, after);
            }
            return;
        }
        let level = self.layout.last();
        if level.limit.is_some() && !replaces {
            // Of the rows that were kept, not before they were.
            self.layout.on_result().add_condition(condition, false);
        } else {
            level.add_condition(condition, false);
        }
    }

    /// Takes what stands on a column out, or one value of it; whether there was something.
    pub(super) fn take_condition(&mut self, name: &str, span: &Span) -> bool {
        let value = self.schema.place(name).and_then(|place| plain_value(&self.schema.columns[place], span));
        if self.take_part_of_date(name, span) {
            return true;
        }
        let taken = self.layout.take_conditions(name, |_| true);
        if taken.is_empty() {
            return false;
        }
        let Some(gone) = value.filter(|_| span.value.is_some()) else { return true };
        for condition in taken {
            if let Condition::OneOf { value, values } = condition {
                let left: Vec<Value> = values.into_iter().filter(|value| !alike(value, &gone)).collect();
                if !left.is_empty() {
                    self.add(name, Condition::OneOf { value, values: left });
                }
            }
        }
        true
    }

    /// Takes one month, year or day out of the conditions on a date, where that is what a span says.
    fn take_part_of_date(&mut self, name: &str, span: &Span) -> bool {
        let Some(column) = self.schema.place(name).map(|place| &self.schema.columns[place]) else { return false };
        let is_month = month(span.words.trim()).is_some();
        let part = if is_month { Some(DatePart::Month) } else { span.part };
        let said = Span { role: Role::Value, operator: Operator::Equal, value: None, part, ..span.clone() };
        let Some(gone) = compared(column, &said).filter(|gone| asks_for_same_part(gone, gone)) else { return false };
        let has = |known: &Condition| asks_for_same_part(known, &gone) && alternatives(known).any(|one| *one == gone);
        let taken = self.layout.take_conditions(name, has);
        for condition in &taken {
            let left = alternatives(condition).filter(|one| **one != gone).cloned();
            if let Some(left) = left.reduce(Condition::or) {
                self.add(name, left);
            }
        }
        !taken.is_empty()
    }

    /// The condition of a share: the yes or no that is said, as in "what share of the orders came back in 2020"; else the last one, as in "of
    /// those over 60, what share are women", unless a number's total is shared among groups. The number that is shared is none.
    pub(super) fn counted_by_share(&self) -> Option<usize> {
        let mut shares = self.reading.spans.iter().filter(|span| span.is_share());
        let quantity =
            shares.find(|span| matches!(span.role, Role::Measure | Role::Derive)).and_then(|span| self.quantity(span));
        let is_condition = |span: &Span| matches!(span.role, Role::Value | Role::Test | Role::Compare);
        let is_of_rows = |span: &Span| {
            let tests_quantity = span.role == Role::Test && span.column() == quantity;
            !tests_quantity && span.column().is_some_and(|column| !self.schema.columns[column].of_result)
        };
        let spans = self.reading.spans.iter().enumerate();
        let conditions: Vec<(usize, &Span)> =
            spans.filter(|(_, span)| is_condition(span) && is_of_rows(span)).collect();
        let says_yes = |span: &Span| matches!(span.operator, Operator::Yes | Operator::No) && span.role == Role::Test;
        let mut answers = conditions.iter().filter(|(_, span)| says_yes(span));
        match (answers.next(), answers.next()) {
            (Some((place, _)), None) => Some(*place),
            _ if quantity.is_some() && !self.spans(Role::Group).is_empty() => None,
            _ => conditions.last().map(|(place, _)| *place),
        }
    }

    /// Whether a span asks no more of its column than that it has a value, or none.
    pub(super) fn asks_for_value(&self, span: &Span) -> bool {
        let is_missing = |condition: &Condition| matches!(condition, Condition::Missing(_));
        span.role == Role::Test
            && self.condition(span).is_some_and(|condition| match &condition {
                Condition::Not(of) => is_missing(of),
                other => is_missing(other),
            })
    }

    /// The condition that a span says, if its column can have it.
    pub(super) fn condition(&self, span: &Span) -> Option<Condition> {
        let column = self.schema.columns.get(span.column()?)?;
        let of = Expression::column(column.name.clone());
        match span.role {
            Role::Test => Some(match span.operator {
                // "without parking" is a no where a column says yes and no; "parking not recorded" is a gap.
                Operator::Missing if says_yes_or_no(column) && !speaks_of_gaps(column, span) => no(column, of),
                Operator::Missing => Condition::Missing(of),
                Operator::Present => Condition::Not(Box::new(Condition::Missing(of))),
                Operator::No if column.kind == ColumnKind::Date => Condition::Missing(of),
                _ if column.kind == ColumnKind::Date => Condition::Not(Box::new(Condition::Missing(of))),
                Operator::No => no(column, of),
                _ => yes(column, of),
            }),
            Role::Compare => {
                let other = self.schema.columns.get(span.second?)?;
                let right = Expression::column(other.name.clone());
                Some(Condition::Compare { left: of, comparison: comparison(span.operator)?, right })
            }
            Role::Value => compared(column, span),
            _ => None,
        }
    }
}

/// A text that the cells have somewhere, or do not have.
fn part_of_values(of: Expression, span: &Span) -> Condition {
    let text = span.words.trim().to_string();
    let has = Condition::Text { value: of, test: TextTest::Contains, text, exact: false };
    if span.operator == Operator::Different { Condition::Not(Box::new(has)) } else { has }
}

/// The conditions of which one has to hold; the condition itself where it has no such parts.
fn alternatives(condition: &Condition) -> impl Iterator<Item = &Condition> {
    match condition {
        Condition::Any(parts) => parts.iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

/// Whether both ask for one value, or one of several, of the same part of a date.
fn asks_for_same_part(a: &Condition, b: &Condition) -> bool {
    let part = |condition: &Condition| match condition {
        Condition::Compare { left: of @ Expression::Part { .. }, comparison: Comparison::Equal, .. } => {
            Some(of.clone())
        }
        _ => None,
    };
    let mut parts = alternatives(a).chain(alternatives(b)).map(part);
    let Some(Some(first)) = parts.next() else { return false };
    parts.all(|part| part.as_ref() == Some(&first))
}

fn alike(a: &Value, b: &Value) -> bool {
    a == b || a.to_string().eq_ignore_ascii_case(&b.to_string())
}
