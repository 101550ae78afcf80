//! Keeps the columns that a turn adds from another table in its result: where a later step of the same turn would drop
//! them, they are added after that step.

use super::Agent;
use super::execution::preview_rows;
use super::known_columns::{AtHand, column_names};
use super::plan_edit::first_steps;
use super::prediction::unexplained;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::{Join, JoinKind, Kept, Plan, Step};
use lakeward_core::request::Input;
use lakeward_core::text::name_likeness;
use lakeward_reading::reader::{NotApplied, Role, TurnReading};
use lakeward_search::column_search::search_among;
use lakeward_search::text_search::SearchOptions;

/// Words name a column from this likeness.
const SAME_NAME: f64 = 0.8;
/// Columns of joined tables that a turn is read with, one after the other.
const MOST_COLUMNS: usize = 4;
/// Texts of columns that are read as sentences for words that could not be applied.
const READ: usize = 12;

impl Agent<'_> {
    /// `plan`, which a turn made of `base`, such that every join of the turn changes its result: "total delay by carrier, with the airline's name"
    /// is a join of the totals. What was not applied for want of it no longer is; what cannot be had together is added to that.
    ///
    /// # Errors
    /// Whatever reading the heads of its tables reports.
    pub(super) fn keeping_added(
        &self,
        session: &Session,
        (base, mut plan): (&Plan, Plan),
        turn: &TurnReading,
        not_applied: &mut Vec<NotApplied>,
    ) -> Result<Plan> {
        let context = self.connected(session)?;
        let names = |plan: &Plan| column_names(context, &plan.relation);
        let is_added = |step: &&Step| {
            matches!(step, Step::Join(Join { kind: JoinKind::Left, .. })) && !base.relation.steps.contains(step)
        };
        let added: Vec<Step> = plan.relation.steps.iter().filter(is_added).cloned().collect();
        for join in added {
            let Some(place) = plan.relation.steps.iter().position(|step| *step == join) else { continue };
            let mut without = plan.clone();
            without.relation.steps.remove(place);
            // A later step that needs what it adds cannot do without it.
            match (names(&without), names(&plan)) {
                (Ok(without), Ok(with)) if without == with => {}
                _ => continue,
            }
            // Nor can a count of what it adds: harbours with their storms.
            let rows = |count: usize| preview_rows(context, &first_steps(&plan, count));
            let before = rows(place)?.rows_out;
            if rows(place + 1)?.rows().is_none_or(|after| after > before) {
                continue;
            }
            let after = without.clone().then(join.clone());
            if let Ok(columns) = names(&after) {
                let known = names(&without)?;
                let new = columns.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>();
                not_applied.retain(|lost| new.iter().all(|name| name_likeness(&lost.words, name) < SAME_NAME));
                plan = after;
                continue;
            }
            let before = names(&first_steps(&plan, place))?;
            let new: Vec<String> =
                names(&first_steps(&plan, place + 1))?.into_iter().filter(|name| !before.contains(name)).collect();
            let mut shown = plan.clone();
            for step in &mut shown.relation.steps[place + 1..] {
                if let Step::Select(kept) = step {
                    kept.extend(new.iter().map(|column| Kept { column: column.clone(), name: None }));
                }
            }
            if shown != plan && names(&shown).is_ok() {
                plan = shown;
                continue;
            }
            let is_total = |step: &Step| matches!(step, Step::Group(grouping) if grouping.keys.is_empty());
            match without.relation.steps.iter().skip(place).position(is_total) {
                Some(total) => {
                    plan.relation.steps.truncate(place + 1 + total);
                    let figure = turn.of(Role::Measure).map(|span| span.words.as_str()).collect::<Vec<_>>().join(", ");
                    let reason = "a figure of all rows would leave nothing of what is added to them";
                    not_applied.push(NotApplied::left_out(figure, reason));
                }
                None => {
                    plan = without;
                    let reason = "the rows of the result have no single value of it";
                    not_applied.push(NotApplied::left_out(new.join(", "), reason));
                }
            }
        }
        Ok(plan)
    }

    /// Columns of the tables that `plan` joins and does not keep, with the places of the joins among its steps, which words that could not be
    /// applied name, or other words of the text that the table at hand does not explain; at most [`MOST_COLUMNS`].
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn columns_of_joined(
        &self,
        plan: &Plan,
        lost: &[NotApplied],
        (text, at_hand): (&str, Option<AtHand<'_>>),
    ) -> Result<Vec<(usize, Kept)>> {
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        let mut phrases: Vec<(String, usize)> = lost.iter().map(|lost| (lost.words.clone(), READ)).collect();
        if let Some(AtHand { table, .. }) = at_hand {
            phrases.extend(unexplained(text, &table.entry).into_iter().map(|run| (run, 0)));
        }
        let mut named: Vec<(usize, Kept)> = Vec::new();
        let options = SearchOptions { k: 1, weights: &self.ranking };
        for (place, step) in plan.relation.steps.iter().enumerate() {
            let Step::Join(Join { kind: JoinKind::Left, with, columns, .. }) = step else { continue };
            let Input::Table(table) = &with.source else { continue };
            if columns.is_empty() || !with.steps.is_empty() {
                continue;
            }
            let among = [self.index.find(table)?];
            for (words, read) in phrases.iter().filter(|(words, _)| !words.is_empty()) {
                let found = search_among(self.index, self.embedder, words, &options, (&among, *read))?;
                let best = found.into_iter().next().filter(|best| best.score >= self.ranking.named_columns.plainly);
                let new = best.map(|best| (place, Kept { column: best.column, name: None }));
                let is_new = |new: &(usize, Kept)| {
                    !named.contains(new) && columns.iter().all(|kept| kept.column != new.1.column)
                };
                named.extend(new.filter(is_new));
            }
        }
        named.truncate(MOST_COLUMNS);
        Ok(named)
    }
}
