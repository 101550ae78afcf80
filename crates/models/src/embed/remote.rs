//! Vectors from a model on a server with the OpenAI protocol: requested in batches, validated and cached.
//!
//! An [`Embedder`] cannot fail, a server can: after the first failure no request is sent and every vector is zero, until the caller has
//! checked [`RemoteEmbedder::failure`] and handled it. The server's address is not part of the id, so an index survives a change of port. A
//! fingerprint of four probe vectors is part of it, because servers give any model any name.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::{Embedder, RemoteEmbedder, normalise};
use crate::llm::connection::{CallError, Connection};
use crate::llm::{ChatFailure, FailureKind, Manners, Server, complaint_words, quote};
use lakeward_core::error::{Error, Result};

/// Texts per request.
const BATCH: usize = 32;
/// Maximum characters sent per text. A text that is still too long for the model is halved until it fits, each text separately, so that its
/// vector does not depend on earlier requests.
const MOST_CHARS: usize = 2_000;
/// A text is not cut to fewer characters.
const LEAST_CHARS: usize = 50;
/// Maximum vector length accepted.
const MOST_DIMS: usize = 8_192;
/// Bytes of cached vectors, in each of two generations.
const MOST_BYTES: usize = 16 << 20;
/// Texts whose vectors identify a model.
const PROBES: [&str; 4] = ["station", "population of towns by year", "1998-04-17", "name, address and postcode"];

/// A model on a server.
pub struct RemoteModel {
    id: String,
    dims: usize,
    model: String,
    connection: Connection,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Recently used vectors; when full, they become the older generation.
    young: HashMap<String, Vec<f32>>,
    old: HashMap<String, Vec<f32>>,
    failure: Option<ChatFailure>,
    /// Whether the server was verified to have the model of this id.
    is_verified: bool,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    data: Vec<Row>,
    /// Some servers report an error with a success status.
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl RemoteModel {
    /// The model that `server` names, with `timeout` per request. Embeds a few probe texts to identify the model and find the vector
    /// length.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid address or key, [`Error::EmbeddingServer`] if the server returns no vectors.
    pub fn connect(server: &Server, manners: Manners, timeout: Duration) -> Result<Self> {
        let mut model = Self::without_id(server, manners, timeout)?;
        let probes =
            model.ask(&PROBES).map_err(|call_error| Error::EmbeddingServer { reason: call_error.failure.message })?;
        model.dims = probes.first().map_or(0, Vec::len);
        model.id = model.id_of(&probes);
        model.state().is_verified = true;
        Ok(model)
    }

    /// The model `id` of an index, if the name in `server` matches; sends nothing before the first text is embedded. If the server then has
    /// a different model, that is a failure.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid address or key.
    pub fn of_index(server: &Server, manners: Manners, timeout: Duration, id: &str) -> Result<Option<Self>> {
        let rest = id.strip_prefix(&prefix(&server.model)).and_then(|rest| rest.split_once('#'));
        let dims = rest.and_then(|(dims, _)| dims.parse().ok()).filter(|dims| (1..=MOST_DIMS).contains(dims));
        let Some(dims) = dims else { return Ok(None) };
        Ok(Some(Self { id: id.to_string(), dims, ..Self::without_id(server, manners, timeout)? }))
    }

    fn without_id(server: &Server, manners: Manners, timeout: Duration) -> Result<Self> {
        Ok(Self {
            id: String::new(),
            dims: 0,
            model: server.model.clone(),
            connection: Connection::to(server, manners)?,
            timeout,
            state: Mutex::default(),
        })
    }

    fn id_of(&self, probes: &[Vec<f32>]) -> String {
        let fingerprints: Vec<u8> = probes.iter().flat_map(|vector| fingerprint(vector)).collect();
        format!("{}{}#{:08x}", prefix(&self.model), self.dims, xxh3_64(&fingerprints) as u32)
    }

    /// Verifies that the server has the model of this id.
    fn verify_model(&self) -> Result<(), ChatFailure> {
        if self.state().is_verified {
            return Ok(());
        }
        let probes = self.ask(&PROBES).map_err(|call_error| call_error.failure)?;
        if self.id_of(&probes) != self.id {
            let what = "is another model than the one that built the index; serve that one, or rebuild with --rebuild";
            return Err(self.connection.failure(FailureKind::Refused, what));
        }
        self.state().is_verified = true;
        Ok(())
    }

    /// The vectors of `texts`, one each, of length 1.
    fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, CallError> {
        let body = json!({"model": self.model, "input": texts});
        let embeddings = self.connection.client().embeddings();
        let answer: Answer = self.connection.ask_in_turn(self.timeout, embeddings.create_byot(body))?;
        self.checked(answer, texts.len()).map_err(|what| {
            let failure = self.connection.failure(FailureKind::Broken, &what);
            CallError { failure, complaint: None }
        })
    }

    fn checked(&self, answer: Answer, expected: usize) -> Result<Vec<Vec<f32>>, String> {
        if let (true, Some(words)) = (answer.data.is_empty(), complaint_words(&answer.error)) {
            return Err(format!("answers: {words}"));
        }
        if answer.data.len() != expected {
            return Err(format!("returns {} vectors for {expected} texts", answer.data.len()));
        }
        let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); expected];
        let dims = if self.dims > 0 { self.dims } else { answer.data.first().map_or(0, |row| row.embedding.len()) };
        if dims == 0 || dims > MOST_DIMS {
            return Err(format!("returns vectors of {dims} values; 1 to {MOST_DIMS} are allowed"));
        }
        for (place, mut row) in answer.data.into_iter().enumerate() {
            let vector = vectors.get_mut(row.index.unwrap_or(place)).filter(|vector| vector.is_empty());
            let vector = vector.ok_or("returns vectors with wrong indexes")?;
            if row.embedding.len() != dims {
                return Err(format!("returns vectors of {dims} and of {} values", row.embedding.len()));
            }
            if row.embedding.iter().any(|value| !value.is_finite()) || !normalise(&mut row.embedding) {
                return Err("returns a vector that is zero or not finite".into());
            }
            *vector = row.embedding;
        }
        Ok(vectors)
    }

    /// The vectors of a batch of cleaned texts; `None` for a text that the model rejects at any length.
    fn batch(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, ChatFailure> {
        match self.ask(texts) {
            Ok(vectors) => Ok(vectors.into_iter().map(Some).collect()),
            Err(call_error) if concerns_text(&call_error) => texts.iter().map(|text| self.shortened(text)).collect(),
            Err(call_error) => Err(call_error.failure),
        }
    }

    /// The vector of the longest prefix of a text that the model accepts: whole, half, a quarter and so on.
    fn shortened(&self, text: &str) -> Result<Option<Vec<f32>>, ChatFailure> {
        let mut chars = text.chars().count();
        loop {
            let head: String = text.chars().take(chars).collect();
            match self.ask(&[&head]) {
                Ok(vectors) => return Ok(vectors.into_iter().next()),
                Err(call_error) if call_error.failure.kind == FailureKind::TooLong && chars > LEAST_CHARS => chars /= 2,
                // The text may have no known word. A server that refuses everything is a different failure.
                Err(call_error) if concerns_text(&call_error) => {
                    return self.ask(&PROBES[..1]).map(|_| None).map_err(|call_error| call_error.failure);
                }
                Err(call_error) => return Err(call_error.failure),
            }
        }
    }

    /// Requests those of `texts` that are not cached, and caches them.
    fn fetch_missing(&self, texts: &[String]) {
        let mut seen = HashSet::new();
        let missing: Vec<&str> = {
            let mut state = self.state();
            let missing = texts.iter().filter(|text| !state.is_cached(text, self.generation()));
            missing.map(String::as_str).filter(|text| seen.insert(*text)).collect()
        };
        for texts in missing.chunks(BATCH) {
            if self.state().failure.is_some() {
                return;
            }
            let fetched = self.verify_model().and_then(|()| self.batch(texts));
            let mut state = self.state();
            match fetched {
                Ok(vectors) => {
                    for (text, vector) in texts.iter().zip(vectors) {
                        state.store(text, vector.unwrap_or_default(), self.generation());
                    }
                }
                Err(failure) => _ = state.failure.get_or_insert(failure),
            }
        }
    }

    /// Maximum texts per cache generation.
    fn generation(&self) -> usize {
        (MOST_BYTES / (self.dims.max(1) * size_of::<f32>())).clamp(256, 4_096)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether the vector of `text` is cached; moves it to the young generation.
    fn is_cached(&mut self, text: &str, generation: usize) -> bool {
        if let Some(vector) = self.old.remove(text) {
            self.store(text, vector, generation);
        }
        self.young.contains_key(text)
    }

    fn store(&mut self, text: &str, vector: Vec<f32>, generation: usize) {
        if self.young.len() >= generation {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text.to_string(), vector);
    }

    fn cached(&self, text: &str) -> Option<&Vec<f32>> {
        self.young.get(text).or_else(|| self.old.get(text))
    }
}

impl Embedder for RemoteModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.dims
    }

    /// Embeds all texts as one: for a sentence model, vectors of single words do not sum to that of a sentence. Returns the number of
    /// words, as servers do not count tokens per text.
    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        assert_eq!(out.len(), self.dims, "vector of another model");
        out.fill(0.0);
        let words: Vec<&str> = texts.iter().filter(|(_, weight)| *weight > 0.0).map(|(text, _)| *text).collect();
        let text = quote::clean(&words.join(" "), MOST_CHARS);
        if text.is_empty() {
            return 0;
        }
        let texts = [text];
        self.fetch_missing(&texts);
        let [text] = texts;
        match self.state().cached(&text).filter(|vector| !vector.is_empty()) {
            Some(vector) => {
                out.copy_from_slice(vector);
                text.split(' ').count()
            }
            None => 0,
        }
    }

    fn as_remote(&self) -> Option<&dyn RemoteEmbedder> {
        Some(self)
    }
}

impl RemoteEmbedder for RemoteModel {
    fn prefetch(&self, texts: &[String]) {
        let mut texts: Vec<String> = texts.iter().map(|text| quote::clean(text, MOST_CHARS)).collect();
        texts.retain(|text| !text.is_empty());
        // More texts would evict each other before they are used.
        texts.truncate(self.generation());
        self.fetch_missing(&texts);
    }

    fn failure(&self) -> Option<ChatFailure> {
        self.state().failure.clone()
    }

    fn retry(&self) {
        self.state().failure = None;
    }
}

/// Whether a failure concerns the text and not the server.
fn concerns_text(call_error: &CallError) -> bool {
    call_error.failure.kind == FailureKind::TooLong || call_error.complaint.is_some()
}

/// The id prefix of all models of this name.
fn prefix(model: &str) -> String {
    format!("served:{}/", quote::clean(model, 100))
}

/// Position and sign of the value with the greatest magnitude: it differs between models, and does not depend on the last digits, in which
/// two runs of one model may differ.
fn fingerprint(vector: &[f32]) -> [u8; 5] {
    let mut greatest = (0, 0.0_f32);
    for (place, value) in vector.iter().enumerate() {
        if value.abs() > greatest.1.abs() {
            greatest = (place, *value);
        }
    }
    let [a, b, c, d] = (greatest.0 as u32).to_le_bytes();
    [a, b, c, d, u8::from(greatest.1 < 0.0)]
}
