//! Classes of English words (`lexicon.tsv`) and phrases that announce a constraint (`cues.tsv`), as data: which words bind a
//! noun phrase, which end it, what one row can stand for, how people leave out, add and take back.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::words::Sentence;

macro_rules! names {
    ($(#[$head:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$head])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            fn parse(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

names! {
    /// A class of words; a word may be of several.
    Class {
        /// `the`, `every`, `two`.
        Determiner = "determiner",
        /// `is`, `could`, `not`.
        Auxiliary = "auxiliary",
        /// `it`, `them`.
        Pronoun = "pronoun",
        /// `of`, `onto`.
        Preposition = "preposition",
        /// `and`, `because`.
        Conjunction = "conjunction",
        /// `only`, `again`, `please`.
        Adverb = "adverb",
        /// `show`, `attach`, `stops`.
        Verb = "verb",
        /// Words of the conversation and not of the matter: `hello`, `sorry`, `great`.
        Talk = "talk",
        /// Words for data of whatever kind: `table`, `figures`.
        Data = "data",
        /// What one row can stand for: `permit`, `patient`, `county`.
        Unit = "unit",
        /// Units of which a table of them mostly has one row each: `permit`, `accident`.
        Event = "event",
        /// Units of time.
        Time = "time",
        /// How figures are summed up: `total`, `mean`.
        Measure = "measure",
        /// Names of months.
        Month = "month",
        /// What a number counts that is then no year: `people`, `rows`.
        Counted = "counted",
        /// What headers end with: `date`, `code`.
        Header = "header",
        /// Parts of names of offices, which are no places: `Bureau`.
        Office = "office",
        /// Kinds of places after a name: `County`.
        PlaceKind = "place_kind",
        /// Capitalised words that are no places: weekdays, languages, `Excel`.
        NoPlace = "no_place",
        /// Verbs of wanting something or putting it to what is there.
        Wish = "wish",
        /// What is said with `not` of unwanted things: `needed`, `relevant`.
        Fit = "fit",
        /// What is said of unwanted things: `out`, `hidden`.
        Unfit = "unfit",
    }
}

names! {
    /// What a phrase announces.
    Cue {
        /// What follows is unwanted.
        Exclude = "exclude",
        /// What stands before is unwanted.
        Unwanted = "unwanted",
        /// Something unwanted is wanted again.
        Return = "return",
        /// Something is put to what is there.
        Add = "add",
        /// What is said replaces or narrows.
        Narrow = "narrow",
        /// A column follows.
        Column = "column",
        /// A column follows, if it is also said where it goes: `put A on it`.
        Placed = "placed",
        /// A column follows, unless rows are meant: `add A`.
        Added = "added",
        /// A column follows, if a list does: `features: A, B`.
        Listed = "listed",
        /// A column follows, if it looks like one: `with the auditor and the year`.
        With = "with",
        /// A column follows a word that shows other things as often: `show the tickers`.
        Shown = "shown",
        /// A column stands before.
        Columned = "columned",
        /// A column stands before, if a verb of adding does: `put A to it`.
        Target = "target",
        /// Columns stand before, if several do: `A, B suffice`.
        Sufficing = "sufficing",
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    lines.flat_map(|(name, list)| list.split(", ").map(move |item| (name, item)))
}

/// Whether `word`, in lower case, only binds others: articles, pronouns, prepositions, adverbs, verbs of asking, words of
/// the conversation.
pub fn binds(word: &str) -> bool {
    const BINDING: [Class; 8] = [
        Class::Determiner,
        Class::Auxiliary,
        Class::Pronoun,
        Class::Preposition,
        Class::Conjunction,
        Class::Adverb,
        Class::Verb,
        Class::Talk,
    ];
    BINDING.iter().any(|class| is(word, *class))
}

/// Whether `word`, in lower case, is of `class`.
pub fn is(word: &str, class: Class) -> bool {
    static LEXICON: OnceLock<HashMap<&'static str, u32>> = OnceLock::new();
    let lexicon = LEXICON.get_or_init(|| {
        let mut lexicon: HashMap<&'static str, u32> = HashMap::new();
        for (name, word) in lines(include_str!("lexicon.tsv")) {
            if let Some(class) = Class::parse(name) {
                *lexicon.entry(word).or_default() |= 1 << class as u32;
            }
        }
        lexicon
    });
    lexicon.get(word).is_some_and(|classes| classes & (1 << class as u32) != 0)
}

/// A phrase of `cues.tsv` found in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its first word.
    pub from: usize,
    /// The word after it.
    pub to: usize,
    /// What it announces.
    pub cue: Cue,
}

type Phrases = HashMap<&'static str, Vec<(Vec<&'static str>, Cue)>>;

/// The cues of a sentence in order, the longest of each kind at each word.
pub fn hits(sentence: &Sentence) -> Vec<Hit> {
    static CUES: OnceLock<Phrases> = OnceLock::new();
    let cues = CUES.get_or_init(|| {
        let mut cues = Phrases::new();
        for (name, phrase) in lines(include_str!("cues.tsv")) {
            let words: Vec<&str> = phrase.split(' ').collect();
            if let (Some(cue), Some(first)) = (Cue::parse(name), words.first()) {
                cues.entry(first).or_default().push((words, cue));
            }
        }
        for phrases in cues.values_mut() {
            phrases.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
        cues
    });
    let mut hits: Vec<Hit> = Vec::new();
    for at in 0..sentence.words.len() {
        // `BIN` is a name among other words.
        let shouted = |at: usize| {
            sentence.words.get(at).is_some_and(|word| word.text.len() > 1 && !word.text.chars().any(char::is_lowercase))
        };
        let name = shouted(at) && !sentence.words[at].sign && (at == 0 || !shouted(at - 1)) && !shouted(at + 1);
        if name && sentence.words.len() > 1 {
            continue;
        }
        for (words, cue) in cues.get(sentence.low(at)).map_or(&[] as &[_], Vec::as_slice) {
            let stands = words.iter().enumerate().all(|(offset, word)| sentence.low(at + offset) == *word);
            let covered = hits.iter().rev().take(8).any(|hit| hit.cue == *cue && hit.to > at);
            if stands && !covered {
                hits.push(Hit { from: at, to: at + words.len(), cue: *cue });
            }
        }
    }
    hits
}

/// Whether the sentence says `cue`.
pub fn says(hits: &[Hit], cue: Cue) -> bool {
    hits.iter().any(|hit| hit.cue == cue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_is_of_a_known_kind() {
        assert!(lines(include_str!("lexicon.tsv")).all(|(name, _)| Class::parse(name).is_some()));
        assert!(
            lines(include_str!("cues.tsv")).all(|(name, phrase)| Cue::parse(name).is_some() && !phrase.contains("n't"))
        );
        assert!(is("permit", Class::Unit) && !is("permit", Class::Month));
    }
}
