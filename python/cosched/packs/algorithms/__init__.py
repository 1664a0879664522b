"""The algorithms of packs: exact ones, and the heuristics of Section 5 with local search."""

from cosched.packs.algorithms.allocation import (
    co_schedule as co_schedule,
    ends as ends,
    make_pack as make_pack,
    one_pack as one_pack,
    one_pack_dynamic_programme as one_pack_dynamic_programme,
    slowdown as slowdown,
)
from cosched.packs.algorithms.heuristics import (
    LOCAL_SEARCH_WORK as LOCAL_SEARCH_WORK,
    NINE as NINE,
    ilp as ilp,
    local_search as local_search,
    optimal as optimal,
    pack_approx as pack_approx,
    pack_by_pack as pack_by_pack,
    pairs as pairs,
    random_pack as random_pack,
    random_proc as random_proc,
    sequential as sequential,
)
