"""Lower bounds on the makespan, with certificates."""

from cosched.dags.bounds.certificates import Certificate
from cosched.dags.bounds.refutations import (
    ProvenBound,
    transfers,
    transfers_bound,
    windows,
    windows_bound,
)
from cosched.dags.bounds.relaxation import (
    HlpRelaxation,
    area_bound,
    critical_path_bound,
    hlp,
    hlp_at_hand,
    hlp_bound,
    keep_hlp,
    memory_bound,
    round_allocation,
    transfers_relaxation,
)
