"""Lower bounds on the makespan, with certificates."""

from cosched.dags.bounds.relaxation import (
    Certificate,
    Relaxation,
    certificate_fields,
    hlp,
    hlp_at_hand,
    hlp_bound,
    keep_hlp,
    round_allocation,
)
from cosched.dags.bounds.simple import area_bound, critical_path_bound, memory_bound
from cosched.dags.bounds.transport import TransfersRelaxation, transfers_relaxation
from cosched.dags.bounds.with_transfers import (
    Transfers,
    TransfersCertificate,
    TransferStage,
    transfers,
    transfers_bound,
)
from cosched.dags.bounds.without_transfers import (
    RefutationStage,
    Windows,
    WindowsCertificate,
    windows,
    windows_bound,
)
