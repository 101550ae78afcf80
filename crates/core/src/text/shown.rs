//! Untrusted text made safe to show, and counts with their nouns.

/// `text` cut to at most `width` characters, with `…` if cut, and control and text-direction characters replaced by spaces: safe to show in
/// a terminal whatever a lake file contains.
pub fn shown(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len().min(width * 4));
    let mut chars = text.chars();
    for (count, c) in chars.by_ref().enumerate() {
        if count + 1 == width && chars_left(text, count) > 1 {
            out.push('…');
            break;
        }
        let hostile = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        out.push(if hostile { ' ' } else { c });
    }
    out
}

/// Number of characters of `text` from position `count` on, at most two.
fn chars_left(text: &str, count: usize) -> usize {
    text.chars().skip(count).take(2).count()
}

/// A count with its noun: `1 row`, `2 rows`, `2 queries` of `query`.
pub fn counted(count: u64, noun: &str) -> String {
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_count() {
        let texts = [counted(1, "query"), counted(0, "query"), counted(2, "day"), counted(1, "row"), counted(3, "row")];
        assert_eq!(texts, ["1 query", "0 queries", "2 days", "1 row", "3 rows"]);
    }

    #[test]
    fn shown_text_is_cut_and_harmless() {
        assert_eq!(shown("abcdef", 4), "abc…");
        assert_eq!(shown("abcd", 4), "abcd");
        assert_eq!(shown("a\u{1b}[31mb\u{202e}", 20), "a [31mb ");
    }
}
