//! A language model that decides whether a name means a dataset.

use serde::Deserialize;
use serde_json::json;

use super::resolution::{Judge, JudgeQuestion};
use super::verdicts::Decision;
use lakeward_models::llm::{AnswerShape, LanguageModel, PromptUse};
use lakeward_search::cite::without_identifiers;

/// Maximum number of tokens of an answer.
const MAX_TOKENS: u32 = 120;
/// Bytes of a reason that are stored.
const REASON_BYTES: usize = 300;

/// Asks a language model, within its budget.
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
    /// A judge that asks `model`.
    pub fn new(model: LanguageModel<'a>) -> Self {
        Self { model }
    }

    /// The model, to read its usage.
    pub fn model(&self) -> &LanguageModel<'a> {
        &self.model
    }
}

impl Judge for ModelJudge<'_> {
    fn id(&self) -> String {
        format!("{} {}", self.model.id(), self.model.prompt_id(PromptUse::SameDataset))
    }

    fn decide(&self, question: &JudgeQuestion<'_>) -> Option<(Decision, String)> {
        decided(&self.model, question)
    }
}

/// What a model decides, and why; `None` without a valid answer.
pub fn decided(model: &LanguageModel<'_>, question: &JudgeQuestion<'_>) -> Option<(Decision, String)> {
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
        max_tokens: MAX_TOKENS,
    };
    let answer = model.ask(PromptUse::SameDataset, &values, shape, |reply: Reply| Ok((reply.verdict, reply.reason)));
    let shown =
        [&question.name, &question.said, &question.title, &question.description].map(|text| json!(text).to_string());
    let grounds: Vec<&str> = shown.iter().map(String::as_str).collect();
    answer.ok().map(|(decision, reason)| {
        // The model may invent identifiers, which are removed; it may repeat those of its prompt.
        let (reason, _) = without_identifiers(&reason, &grounds, &|_| false);
        (decision, lakeward_core::text::shown(&reason[..reason.floor_char_boundary(REASON_BYTES)], REASON_BYTES))
    })
}
