"""Projects of PSPLIB and Patterson as moldable jobs, and those that are drawn."""

import itertools
import random

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance

STARS = "*" * 72
#: Two modes per job with other numbers of processors (R 1); R 2 is shared by the second and third.
MULTI_MODE = f"""{STARS}
file with basedata            : mm1_.bas
initial value random generator: 1
{STARS}
projects                      :  1
jobs (incl. supersource/sink ):  5
horizon                       :  30
RESOURCES
  - renewable                 :  2   R
  - nonrenewable              :  1   N
  - doubly constrained        :  0   D
{STARS}
PROJECT INFORMATION:
pronr.  #jobs rel.date duedate tardcost  MPM-Time
    1      3      0       10        2       10
{STARS}
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        2          1           4
   3        2          1           5
   4        2          1           5
   5        1          0
{STARS}
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  R 2  N 1
------------------------------------------------------------------------
  1      1     0       0    0    0
  2      1     6       1    0    2
         2     3       2    0    1
  3      1     8       1    1    1
         2     5       3    1    1
  4      1     4       2    1    1
         2     4       3    1    1
  5      1     0       0    0    0
{STARS}
RESOURCEAVAILABILITIES:
  R 1  R 2  N 1
    3    1   20
{STARS}
"""
RCP = """5 2
4 3

0 0 0 2 2 3
3 2 1 1 4
5 0 3 1 5
2 4 0 1
5
0 0 0 0
"""


def read(tmp_path, text, name="p.sm"):
    (tmp_path / name).write_text(text)
    return cs.moldable.Instance.read(tmp_path / name)


def test_modes_that_are_processor_counts_are_times_by_count(tmp_path):
    inst = read(tmp_path, MULTI_MODE, "p.mm")
    assert (inst.jobs, inst.machines, inst.names) == (3, 3, ("2", "3", "4"))
    assert inst.times.tolist() == [[6, 3, np.inf], [8, np.inf, 5], [np.inf, 4, 4]]
    assert inst.edges.tolist() == [[0, 2]]
    assert inst.sharing.capacity == {"R 2": 1.0}
    assert [note.subject for note in inst.notes[:4]] == [
        "N 1", "duration 0", "processors", "modes",
    ]  # fmt: skip
    result = cs.moldable.solve(inst, "optimal")
    assert result.value == result.own_bound.value == 12.0  # the third and the fourth share R 2


def test_patterson_s_numbers_may_stand_on_any_line(tmp_path):
    inst = read(tmp_path, RCP, "p.rcp")
    assert inst.times.ravel().tolist() == [3.0, 5.0, 2.0]
    assert inst.edges.tolist() == [[0, 2]]
    assert inst.sharing.capacity == {"R 1": 4.0, "R 2": 3.0}
    assert inst.sharing.resources["R 1"].tolist() == [2.0, 0.0, 4.0]
    assert cs.moldable.solve(inst, "optimal").value == 8.0  # both need 4 of 3 of the second


def least_makespan(durations, needs, capacity, edges):
    """By all orders of the jobs: each starts as early as those before it let it."""
    n, best = len(durations), sum(durations)
    horizon = sum(durations)
    for order in itertools.permutations(range(n)):
        place = {job: k for k, job in enumerate(order)}
        if any(place[a] > place[b] for a, b in edges):
            continue
        used = [[0] * len(capacity) for _ in range(horizon)]
        end = [0] * n
        for job in order:
            start = max((end[a] for a, b in edges if b == job), default=0)
            while any(
                used[t][k] + needs[job][k] > capacity[k]
                for t in range(start, start + durations[job])
                for k in range(len(capacity))
            ):
                start += 1
            end[job] = start + durations[job]
            for t in range(start, end[job]):
                for k in range(len(capacity)):
                    used[t][k] += needs[job][k]
        best = min(best, max(end))
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("form", ["sm", "rcp"])
def test_optima_of_random_projects_against_all_orders(tmp_path, seed, form):
    source = random.Random(seed)
    n, kinds = 5, source.randrange(1, 4)
    capacity = [source.randrange(3, 8) for _ in range(kinds)]
    low = source.randrange(2)  # from 1 on every job needs some: a resource becomes processors
    durations = [source.randrange(1, 6) for _ in range(n)]
    needs = [[source.randrange(low, top + 1) for top in capacity] for _ in range(n)]
    edges = [(a, b) for a in range(n) for b in range(a + 1, n) if source.random() < 0.25]
    if form == "rcp":
        lines = [f"{n + 2} {kinds}", " ".join(map(str, capacity))]
        jobs = [[0, *[0] * kinds, n, *range(2, n + 2)]]
        for job in range(n):
            behind = [b + 2 for a, b in edges if a == job] + [n + 2]
            jobs.append([durations[job], *needs[job], len(behind), *behind])
        jobs.append([0] * (kinds + 2))
        text = "\n".join([*lines, *(" ".join(map(str, job)) for job in jobs)]) + "\n"
    else:
        original = cs.moldable.Instance(
            [[float(duration)] for duration in durations], machines=n, edges=edges,
            resources={f"R {k + 1}": [float(row[k]) for row in needs] for k in range(kinds)},
            capacity={f"R {k + 1}": float(top) for k, top in enumerate(capacity)},
        )  # fmt: skip
        original.write(tmp_path / "own.sm")
        text = (tmp_path / "own.sm").read_text()
    inst = read(tmp_path, text, f"p.{form}")
    result = cs.moldable.solve(inst, "optimal")
    result.schedule.validate()
    assert result.value == result.own_bound.value
    assert result.value == least_makespan(durations, needs, capacity, edges)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("   2        2          1           4", "   2        2          2           4",
         "p.sm: line 20: 4 numbers: expected job, modes"),
        ("successors\n   1", "successors\n   x", "job 1: expected one of PRECEDENCE RELATIONS"),
        ("           4\n", "           9\n", "line 20: successor '9': expected the number"),
        ("  2      1     6       1", "  2      1     6       x",
         "line 29, REQUESTS/DURATIONS, field"),
        ("    3    1   20", "    3    1", "RESOURCEAVAILABILITIES: 2 numbers: expected 3"),
        ("    3    1   20", "    3    1    2", "nonrenewable resource N 1: 2 of 4"),
        ("         2     3       2    0", "         2     3       1    0",
         "job 2 has 2 modes that are no processor counts"),
        ("         2     4       3    1", "         2     4       3    0",
         "job 4 is no faster on 3 processors than on 2"),
        ("RESOURCEAVAILABILITIES", "NOTHING", "no section RESOURCEAVAILABILITIES"),
        ("         2     5       3", "         2     5       0", "are no processor counts"),
        ("  3      1     8       1    1", "  3      1     8       1    2", None),
    ],
)  # fmt: skip
def test_a_project_that_does_not_fit_is_refused_in_one_line(tmp_path, capsys, old, new, message):
    assert old in MULTI_MODE
    (tmp_path / "p.sm").write_text(MULTI_MODE.replace(old, new, 1))
    if message is None:  # a mode that needs more than there is never runs
        assert cs.moldable.Instance.read(tmp_path / "p.sm").times[1].tolist() == [np.inf, np.inf, 5]
        return
    with pytest.raises(InvalidInstance, match=message):
        cs.moldable.Instance.read(tmp_path / "p.sm")
    assert main(["solve", "moldable", str(tmp_path / "p.sm"), "-o", str(tmp_path / "s.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "s.json").exists()


@pytest.mark.parametrize("text", [MULTI_MODE, RCP])
def test_damaged_projects_end_in_one_line_or_are_read(tmp_path, text):
    source = random.Random(text)
    name = "p.rcp" if text is RCP else "p.sm"
    for _ in range(120):
        data = list(text)
        for _ in range(source.randrange(1, 4)):
            place = source.randrange(len(data))
            data[place] = source.choice(["", " ", "\n", "9", "-", "x", "1 2", "0"])
        (tmp_path / name).write_text("".join(data))
        message = refusal_of(tmp_path / name)
        assert "\n" not in message
        assert not message or name in message


def refusal_of(path):
    try:
        cs.moldable.Instance.read(path)
    except InvalidInstance as error:
        return str(error)
    return ""


def test_drawn_projects_are_written_and_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "projects", "--n", "9", "--seed", "3", "-o", "p.sm"]) == 0
    drawn = cs.workloads.projects(9, seed=3)
    inst = cs.moldable.Instance.read("p.sm")
    assert inst.jobs == drawn.jobs == 9
    assert sorted(inst.edges.tolist()) == sorted(drawn.edges.tolist())
    assert cs.moldable.solve(inst, "optimal").value == cs.moldable.solve(drawn, "optimal").value
    with pytest.raises(InvalidInstance, match="rigid jobs with resources alone"):
        cs.moldable.Instance([[4.0, 2.0]]).write("q.sm")
    assert not (tmp_path / "q.sm").exists()


def test_drawn_projects_follow_their_parameters():
    inst = cs.workloads.projects(40, 4, complexity=1.5, factor=1.0, strength=0.0, seed=1)
    assert len(inst.edges) == 60
    for name, needs in inst.sharing.resources.items():
        assert inst.sharing.capacity[name] == needs.max()
        assert (needs > 0).all()
    plenty = cs.workloads.projects(40, 4, factor=1.0, strength=1.0, seed=1)
    assert cs.moldable.solve(plenty, "list-lp").value <= cs.moldable.solve(inst, "list-lp").value
