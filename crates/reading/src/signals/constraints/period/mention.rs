//! Where a sentence speaks of time: years, ranges, decades, months of a year, school and fiscal years, `since`, `until`,
//! `last five years`.

use super::super::lexicon::Class;
use super::super::words::Sentence;
use super::relative::{century, relative};
use super::{MOST_YEARS, Period, merge};
use lakeward_core::request::YearMonth;
use lakeward_sketch::temporal::MONTHS;

const FIRST_YEAR: i32 = 1500;
const LAST_YEAR: i32 = 2150;

/// What a mention wants of the period in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Replace it.
    Set,
    /// Move the beginning, keep the end.
    Begin,
    /// Move the end, keep the beginning.
    End,
}

/// Words that speak of time.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    /// First word.
    pub from: usize,
    /// The word after.
    pub to: usize,
    /// What it says.
    pub period: Period,
    /// What it wants.
    pub change: Change,
}

/// The year that word `at` is, if it can be one.
pub(super) fn year(sentence: &Sentence, at: usize) -> Option<i32> {
    let word = sentence.words.get(at)?;
    let digits = word.low.strip_prefix("fy").unwrap_or(&word.low);
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year: i32 = digits.parse().ok().filter(|year| (FIRST_YEAR..LAST_YEAR).contains(year))?;
    const BOUNDS: [&str; 16] = [
        "than",
        "least",
        "most",
        "over",
        "above",
        "under",
        "below",
        "top",
        "exceeding",
        "about",
        "roughly",
        "nearly",
        "$",
        "€",
        "£",
        "#",
    ];
    let counted = sentence.words.get(at + 1).is_some_and(|next| next.is(Class::Counted) || next.low == "%");
    let aged = sentence.before(at) == "than"
        && at > 1
        && matches!(sentence.low(at - 2), "older" | "earlier" | "later" | "newer" | "younger" | "rather");
    ((aged || !BOUNDS.contains(&sentence.before(at))) && !counted).then_some(year)
}

/// `99` after `1998-` or `1998/`.
fn short_year(sentence: &Sentence, at: usize, first: i32) -> Option<i32> {
    let word = sentence.words.get(at).filter(|word| word.glued && word.low.len() == 2)?;
    let last = first / 100 * 100 + word.low.parse::<i32>().ok()?;
    (last > first).then_some(last)
}

/// A year with what may belong to it, `2014/15` or `2014-15`: first and last year, and the word after.
fn season(sentence: &Sentence, at: usize) -> Option<(i32, i32, usize)> {
    let at = if sentence.low(at) == "fy" { at + 1 } else { at };
    let first = year(sentence, at)?;
    if matches!(sentence.low(at + 1), "/" | "-")
        && sentence.words.get(at + 1).is_some_and(|sign| sign.glued)
        && let Some(last) = short_year(sentence, at + 2, first)
    {
        return Some((first, last, at + 3));
    }
    Some((first, first, at + 1))
}

/// A decade: first and last year.
fn decade(sentence: &Sentence, at: usize) -> Option<(i32, i32)> {
    const NAMES: [(&str, i32); 9] = [
        ("thirties", 1930),
        ("forties", 1940),
        ("fifties", 1950),
        ("sixties", 1960),
        ("seventies", 1970),
        ("eighties", 1980),
        ("nineties", 1990),
        ("noughties", 2000),
        ("2000s", 2000),
    ];
    let word = sentence.low(at);
    let first =
        match word.strip_suffix('s').and_then(|digits| digits.parse::<i32>().ok().map(|number| (digits.len(), number)))
        {
            Some((4, number)) if number % 10 == 0 && (FIRST_YEAR..LAST_YEAR).contains(&number) => number,
            Some((2, number)) if number % 10 == 0 => {
                if number >= 30 {
                    1900 + number
                } else {
                    2000 + number
                }
            }
            _ => {
                let article = at == 0 || matches!(sentence.before(at), "the" | "and" | "early" | "late" | "mid");
                NAMES.iter().find(|(name, _)| *name == word).filter(|_| article)?.1
            }
        };
    Some((first, first + 9))
}

fn month(sentence: &Sentence, at: usize) -> Option<u8> {
    let word = sentence.words.get(at).filter(|word| word.is(Class::Month))?;
    let ambiguous =
        matches!(word.low.as_str(), "may" | "march" | "mar" | "dec" | "sep" | "jun" | "jan") && !word.is_capital();
    let beside =
        |at: usize| year(sentence, at).is_some() || sentence.words.get(at).is_some_and(|word| word.is(Class::Month));
    if ambiguous && !(beside(at + 1) || beside(at + 2) || at > 1 && beside(at - 2)) {
        return None;
    }
    let start = word.low.get(..3)?;
    MONTHS.iter().position(|name| name.to_lowercase().starts_with(start)).map(|place| place as u8 + 1)
}

/// Seasons of the year and quarters as months.
fn part_of_year(sentence: &Sentence, at: usize) -> Option<(u8, u8)> {
    let quarter = |number: u8| (number * 3 - 2, number * 3);
    if sentence.low(at) == "quarter" || sentence.low(at) == "half" {
        let number = match sentence.before(at) {
            "first" => 1,
            "second" => 2,
            "third" => 3,
            "fourth" => 4,
            "last" => 0,
            _ => return None,
        };
        let whole = sentence.low(at) == "quarter";
        return match (whole, number) {
            (true, 0) => Some(quarter(4)),
            (true, number) => Some(quarter(number)),
            (false, 1) => Some((1, 6)),
            (false, _) => Some((7, 12)),
        };
    }
    match sentence.low(at) {
        "spring" => Some((3, 5)),
        "summer" => Some((6, 8)),
        "autumn" | "fall" => Some((9, 11)),
        "winter" => Some((12, 2)),
        "q1" => Some(quarter(1)),
        "q2" => Some(quarter(2)),
        "q3" => Some(quarter(3)),
        "q4" => Some(quarter(4)),
        _ => None,
    }
}

fn is_to(word: &str) -> bool {
    matches!(word, "-" | "to" | "until" | "till" | "through" | "thru")
}

/// The mentions of time in `sentence`, in order. `known`: the year of months that are named without one.
pub(super) fn mentions(sentence: &Sentence, known: Option<i32>) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut at = 0;
    while at < sentence.words.len() && found.len() < MOST_YEARS {
        let free = sentence.words[at].claim.is_none();
        let mention = free
            .then(|| {
                months(sentence, at, known)
                    .or_else(|| years(sentence, at))
                    .or_else(|| century(sentence, at))
                    .or_else(|| relative(sentence, at))
            })
            .flatten();
        let Some(mention) = mention else {
            at += 1;
            continue;
        };
        at = mention.to;
        let gap = found.last().and_then(|last| sentence.words.get(last.to..mention.from));
        let listed = gap.is_some_and(|gap| {
            !gap.is_empty()
                && gap.len() <= 3
                && gap
                    .iter()
                    .all(|word| matches!(word.low.as_str(), "," | "and" | "or" | "&" | "+" | "plus" | "the" | "'"))
        });
        match found.last_mut() {
            Some(last) if listed && matches!((&last.period, &mention.period), (Period::Years(_), Period::Years(_))) => {
                last.period = merge(&last.period, &mention.period);
                last.to = mention.to;
            }
            _ => found.push(mention),
        }
    }
    found
}

/// `June to August 2021`, `summer of 2021`, `March 2020`.
fn months(sentence: &Sentence, at: usize, known: Option<i32>) -> Option<Mention> {
    let part = part_of_year(sentence, at);
    let first = part.map(|(first, _)| first).or_else(|| month(sentence, at))?;
    let mut to = at + 1;
    let mut last = part.map_or(first, |(_, last)| last);
    let mut first_year = None;
    if part.is_none() {
        if let Some((year, _, after)) = season(sentence, to) {
            (first_year, to) = (Some(year), after);
        }
        if (is_to(sentence.low(to)) || sentence.low(to) == "and" && first_year.is_none())
            && let Some(month) = month(sentence, to + 1)
        {
            (last, to) = (month, to + 2);
        }
    }
    if sentence.low(to) == "of" || sentence.low(to) == "in" {
        to += usize::from(season(sentence, to + 1).is_some());
    }
    let (year, to) = match season(sentence, to) {
        Some((year, _, after)) => (Some(year), after),
        None => (first_year, to),
    };
    // `that summer` is of the year that was spoken of; `spring` alone may be water.
    let pointed = part.is_none() || matches!(sentence.before(at), "that" | "this" | "the");
    let year = year.or(known.filter(|_| pointed))?;
    let from_year = first_year.unwrap_or(year);
    let until_year = if last < first && first_year.is_none() { year + 1 } else { year };
    let period = Period::Months {
        from: YearMonth { year: from_year, month: first },
        to: YearMonth { year: until_year, month: last },
    };
    // `since 1 October 2021`, `up to the end of December 2022`: day and article are passed.
    let mut before = at;
    let day = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.len() <= 4
            && word.parse::<u32>().is_ok_and(|day| day <= 31)
    };
    while before > 0
        && (day(sentence.before(before))
            || matches!(sentence.before(before), "the" | "end" | "of" | "start" | "beginning"))
    {
        before -= 1;
    }
    let single = part.is_none() && from_year == until_year && first == last;
    match sentence.before(before) {
        "since" | "from" if single => Some(Mention {
            from: before - 1,
            to,
            period: Period::Span { from: Some(from_year), to: None },
            change: Change::Set,
        }),
        "to" | "until" | "till" | "through" if single => {
            Some(Mention { from: before - 1, to, period, change: Change::End })
        }
        _ => Some(Mention { from: at, to, period, change: Change::Set }),
    }
}

/// Years, ranges of them, decades, with the words before and after that open or close them.
fn years(sentence: &Sentence, at: usize) -> Option<Mention> {
    let (first, mut last, mut to, single) = match season(sentence, at) {
        Some((first, last, to)) => (first, last, to, first == last),
        None => {
            let (first, last) = decade(sentence, at)?;
            (first, last, at + 1, false)
        }
    };
    let from = at;
    let between = sentence.before(at) == "between" && sentence.low(to) == "and";
    if is_to(sentence.low(to)) || between {
        let next = to + 1 + usize::from(matches!(sentence.low(to + 1), "the" | "end"));
        if let Some((_, end, after)) =
            season(sentence, next).or_else(|| decade(sentence, next).map(|(a, b)| (a, b, next + 1)))
            && end >= first
        {
            (last, to) = (end, after);
            return Some(Mention {
                from,
                to,
                period: Period::Span { from: Some(first), to: Some(last) },
                change: Change::Set,
            });
        }
        const NOW: [&str; 8] = ["today", "now", "present", "date", "current", "this", "recent", "yesterday"];
        if NOW.contains(&sentence.low(next)) {
            return Some(Mention {
                from,
                to: next + 1,
                period: Period::Span { from: Some(first), to: None },
                change: Change::Set,
            });
        }
    }
    let open = |from: usize, to: usize, change: Change| {
        Some(Mention { from, to, period: Period::Span { from: Some(first), to: None }, change })
    };
    let close = |from: usize, to: usize, last: i32, change: Change| {
        Some(Mention { from, to, period: Period::Span { from: None, to: Some(last) }, change })
    };
    for (words, onward) in [
        ("onward", true),
        ("onwards", true),
        ("on", true),
        ("or later", true),
        ("and later", true),
        ("or newer", true),
        ("and newer", true),
        ("and after", true),
        ("and up", true),
        ("and on", true),
        ("and onwards", true),
        ("forward", true),
        ("and beyond", true),
        ("upwards", true),
        ("+", true),
        ("or after", true),
        ("and since", true),
        ("or earlier", false),
        ("and earlier", false),
        ("or older", false),
        ("and older", false),
        ("and before", false),
        ("or before", false),
    ] {
        // `2017 on` ends there; `2017 on the map` does not.
        let ends = words != "on" || sentence.is_edge(to + 1) || sentence.low(to + 1) == "please";
        if ends && sentence.stands(to, words) && (words != "+" || sentence.words[to].glued) {
            let after = to + words.split(' ').count();
            return if onward { open(from, after, Change::Set) } else { close(from, after, last, Change::Set) };
        }
    }
    let mut before = at;
    while before > 0
        && matches!(sentence.low(before - 1), "the" | "early" | "late" | "mid" | "year" | "'" | "about" | "around")
    {
        before -= 1;
    }
    let word = sentence.before(before);
    let start_verb = || {
        let near = before.saturating_sub(6);
        (near..before).any(|place| {
            matches!(
                sentence.low(place),
                "start" | "starting" | "begin" | "beginning" | "back" | "starts" | "reach" | "reaching" | "go"
            )
        })
    };
    match word {
        "since" => return open(before - 1, to, Change::Set),
        "before" | "after" if refused_after(sentence, to) => {
            let begins = word == "before";
            return if begins { open(before - 1, to, Change::Begin) } else { close(before - 1, to, last, Change::End) };
        }
        "after" if single && !refused(sentence, before - 1) => {
            return Some(Mention {
                from: before - 1,
                to,
                period: Period::Span { from: Some(first + 1), to: None },
                change: Change::Set,
            });
        }
        "in" | "with" | "at" | "from" | "to" if start_verb() => return open(before - 1, to, Change::Begin),
        "from"
            if single && (before == 1 || !sentence.words[before - 2].is_content() || sentence.low(to).is_empty()) =>
        {
            return open(before - 1, to, Change::Begin);
        }
        // `exclude anything before 2016`, `nothing after 2019`: the other side is kept.
        "before" | "after" if refused(sentence, before - 1) => {
            let begins = word == "before";
            return if begins { open(before - 1, to, Change::Begin) } else { close(before - 1, to, last, Change::End) };
        }
        "than"
            if matches!(sentence.before(before - 1), "older" | "earlier")
                && (refused(sentence, before - 2) || refused_after(sentence, to)) =>
        {
            return open(before - 1, to, Change::Begin);
        }
        "before" | "pre" => return close(before - 1, to, first - 1, Change::Set),
        "until" | "till" | "through" | "thru" => return close(before - 1, to, last, Change::End),
        "to" if matches!(sentence.before(before - 1), "up" | "extend" | "it" | "down" | "extended") => {
            let change = if sentence.before(before - 1) == "down" { Change::Begin } else { Change::End };
            return if change == Change::Begin {
                open(before - 1, to, change)
            } else {
                close(before - 1, to, last, change)
            };
        }
        "than" if matches!(sentence.before(before - 1), "later") => return close(before - 1, to, last, Change::End),
        "than" if matches!(sentence.before(before - 1), "earlier" | "older") => {
            return open(before - 1, to, Change::Begin);
        }
        "with" | "in" | "at" if matches!(sentence.before(before - 1), "end" | "ending" | "stop" | "stopping") => {
            return close(before - 1, to, last, Change::End);
        }
        _ => {}
    }
    let period = if single { Period::Years(vec![first]) } else { Period::Span { from: Some(first), to: Some(last) } };
    Some(Mention { from, to, period, change: Change::Set })
}

/// Whether what stands right after says that something is left out: `anything before 2018 is no use`.
fn refused_after(sentence: &Sentence, to: usize) -> bool {
    const OUT: [&str; 22] = [
        "is no",
        "are no",
        "is out",
        "are out",
        "can go",
        "must go",
        "should go",
        "is of no",
        "are of no",
        "do not",
        "does not",
        "is not",
        "are not",
        "should not",
        "must not",
        "is useless",
        "are useless",
        "is irrelevant",
        "are irrelevant",
        "can be dropped",
        "can be ignored",
        "out",
    ];
    OUT.iter().any(|words| sentence.stands(to, words))
}

/// Whether what stands right before `at` says that something is left out.
fn refused(sentence: &Sentence, at: usize) -> bool {
    const OUT: [&str; 14] = [
        "nothing", "no", "exclude", "drop", "remove", "without", "skip", "ignore", "hide", "omit", "discard", "not",
        "except", "delete",
    ];
    (at.saturating_sub(3)..at).any(|place| OUT.contains(&sentence.low(place)))
}
