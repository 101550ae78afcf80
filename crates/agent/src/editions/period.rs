//! Years and months, as a text names them and as the name of a table writes them.

use std::ops::Range;

use lakeward_core::text::lower_words;
use lakeward_core::text::years::{LIKELY, year};
use lakeward_reading::reader::{MONTHS, month_in_words};

/// Words between the first and the last of several periods.
const UNTIL: [&str; 5] = ["to", "through", "thru", "until", "till"];
/// Months that are other words as well, unless one of these stands before them or a year behind them.
const OTHER_WORDS: [&str; 3] = ["may", "march", "mar"];
const BEFORE_MONTHS: [&str; 16] = [
    "in", "of", "for", "from", "since", "until", "till", "during", "and", "or", "to", "through", "only", "just",
    "plus", "versus",
];
/// Most periods of one range.
const LONGEST_RANGE: usize = 24;

/// A year, a month of any year, or a month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    pub year: Option<i32>,
    pub month: Option<u32>,
}

/// The periods that a text names, each once; those between the ends of a range with them.
pub(super) fn periods(text: &str) -> Vec<Period> {
    let words: Vec<String> = lower_words(text).collect();
    // With the places of their words.
    let mut found: Vec<(Range<usize>, Period)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| words[before].as_str());
        if let Some(year) = year(word, LIKELY) {
            // "June and July 2024" are both of that year.
            match found.last_mut().filter(|(place, said)| place.end == at && said.year.is_none()) {
                Some((place, _)) => {
                    place.end = at + 1;
                    let months = found.iter_mut().rev().take_while(|(_, said)| said.year.is_none());
                    months.for_each(|(_, said)| said.year = Some(year));
                }
                None => found.push((at..at + 1, Period { year: Some(year), month: None })),
            }
        } else if let Some(month) = month_in_words(word).filter(|_| word.chars().all(char::is_alphabetic)) {
            let next = |behind: usize| words.get(at + behind).map_or("", String::as_str);
            let is_first = UNTIL.contains(&next(1)) && month_in_words(next(2)).is_some();
            let is_month = !OTHER_WORDS.contains(&word.as_str())
                || is_first
                || year(next(1), LIKELY).is_some()
                || words.len() == 1
                || BEFORE_MONTHS.contains(&before);
            if is_month {
                found.push((at..at + 1, Period { year: None, month: Some(month) }));
            }
        }
    }
    let mut each: Vec<Period> = Vec::new();
    for (place, (at, period)) in found.iter().enumerate() {
        let first = place.checked_sub(1).map(|place| &found[place]);
        let is_range = |(first, _): &&(Range<usize>, Period)| match at.start - first.end {
            0 => {
                ["-", "–"].iter().any(|dash| text.contains(&format!("{}{dash}{}", words[first.start], words[at.start])))
            }
            1 => UNTIL.contains(&words[first.end].as_str()),
            _ => false,
        };
        let between = first.filter(is_range).map_or_else(Vec::new, |(_, first)| between(*first, *period));
        for said in between.into_iter().chain([*period]) {
            if !each.contains(&said) {
                each.push(said);
            }
        }
    }
    each
}

/// The periods after `first` and before `last`.
fn between(first: Period, last: Period) -> Vec<Period> {
    let (from, to) = match (first, last) {
        (Period { year: Some(from), month: None }, Period { year: Some(to), month: None }) => {
            return (from + 1..to).take(LONGEST_RANGE).map(|year| Period { year: Some(year), month: None }).collect();
        }
        (Period { year: from, month: Some(first) }, Period { year: to, month: Some(last) })
            if from.is_some() == to.is_some() =>
        {
            (from.unwrap_or(0) * 12 + first as i32 - 1, to.unwrap_or(0) * 12 + last as i32 - 1)
        }
        _ => return Vec::new(),
    };
    let of = |month: i32| Period {
        year: first.year.map(|_| month.div_euclid(12)),
        month: Some(month.rem_euclid(12) as u32 + 1),
    };
    (from + 1..to).take(LONGEST_RANGE).map(of).collect()
}

/// Whether a name says a period.
pub(super) fn is_named(id: &str, said: Period) -> bool {
    let runs = runs(id);
    let has = |text: Vec<String>| runs.iter().any(|run| text.contains(&id[run.clone()].to_lowercase()));
    said.year.is_none_or(|year| has(vec![year.to_string()])) && said.month.is_none_or(|month| has(written(month)))
}

/// The ways in which a name may write a month, in small letters.
fn written(month: u32) -> Vec<String> {
    let name = MONTHS[month as usize - 1];
    vec![format!("{month:02}"), name.to_string(), name[..3].to_string()]
}

/// The names that `id` would have for another period: its year, its month, or both are others.
pub(super) fn names_of(id: &str, said: Period) -> Vec<String> {
    let runs = runs(id);
    let with_year = |run: &Range<usize>| {
        let year = said.year?;
        let old = &id[run.clone()];
        old.bytes().all(|byte| byte.is_ascii_digit()).then(|| match old.len() {
            4 => year.to_string(),
            _ => format!("{:02}", year % 100),
        })
    };
    let with_month = |run: &Range<usize>| {
        let (month, old) = (said.month?, &id[run.clone()]);
        let name = MONTHS[month as usize - 1];
        match old.parse::<u32>() {
            Ok(number) => (old.len() == 2 && (1..=12).contains(&number)).then(|| format!("{month:02}")),
            Err(_) => {
                let new = if old.len() == 3 { &name[..3] } else { name };
                let is_capital = old.starts_with(char::is_uppercase);
                Some(if is_capital { format!("{}{}", new[..1].to_uppercase(), &new[1..]) } else { new.to_string() })
            }
        }
    };
    let replaced = |mut changes: Vec<(&Range<usize>, String)>| {
        changes.sort_by_key(|(run, _)| std::cmp::Reverse(run.start));
        let mut name = id.to_string();
        changes.into_iter().for_each(|(run, new)| name.replace_range(run.clone(), &new));
        name
    };
    let mut names = Vec::new();
    for run in &runs {
        names.extend(with_year(run).filter(|_| said.month.is_none()).map(|new| replaced(vec![(run, new)])));
        let Some(month) = with_month(run) else { continue };
        // In the year that the name says, or in another.
        names.push(replaced(vec![(run, month.clone())]));
        let years = runs.iter().filter(|other| *other != run).filter_map(|other| Some((other, with_year(other)?)));
        names.extend(years.map(|(other, year)| replaced(vec![(run, month.clone()), (other, year)])));
    }
    names
}

/// The parts of `id` that may say a period: four digits that are a year, two digits, the name of a month.
fn runs(id: &str) -> Vec<Range<usize>> {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        _ if byte.is_ascii_alphabetic() => 2,
        _ => 0,
    };
    let mut runs = Vec::new();
    let mut start = 0;
    let bytes = id.as_bytes();
    for at in 1..=bytes.len() {
        if at < bytes.len() && kind(bytes[at]) == kind(bytes[start]) {
            continue;
        }
        let text = id.get(start..at).unwrap_or_default();
        let is_period = match kind(bytes[start]) {
            1 => text.len() == 2 || year(text, LIKELY).is_some(),
            2 => text.len() == 3 && month_in_words(text).is_some() || MONTHS.contains(&text.to_lowercase().as_str()),
            _ => false,
        };
        if is_period {
            runs.push(start..at);
        }
        start = at;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_and_months_in_names() {
        let found = |id: &str| runs(id).into_iter().map(|run| id[run].to_string()).collect::<Vec<_>>();
        assert_eq!(found("sal/inv_2021"), ["2021"]);
        assert_eq!(found("wo/wo_21"), ["21"]);
        assert_eq!(found("zone3/f_00042"), Vec::<String>::new());
        assert_eq!(found("q1_2020_12"), ["2020", "12"]);
        assert_eq!(found("january24_é"), ["january", "24"]);
        assert_eq!(found("reads_Jan_24"), ["Jan", "24"]);
    }

    #[test]
    fn periods_are_read_as_people_write_them() {
        let of = |text: &str| periods(text).iter().map(|said| (said.year, said.month)).collect::<Vec<_>>();
        assert_eq!(of("the same for 2020"), [(Some(2020), None)]);
        assert_eq!(of("2018 to 2020"), [(Some(2018), None), (Some(2019), None), (Some(2020), None)]);
        assert_eq!(of("2018-2020").len(), 3);
        assert_eq!(of("stick june + july on"), [(None, Some(6)), (None, Some(7))]);
        assert_eq!(of("June and July 2024, please"), [(Some(2024), Some(6)), (Some(2024), Some(7))]);
        assert_eq!(of("nov 2023 to feb 2024").len(), 4);
        assert_eq!(of("what may be wrong with the march of progress"), []);
        assert_eq!(of("in may"), [(None, Some(5))]);
    }

    #[test]
    fn names_of_another_period() {
        let of = |id: &str, year, month| names_of(id, Period { year, month });
        assert_eq!(of("leaks_2024_07", None, Some(8)), ["leaks_2024_08"]);
        assert_eq!(of("leaks_2024_07", Some(2023), Some(8)), ["leaks_2024_08", "leaks_2023_08"]);
        assert_eq!(of("leaks_July_24", None, Some(8))[0], "leaks_August_24");
        assert_eq!(of("inv_21", Some(2022), None), ["inv_22"]);
    }
}
