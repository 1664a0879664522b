"""The algorithms of packs: exact ones, and the heuristics of Section 5 with local search."""

from cosched.packs.algorithms.allocation import (
    co_schedule,
    ends,
    make_pack,
    one_pack,
    one_pack_dynamic_programme,
    slowdown,
)
from cosched.packs.algorithms.heuristics import (
    LOCAL_SEARCH_WORK,
    NINE,
    ilp,
    local_search,
    optimal,
    pack_approx,
    pack_by_pack,
    pairs,
    random_pack,
    random_proc,
    sequential,
)
