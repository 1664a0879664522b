"""Small studies for the tests of the engine; workers import them by name ("toy_studies:TOY")."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

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


def tables(frame):
    means = frame.groupby("algorithm", as_index=False).value.mean()
    return {"means": means.assign(paper=[1.25, 10.0, 9.0][: len(means)])}


def figures(frame):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    ax.plot(frame.draw, frame.value)
    return {"values": figure}


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
NOT_A_STUDY = pd.DataFrame()
