"""Verdicts on logs whose truth is known: ``python tests_py/bench/bench_judgement.py [SEEDS]``.

Each recording of a real Slurm is written as the log that sacct would print, and judged with its own
configuration and with wrong ones; SEEDS logs of the simulator (default 120) are judged whole and
cut at the begin.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cosched as cs
from log_worlds import MINI_CONF, as_log, cut_log, random_jobs, waits_on_an_idle_machine
from recorded_sacct import written
from support import FIXTURES, RECORDINGS

RESULTS = ("explained", "as close as run-to-run variability allows", "not explained", "refused")


def half_of_nodes(conf: str) -> str:
    """The first half of the nodes; unchanged where they are not one range."""
    conf = re.sub(r"Nodes=n\[[^]]*\]", "Nodes=ALL", conf)
    return re.sub(r"(NodeName=n\[1-)(\d+)", lambda m: f"{m[1]}{max(1, int(m[2]) // 2)}", conf)


def without_backfill(conf: str) -> str:
    """``sched/builtin``."""
    return conf + "SchedulerType=sched/builtin\n"


def with_size_as_priority(conf: str) -> str:
    """Large jobs first, and nothing else counts."""
    conf = re.sub("Priority(Type|Weight|Favor).*\n", "", conf)
    return conf + (
        "PriorityType=priority/multifactor\nPriorityWeightJobSize=100000\nPriorityFavorSmall=NO\n"
    )


def verdict_of(data: Any, edit: Callable[[str], str] | None, *, accounts: bool) -> str | None:
    """Of the log of a recording; None where the edit changes nothing."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        written(data, folder)
        conf = folder / "slurm.conf"
        if edit is not None:
            if edit(conf.read_text()) == conf.read_text():
                return None
            conf.write_text(edit(conf.read_text()))
        table = folder / "accounts.txt"
        try:
            machine = cs.cluster.Machine.read(
                conf, accounts=table if accounts and table.exists() else None
            ).approximated()
            log = cs.cluster.Instance.read(
                folder / "jobs.txt", machine=machine, include_running=True
            )
            judgement = cs.cluster.judge_log(log)
        except cs.CoschedError:
            return "refused"
        return None if judgement is None else judgement.verdict.value


def print_row(name: str, verdicts: Counter[str]) -> None:
    cells = [f"{verdicts[result]}" for result in RESULTS]
    print(f"| {name} | {sum(verdicts.values())} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    print(f"| log | logs | {' | '.join(RESULTS)} |\n|---|---|---|---|---|---|")
    paths = [*RECORDINGS.values(), *sorted((FIXTURES / "slurm" / "deep").glob("*.json.gz"))]
    recordings = {path.name.split(".")[0]: cs.io.read_json(path) for path in paths}
    right = {name: verdict_of(data, None, accounts=True) for name, data in recordings.items()}
    print_row("recordings, own configuration", Counter(filter(None, right.values())))
    for name, result in right.items():
        if result in RESULTS[2:]:
            print(f"<!-- {name}: {result} -->")
    edits = {
        "half of the nodes": half_of_nodes,
        "without backfill": without_backfill,
        "job size as priority": with_size_as_priority,
    }
    for what, edit in edits.items():
        results = [verdict_of(data, edit, accounts=True) for data in recordings.values()]
        print_row(f"recordings, {what}", Counter(filter(None, results)))
    with_accounts = [data for data in recordings.values() if "associations" in data]
    results = [verdict_of(data, None, accounts=False) for data in with_accounts]
    print_row("recordings with accounts, none given", Counter(filter(None, results)))
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "slurm.conf").write_text(MINI_CONF)
        (folder / "fit.txt").write_text(waits_on_an_idle_machine())
        idle = cs.cluster.judge_log(
            cs.cluster.Instance.read(folder / "fit.txt", machine=folder / "slurm.conf")
        )
        print_row("waits on an idle machine", Counter([idle.verdict.value]))
        print_simulated(folder, seeds)


def print_simulated(folder: Path, seeds: int) -> None:
    """Logs that the simulator wrote."""
    full_counts, cut = Counter[str](), {False: Counter[str](), True: Counter[str]()}
    for seed in range(seeds):
        log = as_log(random_jobs(np.random.default_rng(seed), folder), seed)
        has_accounts = "account" in log.column_names
        for part, verdicts in ((log, full_counts), (cut_log(log, 0.4), cut[has_accounts])):
            judgement = cs.cluster.judge_log(part)
            if judgement is not None:
                verdicts[judgement.verdict.value] += 1
    print_row("simulated", full_counts)
    print_row("simulated without accounts, cut at the begin", cut[False])
    print_row("simulated with fair-share, cut at the begin", cut[True])


if __name__ == "__main__":
    main()
