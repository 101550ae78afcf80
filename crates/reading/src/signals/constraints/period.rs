//! Periods: years, ranges, decades, fiscal and school years, months of a year, `since`, `until`, `last five years`; and what a
//! later one does to the period in force: replaces it, moves one of its ends, adds to it.
//!
//! What no year can be known of stays as it was said: nothing here knows today's date.

mod mention;
mod relative;

use mention::{Change, Mention, mentions, year};

use super::lexicon::{Cue, Hit, says};
use super::words::{Claim, Sentence, sentences};
use lakeward_core::request::Period;

/// Words between what is left out and the time it is of.
const NEAR: usize = 6;
/// Years listed one by one at most.
const MOST_YEARS: usize = 40;

/// The period that `text` by itself describes; the text as it is where no year is known of it.
pub fn parse(text: &str) -> Option<Period> {
    let sentence = sentences(text).into_iter().next()?;
    let found: Vec<Period> = mentions(&sentence, None).into_iter().map(|mention| mention.period).collect();
    let all = found.into_iter().reduce(|one, other| merge(&one, &other));
    Some(all.unwrap_or_else(|| Period::Relative(text.to_string())))
}

/// The one year that a period lies in.
fn only_year(period: &Period) -> Option<i32> {
    let (first, last) = period.years();
    first.filter(|_| first == last)
}

/// Two periods as one: years listed, spans that touch joined.
fn merge(one: &Period, other: &Period) -> Period {
    match (one, other) {
        (Period::Years(one), Period::Years(other)) => {
            let mut years: Vec<i32> = one.iter().chain(other).copied().collect();
            years.sort_unstable();
            years.dedup();
            years.truncate(MOST_YEARS);
            Period::Years(years)
        }
        (Period::Relative(_), other) => other.clone(),
        (one, Period::Relative(_)) => one.clone(),
        _ => {
            let ((first, last), (from, to)) = (one.years(), other.years());
            let earliest = first.zip(from).map(|(one, other)| one.min(other));
            let latest = last.zip(to).map(|(one, other)| one.max(other));
            match (earliest, latest) {
                (None, None) => Period::Span { from: first.or(from), to: last.or(to) },
                (earliest, latest) => Period::Span { from: earliest, to: latest },
            }
        }
    }
}

/// Whether the words around the mention only describe a table or tell why: `stops at 2012`, `2023 is not complete`.
fn is_aside(sentence: &Sentence, mention: &Mention) -> bool {
    let after = sentence.low(mention.to);
    let describes = matches!(
        after,
        "was" | "were" | "is" | "are" | "has" | "had" | "looks" | "lacks" | "differs" | "seems" | "broke"
    );
    let enough = (mention.to..mention.to + 3).any(|at| {
        matches!(
            sentence.low(at),
            "fine" | "enough" | "ok" | "okay" | "good" | "better" | "sufficient" | "right" | "plenty"
        )
    });
    // `half of these are from 1974`, but `2020 is in as well`.
    let from = mention.from + usize::from(sentence.low(mention.from) == "from");
    let found = sentence.before(from) == "from"
        && from > 1
        && matches!(sentence.low(from - 2), "are" | "is" | "were" | "was" | "dates" | "date" | "stem" | "stems");
    let joins = (mention.to + 1..mention.to + 4)
        .any(|at| sentence.low(at) == "in" && !sentence.words.get(at + 1).is_some_and(super::words::Word::is_content));
    let before = mention.from.saturating_sub(3);
    let told = (before..mention.from).any(|at| {
        matches!(sentence.low(at), "stops" | "ends" | "starts" | "begins" | "stopped" | "ended" | "started" | "began" | "reaches" | "covers" | "opened" | "published" | "built" | "founded" | "until" if at > 0 || sentence.low(at) != "until")
            && sentence.low(at) != "until"
    });
    let shown = (mention.from.saturating_sub(4)..mention.from)
        .any(|at| matches!(sentence.low(at), "gave" | "got" | "showed" | "returned" | "sent"));
    (describes && !enough && !joins && mention.change == Change::Set) || told || shown || found
}

/// Whether what the mention says is to be left: `not 2019`, `rather than 2019`, `instead of 2019`.
fn is_refused(sentence: &Sentence, mention: &Mention) -> bool {
    let at = mention.from;
    let before = |back: usize| at.checked_sub(back).map_or("", |at| sentence.low(at));
    matches!(before(1), "not" | "than" | "except" | "without" | "excluding")
        && before(2) != "later"
        && before(2) != "earlier"
        || (before(1) == "of" && before(2) == "instead")
}

/// Reads the periods of `sentence` into `in_force`. Years that are `excluded` are spoken of, not asked for. `changed`: whether this turn has set it already.
pub fn read(
    sentence: &mut Sentence,
    hits: &[Hit],
    excluded: &[String],
    in_force: &mut Option<Period>,
    changed: &mut bool,
) {
    let had_months = matches!(in_force, Some(Period::Months { .. }));
    let spoken_of = (0..sentence.words.len()).find_map(|at| year(sentence, at));
    let known = spoken_of.or_else(|| in_force.as_ref().and_then(only_year));
    let seasonal =
        sentence.has(&["that summer", "that winter", "that spring", "that autumn", "the summer of", "only", "just"]);
    let found = mentions(sentence, known.filter(|_| had_months || seasonal));
    let mut taken: Vec<Mention> = Vec::new();
    for mention in found {
        let left_out = match &mention.period {
            Period::Years(years) => years.iter().all(|year| excluded.contains(&year.to_string())),
            _ => false,
        };
        // `no use for the archive from the nineties`: the time of what is left out.
        let (start, _) = sentence.clause(mention.from);
        let led =
            (mention.from.saturating_sub(2)..=mention.from).any(|at| matches!(sentence.low(at), "from" | "of" | "in"));
        let inside = mention.change == Change::Set
            && led
            && sentence.words[start.max(mention.from.saturating_sub(NEAR))..mention.from]
                .iter()
                .any(|word| word.claim == Some(Claim::Excluded));
        let refused = left_out || inside || is_refused(sentence, &mention);
        if !refused && !is_aside(sentence, &mention) {
            taken.push(mention.clone());
        }
        sentence.claim(mention.from, mention.to, Claim::Period);
    }
    if taken.iter().any(|mention| !matches!(mention.period, Period::Relative(_))) {
        taken.retain(|mention| !matches!(mention.period, Period::Relative(_)));
    }
    // A later sentence of the same turn mostly tells of what was set, unless it corrects.
    let refines = |mention: &Mention| {
        matches!(mention.period, Period::Months { .. })
            && only_year(&mention.period) == in_force.as_ref().and_then(only_year)
    };
    let told = *changed && !taken.iter().any(refines);
    if taken.is_empty() || (told && !says(hits, Cue::Narrow) && !says(hits, Cue::Add)) {
        return;
    }
    let adds = says(hits, Cue::Add) && !says(hits, Cue::Narrow);
    let before = in_force.clone();
    let whole = taken.iter().all(|mention| mention.change == Change::Set);
    if whole {
        let said = taken.iter().map(|mention| mention.period.clone()).reduce(|one, other| merge(&one, &other));
        *in_force = match (&before, said) {
            (Some(before), Some(said)) if adds => Some(added(before, said)),
            (_, said) => said,
        };
    } else {
        for mention in &taken {
            *in_force = Some(moved(in_force.as_ref(), mention));
        }
    }
    *changed |= *in_force != before;
}

/// `said` put to what is in force: `2013 as well`.
fn added(before: &Period, said: Period) -> Period {
    match (before, &said) {
        (Period::Years(_), Period::Years(_)) => merge(before, &said),
        (Period::Span { from: Some(first), to: Some(last) }, Period::Years(years)) => {
            let (low, high) = (years.first().copied().unwrap_or(*first), years.last().copied().unwrap_or(*last));
            Period::Span { from: Some(low.min(*first)), to: Some(high.max(*last)) }
        }
        (Period::Years(_) | Period::Span { .. }, Period::Years(_) | Period::Span { .. }) => merge(before, &said),
        _ => said,
    }
}

/// The period in force with the end moved that the mention names.
fn moved(before: Option<&Period>, mention: &Mention) -> Period {
    let (first, last) = before.map_or((None, None), Period::years);
    if let (Some(Period::Months { from, .. }), Period::Months { to, .. }, Change::End) =
        (before, &mention.period, mention.change)
        && from.year <= to.year
    {
        return Period::Months { from: *from, to: *to };
    }
    match (mention.change, mention.period.years()) {
        (Change::Begin, (Some(year), _)) => Period::Span {
            from: Some(year),
            to: last.filter(|last| *last > year && matches!(before, Some(Period::Span { .. } | Period::Years(_)))),
        },
        (Change::End, (_, Some(year))) => Period::Span { from: first.filter(|first| *first <= year), to: Some(year) },
        _ => mention.period.clone(),
    }
}

/// Takes `years` out of the years listed in force; says which were there.
pub fn take_out(years: &[i32], in_force: &mut Option<Period>) -> bool {
    let Some(Period::Years(listed)) = in_force else { return false };
    if listed.len() < 2 || !years.iter().any(|year| listed.contains(year)) {
        return false;
    }
    listed.retain(|year| !years.contains(year));
    if listed.is_empty() {
        *in_force = None;
    }
    true
}

/// The years that are named in `from..to` of a sentence.
pub fn years_in(sentence: &Sentence, from: usize, to: usize) -> Vec<i32> {
    (from..to.min(sentence.words.len())).filter_map(|at| year(sentence, at)).take(MOST_YEARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_and_written() {
        for (said, written) in [
            ("2015 or later", "2015 onward"),
            ("since 2012", "2012 onward"),
            ("2010 till today", "2010 onward"),
            ("from 2012 to 2022", "2012-2022"),
            ("between 1990 and 1999", "1990-1999"),
            ("the nineties", "1990-1999"),
            ("2017, 2019 and 2021", "2017, 2019, 2021"),
            ("fy2015-2023", "2015-2023"),
            ("2014/15", "2014-2015"),
            ("summer of 2021", "June-August 2021"),
            ("January till march 2023", "January-March 2023"),
            ("March 2020", "March 2020"),
            ("last five years", "last five years"),
            ("this year", "latest year"),
            ("before 1990", "until 1989"),
            ("after 2005", "2006 onward"),
            ("the 1980s", "1980-1989"),
            ("2023", "2023"),
            ("19th century", "1800-1899"),
            ("winter 2020/21", "December 2020-February 2021"),
        ] {
            let period = parse(said).unwrap();
            assert_eq!(period.to_string(), written, "{said}");
            assert_eq!(parse(written).unwrap(), period, "{written}");
        }
    }

    #[test]
    fn numbers_of_things_are_no_years() {
        for text in ["above 2000 residents", "2000 rows", "more than 1999", "$1995", "1,995"] {
            let sentence = sentences(text).into_iter().next().unwrap();
            assert!(mentions(&sentence, None).is_empty(), "{text}");
        }
    }
}
