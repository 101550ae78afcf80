//! Decodes the bytes of a file into a window of valid UTF-8 that slides over its text.
//!
//! [`Text`] unpacks (gzip and zstd are recognised by their first bytes, not by the file's name), decodes, removes NUL bytes
//! and returns text; it does not split rows. The encoding is decided on the head of the file, but every later byte is checked
//! as well: at an invalid byte in a UTF-8 text, decoding goes on with a legacy encoding if everything before was ASCII (so
//! nothing read so far was wrong); otherwise only that byte is read as Windows-1252. UTF-8, the usual case, is checked in
//! bulk and never copied.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use encoding_rs::{Decoder, Encoding, UTF_8, WINDOWS_1252};

use super::hash::StreamHash;
use super::report::{ReadReport, RepairKind};
use lakeward_core::error::{Error, Result};

mod encoding;
mod opened;
mod refusal;

use encoding::{could_begin_utf8, decode_into, guess_encoding, mostly_utf8, utf16_by_nuls};
use opened::open_bytes_hashed;
use refusal::refusal;

pub(super) use opened::{OpenedBytes, open_bytes};

const CHUNK_BYTES: usize = 1 << 20;

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
