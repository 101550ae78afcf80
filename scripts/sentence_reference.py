"""Computes what crates/search/tests/search/sentence_model.rs expects of a BERT encoder, with numpy and nothing else.

Usage: python scripts/sentence_reference.py [FOLDER]

Without a folder: the small made-up model of the test. With one: the first values of the vectors that the model in it gives
(`config.json`, `vocab.txt`, `model.safetensors`), for texts whose words are all in its vocabulary.
"""

import json
import math
import pathlib
import struct
import sys

import numpy as np

SMALL_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bus", "##es", "train", "of", "dublin"]
SMALL = {"hidden_size": 8, "intermediate_size": 12, "num_attention_heads": 2, "num_hidden_layers": 2, "layer_norm_eps": 1e-12}


def names(layers):
    yield from ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight")
    yield from ("embeddings.token_type_embeddings.weight", "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias")
    dense = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    for layer in range(layers):
        for name in (*dense, "intermediate.dense", "output.dense", "attention.output.LayerNorm", "output.LayerNorm"):
            yield f"encoder.layer.{layer}.{name}.weight"
            yield f"encoder.layer.{layer}.{name}.bias"


def small_shape(name, hidden=8, inner=12):
    if name.startswith("embeddings") and "LayerNorm" not in name:
        return {"word": (len(SMALL_WORDS), hidden), "posi": (16, hidden), "toke": (2, hidden)}[name[11:15]]
    rows = inner if "intermediate" in name else hidden
    if name.endswith("bias") or "LayerNorm" in name:
        return (rows,)
    return (rows, inner if ".output.dense" in name and "attention" not in name else hidden)


def small_weights():
    weights = {}
    for tensor, name in enumerate(names(2)):
        shape = small_shape(name)
        values = np.sin(0.7 * np.arange(math.prod(shape)) + tensor) / 2 + (1.0 if "LayerNorm.weight" in name else 0.0)
        weights[name] = values.astype(np.float32).reshape(shape)
    return weights


def read_weights(file):
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    weights = {}
    for name, what in header.items():
        if name != "__metadata__" and what["dtype"] == "F32":
            start, end = what["data_offsets"]
            weights[name] = np.frombuffer(data[8 + length + start : 8 + length + end], "<f4").reshape(what["shape"])
    return weights


def encode(weights, config, ids):
    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return x * weights[name + ".LayerNorm.weight"] + weights[name + ".LayerNorm.bias"]

    def linear(x, name):
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    gelu = np.vectorize(lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))))
    x = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)] + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, "embeddings")
    heads = config["num_attention_heads"]
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        q, k, v = (
            linear(x, f"{at}attention.self.{name}").reshape(len(ids), heads, -1).swapaxes(0, 1) for name in ("query", "key", "value")
        )
        scores = q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        x = norm(x + linear(mixed.swapaxes(0, 1).reshape(x.shape), at + "attention.output.dense"), at + "attention.output")
        x = norm(x + linear(gelu(linear(x, at + "intermediate.dense")), at + "output.dense"), at + "output")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def main():
    if len(sys.argv) < 2:
        vector = encode(small_weights(), SMALL, [SMALL_WORDS.index(word) for word in "[CLS] bus ##es of dublin [SEP]".split()])
        print([round(float(value), 6) for value in vector])
        return
    folder = pathlib.Path(sys.argv[1])
    config = json.loads((folder / "config.json").read_text())
    words = {word: place for place, word in enumerate((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())}
    weights = read_weights(folder / "model.safetensors")
    for text in ("bus passengers by year", "monthly wheat prices in canada", "census of the population"):
        ids = [words[word] for word in ["[CLS]", *text.split(), "[SEP]"]]
        print(f'("{text}",', [round(float(value), 5) for value in encode(weights, config, ids)[:8]], "),")


if __name__ == "__main__":
    main()
