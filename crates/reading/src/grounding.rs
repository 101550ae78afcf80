//! What the lake knows of the names in a request: places that its columns hold, headers of the tables in view.

use crate::signals::constraints::Grounding;
use lakeward_core::text::{NameParts, name_words};
use lakeward_index::LakeIndex;
use lakeward_lake::semantic::SemanticType;
use lakeward_sketch::normalise::Normaliser;

/// Columns looked at for one value; a value of more columns than this is a common word.
const MOST_COLUMNS: usize = 200;
/// A header this much like a phrase is named by it.
const NAMED: f64 = 0.85;
/// Longest phrase looked up.
const LONGEST_PHRASE: usize = 100;
/// Words of headers whose columns hold places.
const PLACE_WORDS: [&str; 22] = [
    "area",
    "borough",
    "canton",
    "city",
    "constituency",
    "counties",
    "country",
    "county",
    "department",
    "district",
    "island",
    "location",
    "municipality",
    "neighborhood",
    "neighbourhood",
    "place",
    "province",
    "region",
    "state",
    "territory",
    "town",
    "ward",
];

/// Headers that a request may name, and nothing of a lake.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    headers: Vec<(String, NameParts)>,
}

impl Headers {
    /// These headers.
    pub fn new(headers: impl IntoIterator<Item = String>) -> Self {
        Self { headers: headers.into_iter().map(|header| (header.clone(), NameParts::of(&header))).collect() }
    }
}

impl Grounding for Headers {
    fn place(&self, _phrase: &str) -> Option<String> {
        None
    }

    fn column(&self, phrase: &str) -> Option<String> {
        if phrase.len() > LONGEST_PHRASE {
            return None;
        }
        let wanted = NameParts::of(phrase);
        let best = self.headers.iter().map(|(header, parts)| (parts.likeness(&wanted), header));
        let (likeness, header) = best.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))?;
        (likeness >= NAMED).then(|| header.clone())
    }
}

/// A lake and the headers in view.
pub struct LakeGrounding<'a> {
    index: &'a LakeIndex,
    headers: Headers,
}

impl<'a> LakeGrounding<'a> {
    /// The lake of `index`, and `headers` of the working table and the tables shown.
    pub fn new(index: &'a LakeIndex, headers: impl IntoIterator<Item = String>) -> Self {
        Self { index, headers: Headers::new(headers) }
    }

    /// Whether a column of places holds the value of `hash`. A damaged list holds nothing: the searches report it.
    fn is_place(&self, hash: u64) -> bool {
        self.index.segments().iter().any(|segment| {
            let Ok(Some(list)) = segment.join.values.find(hash) else { return false };
            let (mut looked_at, mut found) = (0, false);
            let read = segment.join.values.for_each(list, |column| {
                looked_at += 1;
                if found || looked_at > MOST_COLUMNS {
                    return;
                }
                let Ok(record) = segment.columns.record(column) else { return };
                let named = segment.columns.name(record).map(name_words).unwrap_or_default();
                found = segment.is_live(record.table)
                    && (matches!(record.semantic(), Some(SemanticType::Country | SemanticType::UsState))
                        || named.iter().any(|word| PLACE_WORDS.contains(&word.as_str())));
            });
            read.is_ok() && found
        })
    }
}

impl Grounding for LakeGrounding<'_> {
    fn place(&self, phrase: &str) -> Option<String> {
        let phrase = phrase.trim();
        if phrase.len() < 3 || phrase.len() > LONGEST_PHRASE {
            return None;
        }
        let hash = Normaliser::default().value(phrase).hash;
        self.is_place(hash).then(|| phrase.to_string())
    }

    fn column(&self, phrase: &str) -> Option<String> {
        self.headers.column(phrase)
    }
}
