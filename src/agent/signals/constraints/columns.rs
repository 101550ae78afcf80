//! Columns that the answer must have: `with columns A and B`, `that have A`, `put A on it`, `A and B as two extra columns`,
//! `features: A, B`, `every patient should get A`.

use super::Grounding;
use super::lexicon::{Class, Cue, Hit};
use super::period;
use super::phrase::{Phrase, Reach, list, list_before, phrase};
use super::place;
use super::revision::State;
use super::words::{Claim, Sentence, same_thing};

/// Columns that are kept.
const MOST: usize = 60;

/// How sure a cue is that columns follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sureness {
    /// They do.
    Sure,
    /// If it is also said where they go: `put A on it`.
    Placed,
    /// Unless rows are meant: `add A`.
    Added,
    /// If it looks like a list of columns: `with the auditor, the amount and the year`.
    Listed,
}

fn sureness(cue: &str) -> Sureness {
    const PLACED: [&str; 24] = [
        "put",
        "merge",
        "join",
        "match",
        "bring",
        "bring in",
        "show the",
        "show me the",
        "give me",
        "look up",
        "fetch",
        "hang",
        "link in",
        "merge in",
        "pull in",
        "get the",
        "join on",
        "i also need",
        "i also want",
        "we also need",
        "we also want",
        "need",
        "want",
        "connect it with",
    ];
    const ADDED: [&str; 14] = [
        "add",
        "adding",
        "plus",
        "along with",
        "together with",
        "including",
        "with its",
        "with their",
        "show also",
        "also show",
        "carry",
        "needs",
        "could use",
        "extended by",
    ];
    const LISTED: [&str; 12] = [
        "with",
        "with the",
        "with a",
        "columns",
        "fields",
        "variables",
        "attributes",
        "features",
        "inputs",
        "predictors",
        "should have",
        "have to have",
    ];
    match cue {
        cue if PLACED.contains(&cue) => Sureness::Placed,
        cue if ADDED.contains(&cue) => Sureness::Added,
        cue if LISTED.contains(&cue) => Sureness::Listed,
        _ => Sureness::Sure,
    }
}

/// Whether the sentence speaks of rows that are put to others.
fn adds_rows(sentence: &Sentence) -> bool {
    const ROWS: [&str; 14] = [
        "append",
        "appended",
        "stack",
        "stacked",
        "underneath",
        "beneath",
        "below",
        "under",
        "rows",
        "more rows",
        "one file",
        "union",
        "pool",
        "training rows",
    ];
    sentence.has(&ROWS)
}

/// Reads the columns that `sentence` asks for.
pub fn read(sentence: &mut Sentence, hits: &[Hit], first_turn: bool, lake: &dyn Grounding, state: &mut State) {
    if exchange(sentence, state) {
        return;
    }
    let mut any = false;
    for hit in hits {
        let found = match hit.cue {
            Cue::Column => after(sentence, hits, hit),
            Cue::Columned => before(sentence, hit),
            _ => continue,
        };
        any |= take(sentence, &found, lake, state);
    }
    if !any && !first_turn {
        let found = fragment(sentence);
        take(sentence, &found, lake, state);
    }
}

/// Adds the columns; whether there were any.
fn take(sentence: &mut Sentence, found: &[Phrase], lake: &dyn Grounding, state: &mut State) -> bool {
    let mut any = false;
    for item in found {
        if !sentence.is_free(item.from, item.to) || !is_column(sentence, *item) || state.columns.len() >= MOST {
            continue;
        }
        let text = item.text(sentence);
        let text = text.trim_matches(['\'', '"', ' ', '-', '/']).to_string();
        let name = lake.column(&text).unwrap_or(text);
        sentence.claim(item.from, item.to, Claim::Column);
        any = true;
        if !state.columns.iter().any(|column| same_thing(column, &name)) {
            state.columns.push(name);
        }
    }
    any
}

fn is_column(sentence: &Sentence, item: Phrase) -> bool {
    let text = item.text(sentence);
    let number =
        sentence.words[item.from..item.to].iter().all(|word| word.low.starts_with(|c: char| c.is_ascii_digit()));
    let pronoun = sentence.words[item.to - 1].is(Class::Pronoun);
    item.names(sentence)
        && !number
        && !pronoun
        && place::known(&text).is_none()
        && period::years_in(sentence, item.from, item.to).is_empty()
}

/// What stands after a cue.
fn after(sentence: &Sentence, hits: &[Hit], hit: &Hit) -> Vec<Phrase> {
    let cue = sentence.text(hit.from, hit.to).to_lowercase();
    let mut at = hit.to;
    while matches!(sentence.low(at), ":" | "(" | "=") {
        at += 1;
    }
    let colon = at > hit.to;
    let (items, end) = list(sentence, at, Reach::Thing);
    let placed = || {
        let (_, clause_end) = sentence.clause(hit.from);
        hits.iter()
            .any(|other| other.cue == Cue::Columned && other.from >= end && other.from <= clause_end.max(end) + 12)
    };
    let negated = matches!(sentence.before(hit.from), "not" | "no" | "same" | "equal" | "these" | "without" | "to" if cue != "add" || sentence.before(hit.from) == "not")
        && !(sentence.before(hit.from) == "to" && !matches!(cue.as_str(), "with" | "need" | "want"));
    let fits = match sureness(&cue) {
        _ if negated => false,
        Sureness::Sure => true,
        Sureness::Placed => placed() && !adds_rows(sentence),
        Sureness::Added => !adds_rows(sentence),
        Sureness::Listed if cue.starts_with("with") => {
            let several = items.len() > 1;
            let named = items.first().is_some_and(|item| item.from > at);
            let closed = sentence.is_edge(end) || sentence.low(end) == "please";
            closed && (several || named) && !adds_rows(sentence)
        }
        Sureness::Listed => colon || items.len() > 1,
    };
    if fits { items } else { Vec::new() }
}

/// What stands before a cue.
fn before(sentence: &Sentence, hit: &Hit) -> Vec<Phrase> {
    let cue = sentence.text(hit.from, hit.to).to_lowercase();
    if adds_rows(sentence) && !cue.starts_with("as ") {
        return Vec::new();
    }
    let said_verb = |word: &str| matches!(word, "be" | "get" | "gets" | "being" | "been");
    if matches!(cue.as_str(), "added" | "attached" | "included" | "joined")
        && !said_verb(sentence.before(hit.from))
        && !sentence.is_edge(hit.to)
    {
        return Vec::new();
    }
    if matches!(
        cue.as_str(),
        "to the"
            | "on the"
            | "for each"
            | "to my"
            | "to our"
            | "in it"
            | "in there"
            | "onto the"
            | "to those"
            | "to these"
            | "to that"
            | "beside"
            | "alongside"
    ) && !near_verb(sentence, hit.from)
    {
        return Vec::new();
    }
    let mut end = hit.from;
    while end > 0
        && (sentence.words[end - 1].is(Class::Auxiliary)
            || sentence.words[end - 1].is(Class::Adverb)
            || matches!(
                sentence.low(end - 1),
                "go" | "put"
                    | "stand"
                    | "come"
                    | "get"
                    | "added"
                    | "attached"
                    | "joined"
                    | "brought"
                    | "placed"
                    | "hung"
                    | "together"
                    | "shown"
                    | "directly"
            ))
    {
        end -= 1;
    }
    let items = list_before(sentence, end, Reach::Thing);
    let loose = matches!(cue.as_str(), "suffice" | "suffices" | "are enough" | "is enough" | "will do" | "would do");
    if loose && items.len() < 2 { Vec::new() } else { items }
}

/// Whether a verb of adding stands in the sentence before `at`.
fn near_verb(sentence: &Sentence, at: usize) -> bool {
    const ADDING: [&str; 22] = [
        "put", "add", "added", "attach", "attached", "bring", "join", "joined", "go", "hang", "tack", "link", "pull",
        "stick", "place", "merge", "get", "stand", "brought", "come", "set", "match",
    ];
    (at.saturating_sub(24)..at).any(|place| ADDING.contains(&sentence.low(place)))
}

/// A later turn of a few words: `lighting too`, `and the port`.
fn fragment(sentence: &Sentence) -> Vec<Phrase> {
    const FEW: usize = 6;
    let (_, end) = sentence.clause(0);
    let begins = sentence.low(0) == "and" || sentence.low(0) == "also";
    let closes = matches!(sentence.low(end.saturating_sub(1)), "too" | "also")
        || (end >= 2 && sentence.stands(end - 2, "as well"));
    let verbs = sentence.words[..end]
        .iter()
        .any(|word| word.is(Class::Auxiliary) || word.is(Class::Verb) && !word.is(Class::Adverb));
    if !(begins || closes)
        || end > FEW
        || verbs
        || adds_rows(sentence)
        || sentence.words.iter().any(|word| word.claim.is_some())
    {
        return Vec::new();
    }
    let from = usize::from(begins);
    let (items, _) = list(sentence, from, Reach::Thing);
    items.into_iter().filter(|item| !sentence.words[item.from].is_capital() || item.from == 0).collect()
}

/// `intensive care beds, not all beds`: one column for another that was asked for before.
fn exchange(sentence: &mut Sentence, state: &mut State) -> bool {
    for at in 1..sentence.words.len() {
        let to = if sentence.low(at) == "not" {
            at + 1
        } else if sentence.stands(at, "rather than") || sentence.stands(at, "instead of") {
            at + 2
        } else {
            continue;
        };
        let Some(refused) = phrase(sentence, to, Reach::Thing) else { continue };
        let text = refused.text(sentence);
        let Some(place) = state.columns.iter().position(|column| same_thing(column, &text)) else { continue };
        let end = if sentence.is_edge(at - 1) { at - 1 } else { at };
        let Some(named) = list_before(sentence, end, Reach::Thing).last().copied() else { continue };
        if sentence.is_free(named.from, named.to) && is_column(sentence, named) {
            state.columns[place] = named.text(sentence);
            sentence.claim(named.from, refused.to, Claim::Column);
            return true;
        }
    }
    false
}
