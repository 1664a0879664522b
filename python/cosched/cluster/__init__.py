"""Cluster: batch queue or fractional sharing (Casanova, Stillwell, Vivien 2011).

A discrete-event simulator of a stream of jobs on identical nodes. Batch policies (``FCFS``,
``EASY``) give a job whole nodes; DFRS policies share the CPU of a node among jobs (never its
memory), pause and move them. The value is the maximum *bounded stretch* of a job: turnaround
over run time, both at least 10 s. The bound is a lower bound for any policy.

>>> import cosched as cs
>>> jobs = {"submit": [0, 0, 0], "tasks": [1, 1, 1], "cpu": [1, 1, 1],
...         "memory": [0.3, 0.3, 0.3], "runtime": [100.0, 100.0, 10.0]}
>>> inst = cs.cluster.Instance(jobs, nodes=2)
>>> cs.cluster.solve(inst, "EASY").max_stretch
11.0
>>> round(cs.cluster.solve(inst, "GreedyPM */per/opt=min").max_stretch, 2)
2.0

Reference: H. Casanova, M. Stillwell, F. Vivien, *Dynamic fractional resource scheduling vs.
batch scheduling*, 2011. Section numbers in the docstrings are that paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cosched import _core, core, plot_cluster
from cosched.cluster.instance import Instance, from_swf
from cosched.cluster.outputs import (
    batsim_summary,
    jobs_table,
    write_batsim_json,
    write_jobs_csv,
    write_log_csv,
)
from cosched.cluster.own_policy import Event, Job, State, python_policy, register_policy
from cosched.cluster.policies import TABLE_2, dfrs, easy, fcfs, paper_policies, resolve
from cosched.cluster.result import Result, Schedule
from cosched.cluster.simulation import result_of_schedule
from cosched.cluster.stretch_bound import max_stretch_bound
from cosched.core import Argument, Bound, Family, Output
from cosched.core.arrays import integer, integer_array, real, real_array
from cosched.errors import InvalidInstance, shorten

__all__ = [
    "ALGORITHMS",
    "BOUNDS",
    "DEFAULT_COMPARE",
    "FAMILY",
    "TABLE_2",
    "Event",
    "Instance",
    "Job",
    "Result",
    "Schedule",
    "State",
    "batsim_summary",
    "bound",
    "compare",
    "dfrs",
    "easy",
    "fcfs",
    "from_swf",
    "jobs_table",
    "max_stretch_bound",
    "mcb8",
    "mcb8_search",
    "paper_policies",
    "python_policy",
    "register_policy",
    "solve",
    "write_batsim_json",
    "write_jobs_csv",
    "write_log_csv",
    "yields",
]


def yields(mapping: Any, cpu: Any, nodes: int, *, opt: str | None = None) -> np.ndarray:
    """Yields of jobs whose tasks are on given nodes (Sections 4.6 and 4.7).

    Parameters
    ----------
    mapping : sequence of sequences of int
        Node of each task, a list a job.
    cpu : array_like, shape (jobs,)
        CPU need of one task, in (0, 1].
    nodes : int
    opt : {None, "min", "avg"}
        None: the greatest common yield. ``"min"``: iterative max-min. ``"avg"``: the greatest
        mean yield that keeps the common minimum (a linear programme).

    Returns
    -------
    numpy.ndarray, shape (jobs,)

    Examples
    --------
    >>> yields([[0], [0], [1]], [1.0, 0.5, 0.5], nodes=2, opt="min").round(3).tolist()
    [0.667, 0.667, 1.0]
    """
    if opt not in (None, "min", "avg"):
        raise InvalidInstance(f"opt = {shorten(opt)}: expected None, 'min' or 'avg'")
    count = integer(nodes, "nodes", 1)
    needs = _fractions(cpu, "cpu")
    where = [
        sorted(integer_array(row, f"mapping[{job}]", 1, 0, count - 1).tolist())
        for job, row in enumerate(mapping)
    ]
    if len(where) != len(needs):
        raise InvalidInstance(f"mapping has {len(where)} jobs, cpu has {len(needs)}")
    # Only nodes that are used matter: memory for them, not for all that there may be.
    used = {node: k for k, node in enumerate(sorted({node for row in where for node in row}))}
    where = [[used[node] for node in row] for row in where]
    return _core.cluster.yields(where, needs, max(len(used), 1), opt or "base")


def mcb8(
    tasks: Any, cpu: Any, memory: Any, nodes: int, *, yield_: float = 1.0
) -> list[list[int]] | None:
    """Vector packing MCB8 for one yield (Section 4.3).

    Parameters
    ----------
    tasks, cpu, memory : array_like, shape (jobs,)
        Tasks of each job, and what one task needs of a node, in (0, 1].
    nodes : int
    yield_ : float
        Every job requires yield x cpu; 0 packs by memory alone.

    Returns
    -------
    list of lists of int, or None
        Node of each task, increasing, a list a job; None where MCB8 finds no packing.

    Examples
    --------
    >>> mcb8([2, 1], [1.0, 0.5], [0.1, 0.6], nodes=2, yield_=0.5)
    [[0, 1], [0]]
    """
    share = real(yield_, "yield_")
    if not 0 <= share <= 1:
        raise InvalidInstance(f"yield_ = {share}: expected 0..1")
    return _core.cluster.mcb8(*_items(tasks, cpu, memory, nodes), share)


def mcb8_search(
    tasks: Any, cpu: Any, memory: Any, nodes: int
) -> tuple[float, list[list[int]]] | None:
    """The greatest yield for which MCB8 packs all jobs, and the packing (Section 4.3).

    What the policies do at each event with the jobs in the system, before any has to be dropped:
    yield 1, then yield 0 (memory alone), then bisection to 0.01.

    Parameters
    ----------
    tasks, cpu, memory : array_like, shape (jobs,)
        Tasks of each job, and what one task needs of a node, in (0, 1].
    nodes : int

    Returns
    -------
    (float, list of lists of int), or None
        The yield in 0..1 and the node of each task, increasing, a list a job; None where the
        memory alone finds no packing.

    Examples
    --------
    >>> mcb8_search([2, 1], [1.0, 0.5], [0.1, 0.6], nodes=1)
    (0.3984375, [[0, 0], [0]])
    """
    return _core.cluster.mcb8_search(*_items(tasks, cpu, memory, nodes))


def _items(tasks: Any, cpu: Any, memory: Any, nodes: int) -> tuple[Any, Any, Any, int]:
    counts = integer_array(tasks, "tasks", 1, 1)
    needs, sizes = _fractions(cpu, "cpu"), _fractions(memory, "memory")
    if not len(counts) == len(needs) == len(sizes):
        raise InvalidInstance("tasks, cpu and memory have different lengths")
    return counts, needs, sizes, integer(nodes, "nodes", 1, _core.cluster.MOST_NODES)


def _fractions(values: Any, name: str) -> np.ndarray:
    found = real_array(values, name, 1)
    good = (found > 0) & (found <= 1)
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidInstance(f"{name}[{row}] = {found[row]}: expected a fraction in (0, 1]")
    return found


BOUNDS: dict[str, Callable[..., Bound]] = {"max-stretch": max_stretch_bound}

ALGORITHMS: dict[str, core.Algorithm] = {
    "FCFS": fcfs,
    "EASY": easy,
    **{name: policy for name in paper_policies() if (policy := resolve(name)) is not None},
}

#: What ``compare`` runs: the 20 policies of the paper's Table 2.
DEFAULT_COMPARE = TABLE_2

FAMILY = Family(
    name="cluster",
    instance_type=Instance,
    schedule_type=Schedule,
    objective="maximum stretch",
    default_bound="max-stretch",
    result_of=result_of_schedule,
    arguments=(
        Argument("--nodes", "nodes", "Nodes of the machine (rigid: processors)."),
        Argument(
            "--convention", "convention", "A log's jobs: dfrs or rigid (processors).", parse=str
        ),
        Argument("--week", "week", "Only this week of a log, from 0 (several: 3,4,5).", vary=True),
    ),
    default_names=lambda instance: DEFAULT_COMPARE,
    outputs=(
        Output(
            "--log",
            "log",
            "Write why jobs started, waited, were paused or moved, a row an event: .csv.",
            write_log_csv,
            options={"log": True},
        ),
        Output("--jobs", "jobs", "Write a row a job, as evalys reads it: .csv.", write_jobs_csv),
        Output(
            "--summary",
            "summary",
            "Write totals by Batsim's names (its schedule.json): .json.",
            write_batsim_json,
            (".json",),
        ),
    ),
    panels=(plot_cluster.occupation, plot_cluster.utilisation, plot_cluster.queue_length),
    screen=("mean_stretch", "underutilisation", "preemptions_per_job", "migrations_per_job"),
    patience=None,  # a simulation that is cut short has no result; Ctrl-C keeps the rows
    example=("trace.swf.gz", "--nodes 120 --week 5", "EASY"),
    spelling="FCFS, EASY, and 'SUBMIT */per/opt=min/minvt=600' with SUBMIT Greedy, GreedyP, "
    "GreedyPM, MCB8 or nothing; also /stretch-per, opt=avg, opt=max, minft=; parts may be left out",
    resolve=resolve,
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)
solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare
