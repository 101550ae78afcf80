//! Numbers and dates as people type them: `2,500`, `20k`, `half a million`, `1.5 bn`, `a dozen`, `3rd`, `may 2019`.
//!
//! A closed form by a small grammar. It knows no units: `5 percent` is 5, `half an hour` is a half.

use super::words::words;

/// What a run of words comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// The number.
    pub value: f64,
    /// Whether a per cent sign or word stands beside it.
    pub percent: bool,
    /// Whether it is said as a place in an order: `the third`.
    pub ordinal: bool,
}

const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: [&str; 12] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
];
/// How often something happened.
const TIMES: [&str; 3] = ["once", "twice", "thrice"];
/// The names of the months, in small letters.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A word for a power of ten or a dozen.
pub(super) fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" => 1e2,
        "k" | "thousand" | "grand" => 1e3,
        "m" | "mn" | "mio" | "mil" | "million" | "millions" => 1e6,
        "bn" | "billion" | "billions" => 1e9,
        "tn" | "trillion" => 1e12,
        "dozen" => 12.0,
        "score" => 20.0,
        _ => return None,
    })
}

/// A word for a number below a hundred, or an ordinal.
fn small(word: &str) -> Option<f64> {
    let place = |words: &[&str]| words.iter().position(|known| *known == word).map(|place| place as f64);
    let times = place(&TIMES).map(|at| at + 1.0);
    place(&UNITS)
        .or_else(|| place(&TENS).map(|ten| 20.0 + 10.0 * ten))
        .or_else(|| place(&ORDINALS).map(|at| at + 1.0))
        .or(times)
}

/// The number that a text says, the first one; signs, currencies and units around it do not matter.
pub fn number(text: &str) -> Option<Number> {
    let lower = text.to_lowercase();
    let parts: Vec<&str> = words(&lower).into_iter().map(|word| &lower[word.bytes]).collect();
    let percent = parts.iter().any(|part| matches!(*part, "%" | "percent" | "pct" | "percentage"))
        || parts.windows(2).any(|two| two == ["per", "cent"]);
    let mut at = 0;
    let (mut total, mut current, mut found) = (0.0, 0.0, false);
    let (mut negative, mut ordinal) = (false, false);
    while at < parts.len() {
        let part = parts[at];
        if part.starts_with(|c: char| c.is_ascii_digit()) && part.bytes().all(|byte| byte.is_ascii_digit()) {
            if found && current != 0.0 && !is_scale_before(&parts, at) {
                break;
            }
            let (digits, used) = digits(&lower, &parts, at);
            negative |= at > 0 && matches!(parts[at - 1], "-" | "minus" | "−") && at == 1;
            current += digits;
            found = true;
            at += used;
            continue;
        }
        if let Some(value) = small(part) {
            current += value;
            ordinal |= ORDINALS.contains(&part);
            found = true;
        } else if part == "half"
            && match found {
                true => parts[at - 1] == "a",
                false => parts.get(at + 1).is_some_and(|next| matches!(*next, "a" | "an")),
            }
        {
            // "half a million", "half an hour", "two and a half"
            let of = parts.get(at + 2).filter(|_| !found).and_then(|next| scale(next));
            current += 0.5 * of.unwrap_or(1.0);
            at += if of.is_some() { 3 } else { 1 };
            found = true;
            continue;
        } else if let ("quarter" | "quarters", Some(&"of"), Some(&("a" | "an"))) =
            (part, parts.get(at + 1), parts.get(at + 2))
        {
            // "a quarter of an hour", "three quarters of a mile"
            current = 0.25 * if found { current } else { 1.0 };
            found = true;
        } else if let Some(factor) = scale(part).filter(|_| found || part.len() > 2) {
            if factor == 100.0 || factor == 12.0 || factor == 20.0 {
                current = if current == 0.0 { factor } else { current * factor };
            } else {
                total += if current == 0.0 { factor } else { current * factor };
                current = 0.0;
            }
            found = true;
        } else if found && !matches!(part, "and" | "-" | "a") {
            break;
        }
        at += 1;
    }
    let value = total + current;
    found.then_some(Number { value: if negative { -value } else { value }, percent, ordinal })
}

fn is_scale_before(parts: &[&str], at: usize) -> bool {
    at > 0 && scale(parts[at - 1]).is_some()
}

/// A number written with digits, with separators of thousands and a decimal point, and how many parts it takes.
fn digits(text: &str, parts: &[&str], at: usize) -> (f64, usize) {
    let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let mut whole = parts[at].to_string();
    let mut used = 1;
    let mut end = offset(parts[at]) + parts[at].len();
    let next = |used: usize, end: usize| -> Option<(&str, &str, usize)> {
        let (sign, digits) = (parts.get(at + used)?, parts.get(at + used + 1)?);
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && offset(sign) == end && offset(digits) == end + sign.len())
            .then(|| (*sign, *digits, offset(digits) + digits.len()))
    };
    // `1,234,567` and `1 234 567`, where every group has three digits.
    while let Some((sign, group, to)) = next(used, end) {
        if !matches!(sign, "," | "'" | "’") || group.len() != 3 {
            break;
        }
        whole.push_str(group);
        used += 2;
        end = to;
    }
    while used == 1 || whole.len() > 3 {
        let Some(group) = parts.get(at + used) else { break };
        let is_group = group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
        if !is_group || offset(group) != end + 1 || (used == 1 && whole.len() > 3) {
            break;
        }
        whole.push_str(group);
        end = offset(group) + 3;
        used += 1;
    }
    if let Some((".", fraction, _)) = next(used, end) {
        whole.push('.');
        whole.push_str(fraction);
        used += 2;
    }
    (whole.parse().unwrap_or(0.0), used)
}

/// A date that a text says: `2023-05-01`, `3 May 2021`, `may 2021` (its first day), with the month of a bare month's name in the
/// given year. Returns year, month and day; month and day are missing where the text has none.
pub fn date(text: &str) -> Option<(i32, Option<u32>, Option<u32>)> {
    date_in(text, None)
}

/// The same; the day of a month without a year is one of `year`.
pub fn date_in(text: &str, year: Option<i32>) -> Option<(i32, Option<u32>, Option<u32>)> {
    let lower = text.to_lowercase();
    let parts: Vec<&str> =
        words(&lower).into_iter().filter(|word| word.is_word).map(|word| &lower[word.bytes]).collect();
    let numbers: Vec<u32> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    let said = numbers.iter().copied().find(|number| (1000..=2999).contains(number)).map(|year| year as i32);
    let named = parts.iter().find_map(|part| {
        MONTHS.iter().position(|month| part.len() >= 3 && month.starts_with(part)).map(|at| at as u32 + 1)
    });
    let rest: Vec<u32> = numbers.into_iter().filter(|number| said != Some(*number as i32)).collect();
    let year = said.or(year.filter(|_| named.is_some() && !rest.is_empty()))?;
    let valid = |month: u32, day: Option<u32>| {
        ((1..=12).contains(&month) && day.is_none_or(|day| (1..=31).contains(&day))).then_some((year, Some(month), day))
    };
    match (named, rest.as_slice()) {
        (Some(month), []) => valid(month, None),
        (Some(month), [day, ..]) => valid(month, Some(*day)),
        (None, []) => Some((year, None, None)),
        (None, [month]) => valid(*month, None),
        (None, [month, day, ..]) => valid(*month, Some(*day)),
    }
}

/// The number of a month by its name or the beginning of it.
pub fn month(text: &str) -> Option<u32> {
    let lower = text.trim().to_lowercase();
    let lower = lower.trim_end_matches('.');
    let place = MONTHS.iter().position(|month| lower.len() >= 3 && month.starts_with(lower))?;
    Some(place as u32 + 1)
}

/// Months of a year that follow one another: their first and last, 1..=12, which is below the first for those over the turn of the year.
pub type Months = (u32, u32);

/// Several months that a text says, with the year if it says one: seasons of the northern half, quarters, halves, `June to August`.
pub fn months(text: &str) -> Option<(Option<i32>, Months)> {
    const SEASONS: [(&str, Months); 5] =
        [("spring", (3, 5)), ("summer", (6, 8)), ("autumn", (9, 11)), ("fall", (9, 11)), ("winter", (12, 2))];
    const BETWEEN: [&str; 6] = ["to", "till", "until", "through", "and", "thru"];
    let lower = text.to_lowercase();
    let parts: Vec<&str> = words(&lower).into_iter().map(|word| &lower[word.bytes]).collect();
    let year = parts.iter().filter_map(|part| part.parse().ok()).find(|year| (1000..=2999).contains(year));
    let season =
        || parts.iter().find_map(|part| SEASONS.iter().find(|(name, _)| name == part).map(|(_, months)| *months));
    // `Q4`, `H1`; words part letters from digits.
    let short = |letter: &str, most: u32| {
        let whole = |part: &&str| part.strip_prefix(letter).and_then(|number| number.parse().ok());
        let apart = |two: &[&str]| (two[0] == letter).then(|| two[1].parse().ok()).flatten();
        let number = parts.iter().find_map(whole).or_else(|| parts.windows(2).find_map(apart));
        number.filter(|number: &u32| (1..=most).contains(number))
    };
    let spelt = |name: &str, most: u32| {
        let place = parts.iter().position(|part| *part == name)?;
        let before = place.checked_sub(1).and_then(|at| parts.get(at))?;
        let last = || (*before == "last").then_some(most);
        let said = number(before).filter(|number| number.ordinal).map(|number| number.value as u32);
        said.or_else(last).filter(|number| (1..=most).contains(number))
    };
    let part_of_year = |number: u32, length: u32| ((number - 1) * length + 1, number * length);
    let quarter = || short("q", 4).or_else(|| spelt("quarter", 4)).map(|number| part_of_year(number, 3));
    let half = || short("h", 2).or_else(|| spelt("half", 2)).map(|number| part_of_year(number, 6));
    let range = || {
        let named: Vec<(usize, u32)> =
            parts.iter().enumerate().filter_map(|(at, part)| Some((at, month(part)?))).collect();
        let [(from, first), (to, last)] = named[..] else { return None };
        let joins = parts[from + 1..to].iter().any(|part| BETWEEN.contains(part) || matches!(*part, "-" | "–"));
        (joins && to - from <= 3).then_some((first, last))
    };
    Some((year, season().or_else(quarter).or_else(half).or_else(range)?))
}

/// The number of a weekday, 1 for Monday, by its name or the beginning of it.
pub fn weekday(text: &str) -> Option<u32> {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let lower = text.trim().to_lowercase();
    let lower = lower.strip_suffix('s').filter(|word| word.ends_with("day")).unwrap_or(&lower);
    let place = DAYS.iter().position(|day| lower.len() >= 3 && day.starts_with(lower))?;
    Some(place as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let of = |text: &str| number(text).map(|number| number.value);
        for (text, value) in [
            ("2,500", 2500.0),
            ("2.5k", 2500.0),
            ("20k", 20_000.0),
            ("1 250 000", 1_250_000.0),
            ("half a million", 500_000.0),
            ("half an hour", 0.5),
            ("two and a half", 2.5),
            ("a quarter of an hour", 0.25),
            ("three quarters of a mile", 0.75),
            ("three dozen", 36.0),
            ("a dozen", 12.0),
            ("twenty five", 25.0),
            ("two hundred and ten thousand", 210_000.0),
            ("£1.2 million", 1_200_000.0),
            ("5 percent", 5.0),
            ("5,000 ft", 5000.0),
            ("the third", 3.0),
            ("1.75", 1.75),
            ("-3 degrees", -3.0),
            ("a grand", 1000.0),
        ] {
            assert_eq!(of(text), Some(value), "{text}");
        }
        assert!(number("5 %").is_some_and(|number| number.percent));
        assert!(number("the second wave").is_some_and(|number| number.ordinal));
        assert_eq!(of("the cheapest"), None);
        assert_eq!(of("m"), None, "a letter alone is no million");
    }

    #[test]
    fn several_months_are_read_in_their_usual_forms() {
        for (text, expected) in [
            ("spring 2023", Some((Some(2023), (3, 5)))),
            ("the winter", Some((None, (12, 2)))),
            ("Q4", Some((None, (10, 12)))),
            ("q1 2019", Some((Some(2019), (1, 3)))),
            ("the second quarter of 2020", Some((Some(2020), (4, 6)))),
            ("last quarter", Some((None, (10, 12)))),
            ("first half", Some((None, (1, 6)))),
            ("H2 2021", Some((Some(2021), (7, 12)))),
            ("June to August 2023", Some((Some(2023), (6, 8)))),
            ("nov - feb", Some((None, (11, 2)))),
            ("three quarters of a mile", None),
            ("the 0th quarter", None),
            ("june", None),
            ("2019", None),
        ] {
            assert_eq!(months(text), expected, "{text}");
        }
    }

    #[test]
    fn dates_and_their_parts() {
        assert_eq!(date("2023-05-01"), Some((2023, Some(5), Some(1))));
        assert_eq!(date("1st of September 2017"), Some((2017, Some(9), Some(1))));
        assert_eq!(date("may 2021"), Some((2021, Some(5), None)));
        assert_eq!(date("1999"), Some((1999, None, None)));
        assert_eq!(date("May"), None);
        assert_eq!(date_in("from 20 september on", Some(2017)), Some((2017, Some(9), Some(20))));
        assert_eq!(date_in("20 september", None), None);
        assert_eq!(date_in("september", Some(2017)), None);
        assert_eq!((month("sept"), weekday("Sundays")), (Some(9), Some(7)));
    }
}
