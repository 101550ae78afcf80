#!/usr/bin/env python3
"""What the Python package costs beside the library: import, calls, Ctrl-C.

Usage: scripts/python_overhead.py [LAKE]

Needs the built wheel installed. The lake (by default the sample lake) is indexed into a temporary folder.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import lakeward

IMPORT = "import time; began = time.perf_counter(); import lakeward; print(time.perf_counter() - began)"
LONG_QUERY = "SELECT count(*) FROM generate_series(1, 1000000000000) AS numbers (n) WHERE n % 7 = 3"


def imported() -> float:
    """Seconds that an import takes in a new process."""
    return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)


def overhead(ask, times: int = 200) -> tuple[float, float, float]:
    """Milliseconds of a call, and those beyond what the library says it took: median and 95th percentile."""
    ask()
    calls, beyond = [], []
    for _ in range(times):
        began = time.perf_counter()
        answer = ask()
        elapsed = (time.perf_counter() - began) * 1000
        calls.append(elapsed)
        beyond.append(elapsed - answer.elapsed_ms)
    beyond.sort()
    return statistics.median(calls), statistics.median(beyond), beyond[int(times * 0.95)]


def interrupted(lake: lakeward.Lake) -> float:
    """Seconds from Ctrl-C to KeyboardInterrupt, in a query that takes minutes."""
    sent = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        lake.sql(LONG_QUERY)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    raise RuntimeError("the query ended by itself")


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "lake"
    print(f"import: {statistics.median(imported() for _ in range(9)) * 1000:.0f} ms")
    with tempfile.TemporaryDirectory() as index:
        lake = lakeward.index(folder, index, progress=False, llm=False)
        table = lake.tables()[0].table
        asked = {
            "search": lambda: lake.search("airports by country"),
            "join": lambda: lake.join(table),
            "union": lambda: lake.union(table),
            "ask": lambda: lake.ask("average life expectancy per continent"),
        }
        for name, ask in asked.items():
            call, median, late = overhead(ask)
            print(f"{name}: {call:.2f} ms a call, {median:.2f} ms beyond the library's own (95 %: {late:.2f} ms)")
        waits = sorted(interrupted(lake) for _ in range(10))
        print(f"Ctrl-C: {waits[5] * 1000:.0f} ms to KeyboardInterrupt, at most {waits[-1] * 1000:.0f} ms")


if __name__ == "__main__":
    main()
