//! What the lake's normalisation offers to SQL: values compared by what they mean, however they are written.
//!
//! - `value_normalize(x)` → text: the normal form by which the index compares values, equal exactly where the index says
//!   equal ([`Normaliser::distinct_text`]); NULL for a missing value.
//! - `value_number(x)` → double: the number written in a cell (`1,234`, `$5`, `50%` is 50), else NULL.
//! - `value_date(x)` → date: the day written in a cell (`4 March 2020`; a month is its first day), else NULL.
//!
//! Each takes a second text that says [how the column writes its values](Writing): `day_first` or `month_first` for dates such as
//! `03/04/2020`, which else stay text, `point=thousands`, `word=NA` where that is a value, `missing=-9`, `typed` where every text is a
//! value. Values that are no text are taken as the text of them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Date32Array, Float64Array, StringBuilder};
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::{
    ColumnarValue, DocSection, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::cells::days;
use lakeward_sketch::normalise::without_footnotes;
use lakeward_sketch::temporal::parse_date;
use lakeward_sketch::{Normaliser, Writing};

/// The functions.
pub fn all() -> Vec<ScalarUDF> {
    let function = |result| {
        let signature = Signature::one_of(
            vec![datafusion::logical_expr::TypeSignature::Any(1), datafusion::logical_expr::TypeSignature::Any(2)],
            Volatility::Immutable,
        );
        ScalarUDF::new_from_impl(ValueFunction { result, signature, documentation: result.documentation() })
    };
    [Form::Normal, Form::Number, Form::Date].map(function).into()
}

/// Makes the functions known to a session.
pub fn register_all(session: &SessionContext) {
    for function in all() {
        session.register_udf(function);
    }
}

/// What a function makes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    Normal,
    Number,
    Date,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Normal => "value_normalize",
            Form::Number => "value_number",
            Form::Date => "value_date",
        }
    }

    fn documentation(self) -> Documentation {
        let (description, example) = match self {
            Form::Normal => (
                "The normal form by which the index compares values: letter case, spaces, accents, footnote marks and ways of \
                 writing numbers and dates put aside; NULL for a missing value",
                "SELECT value_normalize(' Curaçao*') = value_normalize('curacao')",
            ),
            Form::Number => {
                ("The number written in a cell, else NULL", "SELECT value_number('$1,234.50'), value_number('50%')")
            }
            Form::Date => ("The day written in a cell, else NULL", "SELECT value_date('3/4/2020', 'day_first')"),
        };
        let section = DocSection { include: true, label: "Lakeward", description: None };
        Documentation::builder(section, description, format!("{}(x [, how])", self.name()))
            .with_sql_example(example)
            .with_argument("x", "a cell: text, or any other value, taken as its text")
            .with_argument(
                "how",
                "how its column writes, parted by commas: day_first or month_first for dates such as 03/04/2020, point=thousands, \
                 word=NA where NA is a value, missing=-9, typed where every text is a value",
            )
            .build()
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ValueFunction {
    result: Form,
    signature: Signature,
    documentation: Documentation,
}

impl ScalarUDFImpl for ValueFunction {
    fn name(&self) -> &str {
        self.result.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.result {
            Form::Normal => DataType::Utf8,
            Form::Number => DataType::Float64,
            Form::Date => DataType::Date32,
        })
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let writing = match arguments.args.get(1) {
            None => Writing::default(),
            Some(ColumnarValue::Scalar(scalar)) => {
                let text = scalar.try_as_str().flatten().unwrap_or_default();
                text.parse().map_err(|part| {
                    let known = "day_first, month_first, point=thousands, word=…, missing=… and typed do";
                    DataFusionError::Execution(format!("`{part}` says nothing of a column; {known}"))
                })?
            }
            Some(ColumnarValue::Array(_)) => {
                let reason = format!("the second argument of {} must be one text for all rows", self.name());
                return Err(DataFusionError::Execution(reason));
            }
        };
        match arguments.args.first() {
            Some(ColumnarValue::Scalar(scalar)) => {
                let array = self.values(&scalar.to_array()?, writing)?;
                ScalarValue::try_from_array(&array, 0).map(ColumnarValue::Scalar)
            }
            Some(ColumnarValue::Array(array)) => self.values(array, writing).map(ColumnarValue::Array),
            None => Err(DataFusionError::Execution(format!("{} needs a value", self.name()))),
        }
    }
}

impl ValueFunction {
    fn values(&self, array: &ArrayRef, writing: Writing) -> Result<ArrayRef> {
        let cells = texts(array)?;
        let cells = cells.as_string::<i32>();
        Ok(match self.result {
            Form::Normal => {
                let mut normaliser = Normaliser::new(writing);
                let mut forms = StringBuilder::with_capacity(cells.len(), cells.value_data().len());
                for cell in cells {
                    forms.append_option(cell.and_then(|cell| normaliser.distinct_text(cell)));
                }
                Arc::new(forms.finish())
            }
            Form::Number => {
                let mut digits = String::new();
                let mut parse = |cell: &str| writing.number(cell, &mut digits).map(|number| number.value);
                let mut number = |cell: &str| parse(cell).or_else(|| parse(without_footnotes(cell)));
                let mut of = |cell: &str| (!writing.is_missing(cell)).then(|| number(cell)).flatten();
                Arc::new(cells.iter().map(|cell| cell.and_then(|cell| of(cell.trim()))).collect::<Float64Array>())
            }
            Form::Date => {
                let parse = |cell: &str| parse_date(cell, writing.dates).and_then(|moment| days(&moment));
                let date = |cell: &str| {
                    if writing.is_missing(cell) { None } else { parse(cell).or_else(|| parse(without_footnotes(cell))) }
                };
                Arc::new(cells.iter().map(|cell| cell.and_then(|cell| date(cell.trim()))).collect::<Date32Array>())
            }
        })
    }
}

/// The values as text; what Arrow does not cast to text (lists, structures) is written out.
fn texts(array: &ArrayRef) -> Result<ArrayRef> {
    let nested = array.data_type().is_nested();
    if !nested && can_cast_types(array.data_type(), &DataType::Utf8) {
        return Ok(cast(array, &DataType::Utf8)?);
    }
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    let mut texts = StringBuilder::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            texts.append_null();
        } else {
            texts.append_value(formatter.value(row).try_to_string()?);
        }
    }
    Ok(Arc::new(texts.finish()))
}
