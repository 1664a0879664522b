"""The commands of the pages for contributors do what the pages say.

Every command of these pages stands in one of two tables below: `RUN`, whose commands these tests
run, and `NOT_RUN`, which says why. A command that is new on a page has to be added to one of them.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import REPO, lacking, load_script, program

PAGES = (
    "CONTRIBUTING.md", "cpp/README.md", "docs/howto/own-family.md", "docs/howto/own-scheduler.md",
)  # fmt: skip
MAKEFILE = (REPO / "Makefile").read_text()
#: What a command in the text begins with.
PROGRAMS = re.compile(r"(make|cmake|cosched|python|git|\.venv/bin/\S+|\.ci/\S+)( |$)")


def commands(page: str) -> list[str]:
    """Commands of a page: lines of its ``sh`` blocks, and code in its text that begins as one.

    Blocks of ``bash`` are left out: `test_pages.py` runs them.
    """
    text = (REPO / page).read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line.partition(" # ")[0].strip() for block in blocks for line in block.splitlines()]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines += [code for code in re.findall(r"`([^`\n]+)`", prose) if PROGRAMS.match(code)]
    return list(dict.fromkeys(lines))


#: Command of a page -> what the last lines of its output say.
RUN = {
    ".venv/bin/pytest tests_py/unit/packs/test_packs.py -k pairs": r"\d+ passed",
    ".venv/bin/pytest --doctest-modules python/cosched/packs/bounds.py": r"3 passed",
    "make test-one T=core.Rng": r"PASSED  \] [1-9]\d* tests",
    "make test-one T=packs.Pairs": r"PASSED  \] [1-9]\d* tests",
    "make test-one T=packs.Pairs.EqualsOptimalOnLargerInstances": r"PASSED  \] 1 test",
    "make": r"help +this list",
    "cmake --list-presets": r'"dev"',
    ".venv/bin/pre-commit install": r"pre-commit installed at",
}
#: Of these, what wants the sources installed as a link, and the tools of `make dev`.
AFTER_MAKE_DEV = (
    ".venv/bin/pytest --doctest-modules python/cosched/packs/bounds.py",
    ".venv/bin/pre-commit install",
)
#: Of these a run takes half a minute.
THOROUGH = {
    ".venv/bin/cosched study run packs-fig2-5 --quick --workers 2 --out out/packs": r"report\.html",
}
_HERE = "these tests run the file"
_COMPILES = "compiles all of cpp/, or installs packages; every job of CI begins with it"
_BY_CI = "takes minutes; a job of CI or of the night runs it"
NOT_RUN = {
    "git clone URL cosched && cd cosched": "the address is the reader's; .ci/run clones",
    ".venv/bin/pytest tests_py/unit/packs/test_packs.py -x -q": _HERE,
    ".venv/bin/pytest tests_py/unit/house/test_places_of_a_family.py -q": _HERE,
    ".venv/bin/pytest tests_py/unit/house/test_stable_names.py "
    "tests_py/unit/house/test_places_of_a_family.py -q": _HERE,
    "make dev": _COMPILES,
    "make dev stubs": "test_house.py makes the stubs and compares",
    "make test-one": "stands for the commands with T=",
    "make test": "runs these tests",
    "make test-thorough": _BY_CI,
    "make docs": _BY_CI,
    "make dev lint": _BY_CI,
    "make lint": _BY_CI,
    "make prose": "test_prose.py checks the pages",
    "make asan": _BY_CI,
    "make tsan": _BY_CI,
    "make fuzz": _BY_CI,
    "make mutants": _BY_CI,
    "make coverage": _BY_CI,
    "make wheel": _BY_CI,
    "make results": "takes minutes; test_ledger.py renders pages",
    "make bench": "measures for minutes, and is no test",
    "make clean": "would remove the environment that runs these tests",
    ".ci/run": "takes 15 minutes; CI's job test is this script",
    "cmake --install BUILD --component cpp": "test_house.py runs it and uses what it installs",
    "cosched generate": "the name of a verb",
    "cosched compare packs times.csv --algorithms in-order,optimal": "wants a package that is "
    "installed; test_entry_points.py makes one",
    "cosched --import mine.py study run packs-fig2-5 --quick -o packs": "takes half a minute; "
    "test_study_engine.py runs a study with an own algorithm",
}


def test_every_command_is_run_or_says_why_not():
    shown_commands = {command for page in PAGES for command in commands(page)}
    known_commands = [*RUN, *THOROUGH, *NOT_RUN]
    assert len(known_commands) == len(set(known_commands))
    missing = sorted(shown_commands - set(known_commands))
    where = Path(__file__).relative_to(REPO)
    assert not missing, f"{where}: add to RUN or NOT_RUN: {'; '.join(missing)}"
    stale_commands = sorted(set(known_commands) - shown_commands)
    assert not stale_commands, (
        f"{where}: no page has these commands any more: {'; '.join(stale_commands)}"
    )


def test_every_reason_names_a_test_that_is_there():
    for reason in NOT_RUN.values():
        for name in re.findall(r"test_\w+\.py", reason):
            assert list(REPO.glob(f"tests_py/unit/*/{name}")), name


def cpp_tests(folder: str) -> bool:
    """Whether `make test-one` finds the tests of a layer compiled."""
    build = "dev" if (REPO / ".venv" / "editable.stamp").exists() else "release"
    folders = REPO / "build" / build, REPO / "build" / build / "tests_cpp"
    return (folders[0] / "tests.stamp").exists() and (folders[1] / f"test_{folder}").exists()


def arguments_here(command: str) -> list[str]:
    """The words of a command of a page, with the programs of the environment of this run."""
    words = command.replace("COMMIT", "HEAD").split()
    scripts = Path(sys.executable).parent
    if words[0].startswith(".venv/bin/"):
        words[0] = str(scripts / Path(words[0]).name)
        if not Path(words[0]).exists():
            lacking(f"{words[0]} is not installed")
    elif words[0] == "python":
        words[0] = sys.executable
    else:
        words[0] = program(words[0])
    return words


@pytest.mark.parametrize(
    "command", [*RUN, *(pytest.param(command, marks=pytest.mark.thorough) for command in THOROUGH)]
)
def test_command(command, tmp_path):
    layer = re.search(r"T=(\w+)", command)
    if layer and not cpp_tests(layer[1]):
        pytest.skip(f"the C++ tests of {layer[1]} are not compiled: {command}")
    if command in AFTER_MAKE_DEV and not (REPO / ".venv" / "editable.stamp").exists():
        pytest.skip(f"the page says it after make dev: {command}")
    if "COMMIT" in command and not (REPO / ".git").exists():
        pytest.skip("counts lines of a commit")
    words, folder = arguments_here(command), REPO
    if "pre-commit" in command:
        folder = tmp_path
        subprocess.run([program("git"), "init", "-q"], cwd=folder, check=True)
        shutil.copy(REPO / ".pre-commit-config.yaml", folder)
    if "--out" in words:
        words[words.index("--out") + 1] = str(tmp_path / "out")
    # Of the run around this one: its worker of pytest-xdist is none of the command's.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    ended = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, f"{command}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    assert re.search((RUN | THOROUGH)[command], ended.stdout[-4000:]), ended.stdout[-2000:]


MAKE = [name for page in PAGES for name in commands(page) if re.match(r"make [a-z]", name)]


@pytest.mark.parametrize("command", list(dict.fromkeys(MAKE)))
def test_make_knows_the_target(command):
    """What the target would run, printed."""
    words = [program("make"), "--dry-run", *command.split()[1:]]
    ended = subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_pytest_finds_what_python_m_pytest_finds(pytestconfig):
    """A process that a test spawns imports the test's file from the folder of the repository."""
    assert REPO in [(REPO / name).resolve() for name in pytestconfig.getini("pythonpath")]


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_the_program_pytest_runs_tests_in_processes_and_leaves_nothing(method):
    words = arguments_here(".venv/bin/pytest -q tests_py/unit/core/test_threads.py -k " + method)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    ended = subprocess.run(
        words, cwd=REPO, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert "1 passed" in ended.stdout
    assert ended.stderr == ""


LISTING = """\
Running main() from gtest_main.cc
Pairs.
  EqualsOptimal
  IsExact
Drawn/Packs.
  Validates/0  # GetParam() = 1
"""


@pytest.fixture
def test_one(tmp_path, monkeypatch):
    """`.ci/test_one.py` with a build that does nothing and a program with the tests of LISTING."""
    script = load_script(REPO / ".ci" / "test_one.py")
    tests = tmp_path / "tests_cpp" / "test_packs"
    tests.parent.mkdir()
    tests.write_text(f'#!/bin/sh\ncase $1 in *list*) printf "%s" "{LISTING}";; *) exit 5;; esac\n')
    tests.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cmake").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def run(name):
        monkeypatch.setattr(sys, "argv", ["test_one.py", str(tmp_path), name])
        return script.main()

    return run


@pytest.mark.parametrize(
    "name", ["packs", "packs.Pairs", "packs.Pa", "packs.Pairs.IsExact", "packs.Packs.Validates/0"]
)
def test_tests_of_a_name_are_run(test_one, name):
    assert test_one(name) == 5  # the exit code of the tests


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "packs.Paris",
            "T=packs.Paris: no test of packs has that name: did you mean Pairs?",
        ),
        (
            "packs.Pairs.IsExat",
            "T=packs.Pairs.IsExat: no test of packs has that name: did you mean Pairs.IsExact?",
        ),
        (
            "packs.Zzzzz",
            "T=packs.Zzzzz: no test of packs has that name: expected one of Pairs, Drawn/Packs",
        ),
        ("pacts.Pairs", "T=pacts.Pairs: no folder 'pacts': did you mean packs?"),
    ],
)
def test_a_name_that_no_test_has_is_refused(test_one, name, line, capfd):
    assert test_one(name) == 2
    assert capfd.readouterr().err == line + "\n"


def test_programs_of_benchmarks_stand_where_make_bench_leaves_them():
    """Pages and comments name them with their folder; `BUILD` of the Makefile is that folder."""
    (build,) = re.findall(r"^BUILD := build/\$\(if .*,dev,(\w+)\)$", MAKEFILE, re.MULTILINE)
    named = 0
    for path in [*REPO.glob("docs/**/*.md"), *REPO.glob("cpp/**/*.?pp")]:
        for folder, name in re.findall(r"build/(\w+)/tests_cpp/(\w+_bench)", path.read_text()):
            assert folder == build, f"{path}: build/{folder}/tests_cpp/{name}"
            assert (REPO / "tests_cpp" / "bench" / f"{name}.cpp").exists(), f"{path}: {name}"
            named += 1
    assert named > 10


def test_no_target_runs_ctest_on_nothing():
    calls = re.findall(r"\bctest .*--.*", MAKEFILE)
    assert len(calls) >= 3
    assert all("--no-tests=error" in call for call in calls)
