"""The numbers of an audit against a loop over the same rows, which shares no code with it."""

import re
from datetime import datetime, timezone
from itertools import pairwise

import numpy as np
import pytest
from sacct_dump import CONF, CORES, GPUS, MEMORY, NODES, THREADS, dump

import cosched as cs

UNITS = {"K": 1 / 1024**2, "M": 1 / 1024, "G": 1.0, "T": 1024.0}


def second(text):
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")
    return int(moment.replace(tzinfo=timezone.utc).timestamp())


def duration(text):
    days, _, rest = text.rpartition("-")
    hours, minutes, seconds = rest.split(":")
    return int(days or 0) * 86400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def tres(text):
    return dict(part.split("=") for part in text.split(",")) if text else {}


def truth(text):
    """One dict a run of a job, out of the rows of a dump."""
    header, *lines = text.splitlines()
    names = header.split("|")
    free = names.index("JobName")
    runs = []
    for number, line in enumerate(lines, 2):
        cells = line.split("|")
        extra = len(cells) - len(names)
        cells[free : free + 1 + extra] = ["|".join(cells[free : free + 1 + extra])]
        row = dict(zip(names, cells, strict=True))
        if "." in row["JobID"] or row["Start"] == "Unknown":
            continue
        allocated_tres = tres(row["AllocTRES"])
        cpus, nodes = int(allocated_tres["cpu"]), int(allocated_tres["node"])
        memory = re.fullmatch(r"([0-9.]+)([KMGT])", allocated_tres["mem"])
        runs.append(
            {
                "line": number,
                "id": row["JobID"],
                "submit": second(row["Submit"]),
                "eligible": second(row["Eligible"]),
                "start": second(row["Start"]),
                "runtime": duration(row["Elapsed"]),
                "cores": max(-(-cpus // THREADS), nodes),
                "threads": cpus,
                "memory": float(memory[1]) * UNITS[memory[2]],
                "gpus": int(allocated_tres.get("gres/gpu", 0)),
                "size": nodes,
            }
        )
    for run in runs:
        before = [r["start"] + r["runtime"] for r in runs
                  if r["id"] == run["id"] and r["start"] < run["start"]]  # fmt: skip
        run["eligible"] = max([run["eligible"], run["submit"], *before])
        run["end"] = run["start"] + run["runtime"]
        run["wait"] = run["start"] - run["eligible"]
        run["stretch"] = max(run["end"] - run["eligible"], 10) / max(run["runtime"], 10)
    return runs


def use(runs, what):
    """Area below what runs hold of it, and the most at once: step by step."""
    changes = {}
    for run in runs:
        changes[run["start"]] = changes.get(run["start"], 0) + run[what]
        changes[run["end"]] = changes.get(run["end"], 0) - run[what]
    area = level = highest = 0
    for now, then in pairwise(sorted(changes)):
        level += changes[now]
        highest = max(highest, level)
        area += level * (then - now)
    return area, highest


@pytest.mark.parametrize("seed", range(6))
def test_job_by_job(tmp_path, seed):
    text = dump(400, seed)
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.txt").write_text(text)
    inst = cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "slurm.conf")
    result = cs.cluster.solve(inst, "as-logged")
    runs = {run["line"]: run for run in truth(text)}
    assert sorted(inst.jobs.line) == sorted(runs)
    first = min(run["submit"] for run in runs.values())
    jobs = inst.jobs.assign(waited=result.waits, stretch=result.stretches, end=result.jobs.end)
    blocked = requeued = 0
    for job in jobs.itertuples():
        run = runs[job.line]
        assert str(job.id) == run["id"]
        assert (job.submit, job.eligible) == (run["submit"] - first, run["eligible"] - first)
        assert job.wait_blocked == run["eligible"] - run["submit"]
        assert (job.waited, job.end, job.runtime) == (
            run["wait"], run["end"] - first, run["runtime"],
        )  # fmt: skip
        assert (job.tasks, job.threads, job.gpus) == (run["cores"], run["threads"], run["gpus"])
        assert job.memory_gb == pytest.approx(run["memory"], rel=1e-12)
        assert job.gpu_type == ("a100" if run["gpus"] else "")
        assert job.stretch == pytest.approx(run["stretch"], rel=1e-12)
        blocked += job.wait_blocked > 0
        requeued += job.status == "requeued"
    assert blocked > 50
    assert requeued > 3
    runs = list(runs.values())
    metrics, waits = result.metrics(), [run["wait"] for run in runs]
    assert metrics["max_stretch"] == pytest.approx(max(run["stretch"] for run in runs))
    assert metrics["mean_wait"] == pytest.approx(np.mean(waits))
    assert metrics["median_wait"] == np.median(waits)
    span = max(run["end"] for run in runs) - min(run["eligible"] for run in runs)
    table = result.by("resource").set_index("resource")
    capacity = {"cores": NODES * CORES, "memory": NODES * MEMORY / 1024, "gpus": NODES // 3 * GPUS}
    for name, what in (("cores", "cores"), ("memory_gb", "memory"), ("gpus", "gpus")):
        area, highest = use(runs, what)
        assert table.capacity[name] == capacity[what]
        assert table.used_hours[name] == pytest.approx(area / 3600)
        assert table.utilisation[name] == pytest.approx(area / span / capacity[what])
        assert table.peak[name] == pytest.approx(highest / capacity[what])
        assert table.peak[name] <= 1
    assert metrics["utilisation"] == pytest.approx(table.utilisation["cores"])
    assert metrics["overcommitted_hours"] == 0
    assert not any("uses more" in note for note in inst.notes)
    for name in ("FCFS", "EASY", "conservative"):
        cs.cluster.solve(inst, name).schedule.validate()
