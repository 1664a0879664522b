"""Lower bounds on the makespan, with certificates."""

from cosched.dags.bounds.certificates import Certificate as Certificate
from cosched.dags.bounds.refutations import (
    ProvenBound as ProvenBound,
    transfers as transfers,
    transfers_bound as transfers_bound,
    windows as windows,
    windows_bound as windows_bound,
)
from cosched.dags.bounds.relaxation import (
    HlpRelaxation as HlpRelaxation,
    area_bound as area_bound,
    critical_path_bound as critical_path_bound,
    hlp as hlp,
    hlp_at_hand as hlp_at_hand,
    hlp_bound as hlp_bound,
    keep_hlp as keep_hlp,
    memory_bound as memory_bound,
    round_allocation as round_allocation,
    transfers_relaxation as transfers_relaxation,
)
