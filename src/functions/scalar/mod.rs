//! Scalar functions over signatures and vectors; one file per function or pair of functions. Those that normalise cells are in
//! [`lakeward_operate::functions`].
//!
//! - `jaccard(sig, sig)`, `containment(sig, sig)` → double: the overlap of two signatures of `minhash`.
//! - `embed(text)` → list of float: the vector of a text by the lake's embedding model.
//! - `cosine(v, v)` → double: the cosine of two vectors.
//!
//! NULL in, NULL out.

mod cosine;
mod embed;
mod overlap;

use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{Documentation, ScalarUDF, Signature, TypeSignature, Volatility};

use crate::Lakeward;

/// The scalar functions of this module; `embed` uses the embedding model of `lake`.
pub fn scalars(lake: &Lakeward) -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::new_from_impl(overlap::Overlap::new(overlap::Measure::Jaccard)),
        ScalarUDF::new_from_impl(overlap::Overlap::new(overlap::Measure::Containment)),
        ScalarUDF::new_from_impl(embed::Embed::new(lake)),
        ScalarUDF::new_from_impl(cosine::Cosine::new()),
    ]
}

/// Accepts arguments of any types, so that the function can check them with its own error message; `example` is for function
/// listings.
fn any_types(example: &[DataType]) -> Signature {
    let types = vec![TypeSignature::VariadicAny, TypeSignature::Exact(example.to_vec())];
    Signature::one_of(types, Volatility::Immutable)
}

/// Checks the number of arguments; the error shows how to call the function.
fn check_count(name: &str, arguments: usize, expected: usize, documentation: &Documentation) -> Result<()> {
    if arguments == expected {
        return Ok(());
    }
    plan_err!("{name} is called as `{}`, not with {arguments} arguments", documentation.syntax_example)
}
