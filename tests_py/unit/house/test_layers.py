"""The house, where import-linter's contract cannot look: lazy imports, rooms, shadowed names."""

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

import cosched
from cosched.registry import FAMILIES

PACKAGE = Path(cosched.__file__).parent
LIBRARY = Path(__file__).parents[3] / "cpp"
ROOMS = ("files", "instance", "bounds", "result", "algorithms", "family", "workloads", "plots")


def modules() -> dict[str, Path]:
    """Dotted name -> file of every module of the package."""
    paths = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("cosched", *path.relative_to(PACKAGE).with_suffix("").parts)
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


MODULES = modules()


def lazy_imports(path: Path) -> list[str]:
    """Modules of cosched that a file imports inside a function."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    inside = [
        node
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, functions)
        for node in ast.walk(function)
    ]
    names = [alias.name for node in inside if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in inside if isinstance(node, ast.ImportFrom)]
    return [name for name in names if name.split(".")[0] == "cosched"]


def test_only_commands_import_inside_a_function():
    """A command imports what it works with in its body (docs/decisions/command-line.md)."""
    imports_by_module = {
        name: imports
        for name, path in MODULES.items()
        if not name.startswith("cosched.cli.") and (imports := lazy_imports(path))
    }
    assert not imports_by_module


def test_lazy_imports_are_seen(tmp_path):
    path = tmp_path / "lazy.py"
    path.write_text(
        "import cosched.io\ndef f():\n    import numpy, cosched.core\n"
        "    def g():\n        from cosched.packs import Instance\n"
    )
    assert set(lazy_imports(path)) == {"cosched.core", "cosched.packs"}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_families_have_the_same_rooms(family):
    folders = {name.split(".")[2] for name in MODULES if name.startswith(f"cosched.{family}.")}
    assert set(ROOMS) - {"plots"} <= folders  # packs has no picture that only it has
    body = ast.parse(MODULES[f"cosched.{family}"].read_text()).body
    kinds = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign)
    assert all(isinstance(node, kinds) for node in body), "__init__ re-exports, it has no code"


def test_no_submodule_is_shadowed():
    """`import cosched.a.b` gives the module b, whatever cosched.a offers by that name."""
    for name in MODULES:
        if "." in name and not name.endswith("__main__"):
            parent, _, child = name.rpartition(".")
            importlib.import_module(name)
            module = importlib.import_module(parent)
            assert getattr(module, child) is sys.modules[name], name


def wrong_includes(rooms: str, library: Path) -> list[tuple[str, str]]:
    """(file, header of a room that its own does not see); `rooms`: lines of cpp/CMakeLists.txt."""
    sees, headers = {}, {}
    for words in re.findall(r"^cosched_room\(([^)]+)\)$", rooms, re.M):
        room, _, seen_text = words.partition(" SEES ")
        sees[room], headers[room] = (part.split() for part in seen_text.partition(" HEADERS ")[::2])

    def may(room: str) -> set[str]:
        return {room, *headers[room]}.union(*map(may, sees[room]))

    wrong = []
    for room in sees:
        allowed = may(room)
        for path in sorted((library / "cosched" / room).glob("*.?pp")):
            for header in re.findall(r'^#include "cosched/(\S+)"', path.read_text(), re.M):
                if not {header, header.rpartition("/")[0]} & allowed:
                    wrong.append((path.name, header))  # noqa: PERF401
    return wrong


def test_rooms_include_what_they_may_see_also_where_a_unit_has_all():
    rooms = (LIBRARY / "CMakeLists.txt").read_text()
    assert not wrong_includes(rooms, LIBRARY)
    for named in ("dags/list ", " dags/proof/certificate.hpp"):  # a room, and a header of another
        assert named in rooms
        assert wrong_includes(rooms.replace(named, ""), LIBRARY)
