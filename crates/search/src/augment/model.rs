//! Questions that a language model makes of a table's record, each checked against that record.
//!
//! A model may put into words what the rules cannot; it must not add facts. So every number, year and name in a question has to
//! stand in the record that the model was given, or the question is dropped; where fewer than five are left, the rules fill up.

use serde::Deserialize;
use serde_json::{Value, json};

use super::facts::{Facts, tidy};
use super::grounding::{Ground, likeness};
use super::make::{MadeQuestions, QuestionMaker};
use super::phrases::words_of;
use super::rules::{self, LONGEST_QUESTION_CHARS};
use super::{FactKind, LEAST_QUESTIONS, MOST_QUESTIONS};
use crate::cite::without_identifiers;
use lakeward_core::store::BlobCache;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::{
    AnswerShape, Chat, LanguageModel, Limits, PromptUse, Prompts, Refusal, RunBudget, RunLimits,
};

/// Characters of the description that a model is given.
const DESCRIPTION_CHARS: usize = 600;
/// Tags that it is given.
const MOST_TAGS: usize = 10;
/// Tokens of an answer.
const ANSWER_TOKENS: u32 = 700;
/// Questions more alike than this are one.
const TOO_ALIKE: f64 = 0.9;
/// A question of fewer words is none.
const LEAST_WORDS: usize = 4;

/// A language model as a maker of questions.
pub struct QuestionModel<'a> {
    chat: &'a dyn Chat,
    prompts: &'a Prompts,
    cache: Option<&'a BlobCache>,
    share: Share,
    /// What one table may cost.
    limits: Limits,
    budget: RunBudget,
}

impl<'a> QuestionModel<'a> {
    /// `chat`, which may see what `share` says, asked with `prompts`: within `limits` for each table and within `run_limits` for all of them;
    /// answers are taken from and kept in `cache`, where there is one.
    pub fn new(
        (chat, share): (&'a dyn Chat, Share),
        prompts: &'a Prompts,
        limits: Limits,
        run_limits: RunLimits,
        cache: Option<&'a BlobCache>,
    ) -> Self {
        Self { chat, prompts, cache, share, limits, budget: RunBudget::new(run_limits) }
    }
}

impl QuestionMaker for QuestionModel<'_> {
    fn generator(&self) -> String {
        format!("{} {}", self.chat.id(), self.prompts.of(PromptUse::PseudoQueries).id())
    }

    fn questions(&self, facts: &Facts) -> Result<MadeQuestions, String> {
        self.budget.allowed()?;
        // One for each table: what fails for one is tried again for the next.
        let model = LanguageModel::new(self.chat, self.prompts, self.limits, self.cache);
        let record = record(facts, self.share);
        let ground = Ground::of_record(&record);
        let values = [("least", json!(LEAST_QUESTIONS)), ("most", json!(MOST_QUESTIONS)), ("record", record)];
        let answer = model.ask(PromptUse::PseudoQueries, &values, shape(), |reply: Reply| checked(reply, &ground));
        let answer = answer.map_err(|unanswered| unanswered.to_string());
        self.budget.settle(model.spent(), answer.as_ref().err().map(String::as_str));
        answer.map(|answer| completed(answer, facts))
    }
}

/// A table as the prompt describes it; with what stands in cells only if that may be shared.
fn record(facts: &Facts, share: Share) -> Value {
    let tells = |of_cells: bool| share == Share::Values || !of_cells;
    let columns: Vec<Value> = facts
        .columns
        .iter()
        .map(|column| {
            let mut item = json!({"name": column.name});
            if tells(true) {
                item["values"] = json!(column.values);
            }
            if let Some(unit) = &column.unit {
                item["unit"] = json!(unit);
            }
            item
        })
        .collect();
    let mut record = json!({
        "title": facts.name(),
        "description": tidy(&facts.description, DESCRIPTION_CHARS),
        "tags": facts.tags.iter().take(MOST_TAGS).collect::<Vec<_>>(),
        "publisher": facts.publisher,
        "columns": columns,
        "rows": facts.rows,
        "period": facts.period.as_ref().filter(|_| tells(facts.from_cells.period)).map(|(from, to)| if from == to { from.clone() } else { format!("{from} to {to}") }),
        "places": facts.places.iter().filter(|_| tells(facts.from_cells.places)).collect::<Vec<_>>(),
    });
    if let Some(fields) = record.as_object_mut() {
        fields.retain(|_, value| !is_nothing(value));
    }
    record
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// What the model answers.
#[derive(Debug, Deserialize)]
struct Reply {
    questions: Vec<String>,
    #[serde(default)]
    unknown: Vec<String>,
}

fn shape() -> AnswerShape {
    let facets: Vec<&str> = FactKind::ALL.map(FactKind::name).to_vec();
    let schema = json!({
        "type": "object",
        "properties": {
            "questions": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_QUESTIONS},
            "unknown": {"type": "array", "items": {"type": "string", "enum": facets}},
        },
        "required": ["questions", "unknown"],
        "additionalProperties": false,
    });
    AnswerShape { name: "pseudo_queries", schema, max_tokens: ANSWER_TOKENS }
}

/// The questions of an answer that keep to the record.
fn checked(reply: Reply, ground: &Ground) -> Result<MadeQuestions, Refusal> {
    let facet = |name: &String| FactKind::ALL.into_iter().find(|facet| facet.name().eq_ignore_ascii_case(name.trim()));
    let mut unknown = Vec::new();
    for name in &reply.unknown {
        match facet(name) {
            Some(facet) if !unknown.contains(&facet) => unknown.push(facet),
            Some(_) => {}
            None => {
                let valid = FactKind::ALL.map(|facet| facet.name().to_string()).to_vec();
                return Err(Refusal { problem: "`unknown` holds a word that is not of the list".into(), valid });
            }
        }
    }
    unknown.sort_unstable();
    let mut questions: Vec<String> = Vec::new();
    let mut dropped = 0;
    for question in reply.questions {
        let question = tidy(&question, LONGEST_QUESTION_CHARS + 1);
        let words = words_of(&question);
        if words.len() < LEAST_WORDS || question.chars().count() > LONGEST_QUESTION_CHARS {
            continue;
        }
        let names_data = without_identifiers(&question, &[], &|_| false).1 > 0;
        if names_data || !ground.unsupported(&question).is_empty() || ground.support(&question).is_empty() {
            dropped += 1;
        } else if questions.len() < MOST_QUESTIONS && !is_repeated(&questions, &question) {
            questions.push(question);
        }
    }
    if questions.is_empty() {
        return Err(Refusal::new("no question keeps to what the record says: use its words, numbers and names only"));
    }
    Ok(MadeQuestions { questions, unknown, dropped })
}

fn is_repeated(questions: &[String], question: &str) -> bool {
    questions.iter().any(|known| likeness(known, question) >= TOO_ALIKE)
}

/// With questions of the rules up to [`LEAST_QUESTIONS`], and with the facets that are no matter of opinion as they are.
fn completed(mut answer: MadeQuestions, facts: &Facts) -> MadeQuestions {
    let (by_rules, _) = rules::questions(facts);
    for question in by_rules {
        if answer.questions.len() < LEAST_QUESTIONS && !is_repeated(&answer.questions, &question) {
            answer.questions.push(question);
        }
    }
    let stated = [(FactKind::Publisher, facts.publisher.is_some()), (FactKind::Licence, facts.has_licence)];
    answer.unknown.retain(|facet| stated.iter().all(|(of, _)| of != facet));
    answer.unknown.extend(stated.into_iter().filter(|(_, is_known)| !is_known).map(|(facet, _)| facet));
    answer.unknown.sort_unstable();
    answer
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::facts::{FactColumn, FromCells};
    use super::*;
    use lakeward_lake::dataset::Dataset;
    use lakeward_lake::semantic::LogicalType;
    use lakeward_models::llm::{ChatAnswer, ChatCall, ChatFailure, FailureKind};

    /// A model that always says the same.
    struct Says(Result<&'static str, FailureKind>);

    impl Chat for Says {
        fn id(&self) -> &str {
            "test@nowhere"
        }

        fn complete(&self, _call: &ChatCall, _timeout: Duration) -> Result<ChatAnswer, ChatFailure> {
            match self.0 {
                Ok(text) => Ok(ChatAnswer { text: text.into(), usage: None }),
                Err(kind) => Err(ChatFailure::new(kind, "it is a test")),
            }
        }
    }

    const LIMITS: Limits = Limits {
        calls: 2,
        tokens: 100_000,
        time: Duration::from_secs(10),
        call_time: Duration::from_secs(5),
        money: None,
        question_price: 0.0,
        answer_price: 0.0,
    };

    fn facts() -> Facts {
        let dataset: Dataset = serde_json::from_value(json!({
            "id": "m/bids", "path": "m/bids.csv", "read_bytes": 1, "content": "0".repeat(64), "citation": "c",
            "metadata": {"title": "Bids in Maryland", "description": "Bids by month and county.", "tags": ["procurement"]},
            "report": lakeward_lake::reader::ReadReport::default(),
            "profile": {"rows": 12, "columns": [], "grain": {"kind": "instance", "evidence": []}, "keys": []}
        }))
        .unwrap();
        Facts::of(&dataset)
    }

    fn asked(chat: &Says) -> (QuestionModel<'_>, Result<MadeQuestions, String>) {
        let model = QuestionModel::new((chat, Share::Schema), Prompts::shipped(), LIMITS, RunLimits::default(), None);
        let answer = model.questions(&facts());
        (model, answer)
    }

    #[test]
    fn a_record_has_what_stands_in_cells_only_where_that_may_be_shared() {
        let column = FactColumn {
            name: "sort".into(),
            words: "sort".into(),
            unit: None,
            logical: LogicalType::Text,
            semantic: None,
            is_unique: false,
            distinct: 2,
            values: vec!["Oyster".into()],
        };
        let (period, places) = (Some(("1907".to_string(), "1908".to_string())), vec!["Skagen".to_string()]);
        let facts = Facts { columns: vec![column], period, places, ..facts() };
        let of_cells = ["Oyster", "1907", "Skagen"];
        let (told, kept) = (record(&facts, Share::Values).to_string(), record(&facts, Share::Schema).to_string());
        assert!(of_cells.iter().all(|text| told.contains(text) && !kept.contains(text)), "{told} {kept}");
        // What the publisher says of places and time is no secret of the cells.
        let stated = Facts { from_cells: FromCells::default(), ..facts };
        let kept = record(&stated, Share::Schema).to_string();
        assert!(kept.contains("Skagen") && kept.contains("1907") && !kept.contains("Oyster"), "{kept}");
    }

    #[test]
    fn what_is_not_in_the_record_is_dropped_and_the_rules_fill_up() {
        let chat = Says(Ok(
            r#"{"questions": ["Which bids were made in Maryland?", "Which bids were made in Virginia?",
            "How many bids were made in 2020?", "Bids?", "Which bids in Maryland were made?"], "unknown": ["unit", "publisher"]}"#,
        ));
        let (model, answer) = asked(&chat);
        let answer = answer.unwrap();
        assert_eq!(answer.questions[0], "Which bids were made in Maryland?");
        assert_eq!((answer.questions.len(), answer.dropped), (LEAST_QUESTIONS, 2), "{:?}", answer.questions);
        assert_eq!(answer.unknown, [FactKind::Unit, FactKind::Publisher, FactKind::Licence]);
        assert!(model.generator().starts_with("test@nowhere pseudo_queries@1#"), "{}", model.generator());
    }

    #[test]
    fn a_model_that_fails_is_not_asked_for_ever() {
        for chat in [
            Says(Err(FailureKind::Unreachable)),
            Says(Ok("no JSON")),
            Says(Ok(r#"{"questions": ["Which bids were made in Virginia?"], "unknown": []}"#)),
            Says(Ok(r#"{"questions": ["Which bids were made in Maryland?"], "unknown": ["colour"]}"#)),
        ] {
            let (model, answer) = asked(&chat);
            assert!(answer.is_err());
            for _ in 0..5 {
                assert!(model.questions(&facts()).is_err());
            }
            assert_eq!((model.budget.failures(), model.budget.allowed().is_err()), (3, true));
        }
    }
}
