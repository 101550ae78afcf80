"""What a notebook shows: every text of a lake escaped, no script, balanced tags."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import lakeward
import pytest

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """The tags that a page opens, which must all be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> lakeward.Lake:
    folder = tmp_path_factory.mktemp("hostile")
    rows = "\n".join(f"<b onmouseover=x>K{number:03}</b>,{HOSTILE}" for number in range(40))
    for name in ("one <img src=x onerror=alert(1)>", "two \u202e\x1b[31m"):
        (folder / f"{name}.csv").write_text(f'key {HOSTILE},"<i>\'name"""\n{rows}\n')
    return lakeward.index(folder, progress=False, llm=False)


def pages(lake: lakeward.Lake) -> list[str]:
    table = lake.tables()[0].table
    session = lake.session(keep=False)
    answers = [
        lake.search(HOSTILE),
        lake.search("key name"),
        lake.join(table),
        lake.union(table),
        lake.ask(f"join {HOSTILE}", table=table),
        session.ask("rows like these", table=table),
        session,
        lake.profile(table),
        lake.tables(),
        lake.sql("SELECT * FROM lake_tables()"),
        lake.sql("SELECT * FROM lake_profile('" + table.replace("'", "''") + "')"),
    ]
    return [answer._repr_html_() for answer in answers]


def test_no_text_of_a_lake_becomes_markup(hostile: lakeward.Lake) -> None:
    for page in pages(hostile):
        tags = parsed(page)
        assert tags.seen <= {
            "div",
            "style",
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "code",
            "span",
            "br",
            "details",
            "summary",
            "p",
            "em",
        }
        assert tags.attributes <= {"class", "style"}
        assert "\u202e" not in page and "\x1b" not in page
    table = hostile.tables()[0].table
    assert "\x1b" not in repr(hostile.tables()) and "\u202e" not in repr(hostile.tables())
    assert "\n".join(repr(hostile.join(table)).split("\n")[:1]).startswith("tables to join")


def test_answers_show_reasons_alignment_and_bars(lake: lakeward.Lake) -> None:
    join = lake.join("geo/countries", "iso3", 3)
    page = join._repr_html_()
    assert "<code>geo/un_m49_regions</code>" in page
    assert "values are in" in page and "matching values" in page
    width = round(join[0].containment * 100)
    assert f"width:{width}%" in page
    union = lake.union("population/gapminder/gap_1962", 3)._repr_html_()
    assert "←" in union and "new rows" in union
    ask = lake.ask("average life expectancy per continent")._repr_html_()
    assert "Aggregate" in ask and "SQL" in ask and "relevance" in ask
    for shown in (page, union, ask, lake.profile("geo/countries")._repr_html_(), lake.tables()._repr_html_()):
        parsed(shown)
        assert len(shown) < 200_000
    assert "nothing found" in lake.search("qqqqzzzz xxyyqq")._repr_html_()


def test_colours_follow_the_page(lake: lakeward.Lake) -> None:
    page = lake.search("airports")._repr_html_()
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style is not None
    assert "color:inherit" in style.group(1)
    assert not re.search(r"(?:#fff|:white|:black|#000)\b", style.group(1))


def test_nothing_of_the_sample_lake_is_written(lake: lakeward.Lake) -> None:
    assert not (Path(lake.path) / ".lakeward" / "sessions").exists()
