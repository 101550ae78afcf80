//! What a turn wants done with the table at hand: read over its columns, put into its plan.
//!
//! The reader tells what is said of columns, rows and figures; tables that are wanted beside the one at hand are chosen here among what the
//! searches found, by their names, the columns that are wanted, and the keys they share. The turn is then read again over the columns of both.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::Agent;
use super::scored::Scored;
use super::tables::is_held;
use crate::recommend::next_operations::{SOURCE_COLUMN, met, proposal, unmet};
use crate::recommend::{Precondition, RankedOperation};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::{Join, JoinKey, JoinKind, Kept, Plan, Relation, Step, Union, UnionPart};
use lakeward_core::request::{Input, OperationKind};
use lakeward_core::text::{NameParts, is_function_word, name_words};
use lakeward_index::LakeIndex;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_operate::{Family, RelationColumn, relation_columns};
use lakeward_reading::reader::annotated::KnownTable;
use lakeward_reading::reader::{
    Act, Assembly, ColumnKind, How, NotApplied, Reader, Role, Schema, SchemaColumn, Span, TableWish, TurnReading,
    assemble, number_said, schema_of, with_table,
};
use lakeward_search::union::{self, UnionOptions};
use lakeward_search::{Candidate, JoinAnswer, UnionAnswer};
use lakeward_sketch::normalise::Normaliser;

/// Values of a column that words of a request are compared with.
const MOST_VALUES: usize = 500;
/// Longest of them, in bytes.
const LONGEST_VALUE: usize = 80;
/// Columns with at most so many values show all of them to the reader.
const FEW_VALUES: u64 = 12;
/// A partner is taken for words that describe it from this score.
const LEAST_PARTNER: f64 = 0.35;
/// Columns of one name in both tables are one key where a single one repeats rows.
const SAME_NAME: f64 = 0.85;
/// Rows of a partner for one row at hand, above which further keys are looked for.
const SEVERAL: f64 = 1.05;
/// A span that the reader is less sure of is said to be uncertain.
const SURE: f32 = 0.5;
/// Alternatives looked at for a table to append.
const UNION_DEPTH: usize = 60;

/// A turn as it was read over a table.
pub(super) struct PlanReading {
    /// What was read.
    pub turn: TurnReading,
    /// The plan that it goes on from.
    pub base: Plan,
    /// What it makes of that plan, tables aside.
    assembly: Assembly,
}

/// What the turn comes to.
pub(super) struct PlanWish {
    /// The plan.
    pub plan: Plan,
    /// The table that is joined or appended, if one is.
    pub table: Option<String>,
    /// Its kind among operations.
    pub kind: OperationKind,
    /// What was read and could not be applied.
    pub not_applied: Vec<NotApplied>,
}

/// Columns of a table with where their values are known.
struct KnownColumns {
    columns: Vec<SchemaColumn>,
    values: ValuesOf,
}

enum ValuesOf {
    /// A table of the lake, by its id.
    Index(String),
    /// Hashes of the values of each column.
    Hashes(Vec<Vec<u64>>),
}

impl PlanReading {
    /// Whether the turn only takes steps back.
    pub fn only_undoes(&self) -> bool {
        self.turn.acts == [Act::Undo]
    }

    /// How many steps are taken back.
    pub fn undone(&self) -> usize {
        if !self.turn.has(Act::Undo) {
            return 0;
        }
        let said = self.turn.of(Role::Steps).find_map(|span| span.number.or_else(|| words_number(&span.words)));
        said.map_or(1, |steps| steps.clamp(1.0, 100.0) as usize)
    }

    /// Whether it wants something that nobody could say what.
    pub fn is_unclear(&self) -> bool {
        self.turn.acts.first() == Some(&Act::Unclear)
    }
}

fn words_number(words: &str) -> Option<f64> {
    number_said(words).map(|number| number.value)
}

impl Agent<'_> {
    /// Reads a turn over the table that `plan` makes. Turns that take steps back are read on the plan before them.
    ///
    /// # Errors
    /// Whatever reading the heads of its tables reports.
    pub(super) fn read_over(&self, session: &Session, text: &str, plan: Plan) -> Result<PlanReading> {
        let (turn, assembly) = self.assembled(session, text, &plan, true)?;
        let reading = PlanReading { turn, base: plan, assembly };
        let steps = reading.undone();
        if steps == 0 || reading.only_undoes() {
            return Ok(reading);
        }
        let mut before = session.clone();
        for _ in 0..steps {
            before.undo();
        }
        let Some(plan) = before.plan() else { return Ok(reading) };
        let (turn, assembly) = self.assembled(session, text, &plan, true)?;
        Ok(PlanReading { turn, base: plan, assembly })
    }

    /// The turn as it is read over a plan, and what it makes of it; without the tables that it wants where these are in it already.
    fn assembled(
        &self,
        session: &Session,
        text: &str,
        plan: &Plan,
        with_tables: bool,
    ) -> Result<(TurnReading, Assembly)> {
        let previous = session.latest().map_or("", |turn| turn.text.as_str());
        let known = self.known_columns(session, plan)?;
        let context = self.connected(session)?;
        let failure = OnceCell::new();
        let columns = |relation: &Relation| match relation_columns(context, relation) {
            Ok(columns) => columns.iter().map(|column| described(column, &known)).collect(),
            Err(error) => {
                failure.get_or_init(|| error);
                Vec::new()
            }
        };
        let schema = schema_of(plan, &columns);
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let holds = |place: usize, value: &str| self.holds_value(&schema, &known, place, value);
        let mut turn = Reader::builtin().read(text, previous, &schema, &holds);
        self.note_ids(text, &mut turn)?;
        if !with_tables {
            turn.acts.retain(|act| *act != Act::New);
            turn.spans.retain(|span| !matches!(span.role, Role::Table | Role::Add | Role::Key));
        }
        let assembly = assemble(&turn, &schema, plan);
        Ok((turn, assembly))
    }

    /// Words that spell the id of a table out are that table, whatever the model takes them for.
    fn note_ids(&self, text: &str, turn: &mut TurnReading) -> Result<()> {
        for (bytes, id) in ids_in(self.index, text)? {
            let touches = |span: &Span| span.bytes.start < bytes.end && bytes.start < span.bytes.end;
            let read = turn.spans.iter().find(|span| touches(span) && span.role == Role::Table);
            let near = read.or_else(|| turn.spans.iter().find(|span| span.role == Role::Table));
            let joins = turn.spans.iter().any(|span| matches!(span.role, Role::Add | Role::Key));
            let how = near.map_or(if joins { How::Join } else { How::Union }, |span| span.how);
            turn.spans.retain(|span| !touches(span));
            let words = text[bytes.clone()].to_string();
            turn.spans.push(Span { how, value: Some(id), ..Span::new(bytes, words, Role::Table) });
        }
        turn.spans.sort_by_key(|span| span.bytes.start);
        Ok(())
    }

    /// What is known of the columns of every table that a plan reads.
    fn known_columns(&self, session: &Session, plan: &Plan) -> Result<Vec<KnownColumns>> {
        let mut known = Vec::new();
        for input in plan.inputs() {
            if let Input::Table(id) = input {
                known.push(of_index(self.index, id)?);
            } else {
                let table = self.open_input(session, input)?;
                let columns = table.columns.iter().map(|column| {
                    let samples = column.sketch.samples.iter().map(|(_, value)| value.as_str());
                    let samples = column.sketch.text.lines().chain(samples);
                    schema_column(&column.profile, samples)
                });
                let columns = columns.collect();
                let hashes = table.columns.iter().map(|column| column.values.hashes.to_vec()).collect();
                known.push(KnownColumns { columns, values: ValuesOf::Hashes(hashes) });
            }
        }
        Ok(known)
    }

    fn holds_value(&self, schema: &Schema, known: &[KnownColumns], place: usize, value: &str) -> bool {
        let Some(column) = schema.columns.get(place) else { return false };
        let hash = Normaliser::default().value(value).hash;
        known.iter().any(|table| {
            let Some(at) = table.columns.iter().position(|own| own.name == column.name) else { return false };
            match &table.values {
                ValuesOf::Index(id) => is_held(self.index, id, at, hash).unwrap_or(false),
                ValuesOf::Hashes(hashes) => hashes.get(at).is_some_and(|hashes| hashes.binary_search(&hash).is_ok()),
            }
        })
    }

    /// What the turn comes to, with the tables that it wants chosen among `partners`; nothing where it says nothing of the plan.
    ///
    /// # Errors
    /// Whatever the index and the heads of tables report.
    pub(super) fn plan_wish(
        &self,
        session: &Session,
        text: &str,
        reading: &PlanReading,
        (partners, supplements): (&[Scored], &[&Candidate]),
    ) -> Result<Option<PlanWish>> {
        let (mut plan, mut not_applied) = (reading.base.clone(), Vec::new());
        if reading.turn.has(Act::New) {
            plan = Plan::of(plan.relation.source.clone());
        }
        let mut chosen: Option<(String, OperationKind)> = None;
        // All tables that fit were appended at once.
        let mut appended = false;
        for wish in &reading.assembly.tables {
            let is_there =
                |id: &String| plan.inputs().iter().any(|input| matches!(input, Input::Table(known) if known == id));
            if wish.how != How::Join && wish.id.as_ref().is_some_and(is_there) && wish.how != How::Source {
                continue;
            }
            let found = match wish.how {
                How::Union if appended => continue,
                How::Union => self.to_append(session, &plan, wish, text, supplements)?,
                How::Source => self.other_source(session, &plan, wish, text)?,
                How::Join | How::Semi | How::Anti => self.to_join(session, wish, text, partners)?,
            };
            let Some((table, next)) = found else {
                let words = if wish.words.is_empty() { wish.wanted.join(", ") } else { wish.words.clone() };
                not_applied
                    .push(NotApplied { words, reason: "no table of the lake that fits was found for it".into() });
                continue;
            };
            if wish.how != How::Source && is_there(&table) {
                // Said twice.
                continue;
            }
            appended |=
                matches!(&next, Next::Step(step) if matches!(&**step, Step::Union(union) if union.others.len() > 1));
            plan = match next {
                Next::Step(step) => with_table(&plan, *step),
                Next::Source(source, renames) => replaced_source(&plan, source, renames),
            };
            let kind = if wish.how == How::Union { OperationKind::Union } else { OperationKind::Join };
            if wish.how != How::Source {
                chosen = Some((table, kind));
            }
        }
        let says_more = reading.turn.spans.iter().any(|span| {
            !matches!(span.role, Role::Table | Role::Add | Role::Key | Role::Column | Role::Topic | Role::Steps)
        });
        let assembly = if reading.assembly.tables.is_empty() {
            reading.assembly.clone()
        } else if says_more {
            // Now with the columns of the other table.
            self.assembled(session, text, &plan, false)?.1
        } else {
            Assembly { plan: plan.clone(), tables: Vec::new(), not_applied: Vec::new() }
        };
        not_applied.extend(assembly.not_applied);
        plan = assembly.plan;
        if plan == reading.base && not_applied.is_empty() {
            return Ok(None);
        }
        let groups = |plan: &Plan| {
            plan.relation.steps.iter().filter(|step| matches!(step, Step::Group(_))).cloned().collect::<Vec<_>>()
        };
        let kind = match &chosen {
            _ if groups(&plan) != groups(&reading.base) => OperationKind::Aggregate,
            Some((_, kind)) => *kind,
            None => OperationKind::Filter,
        };
        Ok(Some(PlanWish { plan, table: chosen.map(|(table, _)| table), kind, not_applied }))
    }

    fn to_join(
        &self,
        session: &Session,
        wish: &TableWish,
        text: &str,
        partners: &[Scored],
    ) -> Result<Option<(String, Next)>> {
        let found = self.found_for(wish)?;
        let mut best: Option<(f64, &Candidate, &JoinAnswer, Vec<String>)> = None;
        for scored in partners {
            let candidate = &scored.candidate;
            let Some(answer) = &candidate.join else { continue };
            let (fit, columns) = wanted_columns(candidate, &wish.wanted);
            let named = named_by(candidate, wish, text);
            let by_words = found.get(scored.id()).copied().unwrap_or(0.0);
            if named < LEAST_PARTNER && fit < LEAST_PARTNER && by_words < LEAST_PARTNER {
                continue;
            }
            let repeats = answer.fan_out.max(1.0).log10().min(1.0);
            let score = 2.0 * named + fit + by_words + answer.score - 0.3 * repeats;
            if best.as_ref().is_none_or(|(known, ..)| score > *known) {
                best = Some((score, candidate, answer, columns));
            }
        }
        let Some((_, candidate, answer, columns)) = best else { return Ok(None) };
        let mut on: Vec<JoinKey> = answer
            .on
            .iter()
            .map(|pair| JoinKey {
                left: pair.query_column.clone(),
                right: pair.column.clone(),
                exact: answer.normalised.is_empty(),
            })
            .collect();
        if on.is_empty() {
            return Ok(None);
        }
        let working = session.working();
        let own: Vec<String> = match &working {
            Some(input) => {
                self.open_input(session, input)?.columns.iter().map(|column| column.profile.name.clone()).collect()
            }
            None => Vec::new(),
        };
        let theirs = candidate.dataset.columns();
        // Keys that are named; and where one key repeats rows, what else is the same in both.
        let mut further: Vec<&String> = own.iter().filter(|name| wish.keys.contains(name)).collect();
        if answer.fan_out > SEVERAL {
            further.extend(own.iter().filter(|name| !wish.keys.contains(name)));
        }
        for name in further {
            if on.iter().any(|key| key.left == *name) {
                continue;
            }
            let parts = NameParts::of(name);
            let free = theirs.iter().filter(|column| !on.iter().any(|key| key.right == column.name));
            let alike = free
                .filter(|column| column.logical != LogicalType::Float || wish.keys.contains(name))
                .filter(|column| !columns.contains(&column.name))
                .map(|column| {
                    let name = NameParts::of(&column.name);
                    (parts.likeness(&name).max(parts.short_form(&name)), column)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((likeness, column)) = alike
                && (likeness >= SAME_NAME || (wish.keys.contains(name) && likeness >= 0.5))
            {
                on.push(JoinKey { left: name.clone(), right: column.name.clone(), exact: false });
            }
        }
        let kind = match wish.how {
            How::Semi => JoinKind::Semi,
            How::Anti => JoinKind::Anti,
            _ => JoinKind::Left,
        };
        let columns = if kind == JoinKind::Left { columns } else { Vec::new() };
        let columns = columns.into_iter().map(|column| Kept { column, name: None }).collect();
        let with = Relation::of(Input::Table(answer.table.clone()));
        Ok(Some((answer.table.clone(), Next::Step(Box::new(Step::Join(Join { with, kind, on, columns }))))))
    }

    /// What a search for the words of a wish finds, each table with its score as a share of the best one's.
    fn found_for(&self, wish: &TableWish) -> Result<BTreeMap<String, f64>> {
        let words: Vec<&str> =
            std::iter::once(wish.words.as_str()).chain(wish.wanted.iter().map(String::as_str)).collect();
        let Some(found) = self.searched(words.join(" ").trim())? else { return Ok(BTreeMap::new()) };
        let best = found.answers.iter().map(|answer| answer.score).fold(f64::MIN_POSITIVE, f64::max);
        Ok(found.answers.into_iter().map(|answer| (answer.table, answer.score / best)).collect())
    }

    /// The tables that go below the rows that a plan starts from.
    fn aligned(&self, session: &Session, plan: &Plan) -> Result<Vec<UnionAnswer>> {
        let source = self.open_input(session, &plan.relation.source)?;
        let options = UnionOptions { k: UNION_DEPTH, count_rows: false, weights: &self.ranking };
        union::search(self.index, self.lake, &source, &options)
    }

    fn best_aligned(
        &self,
        session: &Session,
        plan: &Plan,
        wish: &TableWish,
        text: &str,
    ) -> Result<Option<(f64, UnionAnswer)>> {
        let used: Vec<&Input> = plan.inputs();
        let found = self.found_for(wish)?;
        let least = self.ranking.fit.least_alignment;
        let mut best: Option<(f64, f64, UnionAnswer)> = None;
        for answer in self.aligned(session, plan)? {
            if answer.parts.alignment < least {
                continue;
            }
            if used.iter().any(|input| matches!(input, Input::Table(id) if *id == answer.table)) {
                continue;
            }
            let title = self.index.dataset(self.index.find(&answer.table)?)?.title();
            let named = match &wish.id {
                Some(id) if *id == answer.table => 2.0,
                _ => overlap(&wish.words, &answer.table, &title).max(spelt_out(text, &answer.table)),
            };
            let by_words = found.get(&answer.table).copied().unwrap_or(0.0);
            let score = 2.0 * named + by_words + answer.score;
            if best.as_ref().is_none_or(|(known, ..)| score > *known) {
                best = Some((score, named, answer));
            }
        }
        Ok(best.map(|(_, named, answer)| (named, answer)))
    }

    fn to_append(
        &self,
        session: &Session,
        plan: &Plan,
        wish: &TableWish,
        text: &str,
        supplements: &[&Candidate],
    ) -> Result<Option<(String, Next)>> {
        let best = self.best_aligned(session, plan, wish, text)?;
        let named = best.as_ref().map_or(0.0, |(named, _)| *named);
        let groups = plan.relation.steps.iter().any(|step| matches!(step, Step::Group(_) | Step::Pivot(_)));
        let fitting: Vec<&UnionAnswer> = supplements.iter().filter_map(|candidate| candidate.union.as_ref()).collect();
        // Words that name no table, or all of a kind, mean those that fit.
        let unnamed = (named < LEAST_PARTNER && !fitting.is_empty()) || (wish.id.is_none() && fitting.len() > 1);
        let answers: Vec<UnionAnswer> = if unnamed && !groups {
            fitting.into_iter().cloned().collect()
        } else {
            best.into_iter().map(|(_, answer)| answer).collect()
        };
        let Some(first) = answers.first().map(|answer| answer.table.clone()) else { return Ok(None) };
        let part = |answer: UnionAnswer| UnionPart {
            columns: answer.alignment.iter().map(|pair| (pair.query_column.clone(), pair.column.clone())).collect(),
            with: Relation::of(Input::Table(answer.table)),
        };
        let others: Vec<UnionPart> = answers.into_iter().map(part).collect();
        let source_column = (others.len() > 1).then(|| SOURCE_COLUMN.to_string());
        let step = Step::Union(Union { others, keep_extra: false, source_column });
        Ok(Some((first, Next::Step(Box::new(step)))))
    }

    fn other_source(
        &self,
        session: &Session,
        plan: &Plan,
        wish: &TableWish,
        text: &str,
    ) -> Result<Option<(String, Next)>> {
        let Some((_, answer)) = self.best_aligned(session, plan, wish, text)? else { return Ok(None) };
        let renamed = answer.alignment.iter().filter(|pair| pair.query_column != pair.column);
        let renames = renamed.map(|pair| (pair.column.clone(), pair.query_column.clone())).collect();
        Ok(Some((answer.table.clone(), Next::Source(Input::Table(answer.table), renames))))
    }

    /// The operation that carries a wish out, with what was not understood.
    pub(super) fn wished_operation(&self, session: &Session, reading: &PlanReading, wish: PlanWish) -> RankedOperation {
        let before = &reading.base.relation.steps;
        let new: Vec<String> =
            wish.plan.relation.steps.iter().filter(|step| !before.contains(step)).map(ToString::to_string).collect();
        let mut preconditions: Vec<Precondition> = wish
            .not_applied
            .iter()
            .map(|lost| unmet(format!("`{}` is not applied: {}", lost.words, lost.reason)))
            .collect();
        let nothing = wish.plan == reading.base;
        let doubtful = reading.turn.spans.iter().filter(|span| span.confidence < SURE && speaks_of_rows(span.role));
        preconditions.extend(doubtful.map(|span| unmet(format!("what `{}` means is uncertain", span.words))));
        let (runnable, sql) = if nothing {
            (None, None)
        } else {
            match self.sql(session, &wish.plan) {
                Ok(sql) => (Some(wish.plan), Some(sql)),
                Err(error) => {
                    preconditions.push(unmet(format!("it cannot be run as it stands: {error}")));
                    (None, None)
                }
            }
        };
        if preconditions.is_empty() {
            preconditions.push(met("everything that was understood is applied"));
        }
        let reason = match new.as_slice() {
            [] if nothing => "nothing of it could be applied".to_string(),
            [] => "takes back what the request says".to_string(),
            steps => steps.join("; "),
        };
        RankedOperation { table: wish.table, runnable, sql, ..proposal(wish.kind, preconditions, reason) }
    }
}

/// Ids of tables of the lake that a text spells out, with their bytes: words with a slash, or with digits or underscores that are the last
/// part of the id of one table.
fn ids_in(index: &LakeIndex, text: &str) -> Result<Vec<(std::ops::Range<usize>, String)>> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in
        text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '`' | '\''))
    {
        let from = at;
        at += word.len();
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let Some(offset) = word.find(bare).filter(|_| bare.len() > 3) else { continue };
        let bytes = from + offset..from + offset + bare.len();
        if bare.contains('/') {
            if index.get(bare)?.is_some() {
                found.push((bytes, bare.to_string()));
            }
            continue;
        }
        let looks_like_id = bare.contains(['_', '-']) && bare.len() > 5;
        if !looks_like_id {
            continue;
        }
        let ending = format!("/{}", bare.to_lowercase());
        let mut ids =
            index.tables().filter_map(|table| index.id(table).ok()).filter(|id| id.to_lowercase().ends_with(&ending));
        if let (Some(id), None) = (ids.next(), ids.next()) {
            found.push((bytes, id.to_string()));
        }
    }
    Ok(found)
}

/// Whether a span of this role changes rows or columns.
fn speaks_of_rows(role: Role) -> bool {
    role.place() <= Role::Derive.place() && role != Role::Column
}

/// What a chosen table does to a plan.
enum Next {
    Step(Box<Step>),
    Source(Input, Vec<(String, String)>),
}

/// The same steps over another table, whose columns get the names that the steps know.
fn replaced_source(plan: &Plan, source: Input, renames: Vec<(String, String)>) -> Plan {
    let mut steps = plan.relation.steps.clone();
    if matches!(steps.first(), Some(Step::Rename(_))) {
        // Those of the table before.
        steps.remove(0);
    }
    let mut new = Plan::of(source);
    if !renames.is_empty() {
        new.relation.steps.push(Step::Rename(renames));
    }
    new.relation.steps.extend(steps);
    new
}

/// A column with its values where a table that the plan reads has it.
fn described(column: &RelationColumn, known: &[KnownColumns]) -> SchemaColumn {
    let kind = match column.family {
        Family::Number if column.whole => ColumnKind::Integer,
        Family::Number => ColumnKind::Number,
        Family::Date | Family::Time => ColumnKind::Date,
        Family::Boolean => ColumnKind::Boolean,
        Family::Text | Family::Empty | Family::Other => ColumnKind::Text,
    };
    let found = known.iter().flat_map(|table| &table.columns).find(|known| known.name == column.name);
    match found {
        Some(known) => SchemaColumn { kind, ..known.clone() },
        None => SchemaColumn::new(column.name.clone(), kind),
    }
}

/// What the index knows of the columns of a table.
fn of_index(index: &LakeIndex, id: &str) -> Result<KnownColumns> {
    let at = index.find(id)?;
    let entry = index.table(at)?;
    let segment = index.segment(at.segment)?;
    let places: Vec<u32> = segment.catalog.columns(at.table)?.collect();
    let mut columns = Vec::with_capacity(entry.profile.columns.len());
    for (place, profile) in entry.profile.columns.iter().enumerate() {
        let samples = match places.get(place) {
            Some(column) => segment.columns.samples(segment.columns.record(*column)?)?,
            None => Vec::new(),
        };
        columns.push(schema_column(profile, samples.into_iter().map(|(_, value)| value)));
    }
    Ok(KnownColumns { columns, values: ValuesOf::Index(id.to_string()) })
}

/// A table of the lake as turns over it are read: for training examples.
///
/// # Errors
/// [`lakeward_core::Error::UnknownTable`], and a damaged index.
pub fn known_table<'a>(index: &'a LakeIndex, id: &'a str) -> Result<KnownTable<'a>> {
    let columns = of_index(index, id)?.columns;
    let holds = move |place: usize, value: &str| {
        let hash = Normaliser::default().value(value).hash;
        is_held(index, id, place, hash).unwrap_or(false)
    };
    Ok(KnownTable { columns, holds: Box::new(holds) })
}

/// A column with its type and some of its values: the most frequent ones, then `samples`.
fn schema_column<'a>(profile: &'a ColumnProfile, samples: impl Iterator<Item = &'a str>) -> SchemaColumn {
    let kind = kind_of(profile.logical);
    let mut values: Vec<String> = Vec::new();
    if kind == ColumnKind::Text {
        let mut seen = std::collections::HashSet::new();
        let all = profile.top.iter().map(|(value, _)| value.as_str()).chain(samples);
        values.extend(
            all.filter(|value| value.len() <= LONGEST_VALUE && seen.insert(*value))
                .take(MOST_VALUES)
                .map(str::to_string),
        );
    }
    let bound = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
    SchemaColumn {
        complete: profile.distinct <= FEW_VALUES && profile.distinct <= values.len() as u64,
        values,
        range: bound(&profile.min).zip(bound(&profile.max)),
        ..SchemaColumn::new(profile.name.clone(), kind)
    }
}

fn kind_of(logical: LogicalType) -> ColumnKind {
    match logical {
        LogicalType::Boolean => ColumnKind::Boolean,
        LogicalType::Integer => ColumnKind::Integer,
        LogicalType::Float => ColumnKind::Number,
        LogicalType::Date | LogicalType::Timestamp => ColumnKind::Date,
        LogicalType::Empty | LogicalType::Text => ColumnKind::Text,
    }
}

/// How well the columns of a candidate are what is wanted, in 0..=1, and which they are.
fn wanted_columns(candidate: &Candidate, wanted: &[String]) -> (f64, Vec<String>) {
    let mut columns = Vec::new();
    let mut sum = 0.0;
    for phrase in wanted {
        let parts = NameParts::of(phrase);
        let words: Vec<NameParts> =
            name_words(phrase).iter().filter(|word| !is_function_word(word)).map(|word| NameParts::of(word)).collect();
        let like = |column: &ColumnProfile| {
            let name = NameParts::of(&column.name);
            let whole = parts.likeness(&name).max(parts.short_form(&name));
            let by_word = words.iter().map(|word| word.likeness(&name).max(word.short_form(&name))).fold(0.0, f64::max);
            whole.max(0.8 * by_word)
        };
        let best =
            candidate.dataset.columns().iter().map(|column| (like(column), column)).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((likeness, column)) = best {
            sum += likeness;
            if likeness >= 0.45 && !columns.contains(&column.name) {
                columns.push(column.name.clone());
            }
        }
    }
    if wanted.is_empty() { (0.0, columns) } else { (sum / wanted.len() as f64, columns) }
}

/// How much words name a candidate, in 0..=1.
fn named_by(candidate: &Candidate, wish: &TableWish, text: &str) -> f64 {
    let id = candidate.dataset.id().as_str();
    if wish.id.as_deref() == Some(id) {
        return 2.0;
    }
    overlap(&wish.words, id, &candidate.dataset.title()).max(spelt_out(text, id))
}

/// 1 where a text has the id of a table, or its last part.
fn spelt_out(text: &str, id: &str) -> f64 {
    let lower = text.to_lowercase();
    let last = id.rsplit('/').next().unwrap_or(id);
    let is_there = lower.contains(&id.to_lowercase()) || (last.len() > 4 && lower.contains(&last.to_lowercase()));
    f64::from(u8::from(is_there))
}

/// The share of words that the id or title of a table has.
fn overlap(words: &str, id: &str, title: &str) -> f64 {
    let said: Vec<String> = name_words(words).into_iter().filter(|word| !is_function_word(word)).collect();
    if said.is_empty() {
        return 0.0;
    }
    let own: Vec<String> = name_words(id).into_iter().chain(name_words(title)).collect();
    let has = |word: &&String| {
        own.iter().any(|known| known == *word || (word.len() > 3 && known.starts_with(word.trim_end_matches('s'))))
    };
    said.iter().filter(has).count() as f64 / said.len() as f64
}
