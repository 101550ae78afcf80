//! Citations in all forms.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::cite::{Citation, Meaning, Resolution, bibtex, csl_json, plain};

/// What `cite --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CiteDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// The citations, in the requested order; several for an identifier of several tables.
    pub citations: Vec<Cited>,
    /// Identifiers for which nothing was found.
    pub unknown: Vec<Resolution>,
}

/// A citation in all formats.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cited {
    /// The requested identifier.
    pub asked: String,
    /// The citation's fields.
    #[serde(flatten)]
    pub citation: Citation,
    /// What has changed since the requested identifier was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// As one line of text.
    pub text: String,
    /// As a BibTeX entry.
    pub bibtex: String,
    /// As a CSL-JSON item.
    pub csl_json: Value,
}

impl CiteDocument {
    /// The citations of what `ids` name.
    ///
    /// # Errors
    /// Those of [`Lakeward::resolve`].
    pub fn of(lakeward: &Lakeward, ids: &[String]) -> Result<Self> {
        let mut document = Self { lakeward: env!("CARGO_PKG_VERSION"), citations: Vec::new(), unknown: Vec::new() };
        for id in ids {
            let resolution = lakeward.resolve(id)?;
            if resolution.meaning == Meaning::Unknown {
                document.unknown.push(resolution);
            } else {
                document.citations.extend(cited(lakeward, &resolution)?);
            }
        }
        Ok(document)
    }
}

/// The citations of the tables that an identifier resolves to: those with the cited content, else the current ones.
fn cited(lakeward: &Lakeward, resolution: &Resolution) -> Result<Vec<Cited>> {
    let has_cited_version = resolution.tables.iter().any(|table| table.is_cited_version);
    let note = (resolution.meaning != Meaning::Present).then(|| resolution.explanation.clone());
    let mut citations = Vec::new();
    for table in resolution.tables.iter().filter(|table| table.is_cited_version || !has_cited_version) {
        let index = lakeward.index();
        let dataset = index.dataset(index.find(&table.table)?)?;
        let citation = Citation::of(&dataset, &index.manifest().lake);
        let (text, bibtex, csl_json) = (plain(&citation), bibtex(&citation), csl_json(&citation));
        let note = note.clone();
        citations.push(Cited { asked: resolution.asked.clone(), citation, note, text, bibtex, csl_json });
    }
    Ok(citations)
}
