"""The sample lake of the project, indexed once into a temporary folder."""

from __future__ import annotations

from pathlib import Path

import lakeward
import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "lake"


@pytest.fixture(scope="session")
def index_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    lakeward.index(SAMPLE, folder, progress=False)
    return folder


@pytest.fixture(scope="session")
def lake(index_folder: Path) -> lakeward.Lake:
    return lakeward.open(SAMPLE, index_folder, llm=False)


@pytest.fixture
def small_lake(tmp_path: Path) -> Path:
    """A lake of two tables that share a key, in a folder of its own."""
    folder = tmp_path / "small"
    folder.mkdir()
    rows = "\n".join(f"K{number:03},{number * 7}" for number in range(50))
    (folder / "sales.csv").write_text(f"shop,amount\n{rows}\n")
    rows = "\n".join(f"K{number:03},Town {number}" for number in range(60))
    (folder / "shops.csv").write_text(f"shop_id,town\n{rows}\n")
    return folder
