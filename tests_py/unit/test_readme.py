"""What people copy from the README runs."""

import re
import shlex

import pytest

import cosched as cs
from cosched.cli import main
from support import REPO

TEXT = (REPO / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text(blocks("csv")[0])
    return tmp_path


def test_commands_run(folder, capsys):
    commands = [line for block in blocks("bash") for line in block.splitlines()]
    ours = [shlex.split(line)[1:] for line in commands if line.startswith("cosched ")]
    assert len(ours) >= 3
    for arguments in ours:
        assert main(arguments) == 0, (arguments, capsys.readouterr().err)
    assert (folder / "best.png").stat().st_size > 10_000
    assert "valid:" in capsys.readouterr().out


def test_python_runs(folder, own_algorithm, capsys):
    known = set(cs.packs.ALGORITHMS)
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})
    for name in set(cs.packs.ALGORITHMS) - known:
        own_algorithm("packs", name, cs.packs.ALGORITHMS[name])  # so that it is removed
    assert "above the best possible" in capsys.readouterr().out


def test_links_and_make_targets_exist():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", TEXT):
        assert (REPO / target).exists(), target
    makefile = (REPO / "Makefile").read_text()
    for name in re.findall(r"(?:`|^)make ([a-z-]+)", TEXT, flags=re.MULTILINE):
        assert re.search(rf"^{name}:", makefile, flags=re.MULTILINE), f"make {name}"
