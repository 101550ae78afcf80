//! A filter made of the constraints in force and of what a request names: places, a period, values, exclusions, columns.

use super::mentions::Phrases;
use super::next_operations::{Base, Situation, listed, met, proposal, unmet, without_table};
use super::{Precondition, RankedOperation};
use lakeward_core::plan::{Comparison, Condition, Expression, Kept, Step, Value};
use lakeward_core::request::OperationKind;
use lakeward_core::text::name_likeness;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::SemanticType;
use lakeward_sketch::normalise::Normaliser;

/// A column called this much like an excluded thing is that thing.
const EXCLUDED: f64 = 0.8;
/// Words by which the columns named are all that is wanted.
const NOTHING_ELSE: [&str; 7] = ["columns", "fields", "suffice", "only", "just", "enough", "nothing else"];

/// The filter that the request asks of the base table.
pub fn propose(situation: &Situation<'_>, phrases: &Phrases) -> RankedOperation {
    let kind = OperationKind::Filter;
    let Some(base) = &situation.base else { return without_table(situation, kind) };
    let mut found = conditions(situation, base, phrases);
    let columns = columns(situation, base, &mut found);
    let id = base.entry.id.as_str();
    let named: Vec<String> = found.iter().map(|found| found.column.clone()).collect();
    let mut preconditions: Vec<Precondition> = found.iter().map(|found| found.precondition.clone()).collect();
    let conditions: Vec<Condition> = found.into_iter().map(Found::condition).collect();
    let reason = match (conditions.is_empty(), columns.is_empty()) {
        (true, true) => format!("shows `{id}` as it is"),
        (true, false) => format!("keeps {} of `{id}`", listed(&columns)),
        (false, _) => format!("keeps rows of `{id}` by {}", listed(&named)),
    };
    if preconditions.is_empty() && columns.is_empty() {
        preconditions.push(unmet(format!("nothing in the request names a column or value of `{id}`")));
    } else if preconditions.is_empty() {
        preconditions.push(met(format!("it has {}", listed(&columns))));
    }
    let filter = conditions.into_iter().reduce(Condition::and).map(Step::Filter);
    let kept: Vec<Kept> = columns.into_iter().map(|column| Kept { column, name: None }).collect();
    let select = (!kept.is_empty()).then_some(Step::Select(kept));
    let plan = filter.into_iter().chain(select).fold(base.plan.clone(), |plan, step| plan.then(step));
    RankedOperation { table: Some(id.to_string()), runnable: Some(plan), ..proposal(kind, preconditions, reason) }
}

/// What is asked of a column.
enum Wanted {
    /// One of these values.
    OneOf(Vec<String>),
    /// Not this value.
    Not(String),
    /// A year at least, or at most, or both.
    Years(Option<i32>, Option<i32>),
}

/// A condition with what speaks for it.
struct Found {
    column: String,
    wanted: Wanted,
    precondition: Precondition,
}

impl Found {
    fn condition(self) -> Condition {
        let value = Expression::Column(self.column);
        let compare = |comparison, right: Value| Condition::Compare {
            left: value.clone(),
            comparison,
            right: Expression::Value(right),
        };
        let year = |year: i32| Value::Integer(year.into());
        match self.wanted {
            Wanted::OneOf(values) => match <[String; 1]>::try_from(values) {
                Ok([one]) => compare(Comparison::Equal, Value::Text(one)),
                Err(several) => Condition::OneOf { value, values: several.into_iter().map(Value::Text).collect() },
            },
            // A missing value is none that was excluded.
            Wanted::Not(one) => Condition::Not(Box::new(compare(Comparison::Equal, Value::Text(one)))),
            Wanted::Years(Some(from), Some(to)) => Condition::Between { value, from: year(from), to: year(to) },
            Wanted::Years(Some(from), None) => compare(Comparison::AtLeast, year(from)),
            Wanted::Years(None, Some(to)) => compare(Comparison::AtMost, year(to)),
            Wanted::Years(None, None) => Condition::All(Vec::new()),
        }
    }
}

/// Conditions with what speaks for each.
fn conditions(situation: &Situation<'_>, base: &Base<'_>, phrases: &Phrases) -> Vec<Found> {
    let constraints = &situation.signals.constraints;
    let columns = &base.entry.profile.columns;
    let mut found: Vec<Found> = Vec::new();
    let mut normaliser = Normaliser::default();
    let mut holder = |value: &str| {
        let hash = normaliser.value(value).hash;
        (0..columns.len()).find(|place| (base.holds)(*place, hash))
    };
    for place in &constraints.geography {
        if let Some(column) = holder(place) {
            keep_value(&mut found, &columns[column], place);
        }
    }
    if let Some((from, to)) = constraints.time_range.as_ref().map(|range| range.years())
        && let Some(column) = period_column((from, to), base)
    {
        let precondition = met(format!("`{column}` tells the period"));
        found.push(Found { column, wanted: Wanted::Years(from, to), precondition });
    }
    for phrase in &constraints.excluded {
        let column = holder(phrase).map(|column| &columns[column]);
        if let Some(column) = column {
            let (column, wanted) = (column.name.clone(), Wanted::Not(phrase.clone()));
            let precondition = met(format!("`{column}` holds {phrase}"));
            found.push(Found { column, wanted, precondition });
        }
    }
    let excluded = |value: &str| constraints.excluded.iter().any(|phrase| phrase.eq_ignore_ascii_case(value));
    for mention in phrases.values(columns, base.holds) {
        if !excluded(&mention.value) {
            keep_value(&mut found, &columns[mention.column], &mention.value);
        }
    }
    found
}

/// Adds `value` to what `column` may be.
fn keep_value(found: &mut Vec<Found>, column: &ColumnProfile, value: &str) {
    let same = found.iter_mut().find(|found| found.column == column.name);
    if let Some(Found { wanted: Wanted::OneOf(values), precondition, .. }) = same {
        let mut normaliser = Normaliser::default();
        let hash = normaliser.value(value).hash;
        // `Washington D.C` is said for `Washington, D.C.`.
        if !values.iter().any(|known| normaliser.value(known).hash == hash) {
            values.push(value.to_string());
            precondition.what.push_str(&format!(", {value}"));
        }
        return;
    }
    let (column, wanted) = (column.name.clone(), Wanted::OneOf(vec![value.to_string()]));
    let precondition = met(format!("`{column}` holds {value}"));
    found.push(Found { column, wanted, precondition });
}

/// The column that tells the period, where one is asked for.
fn period_column((from, to): (Option<i32>, Option<i32>), base: &Base<'_>) -> Option<String> {
    if from.is_none() && to.is_none() {
        return None;
    }
    let time = base.entry.profile.time.as_ref()?;
    // Where each year has its own column there is none to compare.
    let column = base.entry.profile.columns.iter().find(|column| column.name == time.column)?;
    let told = matches!(column.semantic, Some(SemanticType::Year | SemanticType::Time));
    told.then(|| column.name.clone())
}

/// The columns to keep: those named where nothing else is wanted, without those excluded; none means all.
fn columns(situation: &Situation<'_>, base: &Base<'_>, conditions: &mut [Found]) -> Vec<String> {
    let constraints = &situation.signals.constraints;
    let profile = &base.entry.profile.columns;
    let like = |names: &[String], column: &ColumnProfile| {
        names.iter().any(|name| name_likeness(name, &column.name) >= EXCLUDED)
    };
    let named = |column: &&ColumnProfile| like(&constraints.required_columns, column);
    let said = situation.text.to_lowercase();
    let wanted: Vec<&ColumnProfile> = profile.iter().filter(named).collect();
    let wanted = if wanted.is_empty() || !NOTHING_ELSE.iter().any(|word| said.contains(word)) {
        profile.iter().collect()
    } else {
        wanted
    };
    let without = |name: &String| name.strip_suffix(" column").unwrap_or(name).to_string();
    let excluded: Vec<String> = constraints.excluded.iter().map(without).collect();
    let kept: Vec<String> =
        wanted.into_iter().filter(|column| !like(&excluded, column)).map(|column| column.name.clone()).collect();
    let all = kept.len() == profile.len() || kept.is_empty();
    conditions.sort_by(|a, b| a.column.cmp(&b.column));
    if all { Vec::new() } else { kept }
}
