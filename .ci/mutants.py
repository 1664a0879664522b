"""Whether a test fails where the code is changed by a character.

    python .ci/mutants.py BUILD [--family slurm packs core ...] [--only RULE ...]

FAMILY is a folder of cpp/cosched. tests_cpp/FAMILY/mutants.txt has a change a line: its rule or
room, a file below cpp/cosched/FAMILY, what stands there once, `` => ``, and what is put in its
place. Of slurm there is one for each rule of RULES.md; of the others some for each room. A line
that begins with ``~`` is a move of a search, which costs time or quality alone, with ``=`` no
change of what is done: neither is tried. Sources are copied to BUILD/source and changed there, one
after another; of each change the tests that fail are printed (or the clock, where they do not end
and none has failed before), and at last how many of each room were noticed. Exit code 1: for one
none did; 2: no change has a RULE.
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
#: Seconds that the tests of a change may take; those of the sources as they are take a few.
LONGEST = 120


def changes(path: Path) -> list[tuple[str, str, str, str]]:
    """(rule, file, old, new) of each line."""
    change_list = []
    for line in path.read_text().splitlines():
        if line and not line.startswith(("#", "~", "=")):
            rule, name, change = line.split(" ", 2)
            old, new = (part.replace("\\n", "\n") for part in change.split(" => "))
            change_list.append((rule, name, old, new))
    return change_list


def room_of(name: str) -> str:
    """The room of a file below its family; core, lp and opt have none."""
    return name.split("/")[0] if "/" in name else ""


def suites(family: str, name: str) -> str:
    """The tests of a file's room; of slurm, whose rules cross rooms, all."""
    room = HERE / "tests_cpp" / family / name.split("/")[0]
    if family == "slurm" or not room.is_dir():
        return "*"
    texts = [path.read_text() for path in room.glob("*_test.cpp")]
    suite_names = {
        suite for text in texts for suite in re.findall(r"^TEST(?:_F|_P)?\((\w+),", text, re.M)
    }
    return ":".join(f"{suite}.*" for suite in sorted(suite_names))


def copied(build: Path) -> Path:
    """The sources, those that are as they were untouched."""
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
    """Tests that fail as the sources are; ["the compiler"] where they cannot be built."""
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
    """Of each room, how many changes have this mark."""
    return Counter(
        room_of(line.split()[1]) for line in path.read_text().splitlines() if line.startswith(mark)
    )


def survivors(build: Path, source: Path, family: str, only: list[str]) -> Counter[tuple[str, bool]]:
    """How many changes of each room a test notices, and how many none does."""
    every = changes(HERE / "tests_cpp" / family / "mutants.txt")
    chosen = [change for change in every if not only or change[0] in only]
    rooms = {suites(family, name) for _, name, _, _ in chosen}
    if chosen and (broken := failing(build, family, ":".join(sorted(rooms)))):
        sys.exit(f"{family} as it is: {', '.join(broken)}")
    counts: Counter[tuple[str, bool]] = Counter()
    for rule, name, old, new in chosen:
        room = room_of(name)
        path = source / "cpp" / "cosched" / family / name
        text = path.read_text()
        if text.count(old) != 1:
            print(f"{rule:6} {name}: {old!r} stands there {text.count(old)} times: expected once")
            counts[room, False] += 1
            continue
        path.write_text(text.replace(old, new))
        tests = failing(build, family, suites(family, name))
        path.write_text(text)
        counts[room, tests not in ([], ["the compiler"])] += 1
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
    print(f"\n{'room':20}{'changes':>9}{'noticed':>9}{'moves of a search':>19}{'no change':>11}")
    for family, of_rooms in counts.items():
        path = HERE / "tests_cpp" / family / "mutants.txt"
        moves, same = untried(path, "~"), untried(path, "=")
        for room in sorted({room for room, _ in of_rooms}):
            noticed, missed = of_rooms[room, True], of_rooms[room, False]
            print(
                f"{(family + '/' + room).rstrip('/'):20}{noticed + missed:9}{noticed:9}"
                f"{moves[room]:19}{same[room]:11}"
            )
    survived = sum(of_rooms[key] for of_rooms in counts.values() for key in of_rooms if not key[1])
    print(f"{survived} without a test")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
