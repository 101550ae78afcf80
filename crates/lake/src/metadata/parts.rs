//! What a record says besides texts and facets: its files, related works, and what could not be used of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clean;
use super::value::{self, get};
use crate::identifier::Identifier;

/// A file that belongs to a record's data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecordFile {
    /// Its name, else its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its format as written: `CSV`, `text/csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Its size in bytes, where the record gives one that can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A paper or dataset that a record refers to; at least one of identifier and title is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RelatedWork {
    /// How the data relates to it, as written: `IsSupplementTo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// Its identifier or address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// Its title or citation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Something of a record that could not be used, or only in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unused {
    /// The field, as the record or the standard names it.
    pub field: String,
    /// Why.
    pub reason: UnusedReason,
    /// The value, where it is short: at most 80 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Why something of a record could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnusedReason {
    /// There is no place for the field; it is only in the source.
    UnknownField,
    /// The value is no date, or none that there is.
    NoDate,
    /// The text or list is longer than what is kept.
    Cut,
    /// Markup was left out of the text.
    Markup,
    /// Characters that change the direction of text, or do not show, were left out.
    HiddenCharacters,
    /// It refers to itself.
    Cycle,
    /// It is nested deeper, or has more parts, than is read.
    TooDeep,
    /// A reference to a declared entity, which is never expanded.
    Entity,
    /// It has no id; an identifier or the title stands for it.
    NoId,
}

impl fmt::Display for UnusedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownField => "there is no place for the field",
            Self::NoDate => "it is no date",
            Self::Cut => "it is longer than what is kept",
            Self::Markup => "markup was left out",
            Self::HiddenCharacters => "characters that do not show were left out",
            Self::Cycle => "it refers to itself",
            Self::TooDeep => "it is nested too deep or has too many parts",
            Self::Entity => "it refers to an entity, which is not expanded",
            Self::NoId => "it has no id",
        })
    }
}

impl Unused {
    /// Most entries of one record.
    pub const MOST: usize = 32;
    const LONGEST_VALUE_BYTES: usize = 80;

    /// Adds an entry to `list`, each field and reason once.
    pub fn note(list: &mut Vec<Self>, field: &str, reason: UnusedReason, value: Option<&str>) {
        let field = clean::tag(field);
        if list.len() < Self::MOST && !list.iter().any(|known| known.field == field && known.reason == reason) {
            let value = value.map(clean::line).filter(|value| value.len() <= Self::LONGEST_VALUE_BYTES);
            list.push(Self { field, reason, value });
        }
    }
}

impl RecordFile {
    /// The file that an item of a list describes: an object, an address or a name.
    pub(super) fn of(item: &Value) -> Option<Self> {
        if let Value::String(written) = item {
            let url = written.contains("://").then(|| clean::line(written));
            let name = clean::line(written.rsplit('/').next().unwrap_or(written));
            return (!name.is_empty()).then(|| Self { name: Some(name), url, ..Self::default() });
        }
        // The file itself may be an object below: Dataverse's `dataFile`.
        let inner = get(item, &["dataFile", "file"]);
        let line = |names: &[&str]| value::line(item, names).or_else(|| value::line(inner, names));
        let whole =
            |size: &str| size.parse::<f64>().ok().filter(|n| (0.0..u64::MAX as f64).contains(n)).map(|n| n as u64);
        let size_bytes = Self::size_of(item).and_then(|size| bytes_stated(&size).or_else(|| whole(&size)));
        let file = Self {
            name: line(&["filename", "fileName", "name", "label", "title"]),
            format: line(&["format", "mediaType", "encodingFormat", "contentType", "mimetype", "fileType", "type"])
                .map(|format| format.trim_start_matches('.').to_string()),
            size_bytes,
            url: line(&["url", "downloadURL", "contentUrl", "accessURL", "linkage", "download_url", "pidURL"])
                .or_else(|| value::identifier(inner, &["persistentId"])),
        };
        (file != Self::default()).then_some(file)
    }

    /// The size that an item of a list of files states, as written.
    pub(super) fn size_of(item: &Value) -> Option<String> {
        const NAMES: [&str; 7] = ["size_bytes", "size", "filesize", "fileSize", "contentSize", "byteSize", "bytes"];
        value::line(item, &NAMES).or_else(|| value::line(get(item, &["dataFile", "file"]), &NAMES))
    }
}

impl RelatedWork {
    /// The work that an item of a list of related works names: an object, an identifier or a citation.
    pub(super) fn of(item: &Value) -> Option<Self> {
        let is_identifier = |text: &str| !matches!(Identifier::of_publisher(text), Identifier::Named(_));
        let relation = value::line(item, &["relationType", "relation", "relation_type", "publicationRelationType"]);
        let named =
            value::line(item, &["relatedIdentifier", "doi", "identifier", "@value", "url", "publicationURL", "@id"]);
        let title = value::line(item, &["titleEn", "title", "name", "publicationCitation", "citation", "titleZh"]);
        let written = match item {
            Value::String(text) => Some(clean::line(text)),
            _ => None,
        };
        let (identifier, words) = match written {
            Some(text) if is_identifier(&text) => (Some(text), None),
            other => (None, other),
        };
        let identifier =
            named.or(identifier).and_then(|id| value::identifier(&serde_json::json!({ "id": id }), &["id"]));
        let title = title.or(words).filter(|title| !title.is_empty());
        // Some write the identifier where a title belongs.
        let (identifier, title) = match title {
            Some(title) if identifier.is_none() && is_identifier(&title) => (Some(title), None),
            title => (identifier, title),
        };
        (identifier.is_some() || title.is_some()).then_some(Self { relation, identifier, title })
    }
}

/// A size as it is told: a number alone is of bytes.
pub(super) fn stated_size(text: &str) -> String {
    let text = clean::tag(text);
    if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("{text} bytes") } else { text }
}

/// The number of bytes that `text` states: `1.2 GB`, `34,567 bytes`, `1,2 GB`, `2 MiB`; `None` for other sizes, such as pages. A thousand
/// of a unit is 1000 of the smaller one unless it is written with an `i`.
pub fn bytes_stated(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c.is_whitespace() || matches!(c, '.' | ',')))?;
    let number = decimal(&text[..end])?;
    let unit = text[end..].trim().to_ascii_lowercase();
    let (base, letters) = match unit.strip_suffix("ib") {
        Some(letter) => (1024f64, letter),
        None => (1000f64, unit.strip_suffix('b').unwrap_or(&unit)),
    };
    let power = match letters {
        "" | "byte" | "bytes" | "octets" if !unit.is_empty() => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let bytes = number * base.powi(power);
    (bytes.is_finite() && bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// The number that `written` is, with a point or a comma before decimals and any mark or space between thousands. A mark that stands once with
/// three digits behind it is a comma between thousands, or a decimal point.
fn decimal(written: &str) -> Option<f64> {
    let mut digits: String = written.chars().filter(|c| !c.is_whitespace()).collect();
    let last = digits.rfind(['.', ',']);
    let mark = last.and_then(|at| digits[at..].chars().next());
    let is_once = mark.is_some_and(|mark| digits.matches(mark).count() == 1);
    let is_mixed = digits.contains('.') && digits.contains(',');
    let behind = last.map_or(0, |at| digits.len() - at - 1);
    let is_decimal = is_once && (is_mixed || mark == Some('.') || behind != 3);
    let parts: Vec<&str> = digits.split(['.', ',']).collect();
    let (whole, fraction) =
        if is_decimal { (parts[..parts.len() - 1].concat(), parts[parts.len() - 1]) } else { (parts.concat(), "") };
    let are_thousands =
        parts.iter().skip(1).take(parts.len() - 1 - usize::from(is_decimal)).all(|part| part.len() == 3);
    digits = format!("{whole}.{fraction}");
    are_thousands.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_bytes_are_told_from_others() {
        let read = ["1.2 GB", "34,567 bytes", "2 MiB", "512 B", "10KB", "3 t"].map(bytes_stated);
        assert_eq!(
            read,
            [Some(1_200_000_000), Some(34_567), Some(2 << 20), Some(512), Some(10_000), Some(3_000_000_000_000)]
        );
        assert_eq!(["15 pages", "300 rows", "12", "MB", "", "1..2 GB"].map(bytes_stated), [None; 6]);
        assert_eq!(bytes_stated(&format!("{} PB", "9".repeat(400))), None);
        let continental =
            ["1,2 GB", "1.234,5 kB", "1 250 000 Byte", "1.250.000 Byte", "1,250,000.5 kB", "0,75 MB", "-5 MB"];
        let read = [
            Some(1_200_000_000),
            Some(1_234_500),
            Some(1_250_000),
            Some(1_250_000),
            Some(1_250_000_500),
            Some(750_000),
        ];
        assert_eq!(continental.map(bytes_stated)[..6], read);
        assert_eq!(bytes_stated(continental[6]), None);
    }
}
