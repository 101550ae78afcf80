//! Which columns a plan brings: those are what a preview is looked at for, so they come first.

use maud::{Markup, html};

use super::layout::text;
use crate::messages::say;
use lakeward::{LakeContext, Plan};
use lakeward_agent::session::Step;
use lakeward_core::error::Result;
use lakeward_core::plan::{self, Relation};
use lakeward_operate::relation_columns;

/// A column in the order in which it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// Its place in the table.
    pub place: usize,
    pub name: String,
    pub news: News,
}

/// What a plan does to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It was not there before.
    Added,
    /// Its values were others before.
    Changed,
    /// Nothing.
    None,
}

/// What a plan does to the columns of the table that it goes on from.
#[derive(Debug, Clone, Default)]
pub struct FreshColumns {
    /// The columns of the result: keys, what is new, the rest.
    pub shown: Vec<Fresh>,
    /// The number of columns before.
    pub before: usize,
    /// Steps that the plan does after those of the table before.
    pub new_steps: usize,
}

impl FreshColumns {
    /// What `plan`, whose result has the columns `names`, does to the result of `before`, or to its own source.
    ///
    /// # Errors
    /// Those of reading the head of the source.
    pub fn of(context: &LakeContext, before: Option<&Step>, plan: &Plan, names: Vec<String>) -> Result<Self> {
        let (base, known): (Vec<String>, usize) = match before.filter(|step| plan.continues(&step.plan)) {
            Some(step) => (step.columns.clone(), step.plan.relation.steps.len()),
            None => {
                let columns = relation_columns(context, &Relation::of(plan.relation.source.clone()))?;
                (columns.into_iter().map(|column| column.name).collect(), 0)
            }
        };
        let steps = &plan.relation.steps[known..];
        Ok(Self { shown: ordered(steps, &base, names), before: base.len(), new_steps: steps.len() })
    }

    /// The names of the columns that are new.
    pub fn added(&self) -> Vec<&str> {
        self.shown.iter().filter(|column| column.news == News::Added).map(|column| column.name.as_str()).collect()
    }
}

fn ordered(steps: &[plan::Step], base: &[String], names: Vec<String>) -> Vec<Fresh> {
    let has = |names: &[String], name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    let (mut keys, mut derived) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            plan::Step::Join(join) => keys.extend(join.on.iter().map(|key| key.left.clone())),
            plan::Step::Group(grouping) => keys.extend(grouping.keys.iter().map(plan::Key::column_name)),
            plan::Step::Derive { name, .. } => derived.push(name.clone()),
            _ => {}
        }
    }
    let mut shown: Vec<Fresh> = names
        .into_iter()
        .enumerate()
        .map(|(place, name)| {
            let news = match (has(base, &name), has(&derived, &name)) {
                (false, _) => News::Added,
                (true, true) => News::Changed,
                (true, false) => News::None,
            };
            Fresh { place, name, news }
        })
        .collect();
    if shown.iter().any(|column| column.news != News::None) {
        shown.sort_by_key(|column| match (has(&keys, &column.name), column.news) {
            (true, _) => 0,
            (false, News::None) => 2,
            (false, _) => 1,
        });
    }
    shown
}

impl Fresh {
    /// Its name with a mark, as the head of a table.
    pub fn head(&self) -> Markup {
        html! {
            (text(&self.name))
            @match self.news {
                News::Added => { " " span.badge { (say("new")) } },
                News::Changed => { " " span.badge { (say("changed")) } },
                News::None => {},
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_come_first_then_what_is_new() {
        let join = json!({"join": {"with": {"source": {"table": "c"}}, "on": [{"left": "iso", "right": "iso"}], "columns": [{"column": "capital"}]}});
        let derive = json!({"derive": {"name": "name", "value": {"value": 1}}});
        let steps: Vec<plan::Step> =
            [join, derive].into_iter().map(|step| serde_json::from_value(step).unwrap()).collect();
        let texts = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let shown = ordered(&steps, &texts(&["id", "name", "iso"]), texts(&["id", "name", "iso", "capital"]));
        let marks: Vec<(usize, News)> = shown.iter().map(|column| (column.place, column.news)).collect();
        assert_eq!(marks, [(2, News::None), (1, News::Changed), (3, News::Added), (0, News::None)]);
        let same = ordered(&[], &texts(&["id", "iso"]), texts(&["id", "iso"]));
        assert_eq!(same.iter().map(|column| column.place).collect::<Vec<_>>(), [0, 1]);
    }
}
