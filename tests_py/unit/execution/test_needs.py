"""`rightsize --export codes`: memory and limits of measured codes, by the rule of rightsize."""

import math

import numpy as np
import pytest
import tomllib

import cosched as cs
from cosched.cli import main
from cosched.core.tails import conformal_limit, conformal_quantile, min_sample_count
from cosched.execution import Codes, plan
from cosched.execution.plan_input import toml_of


@pytest.fixture
def runs(tmp_path):
    def writes(**measured):
        rows = ["task,processors,seconds,status,memory"]
        for task, of in measured.items():
            rows += [f'"{task}",{q},{s},{"completed" if s else "failed"},{m}' for q, s, m in of]
        (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
        return tmp_path / "runs.csv"

    return writes


@pytest.mark.parametrize("risk", [0.4, 0.3, 0.05, 0.025, 0.01, 0.007, 0.0049])
def test_the_least_past_is_just_enough(risk):
    n = min_sample_count(risk)
    assert conformal_quantile(np.arange(n), risk) == n - 1
    assert math.isnan(conformal_quantile(np.arange(n - 1), risk))
    assert conformal_limit(list(range(n - 1)), risk, 2.0) == 2 * (n - 2)


def test_memory_and_limits_as_codes_have_them(runs):
    many = [(1, 100 + k, 1 + k / 100) for k in range(40)] + [(4, 50.0, 2.5)] * 40
    path = runs(fem=many, **{"a b": [(2, 599, 0.5), (2, 300, "")]}, never=[(1, "", "")])
    tasks_by_name = tomllib.loads(toml_of(path, 0.05))["task"]
    # Each of the two has 2.5%: k = ceil(41 * 0.975) = 40; of two runs 1.1 times the most.
    assert tasks_by_name == {
        "fem": {"timeout": 180, "memory": {"1": 1.39, "4": 2.5}},
        "a b": {"timeout": 660, "memory": {"2": 0.55}},
    }
    alone = runs(fem=[(1, s, "") for s in range(100, 119)])
    assert tomllib.loads(toml_of(alone, 0.05))["task"] == {"fem": {"timeout": 120}}


def test_codes_take_what_is_advised_and_plan_has_the_same_memory(runs, tmp_path):
    path = runs(fem=[(1, 60.0, 1 + k / 200) for k in range(200)])
    code = 'procs = 1\n[capacity]\nmemory = 8\n[task.fem]\ncommand = "./fem"\n'
    (tmp_path / "bare.toml").write_text(code)
    (tmp_path / "codes.toml").write_text(code + toml_of(path, 0.02).split("[task.fem]\n")[1])
    codes = Codes.read(tmp_path / "codes.toml")
    assert (codes["fem"].timeout, codes["fem"].memory[1]) == (60, 1.99)  # the 199th of 200
    planned = plan(path, codes=Codes.read(tmp_path / "bare.toml"))
    assert planned.result.instance.resources["memory"][0] == pytest.approx(1.99)


def test_command_line(runs, tmp_path, capsys):
    path = runs(fem=[(1, 60.0, "")])
    command = ["rightsize", str(path), "--export", "codes"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "timeout = 120" in text
    assert main([*command, "-o", str(tmp_path / "out.toml")]) == 0
    assert (tmp_path / "out.toml").read_text() == text
    for wrong in ("1", "0", "x"):
        assert main([*command, "--risk", wrong]) == 2
        assert "risk" in capsys.readouterr().err
    with pytest.raises(cs.InvalidInstance, match="no run completed"):
        toml_of(runs(fem=[(1, "", "")]), 0.05)
