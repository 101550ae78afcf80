//! Noun phrases: where a thing that is named begins and ends, one by one or in a list.

use super::lexicon::{Class, is};
use super::words::{Sentence, Word, singular};

/// Words of one phrase.
const MOST_WORDS: usize = 8;
/// Phrases of one list.
const MOST_ITEMS: usize = 24;

/// A noun phrase: its words without article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phrase {
    /// First word.
    pub from: usize,
    /// The word after the last.
    pub to: usize,
}

impl Phrase {
    /// Its text.
    pub fn text(self, sentence: &Sentence) -> String {
        sentence.text(self.from, self.to)
    }

    /// Whether it names something: a word that is neither a pronoun nor a word for any data.
    pub fn names(self, sentence: &Sentence) -> bool {
        let words = &sentence.words[self.from..self.to];
        words.iter().any(|word| word.is_content() && !word.is(Class::Data))
    }

    /// The phrase without the articles and counts it begins with.
    fn trimmed(mut self, sentence: &Sentence) -> Self {
        while self.from < self.to && skipped(&sentence.words[self.from]) {
            self.from += 1;
        }
        while self.from < self.to && !ends_well(&sentence.words[self.to - 1]) {
            self.to -= 1;
        }
        self
    }
}

/// Whether a phrase may begin after this word, which is no part of it.
fn skipped(word: &Word) -> bool {
    word.sign
        || word.is(Class::Determiner)
        || matches!(
            word.low.as_str(),
            "also" | "too" | "only" | "just" | "even" | "both" | "of" | "for" | "'s" | "now" | "please" | "then"
        )
}

fn ends_well(word: &Word) -> bool {
    !word.sign
        && !word.is(Class::Preposition)
        && !word.is(Class::Conjunction)
        && word.low != "'s"
        && !word.is(Class::Adverb)
}

/// How far a phrase may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only the thing itself: `irradiance` of `irradiance of the closest station`.
    Thing,
    /// With what qualifies it: `patients under 18`.
    Qualified,
}

/// Whether word `at` goes on a phrase that began at `from`.
fn goes_on(sentence: &Sentence, from: usize, at: usize, reach: Reach) -> bool {
    const QUALIFYING: [&str; 16] = [
        "under", "over", "above", "below", "with", "than", "longer", "older", "younger", "more", "less", "at", "for",
        "from", "between", "outside",
    ];
    let Some(word) = sentence.words.get(at) else { return false };
    if word.sign {
        return matches!(word.low.as_str(), "/" | "-" | "'" | "\"" | "_" | "&") && word.glued
            || matches!(word.low.as_str(), "'" | "\"");
    }
    if word.is_content() {
        return true;
    }
    let next = sentence.words.get(at + 1);
    match word.low.as_str() {
        "of" => {
            let definite = next.is_some_and(|next| next.is(Class::Determiner));
            next.is_some_and(|next| !next.sign) && (reach == Reach::Qualified || !definite)
        }
        "per" => next.is_some_and(|next| !next.sign),
        "in" if at > from
            && next.is_some_and(|next| {
                next.is(Class::Counted) || matches!(next.low.as_str(), "percent" | "%" | "currency")
            }) =>
        {
            true
        }
        "to" | "in" | "from" if at > from => {
            // `distance to the nearest stop`, `rainfall in the preceding fortnight`: what the noun itself asks for.
            let measure = matches!(
                sentence.low(at - 1),
                "distance"
                    | "distances"
                    | "time"
                    | "access"
                    | "rainfall"
                    | "proximity"
                    | "change"
                    | "kilometres"
                    | "minutes"
            );
            measure && next.is_some_and(|next| next.is(Class::Determiner) || next.is_content())
        }
        "'s" => at > from && next.is_some_and(Word::is_content),
        low if reach == Reach::Qualified && at > from => {
            (QUALIFYING.contains(&low) || word.is(Class::Determiner))
                && next.is_some_and(|next| next.is_content() || next.is(Class::Determiner) || next.low == "than")
        }
        _ => {
            // Inside `distance to the nearest stop` the article goes on.
            let inside = at > from
                && matches!(sentence.low(at - 1), "to" | "in" | "of" | "per" | "from")
                && goes_on(sentence, from, at - 1, reach);
            // A word that is a verb elsewhere is a noun between nouns or after an adjective: `arrival time`, `daily count`.
            let noun = word.is(Class::Verb)
                && at > from
                && !word.low.ends_with("ing")
                && (noun_like(&word.low) || is(&singular(&word.low), Class::Unit));
            (inside && word.is(Class::Determiner)) || noun
        }
    }
}

/// Whether a verb stands right after who does it: `I would use`.
fn ruled(sentence: &Sentence, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| sentence.words.get(before));
    before.is_some_and(|before| before.is(Class::Pronoun) || before.is(Class::Auxiliary) || before.low == "to")
}

/// Verbs that are nouns as often.
fn noun_like(word: &str) -> bool {
    const NOUNS: [&str; 58] = [
        "count", "counts", "use", "end", "start", "place", "work", "report", "reports", "interest", "change",
        "changes", "cover", "match", "matches", "average", "forecast", "price", "list", "group", "link", "answer",
        "stay", "stays", "need", "reading", "pay", "rent", "cost", "costs", "spend", "yield", "yields", "wait",
        "catch", "stop", "stops", "order", "claim", "claims", "visit", "visits", "cut", "fall", "rise", "damage",
        "demand", "supply", "trade", "load", "support", "score", "scores", "wins", "start", "turnover", "permit",
        "sales",
    ];
    NOUNS.contains(&word)
}

/// Whether the verb at `at` is a noun here: `mean temperature`; `group loans` at the start of a clause whose verb follows.
pub(super) fn nominal(sentence: &Sentence, at: usize) -> bool {
    let content = |at: usize| sentence.words.get(at).is_some_and(Word::is_content);
    let word = &sentence.words[at];
    let subject = at == 0 || matches!(sentence.before(at), "i" | "we" | "you" | "to");
    let verb = sentence.words.get(at + 2).is_some_and(|next| next.is(Class::Verb) || next.is(Class::Auxiliary));
    let figure = word.is(Class::Measure)
        && !subject
        && matches!(sentence.low(at + 1), "+" | "and" | "per" | "by" | "plus" | "&");
    // `with join date and plan`, `with the fine`.
    let led = matches!(sentence.before(at), "with" | "and" | "," | "the" | "a" | "of" | "its" | "their" | ":");
    let dated =
        led && word.is(Class::Verb) && sentence.words.get(at + 1).is_some_and(|next| is(&next.low, Class::Header));
    let fine = led && word.low == "fine" && sentence.before(at) != ",";
    figure
        || dated
        || fine
        || word.is(Class::Verb)
            && content(at + 1)
            && (word.is(Class::Measure) && !subject
                || at == 0 && matches!(word.low.as_str(), "mean" | "average" | "total" | "maximum" | "minimum")
                || at == 0 && verb && is(&singular(&word.low), Class::Unit))
}

/// The phrase that begins at `at`, after its article.
pub fn phrase(sentence: &Sentence, at: usize, reach: Reach) -> Option<Phrase> {
    let mut from = at;
    while from < at + 4 && sentence.words.get(from).is_some_and(|word| skipped(word) && !word.sign) {
        from += 1;
    }
    let may_begin = sentence.words.get(from).is_some_and(|word| {
        word.is_content()
            || matches!(word.low.as_str(), "'" | "\"")
            || nominal(sentence, from)
            || (from > at && word.is(Class::Verb) && noun_like(&word.low))
    });
    if !may_begin {
        return None;
    }
    let mut to = from + 1;
    while to < from + MOST_WORDS && goes_on(sentence, from, to, reach) {
        to += 1;
    }
    // `premieres skew it`: what stands before an object is a verb, known or not.
    let object = matches!(sentence.low(to), "it" | "them" | "me" | "us" | "my" | "our" | "that");
    if object && to > from + 1 && sentence.words[to - 1].is_content() && !sentence.words[to - 1].is(Class::Unit) {
        to -= 1;
    }
    let phrase = Phrase { from, to }.trimmed(sentence);
    (phrase.from < phrase.to).then_some(phrase)
}

/// The phrases of the list that begins at `at`, `A, B and C`, and the word after it.
pub fn list(sentence: &Sentence, at: usize, reach: Reach) -> (Vec<Phrase>, usize) {
    list_until(sentence, at, reach, None)
}

/// [`list()`], where what stands at `end` is known to be no part of it.
fn list_until(sentence: &Sentence, at: usize, reach: Reach, known_end: Option<usize>) -> (Vec<Phrase>, usize) {
    let mut items = Vec::new();
    let mut end = at;
    let mut next = at;
    while items.len() < MOST_ITEMS {
        let Some(item) = phrase(sentence, next, reach) else { break };
        items.push(item);
        end = item.to;
        while matches!(sentence.low(end), "'" | "\"") {
            end += 1;
        }
        next = passed(sentence, end);
        let comma = sentence.low(next) == ",";
        next += usize::from(comma);
        let mut joined = matches!(sentence.low(next), "and" | "&" | "+" | "plus" | "or");
        next += usize::from(joined);
        for words in ["as well as", "along with", "together with"] {
            if sentence.stands(next, words) {
                joined = true;
                next += words.split(' ').count();
            }
        }
        while joined && matches!(sentence.low(next), "also" | "then" | "maybe" | "possibly" | "perhaps" | "even") {
            next += 1;
        }
        // `by the population and by the number of doctors`.
        next += usize::from(joined && matches!(sentence.low(next), "by" | "with" | "of" | "for"));
        if !comma && !joined {
            break;
        }
        // After a comma another clause may begin: its first noun is followed by a verb.
        let starts_clause = phrase(sentence, next, reach).is_none_or(|item| {
            let verb = |word: &Word| (word.is(Class::Auxiliary) || word.is(Class::Pronoun)) && !word.is(Class::Adverb);
            known_end != Some(item.to) && sentence.words.get(item.to).is_some_and(verb)
        });
        if starts_clause {
            break;
        }
    }
    (items, end)
}

/// Where a list goes on after what qualifies an item, `the amount at stake and the year`; `end` if it does not.
fn passed(sentence: &Sentence, end: usize) -> usize {
    const QUALIFIERS: [&str; 7] = ["at", "in", "of", "for", "from", "per", "within"];
    // `A next to it, and B`, `A as well, and B`; `A the town has, and B`.
    for words in
        ["next to it", "next to them", "with it", "with them", "to it", "on it", "alongside", "there", "beside it"]
    {
        let to = end + words.split(' ').count();
        if sentence.stands(end, words) && (sentence.low(to) == "," || sentence.low(to) == "and") {
            return to;
        }
    }
    let owned = sentence.words.get(end).is_some_and(|word| word.is(Class::Determiner) || word.is(Class::Pronoun));
    let has = (end + 1..end + 4).find(|at| matches!(sentence.low(*at), "has" | "have" | "had" | "got" | "gets"));
    if let Some(has) = has.filter(|has| owned && matches!(sentence.low(has + 1), "," | "and")) {
        return has + 1;
    }
    if !QUALIFIERS.contains(&sentence.low(end)) {
        return end;
    }
    let mut at = end + 1;
    while at < end + 5
        && sentence
            .words
            .get(at)
            .is_some_and(|word| (word.is_content() || word.is(Class::Determiner)) && !word.is_capital())
    {
        at += 1;
    }
    let goes_on = sentence.low(at) == "," || matches!(sentence.low(at), "and" | "plus");
    let after = at + 1 + usize::from(matches!(sentence.low(at + 1), "by" | "with" | "of"));
    let noun = sentence.words.get(after).is_some_and(|word| word.is(Class::Determiner) || word.is_content());
    if goes_on && noun && at > end + 1 { at } else { end }
}

/// The list that ends at `end`, where a cue begins: the subject of its clause, `min and max price` before `off`.
pub fn list_before(sentence: &Sentence, end: usize, reach: Reach) -> Vec<Phrase> {
    // From the last word that binds sentences rather than nouns; commas are passed as long as nouns stand on both sides.
    let mut from = end;
    let mut verbs = false;
    while from > 0 && end - from < MOST_ITEMS * 3 {
        let word = &sentence.words[from - 1];
        let binds = word.is(Class::Pronoun)
            || word.is(Class::Auxiliary)
            || (word.is(Class::Verb)
                && !nominal(sentence, from - 1)
                && (!noun_like(&word.low) || ruled(sentence, from - 1)))
            || word.is(Class::Talk);
        let edge = word.sign && sentence.is_edge(from - 1) && word.low != ",";
        if binds || edge {
            verbs = binds;
            break;
        }
        from -= 1;
    }
    let mut at = from;
    while at < end
        && (skipped(&sentence.words[at])
            || matches!(sentence.low(at), "and" | "but" | "so")
            || sentence.words[at].is(Class::Adverb)
            || sentence.words[at].is(Class::Talk))
    {
        at += 1;
    }
    // What the last verb before has as its object is not the subject here: `A is nice and B can go`.
    if verbs && let Some(cut) = (at..end).rev().find(|place| matches!(sentence.low(*place), "," | "but" | "so")) {
        at = cut + 1;
    }
    let (items, reached) = list_until(sentence, at, reach, Some(end));
    let ends_there = (reached..end).all(|at| {
        sentence.words[at].sign
            || sentence.words[at].is(Class::Adverb)
            || sentence.words[at].is(Class::Conjunction)
            || sentence.words[at].is(Class::Preposition)
            || sentence.words[at].is(Class::Determiner)
    });
    if ends_there && !items.is_empty() {
        return items;
    }
    // Else only the noun right before the cue's clause.
    let mut near = end;
    while near > at && !sentence.is_edge(near - 1) {
        near -= 1;
    }
    if near == at { items } else { list_until(sentence, near, reach, Some(end)).0 }
}
