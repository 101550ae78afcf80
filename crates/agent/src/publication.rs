//! What years of a request are years of: of what the data covers, or of its publication.
//!
//! The reader finds the years of a turn; the words that govern them decide here, a closed set: `published since 2021` is a publication,
//! `back to at least 1970` and `covers 2005` ask for data that covers the year, not for data that begins in it.

use super::alternatives::adds;
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::respect::Respect;
use lakeward_core::text::years::{LIKELY, years as years_in};
use lakeward_core::text::{is_function_word, lower_words};
use lakeward_reading::reader::Revised;

/// Words that say of years that something was published in them.
const PUBLISHED: [&str; 17] = [
    "pub",
    "published",
    "publication",
    "publications",
    "publish",
    "released",
    "release",
    "issued",
    "deposited",
    "deposit",
    "deposits",
    "came",
    "posted",
    "uploaded",
    "registered",
    "archived",
    "appeared",
];
/// Words that say of a year that data covers it.
const COVERS: [&str; 10] =
    ["cover", "covers", "covering", "covered", "include", "includes", "including", "contain", "contains", "containing"];
/// Words that leave a side of the years open.
const OPEN: [&str; 10] = ["since", "after", "before", "from", "until", "till", "later", "earlier", "newer", "by"];
/// Other words, beside those that say nothing, that may stand between the governing word and the years.
const BETWEEN: [&str; 15] = [
    "between", "during", "than", "least", "last", "past", "year", "years", "date", "dates", "only", "out", "should",
    "must", "may",
];

/// Whether `word` may stand between the governing word and the years.
fn stands_between(word: &str) -> bool {
    OPEN.contains(&word) || BETWEEN.contains(&word) || is_function_word(word)
}

/// The demands of turn `turn` with what the words of `text` say of their years; of publications the latest holds. `replaces` says that the turn
/// corrects something or takes it back.
pub(super) fn separate_publication(after: &mut Revised, text: &str, turn: usize, replaces: bool) {
    let Revised { demands, gone, .. } = after;
    let mut apart = Vec::new();
    let covered_before = |demand: &Demand| demand.role == Respect::Period && !demand.avoid && demand.turn < turn;
    let said_last = |role: Respect| {
        let known = gone.iter().chain(demands.iter()).filter(|demand| demand.role == role && demand.turn < turn);
        known.map(|demand| demand.turn).max()
    };
    let published_last = said_last(Respect::Published) > said_last(Respect::Period);
    for demand in demands.iter_mut().filter(|demand| demand.turn == turn && demand.role == Respect::Period) {
        let Demanded::Period(mut years) = demand.value else { continue };
        if let Some(bounded) = bound_in_words(text, &demand.said) {
            (years, demand.avoid) = (bounded, false);
            demand.value = Demanded::Period(years);
        }
        // Years of both kinds are read as one period.
        if let (false, Some((published, covered))) = (text.contains(demand.said.as_str()), of_both(text)) {
            let words = |(year, _): (i32, RequestedYears)| year.to_string();
            let value = |(_, years): (i32, RequestedYears)| Demanded::Period(years);
            apart.push(Demand {
                role: Respect::Published,
                said: words(published),
                value: value(published),
                ..demand.clone()
            });
            (demand.said, demand.value) = (words(covered), value(covered));
            continue;
        }
        // Years that were read apart stand in the text with other words between them.
        let first = || years_in(&demand.said, LIKELY).next().map(|year| year.to_string());
        let said = if text.contains(demand.said.as_str()) { None } else { first() };
        match governed(text, said.as_deref().unwrap_or(&demand.said)) {
            Governed::Published => {
                demand.role = Respect::Published;
                let mut named = years_in(&demand.said, LIKELY);
                if let (Some(year), None, None) = (named.next(), named.next(), bound_in_words(text, &demand.said))
                    && text.contains(&format!(" in {year}"))
                {
                    demand.value = Demanded::Period(RequestedYears::Cover { from: year, to: year });
                }
            }
            // "Make that 2022", after "published in 2021".
            Governed::Unsaid if replaces && published_last => demand.role = Respect::Published,
            Governed::Covered => {
                let covered = |year: i32| COVERS.iter().any(|word| text.contains(&format!("{word} {year}")));
                let named = years_in(&demand.said, LIKELY).next().filter(|year| covered(*year));
                if let (Some(year), true) = (named, years_in(&demand.said, LIKELY).count() == 1) {
                    demand.value = Demanded::Period(RequestedYears::Cover { from: year, to: year });
                } else if let RequestedYears::StartsIn(year) = years {
                    // "Back to the 1960s" is any of them.
                    let is_decade = text.contains(&format!("{year}s"));
                    let year = if is_decade { year + 9 } else { year };
                    demand.value = Demanded::Period(RequestedYears::Cover { from: year, to: year });
                }
            }
            Governed::Unsaid => {}
        }
    }
    demands.append(&mut apart);
    for role in [Respect::Period, Respect::Published] {
        let before = |demand: &&Demand| demand.role == role && !demand.avoid && demand.turn < turn;
        let before = gone.iter().chain(demands.iter()).filter(before).max_by_key(|demand| demand.turn);
        let Some(Demanded::Period(before)) = before.map(|demand| demand.value.clone()) else { continue };
        let of_turn = |demand: &&mut Demand| demand.turn == turn && demand.role == role && !demand.avoid;
        let Some(now) = demands.iter_mut().find(of_turn) else { continue };
        let Demanded::Period(years) = now.value else { continue };
        if let Some(years) = continued(before, years, adds(text)) {
            (now.said, now.value) = (years.to_string(), Demanded::Period(years));
        }
    }
    let of_turn = |role: Respect| move |demand: &Demand| demand.turn == turn && demand.role == role;
    if demands.iter().any(of_turn(Respect::Published)) && !demands.iter().any(of_turn(Respect::Period)) {
        // It was taken for the period that is wanted instead of the one before.
        let place = gone.iter().rposition(covered_before).filter(|_| !text_takes_back(text));
        demands.extend(place.map(|place| gone.remove(place)));
    }
    let latest = demands.iter().rposition(|demand| demand.role == Respect::Published && !demand.avoid);
    let mut place = 0;
    demands.retain(|demand| {
        place += 1;
        demand.role != Respect::Published || demand.avoid || Some(place - 1) == latest
    });
}

/// What is wanted of years where `now` is said after `before`: each end by itself, so that one end said again leaves the other (`1992 to 2004`, then
/// `from 1985`), and all of both where it `adds` (`or the nineties`); none where it is `now` alone.
fn continued(before: RequestedYears, now: RequestedYears, adds: bool) -> Option<RequestedYears> {
    use RequestedYears::{Cover, EndsIn, StartsIn};
    let (first, last) = before.bounds();
    let ends = |from: i32, to: i32| (from < to).then_some(Cover { from, to });
    match (before, now) {
        (Cover { from, to }, Cover { from: first, to: last }) if adds => {
            Some(Cover { from: from.min(first), to: to.max(last) })
        }
        (Cover { from, to }, _) if from == to => None,
        (_, StartsIn(year)) => ends(year, last?),
        (_, EndsIn(year)) => ends(first?, year),
        _ => None,
    }
}

/// Whether a text has a word of publication.
pub(super) fn says_publication(text: &str) -> bool {
    lower_words(text).any(|word| PUBLISHED.contains(&word.as_str()))
}

/// Whether a text says of what it names that data covers it.
pub(super) fn says_coverage(text: &str) -> bool {
    lower_words(text).any(|word| COVERS.contains(&word.as_str()) || matches!(word.as_str(), "back" | "coverage"))
}

/// Whether a turn takes years back in as many words.
fn text_takes_back(text: &str) -> bool {
    lower_words(text).any(|word| matches!(word.as_str(), "forget" | "drop" | "remove" | "ignore"))
}

/// What closed forms around the one year of `said` want of it: `2019 or later`, `not older than 2015`.
fn bound_in_words(text: &str, said: &str) -> Option<RequestedYears> {
    const FROM: [&str; 6] = ["later", "newer", "after", "onward", "onwards", "since"];
    const TO: [&str; 3] = ["earlier", "older", "before"];
    let mut named = years_in(said, LIKELY);
    let (year, None) = (named.next()?, named.next()) else { return None };
    let at = text.find(said)? + said.find(&year.to_string())?;
    let after: Vec<String> = lower_words(&text[at + 4..]).take(2).collect();
    let turned = lower_words(&text[..at]).any(|word| matches!(word.as_str(), "nothing" | "none" | "never"));
    match (after.first().map(String::as_str), after.get(1).map(String::as_str)) {
        (Some("or" | "and"), Some(next)) if FROM.contains(&next) => {
            return Some(if turned { RequestedYears::EndsIn(year - 1) } else { RequestedYears::StartsIn(year) });
        }
        (Some("or" | "and"), Some(next)) if TO.contains(&next) => {
            return Some(if turned { RequestedYears::StartsIn(year + 1) } else { RequestedYears::EndsIn(year) });
        }
        (Some("onward" | "onwards"), _) => return Some(RequestedYears::StartsIn(year)),
        _ => {}
    }
    let before: Vec<String> = lower_words(&text[..at]).collect();
    let [rest @ .., than] = &before[..] else { return None };
    let (compared, rest) = match (than.as_str(), rest) {
        ("than", [rest @ .., compared]) => (compared.as_str(), rest),
        ("before" | "after", rest) => (than.as_str(), rest),
        _ => return None,
    };
    let turns = |word: &str| matches!(word, "not" | "no" | "never" | "nothing" | "none");
    let is_not = rest
        .iter()
        .rev()
        .find(|word| !PUBLISHED.contains(&word.as_str()) && (!is_function_word(word) || turns(word)))
        .is_some_and(|word| turns(word));
    match compared {
        "older" | "earlier" | "before" => Some(match is_not {
            true => RequestedYears::StartsIn(year),
            false => RequestedYears::EndsIn(year - 1),
        }),
        "newer" | "later" | "recent" | "after" => Some(match is_not {
            true => RequestedYears::EndsIn(year),
            false => RequestedYears::StartsIn(year + 1),
        }),
        _ => None,
    }
}

/// The year of publication and the year covered, where `text` names one of each; both with what is wanted of them.
fn of_both(text: &str) -> Option<((i32, RequestedYears), (i32, RequestedYears))> {
    let found: Vec<i32> = years_in(text, LIKELY).collect();
    let [first, second] = found[..] else { return None };
    let from = text.find(&first.to_string())? + 4;
    let to = text.find(&second.to_string()).filter(|to| *to >= from)?;
    // `between 2015 and 2019` are years of one thing.
    if lower_words(&text[from..to])
        .all(|word| matches!(word.as_str(), "and" | "or" | "to" | "until" | "through" | "till"))
    {
        return None;
    }
    let of =
        |year: i32| (governed(text, &year.to_string()) == Governed::Published, (year, requested_years(text, year)));
    match (of(first), of(second)) {
        ((true, published), (false, covered)) | ((false, covered), (true, published)) => Some((published, covered)),
        _ => None,
    }
}

/// What the words before `year` want of it.
fn requested_years(text: &str, year: i32) -> RequestedYears {
    let at = text.find(&year.to_string()).unwrap_or_default();
    let before: Vec<String> = lower_words(&text[..at]).collect();
    for word in before.iter().rev().take_while(|word| stands_between(word)) {
        match word.as_str() {
            "since" | "from" | "later" | "newer" => return RequestedYears::StartsIn(year),
            "after" => return RequestedYears::StartsIn(year + 1),
            "before" => return RequestedYears::EndsIn(year - 1),
            "until" | "till" | "by" | "earlier" => return RequestedYears::EndsIn(year),
            _ => {}
        }
    }
    RequestedYears::Cover { from: year, to: year }
}

#[derive(Debug, PartialEq, Eq)]
enum Governed {
    Published,
    Covered,
    Unsaid,
}

/// What the words around `said` in `text` say of its years.
fn governed(text: &str, said: &str) -> Governed {
    let Some(at) = text.find(said) else { return Governed::Unsaid };
    let own: Vec<String> = lower_words(said).collect();
    let before: Vec<String> = lower_words(&text[..at]).collect();
    let after: Vec<String> = lower_words(&text[at + said.len()..]).take(5).collect();
    let is_open = |word: &String| OPEN.contains(&word.as_str());
    let mut opened = own.iter().any(is_open);
    // The span may hold the governing word itself.
    let inside = own.iter().rev().filter(|word| word.chars().all(char::is_alphabetic));
    for word in inside.chain(before.iter().rev().take(8)) {
        match word.as_str() {
            word if PUBLISHED.contains(&word) => return Governed::Published,
            "back" => return Governed::Covered,
            "far" | "as" | "going" | "goes" => {}
            word if COVERS.contains(&word) => return if opened { Governed::Unsaid } else { Governed::Covered },
            word if stands_between(word) => opened |= OPEN.contains(&word),
            _ => break,
        }
    }
    match after.iter().map(String::as_str).find(|word| !matches!(*word, "by" | "going" | "the" | "date" | "of")) {
        Some("publication" | "publications" | "release" | "releases") => Governed::Published,
        _ => Governed::Unsaid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_govern_years_decide() {
        for (text, said, expected) in [
            ("soil data published since 2021", "since 2021", Governed::Published),
            ("soil data published since 2021", "2021", Governed::Published),
            ("released in or after 2019", "2019", Governed::Published),
            ("publication date: 2020", "2020", Governed::Published),
            ("published between 2015 and 2020", "between 2015 and 2020", Governed::Published),
            ("the 2021 release of the rents", "2021", Governed::Published),
            ("not older than 2018, going by the release date", "2018", Governed::Published),
            ("going back to at least 1970", "at least 1970", Governed::Covered),
            ("as far back as 1970", "1970", Governed::Covered),
            ("glaciers back to 1970", "back to 1970", Governed::Covered),
            ("data that covers 2005", "2005", Governed::Covered),
            ("data covering the year 2005", "2005", Governed::Covered),
            ("covering from 2005", "2005", Governed::Unsaid),
            ("rents since 2015", "since 2015", Governed::Unsaid),
            ("published figures of rents since 2015", "since 2015", Governed::Unsaid),
            ("soil in 2015", "2015", Governed::Unsaid),
        ] {
            assert_eq!(governed(text, said), expected, "{text}");
        }
    }

    #[test]
    fn years_of_both_kinds_that_are_read_as_one_period_are_parted() {
        let separated = |text: &str, said: &str| {
            let years = RequestedYears::Cover { from: 1970, to: 2016 };
            let read =
                Demand { value: Demanded::Period(years), hard: true, ..Demand::in_words(Respect::Period, said, 1) };
            let demands = vec![read];
            let mut after = Revised { demands, ..Revised::default() };
            separate_publication(&mut after, text, 1, false);
            after.demands.iter().map(|demand| format!("{} {demand}", demand.role)).collect::<Vec<_>>().join(", ")
        };
        let expected = "period 1990, published 2015 onward";
        assert_eq!(separated("data covering 1990, published since 2015", "1990 to 2015"), expected);
        assert_eq!(separated("published since 2015 that covers 1990", "2015 to 1990"), expected);
        assert_eq!(
            separated("published after 2015 and going back to 1970", "2015 to 1970"),
            "period 1970, published 2016 onward"
        );
        assert_eq!(separated("from 1970 to 2016", "1970 to 2016"), "period 1970 to 2016");
        assert_eq!(separated("issued between 1970 and 2016", "between 1970 and 2016"), "published 1970 to 2016");
        assert_eq!(separated("issued between 1970 and 2016", "1970 to 2016"), "published 1970 to 2016");
    }

    #[test]
    fn closed_forms_bound_a_year() {
        use RequestedYears::{EndsIn, StartsIn};
        for (text, said, expected) in [
            ("released in 2019 or later", "2019 or later", Some(StartsIn(2019))),
            ("nothing from 2005 or earlier", "2005 or earlier", Some(StartsIn(2006))),
            ("not older than 2015 by publication", "older than 2015", Some(StartsIn(2015))),
            ("older than 2016", "2016", Some(EndsIn(2015))),
            ("no later than 2010", "2010", Some(EndsIn(2010))),
            ("not published before 2020", "before 2020", Some(StartsIn(2020))),
            ("nothing older than 2018", "older than 2018", Some(StartsIn(2018))),
            ("from 2005 onwards", "2005", Some(StartsIn(2005))),
            ("not before 1975", "not before 1975", Some(StartsIn(1975))),
            ("in 1999", "1999", None),
            ("between 1990 and 2010", "1990 and 2010", None),
        ] {
            assert_eq!(bound_in_words(text, said), expected, "{text}");
        }
    }

    #[test]
    fn a_publication_date_leaves_the_period_before_it() {
        let period = |said: &str, year, turn| Demand {
            value: Demanded::Period(RequestedYears::StartsIn(year)),
            hard: true,
            ..Demand::in_words(Respect::Period, said, turn)
        };
        let separated = |before: Demand, text: &str, replaces| {
            let read = period("2018", 2018, 2);
            let (demands, gone) = match before.role == Respect::Period {
                true => (vec![read], vec![before]),
                false => (vec![before, read], Vec::new()),
            };
            let mut after = Revised { demands, gone, ..Revised::default() };
            separate_publication(&mut after, text, 2, replaces);
            let mut demands: Vec<String> =
                after.demands.iter().map(|demand| format!("{} {demand}", demand.role)).collect();
            demands.sort();
            demands
        };
        let before = || period("1990", 1990, 1);
        assert_eq!(
            separated(before(), "and published since 2018", false),
            ["period 1990 onward", "published 2018 onward"]
        );
        assert_eq!(separated(before(), "since 2018", false), ["period 2018 onward"]);
        let published = || Demand { role: Respect::Published, ..before() };
        assert_eq!(separated(published(), "make that 2018", true), ["published 2018 onward"]);
        assert_eq!(separated(published(), "since 2018", false), ["period 2018 onward", "published 1990 onward"]);
    }

    #[test]
    fn of_two_publications_the_latest_holds() {
        let demand = |said: &str, year, turn| Demand {
            value: Demanded::Period(RequestedYears::StartsIn(year)),
            hard: true,
            ..Demand::in_words(Respect::Period, said, turn)
        };
        let demands = vec![
            Demand { role: Respect::Published, ..demand("2015", 2015, 1) },
            demand("2021", 2021, 2),
            demand("1970", 1970, 2),
        ];
        let mut after = Revised { demands, ..Revised::default() };
        separate_publication(&mut after, "published since 2021, back to 1970", 2, false);
        let described: Vec<String> = after.demands.iter().map(|demand| format!("{} {demand}", demand.role)).collect();
        assert_eq!(described, ["published 2021 onward", "period 1970"]);
    }
}
