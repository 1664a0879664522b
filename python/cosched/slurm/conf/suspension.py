"""PreemptMode=SUSPEND,GANG: where jobs of lower tiers stand still, and what of it has no rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cosched.cluster.machine.host_lists import Spans

#: PreemptMode, as the core numbers it.
SUSPEND = 3.0
#: Of a partition; a job that shares no core asks for no more.
_ALIKE = {"NO": "NO", "NONE": "NO", "FORCE:1": "FORCE:1"}


def suspends(kind: str, mode: str) -> bool:
    """Whether jobs are suspended by others of higher tiers."""
    return kind == "preempt/partition_prio" and "SUSPEND" in mode.split(",")


def obstacle(
    mode: str,
    partitions: Sequence[Mapping[str, str]],
    nodes: Sequence[Spans],
    *,
    linear: bool,
    select: Sequence[str],
    bound: bool,
) -> str:
    """Why a configuration that suspends jobs is not followed, empty where it is; `partitions`:
    their keys, `nodes`: what they have; `bound`: a TaskPlugin gives jobs cores of their own."""
    where = _where(select, linear=linear, bound=bound)
    return next(iter((*where, *_partitions(mode, partitions, nodes))), "")


def _where(select: Sequence[str], *, linear: bool, bound: bool) -> Iterator[str]:
    by_cpu = any(one.startswith("cr_cpu") for one in select)
    if linear:
        yield "select/linear ends what was suspended"
    elif select and not by_cpu and not any(one.startswith("cr_core") for one in select):
        yield "cores alone are followed: CR_Core, CR_CPU"
    elif by_cpu and not bound:
        yield "CR_CPU without a TaskPlugin counts CPUs, not which"


def _partitions(
    mode: str, partitions: Sequence[Mapping[str, str]], nodes: Sequence[Spans]
) -> Iterator[str]:
    if "GANG" not in mode.split(","):
        yield "Slurm does not start without GANG beside it"
    sharing = {keys.get("oversubscribe", keys.get("shared", "NO")).upper() for keys in partitions}
    if not sharing <= set(_ALIKE) or len({_ALIKE[one] for one in sharing}) > 1:
        yield "partitions of one OverSubscribe, NO or FORCE:1"
    off = []
    for keys in partitions:
        own = set(keys.get("preemptmode", mode).upper().split(",")) - {"GANG"}
        if own not in ({"SUSPEND"}, {"OFF"}):
            yield "partitions whose PreemptMode is another"
        off.append(own == {"OFF"})
    tiers = [keys.get("prioritytier", keys.get("priority", "1")) for keys in partitions]
    for k, own_nodes in enumerate(nodes):
        for other in range(k):
            meet = any(a < d and c < b for a, b in own_nodes for c, d in nodes[other])
            if meet and tiers[other] == tiers[k] and not (off[other] and off[k]):
                yield "partitions of one tier that share nodes: their jobs share cores"
