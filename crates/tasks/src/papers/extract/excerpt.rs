//! The excerpt of a document for a language model: papers are long, and few of their sentences name datasets.
//!
//! The title and the abstract (without one, the first sentences) are always included; then, for each name that the rules find,
//! the sentence that best shows its use; then all others by
//!
//! ```text
//! rank(s) = max(0, 1.5 + strength of the best name in s) + ½·[words for datasets] + ½·[evaluates] + ¼·[a figure] − 1·[of others]
//! ```
//! until there are enough sentences or bytes. If the rules find nothing (another language, say), the excerpt is the start of the
//! document. The sentences are in document order, numbered from 1.

use serde_json::{Value, json};

use super::super::document::SectionKind;
use super::lines::Lines;
use super::mentions::Mentions;
use lakeward_models::llm::quote::clean;

/// Maximum characters of a sentence, of a heading and of the title.
const SENTENCE_CHARS: usize = 500;
const HEADING_CHARS: usize = 80;
const TITLE_CHARS: usize = 300;
/// Maximum bytes of the abstract.
const ABSTRACT_BYTES: usize = 2_000;
/// Sentences from the beginning of a document without an abstract.
const FIRST_SENTENCES: usize = 5;
/// Overhead of a sentence in bytes: its number and heading.
const FRAME_BYTES: usize = 40;

/// The size of an excerpt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcerptSize {
    /// Maximum number of sentences.
    pub sentences: usize,
    /// Maximum bytes.
    pub bytes: usize,
}

/// A sentence of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    /// Its line in the document.
    pub line: usize,
    /// Its text, cleaned and truncated.
    pub text: String,
    heading: String,
}

/// Sentences of a document, numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    title: String,
    sentences: Vec<Quoted>,
}

impl Excerpt {
    /// The best sentences of `lines`, which contain `mentions`.
    pub fn of(lines: &Lines<'_>, mentions: &Mentions, size: ExcerptSize) -> Self {
        let mut selected = Selected { sentences: Vec::new(), bytes: 0, size };
        let own_title = lines.get(0).text;
        selected.take(lines, 0);
        let is_sentence = |number: usize| !lines.get(number).is_heading;
        let all = || lines.iter().map(|(number, _)| number).filter(|number| is_sentence(*number));
        let is_abstract = |number: &usize| lines.get(*number).kind == SectionKind::Abstract;
        let has_abstract = all().any(|number| is_abstract(&number));
        let first: Vec<usize> = match has_abstract {
            true => all().filter(is_abstract).collect(),
            false => all().take(FIRST_SENTENCES).collect(),
        };
        for number in first {
            // Half of the excerpt is reserved for the rest of the document.
            let is_enough = selected.bytes > ABSTRACT_BYTES.min(size.bytes / 2);
            if is_enough || selected.sentences.len() > size.sentences / 2 {
                break;
            }
            selected.take(lines, number);
        }
        // Each name once, before any name twice.
        for number in best_of_names(mentions) {
            selected.take(lines, number);
        }
        let ranks = ranks(lines, mentions);
        let mut others: Vec<usize> = all().collect();
        others.sort_by(|a, b| ranks[*b].total_cmp(&ranks[*a]).then(a.cmp(b)));
        for number in others {
            if selected.is_full() {
                break;
            }
            selected.take(lines, number);
        }
        let mut sentences = selected.sentences;
        sentences.sort_by_key(|quoted| quoted.line);
        Self { title: clean(own_title, TITLE_CHARS), sentences }
    }

    /// The title.
    pub fn title(&self) -> Value {
        json!(self.title)
    }

    /// The sentences as JSON for the model.
    pub fn to_json(&self) -> Value {
        let one =
            |(number, quoted): (usize, &Quoted)| json!({"n": number, "heading": quoted.heading, "text": quoted.text});
        Value::Array((1..).zip(&self.sentences).map(one).collect())
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Sentence `number`, from 1.
    pub fn get(&self, number: usize) -> Option<&Quoted> {
        self.sentences.get(number.checked_sub(1)?)
    }

    /// All of it as one text.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.sentences.iter().map(|quoted| quoted.text.as_str()).collect();
        format!("{} {}", self.title, texts.join(" "))
    }
}

struct Selected {
    sentences: Vec<Quoted>,
    bytes: usize,
    size: ExcerptSize,
}

impl Selected {
    fn is_full(&self) -> bool {
        self.sentences.len() >= self.size.sentences || self.bytes + FRAME_BYTES >= self.size.bytes
    }

    fn take(&mut self, lines: &Lines<'_>, line: usize) {
        if self.is_full() || self.sentences.iter().any(|quoted| quoted.line == line) {
            return;
        }
        let text = clean(lines.get(line).text, SENTENCE_CHARS);
        let heading = if line == 0 { "title".to_string() } else { clean(lines.heading(line), HEADING_CHARS) };
        let bytes = text.len() + heading.len() + FRAME_BYTES;
        if text.is_empty() || self.bytes + bytes > self.size.bytes {
            return;
        }
        self.bytes += bytes;
        self.sentences.push(Quoted { line, text, heading });
    }
}

/// The best line of each name, the most used names first.
fn best_of_names(mentions: &Mentions) -> Vec<usize> {
    let strength = |places: &[(usize, f64)]| places.iter().map(|(_, strength)| *strength).fold(f64::MIN, f64::max);
    let mut best: Vec<(f64, usize)> =
        mentions.iter().filter_map(|mention| Some((strength(&mention.places), mention.best()?))).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.into_iter().map(|(_, line)| line).collect()
}

/// How informative each line is about datasets, according to the rules.
fn ranks(lines: &Lines<'_>, mentions: &Mentions) -> Vec<f64> {
    const NAMED: f64 = 1.5;
    let mut ranks: Vec<f64> = lines
        .iter()
        .map(|(_, line)| {
            let holds = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
            let of_others = matches!(line.kind, SectionKind::Background | SectionKind::Acknowledgements);
            holds(line.cues.names_data, 0.5) + holds(line.cues.evaluates, 0.5) + holds(line.cues.has_figure, 0.25)
                - holds(of_others, 1.0)
        })
        .collect();
    let mut named = vec![0.0; ranks.len()];
    for (line, strength) in mentions.iter().flat_map(|mention| &mention.places) {
        named[*line] = f64::max(named[*line], NAMED + strength);
    }
    ranks.iter_mut().zip(named).for_each(|(rank, named)| *rank += named);
    ranks
}
