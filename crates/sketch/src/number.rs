//! Parses numbers as people write them: thousands separators, decimal commas, currency signs, per cent, accounting brackets.
//!
//! Identifiers that only look like numbers (`02134`, `007`) are not numbers here: leading zeros would be lost. The canonical form of a
//! number is its shortest decimal text, so `1,234`, `1234` and `1234.0` are equal; `50%` and `50` are not.

use std::fmt::Write;

/// The sign beside the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// None.
    None,
    /// A per cent sign.
    Percent,
    /// A currency sign.
    Currency,
}

/// A cell that is a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Its value; a per cent keeps its figure (`50%` is 50).
    pub value: f64,
    /// Whether it has no fractional part as written.
    pub integer: bool,
    /// The sign beside the digits.
    pub unit: Unit,
}

/// Larger whole numbers are stored digit by digit: `f64` represents every integer only up to 2⁵³.
const EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
/// Longer strings of digits are identifiers or noise.
const LONGEST_NUMBER: usize = 48;

/// Number of decimal digits that an `f64` always preserves: two different numbers of at most this many digits are different `f64`s.
const SURE_DIGITS: usize = 15;

/// A number written in plain digits, and its canonical text, which is a part of the cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainNumber<'a> {
    /// Its value.
    pub value: f64,
    /// Whether it has no fractional part as written.
    pub integer: bool,
    /// What [`write_canonical`] would write.
    pub canonical: &'a str,
}

/// Parses the most frequent form of numbers, `123`, `-4.50`, at a fraction of the cost of [`parse_number`]; `None` for everything else,
/// including other forms of numbers.
///
/// Up to 15 digits are exact in the mantissa of an `f64`, and so is the power of ten that divides them, so one division rounds correctly
/// (Clinger, PLDI 1990); the shortest text of the result is these digits without trailing zeros.
pub fn parse_plain(cell: &str) -> Option<PlainNumber<'_>> {
    const POWERS: [f64; SURE_DIGITS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    // Byte by byte: `str::strip_prefix` calls `memcmp`, which is a tenth of the cost of a long table.
    let bytes = cell.as_bytes();
    let unsigned = if bytes.first() == Some(&b'-') { &bytes[1..] } else { bytes };
    if unsigned.len() > SURE_DIGITS + 1 || !unsigned.first()?.is_ascii_digit() {
        return None;
    }
    let (mut mantissa, mut digits, mut point) = (0u64, 0, None);
    for (at, byte) in unsigned.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                digits += 1;
            }
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let whole = point.unwrap_or(unsigned.len());
    let decimals = point.map_or(0, |point| unsigned.len() - point - 1);
    // Zero has one form whatever its sign, `007` is not a number, and `5.` is left to the general parser.
    if digits > SURE_DIGITS || mantissa == 0 || (whole > 1 && unsigned[0] == b'0') || (point.is_some() && decimals == 0)
    {
        return None;
    }
    let value = mantissa as f64 / POWERS[decimals];
    let value = if unsigned.len() < cell.len() { -value } else { value };
    let canonical = if point.is_some() { cell.trim_end_matches('0').trim_end_matches('.') } else { cell };
    Some(PlainNumber { value, integer: point.is_none(), canonical })
}

/// Parses a trimmed cell as a number; `None` if it is not one.
///
/// `digits` receives the plain decimal text (sign, digits, `.`), which [`write_canonical`] turns into the normal form.
pub fn parse_number(cell: &str, digits: &mut String) -> Option<Number> {
    if cell.len() > LONGEST_NUMBER {
        return None;
    }
    let first = cell.chars().next()?;
    if !(first.is_ascii_digit() || matches!(first, '-' | '+' | '.' | '(' | '$' | '€' | '£' | '¥' | '−' | '–')) {
        return None;
    }
    digits.clear();
    let mut rest = cell;
    let mut negative = false;
    let mut unit = Unit::None;
    if let Some(inner) = rest.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        // `(1,234)` is an accountant's negative; `(5)` may as well be a footnote or a list number.
        if !inner.contains([',', '.']) {
            return None;
        }
        negative = true;
        rest = inner;
    }
    if let Some(after) = rest.strip_prefix(['-', '−', '–']) {
        negative = !negative;
        rest = after;
    } else if let Some(after) = rest.strip_prefix('+') {
        rest = after;
    }
    if let Some(after) = rest.strip_prefix(['$', '€', '£', '¥']) {
        unit = Unit::Currency;
        rest = after.trim_start();
        if let Some(after) = rest.strip_prefix(['-', '−']) {
            negative = !negative;
            rest = after;
        }
    } else if let Some(before) = rest.strip_suffix(['€', '£', '$']) {
        unit = Unit::Currency;
        rest = before.trim_end();
    }
    if let Some(before) = rest.strip_suffix('%') {
        unit = Unit::Percent;
        rest = before.trim_end();
    }
    if negative {
        digits.push('-');
    }
    let integer = plain_digits(rest, digits)?;
    let value: f64 = digits.parse().ok()?;
    value.is_finite().then_some(Number { value, integer, unit })
}

/// Appends `text` without its separators and with `.` as the decimal point; returns whether it is a whole number, or `None` if it is not a
/// number.
fn plain_digits(text: &str, out: &mut String) -> Option<bool> {
    let bytes = text.as_bytes();
    let last = *bytes.last()?;
    if !(bytes[0].is_ascii_digit() || bytes[0] == b'.') || !(last.is_ascii_digit() || last == b'.') {
        return None;
    }
    if bytes.len() > 1 && bytes[0] == b'0' && bytes[1].is_ascii_digit() {
        return None;
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        out.push_str(text);
        return Some(true);
    }
    if let Some(position) = bytes.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        return scientific(text, position, out);
    }
    let (decimal, grouping) = separators(text)?;
    let (whole, fraction) = match decimal {
        Some(mark) => text.rsplit_once(mark)?,
        None => (text, ""),
    };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    push_groups(whole, grouping, out)?;
    if fraction.is_empty() {
        return Some(true);
    }
    out.push('.');
    out.push_str(fraction);
    Some(false)
}

fn scientific(text: &str, position: usize, out: &mut String) -> Option<bool> {
    let (mantissa, exponent) = (&text[..position], &text[position + 1..]);
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let fits = !exponent_digits.is_empty() && exponent_digits.len() <= 3;
    if !fits || !exponent_digits.bytes().all(|byte| byte.is_ascii_digit()) || !plain(mantissa) {
        return None;
    }
    out.push_str(text);
    Some(false)
}

/// Which character marks decimals and which groups thousands, from their positions alone; `None` if they contradict.
fn separators(text: &str) -> Option<(Option<char>, Option<char>)> {
    let commas = text.matches(',').count();
    let dots = text.matches('.').count();
    let spaced = text.contains([' ', '\u{a0}', '\u{202f}', '\'']);
    let group_mark = if spaced { text.chars().find(|c| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'')) } else { None };
    let decimals_after = |mark: char| text.rsplit_once(mark).map_or(0, |(_, after)| after.len());
    match (commas, dots, group_mark) {
        (0, 0, group) => Some((None, group)),
        (0, 1, group) => Some((Some('.'), group)),
        (1, 0, Some(group)) => Some((Some(','), Some(group))),
        // `1,234` groups thousands; `12,5` and `0,123` have a decimal comma.
        (1, 0, None) if decimals_after(',') == 3 && !text.starts_with("0,") => Some((None, Some(','))),
        (1, 0, None) => Some((Some(','), None)),
        (_, 0, None) => Some((None, Some(','))),
        (0, _, None) => Some((None, Some('.'))),
        (_, 1, None) if text.rfind('.') > text.rfind(',') => Some((Some('.'), Some(','))),
        (1, _, None) if text.rfind(',') > text.rfind('.') => Some((Some(','), Some('.'))),
        _ => None,
    }
}

/// Appends the whole part without its grouping marks; groups after the first must have three digits.
fn push_groups(whole: &str, grouping: Option<char>, out: &mut String) -> Option<()> {
    let Some(mark) = grouping else {
        if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        out.push_str(if whole.is_empty() { "0" } else { whole });
        return Some(());
    };
    for (place, group) in whole.split(mark).enumerate() {
        let fits = if place == 0 { (1..=3).contains(&group.len()) } else { group.len() == 3 };
        if !fits || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            // `1234.5` has one group only, however long.
            if place == 0 && !whole.contains(mark) && group.bytes().all(|byte| byte.is_ascii_digit()) {
                out.push_str(group);
                return Some(());
            }
            return None;
        }
        out.push_str(group);
    }
    Some(())
}

/// Appends the canonical text of a number whose plain digits are `digits`.
pub fn write_canonical(number: &Number, digits: &str, out: &mut String) {
    if number.integer && number.value.abs() >= EXACT_INTEGER {
        out.push_str(digits);
    } else if number.value == 0.0 {
        out.push('0');
    } else {
        // Writing to a String cannot fail.
        let _ = write!(out, "{}", number.value);
    }
    if number.unit == Unit::Percent {
        out.push('%');
    }
}

/// Whether [`write_canonical`] could have written `text`; true also for some texts that it would not write.
pub fn is_canonical(text: &[u8]) -> bool {
    let figure = text.strip_suffix(b"%").unwrap_or(text);
    let figure = figure.strip_prefix(b"-").unwrap_or(figure);
    let whole = figure.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == 0 || (whole > 1 && figure[0] == b'0') {
        return false;
    }
    match &figure[whole..] {
        [] => true,
        [b'.', fraction @ ..] => !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(cell: &str) -> Option<String> {
        let mut digits = String::new();
        let number = parse_number(cell, &mut digits)?;
        let mut out = String::new();
        write_canonical(&number, &digits, &mut out);
        Some(out)
    }

    #[test]
    fn one_number_has_one_canonical_form_however_it_is_written() {
        for (cell, expected) in [
            ("1", "1"),
            ("1.0", "1"),
            ("+1", "1"),
            (".349", "0.349"),
            ("0.349", "0.349"),
            ("1,234", "1234"),
            ("1,234,567.50", "1234567.5"),
            ("1.234.567", "1234567"),
            ("1.234,56", "1234.56"),
            ("12,5", "12.5"),
            ("0,125", "0.125"),
            ("1 234 567", "1234567"),
            ("1\u{a0}234,5", "1234.5"),
            ("$1,234", "1234"),
            ("€ 12.50", "12.5"),
            ("-3", "-3"),
            ("−3", "-3"),
            ("(1,234)", "-1234"),
            ("50%", "50%"),
            ("1e3", "1000"),
            ("-0", "0"),
            ("12345678901234567890", "12345678901234567890"),
        ] {
            assert_eq!(canonical(cell).as_deref(), Some(expected), "{cell}");
        }
    }

    proptest::proptest! {
        #[test]
        fn plain_digits_mean_what_the_long_way_says(cell in "-?(0|[1-9][0-9]{0,9})?[0-9]{0,3}(\\.[0-9]{0,8})?[%e]?") {
            let Some(plain) = parse_plain(&cell) else { return Ok(()) };
            let mut digits = String::new();
            let number = parse_number(&cell, &mut digits).expect("a number");
            proptest::prop_assert_eq!((plain.value, plain.integer), (number.value, number.integer));
            let long = canonical(&cell);
            proptest::prop_assert_eq!(Some(plain.canonical), long.as_deref());
        }
    }

    #[test]
    fn codes_ranges_and_dates_are_not_numbers() {
        for cell in [
            "02134",
            "007",
            "1-2",
            "1,2,3",
            "12,34,56",
            "1.2.3",
            "2020-01-01",
            "(5)",
            "1e",
            "e5",
            "-",
            "$",
            "%",
            "1,23.456.7",
            "3rd",
        ] {
            assert_eq!(canonical(cell), None, "{cell}");
        }
    }
}
