#!/usr/bin/env python3
"""Trains what a turn does while there is no table: weights over the vector that the reader of turns makes of it, which stays as it is.

    lakeward train reader --labels labels/turns --labels labels/follow_ups --search-acts acts.jsonl
    pip install numpy scipy safetensors tokenizers
    scripts/train_acts.py acts.jsonl             figures of writers left out
    scripts/train_acts.py acts.jsonl --write     crates/reading/src/reader/model/acts.safetensors

Multinomial logistic regression (L-BFGS from zero: no randomness) of what has to be added to the weights that the reader has for all turns, with an
L2 penalty on it. Turns of writers whom the reader learned from count a tenth: of them it is too sure. After `scripts/train_reader.py` the vectors
are others, so this comes anew.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parent))
from quantise_sentence_model import ROOT, by_rows, written  # noqa: E402

MODEL = ROOT / "crates/reading/src/reader/model"
FOLLOW_UPS = ["arlo", "bibi", "chen", "dot", "egon"]
# Of labels/turns, whom the reader did not learn from.
NOT_LEARNED = ["bea", "dele", "kasia", "moira", "noa", "orla", "sven", "taro", "udo"]
# C of the penalty and what a turn counts that the reader learned from.
INVERSE_PENALTY, LEARNED = 0.005, 0.1
SURE = 0.6


def softmax(scores):
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def fitted(vectors, acts, before, counts):
    """What is added to the weights: minimises mean cross-entropy + |added|² / (2 · C · turns)."""
    (turns, inputs), outputs = vectors.shape, before.shape[1]
    counts, penalty = counts / counts.sum(), 1 / (INVERSE_PENALTY * turns)

    def loss(flat):
        added = flat.reshape(inputs, outputs)
        likely = softmax(vectors @ added + before)
        own = likely[np.arange(turns), acts]
        slope = likely
        slope[np.arange(turns), acts] -= 1
        value = -(counts * np.log(np.maximum(own, 1e-12))).sum() + penalty / 2 * (added**2).sum()
        return value, (vectors.T @ (slope * counts[:, None]) + penalty * added).ravel()

    found = minimize(loss, np.zeros(inputs * outputs), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return found.x.reshape(inputs, outputs)


def figures(acts, likely):
    told = likely.argmax(1)
    scores = [2 * ((acts == act) & (told == act)).sum() / ((acts == act).sum() + (told == act).sum()) for act in set(acts) | set(told)]
    return f"right {(acts == told).mean():.3f}, macro-F1 {np.mean(scores):.3f}, sure {(likely.max(1) >= SURE).mean():.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    turns = [json.loads(line) for line in open(options.turns, encoding="utf-8")]
    reader = load_file(MODEL / "reader.safetensors")
    shipped = reader["head.act.rounded"].astype(np.float64).reshape(len(reader["head.act.scales"]), -1) * reader["head.act.scales"][:, None]
    own = np.array([turn["vector"] for turn in turns]) / 1000
    before = own @ shipped.T + reader["head.act.bias"]
    vectors = np.hstack([own, np.ones((len(turns), 1))])
    acts, writers = np.array([turn["act"] for turn in turns]), np.array([turn["writer"] for turn in turns])
    counts = np.where(np.isin(writers, FOLLOW_UPS + NOT_LEARNED), 1.0, LEARNED)
    if options.write:
        added = fitted(vectors, acts, before, counts)
        rounded, scales = by_rows((shipped + added[:-1].T).astype(np.float32))
        head = {"rounded": rounded, "scales": scales, "bias": (reader["head.act.bias"] + added[-1]).astype(np.float32)}
        into = MODEL / "acts.safetensors"
        into.write_bytes(written({f"head.search_act.{part}": tensor for part, tensor in head.items()}, {"by": "scripts/train_acts.py"}))
        print(f"{into.name}: {into.stat().st_size:,} bytes from {len(turns):,} turns")
        return 0
    likely = np.zeros(before.shape)
    known = sorted(set(writers) - set(FOLLOW_UPS + NOT_LEARNED))
    for left_out in [[writer] for writer in FOLLOW_UPS + ["bea"]] + [NOT_LEARNED[1:]] + [known[at::4] for at in range(4)]:
        out = np.isin(writers, left_out)
        likely[out] = softmax(vectors[out] @ fitted(vectors[~out], acts[~out], before[~out], counts[~out]) + before[out])
    for name, group in [(writer, [writer]) for writer in FOLLOW_UPS] + [("labels/follow_ups", FOLLOW_UPS), ("bea", ["bea"]), ("others", NOT_LEARNED[1:]), ("learned", known)]:
        of = np.isin(writers, group)
        print(f"{name}: {of.sum()} turns; before: {figures(acts[of], softmax(before[of]))}; left out: {figures(acts[of], likely[of])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
