//! Refusals by their grammar rather than by their words: a subject that is said to be out (`X must be hidden before …`), or
//! of which something good is denied (`X obviously don't count`, `X isn't.`), and an object put before those who refuse it
//! (`X, I don't want to see them`).

use super::super::lexicon::Cue;
use super::super::lexicon::{Class, Hit};
use super::super::words::Sentence;

/// Where refusals stand in `sentence`: from the first word that says so of what stands before, to the word after.
pub(super) fn hits(sentence: &Sentence) -> Vec<Hit> {
    let mut found = Vec::new();
    let mut at = 1;
    while at < sentence.words.len() {
        match predicate(sentence, at).or_else(|| fronted(sentence, at)) {
            Some(to) => {
                found.push(Hit { from: at, to, cue: Cue::Unwanted });
                at = to.max(at + 1);
            }
            None => at += 1,
        }
    }
    found
}

/// Words between an auxiliary and what is said that add nothing.
fn passed(sentence: &Sentence, at: usize) -> bool {
    sentence.words.get(at).is_some_and(|word| {
        !word.sign
            && (word.is(Class::Auxiliary) || word.is(Class::Adverb) && !word.is(Class::Unfit))
            && word.low != "no"
            && !(word.is(Class::Fit) && word.low == "there")
    }) || sentence.low(at) == "to" && sentence.low(at + 1) == "be"
        || matches!(sentence.low(at), "at" | "all") && (sentence.stands(at, "at all") || sentence.before(at) == "at")
}

/// `must be hidden`, `is not`, `obviously do not count`, `is of no use`, `is somebody else 's`: the word after.
fn predicate(sentence: &Sentence, at: usize) -> Option<usize> {
    let first = sentence.words.get(at).filter(|word| word.is(Class::Auxiliary) && word.low != "not")?;
    let chained = sentence.words[at - 1].is(Class::Auxiliary);
    if chained || matches!(first.low.as_str(), "was" | "were" | "had" | "did" | "have" | "let" | "lets" | "am") {
        return None;
    }
    let mut to = at + 1;
    let mut negated = false;
    while passed(sentence, to) && to < at + 7 {
        negated |= matches!(sentence.low(to), "not" | "never") || sentence.stands(to, "no longer");
        to += 1;
    }
    let copula =
        matches!(first.low.as_str(), "is" | "are" | "r" | "be" | "'s") || (at..to).any(|at| sentence.low(at) == "be");
    let word = sentence.words.get(to);
    if negated {
        let elliptic = sentence.is_edge(to)
            && matches!(first.low.as_str(), "is" | "are" | "do" | "does" | "r" | "should" | "must");
        if elliptic {
            return Some(to);
        }
        return word.filter(|word| word.is(Class::Fit)).map(|_| to + 1);
    }
    let word = word?;
    let no = |at: usize| {
        sentence.low(at) == "no"
            && matches!(
                sentence.low(at + 1),
                "use" | "interest" | "concern" | "value" | "help" | "relevance" | "good" | "importance" | "go"
            )
    };
    if copula && (no(to) || word.low == "of" && no(to + 1)) {
        return Some(to + 2 + usize::from(word.low == "of"));
    }
    if copula && matches!(word.low.as_str(), "somebody" | "someone") && sentence.low(to + 1) == "else" {
        return Some(to + 2);
    }
    if copula && matches!(word.low.as_str(), "outside" | "beyond") {
        const REMIT: [&str; 8] = ["scope", "remit", "interest", "question", "mandate", "brief", "frame", "purview"];
        return (to..to + 6).any(|at| REMIT.contains(&sentence.low(at))).then_some(to + 1);
    }
    if copula && sentence.stands(to, "the wrong") {
        return Some(to + 2);
    }
    // `the currency is off`, `cut` of a gem: only where the subject is what is refused.
    (copula
        && word.is(Class::Unfit)
        && (word.low != "left" || matches!(sentence.low(to + 1), "out" | "aside" | "off" | "behind")))
    .then_some(to + 1)
}

/// `I do not want to see them`, `we can do without`, after what is refused: the word after.
fn fronted(sentence: &Sentence, at: usize) -> Option<usize> {
    let joined =
        matches!(sentence.before(at), "or" | "because" | "since" | "so" | "if" | "as" | "and" | "but" | "though");
    if joined || !matches!(sentence.low(at), "i" | "we" | "nobody") {
        return None;
    }
    let mut to = at + 1;
    let mut negated = sentence.low(at) == "nobody";
    while sentence.words.get(to).is_some_and(|word| word.is(Class::Auxiliary) || word.is(Class::Adverb)) && to < at + 6
    {
        negated |= matches!(sentence.low(to), "not" | "never");
        to += 1;
    }
    if sentence.stands(to, "do without") || sentence.stands(to, "live without") {
        to += 2;
        return closes(sentence, to);
    }
    const WANT: [&str; 16] = [
        "want", "need", "care", "use", "like", "trust", "see", "require", "show", "accept", "asked", "wanted",
        "believe", "bother", "needs", "wants",
    ];
    // `need` is an auxiliary as well.
    let verb = if WANT.contains(&sentence.low(to)) {
        to
    } else {
        to.checked_sub(1).filter(|last| sentence.low(*last) == "need")?
    };
    if !negated {
        return None;
    }
    let mut end = verb + 1;
    end += usize::from(matches!(sentence.low(end), "about" | "for"));
    if sentence.stands(end, "to see") || sentence.stands(end, "to have") || sentence.stands(end, "to use") {
        end += 2;
    }
    closes(sentence, end)
}

/// Where the clause ends after at most a pronoun that takes up its object and words that add nothing.
fn closes(sentence: &Sentence, at: usize) -> Option<usize> {
    let mut end = at + usize::from(matches!(sentence.low(at), "it" | "them" | "those" | "these" | "that"));
    while !sentence.is_edge(end)
        && (sentence.words[end].is(Class::Adverb)
            || sentence.words[end].is(Class::Talk)
            || matches!(sentence.low(end), "at" | "all" | "in" | "it"))
    {
        end += 1;
    }
    let goes_on = sentence
        .words
        .get(end)
        .is_some_and(|word| word.is(Class::Conjunction) || word.low == "for" || word.low == "in");
    (sentence.is_edge(end) || goes_on).then_some(end)
}

/// Where it is said that something need not be out: `needn't be suppressed`, `should not have been dropped`.
pub(super) fn lifted(sentence: &Sentence) -> Option<usize> {
    (1..sentence.words.len()).find(|at| {
        let word = &sentence.words[*at];
        let near = at.saturating_sub(5)..*at;
        let auxiliary =
            near.clone().any(|at| matches!(sentence.low(at), "need" | "should" | "must" | "be" | "have" | "been"));
        word.is(Class::Unfit)
            && word.low.ends_with("ed")
            && auxiliary
            && near.clone().any(|at| matches!(sentence.low(at), "not" | "never") || sentence.stands(at, "no longer"))
    })
}
