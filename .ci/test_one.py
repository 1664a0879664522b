"""Build the C++ tests of a folder of tests_cpp, and run those that are named.

    python .ci/test_one.py BUILD FOLDER[.SUITE[.TEST]] [--jobs N]

SUITE and TEST may be beginnings of names. Where no test has such a name, nothing is run: the names
that are near are printed, and the exit code is 2.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from difflib import get_close_matches
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests_cpp"


def folders() -> list[str]:
    """Folders with C++ tests; each has an executable ``test_<folder>``."""
    return sorted({path.relative_to(TESTS).parts[0] for path in TESTS.rglob("*_test.cpp")})


def names_of_tests(listing: str) -> list[str]:
    """``suite.test`` of each test in what ``--gtest_list_tests`` prints."""
    names, suite = [], ""
    for line in listing.splitlines():
        word = line.partition("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + word)
        elif word.endswith("."):
            suite = word
    return names


def begins(name: str, beginning: str) -> bool:
    """Whether a test has this name; that of ``Prefix/Suite.Test/0`` is also ``Suite.Test/0``."""
    return name.startswith(beginning) or name.partition("/")[2].startswith(beginning)


def refuse(line: str) -> int:
    print(line, file=sys.stderr)
    return 2


def suggestion(wrong: str, names: list[str]) -> str:
    """The names that are near, or all of them."""
    near = get_close_matches(wrong, names, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"expected one of {', '.join(names)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("test", metavar="FOLDER[.SUITE[.TEST]]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    folder, _, beginning = args.test.partition(".")
    if folder not in folders():
        return refuse(f"T={args.test}: no folder {folder!r}: {suggestion(folder, folders())}")
    program = args.build / "tests_cpp" / f"test_{folder}"
    build = ["cmake", "--build", args.build, "--target", program.name, "-j", str(args.jobs)]
    built = subprocess.run(build, check=False)
    if built.returncode:
        return built.returncode
    listed = subprocess.run(
        [program, "--gtest_list_tests"], check=True, capture_output=True, text=True
    )
    names = names_of_tests(listed.stdout)
    if not any(begins(name, beginning) for name in names):
        known_names = (
            names if "." in beginning else list(dict.fromkeys(n.split(".")[0] for n in names))
        )
        hint = suggestion(beginning, known_names)
        return refuse(f"T={args.test}: no test of {folder} has that name: {hint}")
    chosen = f"{beginning}*:*/{beginning}*" if beginning else "*"
    return subprocess.run([program, f"--gtest_filter={chosen}"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
