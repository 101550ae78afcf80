//! Which fields of a record a question asks for: a linear classifier over its words and the vector of the built-in sentence model, trained on
//! the questions of `labels/fields.jsonl` ([`training`]) and shipped in the binary ([`classifier`]).
//!
//! It knows English only, and one question at a time.

pub mod classifier;
pub mod training;

use std::sync::OnceLock;

use lakeward_models::embed::{EmbedderExt, SentenceModel};
use serde::{Deserialize, Serialize};

use crate::logistic::{likeliest, softmax};
use classifier::FieldModel;

/// Defines the fields, each with its name in answers, so that every field is written once.
macro_rules! fields {
    ($($field:ident $heading:literal,)*) => {
        /// What a question about a record can ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(missing_docs)]
        pub enum Field { $($field,)* }

        impl Field {
            /// All of them, in the order of the classifier's classes.
            pub const ALL: &'static [Self] = &[$(Self::$field,)*];

            /// Its name in answers.
            pub fn heading(self) -> &'static str {
                match self { $(Self::$field => $heading,)* }
            }
        }
    };
}

fields! {
    Publisher "publisher",
    Creators "authors",
    Licence "licence",
    Format "format",
    Period "period",
    Places "places",
    Published "publication",
    Updated "last change",
    Version "version",
    Size "size",
    Files "files",
    Description "description",
    Method "method",
    Related "related works",
    Citation "citation",
    Link "link",
    Title "title",
    Subjects "subjects",
    Language "language",
    Columns "columns",
    Funding "funding",
    Contact "contact",
    Access "access",
    Unused "what could not be used",
}

/// What a question may ask for: a field, all of the record, or nothing that a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum RequestedPart {
    /// One field.
    Field(Field),
    /// None in particular.
    Other(Other),
}

/// See [`RequestedPart`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Other {
    /// All that the record says.
    All,
    /// It is not answered by a field, or it is no question about a record.
    None,
}

/// Classes of the classifier: the fields, all, none.
pub const CLASSES: usize = Field::ALL.len() + 2;

impl RequestedPart {
    /// Its place among the classes.
    pub fn class(self) -> usize {
        match self {
            Self::Field(field) => field as usize,
            Self::Other(other) => Field::ALL.len() + other as usize,
        }
    }
}

/// How likely a question asks for each class; the last is [`Other::None`].
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihoods([f64; CLASSES]);

impl Likelihoods {
    fn of(logits: &[f32; CLASSES], temperature: f32) -> Self {
        let mut likelihoods = [0.0; CLASSES];
        likelihoods.copy_from_slice(&softmax(logits, temperature));
        Self(likelihoods)
    }

    /// How likely it asks for what a record says.
    pub fn of_any(&self) -> f64 {
        1.0 - self.0[RequestedPart::Other(Other::None).class()]
    }

    /// How likely each class is if it asks for what a record says; without the class that asks for nothing.
    fn if_any(&self) -> Vec<f64> {
        let sum = self.of_any().max(f64::MIN_POSITIVE);
        let none = RequestedPart::Other(Other::None).class();
        self.0[..none].iter().map(|likelihood| likelihood / sum).collect()
    }

    /// The fields at least as likely as `least`, likeliest first, if it asks for what a record says; none where it rather asks for all.
    pub fn fields(&self, least: f64) -> Vec<Field> {
        let likelihoods = self.if_any();
        let mut likely: Vec<(Field, f64)> = Field::ALL.iter().copied().zip(likelihoods.iter().copied()).collect();
        likely.retain(|(_, likelihood)| *likelihood >= least && likeliest(&likelihoods) < Field::ALL.len());
        likely.sort_by(|a, b| b.1.total_cmp(&a.1));
        likely.into_iter().map(|(field, _)| field).collect()
    }
}

/// What `question` asks for. Any text is accepted.
pub fn likelihoods(question: &str) -> Likelihoods {
    static MODEL: OnceLock<FieldModel> = OnceLock::new();
    let model = MODEL.get_or_init(|| match FieldModel::parse(classifier::BUILTIN) {
        Ok(model) => model,
        // The tests open it.
        Err(error) => panic!("built-in model of fields: {error}"),
    });
    model.likelihoods(question, &SentenceModel::builtin().embed(question))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_questions_ask_for_their_fields() {
        for (question, field) in [
            ("who compiled these figures?", Field::Publisher),
            ("may we reprint it in a textbook?", Field::Licence),
            ("up to which year do the numbers go?", Field::Period),
            ("how were the people chosen for the survey?", Field::Method),
            ("how should I reference it in my thesis?", Field::Citation),
            ("how many rows are in it?", Field::Size),
        ] {
            let likelihoods = likelihoods(question);
            assert_eq!(likelihoods.fields(0.25).first(), Some(&field), "{question}: {likelihoods:?}");
            assert!(likelihoods.of_any() > 0.5, "{question}");
        }
        assert!(likelihoods("where can I find data on coal mines in Poland?").of_any() < 0.5);
    }
}
