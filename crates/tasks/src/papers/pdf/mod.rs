//! The text of a PDF: lines in reading order, with headings and paragraph starts inferred from their looks. No images, no
//! outlines, no recognition of scanned pages.
//!
//! Objects, filters and decryption are hayro-syntax's; the text and position of codes ([`font`], [`content`]) and the order of
//! lines ([`layout`]) are determined here. Whatever a file does, [`read`] returns text or a [`PdfFault`] as long as time
//! and memory allow; `super::isolated` limits both.

mod content;
mod direction;
mod encoding;
mod font;
mod font_program;
mod layout;
mod matrix;
mod piece;

use std::fmt;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use serde::{Deserialize, Serialize};

use content::{Fonts, Shown};
use layout::{PlacedLine, median};

use super::line::TextLine;
use super::normalise::Joiner;
use lakeward_core::text::letters_and_digits;

/// Maximum number of pages of a PDF.
pub const MAX_PAGES: usize = 5000;
/// Maximum size of the text of a PDF, in bytes.
pub const MAX_TEXT_BYTES: usize = 16 << 20;

/// The text of a PDF.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdfText {
    /// The title in its metadata, or the largest text on its first page.
    pub title: Option<String>,
    /// Its pages.
    pub pages: Vec<Vec<TextLine>>,
}

/// Why a PDF gives no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PdfFault {
    /// It is an empty file.
    NoBytes,
    /// It does not begin like a PDF.
    NoPdf,
    /// It is damaged beyond repair.
    Damaged,
    /// It needs a password.
    PasswordProtected,
    /// Its encryption is unknown.
    UnknownEncryption,
    /// It has no page.
    NoPages,
    /// It has more than [`MAX_PAGES`].
    TooManyPages(usize),
    /// It has more text than [`MAX_TEXT_BYTES`].
    TooLong,
    /// Its pages are images.
    Scanned(usize),
    /// Its pages are empty.
    Empty(usize),
    /// Its fonts do not say which characters they show.
    UnknownCharacters,
}

impl fmt::Display for PdfFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = |count: &usize| lakeward_core::text::counted(*count as u64, "page");
        match self {
            Self::NoBytes => write!(f, "an empty file"),
            Self::NoPdf => write!(f, "not a PDF"),
            Self::Damaged => write!(f, "a damaged PDF: its pages cannot be found"),
            Self::PasswordProtected => write!(f, "encrypted: only a password opens it"),
            Self::UnknownEncryption => write!(f, "encrypted in a way that is not known"),
            Self::NoPages => write!(f, "a PDF without pages"),
            Self::TooManyPages(count) => write!(f, "{count} pages, more than {MAX_PAGES}"),
            Self::TooLong => write!(f, "more than {} MB of text", MAX_TEXT_BYTES >> 20),
            Self::Scanned(count) => {
                write!(f, "no text on {}, only images: a scan without recognised text", pages(count))
            }
            Self::Empty(count) => write!(f, "no text on {}", pages(count)),
            Self::UnknownCharacters => write!(f, "its fonts do not say which characters they show"),
        }
    }
}

/// Reads the text of a complete PDF.
///
/// # Errors
/// A [`PdfFault`] if there is no text.
pub fn read(bytes: Vec<u8>) -> Result<PdfText, PdfFault> {
    const HEAD_BYTES: usize = 1024;
    if bytes.is_empty() {
        return Err(PdfFault::NoBytes);
    }
    if memchr::memmem::find(&bytes[..bytes.len().min(HEAD_BYTES)], b"%PDF-").is_none() {
        return Err(PdfFault::NoPdf);
    }
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfFault::PasswordProtected,
        LoadPdfError::Decryption(_) => PdfFault::UnknownEncryption,
        LoadPdfError::Invalid => PdfFault::Damaged,
    })?;
    let count = pdf.pages().len();
    match count {
        0 => return Err(PdfFault::NoPages),
        _ if count > MAX_PAGES => return Err(PdfFault::TooManyPages(count)),
        _ => {}
    }
    let mut fonts = Fonts::default();
    let mut pages = Vec::with_capacity(count);
    let mut tally = Tally::default();
    for page in pdf.pages().iter() {
        let shown = content::show(page, &mut fonts, MAX_TEXT_BYTES - tally.bytes);
        tally.add(&shown);
        if tally.bytes > MAX_TEXT_BYTES {
            return Err(PdfFault::TooLong);
        }
        pages.push(page_lines(shown));
    }
    tally.check(count)?;
    let title = title(&pages, pdf.metadata().title.as_deref());
    Ok(PdfText { title, pages: marked(pages) })
}

#[derive(Default)]
struct Tally {
    bytes: usize,
    characters: usize,
    unknown_codes: usize,
    images: usize,
}

impl Tally {
    fn add(&mut self, shown: &Shown) {
        for piece in shown.pieces.iter().chain(&shown.turned) {
            self.bytes += piece.text.len();
            self.characters += piece.text.chars().filter(|c| c.is_alphanumeric()).count();
        }
        self.unknown_codes += shown.unknown_codes;
        self.images += shown.images;
    }

    /// A scan may have an archive's stamp on every page.
    fn check(&self, pages: usize) -> Result<(), PdfFault> {
        const MIN_CHARACTERS: usize = 20;
        if self.unknown_codes > 2 * self.characters {
            return Err(PdfFault::UnknownCharacters);
        }
        if self.images >= pages && self.characters < MIN_CHARACTERS * pages {
            return Err(PdfFault::Scanned(pages));
        }
        if self.characters == 0 { Err(PdfFault::Empty(pages)) } else { Ok(()) }
    }
}

/// The lines of a page; rotated ones at the end unless they are only a stamp in the margin.
fn page_lines(shown: Shown) -> Vec<PlacedLine> {
    const MIN_TURNED: f64 = 0.2;
    let length = |pieces: &[piece::Piece]| pieces.iter().map(|piece| piece.text.len()).sum::<usize>() as f64;
    let keep_turned = length(&shown.turned) > MIN_TURNED * length(&shown.pieces);
    let mut lines = layout::lines(shown.pieces);
    if keep_turned {
        lines.extend(layout::lines(shown.turned));
    }
    lines
}

/// Marks paragraph starts and headings by their looks: distance, indentation, size and weight compared with the running text.
fn marked(pages: Vec<Vec<PlacedLine>>) -> Vec<Vec<TextLine>> {
    const LARGER: f64 = 1.12;
    const LONGEST_HEADING_CHARS: usize = 120;
    let body = body_size(&pages);
    let bold_share = share_of(&pages, |line| line.is_bold);
    pages
        .into_iter()
        .map(|lines| {
            let leading = leading(&lines, body);
            let mut before: Option<&PlacedLine> = None;
            let mut marked = Vec::with_capacity(lines.len());
            for line in &lines {
                let starts_paragraph = before.is_none_or(|before| parts(before, line, leading));
                // If half of the text is bold, weight is no cue.
                let stands_out = line.size >= LARGER * body || (line.is_bold && bold_share < 0.5);
                let ends_open = !line.text.ends_with(['.', ',', ';', '-']);
                let has_word = line.text.chars().filter(|c| c.is_alphabetic()).count() >= 3;
                let is_heading =
                    stands_out && ends_open && has_word && line.text.chars().count() <= LONGEST_HEADING_CHARS;
                marked.push(TextLine { text: line.text.clone(), starts_paragraph, is_heading });
                before = Some(line);
            }
            marked
        })
        .collect()
}

/// The median type size.
fn body_size(pages: &[Vec<PlacedLine>]) -> f64 {
    let lines = pages.iter().flatten();
    median(lines.flat_map(|line| std::iter::repeat_n(line.size, line.text.len().div_ceil(8))))
}

fn share_of(pages: &[Vec<PlacedLine>], holds: impl Fn(&PlacedLine) -> bool) -> f64 {
    let length = |line: &PlacedLine| line.text.len() as f64;
    let all: f64 = pages.iter().flatten().map(length).sum();
    let held: f64 = pages.iter().flatten().filter(|line| holds(line)).map(length).sum();
    held / all.max(1.0)
}

/// The usual line spacing of the running text.
fn leading(lines: &[PlacedLine], body: f64) -> f64 {
    let steps = lines.windows(2).filter_map(|pair| {
        let step = pair[0].y - pair[1].y;
        (step > 0.5 * body && step < 3.0 * body).then_some(step)
    });
    match median(steps) {
        0.0 => 1.2 * body,
        step => step,
    }
}

/// Whether `after` begins a paragraph.
fn parts(before: &PlacedLine, after: &PlacedLine, leading: f64) -> bool {
    let step = before.y - after.y;
    let resized = (before.size - after.size).abs() > 0.08 * before.size.max(after.size);
    let ended = before.text.ends_with(['.', '!', '?', ':']);
    if resized || before.is_bold != after.is_bold && ended {
        return true;
    }
    if step < -0.5 * leading {
        // Another column.
        return ended && after.text.starts_with(|c: char| c.is_uppercase() || c.is_numeric());
    }
    let indent = after.left - before.left;
    step > 1.35 * leading || (ended && indent > 0.8 * after.size && indent < 5.0 * after.size)
}

/// The largest text at the top of the first page, otherwise the title in the metadata.
fn title(pages: &[Vec<PlacedLine>], metadata_title: Option<&[u8]>) -> Option<String> {
    const LARGER: f64 = 1.15;
    const HEAD_LINES: usize = 25;
    const MAX_LINES: usize = 6;
    let first = pages.first()?;
    let head = &first[..first.len().min(HEAD_LINES)];
    let worded = |line: &&PlacedLine| line.text.chars().filter(|c| c.is_alphabetic()).count() >= 4;
    let largest = head.iter().filter(worded).map(|line| line.size).fold(0.0, f64::max);
    let shown = || {
        let at = head.iter().position(|line| line.size >= 0.98 * largest && worded(&line))?;
        let close = |pair: &[PlacedLine]| {
            pair[1].size >= 0.9 * largest && (0.0..1.7 * largest).contains(&(pair[0].y - pair[1].y))
        };
        let more = head[at..].windows(2).take_while(|pair| close(pair)).count();
        let lines = head[at..].iter().take((more + 1).min(MAX_LINES));
        let joiner = Joiner::default();
        let mut title = String::new();
        lines.for_each(|line| joiner.append(&mut title, &line.text));
        Some(title)
    };
    let metadata_title = metadata_title.map(text_string).filter(|title| is_title(title));
    let on_page = |title: &String| {
        let squeezed = |text: &str| letters_and_digits(text).to_lowercase();
        squeezed(&head.iter().map(|line| line.text.as_str()).collect::<String>()).contains(&squeezed(title))
    };
    if let Some(title) = metadata_title.as_ref().filter(|title| on_page(title)) {
        return Some(title.clone());
    }
    if largest >= LARGER * body_size(pages) { shown() } else { metadata_title }
}

/// Whether a metadata title is more than a file name.
fn is_title(title: &str) -> bool {
    let lower = title.trim().to_lowercase();
    let words = lower.split_whitespace().count();
    let is_file = [".dvi", ".tex", ".doc", ".docx", ".pdf", ".indd", ".rtf"].iter().any(|end| lower.ends_with(end));
    words >= 2 && !is_file && !lower.starts_with("microsoft ") && !lower.contains("untitled")
}

/// A text string outside content: UTF-16 or UTF-8 with a byte order mark, otherwise roughly Latin-1.
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xFF, 0xFE, rest @ ..] => encoding_rs::UTF_16LE.decode_without_bom_handling(rest).0.into_owned(),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}
