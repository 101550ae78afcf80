//! Words for whether data is still maintained: `still updated`, `discontinued`.

use lakeward_core::text::lower_words;

/// Whether records are kept up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// New values are added.
    Current,
    /// It has ended.
    Ended,
}

const ENDED: [&str; 12] = [
    "archiv",
    "inactiv",
    "discontinu",
    "terminat",
    "retir",
    "obsolet",
    "supersed",
    "historic",
    "closed",
    "stopped",
    "dead",
    "frozen",
];
const CURRENT: [&str; 9] = ["current", "activ", "updat", "maintain", "ongoing", "alive", "live", "refresh", "kept"];
const DENIES: [&str; 7] = ["no", "not", "never", "longer", "isn", "stopped", "ceased"];

/// What a text means, in a request or in a value of a catalogue.
pub(super) fn meant_by(text: &str) -> Option<Status> {
    let words: Vec<String> = lower_words(text).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.iter().any(|stem| word.starts_with(stem)));
    let denied = words.iter().any(|word| DENIES.contains(&word.as_str()));
    match (has(&CURRENT), has(&ENDED)) {
        (true, _) if denied => Some(Status::Ended),
        (true, _) => Some(Status::Current),
        (_, true) if denied && !words.iter().any(|word| word == "stopped") => Some(Status::Current),
        (_, true) => Some(Status::Ended),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_known() {
        for (text, expected) in [
            ("still updated", Some(Status::Current)),
            ("no longer maintained", Some(Status::Ended)),
            ("discontinued", Some(Status::Ended)),
            ("not archived", Some(Status::Current)),
            ("Active", Some(Status::Current)),
            ("archived", Some(Status::Ended)),
            ("blue", None),
        ] {
            assert_eq!(meant_by(text), expected, "{text}");
        }
    }
}
