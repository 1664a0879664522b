"""The family of dags: names of algorithms and bounds, and what the command line offers."""

from collections.abc import Callable

from cosched import core
from cosched.core import Bound, Family, Presentation
from cosched.core.options import argument, by_name
from cosched.dags import algorithms, arguments, bounds
from cosched.dags.instance import Instance
from cosched.dags.replays import quantiles
from cosched.dags.result import Result, result_of_schedule

BOUNDS: dict[str, Callable[..., Bound]] = {
    "windows": bounds.windows_bound,
    "transfers": bounds.transfers_bound,
    "hlp": bounds.hlp_bound,
    "area": bounds.area_bound,
    "critical-path": bounds.critical_path_bound,
    "memory": bounds.memory_bound,
}

ALGORITHMS: dict[str, core.Algorithm] = by_name(
    algorithms,
    "hlp-est hlp-ols heft memheft cpop peft etf min-min heteroprio dmda dmdas qa er-ls eft greedy "
    "random r1-ls r2-ls r3-ls hlp-best optimal as-executed",
)

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
        argument("units", "Units of each type: CPUs,GPUs as 16,4.", arguments.parse_units),
        argument(
            "acceleration",
            "For files with one time a task: CPU time / time on each further type, or a CSV file.",
            arguments.parse_acceleration,
        ),
        argument("times", "CSV file with the times of every task.", str),
        argument(
            "bandwidth",
            "Bytes/s: transfers take time. A number, or a row a type of sender: inf,12e9;12e9,6e9.",
            arguments.parse_matrix,
        ),
        argument("latency", "Seconds a transfer, likewise (default 0).", arguments.parse_matrix),
        argument(
            "memories",
            "What shares a memory: host (CPUs), unit (none), or a number a unit as 0,0,1,2.",
            arguments.parse_memories,
        ),
        argument(
            "memory_capacity",
            "Bytes that each memory holds at most: a number, or one a type as inf,16e9.",
            arguments.parse_capacity,
        ),
        argument(
            "edge_data",
            "DOT, GraphML: attribute of arcs that says bytes (default: data, else size).",
            str,
        ),
        argument(
            "perfmodels",
            "StarPU's tasks.rec: what starpu_perfmodel_recdump wrote, for times on other types.",
            str,
        ),
    ),
)
