#!/usr/bin/env python3
"""Usage: RAYON_NUM_THREADS=1 cargo bench --bench peers -- BENCH OUT && python3 scripts/peers/nearest_vectors.py OUT
(needs: pip install hnswlib faiss-cpu turbovec numpy)

Asks faiss, turbovec and hnswlib for the ten nearest of the columns that Lakeward's bench asked for, on one core, and
prints time and recall beside Lakeward's. What scans codes compares its best ones exactly. Truth is the exact scan of faiss over the vectors as Lakeward stores them.
"""

import json
import sys
import time
from pathlib import Path

import faiss
import hnswlib
import numpy as np
import turbovec

K = 10
BEST = 400


def main(folder: Path) -> None:
    ours = json.loads((folder / "ours.json").read_text())["vectors"]
    rows = np.fromfile(folder / "columns.f32", dtype="<f4").reshape(-1, ours["dims"])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    asked = np.fromfile(folder / "queries.u32", dtype="<u4")
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexFlatIP(rows.shape[1])
    built = timed(lambda: flat.add(rows))
    similar, milliseconds = each(asked, lambda query: flat.search(rows[query : query + 1], K)[0][0])
    bounds = [scores[-1] - 1e-4 for scores in similar]
    print(f"{len(rows)} columns, {rows.shape[1]} dimensions, {len(asked)} queries, one core; median time of a query")
    show("lakeward, exact int8 scan", ours["exact_build_s"], ours["exact_ms"], recall_of(folder / "exact.u32", rows, asked, bounds))
    show("faiss IndexFlatIP", built, milliseconds, 1.0, milliseconds / ours["exact_ms"], "the exact scan's")
    show("lakeward, bits", ours["bits_build_s"], ours["bits_ms"], ours["bits_recall"])
    dims = rows.shape[1]
    for codes in (f"RR{dims},RaBitQfs", f"RR{dims},PQ{dims // 4}x4fs"):
        scan = faiss.IndexRefineFlat(faiss.index_factory(dims, codes, faiss.METRIC_INNER_PRODUCT))
        scan.k_factor = BEST / K
        built = timed(lambda: (scan.train(rows), scan.add(rows)))
        found, milliseconds = each(asked, lambda query: scan.search(rows[query : query + 1], K)[1][0])
        show(f"faiss {codes}, best {BEST}", built, milliseconds, recall(found, rows, asked, bounds), milliseconds / ours["bits_ms"], "the bits'")
    turbo = turbovec.TurboQuantIndex(dims, 2)
    built = timed(lambda: turbo.add(rows))

    def compared(query: int):
        best = np.asarray(turbo.search(rows[query : query + 1], BEST)[1]).ravel().astype(np.int64)
        return best[np.argsort(-(rows[best] @ rows[query]))[:K]]

    found, milliseconds = each(asked, compared)
    show(f"turbovec, 2 bits, best {BEST}", built, milliseconds, recall(found, rows, asked, bounds), milliseconds / ours["bits_ms"], "the bits'")
    graph = hnswlib.Index(space="ip", dim=dims)
    graph.init_index(max_elements=len(rows), ef_construction=200, M=16, random_seed=1)
    graph.set_num_threads(1)
    built = timed(lambda: graph.add_items(rows))
    for ef in (64, 256):
        graph.set_ef(ef)
        found, milliseconds = each(asked, lambda query: graph.knn_query(rows[query : query + 1], k=K)[0][0])
        label = f"hnswlib, M 16, ef {ef}"
        show(label, built, milliseconds, recall(found, rows, asked, bounds), milliseconds / ours["bits_ms"], "the bits'")


def timed(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def each(asked, search):
    times, found = [], []
    for query in asked:
        began = time.perf_counter()
        found.append(search(int(query)))
        times.append(time.perf_counter() - began)
    return found, float(np.median(times)) * 1e3


def recall(found, rows, asked, bounds) -> float:
    # Equal columns are equally near: who is as near as the tenth is right.
    hits = sum(int((rows[ids.astype(np.int64)] @ rows[query] >= bound).sum()) for ids, query, bound in zip(found, asked, bounds))
    return hits / (K * len(asked))


def recall_of(path: Path, rows, asked, bounds) -> float:
    return recall(np.fromfile(path, dtype="<u4").reshape(len(asked), K), rows, asked, bounds)


def show(label, built, milliseconds, right, ratio=None, of="") -> None:
    beside = f", {ratio:.2f} times {of}" if ratio else ""
    print(f"  {label:28} built in {built:7.2f} s, {milliseconds:.3f} ms a query, recall@10 {right:.3f}{beside}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
