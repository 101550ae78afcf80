//! Second thoughts: what takes something back, what denies it, and which role is to be forgotten.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::turn::Turn;
use lakeward_core::role::Role;

const RETRACTIONS: &str = "
    forget what|about|that|the|my|it; scratch that; no ,? wait; wait ,; correction; i was wrong; that|this|it was wrong;
    i made a mistake; made an error; my mistake; my bad; i mis*; i meant|mean; actually; rather than; instead of?;
    on second thought|thoughts; let me correct|change|rephrase|fix; take that|it|what|the back; take back;
    ignore what|that|the|my;
    disregard;
    strike that; never mind; nevermind; not what i said; oops; pardon; change that|the|my; sorry; or rather;
    that not right; that|that's wrong; correcting; correct myself|that; gave you the? wrong; got the|that|it _2 wrong;
    told you was|is wrong;
    hmm|uh|er|ah|oh ,? no; no ,? sorry; no , >no; no : >no; hold on; something else;
    make that; should have been _6 not; should be _6 not; replace";

static RETRACTED: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), RETRACTIONS)]));

/// The first words of phrases that take back what was said before them.
pub(super) fn retractions(turn: &Turn) -> Vec<usize> {
    RETRACTED.find(turn, 0, turn.words.len()).iter().map(|hit| hit.from).collect()
}

/// Stands for what later turns say the topic is to be more exactly.
pub(super) const FOCUS: &str = "focus";

const FORGETTING: [&str; 8] = ["forget", "ignore", "disregard", "drop", "scratch", "strike", "remove", "nevermind"];

/// What may stand between `forget` and what is meant.
const BETWEEN: [&str; 19] = [
    "what",
    "i",
    "said",
    "told",
    "you",
    "asked",
    "everything",
    "earlier",
    "before",
    "about",
    "on",
    "regarding",
    "the",
    "my",
    "any",
    "all",
    "mind",
    "out",
    "wanted",
];

/// At most so many of these.
const MOST_BETWEEN: usize = 8;

/// What people call the field of a role.
const FIELDS: [(&str, &[&str]); 8] = [
    (
        "place",
        &[
            "place",
            "places",
            "geography",
            "region",
            "regions",
            "area",
            "location",
            "country",
            "province",
            "city",
            "where",
        ],
    ),
    ("subject", &["subject", "subjects", "theme", "category", "topic", "field", "heading"]),
    ("source", &["survey", "source", "publisher", "provider", "organisation", "organization", "agency"]),
    ("frequency", &["frequency", "interval", "periodicity", "rhythm", "cadence"]),
    ("status", &["status"]),
    (FOCUS, &["focus", "aspect", "aspects"]),
    ("period", &["period", "year", "years", "date", "dates", "time", "span", "range", "coverage"]),
    (
        "dimension",
        &["dimension", "dimensions", "breakdown", "breakdowns", "column", "columns", "split", "variable", "variables"],
    ),
];

/// A role to be forgotten, in the words `from..to`.
#[derive(Debug, Clone)]
pub(super) struct Forgotten {
    pub from: usize,
    pub to: usize,
    pub role: Role,
}

/// `forget what I said about the years`, `never mind the place`; `roles`: those of the catalogue, which can also be
/// named.
pub(super) fn forgotten<'r>(turn: &Turn, roles: impl Iterator<Item = &'r Role> + Clone) -> Vec<Forgotten> {
    let mut found = Vec::new();
    let mut free = 0;
    for at in 0..turn.words.len() {
        let verb = FORGETTING.contains(&turn.low(at))
            || turn.low(at) == "never" && turn.low(at + 1) == "mind"
            || turn.low(at) == "leave" && turn.low(at + 1) == "out";
        if !verb || at < free {
            continue;
        }
        let mut next = at + 1;
        while next - at <= MOST_BETWEEN && turn.gaps[next - 1].joined && BETWEEN.contains(&turn.low(next)) {
            next += 1;
        }
        let follows = |place: usize| turn.words.get(place).filter(|_| turn.gaps[place - 1].joined);
        let named = follows(next).into_iter().chain(follows(next).and_then(|_| follows(next + 1)));
        for (offset, word) in named.enumerate() {
            let known = FIELDS.iter().find(|(_, words)| words.contains(&word.low.as_str()));
            let own = || roles.clone().find(|role| role.name() == word.low).cloned();
            let place = next + offset;
            let one = word.low.starts_with("column") && ["named", "called", "for"].contains(&turn.low(place + 1));
            if one {
                // `drop the column named notes` is about one of them.
                break;
            }
            if let Some(role) = known.map(|(name, _)| Role::from(name.to_string())).or_else(own) {
                free = place + 1;
                found.push(Forgotten { from: at, to: free, role });
                break;
            }
        }
    }
    found
}

/// How something is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// It is not what is looked for: `not Ontario`, `instead of 2010`.
    Replaced,
    /// It must not be there: `without`, `excluding`.
    Excluded,
}

/// Whether what begins at a word is denied by what stands directly before it in its clause.
pub(super) fn denied(turn: &Turn, clauses: &[usize], at: usize) -> Option<Denied> {
    const SMALL: [&str; 10] = ["for", "in", "by", "the", "from", "about", "under", "just", "a", "an"];
    let mut here = at;
    for smalls in 0..=2 {
        let before =
            here.checked_sub(1).filter(|before| turn.gaps[*before].joined && clauses[*before] == clauses[at])?;
        let earlier = before.checked_sub(1).filter(|earlier| turn.gaps[*earlier].joined).map_or("", |at| turn.low(at));
        match (turn.low(before), earlier) {
            ("not", _) | ("of", "instead") | ("than", "rather") => return Some(Denied::Replaced),
            // `no need for provinces`, `I don't want monthly`.
            ("need" | "want" | "care", "no" | "not" | "don't") => return Some(Denied::Replaced),
            ("except" | "excluding" | "without", _) => return Some(Denied::Excluded),
            // `a table with no provinces`, but not `Hmm no monthly` or `No Ontario`.
            ("no", earlier) if smalls == 0 && !matches!(earlier, "" | "but" | "hmm") => return Some(Denied::Excluded),
            (word, _) if SMALL.contains(&word) => here = before,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_thoughts_are_seen() {
        for (text, expected) in [
            ("No, wait. Ontario", vec![0]),
            ("Ontario - no, sorry, Quebec", vec![1]),
            ("Ontario. That's not right, Quebec", vec![1]),
            ("I misspoke: monthly", vec![0]),
            ("It should have been Quebec, not Ontario", vec![]),
            ("It should have been Quebec not Ontario", vec![1]),
            ("I want Ontario", vec![]),
        ] {
            assert_eq!(retractions(&Turn::new(text)), expected, "{text}");
        }
    }

    #[test]
    fn forgotten_roles_are_named() {
        let roles = [Role::Other("language".into())];
        let read = |text: &str| {
            let found = forgotten(&Turn::new(text), roles.iter());
            found.iter().map(|found| found.role.name().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(read("Please drop the years from earlier."), ["period"]);
        assert_eq!(read("Never mind what I said about the place, and forget the language."), ["place", "language"]);
        assert_eq!(read("Scratch that. Drop me a line"), Vec::<String>::new());
    }

    #[test]
    fn denials_stand_directly_before() {
        let read = |text: &str, at: usize| {
            let turn = Turn::new(text);
            denied(&turn, &turn.clauses(std::iter::empty()), at)
        };
        assert_eq!(read("not for the Ontario", 3), Some(Denied::Replaced));
        assert_eq!(read("quebec instead of ontario", 3), Some(Denied::Replaced));
        assert_eq!(read("all without Ontario", 2), Some(Denied::Excluded));
        assert_eq!(read("not good. Ontario", 2), None);
        assert_eq!(read("Hmm no Ontario", 2), None);
    }
}
