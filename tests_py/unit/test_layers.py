"""The house: who may import whom, the same rooms in each family, names that mean one thing."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

import cosched
from cosched.registry import FAMILIES

PACKAGE = Path(cosched.__file__).parent
FLOORS = (
    {"errors", "version", "_core"},
    {"core", "io"},
    {"profiles"},
    set(FAMILIES),
    {"registry", "workloads", "plot"},
    {"experiments", "execution"},
    {"cli"},
    {"__main__"},
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
ROOMS = ("files", "instance", "bounds", "result", "algorithms", "family", "workloads", "plots")


def modules() -> dict[str, Path]:
    """Dotted name -> file of every module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("cosched", *path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(path: Path) -> list[tuple[str, bool]]:
    """(module of cosched, whether inside a function) of every import of a file, lazy ones too."""
    found = []

    def walk(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            within = inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            if isinstance(child, ast.Import):
                found.extend((alias.name, inside) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: a relative import"
                for alias in child.names:
                    whole = f"{child.module}.{alias.name}"
                    extension = whole == "cosched._core"
                    found.append(
                        (whole if whole in MODULES or extension else str(child.module), inside)
                    )
            walk(child, within)

    walk(ast.parse(path.read_text()), False)
    return [(name, inside) for name, inside in found if name.split(".")[0] == "cosched"]


GRAPH = networkx.DiGraph(
    [(name, target) for name, path in MODULES.items() for target, _ in imports(path)]
)


def top(name: str) -> str:
    return name.split(".")[1]


def test_every_room_stands_on_a_floor():
    assert {top(name) for name in MODULES if name != "cosched"} <= FLOOR.keys()


def test_no_import_goes_up_or_to_a_sibling():
    wrong = [
        f"{name} imports {target}"
        for name, target in GRAPH.edges
        if name != "cosched"
        and (target == "cosched" or top(name) != top(target))
        and (target == "cosched" or FLOOR[top(target)] >= FLOOR[top(name)])
    ]
    assert not wrong


def test_no_circle():
    circles = [sorted(part) for part in networkx.strongly_connected_components(GRAPH)]
    assert not [part for part in circles if len(part) > 1]


def test_nothing_of_cosched_is_imported_inside_a_function():
    inside = [
        f"{name}: {target}"
        for name, path in MODULES.items()
        for target, lazy in imports(path)
        if lazy
    ]
    assert not inside


@pytest.mark.parametrize("family", FAMILIES)
def test_the_families_have_the_same_rooms(family):
    there = {name.split(".")[2] for name in MODULES if name.startswith(f"cosched.{family}.")}
    assert set(ROOMS) <= there
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


def test_import_linter_agrees():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_modules_are_walked():
    assert {m.name for m in pkgutil.iter_modules([str(PACKAGE)])} - {"_core"} == {
        top(name) for name in MODULES if name != "cosched"
    }
