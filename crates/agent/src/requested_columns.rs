//! Columns that words want of tables which nobody named: a search for columns chooses among all tables that share keys with the one at hand.

use std::collections::BTreeMap;

use super::Agent;
use super::prediction::Named;
use super::scored::Scored;
use crate::feature_table::Aggregate;
use crate::recommend::mentions::Phrases;
use crate::recommend::next_operations::Base;
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::text::name_likeness;
use lakeward_reading::reader::{NotApplied, RequestedTable};
use lakeward_search::weights::NamedColumnWeights;
use lakeward_search::{Candidate, JoinAnswer, QueryTable};

/// Texts of columns that are read for a phrase.
const READ: usize = 12;
/// Tables whose keys are looked for, beside those of the search for tables to join.
const LOOKED_AT: usize = 8;

/// A table to join with.
pub(super) struct Partner {
    pub(super) candidate: Candidate,
    pub(super) answer: JoinAnswer,
    /// The columns that are added, all if there are none.
    pub(super) columns: Vec<String>,
    /// Whether its rows are counted by them.
    pub(super) is_count: bool,
    pub(super) not_applied: Vec<NotApplied>,
    /// Words for columns that another table has to be found for.
    pub(super) left: Vec<String>,
}

impl Agent<'_> {
    /// The table whose columns answer most of what is requested best, among `partners` and all others that share keys; words that it does not answer
    /// are left for another one. `None` where none answers any.
    ///
    /// # Errors
    /// A damaged index, or a file that cannot be read.
    pub(super) fn with_requested(
        &self,
        plan: &Plan,
        (requested, text): (&RequestedTable, &str),
        (query, partners): (&QueryTable, &[Scored]),
        by_keys: &BTreeMap<String, JoinAnswer>,
    ) -> Result<Option<Partner>> {
        let NamedColumnWeights { guess, rows_counted, .. } = self.ranking.named_columns;
        let (weights, base) = (&self.ranking.partner, Base { plan: plan.clone(), entry: &query.entry });
        let mut named = self.columns_named((&requested.columns, true, READ), &base, query, (None, partners))?;
        let (own, spelt) = (&query.entry.profile.columns, Phrases::of(text));
        for named in &mut named {
            let is_own = own.iter().any(|own| own.name.eq_ignore_ascii_case(&named.column));
            if is_own && name_likeness(&requested.columns[named.phrase], &named.column) < weights.same_name {
                named.score *= weights.called_as_own;
            }
            if named.is_called {
                named.score *= weights.called;
            }
            if named.column.contains(|c: char| c.is_ascii_digit() || c == '_') && spelt.spell(&named.column) {
                named.score *= weights.spelt;
            }
        }
        named.sort_by(|a, b| b.score.total_cmp(&a.score));
        // Best first, so the first of a table is what it answers a phrase with.
        let answers = |table: &str, without: &[&str]| -> Vec<&Named> {
            let fits = |named: &&Named| named.table == table && !without.contains(&named.column.as_str());
            let of_phrase = |phrase| named.iter().filter(fits).find(|named| named.phrase == phrase);
            (0..requested.columns.len()).filter_map(of_phrase).collect()
        };
        let fit =
            |chosen: &[&Named]| chosen.iter().map(|named| named.score).sum::<f64>() / requested.columns.len() as f64;
        let mut tables: Vec<(f64, &str)> = Vec::new();
        for Named { table, .. } in &named {
            if !tables.iter().any(|(_, known)| known == table) {
                tables.push((fit(&answers(table, &[])), table));
            }
        }
        tables.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut best, mut looked_at): (Option<(f64, Partner)>, usize) = (None, 0);
        for (_, table) in tables {
            let known =
                partners.iter().map(|scored| &scored.candidate).find(|known| known.dataset.id().as_str() == table);
            let candidate = match known.filter(|known| known.join.is_some()) {
                Some(known) => known.clone(),
                None if looked_at == LOOKED_AT => continue,
                None => {
                    looked_at += 1;
                    let Some(found) = self.joined_with(table, &requested.keys, query)? else { continue };
                    found
                }
            };
            let Some(answer) = by_keys.get(table).or(candidate.join.as_ref()).cloned() else { continue };
            if answer.containment < self.ranking.fit.least_containment {
                continue;
            }
            let keys: Vec<&str> = answer.on.iter().map(|pair| pair.column.as_str()).collect();
            let chosen = answers(table, &keys);
            // Rows are counted by themselves.
            let is_count = chosen.first().is_some_and(|named| named.aggregate == Aggregate::Count);
            if is_count && answer.fan_out < rows_counted {
                continue;
            }
            let chosen: Vec<&Named> = match is_count {
                true => chosen[..1].to_vec(),
                false => chosen.into_iter().filter(|named| named.aggregate != Aggregate::Count).collect(),
            };
            // Guesses are made where nothing else is wanted.
            let plain: Vec<&Named> = chosen.iter().filter(|named| named.score >= guess).copied().collect();
            let chosen = if plain.is_empty() { chosen } else { plain };
            if chosen.is_empty() {
                continue;
            }
            let has_keys = by_keys.contains_key(table);
            let repeats = if is_count { 1.0 } else { answer.fan_out.max(1.0).powf(-weights.rows_a_key) };
            let joins = answer.score.max(0.0).powf(weights.joins);
            let score = fit(&chosen) * joins * repeats * if has_keys { weights.all_keys } else { 1.0 };
            if best.as_ref().is_some_and(|(known, _)| *known >= score) {
                continue;
            }
            let is_answered = |phrase: usize| chosen.iter().any(|named| named.phrase == phrase);
            let unanswered = (0..requested.columns.len()).filter(|phrase| !is_answered(*phrase));
            let left = unanswered.map(|phrase| requested.columns[phrase].clone()).collect();
            let guessed = chosen.iter().filter(|named| named.score < guess).map(|named| {
                let phrase = requested.columns[named.phrase].as_str();
                NotApplied::guess(phrase, format!("`{}` of `{table}`", named.column))
            });
            let not_applied = guessed.collect();
            let columns = chosen.iter().map(|named| named.column.clone()).collect();
            best = Some((score, Partner { candidate, answer, columns, is_count, not_applied, left }));
        }
        Ok(best.map(|(_, partner)| partner))
    }
}
