//! A sentence model in a folder that the user names, such as all-MiniLM-L6-v2: three orders of magnitude slower than the built-in model,
//! and better at sentences.
//!
//! The folder contains the files that the model's authors publish: `config.json`, `vocab.txt` and `model.safetensors` of a BERT encoder
//! with 32-bit floats. A text is split into word pieces ([`super::wordpiece`]), the encoder computes a vector for each piece in its context
//! ([`encoder`]), and their mean is the vector of the text, as in sentence-transformers. The vectors of the pieces themselves are used for
//! late interaction ([`TokenEmbedder`]).
//!
//! The files are untrusted: sizes are bounded and checked against each other before anything is computed.

mod encoder;
mod int8;

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use memmap2::Mmap;
use safetensors::SafeTensors;
use serde::Deserialize;

use super::wordpiece::Vocabulary;
use super::{Embedder, TokenEmbedder, normalise};
pub use encoder::gelu;
use encoder::{Encoder, Shape};
use lakeward_core::error::{Error, Result};

/// Maximum pieces of a text, special tokens included: the length that the model was trained with.
const MOST_PIECES: usize = 256;
/// Maximum characters of a text that are read; only white space makes a text of [`MOST_PIECES`] pieces longer.
const MOST_CHARACTERS: usize = 16 << 10;
/// Maximum size of the weights, in bytes.
const MOST_BYTES: u64 = 2 << 30;
/// Maximum size of vocabulary and configuration, in bytes.
const MOST_TEXT_BYTES: u64 = 8 << 20;

/// The model inside the program, in two files; `model/README.md` says how they are made.
static PIECES: &[u8] = include_bytes!("model/sentence-pieces.safetensors");
static LAYERS: &[u8] = include_bytes!("model/sentence-layers.safetensors");

/// What the head of a file notes under `name`.
fn noted(file: &[u8], name: &str) -> std::result::Result<String, String> {
    let (_, head) = SafeTensors::read_metadata(file).map_err(|error| error.to_string())?;
    let notes = head.metadata().as_ref().and_then(|notes| notes.get(name));
    notes.cloned().ok_or_else(|| format!("it notes no {name}"))
}

/// A BERT encoder; the vector of a text is the mean of its pieces' vectors.
pub struct SentenceModel {
    id: String,
    vocabulary: Vocabulary,
    encoder: Encoder,
    /// The special tokens that begin and end every text.
    marks: [u32; 2],
}

/// Turns word pieces into one vector each; see [`SentenceModel::with_layers`].
pub struct PieceEncoder {
    encoder: Encoder,
}

impl PieceEncoder {
    /// The length of a vector.
    pub fn dims(&self) -> usize {
        self.encoder.hidden()
    }

    /// One row of [`PieceEncoder::dims`] values for each piece, which must be of the built-in vocabulary; pieces beyond the longest text
    /// that the model knows have no row.
    pub fn encode(&self, pieces: &[u32]) -> Vec<f32> {
        self.encoder.encode(&pieces[..pieces.len().min(self.encoder.positions())])
    }
}

/// The required settings of `config.json`.
#[derive(Deserialize)]
struct BertConfig {
    hidden_size: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    vocab_size: usize,
    layer_norm_eps: f32,
    hidden_act: String,
}

impl SentenceModel {
    /// The model inside the program, read when it is first needed.
    pub fn builtin() -> &'static Self {
        static BUILT_IN: OnceLock<SentenceModel> = OnceLock::new();
        BUILT_IN.get_or_init(|| match Self::inside() {
            Ok(model) => model,
            // The bytes are part of the program; a test opens them.
            Err(what) => unreachable!("the sentence model inside the program: {what}"),
        })
    }

    /// The id of [`SentenceModel::builtin`], which reads only the head of its file.
    pub fn builtin_id() -> &'static str {
        static ID: OnceLock<String> = OnceLock::new();
        ID.get_or_init(|| match noted(LAYERS, "id") {
            Ok(id) => id,
            Err(what) => unreachable!("the sentence model inside the program: {what}"),
        })
    }

    fn inside() -> std::result::Result<Self, String> {
        let config: BertConfig =
            serde_json::from_str(&noted(LAYERS, "config")?).map_err(|error| format!("its configuration: {error}"))?;
        let file = SafeTensors::deserialize(PIECES).map_err(|error| error.to_string())?;
        let vocabulary = file.tensor("vocabulary").map_err(|error| error.to_string())?;
        let vocabulary = std::str::from_utf8(vocabulary.data()).map_err(|error| error.to_string())?;
        let vocabulary = Vocabulary::of_lines(vocabulary)?;
        let mark = |piece| vocabulary.id(piece).ok_or_else(|| format!("no piece `{piece}`"));
        let marks = [mark("[CLS]")?, mark("[SEP]")?];
        let encoder = Encoder::read_rounded(&[PIECES, LAYERS], config.shape()?)?;
        Ok(Self { id: Self::builtin_id().to_string(), vocabulary, encoder, marks })
    }

    /// The pieces of a text by their numbers, without special ones.
    pub fn word_pieces(&self, text: &str) -> Vec<u32> {
        let mut pieces = Vec::new();
        self.vocabulary.tokens(head_of(text), |piece| pieces.push(piece));
        pieces
    }

    /// The numbers of the pieces that begin a text and end it, and of the one for an unknown word.
    pub fn special_pieces(&self) -> [u32; 3] {
        let [begin, end] = self.marks;
        [begin, end, self.vocabulary.id("[UNK]").unwrap_or(end)]
    }

    /// An encoder with the layers of `file`, which is part of the program, and the word pieces of [`SentenceModel::builtin`]: a model that was
    /// trained further for another task.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn with_layers(file: &'static [u8]) -> std::result::Result<PieceEncoder, String> {
        let config: BertConfig =
            serde_json::from_str(&noted(file, "config")?).map_err(|error| format!("its configuration: {error}"))?;
        Ok(PieceEncoder { encoder: Encoder::read_rounded(&[file, PIECES], config.shape()?)? })
    }

    /// Opens the model in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`] if a file is missing or cannot be read; [`Error::Usage`] with the file and what is wrong with it.
    pub fn open(folder: &Path) -> Result<Self> {
        let config_file = folder.join("config.json");
        let config: BertConfig = serde_json::from_str(&text_of(&config_file)?)
            .map_err(|error| wrong(&config_file, &format!("it is not the configuration of a BERT encoder: {error}")))?;
        let shape = config.shape().map_err(|what| wrong(&config_file, &what))?;
        let vocabulary_file = folder.join("vocab.txt");
        let vocabulary = Vocabulary::of_lines(&text_of(&vocabulary_file)?)
            .map_err(|what| wrong(&vocabulary_file, &format!("it is not a vocabulary: {what}")))?;
        if vocabulary.len() != config.vocab_size {
            let what = format!("it has {} pieces, but `config.json` says {}", vocabulary.len(), config.vocab_size);
            return Err(wrong(&vocabulary_file, &what));
        }
        let mark =
            |piece| vocabulary.id(piece).ok_or_else(|| wrong(&vocabulary_file, &format!("it has no piece `{piece}`")));
        let marks = [mark("[CLS]")?, mark("[SEP]")?];
        let weights_file = folder.join("model.safetensors");
        let file = File::open(&weights_file).map_err(|error| Error::io("read", &weights_file, error))?;
        let bytes = file.metadata().map_err(|error| Error::io("read", &weights_file, error))?.len();
        if bytes > MOST_BYTES {
            return Err(wrong(&weights_file, &format!("it has {bytes} bytes; at most {MOST_BYTES} are allowed")));
        }
        // SAFETY: the map is only used here. If a program changes the file meanwhile, only the numbers change, and these are checked.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| Error::io("read", &weights_file, error))?;
        let encoder = Encoder::read(&map, shape).map_err(|what| wrong(&weights_file, &what))?;
        let hash = blake3::hash(&map).to_hex();
        Ok(Self { id: format!("sentence-{}@{}", shape.hidden, &hash[..8]), vocabulary, encoder, marks })
    }

    /// The pieces of the texts in order, at most `most` with the special tokens, and the text that each piece is from; `None` for the
    /// special tokens.
    fn pieces<'t>(&self, texts: impl IntoIterator<Item = &'t str>, most: usize) -> (Vec<u32>, Vec<Option<usize>>) {
        let most = most.clamp(3, MOST_PIECES.min(self.encoder.positions()));
        let (mut pieces, mut of) = (vec![self.marks[0]], vec![None]);
        for (at, text) in texts.into_iter().enumerate() {
            if pieces.len() >= most - 1 {
                break;
            }
            self.vocabulary.tokens(head_of(text), |piece| {
                if pieces.len() < most - 1 {
                    pieces.push(piece);
                    of.push(Some(at));
                }
            });
        }
        pieces.push(self.marks[1]);
        of.push(None);
        (pieces, of)
    }
}

impl TokenEmbedder for SentenceModel {
    fn vocabulary_len(&self) -> usize {
        self.vocabulary.len()
    }

    fn count_pieces(&self, text: &str) -> usize {
        let mut count = 0;
        self.vocabulary.tokens(head_of(text), |_| count += 1);
        count
    }

    fn embed_pieces(&self, text: &str, most: usize, marks: bool, out: &mut Vec<f32>) -> Vec<u32> {
        let (pieces, _) = self.pieces([text], most.saturating_add(2));
        let rows = self.encoder.encode(&pieces);
        let dims = self.dims();
        let left_out = usize::from(!marks);
        let kept = left_out..pieces.len() - left_out;
        let before = out.len();
        out.extend_from_slice(&rows[kept.start * dims..kept.end * dims]);
        for row in out[before..].chunks_exact_mut(dims) {
            normalise(row);
        }
        pieces[kept].to_vec()
    }
}

impl BertConfig {
    /// The shape of the encoder, if it is supported.
    fn shape(&self) -> std::result::Result<Shape, String> {
        let shape = Shape {
            hidden: self.hidden_size,
            inner: self.intermediate_size,
            heads: self.num_attention_heads,
            layers: self.num_hidden_layers,
            positions: self.max_position_embeddings,
            pieces: self.vocab_size,
            epsilon: self.layer_norm_eps,
        };
        let bounded = [
            ("hidden_size", shape.hidden, 4096),
            ("intermediate_size", shape.inner, 16_384),
            ("num_attention_heads", shape.heads, 128),
            ("num_hidden_layers", shape.layers, 64),
            ("max_position_embeddings", shape.positions, 8192),
            ("vocab_size", shape.pieces, 1 << 20),
        ];
        if let Some((name, value, most)) = bounded.into_iter().find(|(_, value, most)| *value == 0 || value > most) {
            return Err(format!("{name} is {value}; it must be from 1 to {most}"));
        }
        if shape.positions < 3 || !shape.hidden.is_multiple_of(shape.heads) {
            return Err("num_attention_heads does not divide hidden_size, or there are fewer than 3 positions".into());
        }
        if self.hidden_act != "gelu" || !(shape.epsilon >= 0.0 && shape.epsilon < 1.0) {
            return Err(format!("hidden_act is `{}` and layer_norm_eps {}", self.hidden_act, shape.epsilon));
        }
        Ok(shape)
    }
}

impl Embedder for SentenceModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.encoder.hidden()
    }

    /// Encodes the texts as one sequence, each in the context of the others; returns the weighted mean of the pieces' vectors. Pieces have
    /// the weight of their text, special tokens the mean weight.
    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        assert_eq!(out.len(), self.dims(), "vector of another model");
        let (pieces, of) = self.pieces(texts.iter().map(|(text, _)| *text), MOST_PIECES);
        out.fill(0.0);
        if pieces.len() == 2 {
            return 0;
        }
        let weights = of.iter().flatten().map(|at| texts[*at].1);
        let mean = weights.sum::<f32>() / (pieces.len() - 2) as f32;
        let rows = self.encoder.encode(&pieces);
        for (row, of) in rows.chunks_exact(out.len()).zip(of) {
            let weight = of.map_or(mean, |at| texts[at].1);
            out.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
        }
        if normalise(out) { pieces.len() - 2 } else { 0 }
    }

    fn as_text_encoder(&self) -> Option<&dyn Embedder> {
        Some(self)
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        Some(self)
    }
}

/// The prefix of a text that is read.
fn head_of(text: &str) -> &str {
    let end = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn text_of(path: &Path) -> Result<String> {
    let bytes = std::fs::metadata(path).map_err(|error| Error::io("read", path, error))?.len();
    if bytes > MOST_TEXT_BYTES {
        return Err(wrong(path, &format!("it has {bytes} bytes; at most {MOST_TEXT_BYTES} are allowed")));
    }
    std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))
}

fn wrong(path: &Path, what: &str) -> Error {
    Error::usage(format!("the embedding model in `{}`: {what}", path.display()))
}
