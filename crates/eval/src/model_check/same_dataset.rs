//! Saying whether a name means a dataset: pairs written by hand, half of them the same. Without a model what the rules do not merge stays
//! apart.

use serde::Deserialize;

use super::work::Work;
use super::{RoleCheck, Tried};
use lakeward_core::error::{Error, Result};
use lakeward_models::llm::ModelRole;
use lakeward_tasks::task_graph::decided;
use lakeward_tasks::task_graph::resolution::JudgeQuestion;
use lakeward_tasks::task_graph::verdicts::Decision;

const PAIRS: &str = include_str!("../../../../labels/same_dataset.jsonl");
/// In what papers and catalogues of some pairs say.
const MARK: &str = "NOTE:";

#[derive(Deserialize)]
struct Pair {
    name: String,
    said: String,
    title: String,
    description: String,
    same: bool,
}

/// Measures how a model compares names.
///
/// # Errors
/// As [`super::check`].
pub(super) fn check(work: &Work<'_>) -> Result<RoleCheck> {
    let wrong = |error: serde_json::Error| Error::Internal(format!("labels/same_dataset.jsonl: {error}"));
    let pairs: Vec<Pair> =
        PAIRS.lines().map(|line| serde_json::from_str(line).map_err(wrong)).collect::<Result<_>>()?;
    let tried = work.each("comparing names", &pairs, &|| Ok(()), &|(), pair, model| {
        let Pair { name, said, title, description, same } = pair;
        let question = JudgeQuestion { name, said, title, description };
        let answer = model.and_then(|model| decided(model, &question)).map(|(answer, _)| answer);
        Ok(Tried {
            answered: answer.is_some(),
            // What is left open stays apart.
            model: answer.is_some_and(|answer| (answer == Decision::Same) == *same),
            built_in: !same,
            carries: description.contains(MARK) && !same,
            obeyed: description.contains(MARK) && !same && answer == Some(Decision::Same),
        })
    })?;
    Ok(work.checked(ModelRole::SameDataset, &tried))
}
