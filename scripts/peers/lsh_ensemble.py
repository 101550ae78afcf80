#!/usr/bin/env python3
"""Usage: [LSH_LAKE=LAKE] LSH_PEER_DIR=DIR cargo bench --bench lsh && python3 scripts/peers/lsh_ensemble.py DIR   (needs: pip install datasketch)

Asks datasketch's MinHashLSHEnsemble (256 permutations, 32 partitions) the same questions over the same signatures as Lakeward's
bench did, and prints recall, precision, candidates and time a query.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np
from datasketch import MinHash, MinHashLSHEnsemble

PERMUTATIONS = 256
PARTITIONS = 32


def main(folder: Path) -> None:
    sizes = np.fromfile(folder / "sizes.u64", dtype="<u8").tolist()
    signatures = np.fromfile(folder / "signatures.u32", dtype="<u4").reshape(-1, PERMUTATIONS).astype(np.uint64)
    queries = np.fromfile(folder / "queries.u64", dtype="<u8").tolist()
    signed = [MinHash(num_perm=PERMUTATIONS, hashvalues=row, scheme="legacy") for row in signatures]
    for path in sorted(folder.glob("truth-*.u64")):
        threshold = int(path.stem.split("-")[1]) / 100
        compare(threshold, sizes, signed, queries, np.fromfile(path, dtype="<u8").reshape(-1, 2).tolist())
    print(f"datasketch: peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def compare(threshold, sizes, signed, queries, truth) -> None:
    began = time.perf_counter()
    # The index is built for one threshold; Lakeward's answers any.
    index = MinHashLSHEnsemble(threshold=threshold, num_perm=PERMUTATIONS, num_part=PARTITIONS)
    index.index((number, signature, size) for number, (signature, size) in enumerate(zip(signed, sizes)))
    built = time.perf_counter() - began
    began = time.perf_counter()
    answers = {query: set(index.query(signed[query], sizes[query])) for query in queries}
    elapsed = (time.perf_counter() - began) / len(queries)
    # Right answers and found ones: up to 10 times the query's size, up to 100 times, beyond.
    tally = [[0, 0], [0, 0], [0, 0]]
    for query, number in truth:
        ratio = sizes[number] / sizes[query]
        ratio_class = tally[(ratio > 10) + (ratio > 100)]
        ratio_class[0] += 1
        ratio_class[1] += number in answers[query]
    found = sum(hits for _, hits in tally)
    given = sum(len(answer) for answer in answers.values())
    recalls = ", ".join(f"{hits / total:.3f}" if total else "none" for total, hits in tally)
    print(
        f"datasketch: threshold {threshold}: indexed in {built:.1f} s, recall [{recalls}] at size ratios up to 10, 100, beyond; "
        f"precision {found / given:.3f}, {given / len(queries):.1f} candidates, {elapsed * 1e3:.2f} ms a query",
        flush=True,
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
