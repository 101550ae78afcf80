//! Adds the names of what codes stand for where a turn asks for names and is read as nothing that has them: "count per mechanic, with name", "names
//! instead of ids", "and the keeper's name".

use super::Agent;
use super::code_lists::KNOWS;
use super::known_columns::{AtHand, column_names};
use super::plan_reading::Read;
use super::requested_table::is_column_called;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::{Message, PARTS};
use lakeward_core::plan::{Join, JoinKind, Kept, Plan, Relation, Step};
use lakeward_core::request::Input;
use lakeward_core::text::{is_function_word, lower_words, name_words, stems};
use lakeward_index::TableRef;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_reading::reader::{Act, Control, Role, Span, TurnReading};
use lakeward_search::{QueryColumn, QueryTable, join};

/// Codes whose names one turn adds.
const MOST: usize = 3;
/// Words between a name and whose it is.
const NEAR: usize = 4;

/// What a turn asks names for.
#[derive(Clone, Copy)]
struct Wish<'t> {
    text: &'t str,
    /// Whose names.
    owners: &'t [String],
    /// Whether it is about groups.
    groups: bool,
}

/// A plan with names of codes.
pub(super) struct NamedCodes {
    pub plan: Plan,
    /// The last table that was joined.
    pub table: String,
    pub remarks: Vec<Message>,
}

impl Agent<'_> {
    /// A turn as it is read over the rows at hand, or over those of a table that was found, with the names that it asks for.
    ///
    /// # Errors
    /// A damaged index, and whatever opening the table reports.
    pub(super) fn with_names_of_codes(
        &self,
        session: &Session,
        text: &str,
        (base, read): (&Plan, Read),
        at_hand: Option<AtHand<'_>>,
    ) -> Result<Read> {
        let (Some(owners), None) = (owners(text), Control::of_text(text)) else { return Ok(read) };
        let changes = |act: &Act| matches!(act, Act::New | Act::Refine | Act::Correct);
        let adds_name =
            |step: &Step| matches!(step, Step::Join(join) if join.columns.iter().any(|kept| is_name(&kept.column)));
        let new = read.assembly.plan.relation.steps.iter().filter(|step| !base.relation.steps.contains(step));
        let is_added = new.into_iter().any(adds_name);
        if !read.turn.acts.iter().all(changes) || !read.assembly.tables.is_empty() || is_added {
            return Ok(read);
        }
        // "The keeper's name" is no column of the rows, though one is called `name`.
        let is_of_names = |words: &str| lower_words(words).any(|word| is_word_for_names(&word));
        let is_wish = |span: &Span| matches!(span.role, Role::Show | Role::Column) && is_of_names(&span.words);
        let without_wish = |turn: &mut TurnReading| turn.spans.retain(|span| !is_wish(span));
        let mut bare = match read.turn.spans.iter().any(is_wish) {
            true => self.assembled(session, text, base, at_hand, &without_wish)?,
            false => read.clone(),
        };
        let groups = bare.turn.of(Role::Group).chain(bare.turn.of(Role::Distinct)).next().is_some();
        let wish = Wish { text, owners: &owners, groups };
        let Some(named) = self.named_codes(session, &bare.assembly.plan, wish, at_hand)? else { return Ok(read) };
        bare.assembly.plan = named.plan;
        // What is lost of another name is still lost.
        let is_met = |words: &str| {
            let mut content = lower_words(words).filter(|word| !is_function_word(word));
            is_of_names(words) && content.all(|word| is_word_for_names(&word) || owners.contains(&word))
        };
        bare.assembly.not_applied.retain(|lost| !is_met(&lost.words));
        bare.assembly.remarks.extend(named.remarks);
        bare.turn.unread.retain(|word| !is_of_names(word));
        Ok(bare)
    }

    /// A plan with the names that words for columns of another table ask for, and the last table that was joined.
    ///
    /// # Errors
    /// Those of [`Agent::with_names_of_codes`].
    pub(super) fn requested_names(
        &self,
        session: &Session,
        plan: &Plan,
        (columns, text): (&[String], &str),
        at_hand: Option<AtHand<'_>>,
    ) -> Result<Option<NamedCodes>> {
        let Some(owners) = owners(text).filter(|_| columns.iter().all(|column| is_name(column))) else {
            return Ok(None);
        };
        let groups = matches!(plan.relation.steps.last(), Some(Step::Group(_)));
        self.named_codes(session, plan, Wish { text, owners: &owners, groups }, at_hand)
    }

    /// A plan with the names of codes in its result: of those that `owners` speak of; where nothing says whose names they are, of what is grouped by,
    /// else of all.
    fn named_codes(
        &self,
        session: &Session,
        plan: &Plan,
        Wish { text, owners, groups }: Wish<'_>,
        at_hand: Option<AtHand<'_>>,
    ) -> Result<Option<NamedCodes>> {
        let of_rows = at_hand.filter(|at_hand| *at_hand.input == plan.relation.source).map(|at_hand| at_hand.table);
        let opened = match (&of_rows, &plan.relation.source) {
            (None, Input::Table(id)) => self.open_candidate(id)?,
            _ => None,
        };
        let Some(own) = of_rows.or(opened.as_ref()) else { return Ok(None) };
        let context = self.connected(session)?;
        let Ok(shown) = column_names(context, &plan.relation) else { return Ok(None) };
        let keys: Vec<&str> = match plan
            .relation
            .steps
            .iter()
            .rev()
            .find_map(|step| if let Step::Group(grouping) = step { Some(grouping) } else { None })
        {
            Some(grouping) => grouping.keys.iter().filter_map(|key| key.of.as_column()).collect(),
            None => Vec::new(),
        };
        let is_called = |name: &str| owners.iter().any(|owner| is_column_called(owner, name, &self.ranking.partner));
        let (mut all, mut meant) = (Vec::new(), Vec::new());
        for column in own.columns.iter().filter(|column| shown.contains(&column.profile.name)) {
            let name = column.profile.name.as_str();
            let Some((id, join)) = self.names_of(own, column, text)? else { continue };
            let words = name_words(name);
            let is_owner = is_called(name)
                || words.iter().any(|word| is_called(word))
                || is_called(id.rsplit('/').next().unwrap_or(&id));
            let is_key = groups && keys.contains(&name);
            match is_owner {
                true => meant.push((id, join)),
                false if is_key || (owners.is_empty() && !groups) => all.push((id, join)),
                false => {}
            }
        }
        let has_own = shown.iter().any(|name| is_name(name));
        let mut joins = match meant.is_empty() {
            true if has_own => return Ok(None),
            true => all,
            false => meant,
        };
        joins.truncate(MOST);
        let (mut made, mut remarks, mut last) = (plan.clone(), Vec::new(), None);
        for (id, join) in joins {
            if join.columns.iter().any(|kept| shown.contains(&kept.column)) {
                continue;
            }
            let named = Message::list(PARTS, join.columns.iter().map(|kept| message!("`{}`", &kept.column)));
            remarks.push(message!("`{}` is named by {} of `{}`", &join.on[0].left, named, &id));
            made = made.then(Step::Join(join));
            last = Some(id);
        }
        let is_made = column_names(context, &made.relation).is_ok();
        Ok(last.filter(|_| is_made).map(|table| NamedCodes { plan: made, table, remarks }))
    }

    /// The table that has one row for hardly any but each of the codes of a column and names in a column of its own, and the join that adds these.
    fn names_of(&self, own: &QueryTable, column: &QueryColumn, text: &str) -> Result<Option<(String, Join)>> {
        let mut tables: Vec<TableRef> = Vec::new();
        for (place, overlap) in join::closest_columns(self.index, column)? {
            let segment = self.index.segment(place.segment)?;
            let table = TableRef { segment: place.segment, table: segment.columns.record(place.column)?.table };
            let knows = overlap.shared as f64 >= KNOWS * column.values.hashes.len() as f64;
            if knows && own.origin != Some(table) && !tables.contains(&table) {
                tables.push(table);
            }
        }
        let said: Vec<String> = lower_words(text).collect();
        for table in tables {
            let Some(on) = self.key_of(own, table)?.filter(|on| on.left == column.profile.name) else { continue };
            let dataset = self.index.dataset(table)?;
            let is_text = |profile: &&ColumnProfile| profile.logical == LogicalType::Text && profile.name != on.right;
            let id = self.index.id(table)?.to_string();
            let columns = || dataset.columns().iter().filter(is_text).map(|profile| &*profile.name);
            let mut named: Vec<&str> = columns().filter(|name| is_name(name)).collect();
            if named.is_empty() {
                // `branch` of `branches`.
                let things = stems(id.rsplit('/').next().unwrap_or(&id));
                let is_thing =
                    |name: &&str| Some(stems(name)).is_some_and(|own| !own.is_empty() && own.is_subset(&things));
                named.extend(columns().find(is_thing));
            }
            // "The common name" is one of two.
            let is_said =
                |name: &&str| name_words(name).len() > 1 && name_words(name).iter().all(|word| said.contains(word));
            let spelt: Vec<&str> = named.iter().copied().filter(is_said).collect();
            let named = if spelt.is_empty() { named } else { spelt };
            if named.is_empty() {
                continue;
            }
            let named = named.into_iter().map(|column| Kept { column: column.to_string(), name: None }).collect();
            let with = Relation { source: Input::Table(id.clone()), steps: Vec::new() };
            return Ok(Some((id, Join { with, kind: JoinKind::Left, on: vec![on], columns: named })));
        }
        Ok(None)
    }
}

/// Whether a word asks for names.
fn is_word_for_names(word: &str) -> bool {
    matches!(word, "name" | "names")
}

/// Whether a column has names, by what it is called.
fn is_name(column: &str) -> bool {
    name_words(column)
        .iter()
        .any(|word| is_word_for_names(word) || word == "nm" || word == "surname" || word == "forename")
}

/// The words that say whose names a turn asks for, if it asks for any: those right before, "the keeper's name", and behind `of`.
fn owners(text: &str) -> Option<Vec<String>> {
    let words: Vec<String> =
        lower_words(text).map(|word| word.trim_end_matches("'s").trim_end_matches("’s").to_string()).collect();
    let place = words.iter().position(|word| is_word_for_names(word))?;
    let is_content = |word: &&String| !is_function_word(word) && word.len() > 2;
    let before = words[..place].iter().rev().take_while(|word| !is_function_word(word)).take(2);
    let behind = words[place + 1..].iter().take(NEAR).filter(|_| words.get(place + 1).is_some_and(|word| word == "of"));
    Some(before.chain(behind).filter(is_content).cloned().collect())
}
