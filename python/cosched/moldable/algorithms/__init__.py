"""The off-line algorithms, and how any of them runs on-line: batch by batch."""

from cosched.moldable.algorithms.batches import by_batches
from cosched.moldable.algorithms.embedded import Step, step
from cosched.moldable.algorithms.graphs import MODELS, list_local, list_lp
from cosched.moldable.algorithms.off_line import (
    demt,
    dual_approximation,
    gang,
    list_lptf,
    list_saf,
    list_shelf,
    replay,
    sequential,
)
from cosched.moldable.algorithms.search import (
    BEST_WORK,
    SEARCH_WORK,
    demt_best,
    local_search,
    optimal,
)
