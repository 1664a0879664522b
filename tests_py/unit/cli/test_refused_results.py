"""A result that is better than its bound is refused, and nothing of it is written."""

import pytest

import cosched as cs
from cosched.cli import main
from cosched.core import Bound
from cosched.execution.advice import Advice


@pytest.mark.parametrize("output", ["plan.json", "plan.csv", "plan.md", "plan.paje"])
def test_solve_writes_nothing(tmp_path, monkeypatch, capsys, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").write_text("task,1,2\na,4,2\nb,3,2\n")
    wrong = Bound(1e9, "wrong")
    monkeypatch.setattr(cs.packs.Result, "_bound_of", classmethod(lambda cls, instance: wrong))
    arguments = ["packs", "times.csv", "--max-tasks", "1", "--algorithm", "sequential"]
    assert main(["solve", *arguments, "-o", output, "--plot", "plan.png"]) == 2
    captured = capsys.readouterr()
    assert "below the lower bound 1e+09 (wrong)" in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["times.csv"]


def test_plan_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("task,processors,seconds\na,1,8\na,2,5\nb,1,6\nb,2,4\n")
    wrong = property(lambda advice: advice.result.gap_to(Bound(1e9, "wrong")))
    monkeypatch.setattr(Advice, "gap", wrong)
    assert main(["plan", "runs.csv", "-o", "plan.json", "--plot", "plan.png"]) == 2
    assert "below the lower bound" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]
