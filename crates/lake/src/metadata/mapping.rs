//! A standard as a table: which of its fields say what.
//!
//! A [`Mapping`] lists, for each thing that is kept of a record, the paths under which a standard has it, in order of preference. Paths are those
//! of [`super::path`]; XML is read as the same values ([`super::xml`]), so one mapping serves both forms of a standard.

use serde_json::Value;

use super::parts::{RecordFile, RelatedWork, Unused, UnusedReason, stated_size};
use super::path::{Paths, at, texts, values};
use super::record_facets::Fields;
use super::taxonomy::{self, JOINED};
use super::value;
use super::{Dataset, DescribedFile, Standard, TableMetadata, TimeCovered, clean, dcmi, rights};
use lakeward_core::text::years::{STATED, year_of_date, years};

/// Most files, related works and further identifiers of one record.
const MOST_LISTED: usize = 256;

/// What a standard calls what is kept of a record.
#[derive(Debug)]
pub(super) struct Mapping {
    pub standard: Standard,
    pub id: Paths,
    pub title: Paths,
    pub description: Paths,
    pub method: Paths,
    pub tags: Paths,
    /// Subjects in levels: `Earth science > Hydrology`, or objects with `children` or `parent`.
    pub taxonomy: Paths,
    pub publisher: Paths,
    /// Organisations, which may be nested.
    pub institutions: Paths,
    pub licence: Paths,
    pub identifiers: Paths,
    /// Names that the record has in its catalogue: they resolve, and are not what is cited.
    pub names: Paths,
    pub address: Paths,
    pub issued: Paths,
    pub modified: Paths,
    pub version: Paths,
    pub spatial: Paths,
    /// Time covered, as one text or an object with a start and an end.
    pub period: Paths,
    pub start: Paths,
    pub end: Paths,
    pub related: Paths,
    pub files: Paths,
    pub sizes: Paths,
    /// Sizes that are numbers of megabytes.
    pub megabytes: Paths,
    pub formats: Paths,
    /// Who may reach the data; statements of rights that say only that are also found under `licence`.
    pub access: Paths,
    /// What has no place, below fields that have one, under the names by which it is noted.
    pub noted: &'static [(&'static str, Paths)],
    /// Fields to filter by, under the names that they get.
    pub facets: &'static [(&'static str, Paths)],
    /// Names of fields about the record and not the data: neither used nor noted.
    pub about_record: Paths,
}

/// A mapping of nothing.
pub(super) const NOTHING: Mapping = Mapping {
    standard: Standard::Record,
    id: &[],
    title: &[],
    description: &[],
    method: &[],
    tags: &[],
    taxonomy: &[],
    publisher: &[],
    institutions: &[],
    licence: &[],
    identifiers: &[],
    names: &[],
    address: &[],
    issued: &[],
    modified: &[],
    version: &[],
    spatial: &[],
    period: &[],
    start: &[],
    end: &[],
    related: &[],
    files: &[],
    sizes: &[],
    megabytes: &[],
    formats: &[],
    access: &[],
    noted: &[],
    facets: &[],
    about_record: &[],
};

impl Mapping {
    /// The dataset that `node` describes.
    pub fn dataset(&self, node: &Value) -> Dataset {
        let mut whole = TableMetadata { standard: Some(self.standard), ..TableMetadata::default() };
        let formats = self.fill(node, &mut whole);
        self.note_unknown(node, &mut whole);
        self.add_names(node, &mut whole);
        let id = texts(node, self.id).next().map(|id| clean::line(&id)).filter(|id| !id.is_empty());
        if id.is_none() {
            Unused::note(&mut whole.unused, "id", UnusedReason::NoId, None);
        }
        let locations = |file: &RecordFile| [&file.url, &file.name].into_iter().flatten().cloned().collect();
        let described =
            |file: &RecordFile| DescribedFile { locations: locations(file), metadata: TableMetadata::default() };
        let files = whole.files.iter().map(described).collect();
        Dataset { id, whole, files, formats }
    }

    /// Fills what is empty in `whole` from `node`. Returns the formats of the files.
    pub fn fill(&self, node: &Value, whole: &mut TableMetadata) -> Vec<String> {
        self.fill_texts(node, whole);
        self.fill_coverage(node, whole);
        if whole.identifier.is_none() {
            let known: Vec<Value> = texts(node, self.identifiers).map(Value::String).collect();
            whole.identifier = value::identifier(&serde_json::json!({ "id": known }), &["id"]);
        }
        for other in texts(node, self.identifiers).map(|text| clean::line(&text)) {
            whole.add_identifier(&other);
        }
        for (name, paths) in self.noted {
            let stated = [whole.title.as_deref(), whole.issued.as_deref()];
            for text in texts(node, paths).filter(|text| !stated.contains(&Some(text.trim()))) {
                Unused::note(&mut whole.unused, name, UnusedReason::UnknownField, Some(&text));
            }
        }
        for path in self.related {
            if whole.related.is_empty() {
                whole.related = at(node, path).into_iter().filter_map(RelatedWork::of).take(MOST_LISTED).collect();
            }
        }
        let itself = whole.identifier.clone();
        let before = whole.related.len();
        whole.related.retain(|work| work.identifier.is_none() || work.identifier != itself);
        if whole.related.len() < before {
            Unused::note(&mut whole.unused, "related works", UnusedReason::Cycle, itself.as_deref());
        }
        if whole.files.is_empty() {
            let listed = values(node, self.files);
            if listed.len() > MOST_LISTED {
                Unused::note(&mut whole.unused, "files", UnusedReason::Cut, Some(&listed.len().to_string()));
            }
            for item in listed.into_iter().take(MOST_LISTED) {
                let Some(file) = RecordFile::of(item) else { continue };
                if let (None, Some(size)) = (file.size_bytes, RecordFile::size_of(item)) {
                    Unused::note(&mut whole.unused, "file size", UnusedReason::UnknownField, Some(&size));
                }
                whole.files.push(file);
            }
        }
        let mut formats: Vec<String> = Vec::new();
        let of_files = whole.files.iter().filter_map(|file| file.format.clone());
        let megabytes = texts(node, self.megabytes).map(|size| format!("{} MB", clean::tag(&size)));
        let sizes: Vec<String> = texts(node, self.sizes).map(|size| stated_size(&size)).chain(megabytes).collect();
        for format in texts(node, self.formats).map(|text| clean::tag(&text)).chain(of_files).chain(sizes) {
            // Some standards have sizes and formats under one name.
            let is_size = format.starts_with(|c: char| c.is_ascii_digit()) && format.contains(' ');
            let list = if is_size { &mut whole.sizes } else { &mut formats };
            if !format.is_empty() && list.len() < clean::MOST_TAGS && !list.contains(&format) {
                list.push(format);
            }
        }
        self.fill_facets(node, whole);
        formats
    }

    /// Fills the texts and dates that are empty in `whole` from `node`.
    pub fn fill_texts(&self, node: &Value, whole: &mut TableMetadata) {
        let unused = &mut whole.unused;
        let mut fill = |own: &mut Option<String>, name: &str, paths: Paths| {
            if own.is_none() {
                *own = texts(node, paths).find_map(|text| cleaned(&text, name, false, unused));
            }
        };
        fill(&mut whole.title, "title", self.title);
        fill(&mut whole.publisher, "publisher", self.publisher);
        fill(&mut whole.source_url, "address", self.address);
        fill(&mut whole.version, "version", self.version);
        if whole.licence.is_none() {
            let statements: Vec<String> = texts(node, self.licence).collect();
            whole.licence = rights::licence(&statements).and_then(|text| cleaned(text, "licence", false, unused));
        }
        for (own, name, paths) in
            [(&mut whole.description, "description", self.description), (&mut whole.method, "method", self.method)]
        {
            if own.is_none() {
                *own = texts(node, paths).find_map(|text| cleaned(&text, name, true, unused));
            }
        }
        for (own, name, paths) in
            [(&mut whole.issued, "issued", self.issued), (&mut whole.modified, "modified", self.modified)]
        {
            if own.is_none() {
                // One that is no date is kept as written where there is no other.
                let mut dates: Vec<String> =
                    texts(node, paths).map(|text| clean::line(&text)).filter(|date| !date.is_empty()).collect();
                for end in dates.extract_if(.., |date| rights::embargo_end(date).is_some()) {
                    Unused::note(unused, "embargo", UnusedReason::UnknownField, rights::embargo_end(&end));
                }
                for date in dates.iter().filter(|date| !is_date(date)) {
                    Unused::note(unused, name, UnusedReason::NoDate, Some(date));
                }
                *own = dates.iter().find(|date| is_date(date)).or(dates.first()).cloned();
            }
        }
        let tags = if whole.tags.is_empty() { self.tags } else { &[] };
        for tag in texts(node, tags) {
            for tag in tag.split([';', '\n']).map(clean::tag).filter(|tag| !tag.is_empty()) {
                if whole.tags.len() >= clean::MOST_TAGS {
                    Unused::note(&mut whole.unused, "tags", UnusedReason::Cut, None);
                } else if !whole.tags.contains(&tag) {
                    whole.tags.push(tag);
                }
            }
        }
    }

    fn fill_coverage(&self, node: &Value, whole: &mut TableMetadata) {
        let mut encoded = None;
        if whole.spatial.is_empty() {
            let (dcmi, named): (Vec<String>, _) =
                texts(node, self.spatial).partition(|text| dcmi::parts(text).is_some());
            whole.spatial = value::places_in(named);
            for text in &dcmi {
                let parts = dcmi::parts(text).unwrap_or_default();
                if dcmi::is_period(&parts) {
                    encoded = encoded.or_else(|| TimeCovered::of(text));
                } else if let Some(name) = parts.get("name") {
                    whole.spatial.extend(value::places_in([name.to_string()]));
                } else {
                    Unused::note(&mut whole.unused, "coverage", UnusedReason::UnknownField, Some(text));
                }
            }
        }
        // Under one name some standards have places and periods.
        let is_period = |text: &String| !text.contains(char::is_alphabetic) && years(text, STATED).next().is_some();
        let periods: Vec<String> = whole.spatial.iter().filter(|place| is_period(place)).cloned().collect();
        whole.spatial.retain(|place| !is_period(place));
        if whole.temporal.is_none() {
            let side = |paths| texts(node, paths).next().map(|text| clean::line(&text));
            let sides = TimeCovered::between(side(self.start), side(self.end));
            let stated = || values(node, self.period).into_iter().find_map(value::period_of);
            whole.temporal = sides.or_else(stated).or(encoded).or_else(|| TimeCovered::of(periods.first()?));
        }
        if let Some(time) = &whole.temporal {
            let (first, last) = time.years();
            for (side, year) in [(&time.start, first), (&time.end, last)] {
                if let (Some(written), None) = (side, year) {
                    Unused::note(&mut whole.unused, "time covered", UnusedReason::NoDate, Some(written));
                }
            }
            if let (Some(first), Some(last)) = (first, last)
                && first > last
            {
                let written = format!("{first} to {last}");
                Unused::note(&mut whole.unused, "time covered", UnusedReason::NoDate, Some(&written));
                whole.temporal = None;
            }
        }
    }

    fn fill_facets(&self, node: &Value, whole: &mut TableMetadata) {
        let mut fields = Fields::with(std::mem::take(&mut whole.facets));
        let unused = &mut whole.unused;
        let levels = taxonomy::paths(&values(node, self.taxonomy), "taxonomy", unused);
        for level in levels.iter().flatten() {
            if whole.tags.len() < clean::MOST_TAGS && !whole.tags.contains(level) {
                whole.tags.push(level.clone());
            }
        }
        let prefixes = levels.iter().filter(|path| path.len() > 1);
        let joined = |path: &Vec<String>| (1..=path.len()).map(|end| path[..end].join(JOINED)).collect::<Vec<_>>();
        fields.add_texts("taxonomy", prefixes.flat_map(joined));
        let organisations = taxonomy::paths(&values(node, self.institutions), "institution", unused);
        fields.add_texts("institution", organisations.into_iter().flatten());
        for (name, paths) in self.facets {
            // Several in one text, but for characters that are written as `&uuml;`.
            let listed = |text: String| match text.contains('&') {
                true => vec![text],
                false => text.split(';').map(str::to_string).collect(),
            };
            fields.add_texts(name, texts(node, paths).flat_map(listed));
        }
        let term = |text: &str| rights::access(text).map(str::to_string);
        let stated = texts(node, self.access).map(|text| term(&text).unwrap_or(text));
        fields.add_texts("access", stated.chain(texts(node, self.licence).filter_map(|text| term(&text))));
        whole.facets = fields.facets;
    }

    /// Notes the fields of `node` that no path of this mapping begins with.
    pub fn note_unknown(&self, node: &Value, whole: &mut TableMetadata) {
        let known: Vec<&str> = self.fields().collect();
        for (name, value) in node.as_object().into_iter().flatten().filter(|(_, value)| !is_empty(value)) {
            let name = value::local_name(name);
            if !known.contains(&name) {
                let value = Some(value).filter(|value| !value.is_object() && !value.is_array()).and_then(value::text);
                Unused::note(&mut whole.unused, name, UnusedReason::UnknownField, value.as_deref());
            }
        }
    }

    /// Adds the names that the record has in its catalogue.
    pub fn add_names(&self, node: &Value, whole: &mut TableMetadata) {
        for name in texts(node, self.names).map(|name| clean::line(&name)) {
            whole.add_identifier(&name);
        }
    }

    /// The names with which its paths begin.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> + '_ {
        let paths = [
            self.id,
            self.title,
            self.description,
            self.method,
            self.tags,
            self.taxonomy,
            self.publisher,
            self.institutions,
            self.licence,
            self.identifiers,
            self.names,
            self.address,
            self.issued,
            self.modified,
            self.version,
            self.spatial,
            self.period,
            self.start,
            self.end,
            self.related,
            self.files,
            self.sizes,
            self.megabytes,
            self.formats,
            self.access,
            self.about_record,
        ];
        let facets = self.facets.iter().chain(self.noted).map(|(_, paths)| *paths);
        paths.into_iter().chain(facets).flatten().map(|path| path.split(['.', '[']).next().unwrap_or(path))
    }
}

impl TableMetadata {
    /// Adds an identifier beside the one to cite, each once.
    pub(super) fn add_identifier(&mut self, text: &str) {
        use crate::identifier::Identifier;
        let other = Identifier::of_publisher(text);
        let mut known = self.identifier.iter().chain(&self.identifiers);
        let is_new = !text.is_empty() && known.all(|known| Identifier::of_publisher(known) != other);
        if is_new && self.identifiers.len() < MOST_LISTED {
            self.identifiers.push(other.to_string());
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `text` as kept, with a note of what is left out of it.
fn cleaned(text: &str, name: &str, is_long: bool, unused: &mut Vec<Unused>) -> Option<String> {
    let plain = clean::paragraphs(text);
    let kept = if is_long { plain } else { clean::line(&plain) };
    let most = if is_long { clean::LONGEST_DESCRIPTION_BYTES } else { clean::LONGEST_LINE_BYTES };
    // Shorter by a character at most, and by markup.
    if text.len() > most && (kept.len() + 4 >= most || text.len() > 8 * most) {
        Unused::note(unused, name, UnusedReason::Cut, Some(&format!("{} bytes", text.len())));
    }
    if clean::has_markup(text) {
        Unused::note(unused, name, UnusedReason::Markup, None);
    }
    if clean::has_hidden(text) {
        Unused::note(unused, name, UnusedReason::HiddenCharacters, None);
    }
    Some(kept).filter(|kept| !kept.is_empty())
}

/// Whether `text` is a date that there is: an ISO 8601 date or date and time, or words with a year.
pub(super) fn is_date(text: &str) -> bool {
    let in_calendar = |text: &str| {
        let part = |from: usize| text.get(from..from + 2).map_or(Some(1), |digits| digits.parse::<u32>().ok());
        let year = year_of_date(text).filter(|year| STATED.contains(year));
        let date = year.zip(part(5)).zip(part(8)).map(|((year, month), day)| (year, month, day));
        date.is_some_and(|(year, month, day)| chrono::NaiveDate::from_ymd_opt(year, month, day).is_some())
    };
    let text = text.trim();
    let is_iso = text.len() >= 5 && text.as_bytes()[4] == b'-' && text.bytes().take(4).all(|b| b.is_ascii_digit());
    // An interval is a date of its start.
    let first = text.split('/').next().unwrap_or(text);
    if is_iso { in_calendar(first) } else { years(text, STATED).next().is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for date in ["2021", "2021-02", "2021-02-28", "2021-02-28T10:00:00Z", "1 August 2012", "2020-01-01/2021-01-01"]
        {
            assert!(is_date(date), "{date}");
        }
        for date in ["2021-13", "2021-02-30", "0000-01-01", "soon", "", "12-2", "2021-é"] {
            assert!(!is_date(date), "{date}");
        }
    }
}
