//! Scalar functions over signatures and vectors; one file a function or pair of functions. Those that normalise cells are in
//! [`lakeward_operate::functions`].
//!
//! - `jaccard(sig, sig)`, `containment(sig, sig)` → double: what two signatures of `minhash` have in common.
//! - `embed(text)` → list of float: the vector of a text by the lake's embedding model.
//! - `cosine(v, v)` → double: how alike two vectors point.
//!
//! NULL in, NULL out.

mod cosine;
mod embed;
mod overlap;

use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{Documentation, ScalarUDF, Signature, TypeSignature, Volatility};

use crate::Lakeward;

/// The scalar functions of this module; `embed` asks the embedding model of `lake`.
pub fn scalars(lake: &Lakeward) -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::new_from_impl(overlap::Overlap::new(overlap::Measure::Jaccard)),
        ScalarUDF::new_from_impl(overlap::Overlap::new(overlap::Measure::Containment)),
        ScalarUDF::new_from_impl(embed::Embed::new(lake)),
        ScalarUDF::new_from_impl(cosine::Cosine::new()),
    ]
}

/// Takes arguments of any types as they are, so that the function can say itself what it wants; `example` is what listings of
/// functions show.
fn any_types(example: &[DataType]) -> Signature {
    let types = vec![TypeSignature::VariadicAny, TypeSignature::Exact(example.to_vec())];
    Signature::one_of(types, Volatility::Immutable)
}

/// Says how the function is called where the number of arguments is another.
fn check_count(name: &str, arguments: usize, wanted: usize, documentation: &Documentation) -> Result<()> {
    if arguments == wanted {
        return Ok(());
    }
    plan_err!("{name} is called as `{}`, not with {arguments} arguments", documentation.syntax_example)
}
