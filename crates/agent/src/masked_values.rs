//! Plans as a model on another machine may see them: texts that nobody typed come from cells, and stand there as `value #1`, `value #2` …,
//! which its answer may use and which then become the texts again.

use serde_json::{Value, json};

use lakeward_core::plan::{Relation, Step};
use lakeward_core::text::lower_words;
use lakeward_models::llm::Refusal;
use lakeward_models::llm::config::Share;

/// The texts of some plans that a model does not see, in the order of their numbers.
pub(super) struct MaskedValues {
    /// The words that were typed, each request between line ends; nothing is masked without them.
    typed: Option<String>,
    texts: Vec<String>,
}

impl MaskedValues {
    /// For a model that may see what `share` says and what the analyst typed.
    pub fn of<'a>(share: Share, typed: impl Iterator<Item = &'a str>) -> Self {
        let typed = (share == Share::Schema).then(|| typed.map(words).collect::<Vec<_>>().join("\n"));
        Self { typed, texts: Vec::new() }
    }

    /// A relation as JSON, with what it masks.
    pub fn relation(&mut self, relation: &Relation) -> Value {
        let mut relation = json!(relation);
        if let Some(typed) = &self.typed {
            each_text(&mut relation, &mut |text| {
                if !typed.contains(&words(text)) {
                    let known = self.texts.iter().position(|known| known == text);
                    let place = known.unwrap_or_else(|| {
                        self.texts.push(text.clone());
                        self.texts.len() - 1
                    });
                    *text = placeholder(place);
                }
            });
        }
        relation
    }

    /// A relation of an answer with the texts that its placeholders stand for.
    ///
    /// # Errors
    /// A placeholder that stands for nothing.
    pub fn unmasked(&self, relation: Relation) -> Result<Relation, Refusal> {
        if self.texts.is_empty() {
            return Ok(relation);
        }
        let mut relation = json!(relation);
        let mut unknown = None;
        each_text(&mut relation, &mut |text| match (0..self.texts.len()).find(|place| placeholder(*place) == *text) {
            Some(place) => text.clone_from(&self.texts[place]),
            None if text.starts_with("value #") => unknown = Some(text.clone()),
            None => {}
        });
        match unknown {
            Some(unknown) => Err(Refusal::new(format!("`{unknown}` stands for no value"))),
            None => serde_json::from_value(relation).map_err(|error| Refusal::new(error.to_string())),
        }
    }
}

/// Whether a relation, or one that it joins or appends, makes columns out of values: what they are called cannot be told without them.
pub(super) fn has_pivot(relation: &Relation) -> bool {
    relation.steps.iter().any(|step| matches!(step, Step::Pivot(_)) || step.others().any(has_pivot))
}

fn placeholder(place: usize) -> String {
    format!("value #{}", place + 1)
}

/// A text's words, each between spaces.
fn words(text: &str) -> String {
    format!(" {} ", lower_words(text).collect::<Vec<_>>().join(" "))
}

/// Calls `each` with the texts that rows are compared with or given: `{"value": text}`, the bounds of `between`, lists of `values`, the `text`
/// of a test. Names of columns stand under other names.
fn each_text(part: &mut Value, each: &mut impl FnMut(&mut String)) {
    match part {
        Value::Array(parts) => parts.iter_mut().for_each(|part| each_text(part, each)),
        Value::Object(parts) => {
            let (alone, has) = (parts.len() == 1, |name: &str| parts.contains_key(name));
            let (is_between, is_test) = (has("from") && has("to") && has("value"), has("test"));
            for (name, part) in parts.iter_mut() {
                match (name.as_str(), part) {
                    ("value", Value::String(text)) if alone => each(text),
                    ("from" | "to", Value::String(text)) if is_between => each(text),
                    ("text", Value::String(text)) if is_test => each(text),
                    ("values", Value::Array(texts)) => texts.iter_mut().for_each(|text| match text {
                        Value::String(text) => each(text),
                        other => each_text(other, each),
                    }),
                    (_, part) => each_text(part, each),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_nobody_typed_come_back_from_an_answer_as_they_were() {
        let relation: Relation = serde_json::from_value(json!({"source": {"table": "t"}, "steps": [
            {"filter": {"all": [
                {"compare": {"left": {"column": "sex"}, "comparison": "equal", "right": {"value": "F"}}},
                {"one_of": {"value": {"column": "land"}, "values": ["South Korea", "PRK"]}},
                {"between": {"value": {"column": "day"}, "from": "2020-03-14", "to": "Secret"}},
                {"text": {"value": {"column": "name"}, "test": "contains", "text": "Ahab"}},
            ]}},
            {"unpivot": {"columns": ["a"], "name": "what", "value": "much"}},
        ]}))
        .unwrap();
        let mut masked = MaskedValues::of(Share::Schema, ["the women of south korea", "since 2020-03-14"].into_iter());
        let shown = masked.relation(&relation);
        let text = shown.to_string();
        for hidden in ["\"F\"", "PRK", "Secret", "Ahab"] {
            assert!(!text.contains(hidden), "{hidden} in {text}");
        }
        assert!(text.contains("South Korea") && text.contains("2020-03-14") && text.contains("\"much\""));
        let answered: Relation = serde_json::from_value(shown).unwrap();
        assert_eq!(masked.unmasked(answered).unwrap(), relation);
        let mut open = MaskedValues::of(Share::Values, std::iter::empty());
        assert_eq!(open.relation(&relation), json!(relation));
    }

    #[test]
    fn columns_made_of_values_are_found_in_joined_and_appended_tables_too() {
        let with = |steps: Value| json!({"source": {"table": "t"}, "steps": steps});
        let has = |relation: Value| has_pivot(&serde_json::from_value(relation).unwrap());
        let pivot = json!([{"pivot": {"column": "sex", "measure": {"function": "count"}}}]);
        let on = json!([{"left": "region", "right": "region"}]);
        let joined = |steps| json!([{"join": {"with": with(steps), "on": on}}]);
        let appended = |steps| json!([{"union": {"others": [{"with": with(json!([]))}, {"with": with(steps)}]}}]);
        assert!(has(with(pivot.clone())) && has(with(joined(pivot.clone()))) && has(with(appended(pivot.clone()))));
        assert!(has(with(joined(appended(pivot)))));
        assert!(!has(with(joined(json!([])))) && !has(with(appended(json!([])))));
    }
}
