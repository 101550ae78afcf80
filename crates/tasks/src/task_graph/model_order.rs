//! Reranking of datasets for a task by a language model, from their descriptions; never from rows of data.

use serde_json::{Value, json};

use super::TaskAnswer;
use lakeward_models::llm::listwise::{Entry, Listed, Order};
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{LanguageModel, PromptUse, Unanswered};

/// Characters of the task, of a title and of a name.
const TASK: usize = 1_500;
const TITLE: usize = 120;
/// Bytes of all candidates: asked twice, in part, it stays below 4,000 tokens.
const BYTES: usize = 6_000;
/// Characters of a description, a task and a sentence, from most to least.
const SIZES: [usize; 4] = [300, 200, 120, 60];

/// Asks the model to order the first of `answers`, which are in computed order, for `task`.
///
/// # Errors
/// As [`Listed::order`].
pub fn model_order(model: &LanguageModel<'_>, task: &str, answers: &[TaskAnswer]) -> Result<Order, Unanswered> {
    let described = |listed: &[Entry<'_>]| {
        let cards = |chars: usize| -> Value {
            listed.iter().map(|(id, place)| card(id, &answers[*place], chars)).collect::<Vec<Value>>().into()
        };
        let fits =
            SIZES.into_iter().map(cards).find(|cards| cards.to_string().len() <= BYTES * listed.len() / answers.len());
        fits.unwrap_or_else(|| cards(SIZES[SIZES.len() - 1]))
    };
    let values = [("task", json!(clean(task, TASK)))];
    Listed::of(task, answers.len()).order(model, PromptUse::RerankDatasets, &values, &described)
}

fn card(id: &str, answer: &TaskAnswer, chars: usize) -> Value {
    let mut card = json!({
        "id": id,
        "title": clean(&answer.title, TITLE),
        "description": clean(&answer.description, chars),
    });
    if let Some(path) = &answer.path {
        let mut use_case = json!({"task": clean(&path.task, chars)});
        if !path.task_name.is_empty() {
            use_case["name"] = json!(clean(&path.task_name, TITLE));
        }
        if let Some(sentence) = &path.sentence {
            use_case["sentence"] = json!(clean(sentence, chars));
        }
        if let Some(similar) = &path.similar_to {
            use_case["only_like"] = json!(clean(similar, TITLE));
        }
        card["served"] = use_case;
    }
    card
}
