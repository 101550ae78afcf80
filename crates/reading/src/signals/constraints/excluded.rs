//! What must not be in the answer: `without X`, `X left out`, `no X please`, `the X one I don't need`, `drop X`; what of it
//! comes back in: `show X again`; and what in force is thereby taken back: a column, a place, a year.

mod refusal;

use super::lexicon::{Class, Cue, Hit};
use super::period;
use super::phrase::{Phrase, Reach, list, list_before, nominal};
use super::place;
use super::revision::State;
use super::words::{Claim, Sentence, same_thing, stems};

/// Exclusions that are kept.
const MOST: usize = 60;

/// Reads what `sentence` takes out or lets back in. `previous`: the sentence before it in the same turn.
pub fn read(sentence: &mut Sentence, previous: Option<&Sentence>, hits: &[Hit], state: &mut State) {
    // `Take the secondary ones away. And boarding schools.`
    let (_, clause_end) = sentence.clause(1);
    let goes_on = matches!(sentence.low(0), "and" | "nor") && clause_end <= 5 && clause_end == sentence.words.len();
    let refusing =
        previous.is_some_and(|previous| previous.words.iter().any(|word| word.claim == Some(Claim::Excluded)));
    if goes_on && refusing && !sentence.words.iter().any(|word| word.is(Class::Verb) || word.is(Class::Auxiliary)) {
        for item in list(sentence, 1, Reach::Qualified).0 {
            take_out(sentence, &Thing::Here(item), state);
        }
        return;
    }
    let returned = take_back(sentence, previous, hits, state);
    for hit in hits {
        if returned
            .is_some_and(|at| sentence.clause(hit.from) == sentence.clause(at) || hit.from > at && hit.from < at + 8)
        {
            continue;
        }
        // `don't forget the address`.
        let wished = sentence.before(hit.from) == "not" && sentence.words[hit.from].is(Class::Verb);
        let found = match hit.cue {
            Cue::Exclude if wished => continue,
            Cue::Exclude => match pronoun_object(sentence, hit) {
                true => spoken_of(sentence, previous, hit.from),
                false => objects(sentence, hit, &state.columns),
            },
            Cue::Unwanted if dated(sentence, hit.from) => continue,
            Cue::Unwanted => subjects(sentence, previous, hit),
            _ => continue,
        };
        for thing in found {
            // `leave the pair out`: what was spoken of before.
            let pair = matches!(&thing, Thing::Here(phrase) if phrase.to - phrase.from == 1 && matches!(sentence.low(phrase.from), "pair" | "lot" | "duo"));
            let meant = if pair { previous.map(years_of).unwrap_or_default() } else { Vec::new() };
            if meant.is_empty() {
                take_out(sentence, &thing, state);
            } else {
                let text = meant.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
                take_out(sentence, &Thing::Elsewhere(text, meant), state);
            }
        }
    }
    for hit in refusal::hits(sentence) {
        if returned.is_some_and(|at| at < hit.to && hit.from < at + 8) || !sentence.is_free(hit.from, hit.to) {
            continue;
        }
        if dated(sentence, hit.from) {
            continue;
        }
        for thing in subject(sentence, previous, hit.from, false) {
            take_out(sentence, &thing, state);
        }
    }
}

/// Whether what stands before `at` is a stretch of time, `anything before 2018 is no use`: that is of the period.
fn dated(sentence: &Sentence, at: usize) -> bool {
    let (start, _) = sentence.clause(at);
    (start..at).any(|at| {
        matches!(sentence.low(at), "before" | "after" | "than" | "since" | "until")
            && !period::years_in(sentence, at + 1, at + 2).is_empty()
    })
}

/// The years that a sentence names.
fn years_of(sentence: &Sentence) -> Vec<i32> {
    period::years_in(sentence, 0, sentence.words.len())
}

/// Something unwanted: its words here, or its text from elsewhere.
#[derive(Debug, Clone)]
enum Thing {
    Here(Phrase),
    Elsewhere(String, Vec<i32>),
}

/// Lets back in what the sentence says, and where the cue stands.
fn take_back(sentence: &mut Sentence, previous: Option<&Sentence>, hits: &[Hit], state: &mut State) -> Option<usize> {
    let kept = |hit: &Hit| {
        let (_, end) = sentence.clause(hit.from);
        !matches!(sentence.low(hit.from), "leave" | "keep") || sentence.before(end) == "in"
    };
    let lifted = refusal::lifted(sentence).map(|at| Hit { from: at, to: at + 1, cue: Cue::Return });
    let hit = lifted.as_ref().or_else(|| hits.iter().find(|hit| hit.cue == Cue::Return && kept(hit)))?;
    if state.excluded.is_empty() {
        return None;
    }
    // Of the clause that says so, if it names anything of them: `2014 is back, 2022 stays out`.
    let (from, to) = sentence.clause(hit.from);
    let clause = stems(&sentence.text(from, to));
    let here = stems(&sentence.text(0, sentence.words.len()));
    let named = |excluded: &String, said: &[String]| stems(excluded).iter().any(|stem| said.contains(stem));
    let here = if state.excluded.iter().any(|item| named(item, &clause)) { clause } else { here };
    let mut back: Vec<String> = state.excluded.iter().filter(|item| named(item, &here)).cloned().collect();
    // Most cues of return say something else as often; without the name only the plainest count.
    const PLAIN: [&str; 15] = [
        "back in",
        "back again",
        "put back",
        "bring back",
        "reinstate",
        "restore",
        "restored",
        "let back in",
        "unhide",
        "was wrong to",
        "in again",
        "suppressed",
        "hidden",
        "excluded",
        "removed",
    ];
    let plain = sentence.has(&PLAIN);
    if back.is_empty() && plain && sentence.has(&["it", "they", "them", "those", "these", "that", "everything", "all"])
    {
        let before = previous.map(|previous| stems(&previous.text(0, previous.words.len()))).unwrap_or_default();
        back = state.excluded.iter().filter(|item| named(item, &before)).cloned().collect();
        if back.is_empty() && (state.excluded.len() == 1 || sentence.has(&["everything", "all"])) {
            back = state.excluded.clone();
        }
    }
    if back.is_empty() {
        return None;
    }
    state.excluded.retain(|item| !back.contains(item));
    for at in 0..sentence.words.len() {
        let stem = stems(&sentence.words[at].text);
        if back.iter().any(|item| stems(item).iter().any(|word| stem.contains(word))) {
            sentence.claim(at, at + 1, Claim::Excluded);
        }
    }
    Some(hit.from)
}

/// What stands after a cue.
fn objects(sentence: &Sentence, hit: &Hit, columns: &[String]) -> Vec<Thing> {
    let cue = sentence.text(hit.from, hit.to).to_lowercase();
    let next = sentence.low(hit.to);
    if cue == "no" && hit.from > 0 && sentence.is_edge(hit.to) && !sentence.is_edge(hit.from - 1) {
        return list_before(sentence, hit.from, Reach::Thing)
            .into_iter()
            .filter(|item| item.names(sentence))
            .map(Thing::Here)
            .collect();
    }
    if cue == "no" && (sentence.is_edge(hit.to) || next == "that" || next == "this" || next == "it") {
        return mistaken(sentence, hit.to);
    }
    if matches!(next, "anything" | "everything" | "all" | "before" | "after") {
        return Vec::new();
    }
    // `chuck Victoria in`.
    let (_, clause_end) = sentence.clause(hit.from);
    if (hit.to..clause_end)
        .any(|at| sentence.low(at) == "in" && (at + 1 == clause_end || sentence.words[at + 1].is(Class::Adverb)))
    {
        return Vec::new();
    }
    const NO_THING: [&str; 22] = [
        "idea", "matter", "need", "longer", "more", "problem", "other", "wait", "doubt", "one", "thanks", "rush",
        "point", "way", "hurry", "question", "thank", "sorry", "older", "newer", "else", "earlier",
    ];
    let single = !cue.contains(' ');
    if single && (NO_THING.contains(&next) || next.ends_with("ing") && cue != "hide" && cue != "drop") {
        return Vec::new();
    }
    if matches!(cue.as_str(), "no" | "nothing" | "nobody")
        && matches!(
            sentence.before(hit.from),
            "has" | "have" | "is" | "are" | "had" | "publishes" | "there" | "of" | "or"
        )
    {
        return Vec::new();
    }
    // `not the daily one, the monthly`: refused is a table or a kind, not a wording.
    if cue == "not the" {
        let (items, end) = list(sentence, hit.to, Reach::Thing);
        let kind = sentence.words.get(end).is_some_and(|word| matches!(word.low.as_str(), "one" | "ones"))
            || items.last().is_some_and(|item| sentence.words[item.to - 1].is(Class::Data));
        let column = items.iter().any(|item| columns.iter().any(|column| same_thing(column, &item.text(sentence))));
        let refused = hit.from == 0 && sentence.is_edge(end) && !sentence.has(&["but"]);
        return if kind || column || refused { items.into_iter().map(Thing::Here).collect() } else { Vec::new() };
    }
    if matches!(cue.as_str(), "nobody" | "no one" | "nothing") {
        let verb = sentence
            .words
            .get(hit.to)
            .is_some_and(|word| word.is(Class::Verb) && !word.low.ends_with("ed") || word.is(Class::Auxiliary));
        if verb || next == "but" {
            return Vec::new();
        }
        let (_, end) = sentence.clause(hit.from);
        let from = hit.to + usize::from(matches!(next, "from" | "about" | "by" | "of" | "in"));
        let to = end.min(from + 5);
        let rest = Phrase { from, to };
        return if to > from { vec![Thing::Here(rest)] } else { Vec::new() };
    }
    // `strip`, `cut`, `lose` as nouns, `never mind`: the cue must begin something, not end it.
    let verb = sentence.words[hit.from].is(Class::Verb)
        || matches!(cue.as_str(), "hide" | "strip" | "lose" | "ditch" | "discard");
    if verb
        && single
        && (matches!(sentence.before(hit.from), "is" | "are" | "was" | "were" | "be" | "been" | "the" | "a")
            || cue.ends_with("ed"))
    {
        return Vec::new();
    }
    let (items, _) = list(sentence, hit.to, Reach::Qualified);
    // `founding date I can look up myself, drop`.
    if items.is_empty() && verb && single && sentence.is_edge(hit.to) && hit.from > 1 && sentence.is_edge(hit.from - 1)
    {
        return topic_of(sentence, hit.from - 1).into_iter().map(Thing::Here).collect();
    }
    items.into_iter().map(Thing::Here).collect()
}

/// `No, that's the asking-price index.`
fn mistaken(sentence: &Sentence, at: usize) -> Vec<Thing> {
    let at = at + usize::from(sentence.low(at) == ",");
    let pointed = ["that is the", "this is the", "these are the", "those are the", "that was the", "it is the"];
    let Some(words) = pointed.iter().find(|words| sentence.stands(at, words)) else { return Vec::new() };
    let (items, _) = list(sentence, at + words.split(' ').count(), Reach::Thing);
    items.into_iter().take(1).map(Thing::Here).collect()
}

/// What stands before a cue, or what was spoken of before where a pronoun stands there.
fn subjects(sentence: &Sentence, previous: Option<&Sentence>, hit: &Hit) -> Vec<Thing> {
    let cue = sentence.text(hit.from, hit.to).to_lowercase();
    let next = sentence.low(hit.to);
    if next == ":" {
        return list(sentence, hit.to + 1, Reach::Qualified).0.into_iter().map(Thing::Here).collect();
    }
    let ends = sentence.is_edge(hit.to)
        || sentence.words[hit.to].is(Class::Talk)
        || sentence.words[hit.to].is(Class::Adverb)
        || sentence.words[hit.to].is(Class::Conjunction)
        || next == "for"
        || next == "any"
        || next == "from"
        || next == "of" && (cue.ends_with("use") || cue == "out")
        || next == "to" && cue.contains("want");
    if !ends {
        return Vec::new();
    }
    let apart = matches!(sentence.low(hit.to + 1), "it" | "this" | "that" | "there" | "here" | "them");
    if next == "of" && !apart {
        return Vec::new();
    }
    const WITH_OUT: [&str; 16] = [
        "find", "found", "turn", "turns", "turned", "work", "carry", "carried", "point", "figure", "sold", "stand",
        "stands", "check", "try", "spread",
    ];
    if cue == "off"
        && matches!(sentence.before(hit.from), "is" | "are" | "was" | "were" | "looks" | "look" | "seems" | "bit")
    {
        return Vec::new();
    }
    if matches!(cue.as_str(), "out" | "off" | "aside")
        && (WITH_OUT.contains(&sentence.before(hit.from)) || sentence.before(hit.from) == "in")
    {
        return Vec::new();
    }
    if sentence.before(hit.from) == "not"
        || (matches!(cue.as_str(), "removed" | "dropped" | "excluded" | "hidden")
            && sentence.before(hit.from) == "were"
            && hit.from > 1
            && sentence.low(hit.from - 2) == "they")
    {
        return Vec::new();
    }
    let single = matches!(sentence.low(hit.from), "is" | "does");
    subject(sentence, previous, hit.from, single)
}

/// What is said to be out by what begins at `end`. `single`: whether that speaks of one thing.
fn subject(sentence: &Sentence, previous: Option<&Sentence>, end: usize, single: bool) -> Vec<Thing> {
    let mut end = end;
    // `with X removed`, `want X gone`, `X be hidden`: verbs that only carry the cue.
    while end > 0
        && (sentence.words[end - 1].is(Class::Auxiliary) || sentence.words[end - 1].is(Class::Adverb))
        && sentence.low(end - 1) != "not"
    {
        end -= 1;
    }
    let named = end > 1 && sentence.words[end - 2].is_content();
    let pronoun = end > 0
        && !(named && matches!(sentence.low(end - 1), "one" | "ones"))
        && matches!(
            sentence.low(end - 1),
            "it" | "them" | "they" | "those" | "these" | "that" | "this" | "one" | "ones" | "all" | "em"
        );
    let bare = end == 0 || (sentence.is_edge(end - 1)) || matches!(sentence.low(end - 1), "so" | "and" | "but");
    if !pronoun && !bare {
        let items: Vec<Phrase> = list_before(sentence, end, Reach::Qualified);
        // `A, and B is not needed`: one verb of one thing.
        let single = single && (!sentence.has(&["and", "or"]) || items.len() > 1 && sentence.low(end) == "is");
        let items = if single { items.into_iter().rev().take(1).collect() } else { items };
        let near = |item: &Phrase| item.names(sentence) || !period::years_in(sentence, item.from, item.to).is_empty();
        return items.into_iter().filter(near).map(Thing::Here).collect();
    }
    spoken_of(sentence, previous, end.saturating_sub(usize::from(pronoun)))
}

/// Whether the cue is a verb whose object is a pronoun: `drop it`.
fn pronoun_object(sentence: &Sentence, hit: &Hit) -> bool {
    let end = hit.to + 1;
    let ends = sentence.is_edge(end) || sentence.words[end].is(Class::Adverb) || sentence.words[end].is(Class::Talk);
    let first = &sentence.words[hit.from];
    let verb = first.is(Class::Verb)
        || hit.to > hit.from + 1
        || !first.is(Class::Preposition) && !first.is(Class::Conjunction);
    verb && ends && matches!(sentence.low(hit.to), "it" | "them" | "those" | "these" | "that" | "this" | "both")
}

/// What a pronoun at `end` stands for: what was spoken of before it in the sentence, else in the one before.
fn spoken_of(sentence: &Sentence, previous: Option<&Sentence>, end: usize) -> Vec<Thing> {
    let here = topic_of(sentence, end);
    let (of, found) = match previous {
        _ if !here.is_empty() => (sentence, here),
        Some(previous) => (previous, topic_of(previous, previous.words.len())),
        None => return Vec::new(),
    };
    let years = |phrase: Phrase| period::years_in(of, phrase.from, phrase.to);
    found.into_iter().take(1).map(|phrase| Thing::Elsewhere(phrase.text(of), years(phrase))).collect()
}

/// What the words before `end` speak of: the subject of the first clause.
fn topic_of(sentence: &Sentence, end: usize) -> Vec<Phrase> {
    let mut at = 0;
    // A long way off, nothing is meant.
    while at < end.min(MOST) && sentence.words.get(at).is_some_and(|word| !word.is_content() && !nominal(sentence, at))
    {
        at += 1;
    }
    if at >= end.min(MOST) {
        return Vec::new();
    }
    let verb_follows = |phrase: &Phrase| {
        phrase.to <= end && phrase.names(sentence) || !period::years_in(sentence, phrase.from, phrase.to).is_empty()
    };
    list(sentence, at, Reach::Thing).0.into_iter().take(1).filter(verb_follows).collect()
}

/// Takes a thing out of what is in force, or notes that it is unwanted.
fn take_out(sentence: &mut Sentence, thing: &Thing, state: &mut State) {
    let (text, years) = match thing {
        Thing::Here(phrase) => {
            let years = period::years_in(sentence, phrase.from, phrase.to);
            (kind_of_topic(sentence, *phrase, state.topic.as_deref()), years)
        }
        Thing::Elsewhere(text, years) => (text.clone(), years.clone()),
    };
    if let Thing::Here(phrase) = thing {
        if !sentence.is_free(phrase.from, phrase.to) {
            return;
        }
        sentence.claim(phrase.from, phrase.to, Claim::Excluded);
    }
    let text = text.trim_matches(['\'', '"', ' ']).to_string();
    if !years.is_empty() && text.split_whitespace().count() <= 2 * years.len() {
        if !period::take_out(&years, &mut state.period) {
            for year in years {
                state.exclude(year.to_string());
            }
        }
        return;
    }
    if state.refused.len() < MOST {
        state.refused.push(text.clone());
    }
    let words = stems(&text);
    let pandemic = words
        .iter()
        .any(|word| matches!(word.as_str(), "corona" | "covid" | "pandemic" | "lockdown" | "coronavirus" | "covid-19"));
    if pandemic && words.iter().any(|word| matches!(word.as_str(), "year" | "season")) {
        // The years that are meant by it everywhere.
        for year in ["2020", "2021"] {
            state.exclude(year.to_string());
        }
        return;
    }
    if words.is_empty() || place::take_out(&text, &mut state.places) || period_word(&words) {
        return;
    }
    if words.iter().all(|word| matches!(word.as_str(), "rest" | "other" | "country"))
        || words.first().is_some_and(|word| word == "rest")
    {
        return;
    }
    // `forget Boston, take Chicago`: the place in force is replaced.
    if state.places.len() == 1 && place::known(&text).is_some() && same_thing(&state.places[0], &text) {
        return;
    }
    let elsewhere = matches!(thing, Thing::Elsewhere(..));
    if elsewhere && state.excluded.iter().any(|known| same_thing(known, &text)) {
        return;
    }
    // `the cholera bit`, `the approver column`.
    let words: Vec<String> = match words.split_last() {
        Some((last, rest))
            if !rest.is_empty()
                && matches!(last.as_str(), "bit" | "part" | "thing" | "stuff" | "field" | "variable") =>
        {
            rest.to_vec()
        }
        _ => words,
    };
    let said = words.join(" ");
    let columns = state.columns.len();
    state.columns.retain(|column| {
        !(same_thing(column, &said) || elsewhere && stems(column).iter().any(|stem| words.contains(stem)))
    });
    // `the police department` is not the column `department`.
    state.columns.retain(|column| !same_thing(column, &text) || stems(column).len() < words.len());
    let rows = words.len() == 1 && state.grain.iter().any(|part| stems(part).contains(&words[0]));
    if state.columns.len() == columns && !rows && state.excluded.len() < MOST {
        state.exclude(text);
    }
}

/// The text of a phrase; with the noun of the topic after it in the place of `ones`: `airport ones` of noise complaints.
fn kind_of_topic(sentence: &Sentence, phrase: Phrase, topic: Option<&str>) -> String {
    let text = phrase.text(sentence);
    let near = (phrase.to..phrase.to + 4).find(|at| matches!(sentence.low(*at), "ones" | "one"));
    let bare = near.is_some_and(|at| {
        (phrase.to..at).all(|at| matches!(sentence.low(at), "and" | "or" | ",") || sentence.words[at].is_content())
    });
    let head = topic.and_then(|topic| {
        let head = [" of ", " in ", " on ", " for ", " by ", " with ", " at ", " about ", " against "]
            .iter()
            .fold(topic, |head, word| head.split(word).next().unwrap_or(head));
        head.split_whitespace().last()
    });
    match head.filter(|_| bare && sentence.low(near.unwrap_or_default()) == "ones") {
        Some(head) => format!("{text} {head}"),
        None => text,
    }
}

/// Words of time alone are not left out: `no more than a day`.
fn period_word(words: &[String]) -> bool {
    words.iter().all(|word| super::lexicon::is(word, Class::Adverb))
}
