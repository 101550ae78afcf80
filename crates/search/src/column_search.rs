//! Column search: which columns of the lake hold what a text says, by their names, their publisher's words, values and meaning.
//!
//! Columns are proposed by the best tables for the text, by the words of their names, by whole cells that the text names, and by their
//! vectors. No vector of a column's text is stored: the best of those proposed are read by the model that reads whole texts when they are
//! asked about, each different text once, which takes a fraction of a millisecond.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::named_values::NamedValues;
use super::query_table::sample_words;
use super::ranker::features;
use super::request_words::RequestWords;
use super::text_search::{SearchOptions, in_all_wordings, informative_vector, ranked_tables, text_encoder};
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message, PARTS};
use lakeward_core::text::{bare, is_function_word, lower_words, name_words, shown};
use lakeward_index::encode::column_dims;
use lakeward_index::join::header_hashes;
use lakeward_index::lexical::TypedWord;
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::notes::Notes;
use lakeward_models::embed::{Embedder, EmbedderExt, dot};

mod answer;
mod column_text;

use column_text::{column_text, described, note_on, of_column};

pub use answer::{ColumnAnswer, ColumnMatch};
pub(super) use column_text::vector_of;

features! {
    /// What a column is scored by. A share of the text is counted by how rare its words are in the lake.
    ColumnFeatures,
    /// How much each feature counts.
    ColumnWeights {
        /// Cosine of the text and what is known of the column with its table's title, read as a sentence.
        about,
        /// Cosine of the text's words and the column's stored vector, which is made of its name and values.
        likeness,
        /// Share of the text that the column's name says, or its title, description or unit.
        words,
        /// Weight of the whole cells that the text names and the column has, as a share of the text.
        values,
        /// How well the table answers the text, as a share of the best table's score.
        table,
    }
}

/// Tables whose columns are all looked at.
const TABLES: usize = 40;
/// Columns that their vectors propose.
const NEAREST: usize = 60;
/// A word of a name in more columns of a segment than this proposes none.
const MOST_COLUMNS: usize = 1024;
/// Columns, best by what the index says of them without reading the records of their tables, that are looked at closer.
const LOOKED_AT: usize = 100;
/// Different texts of columns that are read as sentences.
const ENCODED: usize = 24;
/// Values of a column that are read, and shown.
const VALUES: usize = 3;

/// The `k` columns that hold what `text` says, itself or with a synonym, best first.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn search(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<Vec<ColumnAnswer>> {
    let text = held(text);
    in_all_wordings(index, &text, options.k, |text| search_in_words(index, embedder, text, options, (None, ENCODED)))
}

/// The `k` columns of the tables `among` that hold what `text` says best, itself or with a synonym, however many of one table. Of the best by
/// other evidence `read` different texts are read as sentences, which is nearly all of the time.
///
/// # Errors
/// Those of [`search`].
pub fn search_among(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
    (among, read): (&[TableRef], usize),
) -> Result<Vec<ColumnAnswer>> {
    in_all_wordings(index, text, options.k, |text| search_in_words(index, embedder, text, options, (Some(among), read)))
}

fn search_in_words(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
    (among, encoded): (Option<&[TableRef]>, usize),
) -> Result<Vec<ColumnAnswer>> {
    let lexical = index.lexical_query(text)?;
    let typed = lexical.typed_words();
    let named = NamedValues::find(index, text, &typed)?;
    let tables = ranked_tables(index, embedder, text, &SearchOptions { k: TABLES, ..*options })?;
    let weights = &options.weights.columns;
    let (found, mut ranked) = Found::columns(index, embedder, &typed, &named, (&tables, among), weights)?;
    read(text_encoder(index, embedder).unwrap_or(embedder), text, &mut ranked, &found, encoded);
    ranked.iter_mut().for_each(|column| column.score = weights.score(&column.features));
    ranked.sort_by(order);
    if among.is_none() {
        let mut of_table: HashMap<TableRef, usize> = HashMap::new();
        ranked.retain(|column| {
            let before = of_table.entry(column.table).or_default();
            *before += 1;
            *before <= options.weights.column_search.of_one_table
        });
    }
    ranked.truncate(options.k);
    Ok(ranked.into_iter().map(|column| found.answer(column)).collect())
}

/// What is looked for, without the words that ask for columns: "which columns hold country names" is `country names`.
fn held(text: &str) -> Cow<'_, str> {
    const COLUMN_WORDS: [&str; 6] = ["column", "columns", "field", "fields", "variable", "variables"];
    const HOLD: [&str; 8] = ["hold", "holds", "contain", "contains", "containing", "has", "have", "list"];
    const ASK: [&str; 8] = ["find", "show", "list", "give", "search", "which", "what", "where"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| bare(word).to_lowercase()).collect();
    let Some(noun) = lower.iter().position(|word| COLUMN_WORDS.contains(&word.as_str())) else { return text.into() };
    let asks = |word: &String| is_function_word(word) || ASK.contains(&word.as_str());
    if !lower[..noun].iter().all(asks) {
        return text.into();
    }
    let said = |word: &String| !is_function_word(word) && !HOLD.contains(&word.as_str());
    match lower[noun + 1..].iter().position(said) {
        Some(first) => words[noun + 1 + first..].join(" ").into(),
        None => text.into(),
    }
}

/// A column with its score.
struct Scored {
    score: f64,
    features: ColumnFeatures,
    matches: Vec<ColumnMatch>,
    table: TableRef,
    place: ColumnRef,
    /// Its position in its table.
    column: usize,
}

/// Those most worth reading first: what is known of columns without that is a sum in which a value or a word counts as much as likeness.
fn promising(a: &Scored, b: &Scored) -> Ordering {
    let promise = |column: &Scored| {
        let ColumnFeatures { likeness, words, values, table, .. } = column.features;
        likeness + words + values + table
    };
    promise(b).total_cmp(&promise(a)).then(a.place.cmp(&b.place))
}

/// Best first, ties by column.
fn order(a: &Scored, b: &Scored) -> Ordering {
    b.score.total_cmp(&a.score).then(a.place.cmp(&b.place))
}

/// The columns of `tables`.
fn columns_of(index: &LakeIndex, tables: impl Iterator<Item = TableRef>) -> Result<impl Iterator<Item = ColumnRef>> {
    let of_table = |table: TableRef| -> Result<_> {
        let columns = index.segment(table.segment)?.tables.columns(table.table)?;
        Ok(columns.map(move |column| ColumnRef { segment: table.segment, column }))
    };
    Ok(tables.map(of_table).collect::<Result<Vec<_>>>()?.into_iter().flatten())
}

/// The columns of `tables`, those whose names have a word of the text, those that hold a value that it names, and the nearest ones by
/// their vectors.
fn proposed(
    index: &LakeIndex,
    typed: &[TypedWord<'_>],
    vector: &[f32],
    named: &HashMap<ColumnRef, (f64, Vec<&str>)>,
    tables: &[(f64, TableRef)],
) -> Result<HashSet<ColumnRef>> {
    let mut columns: HashSet<ColumnRef> = named.keys().copied().collect();
    columns.extend(columns_of(index, tables.iter().map(|(_, table)| *table))?);
    let words = typed.iter().filter(|word| word.rarity > 0.0).flat_map(|word| name_words(word.text));
    let forms = words.flat_map(|word| {
        let singular = word.strip_suffix('s').map(str::to_string);
        let plural = format!("{word}s");
        [Some(word), singular, Some(plural)].into_iter().flatten()
    });
    let hashes: Vec<u64> = forms.flat_map(|word| header_hashes(&word).skip(1)).collect();
    for (place, segment) in (0..).zip(index.segments()) {
        for hash in &hashes {
            let Some(list) = segment.join.headers.find(*hash)? else { continue };
            if list.count() <= MOST_COLUMNS {
                segment.join.headers.for_each(list, |column| {
                    columns.insert(ColumnRef { segment: place, column });
                })?;
            }
        }
        let live = |column: u32| segment.columns.record(column).is_ok_and(|record| segment.is_live(record.table));
        let nearest = segment.vectors.columns.search(vector, NEAREST, Some(&live))?;
        columns.extend(nearest.into_iter().map(|(column, _)| ColumnRef { segment: place, column }));
    }
    Ok(columns)
}

/// What was found out about the columns before they are read as sentences.
struct Found<'q> {
    tables: HashMap<TableRef, Arc<TableEntry>>,
    notes: &'q Notes,
    named: HashMap<ColumnRef, (f64, Vec<&'q str>)>,
}

impl<'q> Found<'q> {
    /// The columns that are proposed, best first, with all features but those of texts read as sentences.
    fn columns(
        index: &'q LakeIndex,
        embedder: &dyn Embedder,
        typed: &[TypedWord<'_>],
        named: &'q NamedValues,
        (tables, among): (&[(f64, TableRef)], Option<&[TableRef]>),
        weights: &ColumnWeights,
    ) -> Result<(Self, Vec<Scored>)> {
        let mut vector = informative_vector(embedder, typed);
        vector.resize(column_dims(embedder.dims()), 0.0);
        let named = named.by_column();
        let best = tables.first().map_or(1.0, |(score, _)| score.max(f64::MIN_POSITIVE));
        let shares: HashMap<TableRef, f64> = tables.iter().map(|(score, table)| (*table, score / best)).collect();
        let mut said = RequestWords::of(typed, index.names_language()?);
        let mut scored = Vec::new();
        let places = match among {
            Some(among) => columns_of(index, among.iter().copied())?.collect(),
            None => proposed(index, typed, &vector, &named, tables)?,
        };
        for place in places {
            let segment = index.segment(place.segment)?;
            let record = segment.columns.record(place.column)?;
            let table = TableRef { segment: place.segment, table: record.table };
            if !segment.is_live(table.table) {
                continue;
            }
            let name = name_words(segment.columns.name(record)?);
            let (in_name, short) = (said.among(&name), said.abbreviated(&name));
            let features = ColumnFeatures {
                likeness: f64::from(segment.vectors.columns.dot(place.column, &vector)?).clamp(0.0, 1.0),
                words: said.share(&in_name) + short,
                values: named.get(&place).map_or(0.0, |(share, _)| *share),
                table: shares.get(&table).copied().unwrap_or(0.0),
                ..ColumnFeatures::default()
            };
            let matches =
                [(ColumnMatch::Name, !in_name.is_empty() || short > 0.0), (ColumnMatch::Values, features.values > 0.0)];
            let matches = matches.into_iter().filter(|(_, holds)| *holds).map(|(what, _)| what).collect();
            let (score, column) = (weights.score(&features), record.place as usize);
            scored.push((Scored { score, features, matches, table, place, column }, in_name, short));
        }
        scored.sort_by(|(a, ..), (b, ..)| promising(a, b));
        scored.truncate(LOOKED_AT);
        let mut found = Self { tables: HashMap::new(), notes: index.notes(), named };
        let mut columns = Vec::with_capacity(scored.len());
        for (mut column, mut in_texts, short) in scored {
            let entry = match found.tables.entry(column.table) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(index.table(column.table)?),
            };
            let Some(profile) = entry.profile.columns.get(column.column) else { continue };
            let metadata = of_column(entry, profile);
            let unit = metadata.and_then(|metadata| metadata.unit.as_deref()).unwrap_or_default();
            let texts = [
                (ColumnMatch::Description, lower_words(&described(metadata)).collect::<Vec<String>>()),
                (ColumnMatch::Unit, name_words(unit)),
                (ColumnMatch::Note, lower_words(note_on(index.notes(), entry, profile)).collect()),
            ];
            for (what, words) in texts {
                let said = said.among(&words);
                if !said.is_empty() {
                    column.matches.push(what);
                }
                in_texts.extend(said);
            }
            column.features.words = (said.share(&in_texts) + short).min(1.0);
            column.score = weights.score(&column.features);
            columns.push(column);
        }
        columns.sort_by(promising);
        Ok((found, columns))
    }

    fn answer(&self, scored: Scored) -> ColumnAnswer {
        let Scored { score, features, mut matches, table, place, column } = scored;
        let entry = &*self.tables[&table];
        let profile = &entry.profile.columns[column];
        let metadata = of_column(entry, profile);
        let described = Some(described(metadata)).filter(|described| !described.is_empty());
        let unit = metadata.and_then(|metadata| metadata.unit.clone());
        let note = Some(note_on(self.notes, entry, profile).to_string()).filter(|note| !note.is_empty());
        let named = self.named.get(&place).map_or(&[][..], |(_, named)| named);
        let top = profile.top.iter().map(|(value, _)| value.as_str());
        let values: Vec<String> = match named {
            [] => top.take(VALUES).map(str::to_string).collect(),
            named => named.iter().map(|value| value.to_string()).collect(),
        };
        if matches.is_empty() {
            matches.push(ColumnMatch::Meaning);
        }
        let mut parts: Vec<Message> = Vec::new();
        for matched in &matches {
            parts.push(match matched {
                ColumnMatch::Name => message!("its name says so"),
                ColumnMatch::Values => {
                    message!("has {}", Message::list(PARTS, values.iter().map(|value| message!("`{}`", value))))
                }
                ColumnMatch::Description => message!("described as: {}", described.as_deref().unwrap_or_default()),
                ColumnMatch::Note => message!("your note: {}", note.as_deref().unwrap_or_default()),
                ColumnMatch::Unit => message!("in {}", unit.as_deref().unwrap_or_default()),
                ColumnMatch::Meaning => message!("close in meaning ({})", format!("{:.2}", features.about)),
            });
        }
        if let (Some(min), Some(max)) = (&profile.min, &profile.max) {
            parts.push(message!("{} to {}", min, max));
        } else if named.is_empty() && !values.is_empty() {
            parts.push(message!("such as {}", shown(&values.join(", "), 80)));
        }
        ColumnAnswer {
            table: entry.id.to_string(),
            title: entry.title(),
            column: profile.name.clone(),
            score,
            features,
            matches,
            logical: profile.logical,
            semantic: profile.semantic,
            description: described,
            note,
            unit,
            min: profile.min.clone(),
            max: profile.max.clone(),
            values,
            distinct: profile.distinct,
            rows: entry.profile.rows,
            citation: entry.citation.clone(),
            reason: Message::list(CLAUSES, parts).and_then(sample_words(None, entry)),
        }
    }
}

/// Adds to the best `columns`, in their order, what reading them as sentences says, until `encoded` different texts were read.
fn read(encoder: &dyn Embedder, text: &str, columns: &mut [Scored], found: &Found<'_>, encoded: usize) {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut texts: Vec<usize> = Vec::new();
    for scored in columns.iter() {
        let entry = &*found.tables[&scored.table];
        let next = numbers.len();
        texts.push(
            *numbers.entry(column_text(found.notes, entry, &entry.profile.columns[scored.column])).or_insert(next),
        );
        if numbers.len() >= encoded {
            break;
        }
    }
    let mut all: Vec<(String, usize)> = numbers.into_iter().collect();
    all.sort_by_key(|(_, number)| *number);
    encoder.prefetch(|| all.iter().map(|(text, _)| text.clone()).chain([text.to_string()]).collect());
    let query = encoder.embed(text);
    let cosine = |text: &str| f64::from(dot(&query, &vector_of(encoder, text))).clamp(0.0, 1.0);
    let cosines: Vec<f64> = all.par_iter().map(|(text, _)| cosine(text)).collect();
    for (column, text) in columns.iter_mut().zip(texts) {
        column.features.about = cosines[text];
    }
}

#[cfg(test)]
mod tests {
    use super::held;

    #[test]
    fn the_words_that_ask_for_columns_are_not_looked_for() {
        for (text, expected) in [
            ("which columns hold country names", "country names"),
            ("Where is there a column with IATA codes?", "IATA codes?"),
            ("columns of latitude", "latitude"),
            ("height of the column of mercury", "height of the column of mercury"),
            ("columns", "columns"),
            ("population density", "population density"),
        ] {
            assert_eq!(held(text), expected);
        }
    }
}
