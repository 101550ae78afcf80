//! Documents of older versions, made into what [`super::document`] says now, once, where they are read. Version 1 kept places,
//! periods and what a row stands for as text; versions 1 and 2 kept operations in place of plans.

use serde_json::{Map, Value, json};

use super::document::VERSION;
use super::older_operation::plan;
use lakeward_reading::signals::constraints::{period, place};

/// The oldest version that is read.
pub const OLDEST: u32 = 1;

/// A document of an older version as one of this. What is not as its version says stays, for the reader to refuse.
pub fn upgraded(mut document: Value) -> Value {
    if document["version"] == json!(1) {
        upgrade_constraints(&mut document);
    }
    upgrade_operations(&mut document);
    document["version"] = json!(VERSION);
    document
}

/// Plans in place of operations: of the steps and of the answers.
fn upgrade_operations(document: &mut Value) {
    let steps = document.get_mut("steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten().filter_map(Value::as_object_mut) {
        let columns = step.get("columns").and_then(Value::as_array).into_iter().flatten();
        let columns: Vec<String> = columns.filter_map(Value::as_str).map(str::to_string).collect();
        if let Some(plan) = step.get("operation").and_then(|operation| plan(operation, &columns)) {
            step.insert("plan".to_string(), json!(plan));
        }
    }
    let turns = document.get_mut("turns").and_then(Value::as_array_mut);
    let answers = turns.into_iter().flatten().filter_map(|turn| turn.pointer_mut("/recommendation/operations"));
    for operation in answers.filter_map(Value::as_array_mut).flatten() {
        if let Some(runnable) = operation.get_mut("runnable")
            && let Some(plan) = plan(runnable, &[])
        {
            *runnable = json!(plan);
        }
    }
}

fn upgrade_constraints(document: &mut Value) {
    if let Some(constraints) = document.get_mut("constraints") {
        upgrade(constraints);
    }
    let turns = document.get_mut("turns").and_then(Value::as_array_mut);
    for turn in turns.into_iter().flatten() {
        for signals in ["/signals/constraints", "/recommendation/signals/constraints"] {
            if let Some(constraints) = turn.pointer_mut(signals) {
                upgrade(constraints);
            }
        }
    }
}

fn upgrade(constraints: &mut Value) {
    let Some(fields) = constraints.as_object_mut() else { return };
    replace(fields, "geography", |text| json!(text.map(places).unwrap_or_default()));
    replace(fields, "time_range", |text| json!(text.and_then(period::parse)));
    let parts = |text: &str| text.split('-').map(str::to_string).collect::<Vec<_>>();
    replace(fields, "granularity", |text| json!(text.map(parts).unwrap_or_default()));
}

/// Gives the text of a field, or none, its new shape.
fn replace(fields: &mut Map<String, Value>, name: &str, shape: impl Fn(Option<&str>) -> Value) {
    let Some(value) = fields.get_mut(name) else { return };
    if value.is_string() || value.is_null() {
        *value = shape(value.as_str());
    }
}

/// The names in `Dublin, Trinidad and Tobago, Washington, D.C.`.
fn places(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split(", ").filter(|part| !part.trim().is_empty()).collect();
    let mut names = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let pair = parts.get(at..at + 2).map(|pair| pair.join(", ")).filter(|pair| place::known(pair).is_some());
        at += if pair.is_some() { 2 } else { 1 };
        let name = pair.unwrap_or_else(|| parts[at - 1].to_string());
        if place::known(&name).is_some() || !name.contains(" and ") {
            names.push(name);
        } else {
            names.extend(name.split(" and ").map(str::to_string));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_once() {
        assert_eq!(places("Dublin, Kildare and Meath"), ["Dublin", "Kildare", "Meath"]);
        assert_eq!(places("Trinidad and Tobago, Oslo"), ["Trinidad and Tobago", "Oslo"]);
        assert_eq!(places("Oslo, Washington, D.C."), ["Oslo", "Washington, D.C."]);
        assert!(places("").is_empty());
    }

    #[test]
    fn what_is_no_document_stays_so() {
        for document in [json!({"version": 1}), json!({"version": 1, "turns": 3, "constraints": [1]})] {
            let mut upgraded = upgraded(document.clone());
            upgraded["version"] = json!(1);
            assert_eq!(upgraded, document);
        }
    }
}
