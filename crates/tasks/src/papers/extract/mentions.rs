//! Every dataset that a document names, with counts of how it is mentioned.

use std::collections::BTreeMap;

use super::super::document::SectionKind;
use super::cues::{NameCues, SentenceCues, is_technical};
use super::gazetteer::{Gazetteer, loose_key};
use super::known::KnownDatasets;
use super::languages;
use super::lines::{Line, Lines};
use super::patterns;
use lakeward_core::text::years;

/// Maximum number of names per document.
const MAX_NAMES: usize = 5_000;
/// Maximum number of names introduced by the text itself.
const MAX_PATTERNS: usize = 1_000;
/// Maximum number of places stored per name.
const MAX_PLACES: usize = 200;
/// Shorter names, counted in letters and digits, are ignored.
const MIN_LETTERS: usize = 3;

/// Why a name is taken for a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    /// It is a known name.
    Known,
    /// A known name with a suffix: a version, a number.
    Variant,
    /// A known name with another year.
    Edition,
    /// The text itself calls it a dataset.
    Called,
}

/// Counts of a dataset's mentions in a document, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All mentions.
    pub mentions: u32,
    /// After `on`, `with` and the like.
    pub used: u32,
    /// In sentences that evaluate.
    pub evaluating: u32,
    /// In sentences with a decimal number or percentage.
    pub with_figure: u32,
    /// Next to a word for datasets.
    pub beside: u32,
    /// In sentences that mention a table.
    pub of_table: u32,
    /// In the abstract or the first sentences.
    pub first: u32,
    /// In headings.
    pub in_heading: u32,
    /// In sections about others' work.
    pub of_others: u32,
    /// In sentences about pretraining.
    pub pretraining: u32,
    /// Named as not used here.
    pub against: u32,
}

/// A dataset in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Its name in the known record or at its first place.
    pub name: String,
    /// The id of the known record, if exactly one has that name.
    pub record: Option<String>,
    /// Why it is taken for a dataset.
    pub source: NameSource,
    /// Whether the name is ambiguous.
    pub is_weak: bool,
    /// Its counts.
    pub counts: Counts,
    /// Its lines in order, each with how strongly it shows use.
    pub places: Vec<(usize, f64)>,
    /// The line that describes it.
    pub described: Option<usize>,
    /// Whether its name is part of another dataset's name.
    pub is_nested: bool,
}

impl Mention {
    /// The first line that shows its use most strongly.
    pub fn best(&self) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (line, strength) in &self.places {
            if best.is_none_or(|(_, most)| *strength > most) {
                best = Some((*line, *strength));
            }
        }
        best.map(|(line, _)| line)
    }
}

/// All mentions of a document, by case-folded name.
#[derive(Debug, Clone, Default)]
pub struct Mentions {
    by_key: BTreeMap<String, Mention>,
}

/// A line with its cues.
struct Sentence<'l, 'd> {
    number: usize,
    line: &'l Line<'d>,
    cues: SentenceCues,
    is_first: bool,
}

/// A name at its position.
struct Named {
    name: String,
    record: Option<String>,
    source: NameSource,
    is_weak: bool,
    span: (usize, usize),
}

impl Mentions {
    /// All datasets that `lines` name.
    pub fn of(lines: &Lines<'_>, known: &KnownDatasets) -> Self {
        let mut mentions = Self::default();
        let aliases = aliases(lines, known);
        let mut introduced = Called::default();
        for (number, line) in lines.iter() {
            let sentence = Sentence::of(lines, number, line);
            let mut found = editions(line.text, known);
            let overlaps = |found: &[Named], start: usize, end: usize| {
                found.iter().any(|other| start < other.span.1 && end > other.span.0)
            };
            for name in known_names(line.text, known) {
                if !overlaps(&found, name.span.0, name.span.1) {
                    found.push(name);
                }
            }
            for hit in aliases.gazetteer.find(line.text) {
                if !overlaps(&found, hit.start, hit.end) {
                    let name = known.name(aliases.names[hit.value]);
                    found.push(Named {
                        name: name.title.clone(),
                        record: name.record.clone(),
                        source: NameSource::Known,
                        is_weak: false,
                        span: (hit.start, hit.end),
                    });
                }
            }
            for (start, end) in patterns::named(line.text, &|word| known.is_ordinary_here(word)) {
                if !overlaps(&found, start, end) {
                    introduced.add(&line.text[start..end], known);
                }
            }
            found.into_iter().for_each(|name| mentions.add(&sentence, name));
        }
        introduced.add_forms(lines, known);
        for (number, line) in lines.iter().filter(|_| !introduced.names.is_empty()) {
            for hit in introduced.gazetteer.find(line.text) {
                let name = Named {
                    name: introduced.names[hit.value].clone(),
                    record: None,
                    source: NameSource::Called,
                    is_weak: false,
                    span: (hit.start, hit.end),
                };
                mentions.add(&Sentence::of(lines, number, line), name);
            }
        }
        mentions.mark_nested();
        mentions
    }

    /// All mentions, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Mention> {
        self.by_key.values()
    }

    fn add(&mut self, sentence: &Sentence<'_, '_>, name: Named) {
        let key = loose_key(&name.name);
        if key.chars().count() < MIN_LETTERS || self.by_key.len() >= MAX_NAMES && !self.by_key.contains_key(&key) {
            return;
        }
        let cues = NameCues::of(sentence.line.text, name.span.0, name.span.1);
        let mention = self.by_key.entry(key).or_insert_with(|| Mention {
            name: name.name,
            record: name.record,
            source: name.source,
            is_weak: name.is_weak,
            counts: Counts::default(),
            places: Vec::new(),
            described: None,
            is_nested: false,
        });
        let of_others = sentence.is_of_others();
        let counts = &mut mention.counts;
        for (count, holds) in [
            (&mut counts.mentions, true),
            (&mut counts.used, cues.used),
            (&mut counts.evaluating, sentence.cues.evaluates),
            (&mut counts.with_figure, sentence.cues.has_figure),
            (&mut counts.beside, cues.followed || cues.preceded),
            (&mut counts.of_table, sentence.cues.is_of_table),
            (&mut counts.first, sentence.is_first),
            (&mut counts.in_heading, sentence.line.is_heading),
            (&mut counts.of_others, of_others),
            (&mut counts.pretraining, sentence.cues.pretrains),
            (&mut counts.against, cues.against),
        ] {
            *count += u32::from(holds);
        }
        if cues.described && mention.described.is_none() && !sentence.line.is_heading {
            mention.described = Some(sentence.number);
        }
        if mention.places.len() < MAX_PLACES {
            mention.places.push((sentence.number, strength(sentence, cues)));
        }
    }

    /// Marks names inside other names: `Atlas` next to `Road Atlas`.
    fn mark_nested(&mut self) {
        let firm: Vec<String> = self
            .by_key
            .iter()
            .filter(|(_, mention)| mention.source != NameSource::Called)
            .map(|(key, _)| key.clone())
            .collect();
        // Limits the quadratic comparison: with many names, only the first are compared.
        const MAX_COMPARED: usize = 1_000;
        for (key, mention) in &mut self.by_key {
            let is_inside = |other: &String| other.len() > key.len() && other.contains(key.as_str());
            mention.is_nested = firm.iter().take(MAX_COMPARED).any(is_inside);
        }
    }
}

impl<'l, 'd> Sentence<'l, 'd> {
    fn of(lines: &Lines<'d>, number: usize, line: &'l Line<'d>) -> Self {
        Self { number, line, cues: line.cues, is_first: lines.is_first(number) }
    }

    fn is_of_others(&self) -> bool {
        matches!(self.line.kind, SectionKind::Background | SectionKind::Acknowledgements)
    }
}

/// How strongly a sentence shows that a dataset was used.
fn strength(sentence: &Sentence<'_, '_>, cues: NameCues) -> f64 {
    let place = match sentence.line.kind {
        SectionKind::Data | SectionKind::Experiments | SectionKind::Results => 0.75,
        SectionKind::Abstract => 0.5,
        SectionKind::Background | SectionKind::Acknowledgements => -1.0,
        _ => 0.0,
    };
    let holds = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    place + holds(cues.used, 1.0) + holds(cues.followed || cues.preceded, 0.5) + holds(sentence.cues.evaluates, 0.75)
        - holds(sentence.line.is_heading, 1.5)
        - holds(sentence.cues.pretrains, 0.5)
        - holds(cues.against, 2.0)
}

/// Known names, including a suffix that makes a variant: a number, a version.
fn known_names(line: &str, known: &KnownDatasets) -> Vec<Named> {
    let named = |hit: super::gazetteer::Found<usize>| {
        let name = known.name(hit.value);
        let rest = &line[hit.end..];
        match (running_on(rest), version(rest)) {
            (Some(length), _) => Named {
                name: line[hit.start..hit.end + length].to_string(),
                record: None,
                source: NameSource::Variant,
                is_weak: false,
                span: (hit.start, hit.end + length),
            },
            (None, Some((length, number))) => Named {
                name: format!("{} {number}", name.title),
                record: None,
                source: NameSource::Variant,
                is_weak: false,
                span: (hit.start, hit.end + length),
            },
            (None, None) => Named {
                name: name.title.clone(),
                record: name.record.clone(),
                source: NameSource::Known,
                is_weak: name.is_weak,
                span: (hit.start, hit.end),
            },
        }
    };
    known.gazetteer().find(line).into_iter().map(named).collect()
}

/// The length of a name's suffix in bytes: `-237`, `_Hard`.
fn running_on(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix(['-', '_'])?;
    let end = body.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(body.len());
    let (word, after) = body.split_at(end);
    let is_number = word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let letters = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_word = (2..=7).contains(&letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        && letters.starts_with(|letter: char| letter.is_ascii_uppercase());
    let continues = after.starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    ((is_number || is_word) && !continues && !is_technical(word)).then_some(1 + end)
}

/// A version from 1.0 to 3.9 after a name: its length in bytes and its number.
fn version(rest: &str) -> Option<(usize, &str)> {
    let body = rest.strip_prefix([' ', '-']).unwrap_or(rest);
    let body = body.strip_prefix('v').unwrap_or(body).trim_start_matches(' ');
    let number = body.get(..3)?;
    let bytes = number.as_bytes();
    let is_version = matches!(bytes[0], b'1'..=b'3') && bytes[1] == b'.' && bytes[2].is_ascii_digit();
    let continues = body[3..].starts_with(|letter: char| letter.is_ascii_digit() || letter == '%');
    (is_version && !continues).then(|| (rest.len() - body.len() + 3, number))
}

/// Known names with a year: `Road Challenge 2013`, `Road Challenge '13 and '14`.
fn editions(line: &str, known: &KnownDatasets) -> Vec<Named> {
    let mut found = Vec::new();
    for hit in known.editions().find(line) {
        let base = known.edition(hit.value);
        let (years, end) = years(line, hit.end);
        for year in years {
            let name = format!("{base} {year}");
            let span = (hit.start, end);
            let record = known.named(&name).filter(|found| found.record.is_some());
            let pairs = languages::pairs(line);
            let variant =
                |name: String| Named { name, record: None, source: NameSource::Edition, is_weak: false, span };
            if pairs.is_empty() {
                let title = record.map_or_else(|| name.clone(), |known| known.title.clone());
                found.push(Named { record: record.and_then(|known| known.record.clone()), ..variant(title) });
            }
            for (from, to) in pairs {
                let name = format!("{name} {from}-{to}");
                // The record of this pair, otherwise that of the whole year, which includes the pair.
                let own = known.named(&name).filter(|found| found.record.is_some()).or(record);
                found.push(Named { record: own.and_then(|known| known.record.clone()), ..variant(name) });
            }
        }
    }
    found
}

/// Years directly after `at`, four digits each, and where they end.
fn years(line: &str, at: usize) -> (Vec<String>, usize) {
    let mut years = Vec::new();
    let mut end = at;
    loop {
        let rest = &line[end..];
        let gap = match years.is_empty() {
            true => rest.len() - rest.trim_start_matches([' ', '-', '_', '\'', '’']).len(),
            false => match joint(rest) {
                Some(gap) => gap,
                None => break,
            },
        };
        let body = &rest[gap..];
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        let continues = body[digits..].starts_with(char::is_alphanumeric);
        let year = match (&body[..digits], continues || gap > 5) {
            (_, true) => None,
            (year, _) if years::year(year, years::RECENT).is_some() => Some(year.to_string()),
            (year, _) if digits == 2 && matches!(year.as_bytes()[0], b'0'..=b'2') => Some(format!("20{year}")),
            _ => None,
        };
        let Some(year) = year else { break };
        years.push(year);
        end += gap + digits;
    }
    (years, end)
}

fn joint(rest: &str) -> Option<usize> {
    let trimmed = rest.trim_start();
    let behind = ["and", "/", "&", ",", "+"].iter().find_map(|joint| trimmed.strip_prefix(joint))?;
    Some(rest.len() - behind.trim_start_matches([' ', '\'', '’']).len())
}

/// Short forms of known names that the document defines.
#[derive(Default)]
struct Aliases {
    gazetteer: Gazetteer,
    names: Vec<usize>,
}

fn aliases(lines: &Lines<'_>, known: &KnownDatasets) -> Aliases {
    let mut aliases = Aliases::default();
    for (_, line) in lines.iter() {
        for (short, long) in patterns::short_forms(line.text) {
            let meant = long.into_iter().find_map(|long| known.gazetteer().exact(long));
            if let Some(meant) = meant
                && known.gazetteer().exact(short).is_none()
                && aliases.names.len() < MAX_PATTERNS
            {
                aliases.gazetteer.add(short, aliases.names.len(), false);
                aliases.names.push(meant);
            }
        }
    }
    aliases
}

/// Names that the document itself introduces.
#[derive(Default)]
struct Called {
    gazetteer: Gazetteer,
    names: Vec<String>,
}

impl Called {
    fn add(&mut self, name: &str, known: &KnownDatasets) {
        let is_known = known.named(name).is_some() || self.gazetteer.exact(name).is_some();
        if !is_known && !is_technical(name) && self.names.len() < MAX_PATTERNS {
            self.gazetteer.add(name, self.names.len(), false);
            self.names.push(name.to_string());
        }
    }

    /// Adds short and long forms that the document gives for these names: they are the same names.
    fn add_forms(&mut self, lines: &Lines<'_>, known: &KnownDatasets) {
        if self.names.is_empty() {
            return;
        }
        for (short, long) in lines.iter().flat_map(|(_, line)| patterns::short_forms(line.text)) {
            let of_long = long.iter().find_map(|long| self.gazetteer.exact(long));
            let spelled = long.iter().rfind(|long| patterns::spells(long, short));
            let is_free = |name: &str, own: &Self| known.named(name).is_none() && own.gazetteer.exact(name).is_none();
            match (of_long, self.gazetteer.exact(short), spelled) {
                (Some(place), _, _) if is_free(short, self) => self.gazetteer.add(short, place, false),
                (None, Some(place), Some(long)) if is_free(long, self) => self.gazetteer.add(long, place, false),
                _ => {}
            }
        }
    }
}
