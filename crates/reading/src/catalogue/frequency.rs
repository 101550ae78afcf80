//! Words for how often data is measured or released: `monthly`, `every other year`, `P_ANNUAL`, `at no fixed interval`.

use lakeward_core::text::{is_function_word, lower_words};

use crate::reader::number_in_words;

/// A frequency, the same for all ways to say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frequency {
    /// Whether it is at no fixed interval.
    pub irregular: bool,
    /// The interval in hours; a month has 30 days, a week is a quarter of it.
    pub hours: Option<u32>,
}

const MONTH: u32 = 720;
const YEAR: u32 = 12 * MONTH;
/// Stems of units and of adverbs, with hours.
const STEMS: [(&str, u32); 17] = [
    ("hour", 1),
    ("dail", 24),
    ("day", 24),
    ("week", MONTH / 4),
    ("fortnight", MONTH / 2),
    ("month", MONTH),
    ("quarter", 3 * MONTH),
    ("semiannual", 6 * MONTH),
    ("annual", YEAR),
    ("year", YEAR),
    ("yr", YEAR),
    ("biennial", 2 * YEAR),
    ("triennial", 3 * YEAR),
    ("quadrennial", 4 * YEAR),
    ("quinquennial", 5 * YEAR),
    ("decennial", 10 * YEAR),
    ("decade", 10 * YEAR),
];
const IRREGULAR: [&str; 5] = ["occasional", "irregular", "sporadic", "unscheduled", "adhoc"];

/// The frequency that a text says, in a request or in a value of a catalogue.
pub(super) fn meant_by(text: &str) -> Option<Frequency> {
    let words: Vec<String> = lower_words(&text.replace('_', " ")).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.iter().any(|stem| word.starts_with(stem)));
    let irregular = has(&IRREGULAR) || (has(&["no", "not"]) && has(&["regular", "fixed", "schedule"]));
    let unit = words.iter().find_map(|word| STEMS.iter().find(|(stem, _)| word.starts_with(stem)));
    let hours = unit.map(|(_, hours)| {
        let said = number_in_words(text).map(|number| number.value).filter(|number| (1.0..=100.0).contains(number));
        let other = has(&["other", "second", "bi"]) && !has(&["biennial", "biannual"]);
        if has(&["semi", "half", "biannual", "twice"]) && *hours > MONTH {
            hours / 2
        } else if other {
            hours * 2
        } else {
            said.map_or(*hours, |number| (f64::from(*hours) * number) as u32)
        }
    });
    let hours = if has(&["semiannual"]) { Some(6 * MONTH) } else { hours };
    (irregular || hours.is_some()).then_some(Frequency { irregular, hours })
}

/// Whether a text says how often and nothing else: `monthly`, not `time of day`.
pub(crate) fn is_only_frequency(text: &str) -> bool {
    const AROUND: [&str; 15] = [
        "every",
        "each",
        "per",
        "other",
        "second",
        "half",
        "semi",
        "bi",
        "once",
        "twice",
        "times",
        "basis",
        "interval",
        "intervals",
        "series",
    ];
    lower_words(text).all(|word| {
        STEMS.iter().any(|(stem, _)| word.starts_with(stem))
            || IRREGULAR.iter().any(|stem| word.starts_with(stem))
            || AROUND.contains(&word.as_str())
            || is_function_word(&word)
            || number_in_words(&word).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_frequency_is_known_in_many_words() {
        let each = |months: u32| Some(Frequency { irregular: false, hours: Some(months * MONTH) });
        let irregular = |hours: Option<u32>| Some(Frequency { irregular: true, hours });
        for (text, expected) in [
            ("Monthly", each(1)),
            ("every three months", each(3)),
            ("each quarter", each(3)),
            ("Every 2 years", each(24)),
            ("every other year", each(24)),
            ("every second year", each(24)),
            ("every 5 yrs", each(60)),
            ("once a decade", each(120)),
            ("twice a year", each(6)),
            ("half-yearly", each(6)),
            ("Semi-annual", each(6)),
            ("P_ANNUAL", each(12)),
            ("Occasional", irregular(None)),
            ("not on a regular schedule", irregular(None)),
            ("Occasional Monthly", irregular(Some(MONTH))),
            ("a few things", None),
        ] {
            assert_eq!(meant_by(text), expected, "{text}");
        }
    }
}
