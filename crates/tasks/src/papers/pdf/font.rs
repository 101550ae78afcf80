//! A font of a PDF, as far as text extraction needs it: from the bytes of a string to characters and their advance widths.
//!
//! The text of a code is taken, in this order, from the font's ToUnicode map, the glyph names of its encoding, or the encoding
//! built into the embedded font program. Outlines are never read.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS};
use hayro_cmap::{BfString, CMap};
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};

use super::encoding::{NamedEncoding, glyph_text};
use super::font_program::{CodeTexts, cff_encoding, type1_encoding};

const CODES: usize = 256;
/// Widths of the codes 32 to 126 of Helvetica and Times-Roman in thousandths, for PDFs that leave out those of the standard
/// fonts (Adobe Core 14 AFM files).
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
    722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
    444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
    200, 480, 541,
];

/// One character code of a string.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownCode {
    /// Its text; `None` if the font does not define it.
    pub text: Option<String>,
    /// Its advance width, in units of the font size.
    pub width: f64,
    /// Whether word spacing is added to it: a single byte 32 (PDF 32000-1, 9.3.3).
    pub is_space: bool,
}

/// A font.
#[derive(Debug)]
pub struct Font {
    kind: Kind,
    to_unicode: Option<CMap>,
}

#[derive(Debug)]
enum Kind {
    Simple { texts: CodeTexts, widths: Vec<f64> },
    Composite { codes: Codes, widths: CidWidths },
}

/// How the bytes of a composite font's string are split into codes.
#[derive(Debug)]
enum Codes {
    /// Two bytes are the glyph's number.
    Identity,
    /// A map embedded in the PDF.
    Map(Box<CMap>),
    /// Two bytes are UTF-16.
    Utf16,
    /// A legacy encoding of one or two bytes.
    Legacy(&'static Encoding),
}

/// Widths by glyph number, in units of the font size.
#[derive(Debug)]
struct CidWidths {
    default: f64,
    /// First and last number, with one width, ascending.
    ranges: Vec<(u32, u32, f64)>,
}

impl Font {
    /// The font of a font dictionary.
    pub fn new(dict: &Dict<'_>) -> Self {
        let to_unicode = dict.get::<Stream<'_>>("ToUnicode").and_then(|stream| map_of(&stream));
        let is_composite = dict.get::<Name<'_>>("Subtype").is_some_and(|name| name.as_ref() == b"Type0");
        let kind = if is_composite { composite(dict) } else { simple(dict, to_unicode.is_some()) };
        Self { kind, to_unicode }
    }

    /// Calls `shown` for every code of a string, in order.
    pub fn decode(&self, bytes: &[u8], mut shown: impl FnMut(ShownCode)) {
        match &self.kind {
            Kind::Simple { texts, widths } => {
                for &code in bytes {
                    let text = self.mapped(u32::from(code)).or_else(|| texts[usize::from(code)].clone());
                    shown(ShownCode { text, width: widths[usize::from(code)], is_space: code == b' ' });
                }
            }
            Kind::Composite { codes, widths } => self.decode_composite(codes, widths, bytes, shown),
        }
    }

    fn decode_composite(&self, codes: &Codes, widths: &CidWidths, bytes: &[u8], mut shown: impl FnMut(ShownCode)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (code, length, cid) = next_code(codes, rest);
            let text = self.mapped(code).or_else(|| native_text(codes, &rest[..length]));
            shown(ShownCode { text, width: widths.of(cid), is_space: length == 1 && code == 32 });
            rest = &rest[length..];
        }
    }

    fn mapped(&self, code: u32) -> Option<String> {
        let text = match self.to_unicode.as_ref()?.lookup_bf_string(code)? {
            BfString::Char(c) => c.to_string(),
            BfString::String(text) => text,
        };
        // Producers map unknown glyphs to NUL or private codes; the glyph's name may be more useful.
        let is_placeholder = |c: char| c == '\0' || c == '\u{FFFD}' || ('\u{E000}'..='\u{F8FF}').contains(&c);
        (!text.is_empty() && !text.chars().all(is_placeholder)).then_some(text)
    }
}

fn map_of(stream: &Stream<'_>) -> Option<CMap> {
    CMap::parse(&stream.decoded_data().ok()?, |_| None)
}

/// The first code of `bytes` (not empty): code, length in bytes and glyph number.
fn next_code(codes: &Codes, bytes: &[u8]) -> (u32, usize, u32) {
    let of_length = |length: usize| bytes[..length].iter().fold(0u32, |code, byte| code << 8 | u32::from(*byte));
    let pair = bytes.len().min(2);
    match codes {
        Codes::Identity | Codes::Utf16 => (of_length(pair), pair, of_length(pair)),
        Codes::Legacy(encoding) => {
            let length = if bytes[0] < 0x80 || !encoding.decode_without_bom_handling(&bytes[..1]).1 { 1 } else { pair };
            (of_length(length), length, of_length(length))
        }
        Codes::Map(map) => {
            let longest = bytes.len().min(4);
            let found = (1..=longest).find_map(|length| {
                let code = of_length(length);
                map.lookup_cid_code(code, length as u8).map(|cid| (code, length, cid))
            });
            found.unwrap_or((of_length(pair), pair, 0))
        }
    }
}

/// The text of a code in a text encoding.
fn native_text(codes: &Codes, bytes: &[u8]) -> Option<String> {
    match codes {
        Codes::Utf16 => {
            let unit = u16::from_be_bytes([*bytes.first()?, *bytes.get(1)?]);
            char::from_u32(u32::from(unit)).map(String::from)
        }
        Codes::Legacy(encoding) => {
            let (text, failed) = encoding.decode_without_bom_handling(bytes);
            (!failed).then(|| text.into_owned())
        }
        Codes::Identity | Codes::Map(_) => None,
    }
}

fn simple(dict: &Dict<'_>, has_map: bool) -> Kind {
    let descriptor = dict.get::<Dict<'_>>("FontDescriptor");
    let base_font = dict.get::<Name<'_>>("BaseFont").map(|name| name.as_str().to_string()).unwrap_or_default();
    let is_type3 = dict.get::<Name<'_>>("Subtype").is_some_and(|name| name.as_ref() == b"Type3");
    let texts = code_texts(dict, descriptor.as_ref(), &base_font, has_map);
    let widths = simple_widths(dict, descriptor.as_ref(), &base_font, is_type3);
    Kind::Simple { texts, widths }
}

fn code_texts(dict: &Dict<'_>, descriptor: Option<&Dict<'_>>, base_font: &str, has_map: bool) -> CodeTexts {
    let encoding = dict.get::<Object<'_>>("Encoding");
    let (named, listed) = match encoding {
        Some(Object::Name(name)) => (NamedEncoding::named(name.as_ref()), None),
        Some(Object::Dict(dict)) => {
            let base = dict.get::<Name<'_>>("BaseEncoding").and_then(|name| NamedEncoding::named(name.as_ref()));
            (base, dict.get::<Array<'_>>("Differences"))
        }
        _ => (None, None),
    };
    let of_encoding = |encoding: NamedEncoding| -> CodeTexts {
        (0..=255).map(|code| encoding.character(code).map(String::from)).collect()
    };
    let is_symbolic = descriptor.and_then(|dict| dict.get::<u32>("Flags")).is_some_and(|flags| flags & 4 != 0)
        || base_font.contains("Symbol")
        || base_font.contains("Dingbats");
    let mut texts = match named {
        Some(encoding) => of_encoding(encoding),
        None => match descriptor.and_then(built_in) {
            Some(texts) => texts,
            // A subset font with arbitrary codes is unreadable without its ToUnicode map.
            None if has_map && is_symbolic => vec![None; CODES],
            None => of_encoding(NamedEncoding::Standard),
        },
    };
    let mut code = 0usize;
    for entry in listed.iter().flat_map(|array| array.iter::<Object<'_>>()) {
        match entry {
            Object::Number(number) => code = usize::try_from(number.as_i64()).unwrap_or(CODES),
            Object::Name(name) => {
                if let Some(slot) = texts.get_mut(code) {
                    *slot = glyph_text(name.as_str());
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    texts
}

fn built_in(descriptor: &Dict<'_>) -> Option<CodeTexts> {
    let program = |key: &str| descriptor.get::<Stream<'_>>(key)?.decoded_data().ok().map(|data| data.into_owned());
    if let Some(data) = program("FontFile") {
        return type1_encoding(&data);
    }
    cff_encoding(&program("FontFile3")?)
}

fn simple_widths(dict: &Dict<'_>, descriptor: Option<&Dict<'_>>, base_font: &str, is_type3: bool) -> Vec<f64> {
    let scale = match dict.get::<Array<'_>>("FontMatrix").filter(|_| is_type3) {
        Some(matrix) => matrix.iter::<Number>().next().map_or(0.001, |first| first.as_f64()),
        None => 0.001,
    };
    let Some(listed) = dict.get::<Array<'_>>("Widths") else { return standard_widths(base_font) };
    let missing = descriptor.and_then(|dict| dict.get::<f64>("MissingWidth")).unwrap_or(0.0);
    let mut widths = vec![missing * scale; CODES];
    let first = dict.get::<i64>("FirstChar").and_then(|first| usize::try_from(first).ok()).unwrap_or(0);
    for (slot, width) in widths.iter_mut().skip(first).zip(listed.iter::<Number>()) {
        *slot = width.as_f64() * scale;
    }
    widths
}

fn standard_widths(base_font: &str) -> Vec<f64> {
    const OTHER: f64 = 0.55;
    let table = match base_font {
        name if name.contains("Courier") => return vec![0.6; CODES],
        name if name.contains("Times") => &TIMES,
        _ => &HELVETICA,
    };
    let width = |code: usize| {
        code.checked_sub(32).and_then(|at| table.get(at)).map_or(OTHER, |width| f64::from(*width) / 1000.0)
    };
    (0..CODES).map(width).collect()
}

fn composite(dict: &Dict<'_>) -> Kind {
    let codes = match dict.get::<Object<'_>>("Encoding") {
        Some(Object::Stream(stream)) => map_of(&stream).map_or(Codes::Identity, |map| Codes::Map(Box::new(map))),
        Some(Object::Name(name)) => predefined(name.as_str()),
        _ => Codes::Identity,
    };
    let descendant = dict.get::<Array<'_>>("DescendantFonts").and_then(|fonts| fonts.iter::<Dict<'_>>().next());
    Kind::Composite {
        codes,
        widths: descendant.map_or(CidWidths { default: 1.0, ranges: Vec::new() }, |dict| cid_widths(&dict)),
    }
}

/// PDF 32000-1, table 118.
fn predefined(name: &str) -> Codes {
    if name.contains("UCS2") || name.contains("UTF16") {
        return Codes::Utf16;
    }
    let legacy = [
        ("RKSJ", SHIFT_JIS),
        ("GBK", GB18030),
        ("GB-EUC", GB18030),
        ("GBpc-EUC", GB18030),
        ("B5", BIG5),
        ("KSC", EUC_KR),
        ("EUC", EUC_JP),
    ];
    legacy
        .into_iter()
        .find(|(part, _)| name.contains(part))
        .map_or(Codes::Identity, |(_, encoding)| Codes::Legacy(encoding))
}

/// The `W` array: `first [w1 w2 …]` or `first last w`.
fn cid_widths(dict: &Dict<'_>) -> CidWidths {
    const MAX_RANGES: usize = 1 << 17;
    let default = dict.get::<f64>("DW").unwrap_or(1000.0) / 1000.0;
    let mut ranges = Vec::new();
    let number = |object: Object<'_>| object.into_number().map(|number| number.as_f64());
    let listed = dict.get::<Array<'_>>("W");
    let mut entries = listed.iter().flat_map(|array| array.iter::<Object<'_>>());
    while let (Some(first), Some(second)) = (entries.next().and_then(number), entries.next()) {
        let first = first.max(0.0) as u32;
        if let Object::Array(widths) = second {
            for (cid, width) in (first..).zip(widths.iter::<Number>()) {
                ranges.push((cid, cid, width.as_f64() / 1000.0));
            }
        } else if let (Some(last), Some(width)) = (number(second), entries.next().and_then(number)) {
            ranges.push((first, last.max(0.0) as u32, width / 1000.0));
        }
        if ranges.len() > MAX_RANGES {
            break;
        }
    }
    ranges.sort_by_key(|(first, ..)| *first);
    CidWidths { default, ranges }
}

impl CidWidths {
    fn of(&self, cid: u32) -> f64 {
        let after = self.ranges.partition_point(|(first, ..)| *first <= cid);
        match after.checked_sub(1).map(|at| self.ranges[at]) {
            Some((_, last, width)) if cid <= last => width,
            _ => self.default,
        }
    }
}
