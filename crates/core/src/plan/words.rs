//! What a step does, in one plain sentence without figures; a preview adds those.

use std::fmt;

use super::{
    Arithmetic, Branch, Comparison, Condition, DatePart, Direction, Expression, Grouping, Join, JoinKind, Key, Measure,
    MeasureFunction, NumberFunction, Order, Pivot, Relation, Step, TextFunction, TextTest, Union, Value, ValueType,
};
use crate::message;
use crate::message::{AND, CLAUSES, Message, OR, PARTS};
use crate::request::Input;

/// Values of a list that are named; of more the number is told.
const NAMED: usize = 8;

impl fmt::Display for Input {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Table(name) | Input::File(name) => out.write_str(name),
            Input::Step(step) => write!(out, "step {step}"),
        }
    }
}

/// Texts are those of the messages.
macro_rules! shown_as_message {
    ($($of:ty),*) => {
        $(impl fmt::Display for $of {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.message())
            }
        })*
    };
}

shown_as_message!(Step, Grouping, Key, Measure, Join, Relation, Union, Pivot, Order, Condition, Expression);

impl Step {
    /// What it does.
    pub fn message(&self) -> Message {
        match self {
            Step::Filter(condition) => message!("keeps the rows whose {}", condition.whose()),
            Step::Select(columns) => {
                let columns = columns.iter().map(|kept| match &kept.name {
                    Some(name) if *name != kept.column => message!("{} as {}", &kept.column, name),
                    _ => Message::from(&kept.column),
                });
                message!("keeps the columns {}", listed(columns, AND))
            }
            Step::Drop(columns) => message!("leaves out {}", listed(columns, AND)),
            Step::Rename(pairs) => {
                message!("calls {}", listed(pairs.iter().map(|(old, new)| message!("{} {}", old, new)), AND))
            }
            Step::Derive { name, value } => message!("adds {}: {}", name, value.message()),
            Step::Group(grouping) => grouping.message(),
            Step::Distinct(columns) if columns.is_empty() => message!("leaves out rows that repeat another"),
            Step::Distinct(columns) => message!("keeps one row for each {}", listed(columns, AND)),
            Step::Sort(by) => message!("orders the rows by {}", orders(by)),
            Step::Limit { rows, skip: 0 } => message!("keeps the first {}", rows_of(*rows)),
            Step::Limit { rows, skip } => message!("keeps {} after the first {}", rows_of(*rows), *skip),
            Step::Top(top) => message!(
                "keeps the first {} for each {}, by {}",
                rows_of(top.rows),
                listed(&top.within, AND),
                orders(&top.by)
            ),
            Step::Join(join) => join.message(),
            Step::Union(union) => union.message(),
            Step::Unpivot(unpivot) => message!(
                "turns {} into rows: their name as {}, their value as {}",
                columns(unpivot.columns.len()),
                &unpivot.name,
                &unpivot.value
            ),
            Step::Pivot(pivot) => pivot.message(),
        }
    }
}

fn rows_of(rows: u64) -> Message {
    if rows == 1 { message!("row") } else { Message::counted(rows, "row") }
}

fn columns(count: usize) -> Message {
    if count == 1 { message!("one column") } else { Message::counted(count as u64, "column") }
}

/// A message without the article it begins with: for each month of a date, not for each the month.
fn bare(message: Message) -> Message {
    let Some(made_of) = message.made_of() else { return message };
    let mut parts = made_of.parts.clone();
    match made_of.template.strip_prefix("the ") {
        Some(template) => Message::of(template.to_string(), parts),
        None if made_of.template.starts_with("{}") || !made_of.template.contains("{}") => {
            let Some(first) = parts.first_mut() else { return message };
            *first = bare(std::mem::take(first));
            Message::of(made_of.template.clone(), parts)
        }
        None => message,
    }
}

impl Grouping {
    fn message(&self) -> Message {
        let key = |key: &Key| match (&key.name, &key.of) {
            (Some(name), Expression::Arithmetic { .. }) => name.into(),
            _ => bare(key.message()),
        };
        let keys = listed(self.keys.iter().map(key), AND);
        let measures = listed(self.measures.iter().map(Measure::message), AND);
        match (self.keys.is_empty(), self.measures.is_empty()) {
            (true, _) => message!("computes {} of all rows", measures),
            (false, true) => message!("keeps one row for each {}", keys),
            (false, false) => message!("computes {} for each {}", measures, keys),
        }
    }
}

impl Key {
    fn message(&self) -> Message {
        self.of.message()
    }
}

impl Measure {
    /// What it computes.
    pub fn message(&self) -> Message {
        let figure = self.function.message(self.of.as_ref());
        match &self.condition {
            Some(condition) => message!("{} where {}", figure, condition.message()),
            None => figure,
        }
    }
}

impl MeasureFunction {
    /// What it computes of a value.
    fn message(&self, of: Option<&Expression>) -> Message {
        let value = of.map(Expression::message).unwrap_or_default();
        match self {
            MeasureFunction::Count if of.is_some() => message!("the number of {}", value),
            MeasureFunction::Count => message!("the number of rows"),
            MeasureFunction::Share { within, times } => {
                let is_percentage = *times == 100.0;
                let share = match (of, is_percentage) {
                    (Some(_), true) => message!("the percentage of the total {}", value),
                    (Some(_), false) => message!("the share of the total {}", value),
                    (None, true) => message!("the percentage of all rows"),
                    (None, false) => message!("the share of all rows"),
                };
                if within.is_empty() { share } else { message!("{} within {}", share, listed(within, AND)) }
            }
            MeasureFunction::CountDistinct => message!("the number of different {}", value),
            MeasureFunction::Sum => message!("the total {}", value),
            MeasureFunction::Mean => message!("the mean of {}", value),
            MeasureFunction::Median => message!("the median of {}", value),
            MeasureFunction::Quantile { at } => message!("the {} quantile of {}", at.to_string(), value),
            MeasureFunction::Min => message!("the smallest {}", value),
            MeasureFunction::Max => message!("the largest {}", value),
            MeasureFunction::StandardDeviation => message!("the standard deviation of {}", value),
            MeasureFunction::First { by } => message!("the {} of the row that is first by {}", value, orders(by)),
            MeasureFunction::Correlation { with } => {
                message!("the correlation of {} with {}", value, with.message())
            }
        }
    }
}

impl Join {
    fn message(&self) -> Message {
        let keys = listed(
            self.on.iter().map(|key| match key.left.eq_ignore_ascii_case(&key.right) {
                true => Message::from(&key.left),
                false => message!("{} = {}", &key.left, &key.right),
            }),
            AND,
        );
        let with = self.with.message();
        let added = match self.columns.as_slice() {
            [] => message!("its columns"),
            some => listed(some.iter().map(|kept| kept.name.as_ref().unwrap_or(&kept.column)), AND),
        };
        match self.kind {
            JoinKind::Left => message!("adds {} from {} by {}", added, with, keys),
            JoinKind::Inner => {
                message!("adds {} from {} by {}; rows without a partner are left out", added, with, keys)
            }
            JoinKind::Full => message!("adds {} and the rows without a partner from {} by {}", added, with, keys),
            JoinKind::Semi => message!("keeps the rows with a partner in {} by {}", with, keys),
            JoinKind::Anti => message!("keeps the rows without a partner in {} by {}", with, keys),
        }
    }
}

impl Relation {
    /// Where its rows come from and what is done with them.
    pub fn message(&self) -> Message {
        let source = Message::from(self.source.to_string());
        if self.steps.is_empty() {
            return source;
        }
        message!("{} ({})", source, Message::list(CLAUSES, self.steps.iter().map(Step::message)))
    }
}

impl Union {
    fn message(&self) -> Message {
        let appended =
            message!("appends the rows of {}", listed(self.others.iter().map(|part| part.with.message()), AND));
        match &self.source_column {
            Some(name) => message!("{}, with their table as {}", appended, name),
            None => appended,
        }
    }
}

impl Pivot {
    fn message(&self) -> Message {
        let made = message!("makes a column of each {} with {}", &self.column, self.measure.message());
        if self.rows.is_empty() { made } else { message!("{}, a row for each {}", made, listed(&self.rows, AND)) }
    }
}

impl Order {
    fn message(&self) -> Message {
        match self.direction {
            Direction::Ascending => self.by.message(),
            Direction::Descending => message!("{}, largest first", self.by.message()),
        }
    }
}

fn orders(by: &[Order]) -> Message {
    Message::list(", then ", by.iter().map(Order::message))
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Boolean(value) => value.fmt(out),
            Value::Integer(value) => value.fmt(out),
            Value::Number(value) => value.fmt(out),
            Value::Text(value) => out.write_str(value),
        }
    }
}

fn value_of(value: &Value) -> Message {
    value.to_string().into()
}

impl Condition {
    /// What holds of the rows that meet it, behind "whose": without an article.
    pub fn whose(&self) -> Message {
        bare(self.message())
    }

    /// What holds of the rows that meet it.
    pub fn message(&self) -> Message {
        match self {
            Condition::Compare { left, comparison, right } => {
                let (left, right) = (left.message(), right.message());
                match comparison {
                    Comparison::Equal => message!("{} is {}", left, right),
                    Comparison::Different => message!("{} is other than {}", left, right),
                    Comparison::Less => message!("{} is below {}", left, right),
                    Comparison::AtMost => message!("{} is at most {}", left, right),
                    Comparison::Greater => message!("{} is above {}", left, right),
                    Comparison::AtLeast => message!("{} is at least {}", left, right),
                }
            }
            Condition::Between { value, from, to } => {
                message!("{} is from {} to {}", value.message(), value_of(from), value_of(to))
            }
            Condition::OneOf { value, values } => {
                message!("{} is {}", value.message(), listed(values.iter().map(value_of), OR))
            }
            Condition::Text { value, test, text, .. } => match test {
                TextTest::Contains => message!("{} contains “{}”", value.message(), text),
                TextTest::Starts => message!("{} starts with “{}”", value.message(), text),
                TextTest::Ends => message!("{} ends with “{}”", value.message(), text),
            },
            Condition::Missing(value) => message!("{} is missing", value.message()),
            Condition::Holds(value) => message!("{} is true", value.message()),
            Condition::All(parts) if parts.is_empty() => message!("values are any"),
            Condition::Any(parts) if parts.is_empty() => message!("values are none"),
            Condition::All(parts) => joined(parts, " and "),
            Condition::Any(parts) => joined(parts, " or "),
            Condition::Not(part) => match part.as_ref() {
                Condition::Missing(value) => message!("{} is there", value.message()),
                Condition::Compare { left, comparison: Comparison::Equal, right } => {
                    message!("{} is not {}", left.message(), right.message())
                }
                Condition::OneOf { value, values } => {
                    message!("{} is neither {}", value.message(), listed(values.iter().map(value_of), " nor "))
                }
                Condition::Holds(value) => message!("{} is not true", value.message()),
                Condition::Text { value, test: TextTest::Contains, text, .. } => {
                    message!("{} does not contain “{}”", value.message(), text)
                }
                part => message!("not ({})", part.message()),
            },
        }
    }
}

/// Conditions with a word between them; those of several parts in brackets.
fn joined(parts: &[Condition], word: &'static str) -> Message {
    let in_brackets = |part: &Condition| match part {
        Condition::All(inner) | Condition::Any(inner) if inner.len() > 1 => message!("({})", part.message()),
        part => part.message(),
    };
    let mut parts = parts.iter().map(in_brackets);
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |before, part| match word {
        " or " => message!("{} or {}", before, part),
        _ => message!("{} and {}", before, part),
    })
}

impl Expression {
    /// What it is the value of.
    pub fn message(&self) -> Message {
        let within = |value: Message, within: &[String]| match within {
            [] => value,
            within => message!("{} within the same {}", value, listed(within, AND)),
        };
        match self {
            Expression::Column(name) => name.into(),
            Expression::Value(value) => value_of(value),
            Expression::Arithmetic { operator, left, right } => {
                message!("{} {} {}", operand(left), operator.sign(), operand(right))
            }
            Expression::Number { function, of } => match function {
                NumberFunction::Absolute => message!("{} without its sign", of.message()),
                NumberFunction::Round(decimals) => {
                    message!("{} rounded to {} decimals", operand(of), decimals.to_string())
                }
                NumberFunction::Floor => message!("{} rounded down", operand(of)),
                NumberFunction::Ceiling => message!("{} rounded up", operand(of)),
                NumberFunction::Logarithm => message!("the logarithm of {}", operand(of)),
                NumberFunction::SquareRoot => message!("the square root of {}", operand(of)),
            },
            Expression::Text { function, of } => {
                let of = of.message();
                match function {
                    TextFunction::Lower => message!("{} in lower case", of),
                    TextFunction::Upper => message!("{} in upper case", of),
                    TextFunction::Trim => message!("{} without white space around it", of),
                    TextFunction::Length => message!("the length of {}", of),
                    TextFunction::Normal => message!("{} in normal form", of),
                    TextFunction::Slice { from, length: Some(length) } => {
                        message!("{} characters of {} from number {}", length.to_string(), of, from.to_string())
                    }
                    TextFunction::Slice { from, length: None } => {
                        message!("{} from character {}", of, from.to_string())
                    }
                    TextFunction::Replace { text, with } => message!("{} with “{}” for “{}”", of, with, text),
                    TextFunction::Split { by, part } => {
                        message!("part {} of {} between “{}”", part.to_string(), of, by)
                    }
                }
            }
            Expression::Concat(parts) => message!("{} put together", listed(parts.iter().map(Self::message), AND)),
            Expression::Part { part: DatePart::Year, of } => message!("the year of {}", of.message()),
            Expression::Part { part, of } => message!("the {} of {}", part.words(), of.message()),
            Expression::Bin { of, width, .. } => message!("{} in steps of {}", of.message(), width.to_string()),
            Expression::Case { branches, otherwise } => {
                let branch = |branch: &Branch| message!("{} where {}", branch.then.message(), branch.when.message());
                let branches = Message::list(PARTS, branches.iter().map(branch));
                match otherwise {
                    Some(value) => message!("{}, else {}", branches, value.message()),
                    None => branches,
                }
            }
            Expression::FirstPresent(parts) => {
                message!("the first of {} that is there", listed(parts.iter().map(Self::message), AND))
            }
            Expression::Convert { to, of } => message!("{} as {}", of.message(), to.words()),
            Expression::Over { function, of, within: keys } => within(function.message(of.as_deref()), keys),
            Expression::Share { of, within: keys, times } => {
                let share = match *times == 100.0 {
                    true => message!("the percentage of the total {}", of.message()),
                    false => message!("the share of the total {}", of.message()),
                };
                within(share, keys)
            }
            Expression::Previous { of, by, within: keys, rows: 1 } => {
                within(message!("{} of the row before by {}", of.message(), orders(by)), keys)
            }
            Expression::Previous { of, by, within: keys, rows } => {
                within(message!("{} of the row {} before by {}", of.message(), rows.to_string(), orders(by)), keys)
            }
            Expression::RunningTotal { of, by, within: keys } => {
                within(message!("the total {} up to the row by {}", of.message(), orders(by)), keys)
            }
            Expression::Rank { by, within: keys } => within(message!("the place by {}", orders(by)), keys),
        }
    }
}

/// An operand of a calculation, in brackets where it is one itself.
fn operand(of: &Expression) -> Message {
    match of {
        Expression::Arithmetic { .. } => message!("({})", of.message()),
        of => of.message(),
    }
}

impl Arithmetic {
    fn sign(self) -> &'static str {
        match self {
            Arithmetic::Plus => "+",
            Arithmetic::Minus => "−",
            Arithmetic::Times => "×",
            Arithmetic::DividedBy => "/",
            Arithmetic::Modulo => "modulo",
            Arithmetic::ToThePower => "to the power of",
        }
    }
}

impl DatePart {
    fn words(self) -> &'static str {
        match self {
            DatePart::Year => "year",
            DatePart::Month => "month",
            DatePart::Day => "day of the month",
            DatePart::Quarter => "quarter",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
            DatePart::Decade => "decade",
            DatePart::YearMonth => "month and year",
            DatePart::Date => "day",
        }
    }
}

impl ValueType {
    fn words(self) -> &'static str {
        match self {
            ValueType::Text => "text",
            ValueType::Number => "a number",
            ValueType::Integer => "a whole number",
            ValueType::Date => "a date",
            ValueType::Boolean => "yes or no",
        }
    }
}

/// `a, b and c`; of a long list the first ones and how many more.
fn listed<M: Into<Message>>(items: impl IntoIterator<Item = M>, word: &'static str) -> Message {
    let mut items: Vec<Message> = items.into_iter().map(Into::into).collect();
    if items.len() > NAMED {
        let more = items.len() - (NAMED - 1);
        items.truncate(NAMED - 1);
        items.push(message!("{} more", more));
    }
    Message::list(word, items)
}
