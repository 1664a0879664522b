"""The reference of the Python interface: one page per module, and one per class or function.

``.. family-reference:: packs`` reads ``ALGORITHMS``, ``BOUNDS`` and ``__all__`` of
``cosched.packs``, so that nothing public can be missing. It lists the names of algorithms and
bounds with the function of each, then the classes and functions with the first sentence of each.
``.. module-reference:: cosched.plot`` lists ``__all__`` of any module. `write_object_pages` writes
the pages of the objects, to which the lists link.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
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


def is_documented(module: ModuleType, name: str) -> bool:
    """Whether a public name has a page: the tables above have the others."""
    return name not in ("ALGORITHMS", "BOUNDS", "FAMILY") and not inspect.ismodule(
        getattr(module, name)
    )


def directive_of(path: str, thing: Any) -> list[str]:
    """The autodoc directive of a class, a function or a constant."""
    if inspect.isclass(thing):
        bases = "Exception, Mapping, MutableMapping, dict, tuple"
        options = ["   :members:", f"   :inherited-members: {bases}"]
        return [f".. autoclass:: {path}", *options]
    if callable(thing):
        return [f".. autofunction:: {path}"]
    return [f".. autodata:: {path}", "   :no-value:"]


def behind_names(module: ModuleType) -> dict[str, Any]:
    """Functions of algorithms and bounds that the module itself does not export, by their path."""
    named = {**getattr(module, "ALGORITHMS", {}), **getattr(module, "BOUNDS", {})}
    inner = {described(function)[0] for function in named.values() if not is_made(function)}
    paths = {public_name(module, function): function for function in inner}
    exported = {f"{module.__name__}.{name}" for name in module.__all__}
    return {path: paths[path] for path in sorted(set(paths) - exported)}


def objects_of(module: ModuleType) -> dict[str, Any]:
    """Path and object of each page of a module, classes first."""
    names = [name for name in _classes_first(module) if is_documented(module, name)]
    return {f"{module.__name__}.{name}": getattr(module, name) for name in names} | (
        behind_names(module) if hasattr(module, "ALGORITHMS") else {}
    )


def first_sentence(thing: Any) -> str:
    lines = (inspect.getdoc(thing) or "").split("\n\n")[0].splitlines()
    return " ".join(lines) if callable(thing) else ""


def object_table(module: ModuleType) -> Iterator[str]:
    """One row per class, function and constant: a link to its page, and its first sentence."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 30 70", "")
    yield from ("   * - name", "     - what it is")
    for path, thing in objects_of(module).items():
        short = path.removeprefix(f"{module.__name__}.")
        yield f"   * - :doc:`{short} <api/{path}>`"
        yield f"     - {first_sentence(thing)}"
    yield ""


def write_object_pages(folder: Path) -> None:
    """Write a page for each public object; a page whose text has not changed is left alone."""
    folder.mkdir(exist_ok=True)
    pages: dict[str, str] = {}
    for parent in folder.parent.glob("*.rst"):
        for name in re.findall(r"(?:family|module)-reference:: ([\w.]+)", parent.read_text()):
            module = import_module(name if name.startswith("cosched") else f"cosched.{name}")
            for path, thing in objects_of(module).items():
                head = [":orphan:", "", path, "=" * len(path), ""]
                part_of = [f"Part of :doc:`{module.__name__} </reference/{parent.stem}>`.", ""]
                pages[f"{path}.rst"] = "\n".join([*head, *part_of, *directive_of(path, thing), ""])
    for page in folder.glob("*.rst"):
        if page.name not in pages:
            page.unlink()
    for name, text in pages.items():
        page = folder / name
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


class FamilyReference(SphinxDirective):
    """Tables of algorithms and bounds, then of classes and functions."""

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
            *object_table(module),
        ]
        return self.parse_text_to_nodes("\n".join(text))


class ModuleReference(SphinxDirective):
    """A table of all that a module exports."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = import_module(self.arguments[0])
        return self.parse_text_to_nodes("\n".join(object_table(module)))


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
