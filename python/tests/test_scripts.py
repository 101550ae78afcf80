"""`sessions export --python`: the script makes the working table again, in a Python that has DataFusion and nothing of Lakeward.

LAKEWARD_PROGRAM names the program; by default the one that `cargo build --release` makes.
"""

from __future__ import annotations

import gzip
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LAKEWARD_PROGRAM", str(REPOSITORY / "target/release/lakeward"))

pytestmark = pytest.mark.skipif(not Path(PROGRAM).exists(), reason="there is no program; LAKEWARD_PROGRAM names one")

# A title, ways to write one name, footnotes, missing cells, numbers as text, days that only the column tells from months.
SALES = """Sales of 2020
Shop;Day;Amount;Stock;Note;Open
São Paulo;25/01/2020;1,234;12;none;yes
sao paulo*;02/02/2020;20;about 5;b;no
North, West;03/02/2020;5;1 200;"c;
d";yes
west north;04/02/2020;12a;n/a;Missing;yes
Lima;05/02/2020;(1,000.5);$7;e;no
;06/02/2020;7;
"""
CITIES = "city;country;people;kind\nLuanda;AO;645.705;None\nSwakop;NA;12.294.193;harbour\nMaun;BW;847;none\n" + "".join(
    f"Town {n};{code};{n}.5{n}0;{'harbour' if n % 2 else 'market'}\n" for n, code in enumerate(("ZA", "ZM", "MZ", "LS", "SZ", "TZ"), 1)
) + "Source: a gazetteer\n"
SHOPS = "name\tregion\tstaff\nSAO PAULO\tupper\t4\nNorth West\tlower\t6\nÜber\tlower\t9\n"
YEARS = "\n".join(["country,year,cases", *(f"{'ABC'[n % 3]},{2000 + n // 3},{(n * 37) % 101}" for n in range(90))])


def condition(column: str, comparison: str, value: Any) -> dict[str, Any]:
    return {"compare": {"left": {"column": column}, "comparison": comparison, "right": {"value": value}}}


def measure(function: str, column: str) -> dict[str, Any]:
    return {"function": function, "of": {"column": column}}


COUNTRY = [{"of": {"column": "country"}}]
TWICE = {"arithmetic": {"operator": "times", "left": {"column": "Stock"}, "right": {"value": 2}}}
JOIN = {"join": {"with": {"source": {"table": "shops"}}, "on": [{"left": "Shop", "right": "name"}], "kind": "left"}}
PLANS = {
    "nothing": ("sales", []),
    "a name": ("sales", [{"filter": condition("Shop", "equal", "Sao Paulo")}]),
    "a join": ("sales", [JOIN, {"sort": [{"by": {"column": "Day"}}]}]),
    "a day": ("sales", [{"filter": condition("Day", "less", "2020-02-04")}]),
    "numbers in text": (
        "sales",
        [
            {"derive": {"name": "twice", "value": TWICE}},
            {"filter": condition("twice", "greater", 10)},
        ],
    ),
    "a group": (
        "sales",
        [JOIN, {"group": {"keys": [{"of": {"column": "region"}}], "measures": [measure("sum", "Amount"), measure("median", "Amount")]}}],
    ),
    "words, thousands and notes": (
        "cities",
        [
            {"filter": {"any": [condition("kind", "equal", "none"), condition("country", "equal", "na"), condition("people", "less", 3000)]}},
            {"group": {"keys": [{"of": {"column": "kind"}}], "measures": [measure("sum", "people"), measure("max", "country")]}},
            {"sort": [{"by": {"column": "kind"}}]},
        ],
    ),
    "a top of a group": (
        "years",
        [
            {"group": {"keys": COUNTRY, "measures": [measure("mean", "cases"), measure("correlation", "cases") | {"with": {"column": "year"}}]}},
            {"sort": [{"by": {"column": "country"}, "direction": "descending"}]},
            {"limit": {"rows": 2}},
        ],
    ),
}


def lakeward(*arguments: str, text: str | None = None) -> str:
    ran = subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    (folder / "sales.csv").write_text(SALES, encoding="windows-1252")
    (folder / "shops.tsv.gz").write_bytes(gzip.compress(SHOPS.encode()))
    (folder / "years.csv").write_text(YEARS)
    (folder / "cities.csv").write_text(CITIES)
    lakeward("index", str(folder), "--quiet")
    lakeward("sql", "SELECT * FROM years", "--lake", str(folder), "--quiet", "--out", str(folder / "years_again.parquet"))
    lakeward("index", str(folder), "--quiet")
    return folder


def exported(folder: Path, plan: dict[str, Any], *options: str) -> str:
    """What `sessions export` prints of a session whose working table is made by `plan`."""
    where = ["--lake", str(folder), "--quiet"]
    lakeward("repl", "--new", *where, text=f"/edit {json.dumps({'start': plan})}\n/quit\n")
    return lakeward("sessions", "export", *options, *where)


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", str(script), *arguments], capture_output=True, text=True, check=False)


def rows(path: Path) -> list[tuple[Any, ...]]:
    table = pyarrow.parquet.read_table(path)
    exact = [[float(f"{v:.12g}") if isinstance(v, float) else v for v in column.to_pylist()] for column in table.columns]
    return [tuple(table.column_names), *zip(*exact)]


@pytest.mark.parametrize("name", PLANS)
def test_a_script_makes_the_same_table(folder: Path, tmp_path: Path, name: str) -> None:
    source, steps = PLANS[name]
    plan = {"version": 1, "source": {"table": source}, "steps": steps}
    script, ours, theirs = tmp_path / "again.py", tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    script.write_text(exported(folder, plan, "--python"), encoding="utf-8")
    lakeward("plan", "-", "--lake", str(folder), "--quiet", "--out", str(ours), text=json.dumps(plan))
    ran = run(script, "--out", str(theirs))
    assert ran.returncode == 0, ran.stderr
    assert rows(theirs) == rows(ours)


def test_a_script_says_which_file_has_changed(folder: Path, tmp_path: Path) -> None:
    script, lake = tmp_path / "again.py", tmp_path / "lake"
    script.write_text(exported(folder, {"version": 1, "source": {"table": "years"}, "steps": []}, "--python"))
    lake.mkdir()
    missing = run(script, "--lake", str(lake))
    assert missing.returncode == 1 and "years.csv is missing" in missing.stderr
    (lake / "years.csv").write_text(YEARS + "A,1990,1\n")
    changed = run(script, "--lake", str(lake))
    assert changed.returncode == 1 and "is not the file that the result was made from" in changed.stderr


def test_a_script_has_only_what_it_needs(folder: Path) -> None:
    plan = {"version": 1, "source": {"table": "years_again"}, "steps": [{"limit": {"rows": 3}}]}
    script = exported(folder, plan, "--python")
    assert not any(word in script for word in ("is_missing", "parse_number", "csv.reader", "normal_form"))
    steps = PLANS["a name"][1]
    sql = exported(folder, {"version": 1, "source": {"table": "sales"}, "steps": steps}, "--sql")
    assert "-- value_normalize: of Lakeward" in sql


def test_cells_are_read_as_lakeward_reads_them(folder: Path, tmp_path: Path) -> None:
    cells = [cell for line in SALES.splitlines() for cell in line.split(";")]
    cells += ["50%", "1.234.567", "1e3", "007", "5.", "-0", "12345678901234567890", "0.00000015", "A-", "B & C", "O'Neil", "(12)", "***"]
    cells += ["Sept. 5, 2017", "5 Mar 20", "2020-03", "Sat 14 Mar 2020 5:06 PM", "24/8/68", "3/4/2020", "NA", "—", "y" * 600, "x [note 2]"]
    lake = tmp_path / "cells"
    lake.mkdir()
    (lake / "cells.csv").write_text("id,cell\n" + "".join(f'{place},"{cell}"\n' for place, cell in enumerate(cells)))
    lakeward("index", str(lake), "--quiet")
    script = tmp_path / "again.py"
    script.write_text(exported(folder, {"version": 1, "source": {"table": "sales"}, "steps": PLANS["a name"][1]}, "--python"))
    piece = runpy.run_path(str(script))
    for how in ("", "day_first", "month_first, word=none", "point=thousands, word=NA, word=Missing", "missing=Lima, missing=5", "typed, missing=5"):
        query = f"SELECT cell, value_normalize(cell, '{how}') AS n, value_number(cell, '{how}') AS m, value_date(cell, '{how}') AS d FROM cells"
        lakeward("sql", query, "--lake", str(lake), "--quiet", "--out", str(tmp_path / "cells.parquet"), "--overwrite")
        expected = pyarrow.parquet.read_table(tmp_path / "cells.parquet").to_pydict()
        assert list(piece["normal_forms"](expected["cell"], how)) == expected["n"], how
        assert list(piece["values"](expected["cell"], piece["read_float"], how)) == expected["m"], how
        assert list(piece["values"](expected["cell"], piece["read_date"], how)) == expected["d"], how
