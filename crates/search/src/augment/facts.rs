//! What is known of a table or record, bounded: all that a question may be derived from.
//!
//! Metadata and profile are somebody else's words: every text is cut, stripped of what does not show, and counted. Nothing else
//! of the table reaches a generator, so nothing else can reach a question.

use serde::Serialize;

use lakeward_core::text::{is_placeholder, name_words, on_one_line, shown};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::grain::GrainKind;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType};
use lakeward_lake::source::ContentHash;

/// Characters kept of a title, a publisher, a period, places.
const LINE_CHARS: usize = 160;
/// Characters kept of a description.
const DESCRIPTION_CHARS: usize = 2400;
/// Tags kept, and characters of each.
const MOST_TAGS: usize = 16;
const TAG_CHARS: usize = 48;
/// Columns kept, and characters of their names.
const MOST_COLUMNS: usize = 30;
const NAME_CHARS: usize = 64;
/// Values kept of a column, and characters of each.
const MOST_VALUES: usize = 3;
const VALUE_CHARS: usize = 40;
/// Places kept of a column of places.
const MOST_PLACES: usize = 5;

/// What is known of one table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// The table's id.
    pub id: String,
    /// The publisher's title.
    pub title: Option<String>,
    /// The publisher's description, from its beginning.
    pub description: String,
    /// Keywords, the first of them.
    pub tags: Vec<String>,
    /// Who publishes it.
    pub publisher: Option<String>,
    /// Whether a licence is named.
    pub has_licence: bool,
    /// First and last year or day, of a column or as the publisher says; one text where it is not parted.
    pub period: Option<(String, String)>,
    /// Whether the period and the places were read from cells.
    #[serde(skip)]
    pub from_cells: FromCells,
    /// Places as the publisher says, else examples of a column of places.
    pub places: Vec<String>,
    /// What kind of places, where a column tells.
    pub place_kind: Option<SemanticType>,
    /// Columns, the first of them.
    pub columns: Vec<FactColumn>,
    /// Rows; none for a record.
    pub rows: Option<u64>,
    /// Whether a row is a figure over a group.
    pub is_aggregate: bool,
}

/// Which facts no publisher states.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FromCells {
    /// The period.
    pub period: bool,
    /// The places.
    pub places: bool,
}

/// What is known of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactColumn {
    /// Its name in the file.
    pub name: String,
    /// Its name in words: the publisher's title, else the words of `name`; empty where it only counts columns.
    pub words: String,
    /// Unit of measure as the publisher says.
    pub unit: Option<String>,
    /// The type its cells share.
    pub logical: LogicalType,
    /// What its values stand for.
    pub semantic: Option<SemanticType>,
    /// Whether most of its values occur once.
    pub is_unique: bool,
    /// Different values.
    pub distinct: u64,
    /// Its most frequent values.
    pub values: Vec<String>,
}

impl Facts {
    /// What is known of `dataset`.
    pub fn of(dataset: &Dataset) -> Facts {
        let metadata = dataset.metadata().cloned().unwrap_or_default();
        let profile = dataset.table().map(|table| &table.profile);
        let line = |text: &String| Some(tidy(text, LINE_CHARS)).filter(|text| !text.is_empty());
        let units = |column: &ColumnProfile| metadata.columns.get(&column.name);
        let published = metadata.temporal.as_ref().and_then(|time| {
            let side = |side: &Option<String>| side.as_ref().or(time.words.as_ref()).and_then(line);
            Some((side(&time.start)?, side(&time.end)?))
        });
        let profiled = profile
            .and_then(|profile| profile.time.as_ref())
            .map(|time| (tidy(&time.from, NAME_CHARS), tidy(&time.to, NAME_CHARS)));
        let in_column = profile.and_then(|profile| profile.places.as_ref());
        let examples = in_column.into_iter().flat_map(|places| &places.examples);
        Facts {
            id: dataset.id().to_string(),
            title: metadata.title.as_ref().and_then(line),
            description: metadata.description.as_deref().map_or_else(String::new, description),
            tags: metadata
                .tags
                .iter()
                .take(MOST_TAGS)
                .map(|tag| tidy(tag, TAG_CHARS))
                .filter(|tag| !tag.is_empty())
                .collect(),
            publisher: metadata.publisher.as_ref().and_then(line),
            has_licence: metadata.licence.is_some(),
            from_cells: FromCells { period: published.is_none(), places: metadata.spatial.is_empty() },
            period: published.or(profiled).filter(|(from, to)| !from.is_empty() && !to.is_empty()),
            places: match metadata.spatial.is_empty() {
                false => metadata.spatial.iter().take(MOST_PLACES).map(|place| tidy(place, VALUE_CHARS)).collect(),
                true => examples.take(MOST_PLACES).map(|place| tidy(place, VALUE_CHARS)).collect(),
            },
            place_kind: in_column.map(|places| places.kind),
            columns: dataset
                .columns()
                .iter()
                .take(MOST_COLUMNS)
                .map(|column| {
                    fact_column(
                        column,
                        units(column).and_then(|said| said.title.as_deref()),
                        units(column).and_then(|said| said.unit.as_deref()),
                    )
                })
                .collect(),
            rows: profile.map(|profile| profile.rows),
            is_aggregate: profile.is_some_and(|profile| profile.grain.kind == GrainKind::Aggregate),
        }
    }

    /// A hash of all of it: equal facts, equal questions.
    pub fn content(&self) -> String {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        let hash = ContentHash::of_bytes(&bytes).to_string();
        hash.get(..32).unwrap_or(&hash).to_string()
    }

    /// What the table is called: its title, else the words of its file name; empty where neither says anything.
    pub fn name(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let last = self.id.rsplit('/').next().unwrap_or_default();
        let words = name_words(&tidy(last, LINE_CHARS));
        let says = |word: &String| word.chars().count() > 2 && word.chars().all(char::is_alphabetic);
        if words.iter().any(says) { words.join(" ") } else { String::new() }
    }

    /// Every text of it, for checking whether something stands in it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let lines = [&self.title, &self.publisher].into_iter().flatten().map(String::as_str);
        let period = self.period.iter().flat_map(|(from, to)| [from.as_str(), to.as_str()]);
        let columns = self.columns.iter().flat_map(|column| {
            let words = [column.name.as_str(), column.words.as_str()].into_iter();
            words.chain(column.unit.as_deref()).chain(column.values.iter().map(String::as_str))
        });
        let lists = self.tags.iter().chain(&self.places).map(String::as_str);
        [self.id.as_str(), self.description.as_str()].into_iter().chain(lines).chain(period).chain(lists).chain(columns)
    }
}

fn fact_column(column: &ColumnProfile, title: Option<&str>, unit: Option<&str>) -> FactColumn {
    let name = tidy(&column.name, NAME_CHARS);
    let words = match title {
        Some(title) => tidy(title, NAME_CHARS),
        None if is_placeholder(&name) => String::new(),
        None => name_words(&name).join(" "),
    };
    FactColumn {
        words,
        unit: unit.map(|unit| tidy(unit, VALUE_CHARS)).filter(|unit| !unit.is_empty()),
        logical: column.logical,
        semantic: column.semantic,
        is_unique: column.uniqueness > 0.5,
        distinct: column.distinct,
        values: column
            .top
            .iter()
            .map(|(value, _)| tidy(value, VALUE_CHARS))
            .filter(|value| !value.is_empty())
            .take(MOST_VALUES)
            .collect(),
        name,
    }
}

/// At most `chars` characters on one line, cut between words where there is room to, harmless to show.
pub(super) fn tidy(text: &str, chars: usize) -> String {
    // More than is kept, less than without bound: white space may shrink.
    let head = &text[..text.floor_char_boundary(chars.saturating_mul(8))];
    let clean: Vec<String> = head.split_whitespace().map(|word| shown(word, chars)).collect();
    let clean = clean.join(" ");
    let clean = on_one_line(&clean);
    if clean.chars().count() <= chars {
        return clean;
    }
    let cut: String = clean.chars().take(chars).collect();
    match cut.rfind(' ') {
        Some(at) if at * 2 > cut.len() => cut[..at].to_string(),
        _ => cut,
    }
}

/// The beginning of a description, its lines kept apart.
fn description(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        let room = DESCRIPTION_CHARS.saturating_sub(kept.chars().count());
        if room < 8 {
            break;
        }
        let line = tidy(line, room);
        if !line.is_empty() {
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(&line);
        }
    }
    kept
}
