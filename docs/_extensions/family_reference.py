"""The reference page of a family: from the name of an algorithm or a bound to its function.

``.. family-reference:: packs`` reads ``ALGORITHMS``, ``BOUNDS`` and ``__all__`` of
``cosched.packs``, so that nothing public can be missing; ``.. module-reference:: cosched.plot``
does the same for ``__all__`` of any module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from cosched.described import COMMON
from cosched.registry import presentation

Functions = dict[str, Callable[..., Any]]


def public_name(module: ModuleType, thing: Any) -> str:
    """Where the reader finds `thing`: in the module itself if it is exported there."""
    for name in module.__all__:
        if getattr(module, name) is thing:
            return f"{module.__name__}.{name}"
    return f"{thing.__module__}.{thing.__qualname__}"


def described(function: Callable[..., Any]) -> tuple[Callable[..., Any], str]:
    """The function behind a name, and the options that the name stands for."""
    if not isinstance(function, partial):
        return function, ""
    inner, options = described(function.func)
    mine = ", ".join(f"{key}={_short(value)}" for key, value in function.keywords.items())
    return inner, ", ".join(filter(None, [options, mine]))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 30 else text[:27] + "..."


def name_table(module: ModuleType, functions: Functions) -> Iterator[str]:
    """A row a name: the function, its options, the first line of what it says."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: auto", "")
    yield from ("   * - name", "     - function", "     - what")
    for name, named in functions.items():
        function, options = described(named)
        link = f":py:func:`{function.__name__} <{public_name(module, function)}>`"
        yield f"   * - ``{name}``"
        yield f"     - {link} with ``{options}``" if options else f"     - {link}"
        yield f"     - {(inspect.getdoc(function) or '').splitlines()[0]}"
    yield ""


def spelled_names(module: ModuleType, names: list[str]) -> Iterator[str]:
    """Names that follow a grammar and have no function each, folded."""
    yield from (f".. dropdown:: {len(names)} more, named by their parts", "")
    grammar = presentation(module.FAMILY.name).spelling.replace("*", "\\*")
    yield from (f"   {grammar}.", "", "   .. hlist::", "      :columns: 2", "")
    yield from (f"      * ``{name}``" for name in names)
    yield ""


def is_made(function: Callable[..., Any]) -> bool:
    """Made by another function, so that readers cannot import it."""
    return "<locals>" in described(function)[0].__qualname__


def entries(module: ModuleType, names: list[str]) -> Iterator[str]:
    """An autodoc directive for each class and function of `names`."""
    for name in names:
        thing = getattr(module, name)
        if inspect.isclass(thing):
            yield from (f".. autoclass:: {module.__name__}.{name}", "   :members:")
            yield from ("   :inherited-members: Exception, Mapping, dict, tuple", "")
        elif callable(thing):
            yield from (f".. autofunction:: {module.__name__}.{name}", "")
        elif not inspect.ismodule(thing) and name not in ("ALGORITHMS", "BOUNDS", "FAMILY"):
            yield from (f".. autodata:: {module.__name__}.{name}", "   :no-value:", "")


def behind_names(module: ModuleType, functions: Functions) -> Iterator[str]:
    """Those that the module itself does not export."""
    inner = {described(function)[0] for function in functions.values()}
    paths = {public_name(module, function) for function in inner}
    exported = {f"{module.__name__}.{name}" for name in module.__all__}
    for path in sorted(paths - exported):
        yield from (f".. autofunction:: {path}", "")


class FamilyReference(SphinxDirective):
    """Tables of names, then the functions."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = import_module(f"cosched.{self.arguments[0]}")
        named = {name: f for name, f in module.ALGORITHMS.items() if not is_made(f)}
        made = [name for name in module.ALGORITHMS if name not in named]
        text = [
            ".. rubric:: Algorithms",
            "",
            *name_table(module, named),
            *(spelled_names(module, made) if made else ()),
            ".. rubric:: Bounds",
            "",
            *name_table(module, module.BOUNDS),
            ".. rubric:: Classes and functions",
            "",
            *entries(module, _classes_first(module)),
            *behind_names(module, {**named, **module.BOUNDS}),
        ]
        return self.parse_text_to_nodes("\n".join(text))


class ModuleReference(SphinxDirective):
    """All that a module exports."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = import_module(self.arguments[0])
        return self.parse_text_to_nodes("\n".join(entries(module, _classes_first(module))))


class CommonParameters(SphinxDirective):
    """What parameters mean that mean the same everywhere."""

    def run(self) -> list[nodes.Node]:
        text = [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
        text += ["   * - parameter", "     - type", "     -"]
        for name, (kind, meaning) in COMMON.items():
            text += [f"   * - ``{name}``", f"     - {kind}", "     - " + meaning.replace("\n", " ")]
        return self.parse_text_to_nodes("\n".join(text))


def _classes_first(module: ModuleType) -> list[str]:
    return sorted(
        module.__all__, key=lambda name: (not inspect.isclass(getattr(module, name)), name)
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("common-parameters", CommonParameters)
    app.add_directive("family-reference", FamilyReference)
    app.add_directive("module-reference", ModuleReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
