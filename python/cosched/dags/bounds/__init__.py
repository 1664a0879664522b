"""Lower bounds on the makespan, with certificates."""

from cosched.dags.bounds.relaxation import (
    Certificate,
    Relaxation,
    certificate_fields,
    highs_lp,
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

__all__ = [
    "Certificate",
    "RefutationStage",
    "Relaxation",
    "TransferStage",
    "Transfers",
    "TransfersCertificate",
    "TransfersRelaxation",
    "Windows",
    "WindowsCertificate",
    "area_bound",
    "certificate_fields",
    "critical_path_bound",
    "highs_lp",
    "hlp",
    "hlp_at_hand",
    "hlp_bound",
    "keep_hlp",
    "memory_bound",
    "round_allocation",
    "transfers",
    "transfers_bound",
    "transfers_relaxation",
    "windows",
    "windows_bound",
]
