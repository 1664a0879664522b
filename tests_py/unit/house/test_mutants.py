"""What `make mutants` changes stands where its lists say: noticed at once where code moves."""

import ast
import subprocess
import sys

import pytest

from support import REPO

LISTS = sorted([*REPO.glob("tests_cpp/*/mutants.txt"), REPO / "tests_py" / "mutants.txt"])


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.parent.name)
def test_what_is_changed_stands_there_once(path):
    python = path.parent.name == "tests_py"
    folder = REPO / ("python/cosched" if python else f"cpp/cosched/{path.parent.name}")
    name, counts = "", {}
    for line in path.read_text().splitlines():
        if python and line.startswith("# "):
            name = line[2:].partition(": ")[0]
        elif line and not line.startswith(("#", "~", "=")):
            _, of, change = ("", name, line) if python else line.split(" ", 2)
            old = change.split(" => ")[0].replace("\\n", "\n")
            text = (folder / of).read_text()
            # The list of Python has texts of the syntax tree: formatting does not matter.
            counts[of, old] = (ast.unparse(ast.parse(text)) if python else text).count(old)
    assert len(counts) > 4
    assert [pattern for pattern, count in counts.items() if count != 1] == []


#: Folders of cpp/cosched of which no change is tried, and why.
WITHOUT = {
    "c": "one function around moldable/step, which tests of Python and of find_package call",
}

#: Folders whose turn has not come yet. This list gets shorter.
NOT_YET: set[str] = set()


def places(line):
    """The folder below cpp/cosched of a line of a list, without its family."""
    name = line.split()[1]
    return name.rpartition("/")[0]


def test_changes_are_tried_in_every_folder_or_it_says_why_not():
    library = REPO / "cpp" / "cosched"
    folders = {path.parent.relative_to(library).as_posix() for path in library.rglob("*.?pp")}
    tried = set()
    for path in REPO.glob("tests_cpp/*/mutants.txt"):
        for line in path.read_text().splitlines():
            if line and not line.startswith(("#", "~", "=")):
                tried.add(f"{path.parent.name}/{places(line)}".rstrip("/"))
    missing = sorted(folders - tried - set(WITHOUT) - NOT_YET)
    assert not missing, f"tests_cpp/FAMILY/mutants.txt: add changes of {', '.join(missing)}"
    assert not sorted(tried & set(WITHOUT)), "remove them from WITHOUT"
    assert not sorted(tried & NOT_YET), "remove them from NOT_YET"


@pytest.mark.parametrize("script", ["mutants.py", "mutants_python.py"])
def test_a_run_without_a_change_is_refused(script, tmp_path):
    build = [str(tmp_path)] if script == "mutants.py" else []
    ended = subprocess.run(
        [sys.executable, REPO / ".ci" / script, *build, "--only", "no-such-change"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "no-such-change" in ended.stderr
