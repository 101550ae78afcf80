//! Joins that neither repeat rows nor lose what is to be predicted.

use super::target_of_turn;
use crate::Agent;
use crate::execution::preview_rows;
use crate::feature_table::{Added, Aggregate, free_name, one_row_join};
use crate::known_columns::column_names;
use crate::recommend::RankedOperation;
use crate::recommend::next_operations::{Base, unmet};
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::plan::{Join, JoinKey, JoinKind, Plan, Step};
use lakeward_core::request::{Input, Intention, Signals};
use lakeward_reading::reader::{Role, TurnReading};
use lakeward_search::QueryTable;
use lakeward_search::correlate::KeyPair;

impl Agent<'_> {
    /// What a turn for a prediction, or for columns of other tables, proposes first, made such that it neither repeats rows nor loses the column
    /// that is named to be predicted; returns what was changed.
    ///
    /// # Errors
    /// Those of previewing plans.
    pub(super) fn keep_rows(
        &self,
        session: &Session,
        (signals, text): (&Signals, &str),
        (base, query, turn): (&Base<'_>, &QueryTable, &TurnReading),
        operations: &mut [RankedOperation],
    ) -> Result<Vec<String>> {
        let probability = signals.intention.probability(Intention::Prediction);
        let predicts = probability >= self.ranking.prediction.suspected;
        let adds = turn.of(Role::Add).next().is_some();
        let Some(first) = operations.first_mut() else { return Ok(Vec::new()) };
        let Some(mut plan) = first.runnable.clone() else { return Ok(Vec::new()) };
        if !(predicts || adds) {
            let joins = |plan: &Plan| plan.relation.steps.iter().filter(|step| matches!(step, Step::Join(_))).count();
            // A join may repeat rows where nobody said otherwise, within bounds.
            if joins(&plan) > joins(&base.plan)
                && let Some(reason) = preview_rows(self.connected(session)?, &plan)?.stopped
            {
                (first.runnable, first.sql) = (None, None);
                first.preconditions.insert(0, unmet(reason));
            }
            return Ok(Vec::new());
        }
        let columns = &query.entry.profile.columns;
        let is_for_it = signals.intention.label == Intention::Prediction;
        let target =
            target_of_turn(turn, text, columns).filter(|_| is_for_it).map(|place| columns[place].name.as_str());
        let has = |plan: &Plan| target.map_or(Ok(true), |name| self.has_target(session, plan, name));
        let is_total = |step: &Step| matches!(step, Step::Group(grouping) if grouping.keys.is_empty());
        let in_doubt = first.preconditions.iter().any(|part| !part.met);
        let mut notes = Vec::new();
        // "I only have the country, is there anything that explains it": in doubt, what is added comes beside all that is there.
        let is_new = |step: &Step| !base.plan.relation.steps.contains(step);
        let narrows = |step: &Step| match step {
            Step::Select(_) | Step::Distinct(_) => is_new(step),
            Step::Group(grouping) => grouping.measures.is_empty() && is_new(step),
            _ => false,
        };
        let joins = plan.relation.steps.iter().any(|step| is_new(step) && matches!(step, Step::Join(_)));
        if in_doubt && joins && plan.relation.steps.iter().any(narrows) {
            plan.relation.steps.retain(|step| !narrows(step));
            let preconditions = std::mem::take(&mut first.preconditions);
            let wider = self.changed_plan(session, &base.plan, plan.clone(), first.kind, preconditions)?;
            let RankedOperation { score, asked, requested, .. } = *first;
            *first = RankedOperation { score, asked, requested, table: first.table.take(), ..wider };
            notes.push(
                "all rows and columns are kept, and new columns are added: it is not certain that fewer are wanted"
                    .into(),
            );
        }
        let is_sure = probability >= self.ranking.prediction.sure;
        let refused = if is_sure && in_doubt && plan.relation.steps.last().is_some_and(is_total) {
            message!("one figure of all rows leaves no rows to predict from")
        } else if has(&base.plan)? && !has(&plan)? {
            message!("`{}`, which is to be predicted, would be lost", target.unwrap_or_default())
        } else {
            let added: Vec<&str> = turn.of(Role::Add).map(|span| span.words.as_str()).collect();
            match self.at_one_row(session, (&base.plan, &plan), &added.join(" ")) {
                Ok(None) => return Ok(notes),
                Ok(Some((at_one_row, became))) => {
                    (first.runnable, first.sql) = (Some(at_one_row), None);
                    notes.push(format!("several rows of a key become one: {}", became.join(", ")));
                    return Ok(notes);
                }
                Err(Error::Usage(reason)) => reason,
                Err(error) => return Err(error),
            }
        };
        (first.runnable, first.sql) = (None, None);
        // What keeps it from being run is said first.
        first.preconditions.insert(0, unmet(refused));
        Ok(notes)
    }

    /// `plan` with every join of a whole table that `base` has not at one row a key, where as it stands that repeats rows, and what each column
    /// becomes, as `words` say it; `None` where none repeats any.
    ///
    /// # Errors
    /// Those of previewing the plan.
    fn at_one_row(
        &self,
        session: &Session,
        (base, plan): (&Plan, &Plan),
        words: &str,
    ) -> Result<Option<(Plan, Vec<String>)>> {
        let whole = |step: &Step| {
            let Step::Join(Join { kind: JoinKind::Left | JoinKind::Inner, with, .. }) = step else { return None };
            let Input::Table(table) = &with.source else { return None };
            (with.steps.is_empty() && !base.relation.steps.contains(step)).then(|| table.clone())
        };
        let context = self.connected(session)?;
        let rows_of = |plan: &Plan| Ok::<u64, Error>(preview_rows(context, plan)?.rows().unwrap_or(u64::MAX));
        let mut made = Plan::of(plan.relation.source.clone());
        let mut became = Vec::new();
        for step in &plan.relation.steps {
            let (Some(table), Step::Join(join)) = (whole(step), step) else {
                made = made.then(step.clone());
                continue;
            };
            let rows = rows_of(&made)?;
            let with = made.clone().then(step.clone());
            if rows_of(&with)? <= rows {
                made = with;
                continue;
            }
            made = self.joined_at_one_row(session, made, (&table, join), words, &mut became)?;
            if rows_of(&made)? != rows {
                return Err(Error::usage("its join would repeat rows"));
            }
        }
        Ok((!became.is_empty()).then_some((made, became)))
    }

    /// `plan` with the columns that `join` adds of `table`, each at one row a key; adds to `became` what each becomes.
    fn joined_at_one_row(
        &self,
        session: &Session,
        mut plan: Plan,
        (table, join): (&str, &Join),
        words: &str,
        became: &mut Vec<String>,
    ) -> Result<Plan> {
        let pair = |key: &JoinKey| KeyPair { query_column: key.left.clone(), column: key.right.clone() };
        let on: Vec<KeyPair> = join.on.iter().map(pair).collect();
        let entry = self.index.table(self.index.find(table)?)?;
        let profile = &entry.profile.columns;
        let all = || {
            profile.iter().map(|column| column.name.clone()).filter(|name| !on.iter().any(|pair| pair.column == *name))
        };
        let columns: Vec<String> = match join.columns.is_empty() {
            true => all().collect(),
            false => join.columns.iter().map(|kept| kept.column.clone()).collect(),
        };
        let mut is_counted = false;
        for column in &columns {
            let logical = profile.iter().find(|known| known.name == *column).map(|known| known.logical);
            let said = logical.and_then(|logical| Aggregate::named_in(words, logical)).unwrap_or_default();
            // The rows of a key are counted once.
            if said == Aggregate::Count && std::mem::replace(&mut is_counted, true) {
                continue;
            }
            let taken = column_names(self.connected(session)?, &plan.relation)?;
            let name = free_name((table, said.named(column)), &on, &taken);
            let (step, word) = one_row_join(profile, &Added { table, column, on: &on, name: &name }, said);
            plan = plan.then(step);
            became.push(format!("`{name}` the {word}"));
        }
        Ok(plan)
    }
}
