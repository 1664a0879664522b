"""Planning the rest anew, measurements of a run, and codes side by side."""

import heapq
import json

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import Code, Codes, Plan, run, together
from cosched.execution.replanning import Replanner, Situation
from cosched.execution.runs_file import read_runs
from cosched.execution.slowdowns import read_slowdowns
from execution_codes import shared_cores, shell_notes, until

#: Seconds between two looks of a driver at its run, in the simulated runs.
LOOK = 0.25


def codes_for(plan):
    return Codes(
        procs=plan.procs, codes={s.name: Code(name=s.name, command="x") for s in plan.steps}
    )


def simulated(plan, real, barrier, replanner):
    """The end of a run with these real times (task, count), by events; checks every plan."""
    started, ended, busy = {}, {}, []  # busy: (end, task)
    now = 0.0
    while len(ended) < len(plan.steps):
        waits = plan.waits_for(barrier and plan.family == "packs")
        for place, step in enumerate(plan.steps):
            if step.task in started:
                continue
            if all(plan.steps[k].task in ended for k in waits[place]):
                started[step.task] = now
                heapq.heappush(busy, (now + real[step.task, len(step.units) - 1], step.task))
        now = min(busy[0][0], now + LOOK)
        while busy and busy[0][0] <= now:
            end, task = heapq.heappop(busy)
            ended[task] = end
        running = [s for s in plan.steps if s.task in started and s.task not in ended]
        busy_units = [unit for s in running for unit in s.units]
        assert len(busy_units) == len(set(busy_units))
        if replanner is not None:
            new = replanner(Situation(plan, now, dict(started), dict(ended)), barrier)
            if new is not None:
                Plan(family="moldable", steps=new.steps).waits_for(False)
                assert sorted(s.task for s in new.steps) == sorted(s.task for s in plan.steps)
                assert [s for s in new.steps if s.task in started] == [
                    s for s in plan.steps if s.task in started
                ]
                plan = new
    return max(ended.values())


def test_a_hundred_runs_are_shorter_with_a_new_plan():
    """One code is twice as slow as it was measured; nobody knows which."""
    random = np.random.default_rng(11)
    ends = {True: [], False: []}
    for _ in range(100):
        t1 = random.uniform(4, 40, 12)
        alpha = random.uniform(0.5, 1.0, 12)
        times = t1[:, None] / np.arange(1, 9) ** alpha[:, None]
        inst = cs.packs.Instance(times, 4)
        plan = Plan.of(cs.packs.solve(inst, "pack-by-pack-9"))
        real = times.copy()
        real[random.integers(12)] *= 2
        for anew in (True, False):
            replanner = Replanner.of(plan, codes_for(plan), 0.2) if anew else None
            ends[anew].append(simulated(plan, real, True, replanner))
    assert np.mean(ends[True]) < np.mean(ends[False])


def test_what_takes_its_planned_time_is_not_planned_anew():
    times = np.array([[4.0, 2.5], [3.0, 2.0], [5.0, 3.0]])
    plan = Plan.of(cs.packs.solve(cs.packs.Instance(times), "optimal"))
    replanner = Replanner.of(plan, codes_for(plan), 0.2)
    asked = []

    def watched(moment, barrier):
        asked.append(replanner(moment, barrier))
        return asked[-1]

    assert simulated(plan, times * 1.1, True, watched) == pytest.approx(plan.makespan * 1.1)
    assert asked
    assert not any(asked)


def test_counts_that_a_code_may_not_have_are_not_planned():
    times = np.array([[8.0, 4.0, 3.0, 2.0]] * 4)
    plan = Plan.of(cs.packs.co_schedule(cs.packs.Instance(times), [0, 0, 1, 1], [2, 2, 2, 2]))
    codes = Codes(
        procs=4,
        codes={s.name: Code(name=s.name, command="x", counts=(2, 4)) for s in plan.steps},
    )
    first = plan.steps[0].task, plan.steps[1].task
    moment = Situation(plan, 9.0, dict.fromkeys(first, 0.0), {first[0]: 4.0})
    new = Replanner.of(plan, codes, 0.2)(moment, True)
    assert new is not None
    assert {len(s.units) for s in new.steps} <= {2, 4}


def test_a_plan_that_does_not_know_its_times_is_refused(tmp_path):
    inst = cs.dags.Instance([[1.0]], [], units=(1,))
    codes = Codes(procs=1, codes={"0": Code(name="0", command="true")})
    with pytest.raises(InvalidInstance, match="does not know the times"):
        run(cs.dags.heft(inst), codes, journal=tmp_path / "j", replan=0.2)
    plan = cs.packs.sequential(cs.packs.Instance([[1.0]], names=["0"]))
    with pytest.raises(InvalidInstance, match="a share such as"):
        run(plan, codes, journal=tmp_path / "j", replan=-1)


def test_a_run_is_planned_anew_and_the_journal_says_so(tmp_path):
    """a was measured at 0.1 s and takes longer than c behind it: c need not wait for it."""
    inst = cs.packs.Instance([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]], names=["a", "b", "c"])
    plan = cs.packs.co_schedule(inst, [0, 0, 1], [1, 1, 2])
    codes = shell_notes(
        tmp_path,
        {
            "a": f"note start; {until('grep -qs ^end.c notes')}; note end",
            "b": "note start; sleep 0.1; note end",
            "c": "note start; sleep 0.1; note end",
        },
        procs=2,
    )
    journal = tmp_path / "journal.jsonl"
    done = run(plan, codes, journal=journal, replan=0.2, oversubscribe=True)
    assert done.good
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    assert "replanned" in [event["event"] for event in events]
    ends = {task.name: task.end for task in done.tasks}
    assert ends["c"] < ends["a"]
    assert not shared_cores(tmp_path)
    assert run(plan, codes, journal=journal, resume=True, oversubscribe=True).good


def test_real_times_become_measurements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.toml").write_text(
        'procs = 1\n[task.a]\ncommand = "true"\n[task.b]\ncommand = "exit 1"\n'
    )
    inst = cs.packs.Instance([[0.1], [0.1]], names=["a", "b"])
    cs.io.write_json(cs.packs.sequential(inst).to_dict(), "plan.json")
    assert main(["run", "plan.json", "--codes", "codes.toml", "--measure", "runs.csv"]) == 1
    (row,) = read_runs("runs.csv")  # a failure says nothing of the time
    assert (row.task, row.processors, row.status) == ("a", 1, "completed")
    assert row.seconds > 0


def test_codes_side_by_side(tmp_path):
    codes = shell_notes(tmp_path, {"a": "sleep 0.05", "b": "sleep 0.02"}, procs=2)
    seen = []
    frame = together(
        codes,
        repeat=1,
        out=tmp_path / "together.csv",
        outputs=tmp_path / "outputs",
        oversubscribe=True,
        watch=lambda done, total, what: seen.append(what),
    )
    pairs = list(zip(frame.task, frame.beside, strict=True))
    assert pairs == [("a", ""), ("a", "a"), ("a", "b"), ("b", ""), ("b", "a"), ("b", "b")]
    assert (frame.runs == 1).all()
    assert (frame.low <= frame.slowdown).all()
    assert (frame.slowdown <= frame.high).all()
    assert (frame.processors == 1).all()
    assert (frame.slowdown > 0).all()
    assert "a beside b" in seen
    assert (tmp_path / "together.csv").read_text().startswith("task,beside,processors")
    assert [
        (pair.task, pair.neighbour) for pair in read_slowdowns(tmp_path / "together.csv")
    ] == pairs
    bad = Codes(procs=2, codes={"a": Code(name="a", command="exit 4", directory=tmp_path)})
    with pytest.raises(InvalidInstance, match=r"failed \(4\)"):
        together(bad, outputs=tmp_path / "outputs", oversubscribe=True)
    with pytest.raises(InvalidInstance, match="runs on none"):
        together(Codes(procs=1, codes=bad.codes), outputs=tmp_path / "outputs")
