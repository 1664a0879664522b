"""Rules of the house that `make lint` cannot check: layers of the C++ code, stubs, the library."""

import ast
import re
import subprocess
import sys

import pytest

from cosched.registry import FAMILIES
from support import REPO, lacking, program

CPP = REPO / "cpp" / "cosched"
ALLOWED = {
    "core": {"core"},
    "c": {"c", "core", "moldable"},
    "lp": {"core", "lp"},
    "opt": {"core", "opt"},
    "slurm": {"core", "slurm"},
} | {name: {"core", "lp", "opt", name} for name in FAMILIES}


def test_layers():
    for path in CPP.rglob("*.?pp"):
        layer = path.relative_to(CPP).parts[0]
        for included in re.findall(r'#include [<"]cosched/(\w+)/', path.read_text()):
            allowed = ALLOWED[layer]  # families are those of python/cosched/registry.py
            assert included in allowed, f"{path.relative_to(REPO)} includes {included}"


def test_nothing_is_read_beside_the_clone():
    outer_folder = "../" + "shared"  # a folder that those who made this had there
    process = subprocess.run(
        [program("git"), "grep", "-nF", outer_folder], cwd=REPO, capture_output=True, text=True
    )
    assert (process.returncode in (1, 128), process.stdout) == (True, ""), process.stderr


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
    stub_folder = REPO / "python" / "cosched" / "_core"
    stub_texts = {p.name: p.read_text() for p in (tmp_path / "_core").iterdir()}
    assert {p.name: p.read_text() for p in stub_folder.iterdir()} == stub_texts, "run `make stubs`"


def test_every_bound_argument_has_a_name():
    for stub in (REPO / "python" / "cosched" / "_core").glob("*.pyi"):
        assert not re.search(r"\barg\d+\b", stub.read_text()), stub.name
        ast.parse(stub.read_text())  # a name that is a keyword of Python would not parse


GUIDE = REPO / "docs" / "howto" / "use-from-cpp.md"


def blocks(language, page):
    """The fenced blocks of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def test_the_guide_of_cpp_is_the_project_that_is_built_and_run():
    project = REPO / "tests_cpp" / "find_package"
    assert blocks("cpp", GUIDE) == [(project / "plan.cpp").read_text()]
    (guide_lines,) = blocks("cmake", GUIDE)
    built = (project / "CMakeLists.txt").read_text()
    assert set(guide_lines.splitlines()) <= set(built.splitlines())


@pytest.mark.parametrize(
    ("language", "compiler", "folder"),
    [("cpp", ("c++", "-std=c++20"), "cpp"), ("c", ("cc", "-std=c99"), "cpp/cosched/c")],
)
def test_every_block_of_the_pages_compiles(tmp_path, language, compiler, folder):
    """Its syntax and its types: what is linked and run is `tests_cpp/find_package`."""
    pages = [*REPO.glob("docs/**/*.md"), *REPO.glob("*.md"), REPO / "cpp" / "README.md"]
    sources = [block for page in pages for block in blocks(language, page)]
    assert sources
    for number, source in enumerate(sources):
        path = tmp_path / f"block_{number}.{language}"
        path.write_text(source)
        command = [program(compiler[0]), *compiler[1:], "-Wall", "-Werror", "-fsyntax-only"]
        done = subprocess.run(
            [*command, f"-I{REPO / folder}", path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{source}\n{done.stderr}"


def test_find_package_example(tmp_path):
    """Projects in C++ and in C: install the library, find it, link, run."""
    build_folders = [REPO / "build" / name for name in ("dev", "release")]
    build_folders = [
        folder for folder in build_folders if (folder / "cpp" / "libcosched_core.a").exists()
    ]
    if not build_folders:
        lacking("the C++ build of `make test` is not there")

    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    cmake, prefix, build = program("cmake"), tmp_path / "prefix", tmp_path / "build"
    run(cmake, "--install", build_folders[0], "--component", "cpp", "--prefix", prefix)
    source = REPO / "tests_cpp" / "find_package"
    run(cmake, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run(cmake, "--build", build)
    (guide_output,) = blocks("text", GUIDE)
    assert run(build / "plan") == guide_output
    output_lines = run(build / "loop").splitlines()
    assert output_lines[0].startswith("all started")
    assert output_lines[1] == "owner: expected room for a number a processor"
