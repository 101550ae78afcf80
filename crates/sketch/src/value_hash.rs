//! Hashes of typed values, such as those of an SQL column, in the same space as the hashes of an index.
//!
//! An index reads cells: `1,234` and `1234.0` are one number ([`super::normalise`]). Here values have types, nothing is normalised, and
//! equal values have the same hash whatever their type: 5 as an integer of any width, as a float, as a decimal, and as the text `5`.
//! Numbers and dates are hashed as their canonical text in the index, and texts as [`super::Normaliser::distinct_text`] writes them, so
//! that `minhash(value_normalize(x))` contains exactly the hashes that an index stores for a column.
//!
//! The exception is floats of more than six decimals or fifteen digits, which are hashed by their bits: they are not join values, and
//! writing them out costs more than everything else.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::integer_hash;
use super::normalise::{LONGEST_FOLDED, Tag, tagged_hash};
use super::number::is_canonical;

/// Seeds for values without a canonical text in the index; its own tags are 1 to 3.
const FLOAT: u64 = 5;
const MOMENT: u64 = 6;
const TIME: u64 = 7;
const DURATION: u64 = 8;
const INTERVAL: u64 = 9;
const QUOTED: u64 = 10;

/// Days from 1970-01-01 to the first and last day with a four-digit year.
const FOUR_DIGIT_YEARS: std::ops::RangeInclusive<i64> = -719_528..=2_932_896;
const SECONDS_OF_DAY: i64 = 86_400;
/// The scale of floats that are hashed as decimal numbers: six decimals.
const MILLION: f64 = 1e6;
/// A float below this many millionths stays an exact integer when multiplied by a million, with room for rounding.
const MOST_MILLIONTHS: u64 = 1 << 51;
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
/// Number of decimal digits that an `f64` always preserves.
const SURE_DIGITS: u32 = 15;

/// The hash of a text, or of bytes. Equal texts, and no others, have equal hashes; the module documentation says which numbers and dates
/// have the hash of their text.
#[inline]
pub fn of_text(text: &[u8]) -> u64 {
    match text {
        [b'0'..=b'9' | b'-', ..] => of_figure(text),
        [b'\'', rest @ ..] => of_apostrophised(text, rest),
        _ => of_words(text),
    }
}

fn of_words(text: &[u8]) -> u64 {
    if text.len() > LONGEST_FOLDED { xxh3_64(text) } else { tagged_hash(text, Tag::Text) }
}

fn of_figure(text: &[u8]) -> u64 {
    if text.len() > LONGEST_FOLDED {
        return xxh3_64(text);
    }
    let tag = if is_canonical(text) {
        Tag::Number
    } else if is_iso_date(text) {
        Tag::Date
    } else {
        Tag::Text
    };
    tagged_hash(text, tag)
}

/// Undoes the apostrophes of [`super::Normaliser::distinct_text`].
fn of_apostrophised(text: &[u8], rest: &[u8]) -> u64 {
    match rest {
        [b'\'', unfolded @ ..] if unfolded.len() > LONGEST_FOLDED && unfolded[0] == b'\'' => xxh3_64(unfolded),
        _ if rest.len() > LONGEST_FOLDED || is_canonical(rest) => tagged_hash(rest, Tag::Text),
        // Not a normal form: with one apostrophe only it would have the hash of the form with three.
        _ if text.len() > LONGEST_FOLDED => other(QUOTED, text),
        _ => of_words(text),
    }
}

/// `2020-03`, `2020-03-14`, `2020-03-14T05:06:07`.
fn is_iso_date(text: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    matches!(text.len(), 7 | 10 | 19)
        && text
            .iter()
            .zip(SHAPE)
            .all(|(byte, shape)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
}

/// The hash of a whole number.
#[inline]
pub fn of_integer(value: i64) -> u64 {
    integer_hash::hash(value.unsigned_abs(), value < 0)
}

/// The hash of a whole number.
#[inline]
pub fn of_unsigned(value: u64) -> u64 {
    integer_hash::hash(value, false)
}

/// The hash of a float's number; -0 is 0, and all NaNs are equal.
#[inline]
pub fn of_float(value: f64) -> u64 {
    // Casts instead of `trunc` and `round`, which are function calls on machines without SSE4.1.
    if value as i64 as f64 == value && value < TWO_TO_63 {
        return of_integer(value as i64);
    }
    if (TWO_TO_63..2.0 * TWO_TO_63).contains(&value) {
        return of_unsigned(value as u64);
    }
    let magnitude = value.abs();
    let millionths = (magnitude * MILLION + 0.5) as u64;
    if millionths < MOST_MILLIONTHS && millionths as f64 / MILLION == magnitude {
        // The division rounds correctly (see `number::parse_plain`), so these are the shortest digits of the float.
        return of_millionths(millionths, value < 0.0);
    }
    let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
    other(FLOAT, &bits.to_le_bytes())
}

fn of_millionths(millionths: u64, negative: bool) -> u64 {
    let (whole, mut fraction, mut decimals) = (millionths / 1_000_000, millionths % 1_000_000, 6);
    while fraction % 10 == 0 && decimals > 1 {
        (fraction, decimals) = (fraction / 10, decimals - 1);
    }
    let mut text = Text::default();
    for _ in 0..decimals {
        text.push(b'0' + (fraction % 10) as u8);
        fraction /= 10;
    }
    text.push(b'.');
    text.push_decimal(whole);
    if negative {
        text.push(b'-');
    }
    tagged_hash(text.written(), Tag::Number)
}

/// The hash of the decimal number `mantissa` / 10^`scale`: that of the float if it has at most fifteen digits, otherwise that of its
/// digits.
pub fn of_decimal(mantissa: i128, scale: i8) -> u64 {
    let (mut mantissa, mut scale) = (mantissa, i32::from(scale));
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    if mantissa == 0 {
        return of_integer(0);
    }
    if scale == 0
        && let Ok(whole) = i64::try_from(mantissa)
    {
        return of_integer(whole);
    }
    let digits = mantissa.unsigned_abs().ilog10() + 1;
    // Powers of ten up to 22 are exact in a float.
    if scale > 0 && digits <= SURE_DIGITS && scale <= 22 {
        return of_float(mantissa as f64 / 10f64.powi(scale));
    }
    of_digits(&mantissa.to_string(), scale)
}

/// The hash of a decimal number of any length: the integer text `mantissa`, divided by 10^`scale`.
pub fn of_digits(mantissa: &str, scale: i32) -> u64 {
    let (sign, digits) = mantissa.strip_prefix('-').map_or(("", mantissa), |digits| ("-", digits));
    let mut text = String::from(sign);
    if scale <= 0 {
        text.push_str(digits);
        text.extend(std::iter::repeat_n('0', scale.unsigned_abs() as usize));
        return tagged_hash(text.as_bytes(), Tag::Number);
    }
    let padded = format!("{digits:0>width$}", width = scale as usize + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale as usize);
    let fraction = fraction.trim_end_matches('0');
    text.push_str(whole);
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    tagged_hash(text.as_bytes(), Tag::Number)
}

/// The hash of `true` or `false`.
pub fn of_bool(value: bool) -> u64 {
    tagged_hash(if value { b"true" } else { b"false" }, Tag::Text)
}

/// The hash of a day, counted from 1970-01-01.
#[inline]
pub fn of_day(day: i64) -> u64 {
    if FOUR_DIGIT_YEARS.contains(&day) {
        return of_written_moment(day, 0);
    }
    let nanoseconds = i128::from(day) * i128::from(SECONDS_OF_DAY) * 1_000_000_000;
    other(MOMENT, &nanoseconds.to_le_bytes())
}

/// The hash of a point in time, in units of 1/`per_second` seconds since 1970-01-01. Midnight has the hash of the day.
#[inline]
pub fn of_moment(units: i64, per_second: i64) -> u64 {
    let (seconds, rest) = (units.div_euclid(per_second), units.rem_euclid(per_second));
    let (day, second) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY));
    if rest == 0 && FOUR_DIGIT_YEARS.contains(&day) {
        return of_written_moment(day, second as u64);
    }
    let nanoseconds = i128::from(seconds) * 1_000_000_000 + i128::from(rest * (1_000_000_000 / per_second));
    other(MOMENT, &nanoseconds.to_le_bytes())
}

/// As [`super::temporal::Moment::write_iso`] writes it.
fn of_written_moment(day: i64, second: u64) -> u64 {
    let (year, month, day) = civil(day);
    let mut text = Text::default();
    if second > 0 {
        text.push_pair(second % 60);
        text.push(b':');
        text.push_pair(second / 60 % 60);
        text.push(b':');
        text.push_pair(second / 3_600);
        text.push(b'T');
    }
    text.push_pair(day);
    text.push(b'-');
    text.push_pair(month);
    text.push(b'-');
    text.push_pair(year % 100);
    text.push_pair(year / 100);
    tagged_hash(text.written(), Tag::Date)
}

/// Year, month and day of a day counted from 1970-01-01, for the years 0 to 9999 (Howard Hinnant, "chrono-compatible low-level date
/// algorithms"; years here begin in March).
fn civil(day: i64) -> (u64, u64, u64) {
    // 0000-01-01 is in the year before that of 0000-03-01, so count from 400 years earlier.
    let days = (day + 719_468 + 146_097) as u64;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year_of_era + next - 400, month, day)
}

/// The hash of a time of day.
pub fn of_time(nanoseconds: i64) -> u64 {
    other(TIME, &nanoseconds.to_le_bytes())
}

/// The hash of a duration.
pub fn of_duration(nanoseconds: i128) -> u64 {
    other(DURATION, &nanoseconds.to_le_bytes())
}

/// The hash of an interval; months, days and nanoseconds are not converted into each other.
pub fn of_interval(months: i32, days: i32, nanoseconds: i64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&months.to_le_bytes());
    bytes[4..8].copy_from_slice(&days.to_le_bytes());
    bytes[8..].copy_from_slice(&nanoseconds.to_le_bytes());
    other(INTERVAL, &bytes)
}

fn other(seed: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, seed).max(1)
}

/// Buffer for the text of a number or a point in time, written from its end.
struct Text {
    bytes: [u8; 32],
    start: usize,
}

impl Default for Text {
    #[inline]
    fn default() -> Self {
        Self { bytes: [0; 32], start: 32 }
    }
}

impl Text {
    #[inline]
    fn push(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    #[inline]
    fn push_pair(&mut self, number: u64) {
        self.push(b'0' + (number % 10) as u8);
        self.push(b'0' + (number / 10) as u8);
    }

    #[inline]
    fn push_decimal(&mut self, number: u64) {
        let mut rest = number;
        while rest >= 100 {
            self.push_pair(rest % 100);
            rest /= 100;
        }
        if rest >= 10 {
            self.push_pair(rest);
        } else {
            self.push(b'0' + rest as u8);
        }
    }

    #[inline]
    fn written(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Normaliser;

    /// The hash that an index stores for a cell.
    fn indexed(cell: &str) -> u64 {
        Normaliser::default().value(cell).hash
    }

    #[test]
    fn equal_numbers_of_any_type_have_the_hash_of_the_index() {
        for value in [0, 1, -1, 9, 10, 99, 100, -12_345, 1 << 53, i64::MAX, i64::MIN] {
            assert_eq!(of_integer(value), indexed(&value.to_string()), "{value}");
            assert_eq!(of_integer(value), of_decimal(i128::from(value), 0));
            assert_eq!(of_integer(value), of_decimal(i128::from(value) * 1_000, 3));
            assert_eq!(of_integer(value), of_text(value.to_string().as_bytes()));
        }
        assert_eq!(of_unsigned(u64::MAX), indexed(&u64::MAX.to_string()));
        assert_eq!(of_unsigned(7), of_integer(7));
        assert_eq!(of_float(-0.0), of_integer(0));
        assert_eq!(of_float(5.0), of_integer(5));
        assert_eq!(of_float(f64::NAN), of_float(-f64::NAN));
        assert_ne!(of_float(f64::INFINITY), of_float(f64::NEG_INFINITY));
        for value in [0.5, -0.1, 1.25, 0.000_001, 123_456_789.123_456, -99.9] {
            assert_eq!(of_float(value), indexed(&value.to_string()), "{value}");
        }
        assert_eq!(of_decimal(-1_250, 3), of_float(-1.25));
        assert_eq!(of_decimal(12, -3), of_integer(12_000));
        assert_eq!(of_decimal(0, 9), of_integer(0));
        assert_eq!(of_decimal(123_456_789_012, 12), of_float(0.123_456_789_012));
        let long = 12_345_678_901_234_567_890_123_i128;
        assert_ne!(of_decimal(long, 10), of_decimal(long + 1, 10));
        assert_eq!(of_decimal(long * 10, 11), of_decimal(long, 10));
        assert_eq!(of_digits("-5", 3), of_float(-0.005));
        assert_eq!(of_digits("1200", 2), of_integer(12));
    }

    #[test]
    fn days_and_moments_have_the_hash_of_the_index() {
        let start = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).expect("a day");
        for day in (*FOUR_DIGIT_YEARS.start()..=*FOUR_DIGIT_YEARS.end()).step_by(997).chain([0, -1, 18_321, 2_932_896])
        {
            let date = start + chrono::Duration::days(day);
            assert_eq!(of_day(day), of_text(date.to_string().as_bytes()), "{date}");
        }
        assert_eq!(of_day(18_335), indexed("14 March 2020"));
        assert_eq!(of_moment(18_335 * 86_400, 1), of_day(18_335));
        assert_eq!(of_moment(-86_400_000, 1_000), of_day(-1));
        let moment = 18_335 * 86_400 + 5 * 3_600 + 6 * 60 + 7;
        assert_eq!(of_moment(moment, 1), indexed("2020-03-14 05:06:07"));
        assert_eq!(of_moment(moment * 1_000_000_000, 1_000_000_000), indexed("2020-03-14 05:06:07"));
        assert_eq!(of_moment(moment * 1_000 + 5, 1_000), of_moment(moment * 1_000_000 + 5_000, 1_000_000));
        assert_ne!(of_moment(moment * 1_000 + 5, 1_000), of_moment(moment, 1));
        for day in [i64::from(i32::MIN), i64::from(i32::MAX)] {
            assert_eq!(of_day(day), of_moment(day * 86_400, 1));
        }
        let _ = (of_moment(i64::MIN, 1), of_moment(i64::MAX, 1_000_000_000), of_moment(i64::MIN, 1_000_000_000));
    }

    proptest::proptest! {
        #[test]
        fn normal_forms_have_the_hashes_of_their_cells(
            cell in "\\PC{0,24}|'{0,3}[0-9a]{505,520}|[ '(-]{0,2}[0-9]{1,3}[.,]?[0-9]{0,3}%?[)\\* ]{0,2}\
                     |20[0-9]{2}-[01][0-9](-[0-3][0-9]([ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?)?|[12] Jan 2020"
        ) {
            let mut normaliser = Normaliser::default();
            let hash = normaliser.value(&cell).hash;
            if let Some(form) = normaliser.distinct_text(&cell) {
                proptest::prop_assert_eq!(of_text(form.as_bytes()), hash, "{}", form);
            }
            let mut typed = Normaliser::new(crate::Writing::typed());
            let hash = typed.value(&cell).hash;
            if let Some(form) = typed.distinct_text(&cell) {
                proptest::prop_assert_eq!(of_text(form.as_bytes()), hash, "{}", form);
            }
        }

        #[test]
        fn texts_that_differ_have_different_hashes(
            a in "'{0,3}[-01a.T]{0,4}|'{0,3}[a]{510,516}|'{0,2}2020-01-01",
            b in "'{0,3}[-01a.T]{0,4}|'{0,3}[a]{510,516}|'{0,2}2020-01-01",
        ) {
            proptest::prop_assert_eq!(of_text(a.as_bytes()) == of_text(b.as_bytes()), a == b);
        }

        #[test]
        fn floats_have_the_hashes_of_their_decimals(millionths in -2_000_000_000_000_000i64..2_000_000_000_000_000, cut in 0u32..7) {
            let mantissa = millionths / 10i64.pow(cut);
            let value = mantissa as f64 / 1e6;
            proptest::prop_assert_eq!(of_float(value), of_text(value.to_string().as_bytes()));
            if mantissa.unsigned_abs() < 1_000_000_000_000_000 {
                proptest::prop_assert_eq!(of_float(value), of_decimal(i128::from(mantissa), 6));
            }
        }

        #[test]
        fn floats_that_differ_have_different_hashes(a in proptest::num::f64::ANY, b in proptest::num::f64::ANY) {
            proptest::prop_assert_eq!(of_float(a) == of_float(b), a == b || a.is_nan() && b.is_nan());
        }
    }
}
