//! The vectors of a model on a server that speaks the OpenAI protocol: asked for in batches, checked, remembered.
//!
//! An [`Embedder`] cannot fail, a server can: after the first failure nothing is asked and every vector is zero, until
//! whoever looks at [`RemoteEmbedder::failure`] has said what follows from it. Where the model is served is no part of its id, so
//! that an index outlives a change of port; what four texts look like to it is, for servers give any model any name.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::{Embedder, RemoteEmbedder, normalise};
use crate::llm::connection::{Connection, Unmet};
use crate::llm::{ChatFailure, FailureKind, Manners, Server, complaint_words, quote};
use lakeward_core::error::{Error, Result};

/// Texts in one request.
const BATCH: usize = 32;
/// Characters of a text that are sent. What the model still finds too long is halved until it fits, each text by itself, so
/// that a text has the same vector whatever was asked before.
const MOST_CHARS: usize = 2_000;
/// The fewest characters that a text is cut to.
const LEAST_CHARS: usize = 50;
/// Longest vectors that are taken.
const MOST_DIMS: usize = 8_192;
/// Bytes of vectors remembered, in each of two generations.
const MOST_BYTES: usize = 16 << 20;
/// What a model is known by.
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
    /// Vectors asked for lately; full, it becomes the older generation.
    young: HashMap<String, Vec<f32>>,
    old: HashMap<String, Vec<f32>>,
    failure: Option<ChatFailure>,
    /// Whether the server has shown that it has the model of this id.
    known: bool,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    data: Vec<Row>,
    /// Some servers report an error with the status of success.
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
    /// The model that `server` names, each request to it within `timeout`. It is asked for a few vectors, by which it is
    /// known again and their length is learned.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address or key that is none, [`Error::EmbeddingServer`] where the server gives no vectors.
    pub fn connect(server: &Server, manners: Manners, timeout: Duration) -> Result<Self> {
        let mut model = Self::unknown(server, manners, timeout)?;
        let probes = model.ask(&PROBES).map_err(|unmet| Error::EmbeddingServer { reason: unmet.failure.message })?;
        model.dims = probes.first().map_or(0, Vec::len);
        model.id = model.id_of(&probes);
        model.state().known = true;
        Ok(model)
    }

    /// The model `id` of an index, if `server` names one that may be it; nothing is sent before the first text is embedded.
    /// Should another model be found there then, that is a failure.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address or key that is none.
    pub fn of_index(server: &Server, manners: Manners, timeout: Duration, id: &str) -> Result<Option<Self>> {
        let rest = id.strip_prefix(&prefix(&server.model)).and_then(|rest| rest.split_once('#'));
        let dims = rest.and_then(|(dims, _)| dims.parse().ok()).filter(|dims| (1..=MOST_DIMS).contains(dims));
        let Some(dims) = dims else { return Ok(None) };
        Ok(Some(Self { id: id.to_string(), dims, ..Self::unknown(server, manners, timeout)? }))
    }

    fn unknown(server: &Server, manners: Manners, timeout: Duration) -> Result<Self> {
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
        let marks: Vec<u8> = probes.iter().flat_map(|vector| mark(vector)).collect();
        format!("{}{}#{:08x}", prefix(&self.model), self.dims, xxh3_64(&marks) as u32)
    }

    /// Makes sure that the server has the model of this id.
    fn know(&self) -> Result<(), ChatFailure> {
        if self.state().known {
            return Ok(());
        }
        let probes = self.ask(&PROBES).map_err(|unmet| unmet.failure)?;
        if self.id_of(&probes) != self.id {
            let what = "is another model than the one that built the index; serve that one, or rebuild with --rebuild";
            return Err(self.connection.failure(FailureKind::Refused, what));
        }
        self.state().known = true;
        Ok(())
    }

    /// The vectors of `texts`, one each, of length 1.
    fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Unmet> {
        let body = json!({"model": self.model, "input": texts});
        let embeddings = self.connection.client().embeddings();
        let answer: Answer = self.connection.ask_in_turn(self.timeout, embeddings.create_byot(body))?;
        self.checked(answer, texts.len()).map_err(|what| {
            let failure = self.connection.failure(FailureKind::Broken, &what);
            Unmet { failure, complaint: None }
        })
    }

    fn checked(&self, answer: Answer, wanted: usize) -> Result<Vec<Vec<f32>>, String> {
        if let (true, Some(words)) = (answer.data.is_empty(), complaint_words(&answer.error)) {
            return Err(format!("answers: {words}"));
        }
        if answer.data.len() != wanted {
            return Err(format!("gives {} vectors for {wanted} texts", answer.data.len()));
        }
        let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); wanted];
        let dims = if self.dims > 0 { self.dims } else { answer.data.first().map_or(0, |row| row.embedding.len()) };
        if dims == 0 || dims > MOST_DIMS {
            return Err(format!("gives vectors of {dims} values; 1 to {MOST_DIMS} can be used"));
        }
        for (place, mut row) in answer.data.into_iter().enumerate() {
            let vector = vectors.get_mut(row.index.unwrap_or(place)).filter(|vector| vector.is_empty());
            let vector = vector.ok_or("numbers its vectors wrongly")?;
            if row.embedding.len() != dims {
                return Err(format!("gives vectors of {dims} and of {} values", row.embedding.len()));
            }
            if row.embedding.iter().any(|value| !value.is_finite()) || !normalise(&mut row.embedding) {
                return Err("gives a vector without direction".into());
            }
            *vector = row.embedding;
        }
        Ok(vectors)
    }

    /// The vectors of a batch of cleaned texts; none for one that the model cannot take at any length.
    fn batch(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, ChatFailure> {
        match self.ask(texts) {
            Ok(vectors) => Ok(vectors.into_iter().map(Some).collect()),
            Err(unmet) if is_of_a_text(&unmet) => texts.iter().map(|text| self.shortened(text)).collect(),
            Err(unmet) => Err(unmet.failure),
        }
    }

    /// The vector of the longest beginning of a text that the model takes: whole, half, a quarter and so on.
    fn shortened(&self, text: &str) -> Result<Option<Vec<f32>>, ChatFailure> {
        let mut chars = text.chars().count();
        loop {
            let head: String = text.chars().take(chars).collect();
            match self.ask(&[&head]) {
                Ok(vectors) => return Ok(vectors.into_iter().next()),
                Err(unmet) if unmet.failure.kind == FailureKind::TooLong && chars > LEAST_CHARS => chars /= 2,
                // It may see no word in it. A server that refuses everything is another matter.
                Err(unmet) if is_of_a_text(&unmet) => {
                    return self.ask(&PROBES[..1]).map(|_| None).map_err(|unmet| unmet.failure);
                }
                Err(unmet) => return Err(unmet.failure),
            }
        }
    }

    /// Asks for those of `texts` that are not remembered, and remembers them.
    fn learn(&self, texts: &[String]) {
        let mut seen = HashSet::new();
        let unknown: Vec<&str> = {
            let mut state = self.state();
            let unknown = texts.iter().filter(|text| !state.knows(text, self.generation()));
            unknown.map(String::as_str).filter(|text| seen.insert(*text)).collect()
        };
        for texts in unknown.chunks(BATCH) {
            if self.state().failure.is_some() {
                return;
            }
            let learned = self.know().and_then(|()| self.batch(texts));
            let mut state = self.state();
            match learned {
                Ok(vectors) => {
                    for (text, vector) in texts.iter().zip(vectors) {
                        state.remember(text, vector.unwrap_or_default(), self.generation());
                    }
                }
                Err(failure) => _ = state.failure.get_or_insert(failure),
            }
        }
    }

    /// Texts in a generation of what is remembered.
    fn generation(&self) -> usize {
        (MOST_BYTES / (self.dims.max(1) * size_of::<f32>())).clamp(256, 4_096)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether the vector of `text` is remembered; it is young then.
    fn knows(&mut self, text: &str, generation: usize) -> bool {
        if let Some(vector) = self.old.remove(text) {
            self.remember(text, vector, generation);
        }
        self.young.contains_key(text)
    }

    fn remember(&mut self, text: &str, vector: Vec<f32>, generation: usize) {
        if self.young.len() >= generation {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text.to_string(), vector);
    }

    fn recall(&self, text: &str) -> Option<&Vec<f32>> {
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

    /// One vector of all the words: what a sentence model makes of single words does not add up to a sentence. The number returned
    /// is that of the words: servers do not tell tokens text by text.
    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        assert_eq!(out.len(), self.dims, "vector of another model");
        out.fill(0.0);
        let words: Vec<&str> = texts.iter().filter(|(_, weight)| *weight > 0.0).map(|(text, _)| *text).collect();
        let text = quote::clean(&words.join(" "), MOST_CHARS);
        if text.is_empty() {
            return 0;
        }
        let texts = [text];
        self.learn(&texts);
        let [text] = texts;
        match self.state().recall(&text).filter(|vector| !vector.is_empty()) {
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
        // More would push each other out before they are used.
        texts.truncate(self.generation());
        self.learn(&texts);
    }

    fn failure(&self) -> Option<ChatFailure> {
        self.state().failure.clone()
    }

    fn retry(&self) {
        self.state().failure = None;
    }
}

/// Whether a failure is about a text and not about the server.
fn is_of_a_text(unmet: &Unmet) -> bool {
    unmet.failure.kind == FailureKind::TooLong || unmet.complaint.is_some()
}

/// How the ids of all models of this name begin.
fn prefix(model: &str) -> String {
    format!("served:{}/", quote::clean(model, 100))
}

/// Place and sign of the greatest value: different between models, and the same through the last digits in which two runs
/// of one model may differ.
fn mark(vector: &[f32]) -> [u8; 5] {
    let mut greatest = (0, 0.0_f32);
    for (place, value) in vector.iter().enumerate() {
        if value.abs() > greatest.1.abs() {
            greatest = (place, *value);
        }
    }
    let [a, b, c, d] = (greatest.0 as u32).to_le_bytes();
    [a, b, c, d, u8::from(greatest.1 < 0.0)]
}
