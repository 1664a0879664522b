"""The family of dags: names of algorithms and bounds, and what the command line offers."""

from __future__ import annotations

from collections.abc import Callable

from cosched import core
from cosched.core import Argument, Bound, Family, Presentation, Schedule
from cosched.dags.algorithms import (
    as_executed,
    cpop,
    dmda,
    dmdas,
    eft,
    er_ls,
    etf,
    greedy,
    heft,
    heteroprio,
    hlp_best,
    hlp_est,
    hlp_ols,
    memheft,
    min_min,
    optimal,
    peft,
    qa,
    r1_ls,
    r2_ls,
    r3_ls,
    random,
)
from cosched.dags.arguments import (
    parse_acceleration,
    parse_capacity,
    parse_matrix,
    parse_memories,
    parse_units,
)
from cosched.dags.bounds import (
    area_bound,
    critical_path_bound,
    hlp_bound,
    memory_bound,
    transfers_bound,
    windows_bound,
)
from cosched.dags.instance import Instance
from cosched.dags.replays import quantiles
from cosched.dags.result import Result, result_of_schedule

BOUNDS: dict[str, Callable[..., Bound]] = {
    "windows": windows_bound,
    "transfers": transfers_bound,
    "hlp": hlp_bound,
    "area": area_bound,
    "critical-path": critical_path_bound,
    "memory": memory_bound,
}

ALGORITHMS: dict[str, core.Algorithm] = {
    "hlp-est": hlp_est,
    "hlp-ols": hlp_ols,
    "heft": heft,
    "memheft": memheft,
    "cpop": cpop,
    "peft": peft,
    "etf": etf,
    "min-min": min_min,
    "heteroprio": heteroprio,
    "dmda": dmda,
    "dmdas": dmdas,
    "qa": qa,
    "er-ls": er_ls,
    "eft": eft,
    "greedy": greedy,
    "random": random,
    "r1-ls": r1_ls,
    "r2-ls": r2_ls,
    "r3-ls": r3_ls,
    "hlp-best": hlp_best,
    "optimal": optimal,
    "as-executed": as_executed,
}

#: What ``compare`` runs: ``optimal`` up to twelve tasks, ``memheft`` where it is not HEFT; of a
#: trace its run as well.
DEFAULT_COMPARE = tuple(name for name in ALGORITHMS if name != "as-executed")


def _default_names(instance: Instance) -> list[str]:
    fit = {"optimal": instance.tasks <= 12, "memheft": False}
    names = [name for name in DEFAULT_COMPARE if fit.get(name, True)]
    if instance._core.limited:
        names = ["memheft", "hlp-best"]
    return names if instance.executed is None else ["as-executed", *names]


FAMILY = Family(
    name="dags",
    instance_type=Instance,
    schedule_type=Schedule,
    result_type=Result,
    default_bound="windows",
    bound_name=lambda instance: "windows" if instance.data is None else "transfers",
    default_names=_default_names,
    result_of=result_of_schedule,
    algorithms=ALGORITHMS,
    under_noise=quantiles,
    bounds=BOUNDS,
)

PRESENTATION = Presentation(
    family=FAMILY,
    objective="makespan",
    unit=" s",
    example=("spotri-512-20.txt", "--units 16,2", "hlp-best"),
    recorded="as-executed",
    arguments=(
        Argument("--units", "units", "Units of each type: CPUs,GPUs as 16,4.", parse=parse_units),
        Argument(
            "--acceleration",
            "acceleration",
            "For files with one time a task: CPU time / time on each further type, or a CSV file.",
            parse=parse_acceleration,
        ),
        Argument("--times", "times", "CSV file with the times of every task.", parse=str),
        Argument(
            "--bandwidth",
            "bandwidth",
            "Bytes/s: transfers take time. A number, or a row a type of sender: inf,12e9;12e9,6e9.",
            parse=parse_matrix,
        ),
        Argument(
            "--latency", "latency", "Seconds a transfer, likewise (default 0).", parse=parse_matrix
        ),
        Argument(
            "--memories",
            "memories",
            "What shares a memory: host (CPUs), unit (none), or a number a unit as 0,0,1,2.",
            parse=parse_memories,
        ),
        Argument(
            "--memory-capacity",
            "memory_capacity",
            "Bytes that each memory holds at most: a number, or one a type as inf,16e9.",
            parse=parse_capacity,
        ),
        Argument(
            "--edge-data",
            "edge_data",
            "DOT, GraphML: attribute of arcs that says bytes (default: data, else size).",
            parse=str,
        ),
        Argument(
            "--perfmodels",
            "perfmodels",
            "StarPU's tasks.rec: what starpu_perfmodel_recdump wrote, for times on other types.",
            parse=str,
        ),
    ),
)
