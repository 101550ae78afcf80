//! What a question about records is about: the respects that it asks for, and which of the answers that were shown it means.
//!
//! A respect is named by the name of its field, else found by meaning: the phrase of somebody who asks for it that is nearest. Answers are
//! counted in closed forms (`the second`, `the first three`, `number 2`) beside those that the reader finds.

use std::sync::OnceLock;

use lakeward_core::text::years::{STATED, years};
use lakeward_core::text::{is_function_word, lower_words};
use lakeward_lake::identifier::{Identifier, trimmed};
use lakeward_models::embed::{EmbedderExt, SentenceModel};
use lakeward_reading::reader::{Act, Role, TurnReading, number_said};

/// What a question about a dataset can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Publisher,
    Creators,
    Licence,
    Format,
    Period,
    Places,
    Published,
    Updated,
    Version,
    Size,
    Files,
    Description,
    Method,
    Related,
    Citation,
    Link,
    Title,
    Subjects,
    Language,
    Columns,
    Funding,
    Contact,
}

/// A respect, its name in answers, words that name it, and what people say who ask for it.
type Respect = (Field, &'static str, &'static [&'static str], &'static [&'static str]);

const RESPECTS: [Respect; 22] = [
    (
        Field::Publisher,
        "publisher",
        &["publisher", "publishers", "institution", "organisation", "organization", "source"],
        &["who made it", "who collected it", "who publishes it", "who is behind this"],
    ),
    (Field::Creators, "authors", &["author", "authors", "creator", "creators"], &["who made it", "who wrote it"]),
    (
        Field::Licence,
        "licence",
        &["licence", "licences", "license", "licenses", "licensed", "copyright", "commercial", "commercially"],
        &[
            "am I allowed to use, share or sell it",
            "terms of use",
            "is it open data",
            "do I have to pay, is it free",
            "may I redistribute it",
        ],
    ),
    (
        Field::Format,
        "format",
        &["format", "formats"],
        &["which format it comes in, csv or excel", "which type of file", "is it a csv"],
    ),
    (
        Field::Period,
        "period",
        &["period"],
        &["which years it covers", "how far back it goes", "when it starts and ends", "time coverage", "until when"],
    ),
    (
        Field::Places,
        "places",
        &["place", "places", "region", "regions", "country", "countries"],
        &["which countries or regions it covers", "where it was measured", "spatial coverage"],
    ),
    (
        Field::Published,
        "publication",
        &["publication"],
        &["when was it published", "when did it come out", "date of release"],
    ),
    (
        Field::Updated,
        "last change",
        &["updated", "update", "updates", "modified", "refreshed"],
        &[
            "when it was last updated",
            "is it still kept up",
            "how often new figures come",
            "how recent is it",
            "which one is the newest",
        ],
    ),
    (Field::Version, "version", &["version", "edition"], &["which version or edition is it"]),
    (
        Field::Size,
        "size",
        &["size", "sizes", "megabytes", "gigabytes"],
        &["how big it is", "how many rows it has", "how large is the download", "which one is bigger"],
    ),
    (Field::Files, "files", &["file", "files"], &["list of its files", "file names", "how many files it has"]),
    (
        Field::Description,
        "description",
        &["abstract", "description", "summary", "summarise", "summarize", "describe"],
        &["what it contains", "what it is about", "what a word or column means"],
    ),
    (
        Field::Method,
        "method",
        &["method", "methods", "methodology", "instrument", "instruments", "sampling"],
        &["how it was measured", "how the data were collected or made"],
    ),
    (
        Field::Related,
        "related works",
        &["paper", "papers", "article", "articles", "literature"],
        &["papers about it", "an article that describes the dataset", "related literature"],
    ),
    (
        Field::Citation,
        "citation",
        &["cite", "citation", "citations", "reference", "doi", "cstr", "identifier", "bibtex"],
        &["how to cite it", "how do I reference it"],
    ),
    (
        Field::Link,
        "link",
        &["link", "links", "url", "address", "website"],
        &["where can I download it", "web page of it", "where do I get it"],
    ),
    (Field::Title, "title", &["title", "titles", "called"], &["what is its name"]),
    (
        Field::Subjects,
        "subjects",
        &["keyword", "keywords", "subject", "subjects", "tags"],
        &["under which keywords is it filed"],
    ),
    (Field::Language, "language", &["language", "languages"], &["in which language is it written"]),
    (
        Field::Columns,
        "columns",
        &["variable", "variables", "column", "columns", "parameters"],
        &["which variables does it have"],
    ),
    (Field::Funding, "funding", &["funder", "funders", "funded", "funding", "grant"], &["who paid for it"]),
    (Field::Contact, "contact", &["contact", "email", "maintainer"], &["whom can I ask about it"]),
];

/// What somebody says who asks for all of a record.
const ALL_OF_IT: [&str; 3] = ["tell me more about it", "what do you know about it", "details of the record"];

/// The respects in which datasets are compared, and what is told of one, where no single one is asked for.
const OVERVIEW: [Field; 11] = [
    Field::Publisher,
    Field::Creators,
    Field::Period,
    Field::Places,
    Field::Published,
    Field::Updated,
    Field::Version,
    Field::Licence,
    Field::Size,
    Field::Format,
    Field::Method,
];

/// A question is this near in meaning to a phrase for the field that it surely asks for.
const NEAR: f32 = 0.66;
/// The same where the question asks which of the answers it is.
const NEAR_WHICH: f32 = 0.5;
/// Below this it is not known what is asked for, and all is told.
const FAR: f32 = 0.25;
/// Words of one answer that was shown, and of several.
const ONE: [&str; 8] = ["one", "record", "dataset", "set", "result", "entry", "hit", "answer"];
/// What a record does with places and years.
const COVERS: [&str; 5] = ["cover", "covers", "covered", "include", "includes"];
/// Words of a question that is no more than the name of a field.
const FEW: usize = 2;
const SINGULAR: [&str; 3] = ["it", "its", "this"];
const PLURAL: [&str; 6] = ["them", "their", "these", "those", "both", "all"];

impl Field {
    pub(super) fn name(self) -> &'static str {
        RESPECTS.iter().find(|(field, ..)| *field == self).map_or("", |(_, name, ..)| name)
    }

    /// The field whose name is a word.
    fn named(word: &str) -> Option<Self> {
        RESPECTS.iter().find(|(_, _, words, _)| words.contains(&word)).map(|(field, ..)| *field)
    }
}

/// The fields that a question names, in its order; of two names side by side the latter is meant: `file format`.
fn fields_named(words: &[String]) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let names: Vec<Option<Field>> = words.iter().map(|word| Field::named(word)).collect();
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

/// The fields that a question means by its phrases, and how near, as a cosine; none where it means all of a record.
fn fields_meant(question: &str) -> (Vec<Field>, f32) {
    static MEANT: OnceLock<Vec<(Option<Field>, Vec<f32>)>> = OnceLock::new();
    let model = SentenceModel::builtin();
    let meant = MEANT.get_or_init(|| {
        let phrases =
            RESPECTS.iter().flat_map(|(field, _, _, phrases)| phrases.iter().map(|said| (Some(*field), *said)));
        phrases.chain(ALL_OF_IT.map(|said| (None, said))).map(|(field, said)| (field, model.embed(said))).collect()
    });
    let asked = model.embed(question);
    let likeness = |meant: &[f32]| meant.iter().zip(&asked).map(|(a, b)| a * b).sum::<f32>();
    let likenesses: Vec<f32> = meant.iter().map(|(_, meant)| likeness(meant)).collect();
    let best = likenesses.iter().copied().fold(f32::MIN, f32::max);
    let fields =
        meant.iter().zip(&likenesses).filter(|(_, likeness)| **likeness >= best).filter_map(|((field, _), _)| *field);
    (fields.collect(), best)
}

/// The question without addresses, which would make it one about addresses.
fn without_identifiers(question: &str) -> String {
    let is_word = |word: &&str| Identifier::parse(trimmed(word)).is_none();
    question.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
}

/// The respects that a question asks for; where records are `compared`, or nothing is known of what it asks for, all that is told of one.
pub(super) fn fields_asked(question: &str, turn: &TurnReading, compared: bool) -> Vec<Field> {
    let question = without_identifiers(question);
    let words: Vec<String> = lower_words(&question).collect();
    let named = fields_named(&words);
    if !named.is_empty() {
        return named;
    }
    if compared {
        return OVERVIEW.to_vec();
    }
    let covers = words.iter().any(|word| COVERS.contains(&word.as_str()));
    let (years, places) = (years(&question, STATED).next().is_some(), turn.of(Role::Place).next().is_some());
    match (covers, years, places) {
        (true, true, false) => return vec![Field::Period],
        (true, false, true) => return vec![Field::Places],
        _ => {}
    }
    let (meant, likeness) = fields_meant(&question);
    if likeness < NEAR {
        let said = turn.spans.iter().find_map(|span| match span.role {
            Role::Place => Some(Field::Places),
            Role::Period => Some(Field::Period),
            Role::Licence => Some(Field::Licence),
            Role::Format => Some(Field::Format),
            Role::Frequency | Role::Status => Some(Field::Updated),
            _ => None,
        });
        match said {
            Some(field) => return vec![field],
            None if covers => return vec![Field::Period, Field::Places],
            None => {}
        }
    }
    if meant.is_empty() || likeness < FAR {
        return std::iter::once(Field::Description).chain(OVERVIEW).chain([Field::Related, Field::Link]).collect();
    }
    meant
}

/// Which answers a turn speaks of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meant {
    /// Their places in the list, from 0, in the order of the text.
    pub(super) places: Vec<usize>,
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
        let words: Vec<String> = lower_words(text).collect();
        let word = |place: usize| words.get(place).map(String::as_str);
        let number = |place: usize| {
            let said = number_said(word(place)?).filter(|said| said.value.fract() == 0.0)?;
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
            let count = number(place + 1).filter(|(_, ordinal)| !ordinal).map(|(count, _)| count);
            match (words[place].as_str(), number(place), count) {
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
                    place += 1;
                }
                (said, Some((value, ordinal)), _) if is_ordinal(said, ordinal) && stands_alone(place + 1) => {
                    meant.places.push(value - 1);
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
/// adds nothing to what is wanted, or means one nearly as people do who ask for it.
pub(super) fn asks_for_a_field(text: &str, turn: &TurnReading, meant: &Meant) -> bool {
    const TELL: [&str; 9] = ["list", "show", "give", "tell", "send", "link", "name", "print", "and"];
    const OTHERS: [&str; 6] = ["more", "other", "others", "another", "similar", "like"];
    let words: Vec<String> = lower_words(text).collect();
    let names = !fields_named(&words).is_empty();
    if names && words.len() <= FEW && text.trim_end().ends_with('?') {
        return true;
    }
    let points = meant.one || meant.several || !meant.places.is_empty();
    if !points || words.iter().any(|word| OTHERS.contains(&word.as_str())) {
        return false;
    }
    let first = words.first().map_or("", String::as_str);
    if (TELL.contains(&first) || Field::named(first).is_some()) && names && !meant.places.is_empty() {
        return true;
    }
    let adds = matches!(turn.acts.first(), Some(Act::New | Act::Refine | Act::Correct | Act::Retract));
    let says = names || words.iter().any(|word| COVERS.contains(&word.as_str()));
    let surely = (says && (!adds || meant.which)) || (!adds && !meant.places.is_empty());
    is_question(text) && (surely || fields_meant(text).1 >= if meant.which { NEAR_WHICH } else { NEAR })
}

/// Whether a turn compares answers by its first word.
pub(super) fn compares(text: &str, meant: &Meant) -> bool {
    let first = lower_words(text).next();
    first.is_some_and(|first| matches!(first.as_str(), "compare" | "contrast"))
        && (meant.several || meant.places.len() > 1)
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
