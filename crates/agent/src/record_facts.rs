//! Questions about a record, answered from its fields: nothing is inferred, and what the record does not say is said to be so.

use std::sync::OnceLock;

use super::Agent;
use super::scored::link_of;
use crate::recommend::RecordFact;
use lakeward_core::error::Result;
use lakeward_core::text::lower_words;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::identifier::{Identifier, trimmed};
use lakeward_lake::metadata::{RecordFile, RelatedWork, TableMetadata};
use lakeward_models::embed::{EmbedderExt, SentenceModel};

/// Files, related works and values that are told one by one.
const MOST_TOLD: usize = 8;
/// Words of a turn that are looked up as identifiers.
const MOST_LOOKED_UP: usize = 64;

/// What a question about a dataset can be about, with what people mean by it.
const FIELDS: [(Field, &str); 15] = [
    (Field::Publisher, "who made it, who collected it, who publishes it, the source, authors, institution"),
    (Field::Licence, "licence, am I allowed to use, share or sell it, terms of use"),
    (Field::Format, "file format, which format it comes in, which type of file, csv or excel"),
    (Field::Period, "which years it covers, how far back it goes, when it starts and ends, time coverage"),
    (Field::Places, "which places, countries or regions it covers, where it was measured, spatial coverage"),
    (Field::Published, "when was it published, when did it come out, date of release"),
    (Field::Updated, "when it was last updated, whether it is still kept up, how often new figures come"),
    (Field::Version, "which version or edition is it"),
    (Field::Size, "how big it is, how many rows and columns, how large is the download, megabytes"),
    (Field::Files, "list of its files, file names, how many files it has"),
    (Field::Description, "what it contains, what it is about, what a word or column means"),
    (Field::Method, "how it was measured or collected, method, instruments, sampling, how the data were made"),
    (Field::Related, "papers about it, an article that describes the dataset, related literature"),
    (Field::Citation, "how to cite it, reference, identifier, doi"),
    (Field::Link, "where can I download it, link, web page, address"),
];

/// The respects in which datasets are compared, where no single one is asked for.
const COMPARED: [Field; 10] = [
    Field::Publisher,
    Field::Period,
    Field::Places,
    Field::Published,
    Field::Updated,
    Field::Version,
    Field::Licence,
    Field::Size,
    Field::Format,
    Field::Method,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Publisher,
    Licence,
    Format,
    Period,
    Places,
    Published,
    Updated,
    Version,
    Size,
    Files,
    Description,
    Method,
    Related,
    Citation,
    Link,
}

/// A value with the field that it is from.
type Told = Option<(String, &'static str)>;

impl Field {
    /// The field that a question means: the one whose description is nearest in meaning, and how near, as a cosine.
    pub(super) fn of(question: &str) -> (Self, f32) {
        static MEANT: OnceLock<Vec<Vec<f32>>> = OnceLock::new();
        let model = SentenceModel::builtin();
        let meant = MEANT.get_or_init(|| FIELDS.iter().map(|(_, words)| model.embed(words)).collect());
        let asked = model.embed(question);
        let likeness = |meant: &Vec<f32>| meant.iter().zip(&asked).map(|(a, b)| a * b).sum::<f32>();
        let best = meant.iter().map(likeness).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or((Field::Description, 0.0), |(place, likeness)| (FIELDS[place].0, likeness))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Licence => "licence",
            Self::Format => "format",
            Self::Period => "period",
            Self::Places => "places",
            Self::Published => "publication",
            Self::Updated => "last change",
            Self::Version => "version",
            Self::Size => "size",
            Self::Files => "files",
            Self::Description => "description",
            Self::Method => "method",
            Self::Related => "related works",
            Self::Citation => "citation",
            Self::Link => "link",
        }
    }

    /// What is known of it.
    fn told(self, dataset: &Dataset) -> Told {
        let nothing = TableMetadata::default();
        let metadata = dataset.metadata().unwrap_or(&nothing);
        let text = |text: &Option<String>, field| {
            text.clone().filter(|text| !text.trim().is_empty()).map(|text| (text, field))
        };
        let fields = metadata.fields(dataset.path()).0;
        let facets = |names: &[&'static str]| {
            let first = names.iter().find(|name| fields.iter().any(|(field, _)| field == *name))?;
            let said: Vec<&str> = fields.iter().filter(|(field, _)| field == first).map(|(_, value)| *value).collect();
            Some((listed(&said), *first))
        };
        match self {
            Self::Publisher => {
                let publisher = text(&metadata.publisher, "publisher");
                let institution = facets(&["institution", "creator", "author"]);
                match (publisher, institution) {
                    (Some((publisher, field)), Some((others, of))) if publisher != others => {
                        Some((format!("{publisher}; {of}: {others}"), field))
                    }
                    (publisher, institution) => {
                        publisher.or(institution).or_else(|| facets(&["survey", "surveys", "source"]))
                    }
                }
            }
            Self::Licence => text(&metadata.licence, "licence"),
            Self::Format => {
                facets(&["format"]).or_else(|| Some((dataset.path()?.rsplit_once('.')?.1.to_uppercase(), "path")))
            }
            Self::Period => {
                let told = Some(metadata.years()).filter(|(first, last)| first.is_some() || last.is_some());
                let covered = dataset.table().and_then(|table| table.profile.time.as_ref()).map(|time| time.years());
                let (first, last) = told.or(covered)?;
                let year = |year: Option<i32>| year.map_or_else(|| "?".to_string(), |year| year.to_string());
                let field = if metadata.temporal.is_some() { "temporal" } else { "years" };
                Some((format!("{} to {}", year(first), year(last)), field))
            }
            Self::Places => Some(&metadata.spatial)
                .filter(|places| !places.is_empty())
                .map(|places| (listed(places), "spatial"))
                .or_else(|| facets(&["geography", "geographic", "place", "places", "region", "country"])),
            Self::Published => text(&metadata.issued, "issued"),
            Self::Updated => {
                let changed = text(&metadata.modified, "modified").or_else(|| text(&metadata.issued, "issued"));
                match (changed, facets(&["frequency", "status"])) {
                    (Some((changed, field)), Some((rhythm, _))) => Some((format!("{changed} ({rhythm})"), field)),
                    (changed, rhythm) => changed.or(rhythm),
                }
            }
            Self::Version => text(&metadata.version, "version"),
            Self::Size => size_of(dataset, metadata),
            Self::Files => Some(&metadata.files).filter(|files| !files.is_empty()).map(|files| {
                let named: Vec<String> = files.iter().map(file_told).collect();
                (format!("{}: {}", lakeward_core::text::counted(files.len() as u64, "file"), listed(&named)), "files")
            }),
            Self::Description => text(&metadata.description, "description"),
            Self::Method => text(&metadata.method, "method"),
            Self::Related => Some(&metadata.related).filter(|related| !related.is_empty()).map(|related| {
                let named: Vec<String> = related.iter().map(work_told).collect();
                (listed(&named), "related")
            }),
            Self::Citation => {
                let others: String = metadata.identifiers.iter().map(|other| format!(", {other}")).collect();
                Some((format!("{}{others}", dataset.citation()), "identifier"))
            }
            Self::Link => text(&metadata.source_url, "source_url").or_else(|| text(&metadata.identifier, "identifier")),
        }
    }
}

fn size_of(dataset: &Dataset, metadata: &TableMetadata) -> Told {
    if let Some(table) = dataset.table() {
        return Some((format!("{} rows, {} columns", table.profile.rows, table.profile.columns.len()), "profile"));
    }
    let sizes: Vec<u64> = metadata.files.iter().filter_map(|file| file.size_bytes).collect();
    match (metadata.sizes.is_empty(), sizes.is_empty()) {
        (false, _) => Some((listed(&metadata.sizes), "sizes")),
        (true, false) => {
            let sum = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size));
            let of = format!("{} of {} files", sizes.len(), metadata.files.len());
            Some((format!("{sum} bytes in {of}"), "files"))
        }
        (true, true) => None,
    }
}

fn file_told(file: &RecordFile) -> String {
    let size = file.size_bytes.map(|bytes| format!("{bytes} bytes"));
    let more: Vec<&str> = [&file.format, &size].into_iter().flatten().map(String::as_str).collect();
    let name = file.name.as_deref().or(file.url.as_deref()).unwrap_or("a file without name");
    if more.is_empty() { name.to_string() } else { format!("{name} ({})", more.join(", ")) }
}

fn work_told(work: &RelatedWork) -> String {
    let parts = [&work.relation, &work.title, &work.identifier];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The first of `values`, and how many more there are.
fn listed<T: AsRef<str>>(values: &[T]) -> String {
    let named: Vec<&str> = values.iter().take(MOST_TOLD).map(AsRef::as_ref).collect();
    let more = values.len().saturating_sub(MOST_TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join("; "))
}

/// Whether a turn is a question, by its first word or its sign.
pub(super) fn is_question(text: &str) -> bool {
    const ASKING: [&str; 16] = [
        "who", "what", "which", "when", "where", "how", "is", "are", "does", "do", "did", "was", "were", "can", "am",
        "has",
    ];
    let first = lower_words(text).next().unwrap_or_default();
    text.trim_end().ends_with('?') || ASKING.contains(&first.as_str())
}

/// Whether a question asks for a field of what was shown: it points there, and means a field nearly as people do who ask for it. Of the
/// questions that were tried, those for other data come up to .51.
pub(super) fn asks_for_a_field(text: &str) -> bool {
    const NEAR: f32 = 0.55;
    const POINTING: [&str; 8] = ["it", "its", "them", "their", "this", "first", "second", "third"];
    let points = lower_words(text).any(|word| POINTING.contains(&word.as_str()));
    points && is_question(text) && Field::of(text).1 >= NEAR
}

impl Agent<'_> {
    /// What the datasets `about` say in the respect that a question asks for; where they are compared, in all that datasets are compared by.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub(super) fn facts(&self, question: &str, about: &[String], compares: bool) -> Result<Vec<RecordFact>> {
        // An address in the question would make it one about addresses.
        let is_word = |word: &&str| Identifier::parse(trimmed(word)).is_none();
        let words: Vec<&str> = question.split_whitespace().filter(is_word).collect();
        let asked = Field::of(&words.join(" ")).0;
        let mut fields = vec![asked];
        if compares {
            fields.extend(COMPARED.into_iter().filter(|field| *field != asked));
            // A comparison is in no respect the description, unless one is asked for.
            fields.retain(|field| *field != Field::Description);
        }
        let mut facts = Vec::new();
        for id in about {
            let Some(table) = self.index.get(id)? else { continue };
            let dataset = self.index.dataset(table)?;
            for field in &fields {
                let told = field.told(&dataset);
                let (value, source) =
                    told.map_or((None, None), |(value, source)| (Some(value), Some(source.to_string())));
                facts.push(RecordFact {
                    record: id.clone(),
                    title: dataset.title(),
                    citation: dataset.citation().to_string(),
                    link: link_of(&dataset),
                    about: field.name().into(),
                    field: source,
                    value,
                });
            }
        }
        Ok(facts)
    }

    /// The records that a text names by identifier, address or id, in the order of the text.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub(super) fn records_mentioned(&self, text: &str) -> Result<Vec<String>> {
        let mut found: Vec<String> = Vec::new();
        let words = text.split_whitespace().map(trimmed).filter(|word| word.contains(|c: char| !c.is_alphabetic()));
        for word in words.take(MOST_LOOKED_UP) {
            let tables = match (self.index.get(word)?, Identifier::parse(word)) {
                (Some(table), _) => vec![table],
                (None, Some(Identifier::Own(own))) => self.index.get(&own.table)?.into_iter().collect(),
                (None, Some(identifier)) => self.index.with_identifier(&identifier)?,
                (None, None) => Vec::new(),
            };
            for table in tables {
                let dataset = self.index.dataset(table)?;
                let id = dataset.id().to_string();
                if dataset.is_record() && !found.contains(&id) {
                    found.push(id);
                }
            }
        }
        Ok(found)
    }
}
