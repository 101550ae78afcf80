//! Splits the lines of a document into title, sections and references.
//!
//! A heading is a line that its format marks or that stands out on its page, or one that begins a paragraph and looks like a
//! heading: a usual name (`Introduction`, `References`), alone or after a number, or a few words after a number (`3.1 Corpora`).

use super::document::{Section, SectionKind};
use super::line::TextLine;
use super::normalise::{self, Joiner};
use lakeward_core::text::letters_and_digits;

const LONGEST_HEADING_CHARS: usize = 120;
const LONGEST_TITLE_CHARS: usize = 300;
/// Maximum number of sections; later text stays in the last one.
const MAX_SECTIONS: usize = 1000;
/// Maximum number of words of a numbered heading.
const MAX_NUMBERED_WORDS: usize = 12;

/// The parts of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Sections with text, in order.
    pub sections: Vec<Section>,
    /// The list of references.
    pub references: String,
}

/// Splits lines into parts. `title` is the format's; without it, the first line if it looks like a title.
pub fn parts(lines: Vec<TextLine>, title: Option<&str>) -> Parts {
    let lines: Vec<TextLine> = lines
        .into_iter()
        .map(|line| TextLine { text: normalise::line(&line.text), ..line })
        .filter(|line| !line.text.is_empty())
        .collect();
    let joiner = Joiner::new(lines.iter().map(|line| line.text.as_str()));
    let mut division = Division {
        title: title.map(tidy_title).filter(|title| !title.is_empty()),
        sections: Vec::new(),
        references: String::new(),
        in_references: false,
    };
    let mut rest = lines.as_slice();
    if division.title.is_none() {
        let length = title_lines(rest);
        if length > 0 {
            let mut title = String::new();
            rest[..length].iter().for_each(|line| joiner.append(&mut title, unmarked(&line.text)));
            division.title = Some(tidy_title(&title));
            rest = &rest[length..];
        }
    } else {
        rest = &rest[given_title(rest, division.title.as_deref().unwrap_or_default())..];
    }
    for (at, line) in rest.iter().enumerate() {
        let is_alone = rest.get(at + 1).is_none_or(|next| next.starts_paragraph || next.is_heading);
        division.add(line, is_alone, &joiner);
    }
    let Division { title, sections, references, .. } = division;
    let mut sections: Vec<Section> = sections.into_iter().filter(|section| !section.text.is_empty()).collect();
    name_abstract(&mut sections);
    Parts { title, sections, references }
}

/// Without a section `Abstract`, text before the introduction is the abstract.
fn name_abstract(sections: &mut [Section]) {
    const MIN_BYTES: usize = 200;
    let has_one = sections.iter().any(|section| section.kind == SectionKind::Abstract);
    if let [first, second, ..] = sections
        && !has_one
        && first.heading.is_empty()
        && first.text.len() >= MIN_BYTES
        && second.kind == SectionKind::Introduction
    {
        first.kind = SectionKind::Abstract;
    }
}

struct Division {
    title: Option<String>,
    sections: Vec<Section>,
    references: String,
    in_references: bool,
}

impl Division {
    fn add(&mut self, line: &TextLine, is_alone: bool, joiner: &Joiner) {
        if let Some(heading) = heading(line, is_alone) {
            let lower = heading.to_lowercase();
            self.in_references = is_references(&lower);
            if !self.in_references && self.sections.len() < MAX_SECTIONS {
                self.sections.push(Section { kind: kind_of(&lower), heading, text: String::new() });
            }
            return;
        }
        if line.starts_paragraph
            && !self.in_references
            && self.sections.len() < MAX_SECTIONS
            && let Some((name, rest)) = run_in_abstract(&line.text)
        {
            let section = Section { kind: SectionKind::Abstract, heading: name.to_string(), text: rest.to_string() };
            self.sections.push(section);
            return;
        }
        if !self.in_references && self.sections.is_empty() {
            self.sections.push(Section { kind: SectionKind::Other, heading: String::new(), text: String::new() });
        }
        let text = match self.sections.last_mut() {
            Some(section) if !self.in_references => &mut section.text,
            _ => &mut self.references,
        };
        if line.starts_paragraph && !text.is_empty() && !continues(text, &line.text) {
            text.push('\n');
        }
        joiner.append(text, &line.text);
    }
}

/// Whether two paragraphs are one, split by a page break or figure: an open end, followed by lower case.
fn continues(before: &str, after: &str) -> bool {
    let is_open = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '-' | '\u{AD}'));
    is_open && after.starts_with(char::is_lowercase)
}

/// How many of the first lines are the title: marked ones, or one short paragraph that is not a usual heading.
fn title_lines(lines: &[TextLine]) -> usize {
    const MAX_LINES: usize = 5;
    const MAX_WORDS: usize = 30;
    let Some(first) = lines.first() else { return 0 };
    if heading(first, true).is_some_and(|heading| is_usual(&heading.to_lowercase())) {
        return 0;
    }
    if first.is_heading || mark(&first.text).is_some_and(|(name, _)| is_title_mark(name)) {
        return 1;
    }
    let more = lines[1..].iter().take_while(|line| !line.starts_paragraph && !line.is_heading).count();
    let words: usize = lines[..=more].iter().map(|line| line.text.split(' ').count()).sum();
    let ends_open = !lines[more].text.ends_with(['.', ',', ';']);
    // A document of one paragraph is its text, not its title.
    if more < MAX_LINES && words <= MAX_WORDS && ends_open && lines.len() > more + 1 { more + 1 } else { 0 }
}

/// How many of the first lines only repeat the known title.
fn given_title(lines: &[TextLine], title: &str) -> usize {
    const MAX_LINES: usize = 6;
    let squeezed = |text: &str| letters_and_digits(text).to_lowercase();
    let title = squeezed(title);
    let mut begun = String::new();
    for (at, line) in lines.iter().take(MAX_LINES).enumerate() {
        begun.push_str(&squeezed(unmarked(&line.text)));
        if begun == title {
            return at + 1;
        }
        if !title.starts_with(&begun) {
            return 0;
        }
    }
    0
}

fn tidy_title(title: &str) -> String {
    let line = normalise::line(&title.replace('\u{AD}', ""));
    match line.char_indices().nth(LONGEST_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// The heading on a line, without its number.
fn heading(line: &TextLine, is_alone: bool) -> Option<String> {
    let text = line.text.trim_end_matches([':', '.']).trim();
    if text.is_empty() || text.chars().nth(LONGEST_HEADING_CHARS).is_some() {
        return None;
    }
    if let Some((name, rest)) = mark(text) {
        return (!is_title_mark(name) && !rest.is_empty()).then(|| rest.to_string());
    }
    let (number, words) = numbered(text);
    if words.is_empty() {
        return None;
    }
    if line.is_heading {
        return Some(words.to_string());
    }
    if !line.starts_paragraph {
        return None;
    }
    if is_usual(&words.to_lowercase()) {
        return Some(words.to_string());
    }
    let looks_like_one = number.is_some()
        && is_alone
        && !line.text.ends_with(['.', ',', ';'])
        && !text.contains("..")
        && words.starts_with(char::is_uppercase)
        && words.split(' ').count() <= MAX_NUMBERED_WORDS
        && !words.contains(['.', '=', '?', '!'])
        && words.chars().filter(|c| c.is_alphabetic()).count() >= 4;
    looks_like_one.then(|| words.to_string())
}

/// `Section: Introduction`, as document parsers write it.
fn mark(text: &str) -> Option<(&str, &str)> {
    const MARKS: [&str; 8] =
        ["section", "subsection", "subsubsection", "chapter", "paragraph", "bibliography", "document", "title"];
    let (name, rest) = text.split_once(':')?;
    MARKS.iter().any(|mark| name.eq_ignore_ascii_case(mark)).then(|| (name, rest.trim()))
}

fn is_title_mark(name: &str) -> bool {
    name.eq_ignore_ascii_case("document") || name.eq_ignore_ascii_case("title")
}

/// The text of a line after a title mark.
fn unmarked(text: &str) -> &str {
    match mark(text) {
        Some((name, rest)) if is_title_mark(name) => rest,
        _ => text,
    }
}

/// The number before a heading (`3`, `3.1.`, `IV.`, `A.2`) and the words after it.
fn numbered(text: &str) -> (Option<&str>, &str) {
    let Some((first, rest)) = text.split_once(' ') else { return (None, text) };
    let bare = first.trim_end_matches(['.', ')']);
    let parts: Vec<&str> = bare.split('.').collect();
    let is_part = |(at, part): (usize, &&str)| {
        let figure = !part.is_empty() && part.len() <= 2 && part.chars().all(|c| c.is_ascii_digit());
        let roman = part.len() <= 5 && !part.is_empty() && part.chars().all(|c| "IVX".contains(c));
        let letter = part.len() == 1 && part.chars().all(|c| c.is_ascii_uppercase());
        figure || (at == 0 && (roman || letter))
    };
    let is_number = parts.len() <= 4 && parts.iter().enumerate().all(is_part);
    // `A Title` begins with a word.
    let is_word = bare == "A" || bare == "I";
    if is_number && !(is_word && first == bare) { (Some(first), rest.trim()) } else { (None, text) }
}

/// `Abstract—We show …`, `Abstract. We show …`: the name and the text after it.
fn run_in_abstract(text: &str) -> Option<(&str, &str)> {
    let name = ["Abstract", "ABSTRACT", "Summary", "SUMMARY"].into_iter().find(|name| text.starts_with(name))?;
    let rest = text[name.len()..].trim_start();
    let rest = rest.strip_prefix(['.', ':', '—', '–', '-'])?.trim_start_matches(['—', '–', '-', ' ']);
    (!rest.is_empty()).then_some((name, rest))
}

fn is_references(lower: &str) -> bool {
    ["references", "bibliography", "literature cited", "works cited", "literature", "reference", "references and notes"]
        .contains(&lower)
}

/// Headings that are recognised without a number or a mark.
fn is_usual(lower: &str) -> bool {
    const USUAL: [&str; 42] = [
        "abstract",
        "summary",
        "introduction",
        "related work",
        "related works",
        "background",
        "preliminaries",
        "motivation",
        "method",
        "methods",
        "methodology",
        "our approach",
        "approach",
        "proposed method",
        "model",
        "models",
        "data",
        "dataset",
        "datasets",
        "data sets",
        "data and methods",
        "materials and methods",
        "corpus",
        "corpora",
        "experiments",
        "experiment",
        "experimental setup",
        "experimental results",
        "evaluation",
        "implementation details",
        "results",
        "results and discussion",
        "analysis",
        "ablation study",
        "discussion",
        "conclusion",
        "conclusions",
        "conclusion and future work",
        "limitations",
        "acknowledgements",
        "acknowledgments",
        "appendix",
    ];
    is_references(lower) || USUAL.contains(&lower) || ["keywords", "future work", "acknowledgement"].contains(&lower)
}

/// The kind of a section by the words of its heading; the first matching rule.
fn kind_of(lower: &str) -> SectionKind {
    const RULES: [(SectionKind, &[&str]); 10] = [
        (SectionKind::Abstract, &["abstract", "summary"]),
        (SectionKind::Acknowledgements, &["acknowledg"]),
        (SectionKind::Appendix, &["appendi", "supplement"]),
        (SectionKind::Introduction, &["introduc", "motivation"]),
        (
            SectionKind::Background,
            &["related", "background", "previous work", "prior work", "prelimin", "literature", "state of the art"],
        ),
        (
            SectionKind::Data,
            &["data", "corpus", "corpora", "benchmark", "material", "image set", "test set", "training set"],
        ),
        (
            SectionKind::Experiments,
            &["experiment", "evaluation", "setup", "setting", "implementation", "training detail", "baseline"],
        ),
        (SectionKind::Results, &["result", "analysis", "ablation", "comparison", "finding", "performance"]),
        (SectionKind::Conclusion, &["conclu", "discussion", "future", "limitation", "outlook"]),
        (
            SectionKind::Method,
            &[
                "method",
                "approach",
                "model",
                "architecture",
                "framework",
                "algorithm",
                "network",
                "proposed",
                "learning",
            ],
        ),
    ];
    let fits = |parts: &&[&str]| parts.iter().any(|part| has_word(lower, part));
    RULES.iter().find(|(_, parts)| fits(parts)).map_or(SectionKind::Other, |(kind, _)| *kind)
}

/// Whether a word of `text` begins with `part`.
fn has_word(text: &str, part: &str) -> bool {
    let begins = |(at, _): (usize, &str)| text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(part).any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Parts {
        parts(TextLine::of_plain(text), None)
    }

    fn headings(parts: &Parts) -> Vec<(SectionKind, &str)> {
        parts.sections.iter().map(|section| (section.kind, section.heading.as_str())).collect()
    }

    #[test]
    fn a_paper_in_plain_text_is_split() {
        let found = plain(
            "Learning to Segment\nfrom Few Examples\n\nAnn Lee, Bo Li\n\nAbstract\nWe seg-\nment images.\n\n1 Introduction\n\nImages are\nmany.\n\n\
             They are large.\n\n3.1 Corpora and Splits\n\nWe use CIFAR-10.\n\n2. We also count words.\n\nIV. RESULTS\n\nGood.\n\nReferences\n\n\
             [1] A. B. Title.\n\nAppendix\n\nMore.",
        );
        assert_eq!(found.title.as_deref(), Some("Learning to Segment from Few Examples"));
        assert_eq!(
            headings(&found),
            [
                (SectionKind::Other, ""),
                (SectionKind::Abstract, "Abstract"),
                (SectionKind::Introduction, "Introduction"),
                (SectionKind::Data, "Corpora and Splits"),
                (SectionKind::Results, "RESULTS"),
                (SectionKind::Appendix, "Appendix"),
            ]
        );
        assert_eq!(found.sections[1].text, "We segment images.");
        assert_eq!(found.sections[2].text, "Images are many.\nThey are large.");
        assert!(found.sections[3].text.ends_with("2. We also count words."));
        assert_eq!(found.references, "[1] A. B. Title.");
    }

    #[test]
    fn marks_and_run_in_abstracts_are_known() {
        let found = plain(
            "document: A Title of Things\nWe begin.\n\nsection: Data and Tasks\nWe use it.\n\nsubsection: Results\nGood.",
        );
        assert_eq!(found.title.as_deref(), Some("A Title of Things"));
        assert_eq!(
            headings(&found),
            [(SectionKind::Other, ""), (SectionKind::Data, "Data and Tasks"), (SectionKind::Results, "Results")]
        );
        let found = plain("A Title\n\nAbstract—We show it.\n\n1. Introduction\n\nText.");
        assert_eq!(
            headings(&found),
            [(SectionKind::Abstract, "Abstract"), (SectionKind::Introduction, "Introduction")]
        );
        assert_eq!(found.sections[0].text, "We show it.");
    }

    #[test]
    fn text_alone_has_no_title_and_one_section() {
        let found = plain("Only a sentence is here");
        assert_eq!((found.title, found.sections.len()), (None, 1));
        assert_eq!(plain(""), Parts { title: None, sections: vec![], references: String::new() });
    }

    #[test]
    fn a_known_title_is_not_repeated() {
        let lines = TextLine::of_plain("Deep Nets\nfor All\nAnn Lee\n\nAbstract\n\nWe do.");
        let found = parts(lines, Some("Deep nets for all"));
        assert_eq!(found.sections[0].text, "Ann Lee");
    }
}
