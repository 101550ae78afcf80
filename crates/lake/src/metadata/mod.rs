//! Metadata that publishers provide with their tables.
//!
//! Sidecar files of five standards (Frictionless data packages, Croissant and schema.org JSON-LD, CKAN `package_show`, DCAT
//! `data.json`, CSVW) and files of catalogue records ([`Records`]) become one plain type, [`TableMetadata`], looked up by
//! the path or the id of the table it describes. A document's metadata of the whole dataset and of one file in it is merged;
//! the file's takes precedence.
//!
//! Documents are not trusted: any value may have any type, so every value is read leniently (`value`), cut to a maximum length
//! and stripped of control and direction characters (`clean`). Paths in a document are only compared with, never opened; for
//! one that leads out of the lake only the file name counts, for tables in or below the sidecar's folder. A document that
//! cannot be read is reported as a problem and never stops the rest.

mod catalogue_records;
mod ckan;
mod clean;
mod csvw;
mod dcat;
mod dcmi;
mod dump;
mod frictionless;
mod index;
mod mapping;
mod mappings;
mod own_form;
mod parts;
mod path;
mod read_records;
mod readme;
mod record_facets;
mod rights;
mod schema_org;
mod spool;
mod standards;
mod taxonomy;
mod value;
pub(crate) mod xml;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lakeward_core::answer::in_order;
use lakeward_core::text::years::{STATED, years};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use catalogue_records::{CatalogueRecord, RecordFlaw, Records};
pub use dump::{describes_files, record_files, unread_catalogues};
pub use index::MetadataIndex;
pub use parts::{RecordFile, RelatedWork, Unused, UnusedReason};
pub(crate) use readme::is_readme;
pub use record_facets::{Facet, RecordFacets};

/// The standard that a sidecar follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standard {
    /// Frictionless Data Package, `datapackage.json`.
    Frictionless,
    /// Croissant: schema.org with record sets.
    Croissant,
    /// schema.org `Dataset` in JSON-LD.
    SchemaOrg,
    /// CKAN's answer to `package_show`.
    Ckan,
    /// DCAT: Project Open Data `data.json`, DCAT-AP in JSON-LD.
    Dcat,
    /// CSV on the Web.
    Csvw,
    /// DataCite, as JSON or XML.
    #[serde(rename = "datacite")]
    DataCite,
    /// Dublin Core of OAI-PMH (`oai_dc`).
    OaiDc,
    /// Dataverse: its search or the export of a dataset.
    Dataverse,
    /// ISO 19115 in XML, as INSPIRE's catalogues have it.
    #[serde(rename = "iso-19115")]
    Iso19115,
    /// Science Data Bank (scidb.cn).
    ScienceDb,
    /// A line of a file of catalogue records.
    Record,
    /// A README file.
    Readme,
}

/// What a publisher says about one column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[schemars(transform = in_order::<Self>)]
pub struct ColumnMetadata {
    /// Title for people, where it differs from the column's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the column holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Unit of measure as written: `kg`, `EUR`, a QUDT URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// What a publisher says about one table. Texts hold no control or direction characters; the description is
/// at most 16 KB, other texts at most 1 KB, tags at most 64, columns at most 4,096.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(default)]
#[schemars(transform = in_order::<Self>)]
pub struct TableMetadata {
    /// Title; where the dataset has several files, the dataset's and the file's joined by ` — `.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the file, then of the dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Keywords and themes, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Who publishes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// Licence name or URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// What to cite: a DOI as `https://doi.org/…`, a CSTR, a handle, else the publisher's own identifier or URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// Further identifiers, each once: a record may have a DOI and a CSTR. Any of them resolves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identifiers: Vec<String>,
    /// Version, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Landing page, else the address of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// When it was first published, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
    /// When it was last changed, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// How the data was collected or made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Papers and datasets that the record refers to; at most 256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedWork>,
    /// The files of the data according to the record; at most 256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RecordFile>,
    /// The size of the data, as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// Places covered, each one name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spatial: Vec<String>,
    /// Time covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporal: Option<TimeCovered>,
    /// The values of a record's other fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<Facet>,
    /// First year covered, where a field gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_year: Option<i32>,
    /// Last year covered, where a field gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_year: Option<i32>,
    /// Metadata of columns, by the column's name in the file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, ColumnMetadata>,
    /// The standard that the sidecar follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
    /// The sidecar, as a path in the lake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What of the record could not be used; at most 32.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<Unused>,
}

/// The time covered according to the publisher, as written: a start and an end, either of which may be open, or words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TimeCovered {
    /// The start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The text as written, where it is not a start and an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

impl TimeCovered {
    /// From `start` to `end`; `None` where both are open. An empty text, two dots (ISO 8601-2) or *now* (ISO 19108) mean an open side.
    pub fn between(start: Option<String>, end: Option<String>) -> Option<Self> {
        let is_open = |side: &str| matches!(side.trim(), "" | "..") || side.trim().eq_ignore_ascii_case("now");
        let stated = |side: Option<String>| side.filter(|side| !is_open(side));
        let (start, end) = (stated(start), stated(end));
        (start.is_some() || end.is_some()).then_some(Self { start, end, words: None })
    }

    /// Parses a publisher's text, which may be an ISO 8601 interval or a DCMI period; `None` where it is empty.
    pub fn of(text: &str) -> Option<Self> {
        let text = clean::line(text);
        if let Some(parts) = dcmi::parts(&text) {
            let side = |name: &str| parts.get(name).map(|side| side.to_string());
            return Self::between(side("start"), side("end"));
        }
        match text.split_once('/') {
            Some((from, to)) if !to.contains('/') => Self::between(Some(from.trim().into()), Some(to.trim().into())),
            _ => (!text.is_empty()).then(|| Self { words: Some(text), ..Self::default() }),
        }
    }

    /// First and last year; none on a side that is open.
    pub fn years(&self) -> (Option<i32>, Option<i32>) {
        let first = |side: &Option<String>| side.as_deref().and_then(|side| years(side, STATED).next());
        let in_words = |text: &String| (years(text, STATED).min(), years(text, STATED).max());
        self.words.as_ref().map_or_else(|| (first(&self.start), first(&self.end)), in_words)
    }
}

impl TableMetadata {
    /// These values, and those of `other` for the fields that are empty here.
    pub fn or(mut self, other: &TableMetadata) -> Self {
        let fill = |own: &mut Option<String>, other: &Option<String>| {
            if own.is_none() {
                own.clone_from(other);
            }
        };
        fill(&mut self.title, &other.title);
        fill(&mut self.description, &other.description);
        fill(&mut self.publisher, &other.publisher);
        fill(&mut self.licence, &other.licence);
        fill(&mut self.identifier, &other.identifier);
        fill(&mut self.source_url, &other.source_url);
        fill(&mut self.issued, &other.issued);
        fill(&mut self.modified, &other.modified);
        self.take_coverage(other);
        if self.tags.is_empty() {
            self.tags.clone_from(&other.tags);
        }
        if self.columns.is_empty() {
            self.columns.clone_from(&other.columns);
        }
        self.take_facets(other);
        self
    }

    /// These values; of a README of the whole lake, which has columns of all its tables, with those of one table.
    pub fn of_columns(mut self, is_own: impl Fn(&str) -> bool) -> Self {
        let is_of_lake = self.file.as_ref().is_some_and(|file| !file.contains('/'));
        if self.standard == Some(Standard::Readme) && is_of_lake {
            self.columns.retain(|name, _| is_own(name));
        }
        self
    }

    /// Takes places and time from `other` where they are empty here.
    fn take_coverage(&mut self, other: &TableMetadata) {
        if self.spatial.is_empty() {
            self.spatial.clone_from(&other.spatial);
        }
        if self.temporal.is_none() {
            self.temporal.clone_from(&other.temporal);
        }
    }

    /// Completes this file's metadata from that of its `dataset`, which has `tables` table files. The metadata of a large
    /// collection does not distinguish its tables, so its texts are used only for fields that are empty here.
    fn complete_from(&mut self, dataset: &TableMetadata, tables: usize) {
        const LARGE_COLLECTION: usize = 8;
        let shared = |own_is_empty: bool| tables <= LARGE_COLLECTION || own_is_empty;
        if shared(self.title.is_none()) {
            self.title = join_titles(self.title.take(), dataset.title.as_deref(), tables <= 1);
        }
        if shared(self.description.is_none()) {
            self.description = join_descriptions(self.description.take(), dataset.description.as_deref());
        }
        if shared(self.tags.is_empty()) {
            for tag in &dataset.tags {
                if self.tags.len() < clean::MOST_TAGS && !self.tags.contains(tag) {
                    self.tags.push(tag.clone());
                }
            }
        }
        let fill = |own: &mut Option<String>, other: &Option<String>| {
            if own.is_none() {
                own.clone_from(other);
            }
        };
        fill(&mut self.publisher, &dataset.publisher);
        fill(&mut self.licence, &dataset.licence);
        fill(&mut self.issued, &dataset.issued);
        fill(&mut self.modified, &dataset.modified);
        self.take_coverage(dataset);
        // People cite and visit the dataset, so the file's own address is the second choice.
        self.identifier = dataset.identifier.clone().or(self.identifier.take());
        self.source_url = dataset.source_url.clone().or(self.source_url.take());
        for (name, column) in &dataset.columns {
            if self.columns.len() < clean::MOST_COLUMNS {
                self.columns.entry(name.clone()).or_insert_with(|| column.clone());
            }
        }
        self.standard = self.standard.or(dataset.standard);
        fill(&mut self.file, &dataset.file);
        self.take_facets(dataset);
    }

    /// Takes facets and years from `other` where they are empty here.
    fn take_facets(&mut self, other: &TableMetadata) {
        if self.facets.is_empty() {
            self.facets.clone_from(&other.facets);
        }
        self.first_year = self.first_year.or(other.first_year);
        self.last_year = self.last_year.or(other.last_year);
    }
}

fn join_titles(own: Option<String>, dataset: Option<&str>, is_only_file: bool) -> Option<String> {
    let Some(dataset) = dataset else { return own };
    match own {
        Some(own) if !is_only_file && !is_placeholder(&own) && !dataset.contains(&own) => {
            if own.contains(dataset) {
                Some(own)
            } else {
                Some(clean::line(&format!("{dataset} — {own}")))
            }
        }
        _ => Some(dataset.to_string()),
    }
}

/// Whether `title` is only a format or a word such as `data`, as portals fill in by default.
fn is_placeholder(title: &str) -> bool {
    let title = title.trim().trim_start_matches('.').to_lowercase();
    let placeholders = [
        "csv",
        "tsv",
        "json",
        "jsonl",
        "ndjson",
        "parquet",
        "arrow",
        "xls",
        "xlsx",
        "data",
        "download",
        "file",
        "resource",
        "dataset",
        "csv file",
        "download csv",
        "comma separated values file",
    ];
    placeholders.contains(&title.as_str())
}

fn join_descriptions(own: Option<String>, dataset: Option<&str>) -> Option<String> {
    match (own, dataset) {
        (Some(own), Some(dataset)) if dataset.contains(&own) => Some(dataset.to_string()),
        (Some(own), Some(dataset)) if !own.contains(dataset) => Some(clean::paragraphs(&format!("{own}\n{dataset}"))),
        (Some(own), _) => Some(own),
        (None, dataset) => dataset.map(str::to_string),
    }
}

/// One dataset of a sidecar: the metadata of the whole, and of each file.
#[derive(Debug, Default)]
struct Dataset {
    /// Its id in its catalogue.
    id: Option<String>,
    whole: TableMetadata,
    files: Vec<DescribedFile>,
    /// Formats of its files as written.
    formats: Vec<String>,
}

/// A sidecar's metadata of one file of a dataset.
#[derive(Debug, Default)]
struct DescribedFile {
    /// Paths, URLs or names under which the lake may hold the file, likeliest first.
    locations: Vec<String>,
    metadata: TableMetadata,
}
