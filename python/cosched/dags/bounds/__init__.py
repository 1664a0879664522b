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
    Relaxation,
    hlp,
    hlp_at_hand,
    hlp_bound,
    keep_hlp,
    round_allocation,
    transfers_relaxation,
)
from cosched.dags.bounds.simple import area_bound, critical_path_bound, memory_bound
