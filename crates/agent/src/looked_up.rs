//! Finds words in tables of codes where the rows at hand have no such value or column: `antibiotics` over rows with a
//! `grp_cd`, whose codes another table explains. The plan then joins that table.

use std::collections::BTreeSet;

use super::Agent;
use super::code_lists::{KNOWS, UNIQUE};
use super::known_columns::{AtHand, KnownColumns};
use super::plan_reading::{Correction, Read};
use super::tables::is_held;
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::{Join, JoinKey, JoinKind, Kept, Plan, Relation, Step};
use lakeward_core::request::Input;
use lakeward_core::text::{name_likeness, stems};
use lakeward_index::TableRef;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_operate::relation_columns;
use lakeward_reading::reader::{NotApplied, Role, Schema, SchemaColumn, Span, TurnReading, ValueMatch};
use lakeward_search::column_search::search_among;
use lakeward_search::join;
use lakeward_search::text_search::SearchOptions;
use lakeward_search::{QueryColumn, QueryTable};
use lakeward_sketch::{Normaliser, Writing};

/// A column of more values has no codes, a table of more rows does not explain them.
const MOST_CODES: u64 = 2_000;
/// Columns of numbers are called alike from this likeness.
const SAME_NAME: f64 = 0.5;
/// How well a table of codes joins, as a score in 0..=1.
const JOINS: f64 = 0.3;
/// A column of more values is a list of names, not of categories.
const CATEGORIES: usize = 40;
/// Columns that one table of codes is tried for.
const FOR_TABLE: usize = 2;
/// Tables that the words find, among which those of codes are.
const AMONG: usize = 20;
/// Tables of codes that one turn is read with.
const MOST: usize = 3;
/// Tables that may explain codes of tables of codes.
const DEEP: usize = 4;
/// Readings of a turn, each with another table of codes.
const TRIED: usize = 6;
/// Texts of columns that are read as sentences for words that could not be applied.
const READ: usize = 12;

/// A table that has one row for hardly any but each of the codes of a column at hand, or of one of another such table.
struct CodeTable {
    table: TableRef,
    id: String,
    on: JoinKey,
    score: f64,
    /// Adds the column of the codes to the rows.
    by: Option<Join>,
}

/// A column of a table of codes that a turn speaks of.
struct LookUp {
    joins: Vec<Join>,
    taken: Taken,
}

/// How words were taken.
enum Taken {
    /// For a value, or the name of a column that they spell out.
    Value(Message),
    /// For the name of a column: they could not be applied without it, and may mean another one.
    Name(NotApplied),
}

impl Agent<'_> {
    /// A plan and how a turn reads over it and is then `corrected`; with tables of codes that have words of the turn, where it is then read as a
    /// plan that needs them and nothing more is lost. Such tables are looked for among those that the words of the turn find.
    ///
    /// # Errors
    /// A damaged index, and whatever opening the table at hand reports.
    pub(super) fn with_looked_up(
        &self,
        session: &Session,
        text: &str,
        (mut base, mut read): (Plan, Read),
        (at_hand, corrected): (Option<AtHand<'_>>, &Correction<'_>),
    ) -> Result<(Plan, Read)> {
        // What is said of a table to be joined or appended is not said of these rows.
        if !read.assembly.tables.is_empty() {
            return Ok((base, read));
        }
        let at_hand_table =
            at_hand.filter(|at_hand| *at_hand.input == base.relation.source).map(|at_hand| at_hand.table);
        let opened = match (&at_hand_table, &base.relation.source) {
            (None, Input::Table(id)) => self.open_candidate(id)?,
            _ => None,
        };
        let Some(own) = at_hand_table.or(opened.as_ref()) else { return Ok((base, read)) };
        let found = self.searched(text)?.map(|found| found.answers).unwrap_or_default();
        let mut among = Vec::with_capacity(AMONG);
        for answer in found.iter().take(AMONG) {
            let table = self.index.find(&answer.table)?;
            let is_read = base.tables().any(|id| id == answer.table);
            let has_rows = self.index.dataset(table)?.table().is_some();
            if has_rows && answer.table != own.entry.id.as_str() && !is_read {
                among.push(table);
            }
        }
        let read_over = |plan: &Plan, more: &Correction<'_>| {
            let both = |turn: &mut TurnReading| {
                corrected(turn);
                more(turn);
            };
            self.assembled(session, text, plan, at_hand, &both)
        };
        (base, read) = self.with_counted(session, text, (base, read), (own, &among), &read_over)?;
        let mut tables = self.code_tables(own, &among)?;
        // All rows of `cities_africa` are in Africa.
        let about = stems(&format!("{} {}", own.entry.id, own.entry.title()));
        let (mut all_taken, mut is_deep) = (Vec::new(), false);
        'next: for _ in 0..MOST + 1 {
            let lost = &read.assembly.not_applied;
            let mut look_ups = self.with_values(session, (&base, text), (&about, own, &tables), at_hand)?;
            look_ups.extend(self.with_spelt_names(&read.turn, (&about, own, &tables))?);
            look_ups.extend(self.with_names(lost, (&about, own, &tables))?);
            for LookUp { joins, taken } in look_ups.into_iter().take(TRIED) {
                // A table on the way to another one may say it as well.
                for joins in (1..=joins.len()).map(|end| &joins[..end]) {
                    let Some(wider) = with_joins(&base, joins) else { continue };
                    let with = self.assembled(session, text, &wider, at_hand, corrected)?;
                    let least = with.assembly.not_applied.len() + usize::from(matches!(taken, Taken::Name(_)));
                    if least <= lost.len() && self.needs(session, &with.assembly.plan, &base, joins)? {
                        (base, read) = (wider, with);
                        all_taken.push(taken);
                        continue 'next;
                    }
                }
            }
            if is_deep {
                break;
            }
            // What is not explained yet, codes of the tables of codes may.
            is_deep = true;
            let further = self.codes_of_codes(own, &among, &tables)?;
            tables.extend(further);
        }
        for taken in all_taken {
            match taken {
                Taken::Value(remark) => read.assembly.remarks.push(remark),
                Taken::Name(doubt) => read.assembly.not_applied.push(doubt),
            }
        }
        Ok((base, read))
    }

    /// Whether `plan`, which was made of `base` with `joins`, needs what the last of them adds.
    fn needs(&self, session: &Session, plan: &Plan, base: &Plan, joins: &[Join]) -> Result<bool> {
        let Some(last) = joins.last() else { return Ok(false) };
        let mut without = plan.clone();
        let steps = &mut without.relation.steps;
        let Some(place) = steps.iter().position(|step| is_of(step, last)) else { return Ok(false) };
        steps.splice(place..=place, base.relation.steps.iter().find(|step| is_of(step, last)).cloned());
        let columns = relation_columns(self.connected(session)?, &without.relation);
        Ok(matches!(columns, Err(Error::UnknownColumn { .. })))
    }

    /// The tables of `among` that explain codes of `own`, those that join best first.
    fn code_tables(&self, own: &QueryTable, among: &[TableRef]) -> Result<Vec<CodeTable>> {
        let mut found: Vec<CodeTable> = Vec::new();
        for &table in among {
            for place in self.explained_by(own, table)?.into_iter().take(FOR_TABLE) {
                let Some(answer) = join::between(self.index, own, table, &[place], &self.ranking)? else { continue };
                let [key] = answer.on.as_slice() else { continue };
                if answer.score < JOINS || answer.containment < KNOWS || answer.uniqueness < UNIQUE {
                    continue;
                }
                let exact = answer.normalised.is_empty();
                let on = JoinKey { left: key.query_column.clone(), right: key.column.clone(), exact };
                found.push(CodeTable { table, id: answer.table, on, score: answer.score, by: None });
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(found)
    }

    /// The column of `rows` by which each names one row of `table`, and that table's.
    pub(super) fn key_of(&self, rows: &QueryTable, table: TableRef) -> Result<Option<JoinKey>> {
        Ok(self.code_tables(rows, &[table])?.into_iter().next().map(|found| found.on))
    }

    /// The columns of `own` nearly all values of which are keys of `table`, by their places, those called alike first.
    fn explained_by(&self, own: &QueryTable, table: TableRef) -> Result<Vec<usize>> {
        let dataset = self.index.dataset(table)?;
        let Some(entry) = dataset.table() else { return Ok(Vec::new()) };
        let segment = self.index.segment(table.segment)?;
        let mut found: Vec<(f64, usize)> = Vec::new();
        for (number, key) in segment.tables.columns(table.table)?.zip(&entry.profile.columns) {
            if key.uniqueness < UNIQUE || !(1..=MOST_CODES).contains(&key.rows) {
                continue;
            }
            let keys = segment.columns.hashes(segment.columns.record(number)?)?;
            for (place, column) in own.columns.iter().enumerate() {
                let (codes, likeness) = (&column.values.hashes, name_likeness(&column.profile.name, &key.name));
                let has_digits = |(value, _): &(String, u64)| value.bytes().all(|byte| byte.is_ascii_digit());
                let is_number = matches!(column.profile.logical, LogicalType::Integer | LogicalType::Float)
                    || column.profile.top.iter().all(has_digits);
                let has_codes = is_number || column.profile.logical == LogicalType::Text;
                // Small numbers are the numbers of much, with leading zeros, too.
                let by_chance = is_number && likeness < SAME_NAME;
                if !has_codes || by_chance || !(1..=MOST_CODES as usize).contains(&codes.len()) {
                    continue;
                }
                let shared = codes.iter().filter(|code| keys.binary_search(code).is_ok()).count();
                if shared as f64 >= KNOWS * codes.len() as f64 && found.iter().all(|(_, known)| *known != place) {
                    found.push((likeness, place));
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(found.into_iter().map(|(_, place)| place).collect())
    }

    /// The tables of `among` that explain codes of other tables of codes, which explain those of `own`.
    fn codes_of_codes(&self, own: &QueryTable, among: &[TableRef], known: &[CodeTable]) -> Result<Vec<CodeTable>> {
        let mut further: Vec<CodeTable> = Vec::new();
        let new = among.iter().filter(|table| known.iter().all(|known| known.table != **table));
        let mut tried = 0;
        for &table in new {
            let id = self.index.id(table)?.to_string();
            let Some(opened) = self.open_candidate(&id)? else { continue };
            let is_key = |column: &&QueryColumn| {
                let ColumnProfile { uniqueness, rows, logical, .. } = &column.profile;
                let has_keys = matches!(logical, LogicalType::Text | LogicalType::Integer);
                *uniqueness >= UNIQUE && (1..=MOST_CODES).contains(rows) && has_keys
            };
            let Some(key) = opened.columns.iter().find(is_key) else { continue };
            if tried == DEEP {
                break;
            }
            tried += 1;
            let mut between: Vec<TableRef> = Vec::new();
            for (column, overlap) in join::closest_columns(self.index, key)? {
                let segment = self.index.segment(column.segment)?;
                let Some(&number) = segment.tables.tables_of(&[column.column])?.first() else { continue };
                let by = TableRef { segment: column.segment, table: number };
                let is_held = overlap.shared as f64 >= KNOWS * overlap.candidate_values as f64;
                if is_held && by != table && !between.contains(&by) {
                    between.push(by);
                }
            }
            for by in self.code_tables(own, &between)? {
                let Some(rows) = self.open_candidate(&by.id)? else { continue };
                let codes = self.code_tables(&rows, &[table])?;
                let codes = codes.into_iter().find(|codes| codes.on.left != by.on.right);
                further.extend(codes.map(|codes| CodeTable { by: Some(by.join(&codes.on.left)), ..codes }));
            }
        }
        Ok(further)
    }

    /// The columns of text that have words of `text` as values where no column of the rows has them, the longest words first.
    fn with_values(
        &self,
        session: &Session,
        (plan, text): (&Plan, &str),
        (about, own_table, tables): (&BTreeSet<String>, &QueryTable, &[CodeTable]),
        at_hand: Option<AtHand<'_>>,
    ) -> Result<Vec<LookUp>> {
        let known = self.known_columns(session, plan, at_hand)?;
        let columns = known.iter().flat_map(|table| table.columns().iter().cloned()).collect();
        let own = Schema { columns, ..Schema::default() };
        let holds = |place: usize, value: &str| self.holds_value(&own, &known, place, value);
        let own = own.matches(text, &holds);
        let mut columns: Vec<SchemaColumn> = Vec::new();
        let mut of: Vec<(usize, usize)> = Vec::new();
        for (number, table) in tables.iter().enumerate() {
            let known = self.known_columns(session, &Plan::of(Input::Table(table.id.clone())), None)?;
            for (place, column) in known.iter().flat_map(KnownColumns::columns).enumerate() {
                if column.has_words() && column.name != table.on.right {
                    columns.push(column.clone());
                    of.push((number, place));
                }
            }
        }
        let theirs = Schema { columns, ..Schema::default() };
        let holds = |place: usize, value: &str| {
            let (number, place) = of[place];
            let hash = Normaliser::new(Writing::typed()).value(value).hash;
            is_held(self.index, &tables[number].id, place, hash).unwrap_or(false)
        };
        let mut matches = theirs.matches(text, &holds);
        let is_within = |inner: &ValueMatch, outer: &ValueMatch| {
            outer.words.0 <= inner.words.0 && inner.words.1 <= outer.words.1 && outer.likeness >= inner.likeness
        };
        // A word that is only like a value means it among a few, not in a list of names.
        let is_plain =
            |found: &ValueMatch| found.likeness >= 1.0 || theirs.columns[found.column].values.len() <= CATEGORIES;
        let is_new = |found: &ValueMatch| !stems(&found.value).is_subset(about);
        let says = |found: &ValueMatch| found.value.contains(char::is_alphabetic) && is_plain(found) && is_new(found);
        matches.retain(|found| says(found) && !own.iter().any(|known| is_within(found, known)));
        let mut met = Vec::with_capacity(matches.len());
        for found in matches {
            let (number, place) = of[found.column];
            let has_codes = !theirs.columns[found.column].meanings.is_empty();
            if has_codes || self.meets(session, (own_table, &tables[number]), (place, &found.value))? {
                met.push(found);
            }
        }
        let mut matches = met;
        let length = |found: &ValueMatch| found.words.1 - found.words.0;
        matches.sort_by(|a, b| b.likeness.total_cmp(&a.likeness).then(length(b).cmp(&length(a))));
        let look_up = |found: ValueMatch| {
            let table = &tables[of[found.column].0];
            let column = &theirs.columns[found.column].name;
            let (value, by) = (&found.value, &table.on.left);
            let remark = message!("`{}` is a value of `{}` in `{}`, by `{}`", value, column, &table.id, by);
            LookUp { joins: table.joins(column), taken: Taken::Value(remark) }
        };
        Ok(matches.into_iter().map(look_up).collect())
    }

    /// Whether a code at hand stands in a row of a table of codes that has this value in a column: of several lists in one table, those of other
    /// columns explain none. A large table is not read for it.
    fn meets(
        &self,
        session: &Session,
        (own, table): (&QueryTable, &CodeTable),
        (place, value): (usize, &str),
    ) -> Result<bool> {
        let dataset = self.index.dataset(table.table)?;
        let key = dataset.columns().iter().position(|column| *column.name == *table.on.right);
        let codes = own.columns.iter().find(|column| column.profile.name == table.on.left);
        let (Some(key), Some(codes), None) = (key, codes, &table.by) else { return Ok(true) };
        let Some(read) = self.small_table(session, table.table)? else { return Ok(true) };
        let mut normaliser = Normaliser::new(Writing::typed());
        let wanted = normaliser.value(value).hash;
        let mut hash = |row: &[String], place: usize| row.get(place).map(|cell| normaliser.value(cell).hash);
        Ok(read.rows.iter().any(|row| {
            hash(row, place) == Some(wanted)
                && hash(row, key).is_some_and(|code| codes.values.hashes.binary_search(&code).is_ok())
        }))
    }

    /// The columns whose names a turn spells out where no column of the table at hand has such a word: "loans by town", where readers have towns.
    fn with_spelt_names(
        &self,
        turn: &TurnReading,
        (about, own, tables): (&BTreeSet<String>, &QueryTable, &[CodeTable]),
    ) -> Result<Vec<LookUp>> {
        let own_names = || own.columns.iter().map(|column| column.profile.name.as_str());
        let own: BTreeSet<String> = own_names().flat_map(stems).collect();
        // `continent` is the `continentcode` at hand.
        let is_own = |name: &str| own_names().any(|own| name_likeness(own, name) >= SAME_NAME);
        let names = |span: &&Span| {
            matches!(span.role, Role::Group | Role::Measure | Role::Order | Role::Show | Role::Column | Role::Test)
        };
        let mut found = Vec::new();
        for span in turn.spans.iter().filter(names) {
            let said = stems(&span.words);
            for table in tables {
                let dataset = self.index.dataset(table.table)?;
                let is_spelt = |name: &str| {
                    let name = stems(name);
                    !name.is_empty() && name.is_subset(&said) && name.is_disjoint(&own) && name.is_disjoint(about)
                };
                let columns = dataset.columns().iter().map(|column| column.name.to_string());
                let new = |name: &String| *name != table.on.right && is_spelt(name) && !is_own(name);
                let Some(column) = columns.into_iter().find(new) else { continue };
                let remark = message!("`{}` is that of `{}`, by `{}`", &column, &table.id, &table.on.left);
                found.push(LookUp { joins: table.joins(&column), taken: Taken::Value(remark) });
                break;
            }
        }
        Ok(found)
    }

    /// The columns that words name which could not be applied, which name none of the table at hand better, and which do not speak of what that
    /// table is about.
    fn with_names(
        &self,
        lost: &[NotApplied],
        (about, own, tables): (&BTreeSet<String>, &QueryTable, &[CodeTable]),
    ) -> Result<Vec<LookUp>> {
        let own = self.index.get(own.entry.id.as_str())?;
        let among: Vec<TableRef> = tables.iter().map(|table| table.table).chain(own).collect();
        let options = SearchOptions { k: 1, weights: &self.ranking };
        let mut found = Vec::new();
        let lost = lost.iter().map(|lost| lost.words.as_str());
        for words in lost.filter(|words| stems(words).is_disjoint(about)) {
            let named = search_among(self.index, self.embedder, words, &options, (&among, READ))?;
            let plainly = self.ranking.named_columns.plainly;
            let Some(best) = named.into_iter().next().filter(|best| best.score >= plainly) else { continue };
            let Some(table) = tables.iter().find(|table| table.id == best.table) else { continue };
            if best.column != table.on.right {
                let doubt = NotApplied::guess(words, format!("`{}` of `{}`", best.column, table.id));
                found.push(LookUp { joins: table.joins(&best.column), taken: Taken::Name(doubt) });
            }
        }
        Ok(found)
    }
}

impl CodeTable {
    /// What adds `column` of it to the rows.
    fn joins(&self, column: &str) -> Vec<Join> {
        self.by.iter().cloned().chain([self.join(column)]).collect()
    }

    /// Adds `column` of it to the rows.
    fn join(&self, column: &str) -> Join {
        let with = Relation { source: Input::Table(self.id.clone()), steps: Vec::new() };
        let columns = vec![Kept { column: column.to_string(), name: None }];
        Join { with, kind: JoinKind::Left, on: vec![self.on.clone()], columns }
    }
}

/// Whether a step joins what `join` does, on the same columns.
fn is_of(step: &Step, join: &Join) -> bool {
    matches!(step, Step::Join(known) if known.with == join.with && known.on == join.on)
}

/// `plan` with `joins` first of all, one after the other; `None` where it has all of that.
fn with_joins(plan: &Plan, joins: &[Join]) -> Option<Plan> {
    let mut wider = plan.clone();
    let steps = &mut wider.relation.steps;
    let mut at = 0;
    for join in joins {
        match steps.iter().position(|step| is_of(step, join)) {
            Some(place) => {
                if let Step::Join(known) = &mut steps[place]
                    && !known.columns.is_empty()
                {
                    let new =
                        join.columns.iter().filter(|new| !known.columns.contains(new)).cloned().collect::<Vec<_>>();
                    known.columns.extend(new);
                }
                at = place + 1;
            }
            None => {
                steps.insert(at, Step::Join(join.clone()));
                at += 1;
            }
        }
    }
    (wider != *plan).then_some(wider)
}
