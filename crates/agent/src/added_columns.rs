//! What a turn adds of another table is in its result: where a later step of the same turn would drop it, it is added after that step.

use super::Agent;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::{Join, JoinKind, Kept, Plan, Step};
use lakeward_core::text::name_likeness;
use lakeward_operate::relation_columns;
use lakeward_reading::reader::{NotApplied, Role, TurnReading};

/// Words name a column from this likeness.
const SAME_NAME: f64 = 0.8;

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
        let names = |plan: &Plan| -> Result<Vec<String>> {
            Ok(relation_columns(context, &plan.relation)?.into_iter().map(|column| column.name).collect())
        };
        let is_added = |step: &&Step| {
            matches!(step, Step::Join(Join { kind: JoinKind::Left, .. })) && !base.relation.steps.contains(step)
        };
        let added: Vec<Step> = plan.relation.steps.iter().filter(is_added).cloned().collect();
        for join in added {
            let Some(place) = plan.relation.steps.iter().position(|step| *step == join) else { continue };
            let mut without = plan.clone();
            without.relation.steps.remove(place);
            // A later step that needs what it adds cannot do without it.
            match names(&without) {
                Ok(columns) if columns == names(&plan)? => {}
                _ => continue,
            }
            let after = without.clone().then(join.clone());
            if let Ok(columns) = names(&after) {
                let known = names(&without)?;
                let new = columns.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>();
                not_applied.retain(|lost| new.iter().all(|name| name_likeness(&lost.words, name) < SAME_NAME));
                plan = after;
                continue;
            }
            let first = |count: usize| {
                let mut first = plan.clone();
                first.relation.steps.truncate(count);
                names(&first)
            };
            let before = first(place)?;
            let new: Vec<String> = first(place + 1)?.into_iter().filter(|name| !before.contains(name)).collect();
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
                    let reason = "a figure of all rows would leave nothing of what is added to them".into();
                    not_applied.push(NotApplied { words: figure, reason });
                }
                None => {
                    plan = without;
                    let reason = "the rows of the result have no single value of it".into();
                    not_applied.push(NotApplied { words: new.join(", "), reason });
                }
            }
        }
        Ok(plan)
    }
}
