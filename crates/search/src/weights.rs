//! The weights of every ranking, in one versioned file that the program ships and `lakeward tune` writes.

use std::path::Path;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::candidates::RelevanceWeights;
use super::join::JoinWeights;
use super::search::SearchWeights;
use super::union::UnionWeights;
use lakeward_core::error::{Error, Result, nearest_field};

/// The version of the file that this program reads and writes.
pub const VERSION: u32 = 1;
/// Longest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// The file that ships.
const SHIPPED: &str = include_str!("weights.json");

/// Weights of the searches and of what is made of them. α, β and γ of the utility stand in the same file and are kept here as
/// they were read: they belong to a later part of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RankingWeights {
    /// [`VERSION`].
    pub version: u32,
    /// Of join search.
    pub join: JoinWeights,
    /// Of union search.
    pub union: UnionWeights,
    /// Of text search.
    pub search: SearchWeights,
    /// Of the three together.
    pub relevance: RelevanceWeights,
    /// Of the utility: α, β, γ and the form of Eq. 3.
    pub utility: Map<String, Value>,
}

impl RankingWeights {
    /// The weights that ship with the program.
    pub fn shipped() -> &'static Self {
        static WEIGHTS: OnceLock<RankingWeights> = OnceLock::new();
        WEIGHTS.get_or_init(|| {
            #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
            serde_json::from_str(SHIPPED).expect("the shipped weights are well-formed")
        })
    }

    /// The weights of a file that `lakeward tune` wrote.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] for a file of another version, an unknown or missing name, or a weight below 0.
    pub fn load(path: &Path) -> Result<Self> {
        let wrong = |what: String| Error::Usage(format!("`{}` {what}", path.display()));
        let size = std::fs::metadata(path).map_err(|error| Error::io("read", path, error))?.len();
        if size > MOST_BYTES {
            return Err(wrong(format!("has {size} bytes; that is no file of weights")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
        let version = value.get("version").and_then(Value::as_u64);
        if version != Some(u64::from(VERSION)) {
            let version = version.map_or("no version".to_string(), |version| format!("version {version}"));
            return Err(wrong(format!(
                "has {version}, this program reads version {VERSION}; run `lakeward tune` again"
            )));
        }
        let weights: Self = serde_json::from_value(value).map_err(|error| wrong(unknown_name(&error.to_string())))?;
        let (name, value) = weights.least();
        if value.is_finite() && value >= 0.0 {
            return Ok(weights);
        }
        Err(wrong(format!("has {value} for {name}; a weight is a number of 0 or more")))
    }

    /// The weights as the file has them.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The first 16 hexadecimal digits of the weights' BLAKE3 hash: which ones a figure was measured with.
    pub fn hash(&self) -> String {
        blake3::hash(self.to_json().as_bytes()).to_hex().as_str()[..16].to_string()
    }

    /// The name and value of the smallest weight, or of one that is no number.
    fn least(&self) -> (String, f64) {
        let RelevanceWeights { to_join, otherwise } = self.relevance;
        let parts = [
            ("join", super::join::JoinFeatures::NAMES, self.join.values()),
            ("union", super::union::UnionFeatures::NAMES, self.union.values()),
            ("search", super::search::SearchFeatures::NAMES, self.search.values()),
            ("relevance.to_join", &["search", "join", "union"], vec![to_join.search, to_join.join, to_join.union]),
            (
                "relevance.otherwise",
                &["search", "join", "union"],
                vec![otherwise.search, otherwise.join, otherwise.union],
            ),
        ];
        let named = parts.iter().flat_map(|(part, names, values)| {
            names.iter().zip(values).map(move |(name, value)| (format!("{part}.{name}"), *value))
        });
        named.fold((String::new(), f64::INFINITY), |least, next| if next.1 >= least.1 { least } else { next })
    }
}

/// Serde's message about a name that it does not know, with the nearest that it does.
fn unknown_name(message: &str) -> String {
    match nearest_field(message) {
        Some(nearest) => format!("is no file of weights: {message}; did you mean `{nearest}`?"),
        None => format!("is no file of weights: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_written_as_they_are_read_and_mistakes_are_named() {
        let shipped = RankingWeights::shipped();
        assert_eq!(shipped.to_json(), SHIPPED);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.json");
        std::fs::write(&path, SHIPPED).unwrap();
        assert_eq!(&RankingWeights::load(&path).unwrap(), shipped);
        let wrong = |from: &str, to: &str| {
            std::fs::write(&path, SHIPPED.replacen(from, to, 1)).unwrap();
            RankingWeights::load(&path).unwrap_err().to_string()
        };
        assert!(wrong("\"version\": 1", "\"version\": 7").contains("version 7"));
        assert!(wrong("\"relevance\"", "\"relevanec\"").contains("did you mean `relevance`?"));
        let (from, to) = ("\"search\": 0.1", "\"search\": -0.2");
        assert!(wrong(from, to).contains("-0.2 for relevance.to_join.search"), "{}", wrong(from, to));
        assert!(wrong("{", "").contains("is not JSON"));
    }
}
