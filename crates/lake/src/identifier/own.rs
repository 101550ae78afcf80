//! Our own identifiers, `lakeward:<lake>/<table>@<hash>`: the former place of the table as a hint, and the hash of its content,
//! which decides.

use std::fmt;

use crate::source::{ContentHash, TableId};

/// Prefix of these identifiers.
pub const SCHEME: &str = "lakeward:";
/// Hex digits of the hash in an identifier: 64 bits, so that among a million tables two have the same digits with a probability
/// of about 3·10⁻⁸.
pub const HASH_DIGITS: usize = 16;
/// Fewest hex digits that identify a version.
const LEAST_DIGITS: usize = 8;

/// An identifier of a table as it was when it was cited.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnIdentifier {
    /// The name of the lake's folder at that time.
    pub lake: String,
    /// The id of the table at that time.
    pub table: String,
    /// Leading hex digits of the hash of its content, in small letters, 8 to 64; none for any version.
    pub hash: Option<String>,
}

impl OwnIdentifier {
    /// The identifier of a table of lake `lake` with this content.
    pub fn of(lake: &str, table: &TableId, content: &ContentHash) -> Self {
        Self { lake: lake.to_string(), table: table.to_string(), hash: Some(version(content)) }
    }

    /// Parses `text`.
    pub fn parse(text: &str) -> Option<Self> {
        let head = text.get(..SCHEME.len())?;
        if !head.eq_ignore_ascii_case(SCHEME) {
            return None;
        }
        let (lake, rest) = text[SCHEME.len()..].trim_start().split_once('/')?;
        let (table, hash) = match rest.rsplit_once('@') {
            Some((table, hash)) if is_hash(hash) => (table, Some(hash.to_lowercase())),
            _ => (rest, None),
        };
        let whole = !lake.is_empty() && !table.is_empty();
        whole.then(|| Self { lake: lake.to_string(), table: table.to_string(), hash })
    }

    /// Whether `content` is the version that the identifier names; true if it names none.
    pub fn is_version(&self, content: &[u8; 32]) -> bool {
        self.hash.as_deref().is_none_or(|hash| begins_with(content, hash))
    }
}

impl fmt::Display for OwnIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.lake, self.table)?;
        match &self.hash {
            Some(hash) => write!(f, "@{hash}"),
            None => Ok(()),
        }
    }
}

/// The version of a content: the leading digits of its hash.
pub fn version(content: &ContentHash) -> String {
    let hash = content.to_string();
    hash.get(..HASH_DIGITS).unwrap_or(&hash).to_string()
}

fn is_hash(text: &str) -> bool {
    (LEAST_DIGITS..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the hex digits of `content` begin with `hash`, which is in small letters.
pub(super) fn begins_with(content: &[u8; 32], hash: &str) -> bool {
    let digit = |at: usize| {
        let byte = content.get(at / 2).copied().unwrap_or_default();
        char::from_digit(u32::from(if at.is_multiple_of(2) { byte >> 4 } else { byte & 15 }), 16)
    };
    hash.chars().enumerate().all(|(at, c)| at < 64 && digit(at) == Some(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_read_as_it_is_written() {
        let content = ContentHash::of_bytes(b"a,b\n1,2\n");
        let own = OwnIdentifier::of("my lake", &TableId::new("a@b/c.d"), &content);
        assert_eq!(own, OwnIdentifier::parse(&own.to_string()).unwrap());
        assert!(own.is_version(content.as_bytes()));
        assert!(!own.is_version(ContentHash::of_bytes(b"a,b\n1,3\n").as_bytes()));
        let read = OwnIdentifier::parse("LAKEWARD:lake/geo/countries@0123456789ABCDEF").unwrap();
        assert_eq!((read.table.as_str(), read.hash.as_deref()), ("geo/countries", Some("0123456789abcdef")));
        let any = OwnIdentifier::parse("lakeward:lake/x@y").unwrap();
        assert_eq!((any.table.as_str(), any.hash), ("x@y", None));
        for text in ["lakeward:", "lakeward:lake", "lakeward:/x@12345678", "lakewards:a/b", "lakeward:a/"] {
            assert_eq!(OwnIdentifier::parse(text), None, "{text}");
        }
    }
}
