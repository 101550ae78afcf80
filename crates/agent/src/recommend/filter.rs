//! A filter made of the constraints in force and of what a request names: places, a period, values, exclusions, columns.

use super::mentions::Phrases;
use super::next_operations::{Base, Situation, listed, met, proposal, unmet, without_table};
use super::{Precondition, RankedOperation};
use lakeward_core::request::{Condition, Filter, Operation, OperationKind, Test};
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
    let (conditions, mut preconditions): (Vec<Condition>, Vec<Precondition>) = found.into_iter().unzip();
    let reason = match (conditions.is_empty(), columns.is_empty()) {
        (true, true) => format!("shows `{id}` as it is"),
        (true, false) => format!("keeps {} of `{id}`", listed(&columns)),
        (false, _) => {
            let names: Vec<String> = conditions.iter().map(|condition| condition.column.clone()).collect();
            format!("keeps rows of `{id}` by {}", listed(&names))
        }
    };
    if preconditions.is_empty() && columns.is_empty() {
        preconditions.push(unmet(format!("nothing in the request names a column or value of `{id}`")));
    } else if preconditions.is_empty() {
        preconditions.push(met(format!("it has {}", listed(&columns))));
    }
    RankedOperation {
        table: Some(id.to_string()),
        runnable: Some(Operation::Filter(Filter { input: base.input.clone(), conditions, columns })),
        ..proposal(kind, preconditions, reason)
    }
}

/// Conditions with what speaks for each.
fn conditions(situation: &Situation<'_>, base: &Base<'_>, phrases: &Phrases) -> Vec<(Condition, Precondition)> {
    let constraints = &situation.signals.constraints;
    let columns = &base.entry.profile.columns;
    let mut found: Vec<(Condition, Precondition)> = Vec::new();
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
    if let Some(condition) = constraints.time_range.as_ref().and_then(|range| period(range.years(), base)) {
        let what = format!("`{}` tells the period", condition.column);
        found.push((condition, met(what)));
    }
    for phrase in &constraints.excluded {
        let column = holder(phrase).map(|column| &columns[column]);
        if let Some(column) = column {
            let test = Test::NoneOf { values: vec![phrase.clone()] };
            found.push((
                Condition { column: column.name.clone(), test },
                met(format!("`{}` holds {phrase}", column.name)),
            ));
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
fn keep_value(found: &mut Vec<(Condition, Precondition)>, column: &ColumnProfile, value: &str) {
    let same = found.iter_mut().find(|(condition, _)| condition.column == column.name);
    if let Some((Condition { test: Test::OneOf { values }, .. }, precondition)) = same {
        let mut normaliser = Normaliser::default();
        let hash = normaliser.value(value).hash;
        // `Washington D.C` is said for `Washington, D.C.`.
        if !values.iter().any(|known| normaliser.value(known).hash == hash) {
            values.push(value.to_string());
            precondition.what.push_str(&format!(", {value}"));
        }
        return;
    }
    let test = Test::OneOf { values: vec![value.to_string()] };
    found.push((Condition { column: column.name.clone(), test }, met(format!("`{}` holds {value}", column.name))));
}

/// The bounds of a period on the column that tells it.
fn period((from, to): (Option<i32>, Option<i32>), base: &Base<'_>) -> Option<Condition> {
    if from.is_none() && to.is_none() {
        return None;
    }
    let time = base.entry.profile.time.as_ref()?;
    // Where each year has its own column there is none to compare.
    let column = base.entry.profile.columns.iter().find(|column| column.name == time.column)?;
    let told = matches!(column.semantic, Some(SemanticType::Year | SemanticType::Time));
    let year = |year: Option<i32>| year.map(|year| year.to_string());
    told.then(|| Condition { column: column.name.clone(), test: Test::Between { from: year(from), to: year(to) } })
}

/// The columns to keep: those named where nothing else is wanted, without those excluded; none means all.
fn columns(situation: &Situation<'_>, base: &Base<'_>, conditions: &mut [(Condition, Precondition)]) -> Vec<String> {
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
    conditions.sort_by(|a, b| a.0.column.cmp(&b.0.column));
    if all { Vec::new() } else { kept }
}
