//! Decodes the bytes of a file into a window of valid UTF-8 that slides over its text.
//!
//! [`Text`] unpacks (gzip and zstd are recognised by their first bytes, not by the file's name), decodes, removes NUL bytes
//! and returns text; it does not split rows. The encoding is decided on the head of the file, but every later byte is checked
//! as well: at an invalid byte in a UTF-8 text, decoding goes on with a legacy encoding if everything before was ASCII (so
//! nothing read so far was wrong); otherwise only that byte is read as Windows-1252. UTF-8, the usual case, is checked in
//! bulk and never copied.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, WINDOWS_1258};

use super::hash::StreamHash;
use super::report::{ReadReport, RepairKind};
use crate::storage::{self, File};
use lakeward_core::error::{Error, Result};

/// Files up to this size are read at once.
const WHOLE_FILE_BYTES: u64 = 4 << 20;
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes from which the encoding is guessed.
const GUESS_BYTES: usize = 1 << 14;

/// A sliding window of UTF-8 text over a file.
pub(super) struct Text {
    input: Box<dyn Read + Send>,
    read_bytes: Arc<AtomicU64>,
    file_bytes: u64,
    buffer: Vec<u8>,
    start: usize,
    charset: Charset,
    /// Bytes of a sequence that the last chunk cut in two.
    carry: Vec<u8>,
    ended: bool,
    packed: bool,
    damage: Option<String>,
    nul_bytes: u64,
    undecodable_bytes: u64,
}

enum Charset {
    Utf8 { ascii_only: bool },
    Other { decoder: Decoder, guessed: bool },
}

impl Text {
    /// Opens a regular file and decodes its beginning.
    ///
    /// # Errors
    /// The operating system's; [`Error::Unreadable`] for an empty file, for binary data, and for markup.
    pub(super) fn open(path: &Path) -> Result<Text> {
        Text::of(path, open_bytes(path)?)
    }

    /// As [`Text::open`]; the bytes read from disk are also hashed.
    pub(super) fn open_hashed(path: &Path, hash: Arc<Mutex<StreamHash>>) -> Result<Text> {
        Text::of(path, open_bytes_hashed(path, Some(hash))?)
    }

    /// As [`Text::open`], of markup too.
    pub(super) fn open_any(path: &Path) -> Result<Text> {
        let opened = open_bytes(path)?;
        let mut text = Text::begin(opened.input, opened.read_bytes, opened.file_bytes, opened.packed);
        let raw = text.read_raw(Vec::new(), opened.first_chunk_bytes);
        text.take_head(raw);
        Ok(text)
    }

    /// The UTF-8 text `rows`, of `bytes` bytes, made from a file of which `read_bytes` were read.
    pub(super) fn of_rows(rows: Box<dyn Read + Send>, bytes: u64, read_bytes: u64) -> Text {
        let mut text = Text::begin(rows, Arc::new(AtomicU64::new(read_bytes)), bytes, false);
        let raw = text.read_raw(Vec::new(), CHUNK_BYTES);
        text.take_chunk(raw);
        text
    }

    fn begin(input: Box<dyn Read + Send>, read_bytes: Arc<AtomicU64>, file_bytes: u64, packed: bool) -> Text {
        Text {
            input,
            read_bytes,
            file_bytes,
            buffer: Vec::new(),
            start: 0,
            charset: Charset::Utf8 { ascii_only: true },
            carry: Vec::new(),
            ended: false,
            packed,
            damage: None,
            nul_bytes: 0,
            undecodable_bytes: 0,
        }
    }

    fn of(path: &Path, opened: OpenedBytes) -> Result<Text> {
        let mut text = Text::begin(opened.input, opened.read_bytes, opened.file_bytes, opened.packed);
        let raw = text.read_raw(Vec::new(), opened.first_chunk_bytes);
        if raw.is_empty() {
            let reason =
                text.damage.take().map_or("empty file".into(), |why| format!("damaged compressed stream: {why}"));
            return Err(Error::unreadable(path, reason));
        }
        if let Some(reason) = refusal(&raw) {
            return Err(Error::unreadable(path, reason));
        }
        text.take_head(raw);
        Ok(text)
    }

    fn take_head(&mut self, raw: Vec<u8>) {
        if let Some((encoding, mark_bytes)) = Encoding::for_bom(&raw) {
            if encoding == UTF_8 {
                self.start = mark_bytes;
                return self.take_chunk(raw);
            }
            self.charset = Charset::Other { decoder: encoding.new_decoder_with_bom_removal(), guessed: false };
        } else if let Some(encoding) = utf16_by_nuls(&raw) {
            self.charset = Charset::Other { decoder: encoding.new_decoder_without_bom_handling(), guessed: true };
        }
        self.take_chunk(raw);
    }

    /// The text from the current position on, as far as it has been read.
    pub(super) fn window(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Moves the current position forward.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.buffer.len());
    }

    /// Whether the window reaches the end of the text.
    pub(super) fn at_end(&self) -> bool {
        self.ended
    }

    /// Why the stream ended early, if it did.
    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Lengthens the window by about a megabyte, or to the end.
    pub(super) fn fill(&mut self) {
        if self.ended {
            return;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        if matches!(self.charset, Charset::Utf8 { .. }) {
            let from = self.buffer.len();
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.append(&mut self.carry);
            let buffer = self.read_raw(buffer, CHUNK_BYTES);
            return self.check_utf8(buffer, from);
        }
        let carry = std::mem::take(&mut self.carry);
        let raw = self.read_raw(carry, CHUNK_BYTES);
        self.take_chunk(raw);
    }

    /// Appends up to `count` bytes of the unpacked file to `raw`.
    fn read_raw(&mut self, mut raw: Vec<u8>, count: usize) -> Vec<u8> {
        let mut filled = raw.len();
        let target = filled + count;
        raw.resize(target, 0);
        while filled < target {
            match self.input.read(&mut raw[filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.damage = Some(error.to_string());
                    break;
                }
            }
        }
        raw.truncate(filled);
        raw
    }

    /// Decodes a chunk and appends it to the window.
    fn take_chunk(&mut self, raw: Vec<u8>) {
        let from = self.buffer.len();
        match &mut self.charset {
            Charset::Utf8 { .. } if from == 0 => self.check_utf8(raw, 0),
            Charset::Utf8 { .. } => {
                let mut buffer = std::mem::take(&mut self.buffer);
                buffer.extend_from_slice(&raw);
                self.check_utf8(buffer, from);
            }
            Charset::Other { decoder, .. } => {
                self.undecodable_bytes += decode_into(decoder, &raw, &mut self.buffer, self.ended);
                self.remove_nuls(from);
            }
        }
    }

    /// Sets the window to `buffer`, which is valid UTF-8 up to `from`; the rest is checked, and repaired if needed.
    fn check_utf8(&mut self, buffer: Vec<u8>, from: usize) {
        self.buffer = buffer;
        let (valid, broken) = match std::str::from_utf8(&self.buffer[from..]) {
            Ok(_) => (self.buffer.len() - from, false),
            Err(error) => (error.valid_up_to(), error.error_len().is_some() || self.ended),
        };
        if let Charset::Utf8 { ascii_only } = &mut self.charset {
            *ascii_only &= self.buffer[from..from + valid].is_ascii();
        }
        let rest = self.buffer.split_off(from + valid);
        if broken {
            self.repair_utf8(&rest);
        } else {
            self.carry = rest;
        }
        self.remove_nuls(from);
    }

    /// Appends `rest`, which begins with a byte that is not valid UTF-8.
    fn repair_utf8(&mut self, rest: &[u8]) {
        let ascii_only = matches!(self.charset, Charset::Utf8 { ascii_only: true });
        if ascii_only && !mostly_utf8(rest) {
            let mut decoder = guess_encoding(rest).new_decoder_without_bom_handling();
            self.undecodable_bytes += decode_into(&mut decoder, rest, &mut self.buffer, self.ended);
            self.charset = Charset::Other { decoder, guessed: true };
            return;
        }
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.buffer.extend_from_slice(chunk.valid().as_bytes());
            let may_go_on = chunks.peek().is_none() && !self.ended && could_begin_utf8(chunk.invalid());
            if may_go_on {
                self.carry = chunk.invalid().to_vec();
            } else {
                self.undecodable_bytes += chunk.invalid().len() as u64;
                let (decoded, _) = WINDOWS_1252.decode_without_bom_handling(chunk.invalid());
                self.buffer.extend_from_slice(decoded.as_bytes());
            }
        }
        self.charset = Charset::Utf8 { ascii_only: false };
    }

    fn remove_nuls(&mut self, from: usize) {
        if memchr::memchr(0, &self.buffer[from..]).is_none() {
            return;
        }
        let before = self.buffer.len();
        let mut kept = from;
        for at in from..before {
            let byte = self.buffer[at];
            self.buffer[kept] = byte;
            kept += usize::from(byte != 0);
        }
        self.buffer.truncate(kept);
        self.nul_bytes += (before - kept) as u64;
    }

    /// The encoding's WHATWG name.
    pub(super) fn encoding(&self) -> &'static str {
        match &self.charset {
            Charset::Utf8 { .. } => UTF_8.name(),
            Charset::Other { decoder, .. } => decoder.encoding().name(),
        }
    }

    /// Roughly how many bytes of the file the text before the current position takes.
    pub(super) fn passed_bytes(&self) -> u64 {
        let ahead = if self.packed { 0 } else { self.window().len() as u64 };
        self.read_bytes().saturating_sub(ahead)
    }

    /// Size of the file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Bytes read from disk so far.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Writes the repairs made by decoding into `report`.
    pub(super) fn note(&self, report: &mut ReadReport) {
        report.read_bytes = self.read_bytes();
        if let Some(dialect) = &mut report.dialect {
            dialect.encoding = self.encoding().to_string();
        }
        report.set(RepairKind::NulBytes, self.nul_bytes, None);
        report.set(RepairKind::UndecodableBytes, self.undecodable_bytes, None);
        let guessed = matches!(self.charset, Charset::Other { guessed: true, .. });
        report.set(RepairKind::GuessedEncoding, u64::from(guessed), None);
        let (Some(reason), true) = (&self.damage, self.ended) else { return };
        let kind = if self.packed { RepairKind::TruncatedStream } else { RepairKind::DamagedData };
        if report.count(kind) == 0 {
            report.add_damage(kind, reason, None);
        }
    }
}

/// The decoded text; a damaged stream is an error at its end.
impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.window().is_empty() && !self.at_end() {
            self.fill();
        }
        match (self.window().is_empty(), &self.damage) {
            (true, Some(damage)) => Err(io::Error::other(damage.clone())),
            _ => Ok(self.window()),
        }
    }

    fn consume(&mut self, count: usize) {
        Text::consume(self, count);
    }
}

impl Read for Text {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        Text::consume(self, count);
        Ok(count)
    }
}

/// A file opened for streaming, unpacked while it is read.
pub(super) struct OpenedBytes {
    pub(super) input: Box<dyn Read + Send>,
    pub(super) read_bytes: Arc<AtomicU64>,
    pub(super) packed: bool,
    file_bytes: u64,
    first_chunk_bytes: usize,
}

/// Opens a regular file; gzip and zstd streams, known by their first bytes, are unpacked.
pub(super) fn open_bytes(path: &Path) -> Result<OpenedBytes> {
    open_bytes_hashed(path, None)
}

fn open_bytes_hashed(path: &Path, hash: Option<Arc<Mutex<StreamHash>>>) -> Result<OpenedBytes> {
    let failed = |source| Error::io("read", path, source);
    let meta = storage::metadata(path).map_err(failed)?;
    if !meta.is_file() {
        let what = if meta.is_dir() { "a folder" } else { "not a regular file" };
        return Err(Error::unreadable(path, what));
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut magic = Vec::with_capacity(4);
    (&mut file).take(4).read_to_end(&mut magic).map_err(failed)?;
    let read_bytes = Arc::new(AtomicU64::new(0));
    if let Some(hash) = &hash
        && meta.len() > WHOLE_FILE_BYTES
        && let Ok(mut hash) = hash.lock()
    {
        hash.follow(&file);
    }
    let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
    let is_zstd = magic == [0x28, 0xb5, 0x2f, 0xfd];
    let whole = Cursor::new(magic).chain(file);
    let counted = Counted { input: whole, count: Arc::clone(&read_bytes), hash };
    let first_chunk_bytes = if is_gzip || is_zstd || meta.len() > WHOLE_FILE_BYTES {
        CHUNK_BYTES / 4
    } else {
        // One byte more than the file has, so that the first read also reaches its end.
        usize::try_from(meta.len()).unwrap_or(CHUNK_BYTES) + 1
    };
    let input: Box<dyn Read + Send> = if is_gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, counted)))
    } else if is_zstd {
        Box::new(zstd::stream::read::Decoder::new(counted).map_err(failed)?)
    } else {
        Box::new(counted)
    };
    Ok(OpenedBytes { input, read_bytes, packed: is_gzip || is_zstd, file_bytes: meta.len(), first_chunk_bytes })
}

struct Counted<R> {
    input: R,
    count: Arc<AtomicU64>,
    hash: Option<Arc<Mutex<StreamHash>>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        if let Some(hash) = &self.hash
            && let Ok(mut hash) = hash.lock()
        {
            // A decoder never requests zero bytes, so a read of zero bytes is the end.
            hash.take(&buffer[..count]);
        }
        Ok(count)
    }
}

/// Appends the decoded text; returns how many malformed sequences became `U+FFFD`.
fn decode_into(decoder: &mut Decoder, mut raw: &[u8], out: &mut Vec<u8>, last: bool) -> u64 {
    let mut malformed = 0;
    loop {
        let from = out.len();
        let room = decoder.max_utf8_buffer_length_without_replacement(raw.len()).unwrap_or(raw.len() * 4 + 16);
        out.resize(from + room, 0);
        let (result, read, written) = decoder.decode_to_utf8_without_replacement(raw, &mut out[from..], last);
        out.truncate(from + written);
        raw = &raw[read..];
        match result {
            DecoderResult::InputEmpty => return malformed,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                malformed += 1;
                out.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
    }
}

/// Recognises UTF-16 without a byte order mark: in the byte pairs of Latin text, one byte is NUL.
fn utf16_by_nuls(raw: &[u8]) -> Option<&'static Encoding> {
    let head = &raw[..raw.len().min(4096) & !1];
    memchr::memchr(0, head)?;
    let pairs = head.len() / 2;
    let even = head.iter().step_by(2).filter(|&&byte| byte == 0).count();
    let odd = head.iter().skip(1).step_by(2).filter(|&&byte| byte == 0).count();
    let dominates = |many: usize, few: usize| pairs >= 2 && many * 4 >= pairs && few * 10 <= many;
    if dominates(odd, even) {
        Some(UTF_16LE)
    } else if dominates(even, odd) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Letters beyond ASCII of the languages written in an encoding of a Latin alphabet other than [`WINDOWS_1252`].
fn alphabets(encoding: &'static Encoding) -> Option<&'static [&'static str]> {
    Some(match encoding.name() {
        "windows-1250" | "ISO-8859-2" => {
            &["áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "âăîşţ", "čćđšž"]
        }
        "windows-1254" => &["âçğıîöşüû\u{307}"],
        "windows-1257" | "ISO-8859-4" => &["ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"],
        _ => return None,
    })
}

/// The encoding that the detector guesses for `rest`; Windows-1252 where there is too little evidence.
///
/// A few non-ASCII bytes in an English text are not Shift-JIS: another script must fill a good part of the text, and another
/// Latin alphabet must have many letters in it, nearly all of one language: `Île`, `Grèce` and `Åland` are no Czech.
fn guess_encoding(rest: &[u8]) -> &'static Encoding {
    const LEAST_LATIN_BYTES: usize = 40;
    const LEAST_LANGUAGE_SHARE: usize = 90;
    const LEAST_SCRIPT_SHARE: usize = 10;
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut lines: Vec<u8> = Vec::new();
    // Lines of plain ASCII are no evidence.
    for line in rest.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.is_ascii()) {
        let line = &line[..line.len().min(GUESS_BYTES)];
        detector.feed(line, false);
        lines.extend_from_slice(line);
        if lines.len() >= GUESS_BYTES {
            break;
        }
    }
    detector.feed(&[], true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let high = lines.iter().filter(|byte| !byte.is_ascii()).count();
    let is_sure = match alphabets(guess) {
        Some(alphabets) => {
            let (text, _) = guess.decode_without_bom_handling(&lines);
            let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).filter(|c| !c.is_ascii()).collect();
            let letters: Vec<char> = letters.into_iter().filter(|c| c.is_alphabetic()).collect();
            let within = |alphabet: &&str| letters.iter().filter(|c| alphabet.contains(**c)).count();
            let most = alphabets.iter().map(within).max().unwrap_or(0);
            high >= LEAST_LATIN_BYTES && most * 100 >= letters.len() * LEAST_LANGUAGE_SHARE
        }
        None if guess == WINDOWS_1258 => high >= LEAST_LATIN_BYTES,
        None => high * 100 >= lines.len() * LEAST_SCRIPT_SHARE,
    };
    if is_sure { guess } else { WINDOWS_1252 }
}

/// Whether there are at least ten times as many multi-byte UTF-8 sequences as invalid bytes.
fn mostly_utf8(rest: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in rest[..rest.len().min(GUESS_BYTES)].utf8_chunks() {
        good += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        bad += chunk.invalid().len();
    }
    good >= 10 * bad
}

/// Whether more bytes could make `tail` a UTF-8 sequence.
fn could_begin_utf8(tail: &[u8]) -> bool {
    std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
}

/// Why the first bytes of a file cannot be text with rows, if they cannot.
fn refusal(raw: &[u8]) -> Option<String> {
    const MAGIC: [(&[u8], &str); 9] = [
        (b"PAR1", "a Parquet file"),
        (b"ARROW1", "an Arrow file"),
        (b"PK\x03\x04", "a ZIP archive or a spreadsheet"),
        (b"\xd0\xcf\x11\xe0", "an old spreadsheet or document"),
        (b"%PDF-", "a PDF"),
        (b"SQLite format 3", "an SQLite database"),
        (b"\x89PNG", "an image"),
        (b"\xff\xd8\xff", "an image"),
        (b"BZh9", "a bzip2 stream"),
    ];
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| raw.starts_with(magic)) {
        return Some(format!("binary data: {what}"));
    }
    let head = &raw[..raw.len().min(8192)];
    let is_wide = Encoding::for_bom(raw).is_some() || utf16_by_nuls(raw).is_some();
    let nuls = head.iter().filter(|&&byte| byte == 0).count();
    let controls = head.iter().filter(|&&byte| byte < 0x20 && !matches!(byte, 0 | 9..=13 | 0x1a..=0x1f)).count();
    // Uniform random bytes have 8% of these controls; text has none, or a few by mistake.
    if !is_wide && (nuls * 3 > head.len() || (controls > 2 && controls * 50 > head.len())) {
        return Some("binary data".into());
    }
    markup(head).map(str::to_string)
}

fn markup(head: &[u8]) -> Option<&'static str> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let start = head[..head.len().min(64)].to_ascii_lowercase();
    let is_any = |marks: &[&str]| marks.iter().any(|mark| start.starts_with(mark.as_bytes()));
    if is_any(&["<!doctype html", "<html", "<head", "<body", "<script", "<!--"]) {
        return Some("an HTML page");
    }
    if is_any(&["version https://git-lfs"]) {
        return Some("a Git LFS pointer, not the file itself");
    }
    is_any(&["<?xml", "<rdf:", "<rss", "<error"]).then_some("an XML document")
}
