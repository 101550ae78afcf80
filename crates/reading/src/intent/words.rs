//! Words of requests that carry no topic of their own.
//!
//! Three lists: what people say around a wish (`request words`), grammar (`stop words`), and what may stand between two
//! content words of one phrase (`connectives`). They are English; where a request is in another language, no word is in
//! them, and the catalogue's own values decide alone.

use std::collections::HashSet;
use std::sync::LazyLock;

use lakeward_core::text::Stemmer;

/// Greetings, verbs of wanting, nouns for data in general, hedges, corrections.
const REQUEST: &str = "
    hi hello hey please thanks thank you ok okay well hmm um oh yes yeah yep no not nope quite good great right nice
    close closer better start direction wrong almost look looking looks find search searching seek want wanted need
    needs needed like get got give show see tell help can could would should might may must will shall do does did
    have has had is are was were be been i we my our me us your it its they them those these this that there here
    what which who where when how why any some something anything everything nothing thing things one ones data
    dataset datasets table tables statistics statistic stats figures figure numbers number information info record
    records file files series report reports project class team paper writing analysis study research more less many
    much few too lot broad narrow narrower precise exact said say saying hope know remember think believe guess mean
    meant mind idea about on for of to in at by from with into covering cover covers regarding concerning related
    the a an and or but so as if then than also just only still really very maybe perhaps work working compare
    comparing total totals other all unknown interested interest expect among ideally concretely overall whole
    separately section category title appear appears ideal next refine miss missing warmer cold hot beside beyond
    matters matter part point exactly specifically particularly general come comes goes fall falls under theme
    subject topic survey source behind place geography include includes including required sorry wait forget scratch
    correction mistake actually before again let make made top results result list hit hits option options possible
    available pick use using used try trying tried love learn hold holds around answer answers question questions
    memo friday luck far long similar exist exists alone begin begins myself correcting change correct fine enough
    isn't aren't wasn't don't doesn't didn't hasn't haven't won't can't earlier";

/// Words that a suffix would make of a request word, and that are topics all the same.
const NO_REQUEST: &str = "goods directions groups services classes ranged ranges buildings";

const STOP: &str = "
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with from which who whom whose what when where how does did do has have had been were its his her he
    she i we you your my our me us can could would should than so also any some all only own same other about
    between during before after above below over under again further once here why both each few more most nor too
    very s t just don now";

/// What may stand between two content words of one phrase.
const CONNECTIVES: [&str; 14] =
    ["of", "and", "or", "for", "the", "in", "to", "on", "with", "a", "an", "at", "by", "from"];

static REQUEST_WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    // Short words do not take suffixes: `sees` and `its` are in the list where they count.
    const SHORTEST_INFLECTED: usize = 4;
    let mut words: HashSet<String> = REQUEST.split_whitespace().map(String::from).collect();
    let inflected: Vec<String> = words
        .iter()
        .filter(|word| word.len() >= SHORTEST_INFLECTED)
        .flat_map(|word| ["s", "ing", "ed"].map(|suffix| format!("{word}{suffix}")))
        .collect();
    words.extend(inflected);
    NO_REQUEST.split_whitespace().for_each(|word| {
        words.remove(word);
    });
    words
});

static REQUEST_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut stemmer = Stemmer::default();
    let mut stems: HashSet<String> = REQUEST_WORDS.iter().map(|word| stemmer.stem(word).to_string()).collect();
    // `goods` is a topic, and its misspellings are worth mending.
    stems.remove("good");
    stems
});

static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());

/// Whether a lower-cased word belongs to the asking and not to what is asked for.
pub(super) fn is_request(word: &str) -> bool {
    REQUEST_WORDS.contains(word)
}

/// Whether a stem is that of a request word.
pub(super) fn is_request_stem(stem: &str) -> bool {
    REQUEST_STEMS.contains(stem)
}

/// Whether a lower-cased word is grammar only.
pub(super) fn is_stop(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// Whether a lower-cased word can say what a request is about.
pub(super) fn is_content(word: &str) -> bool {
    !is_request(word) && !is_stop(word)
}

/// Whether a lower-cased word joins two content words to one phrase.
pub(super) fn is_connective(word: &str) -> bool {
    CONNECTIVES.contains(&word)
}
