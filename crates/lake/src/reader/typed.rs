//! Converts batches of formats that declare types to the few types that the rest of the program handles.
//!
//! Output types: booleans, integers, floats (32 and 64 bits), decimals, dates, times, timestamps, durations and Utf8.
//! Dictionaries and run ends are resolved; large and view strings become Utf8; binary values become text where they are
//! UTF-8 and hexadecimal digits where not; lists, maps and structures become JSON text. A union is what all its values are, else text.
//!
//! The decoders of other crates are called behind [`guarded`], because damaged files make some of them panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder, UnionArray, new_null_array};
use arrow::compute::{cast, interleave};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::writer::{Encoder, EncoderFactory, EncoderOptions, NullableEncoder, make_encoder};
use arrow::record_batch::RecordBatch;

use super::batch::cut_text;
use super::header::name_columns;
use super::report::{ReadReport, RepairKind};
use super::{Column, ReadOptions, TableReader};
use lakeward_core::error::{Error, Result};
use lakeward_core::guard;
use lakeward_core::text::hex;

/// A decoder's batches; the error is a reason in one clause.
pub(super) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, String>> + Send>;

/// A reader over the batches of another crate's decoder.
pub(super) struct TypedRows {
    batches: Batches,
    columns: Vec<Column>,
    schema: SchemaRef,
    report: ReadReport,
    options: ReadOptions,
    read_bytes: Arc<AtomicU64>,
    current: Option<RecordBatch>,
    total_rows: Option<u64>,
    cut_cells: u64,
    done: bool,
}

impl TypedRows {
    /// Reads `batches`, whose columns are `fields`; `read_bytes` is counted by the reader of the file.
    ///
    /// # Errors
    /// Why the table cannot be read, in one clause.
    pub(super) fn new(
        fields: &[FieldRef],
        batches: Batches,
        options: &ReadOptions,
        read_bytes: Arc<AtomicU64>,
    ) -> Result<TypedRows, String> {
        let mut report = ReadReport::default();
        let described = declared_columns(fields, options, &mut report)?;
        let renamed: Vec<Field> =
            described.iter().map(|(column, kind)| Field::new(&column.name, kind.clone(), true)).collect();
        let columns = described.into_iter().map(|(column, _)| column).collect();
        Ok(TypedRows {
            batches,
            columns,
            schema: Arc::new(Schema::new(renamed)),
            report,
            options: options.clone(),
            read_bytes,
            current: None,
            total_rows: None,
            cut_cells: 0,
            done: false,
        })
    }

    /// Sets the number of rows that the file declares.
    pub(super) fn with_total_rows(self, rows: u64) -> TypedRows {
        TypedRows { total_rows: Some(rows), ..self }
    }

    /// Reports that the file has columns of these names that are not among the batches'.
    pub(super) fn without_columns(mut self, names: &[String]) -> TypedRows {
        self.report.add(RepairKind::UnreadableColumns, names.len() as u64, None);
        self.report.describe(RepairKind::UnreadableColumns, &names.join(", "));
        self
    }

    /// The next rows as the file has them, at most a batch.
    fn next_slice(&mut self) -> Result<Option<RecordBatch>, String> {
        loop {
            if let Some(batch) = self.current.take().filter(|batch| batch.num_rows() > 0) {
                let count = batch.num_rows().min(self.options.batch_rows.max(1));
                self.current = Some(batch.slice(count, batch.num_rows() - count));
                return Ok(Some(batch.slice(0, count)));
            }
            match guarded(|| self.batches.next().transpose())?? {
                Some(batch) => self.current = Some(batch),
                None => return Ok(None),
            }
        }
    }

    fn render(&mut self, batch: &RecordBatch) -> Result<RecordBatch, String> {
        let limit = self.options.max_cell_bytes;
        let mut arrays = Vec::with_capacity(batch.num_columns());
        for array in batch.columns() {
            arrays.push(cut_cells(render_array(array)?, limit, &mut self.cut_cells));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(|error| error.to_string())
    }

    fn finish(&mut self, damage: Option<String>) {
        self.done = true;
        self.report.read_bytes = self.read_bytes.load(Ordering::Relaxed);
        self.report.set(RepairKind::CutCells, self.cut_cells, None);
        if let Some(reason) = damage {
            self.report.add_damage(RepairKind::DamagedData, &reason, Some(self.report.rows + 1));
        }
    }
}

impl TableReader for TypedRows {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.done {
            return Ok(None);
        }
        let next = self.next_slice().and_then(|slice| slice.map(|slice| guarded(|| self.render(&slice))?).transpose());
        let batch = match next {
            Ok(Some(batch)) => batch,
            Ok(None) => {
                self.finish(None);
                return Ok(None);
            }
            Err(reason) => {
                self.finish(Some(reason));
                return Ok(None);
            }
        };
        let left = self.options.max_rows.map_or(u64::MAX, |max| max - self.report.rows);
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows());
        self.report.rows += taken as u64;
        if taken < batch.num_rows() {
            self.report.end_sample(self.report.rows + 1, self.total_rows);
            self.finish(None);
            return Ok((taken > 0).then(|| batch.slice(0, taken)));
        }
        Ok(Some(batch))
    }

    fn report(&self) -> &ReadReport {
        &self.report
    }

    fn declared_types(&self) -> Option<SchemaRef> {
        Some(Arc::clone(&self.schema))
    }
}

/// The columns that readers make of `fields`, with the types of their cells.
///
/// # Errors
/// Where there are none or too many, in one clause.
pub(super) fn declared_columns(
    fields: &[FieldRef],
    options: &ReadOptions,
    report: &mut ReadReport,
) -> Result<Vec<(Column, DataType)>, String> {
    if fields.is_empty() {
        return Err("no columns".into());
    }
    if fields.len() > options.max_columns {
        return Err(format!("{} columns, more than the limit of {}", fields.len(), options.max_columns));
    }
    let columns = name_columns(fields.iter().map(|field| field.name().clone()).collect(), report, None);
    let nested = fields.iter().filter(|field| matches!(rendering(field.data_type()), Rendering::Json)).count();
    report.add(RepairKind::NestedColumns, nested as u64, None);
    Ok(columns.into_iter().zip(fields.iter().map(|field| rendered_type(field.data_type()))).collect())
}

/// Runs a decoder; a panic becomes an error with its reason.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    guard::guarded(decode).map_err(|_| "the decoder gave up on damaged data".to_string())
}

enum Rendering {
    Keep,
    Cast(DataType),
    Binary,
    Json,
    /// Of one of several types; what holds the values of all.
    Union(DataType),
}

fn rendering(data_type: &DataType) -> Rendering {
    use DataType::*;
    match data_type {
        Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float32 | Float64 => {
            Rendering::Keep
        }
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => Rendering::Keep,
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) | Duration(_) | Utf8 => Rendering::Keep,
        Float16 => Rendering::Cast(Float32),
        Null | Interval(_) | LargeUtf8 | Utf8View => Rendering::Cast(Utf8),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => Rendering::Binary,
        Dictionary(_, values) => Rendering::Cast(values.as_ref().clone()),
        RunEndEncoded(_, values) => Rendering::Cast(values.data_type().clone()),
        Union(kinds, _) => {
            let kinds = kinds.iter().map(|(_, kind)| kind.data_type()).filter(|kind| **kind != Null);
            Rendering::Union(kinds.map(rendered_type).reduce(|one, other| wider(&one, &other)).unwrap_or(Utf8))
        }
        _ => Rendering::Json,
    }
}

/// The type that holds the values of both.
pub(super) fn wider(one: &DataType, other: &DataType) -> DataType {
    use DataType::{Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32};
    let is_small = |kind: &DataType| matches!(kind, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32);
    let is_number = |kind: &DataType| is_small(kind) && *kind != Int64 || matches!(kind, Float32 | Float64);
    match (one, other) {
        _ if one == other => one.clone(),
        _ if is_small(one) && is_small(other) => Int64,
        _ if is_number(one) && is_number(other) => Float64,
        _ => DataType::Utf8,
    }
}

pub(super) fn rendered_type(data_type: &DataType) -> DataType {
    match rendering(data_type) {
        Rendering::Keep => data_type.clone(),
        Rendering::Cast(target) => rendered_type(&target),
        Rendering::Union(target) => target,
        Rendering::Binary | Rendering::Json => DataType::Utf8,
    }
}

fn render_array(array: &ArrayRef) -> Result<ArrayRef, String> {
    match rendering(array.data_type()) {
        Rendering::Keep => Ok(Arc::clone(array)),
        Rendering::Cast(target) => render_array(&cast(array, &target).map_err(|error| error.to_string())?),
        Rendering::Binary => render_binary(array),
        Rendering::Json => render_json(array),
        Rendering::Union(target) => render_union(array.as_union(), &target),
    }
}

fn render_union(union: &UnionArray, target: &DataType) -> Result<ArrayRef, String> {
    let DataType::Union(kinds, _) = union.data_type() else { return Err("no union".into()) };
    let failed = |error: ArrowError| error.to_string();
    // A missing value, then those of each type.
    let mut values = vec![new_null_array(target, 1)];
    for (id, _) in kinds.iter() {
        values.push(cast(&render_array(union.child(id))?, target).map_err(failed)?);
    }
    let place = |row: usize| {
        let kind = kinds.iter().position(|(id, _)| id == union.type_id(row));
        kind.map_or((0, 0), |kind| (kind + 1, union.value_offset(row)))
    };
    let places: Vec<(usize, usize)> = (0..union.len()).map(place).collect();
    interleave(&values.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &places).map_err(failed)
}

fn render_binary(array: &ArrayRef) -> Result<ArrayRef, String> {
    let array = match array.data_type() {
        DataType::LargeBinary => Arc::clone(array),
        _ => cast(array, &DataType::LargeBinary).map_err(|error| error.to_string())?,
    };
    let text = array.as_binary::<i64>().iter().map(|value| value.map(binary_text));
    Ok(Arc::new(text.collect::<StringArray>()))
}

/// Bytes as text where they are UTF-8, else their hexadecimal digits.
pub(super) fn binary_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => hex(bytes),
    }
}

fn render_json(array: &ArrayRef) -> Result<ArrayRef, String> {
    let field: FieldRef = Arc::new(Field::new("value", array.data_type().clone(), true));
    let options = EncoderOptions::default().with_encoder_factory(Arc::new(UnionEncoders));
    let mut encoder = make_encoder(&field, array.as_ref(), &options).map_err(|error| error.to_string())?;
    let mut text = StringBuilder::with_capacity(array.len(), array.len() * 16);
    let mut scratch = Vec::new();
    for row in 0..array.len() {
        if encoder.is_null(row) {
            text.append_null();
            continue;
        }
        scratch.clear();
        encoder.encode(row, &mut scratch);
        text.append_value(String::from_utf8_lossy(&scratch));
    }
    Ok(Arc::new(text.finish()))
}

/// Writes unions as JSON, each value as its type is written.
#[derive(Debug)]
struct UnionEncoders;

struct UnionEncoder<'a> {
    union: &'a UnionArray,
    kinds: Vec<(i8, NullableEncoder<'a>)>,
}

impl EncoderFactory for UnionEncoders {
    fn make_default_encoder<'a>(
        &self,
        _: &'a FieldRef,
        array: &'a dyn Array,
        options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let Some(union) = array.as_union_opt() else { return Ok(None) };
        let DataType::Union(kinds, _) = union.data_type() else { return Ok(None) };
        let encoder = |(id, field): (i8, &'a FieldRef)| Ok((id, make_encoder(field, union.child(id), options)?));
        let kinds = kinds.iter().map(encoder).collect::<Result<_, ArrowError>>()?;
        Ok(Some(NullableEncoder::new(Box::new(UnionEncoder { union, kinds }), union.logical_nulls())))
    }
}

impl Encoder for UnionEncoder<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let (id, place) = (self.union.type_id(row), self.union.value_offset(row));
        match self.kinds.iter_mut().find(|(kind, _)| *kind == id) {
            Some((_, encoder)) if !encoder.is_null(place) => encoder.encode(place, out),
            _ => out.extend(b"null"),
        }
    }
}

fn cut_cells(array: ArrayRef, limit: usize, cut: &mut u64) -> ArrayRef {
    let Some(text) = array.as_string_opt::<i32>() else { return array };
    let long = text.offsets().windows(2).filter(|pair| (pair[1] - pair[0]) as usize > limit).count();
    if long == 0 {
        return array;
    }
    *cut += long as u64;
    let cells = text.iter().map(|cell| cell.map(|cell| String::from_utf8_lossy(cut_text(cell.as_bytes(), limit))));
    Arc::new(cells.collect::<StringArray>())
}

/// Maps a reason to an error of the file.
pub(super) fn unreadable(path: &std::path::Path) -> impl Fn(String) -> Error + '_ {
    move |reason| Error::unreadable(path, reason)
}
