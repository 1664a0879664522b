"""Policies by name and of one's own, their simulation, and the pieces they are made of."""

from cosched.cluster.algorithms.batch import conservative, easy, fcfs
from cosched.cluster.algorithms.own_policy import Event, Job, State, python_policy
from cosched.cluster.algorithms.packing import mcb8, mcb8_search, yields
from cosched.cluster.algorithms.policies import TABLE_2, dfrs, paper_policies, resolve
from cosched.cluster.algorithms.recorded import as_logged
from cosched.cluster.algorithms.simulation import algorithm_of, result_of_schedule
