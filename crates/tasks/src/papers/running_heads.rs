//! Running heads, feet and page numbers: lines that repeat at the edges of pages.

use std::collections::HashMap;

use super::line::TextLine;

/// Number of lines from each edge that are checked.
const EDGE_LINES: usize = 3;
/// Minimum number of pages on which a line must repeat.
const MIN_PAGES: usize = 3;
/// … and the minimum share of pages; left and right pages may have different heads.
const MIN_SHARE: f64 = 0.3;

/// The lines of all pages without what repeats at their edges.
pub fn without_running_heads(pages: Vec<Vec<TextLine>>) -> Vec<TextLine> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in &pages {
        let mut shapes: Vec<String> = edges(page.len()).map(|at| shape(&page[at].text)).collect();
        shapes.sort_unstable();
        shapes.dedup();
        for shape in shapes {
            *counts.entry(shape).or_default() += 1;
        }
    }
    let least = MIN_PAGES.max((MIN_SHARE * pages.len() as f64).ceil() as usize);
    let repeats = |line: &TextLine| counts.get(&shape(&line.text)).is_some_and(|count| *count >= least);
    let many = pages.len() > 1;
    let mut kept = Vec::new();
    for page in pages {
        let count = page.len();
        let is_removed: Vec<bool> = {
            let at_edge = |at: usize| at < EDGE_LINES || at + EDGE_LINES >= count;
            let outermost = |at: usize| at == 0 || at + 1 == count;
            (0..count)
                .map(|at| {
                    let line = &page[at];
                    (at_edge(at) && repeats(line)) || (many && outermost(at) && is_page_number(&line.text))
                })
                .collect()
        };
        kept.extend(page.into_iter().zip(is_removed).filter(|(_, is_removed)| !is_removed).map(|(line, _)| line));
    }
    kept
}

fn edges(count: usize) -> impl Iterator<Item = usize> {
    let from_below = count.saturating_sub(EDGE_LINES).max(EDGE_LINES);
    (0..count.min(EDGE_LINES)).chain(from_below..count)
}

/// A line with its numbers masked: `Page 3 of 10` as `Page # of #`.
fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if !(c.is_whitespace() || c == '#' && shape.ends_with('#')) {
            shape.push(c);
        }
    }
    shape
}

/// `7`, `- 7 -`, `Page 7`, `7 of 12`, `xii`.
fn is_page_number(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    let inner = text.trim_start_matches("page").trim_matches([' ', '-', '–', '—', '|', '.', '[', ']']);
    let number = |part: &str| !part.is_empty() && part.len() <= 4 && part.chars().all(|c| c.is_ascii_digit());
    let roman = !inner.is_empty() && inner.len() <= 6 && inner.chars().all(|c| "ivxl".contains(c));
    number(inner)
        || roman
        || inner.split_once(" of ").or(inner.split_once('/')).is_some_and(|(a, b)| number(a.trim()) && number(b.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_numbers_are_removed_and_text_is_kept() {
        let page = |number: usize| {
            let texts = [
                format!("Journal of Things, vol. 3, {number}"),
                format!("word {}", "x".repeat(number)),
                "same on all".into(),
                "more".into(),
                "again".into(),
                format!("{number}"),
            ];
            texts.map(|text: String| TextLine { text, ..TextLine::default() }).to_vec()
        };
        let kept = without_running_heads((1..=6).map(page).collect());
        assert!(!kept.iter().any(|line| line.text.starts_with("Journal") || line.text.parse::<u32>().is_ok()));
        assert_eq!(kept.iter().filter(|line| line.text.starts_with("word")).count(), 6);
        assert_eq!(without_running_heads(vec![page(1)]).len(), 6);
    }

    #[test]
    fn page_numbers_are_recognised() {
        for text in ["7", "- 7 -", "Page 7", "7 of 12", "xii", "3/10", "Page 3 of 10"] {
            assert!(is_page_number(text), "{text}");
        }
        for text in ["12345", "Table 7", "", "page", "mix of 3 x"] {
            assert!(!is_page_number(text), "{text}");
        }
    }
}
