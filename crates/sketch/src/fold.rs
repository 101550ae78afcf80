//! Folds text: letter case, accents, punctuation and surplus spaces put aside.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Appends the folded words of `text` to `out`, in order: without case, accents and punctuation, separated by single spaces.
pub(super) fn fold_text(text: &str, out: &mut String) {
    if text.is_ascii() {
        return fold_ascii(text.as_bytes(), out);
    }
    // Decomposed to separate accents, composed again so that scripts which need their marks keep them.
    let letters = text.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).nfc().flat_map(char::to_lowercase);
    fold_chars(letters, out);
}

/// Lower-cased characters without punctuation: separators become one space, apostrophes are dropped, `&` becomes `and`; signs with a
/// meaning are kept (`+`, `#`, `%`, `<`, `>`, `=`, a minus before a digit or at the very end as in the grade `A-`).
fn fold_chars(chars: impl Iterator<Item = char>, out: &mut String) {
    let mut chars = chars.peekable();
    let mut previous = ' ';
    while let Some(c) = chars.next() {
        let kept = match c {
            _ if c.is_alphanumeric() || is_combining_mark(c) => Some(c),
            '\'' | '’' | '‘' | 'ʼ' | '`' => continue,
            '&' => {
                out.push_str(if previous == ' ' { "and " } else { " and " });
                previous = ' ';
                continue;
            }
            '+' | '#' | '%' | '<' | '>' | '=' | '$' | '€' | '£' | '¥' | '°' => Some(c),
            '-' | '−' => {
                let next = chars.peek().copied();
                let sign = previous == ' ' && next.is_some_and(|next| next.is_ascii_digit());
                let grade = next.is_none() && previous.is_alphanumeric();
                (sign || grade).then_some('-')
            }
            _ => None,
        };
        match kept {
            Some(c) => out.push(c),
            None if previous == ' ' => continue,
            None => out.push(' '),
        }
        previous = kept.unwrap_or(' ');
    }
}

/// [`fold_chars`] for ASCII, the most frequent case: the same rules byte by byte.
fn fold_ascii(text: &[u8], out: &mut String) {
    out.reserve(text.len());
    let mut previous = b' ';
    for (at, &byte) in text.iter().enumerate() {
        let kept = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'+' | b'#' | b'%' | b'<' | b'>' | b'=' | b'$' => byte,
            b'A'..=b'Z' => byte.to_ascii_lowercase(),
            b'\'' | b'`' => continue,
            b'&' => {
                out.push_str(if previous == b' ' { "and" } else { " and" });
                b' '
            }
            b'-' => {
                let next = text.get(at + 1);
                let sign = previous == b' ' && next.is_some_and(u8::is_ascii_digit);
                let grade = next.is_none() && previous.is_ascii_alphanumeric();
                if sign || grade { b'-' } else { b' ' }
            }
            _ => b' ',
        };
        if kept != b' ' || previous != b' ' || byte == b'&' {
            out.push(char::from(kept));
        }
        previous = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn ascii_is_folded_like_any_text(text in "[ -~\\t]{0,24}|[-&' aA1]{0,10}") {
            let (mut short, mut long) = (String::new(), String::new());
            fold_ascii(text.as_bytes(), &mut short);
            fold_chars(text.chars().map(|c| c.to_ascii_lowercase()), &mut long);
            proptest::prop_assert_eq!(short, long);
        }
    }
}
