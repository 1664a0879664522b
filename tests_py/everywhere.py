"""What every test leaves behind, put away; examples in docstrings are tests."""

import pathlib
import tempfile

import pytest
from matplotlib.figure import Figure


@pytest.fixture(autouse=True, scope="session")
def _names_of_examples(doctest_namespace):
    """What examples in docstrings need not import; `help(cosched)` says so."""
    import pandas as pd

    import cosched as cs

    doctest_namespace.update(cs=cs, pd=pd, pathlib=pathlib, tempfile=tempfile, Figure=Figure)


@pytest.fixture(autouse=True)
def _examples_write_below_pytest_s_folder(request, monkeypatch):
    """So that they may say ``mkdtemp()``, and nothing of it stays."""
    if isinstance(request.node, pytest.DoctestItem):
        folder = request.getfixturevalue("tmp_path")
        monkeypatch.setattr(tempfile, "tempdir", str(folder))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import sys

    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def _forget_registered():
    """What a test registers is gone after it: plans of studies count what is registered."""
    from cosched.registry import FAMILIES, family

    tables = [family(name).algorithms for name in FAMILIES]
    functions_before = [
        {**table.of_family, **{name: table[name] for name in table.registered}} for table in tables
    ]
    yield
    for table, functions in zip(tables, functions_before, strict=True):
        table.clear()
        table.update(functions)
