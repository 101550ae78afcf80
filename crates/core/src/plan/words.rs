//! What a step does, in one plain sentence without figures; a preview adds those.

use std::fmt;

use super::{
    Arithmetic, Comparison, Condition, DatePart, Direction, Expression, Grouping, Join, JoinKind, Key, Measure,
    MeasureFunction, NumberFunction, Order, Pivot, Relation, Step, TextFunction, TextTest, Union, Value, ValueType,
};
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

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Filter(condition) => {
                write!(out, "keeps the rows whose {}", condition.to_string().trim_start_matches("the "))
            }
            Step::Select(columns) => {
                let columns = columns.iter().map(|kept| match &kept.name {
                    Some(name) if *name != kept.column => format!("{} as {name}", kept.column),
                    _ => kept.column.clone(),
                });
                write!(out, "keeps the columns {}", listed(columns, "and"))
            }
            Step::Drop(columns) => write!(out, "leaves out {}", listed(columns, "and")),
            Step::Rename(pairs) => {
                write!(out, "calls {}", listed(pairs.iter().map(|(old, new)| format!("{old} {new}")), "and"))
            }
            Step::Derive { name, value } => write!(out, "adds {name}: {value}"),
            Step::Group(grouping) => grouping.fmt(out),
            Step::Distinct(columns) if columns.is_empty() => out.write_str("leaves out rows that repeat another"),
            Step::Distinct(columns) => write!(out, "keeps one row for each {}", listed(columns, "and")),
            Step::Sort(by) => write!(out, "orders the rows by {}", orders(by)),
            Step::Limit { rows, skip: 0 } => write!(out, "keeps the first {}", rows_of(*rows)),
            Step::Limit { rows, skip } => write!(out, "keeps {} after the first {skip}", rows_of(*rows)),
            Step::Top(top) => write!(
                out,
                "keeps the first {} for each {}, by {}",
                rows_of(top.rows),
                listed(&top.within, "and"),
                orders(&top.by)
            ),
            Step::Join(join) => join.fmt(out),
            Step::Union(union) => union.fmt(out),
            Step::Unpivot(unpivot) => write!(
                out,
                "turns {} into rows: their name as {}, their value as {}",
                columns(unpivot.columns.len()),
                unpivot.name,
                unpivot.value
            ),
            Step::Pivot(pivot) => pivot.fmt(out),
        }
    }
}

fn rows_of(rows: u64) -> String {
    if rows == 1 { "row".to_string() } else { format!("{rows} rows") }
}

fn columns(count: usize) -> String {
    if count == 1 { "one column".to_string() } else { format!("{count} columns") }
}

impl fmt::Display for Grouping {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // For each month of a date, not for each the month.
        let bare = |key: &Key| match (&key.name, &key.of) {
            (Some(name), Expression::Arithmetic { .. }) => name.clone(),
            _ => key.to_string().trim_start_matches("the ").to_string(),
        };
        let keys = listed(self.keys.iter().map(bare), "and");
        let measures = listed(&self.measures, "and");
        match (self.keys.is_empty(), self.measures.is_empty()) {
            (true, _) => write!(out, "computes {measures} of all rows"),
            (false, true) => write!(out, "keeps one row for each {keys}"),
            (false, false) => write!(out, "computes {measures} for each {keys}"),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(out)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.function.write(out, self.of.as_ref())?;
        self.condition.as_ref().map_or(Ok(()), |condition| write!(out, " where {condition}"))
    }
}

impl MeasureFunction {
    /// Writes what it computes of a value.
    fn write(&self, out: &mut fmt::Formatter<'_>, of: Option<&Expression>) -> fmt::Result {
        let name = match self {
            MeasureFunction::Count => {
                return match of {
                    Some(of) => write!(out, "the number of {of}"),
                    None => out.write_str("the number of rows"),
                };
            }
            MeasureFunction::Share { within, times } => {
                let part = if *times == 100.0 { "percentage" } else { "share" };
                match of {
                    Some(of) => write!(out, "the {part} of the total {of}")?,
                    None => write!(out, "the {part} of all rows")?,
                }
                return if within.is_empty() { Ok(()) } else { write!(out, " within {}", listed(within, "and")) };
            }
            MeasureFunction::CountDistinct => "number of different",
            MeasureFunction::Sum => "total",
            MeasureFunction::Mean => "mean of",
            MeasureFunction::Median => "median of",
            MeasureFunction::Quantile { at } => {
                write!(out, "the {at} quantile of ")?;
                return of.map_or(Ok(()), |of| write!(out, "{of}"));
            }
            MeasureFunction::Min => "smallest",
            MeasureFunction::Max => "largest",
            MeasureFunction::StandardDeviation => "standard deviation of",
            MeasureFunction::First { by } => {
                out.write_str("the ")?;
                of.map_or(Ok(()), |of| write!(out, "{of}"))?;
                return write!(out, " of the row that is first by {}", orders(by));
            }
            MeasureFunction::Correlation { with } => {
                out.write_str("the correlation of ")?;
                of.map_or(Ok(()), |of| write!(out, "{of}"))?;
                return write!(out, " with {with}");
            }
        };
        write!(out, "the {name} ")?;
        of.map_or(Ok(()), |of| write!(out, "{of}"))
    }
}

impl fmt::Display for Join {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = listed(
            self.on.iter().map(|key| {
                if key.left.eq_ignore_ascii_case(&key.right) {
                    key.left.clone()
                } else {
                    format!("{} = {}", key.left, key.right)
                }
            }),
            "and",
        );
        let with = &self.with;
        let added = match self.columns.as_slice() {
            [] => "its columns".to_string(),
            some => listed(some.iter().map(|kept| kept.name.as_ref().unwrap_or(&kept.column)), "and"),
        };
        match self.kind {
            JoinKind::Left => write!(out, "adds {added} from {with} by {keys}"),
            JoinKind::Inner => {
                write!(out, "adds {added} from {with} by {keys}; rows without a partner are left out")
            }
            JoinKind::Full => write!(out, "adds {added} and the rows without a partner from {with} by {keys}"),
            JoinKind::Semi => write!(out, "keeps the rows with a partner in {with} by {keys}"),
            JoinKind::Anti => write!(out, "keeps the rows without a partner in {with} by {keys}"),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(out)?;
        if self.steps.is_empty() {
            return Ok(());
        }
        write!(out, " ({})", self.steps.iter().map(Step::to_string).collect::<Vec<_>>().join("; "))
    }
}

impl fmt::Display for Union {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "appends the rows of {}", listed(self.others.iter().map(|part| &part.with), "and"))?;
        self.source_column.as_ref().map_or(Ok(()), |name| write!(out, ", with their table as {name}"))
    }
}

impl fmt::Display for Pivot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "makes a column of each {} with {}", self.column, self.measure)?;
        if self.rows.is_empty() { Ok(()) } else { write!(out, ", a row for each {}", listed(&self.rows, "and")) }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.by.fmt(out)?;
        match self.direction {
            Direction::Ascending => Ok(()),
            Direction::Descending => out.write_str(", largest first"),
        }
    }
}

fn orders(by: &[Order]) -> String {
    by.iter().map(Order::to_string).collect::<Vec<_>>().join(", then ")
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

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Compare { left, comparison, right } => write!(out, "{left} is {}{right}", comparison.words()),
            Condition::Between { value, from, to } => write!(out, "{value} is from {from} to {to}"),
            Condition::OneOf { value, values } => write!(out, "{value} is {}", listed(values, "or")),
            Condition::Text { value, test, text, .. } => write!(out, "{value} {} “{text}”", test.words()),
            Condition::Missing(value) => write!(out, "{value} is missing"),
            Condition::Holds(value) => write!(out, "{value} is true"),
            Condition::All(parts) if parts.is_empty() => out.write_str("values are any"),
            Condition::Any(parts) if parts.is_empty() => out.write_str("values are none"),
            Condition::All(parts) => out.write_str(&joined(parts, " and ")),
            Condition::Any(parts) => out.write_str(&joined(parts, " or ")),
            Condition::Not(part) => match part.as_ref() {
                Condition::Missing(value) => write!(out, "{value} is there"),
                Condition::Compare { left, comparison: Comparison::Equal, right } => {
                    write!(out, "{left} is not {right}")
                }
                Condition::OneOf { value, values } => write!(out, "{value} is neither {}", listed(values, "nor")),
                Condition::Holds(value) => write!(out, "{value} is not true"),
                Condition::Text { value, test: TextTest::Contains, text, .. } => {
                    write!(out, "{value} does not contain “{text}”")
                }
                part => write!(out, "not ({part})"),
            },
        }
    }
}

/// Conditions with a word between them; those of several parts in brackets.
fn joined(parts: &[Condition], word: &str) -> String {
    let in_brackets = |part: &Condition| match part {
        Condition::All(inner) | Condition::Any(inner) if inner.len() > 1 => format!("({part})"),
        part => part.to_string(),
    };
    parts.iter().map(in_brackets).collect::<Vec<_>>().join(word)
}

impl Comparison {
    /// The words between “is” and the value.
    fn words(self) -> &'static str {
        match self {
            Comparison::Equal => "",
            Comparison::Different => "other than ",
            Comparison::Less => "below ",
            Comparison::AtMost => "at most ",
            Comparison::Greater => "above ",
            Comparison::AtLeast => "at least ",
        }
    }
}

impl TextTest {
    fn words(self) -> &'static str {
        match self {
            TextTest::Contains => "contains",
            TextTest::Starts => "starts with",
            TextTest::Ends => "ends with",
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |out: &mut fmt::Formatter<'_>, within: &[String]| {
            if within.is_empty() { Ok(()) } else { write!(out, " within the same {}", listed(within, "and")) }
        };
        match self {
            Expression::Column(name) => out.write_str(name),
            Expression::Value(value) => value.fmt(out),
            Expression::Arithmetic { operator, left, right } => {
                write!(out, "{} {} {}", operand(left), operator.sign(), operand(right))
            }
            Expression::Number { function, of } => match function {
                NumberFunction::Absolute => write!(out, "{of} without its sign"),
                NumberFunction::Round(decimals) => write!(out, "{} rounded to {decimals} decimals", operand(of)),
                NumberFunction::Floor => write!(out, "{} rounded down", operand(of)),
                NumberFunction::Ceiling => write!(out, "{} rounded up", operand(of)),
                NumberFunction::Logarithm => write!(out, "the logarithm of {}", operand(of)),
                NumberFunction::SquareRoot => write!(out, "the square root of {}", operand(of)),
            },
            Expression::Text { function, of } => match function {
                TextFunction::Lower => write!(out, "{of} in lower case"),
                TextFunction::Upper => write!(out, "{of} in upper case"),
                TextFunction::Trim => write!(out, "{of} without white space around it"),
                TextFunction::Length => write!(out, "the length of {of}"),
                TextFunction::Normal => write!(out, "{of} in normal form"),
                TextFunction::Slice { from, length: Some(length) } => {
                    write!(out, "{length} characters of {of} from number {from}")
                }
                TextFunction::Slice { from, length: None } => write!(out, "{of} from character {from}"),
                TextFunction::Replace { text, with } => write!(out, "{of} with “{with}” for “{text}”"),
                TextFunction::Split { by, part } => write!(out, "part {part} of {of} between “{by}”"),
            },
            Expression::Concat(parts) => write!(out, "{} put together", listed(parts, "and")),
            Expression::Part { part, of } => write!(out, "the {} of {of}", part.words()),
            Expression::Bin { of, width, .. } => write!(out, "{of} in steps of {width}"),
            Expression::Case { branches, otherwise } => {
                let branches = branches.iter().map(|branch| format!("{} where {}", branch.then, branch.when));
                out.write_str(&branches.collect::<Vec<_>>().join(", "))?;
                otherwise.as_ref().map_or(Ok(()), |value| write!(out, ", else {value}"))
            }
            Expression::FirstPresent(parts) => write!(out, "the first of {} that is there", listed(parts, "and")),
            Expression::Convert { to, of } => write!(out, "{of} as {}", to.words()),
            Expression::Over { function, of, within: keys } => {
                function.write(out, of.as_deref())?;
                within(out, keys)
            }
            Expression::Share { of, within: keys, times } => {
                let part = if *times == 100.0 { "percentage" } else { "share" };
                write!(out, "the {part} of the total {of}")?;
                within(out, keys)
            }
            Expression::Previous { of, by, within: keys, rows } => {
                let back = if *rows == 1 { "before".to_string() } else { format!("{rows} before") };
                write!(out, "{of} of the row {back} by {}", orders(by))?;
                within(out, keys)
            }
            Expression::RunningTotal { of, by, within: keys } => {
                write!(out, "the total {of} up to the row by {}", orders(by))?;
                within(out, keys)
            }
            Expression::Rank { by, within: keys } => {
                write!(out, "the place by {}", orders(by))?;
                within(out, keys)
            }
        }
    }
}

/// An operand of a calculation, in brackets where it is one itself.
fn operand(of: &Expression) -> String {
    match of {
        Expression::Arithmetic { .. } => format!("({of})"),
        of => of.to_string(),
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
fn listed<T: ToString>(items: impl IntoIterator<Item = T>, word: &str) -> String {
    let mut items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.len() > NAMED {
        let more = items.len() - (NAMED - 1);
        items.truncate(NAMED - 1);
        items.push(format!("{more} more"));
    }
    let last = items.pop().unwrap_or_default();
    if items.is_empty() { last } else { format!("{} {word} {last}", items.join(", ")) }
}
