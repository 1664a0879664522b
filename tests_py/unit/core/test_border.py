"""The guard of public functions: an error that an argument causes names the argument."""

from __future__ import annotations

import builtins
import inspect
import itertools
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from types import FunctionType
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.border import guard_public, guarded
from cosched.border_values import is_odd_value, misfit_of, words_of
from cosched.errors import InvalidArgument, InvalidInstance
from cosched.registry import FAMILIES


@dataclass(frozen=True)
class Shape:
    """A record with a field of each kind."""

    width: float
    names: tuple[str, ...] = ()
    weights: Mapping[str, float] | None = None

    def area(self, height: float) -> float:
        return self.width * height


#: A hint, a value that it does not admit, and the message.
MISFITS = [
    (float, "x", "value = 'x': expected a number"),
    (float, True, "value = True: expected a number"),
    (float, 1j, "value = 1j: expected a number"),
    (int, 1.5, "value = 1.5: expected an integer"),
    (int | None, "1", "value = '1': expected an integer or None"),
    (bool, 1, "value = 1: expected true or false"),
    (str | PathLike[str], 5, "value = 5: expected a text or a path"),
    (Sequence[str], "ab", "value = 'ab': expected a list"),
    (Sequence[Mapping[str, int]], range(2**30), "value[0] = 0: expected a mapping"),
    (Iterable[tuple[int, int]], {None: 1}, "a key of value = None: expected a list"),
    (Sequence[str], ["a", 5], "value[1] = 5: expected a text"),
    (Sequence[float], 5, "value = 5: expected a list"),
    (tuple[float, float], (1.0,), "value = (1.0,): expected 2 entries"),
    (tuple[float, float], (1.0, "b"), "value[1] = 'b': expected a number"),
    (Mapping[str, float], {"a": "b"}, "value['a'] = 'b': expected a number"),
    (Mapping[str, float], {5: 1.0}, "a key of value = 5: expected a text"),
    (Mapping[str, float], [], "value = []: expected a mapping"),
    (dict[int, tuple[str, ...]], {1: ("a", None)}, "value[1][1] = None: expected a text"),
    (Callable[[int], int], 5, "value = 5: expected a function"),
    (Literal["a", "b"], "c", "value = 'c': expected one of a, b"),
    (pd.DataFrame, {}, "value = {}: expected a pandas.DataFrame"),
    (cs.packs.Instance, 5, "value = 5: expected a cosched.packs.Instance"),
    (Shape, Shape("x"), "value.width = 'x': expected a number"),
    (Shape, Shape(1.0, ("a", 5)), "value.names[1] = 5: expected a text"),
    (Shape, Shape(1.0, (), {"a": None}), "value.weights['a'] = None: expected a number"),
]
#: A hint, and what it admits beside values of its own type.
ADMITTED = [
    (float, 5), (float, np.float32(1.5)), (float, np.int8(1)), (int, np.int64(3)), (int, 3.0),
    (bool, np.True_), (Sequence[float], np.ones(3)), (list[str], ("a",)), (np.ndarray, [1.0]),
    (Iterable[int], (k for k in range(3))), (Sequence[float], pd.Series([1.0])), (Any, object()),
    (Mapping[str, Any], {}), (str | None, None), (object, 5), (Sequence[float], range(3)),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "value", "message"), MISFITS)
def test_what_a_signature_does_not_admit(hint, value, message):
    def function(value):
        raise RuntimeError("inside")

    function.__annotations__ = {"value": hint}
    with pytest.raises((InvalidArgument, RuntimeError)) as raised:
        guarded(function)(value)
    assert str(raised.value) == message
    assert isinstance(raised.value, (InvalidInstance, TypeError, ValueError))
    assert isinstance(raised.value.__cause__, RuntimeError)


@pytest.mark.parametrize(("hint", "value"), ADMITTED)
def test_what_a_signature_admits(hint, value):
    assert misfit_of(value, hint, "value") is None


def test_a_call_that_succeeds_is_not_judged():
    @guarded
    def double(number: int) -> int:
        return number * 2

    assert double("ab") == "abab"


def test_errors_that_say_enough_are_left():
    @guarded
    def function(path: str, count: int = 1) -> None:
        if count == 1:
            raise OSError("no such file")
        if count == 2:
            raise cs.InfeasibleError("nothing fits")
        raise TypeError("function() missing 'path'")

    with pytest.raises(OSError, match="no such file"):
        function(5)
    with pytest.raises(cs.InfeasibleError, match="nothing fits"):
        function(5, 2)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'path'"):
        function()
    with pytest.raises(TypeError, match="unexpected keyword argument 'paths'"):
        function(paths=5)


def test_errors_of_the_caller_are_the_callers():
    @guarded
    def function(policy: Callable[[], int], weight: float = 1.0) -> int:
        return policy()

    def policy():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        function(policy)
    with pytest.raises(KeyError, match="mine"):
        function(policy, weight=-1.0)


def test_errors_of_the_package_and_of_docstrings_are_left():
    @guarded
    def function(name: str) -> None:
        """Find something.

        Raises
        ------
        KeyError
            Nothing has this name.
        """
        raise KeyError(name)

    with pytest.raises(KeyError):
        function("x")
    with pytest.raises(InvalidArgument, match="name = 5: expected a text"):
        function(5)

    @guarded
    def search(name: str) -> None:
        raise type("Own", (Exception,), {"__module__": "cosched.somewhere"})(name)

    with pytest.raises(Exception, match="5") as raised:
        search(5)
    assert type(raised.value).__name__ == "Own"


def test_a_class_that_takes_no_arguments_is_named():
    with pytest.raises(InvalidArgument, match=r"^priority = <class"):
        cs.cluster.conservative(
            cs.cluster.Instance(
                {"submit": [0], "tasks": [1], "cpu": [1.0], "memory": [0.1], "runtime": [5]}, 2
            ),
            priority=type("Odd", (), {}),
        )


def of_the_package(function):
    """The function as if it stood in a module of the package, with its guard."""
    names = {"__name__": "cosched.somewhere", "__builtins__": builtins}
    typed_function = FunctionType(function.__code__, names, function.__name__)
    typed_function.__annotations__ = {
        name: eval(text) if isinstance(text, str) else text
        for name, text in function.__annotations__.items()
    }
    return guarded(typed_function)


def test_what_is_raised_on_purpose_is_left():
    def share(weights: Sequence[float], count: int) -> float:
        raise ValueError(f"{len(weights)} int of all")

    with pytest.raises(ValueError, match="0 int of all") as raised:
        of_the_package(share)([], 5)
    assert type(raised.value) is ValueError


def test_one_suspect_is_named():
    """The signature admits it, and yet nothing else can have caused the error."""

    def share(weights: Sequence[float], count: int) -> float:
        return max(weights) / count

    function = of_the_package(share)
    with pytest.raises(InvalidArgument, match=r"^weights = \[\]: expected another value \(Value"):
        function([], 2)
    with pytest.raises(InvalidArgument, match=r"^count = 'a': expected an integer"):
        function([1.0], "a")
    with pytest.raises(ZeroDivisionError):  # either may be wrong
        function([1.0], 0)


def test_methods_constructors_and_generators():
    exported = {"__all__": ["Shape"], "Shape": type("Shape", (Shape,), {"__module__": "cosched.x"})}
    guard_public(exported)
    shape = exported["Shape"](2.0)
    assert shape.area(3.0) == 6.0

    @guarded
    def counted(last: int) -> Iterator[int]:
        yield from range(last)

    assert inspect.isgeneratorfunction(counted)
    assert list(counted(2)) == [0, 1]
    with pytest.raises(InvalidArgument, match="last = 'a': expected an integer"):
        list(counted("a"))
    with pytest.raises(InvalidArgument, match="codes = 5: expected a mapping"):
        cs.execution.Codes(procs=1, codes=5)


def test_a_context_checks_when_it_is_entered():
    refused = pytest.raises(InvalidArgument, match="seconds = 'x': expected a number or None")
    with refused, cs.time_limit("x"):
        pass
    with pytest.raises(TypeError, match="'int' has no len"), cs.time_limit(5.0):
        len(5)  # of the block, and nothing of the limit

    @cs.time_limit(0.0)
    def solve():
        return cs.packs.solve(cs.workloads.packs_ii(seed=0, max_tasks=4), "local-search").status

    assert [solve(), solve()] == ["time_limit", "time_limit"]


def test_fields_of_a_record_are_named():
    broken = cs.execution.TaskList((cs.execution.BatchTask(name="a", seconds=5, commands={}),))
    with pytest.raises(
        InvalidArgument, match=r"tasks\.tasks\[0\]\.seconds = 5: expected a mapping"
    ):
        cs.execution.batch(broken, limit=60.0, cores=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_public_function_has_a_guard(family):
    module = getattr(cs, family)
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            assert thing.__guard__ is thing, name
            assert pickle.loads(pickle.dumps(thing)) is thing
    for table in (module.ALGORITHMS, module.BOUNDS):
        for name, function in table.items():
            function = function.func if isinstance(function, partial) else function  # noqa: PLW2901
            if inspect.isfunction(function) and function.__module__.startswith("cosched"):
                assert function.__guard__ is function, name


@pytest.mark.parametrize("module", ["execution", "library", "workflows", "io", "profiles", "plot"])
def test_other_packages_have_guards(module):
    for name in getattr(cs, module).__all__:
        thing = getattr(getattr(cs, module), name)
        if inspect.isfunction(thing):
            assert thing.__guard__ is thing, name
            assert getattr(getattr(cs, module), name) is thing
            assert pickle.loads(pickle.dumps(thing)) is thing
    assert "guard_public" not in getattr(cs, module).__all__


def test_signatures_and_docstrings_stay():
    assert list(inspect.signature(cs.packs.pack_by_pack).parameters)[:1] == ["instance"]
    assert "Parameters" in cs.packs.pack_by_pack.__doc__
    assert re.match(r"\(codes: ", str(inspect.signature(cs.execution.profile)).replace("'", ""))


@pytest.mark.parametrize(
    "value",
    [
        range(2**62),
        range(0, -(2**80), -1),
        itertools.count(),
        itertools.cycle("ab"),
        itertools.repeat(1),
        itertools.repeat(1, 2**62),
    ],
)
def test_what_has_no_end_is_refused_before_the_call(value):
    @guarded
    def is_in(name: str, names: Iterable[Any] = ()) -> bool:
        return name in names

    @guarded
    def draw(numbers: Iterable[int]) -> Iterator[int]:
        yield from numbers

    with pytest.raises(InvalidArgument, match=r"names = .*: expected at most 1,099,511,627,776"):
        is_in("a", value)
    with pytest.raises(InvalidArgument, match=r"name = .*: expected a text"):
        is_in(value)
    assert next(draw(numbers=value)) is not None  # a generator takes one entry at a time
    assert is_in("a", itertools.repeat("a", 3))
    assert not is_in("a", range(1000))


def test_entries_of_var_arguments_are_looked_at():
    @guarded
    def longest(*lists: Iterable[Any], start: int = 0) -> int:
        return max(start, *(len(list(entries)) for entries in lists))

    assert longest([1], range(5)) == 5
    with pytest.raises(
        InvalidArgument, match=r"lists\[1\] = .*: expected at most 1,099,511,627,776"
    ):
        longest([1], itertools.count())
    with pytest.raises(InvalidArgument, match=r"lists\[0\] = 5: expected a list"):
        longest(5, [1])


def test_odd_values():
    odd = [float("nan"), float("inf"), -1, 2**40, 10**400, "", "a\nb", [], {}, [1.0, float("nan")],
           np.zeros(0), np.array([None])]  # fmt: skip
    usual = [0, 1.5, "a b", [1.0], {"a": 1}, np.ones(2), True, None]
    assert all(map(is_odd_value, odd))
    assert not any(map(is_odd_value, usual))


def test_words():
    assert words_of(str | PathLike[str] | None) == "a text or a path or None"
    assert words_of(list[int] | int) == "a list or an integer"


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(InvalidArgument, match=r"^folder = 'x+\.\.\.'\.*: expected a shorter name$"):
        cs.library.verify(folder="x" * 5000)


@pytest.mark.parametrize("name", ["serial_fractions", "sequential", "overheads"])
def test_a_choice_of_nothing_is_refused_by_its_name(name):
    with pytest.raises(InvalidInstance, match=rf"^{name} is empty: expected one value at least$"):
        cs.workloads.packs_ii(tasks=3, nodes=2, seed=0, **{name: []})


def test_a_folder_in_a_message_takes_one_line(tmp_path):
    folder = tmp_path / "a\nb"
    folder.mkdir()
    with pytest.raises(ValueError, match="no record of the library") as refused:
        cs.library.verify(folder=folder)
    assert "\n" not in str(refused.value)


class OfNegativeLength:
    def __len__(self):
        return -1


def test_what_has_no_length_is_named():
    with pytest.raises(InvalidArgument, match=r"^ready = .*__len__\(\) should return >= 0"):
        cs.moldable.step(ready=OfNegativeLength(), machine=3)
