//! Whether it is kept up: `still updated`, `discontinued`.

use std::sync::LazyLock;

use super::phrases::{Match, Phrases};
use super::turn::Turn;

/// Whether records are kept up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// New values are added.
    Current,
    /// It has ended.
    Ended,
}

/// First of all: what denies an end.
const NOT_ENDED: &str = "not be? an|a? archived|discontinued|retired; no archived|discontinued";

const ENDED: &str = "
    no longer _2 updated|maintained|current|active|produced|refreshed|published|kept|released;
    not|never|isn't|aren't|hasn't|haven't|wasn't|without _2
    updated|maintained|current|active|produced|refreshed|published|kept >by;
    stopped|ceased being|to? be? updated|maintained|active|produced|refreshed|published; stopped updating; archiv*;
    discontinued; terminated; inactive; retired; obsolete; superseded; closed series|table|one; historical
    table|series|data;
    an|a|the|be historical; no longer in use; out of date; old and closed; an|the old one|table|series; not up to date";

const CURRENT: &str = "
    still|currently|being|kept|regularly|is|are|get|gets|must _1
        updated|maintained|current|active|produced|published|refreshed|alive|live|going|running|released >by|in|from|on;
    still|currently|being|kept|regularly|is|are|get|gets|must _1 up to date; must be _1
        updated|maintained|current|active|produced|published|refreshed|alive|live|going|running|released >by|in|from|on;
    still _2 released|updated|published|maintained|running|produced;
    active|current only; only the? active|current; be|stay|being kept? maintained; up to date; ongoing;
    current table|tables|series|one|ones|data|version|versions; not be? an|a? archived|discontinued|old|retired;
    active|maintained|updated table|tables|series|one|ones|dataset|datasets; live|alive series|table|one? >in; in
    production|service";

static PHRASES: LazyLock<[Phrases<Status>; 3]> = LazyLock::new(|| {
    [
        Phrases::new([(Status::Current, NOT_ENDED)]),
        Phrases::new([(Status::Ended, ENDED)]),
        Phrases::new([(Status::Current, CURRENT)]),
    ]
});

/// The status that the words `from..to`, a clause, ask for.
pub(super) fn find(turn: &Turn, from: usize, to: usize) -> Option<Match<Status>> {
    PHRASES.iter().find_map(|phrases| phrases.find(turn, from, to).first().copied())
}

/// What a value of the catalogue means: `archived`, `Active`.
pub(super) fn meant_by(value: &str) -> Option<Status> {
    const ENDED: [&str; 12] = [
        "archived",
        "archive",
        "inactive",
        "discontinued",
        "terminated",
        "closed",
        "retired",
        "historical",
        "obsolete",
        "deprecated",
        "ended",
        "superseded",
    ];
    const CURRENT: [&str; 7] = ["current", "active", "ongoing", "live", "updated", "open", "maintained"];
    let turn = Turn::new(value);
    let has = |words: &[&str]| turn.words.iter().any(|word| words.contains(&word.low.as_str()));
    if has(&ENDED) {
        return Some(Status::Ended);
    }
    has(&CURRENT).then_some(Status::Current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_known_in_many_words() {
        for (text, expected) in [
            ("It must still be updated", Some(Status::Current)),
            ("It must be maintained", Some(Status::Current)),
            ("Not discontinued", Some(Status::Current)),
            ("active only", Some(Status::Current)),
            ("a live series please", Some(Status::Current)),
            ("It should be alive", Some(Status::Current)),
            ("one that is still going", Some(Status::Current)),
            ("an old one, no longer updated", Some(Status::Ended)),
            ("It isn't updated any more", Some(Status::Ended)),
            ("From the archive", Some(Status::Ended)),
            ("they stopped updating it", Some(Status::Ended)),
            ("It's been discontinued", Some(Status::Ended)),
            ("I live in Berlin", None),
            ("it is published by the bank", None),
            ("currents of the sea", None),
        ] {
            let turn = Turn::new(text);
            assert_eq!(find(&turn, 0, turn.words.len()).map(|hit| hit.means), expected, "{text}");
        }
        assert_eq!(["Active", "ARCHIVED", "?"].map(meant_by), [Some(Status::Current), Some(Status::Ended), None]);
    }
}
