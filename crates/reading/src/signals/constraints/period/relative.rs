//! Periods that no plain year tells: `19th century`, `last five years`, `as it stands today`.

use super::super::words::Sentence;
use super::Period;
use super::mention::{Change, Mention, year};

/// `19th century`.
pub(super) fn century(sentence: &Sentence, at: usize) -> Option<Mention> {
    let digits: String = sentence.low(at).chars().take_while(char::is_ascii_digit).collect();
    if !sentence.low(at + 1).starts_with("centur") {
        return None;
    }
    let named = ["sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first"];
    let named = named.iter().position(|name| *name == sentence.low(at)).map(|place| place as i32 + 16);
    let number = digits.parse().ok().or(named).filter(|number| (16..=21).contains(number))?;
    let period = Period::Span { from: Some(number * 100 - 100), to: Some(number * 100 - 1) };
    Some(Mention { from: at, to: at + 2, period, change: Change::Set })
}

/// `last five years`, `this decade`, `latest year`, `as it stands today`.
pub(super) fn relative(sentence: &Sentence, at: usize) -> Option<Mention> {
    const TODAY: [&str; 5] = ["as it stands today", "as it stands", "as of today", "as of now", "as they stand today"];
    if let Some(words) = TODAY.iter().find(|words| sentence.stands(at, words)) {
        let to = at + words.split(' ').count();
        return Some(Mention { from: at, to, period: Period::Relative("latest year".into()), change: Change::Set });
    }
    let words = ["most recent", "last", "past", "latest", "newest", "current", "this", "recent", "previous"];
    let start = words.iter().find(|words| sentence.stands(at, words))?;
    let mut to = at + start.split(' ').count();
    const COUNTS: [&str; 17] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fifteen", "twenty",
        "thirty", "few", "couple", "full", "complete",
    ];
    let counts = |word: &str| {
        COUNTS.contains(&word) || !word.is_empty() && word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    while counts(sentence.low(to)) || (sentence.low(to) == "of" && to > at + 1) {
        to += 1;
    }
    let unit = sentence.words.get(to)?;
    let long = matches!(
        unit.low.as_str(),
        "year"
            | "years"
            | "decade"
            | "decades"
            | "month"
            | "months"
            | "week"
            | "weeks"
            | "quarter"
            | "quarters"
            | "season"
            | "seasons"
            | "century"
            | "winter"
            | "summer"
    );
    // `the last quarter of 2023` is no relative period.
    if matches!(unit.low.as_str(), "quarter" | "half")
        && matches!(sentence.low(to + 1), "of" | "in")
        && year(sentence, to + 2).is_some()
    {
        return None;
    }
    // `this month` is mostly the one that a row is of.
    if !long || (*start == "this" && !matches!(unit.low.as_str(), "year" | "decade" | "century" | "season")) {
        return None;
    }
    let said = sentence.text(at, to + 1).to_lowercase();
    let text = match said.as_str() {
        "most recent year" | "newest year" | "current year" | "this year" => "latest year".to_string(),
        _ => said,
    };
    Some(Mention { from: at, to: to + 1, period: Period::Relative(text), change: Change::Set })
}
