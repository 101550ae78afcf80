//! The searchable fields of a table, and their boosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

/// Number of searchable fields.
pub(super) const FIELD_COUNT: usize = 6;
/// Tokeniser names in the tantivy schema.
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

    /// Whether the parts of camelCase words are terms of this field. A cell `McDonald` is not about Donald, but a column `popByState` is
    /// about states.
    pub(super) fn has_parts(self) -> bool {
        matches!(self, LexicalField::Id | LexicalField::Headers)
    }

    /// Whether word positions are stored: in text that people wrote about a table, neighbouring words mean more. For cells they are not:
    /// whole cells are found by the inverted lists of values.
    pub(super) fn has_positions(self) -> bool {
        !matches!(self, LexicalField::Id | LexicalField::Values)
    }

    fn recorded(self) -> IndexRecordOption {
        if self.has_positions() { IndexRecordOption::WithFreqsAndPositions } else { IndexRecordOption::WithFreqs }
    }

    /// Whether the parts of a query's camelCase words are searched in this field.
    pub(super) fn takes_parts(self) -> bool {
        self != LexicalField::Values
    }
}

/// The boosts of the fields: a word in a field of boost 2 counts as two words. 0 excludes the field.
///
/// By default id 2, title 3, headers 2, others 1. Measured (nDCG@10, not tuned for any single set; `measure.rs` prints the table):
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
/// Ids of these sets are numbers; the boost of ids, similar to that of headers, is a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Boosts([f32; FIELD_COUNT]);

impl Default for Boosts {
    fn default() -> Self {
        Boosts([2.0, 3.0, 2.0, 1.0, 1.0, 1.0])
    }
}

impl Boosts {
    /// Only these fields, each with boost 1.
    pub fn only(fields: &[LexicalField]) -> Self {
        fields.iter().fold(Boosts([0.0; FIELD_COUNT]), |boosts, field| boosts.with(*field, 1.0))
    }

    /// The same with boost `boost` for `field`; a negative or non-finite boost is treated as 0.
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
#[derive(Clone)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
