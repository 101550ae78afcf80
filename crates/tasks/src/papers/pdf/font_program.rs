//! The encoding built into an embedded Type 1 or CFF font, for PDFs without another one (as LaTeX writes for mathematics).
//! Only glyph names are read here, no outlines.

use std::sync::OnceLock;

use super::encoding::{NamedEncoding, glyph_text};

/// The text of the codes 0 to 255; `None` if the font does not define it.
pub type CodeTexts = Vec<Option<String>>;

const CODES: usize = 256;
const STANDARD_STRINGS: &str = include_str!("standard_strings.txt");

/// The built-in encoding of a Type 1 font program: `dup 65 /A put` of its clear text.
/// Source: Adobe Type 1 Font Format, chapter 2.
pub fn type1_encoding(program: &[u8]) -> Option<CodeTexts> {
    const MAX_CLEAR_BYTES: usize = 64 << 10;
    let clear = &program[..program.len().min(MAX_CLEAR_BYTES)];
    let clear = &clear[..find(clear, b"eexec").unwrap_or(clear.len())];
    let text = String::from_utf8_lossy(&clear[find(clear, b"/Encoding")?..]).into_owned();
    if text["/Encoding".len()..].trim_start().starts_with("StandardEncoding") {
        return Some(standard());
    }
    let mut texts = vec![None; CODES];
    for entry in text.split("dup").skip(1) {
        let spaced = entry.replace('/', " /");
        let mut words = spaced.split_ascii_whitespace();
        let (Some(code), Some(name), Some("put")) = (words.next(), words.next(), words.next()) else { continue };
        let code = code.parse::<usize>().ok().filter(|code| *code < CODES);
        if let (Some(code), Some(name)) = (code, name.strip_prefix('/')) {
            texts[code] = glyph_text(name);
        }
    }
    texts.iter().any(Option::is_some).then_some(texts)
}

/// The built-in encoding of a CFF font program that is not CID-keyed.
/// Source: Adobe Technical Note 5176, The Compact Font Format Specification.
pub fn cff_encoding(program: &[u8]) -> Option<CodeTexts> {
    const CHARSET: u16 = 15;
    const ENCODING: u16 = 16;
    const CHAR_STRINGS: u16 = 17;
    const ROS: u16 = 0x0C1E;
    let header = usize::from(*program.get(2)?);
    let (_, at) = index(program, header)?;
    let (dicts, at) = index(program, at)?;
    let (strings, _) = index(program, at)?;
    let dict = dictionary(dicts.first()?);
    let offset = |operator: u16| dict.iter().find(|(found, _)| *found == operator).map(|(_, operand)| *operand);
    if offset(ROS).is_some() {
        return None;
    }
    let glyphs = index(program, usize::try_from(offset(CHAR_STRINGS)?).ok()?)?.0.len();
    let names = charset(program, usize::try_from(offset(CHARSET).unwrap_or(0)).ok()?, glyphs)?;
    let name = |glyph: usize| string(&strings, usize::from(*names.get(glyph)?));
    let text = |glyph: usize| name(glyph).and_then(|name| glyph_text(&name));
    match usize::try_from(offset(ENCODING).unwrap_or(0)).ok()? {
        0 => Some(standard()),
        1 => None,
        at => custom_encoding(program, at, text),
    }
}

/// Both formats of a custom encoding: a list of codes, or of ranges of codes, in the order of the glyphs.
fn custom_encoding(program: &[u8], at: usize, text: impl Fn(usize) -> Option<String>) -> Option<CodeTexts> {
    let mut texts = vec![None; CODES];
    let format = *program.get(at)? & 0x7F;
    let count = usize::from(*program.get(at + 1)?);
    let mut glyph = 1;
    for entry in 0..count {
        let (first, left) = match format {
            0 => (*program.get(at + 2 + entry)?, 0),
            1 => (*program.get(at + 2 + 2 * entry)?, *program.get(at + 3 + 2 * entry)?),
            _ => return None,
        };
        for code in usize::from(first)..=usize::from(first) + usize::from(left) {
            if let Some(slot) = texts.get_mut(code) {
                *slot = text(glyph);
            }
            glyph += 1;
        }
    }
    Some(texts)
}

/// The string numbers of the glyphs' names, in the order of the glyphs.
fn charset(program: &[u8], at: usize, glyphs: usize) -> Option<Vec<u16>> {
    const PREDEFINED: usize = 2;
    if at <= PREDEFINED {
        // ISOAdobe; the two expert sets have small capitals and fractions only.
        return (at == 0).then(|| (0..=228).collect());
    }
    let mut names = vec![0];
    let format = *program.get(at)?;
    let mut at = at + 1;
    while names.len() < glyphs {
        let first = u16::from_be_bytes([*program.get(at)?, *program.get(at + 1)?]);
        let (left, width) = match format {
            0 => (0, 2),
            1 => (u16::from(*program.get(at + 2)?), 3),
            2 => (u16::from_be_bytes([*program.get(at + 2)?, *program.get(at + 3)?]), 4),
            _ => return None,
        };
        names.extend((0..=left).map(|step| first.saturating_add(step)));
        at += width;
    }
    Some(names)
}

fn string(own: &[&[u8]], number: usize) -> Option<String> {
    static STANDARD: OnceLock<Vec<&'static str>> = OnceLock::new();
    let standard = STANDARD.get_or_init(|| STANDARD_STRINGS.lines().collect());
    match standard.get(number) {
        Some(name) => Some(name.to_string()),
        None => own.get(number - standard.len()).map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// The items of an INDEX at `at`, and where it ends.
fn index(program: &[u8], at: usize) -> Option<(Vec<&[u8]>, usize)> {
    let byte = |at: usize| program.get(at).copied().map(usize::from);
    let count = byte(at)? << 8 | byte(at + 1)?;
    if count == 0 {
        return Some((Vec::new(), at + 2));
    }
    let width = byte(at + 2).filter(|width| (1..=4).contains(width))?;
    let offset = |item: usize| {
        let from = at + 3 + item * width;
        (from..from + width).try_fold(0usize, |value, at| Some(value << 8 | byte(at)?))
    };
    let data = at + 2 + (count + 1) * width;
    let items: Option<Vec<&[u8]>> =
        (0..count).map(|item| program.get(data + offset(item)?..data + offset(item + 1)?)).collect();
    Some((items?, data + offset(count)?))
}

/// Operators of a DICT with the last operand of each.
fn dictionary(data: &[u8]) -> Vec<(u16, i64)> {
    let mut found = Vec::new();
    let mut operand = 0i64;
    let mut at = 0;
    while let Some(&first) = data.get(at) {
        let byte = |step: usize| i64::from(data.get(at + step).copied().unwrap_or(0));
        let width = match first {
            12 => {
                found.push((0x0C00 | byte(1) as u16, operand));
                2
            }
            0..=21 => {
                found.push((u16::from(first), operand));
                1
            }
            28 => {
                operand = i64::from((byte(1) << 8 | byte(2)) as i16);
                3
            }
            29 => {
                operand = i64::from((byte(1) << 24 | byte(2) << 16 | byte(3) << 8 | byte(4)) as i32);
                5
            }
            30 => {
                // A real number ends with a half-byte of ones; none of the operators needed has one.
                let rest = &data[at + 1..];
                let ends = |byte: &u8| byte & 0x0F == 0x0F || byte & 0xF0 == 0xF0;
                2 + rest.iter().position(ends).unwrap_or(rest.len())
            }
            32..=246 => {
                operand = i64::from(first) - 139;
                1
            }
            247..=250 => {
                operand = (i64::from(first) - 247) * 256 + byte(1) + 108;
                2
            }
            251..=254 => {
                operand = -(i64::from(first) - 251) * 256 - byte(1) - 108;
                2
            }
            _ => 1,
        };
        at += width;
    }
    found
}

fn standard() -> CodeTexts {
    (0..=255).map(|code| NamedEncoding::Standard.character(code).map(String::from)).collect()
}

fn find(within: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(within, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_1_program_gives_its_codes() {
        let program =
            b"%!PS\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 65/A put\ndup 12 /fi put\n\
                        dup 900 /B put\nreadonly def\ncurrentfile eexec dup 66 /B put";
        let texts = type1_encoding(program).unwrap();
        assert_eq!((texts[65].as_deref(), texts[12].as_deref(), &texts[66]), (Some("A"), Some("ﬁ"), &None));
        assert_eq!(type1_encoding(b"/Encoding StandardEncoding def").unwrap()[0xAE].as_deref(), Some("ﬁ"));
        assert_eq!(type1_encoding(b"no font"), None);
    }

    #[test]
    fn damaged_cff_programs_are_none() {
        for length in 0..64u8 {
            let bytes: Vec<u8> = (0..length).map(|at| at.wrapping_mul(37)).collect();
            let _ = cff_encoding(&bytes);
        }
        assert_eq!(cff_encoding(&[1, 0, 4, 1, 0xFF, 0xFF, 4, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    }
}
