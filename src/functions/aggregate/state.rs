//! The accumulator of one group: one signature per column.

use arrow::array::{Array, ArrayRef, AsArray};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err};
use datafusion::logical_expr::Accumulator;

use super::Measure;
use super::array_hash::hash_rows;
use lakeward_sketch::signature::{Signature, SignatureBuilder};

/// Gathers the values of all rows.
#[derive(Debug)]
pub(super) struct SignatureAccumulator {
    measure: Measure,
    /// One per column.
    builders: Vec<SignatureBuilder>,
    /// Scratch buffer, reused for its capacity.
    hashes: Vec<u64>,
}

impl SignatureAccumulator {
    /// An empty accumulator that stores `capacity` hashes per column.
    pub(super) fn new(measure: Measure, capacity: usize) -> Self {
        Self { measure, builders: vec![SignatureBuilder::new(capacity); measure.columns()], hashes: Vec::new() }
    }
}

impl Accumulator for SignatureAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for (builder, array) in self.builders.iter_mut().zip(values) {
            match hash_rows(array, &mut self.hashes)? {
                None => self.hashes.iter().for_each(|hash| {
                    builder.add(*hash);
                }),
                Some(nulls) => nulls.valid_indices().for_each(|row| {
                    builder.add(self.hashes[row]);
                }),
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let signatures: Vec<Signature> = self.builders.iter().map(SignatureBuilder::finish).collect();
        Ok(match &signatures[..] {
            [left, right, ..] => ScalarValue::Float64(self.measure.of(left, right)),
            only => ScalarValue::Binary(only.first().map(Signature::to_bytes)),
        })
    }

    fn size(&self) -> usize {
        let builders: usize = self.builders.iter().map(|builder| size_of_val(builder) + builder.heap_bytes()).sum();
        size_of_val(self) + builders + self.hashes.capacity() * size_of::<u64>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let state = |builder: &SignatureBuilder| ScalarValue::LargeBinary(Some(builder.finish().to_bytes()));
        Ok(self.builders.iter().map(state).collect())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for (builder, states) in self.builders.iter_mut().zip(states) {
            for state in state_column(states)?.iter().flatten() {
                builder.merge(&parse_state(state)?);
            }
        }
        Ok(())
    }
}

/// A column of states.
pub(super) fn state_column(states: &ArrayRef) -> Result<&arrow::array::LargeBinaryArray> {
    let found = states.data_type();
    states.as_binary_opt::<i64>().ok_or_else(|| exec_datafusion_err!("states of signatures are binary, not {found}"))
}

/// The signature in a state.
pub(super) fn parse_state(state: &[u8]) -> Result<Signature> {
    Signature::parse(state).map_err(|reason| exec_datafusion_err!("{reason}"))
}
