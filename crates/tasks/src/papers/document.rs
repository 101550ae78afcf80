//! A document after reading: title, sections of plain paragraphs, and separate references.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sentences::sentences;
use lakeward_core::text::hex;

/// SHA-256 as 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a finished hash.
    pub fn of(hash: Sha256) -> Self {
        Self(hex(&hash.finalize()))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is well-formed; files may be hand-edited.
    pub fn is_possible(&self) -> bool {
        self.0.len() == 64 && self.0.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
}

/// The kind of a section, by its heading.
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
    /// Experiments and their setup.
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
    /// Its kind.
    pub kind: SectionKind,
    /// Its heading without its number; empty before the first heading.
    pub heading: String,
    /// Its paragraphs, one per line.
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
    /// The line in it, from 1, if each line is a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Its id in the store: the one given in the file, otherwise the file's name.
    pub id: String,
    /// Its title; its first words if it has none.
    pub title: String,
    /// Its sections in order, the abstract first if there is one.
    pub sections: Vec<Section>,
    /// The list of references, one entry per line where they could be separated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub references: String,
    /// Its year, as given in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    /// Its DOI, as given in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// Its URL, as given in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where it came from.
    pub source: DocumentSource,
    /// SHA-256 over title, headings, texts and references: the same for the same content, whatever its source.
    pub fingerprint: Fingerprint,
}

impl Document {
    /// The text of the abstract; empty if there is none.
    pub fn abstract_text(&self) -> &str {
        let found = self.sections.iter().find(|section| section.kind == SectionKind::Abstract);
        found.map_or("", |section| section.text.as_str())
    }

    /// Size of all its text in bytes, including references.
    pub fn text_bytes(&self) -> usize {
        let sections: usize = self.sections.iter().map(|section| section.heading.len() + section.text.len()).sum();
        self.title.len() + sections + self.references.len()
    }

    /// The fingerprint of its current content.
    pub fn content_fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        // The marks cannot occur in the text, which has no control characters except line ends.
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
