import os
import signal

import hypothesis
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
for name in ("COLUMNS", "LINES"):  # of whoever started the tests; tables ask for them
    os.environ.pop(name, None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job and all it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)

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


@pytest.fixture(autouse=True)
def _forget_registered():
    """What a test registers is gone after it: plans of studies count what is registered."""
    from cosched.registry import FAMILIES, family

    before = {
        name: (dict(family(name).algorithms), set(family(name).registered)) for name in FAMILIES
    }
    yield
    for name, (algorithms, registered) in before.items():
        for now, then in (
            (family(name).algorithms, algorithms),
            (family(name).registered, registered),
        ):
            now.clear()
            now.update(then)


@pytest.fixture
def own_algorithm():
    """``cosched.register``, for one test."""
    import cosched as cs

    return cs.register


@pytest.fixture(scope="session")
def browser():
    from web import started

    program = started()
    yield program
    program.quit()
