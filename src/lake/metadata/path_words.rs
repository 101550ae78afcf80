//! What a path says: its folders and file name as words.

/// The words of a path in the lake, folders first, lower-cased: cut at everything that is no letter or digit, at
/// camelCase, and between letters and digits (`tbl_0423_popByState` → `tbl`, `0423`, `pop`, `by`, `state`). The file's
/// extensions are left out. At most 256 words.
pub fn words_of_path(relative: &str) -> Vec<String> {
    const MOST_WORDS: usize = 256;
    let mut words = Vec::new();
    let stem_end = relative.len() - extensions_of(relative).len();
    for run in relative[..stem_end].split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty()) {
        words.extend(words_of_run(run));
        if words.len() >= MOST_WORDS {
            words.truncate(MOST_WORDS);
            break;
        }
    }
    words
}

/// The known file extensions that `path` ends with, with their dots: `.csv.gz`.
pub(super) fn extensions_of(path: &str) -> &str {
    const KNOWN: &[&str] = &[
        "csv", "tsv", "psv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "arrow", "feather", "ipc", "gz", "zst",
    ];
    let mut end = path.len();
    while let Some(dot) = path[..end].rfind('.') {
        let extension = path[dot + 1..end].to_ascii_lowercase();
        if dot == 0 || path[..dot].ends_with('/') || !KNOWN.contains(&extension.as_str()) {
            break;
        }
        end = dot;
    }
    &path[end..]
}

fn words_of_run(run: &str) -> Vec<String> {
    let letters: Vec<char> = run.chars().collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        if at > 0 && is_boundary(letters[at - 1], letter, letters.get(at + 1).copied()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Whether a word ends between `before` and `letter`: `aB`, `a1`, `1a`, and `XMLFile` before `F`.
fn is_boundary(before: char, letter: char, after: Option<char>) -> bool {
    if before.is_numeric() != letter.is_numeric() {
        return true;
    }
    letter.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && after.is_some_and(char::is_lowercase)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_into_words() {
        assert_eq!(words_of_path("census/tbl_0423_popByState.csv.gz"), ["census", "tbl", "0423", "pop", "by", "state"]);
        assert_eq!(words_of_path("v1.2/XMLFile-2020Q3.parquet"), ["v", "1", "2", "xml", "file", "2020", "q", "3"]);
        assert_eq!(words_of_path("données/Größe.TSV"), ["données", "größe"]);
        assert_eq!(words_of_path(".csv"), ["csv"]);
        assert!(words_of_path("").is_empty());
        assert_eq!(words_of_path(&"a/".repeat(1000)).len(), 256);
    }
}
