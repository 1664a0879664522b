"""The family of dags: names of algorithms and bounds, and what the command line offers."""

from collections.abc import Callable

from cosched.core import AlgorithmTable, Bound, Family, Presentation
from cosched.core.options import by_name
from cosched.dags import algorithms, bounds
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

ALGORITHMS = AlgorithmTable(
    "dags",
    by_name(
        algorithms,
        "hlp-est hlp-ols heft memheft cpop peft etf min-min heteroprio dmda dmdas qa er-ls eft "
        "greedy random r1-ls r2-ls r3-ls hlp-best optimal as-executed",
    ),
)

#: What ``compare`` runs: ``optimal`` up to twelve tasks, ``memheft`` where it is not HEFT; of a
#: trace its run as well.
DEFAULT_COMPARE = tuple(name for name in ALGORITHMS.of_family if name != "as-executed")


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
    recorded="as-executed",
)
