import os

import hypothesis
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

# The same examples in every run; `make fuzz` is the place for new ones.
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, print_blob=False, database=None
)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import sys

    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def own_algorithm():
    """Register algorithms for one test: removed afterwards."""
    import cosched as cs
    from cosched.core import family

    added = []

    def add(family_name, name, function):
        cs.register(family_name, name, function)
        added.append((family_name, name))

    yield add
    for family_name, name in added:
        family(family_name).algorithms.pop(name, None)
        family(family_name).registered.discard(name)
