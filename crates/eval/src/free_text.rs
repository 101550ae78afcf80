//! Free text of gold standards, and what was told, written alike before they are compared.
//!
//! - Words: lower case, accents off, letters and digits only, stop words off, endings of plurals off; `30,000` and `30k` are one number;
//!   adjectives and rhythms of time are their unit (`monthly`, `month`); words for any data (`table`, `column`) are left out.
//! - Places: adjectives and other names of countries are the country (`Dutch`, `US`); `northern` and `north` are the same.
//! - Periods: first and last year, open ends kept; a list of years is the set of them; `after 2005` begins in 2006 and `before 1990` ends in
//!   1989; months of a year are kept beside it, seasons as their months; a period without any year is its words.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use lakeward_core::request::RequestedYears;
use lakeward_core::text::without_marks;
use lakeward_lake::places::country_of;
use lakeward_reading::reader::MONTHS;

const STOP: &str = "the a an of and or in on to for by with at from per each every all any its their his her is are that which one only as be \
                    table tables column columns data dataset file files record records row rows flag";
const UNITS: [(&str, &str); 9] = [
    ("yearly", "year"),
    ("annual", "year"),
    ("annually", "year"),
    ("quarterly", "quarter"),
    ("monthly", "month"),
    ("weekly", "week"),
    ("daily", "day"),
    ("hourly", "hour"),
    ("nightly", "day"),
];
/// Endings of plurals, with what they are without.
const PLURALS: [(&str, &str); 5] = [("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")];
/// Other words for places, each with the place, beside the adjectives of countries.
const PLACES: &str = include_str!("places.tsv");
const SEASONS: [(&str, [u32; 2]); 5] =
    [("spring", [3, 5]), ("summer", [6, 8]), ("autumn", [9, 11]), ("fall", [9, 11]), ("winter", [12, 2])];

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[a-z0-9%_]+"));
static THOUSANDS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"([0-9]),([0-9]{3})"));
static KILO: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"([0-9])k\b"));
static SHORT_SPAN: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b([0-9]{2})([0-9]{2})[/-]([0-9]{2})\b"));
static YEAR: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[0-9]{4}"));
static DECADE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[0-9]{4}s"));
static LETTERS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[a-z]+"));
static ONWARD: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"onward|since|after|later|until (?:now|today)|present"));
static UNTIL: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"until|before|up to|earlier"));

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

fn found<'t>(pattern: &'static Option<Regex>, text: &'t str) -> Vec<&'t str> {
    pattern.iter().flat_map(|pattern| pattern.find_iter(text)).map(|found| found.as_str()).collect()
}

fn says(pattern: &Option<Regex>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn replaced(pattern: &Option<Regex>, text: &str, by: &str) -> String {
    pattern.as_ref().map_or_else(|| text.to_string(), |pattern| pattern.replace_all(text, by).into_owned())
}

fn words(text: &str) -> Vec<String> {
    let text: String = without_marks(&text.to_lowercase()).collect();
    let text = replaced(&THOUSANDS, &text, "$1$2");
    let text = replaced(&KILO, &text, "${1}000");
    let is_stop = |word: &str| STOP.split(' ').any(|stop| stop == word);
    found(&WORD, &text).into_iter().filter(|word| !is_stop(word)).map(str::to_string).collect()
}

fn stem(word: &str) -> String {
    let word = UNITS.iter().find(|(rhythm, _)| *rhythm == word).map_or(word, |(_, unit)| *unit);
    for (ending, without) in PLURALS {
        if let Some(begin) = word.strip_suffix(ending)
            && begin.len() > 2
        {
            return format!("{begin}{without}");
        }
    }
    let is_plural = word.len() > 3 && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    word.strip_suffix('s').filter(|_| is_plural).unwrap_or(word).to_string()
}

/// One text, several, or none.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// Several.
    Many(Vec<String>),
    /// One.
    One(String),
    /// None.
    #[default]
    Nothing,
}

impl Texts {
    /// All texts.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Many(texts) => texts.iter().map(String::as_str).collect(),
            Self::One(text) => vec![text],
            Self::Nothing => Vec::new(),
        }
    }
}

/// The words of texts.
pub fn tokens<'t>(texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<String> {
    texts.into_iter().flat_map(words).map(|word| stem(&word)).collect()
}

/// The words of places.
pub fn places(text: &str) -> BTreeSet<String> {
    let place = |word: String| {
        let known = PLACES.lines().filter_map(|line| line.split_once('\t')).find(|(other, _)| *other == word);
        match known {
            Some((_, place)) => place.to_string(),
            None => country_of(&word).map_or(word, str::to_lowercase),
        }
    };
    let all = words(text).into_iter().map(place);
    all.flat_map(|place| place.split(' ').map(str::to_string).collect::<Vec<_>>()).collect()
}

/// A period, equal for equal periods.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    /// First and last year, with months or seasons of them.
    Span(Option<i32>, Option<i32>, Vec<u32>),
    /// Single years.
    Years(BTreeSet<i32>),
    /// One without a year.
    Words(BTreeSet<String>),
}

impl Period {
    /// The period that `text` says, if it says one.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.to_lowercase().replace("fy", " ");
        let text = replaced(&SHORT_SPAN, &text, "$1$2-$1$3");
        let mut years: Vec<i32> = found(&YEAR, &text).into_iter().filter_map(|year| year.parse().ok()).collect();
        let Some(last) = years.last().copied() else {
            return Some(tokens([text.as_str()])).filter(|words| !words.is_empty()).map(Self::Words);
        };
        if says(&DECADE, &text) {
            years.push(last + 9);
        }
        let (first, last) = years.iter().fold((i32::MAX, i32::MIN), |(a, b), year| (a.min(*year), b.max(*year)));
        if says(&ONWARD, &text) || (years.len() == 1 && text.trim_end().ends_with(['-', '–'])) {
            return Some(Self::Span(Some(first + i32::from(text.contains("after"))), None, months(&text)));
        }
        if says(&UNTIL, &text) && years.len() == 1 {
            return Some(Self::Span(None, Some(last - i32::from(text.contains("before"))), months(&text)));
        }
        if text.contains(',') || text.contains(" and ") {
            let years: BTreeSet<i32> = years.into_iter().collect();
            // Years one after the other are the same as the span of them.
            let is_span = years.len() as i32 == last - first + 1;
            return Some(if is_span { Self::Span(Some(first), Some(last), Vec::new()) } else { Self::Years(years) });
        }
        Some(Self::Span(Some(first), Some(last), months(&text)))
    }
}

/// Years as a text says them.
pub fn years_said(years: RequestedYears) -> String {
    match years {
        RequestedYears::StartsIn(year) => format!("{year} onward"),
        RequestedYears::EndsIn(year) => format!("until {year}"),
        RequestedYears::Cover { from, to } | RequestedYears::Exactly { from, to } => format!("{from}-{to}"),
    }
}

/// The months that a text names: those of a season, else one as first and last, else all that are named.
fn months(text: &str) -> Vec<u32> {
    if let Some((_, months)) = SEASONS.iter().rev().find(|(season, _)| text.contains(season)) {
        return months.to_vec();
    }
    let named: Vec<u32> = found(&LETTERS, text).into_iter().filter_map(month).collect();
    if let [month] = named[..] { vec![month, month] } else { named }
}

fn month(word: &str) -> Option<u32> {
    let begin = word.get(..3)?;
    let place = MONTHS.iter().position(|month| month[..3] == *begin)?;
    (word.len() <= 4 || MONTHS.contains(&word)).then_some(place as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const N: usize>(words: [&str; N]) -> BTreeSet<String> {
        words.map(str::to_string).into()
    }

    #[test]
    fn words_and_places_have_one_form() {
        assert_eq!(tokens(["The monthly counties, 30,000 Cafés"]), of(["month", "county", "30000", "cafe"]));
        assert_eq!(tokens(["30k of the records", "daily buses"]), of(["30000", "day", "buse"]));
        assert_eq!(places("Dutch towns in the US"), of(["netherlands", "towns", "united", "states"]));
        assert_eq!(places("Northern Ireland"), of(["north", "ireland"]));
    }

    #[test]
    fn periods_are_equal_however_they_are_said() {
        let span = |first: Option<i32>, last: Option<i32>| Some(Period::Span(first, last, Vec::new()));
        for (said, period) in [
            ("2012 onward", span(Some(2012), None)),
            ("2012-", span(Some(2012), None)),
            ("after 2011", span(Some(2012), None)),
            ("before 1990", span(None, Some(1989))),
            ("up to 1990", span(None, Some(1990))),
            ("the 1990s", span(Some(1990), Some(1999))),
            ("FY2015/16", span(Some(2015), Some(2016))),
            ("2015, 2016 and 2017", span(Some(2015), Some(2017))),
            ("2015 and 2017", Some(Period::Years([2015, 2017].into()))),
            ("summer 2019", Some(Period::Span(Some(2019), Some(2019), vec![6, 8]))),
            ("March 2020", Some(Period::Span(Some(2020), Some(2020), vec![3, 3]))),
            ("last five years", Some(Period::Words(of(["last", "five", "year"])))),
            ("", None),
        ] {
            assert_eq!(Period::of(said), period, "{said}");
        }
    }
}
