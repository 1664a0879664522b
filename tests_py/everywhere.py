"""What every test leaves behind, put away; examples in docstrings are tests."""

import tempfile

import pytest


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

    before = {name: dict(family(name).algorithms) for name in FAMILIES}
    yield
    for name, algorithms in before.items():
        family(name).algorithms.clear()
        family(name).algorithms.update(algorithms)
