"""Names of tasks, plans and folders: files that any system takes, and never a line of shell."""

import json
import os
import shutil
import subprocess

import pytest
from hypothesis import given, strategies as st

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import Code, Codes, profile, run, script
from cosched.execution.code import output_names
from cosched.execution.journal import read_past

HOSTILE = [
    "分" * 29, "分" * 29 + "b", "x" * 300, "a", "A", "a.", "a..", ".", "..", "-rf", "a/b", "../a",
    "evil\ntouch PWNED #", "a\rb", "$(touch PWNED)", "`touch PWNED`", "a b", "'", '"', "\\", "~",
    "a;touch PWNED", "a&touch PWNED", "%41", "*", "\x1b[31m", "\u202e", "é", "e\u0301",
    "'\ntouch PWNED\n'",
]  # fmt: skip


def check(names):
    names_of_outputs = output_names(names)
    assert list(names_of_outputs) == list(dict.fromkeys(names))
    assert len({name.lower() for name in names_of_outputs.values()}) == len(names_of_outputs)
    for name in names_of_outputs.values():
        assert len(name) <= 120
        assert name.isascii()
        assert not set(name) - set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~%@"
        )
        assert name[:1] not in (".", "-")


def test_output_names_are_safe_and_told_apart():
    check(HOSTILE)
    check([*HOSTILE, *output_names(HOSTILE).values()])
    assert output_names(["fem", "MG 2", "x/y"]) == {"fem": "fem", "MG 2": "MG%202", "x/y": "x%2Fy"}


@given(st.lists(st.text(st.characters(), min_size=1)))
def test_any_output_names(names):
    check(names)


def codes_of(folder, names, command="echo {task}"):
    return Codes(
        procs=1, codes={name: Code(name=name, command=command, directory=folder) for name in names}
    )


def plan_of(names):
    return cs.packs.sequential(cs.packs.Instance([[0.1]] * len(names), names=names))


def test_run_and_profile_with_hostile_names(tmp_path):
    codes = codes_of(tmp_path, HOSTILE)
    expected = output_names(HOSTILE)
    done = run(plan_of(HOSTILE), codes, journal=tmp_path / "journal.jsonl")
    assert done.good
    profile(codes, repeat=1, out=tmp_path / "runs.csv")
    for folder in (tmp_path / "journal.outputs", tmp_path / "runs.outputs"):
        texts = {path.name: path.read_bytes().decode() for path in folder.iterdir()}
        assert texts == {f"{expected[name]}-1.out": f"{name}\n" for name in HOSTILE}
    assert {path.name for path in tmp_path.iterdir()} == {
        *("journal.jsonl", "journal.outputs", "runs.csv", "runs.outputs")
    }


#: Stand-ins of Slurm's programs: a step is the command that follows its options.
SRUN = '#!/bin/bash\nwhile [[ "$1" == --* ]]; do shift; done\nexec "$@"\n'
SCONTROL = "#!/bin/bash\necho n1\n"


def run_script(text, folder):
    """Run a script for sbatch with these stand-ins."""
    tools = folder / "tools"
    tools.mkdir()
    for name, program in (("srun", SRUN), ("scontrol", SCONTROL)):
        (tools / name).write_text(program)
        (tools / name).chmod(0o755)
    work = folder / "work"
    work.mkdir()
    return work, subprocess.run(
        ["bash", "-c", text], cwd=work, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
    )  # fmt: skip


def test_a_script_with_hostile_names_runs_them_and_nothing_else(tmp_path):
    odd = tmp_path / "evil\ntouch PWNED #'"
    odd.mkdir()
    variables = {"MINE": "x\ntouch PWNED\n'$(touch PWNED)"}
    codes = Codes(
        procs=1,
        codes={
            name: Code(
                name=name, command='echo {task}; echo "$MINE"', directory=odd, environment=variables
            )
            for name in HOSTILE
        },
    )
    text = script(plan_of(HOSTILE), codes, name="evil\ntouch PWNED #")
    assert not [line for line in text.splitlines() if line.lstrip().startswith("touch")]
    work, done = run_script(text, tmp_path)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("PWNED"))
    expected = output_names(HOSTILE)
    assert {path.name: path.read_bytes().decode() for path in work.iterdir()} == {
        f"{expected[name]}.out": f"{name}\n{variables['MINE']}\n" for name in HOSTILE
    }


def test_a_plan_whose_file_has_a_hostile_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan, codes = "evil\ntouch PWNED #.json", "evil\ntouch PWNED #.toml"
    cs.io.write_json(plan_of(["a"]).to_dict(), plan)
    (tmp_path / codes).write_text('procs = 1\n[task.a]\ncommand = "true"\n')
    assert main(["script", plan, "--codes", codes, "-o", "job.sh"]) == 0
    text = (tmp_path / "job.sh").read_text()
    assert "\ntouch" not in text
    _, done = run_script(text, tmp_path)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("PWNED"))
    assert main(["profile", codes, "--repeat", "1", "-o", "evil\ntouch PWNED #.csv"]) == 0
    assert main(["plan", "evil\ntouch PWNED #.csv", "-o", plan]) == 0
    assert "\ntouch" not in capsys.readouterr().out


def test_a_variable_that_is_a_command_is_refused(tmp_path):
    code = Code(name="a", command="true", directory=tmp_path, environment={"A; touch PWNED": "1"})
    with pytest.raises(InvalidInstance, match="environment 'A; touch PWNED'"):
        script(plan_of(["a"]), Codes(procs=1, codes={"a": code}))


def test_outputs_deleted_during_the_run_cost_no_run(tmp_path):
    names = ["a", "b", "c"]
    codes = codes_of(tmp_path, names, f"rm -rf {tmp_path / 'journal.outputs'}; echo out")
    done = run(plan_of(names), codes, journal=tmp_path / "journal.jsonl")
    assert done.good
    assert not (tmp_path / "journal.outputs").exists()


def test_outputs_that_cannot_be_written_cost_the_task(tmp_path):
    names = ["a", "b", "c"]
    codes = codes_of(tmp_path, names, "true")
    folder = tmp_path / "journal.outputs"
    spoil = f"rm -rf {folder}; touch {folder}"  # no folder can be made there
    codes = Codes(
        procs=1, codes={**codes.codes, "a": Code(name="a", command=spoil, directory=tmp_path)}
    )
    done = run(plan_of(names), codes, journal=tmp_path / "journal.jsonl")
    assert {task.name: task.state for task in done.tasks} == {
        "a": "completed", "b": "failed", "c": "failed",
    }  # fmt: skip
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    reasons = [line["why"] for line in lines if line["event"] == "ended" and "why" in line]
    assert len(reasons) == 2
    assert all("cannot be started" in why and str(folder) in why for why in reasons)
    folder.unlink()
    resumed = run(plan_of(names), codes, journal=tmp_path / "journal.jsonl", resume=True)
    assert resumed.good
    shutil.rmtree(folder)


def test_a_name_with_a_zero_byte_costs_the_task(tmp_path):
    names = ["a\0b", "c"]
    codes = codes_of(tmp_path, names, "true")
    journal = tmp_path / "journal.jsonl"
    done = run(plan_of(names), codes, journal=journal)
    assert {task.name: task.state for task in done.tasks} == {"a\0b": "failed", "c": "completed"}
    assert read_past(journal).tasks[0].state == "failed"
