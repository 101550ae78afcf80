//! The text of codes of simple fonts: by glyph names and by the encodings named in PDF.

use std::collections::HashMap;
use std::sync::OnceLock;

use encoding_rs::{MACINTOSH, WINDOWS_1252};

const GLYPHS: &str = include_str!("glyphs.tsv");

/// Characters of StandardEncoding from code 128 on (PDF 32000-1, annex D.2); `\0` if there is none.
const STANDARD_UPPER: &str = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—\
\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß\0\0\0\0";

/// An encoding that a font names instead of listing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedEncoding {
    /// Of Latin-text Type 1 fonts.
    Standard,
    /// Windows code page 1252.
    WinAnsi,
    /// Mac OS Roman.
    MacRoman,
}

impl NamedEncoding {
    /// The encoding `name` of PDF.
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"StandardEncoding" => Some(Self::Standard),
            b"WinAnsiEncoding" => Some(Self::WinAnsi),
            b"MacRomanEncoding" => Some(Self::MacRoman),
            _ => None,
        }
    }

    /// The character of a code, if it has one.
    pub fn character(self, code: u8) -> Option<char> {
        let shown = match self {
            Self::Standard => match code {
                b'\'' => '’',
                b'`' => '‘',
                32..=126 => code as char,
                128.. => STANDARD_UPPER.chars().nth(usize::from(code) - 128)?,
                _ => return None,
            },
            // Undefined codes show a bullet.
            Self::WinAnsi => match code {
                127 | 129 | 141 | 143 | 144 | 157 => '•',
                32.. => WINDOWS_1252.decode_without_bom_handling(&[code]).0.chars().next()?,
                _ => return None,
            },
            Self::MacRoman => match code {
                32.. => MACINTOSH.decode_without_bom_handling(&[code]).0.chars().next()?,
                _ => return None,
            },
        };
        (shown != '\0').then_some(shown)
    }
}

/// The text of a glyph by its name: `A`, `f_i`, `uni00E9`, `u1D49C`, `a.sc`; `None` for names that are only numbers
/// (`g17`, `cid123`).
pub fn glyph_text(name: &str) -> Option<String> {
    let base = match name.split('.').next() {
        Some("") | None => return None,
        Some(base) => base,
    };
    if let Some(shown) = glyphs().get(base) {
        return Some(shown.to_string());
    }
    if base.contains('_') {
        return base.split('_').map(component_text).collect();
    }
    component_text(base)
}

fn component_text(name: &str) -> Option<String> {
    if let Some(shown) = glyphs().get(name) {
        return Some(shown.to_string());
    }
    if let Some(digits) = name.strip_prefix("uni").filter(|digits| digits.len() >= 4 && digits.len() % 4 == 0) {
        if !digits.is_ascii() {
            return None;
        }
        let units: Option<Vec<u16>> =
            (0..digits.len()).step_by(4).map(|at| u16::from_str_radix(&digits[at..at + 4], 16).ok()).collect();
        return String::from_utf16(&units?).ok();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(String::from)
}

fn glyphs() -> &'static HashMap<&'static str, char> {
    static TABLE: OnceLock<HashMap<&'static str, char>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let entry = |line: &'static str| {
            let (name, code) = line.split_once('\t')?;
            Some((name, char::from_u32(u32::from_str_radix(code, 16).ok()?)?))
        };
        GLYPHS.lines().filter(|line| !line.starts_with('#')).filter_map(entry).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyph_names_become_text() {
        for (name, text) in [
            ("A", Some("A")),
            ("ffi", Some("ﬃ")),
            ("f_i", Some("fi")),
            ("uni00E9", Some("é")),
            ("uni00410042", Some("AB")),
            ("u1D49C", Some("𝒜")),
            ("a.sc", Some("a")),
            ("g17", None),
            (".notdef", None),
            ("uniD800", None),
            ("unié00", None),
            ("", None),
        ] {
            assert_eq!(glyph_text(name).as_deref(), text, "{name}");
        }
    }

    #[test]
    fn named_encodings_have_their_characters() {
        assert_eq!(STANDARD_UPPER.chars().count(), 128);
        assert_eq!(NamedEncoding::Standard.character(0xAE), Some('ﬁ'));
        assert_eq!(NamedEncoding::Standard.character(b'\''), Some('’'));
        assert_eq!(NamedEncoding::Standard.character(0xFB), Some('ß'));
        assert_eq!(NamedEncoding::WinAnsi.character(0x93), Some('“'));
        assert_eq!(NamedEncoding::MacRoman.character(0x8E), Some('é'));
        assert_eq!(NamedEncoding::Standard.character(7), None);
    }
}
