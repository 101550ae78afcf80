"""Runs a notebook in a real Jupyter kernel and fails where a cell does, or where a cell shows nothing that should.

Usage: python scripts/run_notebook.py NOTEBOOK [--write]

The kernel starts in the notebook's folder. With --write the outputs are kept in the notebook, without times, paths of this
machine and counts of executions, so that running it again changes nothing but what changed. Needs nbclient and ipykernel.
"""

import argparse
import pathlib
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

SECONDS_PER_CELL = 300


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="keep the outputs in the notebook")
    arguments = parser.parse_args()
    notebook = nbformat.read(arguments.notebook, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(arguments.notebook.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return 1
    silent = [cell.source.splitlines()[-1] for cell in notebook.cells if is_silent(cell)]
    for line in silent:
        print(f"nothing shown by the cell that ends with `{line}`", file=sys.stderr)
    kinds = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    for wanted in ("text/html", "image/png"):
        if wanted not in kinds:
            print(f"no output is {wanted}", file=sys.stderr)
            silent.append(wanted)
    print(f"{arguments.notebook}: {len(notebook.cells)} cells, {kinds.count('text/html')} tables, {kinds.count('image/png')} plots")
    if arguments.write:
        keep(notebook, arguments.notebook)
    return 1 if silent else 0


def is_silent(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and not cell.outputs


def keep(notebook: nbformat.NotebookNode, path: pathlib.Path) -> None:
    for number, cell in enumerate(notebook.cells):
        # Random otherwise: a difference in every cell each time.
        cell.id = f"cell-{number}"
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        cell.outputs = [output for output in cell.outputs if output.output_type != "stream"]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = None
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    sys.exit(main())
