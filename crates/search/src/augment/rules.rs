//! Questions that a table can answer, made from its facts by rules: no model, the same every time.
//!
//! Each rule has one aim (topic, what the description says, a column by another, place, period, a value looked up, purpose,
//! publisher) and is silent where the facts say nothing about it. A question names what it is about, so that it stands alone;
//! words that are not of the facts are those of the patterns below.

use std::collections::HashSet;

use super::facts::{FactColumn, Facts, tidy};
use super::phrases::{content_words, is_data_word, is_function_word, phrases, sentences, words_of};
use super::unknown::unknown;
use super::{FactKind, MOST_QUESTIONS};
use lakeward_core::text::years::{LIKELY, year};
use lakeward_lake::semantic::{LogicalType, SemanticType};

/// Names these rules; another number means other questions from the same facts.
pub const GENERATOR: &str = "rules@1";

/// Characters of the subject, of a phrase, and of a whole question.
const SUBJECT_CHARS: usize = 110;
const PHRASE_CHARS: usize = 64;
/// No question is longer.
pub const LONGEST_QUESTION_CHARS: usize = 260;
/// Sentences of a description that get a question, and phrases of one sentence in it.
const ASKED_SENTENCES: usize = 4;
const ASKED_PHRASES: usize = 4;
/// Column names and tags in one question.
const ASKED_COLUMNS: usize = 6;
const ASKED_TAGS: usize = 5;
/// A column of at most so many different values divides a table into groups.
const MOST_GROUPS: u64 = 60;

/// The questions, at most [`MOST_QUESTIONS`], and the facets that the facts leave open. Fewer than five only where the facts
/// are too few; `unknown` then says so.
pub fn questions(facts: &Facts) -> (Vec<String>, Vec<FactKind>) {
    let subject = Subject::of(facts);
    let columns = Columns::of(facts);
    let mut asked = QuestionsSoFar::default();
    // The order is that of use: where ten are too few, the last ones go.
    asked.add(topic(&subject));
    let mut described = from_description(facts, &subject).into_iter();
    asked.add(described.next());
    asked.add(relation(&subject, &columns));
    asked.add(lookup(&subject, &columns));
    asked.add(period(facts, &subject));
    asked.add(place(facts, &subject));
    asked.add(purpose(facts, &subject));
    asked.add(described.next());
    asked.add(recorded(&subject, &columns));
    asked.add(greatest(&subject, &columns));
    asked.add(described.next());
    asked.add(group(&subject, &columns));
    asked.add(publisher(facts, &subject));
    asked.add(described.next());
    for spare in spares(facts, &subject) {
        if asked.questions.len() < super::LEAST_QUESTIONS {
            asked.add(Some(spare));
        }
    }
    (asked.questions, unknown(facts))
}

/// Questions asked so far; alike ones are asked once.
#[derive(Default)]
struct QuestionsSoFar {
    questions: Vec<String>,
    seen: HashSet<Vec<String>>,
}

impl QuestionsSoFar {
    fn add(&mut self, question: Option<String>) {
        let Some(question) = question else { return };
        // As it will be read again: facts of many spaces give questions of many spaces.
        let question = tidy(&sentence_case(&question), 2 * LONGEST_QUESTION_CHARS);
        let mut words = words_of(&question);
        words.sort_unstable();
        words.dedup();
        let room = self.questions.len() < MOST_QUESTIONS;
        if room && words.len() >= 3 && question.chars().count() <= LONGEST_QUESTION_CHARS && self.seen.insert(words) {
            self.questions.push(question);
        }
    }
}

/// What a table is about, in the words of its title.
struct Subject {
    /// `NBA Rookie of the Year Award`; empty where nothing names it.
    name: String,
    /// `winners of …`, where the title has a part behind a dash; else the name again.
    whole: String,
}

impl Subject {
    fn of(facts: &Facts) -> Subject {
        let title = facts.name();
        let title = title.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != ')');
        let mut parts = title.split(" — ").map(str::trim).filter(|part| !part.is_empty());
        let name = tidy(parts.next().unwrap_or_default(), SUBJECT_CHARS);
        let rest: Vec<&str> = parts.collect();
        let whole = match rest.last() {
            Some(part) => tidy(&format!("{part} of {name}"), SUBJECT_CHARS),
            None => name.clone(),
        };
        if name.chars().any(char::is_alphabetic) {
            return Subject { name, whole };
        }
        let columns = facts.columns.iter().map(|column| &column.words).filter(|words| !words.is_empty());
        let says = |text: &&String| text.chars().any(char::is_alphabetic);
        let others: Vec<String> = facts.tags.iter().chain(columns).filter(says).take(3).cloned().collect();
        let name = tidy(&listed(&others), SUBJECT_CHARS);
        Subject { whole: name.clone(), name }
    }

    /// ` {preposition} {name}`, or nothing.
    fn after(&self, preposition: &str) -> String {
        if self.name.is_empty() { String::new() } else { format!(" {preposition} {}", self.name) }
    }
}

/// Columns by the part that they can play in a question.
struct Columns<'a> {
    /// Numbers that say how much.
    measures: Vec<&'a FactColumn>,
    /// What divides the rows into groups.
    groups: Vec<&'a FactColumn>,
    /// What the rows are called.
    names: Vec<&'a FactColumn>,
    /// All that have a name.
    named: Vec<&'a FactColumn>,
}

impl<'a> Columns<'a> {
    fn of(facts: &'a Facts) -> Columns<'a> {
        use SemanticType::{
            Category, Code, Country, CountryCode, FreeText, Identifier, Latitude, Longitude, Name, Time, Url, UsState,
            Year,
        };
        let named: Vec<&FactColumn> = facts
            .columns
            .iter()
            .filter(|column| column.words.chars().any(char::is_alphabetic) && column.logical != LogicalType::Empty)
            .collect();
        let of = |keep: &dyn Fn(&FactColumn) -> bool| -> Vec<&'a FactColumn> {
            named.iter().copied().filter(|column| keep(column)).collect()
        };
        let unmeasured = [Year, Time, Identifier, Code, CountryCode, Latitude, Longitude];
        Columns {
            measures: of(&|column| {
                column.logical.is_numeric() && column.semantic.is_none_or(|kind| !unmeasured.contains(&kind))
            }),
            groups: of(&|column| match column.semantic {
                Some(Category | Country | CountryCode | UsState | Year | Time) => true,
                Some(FreeText | Url | Identifier) => false,
                _ => column.logical == LogicalType::Text && !column.is_unique && column.distinct <= MOST_GROUPS,
            }),
            names: of(&|column| {
                column.logical == LogicalType::Text
                    && column.semantic.is_none_or(|kind| matches!(kind, Name | Category | Country | UsState | Code))
            }),
            named,
        }
    }
}

fn topic(subject: &Subject) -> Option<String> {
    if subject.whole.is_empty() {
        return None;
    }
    Some(format!("What data is available on {}?", subject.whole))
}

/// One question a sentence of the description, by its phrases.
fn from_description(facts: &Facts, subject: &Subject) -> Vec<String> {
    let known: HashSet<String> = content_words(&subject.whole);
    let mut questions = Vec::new();
    let mut said: HashSet<String> = HashSet::new();
    for sentence in sentences(&facts.description) {
        let mut informative: Vec<String> = Vec::new();
        for phrase in phrases(sentence) {
            let phrase = tidy(&phrase, PHRASE_CHARS);
            let words = content_words(&phrase);
            let is_new = words
                .iter()
                .any(|word| !known.contains(word) && !said.contains(word) && word.chars().any(char::is_alphabetic));
            if is_new {
                said.extend(words);
                informative.push(phrase);
            }
        }
        for some in informative.chunks(ASKED_PHRASES) {
            if some.len() == 1 && some[0].split(' ').count() < 2 && !questions.is_empty() {
                continue;
            }
            let list = listed(some);
            questions.push(match questions.len() % 3 {
                0 => format!("Where can I find {list}{}?", subject.after("in")),
                1 => format!("What is known about {list}?"),
                _ => format!("Which figures describe {list}?"),
            });
        }
        if questions.len() >= ASKED_SENTENCES {
            break;
        }
    }
    questions
}

/// How one column varies by another.
fn relation(subject: &Subject, columns: &Columns<'_>) -> Option<String> {
    let measure = columns.measures.first()?;
    let group = columns.groups.iter().chain(&columns.names).find(|group| group.name != measure.name)?;
    Some(format!("How does {} vary by {}{}?", phrase(measure), phrase(group), subject.after("for")))
}

/// What stands beside a value.
fn lookup(subject: &Subject, columns: &Columns<'_>) -> Option<String> {
    let (name, value) = columns.names.iter().find_map(|column| {
        let informative = |value: &&String| value.chars().filter(|letter| letter.is_alphabetic()).count() > 2;
        Some((column, column.values.iter().find(informative)?))
    })?;
    let other = columns.measures.iter().chain(&columns.named).find(|other| other.name != name.name)?;
    Some(format!("What is the {} of {value}{}?", phrase(other), subject.after("in")))
}

fn period(facts: &Facts, subject: &Subject) -> Option<String> {
    let name = &subject.whole;
    if name.is_empty() {
        return None;
    }
    match &facts.period {
        Some((from, to)) if from != to => Some(format!("How has {name} changed from {from} to {to}?")),
        // What is in the subject already makes no question of its own.
        Some((at, _)) if words_of(at).iter().all(|word| words_of(name).contains(word)) => None,
        Some((at, _)) => Some(format!("What was known about {name} in {at}?")),
        None => {
            let year = years_of(&facts.description).into_iter().find(|year| !words_of(name).contains(year))?;
            Some(format!("What was known about {name} in {year}?"))
        }
    }
}

fn place(facts: &Facts, subject: &Subject) -> Option<String> {
    if facts.places.is_empty() || subject.whole.is_empty() {
        return None;
    }
    let kind = match facts.place_kind {
        Some(SemanticType::Country | SemanticType::CountryCode) => "countries such as ",
        Some(SemanticType::UsState) => "states such as ",
        _ => "",
    };
    Some(format!("What is known about {} in {kind}{}?", subject.whole, listed(&facts.places)))
}

/// What it serves, by its keywords.
fn purpose(facts: &Facts, subject: &Subject) -> Option<String> {
    let known = content_words(&subject.whole);
    let is_new = |tag: &&String| {
        let words = content_words(tag);
        words.iter().any(|word| !known.contains(word) && word.chars().any(char::is_alphabetic))
    };
    let tags: Vec<String> =
        facts.tags.iter().filter(is_new).take(ASKED_TAGS).map(|tag| tag.replace(['-', '_'], " ")).collect();
    if tags.is_empty() {
        return None;
    }
    Some(format!("Which data helps to study {}{}?", listed(&tags), subject.after("with")))
}

/// What is written down about each.
fn recorded(subject: &Subject, columns: &Columns<'_>) -> Option<String> {
    let names: Vec<String> = columns.named.iter().take(ASKED_COLUMNS).map(|column| phrase(column)).collect();
    if names.len() < 2 {
        return None;
    }
    Some(format!("Where are {} recorded{}?", listed(&names), subject.after("for")))
}

fn greatest(subject: &Subject, columns: &Columns<'_>) -> Option<String> {
    let name = columns.names.first()?;
    let measure = columns.measures.iter().rev().find(|measure| measure.name != name.name)?;
    Some(format!("Which {} has the highest {}{}?", phrase(name), phrase(measure), subject.after("in")))
}

/// How much falls to a group.
fn group(subject: &Subject, columns: &Columns<'_>) -> Option<String> {
    let group = columns
        .groups
        .iter()
        .rev()
        .find(|column| column.values.iter().any(|value| value.chars().any(char::is_alphabetic)))?;
    Some(format!("How many have the {} {}{}?", phrase(group), listed(&group.values), subject.after("in")))
}

fn publisher(facts: &Facts, subject: &Subject) -> Option<String> {
    let publisher = facts.publisher.as_ref()?;
    Some(format!("What does {publisher} publish{}?", subject.after("about")))
}

/// Further ways to ask for the same, where the facts are few.
fn spares(facts: &Facts, subject: &Subject) -> Vec<String> {
    let mut spares = Vec::new();
    let words: Vec<&str> = subject.name.split_whitespace().filter(|word| says(word)).collect();
    if !subject.name.is_empty() {
        spares.push(format!("Where can figures on {} be found?", subject.name));
    }
    if words.len() > 3 {
        spares.push(format!("What is known about {}?", words[..words.len() / 2 + 1].join(" ")));
        spares.push(format!("Who needs to know about {}?", words[words.len() / 2 - 1..].join(" ")));
    }
    for tag in &facts.tags {
        spares.push(format!("What is there to know about {tag}?"));
    }
    spares
}

fn says(word: &str) -> bool {
    let bare = words_of(word).join(" ");
    !bare.is_empty() && !is_function_word(&bare) && !is_data_word(&bare)
}

/// The years that a text names, in their order.
pub(super) fn years_of(text: &str) -> Vec<String> {
    words_of(text).into_iter().filter(|word| year(word, LIKELY).is_some()).collect()
}

fn phrase(column: &FactColumn) -> String {
    tidy(&column.words, PHRASE_CHARS)
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The first letter in upper case.
fn sentence_case(question: &str) -> String {
    let mut letters = question.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
