"""Sets of nodes for the jobs of a log, which may be of a time with other nodes and hosts."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, not_followed
from cosched.slurm.requests.node_sets import NodeSet, NodeSetTable, gpu_types_of
from cosched.slurm.requests.requested_gpus import gpus_of_nodes


class LogNodeSets(NodeSetTable):
    """Sets of nodes for the jobs of a log, which may be of a time with other nodes and hosts.

    What jobs asked for and the machine does not have is left out, and counted. Constraints hold,
    unless a job that ran wants memory which no node with its features has: these nodes were others
    then.
    """

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        #: How many jobs take any nodes instead of those of a constraint, by its text.
        self._ignored_constraints = Counter[str]()
        #: How many jobs take any nodes instead of certain hosts or GPUs, by what they asked for.
        self._ignored_hosts = Counter[str]()
        self._gpu_types = gpu_types_of(machine)
        self._gpus_of_nodes = np.array(gpus_of_nodes(machine), dtype=np.int64)
        self._sets_with_gpus: dict[tuple[str, int, str], NodeSet] = {}
        #: Whether the job whose request is read next ran in the log.
        self.has_run = False

    def node_set_for(self, text: str, min_memory: int) -> NodeSet:
        """Return the nodes that a job of the log may have; memory may have been another then."""
        node_set = self.allowed_node_set(text.strip(), min_memory)
        is_too_small = text and self.has_run and self.is_empty_node_set(node_set)
        if not is_too_small or self.is_empty_node_set(self.allowed_node_set(text.strip(), 0)):
            return node_set
        any_nodes = self.allowed_node_set("", min_memory)
        if self.is_empty_node_set(any_nodes):
            return node_set
        self._ignored_constraints[text] += 1
        return any_nodes

    def restrict_to_hosts(self, node_set: NodeSet, text: str, *, within: bool) -> NodeSet:
        """Return a node set of these hosts only, or of all others; unknown hosts are counted."""
        try:
            restricted = super().restrict_to_hosts(node_set, text, within=within)
            if not (self.has_run and self.is_empty_node_set(restricted)):
                return restricted
        except InvalidInstance:  # hosts of another machine
            pass
        self._ignored_hosts[f"{'nodelist' if within else 'exclude'} {text}"] += 1
        return node_set.copy()

    def node_set_with_gpus(self, job: Mapping[str, Any], min_gpus: int, kind: str) -> NodeSet:
        """Return the node set of a job, of nodes with at least so many GPUs of this type."""
        node_set: NodeSet = {}
        if "node_set" in job:
            node_set["node_set"] = job["node_set"]
        if "alternative_sets" in job:
            node_set["alternative_sets"] = job["alternative_sets"]
        key = (str(node_set), min_gpus, kind)
        if key not in self._sets_with_gpus:
            names = self._gpu_types
            is_of_type = [not kind or name == kind or kind not in names for name in names]
            node_numbers = np.flatnonzero(self._gpus_of_nodes[is_of_type].sum(axis=0) >= min_gpus)
            self._sets_with_gpus[key] = self.restrict_to_nodes(
                node_set, set(node_numbers.tolist()), within=True
            )
        restricted = self._sets_with_gpus[key]
        if not (self.has_run and self.is_empty_node_set(restricted)):
            return restricted
        self._ignored_hosts[f"{min_gpus} GPUs {kind}".strip() + " of each node"] += 1
        return node_set

    def notes(self) -> list[Note]:
        """Return what the machine does not have, with how many jobs asked for it."""
        ignored_constraints = {
            f"constraint {shorten(text)}": n for text, n in self._ignored_constraints.items() if n
        }
        return [
            not_followed(
                f"{subject} of {count} jobs: they take any nodes", subject=subject, count=count
            )
            for subject, count in (ignored_constraints | self._ignored_hosts).items()
        ]
