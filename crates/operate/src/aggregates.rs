//! Aggregate functions of DataFusion with exact results.
//!
//! - `corr(y, x)`: of groups DataFusion subtracts sums of squares, which leaves no digit right where values lie far from zero.
//!   Here groups are computed as the whole table is, from deviations of a running mean (Welford 1962).
//! - `percentile_cont(p) WITHIN GROUP (ORDER BY x)`: DataFusion rounds the place between two values to a millionth.
//!
//! What they collect is DataFusion's; the results are computed here from that.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::context::SessionContext;
use datafusion::functions_aggregate::correlation::corr_udaf;
use datafusion::functions_aggregate::percentile_cont::percentile_cont_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Documentation, Signature};

/// Makes the functions known to a session, in place of DataFusion's.
pub fn register_all(session: &SessionContext) {
    for function in [corr_udaf(), percentile_cont_udaf()] {
        session.register_udaf(AggregateUDF::new_from_impl(Exact { function }));
    }
}

/// A function whose result is computed by [`correlation`] or [`quantile`].
#[derive(Debug, PartialEq, Eq, Hash)]
struct Exact {
    function: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for Exact {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn aliases(&self) -> &[String] {
        self.function.aliases()
    }

    fn signature(&self) -> &Signature {
        self.function.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.function.return_type(arguments)
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.function.state_fields(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let at = if self.supports_within_group_clause() { Some(quantile_at(&arguments)?) } else { None };
        let data_type = arguments.return_field.data_type().clone();
        Ok(Box::new(Collected { values: self.function.accumulator(arguments)?, at, data_type }))
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.function.simplify()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.function.supports_within_group_clause()
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.function.documentation()
    }
}

/// Between 0 and 1, where the quantile lies in ascending order; its own accumulator has checked it.
fn quantile_at(arguments: &AccumulatorArgs) -> Result<f64> {
    let none = RecordBatch::new_empty(Arc::new(arguments.schema.clone()));
    let at = match arguments.exprs.get(1).map(|at| at.evaluate(&none)).transpose()? {
        Some(ColumnarValue::Scalar(ScalarValue::Float64(Some(at)))) => at,
        Some(ColumnarValue::Scalar(ScalarValue::Float32(Some(at)))) => f64::from(at),
        _ => f64::NAN,
    };
    let descending = arguments.order_bys.first().is_some_and(|order| order.options.descending);
    Ok(if descending { 1.0 - at } else { at })
}

/// What DataFusion collects of a group.
#[derive(Debug)]
struct Collected {
    values: Box<dyn Accumulator>,
    /// Where the quantile lies; none for a correlation.
    at: Option<f64>,
    data_type: DataType,
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        // DataFusion's quantile merges the first state alone.
        for row in 0..states.first().map_or(0, |state| state.len()) {
            let one: Vec<ArrayRef> = states.iter().map(|state| state.slice(row, 1)).collect();
            self.values.merge_batch(&one)?;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.values.supports_retract_batch()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.values.state()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.size()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let state = self.values.state()?;
        let result = match (self.at, &state[..]) {
            (Some(at), [ScalarValue::List(values)]) => {
                // The state has taken the values away, and a window goes on with them.
                self.values.merge_batch(&[state[0].to_array()?])?;
                let values = cast(&values.value(0), &DataType::Float64)?;
                quantile(values.as_primitive::<Float64Type>().iter().flatten().collect(), at)
            }
            (None, state) => {
                let mut figures = [0.0; 6];
                for (figure, value) in figures.iter_mut().zip(state) {
                    if let ScalarValue::Float64(Some(value)) = value.cast_to(&DataType::Float64)? {
                        *figure = value;
                    }
                }
                correlation(figures)
            }
            _ => None,
        };
        ScalarValue::Float64(result).cast_to(&self.data_type)
    }
}

/// The value at part `at` of `values` in their order, on the line between its two neighbours: v⌊i⌋ + (i − ⌊i⌋)(v⌈i⌉ − v⌊i⌋), i = at · (n − 1).
fn quantile(mut values: Vec<f64>, at: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let place = at * values.len().checked_sub(1)? as f64;
    let (lower, upper) = (*values.get(place.floor() as usize)?, *values.get(place.ceil() as usize)?);
    Some(if lower == upper { lower } else { lower + (upper - lower) * place.fract() })
}

/// Pearson's r of the number of pairs, mean and sum of squared deviations of y, the same of x, and the sum of products of deviations;
/// none where y or x is constant up to rounding.
fn correlation([pairs, mean_y, squares_y, mean_x, squares_x, products]: [f64; 6]) -> Option<f64> {
    let varies = |mean: f64, squares: f64| squares > pairs * (mean * f64::EPSILON).powi(2);
    let both = pairs >= 2.0 && varies(mean_y, squares_y) && varies(mean_x, squares_x);
    both.then(|| products / squares_y.sqrt() / squares_x.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        assert_eq!(quantile(vec![], 0.5), None);
        assert_eq!(quantile(vec![3.0], 0.9), Some(3.0));
        assert_eq!(quantile(vec![4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
        assert_eq!(quantile(vec![0.0, 3e6], 1.0 / 3.0), Some(1e6));
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        assert_eq!(correlation([3.0, 1.6, 0.0, 2.0, 2.0, 0.0]), None);
        assert_eq!(correlation([3.0, 1.6, 1e-31, 1.6, 1e-31, 1e-31]), None);
        let opposite = correlation([3.0, 2.0, 2.0, 4.0, 8.0, -4.0]).unwrap();
        assert!((opposite + 1.0).abs() < 1e-12, "{opposite}");
    }
}
