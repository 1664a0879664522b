"""A random test that fails says what it had drawn: its seed, and the instance.

Of the functions of tests and of their helpers that the failure passed through, the innermost first,
the local variables with these names are printed.
"""

from functools import partial
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
#: Names of what tests draw, by habit.
SEEDS = ("seed", "kind", "case", "number", "part")
INSTANCES = ("inst", "instance", "jobs", "drawn")
#: Characters of an instance that are shown.
MOST = 4000


def text_of(value):
    """A seed as it is; of an instance also what its constructor is called with."""
    value_text = repr(value)
    if hasattr(value, "_core"):
        constructor, arguments = value.__reduce__()[:2]
        options = {}
        if isinstance(constructor, partial):
            arguments, options = (*constructor.args, *arguments), constructor.keywords
        value_text += f"\nmade from {arguments} {options or ''}"
    return (
        value_text
        if len(value_text) <= MOST
        else f"{value_text[:MOST]} ... ({len(value_text)} characters)"
    )


def drawn_values(traceback):
    """(name, text) of what the frames of tests had drawn, each name of its innermost frame."""
    frames = []
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    values = {}
    for frame in reversed(frames):
        if TESTS in Path(frame.f_code.co_filename).parents:
            for name in (*SEEDS, *INSTANCES):
                if name in frame.f_locals and not callable(frame.f_locals[name]):
                    values.setdefault(name, frame.f_locals[name])
    return [(name, text_of(value)) for name, value in values.items()]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and report.failed and call.excinfo is not None:
        lines = [f"{name} = {text}" for name, text in drawn_values(call.excinfo.tb)]
        if lines:
            report.sections.append(("what the test had drawn", "\n".join(lines)))
    return report
