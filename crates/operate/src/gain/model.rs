//! The two models, and how good their predictions are.

use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::ridge_regression::{RidgeRegression, RidgeRegressionParameters, RidgeRegressionSolverName};
use smartcore::tree::decision_tree_classifier::{DecisionTreeClassifier, DecisionTreeClassifierParameters};
use smartcore::tree::decision_tree_regressor::{DecisionTreeRegressor, DecisionTreeRegressorParameters};

use super::table::ModelTable;
use lakeward_core::error::{Error, Result};

/// Depth of a tree, and rows of a leaf at least.
const DEPTH: u16 = 4;
const LEAF_ROWS: usize = 5;
/// Penalty of the linear model, on columns of standard deviation 1.
const PENALTY: f64 = 1.0;

/// A model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Linear,
    Tree,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Tree => "tree",
        }
    }
}

/// How good a model on the first `columns` columns is that learns from `train`, on `test`: R² against the mean of `train`, or the share of
/// labels that are right.
pub(super) fn score(table: &ModelTable, kind: Kind, columns: usize, train: &[usize], test: &[usize]) -> Result<f64> {
    let (x, x_test) = (table.matrix(columns, train, train), table.matrix(columns, train, test));
    let y: Vec<f64> = train.iter().map(|row| table.target[*row]).collect();
    let expected: Vec<f64> = test.iter().map(|row| table.target[*row]).collect();
    if table.labels() == 0 {
        let guess = y.iter().sum::<f64>() / y.len() as f64;
        let found = numbers(kind, columns, &x, &y, &x_test, guess)?;
        let squares = |found: &dyn Fn(usize) -> f64| -> f64 {
            expected.iter().enumerate().map(|(row, expected)| (expected - found(row)).powi(2)).sum()
        };
        let worst = squares(&|_| guess);
        return Ok(if worst > 0.0 { 1.0 - squares(&|row| found[row]) / worst } else { 0.0 });
    }
    let found = labels(kind, table.labels(), columns, &x, &y, &x_test)?;
    let right = found.iter().zip(&expected).filter(|(found, expected)| found == expected).count();
    Ok(right as f64 / expected.len() as f64)
}

fn failed(error: smartcore::error::Failed) -> Error {
    Error::usage(format!("no model could be fitted: {error}"))
}

fn matrix(rows: &Vec<Vec<f64>>) -> Result<DenseMatrix<f64>> {
    DenseMatrix::from_2d_vec(rows).map_err(failed)
}

fn numbers(
    kind: Kind,
    columns: usize,
    x: &Vec<Vec<f64>>,
    y: &Vec<f64>,
    x_test: &Vec<Vec<f64>>,
    guess: f64,
) -> Result<Vec<f64>> {
    if columns == 0 {
        return Ok(vec![guess; x_test.len()]);
    }
    let (x, x_test) = (matrix(x)?, matrix(x_test)?);
    match kind {
        Kind::Linear => {
            let parameters = RidgeRegressionParameters {
                solver: RidgeRegressionSolverName::Cholesky,
                alpha: PENALTY,
                normalize: false,
            };
            let centred: Vec<f64> = y.iter().map(|value| value - guess).collect();
            let model = RidgeRegression::fit(&x, &centred, parameters).map_err(failed)?;
            let found: Vec<f64> = model.predict(&x_test).map_err(failed)?;
            Ok(found.into_iter().map(|value| value + guess).collect())
        }
        Kind::Tree => {
            let parameters = DecisionTreeRegressorParameters {
                max_depth: Some(DEPTH),
                min_samples_leaf: LEAF_ROWS,
                min_samples_split: 2 * LEAF_ROWS,
                seed: Some(0),
            };
            let model = DecisionTreeRegressor::fit(&x, y, parameters).map_err(failed)?;
            model.predict(&x_test).map_err(failed)
        }
    }
}

fn labels(
    kind: Kind,
    labels: usize,
    columns: usize,
    x: &Vec<Vec<f64>>,
    y: &[f64],
    x_test: &Vec<Vec<f64>>,
) -> Result<Vec<f64>> {
    if kind == Kind::Tree && columns > 0 {
        let parameters = DecisionTreeClassifierParameters {
            max_depth: Some(DEPTH),
            min_samples_leaf: LEAF_ROWS,
            min_samples_split: 2 * LEAF_ROWS,
            seed: Some(0),
            ..DecisionTreeClassifierParameters::default()
        };
        let y: Vec<i32> = y.iter().map(|label| *label as i32).collect();
        let model = DecisionTreeClassifier::fit(&matrix(x)?, &y, parameters).map_err(failed)?;
        let found: Vec<i32> = model.predict(&matrix(x_test)?).map_err(failed)?;
        return Ok(found.into_iter().map(f64::from).collect());
    }
    // One linear score for each label; the greatest is the prediction.
    let mut best = vec![(f64::NEG_INFINITY, 0.0); x_test.len()];
    for label in 0..labels {
        let is: Vec<f64> = y.iter().map(|other| f64::from(u8::from(*other as usize == label))).collect();
        let share = is.iter().sum::<f64>() / is.len() as f64;
        for (best, score) in best.iter_mut().zip(numbers(Kind::Linear, columns, x, &is, x_test, share)?) {
            if score > best.0 {
                *best = (score, label as f64);
            }
        }
    }
    Ok(best.into_iter().map(|(_, label)| label).collect())
}
