//! Reads a file into documents: detects its format, decodes its text, with bounds on everything.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use sha2::{Digest, Sha256};

use super::document::{Document, DocumentSource, Fingerprint};
use super::isolated::PdfReader;
use super::json_lines;
use super::line::TextLine;
use super::markdown;
use super::normalise;
use super::running_heads::without_running_heads;
use super::sections::{Parts, parts};

/// Maximum size of a document in bytes, as text or as a line of JSON.
pub const MAX_DOCUMENT_BYTES: u64 = 16 << 20;
/// Maximum number of documents per file.
pub const MAX_DOCUMENTS: u64 = 200_000;
/// Incremented whenever the same file would give a different text: files read by earlier versions are then read again.
pub const READER_VERSION: u32 = 1;
/// Maximum unpacked size of a JSON lines file in bytes: a small file may unpack to anything.
const MAX_UNPACKED_BYTES: u64 = 16 << 30;
/// Maximum number of characters of an id.
const LONGEST_ID_CHARS: usize = 200;

/// The format of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// `.pdf`
    Pdf,
    /// `.txt`, `.text`
    Plain,
    /// `.md`, `.markdown`
    Markdown,
    /// `.jsonl`, `.ndjson`, also compressed (`.gz`, `.zst`)
    JsonLines,
}

impl DocumentFormat {
    /// The known file extensions.
    pub const ENDINGS: &'static str =
        ".pdf, .txt, .text, .md, .markdown, .jsonl, .ndjson, also .jsonl.gz and .jsonl.zst";

    /// The format of a file of this name.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
        let (_, ending) = bare.unwrap_or(&name).rsplit_once('.')?;
        match ending {
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ if bare.is_some() => None,
            "pdf" => Some(Self::Pdf),
            "txt" | "text" => Some(Self::Plain),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }
}

/// The result of reading a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Documents in it.
    pub documents: u64,
    /// What is missing, if anything.
    pub missing: Option<String>,
}

/// Receives the documents of a file one by one; an error with a reason stops the reading.
pub type Found<'f> = &'f mut dyn FnMut(Document) -> Result<(), String>;

/// SHA-256 of a file's bytes.
///
/// # Errors
/// The operating system's.
pub fn fingerprint_of(path: &Path) -> std::io::Result<Fingerprint> {
    const CHUNK_BYTES: usize = 1 << 18;
    let mut input = File::open(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match input.read(&mut chunk)? {
            0 => return Ok(Fingerprint::of(hash)),
            length => hash.update(&chunk[..length]),
        }
    }
}

/// Reads a file and passes each document to `found`.
///
/// # Errors
/// One clause that says why there is no document; errors of `found`.
pub fn read(path: &Path, format: DocumentFormat, pdf: &PdfReader, found: Found<'_>) -> Result<Reading, String> {
    let stem = stem_of(path);
    let source = DocumentSource { path: path.to_string_lossy().into_owned(), line: None };
    let parts = match format {
        DocumentFormat::JsonLines => return read_json_lines(path, &stem, found),
        DocumentFormat::Pdf => {
            let text = pdf.read(path)?;
            parts(without_running_heads(text.pages), text.title.as_deref())
        }
        DocumentFormat::Plain => {
            let text = decoded(path)?;
            let pages = text.split('\u{C}').map(TextLine::of_plain).collect();
            parts(without_running_heads(pages), None)
        }
        DocumentFormat::Markdown => {
            let (lines, title) = markdown::lines(&decoded(path)?);
            parts(lines, title.as_deref())
        }
    };
    if parts.sections.is_empty() && parts.references.is_empty() {
        return Err("no text in it".into());
    }
    found(document(stem, parts, source))?;
    Ok(Reading { documents: 1, missing: None })
}

/// The name of a file without its extensions.
fn stem_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    tidy_id(bare.rsplit_once('.').map_or(bare, |(stem, _)| stem))
}

fn tidy_id(id: &str) -> String {
    let id: String = normalise::line(id).chars().take(LONGEST_ID_CHARS).collect();
    if id.is_empty() { "document".into() } else { id }
}

fn document(id: String, parts: Parts, source: DocumentSource) -> Document {
    let title = parts.title.unwrap_or_else(|| first_words(&parts.sections, &id));
    let mut document = Document {
        id,
        title,
        sections: parts.sections,
        references: parts.references,
        year: None,
        doi: None,
        url: None,
        source,
        fingerprint: Fingerprint::of(Sha256::new()),
    };
    document.fingerprint = document.content_fingerprint();
    document
}

/// A substitute for a missing title.
fn first_words(sections: &[super::document::Section], id: &str) -> String {
    const MAX_CHARS: usize = 100;
    let Some(first) = sections.iter().find_map(|section| section.sentences().first().map(|found| found.to_string()))
    else {
        return id.to_string();
    };
    match first.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", first[..end].rsplit_once(' ').map_or(&first[..end], |(words, _)| words)),
        None => first,
    }
}

/// The text of a whole file: UTF-8, UTF-16 with a byte order mark, otherwise the most likely legacy encoding.
fn decoded(path: &Path) -> Result<String, String> {
    const MAX_STRAY: usize = 16;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(format!("longer than {} MB, the longest document that is read", MAX_DOCUMENT_BYTES >> 20));
    }
    let encoding = match Encoding::for_bom(&bytes) {
        Some((encoding, _)) => encoding,
        None if std::str::from_utf8(&bytes).is_ok() => UTF_8,
        None => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(&bytes[..bytes.len().min(1 << 16)], true);
            detector.guess(None, Utf8Detection::Deny)
        }
    };
    let (text, _, _) = encoding.decode(&bytes);
    let is_binary = |c: char| (c.is_control() && !c.is_whitespace()) || c == '\u{FFFD}';
    let head = text.chars().take(1 << 14);
    let (count, binary) = head.fold((0, 0), |(count, binary), c| (count + 1, binary + usize::from(is_binary(c))));
    // Text may have a few control characters; binaries and images have many.
    if binary > MAX_STRAY && binary * 20 > count {
        return Err("not text".into());
    }
    Ok(text.into_owned())
}

fn read_json_lines(path: &Path, stem: &str, found: Found<'_>) -> Result<Reading, String> {
    /// Maximum number of lines whose reason is reported.
    const MAX_REASONS: usize = 3;
    let mut input = opened(path)?;
    let mut reading = Reading::default();
    let mut reasons: Vec<String> = Vec::new();
    let mut skipped = 0u64;
    let mut line = Vec::new();
    let mut left_bytes = MAX_UNPACKED_BYTES;
    for number in 1u64.. {
        let next = next_line(&mut input, &mut line, &mut left_bytes);
        let outcome = match next {
            Ok(NextLine::End) => break,
            Ok(NextLine::TooLong) => Err(format!("longer than {} MB", MAX_DOCUMENT_BYTES >> 20)),
            Ok(NextLine::Whole) if line.trim_ascii().is_empty() => continue,
            Ok(NextLine::Whole) if reading.documents == MAX_DOCUMENTS => {
                reasons.push(format!("from line {number} on: more than {MAX_DOCUMENTS} documents"));
                skipped += 1;
                break;
            }
            Ok(NextLine::Whole) => json_document(&line, number, stem, path),
            // A compressed stream that is truncated or damaged.
            Err(error) => {
                reasons.push(format!("from line {number} on: {error}"));
                skipped += 1;
                break;
            }
        };
        match outcome {
            Ok(document) => {
                found(document)?;
                reading.documents += 1;
            }
            Err(reason) => {
                skipped += 1;
                if reasons.len() < MAX_REASONS {
                    reasons.push(format!("line {number}: {reason}"));
                }
            }
        }
    }
    if skipped > 0 {
        let more = skipped - reasons.len() as u64;
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        reading.missing = Some(format!("{}{more}", reasons.join("; ")));
    }
    match (reading.documents, &reading.missing) {
        (0, Some(reason)) => Err(reason.clone()),
        (0, None) => Err("no document in it".into()),
        _ => Ok(reading),
    }
}

fn json_document(line: &[u8], number: u64, stem: &str, path: &Path) -> Result<Document, String> {
    let read = json_lines::parse(line)?;
    let parts = parts(read.lines, read.title.as_deref());
    if parts.sections.is_empty() && parts.title.is_none() {
        return Err("no text in it".into());
    }
    let source = DocumentSource { path: path.to_string_lossy().into_owned(), line: Some(number) };
    let id = read.id.map_or_else(|| tidy_id(&format!("{stem}:{number}")), |id| tidy_id(&id));
    let (doi, url) = (read.doi.map(|doi| normalise::line(&doi)), read.url.map(|url| normalise::line(&url)));
    Ok(Document { year: read.year, doi, url, ..document(id, parts, source) })
}

/// Opens a file of lines, decompressed if necessary.
fn opened(path: &Path) -> Result<Box<dyn BufRead>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut input = BufReader::with_capacity(1 << 17, file);
    let head = input.fill_buf().map_err(|error| error.to_string())?;
    Ok(match head {
        [0x1F, 0x8B, ..] => Box::new(BufReader::with_capacity(1 << 17, flate2::bufread::MultiGzDecoder::new(input))),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => {
            let decoder = zstd::stream::read::Decoder::with_buffer(input).map_err(|error| error.to_string())?;
            Box::new(BufReader::with_capacity(1 << 17, decoder))
        }
        _ => Box::new(input),
    })
}

enum NextLine {
    Whole,
    TooLong,
    End,
}

/// Reads the next line; a line that is too long is discarded.
fn next_line(input: &mut dyn BufRead, line: &mut Vec<u8>, left_bytes: &mut u64) -> std::io::Result<NextLine> {
    line.clear();
    let mut length = 0u64;
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(match length {
                0 => NextLine::End,
                1..=MAX_DOCUMENT_BYTES => NextLine::Whole,
                _ => NextLine::TooLong,
            });
        }
        let end = memchr::memchr(b'\n', chunk);
        let taken = end.unwrap_or(chunk.len());
        length += taken as u64;
        let Some(left) = left_bytes.checked_sub(taken as u64 + 1) else {
            return Err(std::io::Error::other(format!("more than {} GB unpacked", MAX_UNPACKED_BYTES >> 30)));
        };
        *left_bytes = left;
        if length <= MAX_DOCUMENT_BYTES {
            line.extend_from_slice(&chunk[..taken]);
        } else {
            *line = Vec::new();
        }
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(if length <= MAX_DOCUMENT_BYTES { NextLine::Whole } else { NextLine::TooLong });
        }
    }
}
