"""Every public function and class is described: numpydoc sections that match the signature.

What means the same everywhere is written once, in ``cosched.described``, and shown by each
docstring: these are looked at as users see them. A method has an example of its own or its class
has one; one that overrides says what differs.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString

from cosched import described
from cosched.registry import FAMILIES

#: What ``__all__`` of these modules names is public.
MODULES = (
    "cosched",
    "cosched.core",
    "cosched.errors",
    "cosched.registry",
    *(f"cosched.{family}" for family in FAMILIES),
    *(
        f"cosched.{face}"
        for face in ("workloads", "plot", "profiles", "io", "experiments", "execution")
    ),
)


def public() -> dict[str, Any]:
    """Functions, methods, properties and classes by the full name of where they are written."""
    public_members: dict[str, Any] = {}
    for module in map(import_module, MODULES):
        names = getattr(module, "__all__", None) or _written_in(module)
        members = [getattr(module, name) for name in names]
        for table in ("ALGORITHMS", "BOUNDS"):
            members += getattr(module, table, {}).values()
        for member in members:
            if inspect.isclass(member):
                public_members[_name(member)] = member
                public_members.update((_name(method), method) for method in _methods(member))
                for name, each in vars(member).items():
                    if isinstance(each, property) and each.__doc__ and name[0] != "_":
                        public_members[f"{_name(member)}.{name}"] = each
            elif inspect.isroutine(member) or isinstance(member, partial):
                function = member.func if isinstance(member, partial) else member
                public_members[_name(function)] = function
    return public_members


def _written_in(module: Any) -> list[str]:
    return [
        name
        for name, member in vars(module).items()
        if not name.startswith("_") and getattr(member, "__module__", "") == module.__name__
    ]


def _methods(owner: type) -> Iterator[Callable]:
    """Public methods in the class' own text."""
    for name, member in vars(owner).items():
        written = getattr(member, "__doc__", None)
        if name.startswith("_") or (not written and inspect.getdoc(getattr(owner, name))):
            continue  # private, or as its base class says
        if getattr(member, "__name__", name) != name:
            continue  # what a field is by default
        if isinstance(member, (classmethod, staticmethod)):
            yield member.__func__
        elif inspect.isfunction(member):
            yield member


def _name(member: Callable) -> str:
    return f"{member.__module__}.{member.__qualname__}"


PUBLIC = public()
CLASSES = {name: member for name, member in PUBLIC.items() if inspect.isclass(member)}
PROPERTIES = {name: each for name, each in PUBLIC.items() if isinstance(each, property)}
FUNCTIONS = {name: PUBLIC[name] for name in PUBLIC if name not in {*CLASSES, *PROPERTIES}}


def _parsed(member: Any) -> NumpyDocString:
    doc = vars(member).get("__doc__") if inspect.isclass(member) else member.__doc__
    assert doc, "no docstring"
    parsed = NumpyDocString(inspect.cleandoc(doc))
    assert parsed["Summary"], "no summary"
    return parsed


def _described(parsed: NumpyDocString, *sections: str) -> list[str]:
    """Names that the sections describe; "a, b : int" describes two."""
    entries = [entry for section in sections for entry in parsed[section]]
    for entry in entries:
        assert entry.desc or entry.type, f"{entry.name}: neither type nor description"
    return [name.strip(" *") for entry in entries for name in entry.name.split(",")]


def _parameters(member: Callable) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(member).parameters
    return {name: each for name, each in parameters.items() if name not in ("self", "cls")}


def check_function(name: str, function: Callable, owner: type | None = None) -> None:
    """Assert the sections that a function needs, against its signature."""
    parsed = _parsed(function)
    parameters = set(_parameters(function))
    described = _described(parsed, "Parameters")
    assert len(described) == len(set(described))
    assert set(described) <= parameters, f"not in the signature: {set(described) - parameters}"
    if _overrides(owner, function.__name__):
        return
    assert parameters == set(described), f"not described: {parameters - set(described)}"
    if inspect.signature(function).return_annotation not in ("None", None):
        assert parsed["Returns"] or parsed["Yields"], "no section Returns"
    assert _has_example(parsed) or (owner is not None and _has_example(_parsed(owner))), (
        "no section Examples with a doctest"
    )


def _overrides(owner: type | None, name: str) -> bool:
    return owner is not None and any(
        getattr(vars(base).get(name), "__doc__", None)
        for base in owner.__mro__[1:]
        if base.__module__.startswith("cosched")
    )


def _has_example(parsed: NumpyDocString) -> bool:
    return ">>> " in "\n".join(parsed["Examples"])


def check_class(owner: type) -> None:
    """Assert that a class describes what it is made of: its fields, or its constructor."""
    parsed = _parsed(owner)
    if issubclass(owner, Exception):
        return
    described = _described(parsed, "Parameters", "Attributes")
    if is_dataclass(owner):
        annotations = vars(owner).get("__annotations__", {})
        made_of = {
            each.name for each in fields(owner) if each.name in annotations and each.name[0] != "_"
        }
    else:
        made_of = set(_parameters(owner.__init__)) if "__init__" in vars(owner) else set()
    assert made_of <= set(described), f"not described: {sorted(made_of - set(described))}"
    if "__init__" in vars(owner) and not is_dataclass(owner):
        assert set(_described(parsed, "Parameters")) == made_of
    assert _has_example(parsed), "no section Examples with a doctest"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_sections_of_function(name):
    check_function(name, FUNCTIONS[name], CLASSES.get(name.rpartition(".")[0]))


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_sections_of_class(name):
    check_class(CLASSES[name])


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_summary_of_property(name):
    _parsed(PROPERTIES[name])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_algorithm_and_bound_is_described(family):
    """By name: also those that are made from others, such as the policies of a grammar."""
    module = import_module(f"cosched.{family}")
    for table in (module.ALGORITHMS, module.BOUNDS):
        for function in table.values():
            written = function.func if isinstance(function, partial) else function
            check_function(_name(written), written)


def test_the_walk_finds_what_users_call():
    assert len(FUNCTIONS) > 150
    assert {"cosched.packs.bounds.columns_bound", "cosched.core.family.Family.solve"} <= set(PUBLIC)


def test_what_means_the_same_everywhere_is_filled_in_by_the_order_of_the_signature():
    def draw(first: int, seed: int, *more: str, ax: object, wide: int, **options: int) -> float:
        """Draw.

        At length.

        Parameters
        ----------
        first, wide : int
            Two numbers.
        *more : str
            Texts.
        **options
            Of a pen.

        Notes
        -----
        O(1).
        """

    complete = described.complete(draw, {"seed": ("int", "Of chance:\nany."), "ax": ("A", "B.")})
    parsed = NumpyDocString(complete)
    entries = [(each.name, each.desc) for each in parsed["Parameters"]]
    assert entries == [
        ("first, wide", ["Two numbers."]),
        ("seed", ["Of chance:", "any."]),
        ("*more", ["Texts."]),
        ("ax", ["B."]),
        ("**options", ["Of a pen."]),
    ]
    assert [each.type for each in parsed["Returns"]] == ["float"]
    assert parsed["Extended Summary"] == ["At length."]
    assert parsed["Notes"] == ["O(1)."]
    draw.__doc__ = complete
    assert described.complete(draw, {}) == complete  # twice is once


class TestRules:
    """The rules refuse what they are there to refuse."""

    GOOD = """Twice a number.

    Parameters
    ----------
    number : int
        Any.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        No number.

    Examples
    --------
    >>> 2 * 2
    4
    """

    @staticmethod
    def function(doc: str) -> Callable:
        def twice(number: int) -> int:
            return 2 * number

        twice.__doc__ = doc
        return twice

    def test_what_is_said_elsewhere_may_be_left_out(self):
        class Base:
            def run(self, seed: int, speed: float) -> int:
                """Run it."""
                return seed

        class Own(Base):
            """An owner.

            Examples
            --------
            >>> Own()
            """

            def run(self, seed: int, speed: float) -> int:
                """Run it faster."""
                return seed

            def close(self) -> None:
                """End it."""

        Base.__module__ = "cosched.here"
        check_function("run", Own.run, Own)
        check_function("close", Own.close, Own)
        for function, owner in ((Base.run, Base), (Own.close, None)):
            with pytest.raises(AssertionError):
                check_function(function.__name__, function, owner)

    def test_complete(self):
        check_function("twice", self.function(self.GOOD))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("number : int\n        Any.", ""),
            ("number : int", "figure : int"),
            ("number : int", "number, figure : int"),
            (">>> 2 * 2\n    4", "2 * 2"),
        ],
    )
    def test_incomplete(self, old, new):
        assert old in self.GOOD
        with pytest.raises(AssertionError):
            check_function("twice", self.function(self.GOOD.replace(old, new)))
