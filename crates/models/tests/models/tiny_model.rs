//! A sentence model of two layers and nine word pieces, made up.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;

/// Values of its vectors.
pub const HIDDEN: usize = 8;
const INNER: usize = 12;
/// Its pieces.
pub const WORDS: [&str; 9] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bus", "##es", "train", "of", "dublin"];

/// Writes a model of two layers whose weight number i of tensor t is sin(0.7·i + t) / 2, and 1 more in the scales of norms.
pub fn write_model(folder: &Path) {
    let config = format!(
        r#"{{"hidden_size": {HIDDEN}, "intermediate_size": {INNER}, "max_position_embeddings": 16, "num_attention_heads": 2,
            "num_hidden_layers": 2, "vocab_size": {}, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}}"#,
        WORDS.len()
    );
    fs::write(folder.join("config.json"), config).expect("as the test made it");
    fs::write(folder.join("vocab.txt"), WORDS.join("\n") + "\n").expect("as the test made it");
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![WORDS.len(), HIDDEN]),
        ("embeddings.position_embeddings.weight".into(), vec![16, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".into(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".into(), vec![HIDDEN]),
    ];
    for layer in 0..2 {
        for (name, from, to) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", HIDDEN, INNER),
            ("output.dense", INNER, HIDDEN),
        ] {
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), vec![to, from]));
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![to]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), vec![HIDDEN]));
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![HIDDEN]));
        }
    }
    let bytes: Vec<Vec<u8>> = shapes
        .iter()
        .enumerate()
        .map(|(tensor, (name, shape))| {
            let one = if name.contains("LayerNorm.weight") { 1.0 } else { 0.0 };
            let value = |i: usize| (0.7 * i as f64 + tensor as f64).sin() / 2.0 + one;
            (0..shape.iter().product()).flat_map(|i| (value(i) as f32).to_le_bytes()).collect()
        })
        .collect();
    let tensors: HashMap<String, TensorView<'_>> = shapes
        .iter()
        .zip(&bytes)
        .map(|((name, shape), bytes)| {
            (name.clone(), TensorView::new(Dtype::F32, shape.clone(), bytes).expect("as the test made it"))
        })
        .collect();
    safetensors::serialize_to_file(tensors, None, &folder.join("model.safetensors")).expect("as the test made it");
}
