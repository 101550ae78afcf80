//! The answer about a table that can be joined: figures, matching values, and a sentence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::key_column::KeyColumn;
use super::variants::VariantMatch;
use crate::cite::{Gate, NamesTables};
use crate::query_table::{QueryColumn, QueryTable, sample_words};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_core::message;
use lakeward_core::message::{Message, PARTS};
use lakeward_index::LakeIndex;
use lakeward_index::overlap;
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::semantic::Weakness;
use lakeward_sketch::{Difference, Normaliser};

/// Matching values shown of each kind.
const SHOWN_MATCHES: usize = 3;
/// Least share of nearly equal values that is mentioned.
const LEAST_MENTIONED: f64 = 0.005;

/// How the values of two columns were found to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// Most shared values are equal as written.
    AsWritten,
    /// Most shared values are equal only after normalisation.
    Normalised,
    /// Most values that the columns have in common are only nearly equal: cut short, misspelt. A join on equal values matches
    /// none of these.
    Approximate,
    /// The columns mean the same kind of thing; their values are not equal.
    Semantic,
}

/// A pair of equal values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct ValueMatch {
    /// As the query writes it.
    #[schemars(extend("x-sql" = "query_value"))]
    pub query: String,
    /// As the candidate writes it, if it is among the values stored as examples.
    #[schemars(extend("x-sql" = "table_value"))]
    pub candidate: Option<String>,
    /// The difference that normalisation removed; none where both are written the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Two columns that a join compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnPair {
    /// The query's column.
    pub query_column: String,
    /// The candidate's column.
    #[schemars(extend("x-sql" = "table_column"))]
    pub column: String,
    /// Share of the query's values, or combinations, whose value in this column is in the candidate's column, 0..=1.
    pub containment: f64,
    /// Likeness of the two names, 0..=1.
    pub name_likeness: f64,
}

/// A table that can be joined, on one column or on several together, with the evidence. With several columns, all that refers to
/// values refers to combinations: the distinct rows of the query's columns without a missing part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct JoinAnswer {
    /// The table's id.
    #[schemars(extend("x-sql" = "id"))]
    pub table: String,
    /// Its title.
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// The query's column; the names of several are joined by ` + `.
    pub query_column: String,
    /// The candidate's column, or columns in the same order.
    #[schemars(extend("x-sql" = "table_column"))]
    pub column: String,
    /// The pairs of columns, one for each of the query's.
    #[schemars(extend("x-sql" = "pairs"))]
    pub on: Vec<ColumnPair>,
    /// How the values match.
    pub kind: MatchKind,
    /// Share of the query's distinct values found in the candidate, after normalisation.
    pub containment: f64,
    /// The same, counting only values equal as written.
    pub containment_as_written: f64,
    /// Share of the candidate's distinct values found in the query.
    #[schemars(extend("x-sql" = "containment_of_table"))]
    pub containment_of_candidate: f64,
    /// Shared values divided by all values of both.
    pub jaccard: f64,
    /// Whether the figures above are exact, not estimates from a sample of the values or of the rows.
    pub exact: bool,
    /// Whether only the first rows of the candidate, or of the query, were read: all figures are of those.
    pub sampled: bool,
    /// Distinct values in common (among those compared).
    pub shared_values: u64,
    /// Distinct values per cell of the candidate's column, 0..=1; 1 for a key.
    pub uniqueness: f64,
    /// Rows of the candidate that match one matching row of the query, on average.
    pub fan_out: f64,
    /// Likeness of the two column names, 0..=1.
    pub name_likeness: f64,
    /// Cosine of the two columns' vectors.
    pub semantic_likeness: f64,
    /// Weight of the shared values by their rarity, as a share of the query's total weight, 0..=1.
    pub rarity: f64,
    /// Share of the query's distinct values that are not found but have a variant in the candidate: cut short, as initials,
    /// misspelt, run together. They are not equal: no other figure counts them, and a join on equal values matches none. An
    /// estimate where the candidate has more values than the index stores as samples.
    #[serde(default)]
    pub variants: f64,
    /// Whether a database declares one of the columns to be a foreign key of the other; the score is then 1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared: bool,
    /// Up to three matching values.
    pub matches: Vec<ValueMatch>,
    /// Differences that normalisation removed.
    #[schemars(extend("x-sql" = false))]
    pub normalised: Vec<Difference>,
    /// Up to three values that have a variant.
    #[serde(default)]
    pub variant_matches: Vec<VariantMatch>,
    /// Why the values may match by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weakness: Option<Weakness>,
    /// Columns that the join would add.
    pub adds: Vec<String>,
    /// Rows of the candidate.
    pub rows: u64,
    /// Its citation: the publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub citation: String,
    /// The answer in a sentence.
    pub reason: Message,
}

impl Listed for JoinAnswer {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Id(|a| &a.table)),
        column("score", ListCell::Figure(3, |a| a.score)),
        column("rows", ListCell::Count(|a| Some(a.rows))),
        column("why", ListCell::Message(REASON_CHARS, |a| &a.reason)),
    ];
}

impl NamesTables for JoinAnswer {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        gate.has(&self.table)
    }
}

impl JoinAnswer {
    /// A join of `query` with the table of `entry` on the columns `on`, before any value is compared.
    pub(crate) fn uncounted(query: &QueryTable, entry: &TableEntry, on: Vec<ColumnPair>) -> Self {
        let names = |of: fn(&ColumnPair) -> &str| on.iter().map(of).collect::<Vec<_>>().join(" + ");
        let is_key = |name: &String| on.iter().any(|pair| pair.column == *name);
        let columns = entry.profile.columns.iter().map(|column| column.name.clone());
        Self {
            table: entry.id.to_string(),
            title: entry.title(),
            score: 0.0,
            query_column: names(|pair| &pair.query_column),
            column: names(|pair| &pair.column),
            kind: MatchKind::Semantic,
            containment: 0.0,
            containment_as_written: 0.0,
            containment_of_candidate: 0.0,
            jaccard: 0.0,
            exact: false,
            sampled: query.entry.report.sample.is_some() || entry.report.sample.is_some(),
            shared_values: 0,
            uniqueness: 0.0,
            fan_out: 0.0,
            name_likeness: 0.0,
            semantic_likeness: 0.0,
            rarity: 0.0,
            variants: 0.0,
            declared: false,
            matches: Vec::new(),
            normalised: Vec::new(),
            variant_matches: Vec::new(),
            weakness: None,
            adds: columns.filter(|name| !is_key(name)).collect(),
            rows: entry.profile.rows,
            citation: entry.citation.clone(),
            reason: Message::default(),
            on,
        }
    }
}

/// The answer for `candidate`, which was found by the key column `key` and has `score`.
pub(super) fn answer(
    index: &LakeIndex,
    query: &QueryTable,
    candidate: &Candidate,
    score: f64,
    key: &KeyColumn<'_>,
) -> Result<JoinAnswer> {
    let table = candidate.table;
    let segment = index.segment(table.segment)?;
    let record = segment.columns.record(candidate.column.column)?;
    let column = key.column;
    let entry = index.table(table)?;
    let overlap = candidate.evidence.overlap;
    let shared = overlap.map_or(0, |overlap| overlap.shared);
    let written = if shared > 0 { overlap::shared_as_written(&column.values, &segment.columns, record)? } else { 0 };
    let samples = segment.columns.samples(record)?;
    let matches =
        if shared > 0 { value_matches(column, &samples, &segment.columns.hashes(record)?) } else { Vec::new() };
    let mut normalised: Vec<Difference> = matches.iter().filter_map(|matched| matched.difference).collect();
    normalised.sort_unstable();
    normalised.dedup();
    let variants = candidate.evidence.variants.share;
    let variant_matches =
        if variants > 0.0 { key.variants.compare(index, candidate.column, SHOWN_MATCHES)?.1 } else { Vec::new() };
    let kind = match (shared, written) {
        _ if variants > overlap.map_or(0.0, |overlap| overlap.containment()) => MatchKind::Approximate,
        (0, _) => MatchKind::Semantic,
        (shared, written) if written * 2 >= shared => MatchKind::AsWritten,
        _ => MatchKind::Normalised,
    };
    let query_values = overlap.map_or(column.sketch.distinct, |overlap| overlap.query_values);
    let containment = overlap.map_or(0.0, |overlap| overlap.containment());
    let sampled = query.entry.report.sample.is_some() || record.is_sampled();
    let on = ColumnPair {
        query_column: column.profile.name.clone(),
        column: segment.columns.name(record)?.to_string(),
        containment,
        name_likeness: candidate.evidence.names,
    };
    let mut answer = JoinAnswer {
        score: score.clamp(0.0, 1.0),
        kind,
        containment,
        containment_as_written: if query_values == 0 { 0.0 } else { written as f64 / query_values as f64 },
        containment_of_candidate: overlap.map_or(0.0, |overlap| overlap.containment_of_candidate()),
        jaccard: overlap.map_or(0.0, |overlap| overlap.jaccard()),
        exact: overlap.is_none_or(|overlap| overlap.exact) && !sampled,
        sampled,
        shared_values: shared,
        uniqueness: record.uniqueness(),
        fan_out: f64::from(record.multiplicity),
        name_likeness: candidate.evidence.names,
        semantic_likeness: candidate.evidence.cosine,
        rarity: overlap.map_or(0.0, |overlap| overlap.rarity),
        variants,
        declared: candidate.declared,
        variant_matches,
        matches: matches.into_iter().take(SHOWN_MATCHES).collect(),
        normalised,
        weakness: column.profile.weakness.or(record.weakness()),
        ..JoinAnswer::uncounted(query, &entry, vec![on])
    };
    answer.reason = reason(&answer, query_values).and_then(sample_words(Some(query), &entry));
    Ok(answer)
}

/// Values that both columns contain, first those whose two written forms are known and differ.
fn value_matches(column: &QueryColumn, samples: &[(u64, &str)], candidate_hashes: &[u64]) -> Vec<ValueMatch> {
    let mut normaliser = Normaliser::new(column.profile.writing.clone());
    let mut matches: Vec<ValueMatch> = column
        .sketch
        .samples
        .iter()
        .filter(|(hash, _)| candidate_hashes.binary_search(hash).is_ok())
        .map(|(hash, value)| {
            let candidate = samples.binary_search_by_key(hash, |sample| sample.0).ok().map(|place| samples[place].1);
            ValueMatch {
                query: value.clone(),
                candidate: candidate.map(str::to_string),
                difference: candidate.and_then(|candidate| Difference::between(value, candidate, &mut normaliser)),
            }
        })
        .collect();
    matches.sort_by_key(|matched| (matched.candidate.is_none(), matched.difference.is_none()));
    matches
}

/// The answer in a sentence; `query_values` is the number of the query's values or combinations.
pub(crate) fn reason(answer: &JoinAnswer, query_values: u64) -> Message {
    let matches = what_matches(answer, query_values);
    if answer.declared { message!("declared as a foreign key").and_then(matches) } else { matches }
}

fn what_matches(answer: &JoinAnswer, query_values: u64) -> Message {
    let about = if answer.exact { "" } else { "about " };
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    let variants = format!("about {:.0}%", answer.variants * 100.0);
    if answer.kind == MatchKind::Semantic {
        let likeness = format!("{:.2}", answer.semantic_likeness);
        let (own, other) = (&answer.query_column, &answer.column);
        return message!(
            "`{}` and `{}` hold the same kind of thing (likeness {}), but no equal values",
            own,
            other,
            likeness
        );
    }
    if answer.kind == MatchKind::Approximate {
        let equal = match answer.shared_values {
            0 => message!("none is equal"),
            _ => message!("{} are equal", format!("{about}{}", percent(answer.containment))),
        };
        let (own, other) = (&answer.query_column, &answer.column);
        let alike = message!("{} of {} values `{}` are nearly alike in `{}`", variants, query_values, own, other);
        let only = message!("{}, and a join on equal values matches only those", equal);
        return such_as(answer, alike).and_then(only);
    }
    let several = answer.on.len() > 1;
    let columns = |of: fn(&ColumnPair) -> &str| {
        answer.on.iter().map(|pair| format!("`{}`", of(pair))).collect::<Vec<_>>().join(" + ")
    };
    let (own, other) = (columns(|pair| &pair.query_column), columns(|pair| &pair.column));
    let share = format!("{about}{}", percent(answer.containment));
    let mut found = vec![match several {
        true => message!("{} of {} {} combinations are in {}", share, query_values, own, other),
        false => message!("{} of {} {} values are in {}", share, query_values, own, other),
    }];
    if answer.containment_as_written + 0.005 < answer.containment {
        let how: Vec<String> = answer.normalised.iter().map(Difference::to_string).collect();
        let written = percent(answer.containment_as_written);
        found.push(match how.is_empty() {
            true => message!("{} as written, the rest after normalisation", written),
            false => message!("{} as written, the rest after normalisation ({})", written, how.join(", ")),
        });
    }
    if answer.variants >= LEAST_MENTIONED {
        found.push(such_as(answer, message!("another {} only nearly", variants)));
    }
    let found = Message::list(PARTS, found);
    // For one column uniqueness and fan-out are the same fact; matching combinations may differ from the rest.
    let found = found.and_then(match answer.uniqueness > 0.995 && (!several || answer.fan_out < 1.05) {
        true => message!("one row per key"),
        false => message!("{} rows per key", format!("{:.1}", answer.fan_out)),
    });
    match answer.weakness {
        Some(weakness) => found.and_then(message!("may be an accident: {}", weakness.message())),
        None => found,
    }
}

/// Behind what is said of nearly equal values one pair of them.
fn such_as(answer: &JoinAnswer, said: Message) -> Message {
    match answer.variant_matches.first() {
        Some(pair) => {
            let variation = pair.variation.to_string();
            message!("{}, such as `{}` and `{}` ({})", said, &pair.query, &pair.candidate, variation)
        }
        None => said,
    }
}
