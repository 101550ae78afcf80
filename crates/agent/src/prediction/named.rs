//! Columns of other tables that the words of a request name: those that a search for columns finds best for them and that share keys with
//! the table at hand.

use std::collections::{HashMap, HashSet};

use super::phrases::unexplained;
use super::{FEATURES, Predicted, notes, operation};
use crate::Agent;
use crate::execution::preview_rows;
use crate::feature_table::{Added, Aggregate, feature_table, free_name, one_row_join};
use crate::known_columns::{AtHand, column_names};
use crate::recommend::RankedOperation;
use crate::recommend::next_operations::{Base, met, proposal, unmet};
use crate::requested_table::{Chosen, Found, Next};
use crate::scored::Scored;
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Join, JoinKey, JoinKind, Kept, Plan, Relation, Step};
use lakeward_core::request::{Input, OperationKind};
use lakeward_core::text::{Stemmer, bare, is_function_word, name_words};
use lakeward_index::ColumnRef;
use lakeward_lake::grain::GrainKind;
use lakeward_lake::join_keys;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_reading::reader::{How, NotApplied, RequestedTable, with_table};
use lakeward_search::column_search::{ColumnAnswer, ColumnMatch};
use lakeward_search::correlate::{self, KeyPair};
use lakeward_search::join::ColumnPair;
use lakeward_search::text_search::SearchOptions;
use lakeward_search::weights::NamedColumnWeights;
use lakeward_search::{CorrelateOptions, QueryTable, column_search};

/// Tables that are tried one after the other, where a column cannot be added.
const TRIED: usize = 3;
/// Columns that are looked at for words.
const LOOKED_AT: usize = 40;
/// Texts of columns that are read for all phrases of a request, and at least for each.
pub(super) const READ: usize = 24;
pub(super) const READ_EACH: usize = 12;

/// A column that words name.
pub(crate) struct Named {
    pub(crate) table: String,
    pub(crate) column: String,
    place: ColumnRef,
    pub(crate) score: f64,
    /// Whether its name has words of the phrase.
    pub(crate) is_called: bool,
    /// The phrase that it answers best, by its place.
    pub(crate) phrase: usize,
    /// What several rows of a key become, as the words say it.
    pub(crate) aggregate: Aggregate,
    /// The keys, where no target is compared, or what is indexed of both tables shares too few for that.
    on: Option<Vec<KeyPair>>,
}

/// The left join that adds a column of a table under a name.
fn left_join((table, column, name): (&str, &str, &str), on: &[KeyPair]) -> Step {
    let key = |pair: &KeyPair| JoinKey { left: pair.query_column.clone(), right: pair.column.clone(), exact: false };
    let kept = Kept { column: column.into(), name: (name != column).then(|| name.into()) };
    let with = Relation::of(Input::Table(table.into()));
    Step::Join(Join { with, kind: JoinKind::Left, on: on.iter().map(key).collect(), columns: vec![kept] })
}

/// The stems of the names of the keys that are words: what a row of the table is of.
fn things_named(columns: &[ColumnProfile], keys: &[Vec<usize>]) -> HashSet<String> {
    let words = |place: &&usize| !columns[**place].logical.is_numeric() && !join_keys::is_time(&columns[**place]);
    let mut stemmer = Stemmer::default();
    let names = keys.iter().flatten().filter(words).flat_map(|place| name_words(&columns[*place].name));
    names.map(|word| stemmer.stem(&word).to_string()).collect()
}

/// A phrase without the words for `things`, where it has some and says something else as well.
fn without_things(phrase: &str, things: &HashSet<String>) -> Option<String> {
    let mut stemmer = Stemmer::default();
    let mut is_thing = |word: &str| {
        let mut words = name_words(word).into_iter().filter(|word| !is_function_word(word)).peekable();
        words.peek().is_some() && words.all(|word| things.contains(stemmer.stem(&word)))
    };
    let words: Vec<&str> = phrase.split_whitespace().collect();
    let rest: Vec<&str> = words.iter().copied().filter(|word| !is_thing(word)).collect();
    let says = rest.iter().any(|word| !is_function_word(&bare(word).to_lowercase()));
    (says && rest.len() < words.len()).then(|| rest.join(" "))
}

impl Agent<'_> {
    /// The join that adds what a request for one names: the words `added` that were read as that, else those that the table at hand does not
    /// explain; `None` where no column of a table that shares keys with it is called so.
    ///
    /// # Errors
    /// A damaged index, or a file that cannot be read.
    pub(super) fn named_elsewhere(
        &self,
        session: &Session,
        (text, added): (&str, &[&str]),
        base: &Base<'_>,
        query: &QueryTable,
        partners: &[Scored],
    ) -> Result<Option<RankedOperation>> {
        if !added.is_empty() {
            let columns = added.iter().map(|words| (*words).to_string()).collect();
            let requested =
                RequestedTable { how: How::Join, words: String::new(), id: None, columns, keys: Vec::new() };
            let at_hand = AtHand { input: &base.plan.relation.source, table: query };
            let found =
                self.to_join(session, &base.plan, (&requested, &Found::new()), Some(at_hand), text, partners)?;
            let Some(Chosen { table, next: Next::Step(step), not_applied, left, .. }) = found else { return Ok(None) };
            let none = "no column of the table that is joined is called so";
            let left = left.into_iter().map(|words| NotApplied::left_out(words, none));
            let lost = not_applied.into_iter().chain(left).map(|lost| unmet(lost.statement()));
            let plan = with_table(&base.plan, *step);
            let joined = self.changed_plan(session, &base.plan, plan, OperationKind::Join, lost.collect())?;
            return Ok(Some(RankedOperation { requested: true, table: Some(table), ..joined }));
        }
        let runs = unexplained(text, &query.entry);
        let mut named = self.columns_named((&runs, false, 0), base, query, (None, partners))?;
        named.retain(|named| named.score >= self.ranking.named_columns.plainly);
        let named = self.joinable(session, named, query, None, partners)?;
        let added = self.add_named(session, &named, base, query, None)?;
        Ok(added.map(|added| added.operation))
    }

    /// The columns of tables that share keys with the table at hand which one of the `phrases` names, best first: what is wanted of other tables
    /// `elsewhere`, else better than it names a column at hand. Columns called as a key at hand, or with a single value, are none. For each phrase the
    /// texts of `read` columns are read as sentences.
    pub(crate) fn columns_named(
        &self,
        (phrases, elsewhere, read): (&[String], bool, usize),
        base: &Base<'_>,
        query: &QueryTable,
        (target, partners): (Option<usize>, &[Scored]),
    ) -> Result<Vec<Named>> {
        let columns = &query.entry.profile.columns;
        let keys = join_keys::keys(columns);
        let key_names: Vec<&str> = keys.iter().flatten().map(|place| columns[*place].name.as_str()).collect();
        let options = SearchOptions { k: LOOKED_AT, weights: &self.ranking };
        let own = query.origin.is_some().then(|| query.entry.id.as_str());
        let mut among = match correlate::reachable(self.index, query, self.ranking.named_columns.shared) {
            Ok(among) => among,
            Err(Error::Usage(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        for used in base.plan.tables() {
            let used = self.index.find(used)?;
            among.retain(|table| *table != used);
        }
        for partner in partners.iter().filter(|partner| partner.candidate.join.is_some()) {
            among.push(self.index.find(partner.id())?);
        }
        among.extend(query.origin);
        among.sort_unstable();
        among.dedup();
        let target = target.map(|place| query.entry.profile.columns[place].name.as_str());
        let mut best: HashMap<ColumnRef, Named> = HashMap::new();
        let things = things_named(columns, &keys);
        let alone = |phrase: &String| without_things(phrase, &things);
        // What a row is of may be said beside what is wanted of it: the grade of the pollster.
        let said = phrases.iter().enumerate().flat_map(|(number, phrase)| {
            std::iter::once((number, phrase.clone())).chain(alone(phrase).map(|alone| (number, alone)))
        });
        for (number, phrase) in said {
            let (least, mut own_score) = (self.ranking.named_columns.least, 0.0f64);
            let answers = column_search::search_among(self.index, self.embedder, &phrase, &options, (&among, read))?;
            for answer in answers.iter().filter(|_| !elsewhere) {
                if own == Some(answer.table.as_str()) && (phrases.len() > 1 || target != Some(&answer.column)) {
                    own_score = own_score.max(answer.score);
                }
            }
            let rows = self.rows_counted((number, &phrase), &answers, (own, &key_names))?;
            best.extend(rows.into_iter().map(|named| (named.place, named)));
            for answer in answers {
                if answer.distinct < 2 {
                    continue;
                }
                let is_key = key_names.iter().any(|name| name.eq_ignore_ascii_case(&answer.column));
                if is_key || own == Some(answer.table.as_str()) || answer.score < least.max(own_score) {
                    continue;
                }
                let Some(place) = self.place_of(&answer)? else { continue };
                let aggregate = Aggregate::named_in(&phrase, answer.logical).unwrap_or_default();
                let is_called = answer.matches.contains(&ColumnMatch::Name);
                let (table, column, score) = (answer.table, answer.column, answer.score);
                let named = Named { table, column, place, score, is_called, phrase: number, aggregate, on: None };
                match best.get(&place) {
                    Some(known) if known.score >= score => {}
                    _ => drop(best.insert(place, named)),
                }
            }
        }
        let mut named: Vec<Named> = best.into_values().collect();
        named.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        named.truncate(LOOKED_AT);
        Ok(named)
    }

    /// The rows of the table that a number of things is asked of, if one row of it is one of them, counted by a column that all have.
    fn rows_counted(
        &self,
        (number, phrase): (usize, &str),
        answers: &[ColumnAnswer],
        (own, key_names): (Option<&str>, &[&str]),
    ) -> Result<Option<Named>> {
        if Aggregate::named_in(phrase, LogicalType::Text) != Some(Aggregate::Count) {
            return Ok(None);
        }
        let NamedColumnWeights { counted_table, counted_in, .. } = self.ranking.named_columns;
        let others = || answers.iter().filter(|answer| own != Some(answer.table.as_str()));
        // "The number of seats" is what a column of numbers called `seats` holds.
        let mut stemmer = Stemmer::default();
        let mut stems = |text: &str| -> Vec<String> {
            let words = name_words(text).into_iter().filter(|word| !is_function_word(word));
            words.map(|word| stemmer.stem(&word).to_string()).collect()
        };
        let mut said = stems(phrase);
        let term = stems("number count how many");
        said.retain(|stem| !term.contains(stem));
        let is_key = |name: &str| key_names.iter().any(|key| key.eq_ignore_ascii_case(name));
        let mut is_said = |answer: &ColumnAnswer| stems(&answer.column).iter().any(|stem| said.contains(stem));
        let is_number = |answer: &&ColumnAnswer| answer.logical.is_numeric() && !is_key(&answer.column);
        let mut says = |answer: &ColumnAnswer| {
            is_said(answer) || answer.features.likeness >= counted_in && answer.features.table >= counted_table
        };
        if others().filter(is_number).any(&mut says) {
            return Ok(None);
        }
        let by_table = |a: &&ColumnAnswer, b: &&ColumnAnswer| a.features.table.total_cmp(&b.features.table);
        let Some(best) = others().max_by(by_table).filter(|best| best.features.table >= counted_table) else {
            return Ok(None);
        };
        let entry = self.index.table(self.index.find(&best.table)?)?;
        let is_whole = |answer: &&ColumnAnswer| {
            let profile = entry.profile.columns.iter().find(|column| column.name == answer.column);
            profile.is_some_and(|column| column.missing == 0) && !is_key(&answer.column)
        };
        let column = others().filter(|answer| answer.table == best.table).find(is_whole);
        let Some(answer) = column.filter(|_| entry.profile.grain.kind == GrainKind::Instance) else { return Ok(None) };
        let Some(place) = self.place_of(answer)? else { return Ok(None) };
        let score = others().map(|answer| answer.score).fold(0.0, f64::max);
        let (table, column) = (answer.table.clone(), answer.column.clone());
        let aggregate = Aggregate::Count;
        Ok(Some(Named { table, column, place, score, is_called: false, phrase: number, aggregate, on: None }))
    }

    fn place_of(&self, answer: &ColumnAnswer) -> Result<Option<ColumnRef>> {
        let table = self.index.find(&answer.table)?;
        let entry = self.index.table(table)?;
        let place = entry.profile.columns.iter().position(|column| column.name == answer.column);
        let mut numbers = self.index.segment(table.segment)?.tables.columns(table.table)?;
        let column = place.and_then(|place| numbers.nth(place));
        Ok(column.map(|column| ColumnRef { segment: table.segment, column }))
    }

    /// Those of `named` that share keys with the table at hand, by how well they fit the words and how many rows get a value.
    pub(super) fn joinable(
        &self,
        session: &Session,
        named: Vec<Named>,
        query: &QueryTable,
        target: Option<usize>,
        partners: &[Scored],
    ) -> Result<Vec<Named>> {
        if named.is_empty() {
            return Ok(named);
        }
        let only: Vec<ColumnRef> = named.iter().map(|named| named.place).collect();
        let columns = &query.entry.profile.columns;
        // Without a target any other column tells what is shared.
        let any = || (0..columns.len()).rev().find(|place| correlate::target_column(columns, *place).is_ok());
        let compared = match target.or_else(any) {
            Some(target) => {
                let options = CorrelateOptions { target, key: Vec::new(), k: only.len(), only };
                match correlate::search(self.index, self.lake, query, &options) {
                    Ok(found) => found.answers.into_inner(),
                    Err(Error::Usage(_)) => Vec::new(),
                    Err(error) => return Err(error),
                }
            }
            None => Vec::new(),
        };
        let NamedColumnWeights { meant, rows_counted, .. } = self.ranking.named_columns;
        let mut found: Vec<(Named, f64, f64)> = Vec::new();
        let mut best: HashMap<usize, f64> = HashMap::new();
        for named in &named {
            let best = best.entry(named.phrase).or_default();
            *best = best.max(named.score);
        }
        for mut named in named {
            // What the words name far better, and nothing joins, is what was meant.
            if session.is_rejected(&named.table) || named.score < meant * best[&named.phrase] {
                continue;
            }
            let of_it = |table: &str, column: &str| (table, column) == (&named.table, &named.column);
            let answer = compared.iter().find(|answer| of_it(&answer.table, &answer.column));
            let fit = match answer {
                Some(answer) => {
                    named.on = target.is_none().then(|| answer.on.clone());
                    Some((answer.coverage, answer.fan_out))
                }
                None => {
                    let join = partners.iter().find(|scored| scored.id() == named.table);
                    let join = join.and_then(|scored| scored.candidate.join.as_ref());
                    let enough = |share: f64| share >= self.ranking.fit.least_containment;
                    join.filter(|join| enough(join.containment)).map(|join| {
                        let pair = |pair: &ColumnPair| KeyPair {
                            query_column: pair.query_column.clone(),
                            column: pair.column.clone(),
                        };
                        named.on = Some(join.on.iter().map(pair).collect());
                        (join.containment, join.fan_out)
                    })
                }
            };
            let is_key = named.on.iter().flatten().any(|pair| pair.column == named.column);
            if let Some((coverage, fan_out)) = fit.filter(|_| !is_key) {
                let is_count = named.aggregate == Aggregate::Count;
                if is_count && fan_out < rows_counted {
                    continue;
                }
                let repeats = if is_count { 1.0 } else { fan_out.max(1.0).powf(-self.ranking.partner.rows_a_key) };
                found.push((named, coverage.clamp(0.0, 1.0), repeats));
            }
        }
        // Rows that the table has with nothing in the column are told: what was meant is the column all the same.
        let mut covered: HashMap<String, f64> = HashMap::new();
        for (named, coverage, _) in &found {
            let most = covered.entry(named.table.clone()).or_default();
            *most = most.max(*coverage);
        }
        let scored = found.into_iter().map(|(named, _, repeats)| {
            let score = named.score * covered[&named.table].sqrt() * repeats;
            Named { score, ..named }
        });
        let mut found: Vec<Named> = scored.collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(found)
    }

    /// The joins that add the best of the columns that are named, with others of its table that fit nearly as well, else of the next table with
    /// one that is called nearly as well; `None` where none can be added.
    pub(super) fn add_named(
        &self,
        session: &Session,
        named: &[Named],
        base: &Base<'_>,
        query: &QueryTable,
        target: Option<usize>,
    ) -> Result<Option<Predicted>> {
        let mut tables: Vec<&Named> = Vec::new();
        let nearly = self.ranking.named_columns.nearly;
        for other in named.iter().take_while(|other| other.score >= nearly * named[0].score) {
            if tables.len() < TRIED && tables.iter().all(|known| known.table != other.table) {
                tables.push(other);
            }
        }
        for best in tables {
            if let Some(added) = self.add_of_table(session, (best, named), base, query, target)? {
                return Ok(Some(added));
            }
        }
        Ok(None)
    }

    /// The joins that add `best`, with others of its table that fit nearly as well; `None` where none can be added.
    fn add_of_table(
        &self,
        session: &Session,
        (best, named): (&Named, &[Named]),
        base: &Base<'_>,
        query: &QueryTable,
        target: Option<usize>,
    ) -> Result<Option<Predicted>> {
        let least = self.ranking.named_columns.beside * best.score;
        let same = named.iter().filter(|other| other.table == best.table && other.score >= least);
        let most = if best.aggregate == Aggregate::Count { 1 } else { FEATURES };
        let named: Vec<&Named> = same.take(most).collect();
        let context = self.connected(session)?;
        let compared: Vec<ColumnRef> =
            named.iter().filter(|named| named.on.is_none()).map(|named| named.place).collect();
        if let (Some(target), false) = (target, compared.is_empty()) {
            let options = self.options(base, target, (compared, best.aggregate));
            let table = match feature_table(self.index, self.lake, context, query, &options) {
                Ok(table) => table,
                Err(Error::Usage(_)) => return Ok(None),
                Err(error) => return Err(error),
            };
            if table.features.is_empty() {
                return Ok(None);
            }
            return Ok(Some(Predicted { operation: operation(&table), notes: notes(&table) }));
        }
        let rows = preview_rows(context, &base.plan)?.rows_out;
        let mut plan = base.plan.clone();
        let mut parts = Vec::new();
        for Named { table, column, on, aggregate, .. } in &named {
            let Some(on) = on else { continue };
            let entry = self.index.table(self.index.find(table)?)?;
            let taken = column_names(context, &plan.relation)?;
            let by: Vec<String> =
                on.iter().map(|pair| format!("`{}` = `{}`", pair.query_column, pair.column)).collect();
            let by = by.join(" and ");
            let keeps = |plan: &Plan| preview_rows(context, plan).is_ok_and(|preview| preview.rows() == Some(rows));
            let name = free_name((table, aggregate.named(column)), on, &taken);
            let plain = plan.clone().then(left_join((table, column, &name), on));
            if *aggregate != Aggregate::Count && keeps(&plain) {
                parts.push(format!("`{name}` of `{table}` by {by}"));
                plan = plain;
                continue;
            }
            let added = Added { table, column, on, name: &name };
            let (step, aggregate) = one_row_join(&entry.profile.columns, &added, *aggregate);
            let next = plan.clone().then(step);
            if keeps(&next) {
                parts.push(format!("`{name}`, {aggregate} of `{table}` by {by}"));
                plan = next;
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let unknown = if target.is_some() { "; too few keys to say what it adds to a model" } else { "" };
        let reason = format!("adds {}{unknown}", parts.join("; "));
        let operation = RankedOperation {
            requested: true,
            table: Some(best.table.clone()),
            runnable: Some(plan),
            ..proposal(OperationKind::Join, vec![met(format!("{rows} rows, as before"))], reason)
        };
        Ok(Some(Predicted { operation, notes: Vec::new() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_row_is_of_is_left_out_where_something_else_is_said() {
        let things = HashSet::from(["pollster".to_string()]);
        assert_eq!(without_things("the grade of the pollsters", &things).as_deref(), Some("the grade of the"));
        assert_eq!(without_things("the pollster", &things), None);
        assert_eq!(without_things("the grade", &things), None);
    }
}
