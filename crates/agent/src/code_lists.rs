//! Code lists: tables of the lake that say what the codes of a column mean (`A` is cancelled), one list a table, or several in one that a further
//! column tells apart.
//!
//! A list explains a column where it has all its codes, and is called like it, or could hardly have them all by chance.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::Agent;
use super::tables::is_any_held;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::{
    Comparison, Condition, Expression, Join, JoinKey, JoinKind, Kept, Plan, Relation, Step, Value,
};
use lakeward_core::request::Input;
use lakeward_core::text::{NameParts, bare, is_function_word, name_words, stems};
use lakeward_index::TableRef;
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_models::embed::SentenceModel;
use lakeward_models::languages::written_in_names;
use lakeward_operate::{CellForm, table_rows, texts};
use lakeward_search::{QueryColumn, QueryTable, join};
use lakeward_sketch::{Normaliser, Writing};

/// A table of more rows or columns is no code list, a column of more or longer values has no codes.
const MOST_ROWS: u64 = 2_000;
const MOST_COLUMNS: usize = 12;
const MOST_CODES: usize = 500;
const LONGEST_CODE: usize = 12;
/// Longest meaning in bytes, and most of one list: a turn is compared with each.
const LONGEST_MEANING: usize = 80;
const MOST_MEANINGS: usize = 1_000;
/// Different whole numbers that may be codes.
const MOST_NUMBERS: usize = 100;
/// Share of the codes at hand that a list has.
const KNOWS: f64 = 0.9;
/// Share of the rows of a list that have a code of their own, and of meanings that one code has.
const UNIQUE: f64 = 0.999;
const ONE_CODE: f64 = 0.9;
/// Tables of each form that are looked into for one column, and that a list is tried for.
const LOOKED_INTO: usize = 2;
const TRIED: usize = 16;
/// How alike names are that are called so, in 0..=1, and how alike words are that speak of a column.
const ALIKE: f64 = 0.5;
const CALLED: f64 = 0.6;
/// Tables whose lists are kept; a server lives long.
const MOST_KEPT: usize = 1_000;
/// A lake of more tables is not looked through for those that a list explains.
const MOST_TABLES: usize = 2_000;
/// A list is not by chance one that has all codes where a list of as many would have them by chance with this probability at most, and where this
/// share of it is used.
const BY_CHANCE: f64 = 1e-3;
const USED: f64 = 0.25;

/// What the codes of one column mean.
#[derive(Debug, Clone)]
pub(super) struct CodeList {
    /// The table that says so.
    pub table: String,
    /// The column and its value that tell the list from others of the table.
    pub part: Option<(String, String)>,
    /// The column of the codes.
    pub code: String,
    /// The columns of the meanings, that which reads most like English first.
    pub columns: Vec<String>,
    /// Meanings with the codes as the column at hand writes them; of one code the plainest English first.
    pub meanings: Vec<(String, String)>,
}

/// Meanings with their codes.
type Meanings = Vec<(String, String)>;

/// What tells a list from others of its table, and the rows of the list.
type ListRows = (Option<(String, String)>, Vec<usize>);

/// The code lists of the columns of tables that were asked for, by table.
#[derive(Debug, Default)]
pub struct CodeLists(Mutex<HashMap<String, Listed>>);

/// Columns with their code lists.
type Listed = Arc<Vec<(String, CodeList)>>;

impl CodeList {
    /// Adds what the codes of `column` mean to its rows, by the column `meaning` of the list.
    fn join(&self, column: &str, meaning: &str) -> Join {
        let of_list = |(name, value): &(String, String)| {
            let (left, right) = (Expression::column(name.clone()), Expression::Value(Value::Text(value.clone())));
            Step::Filter(Condition::Compare { left, comparison: Comparison::Equal, right })
        };
        let with =
            Relation { source: Input::Table(self.table.clone()), steps: self.part.iter().map(of_list).collect() };
        let on = vec![JoinKey { left: column.to_string(), right: self.code.clone(), exact: false }];
        let columns = vec![Kept { column: meaning.to_string(), name: None }];
        Join { with, kind: JoinKind::Left, on, columns }
    }
}

/// A table with codes that a list explains.
pub(super) struct Explained {
    /// The id of the list's table.
    pub list: String,
    /// The table with the codes.
    pub table: TableRef,
}

/// A small table as text.
struct SmallTable {
    id: String,
    rows: Vec<Vec<String>>,
}

/// A list that may explain a column, and how well.
struct Fitting {
    list: CodeList,
    score: f64,
}

impl Agent<'_> {
    /// The columns of a table that have code lists, with these.
    ///
    /// # Errors
    /// A damaged index; a table that cannot be read explains nothing.
    pub(super) fn code_lists(&self, session: &Session, table: &QueryTable) -> Result<Listed> {
        // A step's result that is made again may be another one.
        let mut key = format!("{}\n{}\n{}", table.path.display(), table.entry.id, rows_of(&table.entry));
        table.columns.iter().for_each(|column| key.extend(["\n", &column.profile.name]));
        if let Some(known) = self.lock_code_lists().get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut opened: HashMap<TableRef, Option<SmallTable>> = HashMap::new();
        let mut lists = Vec::new();
        for column in &table.columns {
            // A key of the lake's own tables says nothing that others explain; of a result it is what rows were grouped by.
            let may_have = table.origin.is_none() || column.profile.uniqueness < UNIQUE;
            if may_have
                && has_codes(&column.profile)
                && let Some(list) = self.code_list(session, (table, column), &mut opened)?
                && !says_itself(table, &list)
            {
                lists.push((column.profile.name.clone(), list));
            }
        }
        let lists = Arc::new(lists);
        self.keep_code_lists(key, &lists);
        Ok(lists)
    }

    /// The same of a table of the lake, by its id.
    pub(super) fn code_lists_of(&self, session: &Session, id: &str) -> Result<Listed> {
        if let Some(known) = self.lock_code_lists().get(id) {
            return Ok(Arc::clone(known));
        }
        let lists = match self.open_candidate(id)? {
            Some(table) => self.code_lists(session, &table)?,
            None => Arc::default(),
        };
        self.keep_code_lists(id.to_string(), &lists);
        Ok(lists)
    }

    /// The code lists of the tables that a plan reads, with the column that each explains.
    ///
    /// # Errors
    /// A damaged index, and whatever opening a step's result reports.
    pub(super) fn lists_of(&self, session: &Session, plan: &Plan) -> Result<Vec<(String, CodeList)>> {
        let mut found = Vec::new();
        for input in plan.inputs() {
            let lists = match input {
                Input::Table(id) => self.code_lists_of(session, id)?,
                other => self.code_lists(session, &self.open_input(session, other)?)?,
            };
            found.extend(lists.iter().cloned());
        }
        Ok(found)
    }

    /// Adds what its codes mean to the rows that a plan makes, where words speak of a column that has such codes: by its name, in English, too, or by
    /// that of its list.
    ///
    /// # Errors
    /// Those of [`Agent::lists_of`].
    pub(super) fn meaning_named(&self, session: &Session, plan: &Plan, words: &str) -> Result<Option<Join>> {
        let language = self.index.names_language()?;
        let said: Vec<String> = name_words(words).into_iter().filter(|word| !is_function_word(word)).collect();
        let said: Vec<NameParts> = said
            .iter()
            .flat_map(|word| {
                let foreign = language.iter().flat_map(|language| language.words_for(word));
                std::iter::once(word.clone()).chain(foreign.flat_map(|word| written_in_names(word)))
            })
            .map(|word| NameParts::of(&word))
            .collect();
        let called_so = |name: &str| {
            let name = NameParts::of(name);
            said.iter().map(|word| word.likeness(&name).max(word.begun_by(&name))).fold(0.0, f64::max)
        };
        let english = |name: &str| language.and_then(|language| language.name_in_english(name)).unwrap_or_default();
        let called = |name: &str| called_so(name).max(called_so(&english(name)));
        let mut best: Option<(f64, Join)> = None;
        for (column, list) in self.lists_of(session, plan)? {
            let stem = last_part(&list.table);
            let part = list.part.as_ref().map_or(stem, |(_, name)| name);
            let score = called(&column).max(called(part));
            if score >= CALLED && best.as_ref().is_none_or(|(known, _)| score > *known) {
                let named = list.columns.iter().filter(|name| called(name) >= CALLED);
                let Some(meaning) = named.chain(&list.columns).next() else { continue };
                best = Some((score, list.join(&column, meaning)));
            }
        }
        Ok(best.map(|(_, join)| join))
    }

    /// The tables with a column that one of `tables` explains, each behind that list, where words say what a code of it means: who speaks of cancelled
    /// orders wants those orders, not the list that has `cancelled`.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn explained_tables(
        &self,
        session: &Session,
        text: &str,
        tables: &[TableRef],
    ) -> Result<Vec<Explained>> {
        if self.index.tables().count() > MOST_TABLES {
            return Ok(Vec::new());
        }
        let said = stems(text);
        let is_said = |label: &str| Some(stems(label)).is_some_and(|label| !label.is_empty() && label.is_subset(&said));
        let mut found: Vec<Explained> = Vec::new();
        for &list in tables {
            let dataset = self.index.dataset(list)?;
            let Some(entry) = dataset.table().filter(|entry| is_small(entry)) else { continue };
            let profiles = &entry.profile.columns;
            let is_code = |code: &usize| {
                let form = Form::of(profiles, *code);
                has_codes(&profiles[*code]) && (form.is_list || form.has_parts)
            };
            let codes: Vec<usize> = (0..profiles.len()).filter(is_code).collect();
            if codes.is_empty() || !self.says_value(list, text)? {
                continue;
            }
            let Some(read) = self.small_table(session, list).unwrap_or_default() else { continue };
            let says = read.rows.iter().filter(|row| row.iter().any(|cell| is_said(cell)));
            let parts = |row: &'_ Vec<String>| -> Vec<String> {
                row.iter().zip(profiles).filter(|(_, profile)| is_part(profile)).map(|(cell, _)| cell.clone()).collect()
            };
            let mut names: BTreeSet<String> = says.flat_map(parts).collect();
            names.extend(codes.iter().map(|code| profiles[*code].name.clone()));
            names.insert(last_part(&read.id).to_string());
            let mut tried = 0;
            for table in self.index.tables().filter(|table| *table != list) {
                let segment = self.index.segment(table.segment)?;
                let mut is_called = false;
                for column in segment.catalog.columns(table.table)? {
                    let own = NameParts::of(segment.columns.name(segment.columns.record(column)?)?);
                    is_called |=
                        names.iter().any(|name| alike(&own, name).max(longest_word_alike(&own, name)) >= ALIKE);
                }
                if !is_called || tried == TRIED {
                    continue;
                }
                tried += 1;
                let lists = self.code_lists_of(session, self.index.id(table)?)?;
                let explains = |list: &CodeList| {
                    list.table == read.id && list.meanings.iter().any(|(meaning, _)| is_said(meaning))
                };
                if lists.iter().any(|(_, list)| explains(list)) {
                    found.push(Explained { list: read.id.clone(), table });
                }
            }
        }
        Ok(found)
    }

    /// Whether a cell of a table is a run of words of a text, by the index.
    fn says_value(&self, table: TableRef, text: &str) -> Result<bool> {
        const LONGEST: usize = 3;
        let words: Vec<&str> = text.split_whitespace().map(bare).collect();
        let mut normaliser = Normaliser::new(Writing::typed());
        let runs = (1..=LONGEST).flat_map(|length| words.windows(length));
        let runs =
            runs.map(|run| run.join(" ")).filter(|run| !run.is_empty() && !is_function_word(&run.to_lowercase()));
        let hashes: Vec<u64> = runs.map(|run| normaliser.value(&run).hash).collect();
        let id = self.index.id(table)?;
        let columns = self.index.segment(table.segment)?.catalog.columns(table.table)?.count();
        for place in 0..columns {
            if is_any_held(self.index, id, place, &hashes)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn keep_code_lists(&self, key: String, lists: &Listed) {
        let mut kept = self.lock_code_lists();
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, Arc::clone(lists));
    }

    fn lock_code_lists(&self) -> std::sync::MutexGuard<'_, HashMap<String, Listed>> {
        self.code_lists.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn code_list(
        &self,
        session: &Session,
        (own, column): (&QueryTable, &QueryColumn),
        opened: &mut HashMap<TableRef, Option<SmallTable>>,
    ) -> Result<Option<CodeList>> {
        let wanted = column.values.hashes.len() as f64;
        let mut likely: Vec<(f64, TableRef, usize)> = Vec::new();
        let mut in_parts: Vec<(bool, u64, TableRef, usize)> = Vec::new();
        for (place, overlap) in join::closest_columns(self.index, column)? {
            let share = overlap.shared as f64 / wanted;
            let segment = self.index.segment(place.segment)?;
            let table = TableRef { segment: place.segment, table: segment.columns.record(place.column)?.table };
            if share < KNOWS || own.origin == Some(table) {
                continue;
            }
            let dataset = self.index.dataset(table)?;
            let Some(entry) = dataset.table().filter(|entry| is_small(entry)) else { continue };
            let first = segment.catalog.columns(table.table)?.next().unwrap_or_default();
            let code = (place.column - first) as usize;
            let rows = rows_of(entry);
            let form = Form::of(&entry.profile.columns, code);
            let used = overlap.shared as f64 / rows as f64;
            let called = called(column, entry, code);
            if form.is_list && may_explain(column, called, (used, rows as usize)) {
                likely.push((called + share + 0.5 * used, table, code));
            } else if form.has_parts {
                in_parts.push((form.is_list, rows, table, code));
            }
        }
        likely.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        in_parts.sort_unstable();
        let likely = likely.into_iter().take(LOOKED_INTO).map(|(_, table, code)| (table, code));
        let in_parts = in_parts.into_iter().take(LOOKED_INTO).map(|(.., table, code)| (table, code));
        let mut best: Option<Fitting> = None;
        for (table, code) in likely.chain(in_parts) {
            let read = opened.entry(table).or_insert_with(|| self.small_table(session, table).unwrap_or_default());
            let Some(read) = read else { continue };
            let dataset = self.index.dataset(table)?;
            let Some(entry) = dataset.table() else { continue };
            for next in fitting(column, read, entry, code) {
                if best.as_ref().is_none_or(|best| next.score > best.score) {
                    best = Some(next);
                }
            }
        }
        Ok(best.map(|best| best.list))
    }

    /// The rows of a small table; none where they do not read as the index says.
    fn small_table(&self, session: &Session, table: TableRef) -> Result<Option<SmallTable>> {
        let id = self.index.id(table)?.to_string();
        let mut answer = table_rows(self.connected(session)?, &Input::Table(id.clone()))?;
        let mut rows = Vec::new();
        while let Some(batch) = answer.next_batch()? {
            rows.extend(texts(&batch, CellForm::Data)?);
            if rows.len() as u64 > MOST_ROWS {
                return Ok(None);
            }
        }
        Ok(Some(SmallTable { id, rows }))
    }
}

fn rows_of(entry: &TableEntry) -> u64 {
    entry.profile.columns.first().map_or(0, |column| column.rows)
}

fn is_small(entry: &TableEntry) -> bool {
    (1..=MOST_ROWS).contains(&rows_of(entry)) && (2..=MOST_COLUMNS).contains(&entry.profile.columns.len())
}

/// Whether a column may hold codes: few different short words without blanks, or few whole numbers.
fn has_codes(profile: &ColumnProfile) -> bool {
    let ColumnProfile { logical, top, .. } = profile;
    let distinct = profile.distinct as usize;
    let is_short = |value: &str| value.len() <= LONGEST_CODE && !value.trim().contains(char::is_whitespace);
    let is_coded = match logical {
        LogicalType::Text => distinct <= MOST_CODES && top.iter().all(|(value, _)| is_short(value)),
        LogicalType::Integer => distinct <= MOST_NUMBERS,
        _ => false,
    };
    is_coded && distinct >= 2
}

/// Whether another column of a table has most of what a list says, as a country's name beside its code.
fn says_itself(table: &QueryTable, list: &CodeList) -> bool {
    /// Meanings that are looked for.
    const MOST: usize = 50;
    let mut normaliser = Normaliser::new(Writing::typed());
    let meanings = list.meanings.iter().take(MOST);
    let meanings: Vec<u64> = meanings.map(|(meaning, _)| normaliser.value(meaning).hash).collect();
    let has_most = |column: &QueryColumn| {
        let has = |meaning: &&u64| column.values.hashes.binary_search(meaning).is_ok();
        2 * meanings.iter().filter(has).count() >= meanings.len()
    };
    table.columns.iter().any(has_most)
}

/// How a table may say what the codes in a column of it mean.
struct Form {
    /// The column is its key, and a text stands beside each.
    is_list: bool,
    /// Another column may tell several lists apart, in which codes stand again or not.
    has_parts: bool,
}

impl Form {
    fn of(profiles: &[ColumnProfile], code: usize) -> Self {
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
fn is_part(profile: &ColumnProfile) -> bool {
    profile.logical == LogicalType::Text && profile.uniqueness <= 0.5
}

/// How much a column is called like the codes of a table, or the table.
fn called(column: &QueryColumn, entry: &TableEntry, code: usize) -> f64 {
    let own = NameParts::of(&column.profile.name);
    let code = entry.profile.columns.get(code).map_or("", |profile| profile.name.as_str());
    alike(&own, code).max(alike(&own, last_part(entry.id.as_str())))
}

fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

fn alike(own: &NameParts, name: &str) -> f64 {
    let name = NameParts::of(name);
    own.likeness(&name).max(own.short_form(&name))
}

/// Whether a list of so many codes, of which this share is used, explains a column that is so much called like it.
fn may_explain(column: &QueryColumn, called: f64, (used, codes): (f64, usize)) -> bool {
    called >= ALIKE || (used >= USED && by_chance(column, codes) <= BY_CHANCE)
}

/// The lists of a table, by its column `code`, that may explain a column.
fn fitting(column: &QueryColumn, table: &SmallTable, entry: &TableEntry, code: usize) -> Vec<Fitting> {
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
            found.push(Fitting { list, score: called + share + 0.5 * used });
        }
    }
    found
}

/// How alike a name and the words of another are that are a word of it: `stat` and `SHIPSTAT`.
fn longest_word_alike(own: &NameParts, name: &str) -> f64 {
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
    let wanted = column.values.hashes.len();
    (wanted > 0 && !rows.is_empty()).then(|| (shared as f64 / wanted as f64, shared as f64 / rows.len() as f64))
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
