//! Answers of text search: a table with the evidence for it, and the sentence that says why it serves.

use hashbrown::HashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SearchFeatures;
use super::candidates::SearchCandidate;
use super::text_vectors::TextVectors;
use super::wordings::Worded;
use crate::cite::{Gate, NamesTables};
use crate::named_values::NamedValue;
use crate::query_table::sample_words;
use crate::weights::CalibrationWeights;
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message};
use lakeward_core::text::{name_words, shown};
use lakeward_index::LakeIndex;
use lakeward_index::lexical::{FieldMatch, LexicalField, TypedWord};

/// Words of a request that a reason lists as missing from a table.
const MISSING: usize = 4;
/// Characters of a note that a reason shows.
const NOTE_CHARS: usize = 160;
/// Cells named that an answer shows.
const SHOWN_VALUES: usize = 5;
/// Words of a request of which a reason says where it found them, the rarest.
const REASON_WORDS: usize = 5;

/// A table that answers a text, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct SearchAnswer {
    /// The table's id.
    #[schemars(extend("x-sql" = "id"))]
    pub table: String,
    /// Its title.
    pub title: String,
    /// Weighted mean of `features`, 0..=1: greater is better.
    pub score: f64,
    /// How likely it serves the request, 0..=1: of the answers with .9 nine of ten do. None where no model reads whole texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// Rank by words, from 1, where the words found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_rank: Option<u32>,
    /// Rank by meaning, from 1, where the vectors found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense_rank: Option<u32>,
    /// BM25 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_score: Option<f64>,
    /// Cosine of the request's and the table's vector.
    pub cosine: f64,
    /// What it was scored by.
    #[serde(default)]
    #[schemars(extend("x-sql" = false))]
    pub features: SearchFeatures,
    /// Which field matched which words of the request.
    pub matched: Vec<FieldMatch>,
    /// Cells that the request names, longest first; not those of digits alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_values: Vec<NamedValue>,
    /// Whether it is a record of a catalogue: its data is not in the lake, rows and columns are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Rows; those read, where it is `sampled`; none for a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Whether only the table's first rows were read: words of the other rows are not found.
    pub sampled: bool,
    /// Tables further down that are copies or editions of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-sql" = false))]
    pub also: Vec<String>,
    /// Column names.
    pub columns: Vec<String>,
    /// What it is cited by: the publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub citation: String,
    /// The answer in a sentence.
    pub reason: Message,
}

impl SearchAnswer {
    /// Whether it may be what is asked for: it is likely enough, or says the words of the request. What a table says that nobody
    /// described counts twice: its cells are all there is to know.
    pub fn may_serve(&self, weights: &CalibrationWeights) -> bool {
        self.relevance.is_none_or(|relevance| relevance >= weights.least)
            || self.features.coverage + self.features.coverage_of_bare >= weights.said
    }
}

impl Listed for SearchAnswer {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Titled(|a| &a.table, |a| a.record.then_some(a.title.as_str()))),
        column("score", ListCell::Figure(3, |a| a.score)),
        column("rows", ListCell::Count(|a| a.rows)),
        column("why", ListCell::Message(REASON_CHARS, |a| &a.reason)),
    ];
}

impl NamesTables for SearchAnswer {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        gate.has(&self.table)
    }
}

impl Worded for SearchAnswer {
    type Key = String;

    fn key(&self) -> String {
        self.table.clone()
    }

    fn rank(&self) -> (bool, f64) {
        (self.matched.iter().any(|matched| matched.exact), self.score)
    }

    fn reason(&mut self) -> &mut Message {
        &mut self.reason
    }
}

/// Adds to the reason of each answer which words of the request it says nowhere, rarest first.
pub(super) fn tell_what_is_missing(index: &LakeIndex, text: &str, answers: &mut [SearchAnswer]) -> Result<()> {
    let lexical = index.lexical_query(text)?;
    let mut typed = lexical.typed_words();
    typed.retain(|word| word.rarity > 0.0);
    typed.sort_by(|a, b| b.rarity.total_cmp(&a.rarity));
    for answer in answers {
        let says = |word: &TypedWord<'_>| {
            let mut words = answer.matched.iter().flat_map(|matched| &matched.words);
            words.any(|said| said.eq_ignore_ascii_case(word.text))
        };
        let missing: Vec<&str> = typed.iter().filter(|word| !says(word)).map(|word| word.text).take(MISSING).collect();
        if !missing.is_empty() {
            let reason = std::mem::take(&mut answer.reason);
            answer.reason = message!("nothing of {}", missing.join(", ")).and_then(reason);
        }
    }
    Ok(())
}

/// The answer that a candidate with this score is, with its reason.
pub(super) fn answer(
    index: &LakeIndex,
    query: &TextVectors,
    score: f64,
    candidate: SearchCandidate,
) -> Result<SearchAnswer> {
    let SearchCandidate { table, exact, features, lexical_rank, dense_rank, lexical, named, noted, .. } = candidate;
    let dataset = index.dataset(table)?;
    let first = index.segment(table.segment)?.tables.columns(table.table)?.start;
    let mut named_values = Vec::new();
    // That a column of numbers holds a number is no news.
    let textual = named.into_iter().filter(|(value, _)| value.contains(char::is_alphabetic));
    for (value, column) in textual.take(SHOWN_VALUES) {
        let place = column.column.wrapping_sub(first) as usize;
        let column = dataset.columns().get(place).map(|column| column.name.clone());
        named_values.extend(column.map(|column| NamedValue { value, column }));
    }
    let mut answer = SearchAnswer {
        table: dataset.id().to_string(),
        citation: dataset.citation().to_string(),
        title: dataset.title(),
        score,
        relevance: None,
        lexical_rank,
        dense_rank,
        lexical_score: (lexical.score > 0.0).then_some(f64::from(lexical.score)),
        cosine: if features.about > 0.0 { features.about } else { features.meaning },
        features,
        named_values,
        matched: lexical.matched,
        record: dataset.is_record(),
        rows: dataset.table().map(|table| table.profile.rows),
        sampled: dataset.table().is_some_and(|table| table.report.sample.is_some()),
        also: Vec::new(),
        columns: dataset.columns().iter().map(|column| column.name.clone()).collect(),
        reason: Message::default(),
    };
    answer.reason = reason(&answer, exact, query);
    if let Some(note) = index.notes().of(&answer.table).filter(|_| noted) {
        answer.reason = message!("your note: {}", shown(&note.text(), NOTE_CHARS)).and_then(answer.reason);
    }
    answer.reason = answer.reason.and_then(dataset.table().map(|table| sample_words(None, table)).unwrap_or_default());
    Ok(answer)
}

/// Fields by how much a word in them tells, with how a reason says it.
const TELLING: [(LexicalField, &str); 6] = [
    (LexicalField::Title, "its title says {}"),
    (LexicalField::Headers, "its columns say {}"),
    (LexicalField::Id, "its path says {}"),
    (LexicalField::Description, "its description says {}"),
    (LexicalField::Tags, "its keywords say {}"),
    (LexicalField::Values, "its cells say {}"),
];

/// Why the table serves, in one sentence: the most telling first, each word of the request once and where it tells most.
fn reason(answer: &SearchAnswer, exact: bool, query: &TextVectors) -> Message {
    let rarity = |word: &str| query.rarity.get(word).copied().unwrap_or(0.0);
    let key = |word: &str| name_words(word).join(" ");
    let mut seen: HashSet<String> = HashSet::new();
    let mut parts: Vec<(f32, Message)> = Vec::new();
    if exact {
        parts.push((f32::INFINITY, message!("this is its name")));
    }
    for NamedValue { value, column } in answer.named_values.iter().take(2).filter(|_| !exact) {
        if seen.insert(key(value)) {
            let words: Vec<&str> = value.split_whitespace().collect();
            seen.extend(words.iter().map(|word| key(word)));
            parts.push((words.into_iter().map(rarity).sum(), message!("`{}` has `{}`", column, value)));
        }
    }
    let mut words: Vec<(f32, &'static str, &str)> = Vec::new();
    for (field, says) in TELLING.iter().filter(|_| !exact) {
        let said = answer.matched.iter().filter(|matched| matched.field == *field).flat_map(|matched| &matched.words);
        words.extend(said.filter(|word| seen.insert(key(word))).map(|word| (rarity(word), *says, word.as_str())));
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0));
    words.truncate(REASON_WORDS);
    for (_, says) in TELLING {
        let said: Vec<&(f32, &'static str, &str)> = words.iter().filter(|word| word.1 == says).collect();
        if !said.is_empty() {
            let named = said.iter().map(|word| word.2).collect::<Vec<_>>().join(", ");
            parts.push((said.iter().map(|word| word.0).sum(), Message::of(says, vec![named.into()])));
        }
    }
    let nearer = answer.dense_rank.is_some_and(|rank| answer.lexical_rank.is_none_or(|lexical| rank < lexical));
    if parts.is_empty() || nearer && !exact {
        parts.push((f32::MAX, message!("it is close in meaning ({})", format!("{:.2}", answer.cosine))));
    }
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    if answer.record {
        parts.push((0.0, message!("it is a record, its data is not in the lake")));
    }
    Message::list(CLAUSES, parts.into_iter().map(|(_, part)| part))
}
