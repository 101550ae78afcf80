//! Files that are no text with rows, by their first bytes.

use encoding_rs::Encoding;

use super::encoding::utf16_by_nuls;

/// Why the first bytes of a file cannot be text with rows, if they cannot.
pub(super) fn refusal(raw: &[u8]) -> Option<String> {
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
