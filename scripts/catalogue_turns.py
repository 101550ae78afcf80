#!/usr/bin/env python3
"""Times the turns of conversations over a catalogue of scripts/catalogue_forms.py, as a client of `lakeward serve` waits for them.

    scripts/catalogue_turns.py LAKE [--program target/release/lakeward …] [--conversations 15] [--first 0] [--each]

LAKE is indexed. With several programs each is served by itself, one after the other, and each conversation is had with all of them in turn,
so that what else the machine does falls on all alike. Says where answers differ from those of the first program.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import time
from pathlib import Path

from catalogue_forms import FORMATS, PLACES, PUBLISHERS, TOPICS

ROOT = Path(__file__).resolve().parents[1]
# Turns of a conversation that ask about records that were found.
ASKED = {6: "what licence does the first one have?", 7: "compare the first two", 8: "how was the second one measured?"}


def turns(number):
    topic = TOPICS[number % len(TOPICS)][0].lower()
    place, other = PLACES[number % 7], PLACES[(number + 3) % len(PLACES)]
    searches = {
        0: f"I am looking for {topic} in {place}", 1: f"it has to cover {1980 + number} to {1985 + number}", 2: f"published since {2015 + number % 5}",
        3: f"sorry, I meant {other} instead of {place}", 4: f"only as {FORMATS[number % 3][0]} files", 5: f"preferably from the {PUBLISHERS[number % 3]}",
        9: "show me more of them",
    }
    return [(searches | ASKED)[place] for place in range(10)]


class Served:
    """A program that serves LAKE."""

    def __init__(self, program, lake):
        self.process = subprocess.Popen([program, "--no-llm", "serve", "--lake", lake, "--listen", "127.0.0.1:0"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        address = re.search(r"http://([^/]+)/", self.process.stdout.readline()).group(1)
        token = next(line for line in self.process.stderr if line.startswith("Authorization"))
        self.headers = {"Authorization": token.split(": ")[1].strip(), "Content-Type": "application/json"}
        self.connection = http.client.HTTPConnection(address, timeout=600)

    def processor_ms(self):
        """What it has used of the processors so far; Linux tells it."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def post(self, path, document):
        self.connection.request("POST", path, json.dumps(document), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {text[:300]}")
        return json.loads(text)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake")
    parser.add_argument("--program", action="append")
    parser.add_argument("--conversations", type=int, default=15)
    parser.add_argument("--first", type=int, default=0, help="number of the first conversation")
    parser.add_argument("--each", action="store_true", help="print every turn")
    given = parser.parse_args()
    programs = given.program or [str(ROOT / "target/release/lakeward")]
    served = [Served(program, given.lake) for program in programs]
    times, firsts, used, differ = {}, {}, {}, 0
    try:
        for number in range(given.first, given.first + given.conversations):
            answers = {}
            # Whoever goes first finds the pages of the index cold, so each does in turn.
            for at in sorted(range(len(served)), key=lambda at: (at + number) % len(served)):
                session = served[at].post("/api/v1/sessions", {})["id"]
                for turn, text in enumerate(turns(number)):
                    began = time.perf_counter()
                    answer = served[at].post(f"/api/v1/sessions/{session}/ask", {"text": text})
                    took = 1000 * (time.perf_counter() - began)
                    found = [table["table"] for table in answer.get("tables", [])]
                    answers.setdefault(at, []).append((found, answer.get("notes", [])))
                    if at not in firsts:
                        firsts[at], used[at] = took, -served[at].processor_ms()
                    times.setdefault(at, []).append((turn, took))
                    if given.each:
                        print(f"{at} {number}.{turn} {took:6.0f} ms  {text} | {found[:3]} {answers[at][-1][1][:1]}")
            differ += sum(one != other for at in answers for one, other in zip(answers[0], answers[at]))
        for at in used:
            used[at] += served[at].processor_ms()
    finally:
        for one in served:
            one.process.terminate()
    for at, program in enumerate(programs):
        print(program)
        # The first turn of a program reads the catalogue's words.
        rest = times[at][1:]
        kinds = {"all turns": rest, "searches": [one for one in rest if one[0] not in ASKED], "questions": [one for one in rest if one[0] in ASKED]}
        for kind, timed in kinds.items():
            took = [ms for _, ms in timed]
            print(f"  {kind:10} {len(took):4}  median {statistics.median(took):5.0f} ms  p95 {percentile(took, 0.95):5.0f} ms  most {max(took):5.0f} ms")
        print(f"  first turn {firsts[at]:.0f} ms; processor time of the others {used[at] / max(len(rest), 1):.0f} ms each")
    if len(served) > 1:
        print(f"answers unlike those of the first program: {differ}")


if __name__ == "__main__":
    main()
