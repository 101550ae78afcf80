//! The fields of a table that words are searched in, and how much each counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

/// How many searchable fields there are.
pub(super) const FIELD_COUNT: usize = 6;
/// Tokeniser names, as written into the tantivy schema.
pub(super) const WORDS: &str = "lakeward-words";
pub(super) const NAMES: &str = "lakeward-names";
pub(super) const RAW: &str = "raw";

/// A part of a table's description or content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LexicalField {
    /// The table's id: folders and file name.
    Id,
    /// The publisher's title.
    Title,
    /// Column names.
    Headers,
    /// The publisher's description of the table and its columns.
    Description,
    /// Keywords and themes.
    Tags,
    /// Distinct cell values.
    Values,
}

impl LexicalField {
    /// Every field, in the order of [`Boosts`].
    pub const ALL: [LexicalField; FIELD_COUNT] = [
        LexicalField::Id,
        LexicalField::Title,
        LexicalField::Headers,
        LexicalField::Description,
        LexicalField::Tags,
        LexicalField::Values,
    ];

    /// The field's name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            LexicalField::Id => "id",
            LexicalField::Title => "title",
            LexicalField::Headers => "headers",
            LexicalField::Description => "description",
            LexicalField::Tags => "tags",
            LexicalField::Values => "values",
        }
    }

    /// Whether the pieces of camelCase words are terms of this field. A cell saying `McDonald` says nothing of Donald,
    /// a column called `popByState` speaks of states.
    pub(super) fn has_parts(self) -> bool {
        matches!(self, LexicalField::Id | LexicalField::Headers)
    }

    /// Whether the order of the field's words is kept: where people write about a table, words that stand together mean more.
    /// Of cells it is not: those found whole are known from the inverted lists of values.
    pub(super) fn has_positions(self) -> bool {
        !matches!(self, LexicalField::Id | LexicalField::Values)
    }

    fn recorded(self) -> IndexRecordOption {
        if self.has_positions() { IndexRecordOption::WithFreqsAndPositions } else { IndexRecordOption::WithFreqs }
    }

    /// Whether a part of a query's camelCase word is looked for in this field.
    pub(super) fn takes_parts(self) -> bool {
        self != LexicalField::Values
    }
}

/// How often a word in each field counts: a word in a field of boost 2 counts as two words. 0 leaves the field out.
///
/// By default id 2, title 3, headers 2, others 1. Measured (nDCG@10, no set tuned for alone; `measure.rs` prints the table):
///
/// | | OTT-QA titles | cells | FeTaQA titles | cells | ACORDAR 1 keyword | 2 keyword | 2 question |
/// |---|---|---|---|---|---|---|---|
/// | one field of all text | .766 | .346 | .927 | .539 | .537 | .510 | .355 |
/// | sum of BM25 of the fields | .740 | .315 | .910 | .505 | .515 | .481 | .355 |
/// | best field + 0.3 of the others | .711 | .280 | .885 | .508 | .535 | .499 | .364 |
/// | BM25F, all 1 | .743 | .327 | .933 | .538 | .533 | .504 | .355 |
/// | BM25F, title 2 | .806 | .327 | .946 | .538 | .543 | .510 | .364 |
/// | BM25F, title 3, headers 2 | .837 | .360 | .951 | .540 | .549 | .515 | .368 |
///
/// Ids of these sets are numbers; that a path says about as much as headers is judgement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Boosts([f32; FIELD_COUNT]);

impl Default for Boosts {
    fn default() -> Self {
        Boosts([2.0, 3.0, 2.0, 1.0, 1.0, 1.0])
    }
}

impl Boosts {
    /// Only these fields, each counting once.
    pub fn only(fields: &[LexicalField]) -> Self {
        fields.iter().fold(Boosts([0.0; FIELD_COUNT]), |boosts, field| boosts.with(*field, 1.0))
    }

    /// The same with `field` counting `boost` times; a negative or non-finite boost is taken as 0.
    pub fn with(mut self, field: LexicalField, boost: f32) -> Self {
        self.0[field as usize] = if boost.is_finite() { boost.max(0.0) } else { 0.0 };
        self
    }

    /// The boost of `field`.
    pub fn of(&self, field: LexicalField) -> f32 {
        self.0[field as usize]
    }
}

/// The tantivy fields of a segment.
pub(super) struct Fields {
    pub schema: Schema,
    pub key: Field,
    pub text: [Field; FIELD_COUNT],
}

impl Fields {
    pub fn new() -> Self {
        let mut schema = Schema::builder();
        let keys = TextFieldIndexing::default()
            .set_tokenizer(RAW)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let key = schema.add_text_field("key", TextOptions::default().set_indexing_options(keys));
        let text = LexicalField::ALL.map(|field| {
            let words = TextFieldIndexing::default()
                .set_tokenizer(if field.has_parts() { NAMES } else { WORDS })
                .set_fieldnorms(true)
                .set_index_option(field.recorded());
            schema.add_text_field(field.name(), TextOptions::default().set_indexing_options(words))
        });
        Fields { schema: schema.build(), key, text }
    }
}

/// What an exact match is with; the letter that begins its term in the key field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyKind {
    Title,
    Name,
    Id,
}

impl KeyKind {
    pub const ALL: [KeyKind; 3] = [KeyKind::Title, KeyKind::Name, KeyKind::Id];

    /// The term that `key` has in the key field.
    pub fn term(self, key: &str) -> String {
        let letter = match self {
            KeyKind::Title => 't',
            KeyKind::Name => 'n',
            KeyKind::Id => 'i',
        };
        format!("{letter}{key}")
    }
}
