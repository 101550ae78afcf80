//! Encodings of texts: what the bytes of a file are guessed to be written in, and their decoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252, WINDOWS_1258};

/// Bytes from which the encoding is guessed.
const GUESS_BYTES: usize = 1 << 14;

/// Appends the decoded text; returns how many malformed sequences became `U+FFFD`.
pub(super) fn decode_into(decoder: &mut Decoder, mut raw: &[u8], out: &mut Vec<u8>, last: bool) -> u64 {
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
pub(super) fn utf16_by_nuls(raw: &[u8]) -> Option<&'static Encoding> {
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
pub(super) fn guess_encoding(rest: &[u8]) -> &'static Encoding {
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
pub(super) fn mostly_utf8(rest: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in rest[..rest.len().min(GUESS_BYTES)].utf8_chunks() {
        good += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        bad += chunk.invalid().len();
    }
    good >= 10 * bad
}

/// Whether more bytes could make `tail` a UTF-8 sequence.
pub(super) fn could_begin_utf8(tail: &[u8]) -> bool {
    std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
}
