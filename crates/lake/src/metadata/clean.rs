//! Cutting and cleaning of untrusted texts.

/// Longest description, in bytes.
pub(super) const LONGEST_DESCRIPTION_BYTES: usize = 16 * 1024;
/// Longest text of any other kind, in bytes.
pub(super) const LONGEST_LINE_BYTES: usize = 1024;
/// Longest tag, in bytes.
pub(super) const LONGEST_TAG_BYTES: usize = 128;
/// Most tags of a table.
pub(super) const MOST_TAGS: usize = 64;
/// Most columns described of a table.
pub(super) const MOST_COLUMNS: usize = 4096;
/// Longest HTML tag that is recognised, in bytes.
const LONGEST_MARKUP_BYTES: usize = 512;

/// `text` on one line, at most [`LONGEST_LINE_BYTES`].
pub(super) fn line(text: &str) -> String {
    flatten(text, LONGEST_LINE_BYTES)
}

/// `text` as a tag: one line, at most [`LONGEST_TAG_BYTES`].
pub(super) fn tag(text: &str) -> String {
    flatten(text, LONGEST_TAG_BYTES)
}

/// `text` with its line breaks, without HTML tags, at most [`LONGEST_DESCRIPTION_BYTES`].
pub(super) fn paragraphs(text: &str) -> String {
    // Most of a text may be markup, so more is read than is returned, up to a bound.
    let text = without_markup(&text[..text.floor_char_boundary(8 * LONGEST_DESCRIPTION_BYTES)]);
    let lines: Vec<String> = text
        .split(['\n', '\r', '\u{2028}', '\u{2029}'])
        .map(|line| flatten(line, LONGEST_DESCRIPTION_BYTES))
        .filter(|line| !line.is_empty())
        .collect();
    let mut text = lines.join("\n");
    text.truncate(text.floor_char_boundary(LONGEST_DESCRIPTION_BYTES));
    text
}

fn flatten(text: &str, bytes: usize) -> String {
    let mut flat = String::new();
    let mut gap = false;
    for letter in text.chars().filter(|letter| !is_invisible(*letter)) {
        if letter.is_whitespace() || letter.is_control() {
            gap = !flat.is_empty();
            continue;
        }
        if flat.len() + usize::from(gap) + letter.len_utf8() > bytes {
            break;
        }
        if std::mem::take(&mut gap) {
            flat.push(' ');
        }
        flat.push(letter);
    }
    flat
}

/// Invisible characters that change how the text around them is shown: direction marks and overrides, zero-width characters,
/// tag characters, the byte order mark.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Whether `text` has characters that change the direction of the text around them, or control characters other than white space.
pub(super) fn has_hidden(text: &str) -> bool {
    let turns =
        |letter| matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}');
    text.chars().any(|letter| turns(letter) || letter.is_control() && !letter.is_whitespace())
}

/// Whether something is taken for an HTML tag in the part of `text` that is read.
pub(super) fn has_markup(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(8 * LONGEST_DESCRIPTION_BYTES)];
    text.contains('<') && without_markup(text) != text
}

fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let begins_tag = rest[1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/' || next == '!');
        let end = rest[..rest.floor_char_boundary(LONGEST_MARKUP_BYTES)].find('>').filter(|_| begins_tag);
        match end {
            Some(end) => {
                let breaks = rest[1..end].trim_start_matches('/').to_ascii_lowercase();
                let is_block = ["p", "br", "br/", "br /", "div", "li", "ul"].contains(&breaks.as_str());
                plain.push(if is_block { '\n' } else { ' ' });
                rest = &rest[end + 1..];
            }
            None => {
                plain.push('<');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_and_control_characters_are_removed() {
        assert_eq!(line("a\u{202E}b\u{0}\u{1b}[31m  c\n\td\u{FEFF}"), "ab [31m c d");
        assert_eq!(paragraphs("one\r\n\r\n two\u{7} <b>three</b> 1 < 2 <p>four"), "one\ntwo three 1 < 2\nfour");
    }

    #[test]
    fn texts_are_cut_at_a_character() {
        assert!(line(&"é".repeat(5000)).len() <= LONGEST_LINE_BYTES);
        assert!(paragraphs(&"<b>ü</b>".repeat(50_000)).len() <= LONGEST_DESCRIPTION_BYTES);
        assert_eq!(tag(&"x".repeat(500)).len(), LONGEST_TAG_BYTES);
    }
}
