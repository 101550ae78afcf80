//! What a column says of itself: its name, its publisher's and its users' words, its kind and values, as a text and as its vector.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::VALUES;
use lakeward_core::text::{is_placeholder, name_words, on_one_line};
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::metadata::ColumnMetadata;
use lakeward_lake::notes::Notes;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType};
use lakeward_models::embed::{Embedder, EmbedderExt};

/// Vectors of texts that are kept, 1.5 KB each.
const KEPT: usize = 8192;

/// Longest value and description that are read, in bytes.
const VALUE_BYTES: usize = 40;
const DESCRIPTION_BYTES: usize = 160;

/// The vector of a text of a column or table, which this process computes once while it is among the last [`KEPT`]: they are asked for again.
pub(crate) fn vector_of(encoder: &dyn Embedder, text: &str) -> Arc<[f32]> {
    static VECTORS: LazyLock<Mutex<HashMap<u128, Arc<[f32]>>>> = LazyLock::new(Mutex::default);
    let key = xxh3_128(format!("{}\n{text}", encoder.id()).as_bytes());
    // A thread that panicked while holding the lock left the map in a valid state.
    let kept = || VECTORS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(vector) = kept().get(&key) {
        return Arc::clone(vector);
    }
    let vector: Arc<[f32]> = encoder.embed(text).into();
    // A failed server gives a vector of zeros.
    if encoder.failure().is_none() {
        let mut kept = kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&vector));
    }
    vector
}

/// What is read of a column: its name, the user's and the publisher's words on it, what its values stand for, some of them, and the table's title.
pub(super) fn column_text(notes: &Notes, entry: &TableEntry, profile: &ColumnProfile) -> String {
    let metadata = of_column(entry, profile);
    let name = if is_placeholder(&profile.name) { String::new() } else { name_words(&profile.name).join(" ") };
    let described = described(metadata);
    let described = &described[..described.floor_char_boundary(DESCRIPTION_BYTES)];
    let unit = metadata.and_then(|metadata| metadata.unit.as_deref()).unwrap_or_default();
    let kind = profile.semantic.map_or("", kind_in_words);
    let is_text = profile.logical == LogicalType::Text;
    let values = profile.top.iter().map(|(value, _)| value.as_str()).filter(|value| value.len() <= VALUE_BYTES);
    let values: Vec<&str> = values.take(if is_text { VALUES } else { 0 }).collect();
    let parts = [
        &name,
        note_on(notes, entry, profile),
        described,
        unit,
        kind,
        &values.join(", "),
        &on_one_line(&entry.title()),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(". ")
}

/// Values of a kind, in words; empty where a kind says no more than the values.
fn kind_in_words(kind: SemanticType) -> &'static str {
    match kind {
        SemanticType::Country => "names of countries",
        SemanticType::CountryCode => "country codes",
        SemanticType::UsState => "states of the USA",
        SemanticType::Email => "e-mail addresses",
        SemanticType::Url => "web addresses",
        SemanticType::Money => "amounts of money",
        SemanticType::Percentage => "per cent",
        _ => "",
    }
}

pub(super) fn of_column<'e>(entry: &'e TableEntry, profile: &ColumnProfile) -> Option<&'e ColumnMetadata> {
    entry.metadata.as_ref().and_then(|metadata| metadata.columns.get(&profile.name))
}

pub(super) fn note_on<'n>(notes: &'n Notes, entry: &TableEntry, profile: &ColumnProfile) -> &'n str {
    notes.of(entry.id.as_str()).and_then(|note| note.columns.get(&profile.name)).map_or("", String::as_str)
}

/// The publisher's title and description of a column.
pub(super) fn described(metadata: Option<&ColumnMetadata>) -> String {
    let parts = metadata.into_iter().flat_map(|metadata| [&metadata.title, &metadata.description]);
    on_one_line(&parts.flatten().map(String::as_str).collect::<Vec<_>>().join(": "))
}
