//! What a file holds whose name does not tell, by its first bytes: only formats that those bytes show beyond doubt. Delimited text is
//! none of these.

use std::io::Read;
use std::path::Path;

use super::decode::open_bytes;
use super::looks_delimited;
use crate::source::Format;

/// Bytes that are looked at.
const HEAD_BYTES: u64 = 4096;
/// How files of some formats begin.
const BEGINNINGS: [(&[u8], Format); 4] =
    [(b"PAR1", Format::Parquet), (b"Obj\x01", Format::Avro), (b"ARROW1", Format::ArrowIpc), (b"ORC", Format::Orc)];

/// The format of the file at `path`, unpacked where it is packed; `None` where its first bytes are of no format or cannot be read.
pub(crate) fn format_of(path: &Path) -> Option<Format> {
    let head = head(path)?;
    let begins = BEGINNINGS.into_iter().find(|(beginning, _)| head.starts_with(beginning)).map(|(_, format)| format);
    let mut marks = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    begins.or_else(|| match marks.next()? {
        b'{' => Some(Format::Json),
        b'[' if marks.next() == Some(&b'{') => Some(Format::Json),
        _ => None,
    })
}

/// Whether the file at `path` may hold rows that [`format_of`] does not know: cells between delimiters, or bytes that no text has.
pub(crate) fn may_hold_rows(path: &Path) -> bool {
    head(path).is_some_and(|head| !head.is_empty() && (head.contains(&0) || looks_delimited(path)))
}

fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    open_bytes(path).ok()?.input.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    Some(head)
}
