"""The family of packs: names of algorithms and bounds, and what the command line offers."""

from collections.abc import Callable
from functools import partial

from cosched.core import AlgorithmTable, Bound, Family, Presentation
from cosched.packs import algorithms, bounds
from cosched.packs.instance import Instance
from cosched.packs.result import Result, result_of_schedule

BOUNDS: dict[str, Callable[..., Bound]] = {
    "columns": bounds.columns_bound,
    "area": bounds.area_bound,
    "longest": bounds.longest_bound,
}

ALGORITHMS = AlgorithmTable(
    "packs",
    {
        "sequential": algorithms.sequential,
        "pairs": algorithms.pairs,
        "optimal": algorithms.optimal,
        "ilp": algorithms.ilp,
        "pack-approx": algorithms.pack_approx,
        "random-pack-1": partial(algorithms.random_pack, draws=1),
        "random-pack-9": partial(algorithms.random_pack, draws=9),
        "random-proc-1": partial(algorithms.random_proc, draws=1),
        "random-proc-9": partial(algorithms.random_proc, draws=9),
        "pack-by-pack-1": partial(algorithms.pack_by_pack, epsilons=(0.5,)),
        "pack-by-pack-9": partial(algorithms.pack_by_pack, epsilons=algorithms.NINE),
        "local-search": algorithms.local_search,
    },
)

#: What ``compare`` runs; ``ilp`` only up to five tasks.
DEFAULT_COMPARE = tuple(ALGORITHMS.of_family)


def _default_names(instance: Instance) -> list[str]:
    return [name for name in DEFAULT_COMPARE if name != "ilp" or instance.tasks <= 5]


FAMILY = Family(
    name="packs",
    instance_type=Instance,
    result_type=Result,
    default_bound="columns",
    result_of=result_of_schedule,
    default_names=_default_names,
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)

PRESENTATION = Presentation(
    family=FAMILY,
    objective="cost",
    unit=" s",
    ideal="pack schedule",
)
