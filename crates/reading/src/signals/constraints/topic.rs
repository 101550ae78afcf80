//! What the data are about: the first noun phrase of a request that no other constraint has taken; later turns replace it
//! when the first was vague, or when they correct a word of it.

use super::lexicon::{Class, is};
use super::phrase::{Phrase, Reach, list, list_before, phrase};
use super::words::{Claim, Sentence, Word, singular, stems};

/// Words of a topic.
const MOST_WORDS: usize = 8;
/// Sentences of a turn in which it is looked for.
const MOST_SENTENCES: usize = 3;

/// The topic that a turn names first.
pub fn named(sentences: &[Sentence]) -> Option<String> {
    // What rows stand for may be all that was named: `individual flight delays`.
    let asked = || {
        sentences.iter().take(MOST_SENTENCES).find_map(|sentence| phrase_from(sentence, announced(sentence)?, false))
    };
    let first = |rows: bool| sentences.iter().take(MOST_SENTENCES).find_map(|sentence| phrase_from(sentence, 0, rows));
    asked().or_else(|| first(false)).or_else(|| first(true))
}

/// Whether the word can be part of a topic; `rows`: also if it tells what rows stand for.
fn open(word: &Word, rows: bool) -> bool {
    (word.claim.is_none() || rows && word.claim == Some(Claim::Grain)) && word.is_content() && word.low != "×"
}

/// Where what is asked for begins: after `looking for`, `something on`, `I need`.
fn announced(sentence: &Sentence) -> Option<usize> {
    const BEFORE_ON: [&str; 14] = [
        "anything",
        "something",
        "somthing",
        "everything",
        "information",
        "info",
        "material",
        "stuff",
        "much",
        "what",
        "works",
        "hold",
        "research",
        "study",
    ];
    (0..sentence.words.len()).find_map(|at| {
        let before = at.checked_sub(1).and_then(|before| sentence.words.get(before));
        let data = before.is_some_and(|before| before.is(Class::Data) || BEFORE_ON.contains(&before.low.as_str()));
        let speaker = before.is_some_and(|before| {
            matches!(before.low.as_str(), "i" | "we" | "you" | "to" | "please" | "also" | "would")
        });
        let begins = before.is_none_or(|before| before.sign || before.is(Class::Talk));
        match sentence.low(at) {
            "about" | "regarding" | "concerning" => Some(at + 1),
            "on" | "of" if data => Some(at + 1),
            "for"
                if before.is_some_and(|before| {
                    matches!(
                        before.low.as_str(),
                        "looking"
                            | "look"
                            | "search"
                            | "searching"
                            | "hunting"
                            | "hunt"
                            | "ask"
                            | "asking"
                            | "asks"
                            | "asked"
                    )
                }) =>
            {
                Some(at + 1)
            }
            "study" | "analyse" | "analyze" | "compare" | "examine" | "model" | "forecast" | "predict" | "map"
            | "explore" | "understand"
                if matches!(sentence.before(at), "to" | "studying") =>
            {
                Some(at + 1)
            }
            "after" if matches!(sentence.before(at), "am" | "are") => Some(at + 1),
            "need" | "want" | "require" | "find" | "locate" | "see" | "show" | "pull" | "get" | "give" | "have"
            | "fetch" | "seek" | "like"
                if speaker || begins =>
            {
                // `I need to know about X`: what is wanted stands further on.
                let next = sentence.low(at + 1);
                (!matches!(next, "to" | "something" | "anything" | "us" | "data" | "information" | "info" | "one"))
                    .then_some(at + 1)
            }
            _ => None,
        }
    })
}

/// The first noun phrase from `from` on that says more than `data`.
fn phrase_from(sentence: &Sentence, from: usize, rows: bool) -> Option<String> {
    let mut at = from;
    while at < sentence.words.len() {
        // `we are building a model`.
        let verb = sentence.low(at).ends_with("ing") && matches!(sentence.before(at), "am" | "are" | "is" | "be");
        if verb || !open(&sentence.words[at], rows) {
            at += 1;
            continue;
        }
        let mut to = at + 1;
        while to < sentence.words.len() && to - at < MOST_WORDS * 2 {
            let word = &sentence.words[to];
            let binds = matches!(word.low.as_str(), "of" | "on" | "per" | "above" | "below" | "under" | "over" | "'s");
            let mut next = to + 1;
            while sentence.words.get(next).is_some_and(|word| word.is(Class::Determiner)) {
                next += 1;
            }
            // `football matches`: a verb elsewhere; `tickets issued`: what was done to them.
            let noun = word.claim.is_none()
                && word.is(Class::Verb)
                && is(&singular(&word.low), Class::Event)
                && singular(&word.low) != word.low;
            let done = word.low.ends_with("ed") && singular(sentence.low(to - 1)) != sentence.low(to - 1);
            if (open(word, rows) || noun) && !done {
                to += 1;
            } else if binds && word.claim.is_none() && sentence.words.get(next).is_some_and(|word| open(word, rows)) {
                to = next + 1;
            } else {
                break;
            }
        }
        let words = &sentence.words[at..to];
        if let Some(text) = told(sentence, at, words, rows) {
            return Some(text);
        }
        at = to;
    }
    None
}

/// The phrase without words for any data at its ends; nothing if nothing is left.
fn told(sentence: &Sentence, at: usize, words: &[Word], rows: bool) -> Option<String> {
    let idle = |word: &Word| word.is(Class::Data) || word.is(Class::Measure) || !open(word, rows);
    let from = words.iter().position(|word| !idle(word))?;
    const PURPOSES: [&str; 8] = ["model", "map", "thesis", "deck", "slides", "audit", "project", "presentation"];
    if words.last().is_some_and(|last| PURPOSES.contains(&last.low.as_str())) && !rows {
        return None;
    }
    let to = words.iter().rposition(|word| (open(word, rows) || word.is(Class::Verb)) && !word.is(Class::Data))? + 1;
    let plain = words[from..to].iter().all(|word| word.low.starts_with(|c: char| c.is_ascii_digit()));
    let keep = (to > from && !plain).then(|| sentence.text(at + from, (at + to).min(at + from + MOST_WORDS)))?;
    Some(keep)
}

/// The topic after a later turn. `vague`: whether nothing else was in force yet.
pub fn revised(sentences: &[Sentence], before: &str, vague: bool) -> Option<String> {
    if let Some(corrected) = sentences.iter().find_map(|sentence| corrected(sentence, before)) {
        return Some(corrected);
    }
    if let Some(kind) = sentences.iter().find_map(|sentence| kind_of(sentence, before)) {
        return Some(kind);
    }
    if !vague {
        return sentences.iter().find_map(|sentence| {
            let taken = sentence.words.iter().any(|word| word.claim == Some(Claim::Excluded));
            (!taken)
                .then(|| {
                    replaced(sentence).or_else(|| narrowed(sentence, before)).or_else(|| widened(sentence, before))
                })
                .flatten()
                .or_else(|| narrowed(sentence, before))
        });
    }
    let new = named(sentences)?;
    let (old, said) = (stems(before), stems(&new));
    if old.iter().all(|word| said.contains(word)) {
        return Some(new);
    }
    // `maize`, then `yields`: maize yields.
    let short = old.len() == 1 && said.len() <= 2;
    Some(if short { format!("{} {}", before, new.to_lowercase()) } else { new })
}

/// `35, not 30`; `not fatal, injured`: a word of the topic for another.
fn corrected(sentence: &Sentence, before: &str) -> Option<String> {
    let has = |word: &Word| {
        open_word(word) && before.split_whitespace().any(|part| singular(&part.to_lowercase()) == singular(&word.low))
    };
    (0..sentence.words.len()).find_map(|at| {
        let after = match sentence.low(at) {
            "not" => at + 1,
            "rather" if sentence.low(at + 1) == "than" => at + 2,
            "instead" if sentence.low(at + 1) == "of" => at + 2,
            _ => return None,
        };
        let old = sentence.words.get(after).filter(|word| has(word))?;
        let new = sentence.words[..at]
            .iter()
            .rev()
            .find(|word| !word.sign)
            .or_else(|| sentence.words.get(after + 1..)?.iter().find(|word| !word.sign))
            .filter(|word| open_word(word) && word.low != old.low)?;
        let words = before
            .split_whitespace()
            .map(|part| if singular(&part.to_lowercase()) == singular(&old.low) { new.text.as_str() } else { part });
        Some(words.collect::<Vec<_>>().join(" "))
    })
}

fn open_word(word: &Word) -> bool {
    !word.sign && (word.is_content() || word.low.starts_with(|c: char| c.is_ascii_digit()))
}

/// `fatal ones per county`: a kind of what the topic names.
fn kind_of(sentence: &Sentence, before: &str) -> Option<String> {
    let head = before.split_whitespace().last()?;
    let at = (1..sentence.words.len()).find(|at| sentence.low(*at) == "ones")?;
    let kind = &sentence.words[at - 1];
    let counted = singular(&head.to_lowercase()) != head.to_lowercase();
    let narrows = at == 1 || !sentence.words[..at - 1].iter().any(|word| word.is(Class::Verb) || word.claim.is_some());
    (counted
        && narrows
        && !sentence.words.iter().any(|word| word.claim == Some(Claim::Excluded))
        && sentence.low(at + 1) != "as"
        && open(kind, false)
        && !before.to_lowercase().contains(&kind.low))
    .then(|| format!("{} {before}", kind.low))
}

/// Whether a phrase can be a kind of what the data are about: nobody else has understood it, and it is no word for data, time or
/// areas.
fn is_kind(sentence: &Sentence, kind: Phrase) -> bool {
    const NO_KIND: [&str; 24] = [
        "one",
        "thing",
        "case",
        "look",
        "rest",
        "way",
        "place",
        "area",
        "region",
        "country",
        "county",
        "city",
        "district",
        "state",
        "province",
        "municipality",
        "row",
        "line",
        "column",
        "total",
        "average",
        "number",
        "detail",
        "model",
    ];
    let words = &sentence.words[kind.from..kind.to];
    let head = words.last().map(|word| singular(&word.low)).unwrap_or_default();
    let ones = sentence.low(kind.to) == "ones";
    kind.names(sentence)
        && sentence.is_free(kind.from, kind.to)
        && words.iter().all(|word| {
            !word.low.starts_with(|c: char| c.is_ascii_digit()) && !word.is(Class::Data) && !word.is(Class::Talk)
        })
        && (ones
            || !NO_KIND.contains(&head.as_str())
                && !words.iter().any(|word| word.is(Class::Measure))
                && !is(&head, Class::Time))
}

/// `entire homes only`, `nothing but churches`, `working ones`, `pre-monsoon readings are all I trust`: a kind of what the topic
/// names.
fn narrowed(sentence: &Sentence, before: &str) -> Option<String> {
    let words = &sentence.words;
    let kind = (0..words.len()).find_map(|at| {
        let one = |items: Vec<Phrase>| items.into_iter().next_back().filter(|kind| is_kind(sentence, *kind));
        match sentence.low(at) {
            "only" | "just" | "solely" | "exclusively"
                if sentence.is_edge(at + 1) || sentence.low(at + 1) == "please" =>
            {
                one(list_before(sentence, at, Reach::Thing))
            }
            "only" | "just" | "solely" | "exclusively" => phrase(sentence, at + 1, Reach::Thing).filter(|kind| {
                let near = kind.from <= at + 3;
                let closed = sentence.is_edge(kind.to)
                    || sentence.low(kind.to) == "ones"
                    || sentence.words[kind.to].is(Class::Talk);
                near && closed && is_kind(sentence, *kind)
            }),
            "to" if words[at.saturating_sub(4)..at].iter().any(|word| {
                matches!(word.low.as_str(), "restrict" | "limit" | "confine" | "narrow" | "reduce" | "stick")
            }) =>
            {
                phrase(sentence, at + 1, Reach::Thing).filter(|kind| is_kind(sentence, *kind))
            }
            "but" if matches!(sentence.before(at), "nothing" | "none") => {
                phrase(sentence, at + 1, Reach::Thing).filter(|kind| is_kind(sentence, *kind))
            }
            "all" if sentence.stands(at, "all i") || sentence.stands(at, "all we") => {
                at.checked_sub(1).and_then(|verb| one(list_before(sentence, verb, Reach::Thing)))
            }
            "ones" if at > 0 && at <= 4 && (sentence.is_edge(at + 1) || words[at + 1].is(Class::Talk)) => {
                let said = |word: &Word| {
                    !word.sign && word.claim.is_none() && !word.is(Class::Determiner) && !word.is(Class::Preposition)
                };
                let mut from = at;
                while from > 0
                    && said(&words[from - 1])
                    && !words[from - 1].is(Class::Pronoun)
                    && !words[from - 1].is(Class::Talk)
                {
                    from -= 1;
                }
                let starts =
                    from == 0 || sentence.is_edge(from - 1) || words[from - 1].is(Class::Determiner) && from <= 2;
                (from < at && starts).then_some(Phrase { from, to: at })
            }
            _ => None,
        }
    });
    let alone = || {
        let from = (0..words.len()).find(|at| !words[*at].is(Class::Talk) && !words[*at].sign)?;
        let kind = phrase(sentence, from, Reach::Thing)?;
        let rest = words[kind.to..]
            .iter()
            .all(|word| word.sign || word.is(Class::Talk) || matches!(word.low.as_str(), "please" | "then"));
        let last = sentence.low(kind.to - 1);
        let plural = singular(last) != last;
        (rest && plural && !sentence.asks && kind.to - kind.from <= 3 && is_kind(sentence, kind)).then_some(kind)
    };
    let kind = kind.or_else(alone)?;
    let said = stems(&kind.text(sentence));
    let known = stems(before);
    if said.iter().all(|word| known.contains(word)) {
        return None;
    }
    let text = kind.text(sentence);
    let text = if text.chars().skip(1).any(char::is_uppercase) { text } else { text.to_lowercase() };
    // `fatal crashes` of `crashes`; `working` of `water kiosks`; else the kind beside the whole.
    let whole: Vec<&str> = before.split_whitespace().collect();
    let same = known.last().is_some_and(|head| said.last() == Some(head));
    Some(if same { text } else { format!("{text} {}", whole.join(" ")) })
}

/// `let's switch to hotels`, `bars instead`, `I meant cafés`: something else altogether.
fn replaced(sentence: &Sentence) -> Option<String> {
    const TURNING: [&str; 7] = ["switch to", "i meant", "i mean", "turn to", "change to", "move to", "look at"];
    let words = &sentence.words;
    let told = TURNING.iter().find_map(|phrase| {
        let at = (0..words.len()).find(|at| sentence.stands(*at, phrase))?;
        Some((at + 2, *phrase))
    });
    let instead = sentence.has(&["instead", "rather"]) || sentence.low(0) == "sorry";
    let item = match told {
        Some((at, what)) if what != "look at" || instead => phrase(sentence, at, Reach::Thing),
        None if sentence.low(words.len().saturating_sub(1)) == "instead" => {
            list_before(sentence, words.len() - 1, Reach::Thing).into_iter().next_back()
        }
        _ => None,
    }?;
    let last = sentence.low(item.to - 1);
    let plural = singular(last) != last;
    (plural && is_kind(sentence, item)).then(|| item.text(sentence))
}

/// `barley should be in there alongside wheat`, `bring in contract customers as well`: another kind beside what the topic names.
fn widened(sentence: &Sentence, before: &str) -> Option<String> {
    const JOINING: [&str; 12] = [
        "should be in",
        "must be in",
        "belong",
        "belongs",
        "would make sense",
        "make sense with",
        "should be included",
        "have to be in",
        "has to be in",
        "can be included",
        "should join",
        "could be in",
    ];
    let taken = sentence
        .words
        .iter()
        .any(|word| matches!(word.claim, Some(Claim::Column | Claim::Excluded | Claim::Place | Claim::Grain)));
    if taken {
        return None;
    }
    let subject = JOINING.iter().find_map(|words| {
        let at = (1..sentence.words.len()).find(|at| sentence.stands(*at, words))?;
        Some(list_before(sentence, at, Reach::Thing))
    });
    let object = || {
        const ADDING: [&str; 7] = ["add", "include", "bring in", "throw in", "chuck in", "count in", "take in"];
        if sentence.has(&["not include", "not add", "not take in"]) {
            return None;
        }
        let (words, at) = ADDING.iter().find_map(|words| {
            let at = (0..sentence.words.len()).find(|at| sentence.stands(*at, words))?;
            Some((words, at))
        })?;
        Some(list(sentence, at + words.split(' ').count(), Reach::Thing).0)
    };
    let items = subject.or_else(object)?;
    let plural = |item: &Phrase| {
        let last = sentence.low(item.to - 1);
        singular(last) != last || item.to - item.from == 1
    };
    let kinds: Vec<String> = items
        .iter()
        .filter(|item| is_kind(sentence, **item) && plural(item))
        .map(|item| item.text(sentence).to_lowercase())
        .collect();
    (!kinds.is_empty() && kinds.len() == items.len()).then(|| format!("{before}, {}", kinds.join(", ")))
}
