//! The tables that words, meaning, whole cells and users' notes propose for a text, each with what it is scored by.

use hashbrown::HashMap;

use super::notes::{NoteEvidence, best_notes, noted};
use super::text_vectors::{TextVectors, meaning, nearest_about, nearest_tables};
use super::{OTHERS_DEPTH, SearchFeatures, SearchOptions};
use crate::named_values::NamedValues;
use crate::request_words::RequestWords;
use crate::weights::TextWeights;
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_index::lexical::{FieldMatch, LexicalEvidence, LexicalField, LexicalQuery};
use lakeward_index::vectors::VectorSet;
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_models::embed::Embedder;

/// Tables that the words propose: a bound of work.
const WORDS_DEPTH: usize = 100;

/// A table that a search looks at, with what it is scored by.
pub(super) struct SearchCandidate {
    pub table: TableRef,
    /// Whether the text is its id, file name or title: it comes before all others whatever its score.
    pub exact: bool,
    pub features: SearchFeatures,
    pub lexical_rank: Option<u32>,
    pub dense_rank: Option<u32>,
    pub lexical: LexicalEvidence,
    /// Cells that the request names.
    pub named: Vec<(String, ColumnRef)>,
    /// Whether a user's note on it says words of the text.
    pub noted: bool,
}

/// What else is known of tables: cells that a text names, users' notes, and where words and meaning rank them.
pub(super) struct FoundTables {
    pub named: NamedValues,
    pub notes: HashMap<TableRef, NoteEvidence>,
    /// By place in the whole index, as the next.
    pub lexical_ranks: HashMap<TableRef, u32>,
    pub dense_ranks: HashMap<TableRef, u32>,
}

impl FoundTables {
    /// `tables` with what they are scored by.
    pub fn candidates(
        &self,
        index: &LakeIndex,
        label: &str,
        (lexical, query): (&LexicalQuery<'_>, &TextVectors),
        tables: &[TableRef],
        weights: &TextWeights,
    ) -> Result<Vec<SearchCandidate>> {
        let places: Vec<(u32, u32)> = tables.iter().map(|table| (table.segment, table.table)).collect();
        let evidence = lexical.evidence(&places)?;
        let abbreviated =
            abbreviated(index, &RequestWords::of(&lexical.typed_words(), index.names_language()?), tables, &evidence)?;
        let mut candidates = Vec::with_capacity(tables.len());
        let shares = self.notes.values().map(|note| note.share);
        let names = evidence.iter().zip(&abbreviated).map(|(evidence, short)| evidence.coverage_about + short);
        let reach = names.chain(shares).fold(0.0, f64::max).min(1.0);
        let reach = index.gather(&format!("reach of {label}"), || Ok(reach), |_| true)?.into_iter().fold(0.0, f64::max);
        for ((&table, lexical), short) in tables.iter().zip(evidence).zip(abbreviated) {
            let segment = index.segment(table.segment)?;
            let cosine_with = |vectors: &VectorSet, vector: &[f32]| {
                vectors.dot(table.table, vector).map(|cosine| f64::from(cosine).clamp(0.0, 1.0))
            };
            let cosine = |vectors: &VectorSet| cosine_with(vectors, &query.words);
            let about = query.about.as_ref().zip(segment.meanings.as_ref());
            let nearness = about.map_or(Ok(0.0), |(vector, meanings)| cosine_with(&meanings.0, vector))?;
            let (values, held) = self.named.of(table);
            let note = self.notes.get(&table);
            let described = lexical.described || note.is_some();
            let (share, near) = note.map_or((0.0, 0.0), |note| (note.share, note.cosine));
            let features = SearchFeatures {
                words: lexical.words.max(share),
                coverage: lexical.coverage.max(share),
                title: lexical.title,
                title_said: lexical.title_said,
                headers: lexical.headers,
                headers_said: lexical.headers_said,
                phrases: lexical.phrases,
                values,
                // Of what a note is about the table is, too, where the texts are read by one model.
                about: if query.about.is_some() { nearness.max(near) } else { nearness },
                words_about: reach * lexical.words_about.max(share),
                phrases_in_reach: lexical.phrases * if described { reach } else { weights.bare },
                values_in_reach: values * if described { reach } else { weights.bare },
                names_in_reach: lexical.names * if described { reach } else { weights.bare },
                words_of_bare: if described { 0.0 } else { lexical.words },
                coverage_of_bare: if described { 0.0 } else { (lexical.coverage + short).min(1.0) },
                meaning: cosine(&segment.vectors.topics)?.max(near),
                meaning_of_title: cosine(&segment.vectors.titles)?,
                meaning_of_content: cosine(&segment.vectors.contents)?,
            };
            let about = features.about;
            let mut lexical = lexical;
            if note.is_some_and(|note| note.exact) {
                lexical.matched.insert(0, FieldMatch { field: LexicalField::Title, words: Vec::new(), exact: true });
            }
            candidates.push(SearchCandidate {
                table,
                exact: lexical.matched.iter().any(|matched| matched.exact),
                features,
                lexical_rank: self.lexical_ranks.get(&index.in_index(table)).copied(),
                dense_rank: self.dense_ranks.get(&index.in_index(table)).copied(),
                noted: note
                    .is_some_and(|note| note.share > 0.0 || note.exact || note.cosine > 0.0 && note.cosine >= about),
                named: held.into_iter().map(|(value, column)| (value.to_string(), column)).collect(),
                lexical,
            });
        }
        Ok(candidates)
    }
}

/// The tables that words, meaning or cells named propose, at least `k` by words where there are so many.
pub(super) fn candidates(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<(Vec<SearchCandidate>, TextVectors)> {
    let SearchOptions { k, weights } = *options;
    let (lexical, about) = (index.lexical_query(text), meaning(index, embedder, text));
    let (lexical, about) = (lexical?, about?);
    let typed = lexical.typed_words();
    let query = TextVectors::of(about, embedder, &typed);
    let depth = OTHERS_DEPTH.max(k);
    let (near, least) = match &query.about {
        Some(about) => (nearest_about(index, about, depth)?, weights.text.least_about),
        None => (nearest_tables(index, &query.words, depth)?, weights.text.least_cosine),
    };
    let near = near.into_iter().map(|(table, cosine)| (f64::from(cosine), table)).collect();
    let notes = noted(index, embedder, &query, text, &typed)?;
    // One round of an exchange is for all of these; their tables are told by their places in the whole index.
    let by_words = lexical.best_of_all(WORDS_DEPTH.max(k));
    let dense = index.best_of_all(&format!("nearest {depth} to {text}"), near, depth);
    let named = NamedValues::find(index, text, &typed);
    let by_notes = best_notes(index, text, &notes, f64::from(weights.text.least_about));
    let (by_words, mut dense, named, by_notes) = (by_words?, dense?, named?, by_notes?);
    let ranks_by_words: HashMap<TableRef, u32> = by_words.iter().zip(1..).map(|(table, rank)| (*table, rank)).collect();
    dense.retain(|(cosine, table)| *cosine >= f64::from(least) || ranks_by_words.contains_key(table));
    let dense_ranks: HashMap<TableRef, u32> = dense.iter().zip(1..).map(|((_, table), rank)| (*table, rank)).collect();
    let mut tables = by_words;
    let by_values = named.best(index, text, OTHERS_DEPTH)?;
    for table in dense.iter().map(|(_, table)| *table).chain(by_values).chain(by_notes) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    let tables: Vec<TableRef> = tables.into_iter().filter_map(|place| index.of_shard(place)).collect();
    let found = FoundTables { named, notes, lexical_ranks: ranks_by_words, dense_ranks };
    let label = format!("{k} answers to {text}");
    let candidates = found.candidates(index, &label, (&lexical, &query), &tables, &weights.text)?;
    Ok((candidates, query))
}

/// What share of a text the names of each of `tables` and of its columns abbreviate, of words that nothing spells out; 0 for those that are described.
fn abbreviated(
    index: &LakeIndex,
    words: &RequestWords,
    tables: &[TableRef],
    evidence: &[LexicalEvidence],
) -> Result<Vec<f64>> {
    if !words.has_unsaid() {
        return Ok(vec![0.0; tables.len()]);
    }
    let share = |(table, evidence): (&TableRef, &LexicalEvidence)| -> Result<f64> {
        if evidence.described {
            return Ok(0.0);
        }
        let segment = index.segment(table.segment)?;
        let mut names = name_words(index.id(*table)?);
        for column in segment.tables.columns(table.table)? {
            names.extend(name_words(segment.columns.name(segment.columns.record(column)?)?));
        }
        Ok(words.abbreviated(&names))
    };
    tables.iter().zip(evidence).map(share).collect()
}
