"""Small studies for the tests of the engine; workers import them by name ("toy_studies:TOY")."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from cosched import packs, workloads
from cosched.experiments import STUDIES, Study


def plan(quick):
    names = ("a", "b", "c")
    draws = 4 if quick else 20
    return [
        {"draw": draw, "algorithm": name, "options": {"half": draw % 2 == 0}}
        for draw in range(draws)
        for name in names
    ]


def run(task):
    """Numbers of all kinds; the file TOY_SLEEP says how slowly, TOY_LOG keeps a record."""
    pace = os.environ.get("TOY_SLEEP")
    if pace:
        time.sleep(float(Path(pace).read_text()))
    log = os.environ.get("TOY_LOG")
    if log:
        with open(log, "a") as file:
            file.write(f"{os.getpid()} {task['draw']}{task['algorithm']}\n")
    random = np.random.default_rng(task["draw"])
    row = {
        "value": random.normal() / (1 if task["options"]["half"] else 3),
        "count": random.integers(100),
        "some": float("nan") if task["draw"] == 1 else float("inf"),
        "seconds": time.perf_counter(),
        "seconds_inner": 0.5,
    }
    if task["algorithm"] == "b":
        row["only_b"] = [1, 2.5]
    return row


def run_and_raise(task):
    if (task["draw"], task["algorithm"]) == (2, "b"):
        raise ValueError("this one\nraises")
    return run(task)


def run_and_die(task):
    if (task["draw"], task["algorithm"]) == (2, "b"):
        os.kill(os.getpid(), signal.SIGKILL)
    return run(task)


def run_and_die_once(task):
    mark = Path(os.environ["TOY_MARK"])
    if (task["draw"], task["algorithm"]) == (2, "b") and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run(task)


#: What a hostile task does instead of returning a row.
HOSTILE = {
    "exits": lambda: os._exit(3),
    "leaves": lambda: sys.exit("enough"),
    "is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "crashes": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "sleeps": lambda: time.sleep(1e6),
    "computes": lambda: 9**9**9,  # in C, and never lets another thread run
    "solves": lambda: packs.solve(
        workloads.packs_ii(tasks=60, max_tasks=8), "local-search", time_limit=None, work=2**60
    ),
    "waits": lambda: subprocess.run(["sleep", os.environ["TOY_NAP"]], check=True),
    "eats": lambda: np.ones(2**40),
    "ends its parent": lambda: os.kill(os.getppid(), signal.SIGKILL) or time.sleep(60),
}


def hostile_plan(quick):
    """A hostile task, eight harmless ones, the next hostile task, ..."""
    kinds = os.environ["TOY_HOSTILE"].split(",")
    return [
        {"kind": kind, "number": number}
        for kind in kinds
        for number, kind in enumerate([kind] + ["harmless"] * 8, 9 * kinds.index(kind))
    ]


def run_hostile(task):
    HOSTILE.get(task["kind"], lambda: None)()
    return {"value": task["number"] ** 2}


def tables(frame):
    means = frame.groupby("algorithm", as_index=False).value.mean()
    return {"means": means.assign(paper=[1.25, 10.0, 9.0][: len(means)])}


def figures(frame):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    ax.plot(frame.draw, frame.value)
    return {"values": figure}


def no_files(frame):
    return {}


def toy(run, **fields):
    return Study(
        name="toy",
        title="A toy <study>",
        family="packs",
        plan=plan,
        run=run,
        tables=tables,
        figures=figures,
        **fields,
    )


TOY = toy(run)
RAISES = toy(run_and_raise)
DIES = toy(run_and_die)
DIES_ONCE = toy(run_and_die_once)
NEEDS = toy(run, needs=("pwa/nowhere.gz",))
#: packs-fig2-5 without what takes seconds.
PACKS = replace(
    STUDIES["packs-fig2-5"],
    plan=lambda quick: [
        task for task in STUDIES["packs-fig2-5"].plan(True) if task["algorithm"] != "local-search"
    ],
)
PLAIN = replace(TOY, tables=no_files, figures=no_files)
HOSTILE_STUDY = replace(toy(run_hostile), plan=hostile_plan, tables=no_files, figures=no_files)
NOT_A_STUDY = pd.DataFrame()
