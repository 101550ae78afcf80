"""Conversations: kept after every turn, resumed by name, and by the latest."""

from __future__ import annotations

import json
from pathlib import Path

import lakeward
import pandas
import pytest
from lakeward import errors


@pytest.fixture
def own(small_lake: Path) -> lakeward.Lake:
    return lakeward.index(small_lake, progress=False, llm=False)


def test_a_session_is_on_the_disk_after_every_turn(own: lakeward.Lake) -> None:
    session = own.session("trip")
    file = Path(own.index_path) / "sessions" / "trip.json"
    for number, text in enumerate(["sales by shop", "add the town"], 1):
        answer = session.ask(text)
        assert (answer.turn, answer.session) == (number, "trip")
        assert len(json.loads(file.read_text())["turns"]) == number
    assert [turn.text for turn in session.history] == ["sales by shop", "add the town"]
    assert session.history[0].tables
    assert len(session) == 2 and session


def test_a_session_is_resumed(own: lakeward.Lake) -> None:
    own.session("first").ask("sales by shop")
    own.ask("towns of shops", session="second")
    assert own.resume().id == "second"
    assert [turn.text for turn in own.resume("first").history] == ["sales by shop"]
    listed = own.sessions()
    assert {session.id for session in listed} == {"first", "second"}
    assert listed[0].turns == 1 and listed[0].state == "readable"
    with pytest.raises(errors.UnknownSession) as raised:
        own.resume("firts")
    assert raised.value.nearest == ("first",)
    with pytest.raises(errors.UsageError):
        own.session("../out")


def test_a_new_session_has_a_name_of_its_own(own: lakeward.Lake) -> None:
    one, two = own.session(), own.session()
    assert one.id != two.id and one.kept
    assert "Session(" in repr(one)


def test_a_session_kept_nowhere(own: lakeward.Lake) -> None:
    session = own.session(keep=False)
    session.ask("sales by shop")
    assert len(session.history) == 1 and not session.kept
    assert own.sessions() == []


def test_two_writers_are_noticed(own: lakeward.Lake) -> None:
    one, two = own.session("both"), own.session("both")
    one.ask("sales by shop")
    with pytest.raises(errors.SessionChanged) as raised:
        two.ask("towns of shops")
    assert "lake.resume" in str(raised.value)
    assert two.history == ()


def test_accepted_and_rejected_tables(own: lakeward.Lake) -> None:
    session = own.session("choice")
    session.ask("shops")
    session.reject("shops")
    assert "shops" not in [table.table for table in session.ask("places where goods are sold")]
    session.accept("sales")
    assert session.document()["accepted"][0]["table"] == "sales"
    with pytest.raises(errors.UnknownTable):
        session.accept("nothing like it")


@pytest.mark.parametrize("keep", [True, False])
def test_a_table_in_memory_stays_with_the_session(own: lakeward.Lake, keep: bool) -> None:
    frame = pandas.DataFrame({"shop": [f"K{number:03}" for number in range(20)], "visits": range(20)})
    session = own.session("frames" if keep else None, keep=keep)
    session.ask("what goes with it", table=frame)
    answer = session.ask("add the town of each shop")
    assert "shops" in [table.table for table in answer]
    if keep:
        resumed = own.resume("frames")
        assert "shops" in [table.table for table in resumed.ask("add the town of each shop")]
        files = list((Path(own.index_path) / "sessions" / "frames.tables").iterdir())
        session.document()
        assert len(files) == 1


def test_an_operation_is_run_and_its_rows_are_arrow(own: lakeward.Lake) -> None:
    session = own.session("work")
    with pytest.raises(errors.UsageError, match="no operation to run yet"):
        session.run()
    assert session.plan is None
    session.ask("only amounts above 300", table="sales")
    rows = session.run()
    assert rows.columns == ("shop", "amount") and len(rows) == 7
    assert rows.to_pandas()["amount"].min() == 301
    assert session.plan is not None and session.plan["source"] == {"table": "sales"}
    assert own.resume("work").steps[0].rows == 7
    plan = session.plan
    plan["steps"].append({"limit": {"rows": 2}})
    assert len(session.run(plan=plan)) == 2
    assert len(session.steps) == 2 and session.plan == plan
    for wrong in ({**plan, "version": 99}, {**plan, "steps": [{"drop": ["nothing"]}]}, plan):
        with pytest.raises(errors.LakewardError):
            session.run(plan=wrong)
    for number in (0, 99, True):
        with pytest.raises(errors.UsageError):
            session.run(number)
    with pytest.raises(errors.UsageError, match="not both"):
        session.run(1, plan=plan)
    assert len(session.steps) == 2 and own.resume("work").plan == plan
    session.undo()
    assert [step.undone for step in session.steps] == [False, True] and len(session.plan["steps"]) == 1
    session.redo()
    assert own.resume("work").plan == plan
    with pytest.raises(errors.UsageError, match="no undone operation"):
        session.redo()
    unkept = own.session(keep=False)
    unkept.ask("only amounts above 300", table="sales")
    with pytest.raises(errors.UsageError, match="not kept"):
        unkept.run()


def test_a_damaged_session_is_listed_and_left(own: lakeward.Lake) -> None:
    own.session("broken").ask("sales")
    file = Path(own.index_path) / "sessions" / "broken.json"
    file.write_text("{")
    assert own.sessions()[-1].reason is not None
    with pytest.raises(errors.DamagedSession):
        own.resume("broken")
    assert file.read_text() == "{"
