//! Columns that no table has and that the words of a turn ask for: the time between two dates of a row, how many times so much.
//! They are offered to the reader beside those of the table, and computed where it takes them.

use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::{Arithmetic, Expression, Value};
use lakeward_core::text::{Stemmer, is_function_word, lower_words, name_words};

use super::number::number;
use super::schema::{ColumnKind, Schema, SchemaColumn};
use super::unit::{Unit, days_of};

/// How a column is computed of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// What it is, row by row.
    pub value: Expression,
    /// In a clause: `days are those from loan_date to return_date`.
    pub how: Message,
    /// Whether the words, or the table, leave no other columns that could be meant.
    pub is_sure: bool,
    /// The columns that it is computed of.
    pub(super) of: [String; 2],
}

impl Schema {
    /// Adds the columns that the words of a turn ask for and that are computed of those of the rows.
    pub fn add_computed(&mut self, text: &str) {
        let words: Vec<String> = lower_words(text).collect();
        let added = [elapsed(self, &words), amount(self, &words)];
        // Behind those of the rows: places of columns are not told to anyone before a turn is read.
        let place = self.columns.iter().position(|column| column.of_result).unwrap_or(self.columns.len());
        self.columns.splice(place..place, added.into_iter().flatten());
    }
}

fn arithmetic(left: &str, operator: Arithmetic, right: &str) -> Expression {
    let column = |name: &str| Box::new(Expression::column(name));
    Expression::Arithmetic { operator, left: column(left), right: column(right) }
}

/// How long something took, as words ask for it.
struct Asked<'w> {
    /// The unit, and its days.
    unit: &'w str,
    days: f64,
    /// Whether they can ask for nothing else: "the longest" may be that of a way.
    is_sure: bool,
}

/// The unit of time that words count how long something took in: `how many days`, `more than two weeks`, `how long`.
fn asked(words: &[String]) -> Option<Asked<'_>> {
    const OTHERWISE: [&str; 14] = [
        "last", "past", "previous", "next", "first", "recent", "coming", "latest", "older", "oldest", "younger",
        "youngest", "old", "age",
    ];
    const COMPARES: [&str; 12] =
        ["than", "over", "under", "within", "least", "most", "exactly", "took", "take", "takes", "late", "early"];
    const LONG: [&str; 5] = ["longer", "longest", "shorter", "shortest", "duration"];
    let is_among = |word: &String, list: &[&str]| list.contains(&word.as_str());
    if words.iter().any(|word| is_among(word, &OTHERWISE)) {
        return None;
    }
    let days = |word: &str| match word {
        "month" | "months" => Some(30.4375),
        "years" => Some(365.25),
        word => days_of(word),
    };
    let compares = words.iter().any(|word| is_among(word, &COMPARES));
    let unit = (0..words.len()).find_map(|at| {
        let days = days(&words[at])?;
        let before = at.checked_sub(1).map(|at| words[at].as_str());
        let next = words.get(at + 1).map(String::as_str);
        let asks = before.is_some_and(|word| matches!(word, "many" | "of" | "in"));
        let counts = compares && before.is_some_and(|word| number(word).is_some());
        let spans = matches!(next, Some("between" | "from" | "until" | "till" | "late" | "early"));
        ((asks || counts || spans) && next != Some("ago")).then_some(Asked { unit: &words[at], days, is_sure: true })
    });
    let how_long = words.windows(2).any(|two| two[0] == "how" && two[1] == "long");
    let is_long = how_long || words.iter().any(|word| is_among(word, &LONG));
    unit.or(is_long.then_some(Asked { unit: "days", days: 1.0, is_sure: how_long }))
}

/// The time between two dates of each row, where the words ask how long something took and no column counts it. Of more than two dates those that the
/// words name, else the first and the last one; what is late is late by when it was due.
fn elapsed(schema: &Schema, words: &[String]) -> Option<SchemaColumn> {
    const DUE: [&str; 7] = ["due", "planned", "expected", "promised", "scheduled", "deadline", "target"];
    let Asked { unit, days, is_sure } = asked(words)?;
    let rows = || schema.columns.iter().filter(|column| !column.of_result);
    let counts = |column: &SchemaColumn| {
        let is_other = is_sure || !Unit::is_of_length(column);
        column.kind.is_number() && (Unit::is_of_time(column) || !is_other) || column.is_named(unit)
    };
    if rows().any(counts) || schema.place(unit).is_some() {
        return None;
    }
    let dates: Vec<&SchemaColumn> =
        rows().filter(|column| column.kind == ColumnKind::Date && !column.is_of_birth()).collect();
    let named = |words: &[String]| -> Vec<&SchemaColumn> {
        dates.iter().copied().filter(|date| is_spoken_of(date, &dates, words)).collect()
    };
    let mut by_words = named(words);
    if by_words.len() > 2 {
        // "Orders delivered within five days of shipping" are called so and not counted from when they were ordered.
        by_words = named(&words.iter().filter(|word| !word.ends_with('s')).cloned().collect::<Vec<_>>());
    }
    let is_due = |date: &&&SchemaColumn| name_words(&date.name).iter().any(|word| DUE.contains(&&*word.to_lowercase()));
    let is_late = words.iter().any(|word| matches!(word.as_str(), "late" | "overdue" | "early" | "delay" | "delayed"));
    let due = dates.iter().find(is_due).filter(|_| is_late).copied();
    let (first, last) = match (due, &by_words[..], &dates[..]) {
        (Some(due), _, [.., last]) if last.name != due.name => (due, *last),
        (_, [first, .., last], _) => (*first, *last),
        (_, [one], [first, .., last]) if one.name == first.name => (*first, *last),
        (_, [one], [first, _, ..]) => (*first, *one),
        (_, [], [first, .., last]) => (*first, *last),
        _ => return None,
    };
    let between = arithmetic(&last.name, Arithmetic::Minus, &first.name);
    let value = if days == 1.0 {
        between
    } else {
        let (operator, by) = (Arithmetic::DividedBy, Box::new(Expression::Value(Value::Number(days))));
        Expression::Arithmetic { operator, left: Box::new(between), right: by }
    };
    let computed = Computed {
        value,
        how: message!("`{}` are those from {} to {}", unit, &first.name, &last.name),
        is_sure: is_sure && (dates.len() == 2 || by_words.len() == 2 || due.is_some()),
        of: [first.name.clone(), last.name.clone()],
    };
    Some(SchemaColumn {
        quantity: true,
        computed: Some(Box::new(computed)),
        ..SchemaColumn::new(unit, ColumnKind::Number)
    })
}

/// Whether words speak of a date by what its name has and those of the others have not: "loan" of `loan_date`, "delivery" of `delivered_on`.
fn is_spoken_of(date: &SchemaColumn, dates: &[&SchemaColumn], words: &[String]) -> bool {
    const LIKE: usize = 5;
    let mut stemmer = Stemmer::default();
    let others = dates.iter().filter(|other| other.name != date.name);
    let others: Vec<String> = others.flat_map(|other| name_words(&other.name)).collect();
    let own = name_words(&date.name).into_iter().map(|word| word.to_lowercase());
    let own = own.filter(|word| word.len() > 2 && !is_function_word(word) && !others.contains(word) && word != "date");
    let own: Vec<(String, String)> = own.map(|word| (stemmer.stem(&word).to_string(), word)).collect();
    words.iter().any(|word| {
        let begins_alike = |own: &str| own.get(..LIKE).is_some_and(|own| word.starts_with(own));
        let stem = stemmer.stem(word).to_string();
        own.iter().any(|(own_stem, own)| *own_stem == stem || begins_alike(own))
    })
}

/// How many times the price of one, where the words ask for money, and no column has it.
fn amount(schema: &Schema, words: &[String]) -> Option<SchemaColumn> {
    const ASKED: [&str; 10] =
        ["revenue", "revenues", "turnover", "takings", "spend", "spent", "spending", "value", "worth", "cost"];
    const PRICES: [&str; 4] = ["price", "rate", "fee", "tariff"];
    const OF_ONE: [&str; 3] = ["unit", "each", "per"];
    let asked = words.iter().find(|word| ASKED.contains(&word.as_str()))?;
    let rows = || schema.columns.iter().filter(|column| !column.of_result && column.kind.is_number());
    if schema.columns.iter().any(|column| column.is_named(asked)) {
        return None;
    }
    let has = |column: &SchemaColumn, names: &[&str]| {
        name_words(&column.name).iter().any(|word| names.contains(&word.to_lowercase().as_str()))
    };
    let only = |is_it: &dyn Fn(&SchemaColumn) -> bool| {
        let mut found = rows().filter(|column| is_it(column));
        found.next().filter(|_| found.next().is_none())
    };
    let price = only(&|column| has(column, &PRICES))?;
    let many = only(&|column| column.says_how_many())?;
    let computed = Computed {
        value: arithmetic(&many.name, Arithmetic::Times, &price.name),
        how: message!("`{}` is {} times {}", asked, &many.name, &price.name),
        is_sure: has(price, &OF_ONE),
        of: [many.name.clone(), price.name.clone()],
    };
    Some(SchemaColumn {
        quantity: true,
        computed: Some(Box::new(computed)),
        ..SchemaColumn::new(asked.as_str(), ColumnKind::Number)
    })
}
