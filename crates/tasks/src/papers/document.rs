//! A document as everything after reading sees it: title, sections of plain paragraphs, references apart.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sentences::sentences;

/// SHA-256 as 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a finished hash.
    pub fn of(hash: Sha256) -> Self {
        let mut digits = String::with_capacity(64);
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        Self(digits)
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is one: files of another hand may say anything.
    pub fn is_possible(&self) -> bool {
        self.0.len() == 64 && self.0.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
}

/// What a section is about, by its heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// The abstract or summary.
    Abstract,
    /// The introduction.
    Introduction,
    /// Related work, preliminaries.
    Background,
    /// Methods, models, approaches.
    Method,
    /// Datasets, corpora, materials.
    Data,
    /// Experiments and how they were set up.
    Experiments,
    /// Results and their analysis.
    Results,
    /// Discussion, conclusion, outlook.
    Conclusion,
    /// Thanks.
    Acknowledgements,
    /// Appendices and supplements.
    Appendix,
    /// Anything else, and text before the first heading.
    Other,
}

/// A section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// What it is about.
    pub kind: SectionKind,
    /// Its heading without its number; empty before the first heading.
    pub heading: String,
    /// Its paragraphs, a line each.
    pub text: String,
}

impl Section {
    /// Its sentences in order.
    pub fn sentences(&self) -> Vec<&str> {
        sentences(&self.text)
    }
}

/// Where a document came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentSource {
    /// The file.
    pub path: String,
    /// Its line, from 1, where a line is a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Its id in the store: what the file says, else the file's name.
    pub id: String,
    /// Its title; its first words where it has none.
    pub title: String,
    /// Its sections in order, the abstract first where there is one.
    pub sections: Vec<Section>,
    /// The list of references, an entry a line as far as they could be told apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub references: String,
    /// The year that the file says it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    /// Its DOI, as the file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// Its address, as the file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where it came from.
    pub source: DocumentSource,
    /// SHA-256 over title, headings, texts and references: the same for the same content, wherever it came from.
    pub fingerprint: Fingerprint,
}

impl Document {
    /// The text of the abstract; empty where there is none.
    pub fn abstract_text(&self) -> &str {
        let found = self.sections.iter().find(|section| section.kind == SectionKind::Abstract);
        found.map_or("", |section| section.text.as_str())
    }

    /// Bytes of all its text, references included.
    pub fn text_bytes(&self) -> usize {
        let sections: usize = self.sections.iter().map(|section| section.heading.len() + section.text.len()).sum();
        self.title.len() + sections + self.references.len()
    }

    /// The fingerprint of what it holds now.
    pub fn content_fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        // Ends of parts are told apart from characters of the text, which has none below a space but line ends.
        let mut part = |mark: u8, text: &str| {
            hash.update([mark]);
            hash.update(text.as_bytes());
        };
        part(1, &self.title);
        for section in &self.sections {
            part(2, &section.heading);
            part(3, &section.text);
        }
        part(4, &self.references);
        Fingerprint::of(hash)
    }
}
