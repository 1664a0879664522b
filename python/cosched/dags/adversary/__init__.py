"""The search for instances on which an algorithm is far from the best schedule known."""

from cosched.dags.adversary.networks import (
    NetworkCandidate as NetworkCandidate,
    NetworkSpace as NetworkSpace,
)
from cosched.dags.adversary.search import WorstCase as WorstCase, worst_case as worst_case
from cosched.dags.adversary.spaces import (
    LEAST as LEAST,
    MOST as MOST,
    Candidate as Candidate,
    Space as Space,
)
