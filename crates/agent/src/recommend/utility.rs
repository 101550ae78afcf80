//! AIDEN's Eq. 4 (Taha, 2026) over pairs of table and operation.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fit::{is_group, is_measure};
use super::{IntentionFit, Utility};
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Label, OperationKind, Ranked};
use lakeward_core::text::NameParts;
use lakeward_search::weights::TurnWeights;
use lakeward_search::{Candidate, JoinAnswer, RankingWeights, Relevance};

/// Which form of Eq. 3 enters the utility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FitForm {
    /// The mean of the grades, explicit constraints included.
    #[default]
    Graded,
    /// The paper's: the share of three checks that are met.
    Paper,
}

/// α, β and γ of Eq. 4; they are used as shares of their sum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UtilityWeights {
    /// α, of relevance.
    pub alpha: f64,
    /// β, of the intention's specification.
    pub beta: f64,
    /// γ, of the operation.
    pub gamma: f64,
    /// Which form of Eq. 3.
    pub fit: FitForm,
}

impl UtilityWeights {
    /// Those of a file of weights.
    ///
    /// # Errors
    /// [`Error::Usage`] where one is missing, unknown or below 0.
    pub fn of(weights: &RankingWeights) -> Result<Self> {
        /// As [`UtilityWeights`], whole.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Whole {
            alpha: f64,
            beta: f64,
            gamma: f64,
            fit: FitForm,
        }
        let wrong = |what: String| Error::usage(format!("weights of the utility: {what}"));
        let Whole { alpha, beta, gamma, fit } =
            Whole::deserialize(Value::Object(weights.utility.clone())).map_err(|error| wrong(error.to_string()))?;
        match [alpha, beta, gamma].into_iter().find(|weight| !weight.is_finite() || *weight < 0.0) {
            Some(weight) => Err(wrong(format!("{weight} is no weight; one is a number of 0 or more"))),
            None => Ok(Self { alpha, beta, gamma, fit }),
        }
    }
}

impl Default for UtilityWeights {
    /// Those that ship: chosen on pairs of tables between which the intention decides (`tests/program/intention.rs`); on the join and
    /// union queries of LakeBench with their requests, which were not looked at, `crates/eval/tests/eval/turns.rs` measures them.
    fn default() -> Self {
        static WEIGHTS: OnceLock<UtilityWeights> = OnceLock::new();
        *WEIGHTS.get_or_init(|| {
            #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
            UtilityWeights::of(RankingWeights::shipped()).expect("the shipped weights are well-formed")
        })
    }
}

/// What a table's utility is measured against.
#[derive(Debug, Clone, Copy)]
pub struct Purpose<'a> {
    /// The operation signal.
    pub asked: &'a Ranked<OperationKind>,
    /// Columns that were asked for and that the working table does not have.
    pub to_add: &'a [String],
    /// Whether there is a working table.
    pub has_working: bool,
    /// Whether the request was put with that table at hand; else it may speak of another subject.
    pub with_table: bool,
    /// Whether the analyst accepted the table: half of what speaks for an operation with it.
    pub accepted: bool,
    /// What decides the order, beside α, β and γ.
    pub weights: &'a RankingWeights,
}

/// U(T, O) of every operation that works on a table, greatest first.
pub fn utilities(
    candidate: &Candidate,
    fit: &IntentionFit,
    purpose: &Purpose<'_>,
    weights: &UtilityWeights,
) -> Vec<(OperationKind, Utility)> {
    let intention = match weights.fit {
        FitForm::Graded => fit.graded,
        FitForm::Paper => fit.paper,
    };
    let sum = (weights.alpha + weights.beta + weights.gamma).max(f64::MIN_POSITIVE);
    let on_tables = OperationKind::ALL.iter().copied().filter(|kind| kind.needs_table());
    let mut utilities: Vec<(OperationKind, Utility)> = on_tables
        .map(|kind| {
            let relevance = relevance_for(kind, candidate, purpose);
            let apt =
                purpose.asked.probability(kind) * feasibility(kind, candidate, purpose.has_working, purpose.weights);
            let operation = if purpose.accepted { (1.0 + apt) / 2.0 } else { apt };
            let total = (weights.alpha * relevance + weights.beta * intention + weights.gamma * operation) / sum;
            (kind, Utility { relevance, intention, operation, total })
        })
        .collect();
    // Of equals, those that combine tables come first.
    utilities.sort_by(|a, b| b.1.total.total_cmp(&a.1.total).then(b.0.combines().cmp(&a.0.combines())));
    utilities
}

/// Rel(T, q) as a table to join with: by what the searches found or by the columns asked for that it would bring; each makes
/// it relevant alone.
fn relevance_to_join(candidate: &Candidate, to_add: &[String], weights: &RankingWeights) -> f64 {
    let by_columns = weights.turn.brings_columns * brings(candidate, to_add, weights);
    1.0 - (1.0 - candidate.relevance.to_join) * (1.0 - by_columns)
}

/// Rel(T, q) for an operation.
fn relevance_for(kind: OperationKind, candidate: &Candidate, purpose: &Purpose<'_>) -> f64 {
    let Relevance { otherwise, by_words, .. } = candidate.relevance;
    let TurnWeights { words_with_table, words_later, .. } = purpose.weights.turn;
    let with_table = match kind {
        OperationKind::Join => relevance_to_join(candidate, purpose.to_add, purpose.weights),
        OperationKind::Union => otherwise,
        OperationKind::Filter | OperationKind::Aggregate | OperationKind::Clarify => {
            otherwise.max(words_with_table * by_words)
        }
    };
    if purpose.has_working && !purpose.with_table {
        words_later * by_words + (1.0 - words_later) * with_table
    } else {
        with_table
    }
}

/// The share of the columns asked for that a join with the table would add, 0..=1; 0 where no key is shared well enough.
fn brings(candidate: &Candidate, to_add: &[String], weights: &RankingWeights) -> f64 {
    let is_enough = |join: &&JoinAnswer| join.containment >= weights.fit.least_containment;
    let Some(join) = candidate.join.as_ref().filter(is_enough) else { return 0.0 };
    if to_add.is_empty() || join.weakness.is_some() {
        return 0.0;
    }
    let adds: Vec<NameParts> = join.adds.iter().map(|added| NameParts::of(added)).collect();
    let best = |name: &String| {
        let name = NameParts::of(name);
        adds.iter().map(|added| name.likeness(added)).fold(0.0, f64::max)
    };
    let found = to_add.iter().map(best).filter(|likeness| *likeness >= weights.fit.same_name);
    found.sum::<f64>() / to_add.len() as f64
}

/// How well a table serves as the other part of a join or union, for choosing one: a table that adds no column to a join is
/// none to join with, one with the columns asked for is.
pub fn as_operand(kind: OperationKind, candidate: &Candidate, to_add: &[String], weights: &RankingWeights) -> f64 {
    let least = weights.turn.no_new_columns;
    let columns = candidate.dataset.columns().len().max(1);
    let aligned = candidate.union.as_ref().map_or(0, |union| union.alignment.len());
    let news = (columns - aligned.min(columns)) as f64 / columns as f64;
    match kind {
        OperationKind::Join => relevance_to_join(candidate, to_add, weights) * (least + (1.0 - least) * news),
        OperationKind::Filter | OperationKind::Union | OperationKind::Aggregate | OperationKind::Clarify => {
            candidate.relevance.otherwise * feasibility(kind, candidate, true, weights)
        }
    }
}

/// How well an operation can be done with a table, 0..=1, whoever asks for it.
fn feasibility(kind: OperationKind, candidate: &Candidate, has_working: bool, weights: &RankingWeights) -> f64 {
    let weights = &weights.feasibility;
    // Nothing can be done with a record: its data is elsewhere.
    let Some(table) = candidate.dataset.table() else { return 0.0 };
    let columns = &table.profile.columns;
    match kind {
        OperationKind::Join if has_working => candidate.join.as_ref().map_or(0.0, |join| join.score),
        OperationKind::Union if has_working => candidate.union.as_ref().map_or(0.0, |union| union.score),
        // With nothing to combine it with, a table is a first part.
        OperationKind::Join | OperationKind::Union => weights.first_part,
        OperationKind::Filter => weights.filter,
        OperationKind::Aggregate => {
            let has = [columns.iter().any(is_group), columns.iter().any(is_measure)];
            weights.aggregate + has.map(|has| weights.aggregate_columns * f64::from(u8::from(has))).iter().sum::<f64>()
        }
        OperationKind::Clarify => 0.0,
    }
}
