//! Changing a plan on a page: a step is taken out, or its words and numbers are changed, each in a field of its own.

use maud::{Markup, html};
use serde_json::Value;

use super::layout::text;
use crate::service::percent::{percent_decoded, percent_encoded};
use lakeward::Plan;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Edit, Step};

/// Fields of a step at most; what has more is changed in a conversation.
const MOST_FIELDS: usize = 24;

/// `plan` as the value of a field: browsers change some characters of other values.
pub fn field(plan: &Plan) -> Markup {
    let plan = serde_json::to_string(plan).unwrap_or_default();
    html! { input type="hidden" name="plan" value=(percent_encoded(&plan)); }
}

/// The plan in the field `plan`.
///
/// # Errors
/// [`Error::Usage`] for what is no plan.
pub fn plan(fields: &[(String, String)]) -> Result<Plan> {
    let text = fields.iter().find(|(name, _)| name == "plan").and_then(|(_, value)| percent_decoded(value));
    Plan::from_json(&text.ok_or_else(|| Error::Usage("the form has no plan".into()))?)
}

/// The plan with the change that the fields say: `remove`, or `step` with new values of what is named by its JSON pointer.
///
/// # Errors
/// [`Error::Usage`] for what no step can be.
pub fn edited(fields: &[(String, String)]) -> Result<Plan> {
    let plan = plan(fields)?;
    let number = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| name == wanted);
        found
            .map(|(_, value)| value.parse().map_err(|_| Error::Usage(format!("`{value}` is no number of a step"))))
            .transpose()
    };
    let usage = |error: &dyn std::fmt::Display| Error::Usage(error.to_string());
    let edit = match (number("remove")?, number("step")?) {
        (Some(step), _) => Edit::Remove { step },
        (None, Some(step)) => {
            let before = plan.relation.steps.get(step.wrapping_sub(1));
            let before = before.ok_or_else(|| Error::Usage(format!("the plan has no step {step}")))?;
            Edit::Replace {
                step,
                with: changed(before, fields)
                    .map_err(|reason| usage(&format!("step {step} cannot be that: {reason}")))?,
            }
        }
        (None, None) => return Ok(plan),
    };
    plan.edited(&edit).map_err(|error| usage(&error))
}

fn changed(step: &Step, fields: &[(String, String)]) -> std::result::Result<Step, String> {
    let mut value = serde_json::to_value(step).map_err(|error| error.to_string())?;
    for (pointer, new) in fields.iter().filter(|(name, _)| name.starts_with('/')) {
        let Some(old) = value.pointer_mut(pointer) else { continue };
        if shown(old) == *new {
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
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// The forms that change step `number`; `common` are the fields that all have.
pub fn forms(address: &str, common: &Markup, number: usize, step: &Step) -> Markup {
    let mut leaves = Vec::new();
    if let Ok(value) = serde_json::to_value(step) {
        collect(&value, String::new(), &mut leaves);
    }
    html! {
        details.change {
            summary { "Change step " (number) }
            @if (1..=MOST_FIELDS).contains(&leaves.len()) {
                form method="post" action=(address) {
                    (common)
                    input type="hidden" name="step" value=(number);
                    div.fields {
                        @for (place, (pointer, value)) in leaves.iter().enumerate() {
                            @let id = format!("f{number}-{place}");
                            div {
                                label for=(id) { (label(pointer)) }
                                input id=(id) name=(pointer) type="text" value=(value) maxlength="600";
                            }
                        }
                    }
                    button { "Preview with this change" }
                }
            }
            form method="post" action=(address) {
                (common)
                input type="hidden" name="remove" value=(number);
                button.quiet { "Take step " (number) " out" }
            }
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(value) => text(value),
        other => other.to_string(),
    }
}

/// The single values in `value` with their JSON pointers (RFC 6901).
fn collect(value: &Value, pointer: String, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(member, format!("{pointer}/{name}"), leaves);
            }
        }
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(place, value)| collect(value, format!("{pointer}/{place}"), leaves));
        }
        Value::Null => {}
        single => leaves.push((pointer, shown(single))),
    }
}

/// The names of a pointer after that of the step, at most three; places in lists count from 1 after the first.
fn label(pointer: &str) -> String {
    let names = pointer.split('/').skip(2).filter_map(|part| match part.parse::<usize>() {
        Ok(0) => None,
        Ok(place) => Some((place + 1).to_string()),
        Err(_) => Some(part.replace('_', " ")),
    });
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        pointer.trim_start_matches('/').to_string()
    } else {
        names[names.len().saturating_sub(3)..].join(" ")
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

    #[test]
    fn a_step_is_changed_where_it_was_changed_and_nowhere_else() {
        let filter: Step = serde_json::from_value(
            json!({"filter": {"text": {"value": {"column": "a\\u{202e}b/c"}, "test": "contains", "text": "x"}}}),
        )
        .unwrap();
        let plan = Plan::of(Input::Table("t".into())).then(filter.clone()).then(Step::Limit { rows: 5, skip: 0 });
        let mut leaves = Vec::new();
        collect(&serde_json::to_value(&filter).unwrap(), String::new(), &mut leaves);
        let mut fields: Vec<(&str, &str)> =
            leaves.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.push(("step", "1"));
        assert_eq!(sent(&plan, &fields).unwrap(), plan);
        assert_eq!(
            sent(&plan, &[("step", "2"), ("/limit/rows", "7")]).unwrap().relation.steps[1],
            Step::Limit { rows: 7, skip: 0 }
        );
        assert_eq!(sent(&plan, &[("remove", "1")]).unwrap().relation.steps.len(), 1);
        for wrong in [
            [("step", "2"), ("/limit/rows", "many")],
            [("step", "2"), ("/limit/rows", "-1")],
            [("step", "9"), ("/x", "")],
            [("remove", "0"), ("x", "")],
        ] {
            assert!(matches!(sent(&plan, &wrong), Err(Error::Usage(_))), "{wrong:?}");
        }
    }
}
