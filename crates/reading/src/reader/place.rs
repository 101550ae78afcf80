//! Places as people say them: `Norway's`, `Swiss cantons`, `Kenya and Uganda`.

use std::ops::Range;

use lakeward_core::text::is_function_word;
use lakeward_lake::places::country_of;

use super::number::MONTHS;
use super::span::{Role, Span, TurnReading};
use super::words::{Word, words};

/// Words of an adjective at most: `Papua New Guinean`.
const LONGEST: usize = 3;

/// What a span that was read as a place names, and the rows that it speaks of besides: (`Swiss`, `cantons`). `None` for a month.
pub(super) fn parts(said: &str) -> Option<(&str, &str)> {
    let said = said.trim_end_matches("'s").trim_end_matches("’s").trim_end_matches(['\'', '’']);
    if MONTHS.iter().any(|month| said.eq_ignore_ascii_case(month)) {
        return None;
    }
    let end = country_in(said).map(|(_, bytes)| bytes.end);
    let (place, rest) = said.split_at(end.unwrap_or(said.len()));
    // `Mexican League` is one name; with more words than these it is no kind of row.
    let is_kind = rest.trim().chars().all(|letter| letter.is_lowercase()) && !is_function_word(rest.trim());
    Some(if is_kind { (place, rest.trim()) } else { (said, "") })
}

/// The country that an adjective in `said` speaks of, and where it stands; the longest: `South Korean`.
pub fn country_in(said: &str) -> Option<(&'static str, Range<usize>)> {
    let words = words(said);
    let runs = (1..=LONGEST.min(words.len())).rev().flat_map(|length| words.windows(length));
    let mut bytes = runs.map(|run| run[0].bytes.start..run[run.len() - 1].bytes.end);
    bytes.find_map(|bytes| Some((country_of(&said[bytes.clone()])?, bytes)))
}

/// Adds the names that a turn says together with a place, beside it: `Capitol Hill and Five Points` of which one was read.
pub(super) fn with_coordinated(reading: &mut TurnReading) {
    let text = reading.text.clone();
    let words = words(&text);
    let is_free = |word: &Word, spans: &[Span]| {
        !spans.iter().any(|span| span.bytes.start < word.bytes.end && word.bytes.start < span.bytes.end)
    };
    let mut place = 0;
    while let Some(span) = reading.spans.get(place) {
        place += 1;
        if span.role != Role::Place || !begins_a_name(text.get(span.bytes.clone()).unwrap_or_default()) {
            continue;
        }
        let behind = words.iter().skip_while(|word| word.bytes.start < span.bytes.end);
        let joins = |word: &&Word| matches!(&text[word.bytes.clone()], "," | "and" | "or" | "&" | "plus");
        let joining = behind.clone().take_while(joins).count();
        let is_named = |word: &&Word| begins_a_name(&text[word.bytes.clone()]) && is_free(word, &reading.spans);
        let name: Vec<&Word> = behind.skip(joining).take_while(is_named).collect();
        if let (1.., [first, ..], [.., last]) = (joining, &name[..], &name[..]) {
            let bytes = first.bytes.start..last.bytes.end;
            let beside = Span { bytes: bytes.clone(), words: text[bytes].to_string(), ..span.clone() };
            reading.spans.insert(place, beside);
        }
    }
}

fn begins_a_name(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_stands_without_what_is_said_of_its_rows() {
        for (said, expected) in [
            ("Norway's", Some(("Norway", ""))),
            ("Salem'", Some(("Salem", ""))),
            ("Swiss cantons", Some(("Swiss", "cantons"))),
            ("northern South Korean counties", Some(("northern South Korean", "counties"))),
            ("Mexican League", Some(("Mexican League", ""))),
            ("Dutch municipalities above 100k people", Some(("Dutch municipalities above 100k people", ""))),
            ("Ernakulam district", Some(("Ernakulam district", ""))),
            ("July", None),
        ] {
            assert_eq!(parts(said), expected, "{said}");
        }
    }

    #[test]
    fn names_that_are_said_together_are_places() {
        let read = |text: &str, name: &str| {
            let from = text.find(name).unwrap();
            let span = Span::new(from..from + name.len(), name, Role::Place);
            let mut reading = TurnReading { text: text.into(), spans: vec![span], ..TurnReading::default() };
            with_coordinated(&mut reading);
            reading.spans.into_iter().map(|span| span.words).collect::<Vec<_>>().join("|")
        };
        assert_eq!(read("Capitol Hill and Five Points are enough", "Capitol Hill"), "Capitol Hill|Five Points");
        assert_eq!(read("Bowie, Morris, Marion and others", "Bowie"), "Bowie|Morris|Marion");
        assert_eq!(read("Norway. Show it", "Norway"), "Norway");
        assert_eq!(read("karnataka and Andhra", "karnataka"), "karnataka");
    }
}
