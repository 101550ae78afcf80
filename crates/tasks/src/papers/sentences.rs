//! Splits text into sentences by rules: a full stop ends one unless it belongs to an abbreviation, an initial or a number.

/// A longer sentence is cut at a space, in bytes: merged tables, lists without full stops.
const LONGEST_BYTES: usize = 4000;

/// Abbreviations after whose full stop the sentence continues.
const ABBREVIATIONS: [&str; 64] = [
    "al", "approx", "app", "arxiv", "assoc", "ca", "cf", "ch", "chap", "col", "conf", "corp", "def", "dept", "dr",
    "ed", "eds", "e.g", "eg", "eq", "eqn", "eqns", "eqs", "esp", "est", "ex", "fig", "figs", "gen", "gov", "i.e", "ie",
    "inc", "int", "jr", "lem", "ltd", "max", "min", "mr", "mrs", "ms", "no", "nos", "p", "pp", "prof", "proc", "prop",
    "ref", "refs", "resp", "sec", "sect", "sr", "st", "tab", "thm", "univ", "viz", "vol", "vs", "w.r.t", "wrt",
];
/// Abbreviations that end a sentence if a sentence opener follows.
const ENDING: [&str; 2] = ["etc", "u.s"];
/// Sentence openers: after an initial (`vitamin C. We …`), they decide that the sentence has ended.
const BEGINNINGS: [&str; 36] = [
    "The",
    "We",
    "In",
    "This",
    "It",
    "Our",
    "These",
    "A",
    "An",
    "However",
    "For",
    "To",
    "As",
    "Moreover",
    "Furthermore",
    "Here",
    "There",
    "They",
    "He",
    "She",
    "When",
    "While",
    "If",
    "On",
    "At",
    "By",
    "Since",
    "Finally",
    "Then",
    "Thus",
    "Each",
    "All",
    "Both",
    "Although",
    "Such",
    "Note",
];

/// The sentences of a text, without the spaces around them. A line break always ends one.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for paragraph in text.split('\n') {
        let mut rest = paragraph.trim();
        while !rest.is_empty() {
            let end = first_end(rest);
            let (sentence, after) = rest.split_at(end);
            found.push(sentence.trim());
            rest = after.trim_start();
        }
    }
    found
}

/// The end of the first sentence of `text`, after its punctuation and closing brackets or quotes; greater than zero.
fn first_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if at >= LONGEST_BYTES && c == ' ' || at >= 2 * LONGEST_BYTES {
            return at;
        }
        if matches!(c, '。' | '！' | '？') {
            return at + c.len_utf8();
        }
        if !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((next_at, next)) = chars.next_if(|(_, next)| ".!?…)]}\"'”’»".contains(*next)) {
            end = next_at + next.len_utf8();
        }
        let after = &text[end..];
        if after.trim_start().is_empty() {
            return text.len();
        }
        let is_apart = after.starts_with(char::is_whitespace);
        if is_apart && begins(after.trim_start()) && (c != '.' || ends_with_stop(&text[..at], after.trim_start())) {
            return end;
        }
    }
    text.len()
}

/// Whether a sentence can begin with `text`.
fn begins(text: &str) -> bool {
    let first = text.trim_start_matches(['(', '[', '"', '“', '‘', '«', '\'']).chars().next();
    first.is_some_and(|c| c.is_uppercase() || c.is_numeric() || !c.is_alphabetic() || is_caseless(c))
}

fn is_caseless(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

/// Whether the full stop between `before` and `after` ends a sentence.
fn ends_with_stop(before: &str, after: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || "([{\"“‘—–/".contains(c)).next().unwrap_or_default();
    let lower = word.to_lowercase();
    let next = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if ENDING.contains(&lower.as_str()) {
        return BEGINNINGS.contains(&next);
    }
    if ABBREVIATIONS.contains(&lower.as_str()) {
        // `No. 3`, but `the answer is no. We …`
        return lower == "no" && word == "no" && BEGINNINGS.contains(&next);
    }
    let mut letters = word.chars();
    let is_initial = match (letters.next(), letters.next()) {
        (Some(first), None) => first.is_uppercase(),
        // `U.K`, `J.-P`, `Ph.D`
        (Some(_), Some(_)) => word.contains('.') && word.split(['.', '-']).all(|part| part.chars().count() <= 2),
        _ => false,
    };
    if is_initial {
        return BEGINNINGS.contains(&next);
    }
    // The number of a heading or of a list: `3. Data`.
    let counts = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    !(counts && before.len() == word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_that_end_and_stops_that_do_not() {
        for (text, expected) in [
            ("We use CIFAR-10. It has 10 classes.", vec!["We use CIFAR-10.", "It has 10 classes."]),
            (
                "As Smith et al. (2014) show in Fig. 1, it works. We agree.",
                vec!["As Smith et al. (2014) show in Fig. 1, it works.", "We agree."],
            ),
            (
                "The loss is 0.85 vs. 0.87, i.e. lower (cf. Eq. 3). Good!",
                vec!["The loss is 0.85 vs. 0.87, i.e. lower (cf. Eq. 3).", "Good!"],
            ),
            ("J. R. Smith wrote it. He left.", vec!["J. R. Smith wrote it.", "He left."]),
            ("It contains vitamin C. The rest is water.", vec!["It contains vitamin C.", "The rest is water."]),
            ("Is it so? “Yes.” Then go on…", vec!["Is it so?", "“Yes.”", "Then go on…"]),
            ("dogs, cats, etc. The other", vec!["dogs, cats, etc.", "The other"]),
            ("one line\nanother", vec!["one line", "another"]),
            ("3. Data", vec!["3. Data"]),
            ("这是一句。那是一句。", vec!["这是一句。", "那是一句。"]),
            ("see www.example.org for all. [12] says so.", vec!["see www.example.org for all.", "[12] says so."]),
            ("the U.K. Office of things. No. 3 is better.", vec!["the U.K. Office of things.", "No. 3 is better."]),
            ("", vec![]),
            ("...", vec!["..."]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn endless_text_is_cut() {
        let text = "word ".repeat(5000);
        assert!(sentences(&text).iter().all(|sentence| sentence.len() <= LONGEST_BYTES + "word ".len()));
        let unbroken = "ü".repeat(20_000);
        let parts = sentences(&unbroken);
        assert!(parts.iter().all(|part| part.len() <= 2 * LONGEST_BYTES) && parts.concat() == unbroken);
    }
}
