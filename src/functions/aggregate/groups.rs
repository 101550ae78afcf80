//! The accumulator of many groups: one signature per column and group. A group takes 40 bytes, and 16 to 32 per stored value.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryBuilder, BooleanArray, Float64Array, LargeBinaryBuilder};
use arrow::buffer::NullBuffer;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::Measure;
use super::array_hash::hash_rows;
use super::state::{parse_state, state_column};
use lakeward_sketch::signature::{Signature, SignatureBuilder};

/// Most bytes in a column of type Binary.
const MOST_BYTES: usize = i32::MAX as usize;

/// Gathers the values of the rows of each group.
#[derive(Debug)]
pub(super) struct SignatureGroups {
    measure: Measure,
    capacity: usize,
    /// For each column, one builder per group.
    columns: Vec<Vec<SignatureBuilder>>,
    /// Heap memory of the builders.
    heap_bytes: usize,
    /// Scratch buffer, reused for its capacity.
    hashes: Vec<u64>,
}

impl SignatureGroups {
    /// No groups yet; `capacity` hashes are stored per column and group.
    pub(super) fn new(measure: Measure, capacity: usize) -> Self {
        let columns = vec![Vec::new(); measure.columns()];
        Self { measure, capacity, columns, heap_bytes: 0, hashes: Vec::new() }
    }

    /// Removes and returns the builders of the groups to emit: for each column, one per group.
    fn take(&mut self, emit_to: EmitTo) -> Vec<Vec<SignatureBuilder>> {
        let taken: Vec<_> = self.columns.iter_mut().map(|builders| emit_to.take_needed(builders)).collect();
        let freed: usize = taken.iter().flatten().map(SignatureBuilder::heap_bytes).sum();
        self.heap_bytes = self.heap_bytes.saturating_sub(freed);
        taken
    }
}

impl GroupsAccumulator for SignatureGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let empty = SignatureBuilder::new(self.capacity);
        for (builders, array) in self.columns.iter_mut().zip(values) {
            builders.resize(total_num_groups, empty.clone());
            let nulls = hash_rows(array, &mut self.hashes)?;
            let counted = NullBuffer::union(nulls.as_ref(), opt_filter.map(passed).as_ref());
            let mut add = |row: usize| self.heap_bytes += builders[group_indices[row]].add(self.hashes[row]);
            match counted {
                None => (0..group_indices.len()).for_each(&mut add),
                Some(counted) => counted.valid_indices().for_each(&mut add),
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let taken = self.take(emit_to);
        match &taken[..] {
            [left, right, ..] => {
                let values =
                    left.iter().zip(right).map(|(left, right)| self.measure.of(&left.finish(), &right.finish()));
                Ok(Arc::new(values.collect::<Float64Array>()))
            }
            signatures => binary(signatures.iter().flatten()),
        }
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let column = |builders: Vec<SignatureBuilder>| large_binary(builders.iter().map(SignatureBuilder::finish));
        Ok(self.take(emit_to).into_iter().map(column).collect())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        let empty = SignatureBuilder::new(self.capacity);
        for (builders, states) in self.columns.iter_mut().zip(values) {
            builders.resize(total_num_groups, empty.clone());
            for (state, group) in state_column(states)?.iter().zip(group_indices) {
                if let Some(state) = state {
                    self.heap_bytes += builders[*group].merge(&parse_state(state)?);
                }
            }
        }
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let filter = opt_filter.map(passed);
        let mut hashes = Vec::new();
        let columns = values.iter().take(self.columns.len()).map(|array| {
            let nulls = hash_rows(array, &mut hashes)?;
            let counted = NullBuffer::union(nulls.as_ref(), filter.as_ref());
            let row = |row: usize| {
                let hash = counted.as_ref().is_none_or(|counted| counted.is_valid(row)).then(|| hashes[row]);
                Signature::of(hash, self.capacity)
            };
            Ok(large_binary((0..array.len()).map(row)))
        });
        columns.collect()
    }

    fn size(&self) -> usize {
        let builders: usize = self.columns.iter().map(Vec::capacity).sum();
        size_of_val(self)
            + builders * size_of::<SignatureBuilder>()
            + self.heap_bytes
            + self.hashes.capacity() * size_of::<u64>()
    }
}

/// The rows that pass a filter; rows where it is NULL do not.
fn passed(filter: &BooleanArray) -> NullBuffer {
    let yes = filter.values();
    NullBuffer::new(filter.nulls().map_or_else(|| yes.clone(), |known| yes & known.inner()))
}

fn binary<'a>(builders: impl Iterator<Item = &'a SignatureBuilder>) -> Result<ArrayRef> {
    let mut column = BinaryBuilder::new();
    let (mut bytes, mut written) = (Vec::new(), 0);
    for builder in builders {
        bytes.clear();
        builder.finish().write(&mut bytes);
        written += bytes.len();
        if written > MOST_BYTES {
            return exec_err!(
                "the signatures of all groups exceed 2 GiB; store fewer hashes in each, as in `minhash(x, 256)`"
            );
        }
        column.append_value(&bytes);
    }
    Ok(Arc::new(column.finish()))
}

fn large_binary(signatures: impl Iterator<Item = Signature>) -> ArrayRef {
    let mut column = LargeBinaryBuilder::new();
    let mut bytes = Vec::new();
    for signature in signatures {
        bytes.clear();
        signature.write(&mut bytes);
        column.append_value(&bytes);
    }
    Arc::new(column.finish())
}
