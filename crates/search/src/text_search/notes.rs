//! What users' notes on tables say of a text: their words, their meaning, and a title that is the text.

use hashbrown::HashMap;

use super::OTHERS_DEPTH;
use super::text_vectors::{TextVectors, text_encoder};
use crate::request_words::RequestWords;
use lakeward_core::error::Result;
use lakeward_core::text::{name_key, name_words};
use lakeward_index::lexical::TypedWord;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_lake::notes::TableNote;
use lakeward_models::embed::{Embedder, EmbedderExt, dot};

/// What a user's note on a table says of a text.
pub(super) struct NoteEvidence {
    /// Share of the text that it says, 0..=1.
    pub share: f64,
    /// Its cosine with the text, 0..=1; 0 where it was not read.
    pub cosine: f64,
    /// Whether its title is the text.
    pub exact: bool,
}

/// Notes that are read as sentences; of others only the words count.
const READ_NOTES: usize = 64;

/// What users' notes say of a text, by table.
pub(super) fn noted(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    query: &TextVectors,
    text: &str,
    typed: &[TypedWord<'_>],
) -> Result<HashMap<TableRef, NoteEvidence>> {
    let mut found = HashMap::new();
    if index.notes().all().len() == 0 {
        return Ok(found);
    }
    let encoder = text_encoder(index, embedder).unwrap_or(embedder);
    let vectors = index.note_vectors(|notes| {
        let notes: Vec<&TableNote> = notes.all().take(READ_NOTES).collect();
        encoder.prefetch(|| notes.iter().map(|note| note.text()).collect());
        notes.iter().map(|note| (note.table.clone(), encoder.embed(&note.text()))).collect()
    });
    let vectors: HashMap<&str, &[f32]> = vectors.iter().map(|(table, vector)| (table.as_str(), &vector[..])).collect();
    let (mut words, asked) = (RequestWords::of(typed, index.names_language()?), name_key(text));
    for note in index.notes().all() {
        let Some(table) = index.get(&note.table)? else { continue };
        let said = words.among(&name_words(&note.text()));
        let vector = vectors.get(note.table.as_str());
        let cosine = vector.map_or(0.0, |vector| f64::from(dot(query.about.as_ref().unwrap_or(&query.words), vector)));
        let exact = note.title.as_deref().is_some_and(|title| name_key(title) == asked && !asked.is_empty());
        found.insert(table, NoteEvidence { share: words.share(&said), cosine: cosine.clamp(0.0, 1.0), exact });
    }
    Ok(found)
}

/// The tables whose notes say most of a text, by their places in the whole index.
pub(super) fn best_notes(
    index: &LakeIndex,
    text: &str,
    notes: &HashMap<TableRef, NoteEvidence>,
    least: f64,
) -> Result<Vec<TableRef>> {
    if index.notes().all().len() == 0 {
        return Ok(Vec::new());
    }
    let says = |note: &NoteEvidence| note.exact || note.share > 0.0 || note.cosine >= least;
    let own = notes.iter().filter(|(_, note)| says(note));
    // An exact one comes before all others.
    let own = own.map(|(table, note)| (note.share + note.cosine + f64::from(u8::from(note.exact)) * 4.0, *table));
    let best = index.best_of_all(&format!("notes that say words of {text}"), own.collect(), OTHERS_DEPTH)?;
    Ok(best.into_iter().map(|(_, table)| table).collect())
}
