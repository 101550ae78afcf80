//! What years of a request are years of: of what the data covers, or of its publication.
//!
//! The reader finds the years of a turn; the words that govern them decide here, a closed set: `published since 2021` is a publication,
//! `back to at least 1970` and `covers 2005` ask for data that covers the year, not for data that begins in it.

use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::role::Role;
use lakeward_core::text::years::{LIKELY, years};
use lakeward_core::text::{is_function_word, lower_words};

/// Words that say of years that something was published in them.
const PUBLISHED: [&str; 13] = [
    "published",
    "publication",
    "publications",
    "publish",
    "released",
    "release",
    "issued",
    "deposited",
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
const BETWEEN: [&str; 11] =
    ["between", "during", "than", "least", "last", "past", "year", "years", "date", "dates", "only"];

/// Whether `word` may stand between the governing word and the years.
fn stands_between(word: &str) -> bool {
    OPEN.contains(&word) || BETWEEN.contains(&word) || is_function_word(word)
}

/// The demands of turn `turn` with what the words of `text` say of their years; of publications the latest holds.
pub(super) fn told_apart(demands: &mut Vec<Demand>, text: &str, turn: usize) {
    let mut apart = Vec::new();
    for demand in demands.iter_mut().filter(|demand| demand.turn == turn && demand.role == Role::Period) {
        let Demanded::Period(years) = demand.value else { continue };
        // Years of both kinds are read as one period.
        if let (false, Some((published, covered))) = (text.contains(demand.said.as_str()), of_both(text)) {
            let words = |(year, _): (i32, RequestedYears)| year.to_string();
            let value = |(_, years): (i32, RequestedYears)| Demanded::Period(years);
            apart.push(Demand {
                role: Role::Published,
                said: words(published),
                value: value(published),
                ..demand.clone()
            });
            (demand.said, demand.value) = (words(covered), value(covered));
            continue;
        }
        match governed(text, &demand.said) {
            Governed::Published => demand.role = Role::Published,
            Governed::Covered => {
                if let RequestedYears::StartsIn(year) = years {
                    demand.value = Demanded::Period(RequestedYears::Cover { from: year, to: year });
                }
            }
            Governed::Unsaid => {}
        }
    }
    demands.append(&mut apart);
    let latest = demands.iter().rposition(|demand| demand.role == Role::Published && !demand.avoid);
    let mut place = 0;
    demands.retain(|demand| {
        place += 1;
        demand.role != Role::Published || demand.avoid || Some(place - 1) == latest
    });
}

/// The year of publication and the year covered, where `text` names one of each; both with what is wanted of them.
fn of_both(text: &str) -> Option<((i32, RequestedYears), (i32, RequestedYears))> {
    let found: Vec<i32> = years(text, LIKELY).collect();
    let [first, second] = found[..] else { return None };
    let of = |year: i32| (governed(text, &year.to_string()) == Governed::Published, (year, wanted_of(text, year)));
    match (of(first), of(second)) {
        ((true, published), (false, covered)) | ((false, covered), (true, published)) => Some((published, covered)),
        _ => None,
    }
}

/// What the words before `year` want of it.
fn wanted_of(text: &str, year: i32) -> RequestedYears {
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
    let after: Vec<String> = lower_words(&text[at + said.len()..]).take(2).collect();
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
    match after.first().map(String::as_str) {
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
        let told = |text: &str, said: &str| {
            let years = RequestedYears::Cover { from: 1970, to: 2016 };
            let read = Demand { value: Demanded::Period(years), hard: true, ..Demand::said(Role::Period, said, 1) };
            let mut demands = vec![read];
            told_apart(&mut demands, text, 1);
            demands.iter().map(|demand| format!("{} {demand}", demand.role)).collect::<Vec<_>>().join(", ")
        };
        let expected = "period 1990, published 2015 onward";
        assert_eq!(told("data covering 1990, published since 2015", "1990 to 2015"), expected);
        assert_eq!(told("published since 2015 that covers 1990", "2015 to 1990"), expected);
        assert_eq!(
            told("published after 2015 and going back to 1970", "2015 to 1970"),
            "period 1970, published 2016 onward"
        );
        assert_eq!(told("from 1970 to 2016", "1970 to 2016"), "period 1970 to 2016");
    }

    #[test]
    fn of_two_publications_the_latest_holds() {
        let demand = |said: &str, year, turn| Demand {
            value: Demanded::Period(RequestedYears::StartsIn(year)),
            hard: true,
            ..Demand::said(Role::Period, said, turn)
        };
        let mut demands = vec![
            Demand { role: Role::Published, ..demand("2015", 2015, 1) },
            demand("2021", 2021, 2),
            demand("1970", 1970, 2),
        ];
        told_apart(&mut demands, "published since 2021, back to 1970", 2);
        let told: Vec<String> = demands.iter().map(|demand| format!("{} {demand}", demand.role)).collect();
        assert_eq!(told, ["published 2021 onward", "period 1970"]);
    }
}
