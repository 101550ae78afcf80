//! How well a list of a small table explains a column: by its codes, by what it is called, and by how hardly it has them all by chance.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{ALIKE, CodeList, KNOWS, ONE_CODE, SmallTable, UNIQUE};
use lakeward_core::text::NameParts;
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_models::embed::SentenceModel;
use lakeward_search::QueryColumn;
use lakeward_sketch::{Normaliser, Writing};

/// Longest meaning in bytes, and most of one list: a turn is compared with each.
const LONGEST_MEANING: usize = 80;
const MOST_MEANINGS: usize = 1_000;

/// A list is not by chance one that has all codes where a list of as many would have them by chance with this probability at most, and where this
/// share of it is used.
const BY_CHANCE: f64 = 1e-3;
const USED: f64 = 0.25;

/// Meanings with their codes.
type Meanings = Vec<(String, String)>;

/// What tells a list from others of its table, and the rows of the list.
type ListRows = (Option<(String, String)>, Vec<usize>);

/// A list that may explain a column, and how well.
pub(super) struct Fitting {
    pub list: CodeList,
    pub score: f64,
}

/// How a table may say what the codes in a column of it mean.
pub(super) struct Form {
    /// The column is its key, and a text stands beside each.
    pub is_list: bool,
    /// Another column may tell several lists apart, in which codes stand again or not.
    pub has_parts: bool,
}

impl Form {
    pub fn of(profiles: &[ColumnProfile], code: usize) -> Self {
        let others = || profiles.iter().enumerate().filter(|(place, _)| *place != code).map(|(_, profile)| profile);
        let texts = || others().filter(|profile| profile.logical == LogicalType::Text);
        let is_key = profiles.get(code).is_some_and(|profile| profile.uniqueness >= UNIQUE);
        Self {
            is_list: is_key && texts().any(|profile| profile.uniqueness >= ONE_CODE),
            has_parts: texts().count() > 1 && texts().any(is_part),
        }
    }
}

/// Whether a column may tell lists of codes apart.
pub(super) fn is_part(profile: &ColumnProfile) -> bool {
    profile.logical == LogicalType::Text && profile.uniqueness <= 0.5
}

/// How much a column is called like the codes of a table, or the table.
pub(super) fn called(column: &QueryColumn, entry: &TableEntry, code: usize) -> f64 {
    let own = NameParts::of(&column.profile.name);
    let code = entry.profile.columns.get(code).map_or("", |profile| profile.name.as_str());
    alike(&own, code).max(alike(&own, last_part(entry.id.as_str())))
}

pub(super) fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

pub(super) fn alike(own: &NameParts, name: &str) -> f64 {
    let name = NameParts::of(name);
    own.likeness(&name).max(own.short_form(&name))
}

/// Whether a list of so many codes, of which this share is used, explains a column that is so much called like it.
pub(super) fn may_explain(column: &QueryColumn, called: f64, (used, codes): (f64, usize)) -> bool {
    called >= ALIKE || (used >= USED && by_chance(column, codes) <= BY_CHANCE)
}

/// The lists of a table, by its column `code`, that may explain a column.
pub(super) fn fitting(column: &QueryColumn, table: &SmallTable, entry: &TableEntry, code: usize) -> Vec<Fitting> {
    let profiles = &entry.profile.columns;
    let Some(code_profile) = profiles.get(code) else { return Vec::new() };
    let own = NameParts::of(&column.profile.name);
    let called = called(column, entry, code);
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let form = Form::of(profiles, code);
    let mut lists: Vec<ListRows> = if form.is_list { vec![(None, all)] } else { Vec::new() };
    if form.has_parts {
        lists.extend(parts_of(table, profiles, code));
    }
    let mut found = Vec::new();
    for (part, rows) in lists {
        let of_part = part.as_ref().map_or(0.0, |(_, name)| alike(&own, name).max(longest_word_alike(&own, name)));
        // Where all codes of a table differ, a part of it is a list of its own only where that is called so.
        let called = if form.is_list && part.is_some() { of_part } else { called.max(of_part) };
        if form.is_list && part.is_some() && of_part < ALIKE {
            continue;
        }
        let Some((share, used)) = coverage(column, table, &rows, code) else { continue };
        if share < KNOWS || !may_explain(column, called, (used, rows.len())) {
            continue;
        }
        let (columns, meanings) = meanings_of(column, table, profiles, &rows, (code, part.as_ref()));
        if !columns.is_empty() {
            let list = CodeList { table: table.id.clone(), part, code: code_profile.name.clone(), columns, meanings };
            found.push(Fitting { list, score: fitting_score(called, share, used) });
        }
    }
    found
}

/// How well a list fits a column: how much it is `called` alike, plus the `share` of the column's codes that it has, plus half of the share of its
/// own codes that are `used`.
pub(super) fn fitting_score(called: f64, share: f64, used: f64) -> f64 {
    called + share + 0.5 * used
}

/// How alike a name and the words of another are that are a word of it: `stat` and `SHIPSTAT`.
pub(super) fn longest_word_alike(own: &NameParts, name: &str) -> f64 {
    let lower = name.to_lowercase();
    let is_in = own.words().iter().any(|word| word.len() >= 3 && lower.contains(word.as_str()));
    if is_in { ALIKE } else { 0.0 }
}

/// The lists of a table that a column of it tells apart, each with its rows: that with the fewest values in each of which a code stands once.
fn parts_of(table: &SmallTable, profiles: &[ColumnProfile], code: usize) -> Vec<ListRows> {
    let mut best: Option<(usize, BTreeMap<&str, Vec<usize>>)> = None;
    for (place, profile) in profiles.iter().enumerate().filter(|(place, _)| *place != code) {
        if !is_part(profile) {
            continue;
        }
        let mut lists: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut seen: HashSet<(&str, &str)> = HashSet::new();
        let is_key = table.rows.iter().enumerate().all(|(number, row)| {
            let (Some(name), Some(code)) = (row.get(place), row.get(code)) else { return false };
            lists.entry(name).or_default().push(number);
            seen.insert((name, code))
        });
        if is_key && lists.len() > 1 && best.as_ref().is_none_or(|(_, known)| lists.len() < known.len()) {
            best = Some((place, lists));
        }
    }
    let Some((place, lists)) = best else { return Vec::new() };
    let name = &profiles[place].name;
    lists.into_iter().map(|(value, rows)| (Some((name.clone(), value.to_string())), rows)).collect()
}

/// Shares of the codes at hand that rows of a list have, and of the list that they are.
fn coverage(column: &QueryColumn, table: &SmallTable, rows: &[usize], code: usize) -> Option<(f64, f64)> {
    let mut normaliser = Normaliser::new(Writing::typed());
    let mut shared = 0usize;
    for row in rows {
        let hash = normaliser.value(table.rows[*row].get(code)?).hash;
        shared += usize::from(column.values.hashes.binary_search(&hash).is_ok());
    }
    let total = column.values.hashes.len();
    (total > 0 && !rows.is_empty()).then(|| (shared as f64 / total as f64, shared as f64 / rows.len() as f64))
}

/// The probability that a list of so many codes of the form of those at hand has them all. Whole numbers from the first on are those of any list.
fn by_chance(column: &QueryColumn, codes: usize) -> f64 {
    const LETTERS: f64 = 26.0;
    let top = &column.profile.top;
    let has_digits = |(value, _): &(String, u64)| value.bytes().all(|byte| byte.is_ascii_digit());
    if column.profile.logical != LogicalType::Text || top.iter().all(has_digits) {
        return 1.0;
    }
    let length = top.iter().map(|(value, _)| value.trim().chars().count()).min().unwrap_or(1).min(4);
    let possible = LETTERS.powi(length as i32);
    (codes as f64 / possible).min(1.0).powi(column.values.hashes.len().min(64) as i32)
}

/// The columns of meanings, that which reads most like English first, and the meanings with their codes in that order; those that two codes have
/// are left out.
fn meanings_of(
    column: &QueryColumn,
    table: &SmallTable,
    profiles: &[ColumnProfile],
    rows: &[usize],
    (code, part): (usize, Option<&(String, String)>),
) -> (Vec<String>, Meanings) {
    let mut normaliser = Normaliser::new(Writing::typed());
    // As the column at hand writes them.
    let written: HashMap<u64, &str> = {
        let samples = column.sketch.samples.iter().map(|(_, value)| value.as_str());
        let known = column.profile.top.iter().map(|(value, _)| value.as_str()).chain(samples);
        known.map(|value| (normaliser.value(value).hash, value)).collect()
    };
    let mut labels: Vec<(f64, &str, Meanings)> = Vec::new();
    for (place, profile) in profiles.iter().enumerate() {
        let is_part = part.is_some_and(|(name, _)| *name == profile.name);
        if place == code || is_part || profile.logical != LogicalType::Text {
            continue;
        }
        let mut codes: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
        for row in rows.iter().map(|row| &table.rows[*row]) {
            if let (Some(label), Some(code)) = (row.get(place), row.get(code))
                && label.len() <= LONGEST_MEANING
                && label.contains(char::is_alphabetic)
            {
                codes.entry(label.trim()).or_default().insert(code);
            }
        }
        let single = codes.iter().filter(|(_, codes)| codes.len() == 1);
        let single: Vec<(&str, &str)> =
            single.filter_map(|(label, codes)| Some((*label, *codes.iter().next()?))).collect();
        if (single.len() as f64) < ONE_CODE * rows.len() as f64 {
            continue;
        }
        let words: Vec<&str> = single.iter().flat_map(|(label, _)| label.split_whitespace()).collect();
        let is_plain = |word: &&&str| SentenceModel::builtin().word_pieces(word).len() == 1;
        let plain = words.iter().filter(is_plain).count() as f64 / words.len().max(1) as f64;
        let mut as_written = |code: &str| {
            let hash = normaliser.value(code).hash;
            written.get(&hash).map_or_else(|| code.to_string(), |own| (*own).to_string())
        };
        let single = single.into_iter().map(|(label, code)| (label.to_string(), as_written(code))).collect();
        labels.push((plain, &profile.name, single));
    }
    labels.sort_by(|a, b| b.0.total_cmp(&a.0));
    let columns = labels.iter().map(|(_, name, _)| (*name).to_string()).collect();
    let mut seen = HashSet::new();
    let labels = labels.into_iter().flat_map(|(.., labels)| labels).filter(|(label, _)| seen.insert(label.clone()));
    (columns, labels.take(MOST_MEANINGS).collect())
}
