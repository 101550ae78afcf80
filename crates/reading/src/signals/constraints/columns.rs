//! Columns that the answer must have: `with columns A and B`, `that have A`, `put A on it`, `A and B as two extra columns`,
//! `features: A, B`, `every patient should get A`.

mod figure;
mod wish;

use super::Grounding;
use super::lexicon::{Class, Cue, Hit, is};
use super::period;
use super::phrase::{Phrase, Reach, list, list_before, phrase};
use super::place;
use super::revision::State;
use super::words::{Claim, Sentence, same_thing, singular};
use wish::Subject;

/// Columns that are kept.
const MOST: usize = 60;

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

/// Reads the columns that `sentence` asks for. `later`: whether the turn follows one that said what the data are about.
pub fn read(sentence: &mut Sentence, hits: &[Hit], later: bool, lake: &dyn Grounding, state: &mut State) {
    if exchange(sentence, state) {
        return;
    }
    let mut any = false;
    for hit in hits {
        let found = match hit.cue {
            // `I want to see court cases` says what the data are about.
            Cue::Column if !later && sentence.low(hit.to - 1) == "see" => continue,
            Cue::Column | Cue::Placed | Cue::Added | Cue::Listed | Cue::With => after(sentence, hits, hit),
            Cue::Shown if later => shown(sentence, hit, state.topic.as_deref().unwrap_or_default()),
            Cue::Columned | Cue::Target | Cue::Sufficing => before(sentence, hit),
            _ => continue,
        };
        any |= take(sentence, &found, lake, state);
    }
    let (topic, grain) = (state.topic.clone().unwrap_or_default(), state.grain.join("-"));
    let subject = Subject { topic: &topic, grain: &grain };
    let found = figure::learned(sentence);
    any |= take(sentence, &found, lake, state);
    if !any {
        let found = enumerated(sentence);
        any |= take(sentence, &found, lake, state);
    }
    let refusing = hits.iter().any(|hit| matches!(hit.cue, Cue::Exclude | Cue::Unwanted))
        && sentence.words.iter().any(|word| word.claim == Some(Claim::Excluded));
    if !any && later && !refusing && !adds_rows(sentence) {
        let found = wish::wished(sentence, subject);
        any |= take(sentence, &found, lake, state);
    }
    if !any {
        let found = figure::computed(sentence, subject, later);
        any |= take(sentence, &found, lake, state);
    }
    if !any && later {
        let mut found = fragment(sentence, hits);
        found.retain(|item| wish::is_attribute(sentence, *item, subject));
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
        let named = wish::disowned(sentence, *item);
        let text = named.text(sentence);
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
    const NO_COLUMN: [&str; 10] = ["line", "row", "rest", "country", "one", "ones", "way", "case", "cases", "column"];
    let text = item.text(sentence);
    let words = &sentence.words[item.from..item.to];
    let number = words.iter().all(|word| word.low.starts_with(|c: char| c.is_ascii_digit()));
    let refused = words.last().is_some_and(|last| last.is(Class::Pronoun))
        || (words.len() == 1 && NO_COLUMN.contains(&words[0].low.as_str()));
    item.names(sentence)
        && !number
        && !refused
        && place::known(&text).is_none()
        && period::years_in(sentence, item.from, item.to).is_empty()
}

/// Whether the phrase ends with a word that headers end with.
fn is_header(sentence: &Sentence, item: Phrase) -> bool {
    let head = (item.from..item.to).find(|at| sentence.low(*at) == "of").unwrap_or(item.to);
    head > item.from && is(&singular(sentence.low(head - 1)), Class::Header)
}

/// What stands after a cue.
fn after(sentence: &Sentence, hits: &[Hit], hit: &Hit) -> Vec<Phrase> {
    let cue = sentence.low(hit.from);
    let mut at = hit.to;
    while matches!(sentence.low(at), ":" | "(" | "=") {
        at += 1;
    }
    let colon = at > hit.to;
    let (items, end) = list(sentence, at, Reach::Thing);
    let placed = || {
        let (_, clause_end) = sentence.clause(hit.from);
        let goal = |other: &Hit| matches!(other.cue, Cue::Columned | Cue::Target);
        hits.iter().any(|other| goal(other) && other.from >= end && other.from <= clause_end.max(end) + 12)
    };
    let before = sentence.before(hit.from);
    let negated = match before {
        "not" | "no" | "same" | "equal" | "these" | "without" => true,
        "to" => matches!(cue, "with" | "need" | "want"),
        _ => false,
    };
    let fits = match hit.cue {
        _ if negated => false,
        Cue::Placed => placed() && !adds_rows(sentence),
        Cue::Added => !adds_rows(sentence),
        Cue::With => {
            let each = matches!(sentence.low(at), "each" | "every" | "all" | "no");
            let definite = items.first().is_some_and(|item| item.from > at) && sentence.low(hit.to - 1) != "a";
            let headers = items.iter().any(|item| is_header(sentence, *item));
            let next = sentence.words.get(end);
            let closed = sentence.is_edge(end)
                || next.is_some_and(|next| next.is(Class::Pronoun) || next.low == "please")
                || next.is_some_and(|next| items.len() > 1 && next.is(Class::Preposition));
            closed && !each && (items.len() > 1 || definite || headers) && !adds_rows(sentence)
        }
        Cue::Listed => colon || items.len() > 1,
        _ => true,
    };
    if fits { items } else { Vec::new() }
}

/// `show the tickers`: a thing by itself that is not what the data are about.
fn shown(sentence: &Sentence, hit: &Hit, topic: &str) -> Vec<Phrase> {
    let (items, end) = list(sentence, hit.to, Reach::Thing);
    let adverb = sentence.words.get(end).is_some_and(|word| word.is(Class::Adverb) || word.low == "too");
    let alone = sentence.is_edge(end) || adverb && sentence.is_edge(end + 1);
    let subject = |item: &Phrase| {
        let head = singular(sentence.low(item.to - 1));
        same_thing(&item.text(sentence), topic) || is(&head, Class::Data) || items.len() == 1 && is(&head, Class::Event)
    };
    if alone && !items.iter().any(subject) { items } else { Vec::new() }
}

/// What stands before a cue.
fn before(sentence: &Sentence, hit: &Hit) -> Vec<Phrase> {
    let as_columns = sentence.low(hit.from) == "as";
    let negated = sentence.before(hit.from) == "not" || sentence.has(&["not needed", "no longer"]);
    if (adds_rows(sentence) && !as_columns) || negated || (hit.cue == Cue::Target && !near_verb(sentence, hit.from)) {
        return Vec::new();
    }
    const CARRIERS: [&str; 14] = [
        "go", "put", "stand", "come", "get", "added", "attached", "joined", "brought", "placed", "hung", "together",
        "shown", "be",
    ];
    let carries = |at: usize| {
        let word = &sentence.words[at];
        word.is(Class::Auxiliary) || word.is(Class::Adverb) || CARRIERS.contains(&word.low.as_str())
    };
    let mut end = hit.from;
    while end > 0 && carries(end - 1) {
        end -= 1;
    }
    // `Exchange rate of the yen, could this be put next to it?`
    let pronoun =
        end > 1 && matches!(sentence.low(end - 1), "this" | "it" | "these" | "they" | "that" | "those" | "both");
    let items = if pronoun {
        let start = (0..end).find(|at| sentence.words[*at].is_content() || sentence.words[*at].is(Class::Determiner));
        list(sentence, start.unwrap_or(end), Reach::Thing).0
    } else {
        list_before(sentence, end, Reach::Thing)
    };
    if hit.cue == Cue::Sufficing && items.len() < 2 { Vec::new() } else { items }
}

/// Whether a verb of adding stands in the sentence before `at`.
fn near_verb(sentence: &Sentence, at: usize) -> bool {
    const ADDING: [&str; 23] = [
        "put", "add", "added", "attach", "attached", "bring", "join", "joined", "go", "hang", "tack", "link", "pull",
        "stick", "place", "merge", "get", "stand", "set", "match", "hook", "tie", "bolt",
    ];
    (at.saturating_sub(24)..at).any(|place| ADDING.contains(&sentence.low(place)))
}

/// `employees: name, department and pay`: a list after a colon, mostly of words that headers end with.
fn enumerated(sentence: &Sentence) -> Vec<Phrase> {
    let Some(colon) = (1..sentence.words.len()).find(|at| sentence.low(*at) == ":") else { return Vec::new() };
    let (items, _) = list(sentence, colon + 1, Reach::Thing);
    let headers = items.iter().filter(|item| is_header(sentence, **item)).count();
    if items.len() > 1 && 2 * headers >= items.len() && !adds_rows(sentence) { items } else { Vec::new() }
}

/// A later turn that only names things: `lighting too`, `and the port`, `bedrock type for every point`, `speaker gender and
/// age from the speaker sheet`.
fn fragment(sentence: &Sentence, hits: &[Hit]) -> Vec<Phrase> {
    const FEW: usize = 6;
    let mut from = 0;
    while sentence.words.get(from).is_some_and(|word| {
        word.is(Class::Talk) || matches!(word.low.as_str(), "and" | "also" | "&" | "," | "then" | ":" | "plus")
    }) {
        from += 1;
    }
    let begins = from > 0 && (0..from).any(|at| matches!(sentence.low(at), "and" | "also" | "&" | "plus"));
    let (items, end) = list(sentence, from, Reach::Thing);
    let (_, clause_end) = sentence.clause(from.min(sentence.words.len().saturating_sub(1)));
    let closes = matches!(sentence.low(clause_end.saturating_sub(1)), "too" | "also")
        || sentence.stands(clause_end.saturating_sub(2), "as well");
    let verb = |word: &super::words::Word| {
        (word.is(Class::Auxiliary) || word.is(Class::Verb) || word.is(Class::Pronoun)) && !word.is(Class::Adverb)
    };
    let until = clause_end.max(end);
    let verbs = sentence.words[from.min(until)..until].iter().any(verb);
    let summed = sentence.words[from.min(end)..end]
        .iter()
        .any(|word| word.is(Class::Measure) && !matches!(word.low.as_str(), "number" | "share" | "rate"));
    let grouped = sentence.has(&["per", "by"]) && !begins;
    let claimed = !sentence.is_free(from.min(until), until);
    let source = (end..clause_end).any(|at| matches!(sentence.low(at), "from" | "alongside" | "beside"));
    let target = sentence.stands(end, "for every")
        || sentence.stands(end, "for each")
        || sentence.stands(end, "of that")
        || sentence.stands(end, "of the same")
        || sentence.stands(end, "at the time");
    let short = (begins || closes || sentence.asks) && clause_end <= from + FEW;
    let plain = |item: &Phrase| !is(&singular(sentence.low(item.to - 1)), Class::Event);
    let several = items.len() > 1 && items.iter().any(|item| is_header(sentence, *item) || plain(item));
    let refused =
        hits.iter().any(|hit| matches!(hit.cue, Cue::Exclude | Cue::Unwanted | Cue::Return) && hit.from < end + 3);
    let names = items.first().is_some_and(|item| sentence.words[item.from].is_capital() && item.from > 0);
    let fits =
        (source || target || short || several) && !verbs && !summed && !grouped && !claimed && !refused && !names;
    let rows = |item: &Phrase| sentence.asks && is(&singular(sentence.low(item.to - 1)), Class::Event);
    if fits && !adds_rows(sentence) && !items.iter().any(rows) { items } else { Vec::new() }
}

/// `intensive care beds, not all beds`: one column for another that was asked for before.
fn exchange(sentence: &mut Sentence, state: &mut State) -> bool {
    for at in 1..sentence.words.len() {
        let to = if sentence.low(at) == "not" {
            at + 1
        } else if sentence.stands(at, "rather than") || sentence.stands(at, "instead of") {
            at + 2
        } else if sentence.stands(at, "in place of") {
            at + 3
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
