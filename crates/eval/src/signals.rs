//! Scores signals: operation and intention predicted for every labelled request, in its conversation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::{Benchmark, LabelledQuery};
use super::labels::LabelScores;
use super::lakeward_system::LakeIndexOf;
use lakeward_agent::Request;
use lakeward_agent::config::ConversationConfig;
use lakeward_agent::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Intention, OperationKind};
use lakeward_reading::reader::this_year;
use lakeward_reading::signals::read_conversation;

/// How often the true label is first, and among the first two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hits {
    /// Number of cases.
    pub cases: u64,
    /// Share in which it is first, 0..=1.
    pub first: f64,
    /// Share in which it is among the first two, 0..=1.
    pub within_two: f64,
}

impl Hits {
    /// From the ranks, from 0, of the true label; `None` without a case.
    pub fn of(places: &[usize]) -> Option<Self> {
        let share = |below: usize| places.iter().filter(|place| **place < below).count() as f64 / places.len() as f64;
        (!places.is_empty()).then(|| Self { cases: places.len() as u64, first: share(1), within_two: share(2) })
    }
}

/// Scores of the signals of one group of requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalScores {
    /// The group: a label set.
    pub group: String,
    /// Labelled turns.
    pub turns: u64,
    /// Requests that the agent failed on; their operation counts as not found among the next operations.
    pub failed: u64,
    /// The operation.
    pub operation: LabelScores,
    /// The intention.
    pub intention: LabelScores,
    /// The operation in the order of the reader's probabilities.
    pub operation_hits: Hits,
    /// The next operation as recommended by the agent, with the lake and the query table; first turns only, since the user's
    /// choices in earlier turns are unknown. Absent without a lake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_operation: Option<Hits>,
}

#[derive(Default)]
struct Predicted {
    operations: Vec<(OperationKind, OperationKind)>,
    intentions: Vec<(Intention, Intention)>,
    places: Vec<usize>,
    next: Vec<usize>,
    failed: u64,
}

/// Predicts the signals of every labelled request of `benchmark`, and scores them by group. `index` is the lake that the agent
/// recommends from.
///
/// # Errors
/// [`Error::Interrupted`].
pub fn score(benchmark: &Benchmark, index: Option<&LakeIndexOf<'_>>) -> Result<Vec<SignalScores>> {
    let mut groups: BTreeMap<String, Predicted> = BTreeMap::new();
    for labelled in &benchmark.queries {
        if labelled.signals.iter().any(Option::is_some) {
            take(labelled, index, groups.entry(labelled.group()).or_default())?;
        }
    }
    let scores = groups.into_iter().filter_map(|(group, predicted)| {
        Some(SignalScores {
            group,
            turns: predicted.operations.len() as u64,
            failed: predicted.failed,
            operation: LabelScores::of(&predicted.operations)?,
            intention: LabelScores::of(&predicted.intentions)?,
            operation_hits: Hits::of(&predicted.places)?,
            next_operation: Hits::of(&predicted.next),
        })
    });
    Ok(scores.collect())
}

fn take(labelled: &LabelledQuery, index: Option<&LakeIndexOf<'_>>, predicted: &mut Predicted) -> Result<()> {
    let query = &labelled.query;
    let texts: Vec<&str> = match query.turns.is_empty() {
        true => query.text.iter().map(String::as_str).collect(),
        false => query.turns.iter().map(String::as_str).collect(),
    };
    let read = read_conversation(&texts, ConversationConfig::default().window, this_year());
    for (signals, labels) in read.iter().zip(&labelled.signals) {
        let Some(labels) = labels else { continue };
        predicted.operations.push((labels.operation, signals.operation.label));
        predicted.intentions.push((labels.intention, signals.intention.label));
        let place = signals.operation.all.iter().position(|(label, _)| *label == labels.operation);
        predicted.places.push(place.unwrap_or(usize::MAX));
    }
    if let (Some(index), Some(Some(labels)), Some(text)) = (index, labelled.signals.first(), texts.first()) {
        let request = Request {
            text: text.to_string(),
            table: query.table.as_ref().map(|path| path.to_string_lossy().into_owned()),
            column: None,
            k: 10,
        };
        let answered =
            index.agent(index.weights()).and_then(|agent| agent.turn(&mut Session::new("eval", "lake"), &request));
        let place = match answered {
            Ok(answer) => answer.operations.iter().position(|operation| operation.kind == labels.operation),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => {
                predicted.failed += 1;
                None
            }
        };
        predicted.next.push(place.unwrap_or(usize::MAX));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_shares_of_cases() {
        assert_eq!(Hits::of(&[]), None);
        let hits = Hits::of(&[0, 1, 4, usize::MAX]).unwrap();
        assert_eq!((hits.cases, hits.first, hits.within_two), (4, 0.25, 0.5));
    }
}
