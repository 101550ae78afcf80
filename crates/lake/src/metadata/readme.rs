//! Text beside tables: a README file in Markdown, as folders of published data usually have one.
//!
//! The first heading is the title and the text below it the description of every table of the folder that nothing else describes. A line
//! that names a table file, as text or in a table, belongs to that file; a line of a table whose first cell is a column's name describes
//! the column. Who publishes the data, under which licence and the like is taken from lines and headings that say so: `Licence: CC0`.

use super::clean;
use super::{ColumnMetadata, Dataset, DescribedFile, Standard, TableMetadata};

/// Lines that are read.
const MOST_LINES: usize = 2_000;
/// Files of a folder that are named one by one.
const MOST_FILES: usize = 500;

/// What a line can say of all tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    Publisher,
    Licence,
    Modified,
    Version,
    Method,
}

/// The names of facts before a colon or in a heading.
const LABELS: [(Fact, &[&str]); 5] = [
    (
        Fact::Publisher,
        &[
            "publisher",
            "published by",
            "source",
            "sources",
            "data source",
            "author",
            "authors",
            "creator",
            "made by",
            "provider",
        ],
    ),
    (Fact::Licence, &["licence", "license", "licensing", "terms of use", "terms", "copyright"]),
    (Fact::Modified, &["updated", "last updated", "last update", "last modified", "last changed"]),
    (Fact::Version, &["version"]),
    (Fact::Method, &["method", "methods", "methodology", "how it was collected", "data collection", "collection"]),
];

/// What a sentence says before a fact.
const SAID: [(Fact, &str); 10] = [
    (Fact::Licence, "licence: "),
    (Fact::Licence, "license: "),
    (Fact::Licence, "licensed under "),
    (Fact::Licence, "released under "),
    (Fact::Licence, "available under "),
    (Fact::Publisher, "published by "),
    (Fact::Publisher, "compiled by "),
    (Fact::Publisher, "collected by "),
    (Fact::Publisher, "maintained by "),
    (Fact::Modified, "last updated "),
];

/// Whether a file of this name, in lower case, is such a text.
pub(crate) fn is_readme(name: &str) -> bool {
    matches!(name, "readme" | "readme.md" | "readme.markdown" | "readme.txt")
}

/// Reads the text. `is_table` tells names of table files.
pub(super) fn read(text: &str, is_table: impl Fn(&str) -> bool) -> Dataset {
    let mut whole = TableMetadata { standard: Some(Standard::Readme), ..TableMetadata::default() };
    let (mut body, mut files) = (Vec::new(), Vec::<(String, Vec<String>)>::new());
    // The file whose section is read, and the fact whose heading was.
    let mut section: Option<usize> = None;
    let mut headed: Option<Fact> = None;
    for line in without_head(text).lines().take(MOST_LINES).map(str::trim).filter(|line| !line.is_empty()) {
        let heading = line.starts_with('#').then(|| plain(line.trim_start_matches('#')));
        if line.chars().all(|letter| "|:-=_* ".contains(letter)) {
            continue;
        }
        let named = table_files(line, &is_table);
        let mut place_of = |name: &str| match files.iter().position(|(known, _)| known == name) {
            Some(place) => Some(place),
            None if files.len() < MOST_FILES => {
                files.push((name.to_string(), Vec::new()));
                Some(files.len() - 1)
            }
            None => None,
        };
        let places: Vec<usize> = named.iter().filter_map(|name| place_of(name)).collect();
        if let Some(heading) = heading {
            section = places.first().copied();
            headed = fact_labelled(&heading);
            match (&whole.title, section) {
                (None, None) if !heading.is_empty() => whole.title = Some(clean::line(&heading)),
                (_, None) => body.push(heading),
                (_, Some(_)) => {}
            }
            continue;
        }
        let cells: Vec<String> = match line.contains('|') {
            true => line.trim_matches('|').split('|').map(|cell| plain(cell.trim())).collect(),
            false => vec![plain(line.trim_start_matches(['-', '*', '+']).trim())],
        };
        let is_item = line.starts_with("- ") || line.starts_with("* ") || line.starts_with('`');
        if let (true, [], [item]) = (is_item, places.as_slice(), cells.as_slice())
            && let Some((name, description)) = column_of(item)
        {
            let column = ColumnMetadata { description: Some(description), ..ColumnMetadata::default() };
            if whole.columns.len() < clean::MOST_COLUMNS {
                whole.columns.entry(name).or_insert(column);
            }
        }
        let of_file = |cells: &[String]| {
            let others = cells.iter().filter(|cell| !named.contains(*cell)).cloned().collect::<Vec<_>>().join(" ");
            named.iter().fold(others, |text, name| text.replace(name.as_str(), " "))
        };
        if places.is_empty() && section.is_none() {
            let headed = headed.take().map(|fact| (fact, cells.join(" ")));
            headed.into_iter().chain(labelled(&cells)).for_each(|(fact, value)| note(&mut whole, fact, &value));
        }
        match (places.as_slice(), section, cells.as_slice()) {
            ([], None, [name, rest @ ..]) if !rest.is_empty() => {
                let description = clean::line(&rest.join(" "));
                if whole.columns.len() < clean::MOST_COLUMNS && !name.is_empty() && !description.is_empty() {
                    let column = ColumnMetadata { description: Some(description), ..ColumnMetadata::default() };
                    whole.columns.entry(clean::line(name)).or_insert(column);
                }
            }
            ([], None, cells) => body.extend(cells.iter().cloned()),
            ([], Some(place), cells) => files[place].1.push(of_file(cells)),
            (places, _, cells) => places.iter().for_each(|place| files[*place].1.push(of_file(cells))),
        }
    }
    // Sentences go over lines.
    said(&body.join(" ")).for_each(|(fact, value)| note(&mut whole, fact, &value));
    let described = |lines: &[String]| Some(clean::paragraphs(&lines.join("\n"))).filter(|text| !text.is_empty());
    whole.description = described(&body);
    let files = files.into_iter().map(|(name, lines)| DescribedFile {
        locations: vec![name],
        metadata: TableMetadata {
            description: described(&lines),
            standard: Some(Standard::Readme),
            ..TableMetadata::default()
        },
    });
    Dataset { whole, files: files.collect(), ..Dataset::default() }
}

/// A column and what it holds, as an item of a list says it: `qty_sold: pieces sold`.
fn column_of(item: &str) -> Option<(String, String)> {
    let (name, description) = [": ", " - ", " – ", " — "].iter().find_map(|mark| item.split_once(mark))?;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace) && fact_labelled(name).is_none();
    let description = clean::line(description);
    (is_name && !description.is_empty()).then(|| (clean::line(name), description))
}

/// The fact that a text is the name of.
fn fact_labelled(label: &str) -> Option<Fact> {
    let label = label.trim().to_lowercase();
    LABELS.iter().find(|(_, labels)| labels.contains(&label.as_str())).map(|(fact, _)| *fact)
}

/// What a line says after a name and a colon.
fn labelled(cells: &[String]) -> Option<(Fact, String)> {
    // A row of a table may be about a column of this name.
    let [line] = cells else { return None };
    let (label, value) = line.split_once(':')?;
    Some((fact_labelled(label)?, first_sentence(value).to_string()))
}

/// What sentences of a text say.
fn said(text: &str) -> impl Iterator<Item = (Fact, String)> {
    let lower = text.to_ascii_lowercase();
    SAID.iter().filter_map(move |(fact, before)| {
        let value = text[lower.find(before)? + before.len()..].split([';', '(']).next().unwrap_or_default();
        Some((*fact, first_sentence(value).to_string()))
    })
}

fn first_sentence(text: &str) -> &str {
    text.split(". ").next().unwrap_or(text).trim_end_matches('.')
}

/// Notes what was said first.
fn note(whole: &mut TableMetadata, fact: Fact, value: &str) {
    let field = match fact {
        Fact::Publisher => &mut whole.publisher,
        Fact::Licence => &mut whole.licence,
        Fact::Modified => &mut whole.modified,
        Fact::Version => &mut whole.version,
        Fact::Method => &mut whole.method,
    };
    let value = clean::line(value);
    if field.is_none() && !value.is_empty() {
        *field = Some(value);
    }
}

/// The text below a head of settings between two lines of hyphens.
fn without_head(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, text)| text)
}

/// The names of table files in a line.
fn table_files(line: &str, is_table: &impl Fn(&str) -> bool) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/%".contains(letter);
    let mut names: Vec<String> = Vec::new();
    for name in line.split(|letter| !is_part(letter)).map(|name| name.trim_matches(['.', '-', '/'])) {
        let name = name.rsplit('/').next().unwrap_or(name);
        if is_table(name)
            && name.contains(|letter: char| letter.is_alphabetic())
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_string());
        }
    }
    names
}

/// Markdown as plain text: of links and pictures their words, no addresses, no marks.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, link) = rest.split_at(start);
        plain.push_str(before.strip_suffix('!').unwrap_or(before));
        match link.find("](").and_then(|middle| Some((middle, middle + link[middle..].find(')')?))) {
            Some((middle, end)) => {
                plain.push_str(&link[1..middle]);
                rest = &link[end + 1..];
            }
            None => {
                plain.push('[');
                rest = &link[1..];
            }
        }
    }
    plain.push_str(rest);
    let words = plain.split_whitespace().filter(|word| !word.contains("://"));
    words.collect::<Vec<_>>().join(" ").replace(['`', '*'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "---\nlayout: x\n---\n# Airline Safety\n\nThe data behind [a story about *crashes*](https://example.org/a).\n\n\
        File | What\n---|---\n`rates.csv` | Accidents of each airline\n[years.csv](years.csv) | Accidents of each year\n\n\
        Header | Definition\n---|---------\n`seats` | Seats times kilometres\n\nSource: [a network](http://x.y)\n";

    #[test]
    fn a_readme_describes_its_folder_files_and_columns() {
        let found = read(TEXT, |name| name.ends_with(".csv"));
        assert_eq!(found.whole.title.as_deref(), Some("Airline Safety"));
        let description = found.whole.description.expect("a description");
        assert_eq!(description, "The data behind a story about crashes.\nSource: a network");
        assert_eq!(found.whole.columns["seats"].description.as_deref(), Some("Seats times kilometres"));
        let files: Vec<(&str, Option<&str>)> =
            found.files.iter().map(|file| (file.locations[0].as_str(), file.metadata.description.as_deref())).collect();
        assert_eq!(
            files,
            [("rates.csv", Some("Accidents of each airline")), ("years.csv", Some("Accidents of each year"))]
        );
    }

    #[test]
    fn who_made_it_and_how_it_may_be_used_is_read() {
        let of = |text: &str| read(text, |name| name.ends_with(".csv")).whole;
        let lines = of(
            "# Allotments\n\n- **Licence**: CC BY 4.0. No warranty.\n- Source: [Leeds council](http://x.y)\n\nLast updated: 3 May 2024\n\n## Methodology\nCounted on foot.\nTwice.\n",
        );
        let said = |whole: &TableMetadata| {
            [&whole.licence, &whole.publisher, &whole.modified, &whole.method].map(|it| it.clone().unwrap_or_default())
        };
        assert_eq!(said(&lines), ["CC BY 4.0", "Leeds council", "3 May 2024", "Counted on foot."]);
        let sentences = of(
            "# Berths\nCompiled by\nthe harbour office (2019). The data are licensed under the Open Database License. Last updated in June.",
        );
        assert_eq!(said(&sentences), ["the Open Database License", "the harbour office", "in June", ""]);
        let columns =
            of("- `qty_sold`: pieces sold\n* day - when it was sold\n- Licence: none\n- we sold: much\n").columns;
        let columns: Vec<(&str, &str)> =
            columns.iter().map(|(name, column)| (name.as_str(), column.description.as_deref().unwrap_or(""))).collect();
        assert_eq!(columns, [("day", "when it was sold"), ("qty_sold", "pieces sold")]);
        assert_eq!(said(&of("File | What\n---|---\nsource | where it was seen\n")), ["", "", "", ""]);
    }

    #[test]
    fn any_text_is_read() {
        for text in
            ["", "#", "|", "[", "![](", "[a](b", "---\n", "# \n## \n|||\n", "x.csv", "\u{feff}# T", "[[a](b)](c) é|ß"]
        {
            read(text, |name| name.ends_with(".csv"));
        }
        assert_eq!(read("x.csv of y.csv", |name| name.ends_with(".csv")).files.len(), 2);
        assert_eq!(plain("see [this (one)](a) and ![p](q) at http://a.b"), "see this (one) and p at");
    }
}
