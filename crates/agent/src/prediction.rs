//! "I want to predict X": the joins that add what goes with X to the table at hand, at one row a key, with what each adds to a model.

use std::time::Duration;

use super::Agent;
use crate::feature_table::{Aggregate, FeatureOptions, FeatureTable, feature_table};
use crate::recommend::RankedOperation;
use crate::recommend::mentions::Phrases;
use crate::recommend::next_operations::{Base, met, proposal};
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Plan, Step};
use lakeward_core::request::{Input, Intention, OperationKind, Signals};
use lakeward_search::QueryTable;
use lakeward_search::correlate;

/// Features of one answer; "what else explains it" asks for more.
const FEATURES: usize = 3;
/// Time for fitting models.
const WITHIN: Duration = Duration::from_secs(6);
/// A request is for prediction from this certainty.
const SURE: f64 = 0.6;

impl Agent<'_> {
    /// The join of features for the column at hand that the request, or an earlier one of the session, wants to predict, and what to know
    /// of it. `None` where nothing is to be predicted, no column is named, the table's columns are no longer those of its file, or
    /// nothing helps.
    ///
    /// # Errors
    /// Those of [`feature_table`], except for a table without a key or a target that cannot be predicted.
    pub(super) fn features_for(
        &self,
        session: &Session,
        (signals, text): (&Signals, &str),
        base: &Base<'_>,
        query: &QueryTable,
    ) -> Result<Option<(RankedOperation, Vec<String>)>> {
        let asked = signals.intention.label == Intention::Prediction && signals.intention.confidence >= SURE;
        // A filter or a group before would be another table than the one that is read.
        let only_joins = base.plan.relation.steps.iter().all(|step| matches!(step, Step::Join(_)));
        if !asked || !only_joins || matches!(base.plan.relation.source, Input::Step(_)) {
            return Ok(None);
        }
        let columns = &query.entry.profile.columns;
        let named = |text: &str| {
            let mentions = Phrases::of(text).columns(columns);
            let can_be = |place: usize| correlate::target_column(columns, place).is_ok().then_some(place);
            mentions.into_iter().rev().find_map(|mention| can_be(mention.column))
        };
        let earlier = || session.turns.iter().rev().find_map(|turn| named(&turn.text));
        let Some(target) = named(text).or_else(earlier) else { return Ok(None) };
        let options = FeatureOptions {
            target,
            key: Vec::new(),
            k: FEATURES,
            aggregate: Aggregate::Mean,
            within: WITHIN,
            base: Some(base.plan.clone()),
        };
        let context = self.connected(session)?;
        match feature_table(self.index, self.lake, context, query, &options) {
            Ok(table) if table.features.is_empty() => Ok(None),
            Ok(table) => Ok(Some((operation(&table), notes(&table)))),
            Err(Error::Usage(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn operation(table: &FeatureTable) -> RankedOperation {
    let adds = |feature: &crate::feature_table::Feature| {
        let gain = feature.gain.as_ref().map(|gain| format!(": {gain}")).unwrap_or_default();
        format!("`{}`, {} of `{}`{gain}", feature.name, feature.aggregate, feature.found.table)
    };
    let features: Vec<String> = table.features.iter().map(adds).collect();
    let reason = format!("for a model of `{}` adds {}", table.target, features.join("; "));
    let preconditions =
        vec![met(format!("{} rows, as before", table.rows)), met(format!("{} columns tested", table.tested))];
    RankedOperation {
        requested: true,
        table: table.features.first().map(|feature| feature.found.table.clone()),
        runnable: Some(Plan::clone(&table.plan)),
        ..proposal(OperationKind::Join, preconditions, reason)
    }
}

/// What together the features add, and what was left out as it knows the target.
fn notes(table: &FeatureTable) -> Vec<String> {
    let mut notes = table.notes.clone();
    if let Some(gain) = table.gain.as_ref().filter(|_| table.features.len() > 1) {
        notes.push(format!("all of them: {gain}"));
    }
    let leaks = table.left_out.iter().filter(|left_out| left_out.leaks);
    notes.extend(
        leaks.map(|left_out| format!("left out: `{}` of `{}`: {}", left_out.column, left_out.table, left_out.reason)),
    );
    notes
}
