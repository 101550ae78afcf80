//! Aggregates over sets of values, by [`Signature`]s.
//!
//! - `minhash(x [, k])` → binary: the signature of the distinct values of `x`, for `jaccard` and `containment`.
//! - `approx_jaccard(x, y)` → double: |X ∩ Y| / |X ∪ Y| of the distinct values of two columns; NULL if both have none.
//! - `approx_containment(x, y)` → double: the share of the distinct values of `x` that `y` has; NULL if `x` has none.
//!
//! NULLs are ignored. Values are compared by [`lakeward_sketch::value_hash`], without normalisation, for which there is
//! `value_normalize(x)`. The result does not depend on the order, repetition or partitioning of rows; DISTINCT changes
//! nothing. Memory depends on the number of groups and of stored values, not on that of rows.

mod array_hash;
mod groups;
mod state;

use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::aggregate_doc_sections::DOC_SECTION_APPROXIMATE;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Documentation, GroupsAccumulator, TypeSignature,
    Volatility,
};
use datafusion::physical_expr::PhysicalExpr;

use self::groups::SignatureGroups;
use self::state::SignatureAccumulator;
use lakeward_sketch::signature::{DEFAULT_CAPACITY, LEAST_CAPACITY, MOST_CAPACITY, Signature};

/// Hashes per column when two columns are compared directly: as no signature is stored, more hashes than in one are affordable,
/// which halves the error if one set is far larger than the other.
const COMPARING_CAPACITY: usize = 16_384;

/// The aggregates of this module.
pub fn aggregates() -> Vec<AggregateUDF> {
    [Measure::Signature, Measure::Jaccard, Measure::Containment]
        .map(|measure| AggregateUDF::new_from_impl(SignatureAggregate::new(measure)))
        .into()
}

/// What an aggregate computes from the signatures of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Measure {
    Signature,
    Jaccard,
    Containment,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Measure::Signature => "minhash",
            Measure::Jaccard => "approx_jaccard",
            Measure::Containment => "approx_containment",
        }
    }

    /// The number of value columns that it takes.
    fn columns(self) -> usize {
        if self == Measure::Signature { 1 } else { 2 }
    }

    /// The value for two columns; `None` for `minhash`, which has one.
    fn of(self, left: &Signature, right: &Signature) -> Option<f64> {
        match self {
            Measure::Signature => None,
            Measure::Jaccard => left.jaccard(right),
            Measure::Containment => left.containment_in(right),
        }
    }

    fn documentation(self) -> &'static Documentation {
        static MINHASH: LazyLock<Documentation> = LazyLock::new(|| {
            let description = "Makes a signature of the distinct values of a column, for `jaccard` and `containment`. Up to \
                k distinct values it is exact. Values are compared as written; `minhash(value_normalize(x))` compares \
                their normal forms, as searches of the lake do.";
            Documentation::builder(DOC_SECTION_APPROXIMATE, description, "minhash(expression [, k])")
                .with_sql_example("SELECT minhash(name) FROM lake.geo.countries")
                .with_standard_argument("expression", None)
                .with_argument(
                    "k",
                    format!(
                        "Number of stored hashes, {LEAST_CAPACITY} to {MOST_CAPACITY}; default {DEFAULT_CAPACITY}. A \
                         signature has up to 8 k + 24 bytes."
                    ),
                )
                .with_related_udf("approx_jaccard")
                .with_related_udf("approx_containment")
                .build()
        });
        static JACCARD: LazyLock<Documentation> = LazyLock::new(|| {
            let description = "Estimates the Jaccard similarity of the distinct values of two columns: shared by both / in \
                either. Exact up to 16384 distinct values in each. NULL if both have none.";
            Documentation::builder(DOC_SECTION_APPROXIMATE, description, "approx_jaccard(expression1, expression2)")
                .with_sql_example("SELECT approx_jaccard(origin, destination) FROM flights")
                .with_standard_argument("expression1", Some("First"))
                .with_standard_argument("expression2", Some("Second"))
                .with_related_udf("approx_containment")
                .with_related_udf("minhash")
                .build()
        });
        static CONTAINMENT: LazyLock<Documentation> = LazyLock::new(|| {
            let description = "Estimates the share of the distinct values of the first column that are also in the second. Exact up \
                to 16384 distinct values in each. NULL if the first has none, or too few compared with the second for an \
                estimate.";
            Documentation::builder(DOC_SECTION_APPROXIMATE, description, "approx_containment(expression1, expression2)")
                .with_sql_example("SELECT approx_containment(origin, destination) FROM flights")
                .with_standard_argument("expression1", Some("First"))
                .with_standard_argument("expression2", Some("Second"))
                .with_related_udf("approx_jaccard")
                .with_related_udf("minhash")
                .build()
        });
        match self {
            Measure::Signature => &MINHASH,
            Measure::Jaccard => &JACCARD,
            Measure::Containment => &CONTAINMENT,
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SignatureAggregate {
    measure: Measure,
    signature: datafusion::logical_expr::Signature,
}

impl SignatureAggregate {
    fn new(measure: Measure) -> Self {
        let examples: &[&[DataType]] = match measure {
            Measure::Signature => &[&[DataType::Utf8], &[DataType::Utf8, DataType::Int64]],
            _ => &[&[DataType::Utf8, DataType::Utf8]],
        };
        // All types are accepted here and checked by `return_type`; the exact ones are for function listings.
        let examples = examples.iter().map(|types| TypeSignature::Exact(types.to_vec()));
        let types = std::iter::once(TypeSignature::VariadicAny).chain(examples).collect();
        Self { measure, signature: datafusion::logical_expr::Signature::one_of(types, Volatility::Immutable) }
    }

    fn capacity(&self, arguments: &[Arc<dyn PhysicalExpr>]) -> Result<usize> {
        match (self.measure, arguments.get(1)) {
            (Measure::Signature, Some(capacity)) => constant_capacity(&**capacity),
            (Measure::Signature, None) => Ok(DEFAULT_CAPACITY),
            _ => Ok(COMPARING_CAPACITY),
        }
    }
}

impl AggregateUDFImpl for SignatureAggregate {
    fn name(&self) -> &str {
        self.measure.name()
    }

    fn signature(&self) -> &datafusion::logical_expr::Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let name = self.name();
        let (values, rest) = arguments.split_at(arguments.len().min(self.measure.columns()));
        if values.len() < self.measure.columns() || rest.len() > usize::from(self.measure == Measure::Signature) {
            let form = &self.measure.documentation().syntax_example;
            return plan_err!("{name} is called as `{form}`, not with {} arguments", arguments.len());
        }
        if let Some(data_type) = values.iter().find(|data_type| !array_hash::is_hashable(data_type)) {
            return plan_err!("{name} takes no {data_type}: it compares single values; `unnest` makes rows of a list");
        }
        if let Some(capacity) = rest.first()
            && !capacity.is_integer()
        {
            return plan_err!("k of {name} is a whole number, not {capacity}");
        }
        Ok(if self.measure == Measure::Signature { DataType::Binary } else { DataType::Float64 })
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(SignatureAccumulator::new(self.measure, self.capacity(arguments.exprs)?)))
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        // Large: the states of many groups can exceed 2 GiB.
        let field = |place| Field::new(format_state_name(arguments.name, place), DataType::LargeBinary, false);
        let places = &["left", "right"][..self.measure.columns()];
        Ok(places.iter().map(|place| Arc::new(field(place))).collect())
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(SignatureGroups::new(self.measure, self.capacity(arguments.exprs)?)))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn default_value(&self, _: &DataType) -> Result<ScalarValue> {
        Ok(match self.measure {
            Measure::Signature => ScalarValue::Binary(Some(Signature::of([], DEFAULT_CAPACITY).to_bytes())),
            _ => ScalarValue::Float64(None),
        })
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(self.measure.documentation())
    }
}

fn constant_capacity(argument: &dyn PhysicalExpr) -> Result<usize> {
    let no_row = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let Ok(ColumnarValue::Scalar(constant)) = argument.evaluate(&no_row) else {
        return plan_err!("k of minhash must be a constant");
    };
    match constant.cast_to(&DataType::Int64)? {
        ScalarValue::Int64(Some(k)) if (LEAST_CAPACITY as i64..=MOST_CAPACITY as i64).contains(&k) => Ok(k as usize),
        other => exec_err!("k of minhash is {LEAST_CAPACITY} to {MOST_CAPACITY}, not {other}"),
    }
}
