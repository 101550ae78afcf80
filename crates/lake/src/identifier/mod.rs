//! Identifiers by which data is cited, parsed from any common notation into one normal form.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use xxhash_rust::xxh3::xxh3_64;

mod own;

pub use own::{OwnIdentifier, version};

/// Longest text that is read as an identifier, in bytes.
const MOST_BYTES: usize = 2048;
/// Digits of the registrant of a DOI.
const REGISTRANT_DIGITS: std::ops::RangeInclusive<usize> = 4..=9;

/// An identifier of a dataset, inside or outside this lake. Two are equal if they name the same thing, whatever their letter
/// case, resolver and punctuation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", from = "String")]
#[schemars(with = "String")]
pub enum Identifier {
    /// Digital Object Identifier (ISO 26324), in small letters: `10.5281/zenodo.1`.
    Doi(String),
    /// CSTR, the Chinese identifier of science resources (GB/T 32843), in small letters without its prefix:
    /// `31253.11.sciencedb.00001`.
    Cstr(String),
    /// Handle (RFC 3650), in small letters: `20.500.12345/abc`.
    Handle(String),
    /// Archival Resource Key without hyphens, which are not significant: `12148/btv1b8449691v`.
    Ark(String),
    /// Our own, with the hash of the content.
    Own(OwnIdentifier),
    /// A web address without scheme, fragment and last slash, its host in small letters: `example.org/data/7`.
    Url(String),
    /// An identifier of the publisher's own kind, as written.
    Named(String),
}

impl Identifier {
    /// Parses `text` in any common notation: with `doi:` or the address of a resolver, in capitals, in brackets, with the full
    /// stop of its sentence. `None` for a text of no known kind.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let composed: String = text.nfkc().filter(|c| !is_invisible(*c)).collect();
        let text = trimmed(&composed);
        if text.is_empty() || text.contains(char::is_control) {
            return None;
        }
        // Our own first: a table may have any name.
        if let Some(own) = OwnIdentifier::parse(text) {
            return Some(Self::Own(own));
        }
        let is_named = ["doi", "cstr"].iter().any(|kind| text.to_ascii_lowercase().starts_with(kind));
        if text.contains(char::is_whitespace) && !is_named {
            return None;
        }
        doi(text).or_else(|| cstr(text)).or_else(|| ark(text)).or_else(|| handle(text)).or_else(|| url(text))
    }

    /// Parses the identifier that a publisher gives; of an unknown kind it is kept as written.
    pub fn of_publisher(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|| Self::Named(text.trim().to_string()))
    }

    /// A number that is the same for identifiers that name the same thing, by which an index looks them up.
    pub fn key(&self) -> u64 {
        let text = self.to_string();
        xxh3_64(if let Self::Named(_) = self { text.to_lowercase() } else { text }.as_bytes())
    }

    /// Its web address, for kinds that have a resolver.
    pub fn url(&self) -> Option<String> {
        match self {
            Self::Doi(doi) => Some(format!("https://doi.org/{}", escaped(doi))),
            Self::Cstr(cstr) => Some(format!("https://cstr.cn/{}", escaped(cstr))),
            Self::Handle(handle) => Some(format!("https://hdl.handle.net/{}", escaped(handle))),
            Self::Ark(ark) => Some(format!("https://n2t.net/ark:/{}", escaped(ark))),
            Self::Url(url) => Some(format!("https://{url}")),
            Self::Own(_) | Self::Named(_) => None,
        }
    }
}

/// As it is written in running text: `https://doi.org/…`, as DataCite and Crossref require, `CSTR:…`, `hdl:…`, `ark:/…`.
impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Doi(doi) => write!(f, "https://doi.org/{doi}"),
            Self::Cstr(cstr) => write!(f, "CSTR:{cstr}"),
            Self::Handle(handle) => write!(f, "hdl:{handle}"),
            Self::Ark(ark) => write!(f, "ark:/{ark}"),
            Self::Own(own) => own.fmt(f),
            Self::Url(url) => write!(f, "https://{url}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl FromStr for Identifier {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::of_publisher(text))
    }
}

impl From<String> for Identifier {
    fn from(text: String) -> Self {
        Self::of_publisher(&text)
    }
}

impl From<Identifier> for String {
    fn from(identifier: Identifier) -> Self {
        identifier.to_string()
    }
}

/// `text` without the brackets, quotes and punctuation of the sentence around it.
pub fn trimmed(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text.len();
        text = text.trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '“', '”', '‘', '’', '«', '»']);
        text = text.trim_end_matches(['.', ',', ';', ':', '!', '?', '>', '"', '\'', '`', '“', '”', '‘', '’', '«', '»']);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
            let count = |bracket: char| text.chars().filter(|c| *c == bracket).count();
            if text.ends_with(close) && count(close) > count(open) {
                text = &text[..text.len() - close.len_utf8()];
            }
        }
        text = text.trim();
        if text.len() == before {
            return text;
        }
    }
}

/// Whether `c` is invisible: zero width, direction and joining characters.
pub fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0xAD | 0x34F | 0x61C | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
        | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE0FFF)
}

/// The part of `text` after `prefix`, compared without case.
fn after_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The host in small letters and the rest from its slash on, if `text` is a web address.
fn address(text: &str) -> Option<(String, &str)> {
    let rest = after_prefix(text, "https://").or_else(|| after_prefix(text, "http://"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = host.rsplit('@').next().unwrap_or(host).to_lowercase();
    let host = host.strip_suffix(":443").or_else(|| host.strip_suffix(":80")).unwrap_or(&host).to_string();
    (!host.is_empty()).then_some((host, path))
}

/// The unescaped path of an address at one of `hosts`, without query and fragment.
fn path_at(text: &str, hosts: &[&str]) -> Option<String> {
    let bare = hosts.iter().find_map(|host| after_prefix(text, host).filter(|rest| rest.starts_with('/')));
    let path = match (address(text), bare) {
        (Some((host, path)), _) => {
            hosts.contains(&host.strip_prefix("www.").unwrap_or(&host)).then(|| path.to_string())?
        }
        (None, Some(path)) => path.to_string(),
        (None, None) => return None,
    };
    let end = path.find(['?', '#']).unwrap_or(path.len());
    Some(trimmed(&unescaped(path[..end].trim_start_matches('/'))).to_string())
}

fn doi(text: &str) -> Option<Identifier> {
    let resolved = path_at(text, &["doi.org", "dx.doi.org"]);
    let text = resolved.as_deref().unwrap_or(text);
    let named = ["info:doi/", "urn:doi:", "hdl:", "doi:", "doi "].iter().find_map(|prefix| after_prefix(text, prefix));
    let doi = named.unwrap_or(text).trim();
    is_doi(doi).then(|| Identifier::Doi(doi.to_lowercase()))
}

/// Whether `text` is `10.REGISTRANT/SUFFIX`.
fn is_doi(text: &str) -> bool {
    let Some((registrant, suffix)) = text.strip_prefix("10.").and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let first = registrant.split('.').next().unwrap_or_default();
    let parts_are_digits =
        registrant.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    REGISTRANT_DIGITS.contains(&first.len())
        && parts_are_digits
        && !suffix.is_empty()
        && !suffix.contains(char::is_whitespace)
}

fn cstr(text: &str) -> Option<Identifier> {
    let resolved = path_at(text, &["cstr.cn"]);
    let inner = resolved.as_deref().unwrap_or(text);
    let named = after_prefix(inner, "cstr:").map(str::trim);
    let cstr = named.unwrap_or(inner).trim();
    let mut parts = cstr.splitn(3, '.');
    let digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|part| part.len() == count && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_cstr = digits(parts.next(), 5)
        && digits(parts.next(), 2)
        && parts.next().is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace));
    is_cstr.then(|| Identifier::Cstr(cstr.to_lowercase()))
}

fn ark(text: &str) -> Option<Identifier> {
    let at = match address(text) {
        Some((_, path)) => {
            let path_start = text.len() - path.len();
            let lower = path.to_ascii_lowercase();
            path_start + lower.find("/ark:")? + 1
        }
        None => after_prefix(text, "ark:").map(|_| 0)?,
    };
    let rest = text[at + "ark:".len()..].trim_start_matches('/');
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (authority, name) = rest[..end].split_once('/')?;
    let name: String = trimmed(name).trim_end_matches('/').chars().filter(|c| !matches!(c, '-' | '‐'..='–')).collect();
    let is_authority = authority.len() >= 5 && authority.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_authority && !name.is_empty()).then(|| Identifier::Ark(format!("{}/{name}", authority.to_lowercase())))
}

fn handle(text: &str) -> Option<Identifier> {
    let resolved = path_at(text, &["hdl.handle.net"]);
    let handle = match (&resolved, after_prefix(text, "hdl:")) {
        (Some(path), _) => path.as_str(),
        (None, Some(rest)) => rest.trim(),
        (None, None) => return None,
    };
    let (authority, name) = handle.split_once('/')?;
    let is_authority =
        !authority.is_empty() && authority.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    (is_authority && !name.is_empty()).then(|| Identifier::Handle(handle.to_lowercase()))
}

fn url(text: &str) -> Option<Identifier> {
    let (host, path) = address(text)?;
    let path = path.split('#').next().unwrap_or_default().trim_end_matches('/');
    host.contains('.').then(|| Identifier::Url(format!("{host}{path}")))
}

/// `text` with `%41` decoded to `A`; unchanged if the result is not valid UTF-8.
fn unescaped(text: &str) -> String {
    if !text.contains('%') {
        return text.to_string();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| bytes[at] == b'%') {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

/// `text` with characters escaped that would end an address in running text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' | '"' | '#' | '?' | '<' | '>' | '{' | '}' | '|' | '\\' | '^' | '`' | '[' | ']' => {
                out.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doi_of(text: &str) -> Option<String> {
        match Identifier::parse(text)? {
            Identifier::Doi(doi) => Some(doi),
            _ => None,
        }
    }

    #[test]
    fn a_doi_is_parsed_in_every_notation() {
        let all = [
            "10.5281/zenodo.42",
            "10.5281/ZENODO.42",
            "doi:10.5281/zenodo.42",
            "DOI: 10.5281/Zenodo.42.",
            "doi 10.5281/zenodo.42",
            "https://doi.org/10.5281/zenodo.42",
            "http://dx.doi.org/10.5281/zenodo.42",
            "HTTPS://WWW.DOI.ORG/10.5281/zenodo.42",
            "doi.org/10.5281/zenodo.42",
            "https://doi.org/10.5281%2Fzenodo.42?from=mail#top",
            "<https://doi.org/10.5281/zenodo.42>,",
            "(10.5281/zenodo.42)",
            "info:doi/10.5281/zenodo.42",
            "hdl:10.5281/zenodo.42",
            "１０.5281/zenodo.42",
            "10.52\u{200b}81/zenodo.42",
        ];
        for text in all {
            assert_eq!(doi_of(text).as_deref(), Some("10.5281/zenodo.42"), "{text}");
        }
        assert_eq!(doi_of("10.1016/S0140-6736(05)12345-6"), Some("10.1016/s0140-6736(05)12345-6".into()));
        for text in ["10.5/x", "10.5281/", "10.5281", "11.5281/x", "10.52a1/x", "10.5281/a b", ""] {
            assert_eq!(doi_of(text), None, "{text}");
        }
    }

    #[test]
    fn other_kinds_have_one_form_each() {
        let form = |text: &str| Identifier::parse(text).map(|identifier| identifier.to_string());
        for text in [
            "CSTR:31253.11.sciencedb.00001",
            "cstr: 31253.11.ScienceDB.00001",
            "https://cstr.cn/31253.11.sciencedb.00001",
            "https://www.cstr.cn/CSTR:31253.11.sciencedb.00001.",
            "31253.11.sciencedb.00001",
        ] {
            assert_eq!(form(text).as_deref(), Some("CSTR:31253.11.sciencedb.00001"), "{text}");
        }
        for text in ["hdl:20.500.12345/ABC", "https://hdl.handle.net/20.500.12345/abc", "HDL:20.500.12345/abc."] {
            assert_eq!(form(text).as_deref(), Some("hdl:20.500.12345/abc"), "{text}");
        }
        for text in
            ["ark:/12148/btv1b-8449691v", "ark:12148/btv1b8449691v", "https://n2t.net/ark:/12148/btv1b8449691v?info"]
        {
            assert_eq!(form(text).as_deref(), Some("ark:/12148/btv1b8449691v"), "{text}");
        }
        for text in
            ["http://Example.org/data/7/", "https://example.org:443/data/7#top", "https://me@example.org/data/7."]
        {
            assert_eq!(form(text).as_deref(), Some("https://example.org/data/7"), "{text}");
        }
        assert_eq!(form("geo/countries"), None);
        assert_eq!(form("ftp://example.org/x"), None);
        assert_eq!(Identifier::of_publisher(" ABS-6401 "), Identifier::Named("ABS-6401".into()));
        assert_eq!(Identifier::parse(&"1".repeat(1 << 20)), None);
    }

    #[test]
    fn displayed_identifiers_are_parsed_back() {
        for text in [
            "10.5281/zenodo.42",
            "cstr:31253.11.x.1",
            "hdl:1/a",
            "ark:/12148/b",
            "https://example.org/x?y=1",
            "lakeward:lake/geo/countries@0123456789abcdef",
            "ABS 6401",
        ] {
            let identifier = Identifier::of_publisher(text);
            assert_eq!(Identifier::of_publisher(&identifier.to_string()), identifier, "{text}");
            if let Some(url) = identifier.url() {
                assert_eq!(Identifier::parse(&url), Some(identifier), "{text}");
            }
        }
    }
}
