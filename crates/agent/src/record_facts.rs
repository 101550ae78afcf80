//! Questions about a record, answered from its fields: nothing is inferred, and what the record does not say is said to be so.

use super::Agent;
use super::scored::link_of;
use crate::recommend::RecordFact;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::identifier::{Identifier, trimmed};
use lakeward_lake::metadata::{RecordFile, RelatedWork, TableMetadata, Unused};
use lakeward_reading::fields::Field;
use lakeward_search::cite::{Citation, plain};

/// Files, related works and values that are listed one by one.
const MOST_LISTED: usize = 8;
/// Words of a turn that are looked up as identifiers.
const MOST_LOOKED_UP: usize = 64;

/// A value with the field that it is from.
type SourcedValue = Option<(String, &'static str)>;

/// What a dataset says in a field.
fn value_of(field: Field, dataset: &Dataset, lake: &str) -> SourcedValue {
    let nothing = TableMetadata::default();
    let metadata = dataset.metadata().unwrap_or(&nothing);
    let text =
        |text: &Option<String>, field| text.clone().filter(|text| !text.trim().is_empty()).map(|text| (text, field));
    let fields = metadata.fields(dataset.path()).0;
    let facets = |names: &[&'static str]| {
        let first = names.iter().find(|name| fields.iter().any(|(field, _)| field == *name))?;
        let said: Vec<&str> = fields.iter().filter(|(field, _)| field == first).map(|(_, value)| *value).collect();
        Some((listed(&said), *first))
    };
    match field {
        Field::Publisher => {
            let publisher = text(&metadata.publisher, "publisher");
            match (publisher, facets(&["institution", "institutions"])) {
                (Some((publisher, field)), Some((others, of))) if publisher != others => {
                    Some((format!("{publisher}; {of}: {others}"), field))
                }
                (publisher, institution) => {
                    publisher.or(institution).or_else(|| facets(&["survey", "surveys", "source"]))
                }
            }
        }
        Field::Creators => facets(&["creator", "creators", "author", "authors", "contributor", "contributors"])
            .or_else(|| text(&metadata.publisher, "publisher")),
        Field::Licence => text(&metadata.licence, "licence"),
        Field::Format => {
            facets(&["format"]).or_else(|| Some((dataset.path()?.rsplit_once('.')?.1.to_uppercase(), "path")))
        }
        Field::Period => {
            let stated = Some(metadata.years()).filter(|(first, last)| first.is_some() || last.is_some());
            let covered = dataset.table().and_then(|table| table.profile.time.as_ref()).map(|time| time.years());
            let (first, last) = stated.or(covered)?;
            let field = if metadata.temporal.is_some() { "temporal" } else { "years" };
            Some(match (first, last) {
                (Some(first), None) => (format!("from {first} on"), field),
                (None, Some(last)) => (format!("up to {last}"), field),
                (first, last) => (format!("{} to {}", first?, last?), field),
            })
        }
        Field::Places => Some(&metadata.spatial)
            .filter(|places| !places.is_empty())
            .map(|places| (listed(places), "spatial"))
            .or_else(|| facets(&["geography", "geographic", "place", "places", "region", "country"])),
        Field::Published => text(&metadata.issued, "issued"),
        Field::Updated => {
            let changed = text(&metadata.modified, "modified").or_else(|| text(&metadata.issued, "issued"));
            match (changed, facets(&["frequency", "status"])) {
                (Some((changed, field)), Some((rhythm, _))) => Some((format!("{changed} ({rhythm})"), field)),
                (changed, rhythm) => changed.or(rhythm),
            }
        }
        Field::Version => text(&metadata.version, "version"),
        Field::Size => size_of(dataset, metadata),
        Field::Files => Some(&metadata.files).filter(|files| !files.is_empty()).map(|files| {
            let named: Vec<String> = files.iter().map(file_line).collect();
            (format!("{}: {}", lakeward_core::text::counted(files.len() as u64, "file"), listed(&named)), "files")
        }),
        Field::Description => text(&metadata.description, "description"),
        Field::Method => text(&metadata.method, "method"),
        Field::Related => Some(&metadata.related).filter(|related| !related.is_empty()).map(|related| {
            let named: Vec<String> = related.iter().map(work_line).collect();
            (listed(&named), "related")
        }),
        Field::Citation => {
            let others: String = metadata.identifiers.iter().map(|other| format!(", {other}")).collect();
            Some((format!("{}{others}", plain(&Citation::of(dataset, lake))), "identifier"))
        }
        Field::Link => text(&metadata.source_url, "source_url").or_else(|| text(&metadata.identifier, "identifier")),
        Field::Title => Some((dataset.title(), "title")),
        Field::Subjects => {
            let tags = Some(&metadata.tags).filter(|tags| !tags.is_empty()).map(|tags| (listed(tags), "tags"));
            tags.or_else(|| facets(&["subject", "subjects", "taxonomy"]))
        }
        Field::Language => facets(&["language", "languages"]),
        Field::Columns => {
            let names: Vec<&str> = dataset.columns().iter().map(|column| column.name.as_str()).collect();
            let own = Some(names).filter(|names| !names.is_empty()).map(|names| (listed(&names), "columns"));
            own.or_else(|| facets(&["variables", "variable", "parameters", "dimensions", "dimension"]))
        }
        Field::Funding => facets(&["funder", "funders", "funding"]),
        Field::Contact => facets(&["contact", "contacts", "maintainer", "contact_point", "contactPoint"]),
        Field::Access => access_of(metadata, facets(&["access", "access_rights", "access rights"])),
        Field::Unused => dataset.metadata().map(|metadata| (unused_of(metadata), "unused")),
    }
}

fn size_of(dataset: &Dataset, metadata: &TableMetadata) -> SourcedValue {
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

/// Who may reach the data, as `stated`, and from when on.
fn access_of(metadata: &TableMetadata, stated: SourcedValue) -> SourcedValue {
    let from = |field: &str| metadata.unused.iter().find(|unused| unused.field == field)?.value.clone();
    match (stated, from("embargo").or_else(|| from("available"))) {
        (Some((stated, field)), Some(date)) => Some((format!("{stated}; available from {date}"), field)),
        (None, Some(date)) => Some((format!("available from {date}"), "available")),
        (stated, None) => stated,
    }
}

/// What of a record could not be used, and why.
fn unused_of(metadata: &TableMetadata) -> String {
    let describe = |unused: &Unused| {
        let value = unused.value.as_ref().map(|value| format!(" `{value}`")).unwrap_or_default();
        format!("{}{value} ({})", unused.field, unused.reason)
    };
    let named: Vec<String> = metadata.unused.iter().map(describe).collect();
    if named.is_empty() { "nothing: all that it says was used".into() } else { listed(&named) }
}

fn file_line(file: &RecordFile) -> String {
    let size = file.size_bytes.map(|bytes| format!("{bytes} bytes"));
    let more: Vec<&str> = [&file.format, &size].into_iter().flatten().map(String::as_str).collect();
    let name = file.name.as_deref().or(file.url.as_deref()).unwrap_or("a file without name");
    if more.is_empty() { name.to_string() } else { format!("{name} ({})", more.join(", ")) }
}

fn work_line(work: &RelatedWork) -> String {
    let parts = [&work.relation, &work.title, &work.identifier];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The first of `values`, and how many more there are.
fn listed<T: AsRef<str>>(values: &[T]) -> String {
    let named: Vec<&str> = values.iter().take(MOST_LISTED).map(AsRef::as_ref).collect();
    let more = values.len().saturating_sub(MOST_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join("; "))
}

impl Agent<'_> {
    /// What the datasets `about` say in the respects `fields`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub(super) fn facts(&self, fields: &[Field], about: &[String]) -> Result<Vec<RecordFact>> {
        let mut facts = Vec::new();
        for id in about {
            let Some(table) = self.index.get(id)? else { continue };
            let dataset = self.index.dataset(table)?;
            for field in fields {
                let found = value_of(*field, &dataset, &self.index.manifest().lake);
                let (value, source) =
                    found.map_or((None, None), |(value, source)| (Some(value), Some(source.to_string())));
                facts.push(RecordFact {
                    record: id.clone(),
                    title: dataset.title(),
                    citation: dataset.citation().to_string(),
                    link: link_of(&dataset),
                    about: field.heading().into(),
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
