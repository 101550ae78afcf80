//! From cells as written to typed values, by the profile of their column.
//!
//! The profile has seen every cell, so the type holds for the whole column and not only for its head, and so does [how the column writes
//! its values](Writing), which says what is missing. A cell that does not fit becomes NULL and is counted: types are agreed on by 95% of a
//! column's cells, so there may be some.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Float64Array, Int64Array, StringArray, StringBuilder,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, TimeUnit};
use chrono::{Datelike, NaiveDate};

use lakeward_core::error::{Error, Result};
use lakeward_core::text::yes_or_no;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_sketch::Writing;
use lakeward_sketch::normalise::without_footnotes;
use lakeward_sketch::temporal::{DateOrder, Moment, parse_date};

/// Days from 0001-01-01, day 1, to 1970-01-01.
const UNIX_EPOCH_FROM_CE: i32 = 719_163;

/// How the cells of a column become values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellType {
    /// As written.
    Text,
    /// Whole numbers; `1,234` is 1234.
    Integer,
    /// Numbers; `$5` is 5 and `50%` is 50.
    Float,
    /// Days; a month is its first day.
    Date,
    /// Times as written on the clock; zone offsets are not applied.
    Timestamp,
    /// Yes and no.
    Boolean,
    /// The file declares the type.
    Declared(DataType),
}

impl CellType {
    /// The type for a column of text cells.
    pub fn of(column: &ColumnProfile) -> Self {
        match column.logical {
            LogicalType::Integer if fits_int64(column) => CellType::Integer,
            LogicalType::Float => CellType::Float,
            LogicalType::Date => CellType::Date,
            LogicalType::Timestamp => CellType::Timestamp,
            // 0 and 1 are summed and averaged more often than negated.
            LogicalType::Boolean if column.top.iter().all(|(value, _)| matches!(value.trim(), "0" | "1")) => {
                CellType::Integer
            }
            LogicalType::Boolean => CellType::Boolean,
            _ => CellType::Text,
        }
    }

    /// The Arrow type of the values.
    pub fn data_type(&self) -> DataType {
        match self {
            CellType::Text => DataType::Utf8,
            CellType::Integer => DataType::Int64,
            CellType::Float => DataType::Float64,
            CellType::Date => DataType::Date32,
            CellType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            CellType::Boolean => DataType::Boolean,
            CellType::Declared(declared) => declared.clone(),
        }
    }
}

/// Identifiers of twenty digits are whole numbers too, but no `Int64`; they stay text, digit by digit.
fn fits_int64(column: &ColumnProfile) -> bool {
    const LIMIT: f64 = 9.2e18;
    let bound = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    [&column.min, &column.max].into_iter().filter_map(bound).all(|number| number.abs() < LIMIT)
}

/// Turns the batches of one column into values, one after the other.
#[derive(Debug)]
pub struct CellReader {
    cell_type: CellType,
    writing: Writing,
    digits: String,
    /// Cells that did not fit so far.
    pub misfits: u64,
}

impl CellReader {
    /// A reader for cells of `cell_type` in a column that writes its values like this.
    pub fn new(cell_type: CellType, writing: Writing) -> Self {
        Self { cell_type, writing, digits: String::new(), misfits: 0 }
    }

    /// The values of the next cells.
    ///
    /// # Errors
    /// [`Error::Internal`] where the lake's reader gives another type than it promises.
    pub fn read(&mut self, array: &ArrayRef) -> Result<ArrayRef> {
        if let CellType::Declared(declared) = &self.cell_type {
            return if array.data_type() == declared {
                Ok(Arc::clone(array))
            } else {
                Err(Error::Internal(format!("a column of {} where {declared} was declared", array.data_type())))
            };
        }
        let Some(cells) = array.as_string_opt::<i32>() else {
            return Err(Error::Internal(format!("a column of {} in a text format", array.data_type())));
        };
        let Self { writing, digits, misfits, .. } = self;
        let order = writing.dates;
        Ok(match self.cell_type {
            CellType::Text => text(array, cells, writing),
            CellType::Integer => {
                // Up to 15 digits, which a double holds exactly.
                let plain = |cell: &str| {
                    writing.plain_number(cell).filter(|number| number.integer).map(|number| number.value as i64)
                };
                let parse = |cell: &str| integer(cell, writing, digits);
                Arc::new(values(cells, writing, misfits, plain, parse).collect::<Int64Array>())
            }
            CellType::Float => {
                let plain = |cell: &str| writing.plain_number(cell).map(|number| number.value);
                let parse = |cell: &str| writing.number(cell, digits).map(|number| number.value);
                Arc::new(values(cells, writing, misfits, plain, parse).collect::<Float64Array>())
            }
            CellType::Date => {
                let day = |moment: Moment| if moment.second == 0 { days(&moment) } else { None };
                let parse = |cell: &str| parse_date(cell, order).and_then(day);
                Arc::new(values(cells, writing, misfits, iso_day, parse).collect::<Date32Array>())
            }
            CellType::Timestamp => {
                let parse = |cell: &str| microseconds(cell, order);
                Arc::new(values(cells, writing, misfits, |_| None, parse).collect::<TimestampMicrosecondArray>())
            }
            CellType::Boolean => {
                Arc::new(values(cells, writing, misfits, |_| None, yes_or_no).collect::<BooleanArray>())
            }
            CellType::Declared(_) => Arc::clone(array),
        })
    }
}

/// What `plain` makes of each cell, else `parse`, without its footnote marks where it needs that; counts what is neither a value
/// nor missing. `plain` reads the usual form of a value fast, and gives none for everything else.
fn values<T>(
    cells: &StringArray,
    writing: &Writing,
    misfits: &mut u64,
    plain: impl Fn(&str) -> Option<T>,
    mut parse: impl FnMut(&str) -> Option<T>,
) -> impl Iterator<Item = Option<T>> {
    cells.iter().map(move |cell| {
        let cell = cell?;
        if writing.missing.is_empty()
            && let Some(value) = plain(cell)
        {
            return Some(value);
        }
        let cell = Some(cell.trim()).filter(|cell| !writing.is_missing(cell))?;
        let value = parse(cell).or_else(|| parse(without_footnotes(cell)));
        *misfits += u64::from(value.is_none());
        value
    })
}

fn text(array: &ArrayRef, cells: &StringArray, writing: &Writing) -> ArrayRef {
    let missing = |cell: &str| writing.is_missing(cell.trim());
    if !cells.iter().flatten().any(missing) {
        return Arc::clone(array);
    }
    let mut values = StringBuilder::with_capacity(cells.len(), cells.value_data().len());
    cells.iter().for_each(|cell| values.append_option(cell.filter(|cell| !missing(cell))));
    Arc::new(values.finish())
}

/// The day that `2021-03-14` names.
fn iso_day(cell: &str) -> Option<i32> {
    let [a, b, c, d, b'-', e, f, b'-', g, h] = *cell.as_bytes() else { return None };
    let number = |digits: &[u8]| {
        digits
            .iter()
            .try_fold(0u32, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
    };
    let (year, month, day) = (number(&[a, b, c, d])?, number(&[e, f])?, number(&[g, h])?);
    if year == 0 {
        return None;
    }
    days(&Moment { year: year.try_into().ok()?, month: month.try_into().ok()?, day: day.try_into().ok()?, second: 0 })
        .filter(|_| day > 0)
}

fn integer(cell: &str, writing: &Writing, digits: &mut String) -> Option<i64> {
    // The digits rather than the number: `f64` is exact up to 2⁵³ only.
    let number = writing.number(cell, digits)?;
    if number.integer { digits.trim_end_matches('.').parse().ok() } else { None }
}

/// Days since 1970-01-01; a month is its first day.
pub(super) fn days(moment: &Moment) -> Option<i32> {
    let date = NaiveDate::from_ymd_opt(moment.year.into(), moment.month.into(), moment.day.max(1).into())?;
    Some(date.num_days_from_ce() - UNIX_EPOCH_FROM_CE)
}

fn microseconds(cell: &str, order: DateOrder) -> Option<i64> {
    let moment = parse_date(cell, order)?;
    let seconds = i64::from(days(&moment)?) * 86_400 + i64::from(moment.second);
    Some(seconds * 1_000_000 + fraction_us(cell))
}

/// Microseconds of `…:07.25`; 0 where seconds have no fraction.
fn fraction_us(cell: &str) -> i64 {
    // A zone offset (`+01:00`) has a colon of its own, so the fraction is looked for by its dot.
    let Some((before, after)) = cell.rsplit_once('.') else { return 0 };
    let seconds = before.as_bytes();
    let in_time = seconds.len() >= 3 && seconds[seconds.len() - 3] == b':';
    let digits = after.bytes().take_while(u8::is_ascii_digit).take(6);
    let (value, count) = digits.fold((0, 0), |(value, count), byte| (value * 10 + i64::from(byte - b'0'), count + 1));
    if in_time { value * 10i64.pow(6 - count) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cell_type: CellType, cells: &[Option<&str>]) -> (ArrayRef, u64) {
        let array: ArrayRef = Arc::new(StringArray::from(cells.to_vec()));
        let mut reader = CellReader::new(cell_type, Writing::default());
        (reader.read(&array).expect("values"), reader.misfits)
    }

    #[test]
    fn numbers_are_read_as_written_and_misfits_are_counted() {
        let cells = [
            Some("1,234"),
            Some(" 7 "),
            Some("12[1]"),
            Some("9007199254740993"),
            Some("n/a"),
            None,
            Some("12a"),
            Some("1.5"),
        ];
        let (array, misfits) = read(CellType::Integer, &cells);
        let expected = [Some(1234), Some(7), Some(12), Some(9_007_199_254_740_993), None, None, None, None];
        assert_eq!(array.as_any().downcast_ref::<Int64Array>(), Some(&Int64Array::from(expected.to_vec())));
        assert_eq!(misfits, 2);
        let (array, misfits) =
            read(CellType::Float, &[Some("$5"), Some("50%"), Some("(1,234.5)"), Some("1e3"), Some("x")]);
        let floats: Vec<Option<f64>> = array.as_primitive::<arrow::datatypes::Float64Type>().iter().collect();
        assert_eq!(floats, [Some(5.0), Some(50.0), Some(-1234.5), Some(1000.0), None]);
        assert_eq!(misfits, 1);
    }

    #[test]
    fn times_keep_their_fraction() {
        assert_eq!(microseconds("1970-01-01T00:00:01.25Z", DateOrder::Unknown), Some(1_250_000));
        assert_eq!(microseconds("1970-01-02 00:00:00.000001+01:00", DateOrder::Unknown), Some(86_400_000_001));
        assert_eq!(microseconds("02.01.1970 00:01", DateOrder::Unknown), Some(86_460_000_000));
    }

    #[test]
    fn cells_mean_what_their_column_says() {
        let read = |cell_type, how: &str, cells: &[&str]| {
            let array: ArrayRef = Arc::new(StringArray::from(cells.to_vec()));
            CellReader::new(cell_type, how.parse().expect("a writing")).read(&array).expect("values")
        };
        let cells = ["NA", "", "DE", "-9"];
        assert_eq!(read(CellType::Text, "word=NA", &cells).null_count(), 1);
        assert_eq!(read(CellType::Text, "", &cells).null_count(), 2);
        assert_eq!(read(CellType::Text, "missing=-9", &cells).null_count(), 3);
        let people = read(CellType::Integer, "point=thousands, missing=-9", &["645.705", "1922523", "-9", "847"]);
        let expected = Int64Array::from(vec![Some(645_705), Some(1_922_523), None, Some(847)]);
        assert_eq!(people.as_primitive::<arrow::datatypes::Int64Type>(), &expected);
    }
}
