"""One damaged file of those that runs and studies leave: read, or refused by its name."""

import json
from collections.abc import Callable
from pathlib import Path

from fuzz_hostile import TEXTS
from fuzz_input import NUMBERS, damaged, number, rnd, written

import cosched as cs
from cosched.execution import Codes, Execution, Plan, TaskRun
from cosched.execution.journal import read_past
from cosched.execution.runs_file import read_runs

PACKS = cs.packs.sequential(cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]], names=["a", "b"]))
DAGS = cs.dags.heft(cs.dags.Instance([[2.0, 1.0], [1.0, 3.0]], [(0, 1)], (2, 1)))
MOLDABLE = cs.moldable.solve(
    cs.moldable.Instance([[2.0, 1.5], [3.0, 2.0]], [1.0, 1.0]), "sequential"
)
_RUN = dict(kind=0, units=(0, 1), planned_start=0.0, planned_end=2.0, pack=0)  # noqa: C408
EXECUTION = Execution(
    family="packs",
    launcher="local",
    barrier=True,
    notes=("a note",),
    tasks=(
        TaskRun(
            task=0, name="a", start=0.1, end=2.1, state="failed", exit_code=3, attempt=2, **_RUN
        ),
        TaskRun(task=1, name="b", **_RUN),
    ),
)
JOURNAL = [
    {"event": "run", "format": "cosched-journal", "version": 1, "run": "f" * 32, "plan": "0" * 16,
     "barrier": True, "begun": 1.7e9, "launcher": "local", "host": "h", "ended_leftovers": []},
    {"event": "starting", "task": 0, "name": "a", "attempt": 1, "units": [0], "time": 0.1},
    {"event": "started", "task": 0, "name": "a", "attempt": 1, "pid": 7, "time": 0.1},
    {"event": "ended", "task": 0, "name": "a", "attempt": 1, "state": "completed",
     "exit_code": 0, "time": 1.0},
    {"event": "replanned", "time": 1.0, "placements": [{"task": 0, "units": [0], "start": 0.0,
                                                        "end": 1.0}]},
    {"event": "lost", "task": 0, "name": "a", "attempt": 1, "time": 2.0, "why": "it ran"},
    {"event": "closed", "time": 3.0},
]  # fmt: skip
RUNS = (
    "task,processors,seconds,status,started,host,attempt\n"
    "a,1,2.5,completed,2026-01-01T00:00:00+00:00,h,1\nb,2,,failed (3),,h,2\n"
)
CODES = (
    'procs = 4\n[task.a]\ncommand = "./a {procs}"\ncounts = [1, 2]\ntimeout = 9.5\n'
    '[task."b c"]\ncommand = ["./b", "{cpus}"]\nweight = 2\nenvironment = { X = "1" }\n'
)


def spoiled(data):
    """A copy of plain data with some values replaced, taken away, doubled or nested."""
    data = json.loads(json.dumps(data))
    for _ in range(rnd.choice([1, 1, 2, 4])):
        node, parent, key = data, None, None
        while isinstance(node, (dict, list)) and node and (parent is None or rnd.random() < 0.8):
            parent, key = (
                node,
                rnd.choice(list(node) if isinstance(node, dict) else range(len(node))),
            )
            node = parent[key]
        if parent is None:
            return data
        kind = rnd.random()
        if kind < 0.15:
            del parent[key]
        elif kind < 0.25 and isinstance(parent, list):
            parent.append(node)
        else:
            parent[key] = odd(node)
    return data


def odd(node):
    values = [
        lambda: rnd.choice(TEXTS),
        lambda: [node],
        lambda: [[node] * 3] * 2,
        lambda: {"a": node},
        lambda: rnd.choice([n for n in NUMBERS if isinstance(n, (int, float, str, list, dict))]),
        lambda: rnd.choice([True, None, [], {}, -1, 0, 2**53, 10**400, 1e400, -1e400]),
        number,
    ]
    value = rnd.choice(values)()
    return value if isinstance(value, (int, float, str, list, dict, type(None))) else 0.5


def text_of(data):
    text = json.dumps(spoiled(data) if rnd.random() < 0.8 else data, indent=rnd.choice([None, 1]))
    return damaged(text) if rnd.random() < 0.3 else text


def refused_by_name(read: Callable, path: Path):
    """What is read; None where the file was refused, in a line that names it."""
    try:
        return read(path)
    except cs.CoschedError as error:
        message = str(error)
    assert path.name in message, message
    assert "\n" not in message, message
    return None


def one_plan():
    data = rnd.choice([PACKS, DAGS, MOLDABLE]).to_dict()
    names = rnd.choice([None, ["a", "b"], ["a"]])
    path = written("plan.json", text_of(cs.io.plain(data)))
    plan = refused_by_name(lambda path: Plan.read(path, names), path)
    if plan is not None:
        assert plan.digest
        plan.packs()
        assert len(plan.waits_for(rnd.random() < 0.5)) == len(plan.steps)


def one_execution():
    path = written("execution.json", text_of(cs.io.plain(EXECUTION.to_dict())))
    execution = refused_by_name(Execution.read, path)
    if execution is not None:
        execution.packs()
        assert len(execution.to_frame()) == len(execution.tasks)
        execution.write(path)
        assert repr(Execution.read(path)) == repr(execution)  # nan is not itself


def one_journal():
    lines = [text_of(line).replace("\n", " ") for line in JOURNAL]
    if rnd.random() < 0.3:
        rnd.shuffle(lines)
    refused_by_name(read_past, written("j.jsonl", "\n".join(lines) + rnd.choice(["\n", ""])))


def one_of_texts():
    name, text, read = rnd.choice(
        [("runs.csv", RUNS, read_runs), ("codes.toml", CODES, Codes.read)]
    )
    refused_by_name(read, written(name, damaged(text)))


def one_record():
    rnd.choice([one_plan, one_plan, one_execution, one_journal, one_of_texts])()
