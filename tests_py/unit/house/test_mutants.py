"""What `make mutants` changes stands where its lists say: noticed at once where code moves."""

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
            counts[of, old] = (folder / of).read_text().count(old)
    assert len(counts) > 10
    assert [one for one, count in counts.items() if count != 1] == []
