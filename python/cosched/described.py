"""Sections of docstrings that mean the same everywhere: written once, shown by each function.

A docstring says what its function alone does. Parameters that mean the same everywhere, and what
comes back where the annotation says it, are filled in from here when a package is imported, so that
``help``, tooltips and the reference name every parameter.
"""

import re
from collections.abc import Iterator, Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS, cleandoc, unwrap
from types import FunctionType, ModuleType
from typing import Any

Meanings = Mapping[str, tuple[str, str]]

#: Parameter -> its type, and what it means in every function that says no more of it.
COMMON: Meanings = {
    "instance": ("Instance", "What is solved or looked at, of the family of the function."),
    "result": ("Result", "What came out."),
    "schedule": ("Schedule", "What came out."),
    "codes": ("Codes", "The programs that are run."),
    "path": (
        "str or path-like",
        "``OSError`` where it cannot be read or written. Readers unpack what is packed.",
    ),
    "seed": (
        "int, optional",
        "Of all chance; None means 0. Where there is no chance it is taken and not used.",
    ),
    "time_limit": (
        "float, optional",
        "Seconds of a search, a budget: used until the result is proved or they are over\n"
        '(``status`` is ``"time_limit"`` then). How far it comes depends on the machine.',
    ),
    "work": (
        "int, optional",
        "Fixed work of a search, in steps of its own: the same result everywhere. With\n"
        "`time_limit` the first ends it, without either it is the default.",
    ),
    "ax": ("matplotlib.axes.Axes, optional", "Where to draw; None makes a new figure."),
    "log": ("bool", "Keep the decision log, ``result.log``."),
    "threshold": ("float", "Shortest time of the bounded stretch (s), > 0."),
    "order": (
        "array of int, shape (n,), optional",
        "Arrival order of tasks: respects precedence. None: ``instance.order``.",
    ),
    "text": ("str", "What is read."),
    "where": ("str", "What a message begins with: file, line, column."),
    "what": ("str", "What a message says was expected."),
}
#: What comes back -> what is said of it.
RETURNED = {
    "Result": "The schedule with its value, the bound beside it and what was measured.",
    "Bound": "A value that no schedule passes, and the method that proved it.",
    "Schedule": "What runs where and when, not yet checked: see ``validate()``.",
    "Instance": "Checked, and never changed.",
    "pd.DataFrame": "",
    "plt.Axes": "Where it was drawn.",
}
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
_ENTRY = re.compile(r"^(?=\S)", re.M)


def described(exported: dict[str, Any], meanings_of_package: Meanings | None = None) -> None:
    """Fill in what the docstrings of a package's functions and methods leave to this module.

    `exported` are the module's ``globals()``: what ``__all__`` names, and the tables of algorithms
    and bounds. A package without ``__all__`` gets one, of all that it has made or imported ``as``
    itself. `own`: parameters that mean the same in all of this package, as :data:`COMMON`.
    """
    meanings = {**COMMON, **(meanings_of_package or {})}
    if "__path__" in exported:
        names = (name for name in exported if name[0] != "_" and not _is_tool(exported[name]))
        names = (name for name in names if not isinstance(exported[name], ModuleType))
        exported.setdefault("__all__", sorted(names))
    for function in _functions(exported):
        if function.__doc__ and not hasattr(function, "__described__"):
            function.__doc__ = complete(function, meanings)
            function.__described__ = True  # type: ignore[attr-defined]


def _is_tool(thing: object) -> bool:
    """Return what a package calls on itself, and does not export."""
    return getattr(thing, "__module__", "") in ("cosched.described", "cosched.border")


def complete(function: FunctionType, meanings: Meanings) -> str:
    """The docstring with all parameters in the order of the signature, and what comes back; what it
    lacks is filled in from `meanings`."""
    head, *rest = _SECTION.split(cleandoc(function.__doc__ or ""))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    parameters = "".join(_entries(function, sections.pop("Parameters", ""), meanings))
    back = function.__annotations__.get("return", "None")
    if "Returns" not in sections and "Yields" not in sections and back not in ("None", None):
        name = getattr(back, "__name__", str(back))
        sections = {"Returns": f"{name}\n    {RETURNED.get(name, '')}"} | sections
    if parameters:
        sections = {"Parameters": parameters} | sections
    section_texts = [
        f"{name}\n{'-' * len(name)}\n{text.strip()}\n" for name, text in sections.items()
    ]
    return "\n".join([head.strip() + "\n", *section_texts])


def _functions(exported: Mapping[str, Any]) -> Iterator[FunctionType]:
    members: list[Any] = [
        exported[name] for name in exported.get("__all__", exported) if name in exported
    ]
    for name in ("ALGORITHMS", "BOUNDS"):
        table = exported.get(name, {})
        members += getattr(table, "of_family", table).values()
    for member in members:
        function = getattr(member, "func", member)  # a name that stands for options
        if isinstance(function, FunctionType):
            yield function
        elif isinstance(function, type) and function.__module__.startswith("cosched"):
            for name, attribute in vars(function).items():
                method = getattr(attribute, "__func__", attribute)
                if isinstance(method, FunctionType) and name[0] != "_":
                    yield method


def _entries(function: FunctionType, written: str, meanings: Meanings) -> Iterator[str]:
    """Yield an entry a parameter: what the docstring says of it, else what it means everywhere,
    else its annotation."""
    entry_of_name = {}
    for entry in _ENTRY.split(written):
        for name in entry.partition("\n")[0].partition(" : ")[0].split(","):
            entry_of_name[name.strip(" *")] = entry
    used_entries = set()
    for name in _parameters(function):
        entry = entry_of_name.get(name)
        if entry is None and name in meanings:
            kind, meaning = meanings[name]
            entry = f"{name} : {kind}\n    " + meaning.replace("\n", "\n    ") + "\n"
        elif entry is None and (annotation := function.__annotations__.get(name)):
            entry = f"{name} : {getattr(annotation, '__name__', annotation)}\n"
        if entry and entry not in used_entries:  # one entry may describe several
            yield entry.rstrip("\n") + "\n"
            used_entries.add(entry)


def _parameters(function: FunctionType) -> Iterator[str]:
    if hasattr(function, "__signature__"):
        yield from function.__signature__.parameters
        return
    code = unwrap(function).__code__
    extra = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount
    positional = code.co_varnames[: code.co_argcount]
    starred = code.co_varnames[count : count + extra]
    star, stars = (starred[:-1], starred[-1:]) if code.co_flags & CO_VARKEYWORDS else (starred, ())
    for name in (*positional, *star, *code.co_varnames[code.co_argcount : count], *stars):
        if name not in ("self", "cls"):
            yield name
