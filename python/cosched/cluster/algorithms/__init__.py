"""Policies by name and of one's own, their simulation, and the pieces they are made of."""

from cosched.cluster.algorithms.batch import (
    conservative,
    conservative_with_perfect_estimates,
    easy,
    easy_with_perfect_estimates,
    fcfs,
)
from cosched.cluster.algorithms.packing import mcb8, mcb8_search, yields
from cosched.cluster.algorithms.policies import (
    TABLE_2,
    Event,
    Job,
    State,
    dfrs,
    paper_policies,
    python_policy,
    resolve,
)
from cosched.cluster.algorithms.simulation import algorithm_of, as_logged, result_of_schedule
