//! How well a table meets a task specification: AIDEN's Eq. 3 (Taha, 2026) computed from the profile, each check with its
//! evidence, as 0 or 1 and as a grade.

use std::collections::BTreeSet;

use super::task_spec::{Compatibility, Granularity, Richness, TaskSpec};
use super::{IntentionFit, Match};
use lakeward_core::message;
use lakeward_core::message::{Message, PARTS};
use lakeward_core::request::{Demand, Demanded, RequestedYears, in_role};
use lakeward_core::respect::Respect;
use lakeward_core::text::{NameParts, is_function_word, name_words};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType, Weakness};
use lakeward_search::Candidate;
use lakeward_search::candidates::GrainColumn;
use lakeward_search::weights::FitWeights;

/// Eq. 3 for a candidate: Int(T, U) = ⅓ · Σ 1[match_ρ(T, U)] over granularity, richness and compatibility; "either" and
/// "optional" count as met. The graded form is the mean of the three grades and of those of the explicit constraints.
pub fn fit(spec: &TaskSpec, demands: &[Demand], candidate: &Candidate, weights: &FitWeights) -> IntentionFit {
    let granularity = granularity(spec.granularity, candidate, weights);
    let richness = richness(spec.richness, &candidate.dataset, weights);
    let compatibility = compatibility(spec.compatibility, candidate, weights);
    let constraints = explicit(demands, candidate, weights);
    let three = [&granularity, &richness, &compatibility];
    let paper = three.iter().filter(|check| check.met).count() as f64 / 3.0;
    let grades = three.iter().map(|check| check.grade).chain(constraints.iter().map(|(_, check)| check.grade));
    let graded = grades.sum::<f64>() / (three.len() + constraints.len()) as f64;
    IntentionFit { granularity, richness, compatibility, constraints, paper, graded }
}

/// By the columns that come nearest to the grain that was asked for; where none was, single things want many rows.
fn granularity(requested: Granularity, candidate: &Candidate, weights: &FitWeights) -> Match {
    let Candidate { dataset, grains, .. } = candidate;
    let always = |evidence: Message| Match { met: true, grade: 1.0, evidence };
    let (grade, evidence) = match (requested, dataset.table(), &grains[..]) {
        (Granularity::Either, ..) => return always(message!("any granularity will do")),
        (_, None, _) => (weights.unknown, message!("its data is not in the lake")),
        (Granularity::Instance, Some(table), _) => {
            let rows = table.profile.rows;
            (
                (rows as f64 + 1.0).log10() / weights.many_rows.log10(),
                message!("it has {}", Message::counted(rows, "row")),
            )
        }
        (Granularity::Aggregate, _, []) => return always(message!("no grain is asked for by name")),
        (Granularity::Aggregate, _, grains) => {
            let named = |grain: &GrainColumn| message!("`{}` comes nearest to {}", &grain.column, &grain.said);
            let grade = grains.iter().map(|grain| grain.likeness).sum::<f64>() / grains.len() as f64;
            (grade, Message::list(PARTS, grains.iter().map(named)))
        }
    };
    Match { met: grade >= weights.met, grade: grade.min(1.0), evidence }
}

/// Whether a column tells rows apart or says something about them: it is filled, varies, and is no row number.
pub fn is_informative(column: &ColumnProfile) -> bool {
    const MOST_MISSING: f64 = 0.9;
    column.logical != LogicalType::Empty
        && column.distinct > 1
        && (column.missing as f64) < MOST_MISSING * column.rows as f64
        && column.weakness != Some(Weakness::Counter)
}

fn richness(requested: Richness, dataset: &Dataset, weights: &FitWeights) -> Match {
    let many = weights.many_columns;
    let columns = dataset.columns();
    let informative = columns.iter().filter(|column| is_informative(column)).count();
    let few = requested == Richness::Many && informative < many && informative < columns.len();
    let evidence = match few {
        true => message!("only {} of {} columns are informative", informative, columns.len()),
        false => message!("{} of {} columns are informative", informative, columns.len()),
    };
    let share = informative as f64 / many as f64;
    match requested {
        Richness::Many => Match { met: informative >= many, grade: share.min(1.0), evidence },
        // A handful is enough, and more does little harm.
        Richness::Few => Match {
            met: (1..=2 * many).contains(&informative),
            grade: if informative == 0 { 0.0 } else { (2.0 / share).sqrt().min(1.0) },
            evidence,
        },
    }
}

fn compatibility(requested: Compatibility, candidate: &Candidate, weights: &FitWeights) -> Match {
    if requested == Compatibility::Optional {
        return Match { met: true, grade: 1.0, evidence: message!("need not go with another table") };
    }
    let (key, key_seen) = key_overlap(candidate, weights);
    let (schema, schema_seen) = alignment(candidate);
    let met = key >= weights.least_containment || schema >= weights.least_alignment;
    let evidence = if key >= schema { key_seen } else { schema_seen };
    Match {
        met,
        grade: key.max(schema),
        evidence: evidence.unwrap_or_else(|| message!("no key and no columns in common")),
    }
}

/// Containment of the best key, less where it may be an accident; and that in words.
pub fn key_overlap(candidate: &Candidate, weights: &FitWeights) -> (f64, Option<Message>) {
    let Some(join) = &candidate.join else { return (0.0, None) };
    let accidental = if join.weakness.is_some() { weights.accidental_key } else { 1.0 };
    let share = format!("{:.0}", 100.0 * join.containment);
    let seen = message!("{} % of `{}` is in `{}`", share, &join.query_column, &join.column);
    (join.containment * accidental, Some(seen))
}

/// How well the columns align, 0..=1; and that in words.
pub fn alignment(candidate: &Candidate) -> (f64, Option<Message>) {
    let Some(union) = &candidate.union else { return (0.0, None) };
    let columns = union.alignment.len() + union.unmatched.len();
    (union.parts.alignment, Some(message!("{} of {} columns align", union.alignment.len(), columns)))
}

/// The demands that a table can be held against.
fn explicit(demands: &[Demand], candidate: &Candidate, weights: &FitWeights) -> Vec<(String, Match)> {
    let mut matches = Vec::new();
    let mut push = |name: &str, found: Option<Match>| matches.extend(found.map(|found| (name.to_string(), found)));
    let Candidate { dataset, .. } = candidate;
    let said = |role: &Respect| in_role(demands, role).map(str::to_string).collect::<Vec<String>>();
    let (places, columns) = (said(&Respect::Place), said(&Respect::Column));
    let years = demands.iter().find_map(|demand| match demand.value {
        Demanded::Period(years) if !demand.avoid => Some(years),
        _ => None,
    });
    push("place", (!places.is_empty()).then(|| geography(&places, candidate, weights)));
    push("period", years.and_then(|years| period(years, dataset, weights)));
    push("columns", (!columns.is_empty()).then(|| required_columns(&columns, dataset, weights)));
    push("unwanted", unwanted(demands, dataset));
    matches
}

fn geography(places: &[String], candidate: &Candidate, weights: &FitWeights) -> Match {
    let said = about_words(&candidate.dataset);
    let is_about = |place: &String| name_words(place).iter().all(|word| said.contains(word));
    let mut seen = Vec::new();
    let mut found = 0;
    for place in places {
        if let Some(held) = candidate.holds.iter().find(|held| held.value == *place) {
            seen.push(message!("`{}` holds {}", &held.column, place));
            found += 1;
        } else if is_about(place) {
            seen.push(message!("it is about {}", place));
            found += 1;
        }
    }
    if found == 0 {
        return Match {
            met: false,
            grade: weights.unknown / 2.0,
            evidence: message!("nothing in it says {}", places.join(", ")),
        };
    }
    let share = found as f64 / places.len() as f64;
    Match { met: share >= weights.met, grade: share, evidence: Message::list(PARTS, seen) }
}

/// The words of a table's id, title, tags and places.
fn about_words(dataset: &Dataset) -> BTreeSet<String> {
    let metadata = dataset
        .metadata()
        .into_iter()
        .flat_map(|metadata| metadata.title.iter().chain(&metadata.tags).chain(&metadata.description));
    let places = dataset.table().and_then(|table| table.profile.places.as_ref());
    let examples = places.into_iter().flat_map(|places| places.examples.iter());
    metadata.chain(examples).map(String::as_str).chain([dataset.id().as_str()]).flat_map(name_words).collect()
}

fn period(years: RequestedYears, dataset: &Dataset, weights: &FitWeights) -> Option<Match> {
    let (from, to) = years.bounds();
    let time = dataset.table().and_then(|table| table.profile.time.as_ref());
    let covered = time.map(|time| (time.years(), &time.column));
    let Some(((Some(first), Some(last)), column)) = covered else {
        return Some(Match { met: false, grade: weights.unknown, evidence: message!("it does not tell its period") });
    };
    // An open end asks for whatever there is on that side.
    let (start, end) = (from.unwrap_or(first.min(to.unwrap_or(last))), to.unwrap_or(last.max(from.unwrap_or(first))));
    let asked = (end - start + 1).max(1) as f64;
    let shared = (end.min(last) - start.max(first) + 1).max(0) as f64;
    let grade = (shared / asked).min(1.0);
    Some(Match { met: grade >= weights.met, grade, evidence: message!("`{}` covers {} to {}", column, first, last) })
}

fn required_columns(required: &[String], dataset: &Dataset, weights: &FitWeights) -> Match {
    let columns: Vec<(NameParts, &str)> =
        dataset.columns().iter().map(|column| (NameParts::of(&column.name), column.name.as_str())).collect();
    let best = |name: &String| {
        let name = NameParts::of(name);
        let likeness = columns.iter().map(|(parts, column)| (name.likeness(parts), *column));
        likeness.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, ""))
    };
    let found: Vec<(f64, &str)> = required.iter().map(best).collect();
    let grade = found.iter().map(|(likeness, _)| likeness).sum::<f64>() / required.len() as f64;
    let is_there = |(likeness, _): &&(f64, &str)| *likeness >= weights.same_name;
    let there: Vec<&str> = found.iter().filter(is_there).map(|(_, name)| *name).collect();
    let evidence = match there[..] {
        [] => message!("none of {}", required.join(", ")),
        _ => message!("has {}", there.join(", ")),
    };
    Match { met: 2 * there.len() >= required.len(), grade, evidence }
}

/// Whether the table is one that is not wanted: its name and title say all words of it; nothing where no demand speaks of it.
fn unwanted(demands: &[Demand], dataset: &Dataset) -> Option<Match> {
    let about: BTreeSet<String> =
        name_words(dataset.id().as_str()).into_iter().chain(name_words(&dataset.title())).collect();
    let hit = demands.iter().filter(|demand| demand.avoid).find(|demand| {
        let words: Vec<String> = name_words(&demand.said).into_iter().filter(|word| !is_function_word(word)).collect();
        let is_word = words.iter().any(|word| word.len() > 2 && word.parse::<i32>().is_err());
        is_word && words.iter().all(|word| about.contains(word))
    })?;
    Some(Match { met: false, grade: 0.0, evidence: message!("you do not want {}", &hit.said) })
}

/// Columns to group by: few values that repeat, or times.
pub fn is_group(column: &ColumnProfile) -> bool {
    let kind = matches!(
        column.semantic,
        Some(
            SemanticType::Category
                | SemanticType::Country
                | SemanticType::CountryCode
                | SemanticType::UsState
                | SemanticType::Year
                | SemanticType::Time
        )
    );
    let repeats = column.distinct > 1 && column.uniqueness < 0.5;
    kind || column.logical == LogicalType::Boolean || (repeats && column.logical == LogicalType::Text)
}

/// Columns to compute figures of: numbers that are no years, codes, places or identifiers.
pub fn is_measure(column: &ColumnProfile) -> bool {
    let no_figure = matches!(
        column.semantic,
        Some(
            SemanticType::Year
                | SemanticType::Identifier
                | SemanticType::Code
                | SemanticType::Latitude
                | SemanticType::Longitude
        )
    );
    column.logical.is_numeric() && !no_figure && column.weakness != Some(Weakness::Counter)
}
