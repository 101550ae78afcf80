//! Values of a row in SQL, with what they are.

use arrow::datatypes::{DataType, TimeUnit};

use super::condition::condition;
use super::measure;
use crate::inputs::{Family, InputColumn, InputTable};
use crate::quote::{identifier, literal};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{
    Arithmetic, Branch, Condition, DatePart, Direction, Expression, MeasureFunction, NumberFunction, Order,
    TextFunction, Value, ValueType,
};

/// A value in SQL.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    /// The expression.
    pub sql: String,
    /// What its values are, as of a column; the name is what messages call it.
    pub column: InputColumn,
}

impl Typed {
    fn new(sql: String, name: &str, data_type: DataType) -> Self {
        Self { sql, column: InputColumn::computed(name, data_type) }
    }

    /// Its numbers: yes counts 1, and text counts by the numbers written in it.
    ///
    /// # Errors
    /// [`Error::Usage`] where it holds none.
    pub fn number(&self) -> Result<String> {
        match self.column.family {
            Family::Number => Ok(self.sql.clone()),
            Family::Boolean => Ok(format!("CAST({} AS BIGINT)", self.sql)),
            Family::Text | Family::Empty => Ok(self.column.call("value_number", &self.sql)),
            Family::Date | Family::Time | Family::Other => {
                Err(Error::usage(format!("`{}` holds no numbers", self.column.name)))
            }
        }
    }

    /// Its numbers, with a fraction.
    pub fn double(&self) -> Result<String> {
        let number = self.number()?;
        let is_double = self.column.data_type == DataType::Float64 || self.column.family.is_text();
        Ok(if is_double { number } else { format!("CAST({number} AS DOUBLE)") })
    }

    /// Its days.
    pub fn date(&self) -> Result<String> {
        match self.column.family {
            Family::Date => Ok(self.sql.clone()),
            Family::Time => Ok(format!("CAST({} AS DATE)", self.sql)),
            Family::Text | Family::Empty => Ok(self.column.call("value_date", &self.sql)),
            Family::Number | Family::Boolean | Family::Other => {
                Err(Error::usage(format!("`{}` holds no dates", self.column.name)))
            }
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        if self.column.family == Family::Text { self.sql.clone() } else { format!("CAST({} AS VARCHAR)", self.sql) }
    }

    fn is_whole(&self) -> bool {
        self.column.family == Family::Boolean || self.column.data_type.is_integer()
    }
}

/// The types of SQL as people call them.
pub(super) const TEXT: DataType = DataType::Utf8;
pub(super) const WHOLE: DataType = DataType::Int64;
pub(super) const NUMBER: DataType = DataType::Float64;
pub(super) const DATE: DataType = DataType::Date32;
pub(super) const TIME: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// `expression` over the columns of `table`.
///
/// # Errors
/// [`Error::UnknownColumn`] with the nearest names, [`Error::Usage`] for what cannot be computed from values of their type.
pub(super) fn value(table: &InputTable, expression: &Expression) -> Result<Typed> {
    let name = expression.to_string();
    let typed = |sql: String, data_type: DataType| Typed::new(sql, &name, data_type);
    Ok(match expression {
        Expression::Column(column) => {
            let column = table.column(column)?.clone();
            Typed { sql: identifier(&column.name), column }
        }
        Expression::Value(value) => constant(value)?,
        Expression::Arithmetic { operator, left, right } => {
            arithmetic(*operator, &value(table, left)?, &value(table, right)?, &name)?
        }
        Expression::Number { function, of } => number_function(*function, &value(table, of)?, &name)?,
        Expression::Text { function, of } => text_function(function, &value(table, of)?, &name)?,
        Expression::Concat(parts) => {
            let parts = parts.iter().map(|part| Ok(value(table, part)?.text())).collect::<Result<Vec<_>>>()?;
            some(&parts, "nothing is to be put together")?;
            typed(format!("concat({})", parts.join(", ")), TEXT)
        }
        Expression::Part { part, of } => date_part(*part, &value(table, of)?, &name)?,
        Expression::Bin { of, width, start } => {
            if !(width.is_finite() && *width > 0.0 && start.is_finite()) {
                return Err(Error::usage("the width of a bin is a number above zero"));
            }
            let number = value(table, of)?.double()?;
            let from = if *start == 0.0 { number } else { format!("({number} - {})", plain(*start)) };
            let edge = format!("floor({from} / {0}) * {0}", plain(*width));
            let edge = if *start == 0.0 { edge } else { format!("{edge} + {}", plain(*start)) };
            if width.fract() == 0.0 && start.fract() == 0.0 {
                typed(format!("CAST({edge} AS BIGINT)"), WHOLE)
            } else {
                typed(format!("({edge})"), NUMBER)
            }
        }
        Expression::Case { branches, otherwise } => case(table, branches, otherwise.as_deref(), &name)?,
        Expression::FirstPresent(parts) => {
            let parts = parts.iter().map(|part| value(table, part)).collect::<Result<Vec<_>>>()?;
            some(&parts, "there is no value to take the first of")?;
            let (values, data_type) = of_one_type(&parts);
            typed(format!("coalesce({})", values.join(", ")), data_type)
        }
        Expression::Convert { to, of } => convert(*to, &value(table, of)?, &name)?,
        Expression::Over { function, of, within } => {
            let of = of.as_deref().map(|of| value(table, of)).transpose()?;
            if let (MeasureFunction::First { by }, Some(of)) = (function, &of) {
                // The order is the window's, not the function's.
                let window = window(table, within, &order_by(table, by)?)?;
                let column = InputColumn { name, ..of.column.clone() };
                return Ok(Typed { sql: format!("first_value({}) OVER ({window})", of.sql), column });
            }
            let (call, data_type) = measure::call(table, function, of.as_ref(), None)?;
            match function {
                MeasureFunction::Quantile { .. } | MeasureFunction::Share { .. } => {
                    return Err(Error::usage(format!("{name} is computed by a grouping, not beside the rows")));
                }
                _ => {}
            }
            typed(format!("{call} OVER ({})", window(table, within, "")?), data_type)
        }
        Expression::Share { of, within, times } => {
            let number = value(table, of)?.double()?;
            let window = window(table, within, "")?;
            let total = not_zero(&format!("sum({number}) OVER ({window})"));
            typed(scaled(&format!("{number} / {total}"), *times)?, NUMBER)
        }
        Expression::Previous { of, by, within, rows } => {
            let of = value(table, of)?;
            let window = window(table, within, &order_by(table, by)?)?;
            Typed { sql: format!("lag({}, {rows}) OVER ({window})", of.sql), column: of.column }
        }
        Expression::RunningTotal { of, by, within } => {
            let of = value(table, of)?;
            let window = window(table, within, &order_by(table, by)?)?;
            let data_type = if of.is_whole() { WHOLE } else { NUMBER };
            typed(format!("sum({}) OVER ({window} ROWS UNBOUNDED PRECEDING)", of.number()?), data_type)
        }
        Expression::Rank { by, within } => {
            let window = window(table, within, &order_by(table, by)?)?;
            typed(format!("CAST(rank() OVER ({window}) AS BIGINT)"), WHOLE)
        }
    })
}

fn some<T>(parts: &[T], otherwise: &str) -> Result<()> {
    if parts.is_empty() { Err(Error::usage(otherwise.to_string())) } else { Ok(()) }
}

/// A number as SQL writes it, with a point.
pub(super) fn plain(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.1}") } else { format!("{number:e}") }
}

/// `number` with a fraction, missing where it is zero. SQL tells -0.0 from 0, and adding 0.0 makes it 0.
pub(super) fn not_zero(number: &str) -> String {
    format!("nullif({number} + 0.0, 0)")
}

/// `number` times `times`.
pub(super) fn scaled(number: &str, times: f64) -> Result<String> {
    if !times.is_finite() {
        return Err(Error::usage("a share is multiplied with a number"));
    }
    Ok(if times == 1.0 { format!("({number})") } else { format!("({} * {number})", plain(times)) })
}

fn constant(value: &Value) -> Result<Typed> {
    let name = value.to_string();
    Ok(match value {
        Value::Boolean(true) => Typed::new("TRUE".into(), &name, DataType::Boolean),
        Value::Boolean(false) => Typed::new("FALSE".into(), &name, DataType::Boolean),
        Value::Integer(number) => Typed::new(number.to_string(), &name, WHOLE),
        Value::Number(number) if number.is_finite() => Typed::new(plain(*number), &name, NUMBER),
        Value::Number(_) => return Err(Error::usage("a value must be a finite number")),
        Value::Text(text) => Typed::new(literal(text), &name, TEXT),
    })
}

fn arithmetic(operator: Arithmetic, left: &Typed, right: &Typed, name: &str) -> Result<Typed> {
    let dated = |typed: &Typed| typed.column.family.is_dated();
    if dated(left) || dated(right) {
        return dates(operator, left, right, name);
    }
    let whole = left.is_whole() && right.is_whole();
    let simple = |sign: &str| -> Result<Typed> {
        let sql = format!("({} {sign} {})", left.number()?, right.number()?);
        Ok(Typed::new(sql, name, if whole { WHOLE } else { NUMBER }))
    };
    match operator {
        Arithmetic::Plus => simple("+"),
        Arithmetic::Minus => simple("-"),
        Arithmetic::Times => simple("*"),
        Arithmetic::DividedBy => {
            let sql = format!("({} / {})", left.double()?, not_zero(&right.double()?));
            Ok(Typed::new(sql, name, NUMBER))
        }
        Arithmetic::Modulo => {
            let right = right.number()?;
            let by = if whole { format!("nullif({right}, 0)") } else { not_zero(&right) };
            let sql = format!("({} % {by})", left.number()?);
            Ok(Typed::new(sql, name, if whole { WHOLE } else { NUMBER }))
        }
        Arithmetic::ToThePower => {
            let (base, exponent) = (left.double()?, right.double()?);
            // Zero has no power below zero, which is an error of the query where all is known while it is planned.
            let base = match right.sql.parse::<f64>() {
                Ok(exponent) if exponent >= 0.0 => base,
                Ok(_) => not_zero(&base),
                Err(_) => format!("CASE WHEN {exponent} < 0 THEN {} ELSE {base} END", not_zero(&base)),
            };
            Ok(Typed::new(format!("nanvl(power({base}, {exponent}), NULL)"), name, NUMBER))
        }
    }
}

/// Days after a date, days before it, and days between two.
fn dates(operator: Arithmetic, left: &Typed, right: &Typed, name: &str) -> Result<Typed> {
    let days = |typed: &Typed| Ok::<_, Error>(format!("CAST({} AS INTEGER)", typed.date()?));
    let whole = |typed: &Typed| Ok::<_, Error>(format!("CAST({} AS INTEGER)", typed.number()?));
    let is_date = |typed: &Typed| typed.column.family.is_dated() || typed.column.family.is_text();
    Ok(match operator {
        Arithmetic::Minus if is_date(left) && is_date(right) => {
            Typed::new(format!("CAST({} - {} AS BIGINT)", days(left)?, days(right)?), name, WHOLE)
        }
        Arithmetic::Minus if is_date(left) => {
            Typed::new(format!("CAST({} - {} AS DATE)", days(left)?, whole(right)?), name, DATE)
        }
        Arithmetic::Plus if is_date(left) && !is_date(right) => {
            Typed::new(format!("CAST({} + {} AS DATE)", days(left)?, whole(right)?), name, DATE)
        }
        _ => return Err(Error::usage(format!("{name} cannot be computed with a date"))),
    })
}

fn number_function(function: NumberFunction, of: &Typed, name: &str) -> Result<Typed> {
    let whole = of.is_whole();
    let number = of.double()?;
    let sql = match function {
        NumberFunction::Absolute => {
            return Ok(Typed::new(format!("abs({})", of.number()?), name, if whole { WHOLE } else { NUMBER }));
        }
        NumberFunction::Round(decimals) => format!("round({number}, {})", decimals.clamp(-18, 18)),
        NumberFunction::Floor => format!("floor({number})"),
        NumberFunction::Ceiling => format!("ceil({number})"),
        NumberFunction::Logarithm => format!("CASE WHEN {number} > 0 THEN ln({number}) END"),
        NumberFunction::SquareRoot => format!("CASE WHEN {number} >= 0 THEN sqrt({number}) END"),
    };
    Ok(Typed::new(sql, name, NUMBER))
}

fn text_function(function: &TextFunction, of: &Typed, name: &str) -> Result<Typed> {
    let text = of.text();
    let sql = match function {
        TextFunction::Lower => format!("lower({text})"),
        TextFunction::Upper => format!("upper({text})"),
        TextFunction::Trim => format!("trim({text})"),
        TextFunction::Length => {
            return Ok(Typed::new(format!("CAST(character_length({text}) AS BIGINT)"), name, WHOLE));
        }
        TextFunction::Normal => of.column.call("value_normalize", &of.sql),
        TextFunction::Slice { from, length: None } => format!("substr({text}, {from})"),
        TextFunction::Slice { from, length: Some(length) } => format!("substr({text}, {from}, {length})"),
        TextFunction::Replace { text: old, with } => format!("replace({text}, {}, {})", literal(old), literal(with)),
        TextFunction::Split { part: 0, .. } => {
            return Err(Error::usage("parts of a text are counted from 1"));
        }
        TextFunction::Split { by, part } => format!("split_part({text}, {}, {part})", literal(by)),
    };
    Ok(Typed::new(sql, name, TEXT))
}

fn date_part(part: DatePart, of: &Typed, name: &str) -> Result<Typed> {
    if of.column.family == Family::Number && of.is_whole() {
        match part {
            // A whole number is its own year.
            DatePart::Year => return Ok(Typed { sql: of.sql.clone(), column: of.column.clone() }),
            DatePart::Decade => {
                let sql = format!("CAST(floor(CAST({} AS DOUBLE) / 10) * 10 AS BIGINT)", of.sql);
                return Ok(Typed::new(sql, name, WHOLE));
            }
            _ => {}
        }
    }
    let date = match part {
        DatePart::Hour if of.column.family == Family::Time => of.sql.clone(),
        DatePart::Hour => return Err(Error::usage(format!("`{}` holds no time of day", of.column.name))),
        _ => of.date()?,
    };
    let number = |part: &str| format!("date_part('{part}', {date})");
    let (sql, data_type) = match part {
        DatePart::Year => (number("year"), WHOLE),
        DatePart::Month => (number("month"), WHOLE),
        DatePart::Day => (number("day"), WHOLE),
        DatePart::Quarter => (number("quarter"), WHOLE),
        DatePart::Hour => (number("hour"), WHOLE),
        DatePart::Weekday => (format!("({} + 6) % 7 + 1", number("dow")), WHOLE),
        DatePart::Decade => (format!("{0} - {0} % 10", number("year")), WHOLE),
        DatePart::YearMonth => (format!("make_date({}, {}, 1)", number("year"), number("month")), DATE),
        DatePart::Date => (date.clone(), DATE),
    };
    let sql = if data_type == WHOLE { format!("CAST({sql} AS BIGINT)") } else { sql };
    Ok(Typed::new(sql, name, data_type))
}

fn case(table: &InputTable, branches: &[Branch], otherwise: Option<&Expression>, name: &str) -> Result<Typed> {
    some(branches, "a choice needs at least one case")?;
    let mut values = branches.iter().map(|branch| value(table, &branch.then)).collect::<Result<Vec<_>>>()?;
    if let Some(otherwise) = otherwise {
        values.push(value(table, otherwise)?);
    }
    let (values, data_type) = of_one_type(&values);
    let mut sql = String::from("CASE");
    for (branch, value) in branches.iter().zip(&values) {
        sql.push_str(&format!(" WHEN {} THEN {value}", condition(table, &branch.when)?));
    }
    if let Some(value) = values.get(branches.len()) {
        sql.push_str(&format!(" ELSE {value}"));
    }
    sql.push_str(" END");
    Ok(Typed::new(sql, name, data_type))
}

/// Values as one type: their own where it is the same, numbers, times, else text.
pub(super) fn of_one_type(values: &[Typed]) -> (Vec<String>, DataType) {
    let is_empty = |value: &Typed| value.column.family == Family::Empty;
    if values.iter().all(is_empty) {
        return (values.iter().map(Typed::text).collect(), TEXT);
    }
    let every = |test: fn(Family) -> bool| values.iter().all(|value| test(value.column.family) || is_empty(value));
    // What holds no value has no type of its own.
    let as_they_are = |data_type: DataType| {
        let sql = |value: &Typed| if is_empty(value) { missing(&data_type) } else { value.sql.clone() };
        (values.iter().map(sql).collect(), data_type.clone())
    };
    if every(|family| family == Family::Number) {
        let whole = values.iter().all(|value| value.is_whole() || is_empty(value));
        return as_they_are(if whole { WHOLE } else { NUMBER });
    }
    if every(|family| family == Family::Date) {
        return as_they_are(DATE);
    }
    if every(Family::is_dated) {
        let (values, data_type) = as_they_are(TIME);
        return (values.iter().map(|value| format!("CAST({value} AS TIMESTAMP(6))")).collect(), data_type);
    }
    if every(|family| family == Family::Boolean) {
        return as_they_are(DataType::Boolean);
    }
    (values.iter().map(Typed::text).collect(), TEXT)
}

/// A missing value of a type; NULL alone has none, and then has no sum either.
pub(super) fn missing(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Boolean => "BOOLEAN",
        DataType::Date32 => "DATE",
        DataType::Timestamp(..) => "TIMESTAMP(6)",
        DataType::Utf8 => "VARCHAR",
        whole if whole.is_integer() => "BIGINT",
        _ => "DOUBLE",
    };
    format!("CAST(NULL AS {name})")
}

fn convert(to: ValueType, of: &Typed, name: &str) -> Result<Typed> {
    Ok(match to {
        ValueType::Text => Typed::new(of.text(), name, TEXT),
        ValueType::Number => Typed::new(of.double()?, name, NUMBER),
        ValueType::Integer => Typed::new(format!("TRY_CAST(trunc({}) AS BIGINT)", of.double()?), name, WHOLE),
        ValueType::Date => Typed::new(of.date()?, name, DATE),
        ValueType::Boolean => Typed::new(yes(of)?, name, DataType::Boolean),
    })
}

/// Whether a value says yes; NULL where it says neither yes nor no.
pub(super) fn yes(of: &Typed) -> Result<String> {
    match of.column.family {
        Family::Boolean => Ok(of.sql.clone()),
        Family::Number => Ok(format!("({} <> 0)", of.sql)),
        Family::Text | Family::Empty => {
            let text = format!("lower(trim({}))", of.text());
            let yes = format!("{text} IN ('true', 'yes', 'y', 't', 'on', '1')");
            let no = format!("{text} IN ('false', 'no', 'n', 'f', 'off', '0')");
            Ok(format!("CASE WHEN {yes} THEN TRUE WHEN {no} THEN FALSE END"))
        }
        _ => Err(Error::usage(format!("`{}` says neither yes nor no", of.column.name))),
    }
}

/// `PARTITION BY … ORDER BY …`
pub(super) fn window(table: &InputTable, within: &[String], order: &str) -> Result<String> {
    let within = within.iter().map(|name| Ok(identifier(&table.column(name)?.name))).collect::<Result<Vec<_>>>()?;
    let partition = if within.is_empty() { String::new() } else { format!("PARTITION BY {}", within.join(", ")) };
    Ok([partition.as_str(), order].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
}

/// `ORDER BY …`
pub(super) fn order_by(table: &InputTable, by: &[Order]) -> Result<String> {
    some(by, "an order needs something to order by")?;
    let parts = by.iter().map(|order| Ok(ordered(&value(table, &order.by)?.sql, order.direction)));
    Ok(format!("ORDER BY {}", parts.collect::<Result<Vec<_>>>()?.join(", ")))
}

/// A value to order by; missing ones come last either way.
pub(super) fn ordered(sql: &str, direction: Direction) -> String {
    match direction {
        Direction::Ascending => format!("{sql} ASC NULLS LAST"),
        Direction::Descending => format!("{sql} DESC NULLS LAST"),
    }
}

/// Whether a value depends on other rows, which SQL computes only where it selects.
pub(super) fn looks_around(expression: &Expression) -> bool {
    match expression {
        Expression::Over { .. }
        | Expression::Share { .. }
        | Expression::Previous { .. }
        | Expression::RunningTotal { .. }
        | Expression::Rank { .. } => true,
        Expression::Column(_) | Expression::Value(_) => false,
        Expression::Arithmetic { left, right, .. } => looks_around(left) || looks_around(right),
        Expression::Number { of, .. }
        | Expression::Text { of, .. }
        | Expression::Part { of, .. }
        | Expression::Bin { of, .. }
        | Expression::Convert { of, .. } => looks_around(of),
        Expression::Concat(parts) | Expression::FirstPresent(parts) => parts.iter().any(looks_around),
        Expression::Case { branches, otherwise } => {
            branches.iter().any(|branch| condition_looks_around(&branch.when) || looks_around(&branch.then))
                || otherwise.as_deref().is_some_and(looks_around)
        }
    }
}

/// [`looks_around`] of what a condition compares.
pub(super) fn condition_looks_around(condition: &Condition) -> bool {
    match condition {
        Condition::Compare { left, right, .. } => looks_around(left) || looks_around(right),
        Condition::Between { value, .. }
        | Condition::OneOf { value, .. }
        | Condition::Text { value, .. }
        | Condition::Missing(value)
        | Condition::Holds(value) => looks_around(value),
        Condition::All(parts) | Condition::Any(parts) => parts.iter().any(condition_looks_around),
        Condition::Not(part) => condition_looks_around(part),
    }
}
