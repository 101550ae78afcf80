//! Years in texts and in values.
//!
//! Whether a number is a year depends on its context, so there are three ranges: [`STATED`] where a field or a column is declared to
//! contain dates, [`LIKELY`] for any other number of four digits, [`RECENT`] where a non-year number is as likely.

use std::ops::RangeInclusive;

/// Years in declared dates, as in a publisher's metadata; they include old charters and projections.
pub const STATED: RangeInclusive<i32> = 1000..=2999;
/// Four digits that are usually a year though not declared as one, such as a header `1995` or a word of a request.
pub const LIKELY: RangeInclusive<i32> = 1500..=2150;
/// Four digits where other numbers are as likely: values of a column whose name does not mention years, the end of a name.
pub const RECENT: RangeInclusive<i32> = 1800..=2100;

/// `text` as a year, if it is exactly four digits in `range`.
pub fn year(text: &str, range: RangeInclusive<i32>) -> Option<i32> {
    let is_number = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().filter(|year| range.contains(year))
}

/// The years in `text`, in order: runs of exactly four digits in `range`.
pub fn years(text: &str, range: RangeInclusive<i32>) -> impl Iterator<Item = i32> {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(move |digits| year(digits, range.clone()))
}

/// The year of an ISO 8601 date: `1999`, `1999-01`, `1999-01-02` and `1999-01-02T…`.
pub fn year_of_date(text: &str) -> Option<i32> {
    let (year, rest) = text.split_at_checked(4)?;
    let is_date = year.bytes().all(|byte| byte.is_ascii_digit())
        && (rest.is_empty()
            || rest.strip_prefix('-').is_some_and(|rest| {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                digits == 2 && matches!(rest.as_bytes().get(2), None | Some(b'-' | b'T' | b' '))
            }));
    is_date.then(|| year.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_four_digits_in_their_range() {
        assert_eq!(["1995", " 1995", "+995", "19950", "2150", "2151", "é19"].map(|text| year(text, LIKELY)), {
            [Some(1995), None, None, None, Some(2150), None, None]
        });
        assert_eq!(years("from 1066 (or 12345) to 2024", STATED).collect::<Vec<_>>(), [1066, 2024]);
        assert_eq!(years("from 1066 to 2024", RECENT).collect::<Vec<_>>(), [2024]);
    }

    #[test]
    fn dates_are_read_as_far_as_they_go() {
        assert_eq!(["1999", "1999-01", "1999-01-02T00:00:00Z"].map(year_of_date), [Some(1999); 3]);
        assert_eq!(["19990102", "1999-1", "99", "soon", "été9"].map(year_of_date), [None; 5]);
    }
}
