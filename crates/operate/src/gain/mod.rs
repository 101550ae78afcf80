//! Whether columns help a model: the same small models with and without them, on rows that they have not seen.
//!
//! Two models: a linear one (ridge regression) and a small tree; what is answered is the better of the two. Labels are predicted by
//! one linear score each, and by a tree. The interval of the gain is that of Nadeau and Bengio (Machine Learning 2003): the folds train on the
//! same rows, so their variance is counted once more for the rows tested. This is evidence for a choice of columns, not a product: no
//! parameter is tuned.

mod model;
mod table;

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::model::Kind;
use self::table::ModelTable;
use crate::context::LakeContext;
use lakeward_core::error::{Error, Result};
use lakeward_core::message::Message;
use lakeward_core::plan::Plan;

/// Folds of a cross-validation.
const FOLDS: usize = 5;
/// Student's t for 95%, two-sided, with four degrees of freedom.
const STUDENT: f64 = 2.776;
/// Fewer rows with a target are not worth a model.
const LEAST_ROWS: usize = 40;

/// Which rows are tested together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Any rows.
    Random,
    /// All rows that have the same value in this column: none of them is learned from.
    Grouped(String),
    /// Rows in the order of this column: what is tested comes after what is learned from.
    Ordered(String),
}

/// What a model is to predict, and from what.
#[derive(Debug, Clone)]
pub struct GainOptions {
    /// The column to be predicted.
    pub target: String,
    /// Columns that the model has anyway.
    pub given: Vec<String>,
    /// Columns that are tried.
    pub added: Vec<String>,
    /// Which rows are tested together.
    pub split: Split,
    /// Most rows; of more, every so many are used. 5,000 by default.
    pub max_rows: usize,
    /// No further model is fitted after this time.
    pub within: Duration,
}

impl GainOptions {
    /// Options with the defaults.
    pub fn new(target: String, given: Vec<String>, added: Vec<String>, split: Split) -> Self {
        Self { target, given, added, split, max_rows: 5_000, within: Duration::from_secs(10) }
    }
}

/// What columns add to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// What the figures are: `R²`, or `accuracy` for labels.
    pub figure: String,
    /// The model: `linear` or `tree`.
    pub model: String,
    /// The mean over the folds without the columns. R² is 0 for a guess of the mean, and below 0 for worse.
    pub without: f64,
    /// The mean over the folds with them.
    pub with: f64,
    /// The difference of the two.
    pub gain: f64,
    /// Lower end of the 95% interval of the difference.
    pub low: f64,
    /// Upper end of the 95% interval of the difference.
    pub high: f64,
    /// Number of folds.
    pub folds: usize,
    /// Rows used.
    pub rows: usize,
    /// Which rows were tested together.
    pub split: Split,
    /// Time it took, in milliseconds.
    pub elapsed_ms: f64,
}

impl Gain {
    /// Whether the columns help beyond chance.
    pub fn helps(&self) -> bool {
        self.low > 0.0
    }
}

impl std::fmt::Display for Gain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { figure, model, without, with, gain, low, high, folds, .. } = self;
        let split = match &self.split {
            Split::Random => String::new(),
            Split::Grouped(column) => format!(", split by `{column}`"),
            Split::Ordered(column) => format!(", in order of `{column}`"),
        };
        let verb = if *gain < 0.0 { "takes" } else { "adds" };
        write!(f, "{verb} {:.2} {figure} [{low:.2}, {high:.2}] over {folds} folds", gain.abs())?;
        write!(f, " ({model}: {without:.2} without, {with:.2} with{split})")
    }
}

/// What `options.added` adds to a model of the rows of `plan`.
///
/// # Errors
/// Those of [`LakeContext::query`]; [`Error::Usage`] if there are too few rows or groups to test, or the target has one value.
pub fn feature_gain(context: &LakeContext, plan: &Plan, options: &GainOptions) -> Result<Gain> {
    let started = Instant::now();
    let table = ModelTable::read(context, plan, options)?;
    if table.rows() < LEAST_ROWS {
        return Err(Error::usage(format!("{} rows with `{}`: too few to test a model", table.rows(), options.target)));
    }
    let folds = folds(&table)?;
    let mut best: Option<(Kind, Vec<f64>, Vec<f64>)> = None;
    let mut failed = Message::default();
    for kind in [Kind::Linear, Kind::Tree] {
        if best.is_some() && started.elapsed() * 2 > options.within {
            break;
        }
        let (without, with) = match scores(&table, kind, options, &folds) {
            Ok(scores) => scores,
            // The other model may need fewer rows.
            Err(Error::Usage(reason)) => {
                failed = reason;
                continue;
            }
            Err(error) => return Err(error),
        };
        if best.as_ref().is_none_or(|(_, _, known)| mean(&with) > mean(known)) {
            best = Some((kind, without, with));
        }
    }
    let (kind, without, with) = best.ok_or(Error::usage(failed))?;
    let gains: Vec<f64> = with.iter().zip(&without).map(|(with, without)| with - without).collect();
    let gain = mean(&gains);
    let count = gains.len() as f64;
    let variance = gains.iter().map(|fold| (fold - gain).powi(2)).sum::<f64>() / (count - 1.0);
    let (train, test) = &folds[folds.len() - 1];
    let error = STUDENT * (variance * (1.0 / count + test.len() as f64 / train.len() as f64)).sqrt();
    Ok(Gain {
        figure: if table.labels() > 0 { "accuracy" } else { "R²" }.into(),
        model: kind.name().into(),
        without: mean(&without),
        with: mean(&with),
        gain,
        low: gain - error,
        high: gain + error,
        folds: gains.len(),
        rows: table.rows(),
        split: options.split.clone(),
        elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
    })
}

/// How good a model is in each fold, without the columns and with them.
fn scores(table: &ModelTable, kind: Kind, options: &GainOptions, folds: &[Fold]) -> Result<(Vec<f64>, Vec<f64>)> {
    let given = options.given.len();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for (train, test) in folds {
        without.push(model::score(table, kind, given, train, test)?);
        with.push(model::score(table, kind, given + options.added.len(), train, test)?);
    }
    Ok((without, with))
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len().max(1) as f64
}

/// The rows to learn from, and those to test.
type Fold = (Vec<usize>, Vec<usize>);

/// The rows to learn from and those to test, [`FOLDS`] times. Ordered rows make one block more, as nothing comes before the first.
fn folds(table: &ModelTable) -> Result<Vec<Fold>> {
    let all = table.rows();
    let mut folds = Vec::with_capacity(FOLDS);
    if let Some(order) = &table.order {
        let mut rows: Vec<usize> = (0..all).collect();
        rows.sort_by(|a, b| order[*a].total_cmp(&order[*b]).then(a.cmp(b)));
        let bound = |block: usize| {
            // Rows of one time stay together.
            let mut bound = block * all / (FOLDS + 1);
            while bound > 0 && bound < all && order[rows[bound]] == order[rows[bound - 1]] {
                bound += 1;
            }
            bound
        };
        for block in 1..=FOLDS {
            folds.push((rows[..bound(block)].to_vec(), rows[bound(block)..bound(block + 1)].to_vec()));
        }
    } else {
        for fold in 0..FOLDS as u64 {
            let (test, train) = (0..all).partition(|row| table.groups[*row] % FOLDS as u64 == fold);
            folds.push((train, test));
        }
    }
    if folds.iter().any(|(train, test)| train.len() < 10 || test.is_empty()) {
        return Err(Error::usage("too few groups or times to test a model on those it has not seen"));
    }
    Ok(folds)
}
