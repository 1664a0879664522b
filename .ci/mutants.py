"""Whether a test fails for each rule of the twin of Slurm that is changed by a character.

    python .ci/mutants.py BUILD [--only RULE ...] [--list tests_cpp/slurm/mutants.txt]

The list has a change for each rule: its number, a file beside RULES.md, what stands there once,
`` => ``, and what is put in its place. Sources are copied to BUILD/source and changed there, one
after another; of each change the tests that fail are printed (or the clock, where they do not end
and none has failed before). Exit code 1: for one none did.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
ROOM = Path("cpp", "cosched", "slurm")
LIST = HERE / "tests_cpp" / "slurm" / "mutants.txt"


def changes(path: Path) -> list[tuple[str, str, str, str]]:
    """(rule, file, old, new) of each line."""
    found = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            rule, name, change = line.split(" ", 2)
            old, new = (part.replace("\\n", "\n") for part in change.split(" => "))
            found.append((rule, name, old, new))
    return found


def copied(build: Path) -> Path:
    """The sources, those that are as they were untouched."""
    source = build / "source"
    for name in ("cpp", "tests_cpp", "CMakeLists.txt", "pyproject.toml"):
        for path in [HERE / name, *(HERE / name).rglob("*")]:
            own = source / path.relative_to(HERE)
            if path.is_file() and not (own.exists() and own.read_bytes() == path.read_bytes()):
                own.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, own)
    return source


def failing(build: Path) -> list[str]:
    """Tests that fail as the sources are; ["the compiler"] where they cannot be built."""
    made = subprocess.run(
        ["cmake", "--build", build, "--target", "test_slurm", "-j2"], capture_output=True
    )
    if made.returncode:
        return ["the compiler"]
    try:
        ran = subprocess.run(
            [build / "tests_cpp" / "test_slurm", "--gtest_filter=Slurm*", "--gtest_brief=1"],
            capture_output=True, timeout=60,
        )  # fmt: skip
        said, end = ran.stdout, f"exit code {ran.returncode}" if ran.returncode else None
    except subprocess.TimeoutExpired as hangs:
        said, end = hangs.stdout or b"", "the clock"
    names = re.findall(r"^\[  FAILED  \] (\S+?),? \(", said.decode(), re.MULTILINE)
    return names or ([end] if end else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--list", type=Path, default=LIST)
    args = parser.parse_args()
    source = copied(args.build)
    subprocess.run(
        ["cmake", "-G", "Ninja", "-S", source, "-B", args.build, "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_UNITY_BUILD=OFF", "-DCOSCHED_BUILD_PYTHON=OFF",
         "-DCOSCHED_BUILD_TESTS=ON"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    if broken := failing(args.build):
        print(f"as it is: {', '.join(broken)}")
        return 1
    survived = 0
    every = changes(args.list)
    for rule, name, old, new in every:
        if args.only and rule not in args.only:
            continue
        path = source / ROOM / name
        text = path.read_text()
        if text.count(old) != 1:
            print(f"{rule:6} {name}: {old!r} stands there {text.count(old)} times: expected once")
            survived += 1
            continue
        path.write_text(text.replace(old, new))
        tests = failing(args.build)
        path.write_text(text)
        survived += tests in ([], ["the compiler"])
        print(f"{rule:6} {name}: {old!r} => {new!r}: {', '.join(tests[:3]) or 'NO TEST FAILS'}",
              flush=True)  # fmt: skip
    print(f"{survived} of {len(every)} without a test")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
