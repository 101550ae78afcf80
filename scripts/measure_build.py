#!/usr/bin/env python3
"""Measures what a change costs until the program runs, and until the tests of the changed crate have run.

    scripts/measure_build.py                      # every crate, the command line and Python; prints the table of eval/build.md
    scripts/measure_build.py --crate search       # only this one; several times for several
    scripts/measure_build.py --clean              # the first command of the README from a fresh clone, and sizes
    scripts/measure_build.py --sizes              # sizes of what is there, nothing is built

For each crate one line is put into a function of its longest file, everything is built and its tests are run once; then the line is
changed, and this is timed: `cargo build --release` with the first run of the program, after it `cargo test --release -p CRATE`. The file is
put back as it was, also after Ctrl-C. Times are of the machine as it is: let nothing else run.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/release/lakeward"
README_COMMAND = ["cargo", "run", "--release", "--quiet", "--", "--lake", "lake", "search", "hurricane tracks", "-k", "4"]
# Seconds that a change may take, by what is changed; eval/build.md says why.
LIMITS = {"agent": 60, "reading": 60, "search": 60, "index": 120, "lake": 120, "core": 120, "sketch": 120, "models": 120, "operate": 120}
LEAF_LIMIT = 25
TESTS_LIMIT = 60
FUNCTION = re.compile(r"^ *pub(\([a-z]+\))? fn .*\{$")


def crates():
    """Name of each part and its folder of sources; `program` is the command line."""
    folders = sorted(folder for folder in (ROOT / "crates").iterdir() if (folder / "src").is_dir())
    # `features` has no code.
    parts = {folder.name: folder / "src" for folder in folders if folder.name != "features"}
    return parts | {"facade": ROOT / "src", "program": ROOT / "src/cli"}


def package(part):
    return "lakeward" if part in ("facade", "program") else f"lakeward-{part}"


def lines(file):
    return file.read_text(encoding="utf-8").splitlines()


def sources(part, folder):
    """The source files of a part, without those of tests and, for the facade, of the command line."""
    files = (file for file in folder.rglob("*.rs") if file.name != "tests.rs" and "tests" not in file.parts)
    return [file for file in files if part != "facade" or "cli" not in file.parts]


def changed_file(part, folder):
    """The longest file of a part with a function that can be changed."""
    able = (file for file in sources(part, folder) if any(FUNCTION.match(line) for line in lines(file)))
    return max(able, key=lambda file: len(lines(file)))


def changed(text, number):
    """`text` with one more line in its first public function."""
    every = text.splitlines(keepends=True)
    place = next(place for place, line in enumerate(every) if FUNCTION.match(line.rstrip()))
    return "".join([*every[: place + 1], f"    let _ = std::hint::black_box({number}_u32);\n", *every[place + 1 :]])


def run(command, **options):
    """Seconds that a command takes; a failure ends the measurement."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=options.pop("cwd", ROOT), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return time.monotonic() - began


def build():
    return run(["cargo", "build", "--release", "--quiet", "--bin", "lakeward"]) + run([PROGRAM, "--version"])


def tests(part):
    return run(["cargo", "test", "--release", "--quiet", "-p", package(part)])


def measure(part, folder, repeats, with_tests):
    """Medians of the seconds until the program runs and of those of the tests after it."""
    file = changed_file(part, folder)
    before = file.read_text(encoding="utf-8")
    builds, checks = [], []
    try:
        for number in range(repeats + 1):
            file.write_text(changed(before, number), encoding="utf-8")
            built = build()
            checked = tests(part) if with_tests else None
            if number > 0:
                builds.append(built)
                checks.append(checked)
    finally:
        file.write_text(before, encoding="utf-8")
    limit = LIMITS.get(part, LEAF_LIMIT)
    told = f"{statistics.median(checks):.0f} s" if with_tests else "–"
    count = sum(len(lines(source)) for source in sources(part, folder))
    name = file.relative_to(ROOT)
    print(f"| {part} | {count:,} | `{name}` | {statistics.median(builds):.0f} s | {limit} s | {told} | {TESTS_LIMIT} s |", flush=True)


def clean():
    """The first command of the README from a clone with nothing compiled."""
    with tempfile.TemporaryDirectory(prefix="lakeward-clone-") as folder:
        clone = Path(folder) / "lakeward"
        run(["git", "clone", "--quiet", str(ROOT), str(clone)])
        run(["cargo", "fetch", "--locked", "--quiet"], cwd=clone)
        seconds = run(README_COMMAND, cwd=clone)
    print(f"First README command from a clean clone, crates fetched: {seconds:.0f} s")


def sizes():
    for profile in ("release", "dist"):
        program = ROOT / "target" / profile / "lakeward"
        if not program.is_file():
            continue
        with tempfile.NamedTemporaryFile() as copy:
            shutil.copyfile(program, copy.name)
            subprocess.run(["strip", copy.name], check=True)
            stripped = Path(copy.name).stat().st_size
        print(f"`{profile}`: {program.stat().st_size / 1e6:.0f} MB, {stripped / 1e6:.0f} MB without symbols")
    for wheel in sorted((ROOT / "target/wheels").glob("*.whl")):
        print(f"wheel `{wheel.name}`: {wheel.stat().st_size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crate", action="append", choices=list(crates()), help="only this part")
    parser.add_argument("--repeats", type=int, default=3, help="changes that are timed; the median counts")
    parser.add_argument("--no-tests", action="store_true", help="time the program alone")
    parser.add_argument("--clean", action="store_true", help="time the first command of the README from a fresh clone, and print sizes")
    parser.add_argument("--sizes", action="store_true", help="print sizes and build nothing")
    options = parser.parse_args()
    if options.clean:
        clean()
    if options.clean or options.sizes:
        sizes()
        return
    print("| changed | lines | in | program runs | at most | its tests after it | at most |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    build()
    for part, folder in crates().items():
        if not options.crate or part in options.crate:
            measure(part, folder, options.repeats, not options.no_tests)
    build()


if __name__ == "__main__":
    main()
