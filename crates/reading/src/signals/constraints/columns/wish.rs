//! Columns by the grammar of wishing, where no phrase of the lists announces them: the object of a verb of wanting or
//! attaching (`could you match in the poverty rate`), the subject of a wish (`A and B would help`, `A and B are necessary`),
//! what `what I lack is …` leads to, and what is put against each row (`tree cover against each sighting`).

use super::super::lexicon::{Class, is};
use super::super::phrase::{Phrase, Reach, list, list_before};
use super::super::words::{Sentence, singular, stems};
use super::figure::ungrouped;

/// Words a frame may span between its parts.
const NEAR: usize = 8;

/// What the data are about and what a row stands for: names of those are no columns.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The topic in force.
    pub topic: &'a str,
    /// What a row stands for.
    pub grain: &'a str,
}

/// The columns that a later turn wishes for.
pub(super) fn wished(sentence: &Sentence, subject: Subject<'_>) -> Vec<Phrase> {
    let found = headed(sentence)
        .or_else(|| inquired(sentence))
        .or_else(|| cleft(sentence))
        .or_else(|| against(sentence))
        .or_else(|| welcome(sentence))
        .or_else(|| objects(sentence, subject))
        .unwrap_or_default();
    let found = found.into_iter().map(|item| ungrouped(sentence, item));
    found.filter(|item| is_attribute(sentence, *item, subject)).collect()
}

/// Whether the phrase can name an attribute of a row rather than rows, tables or a purpose.
pub(super) fn is_attribute(sentence: &Sentence, item: Phrase, subject: Subject<'_>) -> bool {
    const NO_HEAD: [&str; 54] = [
        "row",
        "line",
        "record",
        "thing",
        "model",
        "map",
        "chart",
        "study",
        "report",
        "analysis",
        "slide",
        "deck",
        "paper",
        "copy",
        "picture",
        "question",
        "help",
        "idea",
        "look",
        "case",
        "rest",
        "one",
        "ones",
        "lot",
        "bit",
        "way",
        "time",
        "moment",
        "step",
        "place",
        "side",
        "year",
        "month",
        "week",
        "training",
        "test",
        "forecast",
        "prediction",
        "comparison",
        "sense",
        "example",
        "detail",
        "period",
        "range",
        "window",
        "format",
        "layout",
        "scope",
        "kind",
        "sort",
        "type",
        "version",
        "team",
        "file",
    ];
    const PURPOSE: [&str; 12] = [
        "model",
        "map",
        "chart",
        "study",
        "report",
        "analysis",
        "slide",
        "deck",
        "forecast",
        "prediction",
        "comparison",
        "dashboard",
    ];
    let head = (item.from..item.to)
        .find(|at| *at > item.from && matches!(sentence.low(*at), "of" | "to" | "from" | "in" | "per" | "at"))
        .unwrap_or(item.to);
    let last = sentence.low(head - 1);
    let one = singular(last);
    let short = item.to - item.from == 1;
    let known = stems(subject.topic).contains(&one) || stems(subject.grain).contains(&one);
    let word = &sentence.words[head - 1];
    item.names(sentence)
        && !(word.is(Class::Data) && short)
        && !(known && (short || one != last))
        && !(NO_HEAD.contains(&one.as_str()) && short)
        && !PURPOSE.contains(&one.as_str())
        && !(word.is(Class::Measure) && last != one && !short && is(&singular(sentence.low(head - 2)), Class::Unit))
        && !(is(&one, Class::Time) && (short || one != last))
        && !word.is(Class::NoPlace)
        && !(word.is(Class::Measure) && sentence.low(item.from).ends_with("ly"))
        && !matches!(sentence.low(item.from), "single" | "rid")
        && !(short && (last == "number" || last == "figure"))
        && !sentence.words[item.from..item.to]
            .iter()
            .any(|word| word.low.ends_with("-level") || word.low.ends_with("-wise"))
}

/// The phrases without those who own them: `age` of `the borrower's age`.
pub(super) fn disowned(sentence: &Sentence, item: Phrase) -> Phrase {
    let mut item = item;
    while item.to > item.from + 1
        && (sentence.words[item.to - 1].is(Class::Data)
            || matches!(sentence.low(item.to - 1), "column" | "columns" | "field" | "variable"))
    {
        item.to -= 1;
    }
    let owner = (item.from..item.to).rev().find(|at| sentence.low(*at) == "'s");
    match owner {
        Some(at) if at + 1 < item.to && !sentence.words[item.from].is_capital() => Phrase { from: at + 1, ..item },
        _ => item,
    }
}

/// The list at `at`, if there is one.
fn listed(sentence: &Sentence, at: usize) -> Option<Vec<Phrase>> {
    let (items, _) = list(sentence, at, Reach::Thing);
    (!items.is_empty()).then(|| items.into_iter().map(|item| disowned(sentence, item)).collect())
}

/// `show just the name and score columns`: what stands before the word for columns.
fn headed(sentence: &Sentence) -> Option<Vec<Phrase>> {
    let at = (1..sentence.words.len())
        .find(|at| matches!(sentence.low(*at), "columns" | "fields" | "variables" | "attributes"))?;
    let wishing = sentence.words[..at].iter().any(|word| word.is(Class::Wish));
    let mut items = list_before(sentence, at + 1, Reach::Thing);
    let last = items.last_mut().filter(|item| wishing && item.to == at + 1)?;
    last.to = at;
    items.retain(|item| item.from < item.to);
    (!items.is_empty()).then_some(items)
}

/// `Could the size of the plot be taken from …?`, `is the mortality anywhere?`, `do they have the depth?`, `can each flat get the
/// distance …?`.
fn inquired(sentence: &Sentence) -> Option<Vec<Phrase>> {
    if !sentence.asks {
        return None;
    }
    const SKIPPED: [&str; 5] = ["and", "also", "so", "then", "but"];
    let at = (0..sentence.words.len()).find(|at| {
        let word = &sentence.words[*at];
        !(word.sign || word.is(Class::Talk) || SKIPPED.contains(&word.low.as_str()))
    })?;
    let first = sentence.low(at);
    if first == "any" {
        return listed(sentence, at + 1);
    }
    let there = matches!(first, "is" | "are") && matches!(sentence.low(at + 1), "there");
    let held = matches!(first, "do" | "does")
        && matches!(sentence.low(at + 1), "we" | "you" | "they" | "it")
        && matches!(sentence.low(at + 2), "have" | "hold" | "give" | "know" | "record" | "contain" | "list");
    if there || held {
        return listed(sentence, at + 2 + usize::from(held));
    }
    if !matches!(first, "is" | "are" | "can" | "could" | "may" | "might" | "would" | "should") {
        return None;
    }
    let (items, end) = list(sentence, at + 1, Reach::Thing);
    let stop = (end + 6).min(sentence.words.len());
    if matches!(first, "is" | "are") {
        let found = matches!(
            sentence.low(end),
            "anywhere" | "somewhere" | "available" | "there" | "recorded" | "known" | "included" | "in"
        );
        return found.then_some(items);
    }
    // `each flat get the distance`: the rows get it.
    if matches!(sentence.low(at + 1), "each" | "every" | "all") {
        let verb = (end..stop).find(|at| matches!(sentence.low(*at), "get" | "have" | "carry" | "show" | "receive"))?;
        return listed(sentence, verb + 1);
    }
    let passive = (end..stop).any(|at| {
        matches!(sentence.low(at), "be" | "stand" | "go" | "come" | "get" | "appear")
            && !matches!(
                sentence.low(at + 1),
                "below" | "under" | "underneath" | "out" | "dropped" | "removed" | "hidden" | "excluded"
            )
    });
    (passive && !items.is_empty()).then(|| items.into_iter().map(|item| disowned(sentence, item)).collect())
}

/// `What I lack is A and B`, `what would help is A`, `what I am curious about: A`, `all that is missing are A and B`.
fn cleft(sentence: &Sentence) -> Option<Vec<Phrase>> {
    let start = (0..sentence.words.len().min(4)).find(|at| matches!(sentence.low(*at), "what" | "all"))?;
    if sentence.words.get(start + 1).is_none_or(|next| next.is_content() && next.low != "'s") {
        return None;
    }
    // `What I need is X`: the last copula of the clause; `is missing is`.
    let (_, clause_end) = sentence.clause(start);
    let end = (clause_end + 1).min(start + NEAR + 4).min(sentence.words.len());
    let copula = (start + 2..end).rev().find(|at| matches!(sentence.low(*at), "is" | "are" | ":"))?;
    let negated = (start..copula).any(|at| sentence.low(at) == "not");
    if negated {
        return None;
    }
    let mut at = copula + 1;
    while matches!(sentence.low(at), "to" | "have" | "see" | "know" | "how" | "many" | "much") {
        at += 1;
    }
    listed(sentence, at)
}

/// `A and B against each sighting`, `A and B joined to each oblast`, `A, for each of them`, `A alongside`.
fn against(sentence: &Sentence) -> Option<Vec<Phrase>> {
    const BESIDE: [&str; 11] =
        ["against", "beside", "alongside", "next", "onto", "on", "to", "for", "with", "opposite", "at"];
    let skip = (0..sentence.words.len()).find(|at| {
        let word = &sentence.words[*at];
        !(word.sign
            || word.is(Class::Talk)
            || matches!(word.low.as_str(), "and" | "also" | "then" | "now" | "plus" | "but" | "so"))
    })?;
    let (items, end) = list(sentence, skip, Reach::Thing);
    let mut at = end;
    while at < end + 3
        && sentence.words.get(at).is_some_and(|word| {
            word.low == ","
                || word.is(Class::Adverb)
                || word.is(Class::Wish)
                || word.low.ends_with("ed") && word.is(Class::Verb)
        })
    {
        at += 1;
    }
    let participle = (end..at).any(|at| sentence.low(at).ends_with("ed"));
    let preposition = sentence.low(at);
    if !BESIDE.contains(&preposition) {
        return None;
    }
    let mut to = at + 1;
    to += usize::from(preposition == "next" && sentence.low(to) == "to");
    let each = matches!(sentence.low(to), "each" | "every" | "all" | "it" | "them" | "that" | "those");
    let alone = preposition == "alongside" && sentence.is_edge(to);
    let joined = participle && sentence.words.get(to).is_some_and(|word| word.is(Class::Determiner));
    (!items.is_empty() && (each || alone || joined))
        .then(|| items.into_iter().map(|item| disowned(sentence, item)).collect())
}

/// `A and B are necessary`, `A would be lovely`, `A and B must be in there`: the subject of a wish.
fn welcome(sentence: &Sentence) -> Option<Vec<Phrase>> {
    const NEEDED: [&str; 10] = [
        "necessary",
        "needed",
        "required",
        "essential",
        "wanted",
        "crucial",
        "important",
        "indispensable",
        "vital",
        "mandatory",
    ];
    const NICE: [&str; 16] = [
        "nice",
        "great",
        "good",
        "lovely",
        "helpful",
        "useful",
        "interesting",
        "handy",
        "welcome",
        "ideal",
        "perfect",
        "help",
        "matter",
        "wonderful",
        "brilliant",
        "excellent",
    ];
    for at in 1..sentence.words.len() {
        let word = &sentence.words[at];
        let plain =
            matches!(word.low.as_str(), "matter" | "matters" | "help" | "helps") && sentence.words[at - 1].is_content();
        let meant = matches!(word.low.as_str(), "is" | "are")
            && matches!(sentence.low(at + 1), "what")
            && matches!(sentence.low(at + 2), "i" | "we" | "the");
        if plain || meant {
            let items = list_before(sentence, at, Reach::Thing);
            return (!items.is_empty()).then(|| items.into_iter().map(|item| disowned(sentence, item)).collect());
        }
        if !word.is(Class::Auxiliary) || sentence.words[at - 1].is(Class::Auxiliary) {
            continue;
        }
        let mut to = at;
        let mut negated = false;
        let mut wishing = false;
        while to < at + 6
            && sentence.words.get(to).is_some_and(|word| word.is(Class::Auxiliary) || word.is(Class::Adverb))
        {
            negated |= matches!(sentence.low(to), "not" | "never");
            wishing |= matches!(sentence.low(to), "would" | "could" | "might" | "should" | "must" | "will");
            to += 1;
        }
        let said = sentence.low(to);
        if negated || !(NEEDED.contains(&said) || wishing && NICE.contains(&said)) {
            continue;
        }
        let items = list_before(sentence, at, Reach::Thing);
        if !items.is_empty() {
            return Some(items.into_iter().map(|item| disowned(sentence, item)).collect());
        }
    }
    None
}

/// The object of the first verb of wishing: `I want also depth and distance from the city`, `bring in the decile`.
fn objects(sentence: &Sentence, subject: Subject<'_>) -> Option<Vec<Phrase>> {
    let mut at = 0;
    while at < sentence.words.len() {
        if !wishes(sentence, at) {
            at += 1;
            continue;
        }
        const ENRICHING: [&str; 6] = ["enrich", "supplement", "complement", "augment", "equip", "combine"];
        let with = ENRICHING.contains(&sentence.low(at)).then(|| {
            (at + 1..at + NEAR).find(|place| matches!(sentence.low(*place), "with" | "by")).map(|place| place + 1)
        });
        let next = with.flatten().unwrap_or_else(|| object_start(sentence, at + 1));
        if sentence.words.get(next).is_some_and(|word| matches!(word.low.as_str(), "only" | "just" | "nothing")) {
            return None;
        }
        // `I need airline safety data`: another subject, no column.
        let (raw, _) = list(sentence, next, Reach::Thing);
        if raw.iter().any(|item| item.to > item.from + 1 && sentence.words[item.to - 1].is(Class::Data)) {
            return None;
        }
        if let Some(items) = listed(sentence, next) {
            // `bring in contract customers`, `include kiosks`: rows of another kind, unless a place for columns is said.
            let beside = sentence.has(&[
                "alongside",
                "beside",
                "next to",
                "each",
                "every",
                "with it",
                "with them",
                "as well as",
                "to it",
                "to them",
                "column",
                "columns",
                "feature",
                "features",
                "predictor",
                "predictors",
                "how many",
                "number of",
                "against",
            ]);
            let rows = |item: &Phrase| {
                let last = sentence.low(item.to - 1);
                singular(last) != last && (is(&singular(last), Class::Event) || is(&singular(last), Class::Unit))
            };
            if items.iter().all(|item| is_attribute(sentence, *item, subject) && (beside || !rows(item))) {
                return Some(items);
            }
            return None;
        }
        at = next.max(at + 1);
    }
    None
}

/// Whether the word is a verb by which the speaker wishes for something.
fn wishes(sentence: &Sentence, at: usize) -> bool {
    let word = &sentence.words[at];
    if word.low == "missing" {
        return matches!(sentence.before(at), "am" | "are" | "still") && sentence.low(at.saturating_sub(2)) != "they";
    }
    if matches!(word.low.as_str(), "wants" | "needs" | "requires" | "lacks") {
        return at > 0 && sentence.words[at - 1].is_content();
    }
    if matches!(word.low.as_str(), "forget" | "omit" | "skip" | "drop") && sentence.before(at) == "not" {
        return true;
    }
    if !word.is(Class::Wish) || word.is(Class::Determiner) || sentence.stands(at, "get rid") {
        return false;
    }
    let near = at.saturating_sub(3);
    let negated = (near..at).any(|place| matches!(sentence.low(place), "not" | "never" | "no" | "without"));
    let before = at.checked_sub(1).and_then(|before| sentence.words.get(before));
    let begins = before.is_none_or(|before| {
        before.sign
            || before.is(Class::Talk)
            || before.is(Class::Adverb)
            || before.is(Class::Auxiliary)
                && !matches!(before.low.as_str(), "is" | "are" | "was" | "were" | "has" | "had")
            || matches!(
                before.low.as_str(),
                "i" | "we" | "you" | "to" | "and" | "then" | "also" | "so" | "but" | "or" | "us" | "model" | "boss"
            )
    });
    // `to use`, `to have` of a purpose: `easier to see`.
    let purpose = word.low == "use" || sentence.before(at) == "to" && !to_wish(sentence, at);
    begins && !negated && !purpose
}

/// Whether `to` before the verb belongs to a wish: `I would like to have`.
fn to_wish(sentence: &Sentence, at: usize) -> bool {
    (at.saturating_sub(5)..at).any(|place| {
        matches!(sentence.low(place), "like" | "want" | "love" | "need" | "possible" | "prefer" | "nice" | "able")
    })
}

/// Where the object begins after a verb and what may stand between: particles, further verbs, receivers.
fn object_start(sentence: &Sentence, from: usize) -> usize {
    const BETWEEN: [&str; 26] = [
        "in",
        "on",
        "up",
        "also",
        "too",
        "me",
        "us",
        "to",
        "over",
        "along",
        "back",
        "please",
        "now",
        "then",
        "well",
        "how",
        "many",
        "much",
        "as",
        "info",
        "information",
        "details",
        "about",
        "there",
        "still",
        "both",
    ];
    let mut at = from;
    while at < from + NEAR {
        let Some(word) = sentence.words.get(at) else { break };
        let verb = word.is(Class::Wish) && (sentence.before(at) == "to" || sentence.words[at - 1].is(Class::Wish));
        if !(BETWEEN.contains(&word.low.as_str()) || verb) {
            break;
        }
        at += 1;
    }
    at
}
