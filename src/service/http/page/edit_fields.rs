//! The parts of a step as fields of a form: what each is called in words, and what can be chosen for it.

use serde_json::Value;

use lakeward_core::plan::{Condition, Step};

/// What a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Anything.
    Text,
    /// A column of the table that the step is done to.
    Here,
    /// A column of the other table.
    There,
    /// A table of the lake.
    Table,
    /// One of these: its value in a plan, and in words.
    One(&'static [(&'static str, &'static str)]),
}

/// A part of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its place: a JSON pointer (RFC 6901); `-` in a list is one more of it.
    pub pointer: String,
    /// What it is called.
    pub label: String,
    /// What it is now.
    pub value: String,
    pub takes: Takes,
}

const JOIN_KINDS: Takes = Takes::One(&[
    ("left", "all rows of this table"),
    ("inner", "only rows with a partner"),
    ("semi", "rows with a partner, no columns"),
    ("anti", "rows without a partner"),
    ("full", "all rows of both tables"),
]);
const EXACT_KEYS: Takes =
    Takes::One(&[("false", "whatever their case, spaces and signs"), ("true", "exactly as written")]);
const EXACT_TEXT: Takes = Takes::One(&[("false", "does not matter"), ("true", "matters")]);
const FUNCTIONS: [(&str, &str); 8] = [
    ("count", "the number"),
    ("count_distinct", "the number of different values"),
    ("sum", "the total"),
    ("mean", "the mean"),
    ("median", "the median"),
    ("min", "the smallest"),
    ("max", "the largest"),
    ("standard_deviation", "the standard deviation"),
];
const ONE_MORE_FUNCTION: [(&str, &str); 9] = {
    let mut all = [("", "nothing more"); 9];
    let mut at = 0;
    while at < FUNCTIONS.len() {
        all[at + 1] = FUNCTIONS[at];
        at += 1;
    }
    all
};
const DIRECTIONS: Takes = Takes::One(&[("ascending", "smallest first"), ("descending", "largest first")]);
const COMPARISONS: Takes = Takes::One(&[
    ("equal", "is"),
    ("different", "is not"),
    ("less", "is below"),
    ("at_most", "is at most"),
    ("greater", "is above"),
    ("at_least", "is at least"),
]);
const TEXT_TESTS: Takes = Takes::One(&[("contains", "contains"), ("starts", "starts with"), ("ends", "ends with")]);
const EXTRA_COLUMNS: Takes = Takes::One(&[("false", "are left out"), ("true", "are kept")]);

/// The parts of `step` that are single values, and one more for each list that can grow.
pub fn fields(step: &Step) -> Vec<Field> {
    let mut found = Vec::new();
    if let Ok(value) = json(step) {
        collect(&value, String::new(), &mut found);
    }
    found.extend(one_more(step));
    found
}

/// `step` as JSON, with what it leaves to its default where that can be chosen.
pub fn json(step: &Step) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(step)?;
    if let Some(Value::Array(keys)) = value.pointer_mut("/join/on") {
        for key in keys.iter_mut().filter_map(Value::as_object_mut) {
            key.entry("exact").or_insert(false.into());
        }
    }
    Ok(value)
}

/// A value as the field of a form has it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(value) => super::text(value),
        other => other.to_string(),
    }
}

fn collect(value: &Value, pointer: String, found: &mut Vec<Field>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(member, format!("{pointer}/{name}"), found);
            }
        }
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(place, value)| collect(value, format!("{pointer}/{place}"), found));
        }
        Value::Null => {}
        single => {
            let (label, takes) = named(&pointer);
            let value = shown(single);
            // What is not among the choices, such as a quantile, stays as it is.
            let is_known = |choices: &[(&str, &str)]| choices.iter().any(|(known, _)| *known == value);
            if !matches!(takes, Takes::One(choices) if !is_known(choices)) {
                found.push(Field { pointer, label, value, takes });
            }
        }
    }
}

fn one_more(step: &Step) -> Vec<Field> {
    let more: &[(&str, &str, Takes)] = match step {
        Step::Select(_) => &[("/select/-/column", "Keep also", Takes::Here)],
        Step::Drop(_) => &[("/drop/-", "Leave out also", Takes::Here)],
        Step::Sort(_) => &[("/sort/-/by/column", "Then order by", Takes::Here)],
        Step::Distinct(_) => &[("/distinct/-", "One row also for each", Takes::Here)],
        Step::Join(_) => &[("/join/columns/-/column", "Add also", Takes::There)],
        Step::Filter(Condition::OneOf { .. }) => &[("/filter/one_of/values/-", "Or the value", Takes::Text)],
        Step::Group(_) => &[
            ("/group/keys/-/of/column", "Group also by", Takes::Here),
            ("/group/measures/-/function", "Compute also", Takes::One(&ONE_MORE_FUNCTION)),
            ("/group/measures/-/of/column", "of the column", Takes::Here),
        ],
        _ => &[],
    };
    let field = |(pointer, label, takes): &(&str, &str, Takes)| Field {
        pointer: pointer.to_string(),
        label: label.to_string(),
        value: String::new(),
        takes: *takes,
    };
    more.iter().map(field).collect()
}

/// What the part of a step at `pointer` is called, and what it takes.
fn named(pointer: &str) -> (String, Takes) {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    if let ["join", "with", "steps", _, rest @ ..] = parts.as_slice() {
        let (label, takes) = named(&format!("/{}", rest.join("/")));
        let takes = if takes == Takes::Here { Takes::There } else { takes };
        return (format!("In the other table: {label}"), takes);
    }
    let is_second = parts.last() == Some(&"1");
    let names: Vec<&str> = parts.iter().copied().filter(|part| part.parse::<usize>().is_err()).collect();
    let (label, takes) = match names.as_slice() {
        ["join", "with", "source", "table"] => ("Other table", Takes::Table),
        ["join", "kind"] => ("Rows to keep", JOIN_KINDS),
        ["join", "on", "left"] => ("Key in this table", Takes::Here),
        ["join", "on", "right"] => ("Key in the other table", Takes::There),
        ["join", "on", "exact"] => ("Keys are the same", EXACT_KEYS),
        ["join", "columns", "column"] => ("Column to add", Takes::There),
        ["select", "column"] => ("Column to keep", Takes::Here),
        [.., "as"] => ("Its name in the result", Takes::Text),
        ["drop"] => ("Column to leave out", Takes::Here),
        ["rename"] if is_second => ("Its new name", Takes::Text),
        ["rename"] => ("Column", Takes::Here),
        ["group", "keys", .., "column"] => ("Group by", Takes::Here),
        ["group", "measures", "function"] => ("Compute", Takes::One(&FUNCTIONS)),
        ["group", "measures", "of", "column"] => ("of the column", Takes::Here),
        ["sort" | "top", .., "column"] => ("Order by", Takes::Here),
        [.., "direction"] => ("Order", DIRECTIONS),
        ["distinct"] => ("One row for each", Takes::Here),
        ["limit", "rows"] => ("Rows to keep", Takes::Text),
        ["limit", "skip"] => ("Rows to skip before", Takes::Text),
        ["top", "rows"] => ("Rows to keep for each", Takes::Text),
        ["top", "within"] => ("Rows are kept for each", Takes::Here),
        ["union", "others", "with", "source", "table"] => ("Table to append", Takes::Table),
        ["union", "others", "columns"] if is_second => ("is there the column", Takes::There),
        ["union", "others", "columns"] => ("Column here", Takes::Here),
        ["union", "keep_extra"] => ("Columns that only the others have", EXTRA_COLUMNS),
        ["union", "source_column"] => ("Column that names the source", Takes::Text),
        ["derive", "name"] => ("Name of the column", Takes::Text),
        ["filter", .., "comparison"] => ("Comparison", COMPARISONS),
        ["filter", .., "test"] => ("Its text", TEXT_TESTS),
        ["filter", .., "text", "exact"] => ("Upper and lower case", EXACT_TEXT),
        ["filter", .., "text", "text"] => ("Text", Takes::Text),
        ["filter", .., "value" | "values"] => ("Value", Takes::Text),
        ["filter", .., "from"] => ("From", Takes::Text),
        ["filter", .., "to"] => ("To", Takes::Text),
        [.., "column"] => ("Column", Takes::Here),
        [.., last] => {
            let words = last.replace('_', " ");
            return (words[..1].to_uppercase() + &words[1..], Takes::Text);
        }
        [] => ("Value", Takes::Text),
    };
    (label.to_string(), takes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    fn labels(step: Value) -> Vec<String> {
        fields(&serde_json::from_value(step).unwrap()).into_iter().map(|field| field.label).collect()
    }

    #[test]
    fn parts_have_names_in_words() {
        let join = json!({"join": {"with": {"source": {"table": "c"}}, "on": [{"left": "a", "right": "b"}], "columns": [{"column": "x"}]}});
        let mut found = labels(join);
        found.sort();
        let named = [
            "Add also",
            "Column to add",
            "Key in the other table",
            "Key in this table",
            "Keys are the same",
            "Other table",
            "Rows to keep",
        ];
        assert_eq!(found, named);
        let group = json!({"group": {"keys": [{"of": {"column": "a"}}], "measures": [{"function": "quantile", "at": 0.9, "of": {"column": "b"}}]}});
        assert_eq!(
            labels(group),
            ["Group by", "At", "of the column", "Group also by", "Compute also", "of the column"]
        );
    }

    #[test]
    fn every_choice_is_one_that_a_plan_can_have() {
        fn all<T: DeserializeOwned>(takes: Takes) {
            let Takes::One(choices) = takes else { panic!("no choice") };
            for (value, _) in choices {
                serde_json::from_value::<T>(json!(value)).unwrap_or_else(|error| panic!("{value}: {error}"));
            }
        }
        all::<lakeward_core::plan::JoinKind>(JOIN_KINDS);
        all::<lakeward_core::plan::Direction>(DIRECTIONS);
        all::<lakeward_core::plan::Comparison>(COMPARISONS);
        all::<lakeward_core::plan::TextTest>(TEXT_TESTS);
        for (function, _) in FUNCTIONS {
            serde_json::from_value::<lakeward_core::plan::Measure>(json!({"function": function})).unwrap();
        }
    }
}
