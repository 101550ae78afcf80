//! Reads one turn: the order in which its parts are understood.
//!
//! Each step takes words, and later steps see only what is left: second thoughts, years, how often, whether kept up,
//! values of the catalogue, and at last free words. Values of the catalogue are found before sentences are cut, so
//! that a stop in `St. John's` ends none.
//!
//! The turn that says what all is about is read with more restraint: its words are the topic, and what they also mean
//! is only inferred.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::cues::{self, Announced, Cue};
use super::frequency;
use super::phrases::Phrases;
use super::reading::{Fact, TurnReading};
use super::retraction::{self, denied};
use super::status;
use super::turn::Turn;
use super::vocabulary::{RoleAt, Stem, ThingAt, Vocabulary};
use super::{free_text, nation, period, values, wishes, words};
use lakeward_core::request::{Demand, Demanded, Intent, RequestedYears};
use lakeward_core::role::Role;
use lakeward_core::text::Stemmer;

/// A shorter value than this never takes words from another reading.
const LONG_VALUE_BYTES: usize = 5;

/// What is looked up by name shares this much with a value (weighted Dice): see `Vocabulary::nearest`.
const LOOKED_UP: f32 = 0.6;

/// Reads turns against a catalogue.
pub struct Reader<'v> {
    vocabulary: &'v Vocabulary,
    is_known_word: Box<dyn Fn(&str) -> bool + Send + Sync + 'v>,
}

impl<'v> Reader<'v> {
    /// `is_known_word`: whether a lower-cased word is right as it is, though the catalogue does not have it; such
    /// words are not mended.
    pub fn new(vocabulary: &'v Vocabulary, is_known_word: impl Fn(&str) -> bool + Send + Sync + 'v) -> Self {
        Reader { vocabulary, is_known_word: Box::new(is_known_word) }
    }

    /// The catalogue it reads against.
    pub fn vocabulary(&self) -> &'v Vocabulary {
        self.vocabulary
    }

    /// What `text` says as turn number `turn`, from 1, after turns that gave `previous`. Text beyond 8,000 bytes is
    /// not read; the work is linear in what is.
    pub fn read(&self, text: &str, turn: usize, previous: &Intent) -> TurnReading {
        let first = previous.topics.is_empty() && previous.demands.is_empty();
        let mut reading = Reading::new(self, text, turn, first);
        reading.second_thoughts();
        reading.years();
        reading.frequencies();
        reading.status();
        wishes::read(&mut reading);
        nation::read(&mut reading);
        let cues = Cues::find(&reading);
        values::read(&mut reading, &cues);
        values::read_paraphrased(&mut reading, &cues);
        wishes::columns(&mut reading);
        reading.order();
        free_text::read(&mut reading, &cues);
        TurnReading { turn, facts: reading.facts.into_iter().map(|placed| placed.fact).collect() }
    }

    /// What `words` demand in `role`, stated: the value written like them, else the nearest; nothing where the catalogue has none
    /// like it. For words of which somebody else knows the role.
    pub fn look_up(&self, role: &Role, words: &str, turn: usize) -> Option<Demand> {
        let mut reading = Reading::new(self, words, turn, false);
        match role {
            role if *role == period_role() => reading.years(),
            Role::Frequency => reading.frequencies(),
            Role::Status => reading.status(),
            _ => {}
        }
        let mut demands = reading.facts.iter().rev().filter_map(|placed| match &placed.fact {
            Fact::Demanded { demand, .. } if demand.role == *role => Some(demand.clone()),
            _ => None,
        });
        if let Some(demand) = demands.next() {
            return Some(demand);
        }
        let vocabulary = self.vocabulary;
        let at = vocabulary.role_at(role)?;
        let key: Option<Vec<Stem>> = reading.stems.iter().copied().collect();
        let key = key.unwrap_or_default();
        let exact = vocabulary.things(&key).find(|thing| vocabulary.role_of(*thing) == at);
        let content: Vec<Option<Stem>> =
            (0..reading.stems.len()).filter(|word| reading.is_content(*word)).map(|word| reading.stems[word]).collect();
        let thing = exact.or_else(|| vocabulary.nearest(at, &content, LOOKED_UP))?;
        let value = Demanded::Values(vec![vocabulary.values(thing, words)]);
        Some(Demand { role: role.clone(), value, hard: true, turn, said: reading.turn.text.trim().to_string() })
    }

    /// Cuts a text into words and mends those that nobody knows.
    fn mended<'t>(&self, text: &'t str, stemmer: &mut Stemmer) -> (Turn<'t>, Vec<String>) {
        let mut turn = Turn::new(text);
        let spelling = self.vocabulary.spelling();
        let mut stems = Vec::with_capacity(turn.words.len());
        for word in &mut turn.words {
            let mut stem = stemmer.stem(&word.low).to_string();
            let known =
                || spelling.knows(&word.low) || words::is_request_stem(&stem) || (self.is_known_word)(&word.low);
            if let Some(mended) = (!known()).then(|| spelling.mend(&word.low)).flatten() {
                word.low = mended.to_string();
                stem = stemmer.stem(mended).to_string();
            }
            stems.push(stem);
        }
        (turn, stems)
    }
}

/// A fact and the words `from..to` that gave it.
pub(super) struct Placed {
    pub from: usize,
    pub to: usize,
    pub fact: Fact,
}

/// A value of the catalogue in the words `from..to`; there may be others over it.
pub(super) struct Span {
    pub from: usize,
    pub to: usize,
    pub things: Vec<ThingAt>,
}

/// A turn being read.
pub(super) struct Reading<'r> {
    pub vocabulary: &'r Vocabulary,
    pub turn: Turn<'r>,
    /// Of each word.
    pub stem_texts: Vec<String>,
    /// Of each word; `None` where the catalogue does not have it.
    pub stems: Vec<Option<Stem>>,
    /// Of each word: its clause.
    pub clauses: Vec<usize>,
    /// The words `from..to` of each clause.
    pub clause_words: Vec<(usize, usize)>,
    /// By length, longest first, then from left to right.
    pub spans: Vec<Span>,
    /// Words that a reading has taken.
    pub used: Vec<bool>,
    /// Words that are no topic even in the first turn: `top 10`, `train a classifier`.
    pub spent: Vec<bool>,
    /// Words at which a retraction begins.
    pub marks: Vec<bool>,
    /// Whether this is the turn that says what all is about.
    pub first: bool,
    pub facts: Vec<Placed>,
    number: usize,
    /// By word: the first word and the end of the longest values that reach it.
    reach: Vec<(usize, usize)>,
}

impl<'r> Reading<'r> {
    fn new(reader: &'r Reader<'_>, text: &'r str, number: usize, first: bool) -> Self {
        let vocabulary = reader.vocabulary;
        let mut stemmer = Stemmer::default();
        let (turn, stem_texts) = reader.mended(text, &mut stemmer);
        let stems: Vec<Option<Stem>> = stem_texts.iter().map(|stem| vocabulary.stem(stem)).collect();
        let spans = spans(vocabulary, &stems);
        let clauses = turn.clauses(spans.iter().map(|span| (span.from, span.to)));
        let mut reach: Vec<(usize, usize)> = (0..turn.words.len()).map(|at| (at, at + 1)).collect();
        for span in &spans {
            let bytes = turn.words[span.to - 1].end - turn.words[span.from].start;
            if span.to > span.from + 1 && bytes > LONG_VALUE_BYTES {
                for reached in &mut reach[span.from..span.to] {
                    *reached = (reached.0.min(span.from), reached.1.max(span.to));
                }
            }
        }
        let mut clause_words: Vec<(usize, usize)> = Vec::new();
        for (at, clause) in clauses.iter().enumerate() {
            match clause_words.get_mut(*clause) {
                Some(words) => words.1 = at + 1,
                None => clause_words.push((at, at + 1)),
            }
        }
        let none = vec![false; turn.words.len()];
        let (used, spent, marks) = (none.clone(), none.clone(), none);
        let facts = Vec::new();
        Reading {
            vocabulary,
            turn,
            stem_texts,
            stems,
            clauses,
            clause_words,
            spans,
            used,
            spent,
            marks,
            first,
            facts,
            number,
            reach,
        }
    }

    /// Adds a fact.
    pub fn say(&mut self, from: usize, to: usize, fact: Fact) {
        self.facts.push(Placed { from, to, fact });
    }

    /// Adds a demand.
    pub fn demand(&mut self, words: (usize, usize), role: Role, value: Demanded, hard: bool) {
        let demand = self.demanded(words, role, value, hard);
        self.say(words.0, words.1, Fact::Demanded { demand, also: false });
    }

    /// A demand that the words `from..to` make.
    pub fn demanded(&self, (from, to): (usize, usize), role: Role, value: Demanded, hard: bool) -> Demand {
        Demand { role, value, hard, turn: self.number, said: self.turn.said(from, to).to_string() }
    }

    /// Takes words.
    pub fn take(&mut self, from: usize, to: usize) {
        self.used[from..to].fill(true);
    }

    /// Whether no word of `from..to` is taken.
    pub fn is_free(&self, from: usize, to: usize) -> bool {
        !self.used[from..to].contains(&true)
    }

    /// Whether words are taken, or a longer value of the catalogue has some of them and others.
    pub fn clashes(&self, from: usize, to: usize) -> bool {
        !self.is_free(from, to) || self.reach[from..to].iter().any(|reach| reach.0 < from || reach.1 > to)
    }

    /// Whether the word can say what the request is about.
    pub fn is_content(&self, at: usize) -> bool {
        words::is_content(self.turn.low(at))
    }

    /// Whether a retraction begins in the words `from..to`.
    pub fn is_retracted_within(&self, from: usize, to: usize) -> bool {
        from < to && self.marks[from..to].contains(&true)
    }

    fn second_thoughts(&mut self) {
        for at in retraction::retractions(&self.turn) {
            self.marks[at] = true;
            self.say(at, at, Fact::Retracted);
        }
        for found in retraction::forgotten(&self.turn, self.vocabulary.roles()) {
            self.take(found.from, found.to);
            self.say(found.from, found.to, Fact::Forgotten(found.role));
        }
    }

    fn years(&mut self) {
        if !self.vocabulary.has_years() {
            return;
        }
        let inside = |at: usize| self.reach[at].0 < at && self.reach[at].1 > at + 1;
        let named: Vec<bool> = (0..self.turn.words.len()).map(inside).collect();
        for found in period::find(&self.turn, &self.clauses, &self.marks, &named) {
            let words = (found.from, found.to);
            // `Retail sales since 2015` asks for those years, and seldom for a series that begins in that one.
            let years_asked_for =
                self.first && matches!(found.wanted, RequestedYears::StartsIn(_) | RequestedYears::EndsIn(_));
            if denied(&self.turn, &self.clauses, found.from).is_none() {
                self.demand(words, period_role(), Demanded::Period(found.wanted), !years_asked_for);
            }
            if years_asked_for {
                let since = self.is_since(found.from);
                self.spent[found.from - usize::from(since)..found.to].fill(true);
            }
            // The topic keeps them: `census of 2016`.
            if !self.first {
                self.take(found.from, found.to);
            }
        }
    }

    /// Whether `since` or its like stands directly before a year.
    fn is_since(&self, year: usize) -> bool {
        const SINCE: [&str; 10] =
            ["since", "from", "after", "before", "until", "till", "through", "to", "starting", "beginning"];
        let before = year.checked_sub(1).filter(|at| self.clauses[*at] == self.clauses[year]);
        before.is_some_and(|at| SINCE.contains(&self.turn.low(at)))
    }

    fn frequencies(&mut self) {
        if !self.vocabulary.has(&Role::Frequency) {
            return;
        }
        for found in frequency::find(&self.turn) {
            let (from, to) = (found.from, found.to);
            let refused = denied(&self.turn, &self.clauses, from).is_some();
            if refused || self.clashes(from, to) || self.is_breakdown(from, to) {
                continue;
            }
            if let Some(values) = self.vocabulary.of_frequency(found.frequency) {
                let stated = !self.first || self.is_of_data(to);
                self.demand((from, to), Role::Frequency, Demanded::Values(vec![values.to_vec()]), stated);
                if stated {
                    self.take(from, to);
                }
            }
        }
    }

    /// Whether `by month` says how a table is cut and not how often it comes: `compare by month`, `by year and sex`.
    fn is_breakdown(&self, from: usize, to: usize) -> bool {
        let start = (from.saturating_sub(MOST_LISTED)..=from).find(|at| self.clauses[*at] == self.clauses[from]);
        // Directly before it, with its own `by`, or before a list that ends in `and`: `split by sex and month`.
        let listed = from > 0 && matches!(self.turn.low(from - 1), "and" | "or");
        let cuts = BREAKDOWN.find(&self.turn, start.unwrap_or(from), to);
        let cut = cuts
            .iter()
            .any(|hit| hit.to == from || hit.to == from + 1 && self.turn.low(from) == "by" || listed && hit.to < from);
        let preposition = matches!(self.turn.low(from), "by" | "per");
        let dimension = self.vocabulary.role_at(&Role::Dimension);
        cut || preposition && self.turn.low(to) == "and" && self.begins_value(to + 1, dimension)
    }

    fn begins_value(&self, at: usize, role: Option<RoleAt>) -> bool {
        let of_role = |span: &Span| span.things.iter().any(|thing| Some(self.vocabulary.role_of(*thing)) == role);
        self.spans.iter().any(|span| span.from == at && of_role(span))
    }

    /// Whether `data`, `figures`, … stand directly behind: then even the first turn's `monthly` is no topic.
    fn is_of_data(&self, at: usize) -> bool {
        const DATA: [&str; 9] =
            ["data", "figures", "series", "table", "tables", "value", "values", "numbers", "statistics"];
        (at..at + 2).any(|at| DATA.contains(&self.turn.low(at)))
    }

    fn status(&mut self) {
        if !self.vocabulary.has(&Role::Status) {
            return;
        }
        // What stands before and behind a second thought is read apart: `it is archived, no, sorry, current`.
        let starts = (0..self.turn.words.len())
            .filter(|at| *at == 0 || self.marks[*at] || self.clauses[*at] != self.clauses[at - 1]);
        let mut starts: Vec<usize> = starts.collect();
        starts.push(self.turn.words.len());
        for part in starts.windows(2) {
            let Some(hit) = status::find(&self.turn, part[0], part[1]) else { continue };
            if let Some(values) = self.vocabulary.of_status(hit.means).filter(|_| !self.clashes(hit.from, hit.to)) {
                self.demand((hit.from, hit.to), Role::Status, Demanded::Values(vec![values.to_vec()]), true);
                self.take(hit.from, hit.to);
            }
        }
    }

    /// Puts the facts in the order of the text and joins neighbouring values of lists.
    fn order(&mut self) {
        self.facts.sort_by_key(|placed| (placed.from, placed.to));
        values::join_lists(self);
        for at in 0..self.facts.len() {
            let (from, to) = self.clause_words[self.clauses[self.facts[at].from]];
            let adds = |role: &Role| !matches!(role, Role::Frequency | Role::Status) && *role != period_role();
            if let Fact::Demanded { demand, also } = &mut self.facts[at].fact {
                *also = adds(&demand.role) && ALSO.any(&self.turn, from, to);
            }
        }
    }
}

/// Words before a frequency in which a list of what the table is cut by can stand.
const MOST_LISTED: usize = 12;

static BREAKDOWN: LazyLock<Phrases<()>> = LazyLock::new(|| {
    let list = "compare|compared|comparing by|for; break|broken down|out by|for; breakdown|breakdowns by|for;
        split|splits out? by|for;
        broken down|out; group|grouped by|for; column|columns by|for; disaggregated by|for; cross classified by|for";
    Phrases::new([((), list)])
});

/// Words that add to what was wanted before.
static ALSO: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), "also; too >many|few|much|broad|narrow|old; additionally; in addition; as well >as; besides")])
});

/// The role in which years are demanded.
pub(super) fn period_role() -> Role {
    Role::from("period".to_string())
}

/// All values of the catalogue in a text.
fn spans(vocabulary: &Vocabulary, stems: &[Option<Stem>]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut key = Vec::new();
    for (from, first) in stems.iter().enumerate() {
        let Some(first) = *first else { continue };
        key.clear();
        key.extend(stems[from..].iter().take(vocabulary.longest_from(first)).map_while(|stem| *stem));
        for length in 1..=key.len() {
            let things: Vec<ThingAt> = vocabulary.things(&key[..length]).collect();
            if !things.is_empty() {
                spans.push(Span { from, to: from + length, things });
            }
        }
    }
    spans.sort_by_key(|span| (Reverse(span.to - span.from), span.from));
    spans
}

/// The cues of a turn by what they announce, those left out whose words are taken.
pub(super) struct Cues {
    /// By role.
    by_role: Vec<Vec<Cue>>,
    /// Of free words.
    pub aspect: Vec<Cue>,
    /// Of each word: whether it is written like a word of a role's cue.
    pub is_cue_word: Vec<bool>,
}

impl Cues {
    fn find(reading: &Reading) -> Self {
        let free = |announced: Announced| {
            let mut cues = cues::find(&reading.turn, &announced);
            cues.retain(|cue| reading.is_free(cue.from, cue.to));
            cues
        };
        let by_role: Vec<Vec<Cue>> =
            reading.vocabulary.roles().map(|role| free(Announced::Value(role.clone()))).collect();
        let closed = [Role::Place, Role::Subject, Role::Source, Role::Dimension];
        let absent = closed.into_iter().filter(|role| !reading.vocabulary.has(role));
        // Words that announce a role are no topic, whether or not this catalogue has the role.
        let others: Vec<Vec<Cue>> = absent.map(|role| free(Announced::Value(role))).collect();
        let mut cue_stems = HashSet::new();
        for cue in by_role.iter().chain(&others).flatten() {
            cue_stems.extend(reading.stem_texts[cue.from..cue.to].iter().map(String::as_str));
        }
        let is_cue_word = reading.stem_texts.iter().map(|stem| cue_stems.contains(stem.as_str())).collect();
        Cues { by_role, aspect: free(Announced::Aspect), is_cue_word }
    }

    /// The cues of a role, in order.
    pub fn of(&self, role: RoleAt) -> &[Cue] {
        &self.by_role[usize::from(role)]
    }

    /// Whether free words are announced within the words `from..to`.
    pub fn has_aspect(&self, from: usize, to: usize) -> bool {
        let first = self.aspect.partition_point(|cue| cue.from < from);
        self.aspect.get(first).is_some_and(|cue| cue.from < to)
    }
}
