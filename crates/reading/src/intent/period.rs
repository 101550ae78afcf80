//! Which years: `from 2001 until 2010`, `since 1990`, `it ends in 2015`, `2012 only`, `2015-17`, `the 1990s`.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::phrases::{Match, Phrases};
use super::turn::Turn;
use lakeward_core::request::RequestedYears;

/// Numbers of four digits in this range are years.
const YEARS: RangeInclusive<i32> = 1500..=2099;
/// Two years at most so many bytes apart are the ends of one period.
const APART_BYTES: usize = 22;
/// A cue counts so many bytes before a year …
const BEFORE_BYTES: usize = 45;
/// … and so many behind it.
const BEHIND_BYTES: usize = 22;
/// A cue behind the year is as good as one before it that is so many bytes farther away.
const BEHIND_PENALTY: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cue {
    Start,
    End,
    /// A bare `to`, which speaks of an end only directly before the year.
    To,
}

const START: &str = "
    first; start|starts|started|starting; begin|begins|beginning|began; since; onward|onwards; earliest; go|goes|going
    back to?;
    open|opens; date|dates back to?; as of; and|or later|after; nothing|none|not before|earlier; after;
    launched|introduced";

const END: &str = "
    last; end|ends|ended|ending; stop|stops|stopped; final; until; till; up to; latest; finish*; most recent; through
    to; runs out;
    closes; closed in; no later than; nothing|none|not after|beyond|later";

const EXACT: &str = "
    nothing else|but; single; one time|off|year|shot; onetime; oneoff; strictly; sole|solely; exactly; no other;
    precisely;
    by itself; alone";

static CUES: LazyLock<Phrases<Cue>> =
    LazyLock::new(|| Phrases::new([(Cue::Start, START), (Cue::End, END), (Cue::To, "<back to")]));
static EXACTLY: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), EXACT)]));

/// Years in the words `from..to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub from: usize,
    pub to: usize,
    pub wanted: RequestedYears,
}

/// A year, or a decade, in one word or two (`2015-17`).
#[derive(Debug, Clone, Copy)]
struct Year {
    at: usize,
    to: usize,
    first: i32,
    last: i32,
}

/// Periods in a text. `clauses`: of each word. `marks`: whether a retraction begins at a word, so that what stands
/// before and behind it is apart. `named`: whether a word is inside a value of the catalogue and so is no year.
pub(super) fn find(turn: &Turn, clauses: &[usize], marks: &[bool], named: &[bool]) -> Vec<Found> {
    let groups = group(turn, clauses, marks, named);
    let mut found = Vec::with_capacity(groups.len());
    for (at, years) in groups.iter().enumerate() {
        let (first, last) = (years[0], years[years.len() - 1]);
        let least = at.checked_sub(1).map_or(0, |before| groups[before].last().map_or(0, |year| year.to));
        let most = groups.get(at + 1).map_or(turn.words.len(), |next| next[0].at);
        let window = window(turn, clauses, (first.at, last.to), (least, most));
        let wanted = match years.as_slice() {
            [wrong, right] if is_replaced(turn, *wrong, *right, window.0) => one(turn, *right, window),
            [one_year] => one(turn, *one_year, window),
            _ => {
                let (from, to) = (first.first.min(last.first), first.last.max(last.last));
                let exact = from == to && EXACTLY.any(turn, window.0, window.1);
                if exact { RequestedYears::Exactly { from, to } } else { RequestedYears::Cover { from, to } }
            }
        };
        found.push(Found { from: first.at, to: last.to, wanted });
    }
    found
}

/// Groups of one or two years that are near each other.
fn group(turn: &Turn, clauses: &[usize], marks: &[bool], named: &[bool]) -> Vec<Vec<Year>> {
    let mut groups: Vec<Vec<Year>> = Vec::new();
    let mut at = 0;
    while at < turn.words.len() {
        let Some(year) = year_at(turn, at).filter(|_| !named[at]) else {
            at += 1;
            continue;
        };
        at = year.to;
        let joins = |group: &Vec<Year>| match group.as_slice() {
            [before] => {
                before.first == before.last
                    && year.first == year.last
                    && clauses[before.at] == clauses[year.at]
                    && turn.distance(before.to - 1, year.at) <= APART_BYTES
                    && !marks[before.to..year.at].contains(&true)
            }
            _ => false,
        };
        match groups.last_mut().filter(|group| joins(group)) {
            Some(group) => group.push(year),
            None => groups.push(vec![year]),
        }
    }
    groups
}

/// `2015`, `1990s`, `2015-17`, `FY2015`.
fn year_at(turn: &Turn, at: usize) -> Option<Year> {
    let word = turn.words.get(at)?;
    let digits = |c: char| c.is_ascii_digit();
    let from = word.low.find(digits)?;
    let rest = &word.low[from..];
    let length = rest.find(|c| !digits(c)).unwrap_or(rest.len());
    if length != 4 || turn.text[word.end..].starts_with(['.', ',']) && digit_at(turn.text, word.end + 1) {
        return None;
    }
    if word.start > 1 && turn.text[..word.start].ends_with(['.', ',']) && digit_at(turn.text, word.start - 2) {
        return None;
    }
    let year = rest[..length].parse().ok().filter(|year| YEARS.contains(year))?;
    let possessive = turn.text[word.end..].starts_with("'s") || turn.text[word.end..].starts_with("’s");
    if year % 10 == 0 && (&rest[length..] == "s" || possessive) {
        return Some(Year { at, to: at + 1, first: year, last: year + 9 });
    }
    let short = turn.words.get(at + 1).filter(|next| turn.gaps[at].dash && next.low.len() == 2);
    let second = short.and_then(|next| next.low.parse::<i32>().ok()).map(|two| year / 100 * 100 + two);
    Some(match second.filter(|second| *second > year) {
        Some(last) => Year { at, to: at + 2, first: year, last },
        None => Year { at, to: at + 1, first: year, last: year },
    })
}

fn digit_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

/// The words in which cues of the years in `years` count, within `limits`.
fn window(turn: &Turn, clauses: &[usize], years: (usize, usize), limits: (usize, usize)) -> (usize, usize) {
    let (mut from, mut to) = years;
    let (start, end) = (turn.words[years.0].start, turn.words[years.1 - 1].end);
    while from > limits.0 {
        let (gap, word) = (turn.gaps[from - 1], &turn.words[from - 1]);
        // A colon announces the years, a full stop is the end of what was said before.
        if gap.stop && !gap.colon || start - word.start > BEFORE_BYTES {
            break;
        }
        from -= 1;
    }
    while to < limits.1 && clauses[to] == clauses[years.1 - 1] && turn.words[to].end - end <= BEHIND_BYTES {
        to += 1;
    }
    (from, to)
}

/// Whether two years are `not 2010 but 2015`.
fn is_replaced(turn: &Turn, wrong: Year, right: Year, from: usize) -> bool {
    let denied = (from..wrong.at).any(|at| turn.low(at) == "not");
    denied && (wrong.to..right.at).any(|at| matches!(turn.low(at), "but" | "rather" | "instead"))
}

/// What is wanted of one year or decade: what the nearest cue says. `exactly` behind `begins in 2005` is hence about
/// the beginning.
fn one(turn: &Turn, year: Year, window: (usize, usize)) -> RequestedYears {
    let (from, to) = (year.first, year.last);
    let distance = |start: usize, end: usize| match end <= year.at {
        true => turn.distance(end - 1, year.at),
        false => turn.distance(year.to - 1, start) + BEHIND_PENALTY,
    };
    let outside = |start: usize, end: usize| end <= year.at || start >= year.to;
    let exact = EXACTLY.find(turn, window.0, window.1);
    let exact = exact.iter().filter(|hit| outside(hit.from, hit.to)).map(|hit| distance(hit.from, hit.to)).min();
    let speaks = |hit: &Match<Cue>| hit.means != Cue::To || hit.to == year.at && turn.gaps[year.at - 1].joined;
    let cues = CUES.find(turn, window.0, window.1);
    let near = cues.iter().filter(|hit| from == to && outside(hit.from, hit.to) && speaks(hit));
    let on = year.to < turn.words.len() && turn.low(year.to) == "on" && turn.gaps[year.to - 1].joined;
    if on && from == to && year.at > 0 && turn.low(year.at - 1) == "from" {
        return RequestedYears::StartsIn(from);
    }
    // Of two as near, a start: `since` before and `until` behind are never so.
    let near = near
        .map(|hit| (distance(hit.from, hit.to), hit.means != Cue::Start, hit.means))
        .min_by_key(|near| (near.0, near.1));
    match (exact, near) {
        (Some(exact), near) if near.is_none_or(|near| exact <= near.0) => RequestedYears::Exactly { from, to },
        (_, Some((_, _, Cue::Start))) => RequestedYears::StartsIn(from),
        (_, Some((_, _, Cue::End | Cue::To))) => RequestedYears::EndsIn(from),
        (_, None) => RequestedYears::Cover { from, to },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<RequestedYears> {
        let turn = Turn::new(text);
        let clauses = turn.clauses(std::iter::empty());
        let none = vec![false; turn.words.len()];
        find(&turn, &clauses, &none, &none).iter().map(|found| found.wanted).collect()
    }

    #[test]
    fn years_are_read_with_what_is_said_of_them() {
        use RequestedYears::{Cover, EndsIn, Exactly, StartsIn};
        for (text, expected) in [
            ("Between 2001 and 2010.", Cover { from: 2001, to: 2010 }),
            ("2010–2001", Cover { from: 2001, to: 2010 }),
            ("2015-17", Cover { from: 2015, to: 2017 }),
            ("the 1990s", Cover { from: 1990, to: 1999 }),
            ("the 1990's", Cover { from: 1990, to: 1999 }),
            ("data since 1990", StartsIn(1990)),
            ("from 1990 onwards", StartsIn(1990)),
            ("from 1990 on", StartsIn(1990)),
            ("nothing after 1990", EndsIn(1990)),
            ("it goes back to 1971", StartsIn(1971)),
            ("up to 2005", EndsIn(2005)),
            ("the last year is 2005", EndsIn(2005)),
            ("It should begin in 2005 exactly", StartsIn(2005)),
            ("exactly one year, 2005", Exactly { from: 2005, to: 2005 }),
            ("2012 and nothing else", Exactly { from: 2012, to: 2012 }),
            ("for the year 2012", Cover { from: 2012, to: 2012 }),
            ("not 2010 but 2015", Cover { from: 2015, to: 2015 }),
        ] {
            assert_eq!(read(text), [expected], "{text}");
        }
        assert_eq!(read("3.2015 and 20155 and 12,2010 and 2010,5 and 1066"), []);
        assert_eq!(read("It starts in 1990. It ends in 2001."), [StartsIn(1990), EndsIn(2001)]);
    }
}
