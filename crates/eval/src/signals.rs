//! Signals scored: operation and intention told for every labelled request, in its conversation.

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
use lakeward_lake::reader::{ReadOptions, open_path};
use lakeward_reading::grounding::Headers;
use lakeward_reading::signals::read_conversation;

/// How often what was meant is first, and among the first two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hits {
    /// Cases.
    pub cases: u64,
    /// Share of them in which it is first, 0..=1.
    pub first: f64,
    /// Share in which it is among the first two, 0..=1.
    pub within_two: f64,
}

impl Hits {
    /// Of the places, from 0, at which what was meant stands; none without a case.
    pub fn of(places: &[usize]) -> Option<Self> {
        let share = |below: usize| places.iter().filter(|place| **place < below).count() as f64 / places.len() as f64;
        (!places.is_empty()).then(|| Self { cases: places.len() as u64, first: share(1), within_two: share(2) })
    }
}

/// How well the signals of one group of requests are told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalScores {
    /// The group: a label set.
    pub group: String,
    /// Labelled turns.
    pub turns: u64,
    /// Requests that the agent failed on; what they ask for counts as not found among the next operations.
    pub failed: u64,
    /// The operation.
    pub operation: LabelScores,
    /// The intention.
    pub intention: LabelScores,
    /// The operation in the order of the reader's probabilities.
    pub operation_hits: Hits,
    /// The next operation as the agent recommends it, with the lake and the table at hand; first turns only, since what the
    /// user chose of earlier answers is not known. Absent without a lake.
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

/// Reads the signals of every labelled request of `benchmark`, and scores them by group. `index` is the lake that the agent
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
    let scores = groups.into_iter().filter_map(|(group, told)| {
        Some(SignalScores {
            group,
            turns: told.operations.len() as u64,
            failed: told.failed,
            operation: LabelScores::of(&told.operations)?,
            intention: LabelScores::of(&told.intentions)?,
            operation_hits: Hits::of(&told.places)?,
            next_operation: Hits::of(&told.next),
        })
    });
    Ok(scores.collect())
}

fn take(labelled: &LabelledQuery, index: Option<&LakeIndexOf<'_>>, told: &mut Predicted) -> Result<()> {
    let query = &labelled.query;
    let texts: Vec<&str> = match query.turns.is_empty() {
        true => query.text.iter().map(String::as_str).collect(),
        false => query.turns.iter().map(String::as_str).collect(),
    };
    // A request is read without its table where that cannot be read.
    let names = query.table.as_ref().and_then(|path| {
        let options = ReadOptions { max_rows: Some(1), ..ReadOptions::default() };
        let reader = open_path(path, &options).ok()?;
        Some(reader.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>())
    });
    let headers = Headers::new(names.unwrap_or_default());
    let read = read_conversation(&texts, ConversationConfig::default().window, &headers);
    for (signals, labels) in read.iter().zip(&labelled.signals) {
        let Some(labels) = labels else { continue };
        told.operations.push((labels.operation, signals.operation.label));
        told.intentions.push((labels.intention, signals.intention.label));
        let place = signals.operation.all.iter().position(|(label, _)| *label == labels.operation);
        told.places.push(place.unwrap_or(usize::MAX));
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
                told.failed += 1;
                None
            }
        };
        told.next.push(place.unwrap_or(usize::MAX));
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
