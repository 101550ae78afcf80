//! How often: `monthly`, `every other year`, `three-monthly`, `at no fixed interval`.

use std::sync::LazyLock;

use super::phrases::{Match, Phrases, Unit};
use super::turn::Turn;

/// A frequency, the same for all ways to say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frequency {
    /// Whether it is at no fixed interval.
    pub irregular: bool,
    /// The interval, in hours of months of 30 days; a week is a quarter of a month.
    pub hours: Option<u32>,
}

/// A frequency that stands in the words `from..to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub from: usize,
    pub to: usize,
    pub frequency: Frequency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    /// At this many hours.
    Each(u32),
    /// At the number of units of the match.
    Every,
    /// At so many units of the match.
    Times(u32),
    /// The same, of words that are put twice: `month by month`.
    Twice,
    /// At no fixed interval.
    Irregular,
    /// At no fixed interval, of values at this many hours.
    IrregularEach(u32),
}

const MONTH: u32 = 720;
const YEAR: u32 = 12 * MONTH;

fn hours(unit: Unit) -> u32 {
    match unit {
        Unit::Hour => 1,
        Unit::Day => 24,
        Unit::Week => MONTH / 4,
        Unit::Fortnight => MONTH / 2,
        Unit::Month => MONTH,
        Unit::Quarter => 3 * MONTH,
        Unit::Year => YEAR,
        Unit::Decade => 10 * YEAR,
    }
}

/// Adverbs and adjectives, each for an interval.
const ADJECTIVES: [(u32, &str); 16] = [
    (1, "hourly"),
    (24, "daily"),
    (MONTH / 4, "weekly"),
    (MONTH / 2, "biweekly; fortnightly"),
    (MONTH, "monthly"),
    (2 * MONTH, "bimonthly"),
    (3 * MONTH, "quarterly"),
    (6 * MONTH, "semiannual; semiannually; biannual; biannually; halfyearly"),
    (YEAR, "annual; annually; yearly"),
    (2 * YEAR, "biennial; biennially"),
    (3 * YEAR, "triennial; triennially"),
    (4 * YEAR, "quadrennial; quadrennially"),
    (5 * YEAR, "quinquennial; quinquennially"),
    (10 * YEAR, "decennial; decennially"),
    (MONTH / 2, "bi weekly"),
    (2 * MONTH, "bi monthly"),
];

const IRREGULAR: &str = "
    occasional|occasionally; irregular|irregularly; adhoc; ad hoc; one off|offs >for|in|of; sporadic|sporadically; as
    needed;
    now and then; from time to time; unscheduled;
    not|no|without|never on? an|a|at|any? regular|fixed|set schedule|interval|intervals|rhythm|calendar?";

/// Rules in the order in which they are preferred where two stand at one place: the more words, the earlier.
static RULES: LazyLock<Vec<Phrases<Means>>> = LazyLock::new(|| {
    let mut rules = vec![
        Phrases::new([(Means::Twice, "@ by|to|over|on|after @")]),
        Phrases::new([
            (Means::Times(2), "every|each second|other @"),
            (Means::Times(3), "every|each third @"),
            (Means::Times(4), "every|each fourth @"),
            (Means::Times(5), "every|each fifth @"),
            (Means::Times(6), "every|each sixth @"),
            (Means::Times(10), "every|each tenth @"),
        ]),
    ];
    rules.push(Phrases::new(
        [
            (Means::IrregularEach(1), "hourly"),
            (Means::IrregularEach(24), "daily"),
            (Means::IrregularEach(MONTH / 4), "weekly"),
            (Means::IrregularEach(MONTH), "monthly"),
            (Means::IrregularEach(3 * MONTH), "quarterly"),
            (Means::IrregularEach(YEAR), "annual|yearly"),
        ]
        .map(|(means, adjective)| (means, irregular_of(adjective))),
    ));
    rules.extend([
        Phrases::new([(Means::Every, "every|each # @; once every|in # @")]),
        Phrases::new([(Means::Every, "at|in|of? # @ interval|intervals|step|steps|cycle|cycles|gap|gaps|basis")]),
        Phrases::new([
            (Means::Every, "# daily|dayly|weekly|monthly|quarterly|yearly"),
            (
                Means::Each(6 * MONTH),
                "twice a|per|each|every year; two times a|per|each|every year; semi annual|annually",
            ),
            (Means::Each(6 * MONTH), "half year|yearly; bi annual|annually; every half year"),
            (Means::Each(3 * MONTH), "four times a|per|each|every year"),
        ]),
        Phrases::new(ADJECTIVES.map(|(hours, words)| (Means::Each(hours), words))),
        Phrases::new([(Means::Irregular, IRREGULAR)]),
        Phrases::new([
            (Means::Times(1), "every|each|per @ >of; by the? @ >of; once a @ >of; a @ >of; for each|every @ >of"),
            (Means::Times(1), "one value|figure|number|release|update|observation|row a|per|each|every @ >of"),
        ]),
    ]);
    rules
});

/// The pattern `irregular ,? ADJECTIVE`; written out, for patterns are fixed texts.
fn irregular_of(adjective: &'static str) -> &'static str {
    match adjective {
        "hourly" => "occasional|irregular|occasionally|irregularly ,? hourly",
        "daily" => "occasional|irregular|occasionally|irregularly ,? daily",
        "weekly" => "occasional|irregular|occasionally|irregularly ,? weekly",
        "monthly" => "occasional|irregular|occasionally|irregularly ,? monthly",
        "quarterly" => "occasional|irregular|occasionally|irregularly ,? quarterly",
        _ => "occasional|irregular|occasionally|irregularly ,? annual|yearly",
    }
}

/// Frequencies in a text, none over another, in the order of the rules.
pub(super) fn find(turn: &Turn) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut taken = vec![false; turn.words.len()];
    for rule in RULES.iter() {
        for hit in rule.find(turn, 0, turn.words.len()) {
            let Some(frequency) = meaning(turn, &hit) else { continue };
            if !taken[hit.from..hit.to].contains(&true) {
                taken[hit.from..hit.to].fill(true);
                found.push(Found { from: hit.from, to: hit.to, frequency });
            }
        }
    }
    found
}

/// What a value of the catalogue means: `Every 2 years`, `P_ANNUAL`.
pub(super) fn meant_by(value: &str) -> Option<Frequency> {
    let text = value.replace('_', " ");
    find(&Turn::new(&text)).first().map(|found| found.frequency)
}

fn meaning(turn: &Turn, hit: &Match<Means>) -> Option<Frequency> {
    let regular = |hours: Option<u32>| hours.map(|hours| Frequency { irregular: false, hours: Some(hours) });
    match hit.means {
        Means::Each(hours) => regular(Some(hours)),
        Means::Every => {
            // `three-yearly` has its unit in the adjective.
            let last = turn.low(hit.to - 1);
            let unit =
                hit.unit.or_else(|| Unit::named(last.strip_suffix("ly")?)).or((last == "daily").then_some(Unit::Day));
            regular(unit.zip(hit.number).filter(|(_, number)| *number > 0).map(|(unit, number)| hours(unit) * number))
        }
        Means::Times(number) => regular(hit.unit.filter(|_| singular(turn, hit)).map(|unit| hours(unit) * number)),
        Means::Twice => {
            let same = turn.low(hit.from) == turn.low(hit.to - 1);
            regular(hit.unit.filter(|_| same && singular(turn, hit)).map(hours))
        }
        Means::Irregular => Some(Frequency { irregular: true, hours: None }),
        Means::IrregularEach(hours) => Some(Frequency { irregular: true, hours: Some(hours) }),
    }
}

/// `by years of schooling` says how it is broken down, `by year` how often.
fn singular(turn: &Turn, hit: &Match<Means>) -> bool {
    !turn.low(hit.to - 1).ends_with('s')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_frequency_is_known_in_many_words() {
        let each = |months: u32| Some(Frequency { irregular: false, hours: Some(months * MONTH) });
        let irregular = |hours: Option<u32>| Some(Frequency { irregular: true, hours });
        for (text, expected) in [
            ("Monthly data", each(1)),
            ("month by month", each(1)),
            ("by the month", each(1)),
            ("one value per month", each(1)),
            ("every three months", each(3)),
            ("three-monthly", each(3)),
            ("each quarter", each(3)),
            ("Every 2 years", each(24)),
            ("every other year", each(24)),
            ("published every second year", each(24)),
            ("at five-year intervals", each(60)),
            ("every 5 yrs", each(60)),
            ("once a decade", each(120)),
            ("twice a year", each(6)),
            ("half-yearly", each(6)),
            ("Semi-annual", each(6)),
            ("Occasional", irregular(None)),
            ("not on a regular schedule", irregular(None)),
            ("Occasional Monthly", irregular(Some(MONTH))),
            ("irregular, monthly", irregular(Some(MONTH))),
            ("day by day", Some(Frequency { irregular: false, hours: Some(24) })),
            ("by year of study", None),
            ("a few things", None),
        ] {
            assert_eq!(meant_by(text), expected, "{text}");
        }
    }
}
