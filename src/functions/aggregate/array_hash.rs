//! The hash of each row of a column of any type, by [`value_hash`]: equal values have equal hashes across types, widths and
//! layouts. Lists, structures and maps have none.

use std::sync::Arc;

use arrow::array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::{Result, exec_err};

use lakeward_sketch::value_hash;

/// Whether [`hash_rows`] takes columns of this type.
pub(super) fn is_hashable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_hashable(values),
        DataType::RunEndEncoded(_, values) => is_hashable(values.data_type()),
        DataType::Union(..) => false,
        other => !other.is_nested(),
    }
}

/// Replaces `hashes` by those of the rows of `array`, and returns which rows have a value; the hashes of the other rows are
/// undefined.
///
/// # Errors
/// An execution error for types that are not [`is_hashable`].
pub(super) fn hash_rows(array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<Option<NullBuffer>> {
    hashes.clear();
    hashes.reserve(array.len());
    push_rows(array, hashes)?;
    Ok(array.logical_nulls())
}

fn push_rows(array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<()> {
    match array.data_type() {
        DataType::Null => hashes.resize(array.len(), 0),
        DataType::Boolean => {
            let (no, yes) = (value_hash::of_bool(false), value_hash::of_bool(true));
            hashes.extend(array.as_boolean().values().iter().map(|value| if value { yes } else { no }));
        }
        DataType::Int8 => push::<Int8Type>(array, hashes, |value| value_hash::of_integer(value.into())),
        DataType::Int16 => push::<Int16Type>(array, hashes, |value| value_hash::of_integer(value.into())),
        DataType::Int32 => push::<Int32Type>(array, hashes, |value| value_hash::of_integer(value.into())),
        DataType::Int64 => push::<Int64Type>(array, hashes, value_hash::of_integer),
        DataType::UInt8 => push::<UInt8Type>(array, hashes, |value| value_hash::of_unsigned(value.into())),
        DataType::UInt16 => push::<UInt16Type>(array, hashes, |value| value_hash::of_unsigned(value.into())),
        DataType::UInt32 => push::<UInt32Type>(array, hashes, |value| value_hash::of_unsigned(value.into())),
        DataType::UInt64 => push::<UInt64Type>(array, hashes, value_hash::of_unsigned),
        DataType::Float16 => push::<Float16Type>(array, hashes, |value| value_hash::of_float(value.to_f64())),
        DataType::Float32 => push::<Float32Type>(array, hashes, |value| value_hash::of_float(value.into())),
        DataType::Float64 => push::<Float64Type>(array, hashes, value_hash::of_float),
        DataType::Decimal32(_, scale) => {
            push::<Decimal32Type>(array, hashes, |value| value_hash::of_decimal(value.into(), *scale));
        }
        DataType::Decimal64(_, scale) => {
            push::<Decimal64Type>(array, hashes, |value| value_hash::of_decimal(value.into(), *scale));
        }
        DataType::Decimal128(_, scale) => {
            push::<Decimal128Type>(array, hashes, |value| value_hash::of_decimal(value, *scale));
        }
        DataType::Decimal256(_, scale) => push::<Decimal256Type>(array, hashes, |value| match value.to_i128() {
            Some(value) => value_hash::of_decimal(value, *scale),
            None => value_hash::of_digits(&value.to_string(), (*scale).into()),
        }),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => push_texts(array, hashes),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            push_bytes(array, hashes);
        }
        DataType::Date32 => push::<Date32Type>(array, hashes, |value| value_hash::of_day(value.into())),
        DataType::Date64 => push::<Date64Type>(array, hashes, |value| value_hash::of_moment(value, 1_000)),
        DataType::Timestamp(unit, _) => push_timestamps(array, *unit, hashes),
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) => push_times(array, hashes),
        DataType::Interval(unit) => push_intervals(array, *unit, hashes),
        DataType::Dictionary(..) => return push_dictionary(array, hashes),
        DataType::RunEndEncoded(_, values) => return push_rows(&cast(array, values.data_type())?, hashes),
        other => return exec_err!("values of type {other} have no hash"),
    }
    Ok(())
}

fn push<T: ArrowPrimitiveType>(array: &ArrayRef, hashes: &mut Vec<u64>, hash: impl Fn(T::Native) -> u64) {
    hashes.extend(array.as_primitive::<T>().values().iter().map(|value| hash(*value)));
}

fn push_texts(array: &ArrayRef, hashes: &mut Vec<u64>) {
    let hash = |text: Option<&str>| text.map_or(0, |text| value_hash::of_text(text.as_bytes()));
    match array.data_type() {
        DataType::Utf8 => hashes.extend(array.as_string::<i32>().iter().map(hash)),
        DataType::LargeUtf8 => hashes.extend(array.as_string::<i64>().iter().map(hash)),
        _ => hashes.extend(array.as_string_view().iter().map(hash)),
    }
}

fn push_bytes(array: &ArrayRef, hashes: &mut Vec<u64>) {
    let hash = |bytes: Option<&[u8]>| bytes.map_or(0, value_hash::of_text);
    match array.data_type() {
        DataType::Binary => hashes.extend(array.as_binary::<i32>().iter().map(hash)),
        DataType::LargeBinary => hashes.extend(array.as_binary::<i64>().iter().map(hash)),
        DataType::FixedSizeBinary(_) => hashes.extend(array.as_fixed_size_binary().iter().map(hash)),
        _ => hashes.extend(array.as_binary_view().iter().map(hash)),
    }
}

fn push_timestamps(array: &ArrayRef, unit: TimeUnit, hashes: &mut Vec<u64>) {
    match unit {
        TimeUnit::Second => push::<TimestampSecondType>(array, hashes, |value| value_hash::of_moment(value, 1)),
        TimeUnit::Millisecond => {
            push::<TimestampMillisecondType>(array, hashes, |value| value_hash::of_moment(value, 1_000));
        }
        TimeUnit::Microsecond => {
            push::<TimestampMicrosecondType>(array, hashes, |value| value_hash::of_moment(value, 1_000_000));
        }
        TimeUnit::Nanosecond => {
            push::<TimestampNanosecondType>(array, hashes, |value| value_hash::of_moment(value, 1_000_000_000));
        }
    }
}

fn push_times(array: &ArrayRef, hashes: &mut Vec<u64>) {
    let time = value_hash::of_time;
    let duration = |value: i64, unit: i128| value_hash::of_duration(i128::from(value) * unit);
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => {
            push::<Time32SecondType>(array, hashes, |value| time(i64::from(value) * 1_000_000_000));
        }
        DataType::Time32(_) => push::<Time32MillisecondType>(array, hashes, |value| time(i64::from(value) * 1_000_000)),
        DataType::Time64(TimeUnit::Microsecond) => {
            push::<Time64MicrosecondType>(array, hashes, |value| time(value.wrapping_mul(1_000)));
        }
        DataType::Time64(_) => push::<Time64NanosecondType>(array, hashes, time),
        DataType::Duration(TimeUnit::Second) => {
            push::<DurationSecondType>(array, hashes, |value| duration(value, 1_000_000_000));
        }
        DataType::Duration(TimeUnit::Millisecond) => {
            push::<DurationMillisecondType>(array, hashes, |value| duration(value, 1_000_000));
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            push::<DurationMicrosecondType>(array, hashes, |value| duration(value, 1_000));
        }
        _ => push::<DurationNanosecondType>(array, hashes, |value| duration(value, 1)),
    }
}

fn push_intervals(array: &ArrayRef, unit: IntervalUnit, hashes: &mut Vec<u64>) {
    match unit {
        IntervalUnit::YearMonth => {
            push::<IntervalYearMonthType>(array, hashes, |months| value_hash::of_interval(months, 0, 0));
        }
        IntervalUnit::DayTime => push::<IntervalDayTimeType>(array, hashes, |value| {
            value_hash::of_interval(0, value.days, i64::from(value.milliseconds) * 1_000_000)
        }),
        IntervalUnit::MonthDayNano => push::<IntervalMonthDayNanoType>(array, hashes, |value| {
            value_hash::of_interval(value.months, value.days, value.nanoseconds)
        }),
    }
}

fn push_dictionary(array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<()> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    if values.len() > array.len() {
        // A slice of a few rows of a large dictionary.
        return push_rows(&take(values, dictionary.keys(), None)?, hashes);
    }
    let mut of_values = Vec::with_capacity(values.len());
    push_rows(&Arc::clone(values), &mut of_values)?;
    // Keys of missing rows may point anywhere.
    hashes.extend(dictionary.normalized_keys().iter().map(|key| of_values.get(*key).copied().unwrap_or_default()));
    Ok(())
}
