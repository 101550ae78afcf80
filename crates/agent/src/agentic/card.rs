//! What a model is told of a candidate: what was matched, never a bare preview of rows.

use serde_json::{Value, json};

use lakeward_lake::dataset::Dataset;
use lakeward_lake::semantic::LogicalType;
use lakeward_models::llm::quote::clean;
use lakeward_search::{Candidate, JoinAnswer, SearchAnswer, UnionAnswer};

/// Characters of a title, a column name, a match and a value.
const TITLE: usize = 70;
const NAME: usize = 24;
const MATCH: usize = 90;
const VALUE: usize = 24;
/// Aligned pairs that a match names.
const PAIRS: usize = 4;

/// How much of each candidate is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    columns: usize,
    matched: usize,
    values: usize,
}

/// From most to least; a card has about 100, 70 and 45 tokens.
const SIZES: [Size; 4] = [
    Size { columns: 10, matched: 3, values: 4 },
    Size { columns: 7, matched: 2, values: 3 },
    Size { columns: 5, matched: 2, values: 0 },
    Size { columns: 3, matched: 1, values: 0 },
];

/// A candidate with its evidence, as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    title: String,
    rows: Option<u64>,
    columns: Vec<String>,
    matched: Vec<String>,
    values: Vec<String>,
    found_by: Vec<&'static str>,
}

/// What the searches found out about a table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found<'a> {
    /// By words and meaning.
    pub search: Option<&'a SearchAnswer>,
    /// By shared key values.
    pub join: Option<&'a JoinAnswer>,
    /// By alignable columns.
    pub union: Option<&'a UnionAnswer>,
}

impl<'a> From<&'a Candidate> for Found<'a> {
    fn from(candidate: &'a Candidate) -> Self {
        let Candidate { search, join, union, .. } = candidate;
        Self { search: search.as_ref(), join: join.as_ref(), union: union.as_ref() }
    }
}

impl Card {
    /// The card of a table or record that searches found.
    pub fn of(dataset: &Dataset, found: Found<'_>) -> Self {
        let Found { search, join, union } = found;
        let mut card = Self {
            title: clean(&dataset.title(), TITLE),
            rows: dataset.table().map(|table| table.profile.rows),
            columns: Vec::new(),
            matched: Vec::new(),
            values: Vec::new(),
            found_by: Vec::new(),
        };
        if let Some(join) = join {
            card.found_by.push("key values");
            let (own, other) = (clean(&join.query_column, NAME), clean(&join.column, NAME));
            let what =
                format!("{own} = {other}, containment {:.2}, adds {} columns", join.containment, join.adds.len());
            card.matched.push(what);
            card.values.extend(join.matches.iter().map(|matched| clean(&matched.query, VALUE)));
            card.columns.extend(join.adds.iter().map(|name| clean(name, NAME)));
        }
        if let Some(union) = union {
            card.found_by.push("aligned columns");
            let pairs: Vec<String> = union
                .alignment
                .iter()
                .take(PAIRS)
                .map(|pair| format!("{}={}", clean(&pair.query_column, NAME), clean(&pair.column, NAME)))
                .collect();
            let (aligned, all) = (union.alignment.len(), union.alignment.len() + union.unmatched.len());
            let copy = if union.near_copy { ", a copy" } else { "" };
            let what = format!("alignment {:.2}, {aligned} of {all} columns{copy}: {}", union.score, pairs.join(", "));
            card.matched.push(clean(&what, MATCH));
        }
        if let Some(search) = search {
            card.found_by.push(if search.lexical_rank.is_some() { "words" } else { "meaning" });
            for matched in &search.matched {
                let what = format!("{}: {}", matched.field.name(), matched.words.join(" "));
                card.matched.push(clean(&what, MATCH));
            }
            card.values.extend(search.named_values.iter().map(|named| clean(&named.value, VALUE)));
        }
        for column in dataset.columns() {
            let name = clean(&column.name, NAME);
            if !card.columns.contains(&name) {
                card.columns.push(name);
            }
            let says = matches!(column.logical, LogicalType::Text) && card.values.len() < SIZES[0].values;
            card.values.extend(column.top.first().filter(|_| says).map(|(value, _)| clean(value, VALUE)));
        }
        card
    }

    fn json(&self, id: &str, size: Size) -> Value {
        let first = |texts: &[String], most: usize| texts.iter().take(most).cloned().collect::<Vec<String>>();
        let mut card = json!({
            "id": id,
            "title": self.title,
            "columns": first(&self.columns, size.columns),
            "matched": first(&self.matched, size.matched),
            "found_by": self.found_by.join(", "),
        });
        if let Some(rows) = self.rows {
            card["rows"] = json!(rows);
        }
        if size.values > 0 && !self.values.is_empty() {
            card["values"] = json!(first(&self.values, size.values));
        }
        card
    }
}

/// `cards` with their `ids` as JSON of at most about `bytes` bytes: as much of each as fits for all.
pub fn told(cards: &[(String, &Card)], bytes: usize) -> Value {
    let written = |size| Value::Array(cards.iter().map(|(id, card)| card.json(id, size)).collect());
    let fits = SIZES.into_iter().map(written).find(|told| told.to_string().len() <= bytes);
    fits.unwrap_or_else(|| written(SIZES[SIZES.len() - 1]))
}
