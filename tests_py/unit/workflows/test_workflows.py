"""Which ready job starts next, without a workflow manager; runs that Snakemake has kept."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.errors import InvalidInstance
from cosched.workflows import (
    Course,
    History,
    OnlineList,
    Ready,
    execution_of,
    no_schedule_before,
    plan,
    write_report,
)
from cosched.workflows.job_times import ExpectedTimes
from cosched.workflows.online import fitting
from cosched.workflows.run_expectation import Paths


def test_longest_paths_against_every_path():
    random = np.random.default_rng(1)
    for _ in range(50):
        n = int(random.integers(1, 9))
        after = [[k for k in range(i + 1, n) if random.uniform() < 0.4] for i in range(n)]
        seconds = random.uniform(0, 5, n)

        def longest(job, after=after, seconds=seconds):
            return seconds[job] + max((longest(k) for k in after[job]), default=0.0)

        found = Paths(after).longest(seconds)
        assert found.tolist() == pytest.approx([longest(job) for job in range(n)])


def test_fitting_is_a_list_schedule():
    random = np.random.default_rng(2)
    for _ in range(200):
        n, r = int(random.integers(0, 40)), int(random.integers(1, 4))
        needs = random.integers(0, 6, (n, r))
        available = random.integers(0, 20, r)
        left, expected = available.copy(), []
        for row in range(n):
            if (needs[row] <= left).all():
                left -= needs[row]
                expected.append(row)
        assert fitting(needs, available).tolist() == expected


def _entered(needs):
    return lambda job: Ready({"cores": needs.get(job, 1)})


def test_order_is_priority_path_sizes_name():
    jobs = {"a": 1.0, "b": 1.0, "c": 9.0, "d": 1.0, "e": 1.0}
    online = OnlineList()
    online.update(sorted(jobs), lambda job: (job, jobs[job]), lambda job: ())
    ready = {
        "a": Ready({"cores": 1}),
        "b": Ready({"cores": 1}, temporary=5.0),
        "c": Ready({"cores": 1}),
        "d": Ready({"cores": 1}, priority=3.0),
        "e": Ready({"cores": 1}, input=7.0),
    }
    assert online.select(set(jobs), {"cores": 5}, ready.__getitem__) == ["d", "c", "b", "e", "a"]


def test_times_learned_change_the_order():
    jobs = ["x1", "x2", "y1", "y2"]
    online = OnlineList()
    online.update(jobs, lambda job: (job[0], None), lambda job: ())
    assert online.select({"x1", "y1"}, {"cores": 2}, _entered({})) == ["x1", "y1"]
    online.learn("x1", 2.0)
    online.learn("y1", 7.0)
    assert online.select({"x2", "y2"}, {"cores": 1}, _entered({})) == ["y2"]
    assert online.select({"x2"}, {"cores": 1}, _entered({})) == ["x2"]


def test_jobs_that_come_later_are_in_the_paths():
    online = OnlineList()
    online.update(["a", "b"], lambda job: (job, 1.0), lambda job: ())
    before = {"a": [], "b": [], "c": ["b"]}
    assert online.update(["a", "b", "c"], lambda job: (job, 1.0), before.__getitem__)
    assert online.select({"a", "b"}, {"cores": 1}, _entered({})) == ["b"]


def test_only_what_may_start_now():
    """A manager may show a part of the ready jobs."""
    jobs = list(range(20))
    online = OnlineList()
    online.update(jobs, lambda job: ("r", float(job + 1)), lambda job: ())
    assert online.select(set(jobs), {"cores": 3}, _entered({})) == [19, 18, 17]
    assert online.select({2, 5, 11}, {"cores": 2}, _entered({})) == [11, 5]


def test_a_hundred_thousand_jobs():
    online = OnlineList()
    jobs = range(100_000)
    online.update(jobs, lambda job: (f"r{job % 7}", None), lambda job: ())
    needs = {job: {"_cores": 1 + job % 3, "mem_mb": job % 8000} for job in jobs}
    free = {"_cores": 64, "mem_mb": 100_000}
    ready = set(jobs)
    for _ in range(3):
        chosen = online.select(ready, free, lambda job: Ready(needs[job]))
        assert sum(needs[job]["_cores"] for job in chosen) <= 64
        assert sum(needs[job]["mem_mb"] for job in chosen) <= 100_000
        assert chosen
        ready -= set(chosen)


def test_bound_and_plan_against_all_orders():
    random = np.random.default_rng(3)
    for _ in range(40):
        n = int(random.integers(1, 6))
        seconds = random.integers(1, 6, n).astype(float)
        needs = [
            {"cores": int(random.integers(1, 3)), "mem": int(random.integers(0, 4))}
            for _ in range(n)
        ]
        capacity = {"cores": 2, "mem": 4}
        edges = [(i, j) for i in range(n) for j in range(i + 1, n) if random.uniform() < 0.3]
        best = min(_serial(order, seconds, needs, capacity, edges) for order in _orders(n, edges))
        assert no_schedule_before(seconds, needs, capacity, edges) <= best + 1e-9
        made = plan(range(n), seconds, needs, capacity, edges)
        assert made.bound <= best + 1e-9 <= made.seconds + 2e-9
        for before, after in edges:
            assert made.spans[after][0] >= made.spans[before][1] - 1e-9


def _orders(n, edges):
    for order in itertools.permutations(range(n)):
        if all(order.index(i) < order.index(j) for i, j in edges):
            yield order


def _serial(order, seconds, needs, capacity, edges):
    """Whole seconds, so moments 0, 1, 2, ... will do."""
    spans: dict[int, tuple[float, float]] = {}
    for job in order:
        start = max([spans[i][1] for i, j in edges if j == job], default=0.0)
        while not all(
            needs[job][name] + sum(needs[k][name] for k, (a, b) in spans.items() if a <= at < b)
            <= amount
            for at in np.arange(start, start + seconds[job])
            for name, amount in capacity.items()
        ):
            start += 1
        spans[job] = (start, start + seconds[job])
    return max(end for _, end in spans.values())


def test_without_limits_only_the_path_counts():
    made = plan("abc", np.array([3.0, 2.0, 4.0]), [{"cores": 9}] * 3, {"cores": 2**62}, [(0, 1)])
    assert made.seconds == made.bound == 5.0


def test_history_keeps_times(tmp_path):
    path = tmp_path / "times.json"
    history = History.read(path)
    history.learn("align", "align a", 3.0)
    history.write()
    assert History.read(path).seconds("align", "align b") == 3.0
    path.write_text('{"format": "other"}')
    with pytest.raises(cs.InvalidInstance, match=r"times\.json: expected times"):
        History.read(path)
    path.write_text('{"format": "cosched-history", "version": 1, "jobs": {"a": -1}, "rules": {}}')
    with pytest.raises(cs.InvalidInstance, match=r"'a' = -1: expected seconds"):
        History.read(path)


def _course() -> Course:
    course = Course({"cores": 2})
    course.start("m", "mesh m", {"cores": 1}, 0.0)
    course.start("f", "<script> f", {"cores": 1}, 0.0)
    course.end("m", 2.0)
    course.end("f", 3.0, "failed")
    return course


@pytest.mark.parametrize("suffix", [".html", ".json", ".png", ".svg"])
def test_reports(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    write_report(execution_of(_course()), path, "took 3 s & more", ["a note"])
    assert path.stat().st_size > 500
    if suffix == ".html":
        page = path.read_text()
        assert "took 3 s &amp; more" in page
        assert "<script>" not in page


def test_completed_jobs_only_count_for_the_bound():
    assert _course().no_schedule_before([]) == 2.0


def test_times_of_this_run_outrank_limits():
    times = ExpectedTimes()
    times.add("long", 600.0, limit=True)
    times.add("long", 600.0, limit=True)
    times.add("short")  # of which nothing is known: as the others, not one second
    assert times.seconds().tolist() == [600.0, 600.0, 600.0]
    times.add("other", 1200.0, limit=True)
    times.learn(0, 6.0)  # a hundredth of its limit
    assert times.seconds().tolist() == [6.0, 6.0, 6.0, 12.0]
    times.add("kept", 40.0)
    times.add("kept", 80.0)
    assert times.seconds().tolist()[4:] == [40.0, 80.0]
    times.learn(4, 20.0)  # half of what it took before
    assert times.seconds().tolist()[4:] == [20.0, 40.0]


def test_a_sample_that_took_long_once_is_first_in_the_next_rule():
    """Two cores; of five samples the last by name is long in two rules, which nobody said."""
    jobs: dict[str, list[str]] = {"merge": []}
    for k in "01234":
        jobs |= {f"align{k}": [], f"sort{k}": [f"align{k}"], f"call{k}": [f"sort{k}"]}
        jobs["merge"].append(f"call{k}")

    def finishes(subjects) -> float:
        online: OnlineList[str] = OnlineList()
        online.update(
            sorted(jobs), lambda job: (job[:-1], None, False, subjects(job)), jobs.__getitem__
        )
        now, ends, ended = 0.0, dict[str, float](), set[str]()
        while len(ended) < len(jobs):
            ready = {job for job in jobs if job not in ends and ended.issuperset(jobs[job])}
            free = 2 - len(ends.keys() - ended)
            for job in online.select(ready, {"cores": free}, lambda job: Ready({"cores": 1})):
                ends[job] = now + (3.0 if job in ("align4", "call4") else 1.0)
            now = min(end for job, end in ends.items() if job not in ended)
            for job in [job for job in ends if ends[job] == now and job not in ended]:
                online.learn(job, 3.0 if job in ("align4", "call4") else 1.0)
                ended.add(job)
        return now

    assert finishes(lambda job: ()) == 12.0
    assert finishes(lambda job: [job[-1]] if job != "merge" else []) == 11.0


def test_several_subjects_of_a_job_count_alike():
    times = ExpectedTimes()
    for sample in "ab":
        for part in "12":
            times.add("align", subjects=[("sample", sample), ("part", part)])
    times.add("call", subjects=[("sample", "b")])
    times.add("call", subjects=[("sample", "c")])  # of which nothing is known
    for number, seconds in enumerate([2.0, 2.0, 2.0, 16.0]):
        times.learn(number, seconds)
    assert times.seconds()[4:].tolist() == pytest.approx([5.5 * 8.0**0.5, 5.5])
    times.add("align", subjects=[("sample", "b"), ("part", "1")])
    assert times.seconds()[6] == pytest.approx(2.0 * 8.0**0.25)


def test_known_times_and_limits_of_a_rule_are_measured_apart():
    times = ExpectedTimes()
    assert times.seconds().tolist() == []  # of nobody
    times.add("r", 3600.0, limit=True)
    times.add("r", 10.0)
    times.add("r", 7200.0, limit=True)
    times.add("r")
    times.learn(0, 12.0)  # of an hour: that says nothing of who took ten seconds before
    assert times.seconds().tolist() == pytest.approx([12.0, 10.0, 24.0, 12.0])
    times.learn(1, 20.0)  # twice what it took before
    times.add("r", 30.0)
    assert times.seconds()[4] == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("edges", pd.DataFrame({"a": [1, 2], "b": [0, 0]})),
        ("edges", pd.Series([1.0, 2.0])),
        ("edges", np.zeros((1,) * 6)),
        ("edges", [(0, 2)]),
        ("edges", [(-1, 0)]),
        ("edges", [(0, 1, 1)]),
        ("seconds", np.zeros((1,) * 6)),
        ("seconds", [1.0, None]),
        ("seconds", ["a", "b"]),
    ],
)
@pytest.mark.parametrize("function", [no_schedule_before, partial(plan, ["a", "b"])])
def test_what_is_no_job_or_no_edge_is_refused_by_its_name(function, name, value):
    arguments = {"seconds": np.array([2.0, 3.0]), "needs": [{"cores": 1}] * 2,
                 "capacity": {"cores": 2}, "edges": [(0, 1)]}  # fmt: skip
    assert function(**arguments)
    with pytest.raises(InvalidInstance, match=rf"^{name}\b"):
        function(**(arguments | {name: value}))
