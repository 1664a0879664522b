"""Rules of the house that a machine can check: layers, stubs, style."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import REPO

CPP = REPO / "cpp" / "cosched"
FAMILIES = {"packs", "dags", "cluster", "moldable", "bags"}
ALLOWED = {"core": {"core"}, "lp": {"core", "lp"}, "opt": {"core", "opt"}} | {
    name: {"core", "lp", "opt", name} for name in FAMILIES
}


def test_layers():
    for path in CPP.rglob("*.?pp"):
        layer = path.relative_to(CPP).parts[0]
        for included in re.findall(r'#include [<"]cosched/(\w+)/', path.read_text()):
            assert included in ALLOWED[layer], f"{path.relative_to(REPO)} includes {included}"


def test_only_one_file_knows_glpk():
    knows = [p.name for p in REPO.glob("cpp/**/*.?pp") if "#include <glpk.h>" in p.read_text()]
    assert knows == ["glpk.cpp"]


def test_no_unportable_randomness():
    for path in CPP.rglob("*.?pp"):
        assert not re.search(
            r"std::(mt19937|uniform_|normal_dist|random_device)|\brand\(", path.read_text()
        )


def test_stubs_match_the_extension(tmp_path):
    subprocess.run([sys.executable, REPO / ".ci" / "stubs.py", tmp_path], check=True)
    kept = REPO / "python" / "cosched" / "_core"
    made = {p.name: p.read_text() for p in (tmp_path / "_core").iterdir()}
    assert {p.name: p.read_text() for p in kept.iterdir()} == made, "run `make stubs`"


def test_every_bound_argument_has_a_name():
    for stub in (REPO / "python" / "cosched" / "_core").glob("*.pyi"):
        assert not re.search(r"\barg\d+\b", stub.read_text()), stub.name
        ast.parse(stub.read_text())  # a name that is a keyword of Python would not parse


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "python", "tests_py", ".ci"],
        ["ruff", "format", "--check", "python", "tests_py", ".ci"],
        ["mypy"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_style_of_python(command):
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [program, *command[1:]], cwd=REPO, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_style_of_cpp():
    program = shutil.which("clang-format")
    if program is None:
        pytest.skip("clang-format is not installed")
    files = [*REPO.glob("cpp/**/*.?pp"), *REPO.glob("tests_cpp/**/*.?pp")]
    done = subprocess.run(
        [program, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:2000]


def test_find_package_example(tmp_path):
    """A C++ user's project: install the library, find it, link, run."""
    library = REPO / "build" / "tests" / "cpp" / "libcosched_core.a"
    if shutil.which("cmake") is None or not library.exists():
        pytest.skip("needs the C++ build of `make test`")

    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    prefix, build = tmp_path / "prefix", tmp_path / "build"
    run("cmake", "--install", REPO / "build" / "tests", "--component", "cpp", "--prefix", prefix)
    source = REPO / "tests_cpp" / "find_package"
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    assert run(build / "plan").startswith("cost 6.3")
