//! Which columns of a table a request speaks of: runs of its words held against headers.

use std::collections::HashSet;
use std::sync::LazyLock;

use lakeward_core::text::NameParts;
use lakeward_lake::profile::ColumnProfile;

/// Words of a request that are looked at.
const MOST_WORDS: usize = 150;
/// Words that a name or a value may have.
const LONGEST_RUN: usize = 4;
/// A header this much like a run of words is meant by it.
const MEANT: f64 = 0.8;
/// Words that mean no column and no value by themselves.
const STOP_WORDS: &str = "a an and are as at be but by can data do does each every file files find for from get give had has \
have how i in into is it its like list look make many me mean more most much my need no not of on one only or other our per \
please put rows row show some such table tables than that the their them then there these they this those to total use \
want was we were what when where which who will with would you your";

/// A request taken apart into runs of one to four words, once for all tables it is held against.
#[derive(Debug)]
pub struct Phrases {
    /// (place of the first word, words in it, the run as typed).
    runs: Vec<(usize, usize, String)>,
    parts: Vec<NameParts>,
}

/// A column that a request mentions.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Place of the column in its table.
    pub column: usize,
    /// Place of the first word of the run that means it.
    pub word: usize,
    /// How alike run and header are, 0..=1.
    pub likeness: f64,
}

impl Phrases {
    /// The runs of words of `text`; only its first 150 words count.
    pub fn of(text: &str) -> Self {
        let typed: Vec<&str> = text
            .split(|c: char| {
                c.is_whitespace() || matches!(c, ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '“' | '”')
            })
            .map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '%' | '$' | '#' | '+')))
            .filter(|word| !word.is_empty())
            .take(MOST_WORDS)
            .collect();
        let mut runs = Vec::new();
        for start in 0..typed.len() {
            for length in 1..=LONGEST_RUN.min(typed.len() - start) {
                let ends = [typed[start], typed[start + length - 1]];
                if !ends.iter().any(|word| is_stop_word(word)) {
                    runs.push((start, length, typed[start..start + length].join(" ")));
                }
            }
        }
        let parts = runs.iter().map(|(_, _, run)| NameParts::of(run)).collect();
        Self { runs, parts }
    }

    /// Whether a run of its words is this name.
    pub fn spell(&self, name: &str) -> bool {
        let name = NameParts::of(name);
        self.parts.iter().any(|run| name.likeness(run) >= 1.0)
    }

    /// The columns that are mentioned, each once, by its best run; in the order in which they are mentioned.
    pub fn columns(&self, columns: &[ColumnProfile]) -> Vec<Mention> {
        let mut mentions: Vec<Mention> = Vec::new();
        for (place, column) in columns.iter().enumerate() {
            let name = NameParts::of(&column.name);
            let likeness = |at: usize| (name.likeness(&self.parts[at]), at);
            // Longer runs say more where they are alike.
            let best = (0..self.runs.len())
                .map(likeness)
                .max_by(|a, b| a.0.total_cmp(&b.0).then(self.runs[a.1].1.cmp(&self.runs[b.1].1)).then(b.1.cmp(&a.1)));
            if let Some((likeness, at)) = best.filter(|(likeness, _)| *likeness >= MEANT) {
                mentions.push(Mention { column: place, word: self.runs[at].0, likeness });
            }
        }
        mentions.sort_by_key(|mention| mention.word);
        mentions
    }
}

fn is_stop_word(word: &str) -> bool {
    static STOPS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    STOPS.contains(word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_lake::profile;
    use lakeward_lake::reader::{ReadOptions, open_path};
    use lakeward_lake::scan::scan;

    #[test]
    fn a_request_names_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(
            &path,
            "city,passenger count,fare_amount,mode\nOslo,5,1.5,Bus\nBergen,6,2.5,Ferry\nOslo,7,3.5,Bus\nBergen,8,4,Bus\n",
        )
        .unwrap();
        let scan = scan(open_path(&path, &ReadOptions::default()).unwrap().as_mut()).unwrap();
        let columns = profile::profile(&scan).columns;
        let phrases = Phrases::of("What is the mean fare amount per city, for the Ferry only?");
        let named: Vec<usize> = phrases.columns(&columns).iter().map(|mention| mention.column).collect();
        assert_eq!(named, [2, 0]);
    }

    #[test]
    fn a_long_request_is_cut() {
        let phrases = Phrases::of(&"alpha beta ".repeat(100_000));
        assert!(phrases.runs.len() <= MOST_WORDS * LONGEST_RUN);
    }
}
