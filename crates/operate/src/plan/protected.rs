//! Columns that a plan is made for and loses on the way: those that a request asked for, and those that its own steps added.

use serde_json::Value as Json;

use super::counter::Counter;
use super::preview::WarningKind;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Join, Relation, Step};
use lakeward_core::text::name_likeness;

/// A column is one that was asked for from this likeness of their names.
const ASKED_FOR: f64 = 0.8;

impl Counter<'_> {
    /// Warns where the last step of `after` leaves out a column that was asked for; or one that an earlier step added and none has used.
    pub(super) fn lost_columns(&mut self, after: &Relation) -> Result<()> {
        let Some((step @ (Step::Select(_) | Step::Drop(_) | Step::Group(_)), steps)) = after.steps.split_last() else {
            return Ok(());
        };
        let before = Relation { source: after.source.clone(), steps: steps.to_vec() };
        let (names, left) = (self.names(&before)?, self.names(after)?);
        let is_left = |name: &str| match step {
            Step::Select(kept) => kept.iter().any(|kept| kept.column.eq_ignore_ascii_case(name)),
            _ => left.iter().any(|left| left.eq_ignore_ascii_case(name)),
        };
        let groups = matches!(step, Step::Group(_));
        let mut lost = Vec::new();
        for name in names.iter().filter(|name| !is_left(name)) {
            if groups && mentions(step, name)? {
                continue;
            }
            let was_asked = self.limits.asked_for.iter().any(|words| name_likeness(words, name) >= ASKED_FOR);
            if was_asked || is_unused(&after.steps, name)? {
                lost.push(name.as_str());
            }
        }
        if !lost.is_empty() {
            let text = format!("step {} leaves out {}, which was asked for", after.steps.len(), lost.join(", "));
            self.warn(after.steps.len(), WarningKind::TargetDropped, text);
        }
        Ok(())
    }

    fn names(&mut self, relation: &Relation) -> Result<Vec<String>> {
        self.compiler.clear();
        let made = self.compiler.relation(relation)?;
        Ok(made.table.columns.iter().map(|column| column.name.clone()).collect())
    }
}

/// Whether one of `steps` added the column, at request, and no step before the last uses it; a grouping may use another that came with it.
fn is_unused(steps: &[Step], name: &str) -> Result<bool> {
    let added_by = |step: &Step| -> Vec<String> {
        match step {
            Step::Derive { name, .. } => vec![name.clone()],
            Step::Join(Join { columns, .. }) => {
                columns.iter().map(|kept| kept.name.as_ref().unwrap_or(&kept.column).clone()).collect()
            }
            _ => Vec::new(),
        }
    };
    let has = |names: &[String]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    let Some(at) = steps.iter().rposition(|step| has(&added_by(step))) else { return Ok(false) };
    let groups = matches!(steps.last(), Some(Step::Group(_)));
    let (names, until) =
        if groups { (added_by(&steps[at]), steps.len()) } else { (vec![name.to_string()], steps.len() - 1) };
    for step in steps.get(at + 1..until).unwrap_or_default() {
        for name in &names {
            if mentions(step, name)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether a step speaks of a column.
fn mentions(step: &Step, name: &str) -> Result<bool> {
    fn holds(json: &Json, name: &str) -> bool {
        match json {
            Json::String(text) => text.eq_ignore_ascii_case(name),
            Json::Array(parts) => parts.iter().any(|part| holds(part, name)),
            Json::Object(fields) => fields.values().any(|part| holds(part, name)),
            _ => false,
        }
    }
    let json = serde_json::to_value(step).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(holds(&json, name))
}
