"""How often what-ifs call a neutral change clear, and how often a real one, by replications.

    python tests_py/bench/bench_neutral_changes.py [--logs 13] [--seed 5] [LOG.csv SLURM.conf]

A neutral change moves a timing parameter by a few seconds (bf_interval 28 to 34, bf_resolution 58
to 62, sched_interval 58 to 62, batch_sched_delay 2 to 5): no site would expect longer or shorter
waits. A real change takes two of the eight nodes. Each change has 20 replications on the clocks of
the log as it is; with fewer replications the first of them count, as with ``--draws``. The rule is
that of the audit (`cosched.cluster.analysis.replications`), beside the two that it is not: the 95%
confidence interval of the mean difference, and the middle 90% of the differences.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

import cosched as cs
from cosched.cluster.analysis.replications import Spread
from cosched.cluster.analysis.what_if import what_if
from cosched.slurm.twin.host_clocks import clocks_of
from cosched.slurm.twin.twin import Twin

REPLICATIONS = (2, 3, 4, 8, 20)
NEUTRAL = [
    *(f"bf_interval={seconds}" for seconds in (28, 29, 31, 32, 33, 34)),
    *(f"bf_resolution={seconds}" for seconds in (58, 59, 61, 62)),
    *(f"sched_interval={seconds}" for seconds in (58, 59, 61, 62)),
    *(f"batch_sched_delay={seconds}" for seconds in (2, 4, 5)),
]
REAL = ["nodes=-2", "nodes=+2"]
CONF = """ClusterName=eight
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=30
PriorityType=priority/multifactor
PriorityWeightJobSize=0
NodeName=n[1-8] CPUs=4
PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0
"""
#: Offered loads and numbers of jobs of the logs that are made.
LOADS = (0.7, 0.85, 0.95, 1.05)
JOBS = (200, 300, 400)


def prediction_rule(differences: np.ndarray) -> bool:
    """The audit's: zero lies outside the 95% prediction interval of one more replication."""
    return not Spread.of(differences).includes_zero


def confidence_rule(differences: np.ndarray) -> bool:
    """Zero lies outside the 95% confidence interval of the mean."""
    count = len(differences)
    error = differences.std(ddof=1) / np.sqrt(count)
    return bool(abs(differences.mean()) > t.ppf(0.975, count - 1) * error)


def percentile_rule(differences: np.ndarray) -> bool:
    """Zero lies outside the middle 90% of the differences."""
    low, high = np.percentile(differences, [5, 95])
    return not low <= 0 <= high


RULES: dict[str, Callable[[np.ndarray], bool]] = {
    "prediction interval (audit)": prediction_rule,
    "confidence interval": confidence_rule,
    "middle 90%": percentile_rule,
}


def generated_log(machine: cs.cluster.Machine, number: int, rng: np.random.Generator):
    """A log of an eight-node cluster: log-normal run times, requests of 1.1 to 4 times these."""
    count = JOBS[number % len(JOBS)]
    load = LOADS[number // len(JOBS) % len(LOADS)]
    cores = rng.choice([1, 1, 2, 4, 8, 16, 24], count)
    runtime = np.minimum(rng.lognormal(7, 1.3, count), 6 * 3600).astype(int) + 10.0
    span = float((cores * runtime).sum()) / machine.cores / load
    limit = np.ceil(runtime * rng.choice([1.1, 2, 4], count) / 60) * 60
    jobs = {
        "submit": np.sort(rng.uniform(0, span, count)).astype(int).astype(float),
        "tasks": cores,
        "cpu": np.ones(count),
        "memory": np.full(count, 0.1),
        "runtime": runtime,
        "estimate": np.minimum(limit, 2 * 86400),
        "user": rng.choice(list("abcde"), count),
        "partition": ["batch"] * count,
    }
    return cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)


def logs(count: int, seed: int, files: list[str]) -> Iterator[tuple[str, cs.cluster.Instance]]:
    """The log of the command line, then generated ones."""
    if files:
        machine = cs.cluster.Machine.read(files[1], slurm_version="22.05")
        table = pd.read_csv(files[0])
        name = Path(files[0]).stem
        yield name, cs.cluster.Instance(table, nodes=machine.cores, machine=machine)
    with tempfile.TemporaryDirectory() as folder:
        conf = Path(folder) / "slurm.conf"
        conf.write_text(CONF)
        machine = cs.cluster.Machine.read(conf, slurm_version="22.05")
    rng = np.random.default_rng(seed)
    for number in range(count):
        yield f"generated-{number}", generated_log(machine, number, rng)


def mean_waits(instance: cs.cluster.Instance, jobs: cs.cluster.Instance) -> np.ndarray:
    """The mean wait in each replication (s), on the clocks of the jobs as they are."""
    twin = Twin(instance, instance.machine, {}, approximate=True)
    starts = twin.simulate_until(clocks_of(jobs, max(REPLICATIONS), None)).start_times
    return np.asarray((starts - jobs.column("eligible")).mean(axis=1))


def main() -> None:
    """Print rates by rule and number of replications."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--logs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    differences: dict[str, list[np.ndarray]] = {"neutral": [], "real": []}
    for name, jobs in logs(options.logs, options.seed, options.files):
        base = mean_waits(jobs, jobs)
        for kind, changes in (("neutral", NEUTRAL), ("real", REAL)):
            for change in changes:
                changed, _ = what_if(jobs, change)
                differences[kind].append(mean_waits(changed, jobs) - base)
        print(f"{name}: {len(jobs)} jobs, mean wait {base.mean():,.0f} s", flush=True)
    for kind, kind_changes in differences.items():
        print(f"\n{kind}: {len(kind_changes)} changes, called clear with ... replications")
        print(f"{'rule':28}" + "".join(f"{count:>8}" for count in REPLICATIONS))
        for name, rule in RULES.items():
            rates = [
                np.mean([rule(change[:count]) for change in kind_changes]) for count in REPLICATIONS
            ]
            print(f"{name:28}" + "".join(f"{rate:8.1%}" for rate in rates))


if __name__ == "__main__":
    main()
