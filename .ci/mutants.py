"""Mutation tests of the C++ core: check that a test fails when the code is changed.

    python .ci/mutants.py BUILD [--family slurm packs core ...] [--only RULE ...]

FAMILY is a folder of cpp/cosched. Each line of tests_cpp/FAMILY/mutants.txt is one change: its rule
or folder, a file below cpp/cosched/FAMILY, the original text, `` => `` and the text that replaces
it. The list of slurm has one change for each rule of RULES.md; the other lists have some changes
for each folder. Lines that begin with ``~`` (a move of a search: it changes only time or quality)
or with ``=`` (it changes no result) are not tried. The sources are copied to BUILD/source and
changed there, one change at a time. For each change the program prints the tests that fail, or
"the clock" if the tests do not end; then it prints how many changes of each folder were noticed.
Exit code 1: a change made no test fail. Exit code 2: no change has the RULE.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parents[1]
FAMILIES = sorted(path.parent.name for path in HERE.glob("tests_cpp/*/mutants.txt"))
#: Longest time of the tests of one change, in seconds; without a change they take a few seconds.
LONGEST = 120


def changes(path: Path) -> list[tuple[str, str, str, str]]:
    """Return (rule, file, old text, new text) of each line that is tried."""
    change_list = []
    for line in path.read_text().splitlines():
        if line and not line.startswith(("#", "~", "=")):
            rule, name, change = line.split(" ", 2)
            old, new = (part.replace("\\n", "\n") for part in change.split(" => "))
            change_list.append((rule, name, old, new))
    return change_list


def folder_of(name: str) -> str:
    """Return the folder of a file below its family; core, lp and opt have none."""
    return name.split("/")[0] if "/" in name else ""


def suites(family: str, name: str) -> str:
    """Return a filter for the tests of a file's folder; for slurm, all its tests.

    The rules of slurm cross folders.
    """
    folder = HERE / "tests_cpp" / family / name.split("/")[0]
    if family == "slurm" or not folder.is_dir():
        return "*"
    texts = [path.read_text() for path in folder.glob("*_test.cpp")]
    suite_names = {
        suite for text in texts for suite in re.findall(r"^TEST(?:_F|_P)?\((\w+),", text, re.M)
    }
    return ":".join(f"{suite}.*" for suite in sorted(suite_names))


def copied(build: Path) -> Path:
    """Copy the sources that have changed since the last run, and return their folder."""
    source = build / "source"
    for name in ("cpp", "tests_cpp", "CMakeLists.txt", "pyproject.toml"):
        for path in [HERE / name, *(HERE / name).rglob("*")]:
            copied_path = source / path.relative_to(HERE)
            if path.is_file() and not (
                copied_path.exists() and copied_path.read_bytes() == path.read_bytes()
            ):
                copied_path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copied_path)
    return source


def failing(build: Path, family: str, tests: str) -> list[str]:
    """Build the tests and return those that fail; ["the compiler"] if they cannot be built."""
    target = f"test_{family}"
    build_process = subprocess.run(
        ["cmake", "--build", build, "--target", target, "-j2"], capture_output=True
    )
    if build_process.returncode:
        return ["the compiler"]
    try:
        test_process = subprocess.run(
            [build / "tests_cpp" / target, f"--gtest_filter={tests}", "--gtest_brief=1"],
            capture_output=True,
            timeout=LONGEST,
        )
        output, end = (
            test_process.stdout,
            f"exit code {test_process.returncode}" if test_process.returncode else None,
        )
    except subprocess.TimeoutExpired as hangs:
        output, end = hangs.stdout or b"", "the clock"
    names = re.findall(r"^\[  FAILED  \] (\S+?),? \(", output.decode(), re.MULTILINE)
    return names or ([end] if end else [])


def untried(path: Path, mark: str) -> Counter[str]:
    """Count the lines of each folder that begin with this mark."""
    return Counter(
        folder_of(line.split()[1])
        for line in path.read_text().splitlines()
        if line.startswith(mark)
    )


def survivors(build: Path, source: Path, family: str, only: list[str]) -> Counter[tuple[str, bool]]:
    """Count by (folder, noticed) the changes that make a test fail and those that do not."""
    every = changes(HERE / "tests_cpp" / family / "mutants.txt")
    chosen = [change for change in every if not only or change[0] in only]
    folders = {suites(family, name) for _, name, _, _ in chosen}
    if chosen and (broken := failing(build, family, ":".join(sorted(folders)))):
        sys.exit(f"{family} as it is: {', '.join(broken)}")
    counts: Counter[tuple[str, bool]] = Counter()
    for rule, name, old, new in chosen:
        folder = folder_of(name)
        path = source / "cpp" / "cosched" / family / name
        text = path.read_text()
        if text.count(old) != 1:
            print(f"{rule:6} {name}: {old!r} occurs {text.count(old)} times: expected once")
            counts[folder, False] += 1
            continue
        path.write_text(text.replace(old, new))
        tests = failing(build, family, suites(family, name))
        path.write_text(text)
        counts[folder, tests not in ([], ["the compiler"])] += 1
        print(
            f"{rule:6} {name}: {old!r} => {new!r}: {', '.join(tests[:3]) or 'NO TEST FAILS'}",
            flush=True,
        )
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--family", nargs="*", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    known_rules = {
        rule
        for family in args.family
        for rule, *_ in changes(HERE / "tests_cpp" / family / "mutants.txt")
    }
    if unknown := sorted(set(args.only) - known_rules):
        parser.error(f"--only {' '.join(unknown)}: no change of {', '.join(args.family)} has it")
    source = copied(args.build)
    subprocess.run(
        [
            "cmake",
            "-G",
            "Ninja",
            "-S",
            source,
            "-B",
            args.build,
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
            "-DCMAKE_UNITY_BUILD=OFF",
            "-DCOSCHED_BUILD_PYTHON=OFF",
            "-DCOSCHED_BUILD_TESTS=ON",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    counts = {family: survivors(args.build, source, family, args.only) for family in args.family}
    print(f"\n{'folder':20}{'changes':>9}{'noticed':>9}{'moves of a search':>19}{'no change':>11}")
    for family, folder_counts in counts.items():
        path = HERE / "tests_cpp" / family / "mutants.txt"
        moves, same = untried(path, "~"), untried(path, "=")
        for folder in sorted({folder for folder, _ in folder_counts}):
            noticed, missed = folder_counts[folder, True], folder_counts[folder, False]
            print(
                f"{(family + '/' + folder).rstrip('/'):20}{noticed + missed:9}{noticed:9}"
                f"{moves[folder]:19}{same[folder]:11}"
            )
    survived = sum(
        folder_counts[key]
        for folder_counts in counts.values()
        for key in folder_counts
        if not key[1]
    )
    print(f"{survived} without a test")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
