//! `jaccard(sig, sig)` and `containment(sig, sig)`: the overlap of two signatures made by `minhash`.
//!
//! Signatures of different k are compared on the range of hashes that both hold.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion::logical_expr::scalar_doc_sections::DOC_SECTION_OTHER;
use datafusion::logical_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature as Types};

use super::{any_types, check_count};
use lakeward_sketch::signature::Signature;

/// How two signatures are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Measure {
    /// Shared by both / in either.
    Jaccard,
    /// Shared by both / in the first.
    Containment,
}

/// One of the two functions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Overlap {
    measure: Measure,
    types: Types,
}

impl Overlap {
    /// The function that computes `measure`.
    pub(super) fn new(measure: Measure) -> Self {
        Self { measure, types: any_types(&[DataType::Binary, DataType::Binary]) }
    }

    fn compare(&self, left: Option<&Signature>, right: Option<&Signature>) -> Option<f64> {
        let (left, right) = left.zip(right)?;
        match self.measure {
            Measure::Jaccard => left.jaccard(right),
            Measure::Containment => left.containment_in(right),
        }
    }

    fn description(&self) -> &'static Documentation {
        static JACCARD: LazyLock<Documentation> = LazyLock::new(|| {
            let description = "Estimates the Jaccard similarity of two sets from their signatures: shared by both / in either. \
                Exact if both signatures hold their whole sets. NULL if both sets are empty.";
            Documentation::builder(DOC_SECTION_OTHER, description, "jaccard(signature1, signature2)")
                .with_sql_example("SELECT jaccard((SELECT minhash(a) FROM t), (SELECT minhash(b) FROM u))")
                .with_argument("signature1", "The signature of the first set, by `minhash`")
                .with_argument("signature2", "The signature of the second set, by `minhash`")
                .with_related_udf("containment")
                .build()
        });
        static CONTAINMENT: LazyLock<Documentation> = LazyLock::new(|| {
            let description = "Estimates from their signatures the share of the first set that is also in the second. Exact if \
                both signatures hold their whole sets. NULL if the first set is empty, or too small compared with the second \
                for an estimate.";
            Documentation::builder(DOC_SECTION_OTHER, description, "containment(signature1, signature2)")
                .with_sql_example("SELECT containment((SELECT minhash(a) FROM t), (SELECT minhash(b) FROM u))")
                .with_argument("signature1", "The signature of the first set, by `minhash`")
                .with_argument("signature2", "The signature of the second set, by `minhash`")
                .with_related_udf("jaccard")
                .build()
        });
        match self.measure {
            Measure::Jaccard => &JACCARD,
            Measure::Containment => &CONTAINMENT,
        }
    }
}

impl ScalarUDFImpl for Overlap {
    fn name(&self) -> &str {
        match self.measure {
            Measure::Jaccard => "jaccard",
            Measure::Containment => "containment",
        }
    }

    fn signature(&self) -> &Types {
        &self.types
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let name = self.name();
        check_count(name, arguments.len(), 2, self.description())?;
        match arguments.iter().find(|data_type| !data_type.is_binary() && **data_type != DataType::Null) {
            Some(data_type) => {
                plan_err!("{name} compares signatures, which are binary, not {data_type}; `minhash` makes them")
            }
            None => Ok(DataType::Float64),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = &arguments.args[..] else {
            return exec_err!("{} takes two signatures", self.name());
        };
        // One signature is often compared with those of many rows, so it is parsed once.
        let rows = arguments.number_rows;
        Ok(match (left, right) {
            (ColumnarValue::Scalar(left), ColumnarValue::Scalar(right)) => {
                let (left, right) = (scalar(left)?, scalar(right)?);
                ColumnarValue::Scalar(ScalarValue::Float64(self.compare(left.as_ref(), right.as_ref())))
            }
            (ColumnarValue::Scalar(left), ColumnarValue::Array(right)) => {
                let left = scalar(left)?;
                column(rows, |row| Ok(self.compare(left.as_ref(), at(right, row)?.as_ref())))?
            }
            (ColumnarValue::Array(left), ColumnarValue::Scalar(right)) => {
                let right = scalar(right)?;
                column(rows, |row| Ok(self.compare(at(left, row)?.as_ref(), right.as_ref())))?
            }
            (ColumnarValue::Array(left), ColumnarValue::Array(right)) => {
                column(rows, |row| Ok(self.compare(at(left, row)?.as_ref(), at(right, row)?.as_ref())))?
            }
        })
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(self.description())
    }
}

fn column(rows: usize, value: impl Fn(usize) -> Result<Option<f64>>) -> Result<ColumnarValue> {
    let values = (0..rows).map(value).collect::<Result<Float64Array>>()?;
    Ok(ColumnarValue::Array(Arc::new(values)))
}

fn scalar(value: &ScalarValue) -> Result<Option<Signature>> {
    at(&value.to_array()?, 0)
}

/// The signature in a row; `None` for NULL.
fn at(array: &ArrayRef, row: usize) -> Result<Option<Signature>> {
    if array.is_null(row) {
        return Ok(None);
    }
    let bytes = match array.data_type() {
        DataType::Null => return Ok(None),
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(row),
        other => return exec_err!("a signature is binary, not {other}"),
    };
    Signature::parse(bytes).map(Some).map_err(|reason| exec_datafusion_err!("{reason}"))
}
