"""How runs go on: once more, after a break, with tasks that are late; plans of what is left."""

import json
import subprocess
import time
from dataclasses import replace

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import Codes, Plan, PlanStep, plan, profile, run
from cosched.execution.execution_measurements import append_executions, read_executions
from cosched.execution.interval import errors_of, interval_of, noise_of
from cosched.execution.journal import read_past
from cosched.execution.longest_first import is_no_better, longest_first
from cosched.execution.run_state import ReadySteps
from cosched.execution.runs_file import COLUMNS, read_runs
from execution_codes import read_notes, shell_notes, until


def plan_of(*placements):
    steps = tuple(
        PlanStep(task=k, name=name, kind=0, units=tuple(units), start=start, end=end)
        for k, (name, units, start, end) in enumerate(placements)
    )
    return Plan(family="moldable", steps=steps)


@pytest.fixture
def here(tmp_path):
    return {"journal": tmp_path / "journal.jsonl", "oversubscribe": True, "grace": 0.2}


def test_a_finished_plan_runs_again_in_its_journal(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "note end", "b": "test -e good"}, procs=2)
    todo = plan_of(("a", (0,), 0, 1), ("b", (1,), 0, 1))
    assert not run(todo, codes, **here).good
    with pytest.raises(InvalidInstance, match="--again"):
        run(todo, codes, **here)
    (tmp_path / "good").touch()
    repeated = run(todo, codes, repeat=True, **here)
    assert repeated.good
    assert [task.attempt for task in repeated.tasks] == [2, 2]
    assert not repeated.notes  # one driver, of this run
    assert [t.attempt for t in run(todo, codes, repeat=True, **here).tasks] == [3, 3]
    assert len(read_notes(tmp_path)) == 3
    outputs = sorted(path.name for path in (tmp_path / "journal.outputs").iterdir())
    assert outputs == [f"{name}-{k}.out" for name in "ab" for k in (1, 2, 3)]
    # Cut short, it is gone on from, and not begun again.
    lines = here["journal"].read_text().splitlines(keepends=True)
    last = max(k for k, line in enumerate(lines) if '"ended"' in line)
    here["journal"].write_text("".join(lines[:last]))
    with pytest.raises(InvalidInstance, match="1 of 2 tasks are not done"):
        run(todo, codes, repeat=True, **here)
    assert run(todo, codes, resume=True, **here).good
    assert len(read_notes(tmp_path)) <= 4


def test_the_time_when_no_driver_ran_does_not_count(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "true", "b": "test -e good"}, procs=2)
    todo = plan_of(("a", (0,), 0, 1), ("b", (1,), 0, 1))
    first = run(todo, codes, **here)
    # As if the driver had died two hours ago.
    lines = [json.loads(line) for line in here["journal"].read_text().splitlines()]
    lines[0]["begun"] -= 7200
    here["journal"].write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "good").touch()
    done = run(todo, codes, resume=True, **here)
    assert done.good
    assert first.makespan < done.makespan < 3600
    assert "does not count" in done.notes[0]
    assert read_past(here["journal"]).begun > time.time() - 3600


def test_a_late_task_is_said_once_and_ended_only_where_wanted(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": until("[ -e said ]"), "b": "true"}, procs=2)
    todo = plan_of(("a", (0,), 0, 0.05), ("b", (1,), 0, 60))
    messages = []

    def tell(line):
        messages.append(line)
        (tmp_path / "said").touch()

    assert run(todo, codes, tell=tell, **here).good
    (line,) = messages
    assert line.startswith("a has run for ")
    assert "times its planned 0.05 s" in line
    events = [json.loads(text) for text in here["journal"].read_text().splitlines()]
    assert [event["name"] for event in events if event["event"] == "late"] == ["a"]
    messages.clear()
    (tmp_path / "said").unlink()
    ended = run(todo, codes, repeat=True, limit_factor=3, tell=messages.append, **here)
    assert [task.state for task in ended.tasks] == ["timeout", "completed"]
    assert messages[-1] == "a was ended at 3 times its planned 0.05 s"
    with pytest.raises(InvalidInstance, match="limit_factor"):
        run(todo, codes, repeat=True, limit_factor=0, **here)


def test_off_a_terminal_the_command_says_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    errors = until("grep -qs late plan.journal.jsonl")
    (tmp_path / "codes.toml").write_text(f'procs = 1\n[task.a]\ncommand = "{errors}"\n')
    result = cs.packs.sequential(cs.packs.Instance([[0.05]], names=["a"]))
    cs.io.write_json(result.to_dict(), "plan.json")
    command = ["run", "plan.json", "--codes", "codes.toml"]
    assert main(command) == 0
    assert "cosched: a has run for" in capsys.readouterr().err
    (tmp_path / "codes.toml").write_text('procs = 1\n[task.a]\ncommand = "sleep 60"\n')
    assert main([*command, "--again", "--limit-factor", "2"]) == 1
    assert "was ended at 2 times" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(30))
def test_the_front_is_what_waits_say(seed):
    """Against the definition, in random graphs with failures."""
    random = np.random.default_rng(seed)
    n = 12
    waits = [
        frozenset(np.flatnonzero(random.uniform(size=k) < 0.25).tolist()) if k else frozenset()
        for k in range(n)
    ]
    needs = {k: {j for j in of if random.uniform() < 0.5} for k, of in enumerate(waits)}
    front, ended, begun = ReadySteps(waits, needs), {}, set()
    while True:
        settled, barred, ready = set(), set(), []
        for k in range(n):
            free = waits[k] <= settled
            if k in ended:
                settled.add(k)
            elif k in begun:
                continue
            elif any(j in barred or ended.get(j) is False for j in needs[k]):
                barred.add(k)
                if free:
                    settled.add(k)
            elif free:
                ready.append(k)
        assert front.ready() == ready
        running = sorted(begun - ended.keys())
        if not ready and not running:
            return
        if ready and (not running or random.uniform() < 0.5):
            begun.add(ready[0])
            front.start(ready[0])
        else:
            task = running[int(random.integers(len(running)))]
            ended[task] = bool(random.uniform() < 0.8)
            front.settle(task, ended[task])


# --- plans of what is left ------------------------------------------------------------------

RUNS = "task,processors,seconds\na,1,4\na,2,2.2\na,1,4.2\nb,1,3\nb,2,1.6\nb,1,3.1\n"


def test_codes_that_failed_do_not_block_the_plan(tmp_path):
    commands = {"a": "true", "bad": "echo one; echo 'no licence: giving up'; exit 3"}
    codes = shell_notes(tmp_path, commands, procs=1)
    profile(codes, repeat=1, out=tmp_path / "runs.csv")
    advice = plan(tmp_path / "runs.csv", codes)
    assert advice.result.instance.names == ("a",)
    advice_text = "\n".join(advice.lines())
    assert "bad failed on all counts: failed (3) on 1: 'no licence: giving up'" in advice_text
    with pytest.raises(InvalidInstance, match="bad failed on all counts"):
        plan(tmp_path / "runs.csv", codes, strict=True)
    only = Codes(procs=1, codes={"bad": codes["bad"]})
    with pytest.raises(InvalidInstance, match="nothing to plan: bad failed"):
        plan(tmp_path / "runs.csv", only)


def test_a_deleted_code_needs_no_edit_of_the_measurements(tmp_path):
    (tmp_path / "runs.csv").write_text(RUNS)
    codes = shell_notes(tmp_path, {"a": "true"}, procs=2)
    advice = plan(tmp_path / "runs.csv", codes)
    assert advice.result.instance.names == ("a",)
    assert "measured, and not among the codes: b" in advice.notes
    more_codes = shell_notes(tmp_path, {"a": "true", "quite new": "true"}, procs=2)
    advice = plan(tmp_path / "runs.csv", more_codes)
    assert any(note.startswith("not measured: quite new") for note in advice.notes)
    with pytest.raises(InvalidInstance, match="not measured: quite new"):
        plan(tmp_path / "runs.csv", more_codes, strict=True)


# --- intervals ------------------------------------------------------------------------------


def test_errors_of_earlier_executions_move_the_interval(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text(RUNS)
    codes = shell_notes(tmp_path, dict.fromkeys("ab", "true"), procs=2)
    before = plan(file, codes)
    assert before.evidence == ("the repeats",)
    todo = Plan.of(before.result)
    for k in range(6):  # each took twice as long as it was planned
        rows = [
            f"{k},{s.name},{len(s.units)},{s.end - s.start},{s.end},{2 * s.end}" for s in todo.steps
        ]
        with open(tmp_path / "runs.executions.csv", "a") as table:
            if not k:
                table.write("execution,task,processors,planned,planned_end,end\n")
            table.write("\n".join(rows) + "\n")
    after = plan(file, codes)
    assert after.evidence == ("the repeats", "6 earlier executions")
    low, high = after.spread
    assert low < 2 * after.result.value < high
    assert high > before.spread[1]
    # When the measurements have caught up, the same executions are no error any more.
    file.write_text(
        "\n".join(
            [RUNS.split("\n")[0]]
            + [f"{t},{q},{2 * float(x)}" for t, q, x in (r.split(",") for r in RUNS.split()[1:])]
        )
    )
    assert errors_of(
        read_executions(file), {("a", 1): 8.2, ("a", 2): 4.4, ("b", 1): 6.1, ("b", 2): 3.2}
    ) == (pytest.approx([1.0] * 6, rel=0.05))


def test_measure_keeps_executions(tmp_path):
    codes = shell_notes(tmp_path, {"a": "sleep 0.05", "b": "true"}, procs=2)
    done = run(
        plan_of(("a", (0,), 0, 1), ("b", (1,), 0, 1)), codes,
        journal=tmp_path / "j.jsonl", oversubscribe=True,
    )  # fmt: skip
    for name in ("one", "two"):
        append_executions(done, tmp_path / "runs.csv", name, codes)
    executions = read_executions(tmp_path / "runs.csv")
    assert list(executions) == ["one", "two"]
    assert [row[:3] for row in executions["one"]] == [("a", 1, 1.0), ("b", 1, 1.0)]
    failed = replace(done, tasks=(replace(done.tasks[0], state="failed"),))
    append_executions(failed, tmp_path / "runs.csv", "three", codes)
    assert len(read_executions(tmp_path / "runs.csv")) == 2


def test_the_interval_covers_what_it_is_drawn_from():
    """Executions with a common factor and one of each task: at least 80% of the ends lie inside."""
    random = np.random.default_rng(2)
    inst = cs.packs.Instance(random.uniform(1, 5, (8, 1)) * np.ones((1, 2)), 2)
    result = cs.packs.solve(inst, "optimal")
    schedule = result.schedule
    inside, errors, widths = 0, [], []
    for k in range(60):
        interval = (
            interval_of(schedule, barriers=True, noise=None, errors=errors, seed=k)
            if (errors)
            else None
        )
        noise = np.exp(random.normal(0, 0.1, len(schedule)))
        times = (schedule.end - schedule.start) * noise * np.exp(random.normal(0.1, 0.2))
        _, pack = np.unique(schedule.start, return_inverse=True)
        real = sum(times[pack == pack_number].max() for pack_number in set(pack.tolist()))
        errors.append(float(real / result.value))
        if interval is not None:
            inside += interval.low <= real <= interval.high
            widths.append((interval.high - interval.low) / result.value)
    assert inside >= 0.8 * 59
    assert np.median(widths[20:]) < 1.0


def test_the_interval_knows_who_waits_for_memory(tmp_path):
    """Two tasks on processors of their own, one after the other: their lengths add up."""
    rows = [f"{n},1,{t}" for n in "ab" for t in (3.9, 4.0, 4.1)]
    (tmp_path / "runs.csv").write_text("task,processors,seconds\n" + "\n".join(rows) + "\n")
    codes = shell_notes(tmp_path, dict.fromkeys("ab", "true"), procs=2)
    heavy = {name: replace(code, memory=3.0, counts=(1,)) for name, code in codes.items()}
    codes = Codes(procs=2, codes=heavy, capacity={"memory": 5.0})
    advice = plan(tmp_path / "runs.csv", codes)
    assert advice.result.value == pytest.approx(8.0)
    low, high = advice.spread
    assert low < 8.0 < high
    assert low > 6.0


def runs_csv(folder, rows):
    lines = [f"{t},1,{s},completed,,,1,{s},,,,{int(starved)},,," for t, s, starved in rows]
    (folder / "runs.csv").write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    return read_runs(folder / "runs.csv")


def test_starved_runs_widen_the_interval_and_not_the_plan(tmp_path):
    quiet = [("a", 4.0, 0), ("b", 3.0, 0), ("a", 4.1, 0), ("b", 3.1, 0)]
    calm = noise_of(runs_csv(tmp_path, quiet), 7.0)
    busy = noise_of(runs_csv(tmp_path, [*quiet, ("a", 9.0, 1), ("b", 6.0, 1)]), 7.0)
    assert busy.starved == 2
    assert max(busy.period_factors.max(), busy.run_factors.max()) > 5 * max(
        calm.period_factors.max(), calm.run_factors.max()
    )
    assert noise_of(runs_csv(tmp_path, quiet[:2]), 7.0) is None


def test_a_plan_that_is_no_better_than_xargs_says_so(tmp_path):
    assert longest_first(np.array([1.0, 3.0, 2.0, 2.0]), 2) == (4.0, [1, 2, 3, 0])
    assert is_no_better(4.0, np.array([1.0, 3.0, 2.0, 2.0]), 2)
    assert not is_no_better(3.9, np.array([1.0, 3.0, 2.0, 2.0]), 2)
    rows = [f"{n},{q},{t}" for n, t in zip("abcd", (1, 3, 2, 2), strict=True) for q in (1, 2)]
    (tmp_path / "runs.csv").write_text("task,processors,seconds\n" + "\n".join(rows) + "\n")
    codes = shell_notes(
        tmp_path, {n: f"note start; echo '{n} of' {{task}}" for n in "abcd"}, procs=2
    )
    advice = plan(tmp_path / "runs.csv", codes)
    last_line = advice.lines()[-1]
    assert last_line.startswith("no better than longest-first on one processor each")
    line = last_line.partition("without cosched: ")[2]
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == [f"{n} of {n}" for n in "abcd"]
    scales = [f"{n},{q},{t / q}" for n, t in zip("ab", (3, 2), strict=True) for q in (1, 2)]
    (tmp_path / "runs.csv").write_text("task,processors,seconds\n" + "\n".join(scales) + "\n")
    assert (
        plan(tmp_path / "runs.csv", replace(codes, codes={n: codes[n] for n in "ab"})).shell_line
        is None
    )


def test_the_gap_is_said_of_the_plan(tmp_path):
    (tmp_path / "runs.csv").write_text(RUNS)
    advice_text = "\n".join(plan(tmp_path / "runs.csv").lines())
    assert "if the times hold: the plan is" in advice_text
    assert "expect " in advice_text
