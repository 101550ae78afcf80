//! A language model that decides whether a name means a dataset.

use serde::Deserialize;
use serde_json::json;

use super::resolution::{Judge, JudgeQuestion};
use super::verdicts::Decision;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse};
use lakeward_search::cite::without_identifiers;

/// Tokens of an answer.
const MOST_TOKENS: u32 = 120;
/// Bytes kept of a reason.
const REASON_BYTES: usize = 300;

/// Asks a model, within its limits.
pub struct ModelJudge<'a> {
    model: LanguageModel<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    verdict: Decision,
    reason: String,
}

impl<'a> ModelJudge<'a> {
    /// One that asks `model`.
    pub fn new(model: LanguageModel<'a>) -> Self {
        Self { model }
    }

    /// The model, for what it cost.
    pub fn model(&self) -> &LanguageModel<'a> {
        &self.model
    }
}

impl Judge for ModelJudge<'_> {
    fn id(&self) -> String {
        format!("{} {}", self.model.id(), self.model.prompt_id(PromptUse::SameDataset))
    }

    fn decide(&self, question: &JudgeQuestion<'_>) -> Option<(Decision, String)> {
        let values = [
            ("name", json!(question.name)),
            ("said", json!(question.said)),
            ("title", json!(question.title)),
            ("description", json!(question.description)),
        ];
        let shape = AnswerShape {
            name: "same_dataset",
            schema: json!({
                "type": "object",
                "properties": {
                    "verdict": {"type": "string", "enum": ["same", "different", "unsure"]},
                    "reason": {"type": "string"}
                },
                "required": ["verdict", "reason"],
                "additionalProperties": false
            }),
            max_tokens: MOST_TOKENS,
        };
        let answer =
            self.model.ask(PromptUse::SameDataset, &values, shape, |told: Reply| Ok((told.verdict, told.reason)));
        let shown = [&question.name, &question.said, &question.title, &question.description]
            .map(|text| json!(text).to_string());
        let grounds: Vec<&str> = shown.iter().map(String::as_str).collect();
        answer.ok().map(|(decision, reason)| {
            // It may name data that nobody knows; what it was shown it may repeat.
            let (reason, _) = without_identifiers(&reason, &grounds, &|_| false);
            (decision, lakeward_core::text::shown(&reason[..reason.floor_char_boundary(REASON_BYTES)], REASON_BYTES))
        })
    }
}
