"""Whether a test fails where a line of Python's adapters is changed.

    python .ci/mutants_python.py [--only ROOM ...]

tests_py/mutants.txt has one change per line, of a file below python/cosched: a text that occurs
once in the file, `` => ``, and its replacement; a line ``# FILE: TEST ...`` before them names the
file and the tests to run. The texts are those of the syntax tree (``ast.unparse``), so that line
breaks, quotes and comments of the file do not matter. Each change is tried in a forked process,
which compiles the changed text and leaves the file as it is. Exit code 1: for one change no test
failed.
"""

from __future__ import annotations

import argparse
import ast
import os
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
#: Imported once, for all children.
LIBRARIES = (
    "matplotlib.pyplot",
    "pandas",
    "scipy.optimize",
    "scipy.stats",
    "hypothesis",
    "click.core",
    "_pytest.terminal",
    "pygments.lexers",
    "unittest.mock",
)
#: Seconds that the tests of a change may take: one that does not end is noticed.
LONGEST = 300


def changes(path: Path) -> Iterator[tuple[str, list[str], str, str]]:
    """(file, tests, old, new) of each line."""
    name, tests = "", [""]
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            name, _, rest = line[2:].partition(": ")
            unit = HERE / "tests_py" / "unit"
            tests = [str(path) for pattern in rest.split() for path in unit.rglob(pattern)]
        elif line:
            old, new = (part.replace("\\n", "\n") for part in line.split(" => "))
            yield name, tests, old, new


def source_of_tree(path: Path) -> str:
    """The file as its syntax tree is written: without comments, one statement per line."""
    return ast.unparse(ast.parse(path.read_text()))


def compile_changed(name: str, old: str, new: str) -> None:
    """From now on, an import of this file finds the change."""
    original_get_code = SourceFileLoader.get_code
    changed = HERE / "python" / "cosched" / name

    def get_code(self: SourceFileLoader, module: str):  # type: ignore[no-untyped-def]
        if Path(self.path).resolve() != changed:
            return original_get_code(self, module)
        return compile(source_of_tree(changed).replace(old, new), self.path, "exec")

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def noticed(name: str, tests: list[str], old: str, new: str) -> bool:
    """Whether a test fails, or the change does not even compile, or the tests do not end."""
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST)
        compile_changed(name, old, new)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1), os.dup2(silent, 2)
        options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of hypothesis
        os._exit(int(pytest.main([*options, *tests])))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="parts of the names of files")
    parser.add_argument("--list", type=Path, default=HERE / "tests_py" / "mutants.txt")
    args = parser.parse_args()
    os.chdir(HERE)
    for library in LIBRARIES:
        import_module(library)
    survived, tried = 0, 0
    checked: set[str] = set()
    for name, tests, old, new in changes(args.list):
        if args.only and not any(part in name for part in args.only):
            continue
        tried += 1
        if name not in checked and noticed(name, tests, "", ""):
            sys.exit(f"{name}: tests fail as it is")
        checked.add(name)
        count = source_of_tree(HERE / "python" / "cosched" / name).count(old)
        good = count == 1 and noticed(name, tests, old, new)
        survived += not good
        verdict = "NO TEST FAILS" if count == 1 else f"stands there {count} times"
        if good:
            verdict = "noticed"
        print(f"{name}: {old!r} => {new!r}: {verdict}", flush=True)
    if not tried:
        parser.error(f"--only {' '.join(args.only)}: no file of {args.list} has that in its name")
    print(f"{survived} of {tried} without a test")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
