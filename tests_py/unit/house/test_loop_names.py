"""No loop overwrites a name that is read after it: no rule of the linter finds that in a tuple."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from support import REPO

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _inside(scope: ast.AST) -> list[tuple]:
    """Every node of a scope, and the loops around it."""
    nodes = []
    pending: list[tuple] = [(scope, ())]
    while pending:
        outer, above = pending.pop()
        for node in ast.iter_child_nodes(outer):
            nodes.append((node, above))
            if not isinstance(node, _SCOPES):
                pending.append((node, (*above, node) if isinstance(node, _LOOPS) else above))
    return nodes


def overwritten(text: str) -> list[tuple[int, str]]:
    """Line and name of each loop whose target has a value before it, which is read after it."""
    overwritten_names = []
    tree = ast.parse(text)
    for scope in ast.walk(tree):
        if isinstance(scope, (*_SCOPES[:2], ast.Module)):
            overwritten_names += _of_scope(scope)
    return sorted(set(overwritten_names))


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name))


def _elsewhere(nodes: list[tuple]) -> set[int]:
    """Names of comprehensions: they are gone with these."""
    inner_names: set[int] = set()
    for node, _ in nodes:
        if isinstance(node, _COMPREHENSIONS):
            bound = {name.id for generator in node.generators for name in _names(generator.target)}
            inner_names |= {id(name) for name in _names(node) if name.id in bound}
    return inner_names


def _of_scope(scope: ast.AST) -> Iterator[tuple[int, str]]:
    nodes = _inside(scope)
    loops = [(node, above) for node, above in nodes if isinstance(node, ast.For)]
    if not loops:
        return
    elsewhere = _elsewhere(nodes)
    scope_names = [n for n, _ in nodes if isinstance(n, ast.Name) and id(n) not in elsewhere]
    targets = {id(name) for loop, _ in loops for name in _names(loop.target)}
    stored = [
        (n.id, n.lineno)
        for n in scope_names
        if isinstance(n.ctx, ast.Store)
        if id(n) not in targets
    ]
    if isinstance(scope, _SCOPES[:2]):
        every = ast.walk(scope.args)
        stored += [
            (argument.arg, scope.lineno) for argument in every if isinstance(argument, ast.arg)
        ]
    for loop, above in loops:
        for name in {target.id for target in _names(loop.target)}:
            before = [
                line for stored_name, line in stored if stored_name == name and line < loop.lineno
            ]
            if before and _read(name, max(before), loop, above, scope_names):
                yield loop.lineno, name


def _read(name, bound, loop, above, scope_names) -> bool:
    """Whether the name is read behind the loop, or again before it in the next round of another."""
    uses = sorted(
        (n for n in scope_names if n.id == name and not loop.lineno <= n.lineno <= loop.end_lineno),
        key=lambda n: (n.lineno, isinstance(n.ctx, ast.Store), n.col_offset),
    )
    behind = next((n for n in uses if n.lineno > loop.end_lineno), None)
    if behind is not None and isinstance(behind.ctx, ast.Load):
        return True
    rounds = [outer for outer in above if bound < outer.lineno]
    return any(
        isinstance(n.ctx, ast.Load) and outer.lineno <= n.lineno < loop.lineno
        for outer in rounds[:1] for n in uses
    )  # fmt: skip


LOST = """
def f(parts, bounds):
    most = max(parts)
    for name, (_, most) in zip(parts, bounds):
        print(name, most)
    return most
"""
AGAIN = """
def f(parts, bounds):
    most = max(parts)
    for part in parts:
        print(part / most)
        for most in bounds:
            print(most)
"""
FREE = """
def f(parts, bounds):
    for most in parts:
        print(most)
    for most in bounds:
        print(most)
    most = 3
    return most, [most for most in bounds]
"""


@pytest.mark.parametrize(("text", "names"), [(LOST, ["most"]), (AGAIN, ["most"]), (FREE, [])])
def test_what_is_found(text, names):
    assert [name for _, name in overwritten(text)] == names


@pytest.mark.parametrize("folder", ["python", "tests_py", "docs", ".ci"])
def test_no_loop_overwrites_a_name_that_is_read_after_it(folder):
    overwritten_names = [
        f"{path.relative_to(REPO)}:{line}: {name}"
        for path in sorted((REPO / folder).rglob("*.py"))
        for line, name in overwritten(path.read_text())
    ]
    assert not overwritten_names
