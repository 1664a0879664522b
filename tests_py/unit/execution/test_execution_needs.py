"""Memory, GPUs and licences: what codes say, and a capacity that holds whatever is late."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance, InvalidSchedule
from cosched.execution import (
    Code,
    Codes,
    Execution,
    Plan,
    PlanStep,
    TaskRun,
    plan,
    run,
    script,
)
from cosched.execution.runs_file import COLUMNS
from cosched.execution.tokens import Tokens
from execution_codes import read_notes, run_script, shell_notes, until

TOML = """\
procs = 4
[capacity]
memory = 10
gpus = 2
licences = { solver = 1 }
[task.cfd]
command = "./cfd"
memory = { 1 = 4, 4 = 10.0 }
gpus = 1
[task.fem]
command = "./fem"
memory = 3.5
licences = { solver = 1 }
"""


def written(folder, text):
    path = folder / "codes.toml"
    path.write_text(text)
    return path


def test_what_codes_say(tmp_path):
    codes = Codes.read(written(tmp_path, TOML))
    assert dict(codes.capacity) == {"memory": 10.0, "gpus": 2.0, "licences.solver": 1.0}
    assert codes["cfd"].needs(1) == {"memory": 4.0, "gpus": 1.0}
    assert codes["cfd"].needs(2)["memory"] == 6.0
    assert codes["fem"].needs(4) == {"memory": 3.5, "licences.solver": 1.0}


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("memory = 3.5", "memory = 11", 12, "task 'fem' needs 11 GB of memory, capacity is 10"),
        ("memory = 3.5", "memory = -1", 12, "a finite number >= 0"),
        ("memory = 3.5", "memory = {}", 12, "an empty table"),
        ("memory = 3.5", "memory = { 9 = 1.0 }", 12, "expected an integer in 1..4"),
        ("gpus = 1", "gpus = 1.5", 9, "expected an integer"),
        ("gpus = 1", "gpus = 3", 9, "needs 3 gpus, capacity is 2"),
        ("{ solver = 1 }\n[", "{ solver = 2 }\nafter = ['cfd']\n[", 6, "unknown key 'after'"),
        ("memory = 3.5", "after = ['cfg']", 12, "unknown task 'cfg' (near: cfd"),
        ("memory = 3.5", "after = 'fem'", 12, "'fem' waits for itself"),
        ("memory = 3.5", "after = ['cfd', 1]", 12, "expected a list of names of tasks"),
        ("{ solver = 1 }\n[", "{ solvr = 1, cad = 2 }\n[", 13, "'solver' (near: solvr)"),
        ("solver = 1 }\n", "'a,b' = 1 }\n", 5, "licence = 'a,b': expected a name of letters"),
        ("gpus = 2", "cores = 2", 4, "unknown key 'cores'"),
    ],
)
def test_what_codes_may_not_say(tmp_path, old, new, line, says):
    path = written(tmp_path, TOML.replace(old, new, 1))
    with pytest.raises(InvalidInstance) as error:
        Codes.read(path)
    assert f"{path}: line {line}: key" in str(error.value)
    assert says in str(error.value)


def plan_of(*placements, family="moldable", **fields):
    steps = tuple(
        PlanStep(task=k, name=name, kind=0, units=tuple(units), start=start, end=end)
        for k, (name, units, start, end) in enumerate(placements)
    )
    return Plan(family=family, steps=tuple(sorted(steps, key=lambda s: (s.start, s.end))), **fields)


NEEDS = {"a": 6.0, "b": 3.0, "c": 5.0, "d": 2.0, "e": 7.0, "f": 3.0}


def most_held(folder, needs=NEEDS):
    """The largest sum of needs at one moment, by the tasks' own notes."""
    needs_now, largest_sum = {}, 0.0
    for note in read_notes(folder):
        if note["what"] == "start":
            needs_now[note["task"]] = needs[note["task"]]
        else:
            needs_now.pop(note["task"], None)
        largest_sum = max(largest_sum, sum(needs_now.values()))
    return largest_sum


def late_codes(folder, seconds=None):
    """a takes five times its plan, and b runs beside it."""
    seconds = seconds or {"a": 0.5}
    commands = {n: f"note start; sleep {seconds.get(n, 0.1)}; note end" for n in NEEDS}
    b_started = until(f"grep -qs '^start b ' '{folder}/notes'")
    codes_by_name = shell_notes(
        folder,
        {**commands, "a": f"note start; {b_started}; sleep {seconds['a']}; note end"},
        procs=3,
    )
    codes = {name: replace(code, memory=NEEDS[name]) for name, code in codes_by_name.items()}
    return Codes(procs=3, codes=codes, capacity={"memory": 10.0})


#: Fits by its clock: 6 + 3, 5 + 2 + 3, 7.
BY_CLOCK = (
    *(("a", (0,), 0.0, 0.1), ("b", (1,), 0.0, 0.1), ("c", (1,), 0.1, 0.2)),
    *(("d", (2,), 0.1, 0.2), ("f", (0,), 0.1, 0.2), ("e", (2,), 0.2, 0.3)),
)


@pytest.mark.parametrize("mode", ["no barrier", "replan", "packs", "failures"])
def test_a_late_task_breaks_no_capacity(mode, tmp_path):
    times = np.array([[0.1] * 3] * 6)
    arguments = {"journal": tmp_path / "j.jsonl", "oversubscribe": True}
    codes = late_codes(tmp_path)
    todo = plan_of(*BY_CLOCK, times=times, procs=3)
    if mode == "replan":
        done = run(todo, codes, replan=0.2, **arguments)
    elif mode == "packs":
        inst = cs.packs.Instance(times, 3, names=list(NEEDS))  # knows nothing of memory
        result = cs.packs.co_schedule(inst, [0, 0, 0, 1, 1, 1], [1] * 6)
        done = run(result, codes, barrier=False, **arguments)
    elif mode == "failures":
        bad = replace(codes["b"], command=codes["b"].command + "; exit 3")
        codes = replace(codes, codes={**codes.codes, "b": bad})
        done = run(todo, codes, **arguments)
        assert [t.name for t in done.tasks if t.state == "failed"] == ["b"]
    else:
        done = run(todo, codes, **arguments)
    assert mode == "failures" or done.good
    assert {note["task"] for note in read_notes(tmp_path)} == set(NEEDS)
    assert 8.9 < most_held(tmp_path) <= 10.0


def test_nor_does_a_resumed_run(tmp_path):
    """Killed while a runs late; what is left runs beside it again."""
    codes = late_codes(tmp_path, {"a": 1.0})
    cs.io.write_json(
        {
            "family": "moldable",
            "placements": [
                {"task": k, "name": n, "units": list(u), "start": s, "end": e}
                for k, (n, u, s, e) in enumerate(BY_CLOCK)
            ],
        },
        tmp_path / "plan.json",
    )
    text = "procs = 3\n[capacity]\nmemory = 10\n"
    for name, code in codes.items():
        text += f"[task.{name}]\ncommand = {json.dumps(code.command)}\nmemory = {NEEDS[name]}\n"
    written(tmp_path, text)
    command = [sys.executable, "-m", "cosched", "run", "plan.json", "--codes", "codes.toml"]
    command += ["--oversubscribe"]
    driver = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    while "start a" not in (
        (tmp_path / "notes").read_text() if (tmp_path / "notes").exists() else ""
    ):
        assert driver.poll() is None
        time.sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert most_held(tmp_path) <= 10.0


def test_one_that_does_not_fit_is_not_passed_for_ever():
    codes = Codes(
        procs=3,
        codes={n: Code(name=n, command="x", memory=m) for n, m in NEEDS.items()},
        capacity={"memory": 10.0},
    )
    todo = plan_of(*BY_CLOCK)
    tokens = Tokens.of(todo, codes)
    of = {step.name: step for step in todo.steps}
    tokens.acquire(of["a"])
    assert tokens.chosen([of["b"], of["d"]]) == [of["b"]]
    assert tokens.chosen([of["c"], of["d"]]) == []  # d would fit, and c wait for it
    tokens.release(of["a"])
    assert tokens.chosen([of["c"], of["d"], of["f"]]) == [of["c"], of["d"], of["f"]]  # equality


def test_a_task_that_never_fits_is_refused_before_anything_runs(tmp_path):
    codes = late_codes(tmp_path)
    codes = replace(codes, capacity={"memory": 6.5})
    with pytest.raises(InvalidInstance, match=r"'e' needs 7 GB of memory, capacity is 6\.5"):
        run(plan_of(*BY_CLOCK), codes, journal=tmp_path / "j.jsonl", oversubscribe=True)
    assert not (tmp_path / "j.jsonl").exists()


def test_gpus_are_given_by_number(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    both = until("[ -e begun.a ] && [ -e begun.b ]")
    command = f'echo "[$CUDA_VISIBLE_DEVICES]"; touch begun.$COSCHED_TASK; {both}'
    codes_by_name = shell_notes(tmp_path, dict.fromkeys("abc", command))
    codes = {name: replace(code, gpus=name != "c") for name, code in codes_by_name.items()}
    codes = Codes(procs=3, codes=codes, capacity={"gpus": 2})
    todo = plan_of(("a", (0,), 0, 1), ("b", (1,), 0, 1), ("c", (2,), 0, 1))
    assert run(todo, codes, journal=tmp_path / "j.jsonl", oversubscribe=True).good
    command = {n: (tmp_path / "j.outputs" / f"{n}-1.out").read_text().strip() for n in "abc"}
    assert command == {"a": "[4]", "b": "[7]", "c": "[]"}


def test_a_plan_keeps_memory_and_what_is_declared_wins(tmp_path):
    rows = [
        f"{task},{q},{8.0 / q},completed,,,1,,{memory},cgroup,,0,"
        for task, memory in (("x", 6.0), ("y", 6.0), ("z", 1.0))
        for q in (1, 2)
    ]
    (tmp_path / "runs.csv").write_text("\n".join([",".join(COLUMNS[:13]), *rows]) + "\n")
    codes = Codes(
        procs=2,
        codes={n: Code(name=n, command="x") for n in "xyz"},
        capacity={"memory": 8.0},
    )

    def has_co_located(advice):
        of = {s.name: s for s in Plan.of(advice.result).steps}
        return of["x"].start < of["y"].end and of["y"].start < of["x"].end

    advice = plan(tmp_path / "runs.csv", codes)
    advice.result.schedule.validate()
    assert not has_co_located(advice)
    planned_codes = Plan.of(advice.result)
    assert planned_codes.capacity == {"memory": 8.0}
    assert planned_codes.needs_of(planned_codes.steps[0])["memory"] in (
        pytest.approx(6.6),
        pytest.approx(1.1),
    )
    small = {**codes.codes, "x": replace(codes["x"], memory=1.0)}
    tokens = Tokens.of(
        Plan.of(plan(tmp_path / "runs.csv", replace(codes, codes=small)).result), codes
    )
    assert sorted(of["memory"] for of in tokens.needs.values()) == pytest.approx([1.0, 1.1, 6.6])
    with pytest.raises(InvalidInstance, match=r"'x' needs 6.6 GB of memory, capacity is 5"):
        plan(tmp_path / "runs.csv", replace(codes, capacity={"memory": 5.0}))


def test_memory_that_was_measured_often_needs_no_margin(tmp_path):
    rows = [f"x,1,8.0,completed,,,1,,{4 + k / 100},cgroup,,0," for k in range(99)]
    (tmp_path / "runs.csv").write_text("\n".join([",".join(COLUMNS[:13]), *rows]) + "\n")
    codes = Codes(procs=1, codes={"x": Code(name="x", command="x")}, capacity={"memory": 8.0})
    planned_codes = Plan.of(plan(tmp_path / "runs.csv", codes).result)
    assert (
        planned_codes.needs_of(planned_codes.steps[0])["memory"] == 4.98
    )  # exceeded with a chance of 1%


def test_steps_of_a_script_ask_for_what_they_need(tmp_path):
    codes = late_codes(tmp_path)
    lines = script(plan_of(*BY_CLOCK), codes).splitlines()
    assert f"#SBATCH --mem={-(-10 * 10**9 // 2**20)}M" in lines
    assert sum(f"--mem={-(-6 * 10**9 // 2**20)}M" in line for line in lines) == 1
    many = {"a": replace(codes["a"], gpus=2, licences={"solver": 1})}
    codes = Codes(procs=1, codes=many, capacity={"gpus": 4, "licences": {"solver": 2}})
    text = script(plan_of(BY_CLOCK[0]), codes)
    assert "--gres=gpu:2 --licenses=solver:1" in text
    assert "#SBATCH --gres=gpu:4" in text
    # A step that says nothing of GPUs would take all of the job's, or wait for them.
    codes = replace(codes, codes={**many, "b": replace(late_codes(tmp_path)["b"], memory=None)})
    text = script(plan_of(*BY_CLOCK[:2]), codes)
    assert [line.count("--gres=none") for line in text.splitlines() if "--gres" in line] == [
        0,
        0,
        1,
    ]
    assert "#SBATCH --licenses=solver:2" in text


def test_a_late_task_of_a_script_breaks_no_capacity_either(tmp_path):
    """Slurm may not count memory: the script itself waits."""
    done = run_script(script(plan_of(*BY_CLOCK), late_codes(tmp_path)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert {note["task"] for note in read_notes(tmp_path)} == set(NEEDS)
    assert most_held(tmp_path) <= 10.0


MB = 1_000_000


def test_the_command_says_what_it_refuses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, TOML.replace("memory = 3.5", "memory = 11"))
    Path("plan.json").write_text("{}")
    assert main(["run", "plan.json", "--codes", "codes.toml"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(
        "cosched: error: codes.toml: line 12: key 'task.fem.memory': task 'fem'"
    )


def as_run(*rows, capacity):
    """Each row: name, units, start, end, needs."""
    tasks = tuple(
        TaskRun(
            task=k, name=name, kind=0, units=units, planned_start=0.0, planned_end=1.0,
            start=start, end=end, state="completed", exit_code=0, attempt=1, needs=needs,
        )
        for k, (name, units, start, end, needs) in enumerate(rows)
    )  # fmt: skip
    return Execution(
        family="moldable", launcher="local", barrier=True, tasks=tasks, capacity=capacity
    )


@pytest.mark.parametrize(
    ("start", "units", "need", "says"),
    [
        (1.0, (1,), 3.0, None),  # at the moment at which the first ends
        (0.9, (1,), 2.0, None),  # all there is
        (0.9, (1,), 2.5, "memory: 5.5 GB at 0.9 s (a, b), capacity is 5"),
        (1.0, (0,), 3.0, None),
        (0.9, (0,), 1.0, "unit 0: 'b' began at 0.9 s, 'a' had it until 1 s"),
    ],
)
def test_a_run_as_it_happened_is_checked(tmp_path, start, units, need, says):
    execution = as_run(
        ("a", (0,), 0.0, 1.0, {"memory": 3.0}),
        ("b", units, start, 2.0, {"memory": need}),
        ("pending", (0,), float("nan"), float("nan"), {"memory": 5.0}),
        capacity={"memory": 5.0},
    )
    execution.write(tmp_path / "execution.json")
    reread_execution = Execution.read(tmp_path / "execution.json")
    assert reread_execution.tasks[:2] == execution.tasks[:2]
    assert reread_execution.capacity == execution.capacity
    if says is None:
        reread_execution.validate()
    else:
        with pytest.raises(InvalidSchedule) as error:
            reread_execution.validate()
        assert str(error.value) == says


def test_validate_takes_the_record_of_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = "procs = 2\n[capacity]\nmemory = 5\n" + "".join(
        f"[task.{name}]\ncommand = 'sleep 0.1'\nmemory = 3\ncounts = [1]\n" for name in "ab"
    )
    (tmp_path / "codes.toml").write_text(text)
    (tmp_path / "runs.csv").write_text("task,processors,seconds\na,1,0.1\nb,1,0.1\n")
    command = ["run", "plan.json", "--codes", "codes.toml", "-o", "run.json", "--oversubscribe"]
    assert main(["plan", "runs.csv", "--codes", "codes.toml", "-o", "plan.json"]) == 0
    family = json.loads((tmp_path / "plan.json").read_text())["family"]
    assert main(command) == 0
    assert "than there is" not in capsys.readouterr().out
    assert main(["validate", family, "plan.json", "run.json"]) == 0
    output = capsys.readouterr().out
    assert "valid as it happened: 2 of 2 tasks completed" in output
    assert "memory kept" in output
    record = json.loads((tmp_path / "run.json").read_text())
    for task in record["tasks"]:
        task |= {"start": 0.0, "end": 1.0}
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert main(["validate", family, "plan.json", "run.json"]) == 2
    assert "memory: 6 GB at 0 s" in capsys.readouterr().err
