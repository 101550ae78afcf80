//! Changing a plan on a page: a step is taken out or added, its words and numbers are changed, each in a field of its own; a list grows by
//! one more of what it holds, and loses what is emptied.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::edit_fields::{Field, Takes, fields, json, shown};
use super::layout::text;
use crate::messages::{fill, name, say};
use crate::service::percent::{percent_decoded, percent_encoded};
use lakeward::{LakeContext, Plan};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Edit, Relation, Step};
use lakeward_operate::relation_columns;

/// Fields of a step at most; what has more is changed in a conversation.
const MOST_FIELDS: usize = 32;
/// Columns that are offered of a table, and steps for which columns are offered.
const COLUMNS: usize = 120;
const STEPS: usize = 12;

/// The fields of a form.
pub type Sent = [(String, String)];

/// `plan` as the value of a field: browsers change some characters of other values.
pub fn field(plan: &Plan) -> Markup {
    let plan = serde_json::to_string(plan).unwrap_or_default();
    html! { input type="hidden" name="plan" value=(percent_encoded(&plan)); }
}

/// The plan in the field `plan`.
///
/// # Errors
/// [`Error::Usage`] for what is no plan.
pub fn plan(sent: &Sent) -> Result<Plan> {
    Plan::from_json(&decoded(sent, "plan").ok_or_else(|| Error::usage("the form has no plan"))?)
}

fn decoded(sent: &Sent, key: &str) -> Option<String> {
    sent.iter().find(|(name, _)| name == key).and_then(|(_, value)| percent_decoded(value))
}

/// The plan with the change that the fields say: `edit`, `remove`, or `step` with new values of what is named by its JSON pointer.
///
/// # Errors
/// [`Error::Usage`] for what no step can be.
pub fn edited(sent: &Sent) -> Result<Plan> {
    let plan = plan(sent)?;
    let usage = |error: &dyn std::fmt::Display| Error::usage(error.to_string());
    let number = |key: &str| {
        let found = sent.iter().find(|(name, _)| name == key);
        found
            .map(|(_, value)| value.parse().map_err(|_| Error::usage(format!("`{value}` is no number of a step"))))
            .transpose()
    };
    let edit = match (decoded(sent, "edit"), number("remove")?, number("step")?) {
        (Some(edit), ..) => serde_json::from_str(&edit).map_err(|error| usage(&error))?,
        (None, Some(step), _) => Edit::Remove { step },
        (None, None, Some(step)) => {
            let before = plan.relation.steps.get(step.wrapping_sub(1));
            let before = before.ok_or_else(|| Error::usage(format!("the plan has no step {step}")))?;
            let with = changed(before, sent);
            Edit::Replace {
                step,
                with: with.map_err(|reason| usage(&format!("step {step} cannot be that: {reason}")))?,
            }
        }
        (None, None, None) => return Ok(plan),
    };
    plan.edited(&edit).map_err(|error| usage(&error))
}

fn changed(step: &Step, sent: &Sent) -> std::result::Result<Step, String> {
    let mut value = json(step).map_err(|error| error.to_string())?;
    let mut emptied: Vec<String> = Vec::new();
    for (pointer, new) in sent.iter().filter(|(name, _)| name.starts_with('/') && !name.contains("/-")) {
        let Some(old) = value.pointer_mut(pointer) else { continue };
        if shown(old) == *new {
            continue;
        }
        if new.trim().is_empty()
            && let Some(item) = item_of(pointer)
        {
            emptied.push(item);
            continue;
        }
        *old = match old {
            Value::Number(_) => serde_json::from_str(new).map_err(|_| format!("`{new}` is no number"))?,
            Value::Bool(_) => {
                serde_json::from_str(new).map_err(|_| format!("`{new}` is neither `true` nor `false`"))?
            }
            _ => Value::String(new.clone()),
        };
    }
    let added = grown(&mut value, sent)?;
    // From the end, so that the places before stay.
    let place = |item: &String| item.rsplit('/').next().and_then(|place| place.parse::<usize>().ok());
    emptied.sort_by(|a, b| (place(b), b).cmp(&(place(a), a)));
    emptied.dedup();
    for item in emptied {
        let Some((list, place)) = item.rsplit_once('/') else { continue };
        if let (Some(Value::Array(items)), Ok(place)) = (value.pointer_mut(list), place.parse::<usize>())
            && place < items.len()
        {
            items.remove(place);
            if items.is_empty() && list == "/join/columns" {
                return Err("a join adds at least one column; take the whole step out instead".into());
            }
        }
    }
    let step: Step = serde_json::from_value(value).map_err(|error| error.to_string())?;
    match added {
        true if matches!(&step, Step::Group(grouping) if grouping.measures.iter().any(|measure| measure.of.is_none() && measure.function.word() != "count")) => {
            Err("what is computed is computed of a column".into())
        }
        _ => Ok(step),
    }
}

/// The item of a list that goes when the field at `pointer` is emptied; none for fields that may be empty.
fn item_of(pointer: &str) -> Option<String> {
    let parts: Vec<&str> = pointer.split('/').collect();
    let is_place = |part: &str| part.parse::<usize>().is_ok();
    let names_it =
        matches!(parts.last(), Some(&("column" | "left"))) || parts.last().is_some_and(|last| is_place(last));
    let at = parts.iter().rposition(|part| is_place(part)).filter(|_| names_it)?;
    Some(parts[..=at].join("/"))
}

/// Adds one more to the lists that the fields with `-` name; whether there was one.
fn grown(value: &mut Value, sent: &Sent) -> std::result::Result<bool, String> {
    let mut more: Vec<(&str, Value)> = Vec::new();
    for (pointer, new) in sent.iter().filter(|(_, new)| !new.trim().is_empty()) {
        let Some((list, rest)) = pointer.split_once("/-").filter(|_| pointer.starts_with('/')) else { continue };
        let new = rest
            .split('/')
            .skip(1)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .fold(Value::String(new.trim().to_string()), |inner, name| {
                Value::Object(Map::from_iter([(name.to_string(), inner)]))
            });
        match more.iter_mut().find(|(known, _)| *known == list) {
            Some((_, Value::Object(known))) => {
                if let Value::Object(new) = new {
                    known.extend(new);
                }
            }
            _ => more.push((list, new)),
        }
    }
    let is_grown = !more.is_empty();
    for (list, new) in more {
        if list == "/group/measures" && new.get("function").is_none() {
            return Err("say what is to be computed of the column".into());
        }
        let (owner, name) = list.rsplit_once('/').unwrap_or(("", list));
        let items = match value.pointer_mut(owner) {
            Some(Value::Object(members)) => members.entry(name).or_insert_with(|| Value::Array(Vec::new())),
            _ => return Err(format!("there is no list `{list}`")),
        };
        items.as_array_mut().ok_or_else(|| format!("`{list}` is no list"))?.push(new);
    }
    Ok(is_grown)
}

/// What the fields of a plan's steps can be chosen from.
#[derive(Debug, Default)]
pub struct Choices {
    /// Different lists of columns.
    lists: Vec<Vec<String>>,
    /// For each step: the list of the table that it is done to, and of the other table.
    steps: Vec<[Option<usize>; 2]>,
    /// Tables of the lake.
    tables: Vec<String>,
}

impl Choices {
    /// The columns before each step of `plan` and those of the tables that it takes in, and the ids of `tables`.
    pub fn of(context: &LakeContext, plan: &Plan, tables: Vec<String>) -> Self {
        // A name that is shown otherwise than it is would not be found when it is chosen.
        let is_shown = |name: &String| text(name) == *name;
        let mut choices = Self { tables: tables.into_iter().filter(is_shown).collect(), ..Self::default() };
        for (place, step) in plan.relation.steps.iter().enumerate().take(STEPS) {
            let before = Relation { steps: plan.relation.steps[..place].to_vec(), ..plan.relation.clone() };
            let other = step.others().next();
            // What cannot be read is not offered; the preview says why.
            let mut columns = |relation: &Relation| {
                let columns = relation_columns(context, relation).ok()?;
                let names: Vec<String> =
                    columns.into_iter().map(|column| column.name).filter(is_shown).take(COLUMNS).collect();
                let known = choices.lists.iter().position(|list| *list == names);
                Some(known.unwrap_or_else(|| {
                    choices.lists.push(names);
                    choices.lists.len() - 1
                }))
            };
            let lists = [columns(&before), other.and_then(&mut columns)];
            choices.steps.push(lists);
        }
        choices
    }

    /// The lists that the fields name.
    pub fn lists(&self) -> Markup {
        let list = |id: String, values: &[String]| html! { datalist id=(id) { @for value in values { option value=(value) {} } } };
        html! {
            @for (place, columns) in self.lists.iter().enumerate() { (list(format!("columns-{place}"), columns)) }
            @if !self.tables.is_empty() { (list("tables".into(), &self.tables)) }
        }
    }

    /// The name of the list for a field of the step at `place`.
    fn list(&self, place: usize, takes: Takes) -> Option<String> {
        let [here, there] = self.steps.get(place).copied().unwrap_or_default();
        let columns = match takes {
            Takes::Here => here,
            Takes::There => there,
            Takes::Table => return (!self.tables.is_empty()).then(|| "tables".into()),
            Takes::Text | Takes::One(_) => None,
        };
        columns.map(|place| format!("columns-{place}"))
    }
}

/// The forms that change the step at `place`; `common` are the fields that all have, `sent` what was sent and could not be done.
pub fn forms(address: &str, common: &Markup, place: usize, step: &Step, choices: &Choices, sent: &Sent) -> Markup {
    let (number, fields) = (place + 1, fields(step));
    let is_sent = sent.iter().any(|(name, value)| name == "step" && *value == number.to_string());
    html! {
        details.change open[is_sent] {
            summary { (fill("Change step {}", &[&number.to_string()])) }
            @if fields.len() > MOST_FIELDS { p.why { (say("It has more parts than a form can show: say in the conversation what to change.")) } }
            @if (1..=MOST_FIELDS).contains(&fields.len()) {
                form method="post" action=(address) {
                    (common)
                    input type="hidden" name="step" value=(number);
                    div.fields {
                        @for (at, field) in fields.iter().enumerate() {
                            @let typed = sent.iter().find(|(name, _)| is_sent && *name == field.pointer);
                            (input(&format!("f{number}-{at}"), field, typed.map_or(&field.value, |(_, typed)| typed), choices.list(place, field.takes)))
                        }
                    }
                    p.why { (say("What is emptied is taken out of its list.")) }
                    button { (say("Preview with this change")) }
                }
            }
            form method="post" action=(address) {
                (common)
                input type="hidden" name="remove" value=(number);
                button.quiet { (fill("Take step {} out", &[&number.to_string()])) }
            }
        }
    }
}

fn input(id: &str, field: &Field, value: &str, list: Option<String>) -> Markup {
    html! {
        div {
            label for=(id) { (name(&field.label)) }
            @match field.takes {
                Takes::One(all) => select id=(id) name=(field.pointer) {
                    @for (choice, words) in all { option value=(choice) selected[*choice == value] { (say(words)) } }
                },
                _ => input id=(id) name=(field.pointer) type="text" value=(text(value)) list=[list] maxlength="600";,
            }
        }
    }
}

/// A button that makes `edit`.
pub fn remedy(address: &str, common: &Markup, edit: &Edit, words: &str) -> Markup {
    let edit = serde_json::to_string(edit).unwrap_or_default();
    html! {
        form method="post" action=(address) {
            (common)
            input type="hidden" name="edit" value=(percent_encoded(&edit));
            button { (words) }
        }
    }
}

/// A button that sends what was `sent` again, with `name` in place of what is not known.
pub fn instead(address: &str, common: &Markup, sent: &Sent, typed: &str, name: &str) -> Markup {
    let own = |field: &str| field == "step" || field.starts_with('/');
    html! {
        form method="post" action=(address) {
            (common)
            @for (field, value) in sent.iter().filter(|(field, _)| own(field)) {
                input type="hidden" name=(field) value=(if value.trim() == typed { name } else { value });
            }
            button { (text(name)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::request::Input;
    use serde_json::json;

    fn sent(plan: &Plan, change: &[(&str, &str)]) -> Result<Plan> {
        let plan = percent_encoded(&serde_json::to_string(plan).unwrap());
        let fields = change.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        edited(&std::iter::once(("plan".to_string(), plan)).chain(fields).collect::<Vec<_>>())
    }

    fn step(value: Value) -> Step {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_step_is_changed_where_it_was_changed_and_nowhere_else() {
        let filter =
            step(json!({"filter": {"text": {"value": {"column": "a\\u{202e}b/c"}, "test": "contains", "text": "x"}}}));
        let plan = Plan::of(Input::Table("t".into())).then(filter.clone()).then(Step::Limit { rows: 5, skip: 0 });
        let leaves = fields(&filter);
        let mut same: Vec<(&str, &str)> =
            leaves.iter().map(|field| (field.pointer.as_str(), field.value.as_str())).collect();
        same.push(("step", "1"));
        assert_eq!(sent(&plan, &same).unwrap(), plan);
        assert_eq!(
            sent(&plan, &[("step", "2"), ("/limit/rows", "7")]).unwrap().relation.steps[1],
            Step::Limit { rows: 7, skip: 0 }
        );
        assert_eq!(sent(&plan, &[("remove", "1")]).unwrap().relation.steps.len(), 1);
        for wrong in [
            [("step", "2"), ("/limit/rows", "many")],
            [("step", "2"), ("/limit/rows", "-1")],
            [("step", "9"), ("/x", "")],
            [("step", "2"), ("/limit/rows/-", "x")],
            [("step", "2"), ("/nothing/-/column", "x")],
            [("edit", "%7B"), ("x", "")],
            [("remove", "0"), ("x", "")],
        ] {
            assert!(matches!(sent(&plan, &wrong), Err(Error::Usage(_))), "{wrong:?}");
        }
    }

    #[test]
    fn lists_grow_and_lose_what_is_emptied() {
        let group = step(
            json!({"group": {"keys": [{"of": {"column": "a"}}, {"of": {"column": "b"}}], "measures": [{"function": "count"}]}}),
        );
        let plan = Plan::of(Input::Table("t".into())).then(group);
        let words = |change: &[(&str, &str)]| {
            let all: Vec<_> = std::iter::once(&("step", "1")).chain(change).copied().collect();
            sent(&plan, &all).map(|plan| plan.relation.steps[0].to_string())
        };
        let more = words(&[
            ("/group/keys/0/of/column", ""),
            ("/group/keys/-/of/column", "c"),
            ("/group/measures/-/function", "mean"),
            ("/group/measures/-/of/column", "x"),
        ]);
        assert_eq!(more.unwrap(), "computes the number of rows and the mean of x for each b and c");
        assert!(words(&[("/group/measures/-/function", "mean")]).is_err());
        assert!(words(&[("/group/measures/-/of/column", "x")]).is_err());
        let join = step(
            json!({"join": {"with": {"source": {"table": "c"}}, "on": [{"left": "a", "right": "b"}], "columns": [{"column": "x"}]}}),
        );
        let plan = Plan::of(Input::Table("t".into())).then(join);
        assert!(sent(&plan, &[("step", "1"), ("/join/columns/0/column", "")]).is_err());
        let other = sent(&plan, &[("step", "1"), ("/join/columns/0/column", ""), ("/join/columns/-/column", "y")]);
        assert_eq!(other.unwrap().relation.steps[0].to_string(), "adds y from c by a = b");
        let exact = sent(&plan, &[("step", "1"), ("/join/on/0/exact", "true")]).unwrap();
        assert!(serde_json::to_string(&exact).unwrap().contains("\"exact\":true"));
    }
}
