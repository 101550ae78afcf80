//! Years as people say them: `2010 to 2015`, `2015-17`, `the nineties`, `FY 2019`, `last ten years`, `march 2020`.

use std::ops::Range;

use lakeward_core::request::RequestedYears;

use super::number::number;
use super::span::Operator;
use super::words::{Word, words};

/// Years that data can be about.
const YEARS: std::ops::RangeInclusive<i32> = 1000..=2200;
/// Decades by name, the first from 1910.
const DECADES: [&str; 9] =
    ["tens", "twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"];

/// Signs and words between the two ends of a period.
const BETWEEN: [&str; 9] = ["-", "–", "—", "/", "to", "till", "until", "through", "thru"];

/// `bytes` of a text, with the other end of the period that they are one end of: `2019` of `2019-2023`.
pub(super) fn with_other_end(text: &str, bytes: Range<usize>) -> Range<usize> {
    let words = words(text);
    let said = |at: usize| words.get(at).map_or(String::new(), |word| text[word.bytes.clone()].to_lowercase());
    let is_year = |at: usize| {
        let word = said(at);
        word.len() == 4 && word.parse().is_ok_and(|year| YEARS.contains(&year))
    };
    let is_between = |at: usize| BETWEEN.contains(&said(at).as_str());
    let inside = |word: &Word| word.bytes.start < bytes.end && bytes.start < word.bytes.end;
    let (Some(first), Some(last)) = (words.iter().position(inside), words.iter().rposition(inside)) else {
        return bytes;
    };
    let mut wider = bytes.clone();
    if is_year(last) && is_between(last + 1) && is_year(last + 2) {
        wider.end = words[last + 2].bytes.end;
    }
    if first >= 2 && is_year(first) && is_between(first - 1) && is_year(first - 2) {
        wider.start = words[first - 2].bytes.start;
    }
    wider
}

/// The years that `said` names, compared as `operator` says; those before now are counted from `this_year`.
pub(super) fn years(said: &str, operator: Operator, this_year: i32) -> Option<RequestedYears> {
    let lower = said.to_lowercase();
    let parts: Vec<&str> = words(&lower).into_iter().map(|word| &lower[word.bytes]).collect();
    let mut found: Vec<(i32, i32)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let next = parts.get(at + 1).copied().unwrap_or_default();
        let before = if at > 0 { parts[at - 1] } else { "" };
        if let Some(decade) = DECADES.iter().position(|name| name == part) {
            let first = 1910 + 10 * decade as i32;
            found.push((first, first + 9));
            continue;
        }
        let Ok(number) = part.parse::<i32>() else { continue };
        let is_decade = next == "s" || (matches!(next, "'" | "’") && parts.get(at + 2) == Some(&"s"));
        let year = match part.len() {
            4 => number,
            // `'90s`, `2015-17`, `FY19`.
            2 if is_decade => {
                if number < 30 {
                    2000 + number
                } else {
                    1900 + number
                }
            }
            2 if matches!(before, "-" | "–" | "/") && !found.is_empty() => found[0].0 / 100 * 100 + number,
            2 if matches!(before, "'" | "’" | "fy") => {
                if number <= this_year % 100 + 5 {
                    2000 + number
                } else {
                    1900 + number
                }
            }
            _ => continue,
        };
        let ends_season = before == "/" && part.len() == 2 && !is_decade;
        if let Some(season) = found.last_mut().filter(|_| ends_season && YEARS.contains(&year)) {
            // `2014/15` is one span of time, not two ends.
            season.1 = year;
        } else if YEARS.contains(&year) {
            found.push(if is_decade { (year / 10 * 10, year / 10 * 10 + 9) } else { (year, year) });
        }
    }
    let (from, to) = match (found.first(), relative(&parts, said, this_year)) {
        (Some(_), _) => (found.iter().map(|(from, _)| *from).min()?, found.iter().map(|(_, to)| *to).max()?),
        (None, Some(years)) => years,
        (None, None) => return None,
    };
    Some(match operator {
        // Both ends are said.
        Operator::AtLeast | Operator::AtMost if found.len() > 1 => RequestedYears::Cover { from, to },
        Operator::Greater => RequestedYears::StartsIn(to + 1),
        Operator::AtLeast => RequestedYears::StartsIn(from),
        Operator::Less => RequestedYears::EndsIn(from - 1),
        Operator::AtMost => RequestedYears::EndsIn(to),
        _ => RequestedYears::Cover { from, to },
    })
}

/// `last ten years`, `past decade`, `this year`, counted from now.
fn relative(parts: &[&str], said: &str, this_year: i32) -> Option<(i32, i32)> {
    let has = |list: &[&str]| parts.iter().any(|part| list.contains(part));
    let back = has(&["last", "past", "previous", "recent", "preceding", "latest"]);
    let counted = number(said).map(|number| number.value as i32).filter(|number| (1..=500).contains(number));
    let unit = if has(&["decade", "decades"]) {
        10
    } else if has(&["century", "centuries"]) {
        100
    } else if has(&["year", "years", "yrs", "yr"]) {
        1
    } else {
        return None;
    };
    match counted.or_else(|| has(&["couple"]).then_some(2)) {
        Some(count) if back => Some((this_year - count * unit, this_year)),
        None if back && unit == 1 && !has(&["years", "yrs"]) => Some((this_year - 1, this_year - 1)),
        None if back => Some((this_year - unit.max(5), this_year)),
        None if has(&["this", "current"]) => Some((this_year, this_year)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_read_in_their_usual_forms() {
        use RequestedYears::{Cover, EndsIn, StartsIn};
        let cover = |from, to| Some(Cover { from, to });
        for (said, operator, expected) in [
            ("2010 to 2015", Operator::Equal, cover(2010, 2015)),
            ("fiscal 2018–2022", Operator::AtLeast, cover(2018, 2022)),
            ("2015 up to and including 2022", Operator::AtMost, cover(2015, 2022)),
            ("2015-17", Operator::Equal, cover(2015, 2017)),
            ("the nineties", Operator::Equal, cover(1990, 1999)),
            ("the '80s", Operator::Equal, cover(1980, 1989)),
            ("1950s and 1960s", Operator::Equal, cover(1950, 1969)),
            ("FY19", Operator::Equal, cover(2019, 2019)),
            ("2014/15", Operator::AtLeast, Some(StartsIn(2014))),
            ("2014/15", Operator::Equal, cover(2014, 2015)),
            ("march 2020", Operator::AtLeast, Some(StartsIn(2020))),
            ("2010", Operator::Greater, Some(StartsIn(2011))),
            ("2000", Operator::Less, Some(EndsIn(1999))),
            ("last ten years", Operator::Equal, cover(2014, 2024)),
            ("the past decade", Operator::Equal, cover(2014, 2024)),
            ("last year", Operator::Equal, cover(2023, 2023)),
            ("before the war", Operator::Equal, None),
            ("12 of them", Operator::Equal, None),
        ] {
            assert_eq!(years(said, operator, 2024), expected, "{said}");
        }
    }

    #[test]
    fn a_period_has_both_of_its_ends() {
        for (text, part, expected) in [
            ("Five years of that, 2019-2023.", "2019", "2019-2023"),
            ("from 2009 to 2011", "2011", "2009 to 2011"),
            ("2019, 2020", "2019", "2019"),
            ("2019-20230", "2019", "2019"),
            ("the nineties", "nineties", "nineties"),
        ] {
            let from = text.find(part).unwrap();
            assert_eq!(&text[with_other_end(text, from..from + part.len())], expected, "{text}");
        }
    }
}
