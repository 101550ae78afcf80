//! The table that words describe: to join with, to append, or to work on instead. It is chosen among what the searches for tables that go
//! with the one at hand have found, by its name, the columns that are requested of it, and what a search for the words finds.

use std::collections::BTreeMap;

use super::Agent;
use super::described_table::{self, described, overlap, spelt_out};
use super::known_columns::{AtHand, column_names};
use super::requested_columns::Partner;
use super::scored::Scored;
use super::tables::is_any_held;
use crate::feature_table::{Added, Aggregate, free_name, one_row_join};
use crate::recommend::mentions::Phrases;
use crate::recommend::next_operations::{SOURCE_COLUMN, join_keys, requested_columns, union_part};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::{Join, JoinKey, JoinKind, Kept, Plan, Relation, Step, Union, UnionPart};
use lakeward_core::request::Input;
use lakeward_core::text::{NameParts, name_likeness};
use lakeward_lake::composite_key::is_time;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, Weakness};
use lakeward_reading::reader::{How, NotApplied, RequestedTable};
use lakeward_search::candidates::Relevance;
use lakeward_search::composite::{self, CompositeOptions};
use lakeward_search::correlate::KeyPair;
use lakeward_search::join::{self, JoinOptions};
use lakeward_search::union::{self, UnionOptions};
use lakeward_search::weights::PartnerWeights;
use lakeward_search::{Candidate, JoinAnswer, QueryColumn, QueryTable, UnionAnswer};

/// Columns that can be one key together.
const MOST_KEYS: usize = 8;
/// Partners at a grain that are looked at: a bound of work.
const GRAIN_DEPTH: usize = 20;
/// Alternatives looked at for a table to append: a bound of work.
const UNION_DEPTH: usize = 60;

/// Tables with their scores as shares of the best one's.
pub(crate) type Found = BTreeMap<String, f64>;

/// What a chosen table does to a plan.
pub(crate) enum Next {
    Step(Box<Step>),
    Source(Input, Vec<(String, String)>),
}

/// The same steps over another table, whose columns get the names that the steps know.
pub(super) fn replaced_source(plan: &Plan, source: Input, renames: Vec<(String, String)>) -> Plan {
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

/// Whether a column is called like words, in full or shortened (`ctry`).
pub(super) fn is_column_called(words: &str, column: &str, weights: &PartnerWeights) -> bool {
    let (words, column) = (NameParts::of(words), NameParts::of(column));
    words.likeness(&column).max(words.short_form(&column)) >= weights.owned
}

/// A table that was chosen.
pub(crate) struct Chosen {
    /// Its id, of several the first one's.
    pub(super) table: String,
    /// What it does to the plan.
    pub(super) next: Next,
    /// The share of the key's values that it has, or of the columns at hand that it can go below, in 0..=1.
    pub(super) fit: f64,
    /// What was wanted of it and is not there, or has no column that is called so.
    pub(super) not_applied: Vec<NotApplied>,
    /// Words for columns that another table has to be found for.
    pub(super) left: Vec<String>,
}

impl Chosen {
    /// A table of which all that is wanted is there.
    fn whole(table: String, next: Next, fit: f64) -> Self {
        Self { table, next, fit, not_applied: Vec::new(), left: Vec::new() }
    }
}

impl Agent<'_> {
    /// The table to join with, and how; `None` where none fits.
    ///
    /// # Errors
    /// A damaged index.
    pub(crate) fn to_join(
        &self,
        session: &Session,
        plan: &Plan,
        (requested, found): (&RequestedTable, &Found),
        at_hand: Option<AtHand<'_>>,
        text: &str,
        partners: &[Scored],
    ) -> Result<Option<Chosen>> {
        let weights = &self.ranking.partner;
        let judged = (&self.ranking, self.index.names_language()?);
        let (mut by_keys, mut named) = (BTreeMap::new(), None);
        if let Some(AtHand { table, .. }) = at_hand {
            by_keys =
                self.joined_on(&keys_named(table, text, (&requested.keys, &requested.columns), weights), table)?;
            if let Some(id) = requested.id.as_ref().filter(|id| !by_keys.contains_key(*id)) {
                named = Some(self.joined_with(id, &requested.keys, table)?);
            }
        }
        let described = || match &named {
            Some(named) => described((requested, found), text, &by_keys, named.iter().collect(), judged),
            None => {
                let partners = partners.iter().map(|scored| &scored.candidate).collect();
                described((requested, found), text, &by_keys, partners, judged)
            }
        };
        // A table that has several keys which are named together, and a column that is called as what is wanted.
        let is_called = |partner: &Partner| {
            let is_it = |phrase: &String| {
                partner.columns.iter().any(|column| name_likeness(phrase, column) >= weights.same_name)
            };
            partner.answer.on.len() > 1 && requested.columns.iter().any(is_it)
        };
        // "The genre of the act" is a column of a table, where one that is called so has it.
        let owned = requested.of_owner().and_then(|owned| {
            let partners = partners.iter().map(|scored| &scored.candidate).filter(|candidate| {
                let columns = candidate.dataset.columns();
                let has = |head: &String| columns.iter().any(|column| is_column_called(head, &column.name, weights));
                let (id, title) = (candidate.dataset.id().as_str(), candidate.dataset.title());
                owned.columns.iter().all(has) && overlap(&owned.words, id, &title) >= weights.owner
            });
            described_table::described((&owned, found), text, &by_keys, partners.collect(), judged)
        });
        let found = match at_hand {
            _ if owned.is_some() => owned,
            Some(AtHand { table, .. })
                if requested.id.is_none() && requested.words.is_empty() && requested.how == How::Join =>
            {
                match described().filter(is_called) {
                    Some(found) => Some(found),
                    None => {
                        self.with_requested(plan, (requested, text), (table, partners), &by_keys)?.or_else(described)
                    }
                }
            }
            _ => described(),
        };
        let Some(Partner { candidate, answer, columns, is_count, mut not_applied, left }) = found else {
            return Ok(None);
        };
        let mut on = join_keys(&answer);
        if on.is_empty() {
            return Ok(None);
        }
        if let (Some(AtHand { table, .. }), [key], []) = (at_hand, &mut on[..], &requested.keys[..]) {
            not_applied.extend(self.other_key(key, &answer, table, text)?);
        }
        let own: Vec<&QueryColumn> = at_hand.iter().flat_map(|at_hand| &at_hand.table.columns).collect();
        let theirs = candidate.dataset.columns();
        // Keys that are named; and where one key repeats rows, what else is the same in both.
        let is_key = |column: &&&QueryColumn| requested.keys.contains(&column.profile.name);
        let mut further: Vec<&&QueryColumn> = own.iter().filter(is_key).collect();
        if answer.fan_out > weights.several_rows {
            further.extend(own.iter().filter(|column| !is_key(column)));
        }
        for column in further {
            let name = &column.profile.name;
            if on.iter().any(|key| key.left == *name) {
                continue;
            }
            let parts = NameParts::of(name);
            let free = theirs.iter().filter(|column| !on.iter().any(|key| key.right == column.name));
            let alike = free
                .filter(|column| column.logical != LogicalType::Float || requested.keys.contains(name))
                .filter(|column| !columns.contains(&column.name))
                .map(|column| {
                    let name = NameParts::of(&column.name);
                    (parts.likeness(&name).max(parts.short_form(&name)), column)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let least = if requested.keys.contains(name) { weights.named_key } else { weights.same_name };
            let Some((_, other)) = alike.filter(|(likeness, _)| *likeness >= least) else { continue };
            let place = theirs.iter().position(|column| column.name == other.name).unwrap_or_default();
            if is_any_held(self.index, &answer.table, place, &column.sketch.hashes)? {
                on.push(JoinKey { left: name.clone(), right: other.name.clone(), exact: false });
            } else if requested.keys.contains(name) {
                let reason = format!("`{}` of `{}` has none of its values", other.name, answer.table);
                not_applied.push(NotApplied::left_out(name, reason));
            }
        }
        let table = answer.table.clone();
        if is_count && let [column] = &columns[..] {
            let pair = |key: JoinKey| KeyPair { query_column: key.left, column: key.right };
            let on: Vec<KeyPair> = on.into_iter().map(pair).collect();
            let taken = column_names(self.connected(session)?, &plan.relation)?;
            let name = free_name((&table, Aggregate::Count.named(column)), &on, &taken);
            let added = Added { table: &table, column, on: &on, name: &name };
            let (step, _) = one_row_join(theirs, &added, Aggregate::Count);
            return Ok(Some(Chosen { table, next: Next::Step(Box::new(step)), fit: 1.0, not_applied, left }));
        }
        let kind = match requested.how {
            How::Semi => JoinKind::Semi,
            How::Anti => JoinKind::Anti,
            _ => JoinKind::Left,
        };
        if kind == JoinKind::Left && !requested.columns.is_empty() && columns.is_empty() {
            let reason = format!("no column of `{}` is called so; all of its columns are added", answer.table);
            not_applied.push(NotApplied::left_out(requested.columns.join(", "), reason));
        }
        for key in requested.keys.iter().filter(|key| !on.iter().any(|on| on.left == **key)) {
            if !not_applied.iter().any(|lost| lost.words == *key) {
                not_applied.push(NotApplied::left_out(key, format!("`{table}` is not joined by it")));
            }
        }
        let columns = if kind == JoinKind::Left { columns } else { Vec::new() };
        let columns = columns.into_iter().map(|column| Kept { column, name: None }).collect();
        let with = Relation::of(Input::Table(table.clone()));
        let next = Next::Step(Box::new(Step::Join(Join { with, kind, on, columns })));
        Ok(Some(Chosen { table, next, fit: answer.containment, not_applied, left }))
    }

    /// Sets `key` to another column at hand that joins the same column of the partner as well, as the airport that a flight leaves and the one where it
    /// lands do, where the request speaks of that one alone; where it speaks of none or of several, tells that it was chosen.
    ///
    /// # Errors
    /// A damaged index.
    fn other_key(
        &self,
        key: &mut JoinKey,
        answer: &JoinAnswer,
        table: &QueryTable,
        text: &str,
    ) -> Result<Option<NotApplied>> {
        let own = &table.entry.profile.columns;
        let Some(chosen) = own.iter().find(|column| column.name == key.left) else { return Ok(None) };
        let partner = self.index.find(&answer.table)?;
        let mut as_well = vec![key.left.clone()];
        for (place, column) in own.iter().enumerate() {
            if column.name == chosen.name || column.logical != chosen.logical || column.weakness.is_some() {
                continue;
            }
            let other = join::between(self.index, table, partner, &[place], &self.ranking)?;
            let least = self.ranking.partner.as_well * answer.containment;
            let joins = |other: &JoinAnswer| other.column == key.right && other.containment >= least;
            if other.as_ref().is_some_and(joins) {
                as_well.push(column.name.clone());
            }
        }
        if as_well.len() == 1 {
            return Ok(None);
        }
        let mentioned = Phrases::of(text).columns(own).into_iter().map(|mention| own[mention.column].name.clone());
        let said: Vec<String> = mentioned.filter(|name| as_well.contains(name)).collect();
        if let [only] = &said[..] {
            key.left.clone_from(only);
            return Ok(None);
        }
        let reason = format!("each has values of `{}`, and no words say which: `{}` is taken", key.right, key.left);
        Ok(Some(NotApplied::left_out(as_well.join(" or "), reason)))
    }

    /// The partner that has the columns which a request wants at the grain that it names, as in "the population for each country and
    /// year": its keys are all the columns at hand that are named. `None` where fewer than two are, or no partner has both.
    ///
    /// # Errors
    /// Those of [`composite::search`].
    pub(super) fn at_grain(
        &self,
        text: &str,
        requested: &[String],
        table: &QueryTable,
        partners: &[Scored],
    ) -> Result<Option<Scored>> {
        let (phrases, own) = (Phrases::of(text), &table.entry.profile.columns);
        let least = self.ranking.operations.wanted_column;
        let by_keys = self.joined_on(&keys_named(table, text, (&[], requested), &self.ranking.partner), table)?;
        let joined = partners.iter().filter_map(|scored| {
            let join = by_keys.get(scored.id())?.clone();
            let candidate = Candidate { join: Some(join), ..scored.candidate.clone() };
            let has_requested = !requested_columns(requested, least, &phrases, own, &candidate).is_empty();
            has_requested.then(|| Scored { candidate, ..scored.clone() })
        });
        let score = |scored: &Scored| scored.candidate.join.as_ref().map_or(0.0, |answer| answer.score);
        Ok(joined.max_by(|a, b| score(a).total_cmp(&score(b)).then_with(|| b.id().cmp(a.id()))))
    }

    /// The table of an id, as it is best joined with `table`, on a column of `keys` where they are named; `None` where no values meet.
    pub(super) fn joined_with(&self, id: &str, keys: &[String], table: &QueryTable) -> Result<Option<Candidate>> {
        let own = &table.entry.profile.columns;
        let places: Vec<usize> = (0..own.len()).filter(|&place| keys.contains(&own[place].name)).collect();
        let partner = self.index.find(id)?;
        let mut answer = join::between(self.index, table, partner, &places, &self.ranking)?;
        if answer.is_none() && !places.is_empty() {
            answer = join::between(self.index, table, partner, &[], &self.ranking)?;
        }
        let Some(join) = answer else { return Ok(None) };
        let dataset = self.index.dataset(partner)?;
        let relevance = Relevance { to_join: join.score, otherwise: 0.0, by_words: 0.0 };
        let (holds, grains) = (Vec::new(), Vec::new());
        Ok(Some(Candidate { dataset, relevance, search: None, join: Some(join), union: None, holds, grains }))
    }

    /// The tables that have the values of all these columns of `table` together, by id.
    fn joined_on(&self, columns: &[usize], table: &QueryTable) -> Result<BTreeMap<String, JoinAnswer>> {
        let answers = match columns {
            [] => return Ok(BTreeMap::new()),
            [column] => {
                let options = JoinOptions { column: Some(*column), ..JoinOptions::new(GRAIN_DEPTH) };
                join::search(self.index, table, &JoinOptions { weights: &self.ranking, ..options })?
            }
            several if several.len() > MOST_KEYS => return Ok(BTreeMap::new()),
            several => {
                let options = CompositeOptions { k: GRAIN_DEPTH, columns: several.to_vec(), weights: &self.ranking };
                composite::search(self.index, self.lake, table, &options)?.answers.into_inner()
            }
        };
        let enough = |answer: &JoinAnswer| answer.containment >= self.ranking.fit.least_containment;
        Ok(answers.into_iter().filter(enough).map(|answer| (answer.table.clone(), answer)).collect())
    }

    /// What a search for the words of a requested table finds, each table with its score as a share of the best one's.
    pub(super) fn found_for(&self, requested: &RequestedTable) -> Result<Found> {
        let Some(found) = self.searched(all_words(requested).trim())? else { return Ok(BTreeMap::new()) };
        let best = found.answers.iter().map(|answer| answer.score).fold(f64::MIN_POSITIVE, f64::max);
        Ok(found.answers.into_iter().map(|answer| (answer.table, answer.score / best)).collect())
    }

    /// The tables that go below the rows that a plan starts from.
    fn aligned(&self, session: &Session, plan: &Plan) -> Result<Vec<UnionAnswer>> {
        let source = self.open_input(session, &plan.relation.source)?;
        let options = UnionOptions { k: UNION_DEPTH, count_rows: false, weights: &self.ranking };
        union::search(self.index, self.lake, &source, &options)
    }

    /// The table that words describe best among those that go below, with how much they name it.
    fn best_aligned(
        &self,
        session: &Session,
        plan: &Plan,
        (requested, found): (&RequestedTable, &Found),
        text: &str,
    ) -> Result<Option<(f64, UnionAnswer)>> {
        let least = self.ranking.fit.least_alignment;
        let mut best: Option<(f64, f64, UnionAnswer)> = None;
        for answer in self.aligned(session, plan)? {
            if answer.parts.alignment < least {
                continue;
            }
            if plan.tables().any(|used| used == answer.table) {
                continue;
            }
            let title = self.index.dataset(self.index.find(&answer.table)?)?.title();
            let named = match &requested.id {
                Some(id) if *id == answer.table => self.ranking.partner.named_by_id,
                _ => overlap(&requested.words, &answer.table, &title).max(spelt_out(text, &answer.table)),
            };
            let by_words = found.get(&answer.table).copied().unwrap_or(0.0);
            let score = self.ranking.partner.named * named + by_words + answer.score;
            if best.as_ref().is_none_or(|(known, ..)| score > *known) {
                best = Some((score, named, answer));
            }
        }
        Ok(best.map(|(_, named, answer)| (named, answer)))
    }

    /// The table to append, or all of a kind where the words name none; `None` where none fits.
    ///
    /// # Errors
    /// A damaged index, and whatever reading the source reports.
    pub(super) fn to_append(
        &self,
        session: &Session,
        plan: &Plan,
        (requested, found): (&RequestedTable, &Found),
        text: &str,
        supplements: &[&Candidate],
    ) -> Result<Option<Chosen>> {
        let best = self.best_aligned(session, plan, (requested, found), text)?;
        let named = best.as_ref().map_or(0.0, |(named, _)| *named);
        let groups = plan.relation.steps.iter().any(|step| matches!(step, Step::Group(_) | Step::Pivot(_)));
        let fitting: Vec<&UnionAnswer> = supplements.iter().filter_map(|candidate| candidate.union.as_ref()).collect();
        // Words that name no table, or all of a kind, mean those that fit.
        let least = self.ranking.partner.least;
        let unnamed = (named < least && !fitting.is_empty()) || (requested.id.is_none() && fitting.len() > 1);
        let answers = match unnamed && !groups {
            true => fitting,
            false => best.iter().map(|(_, answer)| answer).collect(),
        };
        let Some(best) = answers.first() else { return Ok(None) };
        let own = self.open_input(session, &plan.relation.source)?.columns.len();
        let (first, fit) = (best.table.clone(), best.alignment.len() as f64 / own.max(1) as f64);
        let others: Vec<UnionPart> = answers.iter().copied().map(union_part).collect();
        let source_column = (others.len() > 1).then(|| SOURCE_COLUMN.to_string());
        let step = Step::Union(Union { others, keep_extra: false, source_column });
        Ok(Some(Chosen::whole(first, Next::Step(Box::new(step)), fit)))
    }

    /// The table to work on instead, with the names that the plan knows; `None` where none fits.
    ///
    /// # Errors
    /// A damaged index, and whatever reading the source reports.
    pub(super) fn other_source(
        &self,
        session: &Session,
        plan: &Plan,
        requested: (&RequestedTable, &Found),
        text: &str,
    ) -> Result<Option<Chosen>> {
        let Some((_, answer)) = self.best_aligned(session, plan, requested, text)? else { return Ok(None) };
        let renamed = answer.alignment.iter().filter(|pair| pair.query_column != pair.column);
        let renames = renamed.map(|pair| (pair.column.clone(), pair.query_column.clone())).collect();
        let next = Next::Source(Input::Table(answer.table.clone()), renames);
        Ok(Some(Chosen::whole(answer.table, next, 1.0)))
    }
}

/// All words for a requested table: for itself, then for its columns.
pub(super) fn all_words(requested: &RequestedTable) -> String {
    let columns = requested.columns.iter().map(String::as_str);
    std::iter::once(requested.words.as_str()).chain(columns).collect::<Vec<_>>().join(" ")
}

/// The columns of the table at hand that a request names as keys, by place. If the reader read several as keys, it is
/// these. Otherwise it is all columns that the text mentions and does not want from another table, if they are
/// several. A single column is a key only if the reader read it so. Columns of figures are never keys.
fn keys_named(
    table: &QueryTable,
    text: &str,
    (keys, requested): (&[String], &[String]),
    weights: &PartnerWeights,
) -> Vec<usize> {
    let own = &table.entry.profile.columns;
    // Equal figures say nothing, and looking for them takes seconds.
    let is_figure = |weakness| matches!(weakness, Weakness::Measure | Weakness::SmallNumbers | Weakness::Counter);
    let may_be_key = |column: &ColumnProfile| !column.weakness.is_some_and(is_figure) || is_time(column);
    let read = (0..own.len()).filter(|&place| keys.contains(&own[place].name) && may_be_key(&own[place]));
    let read: Vec<usize> = read.collect();
    if read.len() > 1 {
        return read;
    }
    let least = weights.same_name;
    let is_requested = |name: &str| requested.iter().any(|requested| name_likeness(requested, name) >= least);
    let mentioned = Phrases::of(text).columns(own).into_iter().map(|mention| mention.column);
    let mentioned: Vec<usize> =
        mentioned.filter(|&place| may_be_key(&own[place]) && !is_requested(&own[place].name)).collect();
    if mentioned.len() > 1 { mentioned } else { read }
}
