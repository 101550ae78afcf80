//! What a question about records is about: the fields that it asks for, and which of the answers that were shown it means.
//!
//! Fields are found by the trained model of `lakeward_reading::fields`. Answers are counted in closed forms (`the second`, `the first three`,
//! `number 2`) beside those that the reader finds.

use lakeward_core::text::{is_function_word, lower_words};
use lakeward_lake::identifier::{Identifier, trimmed};
use lakeward_reading::fields::{self, Field};
use lakeward_reading::reader::{Act, TurnReading, number_in_words};

/// The fields with the words that name them.
const NAMES: [(Field, &[&str]); 24] = [
    (Field::Publisher, &["publisher", "publishers", "institution", "organisation", "organization", "source"]),
    (Field::Creators, &["author", "authors", "creator", "creators"]),
    (
        Field::Licence,
        &["licence", "licences", "license", "licenses", "licensed", "copyright", "commercial", "commercially"],
    ),
    (Field::Format, &["format", "formats"]),
    (Field::Period, &["period"]),
    (Field::Places, &["place", "places", "region", "regions", "country", "countries"]),
    (Field::Published, &["publication"]),
    (
        Field::Updated,
        &["updated", "update", "updates", "modified", "refreshed", "newer", "newest", "older", "oldest", "recent"],
    ),
    (Field::Version, &["version", "edition"]),
    (Field::Size, &["size", "sizes", "megabytes", "gigabytes"]),
    (Field::Files, &["file", "files"]),
    (Field::Description, &["abstract", "description", "summary", "summarise", "summarize", "describe"]),
    (Field::Method, &["method", "methods", "methodology", "instrument", "instruments", "sampling"]),
    (Field::Related, &["paper", "papers", "article", "articles", "literature"]),
    (Field::Citation, &["cite", "citation", "citations", "reference", "doi", "cstr", "identifier", "bibtex"]),
    (Field::Link, &["link", "links", "url", "address", "website"]),
    (Field::Title, &["title", "titles", "called"]),
    (Field::Subjects, &["keyword", "keywords", "subject", "subjects", "tags"]),
    (Field::Language, &["language", "languages"]),
    (Field::Columns, &["variable", "variables", "column", "columns", "parameters"]),
    (Field::Funding, &["funder", "funders", "funded", "funding", "grant"]),
    (Field::Contact, &["contact", "email", "maintainer"]),
    (Field::Access, &["access", "embargo", "embargoed", "restricted"]),
    (Field::Unused, &["unused"]),
];

/// The respects in which datasets are compared, and what is told of one, where no single one is asked for.
const OVERVIEW: [Field; 12] = [
    Field::Publisher,
    Field::Creators,
    Field::Period,
    Field::Places,
    Field::Published,
    Field::Updated,
    Field::Version,
    Field::Licence,
    Field::Access,
    Field::Size,
    Field::Format,
    Field::Method,
];

/// A field is told where a question asks for it with at least this probability: of questions by writers left out the right one is then told in .925,
/// beside .898 where only the likeliest is, and several are told of a fifth of them (labels/README.md).
const LIKELY: f64 = 0.2;
/// From this probability a question is taken to ask for a field.
const LEAST_OF_QUESTION: f64 = 0.5;
/// Words of one answer that was shown, and of several.
const ONE: [&str; 8] = ["one", "record", "dataset", "set", "result", "entry", "hit", "answer"];
/// What a record does with places and years.
const COVERS: [&str; 5] = ["cover", "covers", "covered", "include", "includes"];
/// Words of a question that is no more than the name of a field.
const FEW: usize = 2;
const SINGULAR: [&str; 3] = ["it", "its", "this"];
const PLURAL: [&str; 6] = ["them", "their", "these", "those", "both", "all"];
/// Words that ask for other answers than those shown.
const OTHERS: [&str; 6] = ["more", "other", "others", "another", "similar", "like"];

/// The field whose name is a word.
fn field_named(word: &str) -> Option<Field> {
    NAMES.iter().find(|(_, words)| words.contains(&word)).map(|(field, _)| *field)
}

/// The fields that a question names, in its order; of two names side by side the latter is meant: `file format`.
fn fields_named(words: &[String]) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let names: Vec<Option<Field>> = words.iter().map(|word| field_named(word)).collect();
    let pairs =
        |first: &str, second: &[&str]| words.windows(2).any(|two| two[0] == first && second.contains(&two[1].as_str()));
    if pairs("who", &["published", "publishes"]) || pairs("published", &["by"]) {
        fields.push(Field::Publisher);
    }
    for (place, field) in names.iter().enumerate() {
        let Some(field) = field else { continue };
        if names.get(place + 1).is_none_or(Option::is_none) && !fields.contains(field) {
            fields.push(*field);
        }
    }
    fields
}

/// The question without addresses, which would make it one about addresses.
fn without_identifiers(question: &str) -> String {
    let is_word = |word: &&str| Identifier::parse(trimmed(word)).is_none();
    question.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
}

/// The fields that a question asks for, likeliest first; where records are `compared`, or nothing is known of what it asks for, all that is told
/// of one.
pub(super) fn requested_fields(question: &str, compared: bool) -> Vec<Field> {
    let question = without_identifiers(question);
    if compared {
        let named = fields_named(&lower_words(&question).collect::<Vec<_>>());
        return if named.is_empty() { OVERVIEW.to_vec() } else { named };
    }
    let mut fields = fields::likelihoods(&question).fields(LIKELY);
    // "Who made it, and may I use it?" is two questions.
    for clause in
        question.split(" and ").flat_map(|part| part.split([',', ';', '?'])).filter(|clause| *clause != question)
    {
        let asked = fields::likelihoods(clause);
        if asked.of_any() >= LEAST_OF_QUESTION {
            let likeliest = asked.fields(LIKELY).into_iter().next();
            fields.extend(likeliest.filter(|field| !fields.contains(field)).into_iter().collect::<Vec<_>>());
        }
    }
    if fields.is_empty() {
        return std::iter::once(Field::Description).chain(OVERVIEW).chain([Field::Related, Field::Link]).collect();
    }
    fields
}

/// Whether a turn speaks of other answers than those shown.
pub(super) fn wants_others(text: &str) -> bool {
    lower_words(text).any(|word| OTHERS.contains(&word.as_str()))
}

/// Whether a turn asks in a closed form whether there is data: `is there anything on bitcoin?`, `do you have rents?`.
pub(super) fn asks_for_others(text: &str) -> bool {
    let words: Vec<String> = lower_words(text).take(3).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let of_anything = |word: &str| matches!(word, "anything" | "something" | "data" | "any" | "another" | "other");
    match words[..] {
        ["is" | "are" | "isn't" | "aren't", "there", what, ..] => of_anything(what),
        ["do" | "does" | "have", "you" | "we" | "it", "have" | "got", ..] => {
            !lower_words(text).any(|word| is_pointer(&word))
        }
        _ => false,
    }
}

/// Whether a word points at what was shown.
fn is_pointer(word: &str) -> bool {
    SINGULAR.contains(&word) || PLURAL.contains(&word)
}

/// Which answers a turn speaks of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meant {
    /// Their places in the list, from 0, in the order of the text.
    pub(super) places: Vec<usize>,
    /// Whether one of them is named by its own number, not by counting (`the first three`).
    pub(super) numbered: bool,
    /// Whether it speaks of one of them without saying which …
    pub(super) one: bool,
    /// … or of several …
    pub(super) several: bool,
    /// … and asks which of them: `which one`, `which of these`.
    pub(super) which: bool,
}

impl Meant {
    /// What `text` says in closed forms of `listed` answers.
    pub(super) fn by(text: &str, listed: usize) -> Self {
        let words: Vec<String> = lower_words(&text.replace('#', " number ")).collect();
        let word = |place: usize| words.get(place).map(String::as_str);
        let number = |place: usize| {
            let said = number_in_words(word(place)?).filter(|said| said.value.fract() == 0.0)?;
            (1.0..=listed as f64).contains(&said.value).then_some((said.value as usize, said.ordinal))
        };
        // `the first quarter` is no answer, `the first`, `the first one` and `the first is` are.
        let stands_alone = |place: usize| {
            word(place).is_none_or(|next| ONE.contains(&next) || is_function_word(next) || is_verb(next))
        };
        let mut meant = Self::default();
        let mut place = 0;
        while place < words.len() {
            let first = matches!(words[place].as_str(), "first" | "top" | "all");
            let is_count = |ordinal: bool| !is_ordinal(word(place + 1).unwrap_or_default(), ordinal);
            let count = number(place + 1).filter(|(_, ordinal)| is_count(*ordinal)).map(|(count, _)| count);
            match (words[place].as_str(), number(place), count) {
                ("the", _, Some(count)) if count > 1 && stands_alone(place + 2) => {
                    meant.places.extend(0..count);
                    place += 1;
                }
                (_, _, Some(count)) if first => {
                    meant.places.extend(0..count);
                    place += 1;
                }
                ("last", _, Some(count)) => {
                    meant.places.extend(listed - count..listed);
                    place += 1;
                }
                ("last", ..) if listed > 0 && word(place + 1).is_none_or(|next| ONE.contains(&next)) => {
                    meant.places.push(listed - 1);
                }
                ("number" | "no" | "nr" | "record" | "dataset" | "result", _, Some(count)) => {
                    meant.places.push(count - 1);
                    meant.numbered = true;
                    place += 1;
                }
                (said, Some((value, ordinal)), _) if is_ordinal(said, ordinal) && stands_alone(place + 1) => {
                    meant.places.push(value - 1);
                    meant.numbered = true;
                }
                (said, ..) if SINGULAR.contains(&said) => meant.one = true,
                (said, ..) if PLURAL.contains(&said) => meant.several = true,
                ("which", ..) if matches!(word(place + 1), Some("one" | "ones" | "of")) => {
                    (meant.several, meant.which) = (true, true);
                }
                _ => {}
            }
            place += 1;
        }
        let mut known = Vec::new();
        meant.places.retain(|place| {
            !known.contains(place) && {
                known.push(*place);
                true
            }
        });
        meant
    }
}

/// `second`, `2nd`.
fn is_ordinal(word: &str, said: bool) -> bool {
    let ends = ["st", "nd", "rd", "th"].iter().any(|end| word.ends_with(end));
    said || (word.starts_with(|c: char| c.is_ascii_digit()) && ends)
}

/// Words that follow an answer named by its number.
fn is_verb(word: &str) -> bool {
    const VERBS: [&str; 14] = [
        "has", "have", "had", "was", "does", "do", "did", "were", "come", "comes", "cover", "covers", "called",
        "please",
    ];
    VERBS.contains(&word)
}

/// Whether a turn is a question, by its first word or its sign.
pub(super) fn is_question(text: &str) -> bool {
    const ASKING: [&str; 17] = [
        "who", "what", "which", "when", "where", "how", "is", "are", "does", "do", "did", "was", "were", "can", "am",
        "has", "whom",
    ];
    let first = lower_words(text).next().unwrap_or_default();
    text.trim_end().ends_with('?') || ASKING.contains(&first.as_str())
}

/// Whether a turn asks for a field of what was shown, though the reader does not surely say so: it points there, and names a field where it
/// adds nothing to what is wanted, or is taken for a question about a record.
pub(super) fn asks_for_a_field(text: &str, turn: &TurnReading, meant: &Meant) -> bool {
    const TELL: [&str; 9] = ["list", "show", "give", "tell", "send", "link", "name", "print", "and"];
    let words: Vec<String> = lower_words(text).collect();
    let names = !fields_named(&words).is_empty();
    if names && words.len() <= FEW && text.trim_end().ends_with('?') {
        return true;
    }
    let points = meant.one || meant.several || !meant.places.is_empty();
    if !points || wants_others(text) {
        return false;
    }
    let first = words.first().map_or("", String::as_str);
    if (TELL.contains(&first) || field_named(first).is_some()) && names && !meant.places.is_empty() {
        return true;
    }
    let adds = matches!(turn.acts.first(), Some(Act::New | Act::Refine | Act::Correct | Act::Retract));
    let says = names || words.iter().any(|word| COVERS.contains(&word.as_str()));
    let surely = (says && (!adds || meant.which)) || (!adds && !meant.places.is_empty());
    is_question(text) && (surely || fields::likelihoods(text).of_any() >= LEAST_OF_QUESTION)
}

/// Whether a turn compares answers in a closed form: `compare the two`, `which is newer?`, `which has more files?`.
pub(super) fn compares(text: &str, meant: &Meant) -> bool {
    const LONGEST: usize = 6;
    let words: Vec<String> = lower_words(text).take(LONGEST + 1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_degree = |word: &str| matches!(word, "more" | "most" | "fewer" | "less");
    match words[..] {
        ["compare" | "contrast", ..] => meant.several || meant.places.len() > 1,
        ["which", "has" | "have" | "covers", degree, ..] => words.len() <= LONGEST && is_degree(degree),
        ["which", "is" | "are", "the", degree, ..] | ["which", "is" | "are", degree, ..] => {
            let compares = !is_function_word(degree) && !OTHERS.contains(&degree) && degree != "under";
            let is_compared = compares && (degree.ends_with("er") || degree.ends_with("est"));
            words.len() <= LONGEST && (is_degree(degree) || is_compared)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_and_quarters_are_not() {
        let places = |text: &str| Meant::by(text, 4).places;
        assert_eq!(places("compare the first and the third"), [0, 2]);
        assert_eq!(places("put the first three side by side"), [0, 1, 2]);
        assert_eq!(places("the last two, please"), [2, 3]);
        assert_eq!(places("what does the last one cover?"), [3]);
        assert_eq!(places("the licence of number 2 and of the 3rd"), [1, 2]);
        assert_eq!(places("prices in the first quarter of the second year"), Vec::<usize>::new());
        assert_eq!(places("the ninth"), Vec::<usize>::new());
        assert_eq!((places("compare the two"), places("the two towns")), (vec![0, 1], vec![]));
        let compared = |text: &str| compares(text, &Meant::by(text, 4));
        assert!(compared("compare the two") && compared("which is newer?") && compared("which has more files?"));
        assert!(!compared("compare towns by rent") && !compared("which has water levels?"));
        assert!(!compared("which are other ones?") && !compared("which is under CC0?"));
        assert_eq!(places("sort #3 by year"), [2]);
        assert!(Meant::by("sort #3 by year", 4).numbered && !Meant::by("the first three", 4).numbered);
        assert!(Meant::by("which of these is open?", 3).several && Meant::by("who made it?", 3).one);
    }

    #[test]
    fn fields_are_named_by_their_names() {
        let named = |text: &str| fields_named(&lower_words(text).collect::<Vec<_>>());
        assert_eq!(named("which file format has it?"), [Field::Format]);
        assert_eq!(named("who published it, and under which licence?"), [Field::Publisher, Field::Licence]);
        assert_eq!(named("how much does it rain?"), []);
    }
}
