//! Decides which demands may leave datasets out. A demand filters only where a second witness confirms what the
//! trained reader read. Any other demand is doubtful: it changes the order and leaves nothing out, and a note says so.
//!
//! The reader misreads one place, year, format or publisher of eight, and where the catalogue has the value, the
//! reader's confidence hardly tells whether it was meant. So the second witness is another one:
//!
//! - Of a value, the catalogue and the sentence. The catalogue has the value under the name that was said. The name
//!   stands by itself in the text, and once. Its clause refuses something only where the demand is to avoid the value.
//!   The word that governs the name is one that governs wishes in the labelled turns (`wheat yields from Yunnan`, not
//!   `my student from Yunnan`).
//! - Of years, the closed class of words around them. They leave open the side that was read as open, explain every
//!   year that the turn names, and say whether the years are those covered or that of publication.
//!
//! A demand is also doubtful where the turn calls it a preference, and an earlier demand where this turn may take it
//! back: the turn names the respect alone (`any country`), may begin a new request, or says years of which it is not
//! clear what they are.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::respect::Respect;
use lakeward_core::text::years::{LIKELY, years as years_in};
use lakeward_core::text::{is_function_word, lower_words, shown};
use lakeward_reading::reader::{Act, Revised, TurnReading, month_in_words};

use super::alternatives::{adds_to_another, respects_named};
use super::publication::{says_coverage, says_publication};
use super::subjects::is_respect;

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
const TO: [&str; 13] =
    ["until", "till", "before", "by", "earlier", "older", "pre", "up", "end", "ends", "ending", "latest", "prior"];
/// Words before a single year that make it an end.
const OPENING: [&str; 6] = ["up", "until", "till", "since", "after", "before"];
/// Words that say where data begins, so that an end beside them is not its end (`start no later than 1975`).
const STARTS: [&str; 6] = ["start", "starts", "starting", "begin", "begins", "beginning"];
/// Words that turn what others say.
const TURNING: [&str; 5] = ["no", "not", "nothing", "never", "none"];
/// Words by which a turn calls what it says a preference.
const TENTATIVE: [&str; 9] =
    ["maybe", "perhaps", "might", "possibly", "ideally", "prefer", "preferred", "preferably", "guess"];

/// Words by which a turn takes back what it has just said.
const SLIPS: [&str; 13] = [
    "no wait",
    "no, wait",
    "scratch that",
    "strike that",
    "make that",
    "i mean",
    "i meant",
    "oops",
    "sorry",
    "misspoke",
    "correction",
    "mixed something up",
    "rather",
];
/// Words that name a length of time and no rhythm.
const LENGTHS: [&str; 5] = ["day", "week", "month", "quarter", "year"];
/// Other content words of a clause from which on a value is mentioned in it, and not what it asks for.
const CROWDED: usize = 9;

/// Words that do not say what governs a value, beside function words.
const SMALL: &str = "from than between after before since until till during about within over under up only just also its it me i we you one \
    ones all any s";
/// Words that govern what is wanted in the labelled turns; `scripts/governing_words.py` makes the list.
const GOVERNING: &str = include_str!("governing.txt");
/// What ends a sentence.
const SENTENCE_ENDS: [char; 4] = ['.', '?', '!', ';'];
/// Words that refuse what follows, beside [`TURNING`].
const REFUSING: &str = "without except excluding neither nor t exclude drop avoid minus skip leave save omit scrap forget lose ban refuse but \
    apart aside";

/// Marks the demands that stand after turn `turn` as doubtful where no second witness confirms them. Returns a note
/// for each that was not doubtful before.
pub(super) fn hold_to_stated(after: &mut Revised, reading: &TurnReading, turn: usize) -> Vec<Message> {
    let Revised { demands, gone, .. } = after;
    let text = reading.text.as_str();
    let of_turn = |demand: &&Demand| demand.turn == turn && !demand.filters;
    let read: Vec<Demand> = demands.iter().filter(of_turn).cloned().collect();
    let is_years = |demand: &Demand| matches!(demand.role, Respect::Period | Respect::Published);
    let knows_publication = demands.iter().any(|demand| demand.role == Respect::Published && demand.turn < turn);
    // After a date of publication, years of which nothing is said may be either.
    let is_either = knows_publication
        && read.iter().any(|demand| demand.role == Respect::Period)
        && !says_coverage(text)
        && !says_publication(text);
    let is_tentative = lower_words(text).any(|word| TENTATIVE.contains(&word.as_str()));
    let asks =
        reading.acts.iter().all(|act| matches!(act, Act::Ask | Act::Pick | Act::Compare | Act::Accept | Act::Chat));
    let named = if asks { Vec::new() } else { respects_named(text) };
    let is_taken_back = |role: &Respect| {
        let is_of = |demand: &Demand| demand.role == *role;
        named.contains(&role) && !read.iter().any(is_of) && !gone.iter().any(is_of)
    };
    // What is left where something was taken back that was not found is not known.
    let takes_nothing = reading.has(Act::Retract) && read.is_empty() && gone.is_empty();
    let may_be_gone = reading.has(Act::New) || takes_nothing;
    let mut notes = Vec::new();
    for demand in demands.iter_mut().filter(|demand| demand.hard && !demand.filters) {
        let (is_old, was_doubtful) = (demand.turn < turn, demand.doubtful);
        let holds = match demand.value {
            _ if is_old => !(may_be_gone || is_taken_back(&demand.role) || (is_either && is_years(demand))),
            _ if is_tentative || demand.role == Respect::Dimension || is_mentioned(text, demand) => false,
            Demanded::Period(_) if demand.role == Respect::Published && !says_publication(text) => false,
            Demanded::Period(_) if is_either && demand.role == Respect::Period => false,
            Demanded::Period(years) => are_stated(text, demand, years, &read) && is_governed(text, demand, &read),
            Demanded::Values(_) | Demanded::AnyOf(_) => {
                let is_length = demand.role == Respect::Frequency && LENGTHS.contains(&demand.said.as_str());
                !is_length
                    && stands_alone(text, &demand.said)
                    && clause_agrees(text, demand)
                    && is_governed(text, demand, &read)
            }
            Demanded::Words => true,
        };
        demand.doubtful |= !holds;
        // By what a publisher breaks down is named in many ways: that goes without saying.
        if demand.doubtful && !(is_old && was_doubtful) && demand.role != Respect::Dimension {
            let (role, said) = (Message::name(demand.role.to_string()), shown(&demand.to_string(), 80));
            notes.push(match is_old {
                true => message!(
                    "{} `{}` may no longer be what is meant: it counts, but nothing is left out for it",
                    role,
                    said
                ),
                false => {
                    message!("{} `{}` may not be what is meant: it counts, but nothing is left out for it", role, said)
                }
            });
        }
    }
    notes
}

/// Where the clause begins and ends that `said` stands in, with its own place.
fn clause_of(text: &str, said: &str) -> Option<(usize, Range<usize>, usize)> {
    const ENDS: [char; 8] = ['.', '?', '!', ';', ':', ',', '\u{2013}', '\u{2014}'];
    let at = text.find(said)?;
    let own = at..at + said.len();
    let from = text[..own.start].char_indices().rfind(|(_, sign)| ENDS.contains(sign));
    let from = from.map_or(0, |(end, sign)| end + sign.len_utf8());
    let to = text[own.end..].find(ENDS).map_or(text.len(), |end| own.end + end);
    Some((from, own, to))
}

/// Whether the word that governs what `demand` says is known to govern what is wanted, or is itself read as something wanted.
fn is_governed(text: &str, demand: &Demand, read: &[Demand]) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| GOVERNING.lines().collect());
    let Some((from, own, to)) = clause_of(text, &demand.said) else { return true };
    let says = |word: &String| !is_function_word(word) && !SMALL.split_whitespace().any(|small| small == word);
    let is_known = |word: String| {
        KNOWN.contains(word.as_str())
            || is_of_years(&word)
            || (demand.role == Respect::Subject && is_respect(&word))
            || word.chars().all(char::is_numeric)
            || read.iter().any(|other| lower_words(&other.said).any(|known| known == word))
    };
    // What begins a clause is governed by what follows it: `Norway alone`, `Munich pays it`.
    let before = lower_words(&text[from..own.start]).filter(says).last();
    let governing = before.or_else(|| lower_words(&text[own.end..to]).find(says));
    !names_something(text, demand) && governing.is_none_or(is_known)
}

/// Whether the first year of a demand on years is part of a name: `the 2014 paper`.
fn names_something(text: &str, demand: &Demand) -> bool {
    let year = years_in(&demand.said, LIKELY).next().filter(|_| matches!(demand.value, Demanded::Period(_)));
    let Some((before, after)) = year.and_then(|year| text.split_once(&year.to_string())) else { return false };
    let has_article = lower_words(before)
        .last()
        .is_some_and(|word| matches!(word.as_str(), "the" | "a" | "that" | "this" | "my" | "our"));
    let is_noun =
        |word: &String| !is_function_word(word) && !is_of_years(word) && word.chars().all(char::is_alphabetic);
    has_article && after.starts_with(' ') && lower_words(after).next().is_some_and(|word| is_noun(&word))
}

/// Whether a word says of years what they are, or on which side they are open.
fn is_of_years(word: &str) -> bool {
    FROM.contains(&word) || TO.contains(&word) || says_publication(word) || says_coverage(word)
}

/// Whether a text begins with a question about what is, and not whether there is something.
fn is_question(text: &str) -> bool {
    let mut words = lower_words(text);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let asks = matches!(
        first.as_str(),
        "how" | "why" | "when" | "who" | "is" | "are" | "was" | "were" | "do" | "does" | "did"
    );
    let of_what_exists = matches!(second.as_str(), "there" | "you" | "we" | "about");
    asks && !of_what_exists && text.find(SENTENCE_ENDS).is_some_and(|end| text[end..].starts_with('?'))
}

/// Whether the clause refuses what is read as refused, and nothing else; what is named twice may be both.
fn clause_agrees(text: &str, demand: &Demand) -> bool {
    let Some((from, own, to)) = clause_of(text, &demand.said) else { return true };
    let refuses = |word: &String| {
        TURNING.contains(&word.as_str()) || REFUSING.split_whitespace().any(|refusing| refusing == word)
    };
    let refusals = |part: &str| lower_words(part).filter(refuses).count();
    let sentence = text[..own.start].rfind(SENTENCE_ENDS).map_or(0, |end| end + 1);
    // What is not without something has it.
    let is_refused = match demand.avoid {
        true => refusals(&text[sentence..own.start]) % 2 == 1,
        false => refusals(&text[from..to]) == 0,
    };
    // What is added to nothing that is known.
    let is_added = adds_to_another(text) && !matches!(demand.value, Demanded::AnyOf(_));
    is_refused && !is_added && !is_question(&text[sentence..]) && !text[own.end..].contains(demand.said.as_str())
}

/// Whether what is said is taken back in the same breath, or stands in a clause that says much besides.
fn is_mentioned(text: &str, demand: &Demand) -> bool {
    let said = demand.said.as_str();
    let Some((from, own, to)) = clause_of(text, said) else { return slip(text).is_some() };
    let others = lower_words(&text[from..own.start]).chain(lower_words(&text[own.end..to]));
    let is_taken_back = slip(text).filter(|at| own.start < *at && !demand.avoid).is_some_and(|at| {
        // The sentence of the slip and the one before it.
        let start = text[..at].trim_end().rmatch_indices(SENTENCE_ENDS).nth(1).map_or(0, |(end, _)| end + 1);
        own.start >= start
    });
    is_taken_back || others.filter(|word| !is_function_word(word)).count() >= CROWDED
}

/// Where a text takes back what it has just said, the last time.
fn slip(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let places = SLIPS.iter().filter_map(|slip| lower.rfind(slip));
    places.filter(|at| !lower[..*at].ends_with(char::is_alphanumeric)).max()
}

/// Whether a year is said as one, and not as a decade in words, so many years back, or in a date.
fn is_plain_year(text: &str, said: &str) -> bool {
    let behind = text.split_once(said).map_or("", |(_, behind)| behind);
    let digits = behind.trim_start().chars().take_while(char::is_ascii_digit).count();
    let is_date = behind.starts_with(' ') && (1..=2).contains(&digits)
        || lower_words(said).any(|word| month_in_words(&word).is_some());
    !is_date && years_in(said, LIKELY).next().is_some()
}

/// Whether the words of `text` say of its years what was read.
fn are_stated(text: &str, demand: &Demand, years: RequestedYears, read: &[Demand]) -> bool {
    if !is_plain_year(text, &demand.said) {
        return false;
    }
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
    if demand.role == Respect::Period
        && says_publication(text)
        && read.iter().all(|demand| demand.role != Respect::Published)
    {
        return false;
    }
    let words = around(text, years);
    let says = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match years {
        RequestedYears::StartsIn(_) => says(if says(&TURNING) { &TO } else { &FROM }),
        RequestedYears::EndsIn(_) => !says(&STARTS) && says(if says(&TURNING) { &FROM } else { &TO }),
        // Both ends are named, and a single year is none.
        RequestedYears::Cover { from, to } | RequestedYears::Exactly { from, to } => {
            let is_decade = to == from + 9 && text.contains(&format!("{from}s"));
            let at = words.iter().position(|word| *word == from.to_string()).unwrap_or(0);
            let before = &words[at.saturating_sub(4)..at];
            let is_open = from == to && before.iter().any(|word| OPENING.contains(&word.as_str()));
            named.contains(&from) && (named.contains(&to) || is_decade) && !is_open
        }
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
    // `two-yearly` is not yearly.
    if text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '-') {
        return false;
    }
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

    fn stays(text: &str, role: Respect, value: Demanded, said: &str) -> bool {
        let reading = TurnReading { text: text.into(), ..TurnReading::default() };
        let mut after = Revised {
            demands: vec![Demand { value, hard: true, ..Demand::in_words(role, said, 1) }],
            ..Revised::default()
        };
        let notes = hold_to_stated(&mut after, &reading, 1);
        assert_eq!(notes.is_empty(), after.demands[0].is_held_to(), "{text}");
        after.demands[0].is_held_to()
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
            ("the last five years", Cover { from: 2017, to: 2021 }, false),
            ("from 1 March 2004", StartsIn(2004), false),
            ("up to and including 1995", Cover { from: 1995, to: 1995 }, false),
            ("no later than 1965", Cover { from: 1960, to: 1965 }, false),
            ("since 1990, no wait, earlier", StartsIn(1990), false),
            ("the last years, say from 2020", Cover { from: 2017, to: 2021 }, false),
            ("published lately? I mean since 2015", StartsIn(2015), false),
            ("ideally from 2005", StartsIn(2005), false),
            ("nothing that was published before 2016", EndsIn(2015), false),
            ("as in the 2014 paper", Cover { from: 2014, to: 2014 }, false),
        ] {
            assert_eq!(stays(text, Respect::Period, Demanded::Period(years), text), expected, "{text}");
        }
    }

    #[test]
    fn years_after_a_date_of_publication_may_be_either() {
        let years = |from| Demanded::Period(RequestedYears::StartsIn(from));
        let demand =
            |role, from, turn| Demand { value: years(from), hard: true, ..Demand::in_words(role, "since 2016", turn) };
        for (text, expected) in [("rather since 2016", false), ("covering everything since 2016", true)] {
            let demands = vec![demand(Respect::Published, 2019, 1), demand(Respect::Period, 2016, 2)];
            let mut after = Revised { demands, ..Revised::default() };
            let reading = TurnReading { text: text.into(), acts: vec![Act::Refine], ..TurnReading::default() };
            hold_to_stated(&mut after, &reading, 2);
            // Which of them it changes is in doubt, too.
            assert!(after.demands.iter().all(|demand| demand.is_held_to() == expected), "{text}");
        }
    }

    #[test]
    fn what_was_said_before_is_doubted_where_a_turn_may_take_it_back() {
        let kenya = Demanded::Values(vec![vec!["Kenya".into()]]);
        for (text, act, expected) in [
            ("only from 1990", Act::Refine, true),
            ("any country then", Act::Reject, false),
            ("which country is the first from?", Act::Ask, true),
            ("clear all limits", Act::Retract, false),
            ("let's start afresh: wheat", Act::New, false),
        ] {
            let demands =
                vec![Demand { value: kenya.clone(), hard: true, ..Demand::in_words(Respect::Place, "Kenya", 1) }];
            let mut after = Revised { demands, ..Revised::default() };
            let reading = TurnReading { text: text.into(), acts: vec![act], ..TurnReading::default() };
            let notes = hold_to_stated(&mut after, &reading, 2);
            assert_eq!((after.demands[0].is_held_to(), notes.is_empty()), (expected, expected), "{text}");
        }
    }

    #[test]
    fn a_part_of_a_longer_name_is_not_the_name() {
        for (text, expected) in [
            ("data on Kenya", true),
            ("Only Kenya please", true),
            ("the Kenya Met Service", false),
            ("data of Northern Kenya", false),
            ("Kenya, Norway", true),
            ("data from Norway, Kenya", true),
            ("maybe Kenya", false),
            // What governs it governs nothing that is wanted.
            ("my student from Kenya has a question", false),
            ("I used to teach it in Kenya", false),
            // What refuses it, and what it is said twice in.
            ("nothing from Kenya", false),
            ("fine, but not Kenya", false),
            ("not Norway, Kenya", true),
            ("Kenya, everyone does Kenya", false),
            ("is the one from Kenya complete?", false),
            ("is there one from Kenya?", true),
            ("or Kenya", false),
            ("take Kenya also in", false),
            ("Kenya pays for it", false),
            ("Kenya alone will do", true),
            ("Norway \u{2013} or rather Kenya", true),
        ] {
            let value = Demanded::Values(vec![vec!["Kenya".into()]]);
            assert_eq!(stays(text, Respect::Place, value, "Kenya"), expected, "{text}");
        }
    }
}
