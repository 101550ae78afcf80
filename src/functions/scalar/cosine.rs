//! `cosine(v, v)`: the cosine of the angle between two vectors of numbers, -1 to 1.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::scalar_doc_sections::DOC_SECTION_MATH;
use datafusion::logical_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature};

use super::{any_types, check_count};

static DOCUMENTATION: LazyLock<Documentation> = LazyLock::new(|| {
    let description = "Computes the cosine of the angle between two vectors, -1 to 1. NULL if one is NULL, \
        contains a NULL, or is all zero. Vectors of different lengths are an error.";
    Documentation::builder(DOC_SECTION_MATH, description, "cosine(vector1, vector2)")
        .with_sql_example("SELECT cosine(embed('inhabitants'), embed('population'))")
        .with_argument("vector1", "List of numbers")
        .with_argument("vector2", "List of the same length")
        .with_related_udf("embed")
        .build()
});

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Cosine {
    types: Signature,
}

impl Cosine {
    /// The function.
    pub(super) fn new() -> Self {
        let list = DataType::new_list(DataType::Float64, true);
        Self { types: any_types(&[list.clone(), list]) }
    }
}

impl ScalarUDFImpl for Cosine {
    fn name(&self) -> &str {
        "cosine"
    }

    fn signature(&self) -> &Signature {
        &self.types
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        check_count("cosine", arguments.len(), 2, &DOCUMENTATION)?;
        match arguments.iter().find(|data_type| !is_vector(data_type)) {
            Some(data_type) => {
                plan_err!("cosine takes lists of numbers, not {data_type}; `embed` makes one from a text")
            }
            None => Ok(DataType::Float64),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = &arguments.args[..] else {
            return exec_err!("cosine takes two vectors");
        };
        let (left, right) = (Vectors::of(left)?, Vectors::of(right)?);
        if left.repeats && right.repeats {
            return Ok(ColumnarValue::Scalar(ScalarValue::Float64(cosine(left.at(0), right.at(0))?)));
        }
        let values = (0..arguments.number_rows).map(|row| cosine(left.at(row), right.at(row)));
        Ok(ColumnarValue::Array(Arc::new(values.collect::<Result<Float64Array>>()?)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&DOCUMENTATION)
    }
}

fn is_vector(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            item.data_type().is_numeric() || item.data_type().is_null()
        }
        _ => false,
    }
}

/// One vector per row, or one for all rows.
struct Vectors {
    lists: ArrayRef,
    numbers: Float64Array,
    repeats: bool,
}

impl Vectors {
    fn of(value: &ColumnarValue) -> Result<Self> {
        let (lists, repeats) = match value {
            ColumnarValue::Scalar(scalar) => (scalar.to_array()?, true),
            ColumnarValue::Array(array) => (Arc::clone(array), false),
        };
        let numbers = match lists.data_type() {
            DataType::List(_) => lists.as_list::<i32>().values(),
            DataType::LargeList(_) => lists.as_list::<i64>().values(),
            DataType::FixedSizeList(..) => lists.as_fixed_size_list().values(),
            _ => &lists,
        };
        let numbers = cast(numbers, &DataType::Float64)?.as_primitive::<Float64Type>().clone();
        Ok(Self { lists, numbers, repeats })
    }

    /// The vector of a row; `None` if it or a part of it is NULL.
    fn at(&self, row: usize) -> Option<&[f64]> {
        let row = if self.repeats { 0 } else { row };
        if self.lists.is_null(row) {
            return None;
        }
        let range: Range<usize> = match self.lists.data_type() {
            DataType::List(_) => {
                let offsets = self.lists.as_list::<i32>().value_offsets();
                offsets[row] as usize..offsets[row + 1] as usize
            }
            DataType::LargeList(_) => {
                let offsets = self.lists.as_list::<i64>().value_offsets();
                offsets[row] as usize..offsets[row + 1] as usize
            }
            DataType::FixedSizeList(..) => {
                let lists = self.lists.as_fixed_size_list();
                let start = lists.value_offset(row) as usize;
                start..start + lists.value_length() as usize
            }
            _ => return None,
        };
        let whole = self.numbers.null_count() == 0 || range.clone().all(|place| self.numbers.is_valid(place));
        whole.then(|| &self.numbers.values()[range])
    }
}

/// v·w / (|v| |w|); `None` if one of them is missing, all zero or not finite.
fn cosine(left: Option<&[f64]>, right: Option<&[f64]>) -> Result<Option<f64>> {
    let Some((left, right)) = left.zip(right) else { return Ok(None) };
    if left.len() != right.len() {
        return exec_err!("cosine takes vectors of the same length, not of {} and {}", left.len(), right.len());
    }
    // Divided by their greatest components, so that no square overflows or underflows.
    let greatest = |vector: &[f64]| vector.iter().fold(0.0f64, |most, part| most.max(part.abs()));
    let (most_left, most_right) = (greatest(left), greatest(right));
    let (mut product, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (left / most_left, right / most_right);
        product += left * right;
        left_square += left * left;
        right_square += right * right;
    }
    let cosine = product / (left_square.sqrt() * right_square.sqrt());
    Ok(cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0)))
}
