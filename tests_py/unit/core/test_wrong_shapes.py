"""What has a wrong shape is refused by the name of its argument, not in words of numpy's."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched import profiles
from cosched.registry import FAMILIES, family

TIMES = [[8.0, 4.4], [6.0, 3.2]]
JOBS = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [0.1], "runtime": [9]}
MAKE = {
    "packs": lambda **options: cs.packs.Instance(TIMES, **options),
    "moldable": lambda **options: cs.moldable.Instance(TIMES, **options),
    "dags": lambda **options: cs.dags.Instance(TIMES, [(0, 1)], (2, 1), **options),
    "bags": lambda **options: cs.bags.Instance([4, 3], [2, 1], TIMES, TIMES, price=9000, **options),
    "cluster": lambda **options: cs.cluster.Instance(JOBS, 4, **options),
}
WRONG = [5, 1.5, len, object(), np.ones((2, 2, 2)), pd.Series([1.0]), pd.DataFrame(TIMES), [[1]]]
#: Words of Python, numpy and pandas about what they got.
INTERNAL = re.compile(
    "object is not|cannot reshape|has no attribute|not subscriptable|unhashable|unpack|"
    "unsupported operand|could not broadcast|inhomogeneous|not supported between|not callable|"
    "not iterable|cannot be interpreted|is ambiguous"
)


def message_of(call):
    """What a call with something wrong raises, in one line."""
    with pytest.raises((cs.CoschedError, TypeError, ValueError)) as raised:
        call()
    text = str(raised.value)
    assert not INTERNAL.search(text), text
    assert "\n" not in text
    return text


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_names_of_what_a_family_has(name, wrong):
    assert name in MAKE, f"tests_py/unit/core/test_wrong_shapes.py: add {name} to MAKE"
    of, inst = family(name), MAKE[name]()
    assert "unknown" in message_of(lambda: of.solve(inst, wrong))
    assert "unknown" in message_of(lambda: of.bound(inst, wrong))
    assert "options" in message_of(lambda: of.compare(inst, options=wrong))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("wrong", [5, 1.5, len, object()], ids=lambda value: type(value).__name__)
def test_texts_of_an_instance(name, wrong):
    parameters = inspect.signature(family(name).instance_type).parameters
    texts = [text for text in ("notes", "names", "machine_names", "kernels") if text in parameters]
    assert "notes" in texts
    for argument in texts:
        assert argument in message_of(lambda argument=argument: MAKE[name](**{argument: wrong}))


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_words(wrong):
    measured = {"a": {1: 8.0, 4: 2.0}}
    assert "fit" in message_of(lambda: profiles.complete(measured, fit=wrong))
    assert "counts" in message_of(lambda: profiles.complete(measured, counts=wrong))
    assert "model" in message_of(lambda: cs.moldable.list_local(MAKE["moldable"](), model=wrong))
    if not hasattr(wrong, "columns"):
        assert "running" in message_of(lambda: MAKE["cluster"](running=wrong))


@pytest.mark.parametrize("wrong", [len, object()], ids=lambda value: type(value).__name__)
def test_numbers(wrong):
    assert "epsilons" in message_of(lambda: cs.packs.pack_by_pack(MAKE["packs"](), epsilons=wrong))


SHAPES = [5, len, [(0, 1, 2)], np.ones((2, 2, 2)), [[1], [2, 3]]]


@pytest.mark.parametrize("wrong", SHAPES, ids=lambda value: type(value).__name__)
def test_graphs(wrong):
    """Three numbers an edge were "cannot reshape array of size 3 into shape (2)"."""
    for argument in ("edges", "data", *(() if hasattr(wrong, "__len__") else ("names",))):
        arguments = {"edges": [(0, 1)], argument: wrong}
        assert argument in message_of(
            lambda arguments=arguments: cs.dags.Instance(TIMES, units=(1, 1), **arguments)
        )
    assert "rule" in message_of(lambda: profiles.Slowdowns(TIMES, wrong))


@pytest.mark.parametrize("wrong", [5, len, [1]], ids=lambda value: type(value).__name__)
def test_snapshots(wrong):
    assert "expected a file or a folder" in message_of(lambda: cs.slurm.when(wrong))
