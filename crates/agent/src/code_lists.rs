//! Code lists: tables of the lake that say what the codes of a column mean (`A` is cancelled), one list a table, or several in one that a further
//! column tells apart.
//!
//! A list explains a column where it has all its codes, and is called like it, or could hardly have them all by chance.

use std::collections::{BTreeSet, HashMap};
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
use lakeward_models::languages::written_in_names;
use lakeward_operate::{CellForm, table_rows, texts};
use lakeward_search::{QueryColumn, QueryTable, join};
use lakeward_sketch::{Normaliser, Writing};

mod fitting;

use fitting::{
    Fitting, Form, alike, called, fitting, fitting_score, is_part, last_part, longest_word_alike, may_explain,
};

/// A table of more rows or columns is no code list, a column of more or longer values has no codes.
const MOST_ROWS: u64 = 2_000;
const MOST_COLUMNS: usize = 12;
const MOST_CODES: usize = 500;
const LONGEST_CODE: usize = 12;
/// Different whole numbers that may be codes.
const MOST_NUMBERS: usize = 100;
/// Share of the codes at hand that a list has.
pub(super) const KNOWS: f64 = 0.9;
/// Share of the rows of a list that have a code of their own, and of meanings that one code has.
pub(super) const UNIQUE: f64 = 0.999;
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
pub(super) struct SmallTable {
    id: String,
    pub rows: Vec<Vec<String>>,
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
                for column in segment.tables.columns(table.table)? {
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
        let columns = self.index.segment(table.segment)?.tables.columns(table.table)?.count();
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
        let total = column.values.hashes.len() as f64;
        let mut likely: Vec<(f64, TableRef, usize)> = Vec::new();
        let mut in_parts: Vec<(bool, u64, TableRef, usize)> = Vec::new();
        for (place, overlap) in join::closest_columns(self.index, column)? {
            let share = overlap.shared as f64 / total;
            let segment = self.index.segment(place.segment)?;
            let table = TableRef { segment: place.segment, table: segment.columns.record(place.column)?.table };
            if share < KNOWS || own.origin == Some(table) {
                continue;
            }
            let dataset = self.index.dataset(table)?;
            let Some(entry) = dataset.table().filter(|entry| is_small(entry)) else { continue };
            let first = segment.tables.columns(table.table)?.next().unwrap_or_default();
            let code = (place.column - first) as usize;
            let rows = rows_of(entry);
            let form = Form::of(&entry.profile.columns, code);
            let used = overlap.shared as f64 / rows as f64;
            let called = called(column, entry, code);
            if form.is_list && may_explain(column, called, (used, rows as usize)) {
                likely.push((fitting_score(called, share, used), table, code));
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
    pub(super) fn small_table(&self, session: &Session, table: TableRef) -> Result<Option<SmallTable>> {
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
