//! Markdown as lines: headings by `#` and by underlining, links and emphasis as plain words, without code and comments.

use super::line::TextLine;

/// The lines of a Markdown text, and the title from its front matter.
pub fn lines(text: &str) -> (Vec<TextLine>, Option<String>) {
    let (title, body) = front_matter(text);
    let mut found: Vec<TextLine> = Vec::new();
    let mut starts_paragraph = true;
    let mut fence: Option<&str> = None;
    for line in body.lines() {
        let trimmed = line.trim();
        if let Some(open) = fence {
            if trimmed.starts_with(open) {
                fence = None;
            }
            continue;
        }
        if let Some(open) = ["```", "~~~"].into_iter().find(|open| trimmed.starts_with(open)) {
            fence = Some(open);
            starts_paragraph = true;
            continue;
        }
        if trimmed.is_empty() || (trimmed.starts_with("<!--") && trimmed.ends_with("-->")) {
            starts_paragraph = true;
            continue;
        }
        let is_rule = trimmed.len() >= 3 && (trimmed.chars().all(|c| c == '=') || trimmed.chars().all(|c| c == '-'));
        if is_rule {
            if let Some(above) = found.last_mut().filter(|above| above.starts_paragraph && !starts_paragraph) {
                above.is_heading = true;
            }
            starts_paragraph = true;
            continue;
        }
        let level = trimmed.chars().take_while(|c| *c == '#').count();
        if (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
            found.push(TextLine::heading(&words(trimmed[level..].trim().trim_end_matches('#').trim_end())));
            starts_paragraph = true;
            continue;
        }
        let item = trimmed.trim_start_matches(['>', ' ']);
        let item = ["- ", "* ", "+ "].into_iter().find_map(|bullet| item.strip_prefix(bullet)).unwrap_or(item);
        let is_item = item.len() < trimmed.len();
        found.push(TextLine { text: words(item), starts_paragraph: starts_paragraph || is_item, is_heading: false });
        starts_paragraph = false;
    }
    (found, title)
}

/// The title of YAML front matter between `---` lines, and the text after it.
fn front_matter(text: &str) -> (Option<String>, &str) {
    const LONGEST_BYTES: usize = 16 << 10;
    let text = text.trim_start_matches('\u{FEFF}');
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else { return (None, text) };
    let head = &rest[..rest.floor_char_boundary(LONGEST_BYTES)];
    let Some(end) = head.find("\n---") else { return (None, text) };
    let title = rest[..end].lines().find_map(|line| line.strip_prefix("title:"));
    let title = title.map(|title| title.trim().trim_matches(['"', '\'']).to_string());
    let body = rest[end + 1..].split_once('\n').map_or("", |(_, body)| body);
    (title.filter(|title| !title.is_empty()), body)
}

/// `[words](address)` as its words, `![image](address)` likewise, `**bold**` and `code` without their marks.
fn words(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '*', '`', '!']) {
        plain.push_str(&rest[..at]);
        let here = &rest[at..];
        if let Some((words, after)) = link(here.strip_prefix('!').unwrap_or(here)) {
            plain.push_str(words);
            rest = after;
            continue;
        }
        if !here.starts_with(['*', '`']) {
            plain.push_str(&here[..1]);
        }
        rest = &here[1..];
    }
    plain.push_str(rest);
    plain
}

/// The words of the link at the start of `text`, and the text after it.
fn link(text: &str) -> Option<(&str, &str)> {
    const LONGEST_BYTES: usize = 2048;
    let inner = text.strip_prefix('[')?;
    let inner_head = &inner[..inner.floor_char_boundary(LONGEST_BYTES)];
    let (words, _) = inner_head.split_once("](")?;
    let behind = &inner[words.len() + 2..];
    let end = behind[..behind.floor_char_boundary(LONGEST_BYTES)].find(')')?;
    (!words.contains('[')).then_some((words, &behind[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_lines() {
        let (found, title) = lines(
            "---\ntitle: \"A Title\"\n---\n# Data *sets*\n\nWe use [CIFAR](http://x.y/z) and `code`.\nMore![a](b)\n\n```\nlet x;\n```\nResults\n-------\n- one\n- two\n<!-- no -->\n## End ##\n",
        );
        assert_eq!(title.as_deref(), Some("A Title"));
        let shown: Vec<String> = found
            .iter()
            .map(|line| {
                format!(
                    "{}{} {}",
                    if line.is_heading { 'H' } else { ' ' },
                    if line.starts_paragraph { 'P' } else { ' ' },
                    line.text
                )
            })
            .collect();
        assert_eq!(
            shown,
            ["HP Data sets", " P We use CIFAR and code.", "   Morea", "HP Results", " P one", " P two", "HP End"]
        );
    }

    #[test]
    fn brackets_without_end_are_text() {
        let open = "[".repeat(10_000);
        assert_eq!(lines(&open).0[0].text, open);
        assert_eq!(lines("---\nno end").0.len(), 1);
    }
}
