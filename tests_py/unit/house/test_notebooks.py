"""Every notebook runs from top to bottom at reduced size and draws; test_site.py runs them with
kernels, for the site."""

import ast
import io
import json
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pytest

from support import REPO

NOTEBOOKS = sorted((REPO / "notebooks").glob("*.ipynb"))


#: Work of searches by default: those of quick studies take less of it here.
BRIEF = {
    "cosched.packs.algorithms.heuristics.LOCAL_SEARCH_WORK": 100_000,
    "cosched.bags.algorithms.BEST_WORK": 20_000,
    "cosched.moldable.algorithms.search.BEST_WORK": 100_000,
}


def display(result: object) -> None:
    """What a notebook does with the value of a cell's last line."""
    getattr(result, "_repr_html_", lambda: repr(result))()


def run_cell(source: str, where: str, names: dict) -> int:
    """How many pictures a cell shows: those that are open when it ends, or at ``plt.show()``."""
    tree = ast.parse(source, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    if last is not None:
        display(eval(compile(ast.Expression(last.value), where, "eval"), names))
    drawn = plt.get_fignums()
    for number in drawn:
        plt.figure(number).savefig(io.BytesIO(), format="svg")
    plt.close("all")
    return len(drawn)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.thorough) if path.stem == "04_moldable" else path
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_notebook_runs_and_shows_a_picture(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSCHED_QUICK", "1")
    monkeypatch.setenv("COSCHED_CODES", str(REPO / "notebooks" / "codes"))
    monkeypatch.setattr(plt, "show", lambda: None)
    for name, work in BRIEF.items():
        monkeypatch.setattr(name, work)
    cells = json.loads(path.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells), "commit without outputs"
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict = {"__name__": "notebook", "display": display}
    shows = [run_cell(source, f"{path.name}, cell {k}", names) for k, source in enumerate(code)]
    assert sum(shows)
    for value in names.values():
        if isinstance(value, TemporaryDirectory):  # a kernel removes it when it ends
            value.cleanup()
