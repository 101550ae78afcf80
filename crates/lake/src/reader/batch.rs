//! Gathers rows of text cells into record batches, column by column.
//!
//! Cells are copied once, from the window of the text to the buffer that becomes the Arrow array; nothing is allocated
//! per value. Batches are bounded in rows and in bytes, so wide tables get few rows per batch.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::Column;
use lakeward_core::error::{Error, Result};

/// Rows and bytes after which a batch is returned, and the length at which a cell is cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchLimits {
    pub(super) rows: usize,
    pub(super) bytes: usize,
    pub(super) cell_bytes: usize,
}

/// Builds batches of Utf8 columns from rows.
pub(super) struct TextBatch {
    schema: SchemaRef,
    columns: Vec<TextColumn>,
    limits: BatchLimits,
    rows: usize,
    bytes: usize,
    /// Cells cut so far, over all batches.
    pub(super) cut_cells: u64,
}

#[derive(Default)]
struct TextColumn {
    values: Vec<u8>,
    offsets: Vec<i32>,
    /// Rows without a value, ascending.
    missing: Vec<usize>,
}

impl TextBatch {
    pub(super) fn new(columns: &[Column], limits: BatchLimits) -> Self {
        let fields: Vec<Field> = columns.iter().map(|column| Field::new(&column.name, DataType::Utf8, true)).collect();
        let columns = columns.iter().map(|_| TextColumn { offsets: vec![0], ..TextColumn::default() }).collect();
        TextBatch { schema: Arc::new(Schema::new(fields)), columns, limits, rows: 0, bytes: 0, cut_cells: 0 }
    }

    /// Reserves memory for about `rows` rows of `bytes` bytes in all, so that the buffers of small tables need not grow.
    pub(super) fn expect(&mut self, rows: usize, bytes: usize) {
        let rows = rows.min(self.limits.rows);
        let cells = bytes.min(self.limits.bytes) / self.columns.len().max(1);
        for column in &mut self.columns {
            column.offsets.reserve(rows);
            column.values.reserve(cells);
        }
    }

    /// Whether the batch should be returned before another row is added.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.rows >= self.limits.rows || self.bytes >= self.limits.bytes
    }

    /// Whether no row has been added since the last batch.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a cell, valid UTF-8, to the current row.
    #[inline]
    pub(super) fn push(&mut self, column: usize, cell: &[u8]) {
        let cell = if cell.len() > self.limits.cell_bytes { self.cut(cell) } else { cell };
        let column = &mut self.columns[column];
        column.values.extend_from_slice(cell);
        column.offsets.push(column.values.len() as i32);
        self.bytes += cell.len();
    }

    /// Adds a missing cell to the current row.
    pub(super) fn push_missing(&mut self, column: usize) {
        let column = &mut self.columns[column];
        column.missing.push(column.offsets.len() - 1);
        column.offsets.push(column.values.len() as i32);
    }

    /// Ends the current row; every column must have received one cell.
    #[inline]
    pub(super) fn end_row(&mut self) {
        self.rows += 1;
        self.bytes += self.columns.len() * size_of::<i32>();
    }

    /// Takes back the last `count` rows of the batch.
    pub(super) fn drop_rows(&mut self, count: usize) {
        self.rows -= count.min(self.rows);
        for column in &mut self.columns {
            column.offsets.truncate(self.rows + 1);
            column.values.truncate(column.offsets.last().map_or(0, |end| *end as usize));
            column.missing.retain(|row| *row < self.rows);
        }
    }

    #[cold]
    fn cut<'a>(&mut self, cell: &'a [u8]) -> &'a [u8] {
        self.cut_cells += 1;
        cut_text(cell, self.limits.cell_bytes)
    }

    /// The rows so far as a batch; `None` when there are none. With `more` to come, memory is reserved for as many again.
    pub(super) fn finish(&mut self, more: bool) -> Result<Option<RecordBatch>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let rows = self.rows;
        (self.rows, self.bytes) = (0, 0);
        let arrays: Result<Vec<ArrayRef>> = self.columns.iter_mut().map(|column| column.finish(rows, more)).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays?)
            .map(Some)
            .map_err(|error| Error::Internal(error.to_string()))
    }
}

impl TextColumn {
    fn finish(&mut self, rows: usize, more: bool) -> Result<ArrayRef> {
        let room = |length: usize| if more { length } else { 0 };
        let mut offsets = Vec::with_capacity(room(self.offsets.len()).max(1));
        offsets.push(0);
        let offsets = std::mem::replace(&mut self.offsets, offsets);
        let values = Vec::with_capacity(room(self.values.len()));
        let values = std::mem::replace(&mut self.values, values);
        let nulls = (!self.missing.is_empty()).then(|| {
            let mut valid = vec![true; rows];
            self.missing.drain(..).for_each(|row| valid[row] = false);
            NullBuffer::from(valid)
        });
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let array = StringArray::try_new(offsets, Buffer::from_vec(values), nulls);
        Ok(Arc::new(array.map_err(|error| Error::Internal(error.to_string()))?))
    }
}

/// The longest prefix of `text` of at most `limit` bytes that ends between two characters.
pub(super) fn cut_text(text: &[u8], limit: usize) -> &[u8] {
    let mut end = limit.min(text.len());
    while end > 0 && end < text.len() && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &text[..end]
}
