//! The version that a JSON document names. It is looked at before anything else: the fields of another version may have
//! other types.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};

/// The number at the key `key` of the JSON object `document`; `None` if it has no such key.
///
/// # Errors
/// Those of the parser: `document` is not one JSON object, or has something else than a number at `key`.
pub fn version_of(document: &[u8], key: &str) -> serde_json::Result<Option<u64>> {
    let mut parser = serde_json::Deserializer::from_slice(document);
    let version = parser.deserialize_map(NumberAt(key))?;
    parser.end()?;
    Ok(version)
}

struct NumberAt<'k>(&'k str);

impl<'de> Visitor<'de> for NumberAt<'_> {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a number `{}`", self.0)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut fields: M) -> Result<Self::Value, M::Error> {
        let mut version = None;
        while let Some(key) = fields.next_key::<Cow<'de, str>>()? {
            if key == self.0 {
                version = Some(fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_is_read() {
        let read = |text: &str| version_of(text.as_bytes(), "version").map_err(|error| error.to_string());
        assert_eq!(read(r#"{"a":[{"version":7}],"version":3,"b\u0061":{}}"#), Ok(Some(3)));
        assert_eq!(read(r#"{"a":1}"#), Ok(None));
        for wrong in
            ["", "7", "[]", r#"{"version":"3"}"#, r#"{"version":-1}"#, r#"{"version":3"#, r#"{"version":3} {}"#]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let deep = format!("{{\"a\":{},\"version\":2}}", "[".repeat(100_000) + &"]".repeat(100_000));
        assert!(read(&deep).is_ok_and(|found| found == Some(2)) || read(&deep).is_err());
    }
}
