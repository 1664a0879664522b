"""The off-line algorithms, and how any of them runs on-line: batch by batch."""

from cosched.moldable.algorithms.batches import by_batches as by_batches
from cosched.moldable.algorithms.embedded import Step as Step, step as step
from cosched.moldable.algorithms.graphs import MODELS, list_local as list_local, list_lp as list_lp
from cosched.moldable.algorithms.off_line import (
    demt as demt,
    dual_approximation as dual_approximation,
    gang as gang,
    list_lptf as list_lptf,
    list_saf as list_saf,
    list_shelf as list_shelf,
    replay as replay,
    sequential as sequential,
)
from cosched.moldable.algorithms.search import (
    BEST_WORK as BEST_WORK,
    SEARCH_WORK as SEARCH_WORK,
    demt_best as demt_best,
    local_search as local_search,
    optimal as optimal,
)
