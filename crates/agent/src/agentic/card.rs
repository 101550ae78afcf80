//! What a model is told of a candidate: what its publisher says of it, and what was matched; values only where it may see them, never rows.

use serde_json::{Value, json};

use crate::recommend::Evidence;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::semantic::LogicalType;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::quote::clean;
use lakeward_search::{Candidate, JoinAnswer, SearchAnswer, UnionAnswer};

/// Characters of a title, a column name, a match and a value.
const TITLE: usize = 70;
const NAME: usize = 24;
const MATCH: usize = 90;
const VALUE: usize = 24;
/// Characters of a tag, and tags.
const TAG: usize = 30;
const TAGS: usize = 4;
/// Aligned pairs that a match names.
const PAIRS: usize = 4;

/// How much of each candidate is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    columns: usize,
    matched: usize,
    values: usize,
    /// Characters of the description.
    description: usize,
}

/// From most to least; a card has 30 to 130 tokens.
const SIZES: [Size; 5] = [
    Size { columns: 10, matched: 3, values: 4, description: 240 },
    Size { columns: 8, matched: 2, values: 3, description: 140 },
    Size { columns: 6, matched: 2, values: 2, description: 80 },
    Size { columns: 5, matched: 1, values: 0, description: 50 },
    Size { columns: 3, matched: 1, values: 0, description: 0 },
];

/// A candidate with its evidence, as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    title: String,
    description: String,
    tags: Vec<String>,
    rows: Option<u64>,
    columns: Vec<String>,
    matched: Vec<String>,
    values: Vec<String>,
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

impl<'a> From<&'a Evidence> for Found<'a> {
    fn from(evidence: &'a Evidence) -> Self {
        let Evidence { search, join, union, .. } = evidence;
        Self { search: search.as_ref(), join: join.as_ref(), union: union.as_ref() }
    }
}

impl Found<'_> {
    /// What the searches matched, in names of columns, figures and words of the request: no value of a cell is in it.
    pub fn without_values(&self) -> Vec<String> {
        let mut matched = Vec::new();
        if let Some(join) = self.join {
            let (own, other) = (clean(&join.query_column, NAME), clean(&join.column, NAME));
            let (containment, adds) = (join.containment, join.adds.len());
            matched.push(format!("{own} = {other}, containment {containment:.2}, adds {adds} columns"));
        }
        if let Some(union) = self.union {
            let pairs: Vec<String> = union
                .alignment
                .iter()
                .take(PAIRS)
                .map(|pair| format!("{}={}", clean(&pair.query_column, NAME), clean(&pair.column, NAME)))
                .collect();
            let (aligned, all) = (union.alignment.len(), union.alignment.len() + union.unmatched.len());
            let copy = if union.near_copy { ", a copy" } else { "" };
            let what = format!("alignment {:.2}, {aligned} of {all} columns{copy}: {}", union.score, pairs.join(", "));
            matched.push(clean(&what, MATCH));
        }
        for of_field in self.search.iter().flat_map(|search| &search.matched) {
            let what = format!("{}: {}", of_field.field.name(), of_field.words.join(" "));
            matched.push(clean(&what, MATCH));
        }
        matched
    }
}

impl Card {
    /// The card of a table or record that searches found; with values only if they may be shared.
    pub fn of(dataset: &Dataset, found: Found<'_>, share: Share) -> Self {
        let Found { search, join, .. } = found;
        let metadata = dataset.metadata();
        let description = metadata.and_then(|metadata| metadata.description.as_deref()).unwrap_or_default();
        let tags = metadata.map_or(&[][..], |metadata| metadata.tags.as_slice()).iter().take(TAGS);
        let mut card = Self {
            title: clean(&dataset.title(), TITLE),
            description: clean(description, SIZES[0].description),
            tags: tags.map(|tag| clean(tag, TAG)).collect(),
            rows: dataset.table().map(|table| table.profile.rows),
            columns: Vec::new(),
            matched: found.without_values(),
            values: Vec::new(),
        };
        if let Some(join) = join {
            card.values.extend(join.matches.iter().map(|matched| clean(&matched.query, VALUE)));
            card.columns.extend(join.adds.iter().map(|name| clean(name, NAME)));
        }
        if let Some(search) = search {
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
        if share == Share::Schema {
            card.values.clear();
        }
        card
    }

    fn json(&self, id: &str, size: Size) -> Value {
        let first = |texts: &[String], most: usize| texts.iter().take(most).cloned().collect::<Vec<String>>();
        let mut card = json!({
            "id": id,
            "title": self.title,
            "matched": first(&self.matched, size.matched),
        });
        let mut add = |name: &str, values: Vec<String>| {
            if !values.is_empty() {
                card[name] = json!(values);
            }
        };
        add("columns", first(&self.columns, size.columns));
        add("values", first(&self.values, size.values));
        add("tags", first(&self.tags, if size.description > 0 { TAGS } else { 0 }));
        if !self.description.is_empty() && size.description > 0 {
            card["description"] = json!(clean(&self.description, size.description));
        }
        if let Some(rows) = self.rows {
            card["rows"] = json!(rows);
        }
        card
    }
}

/// `cards` with their `ids` as JSON of at most about `bytes` bytes: as much of each as fits for all.
pub fn to_json(cards: &[(&str, &Card)], bytes: usize) -> Value {
    let written = |size| Value::Array(cards.iter().map(|(id, card)| card.json(id, size)).collect());
    let fits = SIZES.into_iter().map(written).find(|json| json.to_string().len() <= bytes);
    fits.unwrap_or_else(|| written(SIZES[SIZES.len() - 1]))
}
