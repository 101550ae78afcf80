//! The datasets of a lake: catalogue records and tables with metadata.

use lakeward_core::error::Result;
use lakeward_index::LakeIndex;

/// Bytes used of a description.
const DESCRIPTION_BYTES: usize = 16 << 10;

/// A record of a catalogue, or a table of the lake.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DatasetRecord {
    /// Its id in the index.
    pub id: String,
    /// Its title; for a table without one, the words of its id.
    pub title: String,
    /// Its publisher's description.
    pub description: String,
    /// Whether it is a table of the lake; otherwise its data is not in the lake.
    pub is_table: bool,
    /// What it is about, as the index has it ([`lakeward_index::meanings`]); empty if the index has no such vector.
    pub meaning: Vec<f32>,
}

impl DatasetRecord {
    /// All datasets of `index`, sorted by id.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn all(index: &LakeIndex) -> Result<Vec<Self>> {
        let mut records = Vec::with_capacity(index.len());
        for table in index.tables() {
            let dataset = index.dataset(table)?;
            let mut description =
                dataset.metadata().and_then(|metadata| metadata.description.clone()).unwrap_or_default();
            description.truncate(description.floor_char_boundary(DESCRIPTION_BYTES));
            let (id, title) = (dataset.id().to_string(), dataset.title());
            let meaning = match &index.segment(table.segment)?.meanings {
                Some(meanings) => {
                    let mut vector = vec![0.0; meanings.0.dims()];
                    meanings.0.vector(table.table, &mut vector)?;
                    vector
                }
                None => Vec::new(),
            };
            records.push(Self { id, title, description, is_table: !dataset.is_record(), meaning });
        }
        records.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(records)
    }

    /// The searchable text: title and description up to where the description names its sources, without markup, URLs and
    /// the trailing `key: value` lines.
    pub fn text(&self) -> String {
        let described = match self.description.find("Source: ") {
            Some(at) => {
                let before = &self.description[..at];
                before.strip_suffix("Image ").unwrap_or(before)
            }
            None => &self.description,
        };
        let described = prose(described);
        let mut text = format!("{}. ", self.title);
        let mut rest = described;
        while let Some(at) = rest.find("(http") {
            let address = &rest[at..];
            let is_address = address.starts_with("(http:") || address.starts_with("(https:");
            let end = address.find(')').filter(|_| is_address);
            text.push_str(&rest[..at]);
            match end {
                Some(end) => rest = &address[end + 1..],
                None => {
                    text.push_str("(http");
                    rest = &address["(http".len()..];
                }
            }
        }
        text.push_str(rest);
        text.retain(|letter| !matches!(letter, '*' | '[' | ']'));
        text
    }

    /// The text with what the publisher says under other names, such as the paper that introduced it: the values of the `key: value` lines.
    pub fn text_with_fields(&self) -> String {
        let mut text = self.text();
        for value in fields(&self.description) {
            text.push(' ');
            text.push_str(value);
        }
        text
    }
}

/// A description without the `key: value` lines at its end.
fn prose(description: &str) -> &str {
    let mut prose = description;
    while let Some((before, _)) = last_field(prose) {
        prose = before;
    }
    prose
}

/// The values of the `key: value` lines at the end of a description, in order.
fn fields(description: &str) -> Vec<&str> {
    let (mut rest, mut values) = (description, Vec::new());
    while let Some((before, value)) = last_field(rest) {
        rest = before;
        values.push(value);
    }
    values.reverse();
    values
}

/// What stands before the last line, and the value of this line, if it is `key: value`.
fn last_field(text: &str) -> Option<(&str, &str)> {
    let start = text.rfind('\n').map_or(0, |end| end + 1);
    let (key, value) = text[start..].split_once(": ")?;
    let is_key = !key.is_empty() && key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    is_key.then(|| (text[..start].trim_end_matches('\n'), value))
}

/// How many of `texts` name each of `titles`, not counting its own text: the whole title, case-sensitive. Titles of one word that
/// is also an ordinary word of the texts are not searched for, nor titles of less than three letters.
pub fn mention_counts(titles: &[&str], texts: &[String]) -> Vec<u32> {
    use std::collections::{HashMap, HashSet};

    use super::words::identifiers;

    let mut ordinary: HashSet<&str> = HashSet::new();
    for text in texts {
        ordinary.extend(
            identifiers(text).filter(|run| run.chars().any(char::is_lowercase) && !run.chars().any(char::is_uppercase)),
        );
    }
    let is_odd = |word: &str| {
        word.chars().any(char::is_numeric) || word.chars().skip(1).any(|letter| letter.is_ascii_uppercase())
    };
    let mut names: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
    let mut longest = 0;
    for (place, title) in titles.iter().enumerate() {
        let words: Vec<&str> = identifiers(title).collect();
        let letters: usize = words.iter().map(|word| word.chars().count()).sum();
        let is_ordinary = |word: &str| ordinary.contains(word.to_lowercase().as_str()) && !is_odd(word);
        let is_number = |word: &str| word.starts_with(char::is_numeric);
        if letters < 3 || (words.len() == 1 && (is_ordinary(words[0]) || is_number(words[0]))) {
            continue;
        }
        longest = longest.max(words.len());
        names.entry(words).or_default().push(place);
    }
    let mut counts = vec![0; titles.len()];
    for (own, text) in texts.iter().enumerate() {
        let words: Vec<&str> = identifiers(text).collect();
        let mut named: HashSet<usize> = HashSet::new();
        let mut at = 0;
        while at < words.len() {
            let most = longest.min(words.len() - at);
            let found = (1..=most).rev().find_map(|length| Some((length, names.get(&words[at..at + length])?)));
            let Some((length, places)) = found else {
                at += 1;
                continue;
            };
            named.extend(places);
            at += length;
        }
        named.into_iter().filter(|place| *place != own).for_each(|place| counts[place] += 1);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_its_sources_and_names_are_counted() {
        let record = DatasetRecord {
            title: "RoadSet".into(),
            description: "**RoadSet** has [lanes](https://x.org/a) (http odd). \nmade_in: Ghent".into(),
            ..DatasetRecord::default()
        };
        assert_eq!(record.text(), "RoadSet. RoadSet has lanes (http odd). ");
        assert_eq!(record.text_with_fields(), "RoadSet. RoadSet has lanes (http odd).  Ghent");
        let credited = DatasetRecord { description: "Lanes. Image Source: elsewhere".into(), ..record };
        assert_eq!(credited.text(), "RoadSet. Lanes. ");
        let texts = [
            "RoadSet. It extends Open Lanes and the flow of it".into(),
            "Open Lanes. Flow".into(),
            "Flow. Of RoadSet".into(),
        ];
        assert_eq!(mention_counts(&["RoadSet", "Open Lanes", "Flow"], &texts), [1, 1, 0]);
    }
}
