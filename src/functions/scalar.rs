//! Scalar functions over signatures and vectors.

use datafusion::logical_expr::ScalarUDF;

use crate::lakeward::Lakeward;

/// The scalar functions of `lakeward`.
pub fn scalars(_lakeward: &Lakeward) -> Vec<ScalarUDF> {
    Vec::new()
}
