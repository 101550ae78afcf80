//! Documents of older versions, made into what [`super::document`] says now, once, where they are read. Version 1 kept places,
//! periods and what a row stands for as text; versions 1 and 2 kept operations in place of plans; up to 3 what was wanted stood in two
//! places, constraints and the memory of a catalogue; up to 4 only the word `or` in what was said told alternatives from ways to write one value; up to 5 messages were plain texts.

use serde_json::{Value, json};

use super::document::VERSION;
use super::older_operation::plan;
use lakeward_core::request::Demand;
use lakeward_core::respect::Respect;
use lakeward_core::text::lower_words;
use lakeward_reading::reader::period_demand;

/// The oldest version that is read.
pub const OLDEST: u32 = 1;

/// A document of an older version as one of this. What is not as its version says stays, for the reader to refuse.
pub fn upgraded(mut document: Value) -> Value {
    let version = document["version"].as_u64().unwrap_or_default();
    if version < 4 {
        upgrade_demands(&mut document);
    }
    if version < 3 {
        upgrade_operations(&mut document);
    }
    if version < 5 {
        upgrade_alternatives(&mut document);
    }
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

/// Demands in place of constraints and of what was wanted of a catalogue: of the session and of its turns.
fn upgrade_demands(document: &mut Value) {
    let intent = document.pointer("/memory/intent").cloned().unwrap_or_default();
    let retrievals = document.pointer("/memory/retrievals").cloned();
    if let Some(fields) = document.as_object_mut()
        && fields.get("constraints").is_some_and(Value::is_object)
    {
        let constraints = fields.remove("constraints").unwrap_or_default();
        fields.insert("demands".into(), json!(demands(&constraints, &intent)));
        fields.remove("memory");
        fields.extend(retrievals.map(|retrievals| ("retrievals".to_string(), retrievals)));
    }
    let turns = document.get_mut("turns").and_then(Value::as_array_mut);
    for turn in turns.into_iter().flatten() {
        for place in ["/signals", "/recommendation/signals"] {
            let Some(signals) = turn.pointer_mut(place).and_then(Value::as_object_mut) else { continue };
            let constraints = signals.remove("constraints").unwrap_or_default();
            let intent = signals.remove("intent").unwrap_or_default();
            signals.remove("overrides");
            signals.insert("demands".into(), json!(demands(&constraints, &intent)));
        }
    }
}

/// Values of which any will do where the words of a demand name alternatives: of the session and of its turns.
fn upgrade_alternatives(document: &mut Value) {
    let upgrade = |demands: Option<&mut Value>| {
        for demand in demands.and_then(Value::as_array_mut).into_iter().flatten() {
            let says_or = demand["said"].as_str().is_some_and(|said| lower_words(said).any(|word| word == "or"));
            if let (true, Some([any])) = (says_or, demand["value"]["values"].as_array().map(Vec::as_slice)) {
                demand["value"] = json!({ "any_of": any });
            }
        }
    };
    upgrade(document.get_mut("demands"));
    for turn in document.get_mut("turns").and_then(Value::as_array_mut).into_iter().flatten() {
        upgrade(turn.pointer_mut("/signals/demands"));
        upgrade(turn.pointer_mut("/recommendation/signals/demands"));
    }
}

/// What older documents kept in two places.
fn demands(constraints: &Value, intent: &Value) -> Vec<Demand> {
    let turn_of = |key: &str| constraints["set_in_turn"][key].as_u64().map_or(1, |turn| turn as usize);
    let mut found: Vec<Demand> = Vec::new();
    let mut said = |role: Respect, words: &str, turn: usize, avoid: bool| {
        if !words.trim().is_empty() {
            found.push(Demand { avoid, ..period_demand(Demand::in_words(role, words, turn)) });
        }
    };
    // Version 1 kept lists as one text.
    let parts = |value: &Value, between: &[&str]| -> Vec<String> {
        let lists = value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string);
        let text =
            value.as_str().map(|text| between.iter().fold(text.to_string(), |text, cut| text.replace(cut, "\n")));
        lists.chain(text.iter().flat_map(|text| text.lines()).map(str::to_string)).collect()
    };
    for topic in parts(&constraints["topic"], &[]) {
        said(Respect::Topic, &topic, turn_of("topic"), false);
    }
    for place in parts(&constraints["geography"], &[", "]) {
        said(Respect::Place, &place, turn_of("geography"), false);
    }
    if let Some(period) = period(&constraints["time_range"]) {
        said(Respect::Period, &period, turn_of("time_range"), false);
    }
    for grain in parts(&constraints["granularity"], &["-"]) {
        said(Respect::Grain, &grain, turn_of("granularity"), false);
    }
    for column in parts(&constraints["required_columns"], &[]) {
        said(Respect::Column, &column, turn_of(&format!("required_columns: {column}")), false);
    }
    for out in parts(&constraints["excluded"], &[]) {
        said(Respect::Topic, &out, turn_of(&format!("excluded: {out}")), true);
    }
    for topic in intent["topics"].as_array().into_iter().flatten() {
        let words = topic["text"].as_str().unwrap_or_default();
        if constraints["topic"].as_str() != Some(words) {
            said(Respect::Topic, words, topic["turn"].as_u64().unwrap_or(1) as usize, false);
        }
    }
    for (list, avoid) in [("demands", false), ("refused", true)] {
        let read = |demand: &Value| serde_json::from_value::<Demand>(demand.clone()).ok();
        let known = intent[list].as_array().into_iter().flatten().filter_map(read);
        for demand in known.map(|demand| Demand { avoid, ..demand }) {
            // What both places said is wanted once, as the catalogue has it.
            let same = |said: &Demand| demand.role == Respect::Period || said.said.eq_ignore_ascii_case(&demand.said);
            found.retain(|said| said.role != demand.role || !same(said));
            found.push(demand);
        }
    }
    found
}

/// A period of an older document in words.
fn period(value: &Value) -> Option<String> {
    let text = |value: &Value| value.as_i64().map(|year| year.to_string());
    if let Some(text) = value.as_str().or_else(|| value["relative"].as_str()) {
        return Some(text.to_string());
    }
    if let Some(years) = value["years"].as_array() {
        return Some(years.iter().filter_map(text).collect::<Vec<_>>().join(", "));
    }
    let ends = [
        &value["span"]["from"],
        &value["span"]["to"],
        &value["months"]["from"]["year"],
        &value["months"]["to"]["year"],
    ];
    let years: Vec<String> = ends.into_iter().filter_map(text).collect();
    (!years.is_empty()).then(|| years.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::request::Demanded;

    #[test]
    fn constraints_become_demands() {
        let constraints = json!({
            "topic": "rain", "geography": "Dublin, Trinidad and Tobago", "time_range": {"span": {"from": 2010, "to": 2015}},
            "granularity": ["county", "year"], "excluded": ["snow"], "set_in_turn": {"topic": 2},
        });
        let intent = json!({"refused": [{"role": "format", "value": {"values": [["PDF"]]}, "hard": true, "turn": 3, "said": "pdf"}]});
        let said: Vec<String> =
            demands(&constraints, &intent).iter().map(|demand| format!("{}: {demand}", demand.role)).collect();
        assert_eq!(
            said,
            [
                "topic: rain",
                "place: Dublin",
                "place: Trinidad and Tobago",
                "period: 2010 to 2015",
                "grain: county",
                "grain: year",
                "topic: not snow",
                "format: not PDF"
            ]
        );
    }

    #[test]
    fn alternatives_are_told_from_ways_to_write_a_value() {
        let demand =
            |value: Value, said: &str| json!({"role": "place", "value": value, "hard": true, "turn": 1, "said": said});
        let document = upgraded(json!({"version": 4, "demands": [
            demand(json!({"values": [["Kenya", "Iceland"]]}), "Kenya or Iceland"),
            demand(json!({"values": [["Quebec", "Québec"]]}), "Quebec"),
            demand(json!("said"), "north or south"),
        ]}));
        let demands: Vec<Demand> = serde_json::from_value(document["demands"].clone()).expect("demands");
        let values: Vec<String> = demands.iter().map(ToString::to_string).collect();
        assert_eq!(values, ["Kenya or Iceland", "Quebec", "north or south"]);
        assert!(matches!(demands[0].value, Demanded::AnyOf(_)) && matches!(demands[1].value, Demanded::Values(_)));
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
