"""Running plans on this host: order, pinning, failures, time-outs, Ctrl-C, resume."""

import io
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import cosched as cs
from cosched.cli.live import picture
from cosched.errors import InvalidInstance, InvalidSchedule
from cosched.execution import Code, Codes, Execution, Plan, PlanStep, commands, run
from cosched.execution.journal import read_past
from cosched.execution.watchdog import survivors
from execution_codes import noting, read_notes, shared_cores, shell_notes, spans, until

CORES = sorted(os.sched_getaffinity(0))


def moldable(*placements, edges=(), family="moldable"):
    """A plan from (name, units, start, end)."""
    steps = tuple(
        PlanStep(task=k, name=name, kind=0, units=tuple(units), start=start, end=end)
        for k, (name, units, start, end) in enumerate(placements)
    )
    return Plan(family=family, steps=tuple(sorted(steps, key=lambda s: s.start)), edges=edges)


def packs_plan(times, names, max_tasks):
    return cs.packs.solve(cs.packs.Instance(times, max_tasks, names=names), "optimal")


@pytest.fixture
def here(tmp_path):
    """Keyword arguments of ``run`` for an empty folder."""
    return {"journal": tmp_path / "journal.jsonl", "oversubscribe": True, "grace": 1.0}


def test_what_a_task_sees(tmp_path, here):
    codes = noting(tmp_path, {"a": 0.0})
    done = run(moldable(("a", (0,), 0, 1)), codes, **{**here, "oversubscribe": False})
    (start, end) = read_notes(tmp_path)
    assert start["affinity"] == [CORES[0]]
    assert (start["task"], start["procs"], start["omp"]) == ("a", "1", "1")
    assert start["cpus"] == str(CORES[0])
    assert start["cuda"] is None  # a plan without accelerators leaves them alone
    (task,) = done.tasks
    assert (task.state, task.exit_code, task.attempt) == ("completed", 0, 1)
    assert 0 <= task.start <= task.end
    assert end["what"] == "end"


def test_threads_unless_given(tmp_path, here):
    codes = noting(tmp_path, {"a": 0.0}, environment={"OMP_NUM_THREADS": "7"})
    run(moldable(("a", (0, 1), 0, 1)), codes, **here)
    assert read_notes(tmp_path)[0]["omp"] == "7"


def test_too_few_cores_is_refused_before_anything_runs(tmp_path, here):
    codes = noting(tmp_path, {"a": 0.0})
    plan = moldable(("a", (len(CORES),), 0, 1))
    with pytest.raises(InvalidInstance, match="--oversubscribe"):
        run(plan, codes, **{**here, "oversubscribe": False})
    assert not (tmp_path / "journal.jsonl").exists()
    done = run(plan, codes, **here)
    assert "modulo" in done.notes[0]


def test_packs_never_overlap_and_the_barrier_can_be_left_out(tmp_path, here):
    names = ["a", "b", "c", "d"]
    inst = cs.packs.Instance(np.ones((4, 2)), 2, names=names)
    result = cs.packs.co_schedule(inst, [0, 0, 1, 1])
    first, second = ["a", "b"], ["c", "d"]

    def codes(of_b):
        others = {"c": "note start; touch go; note end", "d": "note start; touch go; note end"}
        own_commands = {"a": "note start; note end", "b": f"note start; {of_b}; note end"}
        return shell_notes(tmp_path, own_commands | others)

    # b takes long: with the barrier c and d wait for it, without it one of them does not.
    done = run(result, codes("sleep 0.5"), **here)
    assert done.good
    assert [pack.tasks for pack in done.packs()] == [2, 2]
    seen = spans(tmp_path)
    assert max(seen[n][0][1] for n in first) <= min(seen[n][0][0] for n in second)
    assert not shared_cores(tmp_path)
    for name in ("notes", "go"):
        (tmp_path / name).unlink()
    free = {**here, "journal": tmp_path / "free.jsonl"}
    assert run(result, codes(until("[ -e go ]")), barrier=False, **free).good
    assert not shared_cores(tmp_path)
    seen = spans(tmp_path)
    assert max(seen[n][0][1] for n in first) > min(seen[n][0][0] for n in second)


def test_without_barrier_nothing_waits_for_more():
    """So that a run without is never longer, whatever the real times are."""
    random = np.random.default_rng(3)
    for _ in range(20):
        times = np.sort(random.uniform(1, 9, (8, 4)))[:, ::-1]
        plan = Plan.of(cs.packs.solve(cs.packs.Instance(times, 3), "pack-by-pack-9"))
        real = random.uniform(0.1, 9, len(plan.steps))
        ends = {barrier: simulated(plan, barrier, real) for barrier in (True, False)}
        assert (ends[False] <= ends[True]).all()


def simulated(plan, barrier, real):
    ends = np.zeros(len(real))
    for place, needed in enumerate(plan.waits_for(barrier)):
        ends[place] = max((ends[k] for k in needed), default=0.0) + real[place]
    return ends


def test_a_failure_does_not_keep_the_others_from_running(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "exit 3", "b": "note end", "c": "kill -9 $$"})
    plan = moldable(("a", (0,), 0, 1), ("b", (0,), 1, 2), ("c", (0,), 2, 3))
    done = run(plan, codes, **here)
    states = [(t.state, t.exit_code) for t in done.tasks]
    assert states == [("failed", 3), ("completed", 0), ("failed", -9)]
    assert not done.good
    resumed = run(plan, codes, resume=True, **here)
    assert [t.attempt for t in resumed.tasks] == [2, 1, 2]
    assert len(read_notes(tmp_path)) == 1  # b did not run twice


def test_stop_on_failure(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "exit 3", "b": "note end"})
    plan = moldable(("a", (0,), 0, 1), ("b", (0,), 1, 2))
    done = run(plan, codes, stop_on_failure=True, **here)
    assert [t.state for t in done.tasks] == ["failed", "pending"]
    assert [t.attempt for t in done.tasks] == [1, 0]


def test_stop_on_failure_where_the_first_of_two_cannot_be_started(tmp_path, here):
    startable = shell_notes(tmp_path, {"b": "note end"})["b"]
    missing = Code(name="a", command=["/no/such/program"], directory=tmp_path)
    codes = Codes(procs=16, codes={"a": missing, "b": startable})
    plan = moldable(("a", (0,), 0, 1), ("b", (1,), 0, 1))
    done = run(plan, codes, stop_on_failure=True, **here)
    assert [(t.state, t.attempt) for t in done.tasks] == [("failed", 1), ("pending", 0)]


def test_a_task_graph_waits_for_predecessors(tmp_path, here):
    codes = shell_notes(
        tmp_path,
        {"a": "note start; sleep 0.2; note end", "b": "note start; note end", "c": "exit 1"}
        | {"d": "note start; note end", "e": "note start; note end"},
    )
    plan = moldable(
        ("a", (0,), 0, 1),
        ("b", (1,), 1, 2),
        ("c", (2,), 0, 1),
        ("d", (2,), 1, 2),
        ("e", (2,), 2, 3),
        edges=((0, 1), (2, 3)),
        family="dags",
    )
    done = run(plan, codes, **here)
    seen = spans(tmp_path)
    assert seen["a"][0][1] <= seen["b"][0][0]
    # d has nothing to work on; e, behind it on its unit, runs all the same.
    assert [t.state for t in sorted(done.tasks, key=lambda t: t.task)] == [
        "completed",
        "completed",
        "failed",
        "cancelled",
        "completed",
    ]


def test_accelerators_by_cuda_visible_devices(tmp_path, here):
    codes = noting(tmp_path, {"0": 0.0, "1": 0.0})
    inst = cs.dags.Instance([[1.0, np.inf], [9.0, 1.0]], [(0, 1)], units=(1, 2))
    schedule = cs.dags.heft(inst).schedule
    run(schedule, codes, **here)
    seen = {note["task"]: note for note in read_notes(tmp_path) if note["what"] == "start"}
    assert seen["0"]["cuda"] == ""
    assert seen["1"]["cuda"] == str(schedule.units(int(np.argmax(schedule.task)))[0])
    assert seen["1"]["affinity"] == CORES


def test_a_command_that_is_not_there(tmp_path, here):
    codes = Codes(procs=1, codes={"a": Code(name="a", command=("./nowhere",), directory=tmp_path)})
    done = run(moldable(("a", (0,), 0, 1)), codes, **here)
    assert (done.tasks[0].state, done.tasks[0].exit_code) == ("failed", 127)
    assert "nowhere" in (tmp_path / "journal.outputs" / "a-1.out").read_text()


def test_a_timeout_ends_all_that_the_task_started(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "trap '' TERM; touch deaf; sleep 60 & sleep 60"})
    for seconds in (0.1, 1.0, 10.0):  # enough for a shell to start and to say so
        arguments = {**here, "journal": tmp_path / f"{seconds}.jsonl", "grace": 0.2}
        short = Codes(procs=1, codes={"a": replace(codes["a"], timeout=seconds)})
        done = run(moldable(("a", (0,), 0, 1)), short, **arguments)
        assert not survivors(read_past(arguments["journal"]).runs[0])
        if (tmp_path / "deaf").exists():
            break
    assert (done.tasks[0].state, done.tasks[0].exit_code) == ("timeout", -9)


def test_what_a_task_leaves_behind_is_ended(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "sleep 60 & setsid sleep 60 & exit 0"})
    done = run(moldable(("a", (0,), 0, 1)), codes, **here)
    assert done.good
    assert not survivors(read_past(here["journal"]).runs[0])


def test_outputs_are_files_of_their_own(tmp_path, here):
    codes = shell_notes(tmp_path, {"x/y": "echo out; echo err >&2; exit 1"})
    plan = moldable(("x/y", (0,), 0, 1))
    run(plan, codes, **here)
    run(plan, codes, resume=True, **here)
    folder = tmp_path / "journal.outputs"
    assert sorted(p.name for p in folder.iterdir()) == ["x%2Fy-1.out", "x%2Fy-2.out"]
    assert (folder / "x%2Fy-2.out").read_text() == "out\nerr\n"


def test_a_journal_that_is_there_is_refused(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "true"})
    plan = moldable(("a", (0,), 0, 1))
    run(plan, codes, **here)
    with pytest.raises(InvalidInstance, match="--resume"):
        run(plan, codes, **here)
    with pytest.raises(InvalidInstance, match="another plan"):
        run(moldable(("a", (0,), 0, 2)), codes, resume=True, **here)
    before = here["journal"].read_text()
    here["journal"].write_text("no journal\n")
    with pytest.raises(InvalidInstance, match="line 1"):
        run(plan, codes, resume=True, **here)
    here["journal"].write_text(before + '{"event": "star')  # cut short by a crash
    assert run(plan, codes, resume=True, **here).good


def test_the_record_is_written_and_read(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": "true", "b": "exit 2"})
    done = run(moldable(("a", (0,), 0, 1), ("b", (1,), 0, 1)), codes, **here)
    done.write(tmp_path / "execution.json")
    assert Execution.read(tmp_path / "execution.json") == done
    frame = done.to_frame()
    assert list(frame.columns) == [
        *("task", "name", "units", "planned_start", "planned_end", "start", "end"),
        *("state", "exit_code", "attempt"),
    ]
    assert frame.exit_code.tolist() == [0, 2]
    data = json.loads((tmp_path / "execution.json").read_text())
    data["tasks"][0]["cpu_seconds"] = math.nan  # another program's null
    (tmp_path / "other.json").write_text(json.dumps(data))
    assert Execution.read(tmp_path / "other.json").tasks[0].cpu_seconds is None
    data["tasks"][0]["state"] = "gone"
    (tmp_path / "bad.json").write_text(json.dumps(data))
    with pytest.raises(InvalidInstance, match=r"bad.json: tasks\[0\].state = 'gone'"):
        Execution.read(tmp_path / "bad.json")


def test_commands_runs_nothing(tmp_path):
    codes = shell_notes(tmp_path, {"a": "note start"})
    (row,) = commands(moldable(("a", (0,), 0, 1)), codes)
    assert row.cores == str(CORES[0])
    assert not (tmp_path / "notes").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"family": "bags"}, "family = 'bags'"),
        ({"version": 2}, "version 2"),
        ({"placements": [{"task": 0}]}, r"placements\[0\]"),
        ({"placements": [{"task": 1, "units": [0], "start": 0, "end": 1}]}, "there are 1 names"),
        ({"placements": [{"task": 0, "units": [], "start": 0, "end": 1}]}, "units"),
        ({"placements": [{"task": 0, "units": [0], "start": 2, "end": 1}]}, "start <= end"),
        ({"edges": [[0]]}, "edges"),
        ({"edges": [[0, "x"]]}, "edges"),
        ({"edges": 3}, "edges"),
        ({"procs": "many"}, "procs = 'many'"),
        ({"times": [["x"]]}, "times"),
        ({"times": [[1.0], [1.0, 2.0]]}, "times"),
        ({"times": "x"}, "times: expected a list of rows"),
        ({"times": [[-1.0]]}, "times: expected numbers >= 0"),
    ],
)
def test_plans_that_cannot_be_read(tmp_path, change, says):
    good = cs.packs.sequential(cs.packs.Instance([[1.0]])).to_dict()
    path = tmp_path / "plan.json"
    cs.io.write_json({**good, **change}, path)
    with pytest.raises(InvalidSchedule, match=f"plan.json: .*{says}") as error:
        Plan.read(path, ["only"])
    assert "\n" not in str(error.value)


def test_a_plan_of_tasks_that_share_a_unit_is_refused(tmp_path):
    good = cs.packs.sequential(cs.packs.Instance([[1.0], [2.0]])).to_dict()
    for row in good["placements"]:
        row["start"] = 0.0
    cs.io.write_json(good, tmp_path / "plan.json")
    with pytest.raises(InvalidSchedule, match="share unit 0"):
        Plan.read(tmp_path / "plan.json")


def test_a_schedule_of_another_family_is_refused():
    inst = cs.cluster.Instance(
        {"submit": [0.0], "tasks": [1], "cpu": [1.0], "memory": [1.0], "runtime": [1.0]}, 1
    )
    with pytest.raises(InvalidInstance, match="a schedule of cluster cannot be run"):
        Plan.of(cs.cluster.solve(inst, "FCFS"))


def test_the_live_table_says_what_runs_and_when_it_ends(tmp_path, here):
    codes = shell_notes(tmp_path, {"a": until("[ -e seen ]"), "b": "true", "late": "true"})
    plan = moldable(("a", (0, 2, 3), 0, 0.5), ("b", (1,), 0, 1), ("late", (0,), 0.5, 2.5))
    screens, expected = [], []

    def watch(driver):
        screen = Console(width=100, record=True, file=io.StringIO())
        screen.print(picture(driver))
        screens.append(screen.export_text())
        (tmp_path / "seen").touch()
        expected.append(driver.expected_end())

    done = run(plan, codes, watch=watch, **here)
    assert done.good
    first = screens[0]
    assert "0, 2-3" in first
    assert "of 3 tasks ended" in first
    assert "planned 2.5 s" in first
    assert expected[0] >= 2.5  # late takes two seconds more, as far as anybody knows
    assert expected[-1] == pytest.approx(done.makespan)


# --- the command line: processes that are interrupted ---------------------------------------

SLOW = 'procs = 2\n[task.a]\ncommand = "echo $$ > a.pid; sleep 60"\n[task.b]\ncommand = "true"\n'


def write_case(folder: Path) -> list[str]:
    (folder / "codes.toml").write_text(SLOW)
    inst = cs.packs.Instance([[60.0], [1.0]], names=["a", "b"])
    cs.io.write_json(cs.packs.co_schedule(inst, [1, 0]).to_dict(), folder / "plan.json")
    return [sys.executable, "-m", "cosched", "run", "plan.json", "--codes", "codes.toml"]


def started(folder: Path, command: list[str]) -> subprocess.Popen:
    """The driver, when its task a runs."""
    driver = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not (folder / "a.pid").exists() or not (folder / "a.pid").read_text().strip():
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return driver


def has_ended(pid: int) -> bool:
    """Whether a process ends soon."""
    for _ in range(6000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_a_whole_journal(tmp_path, number):
    driver = started(tmp_path, write_case(tmp_path))
    driver.send_signal(number)
    _, errors = driver.communicate(timeout=120)
    assert driver.returncode == 128 + number
    assert "--resume" in errors
    past = read_past(tmp_path / "plan.journal.jsonl")
    assert {k: task.state for k, task in past.tasks.items()} == {1: "completed", 0: "cancelled"}
    assert has_ended(int((tmp_path / "a.pid").read_text()))


def test_tasks_die_with_a_killed_driver_and_resume_says_what_was_lost(tmp_path):
    command = write_case(tmp_path)
    driver = started(tmp_path, command)
    driver.kill()
    driver.communicate()
    assert has_ended(int((tmp_path / "a.pid").read_text()))
    # Its watchdog may still be at work on what the tasks have started.
    assert all(
        has_ended(pid) for pid in survivors(read_past(tmp_path / "plan.journal.jsonl").runs[0])
    )
    (tmp_path / "codes.toml").write_text(SLOW.replace("sleep 60", "true"))
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(x) for x in (tmp_path / "plan.journal.jsonl").read_text().splitlines()]
    (lost,) = [line for line in lines if line["event"] == "lost"]
    assert (lost["name"], lost["attempt"]) == ("a", 1)
    ended = [line["name"] for line in lines if line["event"] == "ended"]
    assert sorted(ended) == ["a", "b"]
