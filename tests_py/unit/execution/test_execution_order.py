"""Codes that come after others: read, planned, run, run again, planned anew, and as a script."""

import json
import re

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance, InvalidSchedule
from cosched.execution import Code, Codes, Plan, plan, profile, run, script
from cosched.execution.codes_file import read_codes
from cosched.execution.journal import read_past
from cosched.execution.replanning import Replanner, Situation
from execution_codes import run_script, shell_notes, spans

TOML = """
procs = 4
[task.mesh]
command = "true"
[task.solve]
command = "true {case}"
after = "mesh"
parameters = { case = ["a", "b"] }
[task.post]
command = "true"
after = ["solve"]
[task.other]
command = "true"
"""
RUNS = """task,processors,seconds
mesh,1,4\nmesh,2,2.5\nmesh,4,2
solve,1,6\nsolve,2,3.5\nsolve,4,2
post,1,1\npost,2,0.9\npost,4,0.8
other,1,5\nother,2,3\nother,4,2
"""
#: A chain beside two others, and what joins them.
EDGES = ((0, 1), (1, 4), (2, 4), (2, 3))
NAMES = ("mesh", "solve", "grid", "look", "post")


def written(folder, toml=TOML, runs=RUNS):
    (folder / "codes.toml").write_text(toml)
    (folder / "runs.csv").write_text(runs)
    return folder / "runs.csv", Codes.read(folder / "codes.toml")


def planned(times, edges=EDGES, names=NAMES, **fields):
    """A plan of moldable tasks with edges."""
    inst = cs.moldable.Instance(times, edges=list(edges), names=names, **fields)
    return Plan.of(cs.moldable.solve(inst, "list-lp"))


def sleepers(folder, plan, seconds=0.03, fail=()):
    commands = {
        step.name: f"note start; sleep {seconds}; "
        + ("exit 3" if step.name in fail else "note end")
        for step in plan.steps
    }
    return shell_notes(folder, commands)


def in_order(plan, folder):
    """Whether no task began before those before it had ended; of those that ran to their end."""
    seen = spans(folder)
    name = {step.task: step.name for step in plan.steps}
    pairs = [(seen[name[a]], seen[name[b]]) for a, b in plan.edges if name[b] in seen]
    return all(first[-1][1] <= second[-1][0] for first, second in pairs)


# --- codes ----------------------------------------------------------------------------------


def test_a_sweep_is_all_of_its_tasks(tmp_path):
    _, codes = written(tmp_path)
    assert codes["solve case=a"].after == ("mesh",)
    names = list(codes)
    assert names == ["mesh", "solve case=a", "solve case=b", "post", "other"]
    assert codes.edges(names) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert codes.edges(["post", "solve case=b"]) == [(1, 0)]


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('"mesh"', '"mush"', 7, "unknown task 'mush' (near: mesh)"),
        ('"mesh"', "7", 7, "7: expected a list of names of tasks"),
        ('"mesh"', '["mesh", "solve"]', 7, "'solve' waits for itself"),
        ('"mesh"', '"post"', 11, "'post' waits for 'solve', 'solve' for 'post'"),
    ],
)
def test_what_cannot_be_in_order(tmp_path, capsys, old, new, line, says):
    with pytest.raises(InvalidInstance, match=re.escape(says)) as error:
        written(tmp_path, TOML.replace(f"after = {old}", f"after = {new}"))
    assert f"codes.toml: line {line}: key 'task." in str(error.value)
    file = str(tmp_path / "codes.toml")
    assert main(["plan", str(tmp_path / "runs.csv"), "--codes", file]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_codes_of_python_are_held_to_the_same():
    with pytest.raises(InvalidInstance, match="task 'b': after: unknown task 'c'"):
        Codes(procs=1, codes={n: Code(name=n, command="true", after=("c",)) for n in "b"})
    both = {a: Code(name=a, command="true", after=b) for a, b in ("ab", "ba")}
    with pytest.raises(InvalidInstance, match="'a' waits for 'b', 'b' for 'a'"):
        Codes(procs=1, codes=both)


# --- plans ----------------------------------------------------------------------------------


def test_a_plan_keeps_the_order(tmp_path):
    runs, codes = written(tmp_path)
    advice = plan(runs, codes)
    inst = advice.result.instance
    assert inst.family == "moldable"
    assert inst.edges.tolist() == [[0, 1], [0, 2], [1, 3], [2, 3]]
    advice.result.schedule.validate()
    assert float(cs.moldable.bound(inst)) <= float(advice.bound) * (1 + 1e-9)
    assert float(advice.bound) <= advice.result.value * (1 + 1e-9)
    advice_text = "\n".join(advice.lines())
    assert "plans of packs are not compared" in advice_text
    assert "xargs" not in advice_text
    cs.io.write_json(advice.to_dict(), tmp_path / "plan.json")
    reread_plan = Plan.read(tmp_path / "plan.json")
    assert reread_plan.edges == ((0, 1), (0, 2), (1, 3), (2, 3))
    assert reread_plan == Plan.of(advice.result)
    without = plan(runs, Codes.read(unordered(tmp_path)))
    assert without.result.value < advice.result.value


def unordered(folder):
    path = folder / "free.toml"
    path.write_text(re.sub("after = .*", "", TOML))
    return path


def test_the_interval_waits_for_predecessors(tmp_path):
    """Two chains on processors of their own: no end before the longest chain's."""
    rows = "".join(f"{n},1,{t}\n" for n, t in (("mesh", 4), ("solve", 6), ("post", 1)))
    runs, codes = written(tmp_path, runs="task,processors,seconds\n" + 2 * rows + "other,1,1\n")
    low, _ = plan(runs, codes).spread
    assert low >= 0.9 * 11


def test_what_comes_after_what_is_left_out_is_left_out(tmp_path):
    runs, codes = written(tmp_path, runs=RUNS.replace("mesh", "other"))
    advice = plan(runs, codes)
    assert advice.result.instance.names == ("other",)
    assert "come after what is: solve case=a, solve case=b, post" in "\n".join(advice.notes)
    with pytest.raises(InvalidInstance, match="not measured: mesh"):
        plan(runs, codes, strict=True)


def test_slow_downs_are_refused(tmp_path):
    runs, codes = written(tmp_path)
    with pytest.raises(InvalidInstance, match=r"slow\.csv: slow-downs of tasks that come after"):
        plan(runs, codes, slowdowns=tmp_path / "slow.csv")


def test_a_plan_that_does_not_know_the_order_is_not_run(tmp_path):
    runs, codes = written(tmp_path)
    free = plan(runs, Codes.read(unordered(tmp_path))).result
    for start in (
        script,
        lambda *arguments: run(*arguments, journal=tmp_path / "j", oversubscribe=True),
    ):
        with pytest.raises(InvalidInstance, match="comes after 'mesh', and the plan does not know"):
            start(free, codes)
    assert not (tmp_path / "j").exists()


def test_a_plan_against_its_own_order_is_refused(tmp_path):
    runs, codes = written(tmp_path)
    data = plan(runs, codes).to_dict()
    cs.io.write_json({**data, "edges": [[b, a] for a, b in data["edges"]]}, tmp_path / "p.json")
    with pytest.raises(InvalidSchedule, match="expected the order of the edges"):
        Plan.read(tmp_path / "p.json")


@pytest.mark.parametrize("own", [True, False])
def test_validate_knows_the_order(tmp_path, capsys, own):
    """A plan is its own instance; one of measurements has no edges, and the plan's count."""
    toml = TOML.replace("{case}", "").replace('parameters = { case = ["a", "b"] }', "")
    runs, codes = written(tmp_path, toml)
    data = plan(runs, codes).to_dict()
    file = tmp_path / "plan.json"
    cs.io.write_json(data, file)
    arguments = [str(file) if own else str(runs), str(file)]
    assert main(["validate", "moldable", *arguments]) == 0
    for row in data["placements"]:  # far away, on processors of its own
        later_times = {"start": row["start"] + 100, "end": row["end"] + 100}
        row.update(later_times if row["name"] == "mesh" else {})
    data["value"] = max(row["end"] for row in data["placements"])
    cs.io.write_json({**data, "bound": None}, file)
    capsys.readouterr()
    assert main(["validate", "moldable", *arguments]) == 2
    assert "before" in capsys.readouterr().err


# --- runs -----------------------------------------------------------------------------------

HALVES = np.array([[0.06, 0.03], [0.06, 0.04], [0.04, 0.03], [0.06, 0.05], [0.04, 0.03]])
MODES = {
    "plain": {},
    "no barrier": {"barrier": False},
    "planned anew": {"replan": 0.05},
    "limits": {"limit_factor": 1000.0},
}


@pytest.mark.parametrize("mode", MODES)
def test_no_task_begins_before_those_before_it_have_ended(tmp_path, mode):
    todo = planned(HALVES)
    codes = sleepers(tmp_path, todo)
    done = run(todo, codes, journal=tmp_path / "j", oversubscribe=True, **MODES[mode])
    assert done.good
    assert in_order(todo, tmp_path)


def test_a_run_that_was_planned_anew_keeps_the_order(tmp_path):
    """The grid takes ten times as long as planned: what does not need it moves."""
    times = np.array([[0.1], [0.1], [0.1], [0.1], [0.1]]).repeat(2, axis=1)
    todo = planned(times, [(0, 2), (1, 3), (0, 4)], ["grid", "mesh", "look", "solve", "more"])
    codes = sleepers(tmp_path, todo, 0.1)
    slow = shell_notes(tmp_path, {"grid": "note start; sleep 1; note end"})
    codes = Codes(procs=2, codes={**codes.codes, **slow.codes})
    assert run(todo, codes, journal=tmp_path / "j", oversubscribe=True, replan=0.2).good
    assert in_order(todo, tmp_path)


def test_random_graphs_with_memory_in_every_mode(tmp_path):
    random = np.random.default_rng(32)
    for number in range(6):
        n = int(random.integers(4, 7))
        edges = [(a, b) for b in range(n) for a in range(b) if random.random() < 0.35]
        names = [f"t{k}" for k in random.permutation(n)]
        need = random.integers(1, 4, n).astype(float)
        times = random.uniform(0.01, 0.1, (n, 1)) / np.array([1, 1.7, 2.2])
        shared = {"resources": {"memory": need}, "capacity": {"memory": 4.0}}
        todo = planned(times, edges, names, **shared)
        folder = tmp_path / str(number)
        folder.mkdir()
        codes = sleepers(folder, todo, 0.01)
        mode = list(MODES.values())[number % len(MODES)]
        assert run(todo, codes, journal=folder / "j", oversubscribe=True, **mode).good
        assert len(spans(folder)) == n
        assert in_order(todo, folder)


@pytest.mark.parametrize("mode", ["plain", "no barrier", "planned anew"])
def test_what_comes_after_a_failure_is_cancelled_and_said(tmp_path, mode):
    todo = planned(HALVES)
    journal = tmp_path / "j"
    messages = []
    done = run(
        todo, sleepers(tmp_path, todo, fail=["mesh"]), journal=journal, oversubscribe=True,
        tell=messages.append, **MODES[mode],
    )  # fmt: skip
    states = {task.name: task.state for task in done.tasks}
    assert states == {
        "mesh": "failed", "solve": "cancelled", "post": "cancelled",
        "grid": "completed", "look": "completed",
    }  # fmt: skip
    assert [line for line in messages if "cancelled" in line] == [
        "mesh failed: cancelled, not started: solve, post"
    ]
    assert {t.name: t.attempt for t in done.tasks if t.state == "cancelled"} == {
        "solve": 0, "post": 0,
    }  # fmt: skip
    done.write(tmp_path / "execution.json")
    assert cs.execution.Execution.read(tmp_path / "execution.json").tasks[0].name
    # Resumed: what failed runs again, and what came after it for the first time.
    done = run(
        todo, sleepers(tmp_path, todo), journal=journal, oversubscribe=True, resume=True,
        **MODES[mode],
    )  # fmt: skip
    assert done.good
    assert {task.name: task.attempt for task in done.tasks} == {
        "mesh": 2, "solve": 1, "grid": 1, "look": 1, "post": 1,
    }  # fmt: skip
    assert in_order(todo, tmp_path)


def test_stopped_at_a_failure_the_rest_is_pending(tmp_path):
    todo = planned(HALVES[:3, :1], [(0, 1)], ["mesh", "solve", "late"], machines=1)
    codes = sleepers(tmp_path, todo, fail=["mesh"])
    assert todo.steps[0].name == "mesh"
    done = run(todo, codes, journal=tmp_path / "j", oversubscribe=True, stop_on_failure=True)
    states = {task.name: task.state for task in done.tasks}
    assert states == {"mesh": "failed", "solve": "cancelled", "late": "pending"}
    past = read_past(tmp_path / "j")
    assert past.tasks[1].state == "cancelled"


def test_a_late_task_holds_up_only_what_comes_after_it():
    """Real times that nobody knows, and failures: each new plan keeps the order."""
    random = np.random.default_rng(8)
    plan_count = 0
    for _ in range(40):
        n = 8
        edges = [(a, b) for b in range(n) for a in range(b) if random.random() < 0.2]
        alpha = random.uniform(0.4, 1, (n, 1))
        times = random.uniform(4, 40, (n, 1)) / np.arange(1, 5) ** alpha
        todo = planned(times, edges, [f"t{k}" for k in range(n)])
        codes = Codes(
            procs=4, codes={s.name: Code(name=s.name, command="true") for s in todo.steps}
        )
        plan_count += simulated(todo, times * random.choice([0.5, 1, 2], (n, 1)), codes, random)
    assert plan_count > 20


def simulated(todo, real, codes, random):
    """Run by the clock, one task failing; how many new plans there were."""
    replanner = Replanner.of(todo, codes, 0.2)
    bad = int(random.integers(len(todo.steps)))
    left_out, wave = set(), {bad}
    while wave:
        wave = {b for a, b in todo.edges if a in wave} - left_out
        left_out |= wave
    current, now, started, ended, plan_count = todo, 0.0, {}, {}, 0
    while len(ended) + len(left_out) < len(todo.steps):
        waits = current.waits_for(False)
        completed_tasks = {*ended, *(left_out if bad in ended else ())}
        for place, step in enumerate(current.steps):
            is_settled = step.task in started or step.task in completed_tasks
            if not is_settled and all(
                current.steps[k].task in completed_tasks for k in waits[place]
            ):
                started[step.task] = now
        step_of = {s.task: s for s in current.steps}
        ends = {
            t: start + real[t, len(step_of[t].units) - 1]
            for t, start in started.items()
            if t not in ended
        }
        first = min(ends, key=ends.get)
        now = ended[first] = ends[first]
        seen = frozenset(left_out if bad in ended else ())
        moment = Situation(current, now, dict(started), dict(ended), seen)
        new = replanner(moment, False)
        if new is not None:
            plan_count += 1
            assert new.edges == todo.edges
            assert sorted(s.task for s in new.steps) == sorted(s.task for s in todo.steps)
            rest = {s.task: s for s in new.steps if s.task not in started and s.task not in seen}
            for before, after in todo.edges:
                if after in rest and before in rest:
                    assert rest[before].end <= rest[after].start
                elif after in rest and before in ended:
                    assert ended[before] <= rest[after].start
            current = new
    return plan_count


# --- scripts --------------------------------------------------------------------------------


def test_a_script_waits_leaves_out_and_goes_on(tmp_path):
    todo = planned(HALVES)
    text = script(todo, sleepers(tmp_path, todo, fail=["mesh"]))
    done = run_script(text, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "task 0 failed (3)",
        "task 1 is left out: task 0 has not completed",
        "task 4 is left out: task 1 has not completed",
    ]
    assert sorted(spans(tmp_path)) == ["grid", "look"]
    done = run_script(script(todo, sleepers(tmp_path, todo)), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert {name: len(of) for name, of in spans(tmp_path).items()} == dict.fromkeys(NAMES, 1)
    assert in_order(todo, tmp_path)
    assert not list(tmp_path.glob("*.done"))


def test_a_script_without_order_is_as_it_was(tmp_path):
    todo = planned(HALVES, ())
    assert "may_start" not in script(todo, sleepers(tmp_path, todo))


# --- from the command line ------------------------------------------------------------------


def test_a_table_with_a_cycle_is_one_line_of_names(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("task,after,1,2\nlast one,a,1,1\na,b,2,1\nb,last one;,3,2\n")
    assert main(["compare", "moldable", str(path)]) == 2
    errors = capsys.readouterr().err
    assert "jobs.csv: line 3, column 2: 'a' waits for 'b', 'b' for 'last one'" in errors
    assert len(errors.splitlines()) == 1


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    assert main(["plan", "runs.csv", "--codes", "codes.toml", "-o", "plan.json"]) == 0
    assert json.loads((tmp_path / "plan.json").read_text())["edges"]
    run_it = ["run", "plan.json", "--codes", "codes.toml", "--oversubscribe"]
    (tmp_path / "codes.toml").write_text(TOML.replace('"true {case}"', '"test {case} = a"'))
    capsys.readouterr()
    assert main([*run_it, "--no-barrier"]) == 1
    seen = capsys.readouterr()
    assert "solve case=b failed: cancelled, not started: post" in seen.err
    assert "cancelled" in seen.out
    (tmp_path / "codes.toml").write_text(TOML)
    assert main([*run_it, "--resume", "--replan", "0.2"]) == 0
    assert main(["script", "plan.json", "--codes", "codes.toml", "-o", "job.sh"]) == 0
    assert "may_start" in (tmp_path / "job.sh").read_text()


def test_codes_are_measured_behind_those_that_they_need(tmp_path):
    """Each reads what the one before has written; the order is drawn otherwise."""
    after = {"d": ("c",), "c": ("b",), "b": ("a",), "a": ()}
    codes = {
        name: Code(
            name=name, directory=tmp_path, after=of,
            command=f"{f'test -e made-{of[0]} && ' if of else ''}touch made-{name}",
        )
        for name, of in after.items()
    }  # fmt: skip
    frame = profile(
        Codes(procs=2, codes=codes), repeat=1, out=tmp_path / "runs.csv", oversubscribe=True
    )
    assert set(frame.status) == {"completed"}


ALIKE = """
procs = 2
[task.mesh]
command = "true"
parameters = { case = ["a", "b"] }
[task.solve]
command = "true"
after = [{ task = "mesh", same = ["case"] }]
parameters = { case = ["a", "b"], dt = [1, 2] }
[task.plot]
command = "true"
after = [{ task = "solve", same = "case" }, "mesh"]
parameters = { case = ["b"] }
"""


def test_tasks_of_sweeps_with_the_same_values_wait_for_each_other():
    codes = codes_of(ALIKE)
    assert codes["solve case=a dt=2"].after == ("mesh case=a",)
    assert codes["plot case=b"].after == ("solve case=b dt=1", "solve case=b dt=2", "mesh")
    names = list(codes)
    pairs = {(names[i], names[j]) for i, j in codes.edges(names)}
    assert {first_task for first_task, other in pairs if other == "solve case=b dt=1"} == {
        "mesh case=b"
    }
    assert len(pairs) == 4 + 4
    assert codes.levels() == {"mesh": 0, "solve": 1, "plot": 2}


def codes_of(text):
    _, codes, _ = read_codes("codes.toml", text)
    return Codes(procs=2, codes={code.name: code for code in codes})


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('same = ["case"]', 'same = ["dt"]', 8, "same: 'mesh' has no parameter 'dt'"),
        ('same = ["case"]', 'same = ["no"]', 8, "same: 'solve' has no parameter 'no'"),
        ('same = ["case"]', "same = 1", 8, "expected names of parameters"),
        ('same = ["case"]', 'some = ["case"]', 8, "expected a list of names of tasks, or of"),
        ('task = "mesh"', 'task = "mash"', 8, "unknown task 'mash' (near: mesh)"),
        ('["b"]', '["c"]', 12, "no task of 'solve' has what 'plot case=c' has of case"),
        ('{ case = ["a", "b"] }', "{ case = ['a', 'c'] }", 8, "no task of 'mesh' has what"),
    ],
)
def test_the_same_has_to_be_there(old, new, line, says):
    with pytest.raises(InvalidInstance, match=re.escape(says)) as error:
        codes_of(ALIKE.replace(old, new, 1))
    assert f"line {line}:" in str(error.value)
