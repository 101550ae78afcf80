//! Whether what was read of a turn is stated in it: a demand is held to only where a second witness says the same.
//!
//! The trained reader misreads one place, year, format or publisher of eight, and of those that the catalogue has its confidence tells
//! little. Of a value the second witness is the catalogue, which has it under the name that was said, and that name stands by itself in the
//! text. Of years it is the closed class of words around them: they have to leave open the side that is read as open, explain every year
//! that the turn names, and say of what the years are. What one witness alone says weighs, leaves nothing out and is told, and so does what
//! the turn itself calls a wish.

use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::role::Role;
use lakeward_core::text::years::{LIKELY, years as years_in};
use lakeward_core::text::{is_function_word, lower_words, shown};

use super::publication::{says_coverage, says_publication};

/// Words that leave the end open.
const FROM: [&str; 16] = [
    "since",
    "after",
    "from",
    "later",
    "newer",
    "onward",
    "onwards",
    "post",
    "start",
    "starts",
    "starting",
    "begin",
    "begins",
    "beginning",
    "recent",
    "earliest",
];
/// Words that leave the start open.
const TO: [&str; 14] = [
    "until", "till", "before", "by", "earlier", "older", "through", "pre", "up", "end", "ends", "ending", "latest",
    "prior",
];
/// Words that say where data begins, so that an end beside them is not its end (`start no later than 1975`).
const STARTS: [&str; 6] = ["start", "starts", "starting", "begin", "begins", "beginning"];
/// Words that turn what others say.
const TURNING: [&str; 5] = ["no", "not", "nothing", "never", "none"];
/// Words by which a turn calls what it says a wish.
const WISHES: [&str; 9] =
    ["maybe", "perhaps", "might", "possibly", "ideally", "prefer", "preferred", "preferably", "guess"];

/// Leaves of the demands of turn `turn` only those stated that `text` states, and says of the others that they weigh.
pub(super) fn hold_to_stated(demands: &mut [Demand], text: &str, turn: usize) -> Vec<String> {
    let of_turn = |demand: &&Demand| demand.turn == turn && !demand.filters;
    let read: Vec<Demand> = demands.iter().filter(of_turn).cloned().collect();
    let before = |role: Role| {
        let known = demands.iter().filter(|demand| demand.role == role && demand.turn < turn);
        known.map(|demand| demand.turn).max()
    };
    // After a date of publication, years of which nothing is said may be either.
    let is_either = before(Role::Published) > before(Role::Period) && !says_coverage(text);
    let is_wish = lower_words(text).any(|word| WISHES.contains(&word.as_str()));
    let mut notes = Vec::new();
    for demand in demands.iter_mut().filter(|demand| demand.turn == turn && demand.hard) {
        let stands = !is_wish
            && match demand.value {
                Demanded::Period(_) if is_either && demand.role == Role::Period => false,
                Demanded::Period(years) => are_stated(text, demand, years, &read),
                Demanded::Values(_) => stands_alone(text, &demand.said),
                Demanded::Said => true,
            };
        if !stands {
            demand.doubtful = true;
            let said = shown(&demand.to_string(), 80);
            notes.push(format!(
                "{} `{said}` may not be what is meant: it counts, but nothing is left out for it",
                demand.role
            ));
        }
    }
    notes
}

/// Whether the words of `text` say of its years what was read.
fn are_stated(text: &str, demand: &Demand, years: RequestedYears, read: &[Demand]) -> bool {
    // Every year that is named is an end of what was read, beside it ("after 2000"), in its decade, or between two others.
    let bounds: Vec<(Option<i32>, Option<i32>)> = read
        .iter()
        .filter_map(|demand| match demand.value {
            Demanded::Period(years) => Some(years.bounds()),
            _ => None,
        })
        .collect();
    let named: Vec<i32> = years_in(text, LIKELY).collect();
    let is_read = |year: i32| {
        let is_decade = text.contains(&format!("{year}s"));
        bounds.iter().any(|(from, to)| {
            let begins = from.is_some_and(|from| from == year || from == year + 1);
            let ends = to.is_some_and(|to| to == year || to == year - 1 || (is_decade && to == year + 9));
            let between = from.is_some_and(|from| from < year && named.contains(&from))
                && to.is_some_and(|to| year < to && named.contains(&to));
            begins || ends || between
        })
    };
    if !named.iter().all(|year| is_read(*year)) {
        return false;
    }
    // Years beside a word of publication are of it, or of what the words say they cover.
    if demand.role == Role::Period && says_publication(text) && read.iter().all(|demand| demand.role != Role::Published)
    {
        return false;
    }
    let words = around(text, years);
    let says = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match years {
        _ if named.is_empty() => true,
        RequestedYears::StartsIn(_) => says(&FROM) || (says(&TURNING) && says(&TO)),
        RequestedYears::EndsIn(_) => !says(&STARTS) && (says(&TO) || (says(&TURNING) && says(&FROM))),
        _ => true,
    }
}

/// The words of `text` near the years: eight before the first that is named, and three after the last.
fn around(text: &str, years: RequestedYears) -> Vec<String> {
    let words: Vec<String> = lower_words(text).collect();
    let (from, to) = years.bounds();
    let is_end =
        |word: &String| years_in(word, LIKELY).any(|year| from.or(to).is_some_and(|end| (end - year).abs() <= 1));
    let Some(at) = words.iter().position(is_end) else { return words };
    words[at.saturating_sub(8)..words.len().min(at + 4)].to_vec()
}

/// Whether `said` is a name of its own in `text`, and not a part of a longer one (`Kenya Met Service`).
fn stands_alone(text: &str, said: &str) -> bool {
    let Some(at) = text.find(said) else { return true };
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && !is_function_word(&word.to_lowercase());
    let after = text[at + said.len()..].strip_prefix(' ').and_then(|rest| rest.split_whitespace().next());
    let before = text[..at].strip_suffix(' ').map(|rest| rest.split(' ').collect::<Vec<_>>());
    let before = before.and_then(|words| match words[..] {
        // The first word of a sentence has a capital anyway.
        [.., previous, last] if !previous.ends_with(['.', '?', '!', ':']) && !last.ends_with([',', ';', ':', '.']) => {
            Some(last)
        }
        _ => None,
    });
    !is_name(said) || !after.into_iter().chain(before).any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stays(text: &str, role: Role, value: Demanded, said: &str) -> bool {
        let mut demands = vec![Demand { value, hard: true, ..Demand::said(role, said, 1) }];
        let notes = hold_to_stated(&mut demands, text, 1);
        assert_eq!(notes.is_empty(), demands[0].is_held_to(), "{text}");
        demands[0].is_held_to()
    }

    #[test]
    fn years_are_held_to_where_the_words_say_them() {
        use RequestedYears::{Cover, EndsIn, StartsIn};
        for (text, years, expected) in [
            ("since 1990", StartsIn(1990), true),
            ("after 2000", StartsIn(2001), true),
            ("not before 1975", StartsIn(1975), true),
            ("shift it to 1911", StartsIn(1911), false),
            ("1988 would do", StartsIn(1988), false),
            ("any time up to 1914", EndsIn(1914), true),
            ("up to the crash of 2008", StartsIn(2008), false),
            ("nothing newer than 2008", EndsIn(2008), true),
            ("start no later than 1975", EndsIn(1975), false),
            ("the nineties, 1994 say", Cover { from: 1990, to: 1999 }, false),
            ("mid-1990s, say 1994-1996", Cover { from: 1990, to: 1999 }, false),
            ("in the 1990s", Cover { from: 1990, to: 1999 }, true),
            ("2018, 2019 or 2020", Cover { from: 2018, to: 2020 }, true),
            ("the last five years", Cover { from: 2017, to: 2021 }, true),
            ("the last years, say from 2020", Cover { from: 2017, to: 2021 }, false),
            ("published lately? I mean since 2015", StartsIn(2015), false),
            ("ideally from 2005", StartsIn(2005), false),
        ] {
            assert_eq!(stays(text, Role::Period, Demanded::Period(years), text), expected, "{text}");
        }
    }

    #[test]
    fn years_after_a_date_of_publication_may_be_either() {
        let years = |from| Demanded::Period(RequestedYears::StartsIn(from));
        let demand = |role, from, turn| Demand { value: years(from), hard: true, ..Demand::said(role, "years", turn) };
        for (text, expected) in [("rather since 2016", false), ("covering everything since 2016", true)] {
            let mut demands = vec![demand(Role::Published, 2019, 1), demand(Role::Period, 2016, 2)];
            hold_to_stated(&mut demands, text, 2);
            assert_eq!((demands[0].is_held_to(), demands[1].is_held_to()), (true, expected), "{text}");
        }
    }

    #[test]
    fn a_part_of_a_longer_name_is_not_the_name() {
        for (text, expected) in [
            ("wheat in Kenya", true),
            ("Only Kenya please", true),
            ("the Kenya Met Service", false),
            ("records of Northern Kenya", false),
            ("Kenya, Norway", true),
            ("wheat from Norway, Kenya", true),
            ("maybe Kenya", false),
        ] {
            let value = Demanded::Values(vec![vec!["Kenya".into()]]);
            assert_eq!(stays(text, Role::Place, value, "Kenya"), expected, "{text}");
        }
    }
}
